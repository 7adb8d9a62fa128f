//! The simulator against exact values, against itself, and against what its intervals promise.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test may fail by panicking")]

mod agreement;
mod coverage;
mod events;
mod exact;
mod feedback;
mod formulas;
mod oracle;
mod refine;
