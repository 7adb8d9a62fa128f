//! The law of a positive random time: a service time, a patience, a gap between arrivals.

use super::empirical::{Bucket, Empirical};
use super::error::{Error, require, require_positive};
use super::stream::Stream;
use super::ziggurat::{Exponential, Normal};

/// A law of positive times, in seconds, whose first two moments are known exactly.
///
/// | constructor | SCV |
/// | --- | --- |
/// | [`constant`](Law::constant) | 0 |
/// | [`erlang`](Law::erlang) | 1/phases |
/// | [`exponential`](Law::exponential) | 1 |
/// | [`lognormal`](Law::lognormal) | any |
/// | [`hyperexponential`](Law::hyperexponential) | 1 or more |
/// | [`mixture`](Law::mixture) | of its parts |
/// | [`empirical`](Law::empirical), [`from_values`](Law::from_values) | as measured |
#[derive(Clone, Debug)]
pub struct Law {
    mean_s: f64,
    second_moment_s2: f64,
    shape: Shape,
}

#[derive(Clone, Debug)]
enum Shape {
    Constant(f64),
    Exponential(f64),
    Erlang { phase_mean: f64, phases: u32 },
    Lognormal { log_mean: f64, log_deviation: f64 },
    Hyperexponential { first_share: f64, first_mean: f64, second_mean: f64 },
    Mixture(Vec<(f64, Law)>),
    Empirical(Empirical),
}

/// A law's longest mean, in seconds: thirty thousand years. Sums of times stay far from overflow.
const LONGEST_MEAN_S: f64 = 1e12;
/// A lognormal law's largest SCV: beyond it the sample mean says nothing of the mean.
const LARGEST_SCV: f64 = 1e6;
const SHARE: &str = "a finite number more than 0 and at most 1";

impl Law {
    /// Every value is `mean_s`.
    ///
    /// # Errors
    /// Where the mean is not finite and positive.
    pub fn constant(mean_s: f64) -> Result<Self, Error> {
        let mean_s = require_positive("the mean of a constant law", mean_s)?;
        Law::new(mean_s, mean_s * mean_s, Shape::Constant(mean_s))
    }

    /// Exponential with the given mean.
    ///
    /// # Errors
    /// Where the mean is not finite and positive.
    pub fn exponential(mean_s: f64) -> Result<Self, Error> {
        let mean_s = require_positive("the mean of an exponential law", mean_s)?;
        Law::new(mean_s, 2.0 * mean_s * mean_s, Shape::Exponential(mean_s))
    }

    /// The sum of `phases` exponential times: SCV 1/`phases`.
    ///
    /// # Errors
    /// Where the mean is not finite and positive, or there is no phase.
    pub fn erlang(mean_s: f64, phases: u32) -> Result<Self, Error> {
        let mean_s = require_positive("the mean of an Erlang law", mean_s)?;
        let count = require_positive("the number of phases of an Erlang law", f64::from(phases))?;
        let second_moment = mean_s * mean_s * (1.0 + 1.0 / count);
        Law::new(mean_s, second_moment, Shape::Erlang { phase_mean: mean_s / count, phases })
    }

    /// Lognormal with the given mean and squared coefficient of variation.
    ///
    /// # Errors
    /// Where either is not finite and positive, or the SCV is above a million.
    pub fn lognormal(mean_s: f64, scv: f64) -> Result<Self, Error> {
        let mean_s = require_positive("the mean of a lognormal law", mean_s)?;
        let accepted = "a finite number more than 0 and at most a million";
        let scv = require("the SCV of a lognormal law", scv, accepted, |c| c > 0.0 && c <= LARGEST_SCV)?;
        let log_variance = libm::log1p(scv);
        let shape = Shape::Lognormal {
            log_mean: libm::log(mean_s) - 0.5 * log_variance,
            log_deviation: log_variance.sqrt(),
        };
        Law::new(mean_s, mean_s * mean_s * (1.0 + scv), shape)
    }

    /// Two exponentials with balanced means: the first is taken with probability ½(1+√((c−1)/(c+1))) for SCV c, and
    /// both contribute half of the mean (Whitt, "Approximating a point process by a renewal process, I", 1982).
    ///
    /// # Errors
    /// Where the mean is not finite and positive, or the SCV is below 1.
    pub fn hyperexponential(mean_s: f64, scv: f64) -> Result<Self, Error> {
        let mean_s = require_positive("the mean of a hyperexponential law", mean_s)?;
        let accepted = "a finite number of at least 1";
        let scv = require("the SCV of a hyperexponential law", scv, accepted, |scv| scv >= 1.0)?;
        let first_share = 0.5 * (1.0 + ((scv - 1.0) / (scv + 1.0)).sqrt());
        let shape = Shape::Hyperexponential {
            first_share,
            first_mean: mean_s / (2.0 * first_share),
            second_mean: mean_s / (2.0 * (1.0 - first_share)),
        };
        Law::new(mean_s, mean_s * mean_s * (1.0 + scv), shape)
    }

