//! The quantities that people type and read: durations, rates, shares, counts, sizes.
//!
//! What is typed is a decimal, and it stays one: every quantity keeps the exact rational number
//! ([`Exact`]) until a question is answered, because ceilings and stability decided on `f64` products
//! are wrong in practice (`1260 / 0.7` is `1800.0000000000002`, whose ceiling is one worker too many).
//!
//! | type | unit | typed as |
//! | --- | --- | --- |
//! | [`Seconds`] | seconds | `1.4`, `1400ms`, `2m`, `1h30m`, `250us` |
//! | [`ArrivalRate`] | per second | `900`, `54000/min`, `3.2M/h`, `100k/day` |
//! | [`Share`] | a fraction from 0 to 1 | `0.05`, `5%` |
//! | [`Ratio`] | a fraction that may exceed 1 | `0.25`, `25%`, `150%` |
//! | [`Count`] | whole things | `1300`, `280k`, `1M` |
//! | [`Bytes`] | bytes | `512`, `2kB`, `1.5GiB` |
//! | [`Quantile`] | strictly between 0 and 1 | `p95`, `p99.9`, `0.95` |

mod bytes;
mod count;
mod exact;
pub mod human;
mod rate;
mod seconds;
mod share;
pub mod words;

pub use bytes::Bytes;
pub use count::Count;
pub use exact::Exact;
pub use rate::ArrivalRate;
pub use seconds::Seconds;
pub use share::{Quantile, Ratio, Share};

/// Why a typed quantity was refused: what was typed, what is wrong with it, and what is accepted.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("\"{typed}\": {reason}; {accepted}")]
pub struct ParseError {
    /// The text as it was typed, shortened if it is very long.
    pub typed: String,
    /// What is wrong with it.
    pub reason: String,
    /// The grammar that is accepted, as a sentence part.
    pub accepted: &'static str,
}

impl ParseError {
    fn new(typed: &str, reason: impl Into<String>, accepted: &'static str) -> Self {
        ParseError { typed: words::shortened(typed), reason: reason.into(), accepted }
    }
}

/// Refuses a quantity that is zero where zero makes no sense.
fn more_than_zero<T>(parsed: T, is_zero: bool, typed: &str, accepted: &'static str) -> Result<T, ParseError> {
    if is_zero { Err(ParseError::new(typed, "it must be more than zero", accepted)) } else { Ok(parsed) }
}
