//! The states of a pool with so many places to wait, one by one, with patience or without.

use super::super::erlang::inverse_blocking;
use super::super::waiting::{Pool, Waiting};
use super::{Losses, NEGLIGIBLE, Tail};

/// Above this the running terms are scaled down; the product of two of them is still a float.
const LARGE: f64 = 1e140;

/// M/M/c/K with an exponential patience, in units of the mean service time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in crate::queueing) struct Chain {
    workers: f64,
    load: f64,
    /// Mean service time over mean patience; 0 without impatience.
    leaving: f64,
    places: u64,
    service_mean_s: f64,
    /// P(W > 0) of those that are admitted.
    probability: f64,
}

/// How a pool waits with an exponential patience and so many places: the birth–death chain of the number in the system,
/// which leaves state N + j at the rate N + jθ (C. Palm 1957; W. J. Stewart, *Probability, Markov Chains, Queues, and
/// Simulation*, 2009, §12.4). One step a place, at most; it ends where the states have no weight any more.
pub(super) fn waiting(pool: &Pool, patience_s: f64, places: u64) -> Waiting {
    let leaving = pool.service_mean_s / patience_s;
    let workers = pool.workers as f64;
    let mut free = inverse_blocking(pool.workers - 1, pool.load) * workers / pool.load;
    let mut sums = Sums { state: 1.0, ..Sums::default() };
    // Of one who finds j waiting: the mean time until those are gone and a worker is free.
    let mut offered = 0.0;
    for j in 0..places {
        let rate = workers + (j + 1) as f64 * leaving;
        offered += 1.0 / rate;
        let stays = workers / rate;
        sums.waits += sums.state;
        sums.served += sums.state * stays;
        sums.served_wait += sums.state * stays * offered;
        sums.queue += (j + 1) as f64 * sums.state * pool.load / rate;
        let ratio = pool.load / rate;
        sums.state *= ratio;
        if ratio < 1.0 && sums.state * ((j + 2) as f64) < f64::EPSILON / 8.0 * (1.0 - ratio) * sums.queue {
            sums.state *= ratios(pool.load, workers, leaving, j + 1..places);
            break;
        }
        if sums.waits > LARGE || sums.queue > LARGE {
            sums = sums.times(LARGE.recip());
            free *= LARGE.recip();
        }
    }
    let admitted = free + sums.waits;
    let all = admitted + sums.state;
    let share = |sum: f64| if sum / all < NEGLIGIBLE { 0.0 } else { sum / all };
    let probability = if share(sums.waits) > 0.0 { sums.waits / admitted } else { 0.0 };
    let (abandoned, turned_away) = (leaving * share(sums.queue) / pool.load, share(sums.state));
    // What waits is Little's law over those that are admitted.
    let conditional_mean_s = if probability > 0.0 { sums.queue / sums.waits / pool.load } else { 0.0 };
    let served = if free.is_finite() { (free + sums.served) / all } else { 1.0 };
    Waiting::losing(
        probability,
        conditional_mean_s * pool.service_mean_s,
        Losses {
            abandoned,
            turned_away,
            served,
            served_wait_mean_s: share(sums.served_wait) / served * pool.service_mean_s,
            tail: Tail::Chain(Chain::new(pool, leaving, places, probability)),
        },
    )
}

/// The product of the ratios of neighbouring states, where it is any number at all.
fn ratios(load: f64, workers: f64, leaving: f64, places: std::ops::Range<u64>) -> f64 {
    let mut product = 1.0;
    for j in places {
        product *= load / (workers + (j + 1) as f64 * leaving);
        if product < NEGLIGIBLE {
            return 0.0;
        }
    }
    product
}

/// Sums over the states of a full pool, each weighed by its probability over that of the first of them.
#[derive(Clone, Copy, Default)]
struct Sums {
    /// The weight of the state at hand.
    state: f64,
    /// Of those in which an arrival waits.
    waits: f64,
    /// The same with the chance that it stays until it is served.
    served: f64,
    /// The same with its wait.
    served_wait: f64,
    /// The number that waits.
    queue: f64,
}

impl Sums {
    fn times(self, factor: f64) -> Self {
        Sums {
            state: self.state * factor,
            waits: self.waits * factor,
            served: self.served * factor,
            served_wait: self.served_wait * factor,
            queue: self.queue * factor,
        }
    }
}

impl Chain {
    pub(super) fn new(pool: &Pool, leaving: f64, places: u64, probability: f64) -> Self {
        Chain {
            workers: pool.workers as f64,
            load: pool.load,
            leaving,
            places,
            service_mean_s: pool.service_mean_s,
            probability,
        }
    }

    /// P(W > t). Of one who finds j waiting the wait on offer is a sum of exponential times with the rates N + kθ, k from
    /// 0 to j. It is longer than t if at most j of a pure death process that begins with j + 1 are gone by then: a sum of
    /// positive terms, which goes up with j together with the states themselves. Without impatience they are Poisson's.
    pub(super) fn share_beyond(&self, seconds: f64) -> f64 {
        if self.probability <= 0.0 {
            return 0.0;
        }
        let time = seconds / self.service_mean_s;
        let gone = if self.leaving > 0.0 { -(-self.leaving * time).exp_m1() / self.leaving } else { time };
        let (mut state, mut states) = (1.0, 0.0);
        // Scaled by e^(−log).
        let (mut term, mut late, mut log) = (1.0_f64, 1.0_f64, -self.workers * time);
        let mut sum = 0.0;
        for j in 0..self.places {
            states += state;
            sum += state * late;
            let next = (j + 1) as f64;
            let ratio = self.load / (self.workers + next * self.leaving);
            state *= ratio;
            term *= gone * (self.workers + j as f64 * self.leaving) / next;
            let growth = 1.0 + term / late;
            late += term;
            // Both go on as less than a geometric series.
            let product = ratio * growth;
            if product < 1.0
                && state < f64::EPSILON / 8.0 * states * (1.0 - ratio)
                && state * late < f64::EPSILON / 8.0 * sum * (1.0 - product)
            {
                break;
            }
            if late > LARGE {
                (term, late, sum) = (term / LARGE, late / LARGE, sum / LARGE);
                log += LARGE.ln();
            }
            if states > LARGE {
                (state, states, sum) = (state / LARGE, states / LARGE, sum / LARGE);
            }
        }
        let conditional = ((sum / states).ln() + log - self.leaving * time).exp();
        self.probability * conditional.min(1.0)
    }
}
