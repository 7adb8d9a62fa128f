//! The shape of a service law beside its mean: what the wait depends on.

use super::ServiceLaw;
use super::correction::{LEAST_THIRD, MOST_SCV, MOST_THIRD};
use super::two_phase::TwoPhase;

/// Halvings of the range of third moments: more than their influence on any wait.
const HALVINGS: u32 = 40;

/// The second and third moment of a service law, in units of its mean.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ServiceShape {
    /// The squared coefficient of variation, E S²/(E S)² − 1.
    pub scv: f64,
    /// E S·E S³/(E S²)², at least 1: 1.5 for an exponential law, 2 − 1/(1+cs²) for a gamma law, more for a mixture
    /// of a short and a long mean.
    pub third: f64,
}

impl ServiceShape {
    /// That of an exponential law.
    pub const EXPONENTIAL: ServiceShape = ServiceShape { scv: 1.0, third: 1.5 };

    /// That of a gamma law with this SCV, which stands in where only two moments are known.
    #[must_use]
    pub fn gamma(scv: f64) -> Self {
        ServiceShape { scv, third: (1.0 + 2.0 * scv) / (1.0 + scv) }
    }

    /// The shape of a law. The SCV is passed in because a measured one is known more exactly than its histogram.
    #[must_use]
    pub fn of(law: &ServiceLaw, scv: f64) -> Self {
        match law {
            ServiceLaw::Exponential { .. } => ServiceShape::EXPONENTIAL,
            ServiceLaw::TwoMoment { .. } => ServiceShape::gamma(scv),
            ServiceLaw::Measured { atoms } => ServiceShape::of_values(atoms, scv),
            ServiceLaw::Mixture { .. } => {
                let [mean, second, third] = moments(law);
                ServiceShape { scv, third: mean * third / (second * second) }
            }
        }
    }

    /// The shape of values with their shares, rising.
    ///
    /// The third moment of a heavy tail lies in attempts so rare that they hardly meet: a mixture of two exponential
    /// laws that has it takes the rest for too even, and waits half as long as it should (lognormal, SCV 15). The
    /// overlap ∫(1−G(t))²dt of two attempts tells such a tail apart, so it stands in where it asks for longer waits.
    fn of_values(values: &[(f64, f64)], scv: f64) -> Self {
        let moment = |k: i32| values.iter().map(|(value, share)| share * value.powi(k)).sum::<f64>();
        let mean = moment(1);
        let (mut beyond, mut last, mut overlap) = (1.0_f64, 0.0, 0.0);
        for &(value, share) in values {
            overlap += beyond * beyond * (value - last);
            (beyond, last) = ((beyond - share).max(0.0), value);
        }
        let third = mean * moment(3) / moment(2).powi(2);
        ServiceShape { scv, third: third.min(third_with_overlap(scv, overlap / mean)) }
    }

    /// Whether a correction that is carried over from small pools holds for it.
    #[must_use]
    pub fn is_within_reach(&self) -> bool {
        self.scv <= MOST_SCV && self.third <= MOST_THIRD
    }
}

/// The first three moments of a law.
fn moments(law: &ServiceLaw) -> [f64; 3] {
    let gamma = |mean: f64, scv: f64| {
        let second = mean * mean * (1.0 + scv);
        [mean, second, second * mean * (1.0 + 2.0 * scv)]
    };
    let sum = |parts: &mut dyn Iterator<Item = (f64, [f64; 3])>| {
        parts.fold([0.0; 3], |sum, (share, part)| std::array::from_fn(|k| sum[k] + share * part[k]))
    };
    match law {
        ServiceLaw::Exponential { mean_s } => gamma(*mean_s, 1.0),
        ServiceLaw::TwoMoment { mean_s, scv } => gamma(*mean_s, *scv),
        ServiceLaw::Measured { atoms } => {
            sum(&mut atoms.iter().map(|&(value, share)| (share, [value, value.powi(2), value.powi(3)])))
        }
        ServiceLaw::Mixture { parts } => sum(&mut parts.iter().map(|(share, law)| (*share, moments(law)))),
    }
}

/// The third moment of the mixture of two exponential laws with this SCV and overlap; the least or the greatest that is
/// carried over where none has it.
fn third_with_overlap(scv: f64, overlap: f64) -> f64 {
    let second = 1.0 + scv;
    let (mut low, mut high) = (LEAST_THIRD, MOST_THIRD);
    for _ in 0..HALVINGS {
        let middle = f64::midpoint(low, high);
        match TwoPhase::hyperexponential(second, middle * second * second) {
            Some(law) if law.overlap() < overlap => low = middle,
            Some(_) => high = middle,
            // At most as variable as exponential: the third moment is not looked at.
            None => return f64::INFINITY,
        }
    }
    high
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Equally likely values of a law that is given by its quantiles.
    fn sampled(quantile: impl Fn(f64) -> f64) -> ServiceShape {
        const VALUES: u32 = 200_000;
        let share = 1.0 / f64::from(VALUES);
        let atoms: Vec<(f64, f64)> =
            (0..VALUES).map(|i| (quantile((f64::from(i) + 0.5) * share), share)).collect();
        let moment = |k: i32| atoms.iter().map(|(value, share)| share * value.powi(k)).sum::<f64>();
        let scv = moment(2) / moment(1).powi(2) - 1.0;
        ServiceShape::of(&ServiceLaw::Measured { atoms }, scv)
    }

    #[test]
    fn a_sample_of_a_mixture_has_the_mixture_s_third_moment_by_either_way() {
        // Balanced means, SCV 4: moments 1, 5 and 60.
        let p = 0.5 * (1.0 + 0.6f64.sqrt());
        let tail = |t: f64| p * (-2.0 * p * t).exp() + (1.0 - p) * (-2.0 * (1.0 - p) * t).exp();
        let shape = sampled(|u| {
            let (mut low, mut high) = (0.0, 1000.0);
            for _ in 0..60 {
                let middle = f64::midpoint(low, high);
                if tail(middle) > 1.0 - u { low = middle } else { high = middle }
            }
            high
        });
        assert!((shape.scv - 4.0).abs() < 0.01 && (shape.third - 2.4).abs() < 0.01, "{shape:?}");
    }

    #[test]
    fn a_heavy_tail_is_told_by_its_overlap() {
        // Lognormal with SCV 4: third moment 5; the overlap 2Φ(−σ/√2) = 0.3697 is that of a mixture with 2.7.
        let sigma = 5f64.ln().sqrt();
        let normal = statrs::distribution::Normal::standard();
        use statrs::distribution::ContinuousCDF;
        let shape = sampled(|u| (sigma * normal.inverse_cdf(u)).exp());
        assert!((2.5..2.9).contains(&shape.third), "{shape:?}");
    }

    #[test]
    fn a_timeout_has_less_of_a_third_moment_than_any_mixture() {
        // 95% short and 5% cut off at a timeout.
        let shape = sampled(|u| if u < 0.95 { 0.12 } else { 25.263 });
        assert!(shape.third < 1.2 && shape.is_within_reach(), "{shape:?}");
    }
}
