//! A histogram of waits whose buckets grow with the value.

/// Leading mantissa bits that choose the bucket: 128 buckets an octave, each at most 0.8% wide.
const MANTISSA_BITS: u32 = 7;
const SHIFT: u32 = f64::MANTISSA_DIGITS - 1 - MANTISSA_BITS;
/// The smallest and largest wait that is told apart, as exponents of two: 0.2 ns and 136 years.
const SMALLEST_EXPONENT: u64 = 1023 - 32;
const LARGEST_EXPONENT: u64 = 1023 + 32;
/// Buckets of an octave.
const OCTAVE: usize = 1 << MANTISSA_BITS;
const FIRST: u64 = SMALLEST_EXPONENT << MANTISSA_BITS;
const LAST: u64 = (LARGEST_EXPONENT << MANTISSA_BITS) - 1;

/// Counts of waits in log-linear buckets. The bucket is the top of the float's own bits, so that recording costs a shift,
/// two comparisons and an addition whatever the scale, and quantiles interpolate between floats without a unit.
#[derive(Clone, Debug)]
pub(super) struct Recorder {
    counts: Vec<u64>,
    /// A bit for each of the 64 octaves in use.
    octaves: u64,
}

impl Recorder {
    pub(super) fn new() -> Self {
        Recorder { counts: vec![0; (LAST - FIRST + 1) as usize], octaves: 0 }
    }

    /// Records waits of at least 0 s. A wait of 0 falls into the first bucket.
    #[inline(always)]
    pub(super) fn record(&mut self, wait: f64) {
        let bucket = (wait.to_bits() >> SHIFT).clamp(FIRST, LAST) - FIRST;
        self.counts[bucket as usize] += 1;
        self.octaves |= 1 << (bucket >> MANTISSA_BITS);
    }

    /// What was recorded since the last call, without the first bucket, and starts anew.
    pub(super) fn take(&mut self) -> Histogram {
        self.counts[0] = 0;
        let first = self.octaves.trailing_zeros() as usize * OCTAVE;
        let end = (64 - self.octaves.leading_zeros() as usize) * OCTAVE;
        self.octaves = 0;
        let octaves = self.counts.get_mut(first..end).unwrap_or_default();
        let Some(low) = octaves.iter().position(|&count| count > 0) else { return Histogram::default() };
        let high = octaves.iter().rposition(|&count| count > 0).unwrap_or(low);
        let histogram = Histogram { first: first + low, counts: octaves[low..=high].to_vec() };
        octaves.fill(0);
        histogram
    }
}

/// The counts of the buckets in use. Waits of 0 (and below 0.2 ns) are not in it.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Histogram {
    /// Bucket that the first count belongs to.
    first: usize,
    counts: Vec<u64>,
}

impl Histogram {
    /// Adds another histogram's counts.
    pub(super) fn merge(&mut self, other: &Histogram) {
        if other.counts.is_empty() {
            return;
        }
        if self.counts.is_empty() {
            self.clone_from(other);
            return;
        }
        let first = self.first.min(other.first);
        let end = (self.first + self.counts.len()).max(other.first + other.counts.len());
        if first < self.first {
            self.counts.splice(0..0, std::iter::repeat_n(0, self.first - first));
            self.first = first;
        }
        self.counts.resize(end - first, 0);
        for (count, more) in self.counts[other.first - first..].iter_mut().zip(&other.counts) {
            *count += more;
        }
    }

    /// Entries in this bucket and above.
    fn count_from(&self, bucket: usize) -> u64 {
        self.counts.iter().skip(bucket.saturating_sub(self.first)).sum()
    }

    /// The wait that a share `quantile` of `total` entries does not exceed, where the entries outside of the histogram
    /// did not wait: interpolated linearly within its bucket.
    pub(super) fn quantile(&self, quantile: f64, total: u64) -> f64 {
        let waited: u64 = self.counts.iter().sum();
        let mut below = total.saturating_sub(waited) as f64;
        let rank = quantile * total as f64;
        if rank <= below {
            return 0.0;
        }
        for (offset, &count) in self.counts.iter().enumerate() {
            if count > 0 && below + count as f64 >= rank {
                let low = lower_edge(self.first + offset);
                let high = lower_edge(self.first + offset + 1);
                return low + (high - low) * ((rank - below) / count as f64).clamp(0.0, 1.0);
            }
            below += count as f64;
        }
        // Reached only by rounding of a rank at the very end.
        lower_edge(self.first + self.counts.len())
    }
}

