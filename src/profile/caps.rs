//! What a shorter request timeout would cut.

use super::times::ServiceTimes;
use crate::units::{Exact, Seconds};

/// The most caps that are counted while attempts are read.
pub const MOST_CAPS: usize = 16;

/// Attempts beyond one cap.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct CapCount {
    pub(super) cap_ns: u64,
    /// Attempts that took longer than the cap.
    pub(super) attempts: u64,
    /// What they took beyond the cap, together.
    pub(super) excess_ns: u128,
}

/// Attempts beyond each of a few caps, counted exactly as they are read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CapCounts {
    /// By cap, shortest first.
    pub(super) counts: Vec<CapCount>,
}

impl CapCounts {
    /// Caps in nanoseconds; the first [`MOST_CAPS`] different ones are kept.
    #[must_use]
    pub fn new(caps_ns: &[u64]) -> Self {
        let mut caps = caps_ns.to_vec();
        caps.sort_unstable();
        caps.dedup();
        caps.truncate(MOST_CAPS);
        let none = |cap_ns| CapCount { cap_ns, attempts: 0, excess_ns: 0 };
        CapCounts { counts: caps.into_iter().map(none).collect() }
    }

    /// Counts `weight` attempts of `ns` nanoseconds.
    #[inline]
    pub fn add(&mut self, ns: u64, weight: u64) {
        for count in self.counts.iter_mut().take_while(|count| ns > count.cap_ns) {
            count.attempts += weight;
            count.excess_ns += u128::from(ns - count.cap_ns) * u128::from(weight);
        }
    }

    /// Keeps the caps that both have counted, which is all that is exact about the union.
    pub(super) fn merge(&mut self, other: &CapCounts) {
        self.counts.retain_mut(|count| {
            let same = other.counts.iter().find(|candidate| candidate.cap_ns == count.cap_ns);
            if let Some(same) = same {
                count.attempts += same.attempts;
                count.excess_ns += same.excess_ns;
            }
            same.is_some()
        });
    }

    /// The caps that were counted, in nanoseconds, shortest first.
    pub fn caps_ns(&self) -> impl Iterator<Item = u64> + '_ {
        self.counts.iter().map(|count| count.cap_ns)
    }
}

/// What a request timeout would do to the mean service time.
///
/// Every attempt that took longer than the timeout is cut at it. Nothing is assumed about what happens then: an
/// attempt that is retried comes back as a further attempt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CapEffect {
    /// The timeout.
    pub timeout: Seconds,
    /// How many attempts took longer.
    pub attempts_cut: u64,
    /// The mean service time with the timeout.
    pub mean: Seconds,
    /// Whether the figures were counted attempt by attempt. Else they come from the histogram: attempts within 0.1%
    /// of the timeout may be on either side, and the mean is within 0.1%; where attempts came as the counts of wider
    /// buckets, they are taken as spread evenly over each.
    pub exact: bool,
}

pub(super) fn effect(times: &ServiceTimes, counts: &CapCounts, cap_ns: u64) -> CapEffect {
    let counted = counts.counts.iter().find(|count| count.cap_ns == cap_ns && times.is_exact()).copied();
    let beyond = counted.unwrap_or_else(|| {
        if times.is_exact() { from_histogram(times, cap_ns) } else { from_ranges(times, cap_ns) }
    });
    let kept = times.moments().sum_ns().saturating_sub(beyond.excess_ns);
    let scale = u128::from(super::moments::NS_PER_SECOND);
    let exact = |numerator, denominator| {
        let value = Exact::fraction(numerator, denominator).unwrap_or_else(Exact::zero);
        Seconds::new(value).expect("at most seven days")
    };
    CapEffect {
        timeout: exact(u128::from(cap_ns.min(super::LONGEST_NS)), scale),
        attempts_cut: beyond.attempts,
        mean: exact(kept, u128::from(times.count()) * scale),
        exact: counted.is_some(),
    }
}

/// Takes each bucket beyond the cap at its middle, and the bucket that holds the cap as lying below it.
fn from_histogram(times: &ServiceTimes, cap_ns: u64) -> CapCount {
    let mut beyond = CapCount { cap_ns, attempts: 0, excess_ns: 0 };
    for bucket in times.buckets().filter(|bucket| bucket.low_ns > cap_ns) {
        let high = bucket.high_ns.min(times.moments().max_ns());
        let middle = bucket.low_ns + (high - bucket.low_ns.min(high)) / 2;
        beyond.attempts += bucket.count;
        beyond.excess_ns += u128::from(middle - cap_ns) * u128::from(bucket.count);
    }
    beyond
}

