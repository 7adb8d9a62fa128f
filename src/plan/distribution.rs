//! The distribution of measured service times in a few bins, for a figure.

use crate::profile::{NS_PER_SECOND, ServiceProfile};

/// Bins over the whole range.
const BINS: usize = 48;

/// The attempts whose service time lies in a range.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bin {
    /// Where it begins, in seconds.
    pub from_s: f64,
    /// Where it ends, in seconds.
    pub to_s: f64,
    /// The share of all attempts.
    pub share: f64,
}

/// The distribution over bins of equal ratio, shortest first; an attempt without any duration counts in the first one.
/// Empty where no attempt lasted any time.
#[must_use]
pub fn distribution(profile: &ServiceProfile) -> Vec<Bin> {
    let middle = |low: u64, high: u64| f64::midpoint(low as f64, high as f64) / NS_PER_SECOND as f64;
    let values: Vec<(f64, u64)> =
        profile.buckets().map(|bucket| (middle(bucket.low_ns, bucket.high_ns), bucket.count)).collect();
    let positive = || values.iter().map(|&(value, _)| value).filter(|value| *value > 0.0);
    let (Some(shortest), Some(longest)) = (positive().reduce(f64::min), positive().reduce(f64::max)) else {
        return Vec::new();
    };
    // One value alone still gets a bin with a width.
    let (low, high) = (shortest * 0.98, longest * 1.02);
    let ratio = (high / low).ln() / BINS as f64;
    let edge = |index: usize| low * (ratio * index as f64).exp();
    let mut counts = [0u64; BINS];
    for (value, count) in &values {
        let index = if *value > low { ((value / low).ln() / ratio) as usize } else { 0 };
        counts[index.min(BINS - 1)] += count;
    }
    let total = profile.count() as f64;
    let bin = |(index, count): (usize, &u64)| Bin {
        from_s: edge(index),
        to_s: edge(index + 1),
        share: *count as f64 / total,
    };
    counts.iter().enumerate().map(bin).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::{Attempt, ProfileRecorder, Source};

    fn attempt(duration_ns: u64) -> Attempt<'static> {
        Attempt { duration_ns, weight: 1, failed: false, started_ns: None, group: None }
    }

    #[test]
    fn every_attempt_is_in_one_bin_and_bins_join() {
        for durations in
            [vec![1u64], vec![0, 5_000, 7_000_000_000], (1..2_000).map(|index| index * index).collect()]
        {
            let mut recorder = ProfileRecorder::new(&[]);
            durations.iter().for_each(|ns| recorder.add(&attempt(*ns)).unwrap());
            let bins = distribution(&recorder.finish(Source::default()).unwrap());
            let total: f64 = bins.iter().map(|bin| bin.share).sum();
            assert!((total - 1.0).abs() < 1e-9, "{total}");
            assert!(
                bins.windows(2).all(|pair| pair[0].to_s == pair[1].from_s && pair[0].from_s < pair[0].to_s)
            );
        }
        let mut recorder = ProfileRecorder::new(&[]);
        recorder.add(&attempt(0)).unwrap();
        assert!(distribution(&recorder.finish(Source::default()).unwrap()).is_empty());
    }
}
