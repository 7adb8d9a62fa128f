//! Attempts counted apart from a recorder, to be taken over by it: what each of several threads counts by itself.

use super::histogram::Histogram;
use super::moments::{LONGEST_NS, Moments, NS_PER_SECOND};
use super::phases::Phases;
use super::times::ServiceTimes;
use super::{Block, ProfileError};
use crate::arrivals::{Additive, StampBatch};

/// Service times of single attempts; the exact sums of [`ServiceTimes`], checked only when they are taken over.
#[derive(Clone, Debug)]
pub struct Tally {
    moments: Moments,
    histogram: Histogram,
    failures: u64,
    failures_sum_ns: u128,
    /// Whether a sum overflowed.
    full: bool,
    phases: Phases,
}

impl Default for Tally {
    fn default() -> Self {
        Tally {
            moments: Moments { min_ns: u64::MAX, ..Moments::default() },
            histogram: Histogram::default(),
            failures: 0,
            failures_sum_ns: 0,
            full: false,
            phases: Phases::default(),
        }
    }
}

impl Tally {
    /// Adds an attempt of `ns` nanoseconds, at most [`LONGEST_NS`].
    #[inline]
    pub fn add(&mut self, ns: u64, failed: bool) {
        self.add_all(&[ns]);
        if failed {
            self.fail(ns);
        }
    }

    /// Adds attempts of so many nanoseconds each, at most [`LONGEST_NS`], that did not fail.
    #[inline]
    pub fn add_all(&mut self, durations_ns: &[u64]) {
        let moments = &mut self.moments;
        let (mut min_ns, mut max_ns, mut sum_ns, mut squares) =
            (moments.min_ns, moments.max_ns, 0u128, 0u128);
        for ns in durations_ns {
            debug_assert!(*ns <= LONGEST_NS, "the caller checks the range");
            min_ns = min_ns.min(*ns);
            max_ns = max_ns.max(*ns);
            sum_ns += u128::from(*ns);
            // 2³⁰ squares of seven days fit, which is more than are ever added at once.
            squares += u128::from(*ns) * u128::from(*ns);
            self.histogram.add(*ns, 1);
        }
        (moments.min_ns, moments.max_ns) = (min_ns, max_ns);
        moments.count += durations_ns.len() as u64;
        moments.sum_ns += sum_ns;
        let (squares, full) = moments.sum_squares_ns2.overflowing_add(squares);
        moments.sum_squares_ns2 = squares;
        self.full |= full;
    }

    /// Counts an attempt of `ns` nanoseconds that was added as failed.
    #[inline]
    pub fn fail(&mut self, ns: u64) {
        self.failures += 1;
        self.failures_sum_ns += u128::from(ns);
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
    pub fn into_times(mut self) -> Result<ServiceTimes, ProfileError> {
        if self.full {
            return Err(ProfileError::TooMany);
        }
        if self.moments.count == 0 {
            self.moments.min_ns = 0;
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

/// An attempt of a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Grouped {
    /// The group by its number in the order in which groups were met, from 0; none for those that are not told apart.
    pub group: Option<u16>,
    /// Whether it failed.
    pub failed: bool,
    /// How long it held its worker, in nanoseconds.
    pub ns: u64,
}

/// The times at which the attempts of a stretch of a recording started, in the order in which they were met.
#[derive(Clone, Debug, Default)]
pub struct Stretch {
    pub(super) stamps: StampBatch,
    /// Attempts that follow one another and started in one second: the second, and their sums.
    pub(super) runs: Vec<(i64, Block)>,
    /// When the second of the last run begins; of no use without runs.
    second_ns: i64,
}

impl Stretch {
    /// Adds an attempt of `ns` nanoseconds, at most [`LONGEST_NS`], that started at `at_ns` since the epoch, which is
    /// a multiple of `step_ns`.
    #[inline]
    pub fn add(&mut self, at_ns: i64, step_ns: u64, ns: u64) {
        self.add_all(&[at_ns], step_ns, &[ns]);
    }

    /// The same for several attempts.
    #[inline]
    pub fn add_all(&mut self, starts_ns: &[i64], step_ns: u64, durations_ns: &[u64]) {
        self.stamps.add_all(starts_ns, step_ns);
        let mut run = Block::default();
        for (at_ns, ns) in starts_ns.iter().zip(durations_ns) {
            if at_ns.wrapping_sub(self.second_ns) as u64 >= NS_PER_SECOND || self.runs.is_empty() {
                self.end_run(&run);
                run = Block::default();
                self.begin_run(*at_ns);
            }
            run.count += 1;
            run.sum_ns += u128::from(*ns);
            // A stretch has at most some million attempts, so this cannot overflow.
            run.sum_squares_ns2 += u128::from(*ns) * u128::from(*ns);
        }
        self.end_run(&run);
    }

    fn begin_run(&mut self, at_ns: i64) {
        let second = at_ns.div_euclid(NS_PER_SECOND as i64);
        // The first second that 64 bits reach begins before they do; differences are right all the same.
        self.second_ns = second.wrapping_mul(NS_PER_SECOND as i64);
        self.runs.push((second, Block::default()));
    }

    fn end_run(&mut self, run: &Block) {
        if let Some((_, last)) = self.runs.last_mut() {
            last.add(run);
        }
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
