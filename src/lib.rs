//! Capacity of webhook dispatchers and of other queue consumers that wait for somebody else's server.

pub mod notice;
pub mod report;
pub mod units;
