//! What was to be expected of a level, from its arrival times and its service times alone.

use super::level::LevelRun;
use super::outcome::Predicted;
use super::plan::Plan;
use super::records::Record;
use crate::dispatch::tally::Tally;
use crate::simulate::{Arrivals, Bucket, Horizon, Law, Run, Scenario, WarmUp, simulate};
use crate::sizing::{ArrivalProcess, Demand, Question};
use crate::units::{ArrivalRate, Seconds};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::time::Duration;

/// Level of the intervals: one run in a hundred lies outside by chance.
pub(super) const CONFIDENCE: f64 = 0.99;
/// Simulated runs, and the arrivals that all of them may have together.
const FEWEST_RUNS: f64 = 200.0;
const MOST_RUNS: f64 = 1_000.0;
const ARRIVALS_IN_ALL: f64 = 1e7;

/// Predicts a level; `None` if there is nothing to predict from.
pub(super) fn predict(plan: &Plan, run: &LevelRun) -> Option<Predicted> {
    let scale = plan.time_scale;
    let mut service = Tally::new();
    run.records.all.iter().for_each(|record| service.record(Duration::from_secs_f64(record.service_s)));
    let mean_s = service.mean_s()?;
    let law = empirical(&service)?;
    let times: Vec<f64> = run.records.all.iter().map(|record| record.ready_s).collect();
    let scenario = Scenario::plain(u32::try_from(run.workers).ok()?, Arrivals::trace(times).ok()?, law);
    let (waits, ages) = simulated_runs(plan, run, &scenario)?;

    let attempts_per_s = attempts_in_window(plan, run) as f64 / (plan.duration_s - plan.warm_up_s);
    let utilisation = attempts_per_s * (mean_s / scale) / run.workers as f64;
    let stable = utilisation < 1.0;
    let ideal = ideal(&run.records.all, run.workers, run.window_s(plan));
    let steady = steady(plan, run, attempts_per_s, mean_s / scale)?;
    Some(Predicted {
        stable,
        utilisation,
        wait_mean_s: mean(&waits) / scale,
        wait_mean_interval_s: interval(waits).map(|wait| wait / scale),
        ideal_wait_mean_s: ideal.wait_mean_s / scale,
        oldest_age_max_s: mean(&ages) / scale,
        oldest_age_max_interval_s: interval(ages.clone()).map(|age| age / scale),
        confidence: CONFIDENCE,
        runs: u32::try_from(ages.len()).unwrap_or(u32::MAX),
        steady_wait_mean_s: steady.state.wait_mean_s,
        model: steady.model,
        relaxation_time_s: steady.state.relaxation_time_s,
        age_growth_ratio: (!stable).then(|| 1.0 - 1.0 / utilisation),
    })
}

/// Attempts that became ready between the warm-up and the end of the arrivals.
fn attempts_in_window(plan: &Plan, run: &LevelRun) -> usize {
    let [from, until] = run.window_s(plan);
    run.records.all.iter().filter(|record| (from..until).contains(&record.ready_s)).count()
}

/// Mean wait and longest wait of many simulated runs, on the clock.
fn simulated_runs(plan: &Plan, run: &LevelRun, scenario: &Scenario) -> Option<(Vec<f64>, Vec<f64>)> {
    let arrivals = run.records.all.len() as f64;
    let runs = (ARRIVALS_IN_ALL / arrivals).clamp(FEWEST_RUNS, MOST_RUNS) as u64;
    let warm_up_s = plan.warm_up_s * plan.time_scale;
    let warm_up = if warm_up_s > 0.0 { WarmUp::Seconds(warm_up_s) } else { WarmUp::Nothing };
    let each = (0..runs).map(|number| {
        let seed = plan.seed.wrapping_add(number.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        let one = Run { replications: 1, warm_up, seed, ..Run::new(Horizon::Arrivals(u64::MAX)) };
        simulate(scenario, &one).ok().map(|simulated| (simulated.wait_mean_s, simulated.oldest_age_max_s))
    });
    each.collect::<Option<Vec<(f64, f64)>>>().map(|pairs| pairs.into_iter().unzip())
}

/// What an ideal pool does with the attempts of a level.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Ideal {
    /// Mean wait of the attempts that are ready from the warm-up on, on the clock.
    pub(super) wait_mean_s: f64,
    /// Share of the workers' time between the warm-up and the end of the arrivals in which they work.
    pub(super) utilisation: f64,
}

