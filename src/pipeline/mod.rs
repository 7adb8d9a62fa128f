//! The stages around the pool, each with what it needs as the volume grows, and what the whole costs.
//!
//! ```text
//! Events ─▶ Outbox ─▶ Bus ─▶ FanOut ─▶ Queues ─▶ Delivery ─▶ Replay
//!    published ÷ owed: AbsenceAlarm        money: Cost
//! ```
//!
//! A [`Pipeline`] is what was asked about; [`Pipeline::plan`] gives a [`PipelinePlan`], one [`Stage`] after the
//! other. Every stage is a few formulas of the volume, each a method with its equation, evaluated at today's volume
//! and at 2, 5 and 10 times it, and searched for the growth at which its first limit breaks.

mod alarm;
mod backlog;
mod bus;
pub mod cost;
mod delivery;
mod events;
mod fan_out;
mod isolation;
mod load_shape;
mod need;
mod notes;
mod outbox;
mod partners;
mod plan;
mod queue;
mod queues;
mod replay;
mod share;

pub use alarm::AbsenceAlarm;
pub use backlog::drain_s;
pub use bus::{Bus, Driver, Partition};
pub use delivery::{Broker, Delivery, Idempotency};
pub use events::{Bulk, Events, Priority};
pub use fan_out::FanOut;
pub use isolation::{Chance, Design, DesignOutcome, Isolation, IsolationError, IsolationPlan};
pub use load_shape::LoadShape;
pub use need::{GROWTH, Need, NeedAt, Stage, StageName, Unit};
pub use notes::PipelineNote;
pub use outbox::Outbox;
pub use partners::{Class, Limits, MOST_PARTNERS, Named, Partner, Partners, PartnersError, Spread};
pub use plan::{ClassPlan, FirstToBreak, Pipeline, PipelineError, PipelinePlan, Planned};
pub use queue::QueueKind;
pub use queues::{PartnerPlan, Queues, empty_receives_a_month};
pub use replay::Replay;
