//! Everybody else's wait where every partner has a queue of its own.

use super::law::attempt;
use super::{Chance, Isolation, IsolationError, QUANTILE};
use crate::pipeline::queues::{OwnQueue, PartnerQueues};
use crate::simulate::{Arrivals, Horizon, Run, Scenario, Simulated, WarmUp, simulate};

/// Partners of one kind whose rates are within this factor are simulated as one.
const BIN_FACTOR: f64 = 1.25;

/// Attempts that are simulated for each of them.
const ATTEMPTS: u64 = 40_000;

/// How many tail probabilities are asked for, falling by an eighth of a decade each.
const TAILS: i32 = 32;
const TAILS_PER_DECADE: f64 = 8.0;

/// Partners that are alike enough to be one queue in the simulation.
struct Bin {
    queue: OwnQueue,
    /// Attempts a second to all of them.
    total_rate: f64,
    /// How many there are.
    partners: f64,
}

/// The wait that 99% of the attempts to everybody else do not exceed, in seconds: each partner's queue is simulated by
/// itself, partners of one kind and about one rate as one, and the waits are mixed in proportion to the attempts.
///
/// An ordered key is a queue with one worker. A throttle is left out: its wait is the partner's own choice.
pub(super) fn p99_s(
    queues: &PartnerQueues<'_>,
    isolation: &Isolation,
    chance: Chance,
) -> Result<f64, IsolationError> {
    let mut waits: Vec<(f64, Tail)> = Vec::new();
    for bin in bins(queues, isolation.partner) {
        let found = simulated(&bin, queues, chance)?;
        waits.push((bin.total_rate, Tail::of(&found)));
    }
    let attempts: f64 = waits.iter().map(|(rate, _)| rate).sum();
    let beyond =
        |seconds: f64| waits.iter().map(|(rate, tail)| rate * tail.beyond(seconds)).sum::<f64>() / attempts;
    let longest = waits.iter().map(|(_, tail)| tail.longest_s()).fold(0.0, f64::max);
    let (mut low, mut high) = (0.0, longest);
    if beyond(0.0) <= 1.0 - QUANTILE {
        return Ok(0.0);
    }
    while high - low > 1e-6 * high {
        let middle = f64::midpoint(low, high);
        if beyond(middle) > 1.0 - QUANTILE {
            low = middle;
        } else {
            high = middle;
        }
    }
    Ok(high)
}

/// Everybody but one partner, those of one kind and about one rate together.
fn bins(queues: &PartnerQueues<'_>, without: usize) -> Vec<Bin> {
    let mut bins: Vec<(usize, i64, Bin)> = Vec::new();
    for (rank, queue) in queues.own_queues().enumerate() {
        if rank == without || queue.rate_per_s <= 0.0 {
            continue;
        }
        let step = (queue.rate_per_s.ln() / BIN_FACTOR.ln()).floor() as i64;
        match bins.iter_mut().find(|(kind, other, _)| *kind == queue.kind && *other == step) {
            Some((_, _, bin)) => {
                bin.total_rate += queue.rate_per_s;
                bin.partners += 1.0;
            }
            None => {
                let total_rate = queue.rate_per_s;
                bins.push((queue.kind, step, Bin { queue, total_rate, partners: 1.0 }));
            }
        }
    }
    bins.into_iter().map(|(_, _, bin)| bin).collect()
}

fn simulated(bin: &Bin, queues: &PartnerQueues<'_>, chance: Chance) -> Result<Simulated, IsolationError> {
    let rate = bin.total_rate / bin.partners;
    let (workers, rate) = match bin.queue.ordered_keys {
        Some(keys) => (1, rate / keys as f64),
        None => (queues.concurrency_at(bin.queue.kind, rate), rate),
    };
    let workers = u32::try_from(workers).map_err(|_| IsolationError::TooManyWorkers { workers })?;
    let service = attempt(queues.class_of_kind(bin.queue.kind).ok_or(IsolationError::Alone)?, None)?;
    let run = Run {
        replications: 1,
        warm_up: WarmUp::Nothing,
        quantiles: (1..=TAILS).map(|step| 1.0 - tail(step)).collect(),
        seed: chance.seed,
        threads: chance.threads,
        ..Run::new(Horizon::Arrivals(ATTEMPTS))
    };
    Ok(simulate(&Scenario::plain(workers, Arrivals::poisson(rate)?, service), &run)?)
}

fn tail(step: i32) -> f64 {
    10f64.powf(-f64::from(step) / TAILS_PER_DECADE)
}

/// P(W > t) by its values at the quantiles that were asked for.
struct Tail {
    waits: f64,
    /// Seconds and the probability of waiting longer; seconds rise.
    points: Vec<(f64, f64)>,
}

impl Tail {
    fn of(found: &Simulated) -> Self {
        let points = found.wait_quantiles.iter().map(|quantile| (quantile.value_s, 1.0 - quantile.quantile));
        Tail { waits: found.wait_probability, points: points.filter(|(seconds, _)| *seconds > 0.0).collect() }
    }

    fn longest_s(&self) -> f64 {
        self.points.last().map_or(0.0, |(seconds, _)| *seconds)
    }

    /// Between two quantiles the tail falls along a line; beyond the last there is next to nothing.
    fn beyond(&self, seconds: f64) -> f64 {
        let after = self.points.partition_point(|(at, _)| *at <= seconds);
        let before = match after.checked_sub(1) {
            Some(index) => self.points[index],
            None => (0.0, self.waits),
        };
        match self.points.get(after) {
            None => 0.0,
            Some((at, probability)) => {
                let part = (seconds - before.0) / (at - before.0);
                before.1 + part * (probability - before.1)
            }
        }
    }
}
