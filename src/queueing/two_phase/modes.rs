//! All workers busy: the queue's levels as a sum of geometric modes.
//!
//! Busy workers are independent renewal processes of two phases. A mode that shrinks by a factor w from one queue
//! length to the next therefore splits: with e₁(w) > e₂(w) the eigenvalues of one worker's matrix S + w·s·β, the
//! (N+1)-phase quadratic equation becomes N+1 scalar ones, λ(1−w)/w + j·e₁(w) + (N−j)·e₂(w) = 0 for j = 0…N, each
//! with one root in (0, 1); the phases of a mode are j copies of the first eigenvector and N−j of the second.

use super::TwoPhase;

/// Halvings of the unit interval that leave nothing of it in a float.
const HALVINGS: u32 = 60;

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

/// The root of λ(1−w)/w + j·e₁(w) + (N−j)·e₂(w), which falls from +∞ to below 0 as w rises from 0 to 1.
fn root(law: &TwoPhase, workers: usize, load: f64, slow: usize) -> f64 {
    let (j, rest) = (slow as f64, (workers - slow) as f64);
    let (mut low, mut high) = (0.0, 1.0);
    for _ in 0..HALVINGS {
        let middle = f64::midpoint(low, high);
        let worker = Worker::new(law, middle);
        if load * (1.0 - middle) / middle + j * worker.slow + rest * worker.fast > 0.0 {
            low = middle;
        } else {
            high = middle;
        }
    }
    f64::midpoint(low, high)
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
    let mut coefficients = vec![1.0];
    for factor in std::iter::repeat_n(a, k).chain(std::iter::repeat_n(b, m)) {
        coefficients.push(0.0);
        for place in (0..coefficients.len()).rev() {
            let carried = if place > 0 { coefficients[place - 1] * factor[1] } else { 0.0 };
            coefficients[place] = coefficients[place] * factor[0] + carried;
        }
    }
    let size: f64 = coefficients.iter().map(|value: &f64| value.abs()).sum();
    coefficients.iter().map(|value| value / size).collect()
}
