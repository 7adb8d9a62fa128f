//! Erlang A: who waits may leave before a worker is free.

use super::super::erlang::inverse_blocking;
use super::super::waiting::{Pool, Waiting};
use super::log_concave::integrals;
use super::{Losses, NEGLIGIBLE, Tail};

/// M/M/N+M in units of the mean service time.
///
/// The wait on offer, which an arrival with endless patience would have, is 0 with some probability, and else has a
/// density proportional to e^(−h(v)), h(v) = Nv − a(1 − e^(−θv))/θ with θ the mean service time over the mean patience
/// (F. Baccelli, G. Hebuterne, "On queues with impatient customers", Performance '81; S. Zeltyn, A. Mandelbaum,
/// "Call centers with impatient customers", Queueing Systems 51, 2005). h is convex, so the density has one peak, and
/// every figure is an integral over it: nothing grows with the load, nothing cancels.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in crate::queueing) struct Impatient {
    workers: f64,
    load: f64,
    slack: f64,
    leaving: f64,
    service_mean_s: f64,
    /// P(W > 0).
    probability: f64,
    /// ∫ e^(h(peak) − h(v)) dv.
    mass: f64,
}

/// h beside a place: h(place + x) − h(place) = slope·x + rate·(x − (1 − e^(−θx))/θ).
struct Beside {
    slope: f64,
    rate: f64,
    leaving: f64,
}

impl Beside {
    fn rise(&self, x: f64) -> f64 {
        self.slope * x + self.rate * excess(self.leaving * x) / self.leaving
    }
}

/// x − (1 − e^(−x)), also where the two nearly cancel.
fn excess(x: f64) -> f64 {
    const SMALL: f64 = 0.1;
    if x.abs() > SMALL {
        return x + (-x).exp_m1();
    }
    let series = (3..=11).rev().fold(1.0, |rest, k| 1.0 - x / f64::from(k) * rest);
    x * x / 2.0 * series
}

/// How a pool waits whose arrivals have an exponential patience.
pub(super) fn waiting(pool: &Pool, patience_s: f64) -> Waiting {
    let leaving = pool.service_mean_s / patience_s;
    let mut queue = Impatient {
        workers: pool.workers as f64,
        load: pool.load,
        slack: pool.slack,
        leaving,
        service_mean_s: pool.service_mean_s,
        probability: 0.0,
        mass: 1.0,
    };
    let peak = queue.peak();
    let beside = queue.beside(peak);
    let weights = |x: f64| {
        let offered = peak + x;
        let stays = (-leaving * offered).exp();
        [1.0, -(-leaving * offered).exp_m1(), stays, offered * stays]
    };
    let [mass, gives_up, stays, stays_waiting] = integrals(|x| beside.rise(x), peak, 1.0 / leaving, weights);
    // Σ π(n) below N over π(N−1) is 1/B(N−1), and ∫ is taken from π(N−1)·a.
    let height = queue.slack * peak + queue.load * excess(leaving * peak) / leaving;
    let before = inverse_blocking(pool.workers - 1, pool.load).ln();
    let at_once_to_waiting = (before - (pool.load * mass).ln() + height).exp();
    let probability = 1.0 / (1.0 + at_once_to_waiting);
    let probability = if probability < NEGLIGIBLE { 0.0 } else { probability };
    (queue.probability, queue.mass) = (probability, mass);
    let at_once = if probability > 0.0 { at_once_to_waiting * probability } else { 1.0 };
    let per_mass = probability / mass;
    let served = at_once + per_mass * stays;
    let abandoned = per_mass * gives_up;
    let conditional_mean_s = if probability > 0.0 { gives_up / mass * patience_s } else { 0.0 };
    Waiting::losing(
        probability,
        conditional_mean_s,
        Losses {
            abandoned,
            turned_away: 0.0,
            served: served.min(1.0),
            served_wait_mean_s: per_mass * stays_waiting / served * pool.service_mean_s,
            tail: Tail::Impatient(queue),
        },
    )
}

impl Impatient {
    /// Where the density is highest: 0 unless more arrive than can be served.
    fn peak(&self) -> f64 {
        if self.slack < 0.0 { -(self.slack / self.load).ln_1p() / self.leaving } else { 0.0 }
    }

    /// h beside a place at or beyond the peak; with the exact slack, so that its slope does not cancel.
    fn beside(&self, place: f64) -> Beside {
        let leaving = self.leaving;
        let (rate, slope) = if self.slack < 0.0 {
            let beyond = leaving * (place - self.peak());
            (self.workers * (-beyond).exp(), -self.workers * (-beyond).exp_m1())
        } else {
            (self.load * (-leaving * place).exp(), self.slack - self.load * (-leaving * place).exp_m1())
        };
        Beside { slope, rate, leaving }
    }

    /// P(W > t): still on offer after t, and still there.
    pub(super) fn share_beyond(&self, seconds: f64) -> f64 {
        if self.probability <= 0.0 {
            return 0.0;
        }
        let (time, peak) = (seconds / self.service_mean_s, self.peak());
        let place = time.max(peak);
        let [mass] = {
            let beside = self.beside(place);
            integrals(|x| beside.rise(x), place - time, 1.0 / self.leaving, |_| [1.0])
        };
        let fallen = self.beside(peak).rise(place - peak) + self.leaving * time;
        (self.probability * mass / self.mass * (-fallen).exp()).min(self.probability)
    }
}
