//! What is compared with the prediction, with stated tolerances.

use super::excuse::{Excuse, MOST_OVERHEAD_S};
use super::level::LevelRun;
use super::measure::mean;
use super::outcome::{Check, Level, Verdict};
use super::plan::Plan;
use super::predict::{CONFIDENCE, ideal};
use crate::dispatch::governor::GovernorPolicy;
use crate::units::human;

/// What a real wait may differ from a simulated one because of timers and threads, on the clock.
const TIMER_TOLERANCE_S: f64 = 0.001;
/// Between minus and plus this many standard deviations lie 99% of a normal law: `CONFIDENCE`.
const STANDARD_DEVIATIONS: f64 = 2.575_829;
/// What the utilisation may differ from that of an ideal pool with the same messages.
const UTILISATION_TOLERANCE: f64 = 0.05;
/// What the share of 429 may rise from one level to the next.
const RISE_OF_429_TOLERANCE: f64 = 0.02;

/// The checks of a level; `before` is the level run before it.
pub(super) fn checks(
    plan: &Plan,
    run: &LevelRun,
    level: &Level,
    excused: Option<&Excuse>,
    before: Option<&Level>,
) -> Vec<Check> {
    let attempts = &run.snapshot.attempts;
    let mut checks = vec![
        at_most("lost", level.lost as f64, 0.0, "every message is delivered, given up, or queued"),
        at_most(
            "duplicated",
            level.duplicated as f64,
            (attempts.may_have_been_taken
                + attempts.leases_lost
                + attempts.abandoned
                + run.snapshot.queue.leases_expired) as f64,
            "only after a lost answer, an expired lease, or a stop in the middle",
        ),
        wait_check(plan, level, excused),
        utilisation_check(plan, run, level, excused),
    ];
    checks.extend(service_check(plan, run, excused));
    let large_enough = level.predicted.as_ref().is_some_and(|predicted| predicted.stable);
    if let Some(max_age_s) = plan.max_age_s.filter(|_| plan.scale_pool || large_enough) {
        let mut check = at_most("oldest_age_max_s", level.oldest_age_max_s, max_age_s, "--max-age");
        excuse(&mut check, excused);
        checks.push(check);
    }
    if let Some(before) = before.filter(|_| plan.governor != GovernorPolicy::Off) {
        let most = before.status_429_ratio + RISE_OF_429_TOLERANCE;
        let why = "the governor keeps the share of 429 from rising with the rate";
        checks.push(at_most("status_429_ratio", level.status_429_ratio, most, why));
    }
    checks
}

fn wait_check(plan: &Plan, level: &Level, excused: Option<&Excuse>) -> Check {
    let tolerance = TIMER_TOLERANCE_S / plan.time_scale;
    let governed = plan.governor != GovernorPolicy::Off || plan.host_cap;
    let (low, high) = match &level.predicted {
        Some(predicted) => {
            let [low, high] = predicted.wait_mean_interval_s;
            (Some((low - tolerance).max(0.0)), Some(high + tolerance))
        }
        None => (None, None),
    };
    let inside =
        low.is_none_or(|low| level.wait_mean_s >= low) && high.is_none_or(|high| level.wait_mean_s <= high);
    let percent = human::percent(CONFIDENCE);
    let (verdict, reason) = if level.predicted.is_none() {
        (
            Verdict::NotJudged,
            "the queue was not empty when the level ended, so there is no prediction".to_owned(),
        )
    } else if governed {
        (
            Verdict::NotJudged,
            "messages wait for the governor or the host's cap, not only for workers".to_owned(),
        )
    } else {
        let verdict = if inside { Verdict::Agrees } else { Verdict::Disagrees };
        (verdict, format!("{percent} of simulated runs, and {} for timers", human::duration(tolerance)))
    };
    let mut check = Check { name: "wait_mean_s", measured: level.wait_mean_s, low, high, verdict, reason };
    excuse(&mut check, excused);
    check
}

/// Whether a sandbox elsewhere answers as fast as the plan says. Our own draws from the plan's law: what an attempt takes
/// longer than it drew is the machine's doing, and known.
fn service_check(plan: &Plan, run: &LevelRun, excused: Option<&Excuse>) -> Option<Check> {
    plan.target.as_ref()?;
    let [from, _] = run.window_s(plan);
    let counted = run.records.all.iter().filter(|record| record.delivered && record.ready_s >= from);
    let answers: Vec<f64> = counted.map(|record| record.answer_s / plan.time_scale).collect();
    let (planned_s, measured) = (plan.law.mean_s(), mean(&answers));
    let sampling_s =
        STANDARD_DEVIATIONS * planned_s * (plan.service.scv / answers.len().max(1) as f64).sqrt();
    let [early_s, late_s] = [TIMER_TOLERANCE_S, MOST_OVERHEAD_S].map(|time| time / plan.time_scale);
    let (low, high) = ((planned_s - sampling_s - early_s).max(0.0), planned_s + sampling_s + late_s);
    let agrees = (low..=high).contains(&measured);
    let mut check = Check {
        name: "service_mean_s",
        measured,
        low: Some(low),
        high: Some(high),
        verdict: if agrees { Verdict::Agrees } else { Verdict::Disagrees },
        reason: format!(
            "request written to answer read: {} of the means of as many attempts with the planned law, and {} for timers",
            human::percent(CONFIDENCE),
            human::duration(late_s)
        ),
    };
    excuse(&mut check, excused);
    Some(check)
}

fn utilisation_check(plan: &Plan, run: &LevelRun, level: &Level, excused: Option<&Excuse>) -> Check {
    let expected = ideal(&run.records.all, run.workers, run.window_s(plan)).utilisation;
    let (low, high) = (expected - UTILISATION_TOLERANCE, expected + UTILISATION_TOLERANCE);
    let agrees = (low..=high).contains(&level.utilisation);
    let mut check = Check {
        name: "utilisation",
        measured: level.utilisation,
        low: Some(low.max(0.0)),
        high: Some(high.min(1.0)),
        verdict: if agrees { Verdict::Agrees } else { Verdict::Disagrees },
        reason: format!(
            "an ideal pool with the same messages, and {UTILISATION_TOLERANCE} for threads and timers"
        ),
    };
    if plan.governor != GovernorPolicy::Off || plan.host_cap {
        check.verdict = Verdict::NotJudged;
        check.reason = "the governor or the host's cap keeps workers idle".to_owned();
    }
    excuse(&mut check, excused);
    check
}

fn at_most(name: &'static str, measured: f64, most: f64, reason: &str) -> Check {
    let verdict = if measured <= most { Verdict::Agrees } else { Verdict::Disagrees };
    Check { name, measured, low: None, high: Some(most), verdict, reason: reason.to_owned() }
}

/// A machine that was too busy, or a run that was too short, is no evidence against the prediction.
fn excuse(check: &mut Check, excused: Option<&Excuse>) {
    if let Some(excused) = excused {
        check.verdict = Verdict::NotJudged;
        excused.reason().clone_into(&mut check.reason);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_busy_machine_excuses_a_check_but_keeps_its_numbers() {
        let mut check = at_most("x", 2.0, 1.0, "because");
        assert_eq!(check.verdict, Verdict::Disagrees);
        excuse(&mut check, Some(&Excuse::Overloaded("busy".to_owned())));
        assert_eq!((check.verdict, check.measured, check.high), (Verdict::NotJudged, 2.0, Some(1.0)));
        assert_eq!(check.reason, "busy");
    }
}
