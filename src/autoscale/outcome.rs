//! What a replay shows. Documented once; every output reads it.

use super::policy::PolicyName;
use schemars::JsonSchema;
use serde::Serialize;

/// Queue and replicas at one time. At every step, what has arrived is served or waits.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Step {
    /// Seconds from the start.
    pub at_s: f64,
    /// Attempts a second that arrive.
    pub rate_per_s: f64,
    /// Attempts a second that are served.
    pub served_per_s: f64,
    /// Messages that have arrived so far.
    pub arrived: f64,
    /// Messages that have been served so far.
    pub served: f64,
    /// Messages that wait.
    pub backlog: f64,
    /// Age of the oldest of them, in seconds, if messages leave in their order.
    pub oldest_age_s: f64,
    /// Replicas that are asked for.
    pub replicas: u64,
    /// Replicas of these that have started.
    pub ready_replicas: u64,
}

/// What a policy makes of a trace.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct PolicyOutcome {
    /// The policy.
    pub policy: PolicyName,
    /// The largest age of the oldest message, in seconds.
    pub oldest_age_max_s: f64,
    /// Seconds during which the oldest message was older than the objective.
    pub objective_missed_s: f64,
    /// Replicas × seconds, those that start and drain included.
    pub replica_seconds: f64,
    /// The most replicas that were asked for.
    pub replicas_max: u64,
    /// Messages that arrived.
    pub arrived: f64,
    /// Messages that were served.
    pub served: f64,
    /// Messages that wait at the end.
    pub backlog_at_end: f64,
    /// The most messages that waited.
    pub backlog_max: f64,
}

/// What a replay shows.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Outcome {
    /// What the policy makes of the trace.
    #[serde(flatten)]
    pub shown: PolicyOutcome,
    /// Its steps, one a decision.
    pub steps: Vec<Step>,
    /// What other policies make of it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub comparison: Vec<PolicyOutcome>,
    /// The steps of those, for a figure.
    #[serde(skip)]
    pub compared_steps: Vec<Vec<Step>>,
}

impl Outcome {
    pub(super) fn new(
        shown: PolicyOutcome,
        steps: Vec<Step>,
        compared: Vec<(PolicyOutcome, Vec<Step>)>,
    ) -> Self {
        let (comparison, compared_steps) = compared.into_iter().unzip();
        Outcome { shown, steps, comparison, compared_steps }
    }
}
