//! Why a level is not judged.

use super::level::LevelRun;
use super::measure::overhead_s;
use super::outcome::Level;
use super::plan::Plan;
use super::watch::End;
use crate::units::human;

/// A level above this share of the machine's own ceiling is not judged.
const MOST_OF_CEILING: f64 = 0.5;
/// A level is not judged if messages were later than this, on the clock, or than this share of the predicted wait.
const MOST_LATE_S: f64 = 0.001;
const MOST_LATE_SHARE: f64 = 0.05;
/// Nor if service took longer than the latency by more than this, on the clock, and than this share.
pub(super) const MOST_OVERHEAD_S: f64 = 0.003;
const MOST_OVERHEAD_SHARE: f64 = 0.1;

/// Why a level is not judged, in words.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Excuse {
    /// It was ended before its time.
    Interrupted(String),
    /// Nothing was delivered in the time that is measured.
    NothingDelivered(String),
    /// The machine could not carry it.
    Overloaded(String),
}

impl Excuse {
    pub(super) fn reason(&self) -> &str {
        let (Excuse::Interrupted(reason) | Excuse::NothingDelivered(reason) | Excuse::Overloaded(reason)) =
            self;
        reason
    }

    /// The stable name of the warning about it.
    pub(super) fn code(&self) -> &'static str {
        match self {
            Excuse::Interrupted(_) => "interrupted",
            Excuse::NothingDelivered(_) => "nothing-delivered",
            Excuse::Overloaded(_) => "machine-too-slow",
        }
    }
}

/// Why the level is not judged, if it is not; `overloaded` is why the machine could not carry it.
pub(super) fn excuse(plan: &Plan, run: &LevelRun, overloaded: Option<String>) -> Option<Excuse> {
    interrupted(plan, run)
        .map(Excuse::Interrupted)
        .or_else(|| overloaded.map(Excuse::Overloaded))
        .or_else(|| nothing_delivered(plan, run).map(Excuse::NothingDelivered))
}

fn interrupted(plan: &Plan, run: &LevelRun) -> Option<String> {
    let End::Interrupted { .. } = run.end else { return None };
    let ran_s = run.ran_s(plan);
    Some(if ran_s < plan.duration_s {
        format!("interrupted after {} of {}", human::duration(ran_s), human::duration(plan.duration_s))
    } else {
        "interrupted while the queue drained".to_owned()
    })
}

fn nothing_delivered(plan: &Plan, run: &LevelRun) -> Option<String> {
    if run.arrivals == 0 {
        let duration = human::duration(plan.duration_s);
        return Some(format!(
            "no message arrived within {duration}; use a longer --duration, or a higher --rate"
        ));
    }
    let [from, _] = run.window_s(plan);
    let delivered = run.records.all.iter().filter(|record| record.delivered);
    let counted = delivered.filter(|record| record.ready_s >= from).count();
    (counted == 0).then(|| "nothing that arrived after the warm-up was delivered".to_owned())
}

/// Why this machine cannot judge the level, if it cannot.
pub(super) fn overloaded(plan: &Plan, run: &LevelRun, level: &Level, ceiling_per_s: f64) -> Option<String> {
    let scale = plan.time_scale;
    let on_the_clock = level.offered_rate_per_s / scale;
    if on_the_clock > MOST_OF_CEILING * ceiling_per_s {
        return Some(format!(
            "this machine delivers about {} at most, so it cannot validate {}; use --shrink",
            human::rate(ceiling_per_s),
            human::rate(on_the_clock)
        ));
    }
    let wait_s = level.predicted.as_ref().map_or(0.0, |predicted| predicted.wait_mean_s * scale);
    if run.lateness.mean_s > MOST_LATE_S.max(MOST_LATE_SHARE * wait_s) {
        return Some(format!(
            "the machine was too busy: messages were offered {} late on average; use --shrink, or let nothing else run",
            human::duration(run.lateness.mean_s)
        ));
    }
    let overhead_s = overhead_s(run).filter(|_| plan.faults.is_empty() && !plan.host_cap)?;
    let latency_s = level.service_mean_s * scale - overhead_s;
    (overhead_s > MOST_OVERHEAD_S.max(MOST_OVERHEAD_SHARE * latency_s)).then(|| {
        format!(
            "the machine was too busy: an attempt took {} longer than the endpoint; use --shrink, or let nothing else run",
            human::duration(overhead_s)
        )
    })
}
