//! What a validation found. Documented once; every output reads it.

use crate::sizing::Model;
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeMap;

/// Whether measurement and prediction agree.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// They agree.
    Agrees,
    /// It cannot be said: the machine was too busy or too slow, it was interrupted, or the run has no prediction.
    NotJudged,
    /// They do not agree.
    Disagrees,
}

/// One thing that was compared.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Check {
    /// The field that it is about.
    pub name: &'static str,
    /// What was measured.
    pub measured: f64,
    /// The least that agrees; absent where there is no lower limit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub low: Option<f64>,
    /// The most that agrees; absent where there is no upper limit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub high: Option<f64>,
    /// The verdict.
    pub verdict: Verdict,
    /// Where the limits come from, or why it was not judged.
    pub reason: String,
}

/// A quantile of a time.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct QuantileValue {
    /// Between 0 and 1.
    pub quantile: f64,
    /// The time that this share did not exceed, in seconds.
    pub value_s: f64,
}

/// A phase of the service time.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct PhaseShare {
    /// Its name, such as `wait`.
    pub name: &'static str,
    /// Mean over all attempts, in seconds.
    pub mean_s: f64,
    /// Its share of the service time.
    pub share: f64,
}

/// What became of one endpoint's messages.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct EndpointLevel {
    /// Its number, counted from 1.
    pub endpoint: usize,
    /// Attempts made.
    pub attempts: u64,
    /// Attempts that it took.
    pub delivered: u64,
    /// Share of attempts answered with 429.
    pub status_429_ratio: f64,
    /// Mean wait of its messages in the queue, in seconds; absent without attempts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wait_mean_s: Option<f64>,
    /// Wait that 99% of them did not exceed, in seconds; absent without attempts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wait_p99_s: Option<f64>,
    /// Why the dispatcher disabled it, if it did.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub disabled: Option<String>,
}

/// What was to be expected of a level.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Predicted {
    /// Whether the pool is larger than the load that was offered.
    pub stable: bool,
    /// Offered load over workers; above 1 for a pool that is too small.
    pub utilisation: f64,
    /// Mean wait of simulated runs of the same arrivals and service times, in seconds.
    pub wait_mean_s: f64,
    /// Where the mean waits of `confidence` of these runs lie.
    pub wait_mean_interval_s: [f64; 2],
    /// Mean wait in an ideal pool that takes these very messages with these very service times in this order, in
    /// seconds: what is measured above it, threads and timers have added.
    pub ideal_wait_mean_s: f64,
    /// Longest wait in such a run, in seconds: mean over the runs.
    pub oldest_age_max_s: f64,
    /// Where the longest waits of `confidence` of these runs lie.
    pub oldest_age_max_interval_s: [f64; 2],
    /// Level of the intervals.
    pub confidence: f64,
    /// How many runs were simulated.
    pub runs: u32,
    /// Mean wait in the steady state, in seconds: what the run would come to if it were long; absent without one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub steady_wait_mean_s: Option<f64>,
    /// The formula of the steady state.
    pub model: Model,
    /// The time in which the queue settles, in seconds; absent without a steady state.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub relaxation_time_s: Option<f64>,
    /// By how much the oldest age grows each second while messages arrive, where the pool is too small: 1 − μ/λ.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub age_growth_ratio: Option<f64>,
}

/// One level. Times and rates are the plan's, after `--shrink`.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Level {
    /// Multiple of the planned rate.
    pub multiplier: f64,
    /// Workers.
    pub workers: u64,
    /// Messages offered a second.
    pub offered_rate_per_s: f64,
    /// Messages delivered a second while messages arrived, after the warm-up.
    pub achieved_rate_per_s: f64,
    /// Messages enqueued.
    pub enqueued: u64,
    /// Messages delivered.
    pub delivered: u64,
    /// Attempts that failed.
    pub failed: u64,
    /// How often each cause made them fail; empty where none did.
    pub failures: BTreeMap<String, u64>,
    /// Messages given up.
    pub dead_lettered: u64,
    /// Messages still in the queue when the level was ended.
    pub still_queued: u64,
    /// Messages that are none of these: must be 0.
    pub lost: u64,
    /// Deliveries that an endpoint took again.
    pub duplicated: u64,
    /// Mean service time, lease to acknowledgement, in seconds.
    pub service_mean_s: f64,
    /// Its squared coefficient of variation.
    pub service_scv: f64,
    /// How much longer the service time was than the endpoints' latency, in seconds; absent with a sandbox elsewhere.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub overhead_mean_s: Option<f64>,
    /// Mean wait, from ready to leased, in seconds.
    pub wait_mean_s: f64,
    /// Quantiles of the wait.
    pub wait_quantiles: Vec<QuantileValue>,
    /// The longest wait, in seconds: the oldest age that any message reached.
    pub oldest_age_max_s: f64,
    /// Share of the workers' time in which they worked.
    pub utilisation: f64,
    /// Share of requests that found an open connection; absent without requests.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reuse_ratio: Option<f64>,
    /// Share of attempts answered with 429.
    pub status_429_ratio: f64,
    /// When it was interrupted, in seconds from its start: rates and utilisation are of that time; absent if it was not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub interrupted_after_s: Option<f64>,
    /// From the last arrival until the queue was empty, in seconds; absent if it was not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub drained_after_s: Option<f64>,
    /// How late the load generator was, on average, in seconds. It counts as wait.
    pub generator_lateness_mean_s: f64,
    /// The phases of the service time.
    pub phases: Vec<PhaseShare>,
    /// Each endpoint.
    pub endpoints: Vec<EndpointLevel>,
    /// What was to be expected; absent where nothing was attempted, or the queue did not drain.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub predicted: Option<Predicted>,
    /// What was compared.
    pub checks: Vec<Check>,
    /// Whether the level agrees with the prediction.
    pub verdict: Verdict,
}

/// The result of `validate`.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Validation {
    /// The levels in the order in which they were run.
    pub levels: Vec<Level>,
    /// Multiples of the rate that were not run because of an interrupt; absent if all were.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub levels_not_run: Vec<f64>,
    /// Deliveries a second, on the clock, that this machine can make and receive.
    pub machine_ceiling_per_s: f64,
    /// The worst of the levels' verdicts; a level that was not run was not judged.
    pub verdict: Verdict,
}

impl Validation {
    pub(super) fn new(levels: Vec<Level>, levels_not_run: Vec<f64>, machine_ceiling_per_s: f64) -> Self {
        let verdicts = levels.iter().map(|level| level.verdict);
        let verdict = verdicts
            .chain(levels_not_run.iter().map(|_| Verdict::NotJudged))
            .max()
            .unwrap_or(Verdict::NotJudged);
        Validation { levels, levels_not_run, machine_ceiling_per_s, verdict }
    }
}
