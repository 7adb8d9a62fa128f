//! The distribution of the wait.

use super::bounded::Losses;

/// The distribution of the wait in steady state: zero with some probability, else a sum of at most two exponential
/// parts, a slow one that the tail ends in and a fast one.
///
/// One part is exact for M/M/N. For a hyperexponential service law two are within 2% of exact 95th and 99th
/// percentiles where at least a third of the arrivals wait, and within 12% where a tenth do.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Waiting {
    /// P(W > 0), the share of arrivals that wait.
    pub probability: f64,
    /// E(W | W > 0), the mean wait of those that wait, in seconds.
    pub conditional_mean_s: f64,
    /// The share of the slow part among those that wait, and its mean.
    slow_share: f64,
    slow_mean_s: f64,
    /// What becomes of arrivals that do not wait to the end, in a pool that can lose some. The wait is then that of all
    /// that are not turned away, up to where they give up, and its tail a law of its own.
    losses: Option<Losses>,
}

impl Waiting {
    /// Zero, or exponential with this mean in seconds.
    #[must_use]
    pub const fn exponential(probability: f64, conditional_mean_s: f64) -> Self {
        Waiting {
            probability,
            conditional_mean_s,
            slow_share: 1.0,
            slow_mean_s: conditional_mean_s,
            losses: None,
        }
    }

    /// The wait in a pool that loses arrivals.
    pub(super) const fn losing(probability: f64, conditional_mean_s: f64, losses: Losses) -> Self {
        Waiting { losses: Some(losses), ..Waiting::exponential(probability, conditional_mean_s) }
    }

    /// What becomes of the arrivals, in a pool that can lose some.
    #[must_use]
    pub fn losses(&self) -> Option<&Losses> {
        self.losses.as_ref()
    }

    /// The share of arrivals that give up or are turned away.
    #[must_use]
    pub fn lost_share(&self) -> f64 {
        self.losses.map_or(0.0, |losses| losses.abandoned + losses.turned_away)
    }

    /// The share of arrivals that are served.
    #[must_use]
    pub fn served_share(&self) -> f64 {
        self.losses.map_or(1.0, |losses| losses.served)
    }

    /// The same mean with the conditional second moment `spread` times that of an exponential law, in a tail whose
    /// slow part has the mean `slow_mean_s`. Unchanged where two exponential parts cannot have these.
    #[must_use]
    pub(super) fn with_tail(self, spread: f64, slow_mean_s: f64) -> Self {
        let mean = self.conditional_mean_s;
        // Both the mean and half the second moment of the two parts are given: a linear equation for the fast mean.
        let fast = mean * (slow_mean_s - spread * mean) / (slow_mean_s - mean);
        let slow_share = (mean - fast) / (slow_mean_s - fast);
        if spread > 1.0 && slow_mean_s > mean && fast >= 0.0 && slow_share > 0.0 {
            Waiting { slow_share, slow_mean_s, ..self }
        } else {
            self
        }
    }

    /// The same with the probability and the mean so many times as large; the shape of the tail stays.
    #[must_use]
    pub(super) fn times(self, probability: f64, mean: f64) -> Self {
        let probability_after = (self.probability * probability).min(1.0);
        let wait = if probability_after > 0.0 { self.mean_s() * mean / probability_after } else { 0.0 };
        let stretched = if self.conditional_mean_s > 0.0 { wait / self.conditional_mean_s } else { 1.0 };
        Waiting {
            probability: probability_after,
            conditional_mean_s: wait,
            slow_mean_s: self.slow_mean_s * stretched,
            ..self
        }
    }

    /// The exponential parts: the share of all arrivals that each holds, and its mean in seconds. For a pool that loses
    /// arrivals one part with the mean wait.
    #[must_use]
    pub fn parts(&self) -> [(f64, f64); 2] {
        let fast_share = 1.0 - self.slow_share;
        let rest = self.conditional_mean_s - self.slow_share * self.slow_mean_s;
        let fast_mean_s = if fast_share > 0.0 { (rest / fast_share).max(0.0) } else { 0.0 };
        [(self.probability * self.slow_share, self.slow_mean_s), (self.probability * fast_share, fast_mean_s)]
    }

    /// The mean wait of all arrivals, in seconds.
    #[must_use]
    pub fn mean_s(&self) -> f64 {
        self.probability * self.conditional_mean_s
    }

