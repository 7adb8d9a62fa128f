//! The mathematics of waiting, each formula with its source. Pure functions of floats: no units, no policy.
//!
//! Symbols, as in the literature: λ arrivals a second, S mean service time in seconds, a = λS the offered load
//! in erlangs, N workers, ρ = a/N the utilisation, ca² and cs² the squared coefficients of variation (SCV) of
//! the times between arrivals and of the service times.

pub mod erlang;
mod service;
mod sojourn;
pub mod staffing;
pub mod transient;
mod waiting;

pub use service::ServiceLaw;
pub use sojourn::Sojourn;
pub use waiting::{Pool, Waiting};
