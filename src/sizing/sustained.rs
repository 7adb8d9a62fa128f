//! What a given pool sustains at most.

use super::{Demand, Objective};
use crate::queueing::{Pool, WaitModel, staffing};

/// The largest rate, and the largest mean service time, at which a given pool still meets every objective.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Sustained {
    /// Attempts a second at the demand's service time.
    pub(super) max_rate_per_s: f64,
    /// Seconds at the demand's rate; the law is stretched, not changed.
    pub(super) max_mean_s: f64,
}

impl Sustained {
    pub(super) fn of(demand: &Demand, model: &WaitModel, workers: u64, objectives: &[Objective]) -> Self {
        let (rate, mean_s) = (demand.rate.get(), demand.service.mean.get());
        let holds = |load: f64, service_mean_s: f64| {
            let pool = Pool { workers, load, slack: workers as f64 - load, service_mean_s };
            model
                .waiting(&pool)
                .is_some_and(|waiting| objectives.iter().all(|objective| objective.is_met(&pool, &waiting)))
        };
        let most = workers as f64;
        Sustained {
            max_rate_per_s: staffing::largest(most / mean_s, |rate| holds(rate * mean_s, mean_s)),
            max_mean_s: staffing::largest(most / rate, |mean_s| holds(rate * mean_s, mean_s)),
        }
    }
}
