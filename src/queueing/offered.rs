//! The load of traffic whose rate moves.

use super::ServiceLaw;

/// E min(S, t): how long a service has lasted on average t seconds after it began, prepared for many times t.
#[derive(Clone, Debug, PartialEq)]
pub struct MeanUpTo {
    parts: Vec<(f64, Part)>,
}

#[derive(Clone, Debug, PartialEq)]
enum Part {
    Exponential {
        mean_s: f64,
    },
    Gamma {
        mean_s: f64,
        shape: f64,
    },
    Constant {
        value_s: f64,
    },
    /// Values with the sums up to and with each: of the shares, and of the values times their shares.
    Values(Vec<[f64; 3]>),
}

impl MeanUpTo {
    /// Prepares a law.
    #[must_use]
    pub fn new(law: &ServiceLaw) -> Self {
        let mut parts = Vec::new();
        collect(law, 1.0, &mut parts);
        MeanUpTo { parts }
    }

    /// E min(S, t), in seconds.
    #[must_use]
    pub fn at(&self, seconds: f64) -> f64 {
        if seconds <= 0.0 {
            return 0.0;
        }
        self.parts.iter().map(|(share, part)| share * part.up_to(seconds)).sum()
    }
}

fn collect(law: &ServiceLaw, share: f64, into: &mut Vec<(f64, Part)>) {
    match law {
        ServiceLaw::Exponential { mean_s } => into.push((share, Part::Exponential { mean_s: *mean_s })),
        ServiceLaw::TwoMoment { mean_s, scv } => into.push((
            share,
            match law.longest_s() {
                Some(value_s) => Part::Constant { value_s },
                None => Part::Gamma { mean_s: *mean_s, shape: 1.0 / scv },
            },
        )),
        ServiceLaw::Measured { atoms } => {
            let (mut shares, mut sum) = (0.0, 0.0);
            let values = atoms.iter().map(|&(value, share)| {
                shares += share;
                sum += value * share;
                [value, shares, sum]
            });
            into.push((share, Part::Values(values.collect())));
        }
        ServiceLaw::Mixture { parts } => {
            parts.iter().for_each(|(part_share, part)| collect(part, share * part_share, into));
        }
    }
}

impl Part {
    fn up_to(&self, seconds: f64) -> f64 {
        match self {
            Part::Exponential { mean_s } => -mean_s * (-seconds / mean_s).exp_m1(),
            Part::Constant { value_s } => value_s.min(seconds),
            // ∫₀ᵗ x dG(x) of a gamma law is its mean times the tail of the law of one more shape.
            Part::Gamma { mean_s, shape } => {
                let x = (shape * seconds / mean_s).max(f64::MIN_POSITIVE);
                let below = statrs::function::gamma::gamma_lr(shape + 1.0, x).clamp(0.0, 1.0);
                mean_s * below + seconds * statrs::function::gamma::gamma_ur(*shape, x).clamp(0.0, 1.0)
            }
            Part::Values(values) => {
                let ended = values.partition_point(|[value, ..]| *value <= seconds);
                let [_, shares, sum] = if ended == 0 { [0.0; 3] } else { values[ended - 1] };
                // Once every value has ended, the rounding of their shares must not be stretched by the time.
                if ended == values.len() { sum } else { sum + seconds * (1.0 - shares).max(0.0) }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_form_of_a_law_lasts_as_its_tail_says() {
        let atoms: Vec<(f64, f64)> = (0..2_000)
            .map(|i| (-1.4 * f64::ln(1.0 - (f64::from(i) + 0.5) / 2_000.0), 1.0 / 2_000.0))
            .collect();
        let laws = [
            ServiceLaw::Exponential { mean_s: 1.4 },
            ServiceLaw::TwoMoment { mean_s: 1.4, scv: 4.0 },
            ServiceLaw::TwoMoment { mean_s: 1.4, scv: 0.0 },
            ServiceLaw::Measured { atoms },
            ServiceLaw::Mixture {
                parts: vec![
                    (0.9, ServiceLaw::Exponential { mean_s: 0.2 }),
                    (0.1, ServiceLaw::TwoMoment { mean_s: 9.0, scv: 0.5 }),
                ],
            },
        ];
        for law in laws {
            let prepared = MeanUpTo::new(&law);
            for end in [0.1, 1.0, 1.4, 5.0, 60.0] {
                // The middles of 20,000 steps.
                let width = end / 20_000.0;
                let by_steps: f64 =
                    (0..20_000).map(|step| width * law.share_beyond((f64::from(step) + 0.5) * width)).sum();
                let found = prepared.at(end);
                assert!((found - by_steps).abs() < 1e-3 * by_steps, "{law:?} {end}: {found} {by_steps}");
            }
            assert!((prepared.at(1e6) / law.mean_s() - 1.0).abs() < 1e-9, "{law:?}");
        }
    }
}
