//! Service-time profiles: what was measured of the attempts, small enough to save and exact enough to size from.
//!
//! A [`ProfileRecorder`] takes attempts one by one in bounded memory and makes a [`ServiceProfile`]; two profiles
//! merge into one. Service time is the whole span for which an attempt holds its worker, lease to acknowledge.

mod blocks;
mod bounds;
mod caps;
mod groups;
mod hdr;
mod histogram;
mod moments;
mod phase_summary;
mod phases;
mod ranged;
mod recorder;
mod saved;
mod source;
mod tally;
mod times;

use crate::arrivals::ArrivalProfile;
use crate::units::Seconds;

pub use blocks::{Block, MOST_BLOCKS, TimeBlocks};
pub use bounds::QuantileBounds;
pub use caps::{CapCounts, CapEffect, MOST_CAPS};
pub use groups::{Group, Groups, MOST_GROUPS};
pub use hdr::DecodeError;
pub use histogram::{Bucket, Histogram};
pub use moments::{LONGEST_NS, Moments, NS_PER_SECOND};
pub use phase_summary::{PhaseSummary, REST};
pub use phases::{Phase, PhaseForm, PhaseSum, Phases};
pub use ranged::{Range, Ranged, Reading, Sum};
pub use recorder::{Attempt, HistogramOf, ProfileRecorder};
pub use saved::{LARGEST_SAVED, SCHEMA, SaveError, Saved, SavedNotice, SavedProfile};
pub use source::Source;
pub use tally::{Grouped, Stretch, Tally};
pub use times::ServiceTimes;
pub(crate) use times::seconds;

/// Why an attempt cannot be added to a profile.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ProfileError {
    /// No attempt holds a worker for so long.
    #[error("{} s is longer than seven days, so it is not the duration of an attempt", ns / NS_PER_SECOND)]
    TooLong {
        /// The duration in nanoseconds.
        ns: u64,
    },
    /// The exact sums are full.
    #[error("there are more attempts than the exact sums of a profile hold")]
    TooMany,
    /// Attempts lie in a bucket without an end, and no sum says how long they took.
    #[error(
        "{open} attempts lie in its last bucket, which has no end, and there is no sum: their mean cannot be told"
    )]
    NoSum {
        /// How many.
        open: u64,
    },
    /// The sum that was kept beside the counts is none that they can have.
    #[error("its sum contradicts its buckets")]
    SumContradicts,
}

/// The measured service times of a population of attempts.
#[derive(Clone, Debug, PartialEq)]
pub struct ServiceProfile {
    times: ServiceTimes,
    groups: Groups,
    caps: CapCounts,
    arrivals: Option<ArrivalProfile>,
    blocks: Option<TimeBlocks>,
    source: Source,
    /// Significant digits of the histogram: 3, or 2 where a saved profile had to be coarser.
    digits: u8,
    /// The same for the groups.
    group_digits: u8,
}

impl ServiceProfile {
    /// The service times of all attempts.
    #[must_use]
    pub fn times(&self) -> &ServiceTimes {
        &self.times
    }

    /// How many attempts there are; at least one.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.times.count()
    }

    /// Whether every attempt was measured by itself; see [`ServiceTimes::is_exact`].
    #[must_use]
    pub fn is_exact(&self) -> bool {
        self.times.is_exact()
    }

    /// The exact mean service time.
    #[must_use]
    pub fn mean(&self) -> Seconds {
        self.times.mean()
    }

    /// The squared coefficient of variation of service time, from exact integers.
    #[must_use]
    pub fn scv(&self) -> f64 {
        self.times.scv()
    }

    /// The standard deviation of service time, in seconds.
    #[must_use]
    pub fn stddev_s(&self) -> f64 {
        self.times.stddev_s()
    }

    /// A quantile of service time in seconds; see [`ServiceTimes::quantile`].
    #[must_use]
    pub fn quantile(&self, quantile: f64) -> f64 {
        self.times.quantile(quantile)
    }

    /// How many times the median the mean is; `None` if the median is zero.
    #[must_use]
    pub fn mean_over_median(&self) -> Option<f64> {
        self.times.mean_over_median()
    }

    /// The buckets of the histogram that are not empty, shortest first.
    pub fn buckets(&self) -> impl Iterator<Item = Bucket> + '_ {
        self.times.buckets()
    }

    /// How many attempts failed; they count in all figures.
    #[must_use]
    pub fn failures(&self) -> u64 {
        self.times.failures()
    }

    /// Service times by group; empty if attempts were not grouped.
    #[must_use]
    pub fn groups(&self) -> &Groups {
        &self.groups
    }

    /// When the attempts arrived; `None` without time stamps.
    #[must_use]
    pub fn arrivals(&self) -> Option<&ArrivalProfile> {
        self.arrivals.as_ref()
    }

    /// Service time over time; `None` without time stamps.
    #[must_use]
    pub fn blocks(&self) -> Option<&TimeBlocks> {
        self.blocks.as_ref()
    }

    /// What a request timeout of `cap_ns` nanoseconds would do to the mean.
    #[must_use]
    pub fn cap_effect(&self, cap_ns: u64) -> CapEffect {
        caps::effect(&self.times, &self.caps, cap_ns)
    }

    /// The timeouts whose effect was counted attempt by attempt, in nanoseconds.
    pub fn caps_ns(&self) -> impl Iterator<Item = u64> + '_ {
        self.caps.caps_ns()
    }

    /// The phases of the attempts; empty where they are not known.
    #[must_use]
    pub fn phases(&self) -> &Phases {
        self.times.phases()
    }

    /// Where the profile comes from.
    #[must_use]
    pub fn source(&self) -> &Source {
        &self.source
    }

    /// By how much a quantile may exceed the true one, as a fraction: 0.001, or 0.01 for a profile that had to be
    /// saved with a coarser histogram.
    #[must_use]
    pub fn quantile_tolerance(&self) -> f64 {
        tolerance(self.digits)
    }

    /// The same for the quantiles of the groups.
    #[must_use]
    pub fn group_quantile_tolerance(&self) -> f64 {
        tolerance(self.group_digits)
    }

    /// Adds the attempts of `other`. Count, sums, minimum and maximum stay exact, and the order of merging does not
    /// matter to them; arrivals merge as [`ArrivalProfile::merge`] says.
    ///
    /// # Errors
    /// If an exact sum would overflow.
    pub fn merge(&mut self, other: &ServiceProfile) -> Result<(), ProfileError> {
        let mut merged = self.clone();
        merged.times.merge(&other.times)?;
        merged.groups.merge(&other.groups)?;
        merged.caps.merge(&other.caps);
        merged.arrivals = match (merged.arrivals, &other.arrivals) {
            (Some(mine), Some(theirs)) => Some(mine.merge(theirs)),
            (mine, theirs) => mine.or_else(|| theirs.clone()),
        };
        merged.blocks = match (merged.blocks, &other.blocks) {
            (Some(mut mine), Some(theirs)) => {
                mine.limit_to(MOST_BLOCKS);
                mine.merge(theirs);
                Some(mine)
            }
            (mine, theirs) => mine.or_else(|| theirs.clone()),
        };
        merged.source.merge(&other.source);
        merged.digits = merged.digits.min(other.digits);
        merged.group_digits = merged.group_digits.min(other.group_digits);
        *self = merged;
        Ok(())
    }
}

/// The relative width of a bucket of a histogram with so many significant digits.
fn tolerance(digits: u8) -> f64 {
    10f64.powi(-i32::from(digits))
}
