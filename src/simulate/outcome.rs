//! What a simulation found.

use super::histogram::quantile_interval;
use super::interval::{self, Estimate, Student};
use super::run::Run;
use super::scenario::Scenario;
use super::tally::{BlockRun, Segment, Tally};

/// The result of a simulation: what happened after the warm-up, over all replications.
///
/// Intervals are two-sided at `confidence`, from the replications' spread; they are absent with one replication.
#[derive(Clone, Debug, PartialEq, serde::Serialize, schemars::JsonSchema)]
pub struct Simulated {
    /// How it was computed.
    pub method: Method,
    /// Independent replications.
    pub replications: u32,
    /// Level of the intervals, such as 0.95.
    pub confidence: f64,
    /// Time left out at the start of each replication, in seconds (the mean, where the run is counted in arrivals).
    pub warm_up_s: f64,
    /// Whether the waits no longer rise after an automatic warm-up. `false`: the run is too short for its memory, or there is
    /// no steady state. Absent where it was not judged.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub warm_up_settled: Option<bool>,
    /// Time that each replication was measured for, in seconds (the mean).
    pub measured_s: f64,
    /// Events that arrived while measured, retries not counted.
    pub arrivals: u64,
    /// Events delivered, of these.
    pub served: u64,
    /// Mean time in the queue, in seconds, over the attempts that a worker began or that lost patience first.
    pub wait_mean_s: f64,
    /// Its interval, in seconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wait_mean_interval_s: Option<[f64; 2]>,
    /// Share of attempts that had to wait.
    pub wait_probability: f64,
    /// Its interval.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wait_probability_interval: Option<[f64; 2]>,
    /// Quantiles of the time in the queue.
    pub wait_quantiles: Vec<WaitQuantile>,
    /// Share of the workers' time in which they worked.
    pub utilisation: f64,
    /// Its interval.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub utilisation_interval: Option<[f64; 2]>,
    /// The longest time that any entry spent in the queue, in seconds: what an alarm on the age of the oldest message saw.
    pub oldest_age_max_s: f64,
    /// The most entries that waited at one moment: the buffer that is needed.
    pub queue_max: u64,
    /// Mean time from arrival to delivery, retries and their delays included, in seconds; where an event may need several
    /// attempts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delivery_mean_s: Option<f64>,
    /// The longest such time, in seconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delivery_max_s: Option<f64>,
    /// Events that lost patience; where there is a patience.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub abandoned: Option<Part>,
    /// Events that found the queue full; where there is a limit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lost: Option<Part>,
    /// Events that failed at every attempt; where attempts can fail.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dead_lettered: Option<Part>,
    /// Attempts that failed and were tried again; where attempts can fail.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retried: Option<u64>,
    /// Attempts that an endpoint refused with 429; where endpoints have a capacity.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub refused: Option<u64>,
    /// The same by priority class, most urgent first; where there are several.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub classes: Vec<ClassOutcome>,
    /// What became of each block, in the scenario's order.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub blocks: Vec<BlockOutcome>,
}

/// How a simulation was computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Method {
    /// The recursion over the servers' free times.
    Recursion,
    /// The list of events.
    Events,
}

/// A quantile of the time in the queue.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, schemars::JsonSchema)]
pub struct WaitQuantile {
    /// Between 0 and 1.
    pub quantile: f64,
    /// The time that this share of the attempts did not exceed, in seconds.
    pub value_s: f64,
    /// Its interval, in seconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub interval_s: Option<[f64; 2]>,
}

/// A part of the events that arrived.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, schemars::JsonSchema)]
pub struct Part {
    /// How many.
    pub count: u64,
    /// Their share of the arrivals.
    pub share: f64,
    /// Its interval.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub share_interval: Option<[f64; 2]>,
}

/// The waits of one priority class.
#[derive(Clone, Debug, PartialEq, serde::Serialize, schemars::JsonSchema)]
pub struct ClassOutcome {
    /// Name of the class.
    pub name: String,
    /// Events that arrived while measured.
    pub arrivals: u64,
    /// Events delivered, of these.
    pub served: u64,
    /// Mean time in the queue, in seconds; absent where there was none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wait_mean_s: Option<f64>,
    /// Its interval, in seconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wait_mean_interval_s: Option<[f64; 2]>,
    /// Share of attempts that had to wait.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wait_probability: Option<f64>,
    /// Quantiles of the time in the queue.
    pub wait_quantiles: Vec<WaitQuantile>,
    /// The longest time in the queue, in seconds.
    pub oldest_age_max_s: f64,
}

