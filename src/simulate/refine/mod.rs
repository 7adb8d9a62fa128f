//! The smallest pool that keeps a goal, settled by simulation.

mod goal;
mod search;

pub use self::goal::{Goal, QuantileGoal};

use self::search::Level;
use super::arrivals::Arrivals;
use super::error::{Error, require, require_positive};
use super::law::Law;
use super::run::{check_confidence, check_replications};
use std::num::NonZeroUsize;

/// How the smallest pool is searched.
#[derive(Clone, Debug, PartialEq)]
pub struct Search {
    /// Over what the goal must hold.
    pub window: Window,
    /// Where to begin, such as a formula's answer: it saves time and does not change the answer.
    pub start: Option<u32>,
    /// Width of the workers' interval that is narrow enough, relative to the pool; one worker is always narrow enough.
    pub tolerance: f64,
    /// Arrivals to simulate at most, over all pools and replications. With them used up the search ends unsettled.
    pub most_arrivals: u64,
    /// Independent replications of each pool.
    pub replications: u32,
    /// Level of the intervals, strictly between 0 and 1.
    pub confidence: f64,
    /// Seed of all random numbers; every pool sees the same arrivals and service times.
    pub seed: u64,
    /// Threads to use.
    pub threads: NonZeroUsize,
}

/// Over what a goal must hold.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Window {
    /// In the long run.
    SteadyState,
    /// Over a time from an empty start, in seconds: a peak that is too short to reach its steady state, a trace, a day.
    Seconds(f64),
}

impl Search {
    /// Steady state, 24 replications on one thread, 95% intervals, a tolerance of 0.2% and two billion arrivals.
    #[must_use]
    pub fn new() -> Self {
        Search {
            window: Window::SteadyState,
            start: None,
            tolerance: 0.002,
            most_arrivals: 2_000_000_000,
            replications: 24,
            confidence: 0.95,
            seed: 1,
            threads: NonZeroUsize::MIN,
        }
    }

    fn check(&self, arrivals: &Arrivals) -> Result<(), Error> {
        match self.window {
            Window::Seconds(length) => {
                require_positive("the length of the window", length)?;
            }
            Window::SteadyState if arrivals.dispersion().is_none() => {
                return Err(Error::NoSteadyState { what: "a trace or a rate that varies over time" });
            }
            Window::SteadyState => {}
        }
        require("the tolerance", self.tolerance, "a number from 0 to 1", |t| (0.0..=1.0).contains(&t))?;
        require_positive("the number of arrivals to simulate", self.most_arrivals as f64)?;
        check_replications(self.replications)?;
        let replications = f64::from(self.replications);
        require("the number of replications", replications, "at least 2", |count| count >= 2.0)?;
        check_confidence(self.confidence)
    }
}

impl Default for Search {
    fn default() -> Self {
        Search::new()
    }
}

/// The smallest pool that keeps the goal.
#[derive(Clone, Debug, PartialEq, serde::Serialize, schemars::JsonSchema)]
pub struct Refined {
    /// The smallest pool whose estimates keep every goal.
    pub workers: u32,
    /// The smallest pool that is not surely too small, and the smallest that surely keeps the goal.
    pub workers_interval: [u32; 2],
    /// Whether the interval is as narrow as asked, from runs that are long enough. If not, the arrivals were used up.
    pub settled: bool,
    /// Length of each replication, in seconds, warm-up included.
    pub length_s: f64,
    /// Left out of it at the start, in seconds.
    pub warm_up_s: f64,
    /// Arrivals simulated in all.
    pub arrivals: u64,
    /// The pools next to the answer, smallest first; among them the start, where the interval of an unsettled search holds
    /// it.
    pub candidates: Vec<Candidate>,
}

/// A pool that was simulated.
#[derive(Clone, Debug, PartialEq, serde::Serialize, schemars::JsonSchema)]
pub struct Candidate {
    /// Its workers.
    pub workers: u32,
    /// Its mean wait, in seconds.
    pub wait_mean_s: f64,
    /// Interval of the mean wait, in seconds.
    pub wait_mean_interval_s: [f64; 2],
    /// Share of attempts that waited.
    pub wait_probability: f64,
    /// Whether it keeps every goal.
    pub keeps_goal: bool,
}

