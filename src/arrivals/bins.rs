//! Bins of time in bounded number: when there are too many, their width doubles.

use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// The widest bin: 2³⁵ s is over a thousand years, wider than any span of 64-bit nanoseconds.
const WIDEST_S: i64 = 1 << 35;

/// What a bin holds; two neighbours become one by adding.
pub trait Additive: Default + Clone {
    /// Adds the contents of another bin.
    fn add(&mut self, other: &Self);
}

impl Additive for u64 {
    fn add(&mut self, other: &Self) {
        *self = self.saturating_add(*other);
    }
}

/// Consecutive bins of equal width, each starting at a multiple of the width since the epoch.
///
/// The width is a power of two of seconds. Because it only ever doubles and the bins stay aligned to the epoch, the
/// result does not depend on the order in which times arrive, and merging is associative.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct AlignedBins<T> {
    width_s: i64,
    /// Number of the first bin: it starts at `first × width_s`.
    first: i64,
    bins: VecDeque<T>,
    #[serde(skip, default = "usize::max_value")]
    limit: usize,
}

/// The limit is how the bins may grow, not what they hold.
impl<T: PartialEq> PartialEq for AlignedBins<T> {
    fn eq(&self, other: &Self) -> bool {
        self.width_s == other.width_s && self.first == other.first && self.bins == other.bins
    }
}

impl<T: Eq> Eq for AlignedBins<T> {}

impl<T: Additive> AlignedBins<T> {
    /// No bins yet; at most `limit` in future, and at least two: the bins on both sides of the epoch never join.
    #[must_use]
    pub fn new(limit: usize) -> Self {
        AlignedBins { width_s: 1, first: 0, bins: VecDeque::new(), limit: limit.max(2) }
    }

    /// Changes the largest number of bins, and widens them until they are no more than that.
    pub fn limit_to(&mut self, limit: usize) {
        self.limit = limit.max(2);
        while self.bins.len() > self.limit {
            self.widen();
        }
    }

    /// The bin that holds a second, made if need be.
    pub fn at(&mut self, second: i64) -> &mut T {
        if self.bins.is_empty() {
            self.first = second.div_euclid(self.width_s);
            self.bins.push_back(T::default());
        }
        while self.span_with(second) > self.limit as i64 && self.width_s < WIDEST_S {
            self.widen();
        }
        let number = second.div_euclid(self.width_s);
        while number < self.first {
            self.bins.push_front(T::default());
            self.first -= 1;
        }
        let place = (number - self.first) as usize;
        if place >= self.bins.len() {
            self.bins.resize(place + 1, T::default());
        }
        &mut self.bins[place]
    }

    /// How many bins there would be with one for `second`.
    fn span_with(&self, second: i64) -> i64 {
        let number = second.div_euclid(self.width_s);
        let last = self.first + self.bins.len() as i64 - 1;
        last.max(number) - self.first.min(number) + 1
    }

    fn widen(&mut self) {
        let start = self.first.div_euclid(2);
        let mut wider: VecDeque<T> = VecDeque::with_capacity(self.bins.len() / 2 + 1);
        for (place, bin) in self.bins.iter().enumerate() {
            let target = ((self.first + place as i64).div_euclid(2) - start) as usize;
            if target == wider.len() {
                wider.push_back(T::default());
            }
            wider[target].add(bin);
        }
        *self = AlignedBins { width_s: self.width_s * 2, first: start, bins: wider, limit: self.limit };
    }

    /// Adds all bins of `other`; the width becomes the wider of the two, or wider still.
    pub fn merge(&mut self, other: &Self) {
        let mut other = other.clone();
        if self.bins.is_empty() {
            self.width_s = self.width_s.max(other.width_s);
        }
        while self.width_s < other.width_s {
            self.widen();
        }
        while other.width_s < self.width_s {
            other.widen();
        }
        for (start, bin) in other.iter() {
            self.at(start).add(bin);
        }
    }

    /// The bins, earliest first, each with the second at which it starts.
    pub fn iter(&self) -> impl Iterator<Item = (i64, &T)> {
        self.bins
            .iter()
            .enumerate()
            .map(|(place, bin)| (self.width_s.saturating_mul(self.first + place as i64), bin))
    }

    /// The width of a bin in seconds.
    #[must_use]
    pub fn width_s(&self) -> i64 {
        self.width_s
    }

    /// How many bins there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.bins.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.bins.is_empty()
    }

    /// Whether width, place and number are such as this program writes: what is read from a file may be anything.
    #[must_use]
    pub fn is_sound(&self, limit: usize) -> bool {
        let power_of_two = self.width_s > 0 && (self.width_s as u64).is_power_of_two();
        // A start beyond the range of 64-bit nanoseconds is not a time that could have been read.
        let reach = i64::MAX / 1_000_000_000 / self.width_s.max(1) + 1;
        power_of_two
            && self.width_s <= WIDEST_S
            && self.bins.len() <= limit
            && self.first.unsigned_abs() <= reach as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn of(seconds: &[i64], limit: usize) -> AlignedBins<u64> {
        let mut bins = AlignedBins::new(limit);
        for second in seconds {
            *bins.at(*second) += 1;
        }
        bins
    }

    #[test]
    fn bins_double_their_width_and_stay_aligned_to_the_epoch() {
        let bins = of(&[5, 6, 7, 8, 9], 3);
        assert_eq!(bins.width_s(), 2);
        assert_eq!(bins.iter().collect::<Vec<_>>(), [(4, &1), (6, &2), (8, &2)]);
        assert_eq!(of(&[-1, 0], 2).iter().collect::<Vec<_>>(), [(-1, &1), (0, &1)]);
    }

    #[test]
    fn bins_that_start_beyond_time_are_not_sound() {
        for first in [i64::MAX, i64::MIN, i64::MAX / 1_000_000_000 + 2] {
            let bins = AlignedBins { first, ..of(&[5], 3) };
            assert!(!bins.is_sound(3), "{first}");
        }
        assert!(of(&[5], 3).is_sound(3));
    }

    proptest! {
        #[test]
        fn the_order_of_times_does_not_matter(mut seconds in prop::collection::vec(-5000i64..5000, 1..60), limit in 2usize..40) {
            let forward = of(&seconds, limit);
            seconds.reverse();
            prop_assert_eq!(&forward, &of(&seconds, limit));
            prop_assert!(forward.len() <= limit);
            prop_assert_eq!(forward.iter().map(|(_, count)| *count).sum::<u64>(), seconds.len() as u64);
        }

        #[test]
        fn merging_is_associative(parts in prop::collection::vec(prop::collection::vec(0i64..100_000, 0..30), 3), limit in 2usize..40) {
            let [a, b, c] = [of(&parts[0], limit), of(&parts[1], limit), of(&parts[2], limit)];
            let joined = |x: &AlignedBins<u64>, y: &AlignedBins<u64>| { let mut sum = x.clone(); sum.merge(y); sum };
            let left = joined(&joined(&a, &b), &c);
            let right = joined(&a, &joined(&b, &c));
            if !left.is_empty() { prop_assert_eq!(left, right); }
        }

        #[test]
        fn no_second_makes_it_panic(seconds in prop::collection::vec(-9_300_000_000i64..9_300_000_000, 1..6), limit in 1usize..5) {
            let _ = of(&seconds, limit);
        }
    }
}