/// What became of a block of arrivals.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, schemars::JsonSchema)]
pub struct BlockOutcome {
    /// When it arrived, in seconds.
    pub at_s: f64,
    /// How many events it had.
    pub events: u32,
    /// Replications in which its last event was delivered (or given up) before the end of the run.
    pub done_in_replications: u32,
    /// Mean time until then, in seconds; absent unless that is all of them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub done_s: Option<f64>,
    /// Its interval, in seconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub done_interval_s: Option<[f64; 2]>,
    /// Mean time until nothing waited for the first time, in seconds; absent unless that came in all replications.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub queue_empty_s: Option<f64>,
    /// Its interval, in seconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub queue_empty_interval_s: Option<[f64; 2]>,
    /// The most entries that waited at one moment after it came.
    pub queue_max: u64,
}

/// One replication after its warm-up.
#[derive(Clone, Debug, Default)]
pub(super) struct Measured {
    pub(super) warm_up: f64,
    pub(super) segment: Segment,
    pub(super) blocks: Vec<BlockRun>,
}

/// Puts the replications together; `None` where nothing was measured.
pub(super) fn summarise(
    scenario: &Scenario,
    run: &Run,
    method: Method,
    settled: Option<bool>,
    replications: &[Measured],
) -> Option<Simulated> {
    let student = Student::two_sided(replications.len(), run.confidence);
    let summary = Summary { run, student, replications };
    let all = |segment: &Segment| segment.total();
    let totals: Vec<Tally> = replications.iter().map(|r| all(&r.segment)).collect();
    let mut total = Segment::default();
    for replication in replications {
        total.merge(&replication.segment);
    }
    let count = replications.len() as f64;
    let waits = Waits::of(&summary, &totals)?;
    let workers = f64::from(scenario.workers);
    let worked = |r: &Measured| (r.segment.busy, r.segment.span * workers);
    let utilisation = summary.ratio(replications.iter().map(worked))?.within(0.0, 1.0);
    let pooled = total.total();
    let may_fail = scenario.retries.is_some() || scenario.endpoints.is_some();
    let part =
        |present: bool, count: fn(&Tally) -> u64| present.then(|| summary.part(&totals, count)).flatten();
    let delivered = pooled.fates.delivered;
    let classes = match &scenario.classes[..] {
        [_] => Vec::new(),
        several => several.iter().enumerate().map(|(at, class)| summary.class(at, &class.name)).collect(),
    };
    Some(Simulated {
        method,
        replications: run.replications,
        confidence: run.confidence,
        warm_up_s: replications.iter().map(|r| r.warm_up).sum::<f64>() / count,
        warm_up_settled: settled,
        measured_s: total.span / count,
        arrivals: pooled.arrivals,
        served: delivered,
        wait_mean_s: waits.mean.value,
        wait_mean_interval_s: waits.mean.interval,
        wait_probability: waits.probability.value,
        wait_probability_interval: waits.probability.interval,
        wait_quantiles: waits.quantiles,
        utilisation: utilisation.value.min(1.0),
        utilisation_interval: utilisation.interval,
        oldest_age_max_s: pooled.oldest,
        queue_max: total.queue_longest,
        delivery_mean_s: (may_fail && delivered > 0).then(|| pooled.fates.delivery_sum / delivered as f64),
        delivery_max_s: (may_fail && delivered > 0).then_some(pooled.fates.delivery_longest),
        abandoned: part(scenario.patience.is_some(), |tally| tally.fates.abandoned),
        lost: part(scenario.queue_limit.is_some(), |tally| tally.fates.lost),
        dead_lettered: part(may_fail, |tally| tally.fates.dead_lettered),
        retried: may_fail.then_some(pooled.fates.retried),
        refused: scenario.endpoints.is_some().then_some(pooled.fates.refused),
        classes,
        blocks: scenario.blocks.iter().enumerate().map(|(at, block)| summary.block(at, block)).collect(),
    })
}

