//! Service times that came as counts in ranges: the buckets of somebody else's histogram.

use super::ProfileError;
use super::histogram::Bucket;
use super::moments::{LONGEST_NS, Moments};
use num_bigint::BigUint;
use num_traits::ToPrimitive;

/// Attempts of which is known that each took from `low_ns` to `high_ns`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Range {
    /// The least that each can have taken, in nanoseconds.
    pub low_ns: u64,
    /// The most, in nanoseconds; `None` for a last bucket without an end.
    pub high_ns: Option<u64>,
    /// How many attempts.
    pub count: u64,
}

/// What is known of the sum of the durations in a histogram.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sum {
    /// Nothing but the ranges: each attempt is taken at the middle of its own, as HDR libraries do for their mean.
    Middles,
    /// It was kept beside the counts, and lies from `low_ns` to `high_ns`.
    Known {
        /// The sum in nanoseconds.
        ns: u128,
        /// The least that it can be.
        low_ns: u128,
        /// The most that it can be.
        high_ns: u128,
    },
}

impl Sum {
    /// A sum that is known exactly.
    #[must_use]
    pub fn exactly(ns: u128) -> Self {
        Sum::Known { ns, low_ns: ns, high_ns: ns }
    }
}

/// Which end of a range is shown as the value of a quantile that lies in it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Reading {
    /// The lower end, to three digits: what HDR tools print when they add up the intervals of a log.
    Lowest,
    /// The upper end, so that the value is never below the true one.
    #[default]
    Highest,
}

/// A histogram as it was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ranged {
    /// The buckets.
    pub ranges: Vec<Range>,
    /// What is known of the sum.
    pub sum: Sum,
    /// The sum of squares in square nanoseconds, where a deviation was kept beside the counts.
    pub sum_squares_ns2: Option<u128>,
    /// How quantiles are shown.
    pub reading: Reading,
    /// Whether the ends of the ranges were chosen by a person and are worth showing to the last digit.
    pub round_edges: bool,
}

/// The moments of a [`Ranged`], and what they can be at least and at most.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Judged {
    pub(super) moments: Moments,
    pub(super) sum_low_ns: u128,
    pub(super) sum_high_ns: u128,
    pub(super) squares_low_ns2: u128,
    pub(super) squares_high_ns2: u128,
}

/// Sums over the ranges with every attempt at the lower end, and every one that has an upper end at that.
#[derive(Default)]
struct Ends {
    count: u64,
    open: u64,
    low_ns: u128,
    /// The part of `low_ns` that lies in ranges without an end.
    open_low_ns: u128,
    high_ns: u128,
    middle_ns: u128,
}

impl Range {
    /// The middle of the range; the lower end if there is no upper one.
    fn middle_ns(&self) -> u64 {
        let high = self.high_ns.unwrap_or(self.low_ns);
        // HDR libraries round the middle up; one nanosecond of their resolution is what the sums agree to.
        self.low_ns + high.saturating_sub(self.low_ns).div_ceil(2)
    }
}

fn times(value: u64, count: u64) -> u128 {
    u128::from(value) * u128::from(count)
}

impl Ends {
    fn of(ranges: &[Range]) -> Result<Self, ProfileError> {
        let mut ends = Ends::default();
        let add = |sum: &mut u128, value: u128| {
            *sum = sum.checked_add(value).ok_or(ProfileError::TooMany)?;
            Ok(())
        };
        for range in ranges {
            ends.count = ends.count.checked_add(range.count).ok_or(ProfileError::TooMany)?;
            add(&mut ends.low_ns, times(range.low_ns, range.count))?;
            match range.high_ns {
                Some(high) => {
                    add(&mut ends.high_ns, times(high, range.count))?;
                    add(&mut ends.middle_ns, times(range.middle_ns(), range.count))?;
                }
                None => {
                    ends.open += range.count;
                    add(&mut ends.open_low_ns, times(range.low_ns, range.count))?;
                }
            }
        }
        Ok(ends)
    }

    /// The sum within what the ranges allow: what is known, what it is at least and at most.
    fn sum(&self, sum: Sum) -> Result<[u128; 3], ProfileError> {
        let (ns, low, high) = match sum {
            Sum::Middles if self.open > 0 => return Err(ProfileError::NoSum { open: self.open }),
            Sum::Middles => return Ok([self.middle_ns, self.low_ns, self.high_ns]),
            Sum::Known { ns, low_ns, high_ns } => (ns, low_ns, high_ns),
        };
        let most = if self.open > 0 {
            self.high_ns.saturating_add(times(LONGEST_NS, self.open))
        } else {
            self.high_ns
        };
        // Ends are rounded to whole nanoseconds, and a sum of floats loses a digit or two over the years.
        let slack = u128::from(self.count) + ns / 1_000_000_000;
        if high.saturating_add(slack) < self.low_ns || low > most.saturating_add(slack) {
            return Err(ProfileError::SumContradicts);
        }
        Ok([ns, low, high].map(|sum| sum.clamp(self.low_ns, most)))
    }
}

