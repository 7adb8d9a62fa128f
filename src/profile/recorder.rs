//! Takes attempts one by one.

use super::{
    Block, CapCounts, Groups, MOST_BLOCKS, ProfileError, ServiceProfile, ServiceTimes, Source, TimeBlocks,
};
use crate::arrivals::{Additive, AlignedBins, ArrivalRecorder};

/// One attempt, or several of the same length.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Attempt<'a> {
    /// How long it held its worker, in nanoseconds.
    pub duration_ns: u64,
    /// How many attempts this stands for.
    pub weight: u64,
    /// Whether it failed.
    pub failed: bool,
    /// When it started, in nanoseconds since the epoch.
    pub started_ns: Option<i64>,
    /// The group to which it belongs.
    pub group: Option<&'a str>,
}

/// Collects attempts in bounded memory: at most some 8 MiB for arrivals and 20 MiB for groups.
#[derive(Clone, Debug)]
pub struct ProfileRecorder {
    times: ServiceTimes,
    groups: Groups,
    caps: CapCounts,
    arrivals: ArrivalRecorder,
    blocks: TimeBlocks,
}

impl ProfileRecorder {
    /// Nothing recorded yet; the effect of a timeout at each of `caps_ns` nanoseconds will be counted exactly.
    #[must_use]
    pub fn new(caps_ns: &[u64]) -> Self {
        ProfileRecorder {
            times: ServiceTimes::default(),
            groups: Groups::default(),
            caps: CapCounts::new(caps_ns),
            arrivals: ArrivalRecorder::default(),
            blocks: AlignedBins::new(MOST_BLOCKS),
        }
    }

    /// Adds an attempt.
    ///
    /// # Errors
    /// If it is longer than seven days or an exact sum is full; nothing is added then.
    pub fn add(&mut self, attempt: &Attempt<'_>) -> Result<(), ProfileError> {
        let Attempt { duration_ns, weight, failed, started_ns, group } = *attempt;
        self.times.add(duration_ns, weight, failed)?;
        if let Some(group) = group {
            // A group's sums are never larger than those of all attempts, which have just been checked.
            self.groups.add(group, duration_ns, weight, failed)?;
        }
        self.caps.add(duration_ns, weight);
        if let Some(at_ns) = started_ns {
            self.arrivals.add(at_ns, weight);
            let sum_ns = u128::from(duration_ns) * u128::from(weight);
            let sum_squares_ns2 = sum_ns.saturating_mul(duration_ns.into());
            self.blocks.at(at_ns.div_euclid(1_000_000_000)).add(&Block {
                count: weight,
                sum_ns,
                sum_squares_ns2,
            });
        }
        Ok(())
    }

    /// How many attempts were added, and how many of them failed.
    #[must_use]
    pub fn counts(&self) -> (u64, u64) {
        (self.times.count(), self.times.failures())
    }

    /// The profile; `None` if nothing was added.
    #[must_use]
    pub fn finish(self, source: Source) -> Option<ServiceProfile> {
        (self.times.count() > 0).then(|| ServiceProfile {
            times: self.times,
            groups: self.groups,
            caps: self.caps,
            arrivals: self.arrivals.finish(),
            blocks: (!self.blocks.is_empty()).then_some(self.blocks),
            source,
            digits: 3,
            group_digits: 3,
        })
    }
}
