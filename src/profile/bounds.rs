//! What is uncertain of service times that came, in part or all, as the counts of a histogram.

use super::histogram::{Bucket, Histogram, rank_of};
use super::moments::{LONGEST_NS, Moments};
use super::ranged::{Judged, Range, Ranged, Reading};

/// The most ends of buckets that are kept to the last digit.
pub(super) const MOST_EDGES: usize = 64;

/// Between what a quantile lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QuantileBounds {
    /// The least that it can be, in nanoseconds.
    pub low_ns: u64,
    /// The most, in nanoseconds; `None` if it lies in a bucket without an end.
    pub high_ns: Option<u64>,
}

/// Beside the histogram of the least that each attempt can have taken: the most, and bounds of the sums.
///
/// Sorting keeps order: if no attempt took less than its lower end, no order statistic is below that of the lower
/// ends. So two histograms bound every quantile, and merging adds each of them up.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Bounds {
    /// Each attempt at the most it can have taken; those in a bucket without an end are only in `open`.
    pub(super) highs: Histogram,
    pub(super) open: u64,
    pub(super) sum_low_ns: u128,
    pub(super) sum_high_ns: u128,
    pub(super) squares_low_ns2: u128,
    pub(super) squares_high_ns2: u128,
    pub(super) reading: Reading,
    /// Ends of buckets that somebody chose, rising: a bound that falls into the same 0.1% is this number.
    pub(super) edges: Vec<u64>,
}

impl Bounds {
    /// Those of a histogram that is tidied.
    pub(super) fn of(ranged: &Ranged, judged: &Judged) -> Self {
        let mut bounds = Bounds {
            sum_low_ns: judged.sum_low_ns,
            sum_high_ns: judged.sum_high_ns,
            squares_low_ns2: judged.squares_low_ns2,
            squares_high_ns2: judged.squares_high_ns2,
            reading: ranged.reading,
            ..Bounds::default()
        };
        for range in &ranged.ranges {
            match range.high_ns {
                Some(high) => bounds.highs.add(high, range.count),
                None => bounds.open += range.count,
            }
        }
        if ranged.round_edges {
            let ends = ranged.ranges.iter().flat_map(|range| [Some(range.low_ns), range.high_ns]);
            bounds.keep_edges(ends.flatten());
        }
        bounds
    }

    /// Those of attempts that were measured one by one.
    pub(super) fn of_exact(moments: &Moments, histogram: &Histogram, reading: Reading) -> Self {
        Bounds {
            highs: histogram.clone(),
            sum_low_ns: moments.sum_ns,
            sum_high_ns: moments.sum_ns,
            squares_low_ns2: moments.sum_squares_ns2,
            squares_high_ns2: moments.sum_squares_ns2,
            reading,
            ..Bounds::default()
        }
    }

    /// Adds an attempt that was measured by itself, `weight` times.
    pub(super) fn add_exact(&mut self, ns: u64, weight: u64) {
        let sum = u128::from(ns) * u128::from(weight);
        self.highs.add(ns, weight);
        self.sum_low_ns = self.sum_low_ns.saturating_add(sum);
        self.sum_high_ns = self.sum_high_ns.saturating_add(sum);
        self.squares_low_ns2 = self.squares_low_ns2.saturating_add(sum.saturating_mul(ns.into()));
        self.squares_high_ns2 = self.squares_high_ns2.saturating_add(sum.saturating_mul(ns.into()));
    }

    /// Adds what is uncertain in `other`. The sums of all attempts fit, so those of their bounds may only saturate.
    pub(super) fn merge(&mut self, other: &Bounds) {
        self.highs.merge(&other.highs);
        self.open += other.open;
        self.sum_low_ns = self.sum_low_ns.saturating_add(other.sum_low_ns);
        self.sum_high_ns = self.sum_high_ns.saturating_add(other.sum_high_ns);
        self.squares_low_ns2 = self.squares_low_ns2.saturating_add(other.squares_low_ns2);
        self.squares_high_ns2 = self.squares_high_ns2.saturating_add(other.squares_high_ns2);
        if self.reading != other.reading {
            self.reading = Reading::Highest;
        }
        self.keep_edges(other.edges.iter().copied());
    }

    /// Keeps ends of buckets, as many as there is room for.
    pub(super) fn keep_edges(&mut self, edges: impl Iterator<Item = u64>) {
        self.edges.extend(edges);
        self.edges.sort_unstable();
        self.edges.dedup();
        self.edges.truncate(MOST_EDGES);
    }

    fn edge_in(&self, bucket: Bucket) -> Option<u64> {
        let first = self.edges.partition_point(|edge| *edge < bucket.low_ns);
        self.edges.get(first).copied().filter(|edge| *edge <= bucket.high_ns)
    }

    /// Between what the duration of a rank lies, given the histogram of the lower ends.
    pub(super) fn of_rank(&self, lows: &Histogram, rank: u64) -> QuantileBounds {
        let end = |histogram: &Histogram, end: fn(&Bucket) -> u64| {
            let bucket = histogram.bucket_of_rank(rank)?;
            Some(self.edge_in(bucket).unwrap_or_else(|| end(&bucket)))
        };
        let low_ns = end(lows, |bucket| bucket.low_ns).unwrap_or_default();
        let high_ns = end(&self.highs, |bucket| bucket.high_ns).map(|high| high.max(low_ns));
        QuantileBounds { low_ns, high_ns }
    }

    /// The value that is shown for a rank.
    pub(super) fn value_ns(&self, lows: &Histogram, rank: u64) -> u64 {
        let bounds = self.of_rank(lows, rank);
        match self.reading {
            Reading::Lowest => lows.bucket_of_rank(rank).map_or(bounds.low_ns, |bucket| bucket.high_ns),
            Reading::Highest => bounds.high_ns.unwrap_or(bounds.low_ns),
        }
    }

    /// The ranges in which attempts lie, shortest first: the lower ends and the upper ends, paired in order.
    pub(super) fn ranges(&self, lows: &Histogram) -> Vec<Range> {
        let mut highs = self.highs.buckets();
        let mut high = highs.next();
        let mut ranges = Vec::new();
        for low in lows.buckets() {
            let mut left = low.count;
            while left > 0 {
                let taken = high.map_or(left, |high| left.min(high.count));
                let high_ns = high.map(|high| high.high_ns.max(low.low_ns).min(LONGEST_NS));
                ranges.push(Range { low_ns: low.low_ns, high_ns, count: taken });
                left -= taken;
                if let Some(bucket) = &mut high {
                    bucket.count -= taken;
                    if bucket.count == 0 {
                        high = highs.next();
                    }
                }
            }
        }
        ranges
    }

    /// Whether the numbers can be those of a histogram: what is read from a file may be anything.
    pub(super) fn is_sound(&self, lows: &Histogram, sum_ns: u128, squares_ns2: u128) -> bool {
        let counts = self.highs.count().checked_add(self.open) == Some(lows.count());
        let sums = (self.sum_low_ns..=self.sum_high_ns).contains(&sum_ns)
            && (self.squares_low_ns2..=self.squares_high_ns2).contains(&squares_ns2);
        let edges = self.edges.len() <= MOST_EDGES && self.edges.is_sorted_by(|a, b| a < b);
        counts && sums && edges
    }
}

/// The rank of a quantile among `count`; see [`rank_of`].
pub(super) fn bounds_of(bounds: &Bounds, lows: &Histogram, quantile: f64) -> QuantileBounds {
    bounds.of_rank(lows, rank_of(quantile, lows.count()))
}
