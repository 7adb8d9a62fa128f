//! What is seen of a queue and its consumers at one moment.

use crate::drain::EarlierDepth;
use crate::units::{ArrivalRate, Seconds};

/// What is seen of a queue and its consumers at one moment. What is not known is left out; it narrows the diagnosis.
#[derive(Clone, Debug, PartialEq)]
pub struct Observation {
    /// Messages that wait for a worker.
    pub depth: u64,
    /// Messages that a worker holds: received and not yet acknowledged.
    pub in_flight: u64,
    /// Workers that there are.
    pub workers: u64,
    /// Messages that the queue holds back on purpose, such as retries with a delay.
    pub delayed: Option<u64>,
    /// Age of the oldest message.
    pub oldest_age: Option<Seconds>,
    /// The age up to which nothing is wrong.
    pub acceptable_age: Seconds,
    /// An earlier depth.
    pub earlier: Option<EarlierDepth>,
    /// Attempts that end, a second.
    pub throughput: Option<ArrivalRate>,
    /// Attempts that arrive at the queue, a second, retries included.
    pub rate: Option<ArrivalRate>,
    /// Messages that producers offer, a second, each counted once.
    pub first_attempt_rate: Option<ArrivalRate>,
    /// The usual mean service time: from a time without trouble.
    pub mean: Option<Seconds>,
    /// Mean time that an attempt waits for a connection out of its process's pool.
    pub pool_wait: Option<Seconds>,
    /// The most messages that the broker lets be in flight.
    pub broker_limit: Option<u64>,
}
