//! Two classes of arrivals: urgent ones go first, and work that has begun is not interrupted.

use super::{Pool, WaitModel};

/// Mean wait, in seconds, of an urgent arrival that finds every worker busy, with `urgent` erlangs of urgent work: that of
/// the urgent alone with these workers, where they are all busy. Whoever else waits does not matter to it.
///
/// Exact for exponential service at any load of the others, S/(N(1−ρ₁)) (A. Cobham, "Priority assignment in waiting line
/// problems", Operations Research 2, 1954; O. Kella, U. Yechiali, "Waiting times in the non-preemptive priority M/M/c
/// queue", Stochastic Models 1, 1985), and for one worker with any service. Many workers end their work so close to each
/// other that its variability hardly matters to the next one: to take the factor of the wait in one queue for it would be
/// wrong by that very factor.
///
/// `urgent` is below the workers of the pool; the pool's own load is not looked at.
#[must_use]
pub fn wait_where_all_are_busy_s(model: &WaitModel, pool: &Pool, urgent: f64) -> f64 {
    let alone = Pool { load: urgent, slack: pool.workers as f64 - urgent, ..*pool };
    model.waiting(&alone).map_or(0.0, |waiting| waiting.conditional_mean_s)
}

/// Mean wait of the others, where a share `urgent` of arrivals waits `urgent_wait` and all together `wait_mean`: with one
/// service law for both the order moves waits from one class to the other and leaves their sum (L. Kleinrock, "A
/// conservation law for a wide class of queueing disciplines", Naval Research Logistics Quarterly 12, 1965).
#[must_use]
pub fn wait_of_others(wait_mean: f64, urgent_wait: f64, urgent: f64) -> f64 {
    (wait_mean - urgent * urgent_wait) / (1.0 - urgent)
}

#[cfg(test)]
mod tests {
    use super::super::erlang::erlang_c;
    use super::super::{ArrivalProcess, ServiceShape};
    use super::*;

    fn waits(model: &WaitModel, workers: u64, load: f64, share: f64) -> [f64; 2] {
        let pool = Pool { workers, load, slack: workers as f64 - load, service_mean_s: 2.0 };
        let all = model.waiting(&pool).unwrap();
        let urgent = all.probability * wait_where_all_are_busy_s(model, &pool, share * load);
        [urgent, wait_of_others(all.mean_s(), urgent, share)]
    }

    /// W₁ = C·S/(N(1−ρ₁)), W₂ = W₁/(1−ρ).
    #[test]
    fn exponential_service_waits_as_cobham_says() {
        for (workers, load, share) in [(1u64, 0.8, 0.5), (5, 4.0, 0.375), (1263, 1260.0, 0.1)] {
            let first =
                erlang_c(workers, load, workers as f64 - load) * 2.0 / (workers as f64 - share * load);
            let second = first / (1.0 - load / workers as f64);
            let [urgent, others] = waits(&WaitModel::textbook(), workers, load, share);
            assert!((urgent / first - 1.0).abs() < 1e-12, "{workers}: {urgent} {first}");
            assert!((others / second - 1.0).abs() < 1e-9, "{workers}: {others} {second}");
        }
    }

    /// M/G/1: W₁ = W₀/(1−ρ₁), W₂ = W₀/((1−ρ₁)(1−ρ)), W₀ = ρS(1+cs²)/2.
    #[test]
    fn one_worker_waits_as_cobham_says_whatever_the_service() {
        for scv in [0.0, 0.5, 4.0, 30.0] {
            let model = WaitModel::new(ServiceShape::gamma(scv), ArrivalProcess::Poisson);
            let [urgent, others] = waits(&model, 1, 0.9, 0.4);
            let first = 0.9 * 2.0 * f64::midpoint(1.0, scv) / (1.0 - 0.36);
            assert!((urgent / first - 1.0).abs() < 1e-6, "{scv}: {urgent} {first}");
            assert!((others / (first / 0.1) - 1.0).abs() < 1e-6, "{scv}: {others}");
        }
    }
}