struct Summary<'a> {
    run: &'a Run,
    student: Student,
    replications: &'a [Measured],
}

/// The estimates about waits.
struct Waits {
    mean: Estimate,
    probability: Estimate,
    quantiles: Vec<WaitQuantile>,
}

impl Waits {
    /// `None` where no entry left the queue.
    fn of(summary: &Summary<'_>, tallies: &[Tally]) -> Option<Self> {
        let over_entries = |top: fn(&Tally) -> f64| {
            summary.ratio(tallies.iter().map(|tally| (top(tally), tally.entries as f64)))
        };
        let mut pooled = Tally::default();
        for tally in tallies {
            pooled.merge(tally);
        }
        let quantiles = summary.run.quantiles.iter().map(|&quantile| {
            let parts: Vec<_> = tallies.iter().map(|tally| (&tally.waits, tally.entries)).collect();
            let share = |pairs: &[(f64, f64)]| interval::ratio(pairs, summary.student)?.interval;
            WaitQuantile {
                quantile,
                value_s: pooled.waits.quantile(quantile, pooled.entries),
                interval_s: quantile_interval(quantile, &parts, share),
            }
        });
        Some(Waits {
            mean: over_entries(|tally| tally.wait_sum)?.within(0.0, f64::MAX),
            probability: over_entries(|tally| tally.waited as f64)?.within(0.0, 1.0),
            quantiles: quantiles.collect(),
        })
    }
}

impl Summary<'_> {
    fn ratio(&self, pairs: impl Iterator<Item = (f64, f64)>) -> Option<Estimate> {
        interval::ratio(&pairs.collect::<Vec<_>>(), self.student)
    }

    fn part(&self, tallies: &[Tally], count: fn(&Tally) -> u64) -> Option<Part> {
        let pairs = tallies.iter().map(|tally| (count(tally) as f64, tally.arrivals as f64));
        let share = self.ratio(pairs)?.within(0.0, 1.0);
        let count = tallies.iter().map(count).sum();
        Some(Part { count, share: share.value, share_interval: share.interval })
    }

    fn class(&self, at: usize, name: &str) -> ClassOutcome {
        let of_class = |r: &Measured| r.segment.classes.get(at).cloned().unwrap_or_default();
        let tallies: Vec<Tally> = self.replications.iter().map(of_class).collect();
        let waits = Waits::of(self, &tallies);
        let mut pooled = Tally::default();
        for tally in &tallies {
            pooled.merge(tally);
        }
        ClassOutcome {
            name: name.to_owned(),
            arrivals: pooled.arrivals,
            served: pooled.fates.delivered,
            wait_mean_s: waits.as_ref().map(|waits| waits.mean.value),
            wait_mean_interval_s: waits.as_ref().and_then(|waits| waits.mean.interval),
            wait_probability: waits.as_ref().map(|waits| waits.probability.value),
            wait_quantiles: waits.map(|waits| waits.quantiles).unwrap_or_default(),
            oldest_age_max_s: pooled.oldest,
        }
    }

    fn block(&self, at: usize, block: &super::scenario::Block) -> BlockOutcome {
        let runs: Vec<BlockRun> =
            self.replications.iter().filter_map(|r| r.blocks.get(at)).copied().collect();
        let over_all = |time: fn(&BlockRun) -> Option<f64>| {
            let times: Option<Vec<f64>> = runs.iter().map(time).collect();
            times.and_then(|times| interval::mean(&times, self.student))
        };
        let done = over_all(|run| run.done_after).map(|done| done.within(0.0, f64::MAX));
        let empty = over_all(|run| run.queue_empty_after).map(|empty| empty.within(0.0, f64::MAX));
        BlockOutcome {
            at_s: block.at_s,
            events: block.events,
            done_in_replications: runs.iter().map(|run| u32::from(run.done_after.is_some())).sum(),
            done_s: done.map(|done| done.value),
            done_interval_s: done.and_then(|done| done.interval),
            queue_empty_s: empty.map(|empty| empty.value),
            queue_empty_interval_s: empty.and_then(|empty| empty.interval),
            queue_max: runs.iter().map(|run| run.queue_longest).max().unwrap_or(0),
        }
    }
}