impl Ranged {
    /// How many attempts there are.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.ranges.iter().fold(0, |sum, range| sum.saturating_add(range.count))
    }

    /// The same without empty ranges, with no end beyond seven days and none below its start.
    pub(super) fn tidied(&self) -> Result<Self, ProfileError> {
        let mut tidy = self.clone();
        tidy.ranges.retain(|range| range.count > 0);
        for range in &mut tidy.ranges {
            if range.low_ns > LONGEST_NS {
                return Err(ProfileError::TooLong { ns: range.low_ns });
            }
            range.high_ns = range.high_ns.map(|high| high.clamp(range.low_ns, LONGEST_NS));
        }
        Ok(tidy)
    }

    /// Whether nothing is uncertain: every range is a single value.
    pub(super) fn is_exact(&self) -> bool {
        self.sum == Sum::Middles && self.ranges.iter().all(|range| range.high_ns == Some(range.low_ns))
    }

    /// The moments, of a histogram that is tidied and not empty.
    pub(super) fn judge(&self) -> Result<Judged, ProfileError> {
        let ends = Ends::of(&self.ranges)?;
        let [sum_ns, sum_low_ns, sum_high_ns] = ends.sum(self.sum)?;
        let [low, middle, high] = self.squares(sum_ns, sum_low_ns, sum_high_ns)?;
        let min_ns = self.ranges.iter().map(|range| range.low_ns).min().unwrap_or_default();
        // One attempt alone may have taken all that the others do not account for.
        let spare = u64::try_from(sum_high_ns - ends.low_ns).unwrap_or(u64::MAX);
        let most =
            |range: &Range| range.high_ns.unwrap_or(range.low_ns.saturating_add(spare).min(LONGEST_NS));
        let max_ns = self.ranges.iter().map(most).max().unwrap_or_default();
        let moments = Moments {
            count: ends.count,
            sum_ns,
            sum_squares_ns2: sound_squares(ends.count, sum_ns, max_ns, middle),
            min_ns,
            max_ns,
        };
        let squares = moments.sum_squares_ns2;
        Ok(Judged {
            moments,
            sum_low_ns,
            sum_high_ns,
            squares_low_ns2: low.min(squares),
            squares_high_ns2: high.max(squares),
        })
    }

    /// The sum of squares: at least, as estimated, at most.
    fn squares(&self, sum: u128, sum_low: u128, sum_high: u128) -> Result<[u128; 3], ProfileError> {
        let square_sum = |value: fn(&Range) -> u64| {
            self.ranges.iter().try_fold(0u128, |sum, range| {
                let ns = value(range);
                let square = times(ns, ns).checked_mul(range.count.into());
                square.and_then(|square| sum.checked_add(square)).ok_or(ProfileError::TooMany)
            })
        };
        if self.sum == Sum::Middles {
            let high = square_sum(|range| range.high_ns.unwrap_or(range.low_ns))?;
            return Ok([square_sum(|range| range.low_ns)?, square_sum(Range::middle_ns)?, high]);
        }
        let estimate = match self.sum_squares_ns2 {
            Some(known) => known,
            None => {
                let placed = placed(&self.ranges, sum);
                placed.iter().map(spread_squares).sum::<f64>() as u128
            }
        };
        Ok([
            least_squares(&self.ranges, sum_low) as u128,
            estimate,
            most_squares(&self.ranges, sum_high) as u128,
        ])
    }
}

/// The nearest sum of squares that a set of durations can have (Cauchy–Schwarz from below, longest times sum above):
/// an estimate in floats may miss it by rounding.
fn sound_squares(count: u64, sum_ns: u128, max_ns: u64, estimate: u128) -> u128 {
    let square = BigUint::from(sum_ns) * BigUint::from(sum_ns);
    let least = (square + BigUint::from(count) - 1u8) / BigUint::from(count.max(1));
    let most = BigUint::from(sum_ns) * BigUint::from(max_ns);
    let within = BigUint::from(estimate).min(most).max(least);
    within.to_u128().unwrap_or(u128::MAX)
}

