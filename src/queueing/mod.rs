//! The mathematics of waiting, each formula with its source. Pure functions of floats: no units, no policy.
//!
//! Symbols, as in the literature: λ arrivals a second, S mean service time in seconds, a = λS the offered load
//! in erlangs, N workers, ρ = a/N the utilisation, ca² and cs² the squared coefficients of variation (SCV) of
//! the times between arrivals and of the service times.

mod arrival_process;
mod batch;
pub mod block;
mod bounded;
mod constant;
mod correction;
pub mod erlang;
mod linear;
mod offered;
pub mod priority;
mod service;
mod shape;
mod sojourn;
pub mod staffing;
pub mod transient;
mod two_phase;
mod wait_model;
mod waiting;

pub use arrival_process::ArrivalProcess;
pub use bounded::{Bounds, Losses};
pub use offered::MeanUpTo;
pub use service::ServiceLaw;
pub use shape::ServiceShape;
pub use sojourn::Sojourn;
pub use wait_model::WaitModel;
pub use waiting::{Pool, Waiting};

/// Moments of a wait in steady state, in units of the mean service time.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Steady {
    /// P(W > 0).
    probability: f64,
    /// E(W).
    mean: f64,
    /// E(W²).
    mean_square: f64,
}
