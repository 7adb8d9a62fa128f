//! What is asked about a backlog.

use crate::sizing::{self, ServiceTime};
use crate::units::{ArrivalRate, Exact, Seconds, Share};

/// A question about a backlog.
#[derive(Clone, Debug, PartialEq)]
pub struct Question {
    /// Messages that wait now.
    pub backlog: u64,
    /// New messages a second; without it, two depth readings must tell how the backlog moves.
    pub rate: Option<ArrivalRate>,
    /// What serves the queue; without it, two depth readings must tell how the backlog moves.
    pub consumers: Option<Consumers>,
    /// What failed attempts cost, where they are tried again.
    pub retries: Option<RetryLimit>,
    /// The most attempts a second that the receiving side takes, however many workers there are.
    pub downstream_limit: Option<ArrivalRate>,
    /// An earlier reading of the depth: how fast the backlog moves is then measured.
    pub earlier: Option<EarlierDepth>,
    /// By when the backlog must be gone, from now.
    pub deadline: Option<Seconds>,
    /// The age of the oldest message now.
    pub oldest_age: Option<Seconds>,
    /// The wait that a message may see.
    pub acceptable_latency: Option<Seconds>,
    /// How sure the interval of the drain time is.
    pub confidence: Share,
}

/// What serves the queue.
#[derive(Clone, Debug, PartialEq)]
pub enum Consumers {
    /// Workers, each busy with one attempt at a time. Without their number, the smallest pool that keeps the
    /// deadline and the acceptable latency is found and described.
    Pool {
        /// How many; at least one.
        workers: Option<u64>,
        /// How long an attempt occupies one.
        service: ServiceTime,
    },
    /// A known number of attempts a second.
    Rate(ArrivalRate),
}

/// How often a message is tried.
#[derive(Clone, Debug, PartialEq)]
pub struct RetryLimit {
    /// The share of attempts that fail.
    pub failure_share: Share,
    /// The most attempts of one message, the first included.
    pub max_attempts: u32,
}

/// A depth that was read some time ago.
#[derive(Clone, Debug, PartialEq)]
pub struct EarlierDepth {
    /// Messages that waited then.
    pub backlog: u64,
    /// How long ago; more than zero.
    pub ago: Seconds,
}

/// Why a question has no answer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DrainError {
    /// Nothing says how fast messages arrive, or how the backlog moves.
    #[error("nothing says how fast messages arrive; give their rate (0 if none do), or an earlier depth")]
    NoArrivals,
    /// Nothing says how fast messages leave, or how the backlog moves.
    #[error(
        "nothing says how fast messages leave; give workers and their mean service time, the rate that is served, \
         or an earlier depth"
    )]
    NoConsumers,
    /// A service time without workers, and nothing to find them by.
    #[error(
        "there is a service time but no number of workers; give one, or a deadline or an acceptable latency to \
         find it by"
    )]
    NothingToFindWorkersBy,
    /// The deadline or the latency asks for more workers than can be counted.
    #[error(
        "no countable number of workers does this; check the units of the deadline and of the service time"
    )]
    TooManyWorkers,
}

impl Question {
    /// How many attempts a message takes on average; one where nothing is said of retries.
    pub(super) fn attempts_per_message(&self) -> Exact {
        self.retries.as_ref().map_or_else(Exact::one, |retries| {
            sizing::attempts_per_message(&retries.failure_share, retries.max_attempts)
        })
    }

    /// The service time, where it is known.
    pub(super) fn service(&self) -> Option<&ServiceTime> {
        match &self.consumers {
            Some(Consumers::Pool { service, .. }) => Some(service),
            _ => None,
        }
    }

    /// The number of workers, where it is given.
    pub(super) fn given_workers(&self) -> Option<u64> {
        match &self.consumers {
            Some(Consumers::Pool { workers, .. }) => *workers,
            _ => None,
        }
    }
}