    /// A mixture: each part is taken in proportion to its weight.
    ///
    /// # Errors
    /// Where there is no part, or a weight is not finite and positive.
    pub fn mixture(parts: Vec<(f64, Law)>) -> Result<Self, Error> {
        if parts.is_empty() {
            return Err(Error::Empty("a mixture of laws"));
        }
        for (weight, _) in &parts {
            require_positive("the weight of a law in a mixture", *weight)?;
        }
        let total: f64 = parts.iter().map(|(weight, _)| weight).sum();
        let (mut cumulative, mut mean_s, mut second_moment_s2) = (0.0, 0.0, 0.0);
        let mut chosen_below = Vec::with_capacity(parts.len());
        for (weight, law) in parts {
            let share = require("the share of a law in a mixture", weight / total, SHARE, |p| p > 0.0)?;
            cumulative += share;
            mean_s += share * law.mean_s;
            second_moment_s2 += share * law.second_moment_s2;
            chosen_below.push((cumulative, law));
        }
        Law::new(mean_s, second_moment_s2, Shape::Mixture(chosen_below))
    }

    /// Resamples measured times: `values` are pairs of a time in seconds and how often it was seen.
    ///
    /// # Errors
    /// Where there is no value, a value is negative or not finite, or all are zero.
    pub fn from_values(values: &[(f64, u64)]) -> Result<Self, Error> {
        let buckets: Vec<Bucket> = values
            .iter()
            .map(|&(value_s, count)| Bucket { low_s: value_s, high_s: value_s, count })
            .collect();
        Law::of_empirical(Empirical::new(&buckets, None, None)?)
    }

    /// Resamples a measured histogram, keeping the exact mean of what was measured, whatever the width of the
    /// buckets: at 99.8% utilisation a mean that is 0.05% off moves the wait by a quarter.
    ///
    /// Within each bucket values are spread uniformly about one common relative place, which is chosen so that the
    /// overall mean is `mean_s`. With `second_moment_s2` (the mean of the squares, s²) given, the spread within the
    /// buckets is chosen to meet it, as far as the buckets allow; [`second_moment_s2`](Law::second_moment_s2)
    /// says what was reached.
    ///
    /// # Errors
    /// Where there is no value, a bucket is not a range of finite non-negative times, or the mean cannot come from
    /// these buckets.
    pub fn empirical(buckets: &[Bucket], mean_s: f64, second_moment_s2: Option<f64>) -> Result<Self, Error> {
        Law::of_empirical(Empirical::new(buckets, Some(mean_s), second_moment_s2)?)
    }

    fn of_empirical(empirical: Empirical) -> Result<Self, Error> {
        Law::new(empirical.mean(), empirical.second_moment(), Shape::Empirical(empirical))
    }

    fn new(mean_s: f64, second_moment_s2: f64, shape: Shape) -> Result<Self, Error> {
        let accepted = "a finite time more than 0 s and at most 1e12 s";
        let mean_s =
            require("the mean of a law", mean_s, accepted, |mean| mean > 0.0 && mean <= LONGEST_MEAN_S)?;
        let second_moment_s2 = require_positive("the second moment of a law", second_moment_s2)?;
        Ok(Law { mean_s, second_moment_s2, shape })
    }

    /// The mean, in seconds.
    #[must_use]
    pub fn mean_s(&self) -> f64 {
        self.mean_s
    }

    /// The mean of the squares, in s².
    #[must_use]
    pub fn second_moment_s2(&self) -> f64 {
        self.second_moment_s2
    }

    /// The squared coefficient of variation.
    #[must_use]
    pub fn scv(&self) -> f64 {
        (self.second_moment_s2 / (self.mean_s * self.mean_s) - 1.0).max(0.0)
    }

