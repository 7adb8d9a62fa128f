//! All workers busy: the queue's levels as a sum of geometric modes.
//!
//! Busy workers are independent renewal processes of two phases. A mode that shrinks by a factor w from one queue
//! length to the next therefore splits: with e₁(w) > e₂(w) the eigenvalues of one worker's matrix S + w·s·β, the
//! (N+1)-phase quadratic equation becomes N+1 scalar ones, λ(1−w)/w + j·e₁(w) + (N−j)·e₂(w) = 0 for j = 0…N, each
//! with one root in (0, 1); the phases of a mode are j copies of the first eigenvector and N−j of the second.

use super::super::linear::add;
use super::TwoPhase;

/// Steps towards a root, at most: a dozen are usual, and halvings alone would take as many.
const MOST_STEPS: u32 = 60;

/// One mode.
pub(super) struct Mode {
    /// w, the ratio of a level to the one below it.
    pub(super) factor: f64,
    /// 1 − w.
    pub(super) complement: f64,
    /// The rate at which its part of the wait's tail falls off, λ(1−w)/w.
    pub(super) decay: f64,
    /// The part of each number of services in the first phase.
    pub(super) phases: Vec<f64>,
    /// Their sum.
    pub(super) total: f64,
}

/// Every mode of a full pool.
pub(super) struct Modes(Vec<Mode>);

impl Modes {
    pub(super) fn new(law: &TwoPhase, workers: usize, load: f64, slack: f64) -> Self {
        let mode = |slow: usize| {
            let complement = if slow == workers {
                // Next to 1 near saturation: the closed form keeps what a bisection would round away.
                let decay = law.decay(workers as f64, load, slack);
                decay / (load + decay)
            } else {
                1.0 - root(law, workers, load, slow)
            };
            let factor = 1.0 - complement;
            let worker = Worker::new(law, factor);
            let phases = product(&worker.slow_vector(), slow, &worker.fast_vector(), workers - slow);
            let total = phases.iter().sum();
            Mode { factor, complement, decay: load * complement / factor, phases, total }
        };
        Modes((0..=workers).map(mode).collect())
    }

    pub(super) fn each(&self) -> impl Iterator<Item = &Mode> {
        self.0.iter()
    }

    /// The level with every worker busy and nobody waiting.
    pub(super) fn at_full(&self, weights: &[f64]) -> Vec<f64> {
        let mut level = vec![0.0; self.0.len()];
        for (mode, weight) in self.0.iter().zip(weights) {
            for (sum, phase) in level.iter_mut().zip(&mode.phases) {
                *sum += weight * phase;
            }
        }
        level
    }
}

/// The root of λ(1−w) + w·(j·e₁(w) + (N−j)·e₂(w)), which is λ at w = 0, below 0 at w = 1, and has one root between.
///
/// Found by false position with the weights of Anderson and Björck ("A new high order method of regula falsi type for
/// computing a root of an equation", BIT 13, 1973), which keeps the root between two points and takes about ten steps.
fn root(law: &TwoPhase, workers: usize, load: f64, slow: usize) -> f64 {
    let (j, rest) = (slow as f64, (workers - slow) as f64);
    let value = |w: f64| {
        let worker = Worker::new(law, w);
        load * (1.0 - w) + w * (j * worker.slow + rest * worker.fast)
    };
    let (mut old, mut new) = ((0.0, load), (1.0, value(1.0)));
    for _ in 0..MOST_STEPS {
        let next = new.0 - new.1 * (new.0 - old.0) / (new.1 - old.1);
        // Nothing is left between the two points.
        if next == new.0 || next == old.0 {
            return next;
        }
        let found = (next, value(next));
        if found.1 == 0.0 {
            return next;
        }
        if (found.1 > 0.0) == (new.1 > 0.0) {
            // Twice on one side: the other point's value is made smaller, so that it moves at last.
            let weight = 1.0 - found.1 / new.1;
            old.1 *= if weight > 0.0 { weight } else { 0.5 };
        } else {
            old = new;
        }
        new = found;
    }
    new.0
}

