//! Cold starts: how many invocations find no function ready, and what that does to the slowest of them.

use crate::queueing::ServiceLaw;
use crate::units::{Seconds, Share};
use schemars::JsonSchema;
use serde::Serialize;

/// Instances this rarely used are left out.
const NEGLIGIBLE: f64 = 1e-13;

/// Beyond this many busy instances cold starts of steady traffic are too few to matter, and too many to count.
const MOST_ERLANGS: f64 = 1e6;

/// The quantile that is told.
const QUANTILE: f64 = 0.99;

/// How near the quantile is found, relative to it.
const PRECISION: f64 = 1e-9;

/// What is known of the start of a function.
#[derive(Clone, Debug, PartialEq)]
pub struct ColdStart {
    /// How much longer an invocation takes that has to start an instance.
    pub duration: Seconds,
    /// How long an idle instance is kept.
    pub idle_timeout: Seconds,
    /// The share of invocations that start an instance, where it was measured.
    pub share: Option<Share>,
}

/// What cold starts do to an attempt.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct ColdStartEffect {
    /// The share of invocations that start an instance.
    pub share: f64,
    /// Whether that share was measured; else it is the steady state of Poisson arrivals at the mean rate.
    pub measured: bool,
    /// p99 of the service time without cold starts, in seconds.
    pub p99_warm_s: f64,
    /// p99 with them, in seconds.
    pub p99_s: f64,
}

impl ColdStart {
    /// The effect at `rate_per_s` invocations a second of this law.
    #[must_use]
    pub fn effect(&self, rate_per_s: f64, law: &ServiceLaw) -> ColdStartEffect {
        let (share, measured) = match &self.share {
            Some(share) => (share.get(), true),
            None => (share_of_cold_starts(rate_per_s, law.mean_s(), self.idle_timeout.get()), false),
        };
        ColdStartEffect {
            share,
            measured,
            p99_warm_s: quantile_s(law, 0.0, 0.0),
            p99_s: quantile_s(law, share, self.duration.get()),
        }
    }
}

/// The share of invocations that find no instance ready, with Poisson arrivals at `rate` a second, `mean_s` seconds
/// each, on instances that are dropped after `idle_s` seconds without work.
///
/// Instances are tried in a fixed order, so the n-th gets λ(Bₙ₋₁ − Bₙ) invocations a second, Bₙ being Erlang's loss
/// formula, and has been dropped since its last one with probability e^{−λ(Bₙ₋₁ − Bₙ)·idle}, its stream taken as
/// Poisson. (The model of N. Mahmoudi, H. Khazaei, "Performance modeling of serverless computing platforms", IEEE
/// Transactions on Cloud Computing 10(4), 2022.)
#[must_use]
pub fn share_of_cold_starts(rate: f64, mean_s: f64, idle_s: f64) -> f64 {
    let load = rate * mean_s;
    if load > MOST_ERLANGS {
        return 0.0;
    }
    let (mut lost, mut instance, mut share) = (1.0_f64, 0.0_f64, 0.0_f64);
    while lost > NEGLIGIBLE {
        instance += 1.0;
        let still_lost = load * lost / (instance + load * lost);
        let gets = lost - still_lost;
        share += gets * (-rate * gets * idle_s).exp();
        lost = still_lost;
    }
    share
}

/// The time that 99% of invocations do not exceed, a share `cold` of them taking `extra_s` longer.
fn quantile_s(law: &ServiceLaw, cold: f64, extra_s: f64) -> f64 {
    let beyond =
        |seconds: f64| (1.0 - cold) * law.share_beyond(seconds) + cold * law.share_beyond(seconds - extra_s);
    let mut high = law.mean_s() + extra_s;
    while beyond(high) > 1.0 - QUANTILE {
        high *= 2.0;
    }
    let mut low = 0.0;
    while high - low > PRECISION * high {
        let middle = f64::midpoint(low, high);
        if beyond(middle) > 1.0 - QUANTILE {
            low = middle;
        } else {
            high = middle;
        }
    }
    high
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand_distr::{Distribution, Exp};
    use rand_xoshiro::Xoshiro256PlusPlus;
    use rand_xoshiro::rand_core::SeedableRng;

    /// Counts cold starts one invocation after the other; of the idle instances the youngest is used.
    fn simulated(rate: f64, mean_s: f64, idle_s: f64, invocations: u32) -> f64 {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(1);
        let (gap, service) = (Exp::new(rate).unwrap(), Exp::new(1.0 / mean_s).unwrap());
        // When each instance is free, the oldest instance first.
        let mut free_at: Vec<f64> = Vec::new();
        let (mut now, mut cold) = (0.0, 0);
        for _ in 0..invocations {
            now += gap.sample(&mut random);
            free_at.retain(|free| now - free <= idle_s);
            let end = now + service.sample(&mut random);
            match free_at.iter_mut().rfind(|free| **free <= now) {
                Some(free) => *free = end,
                None => {
                    cold += 1;
                    free_at.push(end);
                }
            }
        }
        f64::from(cold) / f64::from(invocations)
    }

    #[test]
    fn the_share_of_cold_starts_is_that_of_a_simulation() {
        for (rate, mean_s, idle_s) in
            [(0.01, 0.3, 360.0), (0.1, 0.3, 360.0), (1.0, 0.3, 30.0), (5.0, 1.4, 60.0)]
        {
            let expected = simulated(rate, mean_s, idle_s, 200_000);
            let found = share_of_cold_starts(rate, mean_s, idle_s);
            assert!((found / expected - 1.0).abs() < 0.1, "{rate} {mean_s} {idle_s}: {found} {expected}");
        }
    }

    #[test]
    fn a_rarely_called_function_is_mostly_cold() {
        // One call an hour, kept for six minutes: e^{−0.1} of the calls come later than that.
        let share = share_of_cold_starts(1.0 / 3600.0, 0.3, 360.0);
        assert!((share - (-0.1_f64).exp()).abs() < 1e-3, "{share}");
        assert_eq!(share_of_cold_starts(1e9, 1.0, 360.0), 0.0);
    }

    #[test]
    fn cold_starts_reach_the_p99_only_where_they_are_a_hundredth() {
        let law = ServiceLaw::Exponential { mean_s: 0.3 };
        let cold = |share: &str| ColdStart {
            duration: "1".parse().unwrap(),
            idle_timeout: "6m".parse().unwrap(),
            share: share.parse().ok(),
        };
        let warm = -0.3 * f64::ln(0.01);
        let effect = cold("0").effect(1.0, &law);
        assert!(
            (effect.p99_warm_s - warm).abs() < 1e-7 && (effect.p99_s - warm).abs() < 1e-7 && effect.measured
        );
        // Everything cold is everything a second later.
        assert!((cold("100%").effect(1.0, &law).p99_s - warm - 1.0).abs() < 1e-7);
        let some = cold("5%").effect(1.0, &law);
        // 0.95·e^{−t/S} + 0.05·e^{−(t−1)/S} = 0.01.
        let beyond = 0.95 * (-some.p99_s / 0.3_f64).exp() + 0.05 * (-(some.p99_s - 1.0) / 0.3_f64).exp();
        assert!((beyond - 0.01).abs() < 1e-9 && some.p99_s > warm, "{some:?}");
        let steady = cold("").effect(11.574, &law);
        assert!(!steady.measured && steady.p99_s < warm * 1.01);
    }
}
