//! The time from arrival to completion: wait plus service.

use super::{ServiceLaw, Waiting};

/// Half-width of the bracket, relative to the answer, at which a quantile counts as found.
const PRECISION: f64 = 1e-10;

/// A quantile below this part of the mean is as good as zero.
const NEGLIGIBLE: f64 = 1e-12;

/// A law that is given by its tail alone is cut into values whose neighbours are this far apart, relative to the
/// value: each value moves by at most half of that, and so does any quantile.
const CELL: f64 = 0.002;

/// Values below this part of the mean count as this part of the mean.
const SMALLEST_CELL: f64 = 1e-5;

/// The distribution of the time from arrival to completion. Wait and service are independent under first come,
/// first served.
#[derive(Clone, Debug, PartialEq)]
pub struct Sojourn {
    /// The exponential parts of the wait: the share of arrivals in each, and its mean in seconds.
    waits: [(f64, f64); 2],
    /// The exponential parts of the service: their shares and means.
    exponential: Vec<(f64, f64)>,
    /// Its other values, rising from 0.
    atoms: Vec<Atom>,
    /// Mean service and mean wait of those that wait: where the search for a quantile begins.
    usual_s: f64,
}

/// A value of the service time.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Atom {
    value_s: f64,
    /// The share of services of this value.
    share: f64,
    /// The share of services that have a later value.
    beyond: f64,
    /// For each part of the wait, with its mean c: the sum of w·e^{−(value−x)/c} over the values x up to this one and their
    /// shares w. Each follows from the one before, so that no sum is done twice.
    waiting: [f64; 2],
}

impl Sojourn {
    /// The sum of a wait and of a service.
    #[must_use]
    pub fn new(waiting: Waiting, service: &ServiceLaw) -> Self {
        let (mut exponential, mut atoms) = (Vec::new(), vec![Atom::default()]);
        cut(service, 1.0, &mut exponential, &mut atoms);
        atoms.sort_by(|one, other| one.value_s.total_cmp(&other.value_s));
        let waits = waiting.parts();
        let mut last = Atom::default();
        for atom in &mut atoms {
            let gap = atom.value_s - last.value_s;
            atom.waiting = [0, 1].map(|part| last.waiting[part] * decay(gap, waits[part].1) + atom.share);
            last = *atom;
        }
        // From the end on, where what lies beyond is small.
        let mut beyond = 0.0;
        for atom in atoms.iter_mut().rev() {
            atom.beyond = beyond;
            beyond += atom.share;
        }
        Sojourn { waits, exponential, atoms, usual_s: service.mean_s() + waiting.conditional_mean_s }
    }

    /// P(W + S > t) = P(S > t) + ∫₀ᵗ P(W > t−x) dP(S ≤ x), the wait in its exponential parts.
    #[must_use]
    pub fn share_beyond(&self, seconds: f64) -> f64 {
        let Some(last) = self.atoms[..self.atoms.partition_point(|atom| atom.value_s <= seconds)].last()
        else {
            return 1.0;
        };
        let exponential = |of: &dyn Fn(f64) -> f64| -> f64 {
            self.exponential.iter().map(|&(share, mean)| share * of(mean)).sum()
        };
        let serving = last.beyond + exponential(&|mean| decay(seconds, mean));
        let part = |((share, wait), ended): ((f64, f64), f64)| {
            if share > 0.0 {
                let ended = ended * decay(seconds - last.value_s, wait);
                share * (ended + exponential(&|mean| exponential_after(seconds, mean, wait)))
            } else {
                0.0
            }
        };
        serving + self.waits.into_iter().zip(last.waiting).map(part).sum::<f64>()
    }

    /// The time, in seconds, that a share `quantile` of arrivals does not exceed.
    #[must_use]
    pub fn quantile_s(&self, quantile: f64) -> f64 {
        let target = 1.0 - quantile;
        let mut high = self.usual_s;
        while self.share_beyond(high) > target {
            high *= 2.0;
        }
        let mut low = 0.0;
        while high - low > PRECISION * high && high > NEGLIGIBLE * self.usual_s {
            let middle = f64::midpoint(low, high);
            if self.share_beyond(middle) > target {
                low = middle;
            } else {
                high = middle;
            }
        }
        high
    }
}

/// e^{−t/mean}, and 1 at 0 whatever the mean.
fn decay(seconds: f64, mean: f64) -> f64 {
    if seconds > 0.0 { (-seconds / mean).exp() } else { 1.0 }
}

/// ∫₀ᵗ e^{−(t−x)/c}·e^{−x/m}/m dx, also where the two means are close or far apart: the slower of the two
/// decays is kept out of the difference.
fn exponential_after(seconds: f64, mean: f64, wait: f64) -> f64 {
    let difference = (1.0 / mean - 1.0 / wait).abs();
    let slower = (-seconds / mean.max(wait)).exp();
    if difference * seconds < 1e-9 {
        return slower * seconds / mean;
    }
    slower * -(-difference * seconds).exp_m1() / (difference * mean)
}

