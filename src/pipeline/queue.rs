//! One partner's queue: its concurrency, its throttle, its own wait.

use super::partners::Limits;
use crate::queueing::{ArrivalProcess, Pool, ServiceShape, WaitModel, staffing};
use crate::sizing::Demand;
use crate::units::{ArrivalRate, Count, Exact, Seconds};

/// More attempts at once than any partner takes.
const MOST_CONCURRENCY: u64 = 1_000_000_000;

/// The workers that attend one partner's queue, whatever arrives there.
///
/// The concurrency follows the partner's limits: c = min(limit, ⌈r·S⌉) where it accepts r attempts a second, and as
/// many as its own wait needs where it names no rate. Partners with the same class and limits share one.
#[derive(Clone, Debug, PartialEq)]
pub struct QueueKind {
    service_mean_s: f64,
    /// How the workers wait, by the shape of the service law.
    model: WaitModel,
    /// The most attempts at once; `None` where nothing bounds them.
    most_concurrency: Option<u64>,
    /// Attempts a second that the partner accepts.
    throttle_per_s: Option<f64>,
    /// Keys with one attempt in flight each.
    ordered_keys: Option<u64>,
    /// Attempts after the first, a delivery.
    retries: Exact,
    /// The mean wait at most, in seconds.
    wait_s: f64,
    /// Attempts a second up to which that wait is kept; `None` where concurrency can follow.
    sustained_per_s: Option<f64>,
}

impl QueueKind {
    /// The queue of a partner with these limits and a mean wait of at most `wait`. `attempts` is the demand of one
    /// delivery a second to its class: what an attempt takes, and how many a delivery needs.
    #[must_use]
    pub fn new(attempts: &Demand, ordered_keys: Option<Count>, limits: &Limits, wait: &Seconds) -> Self {
        let by_rate =
            limits.rate.as_ref().map(|rate| ceil_at_least_one(&rate.offered_load(&attempts.service.mean)));
        let bounds = [limits.concurrency.map(Count::get), by_rate, ordered_keys.map(Count::get)];
        let mut kind = QueueKind {
            service_mean_s: attempts.service.mean.get(),
            model: attempts.wait_model().clone(),
            most_concurrency: bounds.into_iter().flatten().min(),
            throttle_per_s: limits.rate.as_ref().map(ArrivalRate::get),
            ordered_keys: ordered_keys.map(Count::get),
            retries: attempts.rate.exact().minus(&Exact::one()).unwrap_or_else(Exact::zero),
            wait_s: wait.get(),
            sustained_per_s: None,
        };
        kind.sustained_per_s = kind.capacity_per_s().map(|capacity| {
            staffing::largest(capacity, capacity / 2.0, |rate| {
                kind.wait_of(kind.most(), rate).is_some_and(|wait| wait <= kind.wait_s)
            })
        });
        kind
    }

    /// Keys with one attempt in flight each; `None` where deliveries are not ordered.
    #[must_use]
    pub fn ordered_keys(&self) -> Option<u64> {
        self.ordered_keys
    }

    /// Attempts after the first, a delivery.
    #[must_use]
    pub fn retries(&self) -> &Exact {
        &self.retries
    }

    /// The attempts a second that the partner can be sent at most: min(c/S, r). `None` where nothing bounds them.
    #[must_use]
    pub fn capacity_per_s(&self) -> Option<f64> {
        let by_concurrency = self.most_concurrency.map(|most| most as f64 / self.service_mean_s);
        match (by_concurrency, self.throttle_per_s) {
            (Some(concurrency), Some(throttle)) => Some(concurrency.min(throttle)),
            (concurrency, throttle) => concurrency.or(throttle),
        }
    }

    /// The attempts a second up to which the wait is kept; `None` where concurrency can follow any rate.
    #[must_use]
    pub fn sustained_per_s(&self) -> Option<f64> {
        self.sustained_per_s
    }

    /// The attempts at once that a partner gets who is sent `rate` attempts a second.
    ///
    /// A partner with a rate limit gets c = min(limit, ⌈r·S⌉) whatever arrives; any other gets what its own wait
    /// needs, within its limit.
    #[must_use]
    pub fn concurrency(&self, rate: f64) -> u64 {
        if self.throttle_per_s.is_some() {
            return self.most();
        }
        let floor = (rate * self.service_mean_s).floor() as u64 + 1;
        let most = self.most();
        if floor >= most {
            return most;
        }
        let meets = |workers| self.wait_of(workers, rate).is_some_and(|wait| wait <= self.wait_s);
        staffing::smallest(floor, most, floor, meets).unwrap_or(most)
    }

