//! The answer: a pool's size, what it achieves, and how fragile that is. Documented once; every output reads it.

use super::rules::RuleRow;
use super::{BlockClearing, ClassWait, Model, Objective, Refinement, Schedule};
use schemars::JsonSchema;
use serde::Serialize;

/// A steady state with longer waits than this, in seconds, never comes about in practice: a year.
pub const NEVER_SETTLES_S: f64 = 365.0 * 86_400.0;

/// One quantile of a time.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct QuantileValue {
    /// The share of values at or below it, between 0 and 1.
    pub quantile: f64,
    /// The value in seconds.
    pub value_s: f64,
}

/// What a pool does in steady state. The waits are absent where there is no steady state.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct PoolState {
    /// Whether the queue has a steady state: more workers than erlangs, or a patience or a queue limit.
    pub stable: bool,
    /// ρ = a/N, of what is really served; above 1 for an overloaded pool that loses nothing.
    pub utilisation: f64,
    /// The share of arrivals that wait, of those that are not turned away.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wait_probability: Option<f64>,
    /// Mean wait of all arrivals that are not turned away, in seconds, up to where they give up.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wait_mean_s: Option<f64>,
    /// Mean wait of those that are served, in seconds; where there is a patience.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wait_mean_served_s: Option<f64>,
    /// The share of arrivals that lose patience and leave unserved; where there is a patience.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub abandonment_share: Option<f64>,
    /// The share of arrivals that find the queue full and are turned away; where there is a limit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub loss_share: Option<f64>,
    /// Quantiles of the wait.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub wait_quantiles: Vec<QuantileValue>,
    /// Quantiles of wait plus service; absent where arrivals can be lost.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub sojourn_quantiles: Vec<QuantileValue>,
    /// N/a − 1: by how much the rate can rise before the pool is full; negative for an overloaded one.
    pub rate_headroom_ratio: f64,
    /// The time in which the queue settles, in seconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub relaxation_time_s: Option<f64>,
}

impl PoolState {
    /// The share of arrivals that give up or are turned away; `None` where none can be lost.
    #[must_use]
    pub fn lost_share(&self) -> Option<f64> {
        let parts = [self.abandonment_share, self.loss_share];
        parts.iter().any(Option::is_some).then(|| parts.into_iter().flatten().sum())
    }
}

/// One objective, and what became of it.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Constraint {
    /// The objective's name, as in `binding_constraint`.
    pub objective: String,
    /// Its limit: seconds, a fraction, or β.
    pub limit: f64,
    /// What the pool achieves, in the same unit; absent where the pool is unstable.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub achieved: Option<f64>,
    /// Whether the pool meets it.
    pub met: bool,
    /// The smallest pool that meets it.
    pub workers: u64,
    /// The objective itself.
    #[serde(skip)]
    pub asked: Objective,
}

/// The pool when the rate moves and the workers do not.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct SensitivityRow {
    /// The factor on the rate.
    pub rate_factor: f64,
    /// Whether the pool still has a steady state.
    pub stable: bool,
    /// ρ at that rate, of what is really served.
    pub utilisation: f64,
    /// Mean wait in seconds; absent where the pool is unstable.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wait_mean_s: Option<f64>,
    /// The share of arrivals that give up or are turned away; where there is a patience or a queue limit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lost_share: Option<f64>,
    /// The workers that would meet the objectives at that rate.
    pub workers: u64,
}

/// What Erlang C says of a pool, as if service were exponential and arrivals Poisson.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct ErlangC {
    /// C, the share of arrivals that wait.
    pub wait_probability: f64,
    /// Mean wait in seconds.
    pub wait_mean_s: f64,
}

