//! What simulation made of an answer.

use schemars::JsonSchema;
use serde::Serialize;

/// A pool that was settled by simulation instead of a formula.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Refinement {
    /// The smallest pool whose simulated waits keep the objectives on the wait. Where the search did not settle, and its
    /// interval holds the answer of a formula whose error is known, that one.
    pub workers: u64,
    /// The smallest pool that is not surely too small, and the smallest that is surely large enough.
    pub workers_interval: [u64; 2],
    /// Whether the interval is as narrow as asked: one worker, or 0.2% of the pool.
    pub settled: bool,
    /// The answer of the formula, where the search began.
    pub formula_workers: u64,
    /// The simulated mean wait of that pool, in seconds.
    pub wait_mean_s: f64,
    /// Its interval.
    pub wait_mean_interval_s: [f64; 2],
    /// The simulated share of arrivals that wait.
    pub wait_probability: f64,
    /// Arrivals simulated in all.
    pub arrivals: u64,
    /// The law of the service times that were simulated.
    pub service: String,
}
