//! What a given pool sustains at most.

use super::demand::LARGEST_LOAD;
use super::{Demand, Objective};
use crate::queueing::{Pool, WaitModel, Waiting, staffing};

/// The largest rate, and the largest mean service time, at which a given pool still meets every objective; `None` where a
/// pool that loses what it cannot serve meets them at any.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Sustained {
    /// Attempts a second at the demand's service time.
    pub(super) max_rate_per_s: Option<f64>,
    /// Seconds at the demand's rate; the law is stretched, not changed.
    pub(super) max_mean_s: Option<f64>,
}

impl Sustained {
    pub(super) fn of(demand: &Demand, model: &WaitModel, workers: u64, objectives: &[Objective]) -> Self {
        let (rate, mean_s) = (demand.rate.get(), demand.service.mean.get());
        let holds = |load: f64, service_mean_s: f64, wait: fn(&WaitModel, &Pool) -> Option<Waiting>| {
            let pool = Pool { workers, load, slack: workers as f64 - load, service_mean_s };
            wait(model, &pool)
                .is_some_and(|waiting| objectives.iter().all(|objective| objective.is_met(&pool, &waiting)))
        };
        let most = workers as f64;
        // A load beyond which it surely misses them: its workers, for a pool that serves all that arrives.
        let beyond = |holds: &dyn Fn(f64) -> bool| {
            let mut load = most;
            while model.bounds().is_some() && holds(load) {
                load *= 2.0;
                if load > LARGEST_LOAD as f64 {
                    return None;
                }
            }
            Some(load)
        };
        let at_rate = |rate: f64| holds(rate * mean_s, mean_s, WaitModel::waiting);
        let at_mean = |mean_s: f64| holds(rate * mean_s, mean_s, WaitModel::waiting);
        // The limit formula costs nothing and says where to look.
        let guess = staffing::largest(most, most / 2.0, |load| holds(load, mean_s, WaitModel::roughly));
        let max_rate_per_s = beyond(&|load| at_rate(load / mean_s))
            .map(|load| staffing::largest(load / mean_s, guess / mean_s, at_rate));
        let guess = max_rate_per_s.map_or(guess, |rate| rate * mean_s);
        let max_mean_s = beyond(&|load| at_mean(load / rate))
            .map(|load| staffing::largest(load / rate, guess / rate, at_mean));
        Sustained { max_rate_per_s, max_mean_s }
    }
}
