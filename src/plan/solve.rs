//! From a plan to the answers of every solver.

use super::interval::workers_interval;
use super::outcome::Surge;
use super::pool::{Autoscaling, Place, Plan, Pool, Traffic};
use crate::autoscale::{self, MissingMetric, Replay, Trace, TraceError};
use crate::drain::{self, DrainError};
use crate::{layout, parallel, sizing};
use std::num::NonZeroUsize;

/// A plan with its answers.
#[derive(Clone, Debug, PartialEq)]
pub struct Planned {
    /// Every pool, in the order of the file.
    pub pools: Vec<PlannedPool>,
}

/// One pool with every question that was asked and its answer.
#[derive(Clone, Debug, PartialEq)]
pub struct PlannedPool {
    /// The pool as it was planned.
    pub pool: Pool,
    /// How many workers.
    pub size: (sizing::Question, sizing::Answered),
    /// How many workers each surge needs.
    pub surges: Vec<Surge>,
    /// The closed-form interval of the workers that are needed, at 95% confidence, with a profile.
    pub workers_interval: Option<[u64; 2]>,
    /// What they mean in pods.
    pub layout: (layout::Question, layout::Answered),
    /// How they clear the backlog of the plan.
    pub drain: Option<(drain::Question, drain::Answered)>,
    /// How their number follows the traffic.
    pub autoscale: Option<Replayed>,
}

/// A replay with its outcome.
#[derive(Clone, Debug, PartialEq)]
pub struct Replayed {
    /// What was replayed.
    pub replay: Replay,
    /// What became of it.
    pub outcome: autoscale::Outcome,
}

/// Why a pool of a plan has no answer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("pool {pool}: {reason}")]
pub struct PlanError {
    /// The pool.
    pub pool: String,
    /// Where it stands.
    pub at: Place,
    /// What its solver said.
    pub reason: PlanErrorReason,
}

/// What a solver said.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PlanErrorReason {
    /// The backlog has no answer.
    #[error(transparent)]
    Drain(#[from] DrainError),
    /// The shape of traffic cannot be replayed.
    #[error(transparent)]
    Trace(#[from] TraceError),
    /// The policy goes by something that is not known.
    #[error(transparent)]
    Metric(#[from] MissingMetric),
    /// The layout has no pods, so replicas have no size.
    #[error(
        "its layout leaves no room for a single task, so a replica has no size; say tasks_per_replica in its \
         autoscale table"
    )]
    NoReplicas,
}

impl Plan {
    /// Answers everything that is asked of every pool, several pools at a time.
    ///
    /// # Errors
    /// If a solver refuses its question, with the first pool of the file for which one does.
    pub fn solve(&self, threads: NonZeroUsize) -> Result<Planned, PlanError> {
        let solved = parallel::each(&self.pools, threads, |pool| {
            pool.solve().map_err(|reason| PlanError { pool: pool.name.clone(), at: pool.at, reason })
        });
        Ok(Planned { pools: solved.into_iter().collect::<Result<_, _>>()? })
    }
}

impl Pool {
    fn solve(&self) -> Result<PlannedPool, PlanErrorReason> {
        let size = self.size_question();
        let sized = size.answer();
        let steady = &sized.sizing.steady;
        let workers_interval = workers_interval(&self.demand, &self.objectives, steady.required_workers);
        let layout = self.layout_question(steady.workers);
        let laid_out = layout.answer();
        let drain = match &self.recovery {
            Some(recovery) => {
                let question = self.drain_question(recovery, steady.workers);
                let answered = question.answer()?;
                Some((question, answered))
            }
            None => None,
        };
        let autoscale = match &self.autoscaling {
            Some(autoscaling) => {
                let replay = self.replay(autoscaling, &laid_out.layout)?;
                let outcome = replay.run()?;
                Some(Replayed { replay, outcome })
            }
            None => None,
        };
        Ok(PlannedPool {
            pool: self.clone(),
            surges: self.surges(),
            size: (size, sized),
            workers_interval,
            layout: (layout, laid_out),
            drain,
            autoscale,
        })
    }

    fn replay(&self, autoscaling: &Autoscaling, layout: &layout::Layout) -> Result<Replay, PlanErrorReason> {
        let mean = &self.demand.service.mean;
        let proposed = layout.balanced.as_ref().map(|balanced| balanced.deployment);
        let pod = layout.deployment.or(proposed).map(|deployment| deployment.tasks_per_pod());
        let trace = match &autoscaling.traffic {
            Traffic::Trace(trace) => trace.clone(),
            Traffic::Shape(shape) => Trace::built_in(*shape, &self.demand.rate, mean)?,
        };
        Ok(Replay {
            trace,
            mean: mean.clone(),
            tasks_per_replica: autoscaling.tasks_per_replica.or(pod).ok_or(PlanErrorReason::NoReplicas)?,
            initial: None,
            policy: autoscaling.policy.clone(),
            compared: Vec::new(),
            interval_s: autoscaling.interval_s,
            start_delay_s: autoscaling.start_delay_s,
            lease_s: autoscaling.lease_s,
            objective: autoscaling.objective.clone(),
            cpu_per_attempt: self.deployed.cpu_per_attempt.clone(),
            vcpu_per_replica: autoscaling.vcpu_per_replica,
            downstream: autoscaling.downstream.clone(),
        })
    }
}

impl PlannedPool {
    /// The workers that are judged: those deployed, where the plan says so, otherwise those that are needed.
    #[must_use]
    pub fn workers(&self) -> u64 {
        self.size.1.sizing.steady.workers
    }

    /// The smallest number of workers that meets every objective.
    #[must_use]
    pub fn required_workers(&self) -> u64 {
        self.size.1.sizing.steady.required_workers
    }

    /// The surge that needs the most workers, if there is one.
    #[must_use]
    pub fn largest_surge(&self) -> Option<&Surge> {
        self.surges.iter().max_by_key(|surge| surge.workers)
    }

    /// The replicas that a surge needs; `None` without replicas that follow the traffic.
    #[must_use]
    pub fn replicas_in(&self, surge: &Surge) -> Option<u64> {
        let replay = &self.autoscale.as_ref()?.replay;
        Some(surge.workers.div_ceil(replay.tasks_per_replica.max(1)))
    }

    /// The replicas that the largest surge needs, and those that may run; `None` without a surge or without replicas that
    /// follow the traffic.
    #[must_use]
    pub fn surge_replicas(&self) -> Option<(u64, u64)> {
        let replay = &self.autoscale.as_ref()?.replay;
        Some((self.replicas_in(self.largest_surge()?)?, replay.policy.controller.bounds.maximum))
    }

    /// Whether the objectives are met: by the deployed workers where the plan says how many, in every surge by them or by
    /// the replicas that may run.
    #[must_use]
    pub fn meets_objectives(&self) -> bool {
        let sizing = &self.size.1.sizing;
        let surges_fit = self.surge_replicas().is_none_or(|(needed, maximum)| needed <= maximum);
        let is_given = self.size.0.workers.is_some();
        surges_fit && if is_given { sizing.holds_throughout() } else { sizing.steady.meets_objective }
    }

    /// Whether every answer is yes: the objectives are met, the layout keeps its limits, the backlog is cleared in time,
    /// and the replayed traffic never waits longer than it may.
    #[must_use]
    pub fn holds(&self) -> bool {
        self.meets_objectives()
            && self.layout.1.layout.holds()
            && self.drain.as_ref().is_none_or(|(_, answered)| answered.plan.holds())
            && self.autoscale.as_ref().is_none_or(|replayed| replayed.outcome.shown.objective_missed_s == 0.0)
    }
}
