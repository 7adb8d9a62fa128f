//! What is seen of a queue and its consumers at one moment.

use crate::drain::EarlierDepth;
use crate::profile::{NS_PER_SECOND, Phase, ServiceProfile};
use crate::units::{ArrivalRate, Exact, Seconds};

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
    /// The same in the time of which the usual service time is: what counts where the present one is not known.
    pub usual_pool_wait: Option<UsualPoolWait>,
    /// The most messages that the broker lets be in flight.
    pub broker_limit: Option<u64>,
}

/// How long the attempts of a profile waited for a connection out of their process's pool.
#[derive(Clone, Debug, PartialEq)]
pub struct UsualPoolWait {
    /// The mean over all attempts, those that did not wait included.
    pub mean: Seconds,
    /// Its share of the time for which attempts held their workers, between 0 and 1.
    pub share: f64,
}

impl UsualPoolWait {
    /// The phase of a profile; `None` if it was not measured.
    #[must_use]
    pub fn of(profile: &ServiceProfile) -> Option<Self> {
        let phases = profile.phases();
        let (_, wait) = phases.measured().find(|(phase, _)| *phase == Phase::PoolWait)?;
        let attempts = u128::from(phases.attempts(profile.count()));
        let mean =
            Exact::fraction(wait.sum_ns, attempts * u128::from(NS_PER_SECOND)).and_then(Seconds::new)?;
        let share = wait.sum_ns as f64 / profile.times().moments().sum_ns() as f64;
        share.is_finite().then_some(UsualPoolWait { mean, share: share.min(1.0) })
    }
}
