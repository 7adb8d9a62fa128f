//! Why a pool needs more workers than it did.

use crate::plan::{Figures, Pool};
use crate::sizing::{ArrivalProcess, Demand, ServiceTime, smallest_workers};
use crate::units::{ArrivalRate, Seconds, human};

/// What changed most of what a pool needs.
#[derive(Clone, Debug, PartialEq)]
pub enum Cause {
    /// More or fewer attempts a second.
    Rate {
        /// Before and now, a second.
        before: f64,
        /// Now.
        now: f64,
    },
    /// Longer or shorter attempts, in seconds.
    Mean {
        /// Before.
        before: f64,
        /// Now.
        now: f64,
    },
    /// Attempts or arrivals that vary more or less, as (ca² + cs²)/2.
    Variability {
        /// Before.
        before: f64,
        /// Now.
        now: f64,
    },
    /// None of these alone: the objectives changed, or the bounds of the queue, which a baseline does not hold.
    Asked,
}

impl Cause {
    /// The change that alone, put into the demand of the baseline, moves the number of workers most.
    #[must_use]
    pub(super) fn of(before: &Figures, now: &Figures, pool: &Pool) -> Self {
        let workers = |rate: f64, mean: f64, variability_of: &Figures| {
            let service = ServiceTime::with_scv(Seconds::from_f64(mean)?, variability_of.service_scv);
            let arrivals = ArrivalProcess::Renewal { scv: variability_of.arrival_scv };
            let demand = Demand::new(ArrivalRate::from_f64(rate)?, service, arrivals).ok()?;
            let demand = demand.bounded(pool.demand.bounds.clone()).ok()?;
            Some(smallest_workers(&demand, &pool.objectives))
        };
        let base = workers(before.rate_per_s, before.service_mean_s, before);
        let moved = |alone: Option<u64>| base.zip(alone).map_or(0, |(base, alone)| base.abs_diff(alone));
        let causes = [
            (
                moved(workers(now.rate_per_s, before.service_mean_s, before)),
                Cause::Rate { before: before.rate_per_s, now: now.rate_per_s },
            ),
            (
                moved(workers(before.rate_per_s, now.service_mean_s, before)),
                Cause::Mean { before: before.service_mean_s, now: now.service_mean_s },
            ),
            (
                moved(workers(before.rate_per_s, before.service_mean_s, now)),
                Cause::Variability { before: variability(before), now: variability(now) },
            ),
        ];
        let most = causes.into_iter().filter(|(moved, _)| *moved > 0).max_by_key(|(moved, _)| *moved);
        most.map_or(Cause::Asked, |(_, cause)| cause)
    }

    /// The cause as a sentence part: `the rate went from 900/s to 1100/s`.
    #[must_use]
    pub fn in_words(&self) -> String {
        match self {
            Cause::Rate { before, now } => {
                format!("the rate went from {} to {}", human::rate(*before), human::rate(*now))
            }
            Cause::Mean { before, now } => format!(
                "the mean service time went from {} to {}",
                human::duration(*before),
                human::duration(*now)
            ),
            Cause::Variability { before, now } => format!(
                "the variability, (arrival SCV + service SCV)/2, went from {} to {}",
                human::significant(*before, 3),
                human::significant(*now, 3)
            ),
            Cause::Asked => {
                "none of rate, mean and variability moves it alone: what is asked for may have changed, the objectives, the \
                 patience or the queue limit"
                    .to_owned()
            }
        }
    }
}

fn variability(figures: &Figures) -> f64 {
    f64::midpoint(figures.arrival_scv, figures.service_scv)
}
