//! Waiting in an M/M/N queue, and what variability makes of it.

use super::erlang::erlang_c;

/// The distribution of the wait in steady state: zero with some probability, else exponential.
///
/// Exact for M/M/N. For other service laws the conditional wait is roughly exponential with the same mean
/// (H. C. Tijms, *A First Course in Stochastic Models*, 2003, §9.6).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Waiting {
    /// P(W > 0), the share of arrivals that wait.
    pub probability: f64,
    /// E(W | W > 0), the mean wait of those that wait, in seconds.
    pub conditional_mean_s: f64,
}

impl Waiting {
    /// The mean wait of all arrivals, in seconds.
    #[must_use]
    pub fn mean_s(&self) -> f64 {
        self.probability * self.conditional_mean_s
    }

    /// P(W > t): the share of arrivals that wait longer than `seconds`.
    #[must_use]
    pub fn share_beyond(&self, seconds: f64) -> f64 {
        self.probability * (-seconds / self.conditional_mean_s).exp()
    }

    /// The wait, in seconds, that a share `quantile` of arrivals does not exceed.
    #[must_use]
    pub fn quantile_s(&self, quantile: f64) -> f64 {
        let beyond = 1.0 - quantile;
        if beyond >= self.probability {
            0.0
        } else {
            self.conditional_mean_s * (self.probability / beyond).ln()
        }
    }
}

/// A pool of identical workers under an offered load, in steady state.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pool {
    /// N.
    pub workers: u64,
    /// a = λS, in erlangs.
    pub load: f64,
    /// N − a, from the exact load.
    pub slack: f64,
    /// S, in seconds.
    pub service_mean_s: f64,
    /// (ca² + cs²)/2: 1 for M/M/N.
    pub variability: f64,
}

impl Pool {
    /// Whether the queue has a steady state: N > a.
    #[must_use]
    pub fn is_stable(&self) -> bool {
        self.slack > 0.0
    }

    /// ρ = a/N, the share of time that a worker is busy; above 1 for an overloaded pool.
    #[must_use]
    pub fn utilisation(&self) -> f64 {
        self.load / self.workers as f64
    }

    /// The wait by Erlang C, its conditional mean scaled by the variability: Wq ≈ (ca²+cs²)/2 · C·S/(N−a)
    /// (A. O. Allen, *Probability, Statistics, and Queueing Theory*, 1978: the Allen–Cunneen approximation; exact
    /// at variability 1). `None` for an unstable pool, whose wait grows without end.
    #[must_use]
    pub fn waiting(&self) -> Option<Waiting> {
        self.is_stable().then(|| self.with_probability(erlang_c(self.workers, self.load, self.slack)))
    }

    /// The wait with P(W > 0) by the Halfin–Whitt limit, 1/(1 + βΦ(β)/φ(β)) with β = (N−a)/√a: within a
    /// quarter from five erlangs on and closer the larger the pool, at a cost that does not grow with the load.
    /// Good for finding where to look, not for an answer.
    /// (S. Halfin, W. Whitt, "Heavy-traffic limits for queues with many exponential servers", Operations
    /// Research 29, 1981.)
    #[must_use]
    pub fn roughly(&self) -> Option<Waiting> {
        self.is_stable().then(|| {
            let beta = self.slack / self.load.sqrt();
            let density = (-beta * beta / 2.0).exp() / std::f64::consts::TAU.sqrt();
            let below = 1.0 - 0.5 * statrs::function::erf::erfc(beta / std::f64::consts::SQRT_2);
            self.with_probability(1.0 / (1.0 + beta * below / density))
        })
    }

    fn with_probability(&self, probability: f64) -> Waiting {
        Waiting { probability, conditional_mean_s: self.variability * self.service_mean_s / self.slack }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pool(workers: u64, rate: f64, service_mean_s: f64) -> Pool {
        let load = rate * service_mean_s;
        Pool { workers, load, slack: workers as f64 - load, service_mean_s, variability: 1.0 }
    }

    /// R's ErlangC package, its documented example: 100 calls in 30 minutes, 180 s each, 14 agents.
    #[test]
    fn a_call_centre_waits_as_published() {
        let waiting = pool(14, 100.0 / 1800.0, 180.0).waiting().unwrap();
        assert!((waiting.probability - 0.174_131_9).abs() < 5e-8);
        assert!((1.0 - waiting.share_beyond(20.0) - 0.888_35).abs() < 5e-6);
        assert!((waiting.mean_s() - 7.835_937_01).abs() < 5e-9);
    }

    #[test]
    fn the_quantile_is_where_the_tail_is() {
        let waiting = pool(1263, 900.0, 1.4).waiting().unwrap();
        for quantile in [0.2, 0.5, 0.95, 0.999] {
            let seconds = waiting.quantile_s(quantile);
            assert!((waiting.share_beyond(seconds) - (1.0 - quantile)).abs() < 1e-12);
        }
        assert_eq!(waiting.quantile_s(0.1), 0.0, "10.1% do not wait at all");
    }

    #[test]
    fn the_rough_value_is_near_the_exact_one() {
        for (workers, load) in [(1263, 1260.0), (1331, 1260.0), (101, 100.0), (7, 5.0)] {
            let pool = pool(workers, load, 1.0);
            let ratio = pool.roughly().unwrap().probability / pool.waiting().unwrap().probability;
            assert!((0.75..1.25).contains(&ratio), "{workers} {load}: {ratio}");
        }
    }

    #[test]
    fn an_unstable_pool_has_no_wait_to_state() {
        assert_eq!(pool(1260, 900.0, 1.4).waiting(), None);
        assert_eq!(pool(10, 900.0, 1.4).roughly(), None);
    }
}
