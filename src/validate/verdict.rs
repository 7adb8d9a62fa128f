//! From what a level left behind to a verdict, with stated tolerances.

use super::level::LevelRun;
use super::outcome::{Check, EndpointLevel, Level, PhaseShare, Predicted, QuantileValue, Verdict};
use super::plan::Plan;
use super::predict::{CONFIDENCE, ideal, predict};
use super::records::Record;
use crate::dispatch::governor::GovernorPolicy;
use crate::dispatch::phases::Phase;
use crate::notice::Note;
use crate::units::human;

/// What a real wait may differ from a simulated one because of timers and threads, on the clock.
const TIMER_TOLERANCE_S: f64 = 0.001;
/// What the utilisation may differ from that of an ideal pool with the same messages.
const UTILISATION_TOLERANCE: f64 = 0.05;
/// What the share of 429 may rise from one level to the next.
const RISE_OF_429_TOLERANCE: f64 = 0.02;
/// A level above this share of the machine's own ceiling is not judged.
const MOST_OF_CEILING: f64 = 0.5;
/// A level is not judged if messages were later than this, on the clock, or than this share of the predicted wait.
const MOST_LATE_S: f64 = 0.001;
const MOST_LATE_SHARE: f64 = 0.05;
/// Nor if service took longer than the latency by more than this, on the clock, and than this share.
const MOST_OVERHEAD_S: f64 = 0.003;
const MOST_OVERHEAD_SHARE: f64 = 0.1;
/// Below this a pooled sender opens too many connections.
const GOOD_REUSE: f64 = 0.9;
const QUANTILES: [f64; 5] = [0.5, 0.9, 0.95, 0.99, 0.999];

/// A level with its verdict.
pub(super) struct Judged {
    pub(super) level: Level,
    pub(super) notes: Vec<Note>,
}

/// Measures and judges a level; `before` is the level run before it.
pub(super) fn judge(plan: &Plan, run: &LevelRun, ceiling_per_s: f64, before: Option<&Level>) -> Judged {
    let predicted = run.drained_after_s.and_then(|_| predict(plan, run));
    let mut level = measure(plan, run, predicted);
    let unfit = unfit(plan, run, &level, ceiling_per_s);
    level.checks = checks(plan, run, &level, unfit.as_deref(), before);
    level.verdict = match level.checks.iter().any(|check| check.verdict == Verdict::Disagrees) {
        true => Verdict::Disagrees,
        false if unfit.is_some() || run.drained_after_s.is_none() => Verdict::NotJudged,
        false => Verdict::Agrees,
    };
    let notes = notes(plan, &level, unfit);
    Judged { level, notes }
}

fn measure(plan: &Plan, run: &LevelRun, predicted: Option<Predicted>) -> Level {
    let scale = plan.time_scale;
    let (queue, attempts) = (&run.snapshot.queue, &run.snapshot.attempts);
    let [from, until] = plan.window_s();
    let counted: Vec<&Record> = run.records.all.iter().filter(|record| record.ready_s >= from).collect();
    let mut waits: Vec<f64> = counted.iter().map(|record| record.wait_s() / scale).collect();
    waits.sort_by(f64::total_cmp);
    let services: Vec<f64> = counted.iter().map(|record| record.service_s / scale).collect();
    let service_mean_s = mean(&services);
    let second_moment = mean(&services.iter().map(|service| service * service).collect::<Vec<_>>());
    let window_s = until - from;
    let busy = |record: &Record| (record.finished_s().min(until) - record.leased_s.max(from)).max(0.0);
    let busy_s: f64 = run.records.all.iter().map(busy).sum();
    let delivered_in_window = run
        .records
        .all
        .iter()
        .filter(|record| record.delivered && (from..until).contains(&record.finished_s()))
        .count();
    let too_many = run.records.all.iter().filter(|record| record.too_many).count();
    let queued = queue.queued();
    Level {
        multiplier: run.multiplier,
        workers: run.workers as u64,
        offered_rate_per_s: run.arrivals as f64 / plan.duration_s,
        achieved_rate_per_s: delivered_in_window as f64 * scale / window_s,
        enqueued: queue.enqueued,
        delivered: queue.delivered,
        failed: attempts.failures.values().sum(),
        failures: attempts.failures.clone(),
        dead_lettered: queue.dead_lettered,
        still_queued: queued,
        lost: queue.enqueued.saturating_sub(queue.delivered + queue.dead_lettered + queued),
        duplicated: run.duplicated,
        service_mean_s,
        service_scv: if service_mean_s > 0.0 {
            (second_moment / (service_mean_s * service_mean_s) - 1.0).max(0.0)
        } else {
            0.0
        },
        overhead_mean_s: overhead_s(run).map(|overhead| overhead / scale),
        wait_mean_s: mean(&waits),
        wait_quantiles: QUANTILES
            .into_iter()
            .filter_map(|quantile| Some(QuantileValue { quantile, value_s: nearest_rank(&waits, quantile)? }))
            .collect(),
        oldest_age_max_s: waits.last().copied().unwrap_or(0.0),
        utilisation: busy_s / (window_s * run.workers as f64),
        reuse_ratio: run.snapshot.reuse_ratio(),
        status_429_ratio: too_many as f64 / run.records.all.len().max(1) as f64,
        drained_after_s: run.drained_after_s.map(|drained| drained / scale),
        generator_lateness_mean_s: run.lateness.mean_s / scale,
        phases: phases(run, scale),
        endpoints: endpoints(run, scale),
        predicted,
        checks: Vec::new(),
        verdict: Verdict::NotJudged,
    }
}

