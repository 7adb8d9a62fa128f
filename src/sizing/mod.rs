//! How many workers: a [`Demand`] and its [`Objective`]s give a [`PoolSize`].
//!
//! Ceilings and stability are decided on the exact load; the waits come from [`crate::queueing`].

mod accuracy;
mod block;
mod bounds;
mod classes;
mod curve;
mod demand;
mod interval;
mod notes;
mod objective;
mod pool_size;
mod refinement;
mod rules;
mod schedule;
mod size;
mod solve;
mod state;
mod sustained;

pub use crate::queueing::ArrivalProcess;
pub use block::{Block, BlockClearing};
pub use bounds::{MOST_PLACES, QueueBounds};
pub use classes::ClassWait;
pub use curve::WaitCurve;
pub use demand::{Basis, Demand, DemandError, Retries, ServiceTime, attempts_per_message};
pub use interval::{Sample, TimedBlock};
pub use notes::SizingNote;
pub use objective::Objective;
pub use pool_size::{
    Constraint, ErlangC, NEVER_SETTLES_S, PoolSize, PoolState, QuantileValue, ScenarioSize, SensitivityRow,
    Sizing,
};
pub use refinement::Refinement;
pub use rules::{Rule, RuleRow};
pub use schedule::{RateFrom, RateProfile, Schedule, ScheduleError, StaffedInterval};
pub use size::{Answered, Question, Scenario};
pub use solve::{Model, smallest_workers, smallest_workers_moved};
