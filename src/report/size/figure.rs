//! The figure of `size`: the mean wait against the number of workers.

use super::tables::rule_name;
use super::wait;
use crate::report::{Axis, Figure, Mark, Panel, Path, Place, Scale, Series, Unit};
use crate::sizing::{Objective, PoolSize, Question, Rule, WaitCurve};
use crate::units::human;

/// Draws the curve with the floor, the rules and the answer on it. `steady` is the answer that the curve belongs to.
#[must_use]
pub fn figure(question: &Question, steady: &PoolSize, curve: &WaitCurve) -> Figure {
    let points = curve.points.iter().map(|&(workers, wait_s)| (workers as f64, wait_s)).collect();
    let series = Series { name: "mean wait".to_owned(), points, path: Path::Straight };
    let mut marks = rules(steady);
    bind(&mut marks, steady);
    marks.extend(question.objectives.iter().filter_map(|objective| match objective {
        Objective::MeanWait(limit) => {
            Some(Mark { name: "asked for, at most".to_owned(), place: Place::Y(limit.get()) })
        }
        _ => None,
    }));
    Figure {
        title: format!(
            "{} against workers, {} at {} each",
            if curve.lost.is_empty() { "Mean wait" } else { "Mean wait and lost arrivals" },
            question.demand.rate,
            question.demand.service.mean
        ),
        description: description(steady),
        x: Axis { label: "workers", unit: Unit::Count, scale: Scale::Linear },
        panels: panels(question, steady, curve, series, marks),
    }
}

/// The mean wait, unless nothing waits at all, and what is lost, where anything can be.
fn panels(
    question: &Question,
    steady: &PoolSize,
    curve: &WaitCurve,
    waits: Series,
    marks: Vec<Mark>,
) -> Vec<Panel> {
    let nobody_waits = curve.points.iter().all(|(_, wait_s)| *wait_s == 0.0) && !curve.lost.is_empty();
    let axis = Axis { label: "mean wait", unit: Unit::Seconds, scale: Scale::Log };
    let mut panels = vec![];
    if !nobody_waits {
        panels.push(Panel { y: axis, series: vec![waits], marks });
    }
    if !curve.lost.is_empty() {
        let points = curve.lost.iter().map(|&(workers, lost)| (workers as f64, lost)).collect();
        let limit = question.objectives.iter().filter_map(|objective| match objective {
            Objective::MaxLost(limit) => {
                Some(Mark { name: "asked for, at most".to_owned(), place: Place::Y(limit.get()) })
            }
            _ => None,
        });
        let answer = steady.state.lost_share().map(|lost| Mark {
            name: rule_name(if question.workers.is_some() { Rule::Given } else { Rule::Answer }).to_owned(),
            place: Place::At(steady.workers as f64, lost),
        });
        panels.push(Panel {
            y: Axis { label: "lost arrivals", unit: Unit::Share, scale: Scale::Log },
            series: vec![Series { name: "lost arrivals".to_owned(), points, path: Path::Straight }],
            marks: answer.into_iter().chain(limit).collect(),
        });
    }
    panels
}

/// One mark a number of workers, named after every rule that gives it, fewest first.
fn rules(steady: &PoolSize) -> Vec<Mark> {
    let mut marks: Vec<(u64, Mark)> = Vec::new();
    for row in steady.comparison.iter().filter(|row| row.rule != Rule::FixedUtilisation) {
        let name = rule_name(row.rule);
        match marks.iter_mut().find(|(workers, _)| *workers == row.workers) {
            Some((_, mark)) => mark.name = format!("{}, {name}", mark.name),
            None => {
                let across = row.workers as f64;
                let place = row.wait_mean_s.map_or(Place::X(across), |wait_s| Place::At(across, wait_s));
                marks.push((row.workers, Mark { name: name.to_owned(), place }));
            }
        }
    }
    marks.sort_by_key(|(workers, _)| *workers);
    marks.into_iter().map(|(_, mark)| mark).collect()
}

/// Names the number of workers that the binding objective takes, where it has no line of its own.
fn bind(marks: &mut Vec<Mark>, steady: &PoolSize) {
    let has_line =
        |objective: &Objective| matches!(objective, Objective::MeanWait(_) | Objective::MaxLost(_));
    let Some(binding) = steady.binding().filter(|binding| !has_line(&binding.asked)) else { return };
    let across = binding.workers as f64;
    let name = binding.asked.in_words();
    let is_there = |mark: &&mut Mark| match mark.place {
        Place::At(workers, _) | Place::X(workers) => (workers - across).abs() < 0.5,
        Place::Y(_) => false,
    };
    let there = marks.iter_mut().find(is_there);
    match there {
        Some(mark) => mark.name = format!("{}, {name}", mark.name),
        None => marks.push(Mark { name, place: Place::X(across) }),
    }
}

fn description(steady: &PoolSize) -> String {
    let each = steady.comparison.iter().map(|row| {
        let wait = wait(row.wait_mean_s);
        format!("{}: {}, mean wait {wait}", rule_name(row.rule), human::counted(row.workers, "worker"))
    });
    format!(
        "The mean wait falls as workers are added beyond {} erlangs. {}.",
        human::significant(steady.offered_load_erlangs, 6),
        each.collect::<Vec<_>>().join("; ")
    )
}
