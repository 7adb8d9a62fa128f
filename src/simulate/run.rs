//! How a scenario is run: length, replications, warm-up, and the choice of the engine.

use super::error::{Error, require};
use super::events;
use super::outcome::{Measured, Method, Simulated, summarise};
use super::recursion::{PlainQueue, Record};
use super::scenario::Scenario;
use super::stream::Streams;
use super::stretch::{Horizon, Stretches};
use super::tally::{Replicate, Segment};
use super::warm_up::{STRETCHES, WarmUp, truncation};
use crate::parallel;
use std::num::NonZeroUsize;

/// How a scenario is run.
#[derive(Clone, Debug, PartialEq)]
pub struct Run {
    /// Length of each replication, warm-up included.
    pub horizon: Horizon,
    /// Independent replications, at least one. Intervals need two; ten to thirty long ones are better than many short ones.
    pub replications: u32,
    /// What is left out at the start of each.
    pub warm_up: WarmUp,
    /// Level of the intervals, strictly between 0 and 1.
    pub confidence: f64,
    /// Quantiles of the wait to report, each strictly between 0 and 1.
    pub quantiles: Vec<f64>,
    /// Seed of all random numbers. The result depends on it and not on the threads.
    pub seed: u64,
    /// Threads to use.
    pub threads: NonZeroUsize,
}

impl Run {
    /// Twenty replications on one thread, automatic warm-up, 95% intervals and the usual quantiles.
    #[must_use]
    pub fn new(horizon: Horizon) -> Self {
        Run {
            horizon,
            replications: 20,
            warm_up: WarmUp::Automatic,
            confidence: 0.95,
            quantiles: vec![0.5, 0.9, 0.95, 0.99, 0.999],
            seed: 1,
            threads: NonZeroUsize::MIN,
        }
    }

    fn check(&self) -> Result<(), Error> {
        self.horizon.check()?;
        self.warm_up.check()?;
        if let (WarmUp::Seconds(warm_up), Horizon::Seconds(end)) = (self.warm_up, self.horizon) {
            let accepted = "shorter than the run";
            require("the warm-up", warm_up, accepted, |warm_up| warm_up < end)?;
        }
        check_replications(self.replications)?;
        check_confidence(self.confidence)?;
        for &quantile in &self.quantiles {
            let inside = "a number between 0 and 1, at neither end";
            require("a quantile of the wait", quantile, inside, |q| q > 0.0 && q < 1.0)?;
        }
        Ok(())
    }
}

/// The most replications of a run.
const MOST_REPLICATIONS: u32 = 1_000_000;

pub(super) fn check_replications(replications: u32) -> Result<(), Error> {
    let accepted = "a whole number from 1 to a million";
    let within = |count: f64| count >= 1.0 && count <= f64::from(MOST_REPLICATIONS);
    require("the number of replications", f64::from(replications), accepted, within).map(|_| ())
}

pub(super) fn check_confidence(confidence: f64) -> Result<(), Error> {
    let accepted = "a number between 0 and 1, at neither end";
    require("the confidence", confidence, accepted, |level| level > 0.0 && level < 1.0).map(|_| ())
}

/// Runs a scenario: the plain queue by the recursion, everything else event by event.
///
/// The interval of each mean is that of replication/deletion: the spread of independent replications, each without its
/// warm-up, with Student's t and arms that follow the skewness. Autocorrelation within a replication does not matter to it;
/// what does is that a replication is long against the queue's memory (fifty relaxation times for a coverage within 93 to
/// 97%, twenty for 92% at least); `warm_up_settled` says when it surely is not.
///
/// # Errors
/// Where a number has no meaning, an automatic warm-up is asked of something without a steady state, or nothing is left
/// to measure.
pub fn simulate(scenario: &Scenario, run: &Run) -> Result<Simulated, Error> {
    let method = if scenario.is_plain() { Method::Recursion } else { Method::Events };
    simulate_by(method, scenario, run)
}

/// Runs a scenario event by event, plain or not: for comparison with the recursion.
///
/// # Errors
/// As [`simulate`].
pub fn simulate_by_events(scenario: &Scenario, run: &Run) -> Result<Simulated, Error> {
    simulate_by(Method::Events, scenario, run)
}

/// Replications that decide about the warm-up of all: their stretches are kept apart, which takes memory.
const PILOTS: u32 = 32;

fn simulate_by(method: Method, scenario: &Scenario, run: &Run) -> Result<Simulated, Error> {
    run.check()?;
    scenario.check(run.horizon)?;
    let simulation = Simulation { method, scenario, run };
    let mut settled = None;
    let mut measured = Vec::new();
    let warm_up = match run.warm_up {
        WarmUp::Nothing => None,
        WarmUp::Seconds(time) => Some(Horizon::Seconds(time)),
        WarmUp::Automatic => {
            if let Some(what) = scenario.without_steady_state() {
                return Err(Error::NoSteadyState { what });
            }
            let stretches = Stretches::equal(run.horizon, STRETCHES as u64);
            let pilots = simulation.replicate(0..run.replications.min(PILOTS), &stretches);
            let found = truncation(&pilots);
            settled = found.settled;
            measured.extend(pilots.into_iter().map(|pilot| Measured::of(pilot, found.stretches)));
            Some(run.horizon.part(found.stretches as u64, STRETCHES as u64))
        }
    };
    let stretches = Stretches::after(warm_up, run.horizon);
    let left_out = stretches.count() - 1;
    let done = measured.len() as u32;
    let others = simulation.replicate(done..run.replications, &stretches);
    measured.extend(others.into_iter().map(|replicate| Measured::of(replicate, left_out)));
    summarise(scenario, run, method, settled, &measured).ok_or(Error::NothingMeasured)
}

struct Simulation<'a> {
    method: Method,
    scenario: &'a Scenario,
    run: &'a Run,
}

impl Simulation<'_> {
    fn replicate(&self, indices: std::ops::Range<u32>, stretches: &Stretches) -> Vec<Replicate> {
        let plain = self.scenario.as_plain().filter(|_| self.method == Method::Recursion);
        let indices: Vec<u32> = indices.collect();
        parallel::each(&indices, self.run.threads, |&index| {
            let streams = Streams::new(self.run.seed, index);
            match plain {
                Some((arrivals, service)) => {
                    let workers = self.scenario.workers as usize;
                    let record = Record { limits_s: &[], distribution: true };
                    PlainQueue { workers, arrivals, service, record }.run(stretches, streams)
                }
                None => events::run(self.scenario, stretches, streams),
            }
        })
    }
}

impl Measured {
    /// Leaves out the first stretches and puts the others together.
    fn of(replicate: Replicate, left_out: usize) -> Self {
        let (warm_up, rest) = replicate.segments.split_at(left_out.min(replicate.segments.len()));
        let mut segment = Segment::default();
        for stretch in rest {
            segment.merge(stretch);
        }
        Measured {
            warm_up: warm_up.iter().map(|stretch| stretch.span).sum(),
            segment,
            blocks: replicate.blocks,
        }
    }
}