    /// The mean wait at `rate` attempts a second, in seconds; `None` where it grows without end.
    #[must_use]
    pub fn wait_s(&self, rate: f64) -> Option<f64> {
        self.wait_of(self.concurrency(rate), rate)
    }

    /// The utilisation of an ordered key at `rate` attempts a second: one in flight, so λS ≤ 1 for each. `None` where
    /// deliveries are not ordered.
    #[must_use]
    pub fn key_utilisation(&self, rate: f64) -> Option<f64> {
        self.ordered_keys.map(|keys| rate * self.service_mean_s / keys as f64)
    }

    /// Attempts a second that one ordered key can carry: 1/S.
    #[must_use]
    pub fn key_capacity_per_s(&self) -> Option<f64> {
        self.ordered_keys.map(|_| 1.0 / self.service_mean_s)
    }

    /// Seconds until the backlog of an outage is gone at the most that the partner accepts: B/(μ − λ) with B = λ ×
    /// outage. 0 where nothing bounds what it accepts, and `None` where it never is.
    #[must_use]
    pub fn drain_s(&self, rate: f64, outage_s: f64) -> Option<f64> {
        match self.capacity_per_s() {
            None => Some(0.0),
            Some(capacity) => (capacity > rate).then(|| rate * outage_s / (capacity - rate)),
        }
    }

    /// The attempts a second up to which the backlog of an outage is gone in time: λt/(μ − λ) ≤ T up to
    /// λ = μT/(T + t). `None` where nothing bounds what the partner accepts.
    #[must_use]
    pub fn drains_up_to_per_s(&self, outage_s: f64, within_s: f64) -> Option<f64> {
        self.capacity_per_s().map(|capacity| capacity * within_s / (within_s + outage_s))
    }

    fn most(&self) -> u64 {
        self.most_concurrency.unwrap_or(MOST_CONCURRENCY)
    }

    /// The throttle passes attempts at even intervals, an M/D/1 queue; the
    /// workers behind it are an M/G/c queue, and an ordered key is an M/G/1 queue of its own.
    fn wait_of(&self, workers: u64, rate: f64) -> Option<f64> {
        let throttle = match self.throttle_per_s {
            Some(throttle) => mean_wait(1, rate, 1.0 / throttle, &even_intervals())?,
            None => 0.0,
        };
        let pool = mean_wait(workers, rate, self.service_mean_s, &self.model)?;
        let key = match self.ordered_keys {
            Some(keys) => mean_wait(1, rate / keys as f64, self.service_mean_s, &self.model)?,
            None => 0.0,
        };
        Some(throttle + pool.max(key))
    }
}

/// Every attempt holds a throttle for the same time.
fn even_intervals() -> WaitModel {
    WaitModel::new(ServiceShape::gamma(0.0), ArrivalProcess::Poisson)
}

fn mean_wait(workers: u64, rate: f64, service_mean_s: f64, model: &WaitModel) -> Option<f64> {
    let load = rate * service_mean_s;
    if load <= 0.0 {
        return Some(0.0);
    }
    let pool = Pool { workers, load, slack: workers as f64 - load, service_mean_s };
    model.waiting(&pool).map(|waiting| waiting.mean_s())
}

fn ceil_at_least_one(load: &Exact) -> u64 {
    load.ceil().map_or(MOST_CONCURRENCY, |ceiling| ceiling.clamp(1, MOST_CONCURRENCY))
}

#[cfg(test)]
mod tests {
    use super::super::partners::tests::class;
    use super::super::partners::{Class, Partners};
    use super::*;
    use proptest::prelude::*;

    fn kind(class: Class, concurrency: &str, rate: &str, wait: &str) -> QueueKind {
        let limits = Limits { concurrency: concurrency.parse().ok(), rate: rate.parse().ok() };
        let partners = Partners::new(vec![class.clone()], vec![], None, 3).unwrap();
        let attempts = partners.attempts(&class).unwrap();
        QueueKind::new(&attempts, class.ordered_keys, &limits, &wait.parse().unwrap())
    }

