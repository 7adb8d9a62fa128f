//! The figure of a replay: rate, replicas and age over time.

use crate::autoscale::{Outcome, Replay, Step};
use crate::report::{Axis, Figure, Mark, Panel, Path, Place, Scale, Series, Unit};
use crate::units::human;

/// Draws the traffic, the replicas and the age of the oldest message, with those of the compared policies beside them.
#[must_use]
pub fn figure(replay: &Replay, outcome: &Outcome) -> Figure {
    let panel = |label, unit, scale, series, marks| Panel { y: Axis { label, unit, scale }, series, marks };
    // One policy that never scales would press the ages of all others together.
    let age_scale = if outcome.comparison.is_empty() { Scale::FromZero } else { Scale::Log };
    let line = |name: &str, steps: &[Step], value: fn(&Step) -> f64, path| Series {
        name: name.to_owned(),
        points: steps.iter().map(|step| (step.at_s, value(step))).collect(),
        path,
    };
    let each = |value: fn(&Step) -> f64, path| {
        let others = outcome.comparison.iter().zip(&outcome.compared_steps);
        let others = others.map(|(other, steps)| (other.policy.as_str(), steps));
        let all = std::iter::once((outcome.shown.policy.as_str(), &outcome.steps)).chain(others);
        all.map(|(name, steps)| line(name, steps, value, path)).collect()
    };
    let objective = Mark { name: "objective".to_owned(), place: Place::Y(replay.objective.get()) };
    let traffic = vec![
        line("arriving", &outcome.steps, |step| step.rate_per_s, Path::Steps),
        line("served", &outcome.steps, |step| step.served_per_s, Path::Steps),
    ];
    Figure {
        title: format!(
            "Replicas by {}, {} tasks each",
            outcome.shown.policy.as_str(),
            human::count(replay.tasks_per_replica)
        ),
        description: description(outcome),
        x: Axis { label: "time", unit: Unit::Seconds, scale: Scale::FromZero },
        panels: vec![
            panel("attempts a second", Unit::PerSecond, Scale::FromZero, traffic, Vec::new()),
            panel(
                "replicas",
                Unit::Count,
                Scale::FromZero,
                each(|step| step.replicas as f64, Path::Steps),
                Vec::new(),
            ),
            panel(
                "age of the oldest message",
                Unit::Seconds,
                age_scale,
                each(|step| step.oldest_age_s, Path::Straight),
                vec![objective],
            ),
        ],
    }
}

fn description(outcome: &Outcome) -> String {
    let each = std::iter::once(&outcome.shown).chain(&outcome.comparison).map(|shown| {
        format!(
            "{}: the oldest message reaches {}, at most {}",
            shown.policy.as_str(),
            human::duration(shown.oldest_age_max_s),
            human::counted(shown.replicas_max, "replica")
        )
    });
    format!(
        "Rate, replicas and age of the oldest message over time. {}.",
        each.collect::<Vec<_>>().join("; ")
    )
}