/// A pool's size with everything that is known of it.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct PoolSize {
    /// a = λS, the mean number of busy workers.
    pub offered_load_erlangs: f64,
    /// ⌊a⌋ + 1.
    pub smallest_stable_workers: u64,
    /// ⌈a + 1.5√a⌉.
    pub square_root_workers: u64,
    /// The same for β = 1 and β = 2.
    pub square_root_range: [u64; 2],
    /// ⌈a/0.7⌉.
    pub fixed_utilisation_workers: u64,
    /// The pools that are 85% to 95% busy, fewest first: the band that sizing guides give for a peak. Absent where
    /// no whole number of workers lies in it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub utilisation_band_workers: Option<[u64; 2]>,
    /// The pool that meets the objectives if service is exponential and arrivals are Poisson.
    pub erlang_c_workers: u64,
    /// What Erlang C says of `workers`; absent where the pool is unstable.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub erlang_c: Option<ErlangC>,
    /// The pool that the other fields describe: the smallest that meets the objectives, or the one given.
    pub workers: u64,
    /// The smallest pool that meets the objectives.
    pub required_workers: u64,
    /// The interval of `required_workers` that the measured sample leaves open.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub workers_interval: Option<[u64; 2]>,
    /// The formula behind the waits.
    pub model: Model,
    /// The known relative error of the mean wait in this regime, from the lowest to the highest; absent where nothing is
    /// known of it and the answer needs simulation.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model_error: Option<[f64; 2]>,
    /// What simulation settled, where it was asked to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub refined: Option<Refinement>,
    /// The objective that demands the most workers, or `stability`.
    pub binding_constraint: String,
    /// Every objective with what the pool achieves.
    pub constraints: Vec<Constraint>,
    /// Whether the pool meets every objective.
    pub meets_objective: bool,
    /// What the pool does.
    #[serde(flatten)]
    pub state: PoolState,
    /// What happens when the rate rises.
    pub sensitivity: Vec<SensitivityRow>,
    /// The rules that people size by, beside the answer.
    pub comparison: Vec<RuleRow>,
    /// The largest rate that this pool sustains within the objectives; absent where a pool that loses what it cannot serve
    /// meets them at any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_rate_per_s: Option<f64>,
    /// The largest mean service time that this pool sustains within the objectives, in seconds; absent likewise.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_mean_s: Option<f64>,
}

impl PoolSize {
    /// The objective that demands the most workers, if any demands more than a stable queue does by itself. A queue that
    /// loses what it cannot serve demands nothing.
    #[must_use]
    pub fn binding(&self) -> Option<&Constraint> {
        let by_itself = if self.state.lost_share().is_some() { 0 } else { self.smallest_stable_workers };
        binding(&self.constraints, by_itself)
    }
}

/// The first of the objectives that demand the most workers, if that is more than the queue demands by itself.
pub(super) fn binding(constraints: &[Constraint], by_itself: u64) -> Option<&Constraint> {
    let most = constraints.iter().reduce(|most, next| if next.workers > most.workers { next } else { most });
    most.filter(|constraint| constraint.workers > by_itself)
}

/// The size for one scenario.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct ScenarioSize {
    /// The scenario's name.
    pub name: String,
    /// Attempts a second.
    pub rate_per_s: f64,
    /// Mean service time in seconds.
    pub mean_s: f64,
    /// The size.
    #[serde(flatten)]
    pub size: PoolSize,
}

/// The answer of `size`: the steady traffic, and each scenario beside it.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Sizing {
    /// For the traffic itself.
    #[serde(flatten)]
    pub steady: PoolSize,
    /// For each interval of a rate that moves; the traffic itself is then its busiest moment.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub schedule: Option<Schedule>,
    /// The waits of urgent traffic and of the rest, where some of the traffic goes first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub classes: Vec<ClassWait>,
    /// What becomes of a block of events on top of the traffic.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub block: Option<BlockClearing>,
    /// For each scenario.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub scenarios: Vec<ScenarioSize>,
}

impl Sizing {
    /// Whether the pool meets every objective, under the traffic itself and in every scenario.
    #[must_use]
    pub fn holds_throughout(&self) -> bool {
        self.steady.meets_objective && self.scenarios.iter().all(|scenario| scenario.size.meets_objective)
    }
}
