//! What is asked about a backlog.

use crate::sizing::{self, ServiceTime};
use crate::units::{ArrivalRate, Exact, Seconds, Share};
use std::fmt;

/// The confidence of the interval where none is named.
const USUAL_CONFIDENCE: f64 = 0.95;

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
    /// How sure the interval of the drain time is; 95% where nothing is said.
    pub confidence: Option<Share>,
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

impl RetryLimit {
    /// The squared coefficient of variation of all the time that a message takes, where that of an attempt is
    /// `attempt_scv`: `c²/E[A] + (E[A²]−E[A]²)/E[A]²` for a random number A of attempts, with P(A ≥ k) = fᵏ⁻¹ up to the
    /// most attempts (W. Feller, *An Introduction to Probability Theory*, vol. 1, ch. XII: random sums).
    pub(super) fn message_scv(&self, attempt_scv: f64) -> f64 {
        let failing = self.failure_share.get();
        let (mut mean, mut square, mut reached) = (0.0, 0.0, 1.0);
        for attempt in 1..=self.max_attempts {
            mean += reached;
            square += (2.0 * f64::from(attempt) - 1.0) * reached;
            reached *= failing;
        }
        // No message is tried less than once; rounding must not make a variance negative.
        let mean = f64::max(mean, 1.0);
        attempt_scv / mean + (square / (mean * mean) - 1.0).max(0.0)
    }
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
    /// Two readings of the depth without time between them.
    #[error("the earlier depth is as old as the depth now; give one that was read some time ago")]
    NoTimeBetweenReadings,
    /// A service time that nothing can be worked out from.
    #[error(
        "there is a service time, but neither a number of workers nor the rate of new messages, so it tells \
         nothing; give one of them"
    )]
    ServiceTimeAlone,
    /// A limit of the receiving side, and nothing that could run into it.
    #[error(
        "there is a limit of the receiving side, but nothing says what serves the queue; give workers and their \
         mean service time, or the rate that is served"
    )]
    LimitWithoutConsumers,
    /// An option that needs the rate at which messages leave, which two readings alone do not tell.
    #[error(
        "nothing says how fast messages leave, only how the backlog moves, so {0} cannot be taken into account; \
         give the rate of new messages, workers and their mean service time, or the rate that is served"
    )]
    DeparturesUnknown(NeedsDepartures),
    /// An option that needs the rate at which messages leave, of which readings and consumers say different things.
    #[error(
        "the backlog falls faster than the consumers could empty it, so {0} cannot be taken into account; \
         check the two depths and the consumers, or give the rate of new messages"
    )]
    DeparturesContradictory(NeedsDepartures),
}

/// An option that only tells something where it is known how fast messages leave.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NeedsDepartures {
    /// The wait that a message may see.
    AcceptableLatency,
    /// The age of the oldest message.
    OldestAge,
    /// The confidence of the drain time's interval.
    Confidence,
}

impl fmt::Display for NeedsDepartures {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            NeedsDepartures::AcceptableLatency => "the acceptable latency",
            NeedsDepartures::OldestAge => "the age of the oldest message",
            NeedsDepartures::Confidence => "the confidence of an interval",
        })
    }
}

impl Question {
    /// How many attempts a message takes on average; one where nothing is said of retries.
    pub(super) fn attempts_per_message(&self) -> Exact {
        self.retries.as_ref().map_or_else(Exact::one, |retries| {
            sizing::attempts_per_message(&retries.failure_share, retries.max_attempts)
        })
    }

    /// How sure the interval of the drain time is, between 0 and 1.
    pub(super) fn confidence(&self) -> f64 {
        self.confidence.as_ref().map_or(USUAL_CONFIDENCE, Share::get)
    }

    /// The first option that only tells something where it is known how fast messages leave.
    pub(super) fn needs_departures(&self) -> Option<NeedsDepartures> {
        if self.acceptable_latency.is_some() {
            Some(NeedsDepartures::AcceptableLatency)
        } else if self.oldest_age.is_some() {
            Some(NeedsDepartures::OldestAge)
        } else {
            self.confidence.as_ref().map(|_| NeedsDepartures::Confidence)
        }
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
