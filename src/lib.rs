//! Capacity of webhook dispatchers and of other queue consumers that wait for somebody else's server.

pub mod notice;
pub mod queueing;
pub mod report;
pub mod sizing;
pub mod units;
