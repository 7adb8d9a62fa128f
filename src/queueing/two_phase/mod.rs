//! Service times of two exponential phases: the smallest laws that match a mean and a variability, and, above an
//! SCV of 1, a third moment.

mod levels;
mod modes;

use super::Steady;
use levels::Below;
use modes::Modes;

/// A service time with a mean of 1: it begins in the first or the second phase, and goes on from the first phase to
/// the second or ends (D. R. Cox, "A use of complex probabilities in the theory of stochastic processes", 1955).
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct TwoPhase {
    /// The share of services that begin in the first phase; the others begin in the second.
    first_share: f64,
    /// The share of ends of the first phase after which the second follows.
    onward: f64,
    /// 1/mean of each phase.
    rates: [f64; 2],
}

impl TwoPhase {
    /// The mixture of two exponential laws with a mean of 1 and these second and third moments (W. Whitt,
    /// "Approximating a point process by a renewal process, I", Operations Research 30, 1982). `None` where no such
    /// mixture has them: the second moment must exceed 2, and the third 1.5 times the square of the second.
    pub(super) fn hyperexponential(second: f64, third: f64) -> Option<Self> {
        // In the factorial moments mₖ/k! the means are the zeros of an orthogonal polynomial z² + bz + c.
        let (second, third) = (second / 2.0, third / 6.0);
        if second <= 1.0 || third <= second * second {
            return None;
        }
        let b = -(third - second) / (second - 1.0);
        let c = -second - b;
        let long = f64::midpoint(-b, (b * b - 4.0 * c).max(0.0).sqrt());
        let short = c / long;
        let first_share = (long - 1.0) / (long - short);
        (short > 0.0 && long > 1.0).then(|| TwoPhase {
            first_share,
            onward: 0.0,
            rates: [1.0 / short, 1.0 / long],
        })
    }

    /// A law with a mean of 1 and an SCV from ½ (Erlang of two phases) to 1 (exponential): a phase of mean ½, and
    /// after a share of them another (R. Marie, "Calculating equilibrium probabilities for λ(n)/Cₖ/1/N queues",
    /// Performance Evaluation Review 9, 1980).
    pub(super) fn coxian(scv: f64) -> Self {
        TwoPhase { first_share: 1.0, onward: 1.0 / (2.0 * scv), rates: [2.0, 1.0 / scv] }
    }

    /// ∫(1−G(t))² dt: how alike two services are that began at the same moment, from 0 to 1.
    pub(super) fn overlap(&self) -> f64 {
        // The tail is a·e^(−μ₁t) + b·e^(−μ₂t), but for equal rates.
        let [fast, slow] = self.rates;
        if self.onward == 0.0 {
            let (p, q) = (self.first_share, 1.0 - self.first_share);
            return p * p / (2.0 * fast) + q * q / (2.0 * slow) + 2.0 * p * q / (fast + slow);
        }
        if (fast - slow).abs() < 1e-6 * fast {
            // (1 + μt)²e^(−2μt) for two equal phases, with a share that ends early.
            let on = self.onward;
            return 1.0 / (2.0 * fast) + on / (2.0 * fast) + on * on / (4.0 * fast);
        }
        let b = self.onward * fast / (fast - slow);
        let a = 1.0 - b;
        a * a / (2.0 * fast) + b * b / (2.0 * slow) + 2.0 * a * b / (fast + slow)
    }

    /// The rate at which the tail of the wait falls off in the end, in 1/mean service time: N·θ, θ the smaller root
    /// of λ(E e^{θS} − 1) = Nθ (H. C. Tijms, *A First Course in Stochastic Models*, 2003, §9.6).
    pub(super) fn decay(&self, workers: f64, load: f64, slack: f64) -> f64 {
        let [first, second] = self.rates;
        let b = workers * (first + second) - load;
        let c = first * second * slack;
        let theta = 2.0 * c / (b + (b * b - 4.0 * workers * c).max(0.0).sqrt());
        workers * theta
    }

