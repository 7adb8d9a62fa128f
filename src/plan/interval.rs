//! How sure a measured answer is, in closed form.

use crate::queueing::ServiceLaw;
use crate::sizing::{Basis, Demand, Objective, smallest_workers, smallest_workers_moved};

/// The normal quantile of a two-sided interval at 95% confidence.
const Z: f64 = 1.959_963_984_540_054;

/// The interval of the worker count that the measured sample leaves open, at 95% confidence; `None` where nothing or a
/// single attempt was measured.
///
/// The mean of n attempts is normal around the true one with variance σ²/n (central limit theorem), and the second
/// moment goes along with it by its regression on the mean, `cov(X, X²)/var(X)` (the delta method along the direction
/// that the mean moves; H. Cramér, *Mathematical Methods of Statistics*, 1946, ch. 28). Both ends keep the tail's shape of
/// the whole sample, as replicates of the bootstrap do. What the interval adds to the answer and takes from it is a
/// difference of two answers of the same formula, so that it holds around an answer that another formula gave.
pub(super) fn workers_interval(demand: &Demand, objectives: &[Objective], workers: u64) -> Option<[u64; 2]> {
    let (ServiceLaw::Measured { atoms }, Basis::Measured { attempts }) =
        (&demand.service.law, demand.service.basis)
    else {
        return None;
    };
    if attempts < 2 {
        return None;
    }
    let moment = |power: i32| atoms.iter().map(|&(value, weight)| weight * value.powi(power)).sum::<f64>();
    let mean = demand.service.mean.get();
    let second = mean * mean * (1.0 + demand.service.scv);
    let variance = second - mean * mean;
    if variance <= 0.0 {
        return Some([workers, workers]);
    }
    let slope = (moment(3) - moment(1) * moment(2)) / variance;
    let reach = Z * (variance / attempts as f64).sqrt();
    // No mean lies below the shortest attempt.
    let shortest = atoms.first().map_or(0.0, |&(value, _)| value).max(mean * 1e-3);
    let moved = |by: f64| {
        let moved_mean = (mean + by).max(shortest);
        let moved_second = second + slope * (moved_mean - mean);
        let moved_scv = (moved_second / (moved_mean * moved_mean) - 1.0).max(0.0);
        smallest_workers_moved(demand, objectives, moved_mean, moved_scv)
    };
    let middle = smallest_workers(demand, objectives);
    let (low, high) = (moved(-reach)?, moved(reach)?);
    Some([
        workers.saturating_sub(middle.saturating_sub(low)).max(1),
        workers.saturating_add(high.saturating_sub(middle)),
    ])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::{Attempt, ProfileRecorder, ServiceProfile, Source};
    use crate::sizing::{ArrivalProcess, Question, Sample, ServiceTime};

    fn attempt(duration_ns: u64) -> Attempt<'static> {
        Attempt { duration_ns, weight: 1, failed: false, started_ns: None, group: None }
    }

    /// Attempts of the usual shape: most are fast, and a share runs into a timeout.
    fn profile(attempts: u64) -> ServiceProfile {
        let mut recorder = ProfileRecorder::new(&[]);
        for index in 0..attempts {
            let spread = (index * 7_919) % 100;
            let ns = if index % 25 == 0 { 20_000_000_000 } else { 80_000_000 + spread * 1_500_000 };
            recorder.add(&attempt(ns)).unwrap();
        }
        recorder.finish(Source::default()).unwrap()
    }

    fn objectives() -> Vec<Objective> {
        vec![Objective::MeanWait("0.5".parse().unwrap())]
    }

    fn measured(attempts: u64) -> (Demand, ServiceProfile) {
        let profile = profile(attempts);
        let service = ServiceTime::from_profile(&profile);
        (Demand::new("900".parse().unwrap(), service, ArrivalProcess::Poisson).unwrap(), profile)
    }

    #[test]
    fn the_closed_form_agrees_with_the_bootstrap() {
        for attempts in [500, 5_000, 50_000] {
            let (demand, profile) = measured(attempts);
            let question = Question {
                demand: demand.clone(),
                objectives: objectives(),
                workers: None,
                scenarios: Vec::new(),
                sample: Some(Sample::of(&profile, "95%".parse().unwrap(), 1)),
            };
            let answer = question.answer().sizing.steady;
            let bootstrap = answer.workers_interval.unwrap();
            let closed = workers_interval(&demand, &objectives(), answer.workers).unwrap();
            let width = (bootstrap[1] - bootstrap[0]) as f64;
            for (one, other) in closed.iter().zip(bootstrap) {
                // A thousand replicates know an end of the interval within about a twentieth of its width; the skew
                // of 500 attempts with 20 timeouts among them, which no normal law has, is twice that.
                let apart = one.abs_diff(other) as f64 / width;
                assert!(apart < 0.12, "{attempts}: {closed:?} for {bootstrap:?}");
            }
        }
    }

    #[test]
    fn a_hundred_times_the_attempts_leave_a_tenth_open() {
        let width = |attempts| {
            let (demand, _) = measured(attempts);
            let workers = smallest_workers(&demand, &objectives());
            let [low, high] = workers_interval(&demand, &objectives(), workers).unwrap();
            assert!(low <= workers && workers <= high);
            (high - low) as f64
        };
        let ratio = width(1_000) / width(100_000);
        assert!((9.0..11.0).contains(&ratio), "{ratio}");
    }

    #[test]
    fn nothing_measured_leaves_nothing_to_say_and_equal_attempts_nothing_open() {
        let exponential = Demand::new(
            "5".parse().unwrap(),
            ServiceTime::exponential("1".parse().unwrap()),
            ArrivalProcess::Poisson,
        )
        .unwrap();
        assert_eq!(workers_interval(&exponential, &objectives(), 7), None);
        let mut recorder = ProfileRecorder::new(&[]);
        recorder.add(&attempt(1_000_000_000)).unwrap();
        let once = ServiceTime::from_profile(&recorder.clone().finish(Source::default()).unwrap());
        let once = Demand::new("5".parse().unwrap(), once, ArrivalProcess::Poisson).unwrap();
        assert_eq!(workers_interval(&once, &objectives(), 7), None);
        recorder.add(&attempt(1_000_000_000)).unwrap();
        let twice = ServiceTime::from_profile(&recorder.finish(Source::default()).unwrap());
        let twice = Demand::new("5".parse().unwrap(), twice, ArrivalProcess::Poisson).unwrap();
        assert_eq!(workers_interval(&twice, &objectives(), 7), Some([7, 7]));
    }
}