    /// Fills `times` with draws, one after the other: how a sequence is cut into calls does not change it.
    pub(super) fn fill(&self, stream: &mut Stream, times: &mut [f64]) {
        match &self.shape {
            Shape::Constant(value) => times.fill(*value),
            Shape::Exponential(mean) => {
                let exponential = Exponential::new();
                each(times, || mean * exponential.draw(stream));
            }
            Shape::Erlang { phase_mean, phases } => {
                let exponential = Exponential::new();
                each(times, || phase_mean * (0..*phases).map(|_| exponential.draw(stream)).sum::<f64>());
            }
            Shape::Lognormal { log_mean, log_deviation } => {
                let normal = Normal::new();
                each(times, || libm::exp(log_mean + log_deviation * normal.draw(stream)));
            }
            Shape::Hyperexponential { first_share, first_mean, second_mean } => {
                let exponential = Exponential::new();
                each(times, || {
                    let mean = if stream.uniform() < *first_share { first_mean } else { second_mean };
                    mean * exponential.draw(stream)
                });
            }
            Shape::Mixture(parts) => each(times, || {
                let place = stream.uniform();
                // Rounding may leave the last cumulative share a little below 1.
                let part = parts.iter().find(|(below, _)| place < *below).or(parts.last());
                part.map_or(0.0, |(_, law)| law.draw(stream))
            }),
            Shape::Empirical(empirical) => each(times, || empirical.draw(stream)),
        }
    }

    /// One draw.
    pub(super) fn draw(&self, stream: &mut Stream) -> f64 {
        let mut time = [0.0];
        self.fill(stream, &mut time);
        time[0]
    }
}

#[inline(always)]
fn each(times: &mut [f64], mut draw: impl FnMut() -> f64) {
    for time in times {
        *time = draw();
    }
}

#[cfg(test)]
mod tests {
    use super::super::stream::{Purpose, Streams};
    use super::*;

    /// Every law's draws have the moments that it declares, within six standard errors.
    #[test]
    fn draws_have_the_declared_mean_and_second_moment() {
        let laws = [
            Law::constant(1.4),
            Law::exponential(1.4),
            Law::erlang(1.4, 3),
            Law::lognormal(1.4, 2.0),
            Law::hyperexponential(1.4, 4.0),
            Law::mixture(vec![
                (0.98, Law::exponential(0.2).unwrap()),
                (0.02, Law::exponential(30.0).unwrap()),
            ]),
            Law::from_values(&[(0.1, 900), (0.3, 95), (30.0, 5)]),
        ];
        for law in laws {
            let law = law.unwrap();
            let mut stream = Streams::new(3, 0).stream(0, Purpose::Service);
            let mut draws = vec![0.0; 200_000];
            law.fill(&mut stream, &mut draws);
            for (power, declared) in [(1, law.mean_s()), (2, law.second_moment_s2())] {
                let count = draws.len() as f64;
                let mean = draws.iter().map(|x| x.powi(power)).sum::<f64>() / count;
                let variance = draws.iter().map(|x| (x.powi(power) - mean).powi(2)).sum::<f64>() / count;
                let limit = 6.0 * (variance / count).sqrt() + 1e-10 * declared;
                assert!((mean - declared).abs() <= limit, "{law:?}: {mean} {declared}");
            }
        }
    }

    #[test]
    fn the_webhook_mix_has_the_published_moments() {
        let mix = Law::mixture(vec![
            (0.98, Law::exponential(0.2).unwrap()),
            (0.02, Law::exponential(30.0).unwrap()),
        ])
        .unwrap();
        assert!((mix.mean_s() - 0.796).abs() < 1e-15);
        assert!((mix.scv() - 55.940_481_301).abs() < 1e-8, "{}", mix.scv());
    }

    #[test]
    fn a_sequence_does_not_depend_on_how_it_is_cut() {
        for law in [Law::lognormal(1.0, 2.0).unwrap(), Law::hyperexponential(1.0, 3.0).unwrap()] {
            let stream = Streams::new(3, 0).stream(0, Purpose::Service);
            let mut whole = vec![0.0; 1000];
            law.fill(&mut stream.clone(), &mut whole);
            let (mut one_by_one, mut second) = (Vec::new(), stream.clone());
            one_by_one.resize_with(1000, || law.draw(&mut second));
            assert_eq!(whole, one_by_one);
        }
    }

    #[test]
    fn what_has_no_meaning_is_refused() {
        for bad in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            assert!(Law::constant(bad).is_err());
            assert!(Law::exponential(bad).is_err());
            assert!(Law::lognormal(1.0, bad).is_err());
            assert!(Law::hyperexponential(1.0, bad).is_err());
            assert!(Law::mixture(vec![(bad, Law::constant(1.0).unwrap())]).is_err());
            assert!(Law::empirical(&[Bucket { low_s: 0.0, high_s: 1.0, count: 1 }], bad, None).is_err());
        }
        assert!(Law::hyperexponential(1.0, 0.9).is_err());
        assert!(Law::erlang(1.0, 0).is_err());
        assert!(Law::mixture(Vec::new()).is_err());
        assert!(Law::exponential(1e200).is_err(), "the second moment must be finite too");
        assert!(Law::from_values(&[(0.0, 5)]).is_err());
    }
}
