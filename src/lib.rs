//! Capacity of webhook dispatchers and of other queue consumers that wait for somebody else's server.

pub mod units;