    /// P(W > t): the share of arrivals that wait longer than `seconds`.
    #[must_use]
    pub fn share_beyond(&self, seconds: f64) -> f64 {
        if let Some(losses) = &self.losses {
            return losses.tail.share_beyond(seconds);
        }
        let part =
            |(share, mean_s): (f64, f64)| if share > 0.0 { share * (-seconds / mean_s).exp() } else { 0.0 };
        self.parts().into_iter().map(part).sum()
    }

    /// The wait, in seconds, that a share `quantile` of arrivals does not exceed.
    #[must_use]
    pub fn quantile_s(&self, quantile: f64) -> f64 {
        let beyond = 1.0 - quantile;
        if beyond >= self.probability {
            return 0.0;
        }
        if let Some(losses) = &self.losses {
            return losses.tail.beyond(beyond, self.probability, self.conditional_mean_s);
        }
        let alone =
            |(share, mean_s): (f64, f64)| if share > beyond { mean_s * (share / beyond).ln() } else { 0.0 };
        if self.slow_share == 1.0 {
            return alone((self.probability, self.conditional_mean_s));
        }
        // Not below what the slow part alone reaches, nor beyond what it would reach with every wait in it.
        let (mut low, mut high) = (alone(self.parts()[0]), alone((self.probability, self.slow_mean_s)));
        while high - low > 1e-12 * high {
            let middle = f64::midpoint(low, high);
            if middle <= low || middle >= high {
                break;
            }
            if self.share_beyond(middle) > beyond {
                low = middle;
            } else {
                high = middle;
            }
        }
        high
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

    /// A wait with this probability and the conditional mean of M/M/N, S/(N−a).
    pub(super) fn markovian(&self, probability: f64) -> Waiting {
        self.scaled(probability, 1.0)
    }

    /// The same with the conditional mean so many times as long.
    pub(super) fn scaled(&self, probability: f64, factor: f64) -> Waiting {
        Waiting::exponential(probability, factor * self.service_mean_s / self.slack)
    }
}

#[cfg(test)]
mod tests {
    use super::super::WaitModel;
    use super::*;

    fn textbook(workers: u64, rate: f64, service_mean_s: f64) -> Waiting {
        let load = rate * service_mean_s;
        let pool = Pool { workers, load, slack: workers as f64 - load, service_mean_s };
        WaitModel::textbook().waiting(&pool).unwrap()
    }

    /// R's ErlangC package, its documented example: 100 calls in 30 minutes, 180 s each, 14 agents.
    #[test]
    fn a_call_centre_waits_as_published() {
        let waiting = textbook(14, 100.0 / 1800.0, 180.0);
        assert!((waiting.probability - 0.174_131_9).abs() < 5e-8);
        assert!((1.0 - waiting.share_beyond(20.0) - 0.888_35).abs() < 5e-6);
        assert!((waiting.mean_s() - 7.835_937_01).abs() < 5e-9);
    }

    #[test]
    fn the_quantile_is_where_the_tail_is() {
        let exponential = textbook(1263, 900.0, 1.4);
        let mixed = exponential.with_tail(1.6, 2.5 * exponential.conditional_mean_s);
        assert_ne!(mixed, exponential);
        for waiting in [exponential, mixed] {
            for quantile in [0.2, 0.5, 0.95, 0.999] {
                let seconds = waiting.quantile_s(quantile);
                assert!((waiting.share_beyond(seconds) - (1.0 - quantile)).abs() < 1e-10);
            }
            assert_eq!(waiting.quantile_s(0.1), 0.0, "10.1% do not wait at all");
        }
    }

    #[test]
    fn two_parts_have_the_moments_that_were_asked_for() {
        let waiting = Waiting::exponential(0.4, 3.0).with_tail(1.5, 7.0);
        let [slow, fast] = waiting.parts();
        assert!((slow.0 + fast.0 - 0.4).abs() < 1e-15);
        assert!((slow.0 * slow.1 + fast.0 * fast.1 - 1.2).abs() < 1e-12);
        assert!((slow.0 * slow.1 * slow.1 + fast.0 * fast.1 * fast.1 - 0.4 * 1.5 * 9.0).abs() < 1e-12);
    }
}
