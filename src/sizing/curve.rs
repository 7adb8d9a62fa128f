//! The mean wait against the number of workers, for a figure.

use super::solve::Load;
use super::{PoolSize, Question, Rule};

/// Points over the whole range, and more of them close to the load, where the wait is steep.
const EVEN_POINTS: u32 = 80;
const STEEP_POINTS: u32 = 40;

/// The mean wait of each pool size from the smallest stable one on, or the smallest that a rule gives where arrivals can
/// be lost, past every rule of the answer that is near it.
#[derive(Clone, Debug, PartialEq)]
pub struct WaitCurve {
    /// Workers and their mean wait in seconds, fewest workers first.
    pub points: Vec<(u64, f64)>,
    /// Workers and the share of arrivals that they lose; empty where none can be lost.
    pub lost: Vec<(u64, f64)>,
}

impl Question {
    /// The curve on which the steady answer lies.
    #[must_use]
    pub fn wait_curve(&self, answer: &PoolSize) -> WaitCurve {
        let load = Load::new(&self.demand).refined(answer.refined.as_ref());
        // 70% utilisation is far away from the other rules, and would press them into a corner.
        let near = answer.comparison.iter().filter(|row| row.rule != Rule::FixedUtilisation);
        let near: Vec<u64> = near.map(|row| row.workers).filter(|&workers| workers > 0).collect();
        let smallest_stable = answer.smallest_stable_workers;
        let floor = match load.model().bounds() {
            Some(_) => near.iter().copied().fold(smallest_stable, u64::min),
            None => smallest_stable,
        };
        let last = near.into_iter().fold(floor + 1, u64::max);
        let span = last - floor;
        let even = (0..=EVEN_POINTS).map(|step| span as f64 * f64::from(step) / f64::from(EVEN_POINTS));
        let steep =
            (0..=STEEP_POINTS).map(|step| (span as f64).powf(f64::from(step) / f64::from(STEEP_POINTS)));
        let mut workers: Vec<u64> =
            even.chain(steep).map(|beyond| floor + (beyond.round() as u64).min(span)).collect();
        workers.sort_unstable();
        workers.dedup();
        let waits = workers.into_iter().filter_map(|workers| Some((workers, load.waiting(workers)?)));
        let waits: Vec<_> = waits.collect();
        let losing = waits.iter().filter(|(_, waiting)| waiting.losses().is_some());
        WaitCurve {
            lost: losing.map(|(workers, waiting)| (*workers, waiting.lost_share())).collect(),
            points: waits.iter().map(|(workers, waiting)| (*workers, waiting.mean_s())).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{ArrivalProcess, Demand, Objective, ServiceTime};
    use super::*;

    fn question(rate: &str, mean: &str) -> Question {
        Question {
            demand: Demand::new(
                rate.parse().unwrap(),
                ServiceTime::exponential(mean.parse().unwrap()),
                ArrivalProcess::Poisson,
            )
            .unwrap(),
            objectives: vec![Objective::MeanWait("0.5".parse().unwrap())],
            workers: None,
            scenarios: Vec::new(),
            sample: None,
        }
    }

    #[test]
    fn the_curve_falls_from_the_floor_through_the_answer() {
        for (rate, mean) in [("900", "1.4"), ("0.001", "0.1"), ("1M", "10")] {
            let question = question(rate, mean);
            let answer = question.answer().sizing.steady;
            let points = question.wait_curve(&answer).points;
            assert_eq!(points.first().map(|point| point.0), Some(answer.smallest_stable_workers));
            assert!(points.windows(2).all(|pair| pair[0].0 < pair[1].0 && pair[0].1 > pair[1].1), "{rate}");
            assert!(points.len() <= 122, "{}", points.len());
            if rate == "900" {
                let (_, wait) = points.into_iter().find(|point| point.0 == 1263).unwrap();
                assert!((wait - 0.419_460).abs() < 6e-7);
            }
        }
    }
}
