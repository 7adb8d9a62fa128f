//! Latency laws: how long an endpoint takes to answer its n-th request.

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};
use std::f64::consts::TAU;
use std::time::Duration;

/// The longest latency that a law may have as its mean or a bucket edge: an hour.
const LONGEST_S: f64 = 3600.0;

/// Why a latency law was refused.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum LawError {
    /// A duration is negative, not finite or longer than an hour.
    #[error("a latency of {0} s is not between 0 and 3600 s")]
    Duration(f64),
    /// The squared coefficient of variation is negative or not finite.
    #[error("a squared coefficient of variation of {0} is not a number of zero or more")]
    Variability(f64),
    /// A histogram without a single value.
    #[error("the latency histogram holds no values")]
    Empty,
    /// A bucket whose lower edge is above its upper edge.
    #[error("the bucket from {low_s} s to {high_s} s has its edges the wrong way round")]
    Bucket {
        /// Lower edge, in seconds.
        low_s: f64,
        /// Upper edge, in seconds.
        high_s: f64,
    },
    /// A mean that values in these buckets cannot have.
    #[error("a mean of {mean_s} s is impossible for buckets whose values average {least_s} to {most_s} s")]
    Mean {
        /// The mean given, in seconds.
        mean_s: f64,
        /// Mean if every value lay at its bucket's lower edge.
        least_s: f64,
        /// Mean if every value lay at its bucket's upper edge.
        most_s: f64,
    },
}

/// One bucket of a latency histogram.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bucket {
    /// Lower edge, in seconds.
    pub low_s: f64,
    /// Upper edge, in seconds.
    pub high_s: f64,
    /// How many values it holds.
    pub count: u64,
}

/// A distribution of latencies with a seeded, deterministic draw for each request index.
///
/// A draw depends on the seed and the index alone, so the order in which requests arrive changes nothing, and
/// the arithmetic uses `libm`, so platforms agree to the last bit.
#[derive(Clone, Debug)]
pub struct LatencyLaw {
    mean_s: f64,
    kind: Kind,
}

#[derive(Clone, Debug)]
enum Kind {
    Constant,
    Exponential,
    LogNormal { location: f64, scale: f64 },
    Histogram { buckets: Vec<Bucket>, cumulative: Vec<u64>, tilt: f64 },
}

impl LatencyLaw {
    /// Every answer takes the same time.
    ///
    /// # Errors
    /// A duration outside 0 s to 3600 s.
    pub fn constant(latency_s: f64) -> Result<Self, LawError> {
        Ok(LatencyLaw { mean_s: duration(latency_s)?, kind: Kind::Constant })
    }

    /// Exponential latencies: the service law of the M/M/N queue.
    ///
    /// # Errors
    /// A mean outside 0 s to 3600 s.
    pub fn exponential(mean_s: f64) -> Result<Self, LawError> {
        Ok(LatencyLaw { mean_s: duration(mean_s)?, kind: Kind::Exponential })
    }

    /// Lognormal latencies with a mean and a squared coefficient of variation:
    /// σ² = ln(1 + SCV), μ = ln(mean) − σ²/2.
    ///
    /// # Errors
    /// A mean outside 0 s to 3600 s, a negative or infinite variability.
    pub fn lognormal(mean_s: f64, scv: f64) -> Result<Self, LawError> {
        let mean_s = duration(mean_s)?;
        if !(scv.is_finite() && scv >= 0.0) {
            return Err(LawError::Variability(scv));
        }
        if mean_s == 0.0 {
            return LatencyLaw::constant(0.0);
        }
        let variance = libm::log1p(scv);
        let kind =
            Kind::LogNormal { location: libm::log(mean_s) - variance / 2.0, scale: libm::sqrt(variance) };
        Ok(LatencyLaw { mean_s, kind })
    }

