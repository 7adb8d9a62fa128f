//! The question that a queue asks before it leases a message: may this endpoint have one more attempt now?

use super::failure::Failure;
use super::message::EndpointId;
use tokio::time::Instant;

/// Decides at lease time.
pub trait Gate {
    /// Asks for one attempt at an endpoint; `attempt` is 1 for the first. [`Admission::Go`] takes a place, which
    /// is given back when the attempt is finished.
    fn admit(&self, endpoint: EndpointId, attempt: u32, now: Instant) -> Admission;
}

/// The gate's answer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Admission {
    /// Lease it.
    Go(Ticket),
    /// Not now. It goes back without an attempt counted; ask again at that instant, or, if there is none, when an
    /// attempt at the same endpoint is finished.
    Wait(Option<Instant>),
    /// Never: it goes to the endpoint's dead letters.
    DeadLetter(Failure),
}

/// A place that was taken at an endpoint, with what must be known when it is given back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ticket {
    /// When it was taken.
    pub taken: Instant,
    /// Whether it is for a retry.
    pub retry: bool,
}

/// A gate that is always open.
#[derive(Clone, Copy, Debug, Default)]
pub struct Open;

impl Gate for Open {
    fn admit(&self, _: EndpointId, attempt: u32, now: Instant) -> Admission {
        Admission::Go(Ticket { taken: now, retry: attempt > 1 })
    }
}
