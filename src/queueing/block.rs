//! Many events at one moment on top of steady traffic: the backlog that they make, and how it goes away.

use super::waiting::Pool;

/// Standard deviations of the number of busy workers beyond which no state has any weight.
const REACH: f64 = 12.0;

/// A pool in steady state as a block finds it.
#[derive(Clone, Debug, PartialEq)]
pub struct BeforeBlock {
    workers: f64,
    slack: f64,
    service_mean_s: f64,
    /// P(all workers are busy).
    busy: f64,
    /// The mean number that waits where they are.
    queue: f64,
    /// (ca² + cs²)/2 near saturation, in its two parts.
    dispersion: f64,
    scv: f64,
    /// The number of idle workers with its probability, fewest first.
    idle: Vec<(f64, f64)>,
}

/// What a block leaves in the queue the moment it is there.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Backlog {
    /// The mean number that waits.
    pub mean: f64,
    /// Its variance.
    pub variance: f64,
    /// The chance that anything waits.
    pub probability: f64,
    /// Mean wait of one more that comes right behind, in order, in seconds.
    pub wait_behind_s: f64,
    /// The chance that all workers are busy then.
    pub full: f64,
}

impl BeforeBlock {
    /// A pool that waits with this probability and this mean, in seconds. What waits is geometric, as in M/M/N, with the
    /// mean that Little's law gives; the busy workers of a pool that is not full are Poisson whatever the service law, as
    /// in a pool without end (B. A. Sevastyanov 1957). `dispersion` is ca² and `scv` cs².
    ///
    /// The pool is stable.
    #[must_use]
    pub fn new(pool: &Pool, probability: f64, wait_mean_s: f64, dispersion: f64, scv: f64) -> Self {
        let conditional = if probability > 0.0 { wait_mean_s / probability } else { 0.0 };
        BeforeBlock {
            workers: pool.workers as f64,
            slack: pool.slack,
            service_mean_s: pool.service_mean_s,
            busy: probability,
            queue: conditional * pool.load / pool.service_mean_s,
            dispersion,
            scv,
            idle: idle(pool, 1.0 - probability),
        }
    }

    /// The backlog right behind a block of so many events.
    #[must_use]
    pub fn backlog(&self, events: u64) -> Backlog {
        let events = events as f64;
        let (mut mean, mut square) = (self.busy * (events + self.queue), 0.0);
        square +=
            self.busy * (events * events + 2.0 * events * self.queue + self.queue * (2.0 * self.queue + 1.0));
        let (mut probability, mut full) = (self.busy, self.busy);
        for &(idle, chance) in &self.idle {
            let left = events - idle;
            if left < 0.0 {
                break;
            }
            full += chance;
            if left > 0.0 {
                (mean, square) = (mean + chance * left, square + chance * left * left);
                probability += chance;
            }
        }
        Backlog {
            mean,
            variance: (square - mean * mean).max(0.0),
            probability: probability.min(1.0),
            wait_behind_s: (mean + full) * self.service_mean_s / self.workers,
            full: full.min(1.0),
        }
    }

    /// Mean and variance, in seconds, of the time until nothing waits any more: the backlog over what the pool serves more
    /// than arrives, and the first passage of a random walk with that drift (D. R. Cox, H. D. Miller, *The Theory of
    /// Stochastic Processes*, 1965, §5.7). The mean is exact for exponential service.
    #[must_use]
    pub fn clearing_s(&self, backlog: &Backlog) -> (f64, f64) {
        let pace = self.service_mean_s / self.slack;
        let load = self.workers - self.slack;
        let spread = (load * self.dispersion + self.workers * self.scv) * self.service_mean_s.recip();
        let walk = backlog.mean * spread * pace.powi(3);
        (backlog.mean * pace, backlog.variance * pace * pace + walk)
    }

    /// The queue length that is not exceeded before the backlog is gone, but with the chance `beyond`. What comes on top of
    /// the backlog is the maximum of a random walk with negative drift: geometric with ρ for M/M/N, and near saturation with
    /// the exponent over (ca² + cs²)/2 (J. F. C. Kingman, "The single server queue in heavy traffic", 1961).
    #[must_use]
    pub fn buffer(&self, events: u64, beyond: f64) -> u64 {
        let utilisation = -(self.slack / self.workers).min(1.0 - f64::EPSILON);
        let variability = f64::midpoint(self.dispersion, self.scv).max(f64::MIN_POSITIVE);
        let top = utilisation.ln_1p() / variability;
        let (mut low, mut high) = (0, 1);
        let exceeds = |length: u64| self.reaches(events as f64, length as f64 + 1.0, top) > beyond;
        while exceeds(high) {
            (low, high) = (high, high * 2);
        }
        if !exceeds(0) {
            return 0;
        }
        while high - low > 1 {
            let middle = u64::midpoint(low, high);
            if exceeds(middle) { low = middle } else { high = middle }
        }
        high
    }

