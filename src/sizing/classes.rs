//! Waits of urgent arrivals and of the others, where the urgent go first.

use super::solve::Load;
use super::{PoolSize, Question};
use crate::queueing::priority;
use crate::units::{Exact, Share};
use schemars::JsonSchema;
use serde::Serialize;

/// One priority class of the steady traffic.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct ClassWait {
    /// `urgent` or `others`.
    pub name: String,
    /// Attempts a second.
    pub rate_per_s: f64,
    /// Mean wait in seconds; absent for a class whose queue grows without end.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wait_mean_s: Option<f64>,
}

impl Question {
    /// The classes of the steady traffic, the urgent first, in the pool of its `answer`. Objectives are about both together.
    #[must_use]
    pub fn classes(&self, answer: &PoolSize, urgent: &Share) -> Vec<ClassWait> {
        let rate = self.demand.rate.get();
        let (load, workers) = (self.demand.load(), Exact::whole(answer.workers.into()));
        let by_urgent = &load * urgent.exact();
        let waits = self.waits_by_class(answer, urgent.get(), &workers, &by_urgent);
        let names = [("urgent", urgent.get()), ("others", 1.0 - urgent.get())];
        let class = |((name, share), wait_mean_s): ((&str, f64), _)| ClassWait {
            name: name.to_owned(),
            rate_per_s: rate * share,
            wait_mean_s,
        };
        names.into_iter().zip(waits).map(class).collect()
    }

    fn waits_by_class(
        &self,
        answer: &PoolSize,
        share: f64,
        workers: &Exact,
        by_urgent: &Exact,
    ) -> [Option<f64>; 2] {
        if by_urgent >= workers {
            return [None, None];
        }
        let pool = Load::new(&self.demand).pool(answer.workers);
        let past_s = priority::wait_where_all_are_busy_s(self.demand.wait_model(), &pool, by_urgent.to_f64());
        // Without a steady state the others wait without end and keep every worker busy; the urgent pass them.
        match (answer.state.wait_probability, answer.state.wait_mean_s) {
            (Some(probability), Some(wait_s)) => {
                let urgent_s = probability * past_s;
                [Some(urgent_s), Some(priority::wait_of_others(wait_s, urgent_s, share))]
            }
            _ => [Some(past_s), None],
        }
    }
}
