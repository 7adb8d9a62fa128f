//! Why a simulation was refused.

/// Why a law, an arrival process or a scenario cannot be simulated.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum Error {
    /// A number lies outside of the range that has a meaning.
    #[error("{what} is {value}; it must be {accepted}")]
    OutOfRange {
        /// What the number is, as a sentence part.
        what: &'static str,
        /// The number given.
        value: f64,
        /// What is accepted, as a sentence part.
        accepted: &'static str,
    },
    /// A list that must hold something is empty.
    #[error("{0} must not be empty")]
    Empty(&'static str),
    /// The mean does not lie between the smallest and the largest mean that the buckets allow.
    #[error("the mean {mean_s} s does not lie within the buckets, which allow {low_s} s to {high_s} s")]
    MeanOutsideBuckets {
        /// The mean given, in seconds.
        mean_s: f64,
        /// The mean if every value lay at the low end of its bucket, in seconds.
        low_s: f64,
        /// The mean if every value lay at the high end of its bucket, in seconds.
        high_s: f64,
    },
    /// Arrival times must not go back.
    #[error("arrival {position} comes before the one ahead of it")]
    ArrivalsNotInOrder {
        /// Position in the list, from 0.
        position: usize,
    },
    /// A steady state was asked of something that has none.
    #[error("{what} has no steady state to warm up to; give the warm-up as a time, or none")]
    NoSteadyState {
        /// What stands against it.
        what: &'static str,
    },
    /// Nothing was left to measure.
    #[error("no arrival was measured: the run ends before its first arrival after the warm-up")]
    NothingMeasured,
}

/// Refuses a number that is not finite or does not satisfy `accept`.
pub(super) fn require(
    what: &'static str,
    value: f64,
    accepted: &'static str,
    accept: impl Fn(f64) -> bool,
) -> Result<f64, Error> {
    if value.is_finite() && accept(value) {
        Ok(value)
    } else {
        Err(Error::OutOfRange { what, value, accepted })
    }
}

/// Refuses a number that is not finite and more than zero.
pub(super) fn require_positive(what: &'static str, value: f64) -> Result<f64, Error> {
    require(what, value, "a finite number more than 0", |value| value > 0.0)
}