/// Ranges narrowed so that attempts spread evenly within each have the sum `sum_ns`, as far as the ranges allow: all
/// are shifted by the same share of their width, and what the closed ranges leave of the sum lies in the open ones.
pub(super) fn placed(ranges: &[Range], sum_ns: u128) -> Vec<Bucket> {
    let (mut low, mut high, mut open_low, mut open) = (0.0, 0.0, 0.0, 0.0);
    for range in ranges {
        let count = range.count as f64;
        match range.high_ns {
            Some(end) => {
                low += range.low_ns as f64 * count;
                high += end as f64 * count;
            }
            None => {
                open_low += range.low_ns as f64 * count;
                open += count;
            }
        }
    }
    let sum = sum_ns as f64;
    let share = |sum: f64| if high > low { ((sum - low) / (high - low)).clamp(0.0, 1.0) } else { 0.5 };
    let beyond = sum - f64::midpoint(low, high) - open_low;
    let (share, excess) = if open == 0.0 {
        (share(sum), 0.0)
    } else if beyond >= 0.0 {
        (0.5, 2.0 * beyond / open)
    } else {
        (share(sum - open_low), 0.0)
    };
    let narrowed = |range: &Range| {
        let Some(end) = range.high_ns else {
            let high_ns = range.low_ns.saturating_add(excess as u64).min(LONGEST_NS.max(range.low_ns));
            return Bucket { low_ns: range.low_ns, high_ns, count: range.count };
        };
        let width = end.saturating_sub(range.low_ns);
        let part = |share: f64| ((width as f64 * share) as u64).min(width);
        let (low_ns, high_ns) = if share <= 0.5 {
            (range.low_ns, end - part(1.0 - 2.0 * share))
        } else {
            (range.low_ns + part(2.0 * share - 1.0), end)
        };
        Bucket { low_ns, high_ns: high_ns.max(low_ns), count: range.count }
    };
    ranges.iter().map(narrowed).collect()
}

/// The sum of squares of attempts spread evenly over a bucket.
fn spread_squares(bucket: &Bucket) -> f64 {
    let middle = f64::midpoint(bucket.low_ns as f64, bucket.high_ns as f64);
    let width = (bucket.high_ns - bucket.low_ns) as f64;
    bucket.count as f64 * (middle * middle + width * width / 12.0)
}

/// The least sum of squares that attempts in these ranges with this sum can have: all are as alike as the ranges let
/// them be, so each is at the common level or at the end of its range that is nearest to it.
fn least_squares(ranges: &[Range], sum_ns: u128) -> f64 {
    let at = |range: &Range, level: f64| {
        level.clamp(range.low_ns as f64, range.high_ns.map_or(f64::INFINITY, |high| high as f64))
    };
    let total = |level: f64| ranges.iter().map(|range| range.count as f64 * at(range, level)).sum::<f64>();
    let (mut low, mut high) = (0.0, LONGEST_NS as f64);
    for _ in 0..100 {
        let middle = f64::midpoint(low, high);
        if total(middle) < sum_ns as f64 { low = middle } else { high = middle }
    }
    // Below by the rounding of the sums, for it is a bound.
    ranges.iter().map(|range| range.count as f64 * at(range, low).powi(2)).sum::<f64>() * (1.0 - 1e-12)
}