/// Relaxation times in a replication: enough that its start no longer matters and its mean is nearly normal.
const LENGTHS: f64 = 20.0;
/// The first runs, before anything is known of the answer, in mean service times and in arrivals.
const FIRST_SERVICES: f64 = 50.0;
const FIRST_ARRIVALS: f64 = 2_000.0;
/// How much longer each level's runs are than the last's, at least and at most.
const LEAST_GROWTH: f64 = 2.0;
const MOST_GROWTH: f64 = 8.0;
/// Waits that must have been seen next to the answer before it is believed.
const LEAST_WAITS: u64 = 500;

/// Finds the smallest pool that keeps the goal.
///
/// Every pool sees the same arrivals and service times (common random numbers). More workers then wait no longer on any path,
/// so the estimates fall with the pool and bisection is exact for the sample. Runs get longer, level by level, until they
/// span twenty relaxation times at the answer and its interval is narrow enough, or the arrivals are used up: sequential
/// stopping on precision (Law, "Simulation Modeling and Analysis", 5th edition, 2015, section 9.4.1).
///
/// # Errors
/// Where a number has no meaning, a steady state is asked of arrivals that have none, or nothing can be measured.
pub fn refine(arrivals: &Arrivals, service: &Law, goal: &Goal, search: &Search) -> Result<Refined, Error> {
    search.check(arrivals)?;
    goal.check()?;
    let load = arrivals.mean_rate_per_s() * service.mean_s();
    let accepted = "at most ten million erlangs";
    require("the offered load", load, accepted, |load| load <= 1e7)?;
    let floor = match search.window {
        Window::SteadyState => load.floor() as u32 + 1,
        Window::Seconds(_) => 1,
    };
    let mut guess = search.start.unwrap_or((load + load.sqrt()).ceil() as u32).max(floor);
    let mut length = match search.window {
        Window::Seconds(length) => length,
        Window::SteadyState => {
            let first = FIRST_SERVICES * service.mean_s();
            let hinted =
                search.start.map_or(0.0, |start| LENGTHS * relaxation_s(arrivals, service, start.max(floor)));
            first.max(FIRST_ARRIVALS / arrivals.mean_rate_per_s()).max(hinted.min(MOST_GROWTH * first))
        }
    };
    let mut spent = 0;
    loop {
        let mut level = Level::new(arrivals, service, goal, search, length);
        let found = level.find(floor, guess)?;
        spent += level.arrivals();
        let narrow = found.width() <= (search.tolerance * f64::from(found.best)).max(1.0);
        let needed = match search.window {
            Window::Seconds(_) => length,
            Window::SteadyState => LENGTHS * relaxation_s(arrivals, service, found.best),
        };
        let seen = level.waits_next_to(found.best) >= LEAST_WAITS;
        let settled = length >= needed && narrow && (seen || search.window != Window::SteadyState);
        let growth = (needed / length).clamp(LEAST_GROWTH, MOST_GROWTH);
        let next_costs = level.arrivals() as f64 * growth;
        let is_last =
            search.window != Window::SteadyState || spent as f64 + next_costs > search.most_arrivals as f64;
        if settled || is_last {
            let started_inside = search.start.filter(|start| (found.low..=found.high).contains(start));
            if let Some(start) = started_inside.filter(|_| !settled) {
                level.look_at(start)?;
            }
            return Ok(Refined {
                workers: found.best,
                workers_interval: [found.low, found.high],
                settled,
                length_s: length,
                warm_up_s: level.warm_up_s(),
                arrivals: spent,
                candidates: level.candidates(&found),
            });
        }
        length *= growth;
        guess = found.best;
    }
}

/// Time in which the queue forgets its state: the relaxation time of M/M/N times the variability of arrivals and service, at
/// least the mean time to the end of a service under way. It sets the length of the runs and nothing else.
fn relaxation_s(arrivals: &Arrivals, service: &Law, workers: u32) -> f64 {
    let gap = (f64::from(workers) / service.mean_s()).sqrt() - arrivals.mean_rate_per_s().sqrt();
    let variability = 0.5 * (arrivals.dispersion().unwrap_or(1.0) + service.scv());
    let residual = 0.5 * service.mean_s() * (1.0 + service.scv());
    // Next to saturation, where the gap is rounding, the run is as long as the arrivals allow anyway.
    (variability / (gap * gap).max(1e-12 / service.mean_s())).max(residual)
}
