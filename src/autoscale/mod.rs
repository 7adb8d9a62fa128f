//! The replica controller: what it would do now ([`Observed`] and a [`Policy`] give a [`Decision`]), and what it does
//! over a trace ([`Replay`] gives an [`Outcome`]), beside the policies that people use instead.
//!
//! The replay is a fluid one, in whole billionths of a message and steps of a second: what arrives is served or waits,
//! exactly, and the age of the oldest message follows from the order of arrival. Chance is not in it: the waits of a
//! pool in steady state are [`crate::sizing`]'s.

mod controller;
mod decision;
mod engine;
mod fleet;
mod notes;
mod outcome;
mod policy;
mod trace;

pub use controller::{Bounds, Controller};
pub use decision::{Decision, Observed, Rule};
pub use engine::{Downstream, Replay};
pub use notes::AutoscaleNote;
pub use outcome::{Outcome, PolicyOutcome, Step};
pub use policy::{MissingMetric, Policy, PolicyName};
pub use trace::{BuiltIn, Trace, TraceError, TraceRow};

#[cfg(test)]
mod tests;
