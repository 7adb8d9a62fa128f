//! How uneven arrivals are: the time between them, and the counts a second.

use super::decimal;
use num_bigint::{BigInt, BigUint};
use num_rational::Ratio;
use num_traits::ToPrimitive;
use serde::{Deserialize, Serialize};

/// Exact moments of the time between successive arrivals.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Gaps {
    count: u64,
    #[serde(with = "decimal")]
    sum_ns: u128,
    #[serde(with = "decimal")]
    sum_squares_ns2: u128,
}

impl Gaps {
    /// Adds one gap of `ns` nanoseconds; `None` if the sum of squares would overflow.
    pub(super) fn add(&mut self, ns: u64) -> Option<()> {
        let square = u128::from(ns) * u128::from(ns);
        self.sum_squares_ns2 = self.sum_squares_ns2.checked_add(square)?;
        self.sum_ns += u128::from(ns);
        self.count += 1;
        Some(())
    }

    /// Adds the gaps between stamps that are in order; `None` as [`Gaps::add`].
    pub(super) fn add_between(&mut self, stamps: &[i64]) -> Option<()> {
        let [first, .., last] = stamps else { return Some(()) };
        let gaps = stamps.windows(2).map(|pair| pair[1].abs_diff(pair[0]));
        // The squares of parts never add up to more than the square of the whole, which fits 128 bits.
        let squares = gaps.fold(0u128, |sum, gap| sum + u128::from(gap) * u128::from(gap));
        self.sum_squares_ns2 = self.sum_squares_ns2.checked_add(squares)?;
        self.sum_ns += u128::from(last.abs_diff(*first));
        self.count += stamps.len() as u64 - 1;
        Some(())
    }

    pub(super) fn merge(&self, other: &Self) -> Self {
        Gaps {
            count: self.count.saturating_add(other.count),
            sum_ns: self.sum_ns.saturating_add(other.sum_ns),
            sum_squares_ns2: self.sum_squares_ns2.saturating_add(other.sum_squares_ns2),
        }
    }

    /// The mean gap in nanoseconds; `None` without gaps.
    #[must_use]
    pub fn mean_ns(&self) -> Option<f64> {
        (self.count > 0).then(|| self.sum_ns as f64 / self.count as f64)
    }

    /// The squared coefficient of variation; `None` with fewer than two gaps or if all are zero.
    #[must_use]
    pub fn scv(&self) -> Option<f64> {
        if self.count < 2 || self.sum_ns == 0 {
            return None;
        }
        let square = BigUint::from(self.sum_ns) * BigUint::from(self.sum_ns);
        let scaled = BigUint::from(self.count) * BigUint::from(self.sum_squares_ns2);
        Ratio::new(BigInt::from(scaled) - BigInt::from(square.clone()), BigInt::from(square)).to_f64()
    }

    pub(super) fn is_sound(&self) -> bool {
        let square = BigUint::from(self.sum_ns) * BigUint::from(self.sum_ns);
        BigUint::from(self.count) * BigUint::from(self.sum_squares_ns2) >= square
    }
}

/// Variability of the counts a second within minutes, pooled over the minutes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Dispersion {
    #[serde(with = "decimal")]
    arrivals: u128,
    /// Σ over the minutes of 60·Σx² − (Σx)², x the counts a second.
    #[serde(with = "decimal")]
    within: u128,
}

/// Seconds in the window within which the variance is taken.
const WINDOW: usize = 60;

impl Dispersion {
    /// From the counts of consecutive seconds; the rest that does not fill a minute is left out. `None` if there is
    /// no full minute.
    pub(super) fn of(counts: &[u64]) -> Option<Self> {
        let mut total = Dispersion::default();
        let windows = counts.chunks_exact(WINDOW);
        if windows.len() == 0 {
            return None;
        }
        for window in windows {
            let sum = window.iter().fold(0u128, |sum, count| sum + u128::from(*count));
            let squares = window.iter().try_fold(0u128, |sum, count| {
                u128::from(*count).checked_pow(2).and_then(|square| sum.checked_add(square))
            })?;
            total.arrivals = total.arrivals.checked_add(sum)?;
            let within = squares.checked_mul(WINDOW as u128)?.checked_sub(sum.checked_pow(2)?)?;
            total.within = total.within.checked_add(within)?;
        }
        Some(total)
    }

    pub(super) fn merge(&self, other: &Self) -> Self {
        Dispersion {
            arrivals: self.arrivals.saturating_add(other.arrivals),
            within: self.within.saturating_add(other.within),
        }
    }

    /// Variance over mean; `None` without arrivals.
    #[must_use]
    pub fn index(&self) -> Option<f64> {
        // Per minute the unbiased variance is within/(60·59) and the mean sum/60; over k minutes k cancels.
        (self.arrivals > 0).then(|| self.within as f64 / ((WINDOW - 1) as f64 * self.arrivals as f64))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clock_has_no_variability() {
        let mut gaps = Gaps::default();
        (0..100).for_each(|_| gaps.add(50_000_000).unwrap());
        assert_eq!(gaps.scv(), Some(0.0));
        assert_eq!(Dispersion::of(&[7; 120]).unwrap().index(), Some(0.0));
        assert_eq!(Dispersion::of(&[7; 59]), None);
    }

    #[test]
    fn a_slow_swing_is_not_burstiness() {
        let swing: Vec<u64> = (0..60 * 100).map(|second| 1000 + second / 60 * 50).collect();
        assert!(Dispersion::of(&swing).unwrap().index().unwrap() < 1e-9);
    }

    #[test]
    fn batches_of_ten_once_in_ten_seconds_on_a_grid() {
        // x is 10 with probability 1/10: variance 9, mean 1; unbiased within a minute 9·60/59.
        let batches: Vec<u64> = (0..600).map(|second| if second % 10 == 0 { 10 } else { 0 }).collect();
        let index = Dispersion::of(&batches).unwrap().index().unwrap();
        assert!((index - 9.0 * 60.0 / 59.0).abs() < 1e-12, "{index}");
    }
}
