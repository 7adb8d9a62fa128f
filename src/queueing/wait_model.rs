//! The wait of a pool under any service law and any arrivals: one model for every command.

use super::arrival_process::ArrivalProcess;
use super::batch;
use super::bounded::Bounds;
use super::correction::Correction;
use super::erlang::erlang_c;
use super::shape::ServiceShape;
use super::waiting::{Pool, Waiting};
use std::sync::Arc;

/// How a pool waits, beside its load.
///
/// - Poisson arrivals, exponential service: Erlang C, exact.
/// - Poisson arrivals, general service: the exact queue with a service law that has the same first three moments (two
///   below an SCV of 1), carried over from small pools to large ones.
/// - Other arrivals: on top of that the factor of the peakedness in the limit of large pools, and for batches the
///   exact queue with exponential service in place of Erlang C.
/// - Bounds on the wait: the exact queue with Poisson arrivals and exponential service, whatever the shape.
#[derive(Clone, Debug, PartialEq)]
pub struct WaitModel {
    shape: ServiceShape,
    arrivals: ArrivalProcess,
    /// Absent for exponential service, which needs none.
    correction: Option<Arc<Correction>>,
    /// Factors on the probability of a wait and on its mean, from a simulation of one pool.
    calibration: [f64; 2],
    bounds: Option<Bounds>,
}

impl WaitModel {
    /// The model of a service law's shape and of an arrival process.
    #[must_use]
    pub fn new(shape: ServiceShape, arrivals: ArrivalProcess) -> Self {
        let exponential = shape == ServiceShape::EXPONENTIAL;
        let correction = (!exponential).then(|| Arc::new(Correction::new(&shape)));
        WaitModel { shape, arrivals, correction, calibration: [1.0, 1.0], bounds: None }
    }

    /// The model with a wait that is bounded, where it is.
    #[must_use]
    pub fn bounded(self, bounds: Option<Bounds>) -> Self {
        WaitModel { bounds, ..self }
    }

    /// Whether batches with exponential service are solved exactly in such a pool, and not in the limit of large ones.
    #[must_use]
    pub fn solves_batches(&self, pool: &Pool) -> bool {
        matches!(self.arrivals, ArrivalProcess::Batches { size } if batch::is_solved(pool.workers, pool.load, size))
    }

    /// Whether a pool has a steady state: more workers than erlangs, or arrivals that do not all wait to the end.
    #[must_use]
    pub fn has_steady_state(&self, pool: &Pool) -> bool {
        self.bounds.is_some() || pool.is_stable()
    }

    /// What bounds the wait.
    #[must_use]
    pub fn bounds(&self) -> Option<Bounds> {
        self.bounds
    }

    /// Poisson arrivals and exponential service.
    #[must_use]
    pub fn textbook() -> Self {
        WaitModel::new(ServiceShape::EXPONENTIAL, ArrivalProcess::Poisson)
    }

    /// The shape of the service law.
    #[must_use]
    pub fn shape(&self) -> ServiceShape {
        self.shape
    }

    /// (ca² + cs²)/2, by which the mean wait exceeds Erlang C's as the pool saturates.
    #[must_use]
    pub fn variability(&self) -> f64 {
        f64::midpoint(self.arrivals.dispersion(), self.shape.scv)
    }

    /// The wait in steady state; `None` for an unstable pool, whose wait grows without end.
    #[must_use]
    pub fn waiting(&self, pool: &Pool) -> Option<Waiting> {
        if let Some(bounds) = &self.bounds {
            return Some(bounds.waiting(pool));
        }
        if !pool.is_stable() {
            return None;
        }
        let waiting = match &self.correction {
            _ if !self.arrivals.is_poisson() => self.bursty(pool),
            None => pool.markovian(erlang_c(pool.workers, pool.load, pool.slack)),
            Some(correction) => poisson(pool, correction),
        };
        let [probability, mean] = self.calibration;
        Some(if self.calibration == [1.0, 1.0] { waiting } else { waiting.times(probability, mean) })
    }