    /// The queue in steady state, exactly (M. F. Neuts, *Matrix-Geometric Solutions in Stochastic Models*, 1981; the
    /// levels below are eliminated one by one, those above are a sum of geometric modes). The cost grows with the
    /// fourth power of the workers: for a few dozen. `slack` is N − a, positive.
    pub(super) fn steady(&self, workers: usize, load: f64, slack: f64) -> Steady {
        let below = Below::new(self, workers, load);
        let modes = Modes::new(self, workers, load, slack);
        let weights = below.matching(&modes);
        let full = modes.at_full(&weights);
        let (mut waiting, mut first, mut second) = (0.0, 0.0, 0.0);
        for (mode, weight) in modes.each().zip(&weights) {
            let share = weight * mode.total / mode.complement;
            waiting += share;
            first += share / mode.decay;
            second += share * 2.0 / (mode.decay * mode.decay);
        }
        let all = waiting + below.total(&full);
        Steady { probability: waiting / all, mean: first / all, mean_square: second / all }
    }
}

#[cfg(test)]
mod tests {
    use super::super::erlang::erlang_c;
    use super::*;

    #[test]
    fn a_mixture_has_the_moments_that_it_was_fitted_to() {
        for (second, third) in [(5.0, 60.0), (57.0, 1e5), (2.1, 6.9), (3.0, 13.6)] {
            let law = TwoPhase::hyperexponential(second, third).unwrap();
            let [short, long] = law.rates.map(f64::recip);
            let p = law.first_share;
            let moment = |k: i32| p * short.powi(k) + (1.0 - p) * long.powi(k);
            for (found, expected) in [(moment(1), 1.0), (2.0 * moment(2), second), (6.0 * moment(3), third)] {
                assert!((found / expected - 1.0).abs() < 1e-9, "{law:?}: {found} {expected}");
            }
        }
        assert_eq!(TwoPhase::hyperexponential(2.0, 6.0), None);
        assert_eq!(TwoPhase::hyperexponential(4.0, 23.9), None);
    }

    #[test]
    fn overlaps_are_those_of_known_laws() {
        // E2 with mean 1: ∫(1+2t)²e^(−4t) dt = 1/4 + 1/4 + 1/8.
        assert!((TwoPhase::coxian(0.5).overlap() - 0.625).abs() < 1e-12);
        assert!((TwoPhase::coxian(1.0).overlap() - 0.5).abs() < 1e-12);
        let below = TwoPhase::coxian(0.5 + 1e-7).overlap();
        assert!((below - 0.625).abs() < 1e-5, "{below}");
    }

    #[test]
    fn exponential_service_in_disguise_waits_as_erlang_c_says() {
        for (workers, load) in [(1, 0.5), (5, 4.75), (20, 12.0), (20, 19.99)] {
            let slack = workers as f64 - load;
            let steady = TwoPhase::coxian(1.0).steady(workers, load, slack);
            let expected = erlang_c(workers as u64, load, slack);
            assert!((steady.probability / expected - 1.0).abs() < 1e-9, "{workers} {load}: {steady:?}");
            assert!((steady.mean * slack / expected - 1.0).abs() < 1e-9, "{workers} {load}");
            assert!((steady.mean_square * slack * slack / (2.0 * expected) - 1.0).abs() < 1e-9);
        }
    }

    #[test]
    fn one_worker_waits_as_pollaczek_and_khinchine_say() {
        for (second, third) in [(5.0, 60.0), (57.0, 1e5)] {
            let steady = TwoPhase::hyperexponential(second, third).unwrap().steady(1, 0.7, 0.3);
            assert!((steady.probability - 0.7).abs() < 1e-10);
            let mean = 0.7 * second / (2.0 * 0.3);
            assert!((steady.mean / mean - 1.0).abs() < 1e-9, "{steady:?}");
            let mean_square = 2.0 * mean * mean + 0.7 * third / (3.0 * 0.3);
            assert!((steady.mean_square / mean_square - 1.0).abs() < 1e-9, "{steady:?}");
        }
    }
}
