//! The inverse: from a demand and objectives to the smallest pool.

use super::objective::has_square_root_slack;
use super::{Demand, Objective, Refinement, ServiceTime};
use crate::queueing::{ArrivalProcess, Bounds, Pool, ServiceShape, WaitModel, Waiting, staffing};
use crate::units::{Exact, Seconds};
use schemars::JsonSchema;
use serde::Serialize;

/// More workers than any answer needs: the largest load, a thousand times over.
const CEILING: u64 = 10_000_000_000_000;

/// Which formula the waits come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub enum Model {
    /// Poisson arrivals and exponential service: exact.
    #[serde(rename = "M/M/N (Erlang C)")]
    ErlangC,
    /// Poisson arrivals and service more variable than exponential, by its first three moments.
    #[serde(rename = "M/H2/N (three moments)")]
    ThreeMoments,
    /// Poisson arrivals and service less variable than exponential, by its first two moments.
    #[serde(rename = "M/G/N (two moments)")]
    TwoMoments,
    /// Arrivals one by one that are more or less even than Poisson, by their variability.
    #[serde(rename = "G/G/N (peakedness)")]
    GeneralArrivals,
    /// Arrivals in batches.
    #[serde(rename = "MX/G/N (batches)")]
    Batches,
    /// Poisson arrivals with an exponential patience, exponential service.
    #[serde(rename = "M/M/N+M (Erlang A)")]
    ErlangA,
    /// Poisson arrivals, exponential service, so many places to wait.
    #[serde(rename = "M/M/c/K (finite queue)")]
    FiniteQueue,
    /// Both: an exponential patience, and so many places to wait.
    #[serde(rename = "M/M/c/K+M (finite queue, impatient)")]
    FiniteImpatient,
}

impl Model {
    /// The model that a demand calls for.
    #[must_use]
    pub fn of(demand: &Demand) -> Self {
        match demand.bounds.of_the_wait() {
            None => Model::unbounded(demand),
            Some(Bounds::Patience { .. }) => Model::ErlangA,
            Some(Bounds::Places { .. }) => Model::FiniteQueue,
            Some(Bounds::Both { .. }) => Model::FiniteImpatient,
        }
    }

    fn unbounded(demand: &Demand) -> Self {
        match demand.arrivals {
            ArrivalProcess::Batches { size } if size > 1 => Model::Batches,
            ArrivalProcess::Renewal { scv } if scv != 1.0 => Model::GeneralArrivals,
            _ if demand.shape() == ServiceShape::EXPONENTIAL => Model::ErlangC,
            _ if demand.service.scv > 1.0 => Model::ThreeMoments,
            _ => Model::TwoMoments,
        }
    }
}

/// The smallest pool with a steady state that carries a demand within every objective: the number alone, where many are
/// asked for.
#[must_use]
pub fn smallest_workers(demand: &Demand, objectives: &[Objective]) -> u64 {
    Load::new(demand).smallest_for_all(objectives)
}

/// [`smallest_workers`] of a demand whose service time has another mean, in seconds, and another SCV; `None` beyond what is
/// answered at all.
#[must_use]
pub fn smallest_workers_moved(
    demand: &Demand,
    objectives: &[Objective],
    mean_s: f64,
    scv: f64,
) -> Option<u64> {
    Some(Load::moved(demand, mean_s, scv)?.smallest_for_all(objectives))
}

/// An exact load with the numbers that the waits need beside it.
#[derive(Clone, Debug)]
pub(super) struct Load {
    pub(super) erlangs: Exact,
    service_mean_s: f64,
    model: WaitModel,
}

impl Load {
    pub(super) fn new(demand: &Demand) -> Self {
        Load::with_model(demand, demand.wait_model().clone())
    }

    /// The load of a demand whose service time has another mean, in seconds, and another SCV. The tail keeps its shape:
    /// a third moment varies too much from sample to sample to follow it. `None` beyond what is answered at all.
    pub(super) fn moved(demand: &Demand, mean_s: f64, scv: f64) -> Option<Self> {
        let service = ServiceTime::with_scv(Seconds::from_f64(mean_s)?, scv);
        let moved = Demand::new(demand.rate.clone(), service, demand.arrivals).ok()?;
        let shape = ServiceShape { scv, third: demand.shape().third };
        let model = WaitModel::new(shape, demand.arrivals).bounded(demand.bounds.of_the_wait());
        Some(Load::with_model(&moved, model))
    }

    fn with_model(demand: &Demand, model: WaitModel) -> Self {
        Load { erlangs: demand.load(), service_mean_s: demand.service.mean.get(), model }
    }

    /// The load with waits as a simulation of one pool found them.
    pub(super) fn refined(mut self, refinement: Option<&Refinement>) -> Self {
        if let Some(refined) = refinement {
            let pool = self.pool(refined.workers);
            self.model = self.model.calibrated(&pool, refined.wait_probability, refined.wait_mean_s);
        }
        self
    }

    /// The same load as a textbook sees it: Poisson arrivals, exponential service, endless patience and room.
    pub(super) fn textbook(&self) -> Self {
        Load { model: WaitModel::textbook(), ..self.clone() }
    }

    /// `workers` under this load, with the slack from exact arithmetic.
    pub(super) fn pool(&self, workers: u64) -> Pool {
        let available = Exact::whole(u128::from(workers));
        let slack = match available.minus(&self.erlangs) {
            Some(slack) => slack.to_f64(),
            None => -self.erlangs.minus(&available).unwrap_or_else(Exact::zero).to_f64(),
        };
        Pool { workers, load: self.erlangs.to_f64(), slack, service_mean_s: self.service_mean_s }
    }

