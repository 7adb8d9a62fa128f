//! What an observation says, one question a function; the limits are conventions with their reasons.

use super::Observation;
use crate::sizing::{ArrivalProcess, Demand, ServiceTime};
use crate::units::{ArrivalRate, Exact, Seconds, human};

/// From this share of the workers on, all of them count as busy: a pool that must keep up is rarely seen at exactly
/// its size, because a worker is between two messages for a moment.
const FULL: f64 = 0.9;

/// Up to this share of the workers, nothing counts as being received.
const IDLE: f64 = 0.05;

/// A service time this many times the usual one counts as slow; less is the scatter of a short look.
const SLOW: f64 = 1.5;

/// Attempts for each message offered above which retries count as the trouble: the common retry budget is a fifth of
/// the first attempts (Envoy's `retry_budget` default).
const RETRY_BUDGET: f64 = 1.2;

/// The share of an attempt spent waiting for a connection above which the pool of connections counts as too small.
const STARVED: f64 = 0.2;

/// In flight from this share of the broker's limit on, the limit binds: brokers count approximately.
const AT_LIMIT: f64 = 0.95;

/// A message this many times older than its queue explains is held up by itself.
const FAR_TOO_OLD: f64 = 10.0;

/// How many standard deviations of chance a difference must exceed to count.
const BEYOND_CHANCE: f64 = 3.0;

/// An observation with the numbers that follow from it; each is absent where what it needs is not known.
#[derive(Clone, Debug)]
pub(super) struct Signs<'a> {
    pub(super) seen: &'a Observation,
    /// In flight for each worker; absent without workers.
    pub(super) busy_share: Option<f64>,
    /// The time that a busy worker takes for an attempt, by Little's law: busy workers / throughput.
    pub(super) implied_service_s: Option<f64>,
    /// That over the usual service time.
    pub(super) slowness: Option<f64>,
    /// What the workers serve at the usual service time, attempts a second.
    pub(super) capacity_per_s: Option<f64>,
    /// The smallest pool that keeps up with the rate at the usual service time: ⌊λS⌋ + 1.
    pub(super) workers_needed: Option<u64>,
    /// How long the waiting messages take to be served.
    pub(super) work_ahead_s: Option<f64>,
    /// Attempts for each message that is offered.
    pub(super) attempts_per_message: Option<f64>,
    /// Share of an attempt that is spent waiting for a connection.
    pub(super) pool_wait_share: Option<f64>,
    /// Messages a second by which the depth grows; negative where it falls.
    pub(super) growth_per_s: Option<f64>,
}

impl<'a> Signs<'a> {
    pub(super) fn of(seen: &'a Observation) -> Self {
        let number = |rate: &Option<ArrivalRate>| rate.as_ref().map(ArrivalRate::get);
        let seconds = |time: &Option<Seconds>| time.as_ref().map(Seconds::get);
        let busy = seen.in_flight.min(seen.workers) as f64;
        let ratio = |above: f64, below: f64| Some(above / below).filter(|ratio| ratio.is_finite());
        let (throughput, rate) = (number(&seen.throughput), number(&seen.rate));
        let usual_s = seconds(&seen.mean);
        let implied_service_s = throughput.and_then(|served| ratio(busy, served)).filter(|_| busy > 0.0);
        let capacity_per_s = usual_s.and_then(|mean| ratio(seen.workers as f64, mean));
        let growth_per_s = seen
            .earlier
            .as_ref()
            .and_then(|earlier| ratio(seen.depth as f64 - earlier.backlog as f64, earlier.ago.get()));
        // What arrives can be seen in the depth as well: what leaves, and by how much the depth grows.
        let arriving = rate.or_else(|| Some(throughput? + growth_per_s?).filter(|rate| *rate > 0.0));
        Signs {
            seen,
            busy_share: ratio(seen.in_flight as f64, seen.workers as f64),
            implied_service_s,
            slowness: implied_service_s.zip(usual_s).and_then(|(implied, usual)| ratio(implied, usual)),
            capacity_per_s,
            workers_needed: workers_needed(seen),
            work_ahead_s: throughput
                .filter(|served| *served > 0.0)
                .or(capacity_per_s.filter(|served| *served > 0.0))
                .and_then(|served| ratio(seen.depth as f64, served)),
            attempts_per_message: arriving
                .zip(number(&seen.first_attempt_rate))
                .and_then(|(all, first)| ratio(all, first)),
            pool_wait_share: seconds(&seen.pool_wait)
                .zip(implied_service_s.or(usual_s))
                .and_then(|(wait, service)| ratio(wait, service))
                .or(seen
                    .usual_pool_wait
                    .as_ref()
                    .filter(|_| seen.pool_wait.is_none())
                    .map(|usual| usual.share)),
            growth_per_s,
        }
    }

    /// A rate in words, in the one unit of all rates of this observation.
    pub(super) fn rate(&self, per_s: f64) -> String {
        let number = |rate: &Option<ArrivalRate>| rate.as_ref().map(ArrivalRate::get);
        let seen = [number(&self.seen.rate), number(&self.seen.throughput)];
        human::RateUnit::of(seen.into_iter().flatten()).show(per_s)
    }

