//! Counts of durations in buckets of at most 0.1% relative width.

use super::moments::LONGEST_NS;
use std::fmt;

/// Buckets an octave: with 1024, a bucket is at most 1/1024 of its lower bound wide.
const PER_OCTAVE: usize = 1 << PER_OCTAVE_BITS;
const PER_OCTAVE_BITS: u32 = 10;

/// Octaves up to [`LONGEST_NS`]; the first holds 0 to 1023 ns.
const OCTAVES: usize = (LONGEST_NS.ilog2() - PER_OCTAVE_BITS + 2) as usize;

/// The counts of an octave: of four bytes as long as they fit, so that hundreds of groups stay small.
#[derive(Clone)]
enum Octave {
    Narrow(Box<[u32; PER_OCTAVE]>),
    Wide(Box<[u64; PER_OCTAVE]>),
}

impl Octave {
    fn count(&self, slot: usize) -> u64 {
        match self {
            Octave::Narrow(counts) => counts[slot].into(),
            Octave::Wide(counts) => counts[slot],
        }
    }

    /// The counts at their full width.
    fn widen(&mut self) -> &mut [u64; PER_OCTAVE] {
        if let Octave::Narrow(narrow) = self {
            let mut wide = Box::new([0; PER_OCTAVE]);
            wide.iter_mut().zip(narrow.iter()).for_each(|(wide, narrow)| *wide = u64::from(*narrow));
            *self = Octave::Wide(wide);
        }
        match self {
            Octave::Wide(counts) => counts,
            Octave::Narrow(_) => unreachable!("it has just been widened"),
        }
    }
}

/// A histogram of nanoseconds with three significant digits, in the bucket layout of HdrHistogram.
///
/// The layout (below 2048 ns one bucket a nanosecond, then 1024 buckets for each doubling) is that of an
/// HdrHistogram with a lowest discernible value of 1 and 3 digits, so the two convert without loss. What differs is
/// the memory: only the octaves in which something was counted are held (4 KiB each, 8 KiB from counts of 2³² on), so
/// that hundreds of groups fit where an HdrHistogram of the same range takes 0.3 MB a group.
#[derive(Clone)]
pub struct Histogram {
    octaves: [Option<Octave>; OCTAVES],
    count: u64,
}

impl Default for Histogram {
    fn default() -> Self {
        Histogram { octaves: [const { None }; OCTAVES], count: 0 }
    }
}

/// A bucket that is not empty: `count` durations from `low_ns` to `high_ns`, both inclusive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bucket {
    /// The shortest duration that the bucket can hold, in nanoseconds.
    pub low_ns: u64,
    /// The longest duration that the bucket can hold, in nanoseconds.
    pub high_ns: u64,
    /// How many durations it holds.
    pub count: u64,
}

impl PartialEq for Histogram {
    fn eq(&self, other: &Self) -> bool {
        self.buckets().eq(other.buckets())
    }
}

impl Eq for Histogram {}

impl fmt::Debug for Histogram {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ranges = self.buckets().map(|bucket| (bucket.low_ns..=bucket.high_ns, bucket.count));
        formatter.debug_map().entries(ranges).finish()
    }
}

/// The octave and the slot in it for a duration.
#[inline]
fn place(ns: u64) -> (usize, usize) {
    // With this bit set, what lies below it is shifted as little as what has it as its highest: not at all.
    let shift = (ns | PER_OCTAVE as u64).ilog2() - PER_OCTAVE_BITS;
    let index = ((shift as usize) << PER_OCTAVE_BITS) + (ns >> shift) as usize;
    (index >> PER_OCTAVE_BITS, index % PER_OCTAVE)
}

/// The range of durations that share a slot.
fn bounds(octave: usize, slot: usize) -> (u64, u64) {
    if octave == 0 {
        (slot as u64, slot as u64)
    } else {
        let shift = octave - 1;
        let low = ((PER_OCTAVE + slot) as u64) << shift;
        (low, low + ((1u64 << shift) - 1))
    }
}

impl Histogram {
    /// Counts `weight` durations of `ns` nanoseconds. The caller has checked the range with the moments.
    #[inline]
    pub(super) fn add(&mut self, ns: u64, weight: u64) {
        let (octave, slot) = place(ns.min(LONGEST_NS));
        self.count += weight;
        if let Some(Octave::Narrow(counts)) = &mut self.octaves[octave]
            && let Some(sum) = u32::try_from(weight).ok().and_then(|weight| counts[slot].checked_add(weight))
        {
            counts[slot] = sum;
        } else {
            self.add_rarely(octave, slot, weight);
        }
    }