/// By how much service exceeded the latency that our own sandbox drew, on the clock.
fn overhead_s(run: &LevelRun) -> Option<f64> {
    let counts = run.sandbox.as_ref()?;
    let accepted: u64 = counts.iter().map(|count| count.accepted).sum();
    let latency_s: f64 = counts.iter().map(|count| count.latency_s).sum();
    let delivered: Vec<f64> =
        run.records.all.iter().filter(|record| record.delivered).map(|record| record.service_s).collect();
    (accepted > 0 && !delivered.is_empty()).then(|| mean(&delivered) - latency_s / accepted as f64)
}

fn phases(run: &LevelRun, scale: f64) -> Vec<PhaseShare> {
    let durations = &run.snapshot.durations;
    let (count, sum_s) = (durations.service.count().max(1) as f64, durations.service.sum_s());
    let each = Phase::ALL.into_iter().zip(&durations.phases);
    each.map(|(phase, tally)| PhaseShare {
        name: phase.name(),
        mean_s: tally.sum_s() / count / scale,
        share: if sum_s > 0.0 { tally.sum_s() / sum_s } else { 0.0 },
    })
    .collect()
}

fn endpoints(run: &LevelRun, scale: f64) -> Vec<EndpointLevel> {
    let mut waits: Vec<Vec<f64>> = vec![Vec::new(); run.snapshot.endpoints.len()];
    for record in &run.records.all {
        if let Some(waits) = waits.get_mut(record.endpoint as usize) {
            waits.push(record.wait_s() / scale);
        }
    }
    let each = run.snapshot.endpoints.iter().zip(waits).enumerate();
    each.map(|(index, (endpoint, mut waits))| {
        waits.sort_by(f64::total_cmp);
        EndpointLevel {
            endpoint: index + 1,
            attempts: endpoint.attempts,
            delivered: endpoint.delivered,
            status_429_ratio: endpoint.too_many as f64 / endpoint.attempts.max(1) as f64,
            wait_mean_s: (!waits.is_empty()).then(|| mean(&waits)),
            wait_p99_s: nearest_rank(&waits, 0.99),
            disabled: endpoint.disabled.map(|cause| cause.to_string()),
        }
    })
    .collect()
}

/// Why this machine cannot judge the level, if it cannot.
fn unfit(plan: &Plan, run: &LevelRun, level: &Level, ceiling_per_s: f64) -> Option<String> {
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

fn checks(
    plan: &Plan,
    run: &LevelRun,
    level: &Level,
    unfit: Option<&str>,
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
        wait_check(plan, level, unfit),
        utilisation_check(plan, run, level, unfit),
    ];
    let large_enough = level.predicted.as_ref().is_some_and(|predicted| predicted.stable);
    if let Some(max_age_s) = plan.max_age_s.filter(|_| plan.scale_pool || large_enough) {
        let mut check = at_most("oldest_age_max_s", level.oldest_age_max_s, max_age_s, "--max-age");
        excuse(&mut check, unfit);
        checks.push(check);
    }
    if let Some(before) = before.filter(|_| plan.governor != GovernorPolicy::Off) {
        let most = before.status_429_ratio + RISE_OF_429_TOLERANCE;
        let why = "the governor keeps the share of 429 from rising with the rate";
        checks.push(at_most("status_429_ratio", level.status_429_ratio, most, why));
    }
    checks
}

fn wait_check(plan: &Plan, level: &Level, unfit: Option<&str>) -> Check {
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
    excuse(&mut check, unfit);
    check
}

fn utilisation_check(plan: &Plan, run: &LevelRun, level: &Level, unfit: Option<&str>) -> Check {
    let expected = ideal(&run.records.all, run.workers, plan.window_s()).utilisation;
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
    excuse(&mut check, unfit);
    check
}

fn at_most(name: &'static str, measured: f64, most: f64, reason: &str) -> Check {
    let verdict = if measured <= most { Verdict::Agrees } else { Verdict::Disagrees };
    Check { name, measured, low: None, high: Some(most), verdict, reason: reason.to_owned() }
}

/// A machine that was too busy is no evidence against the prediction.
fn excuse(check: &mut Check, unfit: Option<&str>) {
    if let Some(reason) = unfit {
        check.verdict = Verdict::NotJudged;
        check.reason = reason.to_owned();
    }
}

fn notes(plan: &Plan, level: &Level, unfit: Option<String>) -> Vec<Note> {
    let name = format!("at {} times the rate", human::significant(level.multiplier, 3));
    let mut notes = Vec::new();
    if let Some(reason) = unfit {
        notes.push(Note::warning("machine-too-slow", format!("{name}: {reason}")));
    }
    if level.drained_after_s.is_none() {
        let left = human::counted(level.still_queued, "message");
        notes.push(Note::warning("not-drained", format!("{name}: {left} were still queued when it ended")));
    }
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

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len().max(1) as f64
}

/// The smallest of sorted values that this share does not exceed.
fn nearest_rank(sorted: &[f64], quantile: f64) -> Option<f64> {
    let rank = (quantile * sorted.len() as f64).ceil() as usize;
    sorted.get(rank.max(1) - 1).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_nearest_ranks() {
        let values: Vec<f64> = (1..=100).map(f64::from).collect();
        assert_eq!((nearest_rank(&values, 0.5), nearest_rank(&values, 0.999)), (Some(50.0), Some(100.0)));
        assert_eq!(nearest_rank(&[], 0.5), None);
    }

    #[test]
    fn a_busy_machine_excuses_a_check_but_keeps_its_numbers() {
        let mut check = at_most("x", 2.0, 1.0, "because");
        assert_eq!(check.verdict, Verdict::Disagrees);
        excuse(&mut check, Some("busy"));
        assert_eq!((check.verdict, check.measured, check.high), (Verdict::NotJudged, 2.0, Some(1.0)));
    }
}
