//! Service time over time: what a bootstrap by blocks resamples.

use crate::arrivals::{Additive, AlignedBins, decimal};
use serde::{Deserialize, Serialize};

/// The most blocks that are kept.
pub const MOST_BLOCKS: usize = 128;

/// The attempts that started within one block of time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Block {
    /// How many attempts there are.
    pub count: u64,
    /// The sum of their service times, in nanoseconds.
    #[serde(with = "decimal")]
    pub sum_ns: u128,
    /// The sum of the squares of their service times, in square nanoseconds.
    #[serde(with = "decimal")]
    pub sum_squares_ns2: u128,
}

impl Additive for Block {
    fn add(&mut self, other: &Self) {
        self.count = self.count.saturating_add(other.count);
        self.sum_ns = self.sum_ns.saturating_add(other.sum_ns);
        self.sum_squares_ns2 = self.sum_squares_ns2.saturating_add(other.sum_squares_ns2);
    }
}

/// Service time over time, in at most [`MOST_BLOCKS`] blocks of equal length.
///
/// Attempts that are next to each other in time are alike, so the uncertainty of the mean is found by resampling whole
/// blocks of time and not single attempts.
pub type TimeBlocks = AlignedBins<Block>;
