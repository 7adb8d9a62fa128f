//! The service times of one set of attempts: exact moments, a histogram beside them, failures.

use super::ProfileError;
use super::bounds::{Bounds, QuantileBounds, bounds_of};
use super::histogram::{Bucket, Histogram, rank_of};
use super::moments::{Moments, NS_PER_SECOND};
use super::phases::Phases;
use super::ranged::{Ranged, placed};
use crate::units::Seconds;

/// Service times of a set of attempts. Mean, SCV, minimum and maximum are exact; quantiles are within +0.1%.
///
/// Where attempts came as the counts of a histogram, figures are no more exact than its buckets are:
/// [`ServiceTimes::is_exact`] tells, and [`ServiceTimes::mean_bounds_s`], [`ServiceTimes::scv_bounds`] and
/// [`ServiceTimes::quantile_bounds`] say between what the true ones lie.
///
/// A failed attempt held its worker as well, so failures are part of every figure; [`ServiceTimes::failures`] says
/// how many there were.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ServiceTimes {
    pub(super) moments: Moments,
    /// Each attempt; the least that it can have taken where that is not known exactly.
    pub(super) histogram: Histogram,
    pub(super) failures: u64,
    pub(super) failures_sum_ns: u128,
    /// What is uncertain; `None` if nothing is.
    pub(super) bounds: Option<Box<Bounds>>,
    /// Of which phases the attempts consist.
    pub(super) phases: Phases,
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
            if let Some(bounds) = &mut self.bounds {
                bounds.add_exact(ns, weight);
            }
        }
        if failed {
            self.failures += weight;
            self.failures_sum_ns += u128::from(ns) * u128::from(weight);
        }
        Ok(())
    }

    /// Adds the attempts of a histogram.
    ///
    /// # Errors
    /// If they are longer than seven days, the sums would overflow, or the sum that was kept beside the counts is
    /// missing where it is needed or contradicts them; nothing is added then.
    pub fn add_ranged(&mut self, ranged: &Ranged, failed: bool) -> Result<(), ProfileError> {
        let tidy = ranged.tidied()?;
        if tidy.ranges.is_empty() {
            return Ok(());
        }
        let judged = tidy.judge()?;
        let mut moments = self.moments;
        moments.merge(&judged.moments)?;
        if !tidy.is_exact() {
            let bounds = Bounds::of(&tidy, &judged);
            self.bounds_mut(bounds.reading).merge(&bounds);
        } else if let Some(mine) = &mut self.bounds {
            mine.merge(&Bounds { reading: mine.reading, ..Bounds::of(&tidy, &judged) });
        }
        self.moments = moments;
        for range in &tidy.ranges {
            self.histogram.add(range.low_ns, range.count);
        }
        if failed {
            self.failures += judged.moments.count;
            self.failures_sum_ns += judged.moments.sum_ns;
        }
        Ok(())
    }

    /// The bounds, made of what is exact so far if there are none.
    fn bounds_mut(&mut self, reading: super::Reading) -> &mut Bounds {
        let (moments, histogram) = (&self.moments, &self.histogram);
        self.bounds.get_or_insert_with(|| Box::new(Bounds::of_exact(moments, histogram, reading)))
    }

    /// Adds all attempts of `other`. Associative, and exact in everything but the histogram's bucket width.
    ///
    /// # Errors
    /// If a sum would overflow; nothing is added then.
    pub fn merge(&mut self, other: &ServiceTimes) -> Result<(), ProfileError> {
        let mut moments = self.moments;
        moments.merge(&other.moments)?;
        match (&other.bounds, &self.bounds) {
            (Some(theirs), _) => self.bounds_mut(theirs.reading).merge(theirs),
            (None, Some(mine)) => {
                let theirs = Bounds::of_exact(&other.moments, &other.histogram, mine.reading);
                self.bounds_mut(theirs.reading).merge(&theirs);
            }
            (None, None) => {}
        }
        self.moments = moments;
        self.histogram.merge(&other.histogram);
        self.failures += other.failures;
        self.failures_sum_ns += other.failures_sum_ns;
        self.phases.merge(&other.phases);
        Ok(())
    }

    /// The phases of the attempts; empty where they are not known.
    #[must_use]
    pub fn phases(&self) -> &Phases {
        &self.phases
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

    /// Whether every attempt was measured by itself, so that moments are exact.
    #[must_use]
    pub fn is_exact(&self) -> bool {
        self.bounds.is_none()
    }

    /// Between what the mean lies, in seconds; `None` if it is exact.
    #[must_use]
    pub fn mean_bounds_s(&self) -> Option<[f64; 2]> {
        let bounds = self.bounds.as_ref().filter(|bounds| bounds.sum_low_ns < bounds.sum_high_ns)?;
        let of = |sum_ns| Moments { count: self.count(), sum_ns, ..Moments::default() }.mean().get();
        Some([of(bounds.sum_low_ns), of(bounds.sum_high_ns)])
    }

    /// Between what the squared coefficient of variation lies; `None` if it is exact. The upper one is absent if
    /// nothing bounds it.
    #[must_use]
    pub fn scv_bounds(&self) -> Option<(f64, Option<f64>)> {
        let bounds = self.bounds.as_ref()?;
        let count = self.count() as f64;
        let ratio = |squares: u128, sum: u128| count * squares as f64 / (sum as f64 * sum as f64) - 1.0;
        let low =
            if bounds.sum_high_ns == 0 { 0.0 } else { ratio(bounds.squares_low_ns2, bounds.sum_high_ns) };
        let high = (bounds.sum_low_ns > 0).then(|| ratio(bounds.squares_high_ns2, bounds.sum_low_ns));
        Some((low.max(0.0), high.map(|high| high.max(0.0))))
    }

    /// Between what a quantile lies; `None` if the attempts were measured one by one.
    #[must_use]
    pub fn quantile_bounds(&self, quantile: f64) -> Option<QuantileBounds> {
        self.bounds.as_ref().map(|bounds| bounds_of(bounds, &self.histogram, quantile))
    }

    /// The shortest service time, in seconds, exact; the least that it can be where that is not known.
    #[must_use]
    pub fn min_s(&self) -> f64 {
        seconds(self.moments.min_ns)
    }

    /// The longest service time, in seconds, exact; where that is not known, as the quantile of rank n.
    #[must_use]
    pub fn max_s(&self) -> f64 {
        if self.is_exact() { seconds(self.moments.max_ns) } else { self.quantile(1.0) }
    }

    /// The service time, in seconds, that a share `quantile` of the attempts does not exceed: nearest rank, rounded
    /// up. At most 0.1% above the true order statistic and never below it; zero if there is no attempt. Of attempts
    /// that came as counts it is one of the ends of the bucket, see [`Reading`](super::Reading).
    #[must_use]
    pub fn quantile(&self, quantile: f64) -> f64 {
        seconds(self.quantile_ns(quantile))
    }

    /// As [`ServiceTimes::quantile`], in nanoseconds.
    #[must_use]
    pub fn quantile_ns(&self, quantile: f64) -> u64 {
        let rank = rank_of(quantile, self.count());
        let highest = match &self.bounds {
            Some(bounds) => bounds.value_ns(&self.histogram, rank),
            None => self.histogram.bucket_of_rank(rank).map_or(self.moments.max_ns, |bucket| bucket.high_ns),
        };
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

    /// The histogram's buckets that are not empty, shortest first: what a resampling draws from. Where attempts came
    /// as counts, a bucket is narrowed within its bounds so that attempts spread evenly over the buckets have the
    /// mean, and one without an end has the end with which that holds.
    pub fn buckets(&self) -> impl Iterator<Item = Bucket> + '_ {
        let uncertain =
            self.bounds.as_ref().map(|bounds| placed(&bounds.ranges(&self.histogram), self.moments.sum_ns));
        let exact = uncertain.is_none().then(|| self.histogram.buckets());
        uncertain.into_iter().flatten().chain(exact.into_iter().flatten())
    }
}