    /// Latencies as measured: a bucket by its count, then a place inside it.
    ///
    /// Places follow u^k on the unit interval with the one k for which the law's mean is exactly the mean given:
    /// midpoints would be off by tens of per cent where a bucket is wide and its values crowd at one edge.
    ///
    /// # Errors
    /// No values, edges the wrong way round or outside 0 s to 3600 s, a mean that the buckets cannot have.
    pub fn histogram(buckets: &[Bucket], mean_s: f64) -> Result<Self, LawError> {
        let mean_s = duration(mean_s)?;
        let buckets: Vec<Bucket> = buckets.iter().copied().filter(|bucket| bucket.count > 0).collect();
        let mut cumulative = Vec::with_capacity(buckets.len());
        let (mut total, mut least, mut width) = (0_u64, 0.0, 0.0);
        for bucket in &buckets {
            let (low_s, high_s) = (duration(bucket.low_s)?, duration(bucket.high_s)?);
            if low_s > high_s {
                return Err(LawError::Bucket { low_s, high_s });
            }
            total = total.saturating_add(bucket.count);
            cumulative.push(total);
            least += low_s * bucket.count as f64;
            width += (high_s - low_s) * bucket.count as f64;
        }
        if total == 0 {
            return Err(LawError::Empty);
        }
        let (least_s, width_s) = (least / total as f64, width / total as f64);
        // Sums of floats leave a rounding error of a few units in the last place.
        let slack = 1e-12 * mean_s.max(least_s);
        if mean_s < least_s - slack || mean_s > least_s + width_s + slack {
            return Err(LawError::Mean { mean_s, least_s, most_s: least_s + width_s });
        }
        let place = if width_s > 0.0 { ((mean_s - least_s) / width_s).clamp(0.0, 1.0) } else { 1.0 };
        // u^k has mean 1/(1+k).
        let tilt = (1.0 - place) / place;
        Ok(LatencyLaw { mean_s, kind: Kind::Histogram { buckets, cumulative, tilt } })
    }

    /// The same law with every latency multiplied by a factor.
    ///
    /// # Errors
    /// The mean or a bucket's edge is then outside 0 s to 3600 s.
    pub fn scaled(&self, factor: f64) -> Result<Self, LawError> {
        let mean_s = duration(self.mean_s * factor)?;
        let kind = match &self.kind {
            Kind::LogNormal { location, scale } => {
                Kind::LogNormal { location: location + libm::log(factor), scale: *scale }
            }
            Kind::Histogram { buckets, .. } => {
                let scale = |b: &Bucket| Bucket { low_s: b.low_s * factor, high_s: b.high_s * factor, ..*b };
                return LatencyLaw::histogram(&buckets.iter().map(scale).collect::<Vec<_>>(), mean_s);
            }
            Kind::Constant => Kind::Constant,
            Kind::Exponential => Kind::Exponential,
        };
        Ok(LatencyLaw { mean_s, kind })
    }

    /// The mean, in seconds.
    #[must_use]
    pub fn mean_s(&self) -> f64 {
        self.mean_s
    }

    /// A latency that at most this share of the draws exceeds, in seconds, up to an hour: what a timeout must leave room
    /// for. The share is between 0 and 1.
    #[must_use]
    pub fn seldom_exceeded_s(&self, share: f64) -> f64 {
        let longest = match &self.kind {
            Kind::Constant => self.mean_s,
            Kind::Exponential => -self.mean_s * libm::log(share),
            // P(Z > z) is at most exp(-z^2 / 2) / 2 for z of zero or more: the bound of Chernoff, halved.
            Kind::LogNormal { location, scale } => {
                libm::exp(location + scale * libm::sqrt((-2.0 * libm::log(2.0 * share)).max(0.0)))
            }
            Kind::Histogram { buckets, .. } => buckets.iter().map(|bucket| bucket.high_s).fold(0.0, f64::max),
        };
        longest.min(LONGEST_S)
    }

    /// The latency of the request with this index under this seed.
    #[must_use]
    pub fn draw(&self, seed: u64, index: u64) -> Duration {
        Duration::from_secs_f64(self.draw_s(seed, index).clamp(0.0, LONGEST_S))
    }

    fn draw_s(&self, seed: u64, index: u64) -> f64 {
        let mut random = stream(seed, index);
        match &self.kind {
            Kind::Constant => self.mean_s,
            Kind::Exponential => -self.mean_s * libm::log(open_unit(&mut random)),
            Kind::LogNormal { location, scale } => {
                // Box and Muller (1958): two uniforms make one exact normal deviate.
                let radius = libm::sqrt(-2.0 * libm::log(open_unit(&mut random)));
                let normal = radius * libm::cos(TAU * open_unit(&mut random));
                libm::exp(location + scale * normal)
            }
            Kind::Histogram { buckets, cumulative, tilt } => {
                let total = cumulative.last().copied().unwrap_or(0);
                let rank = (u128::from(random.next_u64()) * u128::from(total)) >> 64;
                let chosen = cumulative.partition_point(|sum| u128::from(*sum) <= rank);
                let place = libm::pow(open_unit(&mut random), *tilt);
                buckets.get(chosen).map_or(self.mean_s, |b| b.low_s + (b.high_s - b.low_s) * place)
            }
        }
    }
}