    /// The same where an octave has no counts so far, or they have or need their full width.
    #[cold]
    fn add_rarely(&mut self, octave: usize, slot: usize, weight: u64) {
        let counts = self.octaves[octave].get_or_insert_with(|| Octave::Narrow(Box::new([0; PER_OCTAVE])));
        let sum = counts.count(slot) + weight;
        match (counts, u32::try_from(sum)) {
            (Octave::Narrow(counts), Ok(sum)) => counts[slot] = sum,
            (counts, _) => counts.widen()[slot] = sum,
        }
    }

    /// Adds all counts of `other`.
    pub(super) fn merge(&mut self, other: &Histogram) {
        for bucket in other.buckets() {
            self.add(bucket.low_ns, bucket.count);
        }
    }

    /// How many durations are counted.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.count
    }

    /// The buckets that are not empty, shortest durations first.
    pub fn buckets(&self) -> impl Iterator<Item = Bucket> + '_ {
        self.octaves.iter().enumerate().flat_map(|(octave, counts)| {
            counts.iter().flat_map(move |counts| {
                let counted = (0..PER_OCTAVE).map(|slot| (slot, counts.count(slot)));
                counted.filter(|(_, count)| *count > 0).map(move |(slot, count)| {
                    let (low_ns, high_ns) = bounds(octave, slot);
                    Bucket { low_ns, high_ns, count }
                })
            })
        })
    }

    /// The bucket that holds the duration of rank `rank`, the shortest having rank 1.
    #[must_use]
    pub fn bucket_of_rank(&self, rank: u64) -> Option<Bucket> {
        let mut below = 0;
        self.buckets().find(|bucket| {
            below += bucket.count;
            below >= rank
        })
    }
}

/// The rank (1 to `count`) of a quantile: nearest rank, rounded up.
///
/// `0.95 × 20` is a little above 19 in floats; a product that is within rounding of a whole number is that number.
#[must_use]
pub(super) fn rank_of(quantile: f64, count: u64) -> u64 {
    let product = quantile * count as f64;
    let nearest = product.round();
    let rank =
        if (product - nearest).abs() <= 4.0 * f64::EPSILON * product { nearest } else { product.ceil() };
    // A float beyond u64 saturates; NaN becomes 0 and then 1.
    (rank as u64).clamp(1, count.max(1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_layout_is_that_of_hdrhistogram() {
        let hdr = hdrhistogram::Histogram::<u64>::new_with_bounds(1, LONGEST_NS, 3).unwrap();
        for ns in [0, 1, 1023, 1024, 2047, 2048, 2049, 4095, 4096, 1_400_000_000, 28_000_000_001, LONGEST_NS]
        {
            let (octave, slot) = place(ns);
            assert_eq!(bounds(octave, slot), (hdr.lowest_equivalent(ns), hdr.highest_equivalent(ns)), "{ns}");
            assert!(octave < OCTAVES);
        }
    }

    #[test]
    fn a_rank_is_rounded_up_but_not_by_the_error_of_a_float() {
        for (quantile, count, rank) in [
            (0.5, 1, 1),
            (0.5, 2, 1),
            (0.5, 3, 2),
            (0.999, 1000, 999),
            (0.95, 20, 19),
            (0.07, 100, 7),
            (0.0, 10, 1),
            (1.0, 10, 10),
            (f64::NAN, 10, 1),
            (0.5, 0, 1),
        ] {
            assert_eq!(rank_of(quantile, count), rank, "{quantile} of {count}");
        }
    }

    #[test]
    fn counts_are_exact_beyond_four_bytes() {
        let mut histogram = Histogram::default();
        for weight in [u64::from(u32::MAX) - 1, 1, 1, 1 << 40] {
            histogram.add(5_000, weight);
            histogram.add(6_000, 1);
        }
        let counts: Vec<u64> = histogram.buckets().map(|bucket| bucket.count).collect();
        assert_eq!(counts, [(1 << 40) + (1 << 32), 4]);
        assert_eq!(histogram.count(), (1 << 40) + (1 << 32) + 4);
    }

    proptest! {
        #[test]
        fn every_duration_lies_in_its_bucket_and_no_bucket_is_wide(ns in 0..=LONGEST_NS) {
            let (octave, slot) = place(ns);
            let (low, high) = bounds(octave, slot);
            prop_assert!((low..=high).contains(&ns));
            prop_assert!((high - low) as f64 <= low as f64 / 1024.0);
        }

        #[test]
        fn buckets_neither_overlap_nor_leave_gaps(ns in 0..LONGEST_NS) {
            let (octave, slot) = place(ns);
            let next = bounds(octave, slot).1 + 1;
            let (octave, slot) = place(next);
            prop_assert_eq!(bounds(octave, slot).0, next);
        }
    }
}
