//! Bisection over pools at one length of the runs.

use super::super::arrivals::Arrivals;
use super::super::error::Error;
use super::super::interval::{self, Student};
use super::super::law::Law;
use super::super::recursion::{PlainQueue, Record};
use super::super::stream::Streams;
use super::super::stretch::{Horizon, Stretches};
use super::super::tally::Tally;
use super::goal::{Goal, Measure};
use super::{Candidate, Search, Window};
use crate::parallel;
use std::collections::BTreeMap;

/// The share of a run that is left out at its start. A fixed share, not a rule that looks at the waits, keeps the estimates
/// of all pools over the same arrivals, and so in order.
const WARM_UP: f64 = 0.2;

/// All pools simulated with runs of one length.
pub(super) struct Level<'a> {
    arrivals: &'a Arrivals,
    service: &'a Law,
    goal: &'a Goal,
    limits_s: Vec<f64>,
    search: &'a Search,
    student: Student,
    length: f64,
    simulated: u64,
    pools: BTreeMap<u32, Pool>,
}

struct Pool {
    tallies: Vec<Tally>,
    measures: Vec<Measure>,
}

/// What a level found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Found {
    /// Smallest pool that is not surely too small.
    pub(super) low: u32,
    /// Smallest pool whose estimates keep the goal.
    pub(super) best: u32,
    /// Smallest pool that surely keeps the goal.
    pub(super) high: u32,
}

impl Found {
    pub(super) fn width(&self) -> f64 {
        f64::from(self.high - self.low)
    }
}

impl<'a> Level<'a> {
    pub(super) fn new(
        arrivals: &'a Arrivals,
        service: &'a Law,
        goal: &'a Goal,
        search: &'a Search,
        length: f64,
    ) -> Self {
        Level {
            arrivals,
            service,
            goal,
            limits_s: goal.limits_s(),
            search,
            student: Student::two_sided(search.replications as usize, search.confidence),
            length,
            simulated: 0,
            pools: BTreeMap::new(),
        }
    }

    pub(super) fn warm_up_s(&self) -> f64 {
        match self.search.window {
            Window::SteadyState => WARM_UP * self.length,
            Window::Seconds(_) => 0.0,
        }
    }

    /// Arrivals simulated so far.
    pub(super) fn arrivals(&self) -> u64 {
        self.simulated
    }

    pub(super) fn find(&mut self, floor: u32, guess: u32) -> Result<Found, Error> {
        let best = self.smallest(floor, guess, |measures| measures.iter().all(Measure::is_kept))?;
        let low =
            self.smallest(floor, best, |measures| !measures.iter().any(Measure::is_surely_missed))?.min(best);
        let high =
            self.smallest(floor, best, |measures| measures.iter().all(Measure::is_surely_kept))?.max(best);
        Ok(Found { low, best, high })
    }

    /// The smallest pool from `floor` on with a property that larger pools keep: brackets outwards from the guess in doubling
    /// steps, then bisects.
    fn smallest(&mut self, floor: u32, guess: u32, holds: fn(&[Measure]) -> bool) -> Result<u32, Error> {
        let mut step = 1;
        let (mut below, mut above) = if holds(self.measures(guess)?) {
            let mut above = guess;
            loop {
                if above == floor {
                    return Ok(floor);
                }
                let candidate = above.saturating_sub(step).max(floor);
                if !holds(self.measures(candidate)?) {
                    break (candidate, above);
                }
                above = candidate;
                step *= 2;
            }
        } else {
            let mut below = guess;
            loop {
                let candidate = below.saturating_add(step);
                if holds(self.measures(candidate)?) {
                    break (below, candidate);
                }
                below = candidate;
                step = step.saturating_mul(2);
            }
        };
        while above - below > 1 {
            let middle = below + (above - below) / 2;
            if holds(self.measures(middle)?) {
                above = middle;
            } else {
                below = middle;
            }
        }
        Ok(above)
    }

    /// Simulates a pool, unless it was.
    pub(super) fn look_at(&mut self, workers: u32) -> Result<(), Error> {
        self.measures(workers).map(|_| ())
    }

    fn measures(&mut self, workers: u32) -> Result<&[Measure], Error> {
        if !self.pools.contains_key(&workers) {
            let pool = self.simulate(workers)?;
            self.pools.insert(workers, pool);
        }
        self.pools.get(&workers).map(|pool| &pool.measures[..]).ok_or(Error::NothingMeasured)
    }

    fn simulate(&mut self, workers: u32) -> Result<Pool, Error> {
        let record = Record { limits_s: &self.limits_s, distribution: false };
        let queue =
            PlainQueue { workers: workers as usize, arrivals: self.arrivals, service: self.service, record };
        let warm_up = Some(self.warm_up_s()).filter(|&time| time > 0.0).map(Horizon::Seconds);
        let stretches = Stretches::after(warm_up, Horizon::Seconds(self.length));
        let indices: Vec<u32> = (0..self.search.replications).collect();
        let runs = parallel::each(&indices, self.search.threads, |&index| {
            queue.run(&stretches, Streams::new(self.search.seed, index))
        });
        let measured = |segments: &[super::super::tally::Segment]| {
            segments.last().map(super::super::tally::Segment::total).unwrap_or_default()
        };
        let arrivals = |segments: &[super::super::tally::Segment]| {
            segments.iter().flat_map(|segment| &segment.classes).map(|tally| tally.arrivals).sum::<u64>()
        };
        self.simulated += runs.iter().map(|run| arrivals(&run.segments)).sum::<u64>();
        let tallies: Vec<Tally> = runs.iter().map(|run| measured(&run.segments)).collect();
        let measures = self.goal.measure(&tallies, self.student).ok_or(Error::NothingMeasured)?;
        Ok(Pool { tallies, measures })
    }

    /// Waits seen in the answer's pool or the one below it, whichever saw more.
    pub(super) fn waits_next_to(&self, best: u32) -> u64 {
        let waited = |pool: &Pool| pool.tallies.iter().map(|tally| tally.waited).sum();
        self.pools.range(best.saturating_sub(1)..=best).map(|(_, pool)| waited(pool)).max().unwrap_or(0)
    }

    /// The pools from one below the interval to its upper end, as far as they were simulated.
    pub(super) fn candidates(&self, found: &Found) -> Vec<Candidate> {
        let range = found.low.saturating_sub(1)..=found.high;
        let candidate = |(&workers, pool): (&u32, &Pool)| {
            let over_entries = |top: fn(&Tally) -> f64| {
                let pairs: Vec<(f64, f64)> =
                    pool.tallies.iter().map(|t| (top(t), t.entries as f64)).collect();
                interval::ratio(&pairs, self.student)
            };
            let mean = over_entries(|tally| tally.wait_sum)?.within(0.0, f64::MAX);
            Some(Candidate {
                workers,
                wait_mean_s: mean.value,
                wait_mean_interval_s: mean.interval?,
                wait_probability: over_entries(|tally| tally.waited as f64)?.value,
                keeps_goal: pool.measures.iter().all(Measure::is_kept),
            })
        };
        self.pools.range(range).filter_map(candidate).collect()
    }
}
