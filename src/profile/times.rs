//! The service times of one set of attempts: exact moments, a histogram beside them, failures.

use super::ProfileError;
use super::histogram::{Bucket, Histogram, rank_of};
use super::moments::{Moments, NS_PER_SECOND};
use crate::units::Seconds;

/// Service times of a set of attempts. Mean, SCV, minimum and maximum are exact; quantiles are within +0.1%.
///
/// A failed attempt held its worker as well, so failures are part of every figure; [`ServiceTimes::failures`] says
/// how many there were.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ServiceTimes {
    pub(super) moments: Moments,
    pub(super) histogram: Histogram,
    pub(super) failures: u64,
    pub(super) failures_sum_ns: u128,
}

impl ServiceTimes {
    /// Adds `weight` attempts of `ns` nanoseconds each.
    ///
    /// # Errors
    /// As [`Moments::add`]; nothing is added then.
    pub fn add(&mut self, ns: u64, weight: u64, failed: bool) -> Result<(), ProfileError> {
        self.moments.add(ns, weight)?;
        if weight > 0 {
            self.histogram.add(ns, weight);
        }
        if failed {
            self.failures += weight;
            self.failures_sum_ns += u128::from(ns) * u128::from(weight);
        }
        Ok(())
    }

    /// Adds all attempts of `other`. Associative, and exact in everything but the histogram's bucket width.
    ///
    /// # Errors
    /// If a sum would overflow; nothing is added then.
    pub fn merge(&mut self, other: &ServiceTimes) -> Result<(), ProfileError> {
        self.moments.merge(&other.moments)?;
        self.histogram.merge(&other.histogram);
        self.failures += other.failures;
        self.failures_sum_ns += other.failures_sum_ns;
        Ok(())
    }

    /// The exact moments.
    #[must_use]
    pub fn moments(&self) -> &Moments {
        &self.moments
    }

    /// How many attempts there are.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.moments.count()
    }

    /// How many of the attempts failed.
    #[must_use]
    pub fn failures(&self) -> u64 {
        self.failures
    }

    /// The exact mean service time of the failed attempts; `None` if none failed.
    #[must_use]
    pub fn failure_mean(&self) -> Option<Seconds> {
        let failed = Moments { count: self.failures, sum_ns: self.failures_sum_ns, ..Moments::default() };
        (self.failures > 0).then(|| failed.mean())
    }

    /// The exact mean service time.
    #[must_use]
    pub fn mean(&self) -> Seconds {
        self.moments.mean()
    }

    /// The squared coefficient of variation of service time; see [`Moments::scv`].
    #[must_use]
    pub fn scv(&self) -> f64 {
        self.moments.scv()
    }

    /// The standard deviation of service time, in seconds.
    #[must_use]
    pub fn stddev_s(&self) -> f64 {
        self.moments.stddev_s()
    }

    /// The shortest service time, in seconds, exact.
    #[must_use]
    pub fn min_s(&self) -> f64 {
        seconds(self.moments.min_ns)
    }

    /// The longest service time, in seconds, exact.
    #[must_use]
    pub fn max_s(&self) -> f64 {
        seconds(self.moments.max_ns)
    }

    /// The service time, in seconds, that a share `quantile` of the attempts does not exceed: nearest rank, rounded
    /// up. At most 0.1% above the true order statistic and never below it; zero if there is no attempt.
    #[must_use]
    pub fn quantile(&self, quantile: f64) -> f64 {
        seconds(self.quantile_ns(quantile))
    }

    /// As [`ServiceTimes::quantile`], in nanoseconds.
    #[must_use]
    pub fn quantile_ns(&self, quantile: f64) -> u64 {
        let highest = self
            .histogram
            .bucket_of_rank(rank_of(quantile, self.count()))
            .map_or(self.moments.max_ns, |bucket| bucket.high_ns);
        highest.clamp(self.moments.min_ns, self.moments.max_ns)
    }

    /// Whether there are enough attempts for a quantile to mean something: at least ten beyond it.
    #[must_use]
    pub fn supports(&self, quantile: f64) -> bool {
        // 10/(1 − 0.999) is 10,000.000000000002 in floats; ten attempts beyond are asked for, not ten and a hair.
        self.count() as f64 * (1.0 - quantile) >= 10.0 * (1.0 - 1e-9)
    }

    /// How many times the median the mean is; `None` if the median is zero.
    #[must_use]
    pub fn mean_over_median(&self) -> Option<f64> {
        let median = self.quantile(0.5);
        (median > 0.0).then(|| self.mean().get() / median)
    }

    /// The share of a time `whole_ns`, in nanoseconds, for which these attempts held workers; zero of zero.
    #[must_use]
    pub fn share_of(&self, whole_ns: u128) -> f64 {
        if whole_ns == 0 { 0.0 } else { self.moments.sum_ns as f64 / whole_ns as f64 }
    }

    /// The histogram's buckets that are not empty, shortest first: what a resampling draws from.
    pub fn buckets(&self) -> impl Iterator<Item = Bucket> + '_ {
        self.histogram.buckets()
    }
}

