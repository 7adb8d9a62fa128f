//! How long a worker is occupied: what is known of the law of the service time.

/// Below this squared coefficient of variation a law cannot be told from a constant: its values lie within a
/// thousandth of the mean.
const CONSTANT_BELOW: f64 = 1e-8;

/// The law of the service time, as far as it is known.
#[derive(Clone, Debug, PartialEq)]
pub enum ServiceLaw {
    /// Exponential with its mean in seconds.
    Exponential {
        /// Mean, in seconds.
        mean_s: f64,
    },
    /// Only a mean and a squared coefficient of variation are known; a gamma law stands in for the rest.
    TwoMoment {
        /// Mean, in seconds.
        mean_s: f64,
        /// Squared coefficient of variation.
        scv: f64,
    },
    /// Measured values with their weights, which add up to 1.
    Measured {
        /// Value in seconds, and the share of attempts that took it; values rise.
        atoms: Vec<(f64, f64)>,
    },
    /// Services of several kinds, such as successes and failures.
    Mixture {
        /// The share of each kind, which add up to 1, and its law.
        parts: Vec<(f64, ServiceLaw)>,
    },
}

impl ServiceLaw {
    /// P(S > t): the share of services that take longer than `seconds`.
    #[must_use]
    pub fn share_beyond(&self, seconds: f64) -> f64 {
        match self {
            _ if seconds < 0.0 => 1.0,
            ServiceLaw::Exponential { mean_s } => (-seconds / mean_s).exp(),
            ServiceLaw::TwoMoment { mean_s, scv } if *scv >= CONSTANT_BELOW => {
                gamma_beyond(1.0 / scv, seconds / mean_s / scv)
            }
            ServiceLaw::TwoMoment { mean_s, .. } => f64::from(seconds < *mean_s),
            ServiceLaw::Measured { atoms } => {
                atoms[atoms.partition_point(|atom| atom.0 <= seconds)..].iter().map(|atom| atom.1).sum()
            }
            ServiceLaw::Mixture { parts } => {
                parts.iter().map(|(share, law)| share * law.share_beyond(seconds)).sum()
            }
        }
    }

    /// The mean, in seconds.
    #[must_use]
    pub fn mean_s(&self) -> f64 {
        match self {
            ServiceLaw::Exponential { mean_s } | ServiceLaw::TwoMoment { mean_s, .. } => *mean_s,
            ServiceLaw::Measured { atoms } => atoms.iter().map(|(value, weight)| value * weight).sum(),
            ServiceLaw::Mixture { parts } => parts.iter().map(|(share, law)| share * law.mean_s()).sum(),
        }
    }

    /// The longest service that is possible, if there is one.
    #[must_use]
    pub fn longest_s(&self) -> Option<f64> {
        match self {
            ServiceLaw::Measured { atoms } => atoms.last().map(|atom| atom.0),
            ServiceLaw::TwoMoment { mean_s, scv } if *scv < CONSTANT_BELOW => Some(*mean_s),
            ServiceLaw::Mixture { parts } => {
                parts.iter().try_fold(0.0, |longest: f64, (_, law)| Some(longest.max(law.longest_s()?)))
            }
            _ => None,
        }
    }

    /// The same law stretched by `factor`.
    #[must_use]
    pub fn scaled(&self, factor: f64) -> Self {
        match self {
            ServiceLaw::Exponential { mean_s } => ServiceLaw::Exponential { mean_s: mean_s * factor },
            ServiceLaw::TwoMoment { mean_s, scv } => {
                ServiceLaw::TwoMoment { mean_s: mean_s * factor, scv: *scv }
            }
            ServiceLaw::Measured { atoms } => ServiceLaw::Measured {
                atoms: atoms.iter().map(|&(value, weight)| (value * factor, weight)).collect(),
            },
            ServiceLaw::Mixture { parts } => ServiceLaw::Mixture {
                parts: parts.iter().map(|(share, law)| (*share, law.scaled(factor))).collect(),
            },
        }
    }
}

/// P(X > x) of a gamma law with unit scale, also where x is too small or the shape too large for the library.
fn gamma_beyond(shape: f64, x: f64) -> f64 {
    if x < f64::MIN_POSITIVE {
        1.0
    } else if x.is_infinite() {
        0.0
    } else {
        statrs::function::gamma::gamma_ur(shape, x).clamp(0.0, 1.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_law_of_any_variability_has_a_tail_that_falls_from_one_to_zero() {
        for exponent in -20..=15 {
            let law = ServiceLaw::TwoMoment { mean_s: 1.4, scv: 10f64.powi(exponent) };
            let seconds = [0.0, 1e-320, 1e-12, 0.7, 1.3, 1.5, 14.0, 1e6, 1e300];
            let tail = seconds.map(|seconds| law.share_beyond(seconds));
            assert!(tail.windows(2).all(|pair| pair[0] >= pair[1]), "1e{exponent}: {tail:?}");
            assert_eq!((tail[0], tail[8]), (1.0, 0.0), "1e{exponent}");
        }
    }

    #[test]
    fn a_mixture_is_the_sum_of_its_parts() {
        let mix = ServiceLaw::Mixture {
            parts: vec![
                (0.98, ServiceLaw::Exponential { mean_s: 0.2 }),
                (0.02, ServiceLaw::TwoMoment { mean_s: 30.0, scv: 0.0 }),
            ],
        };
        assert!((mix.mean_s() - 0.796).abs() < 1e-12);
        assert!((mix.share_beyond(1.0) - (0.98 * f64::exp(-5.0) + 0.02)).abs() < 1e-15);
        assert_eq!(mix.longest_s(), None, "an exponential law has no longest value");
        assert!((mix.scaled(2.0).mean_s() - 1.592).abs() < 1e-12);
    }
}
