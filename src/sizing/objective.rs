//! What a pool must achieve.

use crate::queueing::{Pool, Waiting};
use crate::units::{Exact, Quantile, Ratio, Seconds, Share, human};
use serde::Serialize;

/// One thing that the pool must achieve.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Objective {
    /// The mean wait is at most this.
    MeanWait(Seconds),
    /// A share of arrivals, the quantile, waits at most this.
    WaitQuantile(Quantile, Seconds),
    /// At most this share of arrivals waits at all.
    WaitProbability(Share),
    /// Workers are busy at most this share of their time.
    MaxUtilisation(Share),
    /// The rate can rise by this before the pool is full.
    Headroom(Ratio),
    /// At least β√a workers above the load: the square-root rule as a requirement.
    SquareRoot(Ratio),
    /// At most this share of arrivals gives up or is turned away.
    MaxLost(Share),
}

impl Objective {
    /// A stable name for scripts: `wait`, `wait_quantile_p95`, `max_utilisation`, …
    #[must_use]
    pub fn name(&self) -> String {
        match self {
            Objective::MeanWait(_) => "wait".to_owned(),
            Objective::WaitQuantile(quantile, _) => format!("wait_quantile_{quantile}"),
            Objective::WaitProbability(_) => "wait_probability".to_owned(),
            Objective::MaxUtilisation(_) => "max_utilisation".to_owned(),
            Objective::Headroom(_) => "headroom".to_owned(),
            Objective::SquareRoot(_) => "beta".to_owned(),
            Objective::MaxLost(_) => "max_lost".to_owned(),
        }
    }

    /// The objective in words, as a condition.
    #[must_use]
    pub fn in_words(&self) -> String {
        match self {
            Objective::MeanWait(limit) => format!("mean wait at most {limit}"),
            Objective::WaitQuantile(quantile, limit) => format!("{quantile} wait at most {limit}"),
            Objective::WaitProbability(share) => format!("at most {share} of arrivals wait"),
            Objective::MaxUtilisation(share) => format!("utilisation at most {share}"),
            Objective::MaxLost(share) => format!("at most {share} of arrivals lost"),
            Objective::Headroom(ratio) => format!("rate headroom at least {ratio}"),
            Objective::SquareRoot(beta) => {
                format!("at least {} square roots of the load above it", human::significant(beta.get(), 4))
            }
        }
    }

    /// A limit or an achieved value as a person reads it: a duration, a percentage, or β.
    #[must_use]
    pub fn shown(&self, value: f64) -> String {
        match self {
            Objective::MeanWait(_) | Objective::WaitQuantile(..) => human::duration(value),
            Objective::WaitProbability(_)
            | Objective::MaxUtilisation(_)
            | Objective::Headroom(_)
            | Objective::MaxLost(_) => human::percent(value),
            Objective::SquareRoot(_) => human::significant(value, 4),
        }
    }

    /// What a pool achieves, as a phrase behind "with": `a mean wait of 419 ms`.
    #[must_use]
    pub fn achieved_in_words(&self, achieved: f64) -> String {
        let shown = self.shown(achieved);
        match self {
            Objective::MeanWait(_) => format!("a mean wait of {shown}"),
            Objective::WaitQuantile(quantile, _) => format!("a {quantile} wait of {shown}"),
            Objective::WaitProbability(_) => format!("{shown} of arrivals waiting"),
            Objective::MaxUtilisation(_) => format!("a utilisation of {shown}"),
            Objective::Headroom(_) => format!("a rate headroom of {shown}"),
            Objective::SquareRoot(_) => format!("{shown} square roots of the load above it"),
            Objective::MaxLost(_) => format!("{shown} of arrivals lost"),
        }
    }

    /// The limit as a plain number: seconds, a fraction, or β.
    #[must_use]
    pub fn limit(&self) -> f64 {
        match self {
            Objective::MeanWait(limit) | Objective::WaitQuantile(_, limit) => limit.get(),
            Objective::WaitProbability(share)
            | Objective::MaxUtilisation(share)
            | Objective::MaxLost(share) => share.get(),
            Objective::Headroom(ratio) | Objective::SquareRoot(ratio) => ratio.get(),
        }
    }

    /// What a pool with a steady state achieves, in the unit of [`Objective::limit`].
    #[must_use]
    pub fn achieved(&self, pool: &Pool, waiting: &Waiting) -> f64 {
        match self {
            Objective::MeanWait(_) => waiting.mean_s(),
            Objective::WaitQuantile(quantile, _) => waiting.quantile_s(quantile.get()),
            Objective::WaitProbability(_) => waiting.probability,
            Objective::MaxUtilisation(_) => pool.utilisation() * waiting.served_share(),
            Objective::MaxLost(_) => waiting.lost_share(),
            Objective::Headroom(_) => pool.slack / pool.load,
            Objective::SquareRoot(_) => pool.slack / pool.load.sqrt(),
        }
    }

    /// Whether a pool with this wait meets it; a wait is compared as floats, a ratio likewise.
    #[must_use]
    pub fn is_met(&self, pool: &Pool, waiting: &Waiting) -> bool {
        match self {
            // The tail keeps its precision where the logarithm of a quantile would lose it.
            Objective::WaitQuantile(quantile, limit) => {
                waiting.share_beyond(limit.get()) <= 1.0 - quantile.get()
            }
            Objective::Headroom(_) | Objective::SquareRoot(_) => self.achieved(pool, waiting) >= self.limit(),
            _ => self.achieved(pool, waiting) <= self.limit(),
        }
    }

    /// Whether `workers` carry an exact `load` under this objective, where that is a question of exact
    /// arithmetic alone: no wait enters it, and every arrival is served. `None` for objectives on the wait and on losses.
    #[must_use]
    pub(super) fn is_met_exactly(&self, load: &Exact, workers: u64) -> Option<bool> {
        let workers = Exact::whole(u128::from(workers));
        match self {
            Objective::MaxUtilisation(share) => Some(*load <= &workers * share.exact()),
            Objective::Headroom(ratio) => Some(load * &(&Exact::one() + ratio.exact()) <= workers),
            Objective::SquareRoot(beta) => Some(has_square_root_slack(load, &workers, beta.exact())),
            _ => None,
        }
    }

    /// Whether it limits the wait.
    #[must_use]
    pub fn limits_the_wait(&self) -> bool {
        matches!(self, Objective::MeanWait(_) | Objective::WaitQuantile(..) | Objective::WaitProbability(_))
    }
}

/// N ≥ a + β√a without the root: β²a ≤ (N − a)².
pub(super) fn has_square_root_slack(load: &Exact, workers: &Exact, beta: &Exact) -> bool {
    workers.minus(load).is_some_and(|slack| &beta.power(2) * load <= slack.power(2))
}