    /// The chance that the queue gets at least as long as `length`; e^`top` is the ratio of the walk's maximum.
    fn reaches(&self, events: f64, length: f64, top: f64) -> f64 {
        let more = length - events;
        let mut chance = self.busy * both_beyond(more, (self.queue / (1.0 + self.queue)).ln(), top);
        for &(idle, state) in &self.idle {
            if idle >= events {
                break;
            }
            chance += state * (top * (more + idle).max(0.0)).exp();
        }
        chance
    }
}

/// P(Q + M ≥ x) of two geometric numbers with the ratios e^q and e^m.
fn both_beyond(x: f64, q: f64, m: f64) -> f64 {
    if x <= 0.0 {
        return 1.0;
    }
    if q == f64::NEG_INFINITY {
        return (m * x).exp();
    }
    // P(Q ≥ x) + Σ P(Q = j)·P(M ≥ x − j), j below x: a geometric sum in e^(q−m).
    let apart = q - m;
    let sum = if (apart * x).abs() < 1e-9 { x } else { (apart * x).exp_m1() / apart.exp_m1() };
    (q * x).exp() - q.exp_m1() * (m * x).exp() * sum
}

/// The idle workers of a pool that is not full, with `weight` in all.
fn idle(pool: &Pool, weight: f64) -> Vec<(f64, f64)> {
    let reach = REACH * pool.load.sqrt() + 60.0;
    let first = (pool.workers - 1).min((pool.load + reach).ceil() as u64);
    let last = (pool.load - reach).floor().max(0.0) as u64;
    let (mut state, mut states) = (1.0, Vec::new());
    for busy in (last.min(first)..=first).rev() {
        states.push(((pool.workers - busy) as f64, state));
        state *= busy as f64 / pool.load;
    }
    let all: f64 = states.iter().map(|(_, state)| state).sum();
    states.iter_mut().for_each(|(_, state)| *state *= weight / all);
    states
}

/// The lower and the upper end of the time in which a backlog clears, between which a share `confidence` lies: the quantiles
/// of the first passage of a Brownian motion, the inverse Gaussian law (E. Schrödinger 1915; R. S. Chhikara, J. L. Folks,
/// *The Inverse Gaussian Distribution*, 1989).
#[must_use]
pub fn passage_interval(mean: f64, variance: f64, confidence: f64) -> [f64; 2] {
    if mean <= 0.0 || variance <= 0.0 {
        return [mean, mean];
    }
    let shape = mean * mean * mean / variance;
    let quantile = |share: f64| {
        let (mut low, mut high) = (0.0, mean);
        while passed(high, mean, shape) < share {
            (low, high) = (high, high * 2.0);
        }
        while high - low > 1e-9 * high {
            let middle = f64::midpoint(low, high);
            if middle <= low || middle >= high {
                break;
            }
            if passed(middle, mean, shape) < share { low = middle } else { high = middle }
        }
        high
    };
    let tail = (1.0 - confidence) / 2.0;
    [quantile(tail), quantile(1.0 - tail)]
}

/// The distribution function of the inverse Gaussian law.
fn passed(time: f64, mean: f64, shape: f64) -> f64 {
    /// Beyond this the second term is far below the first and its parts leave the range of a float.
    const FAR: f64 = 300.0;
    let below = |z: f64| 0.5 * statrs::function::erf::erfc(-z / std::f64::consts::SQRT_2);
    let root = (shape / time).sqrt();
    let first = below(root * (time / mean - 1.0));
    let exponent = 2.0 * shape / mean;
    let second = if exponent < FAR { exponent.exp() * below(-root * (time / mean + 1.0)) } else { 0.0 };
    (first + second).min(1.0)
}

#[cfg(test)]
mod tests {
    use super::super::erlang::erlang_c;
    use super::*;

    fn markovian(workers: u64, load: f64) -> BeforeBlock {
        let slack = workers as f64 - load;
        let pool = Pool { workers, load, slack, service_mean_s: 1.0 };
        let waiting = erlang_c(workers, load, slack);
        BeforeBlock::new(&pool, waiting, waiting / slack, 1.0, 1.0)
    }

