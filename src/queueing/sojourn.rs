//! The time from arrival to completion: wait plus service.

use super::{ServiceLaw, Waiting};

/// Half-width of the bracket, relative to the answer, at which a quantile counts as found.
const PRECISION: f64 = 1e-10;

/// The time from arrival to completion, in seconds, that a share `quantile` of arrivals does not exceed. Wait and
/// service are independent under first come, first served.
#[must_use]
pub fn sojourn_quantile(waiting: &Waiting, service: &ServiceLaw, quantile: f64) -> f64 {
    let beyond = |seconds: f64| share_beyond(waiting, service, seconds);
    let target = 1.0 - quantile;
    let mut high = service.mean_s() + waiting.conditional_mean_s;
    while beyond(high) > target {
        high *= 2.0;
    }
    let mut low = 0.0;
    while high - low > PRECISION * high {
        let middle = f64::midpoint(low, high);
        if beyond(middle) > target {
            low = middle;
        } else {
            high = middle;
        }
    }
    high
}

/// P(W + S > t) = P(S > t) + P(W > 0)·∫₀ᵗ e^{−(t−x)/c} dP(S ≤ x), c the mean of the conditional wait.
fn share_beyond(waiting: &Waiting, service: &ServiceLaw, seconds: f64) -> f64 {
    let wait = waiting.conditional_mean_s;
    let convolved = match service {
        ServiceLaw::Exponential { mean_s } => exponential_after(seconds, *mean_s, wait),
        ServiceLaw::Measured { atoms } => {
            let ended = atoms.partition_point(|atom| atom.0 <= seconds);
            atoms[..ended].iter().map(|(value, weight)| weight * (-(seconds - value) / wait).exp()).sum()
        }
        ServiceLaw::TwoMoment { .. } => by_steps(seconds, service, wait),
    };
    service.share_beyond(seconds) + waiting.probability * convolved
}

/// ∫₀ᵗ e^{−(t−x)/c}·e^{−x/m}/m dx, also where the two means are close.
fn exponential_after(seconds: f64, mean: f64, wait: f64) -> f64 {
    let difference = 1.0 / mean - 1.0 / wait;
    let slower = (-seconds / wait).exp();
    if (difference * seconds).abs() < 1e-9 {
        return slower * seconds / mean;
    }
    slower * -(-difference * seconds).exp_m1() / (difference * mean)
}

/// The same integral for a law given by its tail, by parts over equal steps: the error falls with the square of
/// the step, and 2,000 of them leave it below a thousandth.
fn by_steps(seconds: f64, service: &ServiceLaw, wait: f64) -> f64 {
    const STEPS: u32 = 2_000;
    let width = seconds / f64::from(STEPS);
    (0..STEPS)
        .map(|step| {
            let start = f64::from(step) * width;
            let ended = service.share_beyond(start) - service.share_beyond(start + width);
            ended * (-(seconds - start - width / 2.0) / wait).exp()
        })
        .sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    const WAITING: Waiting = Waiting { probability: 0.5, conditional_mean_s: 2.0 };

    #[test]
    fn with_one_worker_the_sojourn_is_exponential() {
        // M/M/1: the sojourn is exponential with mean S/(1−ρ).
        let (rho, mean_s) = (0.75, 2.0);
        let waiting = Waiting { probability: rho, conditional_mean_s: mean_s / (1.0 - rho) };
        for quantile in [0.1, 0.5, 0.95, 0.999] {
            let expected = -mean_s / (1.0 - rho) * f64::ln(1.0 - quantile);
            let found = sojourn_quantile(&waiting, &ServiceLaw::Exponential { mean_s }, quantile);
            assert!((found / expected - 1.0).abs() < 1e-8, "{quantile}: {found} {expected}");
        }
    }

    #[test]
    fn equal_means_of_wait_and_service_are_no_special_case_to_the_reader() {
        let near = sojourn_quantile(&WAITING, &ServiceLaw::Exponential { mean_s: 2.0 + 1e-7 }, 0.95);
        let equal = sojourn_quantile(&WAITING, &ServiceLaw::Exponential { mean_s: 2.0 }, 0.95);
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
        let found = laws.map(|law| sojourn_quantile(&WAITING, &law, 0.95));
        assert!(
            (found[1] / found[0] - 1.0).abs() < 1e-3 && (found[2] / found[0] - 1.0).abs() < 1e-3,
            "{found:?}"
        );
    }

    #[test]
    fn a_constant_service_only_shifts_the_wait() {
        let law = ServiceLaw::TwoMoment { mean_s: 3.0, scv: 0.0 };
        let found = sojourn_quantile(&WAITING, &law, 0.95);
        assert!((found - 3.0 - WAITING.quantile_s(0.95)).abs() < 2e-3 * found, "{found}");
    }
}
