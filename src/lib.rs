//! Capacity of webhook dispatchers and of other queue consumers whose work is waiting for somebody else's server:
//! from measured service times to a worker count, and from there to a deployment, a drain estimate, a proof.
//!
//! # Glossary
//!
//! | term | meaning |
//! | --- | --- |
//! | arrival rate λ | attempts a second that reach the queue, retries included |
//! | service time S | how long an attempt occupies a worker, from lease to acknowledgement |
//! | offered load a | λS, in erlangs: the mean number of busy workers (Little's law) |
//! | utilisation ρ | a/N, the share of time that each of N workers is busy |
//! | wait W | from arrival to the moment a worker takes the message |
//! | sojourn | wait plus service |
//! | SCV | squared coefficient of variation, variance over mean squared; 1 for an exponential law |
//!
//! # Data flow
//!
//! ```text
//! samples, histograms ─ingest─▶ ServiceProfile ─┐
//! rate, retries, surge ───────▶ Demand ─────────┼─sizing─▶ PoolSize ─layout─▶ Layout ─▶ manifests
//! objectives ─────────────────▶ Objective ──────┘
//! traffic, laws, workers ─simulate─▶ Simulated
//! load, faults, sandbox ──validate─▶ Validation, beside what the theory predicts
//! backlog, rates ────────────drain─▶ DrainPlan
//! depth, in flight, age ──diagnose─▶ Diagnosis
//! policy, trace ─────────autoscale─▶ Decision, Outcome
//! events, partners, prices ───plan─▶ PipelinePlan
//! every result ─▶ Report ─▶ table, JSON, Markdown
//! ```
//!
//! One struct a noun; each stage takes the nouns before it and returns the next one. Nothing reaches back.
//!
//! # Example
//!
//! The smallest pool that keeps the mean wait of 900 attempts a second, each 1.4 s long, below half a second:
//!
//! ```
//! use whsize::sizing::{ArrivalProcess, Demand, Objective, Question, ServiceTime};
//!
//! let service = ServiceTime::exponential("1.4".parse()?);
//! let question = Question {
//!     demand: Demand::new("900".parse()?, service, ArrivalProcess::Poisson)?,
//!     objectives: vec![Objective::MeanWait("500ms".parse()?)],
//!     workers: None,
//!     scenarios: Vec::new(),
//!     sample: None,
//! };
//! let pool = question.answer().sizing.steady;
//! assert_eq!((pool.offered_load_erlangs, pool.workers), (1260.0, 1263));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod arrivals;
pub mod autoscale;
pub mod check;
pub mod config;
pub mod diagnose;
pub mod dispatch;
pub mod drain;
pub mod exposition;
pub mod ingest;
pub mod layout;
mod nearest;
pub mod notice;
mod parallel;
pub mod pipeline;
pub mod plan;
pub mod profile;
pub mod queueing;
mod recent;
pub mod report;
pub mod sandbox;
pub mod simulate;
pub mod sizing;
pub mod units;
pub mod validate;