/// An attempt begins as soon as one of the workers is free and those before it have begun: the recursion of Kiefer and
/// Wolfowitz (1955) on the times that were measured. `window_s` is that of the measurement, on the clock.
pub(super) fn ideal(records: &[Record], workers: usize, window_s: [f64; 2]) -> Ideal {
    // Times are nanoseconds here, since floats have no order in a heap.
    let nanos = |seconds: f64| (seconds * 1e9) as u64;
    let [from, until] = window_s.map(nanos);
    let mut free_at: BinaryHeap<Reverse<u64>> = std::iter::repeat_n(Reverse(0), workers).collect();
    let (mut waits_ns, mut counted, mut busy_ns) = (0_u64, 0_u64, 0_u64);
    for record in records {
        let Some(Reverse(free)) = free_at.pop() else { break };
        let ready = nanos(record.ready_s);
        let begins = ready.max(free);
        let ends = begins + nanos(record.service_s);
        free_at.push(Reverse(ends));
        busy_ns += ends.min(until).saturating_sub(begins.max(from));
        if ready >= from {
            waits_ns += begins - ready;
            counted += 1;
        }
    }
    let worker_time_ns = until.saturating_sub(from).max(1) as f64 * workers.max(1) as f64;
    Ideal {
        wait_mean_s: waits_ns as f64 / counted.max(1) as f64 / 1e9,
        utilisation: busy_ns as f64 / worker_time_ns,
    }
}

/// The measured service times with their exact moments.
fn empirical(service: &Tally) -> Option<Law> {
    let buckets: Vec<Bucket> =
        service.buckets().map(|(low_s, high_s, count)| Bucket { low_s, high_s, count }).collect();
    let mean_s = service.mean_s()?;
    let second_moment_s2 = mean_s * mean_s * (1.0 + service.scv()?);
    Law::empirical(&buckets, mean_s, Some(second_moment_s2)).ok()
}

/// What the formulas say of the same load, were it to last.
fn steady(plan: &Plan, run: &LevelRun, attempts_per_s: f64, mean_s: f64) -> Option<crate::sizing::PoolSize> {
    let service = plan.service.stretched_to(Seconds::from_f64(mean_s)?);
    let question = Question {
        demand: Demand::new(ArrivalRate::from_f64(attempts_per_s)?, service, ArrivalProcess::Poisson).ok()?,
        objectives: Vec::new(),
        workers: Some(run.workers as u64),
        scenarios: Vec::new(),
        sample: None,
    };
    Some(question.answer().sizing.steady)
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len().max(1) as f64
}

/// The values between which `CONFIDENCE` of them lie.
fn interval(mut values: Vec<f64>) -> [f64; 2] {
    values.sort_by(f64::total_cmp);
    let outside = ((1.0 - CONFIDENCE) / 2.0 * values.len() as f64) as usize;
    let at = |index: usize| values.get(index).copied().unwrap_or(0.0);
    [at(outside), at(values.len().saturating_sub(1 + outside))]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ideal_pool_serves_in_order_by_whoever_is_free_first() {
        let record = |ready_s, service_s| Record {
            ready_s,
            leased_s: ready_s,
            service_s,
            answer_s: service_s,
            endpoint: 0,
            delivered: true,
            too_many: false,
        };
        // Two workers: busy until 3 and 2; then 2 to 6 (waits 1) and 3 to 4 (waits 1.5); the last finds one free at 4.
        let records =
            [record(0.0, 3.0), record(0.0, 2.0), record(1.0, 4.0), record(1.5, 1.0), record(5.0, 1.0)];
        let all = ideal(&records, 2, [0.0, 5.0]);
        assert!((all.wait_mean_s - 2.5 / 5.0).abs() < 1e-9);
        // 3 + 1 seconds of one worker, 2 + 3 of the other within the window of 5 s.
        assert!((all.utilisation - 9.0 / 10.0).abs() < 1e-9);
        assert!((ideal(&records, 2, [1.0, 5.0]).wait_mean_s - 2.5 / 3.0).abs() < 1e-9);
        assert_eq!(ideal(&[], 2, [0.0, 1.0]), Ideal::default());
    }

    #[test]
    fn the_interval_leaves_half_of_a_hundredth_outside_on_either_side() {
        let values: Vec<f64> = (0..1_000).rev().map(f64::from).collect();
        assert_eq!(interval(values), [5.0, 994.0]);
        assert_eq!(interval(vec![3.0]), [3.0, 3.0]);
        assert_eq!(interval(vec![]), [0.0, 0.0]);
    }
}