    #[test]
    fn concurrency_is_the_rate_limit_times_the_service_time_within_the_limit() {
        // min(limit, ⌈r·S⌉): 20/s at 250 ms is exactly 5, at 2 s 40, and the partner may accept fewer.
        assert_eq!(kind(class("a", "250ms"), "", "20", "1").concurrency(1.0), 5);
        assert_eq!(kind(class("a", "2"), "", "20", "1").concurrency(1.0), 40);
        assert_eq!(kind(class("a", "2"), "8", "20", "1").concurrency(1.0), 8);
        assert_eq!(kind(class("a", "2"), "8", "20", "1").capacity_per_s(), Some(4.0));
        assert_eq!(kind(class("a", "250ms"), "", "21", "1").capacity_per_s(), Some(21.0));
    }

    #[test]
    fn twelve_a_minute_at_concurrency_one_carries_4_8_a_minute() {
        let queue = kind(class("a", "12.5"), "1", "12/min", "0.5");
        assert!((queue.capacity_per_s().unwrap() * 60.0 - 4.8).abs() < 1e-12);
        // Without the limit: 2.5 erlangs, three workers, and a mean wait of half a second takes six.
        let free = kind(class("a", "12.5"), "", "", "0.5");
        assert_eq!(free.concurrency(0.2), 6);
        assert_eq!(free.sustained_per_s(), None);
        assert_eq!(kind(class("a", "12.5"), "", "", "1h").concurrency(0.2), 3);
    }

    #[test]
    fn a_throttle_waits_by_itself() {
        // M/D/1 at ρ = 10/12: ρ/(2(1 − ρ)) intervals of 5 s is 12.5 s; a dozen workers add nothing to speak of.
        let queue = kind(class("a", "10ms"), "12", "12/min", "1m");
        assert!((queue.wait_s(10.0 / 60.0).unwrap() - 12.5).abs() < 1e-2);
        assert_eq!(queue.wait_s(0.2), None, "what arrives at the limit never settles");
    }

    #[test]
    fn an_ordered_key_carries_one_attempt_at_a_time() {
        let ordered = Class { ordered_keys: Some("4".parse().unwrap()), ..class("a", "500ms") };
        let queue = kind(ordered, "", "", "1");
        assert_eq!(queue.key_capacity_per_s(), Some(2.0));
        assert_eq!(queue.capacity_per_s(), Some(8.0));
        assert_eq!(queue.key_utilisation(6.0), Some(0.75));
        // M/M/1 at ρ = 0.75: ρS/(1 − ρ) = 1.5 s.
        assert!((queue.wait_s(6.0).unwrap() - 1.5).abs() < 1e-12);
    }

    #[test]
    fn a_backlog_drains_with_what_arrivals_leave() {
        // B/(c/S − λ): an hour at 1/s and two workers of 0.5 s, 4/s: 3600/3.
        let queue = kind(class("a", "500ms"), "2", "20", "1");
        assert!((queue.drain_s(1.0, 3600.0).unwrap() - 1200.0).abs() < 1e-9);
        assert_eq!(queue.drain_s(4.0, 3600.0), None);
        let most = queue.drains_up_to_per_s(3600.0, 1200.0).unwrap();
        assert!((queue.drain_s(most, 3600.0).unwrap() - 1200.0).abs() < 1e-9);
        assert_eq!(kind(class("a", "500ms"), "", "", "1").drain_s(9.0, 3600.0), Some(0.0));
    }

    proptest! {
        #[test]
        fn the_wait_is_kept_up_to_the_sustained_rate_and_not_beyond(
            mean_ms in 1u32..20_000, limit in 1u64..50, rate in proptest::option::of(1u32..200), wait_ms in 1u32..20_000,
        ) {
            let rate = rate.map_or(String::new(), |rate| rate.to_string());
            let queue = kind(class("a", &format!("{mean_ms}ms")), &limit.to_string(), &rate, &format!("{wait_ms}ms"));
            let sustained = queue.sustained_per_s().unwrap();
            let kept = |rate: f64| queue.wait_s(rate).is_some_and(|wait| wait <= f64::from(wait_ms) / 1000.0);
            prop_assert!(kept(sustained * 0.999));
            prop_assert!(!kept(sustained * 1.001) );
        }
    }
}
