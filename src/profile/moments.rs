//! Exact count, sum and sum of squares of durations in whole nanoseconds.

use super::ProfileError;
use crate::units::{Exact, Seconds};
use num_bigint::{BigInt, BigUint};
use num_rational::Ratio;
use num_traits::ToPrimitive;

/// The longest single duration that is accepted, in nanoseconds: seven days.
///
/// No attempt holds a worker for a week (brokers end a lease after hours), while a column that is really an epoch
/// time stamp lies far beyond it, in whatever unit it is read: 1.7·10⁹ seconds read as milliseconds are 19 days.
pub const LONGEST_NS: u64 = 7 * 86_400 * 1_000_000_000;

/// Nanoseconds in a second.
pub const NS_PER_SECOND: u64 = 1_000_000_000;

/// Count, sum, sum of squares, least and greatest of a set of durations, all exact integers of nanoseconds.
///
/// Sums are 128 bits wide and checked. With no duration above [`LONGEST_NS`] the sum of squares can only overflow
/// beyond 9·10⁸ attempts of seven days each, and then it is an error, never a wrapped number.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Moments {
    pub(super) count: u64,
    pub(super) sum_ns: u128,
    pub(super) sum_squares_ns2: u128,
    pub(super) min_ns: u64,
    pub(super) max_ns: u64,
}

impl Moments {
    /// Adds `weight` durations of `ns` nanoseconds each. A weight of zero adds nothing.
    ///
    /// # Errors
    /// If the duration is longer than seven days or a sum would overflow; nothing is added then.
    pub fn add(&mut self, ns: u64, weight: u64) -> Result<(), ProfileError> {
        if ns > LONGEST_NS {
            return Err(ProfileError::TooLong { ns });
        }
        let value = u128::from(ns);
        let one = Moments {
            count: weight,
            sum_ns: value * u128::from(weight),
            sum_squares_ns2: (value * value).checked_mul(weight.into()).ok_or(ProfileError::TooMany)?,
            min_ns: ns,
            max_ns: ns,
        };
        self.merge(&one)
    }

    /// Adds all durations of `other`.
    ///
    /// # Errors
    /// If a sum would overflow; nothing is added then.
    pub fn merge(&mut self, other: &Moments) -> Result<(), ProfileError> {
        if other.count == 0 {
            return Ok(());
        }
        let count = self.count.checked_add(other.count).ok_or(ProfileError::TooMany)?;
        let sum_ns = self.sum_ns.checked_add(other.sum_ns).ok_or(ProfileError::TooMany)?;
        let sum_squares_ns2 =
            self.sum_squares_ns2.checked_add(other.sum_squares_ns2).ok_or(ProfileError::TooMany)?;
        let min_ns = if self.count == 0 { other.min_ns } else { self.min_ns.min(other.min_ns) };
        *self = Moments { count, sum_ns, sum_squares_ns2, min_ns, max_ns: self.max_ns.max(other.max_ns) };
        Ok(())
    }

    /// Whether the numbers can be those of a set of durations: what is read from a file may be anything.
    pub(super) fn is_sound(&self) -> bool {
        let (count, sum) = (u128::from(self.count), self.sum_ns);
        let within = |limit: u64| count.checked_mul(limit.into());
        let mean_in_range = within(self.min_ns).is_some_and(|least| least <= sum)
            && within(self.max_ns).is_some_and(|most| sum <= most);
        let square = BigUint::from(sum) * BigUint::from(sum);
        let scaled = BigUint::from(count) * BigUint::from(self.sum_squares_ns2);
        // Cauchy–Schwarz from below; no square exceeds the longest times the duration from above.
        let squares_in_range = square <= scaled
            && BigUint::from(self.sum_squares_ns2) <= BigUint::from(self.max_ns) * BigUint::from(sum);
        self.min_ns <= self.max_ns && self.max_ns <= LONGEST_NS && mean_in_range && squares_in_range
    }