/// Nanoseconds as seconds.
pub(crate) fn seconds(ns: u64) -> f64 {
    ns as f64 / NS_PER_SECOND as f64
}

#[cfg(test)]
mod tests {
    use super::super::{Range, Reading, Sum};
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
        /// Values are put into buckets, some are added one by one, and what is bounded is compared with the truth.
        #[test]
        fn the_truth_lies_within_the_bounds_however_parts_are_merged(
            parts in prop::collection::vec((prop::collection::vec(1u64..20_000_000_000, 1..30), 0u64..4), 1..4), quantile in 0.0..=1.0f64,
        ) {
            let mut merged = ServiceTimes::default();
            let mut all = Vec::new();
            for (values, kind) in parts {
                let mut part = ServiceTimes::default();
                if kind == 0 {
                    part = of(&values);
                } else {
                    let width = 10u64.pow(kind as u32 + 6);
                    let ranges = values.iter().map(|value| Range {
                        low_ns: value / width * width,
                        high_ns: (*value < 15_000_000_000).then_some(value / width * width + width),
                        count: 1,
                    });
                    let sum = Sum::exactly(values.iter().map(|value| u128::from(*value)).sum());
                    let (ranges, reading) = (ranges.collect(), Reading::Highest);
                    let ranged = Ranged { ranges, sum, sum_squares_ns2: None, reading, round_edges: kind == 1 };
                    part.add_ranged(&ranged, false).unwrap();
                }
                merged.merge(&part).unwrap();
                all.extend(values);
            }
            all.sort_unstable();
            let truth = of(&all);
            prop_assert_eq!(merged.moments.sum_ns, truth.moments.sum_ns);
            let rank = rank_of(quantile, all.len() as u64) as usize;
            if let Some(bounds) = merged.quantile_bounds(quantile) {
                prop_assert!(bounds.low_ns as f64 <= all[rank - 1] as f64 * 1.001);
                prop_assert!(bounds.high_ns.is_none_or(|high| high as f64 * 1.001 >= all[rank - 1] as f64));
                let (low, high) = merged.scv_bounds().unwrap();
                prop_assert!(low <= truth.scv() + 1e-9 && truth.scv() <= high.unwrap() + 1e-9);
                prop_assert!(low <= merged.scv() + 1e-9 && merged.scv() <= high.unwrap() + 1e-9);
                let mean = merged.buckets().map(|b| f64::midpoint(b.low_ns as f64, b.high_ns as f64) * b.count as f64);
                let mean = mean.sum::<f64>() / truth.moments.sum_ns as f64;
                prop_assert!((mean - 1.0).abs() < 0.02, "{}", mean);
            }
            prop_assert_eq!(merged.buckets().map(|bucket| bucket.count).sum::<u64>(), all.len() as u64);
        }

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