    /// The model with its waits scaled so that `pool` waits as it was simulated. A pool that cannot be scaled so, since
    /// the formula says that it does not wait at all, leaves the model as it is.
    #[must_use]
    pub fn calibrated(self, pool: &Pool, probability: f64, mean_s: f64) -> Self {
        match self.waiting(pool) {
            Some(formula) if formula.mean_s() > 0.0 && mean_s > 0.0 => {
                let calibration = [probability / formula.probability, mean_s / formula.mean_s()];
                WaitModel { calibration, ..self }
            }
            _ => self,
        }
    }

    /// The same in the limit of large pools, at a cost that does not grow with the load: within a quarter from
    /// five erlangs on for exponential service, and of endless patience. Good for finding where to look, not for an answer.
    #[must_use]
    pub fn roughly(&self, pool: &Pool) -> Option<Waiting> {
        pool.is_stable().then(|| {
            let probability = limit(pool, self.peakedness()).exp();
            pool.scaled(probability, self.variability())
        })
    }

    /// The variance over the mean of the busy workers of a pool without end: 1 + (ca² − 1)·∫(1−G(t))²dt/S
    /// (A. E. Eckberg, "Generalized peakedness of teletraffic processes", ITC 10, 1983).
    fn peakedness(&self) -> f64 {
        1.0 + (self.arrivals.dispersion() - 1.0) * self.overlap()
    }

    fn overlap(&self) -> f64 {
        self.correction.as_ref().map_or(0.5, |correction| correction.overlap())
    }

    /// Arrivals other than Poisson. In the limit of large pools the number of busy workers is normal with the
    /// peakedness as its variance over its mean, which moves P(W>0) (D. L. Jagerman, "Nonstationary blocking in
    /// telephone traffic", Bell System Technical Journal 54, 1975; W. Whitt, "A diffusion approximation for the G/GI/n/m
    /// queue", Operations Research 52, 2004); the conditional wait is that of Erlang C times (ca² + cs²)/2 as the pool
    /// saturates, and shares the correction for the service law.
    fn bursty(&self, pool: &Pool) -> Waiting {
        let dispersion = self.arrivals.dispersion();
        let exponential_peakedness = f64::midpoint(dispersion, 1.0);
        let (mut waiting, mut mean) = match self.arrivals {
            ArrivalProcess::Batches { size } if batch::is_solved(pool.workers, pool.load, size) => {
                batch::steady(pool.workers, pool.load, pool.slack, size)
            }
            _ => in_the_limit(pool, exponential_peakedness),
        };
        if let Some(correction) = &self.correction {
            let [probability, lengthened] = correction.on_erlang_c(pool.workers, pool.load, pool.slack);
            let peaked = (limit(pool, self.peakedness()) - limit(pool, exponential_peakedness)).exp();
            waiting = (waiting * probability * peaked).min(1.0);
            mean *= peaked * (1.0 + (lengthened - 1.0) / exponential_peakedness).max(0.0);
        }
        let conditional = if waiting > 0.0 { mean / waiting } else { 0.0 };
        Waiting::exponential(waiting, conditional * pool.service_mean_s)
    }
}

/// P(W>0) and the mean wait, in units of the mean service time, with exponential service and arrivals of this peakedness:
/// the limit of large pools, with what Erlang C differs from its own limit.
///
/// The difference is mostly the skewness of the number of busy workers, and the more peaked the arrivals are, the less of it
/// lies in the slack of this pool: over the peakedness a pool with a thousand batches under way is within 5% of exact,
/// where the whole of it would leave a hundredth of the wait.
fn in_the_limit(pool: &Pool, peakedness: f64) -> (f64, f64) {
    let poisson = erlang_c(pool.workers, pool.load, pool.slack);
    // Where Erlang C is too small for a float it is its own limit.
    let skew = if poisson > 0.0 { poisson.ln() - limit(pool, 1.0) } else { 0.0 };
    let waiting = (limit(pool, peakedness) + skew / peakedness.max(1.0)).exp().min(1.0);
    (waiting, waiting * peakedness / pool.slack)
}

