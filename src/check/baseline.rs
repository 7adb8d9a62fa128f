//! Is a pool still what it was? The comparison with an earlier answer.

use super::cause::Cause;
use super::finding::{Finding, Verdict};
use super::shown;
use crate::notice::Note;
use crate::plan::{Figures, PlannedPool};
use crate::units::{Ratio, human};

/// By how much a figure may exceed its baseline, as a share of that.
#[derive(Clone, Debug, PartialEq)]
pub struct Tolerances {
    /// The workers that are needed.
    pub workers: Ratio,
    /// The mean service time.
    pub service_mean: Ratio,
    /// The rate, where it is limited.
    pub rate: Option<Ratio>,
    /// The squared coefficient of variation of the service time, where it is limited.
    pub service_scv: Option<Ratio>,
}

/// An earlier answer.
#[derive(Clone, Debug, PartialEq)]
pub struct Baseline {
    /// The figures of each pool.
    pub pools: Vec<Figures>,
}

impl Baseline {
    /// What became of a pool since then; `None` for a pool that the baseline does not know.
    pub(super) fn compare(&self, planned: &PlannedPool, tolerances: &Tolerances) -> Option<Vec<Finding>> {
        let now = planned.figures();
        let before = self.pools.iter().find(|before| before.name == now.name)?;
        let cause = || Cause::of(before, &now, &planned.pool).in_words();
        let mut findings = vec![
            workers(before, &now, &tolerances.workers, &cause),
            figure(
                "service_mean",
                (before.service_mean_s, now.service_mean_s),
                "s",
                &tolerances.service_mean,
                &now,
            ),
        ];
        if let Some(rate) = &tolerances.rate {
            findings.push(figure("rate", (before.rate_per_s, now.rate_per_s), "per second", rate, &now));
        }
        if let Some(scv) = &tolerances.service_scv {
            findings.push(figure("service_scv", (before.service_scv, now.service_scv), "scv", scv, &now));
        }
        Some(findings)
    }

    /// Pools that are new, and pools that are gone.
    pub(super) fn notes(&self, pools: &[PlannedPool]) -> Vec<Note> {
        let is_planned = |name: &str| pools.iter().any(|planned| planned.pool.name == name);
        let is_known = |name: &str| self.pools.iter().any(|before| before.name == name);
        let gone = self.pools.iter().filter(|before| !is_planned(&before.name)).map(|before| {
            let message = format!("{}: the baseline has this pool, and the plan has not", before.name);
            Note::warning("pool-gone", message)
        });
        let new = pools.iter().filter(|planned| !is_known(&planned.pool.name)).map(|planned| {
            let message = format!("{}: the baseline does not know this pool", planned.pool.name);
            Note::info("pool-new", message).with_hint("save a new one with --format json")
        });
        gone.chain(new).collect()
    }
}

/// Whether `now` is within the tolerance above `before`; a baseline of zero leaves no room.
fn is_within(before: f64, now: f64, tolerance: &Ratio) -> bool {
    // What a decimal loses as a float is no regression.
    now <= before * (1.0 + tolerance.get()) * (1.0 + 1e-12)
}

fn workers(before: &Figures, now: &Figures, tolerance: &Ratio, cause: &dyn Fn() -> String) -> Finding {
    // One worker more is a tenth of a small pool and more, and the least that a number of workers can change.
    let one_more = if tolerance.exact().is_zero() { 0 } else { 1 };
    let limit = (before.workers as f64 * (1.0 + tolerance.get())).max((before.workers + one_more) as f64);
    let met = is_within(before.workers as f64, now.workers as f64, tolerance)
        || now.workers <= before.workers + one_more;
    let change = match now.workers.cmp(&before.workers) {
        std::cmp::Ordering::Equal => "as before".to_owned(),
        _ => format!("{} before; {}", human::count(before.workers), cause()),
    };
    Finding {
        pool: now.name.clone(),
        requirement: format!("workers <= baseline +{tolerance}"),
        verdict: if met { Verdict::Pass } else { Verdict::Fail },
        actual: Some(now.workers as f64),
        limit,
        unit: "workers",
        message: format!("{} needed, {change}", human::counted(now.workers, "worker")),
        hint: (!met).then(accept),
        at: None,
    }
}

fn figure(
    name: &str,
    (before, now): (f64, f64),
    unit: &'static str,
    tolerance: &Ratio,
    of: &Figures,
) -> Finding {
    let met = is_within(before, now, tolerance);
    let limit = before * (1.0 + tolerance.get());
    let shown_now = if met { shown::usual(now, unit) } else { shown::beyond(now, limit, unit) };
    Finding {
        pool: of.name.clone(),
        requirement: format!("{name} <= baseline +{tolerance}"),
        verdict: if met { Verdict::Pass } else { Verdict::Fail },
        actual: Some(now),
        limit,
        unit,
        message: format!("{shown_now} now, {} before", shown::usual(before, unit)),
        hint: (!met).then(accept),
        at: None,
    }
}

fn accept() -> String {
    "if this is meant to be, save the new figures as the baseline: --format json".to_owned()
}