/// Nanoseconds as seconds.
pub(crate) fn seconds(ns: u64) -> f64 {
    ns as f64 / NS_PER_SECOND as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn of(durations: &[u64]) -> ServiceTimes {
        let mut times = ServiceTimes::default();
        for ns in durations {
            times.add(*ns, 1, false).unwrap();
        }
        times
    }

    #[test]
    fn failures_count_towards_service_time() {
        let mut times = of(&[1_000_000_000]);
        times.add(3_000_000_000, 2, true).unwrap();
        assert_eq!((times.count(), times.failures()), (3, 2));
        assert_eq!(times.mean(), "7".parse::<Seconds>().map(|seven| third(&seven)).unwrap());
        assert_eq!(times.failure_mean().unwrap().get(), 3.0);
        assert!(of(&[1]).failure_mean().is_none());
    }

    fn third(seconds: &Seconds) -> Seconds {
        Seconds::new(seconds.exact() / std::num::NonZeroU64::new(3).unwrap()).unwrap()
    }

    #[test]
    fn no_attempt_gives_zeros_and_no_ratio() {
        let none = ServiceTimes::default();
        assert_eq!((none.quantile(0.5), none.scv(), none.min_s(), none.max_s()), (0.0, 0.0, 0.0, 0.0));
        assert_eq!(none.mean_over_median(), None);
        assert!(!none.supports(0.5));
    }

    #[test]
    fn a_quantile_needs_ten_attempts_beyond_it() {
        let times = of(&[1; 1000]);
        assert!(times.supports(0.99) && !times.supports(0.999));
    }

    proptest! {
        #[test]
        fn a_quantile_is_the_order_statistic_or_at_most_a_thousandth_above(
            mut durations in prop::collection::vec(0u64..100_000_000_000, 1..200), quantile in 0.0..=1.0f64,
        ) {
            durations.sort_unstable();
            let times = of(&durations);
            let rank = ((quantile * durations.len() as f64 - 1e-9).ceil() as usize).max(1);
            let exact = durations[rank - 1];
            let found = times.quantile_ns(quantile);
            prop_assert!(found >= exact && found as f64 <= exact as f64 * 1.001, "{} for {}", found, exact);
        }

        #[test]
        fn merging_is_the_same_as_adding(a in prop::collection::vec(0u64..1_000_000_000_000, 0..50), b in prop::collection::vec(0u64..1000, 0..50)) {
            let mut merged = of(&a);
            merged.merge(&of(&b)).unwrap();
            let together = of(&[a, b].concat());
            prop_assert_eq!(&merged.moments, &together.moments);
            prop_assert!(merged.buckets().eq(together.buckets()));
        }
    }
}
