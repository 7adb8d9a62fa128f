//! From what a level left behind to a verdict, and what there is to say about it.

use super::checks::checks;
use super::excuse::{Excuse, excuse, overloaded};
use super::level::LevelRun;
use super::measure::measure;
use super::outcome::{Level, Verdict};
use super::plan::Plan;
use super::predict::predict;
use super::watch::End;
use crate::notice::Note;
use crate::units::human;

/// Below this a pooled sender opens too many connections.
const GOOD_REUSE: f64 = 0.9;
/// Endpoints that a remark names.
const MOST_NAMED: usize = 5;

/// A level with its verdict.
pub(super) struct Judged {
    pub(super) level: Level,
    pub(super) notes: Vec<Note>,
    /// Whether the machine could not carry it: then its service times are not those of the endpoints.
    pub(super) overloaded: bool,
}

/// Measures and judges a level; `before` is the level run before it.
pub(super) fn judge(plan: &Plan, run: &LevelRun, ceiling_per_s: f64, before: Option<&Level>) -> Judged {
    let predicted = run.drained_after_s().and_then(|_| predict(plan, run));
    let mut level = measure(plan, run, predicted);
    let overload = overloaded(plan, run, &level, ceiling_per_s);
    let overloaded = overload.is_some();
    let excused = excuse(plan, run, overload);
    level.checks = checks(plan, run, &level, excused.as_ref(), before);
    level.verdict = match level.checks.iter().any(|check| check.verdict == Verdict::Disagrees) {
        true => Verdict::Disagrees,
        false if excused.is_some() || run.drained_after_s().is_none() => Verdict::NotJudged,
        false => Verdict::Agrees,
    };
    let notes = notes(plan, run, &level, excused.as_ref());
    Judged { level, notes, overloaded }
}

fn notes(plan: &Plan, run: &LevelRun, level: &Level, excused: Option<&Excuse>) -> Vec<Note> {
    let name = format!("at {} times the rate", human::significant(level.multiplier, 3));
    let mut notes = Vec::new();
    if let Some(excused) = excused {
        notes.push(Note::warning(excused.code(), format!("{name}: {}", excused.reason())));
    }
    notes.extend(left_behind(plan, run, level, &name));
    let relaxation = level.predicted.as_ref().and_then(|predicted| predicted.relaxation_time_s);
    if let Some(relaxation_s) = relaxation.filter(|relaxation_s| *relaxation_s > plan.duration_s) {
        let text = format!(
            "{name}: the run of {} is shorter than the {} in which the queue settles, so it says little of the steady state",
            human::duration(plan.duration_s),
            human::duration(relaxation_s)
        );
        let hint = format!("use --duration {}", human::duration((10.0 * relaxation_s).ceil()));
        notes.push(Note::warning("run-shorter-than-relaxation", text).with_hint(hint));
    }
    if let Some(ratio) = level.reuse_ratio.filter(|ratio| *ratio < GOOD_REUSE) {
        let text = format!("{name}: only {} of the requests found an open connection", human::percent(ratio));
        let note = Note::info("low-reuse", text);
        let crowded = level.endpoints.len() as u64 * 2 > level.workers;
        notes.push(if crowded {
            note.with_hint(
                "a pool with no more connections than workers cannot keep one to each endpoint: give fewer --endpoints",
            )
        } else {
            note
        });
    }
    notes
}

/// What was still queued at the end, and why it was not waited for.
fn left_behind(plan: &Plan, run: &LevelRun, level: &Level, name: &str) -> Option<Note> {
    let why = match &run.end {
        End::Drained { .. } => return None,
        End::Interrupted { .. } if level.still_queued == 0 => return None,
        End::Interrupted { .. } => "when it was interrupted".to_owned(),
        End::Stuck { endpoints } => {
            let numbers: Vec<String> = endpoints.iter().take(MOST_NAMED).map(ToString::to_string).collect();
            let more = endpoints.len().saturating_sub(MOST_NAMED);
            let more = if more > 0 { format!(" and {more} more") } else { String::new() };
            format!(
                "for {} {}{more}, which had taken nothing, so they were not waited for",
                if endpoints.len() == 1 { "endpoint" } else { "endpoints" },
                numbers.join(", ")
            )
        }
        End::OutOfTime { after_s } => {
            let waited = human::duration(after_s / plan.time_scale);
            format!("{waited} after the last arrival, which is as long as the queue may drain")
        }
    };
    let left = human::counted(level.still_queued, "message");
    let were = human::verb(level.still_queued, "was", "were");
    Some(Note::warning("not-drained", format!("{name}: {left} {were} still queued {why}")))
}