    /// Nothing waits longer than is acceptable, nor is about to, as far as is known.
    pub(super) fn is_quiet(&self) -> bool {
        let acceptable_s = self.seen.acceptable_age.get();
        let young = self.seen.oldest_age.as_ref().is_none_or(|age| age.get() <= acceptable_s);
        let little = match self.work_ahead_s {
            Some(ahead_s) => ahead_s <= acceptable_s,
            // Without any rate: less than one message waits for each worker.
            None => self.seen.depth <= self.seen.workers,
        };
        let served = self.seen.depth == 0 || !self.is_stopped();
        let outpaced = self.is_full() && self.workers_needed.is_some_and(|needed| needed > self.seen.workers);
        young && little && served && !outpaced && !self.is_growing() && !self.is_contradictory()
    }

    /// The depth grew by more than chance makes of a queue that stays.
    fn is_growing(&self) -> bool {
        let Some(earlier) = &self.seen.earlier else { return false };
        let grown = self.seen.depth.saturating_sub(earlier.backlog) as f64;
        let served = self.seen.throughput.as_ref().map_or(0.0, |served| served.get() * earlier.ago.get());
        // As much arrives as leaves, both counted as Poisson: the variance of the difference is twice either.
        let deviation = (2.0 * served.max(earlier.backlog as f64)).sqrt();
        grown > BEYOND_CHANCE * deviation.max(1.0)
    }

    /// All workers hold a message.
    pub(super) fn is_full(&self) -> bool {
        self.busy_share.is_some_and(|share| share >= FULL)
    }

    /// No attempt ends.
    fn is_stopped(&self) -> bool {
        self.seen.throughput.as_ref().is_some_and(ArrivalRate::is_zero)
    }

    /// Messages wait, and hardly any is being received.
    pub(super) fn is_not_consuming(&self) -> bool {
        let idle = self.busy_share.is_none_or(|share| share <= IDLE);
        // Workers that are fast enough are idle in every snapshot and serve all the same.
        let serving = self.seen.throughput.as_ref().is_some_and(|served| {
            let expected = self.seen.rate.as_ref().map_or(0.0, |rate| rate.get() / 2.0);
            !served.is_zero() && served.get() >= expected
        });
        idle && !serving && (self.seen.depth > self.seen.workers || self.seen.depth > 0 && self.is_stopped())
    }

    /// The broker hands out no more.
    pub(super) fn is_at_broker_limit(&self) -> bool {
        self.seen.broker_limit.is_some_and(|limit| self.seen.in_flight as f64 >= AT_LIMIT * limit as f64)
    }

    /// Workers wait for connections.
    pub(super) fn is_starved(&self) -> bool {
        self.pool_wait_share.is_some_and(|share| share >= STARVED)
    }

    /// Far more attempts arrive than messages are offered.
    pub(super) fn is_amplified(&self) -> bool {
        self.attempts_per_message.is_some_and(|attempts| attempts > RETRY_BUDGET)
    }

    /// All workers are busy, and take longer than usual or never end.
    pub(super) fn is_slow(&self) -> bool {
        self.is_full() && (self.is_stopped() || self.slowness.is_some_and(|slowness| slowness >= SLOW))
    }

    /// All workers are busy and nothing else explains it.
    pub(super) fn is_short_of_workers(&self) -> bool {
        self.is_full() && !self.is_slow() && !self.is_starved() && !self.is_amplified()
    }

    /// The oldest message is much older than the queue before it explains.
    pub(super) fn holds_a_poison_message(&self) -> bool {
        let Some(age_s) = self.seen.oldest_age.as_ref().map(Seconds::get) else { return false };
        if age_s <= self.seen.acceptable_age.get() || self.is_full() {
            return false;
        }
        if let (Some(earlier), Some(growth)) = (&self.seen.earlier, self.growth_per_s) {
            // It was there at the earlier reading, and what was ahead of it then is gone.
            let served = self.seen.throughput.as_ref().is_none_or(|served| {
                served.get() * earlier.ago.get() >= earlier.backlog as f64 && !served.is_zero()
            });
            return growth <= 0.0 && age_s > earlier.ago.get() && served;
        }
        match self.expected_age_s() {
            Some(expected_s) => age_s > FAR_TOO_OLD * expected_s && !self.is_stopped(),
            None => self.seen.depth <= self.seen.workers && !self.is_stopped(),
        }
    }

    /// The age of the oldest message of a queue in order: its depth over what arrives or leaves, the slower of both.
    fn expected_age_s(&self) -> Option<f64> {
        let positive =
            |rate: &Option<ArrivalRate>| rate.as_ref().map(ArrivalRate::get).filter(|rate| *rate > 0.0);
        let slower = positive(&self.seen.rate)?.min(positive(&self.seen.throughput)?);
        Some(self.seen.depth as f64 / slower).filter(|seconds| seconds.is_finite())
    }

    /// The numbers do not fit one another: messages arrive, and neither wait, nor are held, nor leave.
    pub(super) fn is_contradictory(&self) -> bool {
        let arriving = self.seen.rate.as_ref().is_some_and(|rate| !rate.is_zero());
        arriving && self.seen.depth == 0 && self.seen.in_flight == 0 && self.is_stopped()
    }
}

/// The smallest stable pool, on exact decimals.
fn workers_needed(seen: &Observation) -> Option<u64> {
    let service = ServiceTime::exponential(seen.mean.clone()?);
    let demand = Demand::new(seen.rate.clone()?, service, ArrivalProcess::Poisson).ok()?;
    Exact::floor(&demand.load())?.checked_add(1)
}