/// One busy worker's matrix S + w·s·β, and its eigenvalues.
struct Worker {
    /// The larger eigenvalue, at most 0.
    slow: f64,
    /// The smaller one.
    fast: f64,
    /// Half the difference of the diagonal, and the root of the discriminant: λ = mean of the diagonal ± root.
    half_difference: f64,
    root: f64,
    /// The entry below the diagonal.
    lower: f64,
    /// The product of the two entries off the diagonal.
    crossed: f64,
}

impl Worker {
    fn new(law: &TwoPhase, w: f64) -> Self {
        let TwoPhase { first_share, onward, rates: [first, second] } = *law;
        let restart = first * (1.0 - onward) * w;
        let upper_left = restart * first_share - first;
        let upper_right = first * onward + restart * (1.0 - first_share);
        let lower = second * w * first_share;
        let lower_right = second * w * (1.0 - first_share) - second;
        let half_difference = (upper_left - lower_right) / 2.0;
        let crossed = upper_right * lower;
        let root = (half_difference * half_difference + crossed).sqrt();
        let fast = f64::midpoint(upper_left, lower_right) - root;
        // The determinant is μ₁μ₂(1−w), whatever the law: no cancellation in the larger eigenvalue.
        let slow = first * second * (1.0 - w) / fast;
        Worker { slow, fast, half_difference, root, lower, crossed }
    }

    /// The left eigenvector of the larger eigenvalue, the second phase first; its entries add up to 1.
    fn slow_vector(&self) -> [f64; 2] {
        let above = self.root + self.half_difference.abs();
        let offset =
            if self.half_difference > 0.0 { self.crossed / above } else { self.root - self.half_difference };
        scaled([offset, self.lower])
    }

    /// The same for the smaller eigenvalue.
    fn fast_vector(&self) -> [f64; 2] {
        let above = self.root + self.half_difference.abs();
        let offset = if self.half_difference < 0.0 {
            -self.crossed / above
        } else {
            -(self.root + self.half_difference)
        };
        scaled([offset, self.lower])
    }
}

fn scaled(vector: [f64; 2]) -> [f64; 2] {
    let size = vector[0].abs() + vector[1].abs();
    vector.map(|entry| entry / size)
}

/// The coefficients of (a₀ + a₁z)ᵏ(b₀ + b₁z)ᵐ, scaled so that their absolute values add up to 1.
fn product(a: &[f64; 2], k: usize, b: &[f64; 2], m: usize) -> Vec<f64> {
    let mut coefficients = vec![0.0; k + m + 1];
    let other = power(b, m);
    for (place, factor) in power(a, k).into_iter().enumerate() {
        add(&mut coefficients[place..=place + m], &other, factor);
    }
    let size: f64 = coefficients.iter().map(|value: &f64| value.abs()).sum();
    coefficients.iter_mut().for_each(|value| *value /= size);
    coefficients
}

/// The coefficients of (a₀ + a₁z)ᵏ.
fn power(a: &[f64; 2], k: usize) -> Vec<f64> {
    let powers = |base: f64| std::iter::successors(Some(1.0), move |power| Some(power * base));
    let mut falling: Vec<f64> = powers(a[0]).take(k + 1).collect();
    falling.reverse();
    let mut binomial = 1.0;
    for (place, (value, power)) in falling.iter_mut().zip(powers(a[1])).enumerate() {
        *value *= power * binomial;
        binomial *= (k - place) as f64 / (place + 1) as f64;
    }
    falling
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// The function changes its sign between the two floats' worth of room on both sides of what is found.
        #[test]
        fn every_root_is_where_the_sign_changes(
            scv in 1.01f64..60.0, third in 1.51f64..20.0, workers in 1usize..24, utilisation in 0.001f64..0.9999
        ) {
            let second = 1.0 + scv;
            let law = TwoPhase::hyperexponential(second, third * second * second);
            let load = utilisation * workers as f64;
            for law in law.into_iter().chain([TwoPhase::coxian(1.0 / scv.min(2.0))]) {
                for slow in 0..workers {
                    let root = root(&law, workers, load, slow);
                    let value = |w: f64| {
                        let worker = Worker::new(&law, w);
                        load * (1.0 - w)
                            + w * (slow as f64 * worker.slow + (workers - slow) as f64 * worker.fast)
                    };
                    let near = 1e-11;
                    prop_assert!(value(root * (1.0 - near)) > 0.0 && value(root * (1.0 + near)) < 0.0, "{slow} {root}");
                }
            }
        }
    }
}
