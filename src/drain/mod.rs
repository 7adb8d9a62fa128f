//! How long until a backlog is gone: a [`Question`] about a queue gives a [`DrainPlan`].
//!
//! The queue is taken as a fluid: what comes in and what goes out are rates, and their difference empties or
//! fills it. Whether it drains at all, and every number of workers, is decided on exact decimals; the spread of
//! the drain time is that of a random walk with the same rates.

mod flow;
mod notes;
mod plan;
mod question;
mod solve;
mod words;

pub use notes::DrainNote;
pub use plan::{Bottleneck, DrainPlan, NetRateBasis, PoolOption, TimelinePoint};
pub use question::{Consumers, DrainError, EarlierDepth, NeedsDepartures, Question, RetryLimit};
pub use solve::Answered;
pub(crate) use words::movement;

#[cfg(test)]
mod tests;