/// Whether the event with this index happens, when a share of all events does.
pub(super) fn happens(share: f64, seed: u64, index: u64) -> bool {
    share >= 1.0 || open_unit(&mut stream(seed, index)) <= share
}

/// An independent stream of random numbers for each (seed, index).
fn stream(seed: u64, index: u64) -> Xoshiro256PlusPlus {
    // An odd multiplier maps indices one to one; the seeding of the generator scrambles the sum.
    Xoshiro256PlusPlus::seed_from_u64(seed ^ index.wrapping_add(1).wrapping_mul(0xd134_2543_de82_ef95))
}

/// Uniform on (0, 1]: its logarithm is finite.
fn open_unit(random: &mut Xoshiro256PlusPlus) -> f64 {
    ((random.next_u64() >> 11) + 1) as f64 * (1.0 / (1_u64 << 53) as f64)
}

fn duration(seconds: f64) -> Result<f64, LawError> {
    if (0.0..=LONGEST_S).contains(&seconds) { Ok(seconds) } else { Err(LawError::Duration(seconds)) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const DRAWS: u64 = 200_000;

    #[test]
    fn what_is_seldom_exceeded_is_exceeded_as_seldom_as_it_says() {
        let buckets =
            [Bucket { low_s: 0.1, high_s: 0.2, count: 99 }, Bucket { low_s: 20.0, high_s: 30.0, count: 1 }];
        for (law, share) in [
            (LatencyLaw::constant(0.2).unwrap(), 1e-3),
            (LatencyLaw::exponential(0.2).unwrap(), 1e-3),
            (LatencyLaw::lognormal(1.4, 4.0).unwrap(), 1e-3),
            (LatencyLaw::histogram(&buckets, 0.4).unwrap(), 1e-3),
        ] {
            let limit_s = law.seldom_exceeded_s(share);
            let above = (0..DRAWS).filter(|index| law.draw(7, *index).as_secs_f64() > limit_s).count();
            // 200 are expected at most, with a standard deviation of 14.
            assert!(above < 260, "{law:?}: {above} above {limit_s}");
            assert!(limit_s < 60.0, "{law:?}: {limit_s}");
        }
        assert_eq!(LatencyLaw::exponential(3600.0).unwrap().seldom_exceeded_s(1e-7), 3600.0);
    }

    /// Sample mean and squared coefficient of variation.
    fn moments(law: &LatencyLaw) -> (f64, f64) {
        let draws: Vec<f64> = (0..DRAWS).map(|index| law.draw(7, index).as_secs_f64()).collect();
        let mean = draws.iter().sum::<f64>() / DRAWS as f64;
        let variance = draws.iter().map(|draw| (draw - mean).powi(2)).sum::<f64>() / DRAWS as f64;
        (mean, variance / (mean * mean))
    }

    #[test]
    fn each_law_has_its_own_mean_and_variability() {
        // Four standard errors of the mean, and a wide berth for the variability of the lognormal.
        for (law, scv, slack) in [
            (LatencyLaw::constant(0.25).unwrap(), 0.0, 1e-9),
            (LatencyLaw::exponential(0.05).unwrap(), 1.0, 0.03),
            (LatencyLaw::lognormal(0.2, 0.5).unwrap(), 0.5, 0.03),
        ] {
            let (mean, measured) = moments(&law);
            let error = 4.0 * (scv / DRAWS as f64).sqrt() + 1e-8;
            assert!((mean / law.mean_s() - 1.0).abs() < error, "{law:?}: mean {mean}");
            assert!((measured - scv).abs() <= slack, "{law:?}: {measured}");
        }
    }

    #[test]
    fn a_histogram_keeps_the_mean_that_was_measured_not_that_of_the_midpoints() {
        let buckets = [
            Bucket { low_s: 0.0, high_s: 0.1, count: 98 },
            Bucket { low_s: 0.1, high_s: 9.9, count: 0 },
            Bucket { low_s: 10.0, high_s: 30.0, count: 2 },
        ];
        // By midpoints: 0.98 × 0.05 + 0.02 × 20 = 0.449 s.
        for mean_s in [0.21, 0.449, 0.65] {
            let law = LatencyLaw::histogram(&buckets, mean_s).unwrap();
            let (measured, scv) = moments(&law);
            let error = 4.0 * (scv / DRAWS as f64).sqrt();
            assert!((measured / mean_s - 1.0).abs() < error, "{measured} for {mean_s}");
            let long = (0..DRAWS).filter(|index| law.draw(7, *index).as_secs_f64() >= 10.0).count();
            assert!((long as f64 / DRAWS as f64 - 0.02).abs() < 0.002);
        }
    }

    #[test]
    fn a_point_bucket_is_a_constant() {
        let law = LatencyLaw::histogram(&[Bucket { low_s: 0.3, high_s: 0.3, count: 5 }], 0.3).unwrap();
        assert_eq!(law.draw(1, 9), Duration::from_millis(300));
    }

    #[test]
    fn a_scaled_law_scales_every_draw() {
        let buckets = [Bucket { low_s: 0.1, high_s: 0.4, count: 3 }];
        for law in [
            LatencyLaw::constant(0.2).unwrap(),
            LatencyLaw::exponential(0.2).unwrap(),
            LatencyLaw::lognormal(0.2, 2.0).unwrap(),
            LatencyLaw::histogram(&buckets, 0.2).unwrap(),
        ] {
            let scaled = law.scaled(0.1).unwrap();
            for index in 0..100 {
                let (draw, shrunk) = (law.draw(3, index).as_secs_f64(), scaled.draw(3, index).as_secs_f64());
                assert!((shrunk - 0.1 * draw).abs() < 2e-9, "{law:?}");
            }
        }
        assert!(LatencyLaw::constant(3_000.0).unwrap().scaled(2.0).is_err());
    }

    #[test]
    fn what_is_no_law_is_refused() {
        assert_eq!(LatencyLaw::exponential(-1.0).unwrap_err(), LawError::Duration(-1.0));
        assert!(LatencyLaw::constant(f64::NAN).is_err());
        assert!(LatencyLaw::lognormal(1.0, f64::INFINITY).is_err());
        assert_eq!(LatencyLaw::histogram(&[], 1.0).unwrap_err(), LawError::Empty);
        let bucket = |low_s, high_s| [Bucket { low_s, high_s, count: 1 }];
        assert!(matches!(LatencyLaw::histogram(&bucket(1.0, 0.5), 0.7), Err(LawError::Bucket { .. })));
        assert!(matches!(LatencyLaw::histogram(&bucket(0.5, 1.0), 2.0), Err(LawError::Mean { .. })));
    }

    #[test]
    fn draws_are_the_same_bytes_on_every_platform() {
        let nanos = |law: LatencyLaw| (0..3).map(|i| law.draw(1, i).as_nanos()).collect::<Vec<_>>();
        assert_eq!(nanos(LatencyLaw::exponential(0.1).unwrap()), PINNED_EXPONENTIAL);
        assert_eq!(nanos(LatencyLaw::lognormal(0.1, 2.0).unwrap()), PINNED_LOGNORMAL);
    }

    // From an independent program of SplitMix64, xoshiro256++ and the formulas above.
    const PINNED_EXPONENTIAL: [u128; 3] = [52808799, 109933795, 142376495];
    const PINNED_LOGNORMAL: [u128; 3] = [86279358, 145096170, 214552340];

    proptest! {
        #[test]
        fn a_draw_depends_on_seed_and_index_alone(seed: u64, index: u64, mean in 0.0..10.0_f64) {
            let law = LatencyLaw::exponential(mean).unwrap();
            prop_assert_eq!(law.draw(seed, index), law.draw(seed, index));
        }

        #[test]
        fn a_histogram_draw_stays_inside_its_buckets(
            edges in prop::collection::vec(0.0..5.0_f64, 2), seed: u64, place in 0.0..=1.0_f64,
        ) {
            let (low_s, high_s) = (edges[0].min(edges[1]), edges[0].max(edges[1]));
            let mean = (low_s + (high_s - low_s) * place).clamp(low_s, high_s);
            let law = LatencyLaw::histogram(&[Bucket { low_s, high_s, count: 3 }], mean).unwrap();
            let draw = law.draw(seed, 0).as_secs_f64();
            prop_assert!(draw >= low_s - 1e-9 && draw <= high_s + 1e-9);
        }
    }
}