    pub(super) fn model(&self) -> &WaitModel {
        &self.model
    }

    /// How `workers` wait under this load; `None` where they cannot carry it.
    pub(super) fn waiting(&self, workers: u64) -> Option<Waiting> {
        self.model.waiting(&self.pool(workers))
    }

    /// The share of time that a worker is busy, with what is lost left out; above 1 for a pool that cannot keep up.
    pub(super) fn utilisation(&self, workers: u64, waiting: Option<&Waiting>) -> f64 {
        let offered = self.pool(workers).utilisation();
        // What is served keeps nobody busier than all the time; its rounding must not say so.
        waiting
            .filter(|waiting| waiting.losses().is_some())
            .map_or(offered, |waiting| (offered * waiting.served_share()).min(1.0))
    }

    /// The smallest pool that keeps up with all that arrives: ⌊a⌋ + 1.
    pub(super) fn smallest_stable(&self) -> u64 {
        self.erlangs.floor().map_or(CEILING, |whole| whole + 1)
    }

    /// The smallest pool that has a steady state: one worker where arrivals that cannot be served are lost.
    pub(super) fn floor(&self) -> u64 {
        if self.model.bounds().is_some() { 1 } else { self.smallest_stable() }
    }

    /// Whether `workers` have a steady state under this load.
    pub(super) fn has_steady_state(&self, workers: u64) -> bool {
        self.model.has_steady_state(&self.pool(workers))
    }

    /// Whether `workers` meet an objective, where exact arithmetic decides it.
    fn is_met_exactly(&self, workers: u64, objective: &Objective) -> Option<bool> {
        match objective {
            // Not all that arrives keeps workers busy.
            Objective::MaxUtilisation(_) if self.model.bounds().is_some() => None,
            _ => objective.is_met_exactly(&self.erlangs, workers),
        }
    }

    /// The smallest pool with a steady state that meets one objective.
    pub(super) fn smallest_for(&self, objective: &Objective) -> u64 {
        if self.is_met_exactly(1, objective).is_some() {
            return self.smallest_by_load(objective);
        }
        // The limit formula costs nothing and lands within a few workers; the exact one settles the rest.
        self.search(self.roughly_smallest_for(objective), objective, WaitModel::waiting)
    }

    /// The same for an objective on the wait, with waits by the limit formula.
    fn roughly_smallest_for(&self, objective: &Objective) -> u64 {
        self.search(self.square_root(&Exact::thousandths(1_500)), objective, WaitModel::roughly)
    }

    /// The same for an objective that only compares the load with the workers: exact.
    fn smallest_by_load(&self, objective: &Objective) -> u64 {
        let floor = self.floor();
        let met = |workers| self.is_met_exactly(workers, objective) != Some(false);
        staffing::smallest(floor, CEILING, floor, met).unwrap_or(CEILING)
    }

    fn search(
        &self,
        guess: u64,
        objective: &Objective,
        wait: fn(&WaitModel, &Pool) -> Option<Waiting>,
    ) -> u64 {
        let meets = |workers| {
            let pool = self.pool(workers);
            wait(&self.model, &pool).is_some_and(|waiting| objective.is_met(&pool, &waiting))
        };
        staffing::smallest(self.floor(), CEILING, guess, meets).unwrap_or(CEILING)
    }

    /// The smallest pool with a steady state that meets all of them.
    pub(super) fn smallest_for_all(&self, objectives: &[Objective]) -> u64 {
        objectives.iter().map(|objective| self.smallest_for(objective)).fold(self.floor(), u64::max)
    }

    /// [`Load::smallest_for_all`] with waits by the limit formula.
    pub(super) fn roughly_smallest_for_all(&self, objectives: &[Objective]) -> u64 {
        let rough = objectives.iter().map(|objective| {
            if self.is_met_exactly(1, objective).is_some() {
                self.smallest_by_load(objective)
            } else {
                self.roughly_smallest_for(objective)
            }
        });
        rough.fold(self.smallest_stable(), u64::max)
    }

    /// Whether a given pool meets an objective.
    pub(super) fn is_met_by(&self, workers: u64, objective: &Objective) -> bool {
        let pool = self.pool(workers);
        self.has_steady_state(workers)
            && self
                .is_met_exactly(workers, objective)
                .or_else(|| self.model.waiting(&pool).map(|waiting| objective.is_met(&pool, &waiting)))
                .unwrap_or(false)
    }

    /// Square-root staffing: the smallest stable N with N ≥ a + β√a.
    pub(super) fn square_root(&self, beta: &Exact) -> u64 {
        let load = self.erlangs.to_f64();
        let guess = (load + beta.to_f64() * load.sqrt()).ceil() as u64;
        let met = |workers: u64| has_square_root_slack(&self.erlangs, &Exact::whole(workers.into()), beta);
        staffing::smallest(self.smallest_stable(), CEILING, guess, met).unwrap_or(CEILING)
    }

    /// The number of workers that are busy this many thousandths of their time, rounded down and up.
    pub(super) fn at_utilisation(&self, thousandths: u32) -> (u64, u64) {
        let workers = self.erlangs.over(&Exact::thousandths(thousandths));
        let whole = |round: fn(&Exact) -> Option<u64>| workers.as_ref().and_then(round).unwrap_or(CEILING);
        (whole(Exact::floor), whole(Exact::ceil))
    }

    /// Another load of the same service and arrivals.
    pub(super) fn with_erlangs(&self, erlangs: Exact) -> Self {
        Load { erlangs, ..self.clone() }
    }

    /// The load at `factor` times the rate.
    pub(super) fn times(&self, factor: &Exact) -> Self {
        Load { erlangs: &self.erlangs * factor, ..self.clone() }
    }
}