fn poisson(pool: &Pool, correction: &Correction) -> Waiting {
    let (steady, decay) = correction.steady(pool.workers, pool.load, pool.slack);
    if steady.probability <= 0.0 {
        return pool.markovian(0.0);
    }
    let mean_s = steady.mean / steady.probability * pool.service_mean_s;
    let waiting = Waiting::exponential(steady.probability, mean_s);
    match decay {
        Some(decay) => {
            let spread = steady.mean_square * steady.probability / (2.0 * steady.mean * steady.mean);
            waiting.with_tail(spread, pool.service_mean_s / decay)
        }
        None => waiting,
    }
}

/// The logarithm of P(W>0) in the limit of large pools, 1/(1 + bΦ(b)/φ(b)) with b = (N−a)/√(zN)
/// (S. Halfin, W. Whitt, "Heavy-traffic limits for queues with many exponential servers", Operations Research 29,
/// 1981, with the variance of the busy workers z times theirs).
fn limit(pool: &Pool, peakedness: f64) -> f64 {
    /// Beyond this Φ is 1 and its ratio to φ leaves the range of a float before long.
    const FAR: f64 = 30.0;
    if peakedness <= 0.0 {
        return f64::NEG_INFINITY;
    }
    let b = pool.slack / (peakedness * pool.workers as f64).sqrt();
    let log_density = -b * b / 2.0 - std::f64::consts::TAU.sqrt().ln();
    if b > FAR {
        return log_density - b.ln();
    }
    let below = 1.0 - 0.5 * statrs::function::erf::erfc(b / std::f64::consts::SQRT_2);
    -(b * below / log_density.exp()).ln_1p()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn pool(workers: u64, load: f64) -> Pool {
        Pool { workers, load, slack: workers as f64 - load, service_mean_s: 1.0 }
    }

    fn mean(model: &WaitModel, workers: u64, load: f64) -> f64 {
        model.waiting(&pool(workers, load)).unwrap().mean_s()
    }

    #[test]
    fn one_worker_waits_as_pollaczek_and_khinchine_say() {
        for scv in [0.0, 0.2, 0.5, 0.8, 1.0, 3.0, 50.0] {
            let model = WaitModel::new(ServiceShape::gamma(scv), ArrivalProcess::Poisson);
            let expected = (1.0 + scv) / 2.0 * 0.8 / 0.2;
            assert!((mean(&model, 1, 0.8) / expected - 1.0).abs() < 1e-8, "{scv}");
        }
    }

    #[test]
    fn a_regular_clock_and_constant_service_never_wait() {
        let model = WaitModel::new(ServiceShape::gamma(0.0), ArrivalProcess::Renewal { scv: 0.0 });
        assert!(mean(&model, 10, 9.0) < 1e-9);
    }

    #[test]
    fn the_rough_value_is_near_the_exact_one() {
        for (workers, load) in [(1263, 1260.0), (1331, 1260.0), (101, 100.0), (7, 5.0)] {
            let (model, pool) = (WaitModel::textbook(), pool(workers, load));
            let ratio = model.roughly(&pool).unwrap().probability / model.waiting(&pool).unwrap().probability;
            assert!((0.7..1.3).contains(&ratio), "{workers} {load}: {ratio}");
        }
    }

    #[test]
    fn an_unstable_pool_has_no_wait_to_state() {
        let model = WaitModel::new(ServiceShape::gamma(4.0), ArrivalProcess::Batches { size: 10 });
        assert_eq!(model.waiting(&pool(1260, 1260.0)), None);
        assert_eq!(model.roughly(&pool(10, 1260.0)), None);
    }

    #[test]
    fn a_calibrated_model_waits_as_simulated_and_falls_with_more_workers() {
        let model = WaitModel::new(ServiceShape::gamma(4.0), ArrivalProcess::Poisson).calibrated(
            &pool(105, 100.0),
            0.4,
            0.3,
        );
        let waiting = model.waiting(&pool(105, 100.0)).unwrap();
        assert!((waiting.probability - 0.4).abs() < 1e-12 && (waiting.mean_s() - 0.3).abs() < 1e-12);
        assert!(mean(&model, 106, 100.0) < 0.3);
    }

    /// What batches beyond those that are solved state as their error.
    #[test]
    fn a_thousand_batches_in_the_limit_of_large_pools_are_within_5_percent_of_the_exact_ones() {
        for (load, size) in [(2e3, 2u64), (1e5, 2), (1e4, 10), (1e6, 10), (5e4, 50), (1e6, 1_000)] {
            let spread = (load * f64::midpoint(size as f64, 1.0)).sqrt();
            for slack in [0.05, 0.3, 1.0, 2.0] {
                let pool = pool((load + slack * spread).ceil() as u64, load);
                assert!(batch::is_solved(pool.workers, load, size));
                let exact = batch::steady(pool.workers, load, pool.slack, size);
                let found = in_the_limit(&pool, f64::midpoint(size as f64, 1.0));
                for (found, exact) in [(found.0, exact.0), (found.1, exact.1)] {
                    assert!((found / exact - 1.0).abs() < 0.05, "{load} {size} {slack}: {found} {exact}");
                }
            }
        }
    }

    fn arrivals() -> impl Strategy<Value = ArrivalProcess> {
        prop_oneof![
            Just(ArrivalProcess::Poisson),
            (0.0f64..50.0).prop_map(|scv| ArrivalProcess::Renewal { scv }),
            (1u64..2000).prop_map(|size| ArrivalProcess::Batches { size }),
        ]
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(200))]

        /// Whatever the law, the load and the arrivals: a probability, finite waits that fall with more workers.
        #[test]
        fn every_wait_is_a_number_and_falls_as_workers_are_added(
            scv in prop_oneof![Just(0.0), -4.0f64..6.0].prop_map(|x: f64| if x == 0.0 { 0.0 } else { 10f64.powf(x) }),
            beyond in -2.0f64..5.0,
            arrivals in arrivals(),
            load in (-2.0f64..6.0).prop_map(|x| 10f64.powf(x)),
            slack in (-3.0f64..2.0).prop_map(|x| 10f64.powf(x)),
        ) {
            let shape = ServiceShape { third: ServiceShape::gamma(scv).third + 10f64.powf(beyond), scv };
            let model = WaitModel::new(shape, arrivals);
            let workers = (load + slack * load.sqrt()).ceil() as u64 + 1;
            let fewer = model.waiting(&pool(workers, load)).unwrap();
            let more = model.waiting(&pool(workers + 1, load)).unwrap();
            for waiting in [fewer, more] {
                prop_assert!((0.0..=1.0).contains(&waiting.probability), "{waiting:?}");
                let quantiles = [0.5, 0.95, 0.999].map(|quantile| waiting.quantile_s(quantile));
                prop_assert!(waiting.mean_s().is_finite() && waiting.mean_s() >= 0.0, "{waiting:?}");
                prop_assert!(quantiles.is_sorted() && quantiles[2].is_finite(), "{waiting:?} {quantiles:?}");
            }
            // Bursts of a law beyond what is carried over multiply two factors, one of which rises a little.
            let room = if arrivals.is_poisson() || shape.is_within_reach() { 1e-6 } else { 1e-2 };
            prop_assert!(more.mean_s() <= fewer.mean_s() * (1.0 + room) + 1e-12, "{fewer:?} {more:?}");
        }
    }
}
