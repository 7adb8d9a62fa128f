//! How long a worker is occupied: what is known of the law of the service time.

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
}

impl ServiceLaw {
    /// P(S > t): the share of services that take longer than `seconds`.
    #[must_use]
    pub fn share_beyond(&self, seconds: f64) -> f64 {
        match self {
            _ if seconds < 0.0 => 1.0,
            ServiceLaw::Exponential { mean_s } => (-seconds / mean_s).exp(),
            ServiceLaw::TwoMoment { mean_s, scv } if *scv > 0.0 => {
                let shape = 1.0 / scv;
                if seconds == 0.0 {
                    1.0
                } else {
                    statrs::function::gamma::gamma_ur(shape, shape * seconds / mean_s)
                }
            }
            ServiceLaw::TwoMoment { mean_s, .. } => f64::from(seconds < *mean_s),
            ServiceLaw::Measured { atoms } => {
                atoms[atoms.partition_point(|atom| atom.0 <= seconds)..].iter().map(|atom| atom.1).sum()
            }
        }
    }

    /// The mean, in seconds.
    #[must_use]
    pub fn mean_s(&self) -> f64 {
        match self {
            ServiceLaw::Exponential { mean_s } | ServiceLaw::TwoMoment { mean_s, .. } => *mean_s,
            ServiceLaw::Measured { atoms } => atoms.iter().map(|(value, weight)| value * weight).sum(),
        }
    }

    /// The longest service that is possible, if there is one.
    #[must_use]
    pub fn longest_s(&self) -> Option<f64> {
        match self {
            ServiceLaw::Measured { atoms } => atoms.last().map(|atom| atom.0),
            ServiceLaw::TwoMoment { mean_s, scv } if *scv == 0.0 => Some(*mean_s),
            _ => None,
        }
    }
}
