//! Durations, counted: exact moments beside a histogram.

use hdrhistogram::Histogram;
use std::time::Duration;

/// Count, exact sum and sum of squares, and quantiles to 0.1%.
#[derive(Clone, Debug)]
pub struct Tally {
    /// Nanoseconds.
    histogram: Histogram<u64>,
    count: u64,
    sum_ns: u128,
    sum_of_squares_ns2: u128,
    longest: Duration,
}

/// Significant digits of the quantiles.
const DIGITS: u8 = 3;
const COARSE_DIGITS: u8 = 2;

/// The longest duration that quantiles tell from longer ones, in nanoseconds: a hundred years.
const LONGEST_NS: u64 = 100 * 365 * 86_400 * 1_000_000_000;

impl Default for Tally {
    fn default() -> Self {
        Tally::new()
    }
}

impl Tally {
    /// Nothing counted.
    #[must_use]
    pub fn new() -> Self {
        Tally::with_digits(DIGITS)
    }

    /// Nothing counted, and quantiles to 1% only: an eighth of the memory, for one of many.
    #[must_use]
    pub fn coarse() -> Self {
        Tally::with_digits(COARSE_DIGITS)
    }

    fn with_digits(digits: u8) -> Self {
        let histogram = Histogram::new(digits).unwrap_or_else(|_| unreachable!("1 to 5 digits are allowed"));
        Tally { histogram, count: 0, sum_ns: 0, sum_of_squares_ns2: 0, longest: Duration::ZERO }
    }

    /// Counts one duration.
    pub fn record(&mut self, duration: Duration) {
        let nanos = u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX);
        // The histogram grows by itself, and up to this value that cannot fail.
        let _ = self.histogram.record(nanos.min(LONGEST_NS));
        self.count += 1;
        self.sum_ns += u128::from(nanos);
        self.sum_of_squares_ns2 = self.sum_of_squares_ns2.saturating_add(u128::from(nanos).pow(2));
        self.longest = self.longest.max(duration);
    }

    /// Adds what another has counted.
    pub fn merge(&mut self, other: &Tally) {
        // Two growing histograms of the same precision always add.
        let _ = self.histogram.add(&other.histogram);
        self.count += other.count;
        self.sum_ns += other.sum_ns;
        self.sum_of_squares_ns2 = self.sum_of_squares_ns2.saturating_add(other.sum_of_squares_ns2);
        self.longest = self.longest.max(other.longest);
    }

    /// How many were counted.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Exact sum, in seconds.
    #[must_use]
    pub fn sum_s(&self) -> f64 {
        self.sum_ns as f64 / 1e9
    }

    /// Exact mean, in seconds; `None` if nothing was counted.
    #[must_use]
    pub fn mean_s(&self) -> Option<f64> {
        (self.count > 0).then(|| self.sum_s() / self.count as f64)
    }

    /// Squared coefficient of variation; `None` without values or with a mean of zero.
    #[must_use]
    pub fn scv(&self) -> Option<f64> {
        let mean = self.mean_s().filter(|mean| *mean > 0.0)?;
        let second = self.sum_of_squares_ns2 as f64 / 1e18 / self.count as f64;
        Some((second / (mean * mean) - 1.0).max(0.0))
    }

    /// The value below or at which this share of the values lies, in seconds, within 0.1%; `None` if nothing was
    /// counted.
    #[must_use]
    pub fn quantile_s(&self, quantile: f64) -> Option<f64> {
        let within = || self.histogram.value_at_quantile(quantile).min(self.longest.as_nanos() as u64);
        (self.count > 0).then(|| within() as f64 / 1e9)
    }

    /// The longest, exact.
    #[must_use]
    pub fn longest(&self) -> Duration {
        self.longest
    }

    /// How many values lie at or below each of these edges (seconds, rising), as precisely as the quantiles.
    pub fn cumulative<'a>(&'a self, edges_s: &'a [f64]) -> impl Iterator<Item = (f64, u64)> + 'a {
        let mut recorded = self.histogram.iter_recorded().peekable();
        let mut below = 0;
        edges_s.iter().map(move |edge| {
            let edge_ns = (edge * 1e9) as u64;
            while let Some(step) = recorded.next_if(|step| step.value_iterated_to() <= edge_ns) {
                below += step.count_since_last_iteration();
            }
            (*edge, below)
        })
    }

    /// The values in buckets: `(lower edge, upper edge, count)` in seconds, rising, none of them empty.
    pub fn buckets(&self) -> impl Iterator<Item = (f64, f64, u64)> + '_ {
        self.histogram.iter_recorded().map(|step| {
            let value = step.value_iterated_to();
            let (low, high) =
                (self.histogram.lowest_equivalent(value), self.histogram.highest_equivalent(value));
            (low as f64 / 1e9, high as f64 / 1e9, step.count_since_last_iteration())
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_are_exact_and_quantiles_within_a_thousandth() {
        let mut tally = Tally::new();
        (1..=1_000).for_each(|milliseconds| tally.record(Duration::from_millis(milliseconds)));
        assert_eq!((tally.count(), tally.mean_s()), (1_000, Some(0.5005)));
        // The first n whole numbers have variance (n² − 1)/12.
        let scv = (1_000_000.0 - 1.0) / 12.0 / (500.5 * 500.5);
        assert!((tally.scv().unwrap() - scv).abs() < 1e-12);
        for (quantile, expected) in [(0.5, 0.5), (0.99, 0.99), (0.999, 0.999), (1.0, 1.0)] {
            assert!((tally.quantile_s(quantile).unwrap() / expected - 1.0).abs() <= 1e-3, "{quantile}");
        }
        assert_eq!(tally.longest(), Duration::from_secs(1));
    }

    #[test]
    fn nothing_counted_has_no_mean() {
        let tally = Tally::new();
        assert_eq!((tally.mean_s(), tally.scv(), tally.quantile_s(0.5)), (None, None, None));
    }

    #[test]
    fn merging_is_counting_everything() {
        let (mut left, mut right, mut both) = (Tally::new(), Tally::new(), Tally::new());
        for milliseconds in [1, 50, 3_000, 100_000] {
            let duration = Duration::from_millis(milliseconds);
            left.record(duration);
            right.record(duration * 2);
            both.record(duration);
            both.record(duration * 2);
        }
        left.merge(&right);
        assert_eq!((left.count(), left.mean_s(), left.scv()), (both.count(), both.mean_s(), both.scv()));
        assert_eq!(left.quantile_s(0.9), both.quantile_s(0.9));
        assert_eq!(left.buckets().collect::<Vec<_>>(), both.buckets().collect::<Vec<_>>());
    }

    #[test]
    fn cumulative_counts_rise_to_everything() {
        let mut tally = Tally::new();
        [1, 2, 3, 40].into_iter().for_each(|milliseconds| tally.record(Duration::from_millis(milliseconds)));
        let counts: Vec<u64> =
            tally.cumulative(&[0.0005, 0.0025, 0.01, 1.0]).map(|(_, count)| count).collect();
        assert_eq!(counts, [0, 2, 3, 4]);
        assert_eq!(tally.buckets().map(|(_, _, count)| count).sum::<u64>(), 4);
    }

    #[test]
    fn an_absurd_duration_does_not_panic() {
        let mut tally = Tally::new();
        tally.record(Duration::MAX);
        assert_eq!(tally.count(), 1);
    }
}
