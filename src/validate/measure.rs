//! What a level measured, from what it left behind.

use super::level::LevelRun;
use super::outcome::{EndpointLevel, Level, PhaseShare, Predicted, QuantileValue, Verdict};
use super::plan::Plan;
use super::records::Record;
use super::watch::End;
use crate::dispatch::phases::Phase;

const QUANTILES: [f64; 5] = [0.5, 0.9, 0.95, 0.99, 0.999];

/// The measurements of a level, not judged yet.
pub(super) fn measure(plan: &Plan, run: &LevelRun, predicted: Option<Predicted>) -> Level {
    let scale = plan.time_scale;
    let (queue, attempts) = (&run.snapshot.queue, &run.snapshot.attempts);
    let [from, until] = run.window_s(plan);
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
    let interrupted_after_s = match run.end {
        End::Interrupted { after_s } => Some(after_s / scale),
        _ => None,
    };
    let offered = if interrupted_after_s.is_some() { queue.enqueued } else { run.arrivals };
    Level {
        multiplier: run.multiplier,
        workers: run.workers as u64,
        offered_rate_per_s: offered as f64 / run.ran_s(plan),
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
        interrupted_after_s,
        drained_after_s: run.drained_after_s().map(|drained| drained / scale),
        generator_lateness_mean_s: run.lateness.mean_s / scale,
        phases: phases(run, scale),
        endpoints: endpoints(run, scale),
        predicted,
        checks: Vec::new(),
        verdict: Verdict::NotJudged,
    }
}

/// By how much service exceeded the latency that our own sandbox drew, on the clock.
pub(super) fn overhead_s(run: &LevelRun) -> Option<f64> {
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

pub(super) fn mean(values: &[f64]) -> f64 {
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
}