/// The interval of a quantile of the waits in `parts`, pairs of a histogram and its number of entries, one a replication.
///
/// It is the interval of the share beyond, inverted (Woodruff, "Confidence intervals for medians and other position
/// measures", JASA 47, 1952): from the last bucket edge that surely more waits reach than the quantile leaves, to the first
/// that surely fewer do. `share` gives that interval from (count, entries) pairs.
pub(super) fn quantile_interval(
    quantile: f64,
    parts: &[(&Histogram, u64)],
    share: impl Fn(&[(f64, f64)]) -> Option<[f64; 2]>,
) -> Option<[f64; 2]> {
    let used =
        || parts.iter().map(|(histogram, _)| histogram).filter(|histogram| !histogram.counts.is_empty());
    let first = used().map(|histogram| histogram.first).min().unwrap_or(0);
    let end = used().map(|histogram| histogram.first + histogram.counts.len()).max().unwrap_or(0);
    let share_from = |bucket: usize| {
        let pair =
            |&(histogram, total): &(&Histogram, u64)| (histogram.count_from(bucket) as f64, total as f64);
        share(&parts.iter().map(pair).collect::<Vec<_>>())
    };
    share_from(first)?;
    let (mut more, mut fewer) = (0.0, 0.0);
    let first_bucket = |holds: &dyn Fn([f64; 2]) -> bool| {
        let (mut below, mut above) = (first, end);
        while below < above {
            let middle = below + (above - below) / 2;
            if share_from(middle).is_some_and(holds) { above = middle } else { below = middle + 1 }
        }
        above
    };
    let no_longer_more = first_bucket(&|[low, _]| low < 1.0 - quantile);
    if no_longer_more > first {
        more = lower_edge(no_longer_more - 1);
    }
    let surely_fewer = first_bucket(&|[_, high]| high <= 1.0 - quantile);
    if surely_fewer > first {
        fewer = lower_edge(surely_fewer);
    }
    Some([more, fewer])
}

fn lower_edge(bucket: usize) -> f64 {
    f64::from_bits((FIRST + bucket as u64) << SHIFT)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn of(waits: &[f64]) -> Histogram {
        let mut recorder = Recorder::new();
        for &wait in waits {
            recorder.record(wait);
        }
        recorder.take()
    }

    #[test]
    fn quantiles_are_within_a_bucket_of_the_exact_ones() {
        let waits: Vec<f64> = (1..=100_000).map(|rank| f64::from(rank) * 1e-4).collect();
        let histogram = of(&waits);
        for quantile in [0.001, 0.1, 0.5, 0.9, 0.99, 0.999] {
            let exact = 10.0 * quantile;
            let read = histogram.quantile(quantile, 100_000);
            assert!((read / exact - 1.0).abs() < 1e-3, "{quantile}: {read}");
        }
        // Half of the entries did not wait.
        assert_eq!(histogram.quantile(0.5, 200_000), 0.0);
        assert!((histogram.quantile(0.75, 200_000) / 5.0 - 1.0).abs() < 1e-3);
    }

    #[test]
    fn extremes_are_kept_and_nothing_is_counted_twice() {
        let mut recorder = Recorder::new();
        for wait in [0.0, 1e-300, 1e300, 3.0] {
            recorder.record(wait);
        }
        assert_eq!(recorder.take().counts.iter().sum::<u64>(), 2, "1e300 and 3.0");
        assert_eq!(recorder.take(), Histogram::default());
        assert_eq!(Histogram::default().quantile(0.99, 10), 0.0);
    }

    proptest! {
        #[test]
        fn merging_is_recording_together(
            one in prop::collection::vec(1e-9..1e3_f64, 0..50),
            two in prop::collection::vec(1e-3..1e6_f64, 0..50),
        ) {
            let mut merged = of(&one);
            merged.merge(&of(&two));
            prop_assert_eq!(merged, of(&[one, two].concat()));
        }
    }
}
