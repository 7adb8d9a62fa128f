//! Attempts counted apart from a recorder, to be taken over by it: what each of several threads counts by itself.

use super::histogram::Histogram;
use super::moments::{LONGEST_NS, Moments};
use super::phases::Phases;
use super::times::ServiceTimes;
use super::{Block, ProfileError};
use crate::arrivals::StampBatch;

/// Service times of single attempts; the exact sums of [`ServiceTimes`], checked only when they are taken over.
#[derive(Clone, Debug, Default)]
pub struct Tally {
    moments: Moments,
    histogram: Histogram,
    failures: u64,
    failures_sum_ns: u128,
    /// Whether a sum overflowed.
    full: bool,
    phases: Phases,
}

impl Tally {
    /// Adds an attempt of `ns` nanoseconds, at most [`LONGEST_NS`].
    #[inline]
    pub fn add(&mut self, ns: u64, failed: bool) {
        debug_assert!(ns <= LONGEST_NS, "the caller checks the range");
        let moments = &mut self.moments;
        moments.min_ns = if moments.count == 0 { ns } else { moments.min_ns.min(ns) };
        moments.max_ns = moments.max_ns.max(ns);
        moments.count += 1;
        moments.sum_ns += u128::from(ns);
        let (squares, full) = moments.sum_squares_ns2.overflowing_add(u128::from(ns) * u128::from(ns));
        moments.sum_squares_ns2 = squares;
        self.full |= full;
        self.histogram.add(ns, 1);
        if failed {
            self.failures += 1;
            self.failures_sum_ns += u128::from(ns);
        }
    }

    /// The phases of the attempts, to be added to.
    #[inline]
    pub fn phases_mut(&mut self) -> &mut Phases {
        &mut self.phases
    }

    /// What was counted, as service times.
    ///
    /// # Errors
    /// If a sum overflowed.
    pub fn into_times(self) -> Result<ServiceTimes, ProfileError> {
        if self.full {
            return Err(ProfileError::TooMany);
        }
        Ok(ServiceTimes {
            moments: self.moments,
            histogram: self.histogram,
            failures: self.failures,
            failures_sum_ns: self.failures_sum_ns,
            bounds: None,
            phases: self.phases,
        })
    }
}

/// The times at which the attempts of a stretch of a recording started, in the order in which they were met.
#[derive(Clone, Debug, Default)]
pub struct Stretch {
    pub(super) stamps: StampBatch,
    /// Attempts that follow one another and started in one second: the second, and their sums.
    pub(super) runs: Vec<(i64, Block)>,
}

impl Stretch {
    /// Adds an attempt of `ns` nanoseconds, at most [`LONGEST_NS`], that started at `at_ns` since the epoch, which is
    /// a multiple of `step_ns`.
    #[inline]
    pub fn add(&mut self, at_ns: i64, step_ns: u64, ns: u64) {
        self.stamps.add(at_ns, step_ns);
        let second = at_ns.div_euclid(1_000_000_000);
        let block = match self.runs.last_mut() {
            Some((last, block)) if *last == second => block,
            _ => {
                self.runs.push((second, Block::default()));
                match self.runs.last_mut() {
                    Some((_, block)) => block,
                    None => return,
                }
            }
        };
        block.count += 1;
        block.sum_ns += u128::from(ns);
        // A stretch has at most some million attempts, so this cannot overflow.
        block.sum_squares_ns2 += u128::from(ns) * u128::from(ns);
    }

    /// How many attempts there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.stamps.stamps().len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Forgets all attempts and keeps the memory.
    pub fn clear(&mut self) {
        self.stamps.clear();
        self.runs.clear();
    }
}
