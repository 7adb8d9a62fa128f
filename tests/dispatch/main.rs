//! The sandbox and the dispatcher over real connections on this machine.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test may fail by unwrapping")]

mod connections;
mod conservation;
mod fairness;
mod harness;
mod raw;
mod sandbox;
mod validation;
