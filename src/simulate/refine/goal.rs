//! What a pool must keep, and whether what was simulated keeps it.

use super::super::error::{Error, require, require_positive};
use super::super::interval::{self, Estimate, Student};
use super::super::tally::Tally;

/// What the pool must keep. Several goals hold together; at least one must be given.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Goal {
    /// The mean wait, in seconds, at most.
    pub wait_mean_s: Option<f64>,
    /// The share of attempts that wait, at most.
    pub wait_probability: Option<f64>,
    /// Quantiles of the wait.
    pub wait_quantiles: Vec<QuantileGoal>,
}

/// A quantile of the wait that must not exceed a limit. It is judged by the share of waits beyond the limit, which is a mean
/// and has an interval that holds without a quantile's bias.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct QuantileGoal {
    /// Strictly between 0 and 1.
    pub quantile: f64,
    /// The limit, in seconds.
    pub limit_s: f64,
}

impl Goal {
    pub(super) fn check(&self) -> Result<(), Error> {
        if self.wait_mean_s.is_none() && self.wait_probability.is_none() && self.wait_quantiles.is_empty() {
            return Err(Error::Empty("the list of goals"));
        }
        self.wait_mean_s.map(|limit| require_positive("the limit of the mean wait", limit)).transpose()?;
        let share = |what, value| require(what, value, "a share between 0 and 1", |p| p > 0.0 && p < 1.0);
        self.wait_probability.map(|limit| share("the limit of the wait probability", limit)).transpose()?;
        for goal in &self.wait_quantiles {
            share("a quantile of the wait", goal.quantile)?;
            let time = "a finite time of at least 0 s";
            require("the limit of a quantile", goal.limit_s, time, |limit| limit >= 0.0)?;
        }
        Ok(())
    }

    /// The limits beyond which waits are counted.
    pub(super) fn limits_s(&self) -> Vec<f64> {
        self.wait_quantiles.iter().map(|goal| goal.limit_s).collect()
    }

    /// Every goal's measure with its limit; `None` where nothing was measured.
    pub(super) fn measure(&self, tallies: &[Tally], student: Student) -> Option<Vec<Measure>> {
        let over_entries = |top: &dyn Fn(&Tally) -> f64| {
            let pairs: Vec<(f64, f64)> = tallies.iter().map(|t| (top(t), t.entries as f64)).collect();
            interval::ratio(&pairs, student)
        };
        let mean = self.wait_mean_s.map(|limit| (limit, over_entries(&|tally| tally.wait_sum)));
        let probability =
            self.wait_probability.map(|limit| (limit, over_entries(&|tally| tally.waited as f64)));
        let beyond = self.wait_quantiles.iter().enumerate().map(|(at, goal)| {
            let count = move |tally: &Tally| tally.beyond.get(at).copied().unwrap_or(0) as f64;
            (1.0 - goal.quantile, over_entries(&count))
        });
        let measures = mean.into_iter().chain(probability).chain(beyond);
        measures.map(|(limit, estimate)| Some(Measure { limit, estimate: estimate? })).collect()
    }
}

/// What a goal limits, as simulated.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Measure {
    limit: f64,
    estimate: Estimate,
}

impl Measure {
    pub(super) fn is_kept(&self) -> bool {
        self.estimate.value <= self.limit
    }

    /// Whether the whole interval keeps the limit.
    pub(super) fn is_surely_kept(&self) -> bool {
        self.estimate.interval.is_some_and(|[_, high]| high <= self.limit)
    }

    /// Whether the whole interval lies beyond the limit.
    pub(super) fn is_surely_missed(&self) -> bool {
        self.estimate.interval.is_some_and(|[low, _]| low > self.limit)
    }
}
