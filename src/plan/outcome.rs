//! The answer of `plan`, pool by pool. Documented once; every output reads it.

use super::solve::{Planned, PlannedPool};
use crate::autoscale;
use crate::drain::DrainPlan;
use crate::layout::Layout;
use crate::sizing::{Basis, Sizing};
use schemars::JsonSchema;
use serde::Serialize;

/// The figures of a pool that a later check compares with.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Figures {
    /// The pool.
    pub name: String,
    /// All attempts a second.
    pub rate_per_s: f64,
    /// Mean service time in seconds.
    pub service_mean_s: f64,
    /// Squared coefficient of variation of the service time.
    pub service_scv: f64,
    /// Squared coefficient of variation of the times between arrivals; the size of batches, where they arrive in batches.
    pub arrival_scv: f64,
    /// Measured attempts behind the service time, where it was measured.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub attempts_measured: Option<u64>,
    /// The smallest number of workers that meets every objective.
    pub workers: u64,
    /// The interval of `workers` that the sample leaves open, at 95% confidence; where it was measured.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub workers_interval: Option<[u64; 2]>,
    /// The workers that are deployed, where the plan says so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub workers_deployed: Option<u64>,
}

/// What a surge needs.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Surge {
    /// Its name.
    pub name: String,
    /// Attempts a second.
    pub rate_per_s: f64,
    /// Mean service time in seconds.
    pub service_mean_s: f64,
    /// The smallest number of workers that meets every objective then.
    pub workers: u64,
}

/// One pool.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct PoolOutcome {
    /// Its figures.
    #[serde(flatten)]
    pub figures: Figures,
    /// Whether every answer below is yes.
    pub holds: bool,
    /// How many workers, as `size` answers it, for the deployed pool where there is one; with the surges where no replicas
    /// follow the traffic.
    pub size: Sizing,
    /// What each surge needs.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub surges: Vec<Surge>,
    /// What they mean in pods, as `layout` answers it.
    pub layout: Layout,
    /// How they clear the backlog, as `drain` answers it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub drain: Option<DrainPlan>,
    /// How their number follows the traffic, as `autoscale replay` answers it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub autoscale: Option<autoscale::Outcome>,
}

/// Every pool.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct PlanOutcome {
    /// Whether every answer of every pool is yes.
    pub holds: bool,
    /// The pools, in the order of the file.
    pub pools: Vec<PoolOutcome>,
}

impl PlannedPool {
    /// The figures that a later check compares with.
    #[must_use]
    pub fn figures(&self) -> Figures {
        let demand = &self.pool.demand;
        Figures {
            name: self.pool.name.clone(),
            rate_per_s: demand.rate.get(),
            service_mean_s: demand.service.mean.get(),
            service_scv: demand.service.scv,
            arrival_scv: demand.arrivals.dispersion(),
            attempts_measured: match demand.service.basis {
                Basis::Measured { attempts } => Some(attempts),
                Basis::ExponentialAssumed | Basis::MomentsGiven => None,
            },
            workers: self.required_workers(),
            workers_interval: self.workers_interval,
            workers_deployed: self.pool.workers_deployed,
        }
    }

    /// Everything that is known of the pool.
    #[must_use]
    pub fn outcome(&self) -> PoolOutcome {
        PoolOutcome {
            figures: self.figures(),
            holds: self.holds(),
            size: self.size.1.sizing.clone(),
            surges: self.surges.clone(),
            layout: self.layout.1.layout.clone(),
            drain: self.drain.as_ref().map(|(_, answered)| answered.plan.clone()),
            autoscale: self.autoscale.as_ref().map(|replayed| replayed.outcome.clone()),
        }
    }
}

impl Planned {
    /// Whether every answer of every pool is yes.
    #[must_use]
    pub fn holds(&self) -> bool {
        self.pools.iter().all(PlannedPool::holds)
    }

    /// Everything that is known of every pool.
    #[must_use]
    pub fn outcome(&self) -> PlanOutcome {
        PlanOutcome { holds: self.holds(), pools: self.pools.iter().map(PlannedPool::outcome).collect() }
    }
}