    /// The states of M/M/N one by one, far into the queue.
    fn states(workers: u64, load: f64) -> Vec<f64> {
        let mut states = vec![1.0];
        for n in 1..workers as usize + 4_000 {
            states.push(states[n - 1] * load / (n as u64).min(workers) as f64);
        }
        let all: f64 = states.iter().sum();
        states.into_iter().map(|state| state / all).collect()
    }

    #[test]
    fn a_backlog_is_that_of_the_chain_for_blocks_smaller_and_larger_than_the_idle_workers() {
        for (workers, load) in [(10, 8.0), (10, 9.9), (3, 0.5), (200, 100.0)] {
            let (before, states) = (markovian(workers, load), states(workers, load));
            for events in [1, 3, 9, 10, 50, 110, 1_000] {
                let found = before.backlog(events);
                let over = |of: fn(f64) -> f64| -> f64 {
                    states
                        .iter()
                        .enumerate()
                        .map(|(n, p)| p * of(n as f64 + events as f64 - workers as f64))
                        .sum()
                };
                let mean = over(|left| left.max(0.0));
                let variance = over(|left| left.max(0.0).powi(2)) - mean * mean;
                let full = over(|left| f64::from(left >= 0.0));
                let what = format!("{workers} {load} {events}: {found:?}");
                assert!((found.mean - mean).abs() < 1e-9 * (1.0 + mean), "{what} {mean}");
                assert!((found.variance - variance).abs() < 1e-7 * (1.0 + mean * mean), "{what} {variance}");
                assert!((found.full - full).abs() < 1e-9, "{what} {full}");
            }
        }
    }

    /// The chance that a queue reaches a length before it is empty: the gambler's ruin, from every state of the chain.
    #[test]
    fn a_buffer_holds_as_the_gambler_s_ruin_says() {
        for (workers, load, events) in
            [(10u64, 8.0, 40u64), (10, 9.5, 40), (200, 100.0, 130), (200, 190.0, 5)]
        {
            let (before, states) = (markovian(workers, load), states(workers, load));
            let ratio = load / workers as f64;
            let buffer = before.buffer(events, 0.01);
            let reaches = |length: u64| -> f64 {
                let from = |n: usize| {
                    let left = n as f64 + events as f64 - workers as f64;
                    if left <= 0.0 {
                        0.0
                    } else if left >= length as f64 {
                        1.0
                    } else {
                        (ratio.powf(-left) - 1.0) / (ratio.powi(-(length as i32)) - 1.0)
                    }
                };
                states.iter().enumerate().map(|(n, p)| p * from(n)).sum()
            };
            // The walk may also end at an empty queue, so the bound is on the safe side, by little for a real block.
            assert!(reaches(buffer + 1) <= 0.01 + 1e-9, "{workers} {load}: {buffer}");
            let slack = if events > 20 { 2 } else { 40 };
            assert!(reaches(buffer.saturating_sub(slack)) > 0.01, "{workers} {load}: {buffer}");
        }
        assert_eq!(markovian(1_000, 100.0).buffer(500, 0.01), 0, "the idle workers take it");
    }

    #[test]
    fn the_interval_has_the_moments_and_the_shares_of_the_law() {
        for (mean, variance) in [(1.0, 0.1), (100.0, 40_000.0), (5.0, 1e-4)] {
            let shape = mean * mean * mean / variance;
            let [low, high] = passage_interval(mean, variance, 0.9);
            assert!((passed(low, mean, shape) - 0.05).abs() < 1e-6, "{mean} {low}");
            assert!((passed(high, mean, shape) - 0.95).abs() < 1e-6, "{mean} {high}");
            // E T = ∫ P(T > t) dt.
            let step = mean / 2_000.0;
            let beyond = |k: u32| 1.0 - passed((f64::from(k) + 0.5) * step, mean, shape);
            let found: f64 = (0..400_000).map(|k| beyond(k) * step).sum();
            assert!((found / mean - 1.0).abs() < 1e-3, "{mean}: {found}");
        }
    }

    #[test]
    fn a_pool_of_any_size_has_its_states() {
        for (workers, load) in
            [(1, 0.001), (2_000_000_000, 1e9), (1_000_000_100, 1e9), (100_000_000_000, 1.0)]
        {
            let before = markovian(workers, load);
            let backlog = before.backlog(1_000_000);
            assert!(
                backlog.mean.is_finite() && backlog.variance.is_finite(),
                "{workers} {load}: {backlog:?}"
            );
            assert!((0.0..=1.0).contains(&backlog.probability), "{workers} {load}: {backlog:?}");
            let all: f64 = before.idle.iter().map(|(_, chance)| chance).sum::<f64>() + before.busy;
            assert!((all - 1.0).abs() < 1e-9, "{workers} {load}: {all}");
        }
    }
}
