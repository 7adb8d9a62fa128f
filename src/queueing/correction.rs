//! What the shape of the service law makes of Erlang C, for any size of the pool.
//!
//! Two pools with the same scaled slack β = (N−a)/√a differ from their own Erlang C by factors that approach a common
//! limit as the pools grow, smoothly in 1/√N (S. Halfin, W. Whitt 1981 for the scaling; D. Gamarnik, D. Goldberg,
//! "Steady-state GI/G/n queue in the Halfin–Whitt regime", Annals of Applied Probability 23, 2013, for general service).
//! So the exact factors of three small pools, which cost microseconds, give those of every larger one: the polynomial
//! through them in 1/√N is within 0.5% of exact values up to 200 workers at β ≤ 1.5, and within 3% at β = 3.6.

use super::erlang::erlang_c;
use super::shape::ServiceShape;
use super::two_phase::TwoPhase;
use super::{Steady, constant};
use std::sync::OnceLock;

/// The pools that are solved exactly.
const SIZES: [usize; 3] = [5, 10, 20];

/// Beyond this scaled slack next to nobody waits, and the factors are taken as constant.
const MOST_SLACK: f64 = 8.0;

/// Points at which the small pools are solved, beside β = 0, where the factors are known.
const NODES: usize = 20;

/// Below this SCV there is a share of constant service in the stand-in.
const LEAST_TWO_PHASE_SCV: f64 = 0.5;

/// Above 1.5 by this: a mixture of exponential laws cannot have less of a third moment.
pub(super) const LEAST_THIRD: f64 = 1.51;

/// Up to here the factors of the small pools tell those of large ones: with more variability or more of a third moment
/// a small pool seldom holds even one of the long services.
pub(super) const MOST_SCV: f64 = 60.0;
pub(super) const MOST_THIRD: f64 = 20.0;

/// The law that stands in for a shape and that can be solved exactly.
#[derive(Clone, Copy, Debug, PartialEq)]
enum StandIn {
    TwoPhase(TwoPhase),
    /// Between constant service and Erlang of two phases, at this place from 0 to 1.
    LessVariable(f64),
}

/// The factors on Erlang C of P(W>0), of E(W), and of the ratio E(W²|W>0)/2E(W|W>0)², as logarithms.
type Factors = [f64; 3];

/// The correction of Erlang C for one shape of the service law.
#[derive(Debug)]
pub(super) struct Correction {
    stand_in: StandIn,
    /// The factor on the mean wait for variability beyond what stands in, as in a saturated pool.
    excess: f64,
    /// For each node, from the smallest scaled slack on, and each of the small pools: solved when first asked for.
    factors: [OnceLock<[Factors; 3]>; NODES + 1],
}

/// What was solved already makes no difference.
impl PartialEq for Correction {
    fn eq(&self, other: &Self) -> bool {
        self.stand_in == other.stand_in && self.excess == other.excess
    }
}

impl StandIn {
    fn of(shape: &ServiceShape) -> Self {
        if shape.scv <= LEAST_TWO_PHASE_SCV {
            return StandIn::LessVariable(shape.scv / LEAST_TWO_PHASE_SCV);
        }
        let second = 1.0 + shape.scv;
        let third = shape.third.max(LEAST_THIRD) * second * second;
        let mixture = if shape.scv > 1.0 { TwoPhase::hyperexponential(second, third) } else { None };
        StandIn::TwoPhase(mixture.unwrap_or_else(|| TwoPhase::coxian(shape.scv.min(1.0))))
    }

    fn steady(&self, workers: usize, load: f64, slack: f64) -> Steady {
        match self {
            StandIn::TwoPhase(law) => law.steady(workers, load, slack),
            StandIn::LessVariable(place) => {
                let least = constant::steady(workers, load, slack);
                if *place == 0.0 {
                    return least;
                }
                let most = TwoPhase::coxian(LEAST_TWO_PHASE_SCV).steady(workers, load, slack);
                let between = |of: fn(&Steady) -> f64| of(&least) + place * (of(&most) - of(&least));
                Steady {
                    probability: between(|steady| steady.probability),
                    mean: between(|steady| steady.mean),
                    mean_square: between(|steady| steady.mean_square),
                }
            }
        }
    }

    /// The factors of a pool on its own Erlang C.
    fn factors(&self, workers: usize, load: f64, slack: f64) -> Factors {
        let waiting = erlang_c(workers as u64, load, slack);
        let steady = self.steady(workers, load, slack);
        [
            (steady.probability / waiting).ln(),
            (steady.mean * slack / waiting).ln(),
            (steady.mean_square * steady.probability / (2.0 * steady.mean * steady.mean)).ln(),
        ]
    }
}

