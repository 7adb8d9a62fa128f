//! The answer: whether and when a backlog is gone, and what would change that. Documented once; every output reads it.

use schemars::JsonSchema;
use serde::Serialize;

/// What sets the rate at which messages leave.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Bottleneck {
    /// The number of workers: more of them serve more.
    Workers,
    /// The receiving side's limit: more workers serve no more.
    DownstreamLimit,
    /// The rate that was given as served; what stands behind it is not known.
    ServedRate,
}

/// Where the net rate comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum NetRateBasis {
    /// The difference of the rates that were given.
    Assumed,
    /// The difference of two depth readings.
    Measured,
}

/// The backlog at one time.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct TimelinePoint {
    /// Seconds from now.
    pub at_s: f64,
    /// Messages that wait then, on average; zero exactly when the backlog is gone.
    pub backlog: f64,
}

/// What another number of workers would do.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct PoolOption {
    /// The number of workers.
    pub workers: u64,
    /// Messages a second that they serve.
    pub served_rate_per_s: f64,
    /// When the backlog is gone, in seconds from now; absent where it never is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub drain_s: Option<f64>,
}

/// Whether and when a backlog is gone. Messages are counted, not attempts: where a message takes several attempts,
/// `served_rate_per_s` is the rate at which messages leave for good.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct DrainPlan {
    /// Whether the backlog is gone at some time.
    pub drains: bool,
    /// When it is gone, in seconds from now; absent where it never is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub drain_s: Option<f64>,
    /// The interval of `drain_s` that chance leaves, at `drain_interval_confidence`; absent where it never drains or
    /// the rates are not known one by one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub drain_interval_s: Option<[f64; 2]>,
    /// The confidence of `drain_interval_s`, between 0 and 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub drain_interval_confidence: Option<f64>,
    /// Whether it is gone by the deadline; absent without a deadline.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub meets_deadline: Option<bool>,
    /// Whether a message that arrives now waits no longer than is acceptable; absent where no latency was named.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub meets_acceptable_latency: Option<bool>,
    /// New messages a second, as given or as the readings and the consumers imply; absent where they do not tell.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub arrival_rate_per_s: Option<f64>,
    /// Messages a second that leave for good; absent where it is not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub served_rate_per_s: Option<f64>,
    /// Messages a second by which the backlog falls; negative where it grows.
    pub net_rate_per_s: f64,
    /// Where the net rate comes from.
    pub net_rate_basis: NetRateBasis,
    /// The net rate that the given rates would make, where it was measured.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub assumed_net_rate_per_s: Option<f64>,
    /// Attempts that a message takes on average, where some fail.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub attempts_per_message: Option<f64>,
    /// Attempts a second that the new messages cause, where some fail.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub attempt_rate_per_s: Option<f64>,
    /// What sets the rate at which messages leave.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bottleneck: Option<Bottleneck>,
    /// The pool that the other fields describe: the one given, or the smallest that does what was asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub workers: Option<u64>,
    /// The smallest pool with which the backlog falls at all; absent where no number of workers does it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub workers_to_drain: Option<u64>,
    /// The smallest pool that clears the backlog by the deadline and serves more than arrives; absent where no number of
    /// workers does it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub workers_for_deadline: Option<u64>,
    /// Messages a second that must leave to clear the backlog by the deadline.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub served_rate_for_deadline_per_s: Option<f64>,
    /// The longest wait of the episode, in seconds, if messages are taken in the order of their arrival: that of the
    /// oldest message now, or of one that arrives now. Absent where the backlog never drains.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub oldest_age_at_end_s: Option<f64>,
    /// Messages that wait for each worker.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub backlog_per_worker: Option<f64>,
    /// Messages that may wait for each worker if none is to wait longer than is acceptable.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub acceptable_backlog_per_worker: Option<f64>,
    /// The smallest pool with which this backlog is acceptable and falls; absent where no number of workers does it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub workers_for_acceptable_latency: Option<u64>,
    /// The backlog from now until it is gone; over the deadline or an hour where it never is.
    pub timeline: Vec<TimelinePoint>,
    /// What other numbers of workers would do, fewest first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub pools: Vec<PoolOption>,
}

impl DrainPlan {
    /// Whether everything that was asked for holds: the backlog drains, by the deadline and within the acceptable
    /// latency where these were named.
    #[must_use]
    pub fn holds(&self) -> bool {
        self.drains && self.meets_deadline != Some(false) && self.meets_acceptable_latency != Some(false)
    }
}
