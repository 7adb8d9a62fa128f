//! The form in which a profile is saved: exact sums as decimal text, histograms as HdrHistogram V2, under 100 KB.

mod read;
#[cfg(test)]
mod tests;
mod write;

use super::hdr::DecodeError;
use super::phases::SavedPhases;
use super::ranged::Reading;
use super::{Source, TimeBlocks};
use crate::arrivals::{ArrivalProfile, decimal};
use serde::{Deserialize, Serialize};

/// The name and version of the saved form.
pub const SCHEMA: &str = "whsize.profile/1";

/// The most bytes that a saved profile takes as JSON, whatever went into it.
pub const LARGEST_SAVED: usize = 100_000;

/// A profile as it is written and read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SavedProfile {
    schema: String,
    all: SavedTimes,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    groups: Vec<SavedGroup>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    others: Option<SavedTimes>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    caps: Vec<SavedCap>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    arrivals: Option<ArrivalProfile>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    blocks: Option<TimeBlocks>,
    source: Source,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct SavedTimes {
    count: u64,
    #[serde(with = "decimal")]
    sum_ns: u128,
    #[serde(with = "decimal")]
    sum_squares_ns2: u128,
    min_ns: u64,
    max_ns: u64,
    failures: u64,
    #[serde(with = "decimal")]
    failures_sum_ns: u128,
    digits: u8,
    histogram: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    bounds: Option<SavedBounds>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    phases: Option<SavedPhases>,
}

/// What is uncertain of attempts that came as the counts of a histogram.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct SavedBounds {
    #[serde(with = "decimal")]
    sum_low_ns: u128,
    #[serde(with = "decimal")]
    sum_high_ns: u128,
    #[serde(with = "decimal")]
    squares_low_ns2: u128,
    #[serde(with = "decimal")]
    squares_high_ns2: u128,
    reading: Reading,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    edges_ns: Vec<u64>,
    open: u64,
    highs: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct SavedGroup {
    name: String,
    #[serde(flatten)]
    times: SavedTimes,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct SavedCap {
    cap_ns: u64,
    attempts: u64,
    #[serde(with = "decimal")]
    excess_ns: u128,
}

/// A profile ready to be written, and what had to be given up to keep it small.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Saved {
    /// What is written.
    pub profile: SavedProfile,
    /// What the reader of the file will not get.
    pub notices: Vec<SavedNotice>,
}

/// What had to be given up to keep a saved profile below [`LARGEST_SAVED`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SavedNotice {
    /// The quantiles of all attempts are held to fewer significant digits.
    CoarserHistogram {
        /// How many: with one they are within 10%, with two within 1%.
        digits: u8,
    },
    /// The quantiles of the groups, or of the others, are held to fewer significant digits.
    CoarserGroups {
        /// The fewest of any of them.
        digits: u8,
    },
    /// Groups that held workers for the least time were counted with the others.
    GroupsJoined {
        /// How many groups were joined.
        joined: usize,
        /// How many are still told apart.
        kept: usize,
    },
}

/// Why a profile cannot be saved or restored.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SaveError {
    /// It is of another version, or no profile at all.
    #[error("its schema is \"{found}\", and \"{SCHEMA}\" is understood")]
    Schema {
        /// The schema that it names.
        found: String,
    },
    /// Its numbers contradict one another.
    #[error("its {part} {problem}")]
    Inconsistent {
        /// The part of the profile.
        part: &'static str,
        /// What is wrong with it.
        problem: &'static str,
    },
    /// A histogram cannot be read.
    #[error("its histogram cannot be read: {0}")]
    Histogram(#[from] DecodeError),
    /// A count is beyond what the HdrHistogram format holds.
    #[error("it has more attempts than an HdrHistogram holds")]
    TooMany,
}