    /// How many durations there are.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.count
    }

    /// The sum of all durations, in nanoseconds: the time for which they held a worker.
    #[must_use]
    pub fn sum_ns(&self) -> u128 {
        self.sum_ns
    }

    /// The sum of the squares of all durations, in square nanoseconds.
    #[must_use]
    pub fn sum_squares_ns2(&self) -> u128 {
        self.sum_squares_ns2
    }

    /// The shortest duration in nanoseconds; zero if there is none.
    #[must_use]
    pub fn min_ns(&self) -> u64 {
        self.min_ns
    }

    /// The longest duration in nanoseconds; zero if there is none.
    #[must_use]
    pub fn max_ns(&self) -> u64 {
        self.max_ns
    }

    /// The exact mean; zero if there is no duration.
    #[must_use]
    pub fn mean(&self) -> Seconds {
        let denominator = u128::from(self.count) * u128::from(NS_PER_SECOND);
        let mean = Exact::fraction(self.sum_ns, denominator).unwrap_or_else(Exact::zero);
        Seconds::new(mean).expect("no duration exceeds seven days, so neither does the mean")
    }

    /// The squared coefficient of variation, variance over squared mean, of the durations as a population (divided
    /// by n). Zero if all are equal.
    ///
    /// `(n·Σx² − (Σx)²) / (Σx)²` is formed in integers, so nothing cancels however small the variance is.
    #[must_use]
    pub fn scv(&self) -> f64 {
        if self.sum_ns == 0 {
            return 0.0;
        }
        let square = BigUint::from(self.sum_ns) * BigUint::from(self.sum_ns);
        let scaled = BigUint::from(self.count) * BigUint::from(self.sum_squares_ns2);
        // Cauchy–Schwarz: never negative.
        let excess = BigInt::from(scaled) - BigInt::from(square.clone());
        Ratio::new(excess, BigInt::from(square)).to_f64().unwrap_or(0.0)
    }

    /// The standard deviation of the durations as a population, in seconds.
    #[must_use]
    pub fn stddev_s(&self) -> f64 {
        self.mean().get() * self.scv().sqrt()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn of(durations: &[u64]) -> Moments {
        let mut moments = Moments::default();
        for ns in durations {
            moments.add(*ns, 1).unwrap();
        }
        moments
    }

    #[test]
    fn the_mean_is_the_exact_rational() {
        let moments = of(&[1, 1, 2]);
        assert_eq!(moments.mean().exact(), &Exact::fraction(4, 3 * 1_000_000_000).unwrap());
        assert!(Moments::default().mean().is_zero());
    }

    #[test]
    fn a_tiny_variance_on_a_large_mean_does_not_cancel() {
        // One day and one day plus two nanoseconds: variance 1 ns², mean 86,400 s + 1 ns. In floats n·Σx² − (Σx)²
        // would be off by about 10¹².
        let day = 86_400 * NS_PER_SECOND;
        let moments = of(&[day, day + 2]);
        let mean = (day + 1) as f64;
        assert!((moments.scv() * mean * mean - 1.0).abs() < 1e-12);
        assert_eq!(of(&[day; 3]).scv(), 0.0);
    }

    #[test]
    fn what_cannot_be_a_duration_or_cannot_be_summed_is_an_error_and_changes_nothing() {
        let mut moments = of(&[5]);
        let before = moments;
        assert_eq!(moments.add(LONGEST_NS + 1, 1), Err(ProfileError::TooLong { ns: LONGEST_NS + 1 }));
        assert_eq!(moments.add(LONGEST_NS, u64::MAX), Err(ProfileError::TooMany));
        assert_eq!(moments.add(1, u64::MAX), Err(ProfileError::TooMany));
        assert_eq!(moments, before);
        assert!(moments.add(LONGEST_NS, 900_000_000).is_ok(), "nine hundred million weeks still fit");
    }

    proptest! {
        #[test]
        fn merging_is_associative_and_exact(parts in prop::collection::vec(prop::collection::vec(0..=LONGEST_NS, 0..6), 3)) {
            let [a, b, c] = [of(&parts[0]), of(&parts[1]), of(&parts[2])];
            let joined = |x: &Moments, y: &Moments| { let mut sum = *x; sum.merge(y).unwrap(); sum };
            prop_assert_eq!(joined(&joined(&a, &b), &c), joined(&a, &joined(&b, &c)));
            prop_assert_eq!(joined(&joined(&a, &b), &c), of(&parts.concat()));
        }

        #[test]
        fn the_scv_agrees_with_two_passes_of_floats(durations in prop::collection::vec(1u64..1_000_000, 2..50)) {
            let n = durations.len() as f64;
            let mean = durations.iter().map(|ns| *ns as f64).sum::<f64>() / n;
            let variance = durations.iter().map(|ns| (*ns as f64 - mean).powi(2)).sum::<f64>() / n;
            let scv = of(&durations).scv();
            prop_assert!((scv - variance / mean / mean).abs() <= 1e-11 * scv.max(1e-6));
        }
    }
}
