//! The rules that people size by, side by side with the answer.

use super::solve::Load;
use schemars::JsonSchema;
use serde::Serialize;

/// A rule that leads from a load to a number of workers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Rule {
    /// ⌊a⌋ + 1, Little's law and nothing more.
    SmallestStable,
    /// Erlang C, as if service were exponential.
    ErlangC,
    /// The answer: the pool that meets the objectives under the demand's variability.
    Answer,
    /// The pool that was given.
    Given,
    /// a + √a.
    SquareRootLean,
    /// a + 1.5√a.
    SquareRoot,
    /// a + 2√a.
    SquareRootGenerous,
    /// a/0.7: workers busy 70% of their time.
    FixedUtilisation,
}

/// What a rule gives, and how that pool would wait.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct RuleRow {
    /// The rule.
    pub rule: Rule,
    /// Its number of workers.
    pub workers: u64,
    /// ρ = a/N, of what is really served.
    pub utilisation: f64,
    /// Mean wait in seconds under the demand's variability; absent where the pool is unstable.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wait_mean_s: Option<f64>,
    /// Share of arrivals that wait; absent where the pool is unstable.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wait_probability: Option<f64>,
    /// Share of arrivals that give up or are turned away; where there is a patience or a queue limit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lost_share: Option<f64>,
}

impl RuleRow {
    pub(super) fn new(rule: Rule, load: &Load, workers: u64) -> Self {
        let waiting = load.waiting(workers);
        RuleRow {
            rule,
            workers,
            utilisation: load.utilisation(workers, waiting.as_ref()),
            wait_mean_s: waiting.map(|waiting| waiting.mean_s()),
            wait_probability: waiting.map(|waiting| waiting.probability),
            lost_share: waiting.and_then(|waiting| waiting.losses().map(|_| waiting.lost_share())),
        }
    }
}