/// The exponential parts of a law, each with its share, and the values of the others. A part that is given by its tail alone
/// is cut into values.
fn cut(service: &ServiceLaw, share: f64, exponential: &mut Vec<(f64, f64)>, atoms: &mut Vec<Atom>) {
    let mut all = |values: &[(f64, f64)]| {
        atoms.extend(values.iter().map(|&(value_s, weight)| Atom {
            value_s,
            share: share * weight,
            ..Atom::default()
        }));
    };
    match service {
        ServiceLaw::Exponential { mean_s } => exponential.push((share, *mean_s)),
        ServiceLaw::TwoMoment { mean_s, scv } => match service.longest_s() {
            Some(constant) => all(&[(constant, 1.0)]),
            None => all(&cells(service, *mean_s, scv.sqrt())),
        },
        ServiceLaw::Measured { atoms } => all(atoms),
        ServiceLaw::Mixture { parts } => {
            for (part, law) in parts {
                cut(law, share * part, exponential, atoms);
            }
        }
    }
}

/// Values and shares between the ends beyond which next to nothing lies.
fn cells(law: &ServiceLaw, mean_s: f64, deviation: f64) -> Vec<(f64, f64)> {
    const DEVIATIONS: f64 = 8.0;
    const BEYOND: f64 = 1e-12;
    let low = mean_s * (1.0 - DEVIATIONS * deviation).max(SMALLEST_CELL);
    let mut reach = mean_s * DEVIATIONS * deviation;
    while law.share_beyond(mean_s + reach) > BEYOND {
        reach *= 2.0;
    }
    let high = mean_s + reach;
    let count = ((high / low).ln() / CELL).ceil().max(1.0);
    let ratio = (high / low).powf(1.0 / count);
    let mut atoms = Vec::with_capacity(count as usize + 2);
    let (mut edge, mut beyond) = (low, law.share_beyond(low));
    atoms.push((low, 1.0 - beyond));
    for _ in 0..count as usize {
        let (next, beyond_next) = (edge * ratio, law.share_beyond(edge * ratio));
        atoms.push(((edge * next).sqrt(), beyond - beyond_next));
        (edge, beyond) = (next, beyond_next);
    }
    atoms.push((edge, beyond));
    atoms
}

#[cfg(test)]
mod tests {
    use super::*;

    const WAITING: Waiting = Waiting::exponential(0.5, 2.0);

    fn p95(law: &ServiceLaw) -> f64 {
        Sojourn::new(WAITING, law).quantile_s(0.95)
    }

    #[test]
    fn with_one_worker_the_sojourn_is_exponential() {
        // M/M/1: the sojourn is exponential with mean S/(1−ρ).
        let (rho, mean_s) = (0.75, 2.0);
        let waiting = Waiting::exponential(rho, mean_s / (1.0 - rho));
        for quantile in [0.1, 0.5, 0.95, 0.999] {
            let expected = -mean_s / (1.0 - rho) * f64::ln(1.0 - quantile);
            let found = Sojourn::new(waiting, &ServiceLaw::Exponential { mean_s }).quantile_s(quantile);
            assert!((found / expected - 1.0).abs() < 1e-8, "{quantile}: {found} {expected}");
        }
    }

    #[test]
    fn equal_means_of_wait_and_service_are_no_special_case_to_the_reader() {
        let near = p95(&ServiceLaw::Exponential { mean_s: 2.0 + 1e-7 });
        let equal = p95(&ServiceLaw::Exponential { mean_s: 2.0 });
        assert!((near / equal - 1.0).abs() < 1e-6);
    }

    #[test]
    fn the_three_forms_of_one_law_agree() {
        let steps = 20_000;
        let atoms = (0..steps)
            .map(|i| (-1.4 * f64::ln(1.0 - (f64::from(i) + 0.5) / f64::from(steps)), 1.0 / f64::from(steps)))
            .collect();
        let laws = [
            ServiceLaw::Exponential { mean_s: 1.4 },
            ServiceLaw::TwoMoment { mean_s: 1.4, scv: 1.0 },
            ServiceLaw::Measured { atoms },
        ];
        let found = laws.map(|law| p95(&law));
        assert!(
            (found[1] / found[0] - 1.0).abs() < 1e-3 && (found[2] / found[0] - 1.0).abs() < 1e-3,
            "{found:?}"
        );
    }

    #[test]
    fn a_constant_service_only_shifts_the_wait() {
        let law = ServiceLaw::TwoMoment { mean_s: 3.0, scv: 0.0 };
        let found = p95(&law);
        assert!((found - 3.0 - WAITING.quantile_s(0.95)).abs() < 1e-9 * found, "{found}");
    }