/// The greatest sum of squares that attempts in these ranges with this sum can have: all at the lower ends, and from
/// the longest range down as many at the upper ends as the sum allows.
fn most_squares(ranges: &[Range], sum_ns: u128) -> f64 {
    let mut spare = sum_ns as f64;
    let mut squares = 0.0;
    for range in ranges {
        let (low, count) = (range.low_ns as f64, range.count as f64);
        spare -= low * count;
        squares += low * low * count;
    }
    let mut sorted: Vec<&Range> = ranges.iter().collect();
    // Moving one attempt from the lower end to the upper gains (high + low) for each nanosecond spent.
    sorted.sort_by_key(|range| {
        std::cmp::Reverse(range.high_ns.unwrap_or(LONGEST_NS).saturating_add(range.low_ns))
    });
    for range in sorted {
        let (low, count) = (range.low_ns as f64, range.count as f64);
        let width = range.high_ns.unwrap_or(LONGEST_NS).saturating_sub(range.low_ns) as f64;
        if spare <= 0.0 || width == 0.0 {
            continue;
        }
        let moved = (spare / width).min(count);
        let whole = moved.floor();
        let rest = (moved - whole) * width;
        squares += whole * width * (width + 2.0 * low) + rest * (rest + 2.0 * low);
        spare -= moved * width;
    }
    squares * (1.0 + 1e-12)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn range(low_ns: u64, high_ns: u64, count: u64) -> Range {
        Range { low_ns, high_ns: Some(high_ns), count }
    }

    fn ranged(ranges: &[Range], sum: Sum) -> Ranged {
        Ranged {
            ranges: ranges.to_vec(),
            sum,
            sum_squares_ns2: None,
            reading: Reading::Highest,
            round_edges: true,
        }
    }

    #[test]
    fn the_mean_of_buckets_alone_is_that_of_their_middles() {
        let judged = ranged(&[range(0, 10, 1), range(10, 30, 3)], Sum::Middles).judge().unwrap();
        assert_eq!(judged.moments.sum_ns(), 5 + 3 * 20);
        assert_eq!((judged.sum_low_ns, judged.sum_high_ns), (30, 100));
        assert_eq!(judged.moments.sum_squares_ns2(), 25 + 3 * 400);
        assert_eq!((judged.squares_low_ns2, judged.squares_high_ns2), (300, 100 + 3 * 900));
    }

    #[test]
    fn an_open_bucket_needs_a_sum_and_takes_what_the_others_leave_of_it() {
        let ranges = [range(0, 100, 8), Range { low_ns: 100, high_ns: None, count: 2 }];
        assert_eq!(ranged(&ranges, Sum::Middles).judge(), Err(ProfileError::NoSum { open: 2 }));
        let placed = placed(&ranges, 8 * 50 + 2 * 400);
        assert_eq!(placed[0], Bucket { low_ns: 0, high_ns: 100, count: 8 });
        assert_eq!(placed[1], Bucket { low_ns: 100, high_ns: 700, count: 2 });
        let judged = ranged(&ranges, Sum::exactly(1200)).judge().unwrap();
        // Eight at zero, one at 100, one with all the rest.
        assert!(judged.squares_high_ns2 >= 100 * 100 + 1100 * 1100);
        assert_eq!(judged.moments.max_ns(), 100 + (1200 - 200));
    }

    #[test]
    fn a_sum_that_the_buckets_cannot_have_is_refused() {
        let ranges = [range(1_000_000, 2_000_000, 5)];
        for sum in [4_000_000, 11_000_000] {
            assert_eq!(
                ranged(&ranges, Sum::exactly(sum)).judge(),
                Err(ProfileError::SumContradicts),
                "{sum}"
            );
        }
        assert_eq!(ranged(&ranges, Sum::exactly(10_000_003)).judge().unwrap().moments.sum_ns(), 10_000_000);
    }

    proptest! {
        /// The truth is known here: values are drawn, put into buckets, and judged from the buckets alone.
        #[test]
        fn the_true_moments_lie_within_the_bounds(
            values in prop::collection::vec(0u64..5_000_000_000, 1..60), width in 1_000_000u64..2_000_000_000, open in any::<bool>(),
        ) {
            let end = 3_000_000_000 / width * width;
            let bucket = |value: u64| if open && value >= end {
                Range { low_ns: end, high_ns: None, count: 1 }
            } else {
                range(value / width * width, value / width * width + width, 1)
            };
            let ranges: Vec<Range> = values.iter().map(|value| bucket(*value)).collect();
            let sum = values.iter().map(|value| u128::from(*value)).sum::<u128>();
            let squares = values.iter().map(|value| u128::from(*value).pow(2)).sum::<u128>();
            let judged = ranged(&ranges, Sum::exactly(sum)).judge().unwrap();
            prop_assert!(judged.squares_low_ns2 <= squares && squares <= judged.squares_high_ns2);
            prop_assert!(judged.moments.is_sound());
            prop_assert!(judged.moments.min_ns() <= *values.iter().min().unwrap());
            prop_assert!(judged.moments.max_ns() >= *values.iter().max().unwrap());
            let placed = placed(&ranges, sum);
            let mean = placed.iter().map(|b| f64::midpoint(b.low_ns as f64, b.high_ns as f64)).sum::<f64>();
            prop_assert!((mean - sum as f64).abs() <= 2.0 * values.len() as f64 + 1e-9 * mean, "{} for {}", mean, sum);
            for (found, range) in placed.iter().zip(&ranges) {
                prop_assert!(found.low_ns >= range.low_ns && range.high_ns.is_none_or(|high| found.high_ns <= high));
            }
            if !open {
                let middles = ranged(&ranges, Sum::Middles).judge().unwrap();
                prop_assert!(middles.sum_low_ns <= sum && sum <= middles.sum_high_ns);
                prop_assert!(middles.squares_low_ns2 <= squares && squares <= middles.squares_high_ns2);
                prop_assert!(middles.moments.is_sound());
            }
        }
    }
}
