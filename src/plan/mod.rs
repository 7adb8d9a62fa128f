//! A plan: named pools with all that is asked of each, and the answers to all of it.
//!
//! A [`Plan`] holds the nouns of the other modules; [`Plan::solve`] hands them from one solver to the next, sizing to
//! layout to drain to autoscaling, and computes nothing by itself but the closed-form interval of a measured answer,
//! which a plan of hundreds of pools can afford where the bootstrap of [`crate::sizing`] would take minutes.

mod distribution;
mod interval;
mod outcome;
mod pool;
mod solve;

pub use distribution::{Bin, distribution};
pub use outcome::{Figures, PlanOutcome, PoolOutcome, Surge};
pub use pool::{Autoscaling, Deployed, Place, Plan, Pool, Recovery, Traffic};
pub use solve::{PlanError, Planned, PlannedPool, Replayed};
