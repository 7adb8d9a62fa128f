//! The figures that a plan adds to those of the single answers.

use crate::drain::{DrainPlan, Question};
use crate::plan;
use crate::profile::{PhaseSummary, ServiceProfile};
use crate::report::{Axis, Bar, Bars, Figure, Mark, Panel, Path, Place, Scale, Series, Unit};
use crate::units::human;

/// The distribution of measured service times, with its mean and median; `None` where no attempt lasted any time.
#[must_use]
pub fn distribution(profile: &ServiceProfile) -> Option<Figure> {
    let bins = plan::distribution(profile);
    let last = bins.last()?;
    let mut points: Vec<(f64, f64)> = bins.iter().map(|bin| (bin.from_s, bin.share)).collect();
    points.push((last.to_s, 0.0));
    let (mean, median) = (profile.mean().get(), profile.quantile(0.5));
    let p99 = profile.quantile(0.99);
    let mark = |name: &str, across: f64| Mark { name: name.to_owned(), place: Place::X(across) };
    Some(Figure {
        title: format!("Service times, {}", human::counted(profile.count(), "measured attempt")),
        description: format!(
            "The distribution of service times on a logarithmic axis: median {}, mean {}, p99 {}.",
            human::duration(median),
            human::duration(mean),
            human::duration(p99)
        ),
        x: Axis { label: "service time", unit: Unit::Seconds, scale: Scale::Log },
        panels: vec![Panel {
            y: Axis { label: "share of attempts", unit: Unit::Share, scale: Scale::FromZero },
            series: vec![Series { name: "share of attempts".to_owned(), points, path: Path::Steps }],
            marks: vec![mark("median", median), mark("mean", mean), mark("p99", p99)],
        }],
    })
}

/// The backlog over time, with the deadline.
#[must_use]
pub fn drain(question: &Question, plan: &DrainPlan) -> Figure {
    let points = plan.timeline.iter().map(|point| (point.at_s, point.backlog)).collect();
    let deadline = question.deadline.as_ref();
    let marks =
        deadline.map(|deadline| Mark { name: "deadline".to_owned(), place: Place::X(deadline.get()) });
    let gone = plan
        .drain_s
        .map_or_else(|| "is never gone".to_owned(), |s| format!("is gone in {}", human::duration(s)));
    Figure {
        title: format!("A backlog of {}", human::counted(question.backlog, "message")),
        description: format!("The backlog over time; it {gone}."),
        x: Axis { label: "time", unit: Unit::Seconds, scale: Scale::FromZero },
        panels: vec![Panel {
            y: Axis { label: "messages that wait", unit: Unit::Count, scale: Scale::FromZero },
            series: vec![Series { name: "backlog".to_owned(), points, path: Path::Straight }],
            marks: marks.into_iter().collect(),
        }],
    }
}

/// Where the time of the measured attempts goes; `None` where their phases are not known.
#[must_use]
pub fn phases(profile: &ServiceProfile) -> Option<Bars> {
    let phases = profile.times().phase_summaries();
    let longest = phases.iter().max_by(|a, b| a.share.total_cmp(&b.share))?;
    let bar = |phase: &PhaseSummary| Bar {
        name: phase.name.clone(),
        value: human::duration(phase.mean_s),
        share: phase.share,
    };
    Some(Bars {
        title: "Phases of an attempt".to_owned(),
        description: format!(
            "Where the mean service time goes: {} takes {}, {} of it.",
            longest.name,
            human::duration(longest.mean_s),
            human::percent(longest.share)
        ),
        rows: phases.iter().map(bar).collect(),
    })
}