impl Correction {
    pub(super) fn new(shape: &ServiceShape) -> Self {
        let factors: [OnceLock<[Factors; 3]>; NODES + 1] = Default::default();
        let (scv, third) = (shape.scv.min(MOST_SCV), shape.third.min(MOST_THIRD));
        let saturated = [0.0, f64::midpoint(1.0, scv).ln(), 0.0];
        // The factors of a saturated pool are known, whatever its size.
        let _ = factors[0].set([saturated; 3]);
        let stand_in = StandIn::of(&ServiceShape { scv, third });
        Correction { stand_in, excess: (1.0 + shape.scv) / (1.0 + scv), factors }
    }

    /// The factors of the small pools at a node.
    fn at_node(&self, node: usize) -> &[Factors; 3] {
        self.factors[node].get_or_init(|| {
            let slack = scaled_slack(node as f64 / NODES as f64);
            SIZES.map(|workers| {
                let load = load_with_slack(workers as f64, slack);
                self.stand_in.factors(workers, load, slack * load.sqrt())
            })
        })
    }

    /// ∫(1−G(t))² dt of the law that stands in, in units of its mean: from 0 for a law of rare long services to 1 for
    /// a constant.
    pub(super) fn overlap(&self) -> f64 {
        match &self.stand_in {
            StandIn::TwoPhase(law) => law.overlap(),
            StandIn::LessVariable(place) => {
                1.0 - place * (1.0 - TwoPhase::coxian(LEAST_TWO_PHASE_SCV).overlap())
            }
        }
    }

    /// The factors on Erlang C of P(W>0) and of the mean wait.
    pub(super) fn on_erlang_c(&self, workers: u64, load: f64, slack: f64) -> [f64; 2] {
        let [probability, mean, _] = self.factors(workers, load, slack);
        [probability, mean]
    }

    fn factors(&self, workers: u64, load: f64, slack: f64) -> Factors {
        let logarithms = match usize::try_from(workers) {
            Ok(few) if few < SIZES[0] => self.stand_in.factors(few, load, slack),
            _ => self.extrapolated(workers as f64, slack / load.sqrt()),
        };
        let [probability, mean, spread] = logarithms.map(f64::exp);
        [probability, self.excess * mean, spread]
    }

    /// The queue of `workers` at `load` erlangs with a slack of N − a, with service times of 1, and the rate at which the
    /// wait's tail falls off in the end, where that is known.
    pub(super) fn steady(&self, workers: u64, load: f64, slack: f64) -> (Steady, Option<f64>) {
        let [probability, mean, spread] = self.factors(workers, load, slack);
        let waiting = erlang_c(workers, load, slack);
        let probability = (waiting * probability).min(1.0);
        let mean = waiting / slack * mean;
        let mean_square = if probability > 0.0 { 2.0 * mean * mean / probability * spread } else { 0.0 };
        let decay = match &self.stand_in {
            StandIn::TwoPhase(law) if self.excess == 1.0 => Some(law.decay(workers as f64, load, slack)),
            _ => None,
        };
        (Steady { probability, mean, mean_square }, decay)
    }

    /// The factors at a scaled slack: cubic between the nodes, quadratic in 1/√N over the small pools.
    fn extrapolated(&self, servers: f64, slack: f64) -> Factors {
        let place = place_of(slack.min(MOST_SLACK)) * NODES as f64;
        let first = (place.floor() as usize).saturating_sub(1).min(NODES - 3);
        let around = [first, first + 1, first + 2, first + 3].map(|node| node as f64);
        let by_node = weights(&around, place);
        let by_size = weights(&SIZES.map(|size| (size as f64).sqrt().recip()), servers.sqrt().recip());
        let mut sums = [0.0; 3];
        for (offset, node_weight) in by_node.into_iter().enumerate() {
            for (factors, size_weight) in self.at_node(first + offset).iter().zip(by_size) {
                for (sum, factor) in sums.iter_mut().zip(factors) {
                    *sum += node_weight * size_weight * factor;
                }
            }
        }
        sums
    }
}

/// Nodes lie closer where the slack is small: from 0 to [`MOST_SLACK`] as the place goes from 0 to 1.
fn scaled_slack(place: f64) -> f64 {
    place / (1.0 + 1.0 / MOST_SLACK - place)
}

fn place_of(slack: f64) -> f64 {
    slack * (1.0 + 1.0 / MOST_SLACK) / (1.0 + slack)
}

/// The load at which N workers have the slack β√a: (N − a) = β√a.
fn load_with_slack(workers: f64, slack: f64) -> f64 {
    let root = 2.0 * workers / (slack + (slack * slack + 4.0 * workers).sqrt());
    root * root
}

/// Lagrange's weights of the values at `points` for the polynomial's value at `x`.
fn weights<const N: usize>(points: &[f64; N], x: f64) -> [f64; N] {
    std::array::from_fn(|index| {
        let others = points.iter().enumerate().filter(|(other, _)| *other != index);
        others.map(|(_, point)| (x - point) / (points[index] - point)).product()
    })
}