    #[test]
    fn measured_values_give_the_sum_over_each_of_them() {
        let atoms: Vec<(f64, f64)> =
            (1..=200).map(|i| (0.03 * f64::from(i), f64::from(i % 7) / 598.0)).collect();
        let waiting = Waiting::exponential(0.4, 1.5).with_tail(1.3, 3.0);
        let sojourn = Sojourn::new(waiting, &ServiceLaw::Measured { atoms: atoms.clone() });
        assert!((atoms.iter().map(|atom| atom.1).sum::<f64>() - 1.0).abs() < 1e-12);
        assert!(waiting.parts().iter().all(|part| part.0 > 0.0), "both parts of the wait are there");
        for seconds in [0.0, 0.02, 0.03, 1.0, 3.0, 6.0, 30.0] {
            let of_one = |&(value, weight): &(f64, f64)| {
                if value > seconds { weight } else { weight * waiting.share_beyond(seconds - value) }
            };
            let expected: f64 = atoms.iter().map(of_one).sum();
            let found = sojourn.share_beyond(seconds);
            assert!((found / expected - 1.0).abs() < 1e-12, "{seconds}: {found} {expected}");
        }
    }

    /// Gamma and exponential in closed form: a gamma law of whole shape is a sum of exponential phases, so its sojourn
    /// after an exponential wait is a sum of incomplete gamma functions.
    #[test]
    fn a_service_of_two_phases_has_the_sojourn_on_paper() {
        // Erlang-2 with mean 2 s: density t·e^{−t}; P(S > t) = (1 + t)·e^{−t}; c = 2 s.
        let law = ServiceLaw::TwoMoment { mean_s: 2.0, scv: 0.5 };
        let sojourn = Sojourn::new(WAITING, &law);
        for seconds in [0.5f64, 2.0, 5.0, 20.0] {
            // ∫₀ᵗ e^{−(t−x)/2}·x·e^{−x} dx = e^{−t/2}·4·(1 − (1 + t/2)·e^{−t/2})
            let after = (-seconds / 2.0).exp() * 4.0 * (1.0 - (1.0 + seconds / 2.0) * (-seconds / 2.0).exp());
            let expected = (1.0 + seconds) * (-seconds).exp() + 0.5 * after;
            let found = sojourn.share_beyond(seconds);
            assert!((found / expected - 1.0).abs() < 2e-3, "{seconds}: {found} {expected}");
        }
    }

    #[test]
    fn where_hardly_anybody_waits_the_sojourn_is_the_service() {
        for conditional_mean_s in [1e-2, 1e-3, 1e-6, 1e-12] {
            let waiting = Waiting::exponential(1e-6, conditional_mean_s);
            let sojourn = Sojourn::new(waiting, &ServiceLaw::Exponential { mean_s: 1.4 });
            for quantile in [0.5, 0.95, 0.999] {
                let service = -1.4 * f64::ln(1.0 - quantile);
                let found = sojourn.quantile_s(quantile);
                assert!((found / service - 1.0).abs() < 1e-6, "{conditional_mean_s} {quantile}: {found}");
            }
        }
    }

    #[test]
    fn any_variability_of_the_service_has_finite_quantiles_that_rise() {
        for exponent in -20..=6 {
            let sojourn =
                Sojourn::new(WAITING, &ServiceLaw::TwoMoment { mean_s: 1.4, scv: 10f64.powi(exponent) });
            let found = [0.5, 0.9, 0.95, 0.99, 0.999].map(|quantile| sojourn.quantile_s(quantile));
            assert!(found.windows(2).all(|pair| pair[0] <= pair[1]), "1e{exponent}: {found:?}");
            assert!(found[0] >= 0.0 && found[4] < 1e9, "1e{exponent}: {found:?}");
        }
    }

    #[test]
    fn a_failure_mix_keeps_both_of_its_modes() {
        // 98% of 1 ms, 2% of a constant 30 s: the p95 is a wait, the p99 a failure. One gamma law with these two
        // moments would put both somewhere between.
        let mix = ServiceLaw::Mixture {
            parts: vec![
                (0.98, ServiceLaw::Exponential { mean_s: 0.001 }),
                (0.02, ServiceLaw::TwoMoment { mean_s: 30.0, scv: 0.0 }),
            ],
        };
        let sojourn = Sojourn::new(Waiting::exponential(1e-9, 1e-3), &mix);
        assert!((sojourn.quantile_s(0.95) / (0.001 * (0.98f64 / 0.03).ln()) - 1.0).abs() < 1e-3);
        assert!((sojourn.quantile_s(0.99) - 30.0).abs() < 1e-3);
    }
}