/// Takes attempts as spread evenly over each bucket: buckets that somebody chose are wide.
fn from_ranges(times: &ServiceTimes, cap_ns: u64) -> CapCount {
    let (mut attempts, mut excess) = (0.0, 0.0);
    for bucket in times.buckets().filter(|bucket| bucket.high_ns > cap_ns) {
        let above = (bucket.high_ns - cap_ns) as f64;
        let inside = above.min((bucket.high_ns - bucket.low_ns) as f64);
        let share =
            if bucket.low_ns >= cap_ns { 1.0 } else { inside / (bucket.high_ns - bucket.low_ns) as f64 };
        let beyond = share * bucket.count as f64;
        attempts += beyond;
        excess += beyond * (above - inside / 2.0);
    }
    CapCount { cap_ns, attempts: attempts.round() as u64, excess_ns: excess.round() as u128 }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: u64 = 1_000_000_000;

    fn sample() -> (ServiceTimes, CapCounts) {
        let (mut times, mut counts) = (ServiceTimes::default(), CapCounts::new(&[30 * SECOND, 5 * SECOND]));
        for (seconds, weight) in [(1, 90), (5, 5), (8, 4), (30, 1)] {
            times.add(seconds * SECOND, weight, false).unwrap();
            counts.add(seconds * SECOND, weight);
        }
        (times, counts)
    }

    #[test]
    fn an_attempt_that_ends_at_the_timeout_is_not_cut() {
        let (times, counts) = sample();
        let cut = effect(&times, &counts, 5 * SECOND);
        assert_eq!((cut.attempts_cut, cut.exact), (5, true));
        // 90·1 + 10·5 over 100.
        assert_eq!(cut.mean, "1.4".parse().unwrap());
        assert_eq!(effect(&times, &counts, 30 * SECOND).attempts_cut, 0);
    }

    #[test]
    fn a_cap_that_was_not_counted_comes_from_the_histogram_within_a_thousandth() {
        let (times, _) = sample();
        let (counted, estimated) = (
            effect(&times, &CapCounts::new(&[]), 6 * SECOND),
            effect(&times, &CapCounts::new(&[]), 5 * SECOND),
        );
        assert!(!counted.exact);
        assert_eq!(counted.attempts_cut, 5);
        assert!((counted.mean.get() / 1.45 - 1.0).abs() < 1e-3, "{}", counted.mean.get());
        assert!((estimated.mean.get() / 1.4 - 1.0).abs() < 1e-3);
    }

    #[test]
    fn attempts_of_a_histogram_whose_buckets_are_single_values_are_cut_exactly() {
        use crate::profile::{HistogramOf, ProfileRecorder, Range, Ranged, Reading, Source, Sum};
        let mut recorder = ProfileRecorder::new(&[SECOND]);
        let range = |ms: u64, count| Range { low_ns: ms * 1_000_000, high_ns: Some(ms * 1_000_000), count };
        let ranged = Ranged {
            ranges: vec![range(500, 3), range(1_500, 1)],
            sum: Sum::Middles,
            sum_squares_ns2: None,
            reading: Reading::Lowest,
            round_edges: false,
        };
        let histogram = HistogramOf { ranged: &ranged, failed: false, interval_ns: None, group: None };
        recorder.add_histogram(&histogram).unwrap();
        let cut = recorder.finish(Source::default()).unwrap().cap_effect(SECOND);
        assert_eq!((cut.attempts_cut, cut.exact), (1, true));
        assert_eq!(cut.mean, "0.625".parse().unwrap());
    }

    #[test]
    fn merging_keeps_the_caps_that_both_counted() {
        let mut a = CapCounts::new(&[5, 10]);
        let mut b = CapCounts::new(&[10, 15]);
        a.add(12, 1);
        b.add(12, 2);
        a.merge(&b);
        assert_eq!(a.counts, [CapCount { cap_ns: 10, attempts: 3, excess_ns: 6 }]);
    }
}
