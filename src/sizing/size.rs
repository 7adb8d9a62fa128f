//! From a question to its answer: the smallest pool, or a verdict on the one given.

use super::accuracy::known_error;
use super::demand::LARGEST_LOAD;
use super::interval::{Sample, workers_interval};
use super::pool_size::{Constraint, ErlangC, PoolSize, ScenarioSize, SensitivityRow, Sizing, binding};
use super::rules::{Rule, RuleRow};
use super::solve::{Load, Model};
use super::state::pool_state;
use super::sustained::Sustained;
use super::{Demand, Objective, Refinement, SizingNote};
use crate::units::Exact;

/// The rates of the sensitivity table beside half the headroom, as thousandths of the rate.
const RISES: [u32; 4] = [1_010, 1_050, 1_100, 1_250];

/// What binds where no objective demands more workers than the queue itself.
const STABILITY: &str = "stability";

/// A question about a pool.
#[derive(Clone, Debug, PartialEq)]
pub struct Question {
    /// The traffic.
    pub demand: Demand,
    /// What the pool must achieve, all at once; without any, only stability is asked for.
    pub objectives: Vec<Objective>,
    /// A given number of workers to judge, instead of the number to find.
    pub workers: Option<u64>,
    /// Other traffic that the same question is asked for.
    pub scenarios: Vec<Scenario>,
    /// The measured sample behind the service time, for the interval of the answer.
    pub sample: Option<Sample>,
}

/// Named traffic, such as an outage.
#[derive(Clone, Debug, PartialEq)]
pub struct Scenario {
    /// Its name.
    pub name: String,
    /// Its traffic.
    pub demand: Demand,
}

/// An answer with what its reader should know.
#[derive(Clone, Debug, PartialEq)]
pub struct Answered {
    /// The answer.
    pub sizing: Sizing,
    /// Assumptions and warnings.
    pub notes: Vec<SizingNote>,
}

impl Question {
    /// Sizes the pool, or judges the one that is given.
    #[must_use]
    pub fn answer(&self) -> Answered {
        self.answered(None)
    }

    /// The answer with the steady traffic settled by simulation.
    #[must_use]
    pub fn answer_refined(&self, refinement: &Refinement) -> Answered {
        self.answered(Some(refinement))
    }

    fn answered(&self, refinement: Option<&Refinement>) -> Answered {
        let steady = self.pool_size(&self.demand, self.sample.as_ref(), refinement);
        let scenarios = self.scenarios.iter().map(|scenario| ScenarioSize {
            name: scenario.name.clone(),
            rate_per_s: scenario.demand.rate.get(),
            mean_s: scenario.demand.service.mean.get(),
            size: self.pool_size(&scenario.demand, None, None),
        });
        let sizing = Sizing {
            scenarios: scenarios.collect(),
            schedule: None,
            classes: Vec::new(),
            block: None,
            steady,
        };
        let notes = SizingNote::all(self, &sizing);
        Answered { sizing, notes }
    }

    fn pool_size(
        &self,
        demand: &Demand,
        sample: Option<&Sample>,
        refinement: Option<&Refinement>,
    ) -> PoolSize {
        let load = Load::new(demand).refined(refinement);
        let mut each: Vec<u64> =
            self.objectives.iter().map(|objective| load.smallest_for(objective)).collect();
        if let Some(refined) = refinement {
            settle(&mut each, &self.objectives, refined.workers);
        }
        let required_workers = each.iter().copied().fold(load.floor(), u64::max);
        let workers = self.workers.unwrap_or(required_workers);
        let erlang_c_workers = load.textbook().smallest_for_all(&self.objectives);
        let [lean, usual, generous] =
            [1_000, 1_500, 2_000].map(|beta| load.square_root(&Exact::thousandths(beta)));
        let fixed = load.at_utilisation(700).1;
        let constraints: Vec<Constraint> = self
            .objectives
            .iter()
            .zip(each)
            .map(|(objective, least)| constraint(&load, workers, objective, least, refinement.is_some()))
            .collect();
        let state = pool_state(demand, &load, workers, &self.objectives);
        let by_itself = if state.lost_share().is_some() { 0 } else { load.smallest_stable() };
        let rules = [
            (Rule::SmallestStable, load.smallest_stable()),
            (Rule::ErlangC, erlang_c_workers),
            (if self.workers.is_some() { Rule::Given } else { Rule::Answer }, workers),
            (Rule::SquareRootLean, lean),
            (Rule::SquareRoot, usual),
            (Rule::SquareRootGenerous, generous),
            (Rule::FixedUtilisation, fixed),
        ];
        let (band_low, band_high) = (load.at_utilisation(950).1, load.at_utilisation(850).0);
        let model = Model::of(demand);
        let sustained = Sustained::of(demand, load.model(), workers, &self.objectives);
        PoolSize {
            offered_load_erlangs: load.erlangs.to_f64(),
            smallest_stable_workers: load.smallest_stable(),
            square_root_workers: usual,
            square_root_range: [lean, generous],
            fixed_utilisation_workers: fixed,
            utilisation_band_workers: (band_low <= band_high).then_some([band_low, band_high]),
            erlang_c_workers,
            erlang_c: load.textbook().waiting(workers).map(|waiting| ErlangC {
                wait_probability: waiting.probability,
                wait_mean_s: waiting.mean_s(),
            }),
            workers,
            required_workers,
            workers_interval: interval(
                sample.and_then(|sample| {
                    let formula = refinement.map_or(required_workers, |refined| refined.formula_workers);
                    workers_interval(demand, &self.objectives, sample, formula)
                }),
                refinement,
            ),
            model,
            model_error: known_error(demand, model, &load.pool(workers)),
            refined: refinement.cloned(),
            binding_constraint: binding(&constraints, by_itself)
                .map_or_else(|| STABILITY.to_owned(), |constraint| constraint.objective.clone()),
            meets_objective: state.stable && constraints.iter().all(|constraint| constraint.met),
            constraints,
            state,
            sensitivity: self.sensitivity(&load, workers),
            comparison: rules.map(|(rule, workers)| RuleRow::new(rule, &load, workers)).into(),
            max_rate_per_s: sustained.max_rate_per_s,
            max_mean_s: sustained.max_mean_s,
        }
    }

    /// The fixed rises and half the headroom, where there is any, in rising order.
    fn sensitivity(&self, load: &Load, workers: u64) -> Vec<SensitivityRow> {
        let full = Exact::whole(workers.into()).over(&load.erlangs);
        let half = full
            .filter(|full| *full > Exact::one())
            .map(|full| &(&Exact::one() + &full) * &Exact::thousandths(500));
        let mut factors: Vec<Exact> = RISES.map(Exact::thousandths).into();
        // A pool that is given may be so large that half its headroom is no load that is answered.
        factors.extend(half.filter(|half| &load.erlangs * half <= Exact::whole(LARGEST_LOAD)));
        factors.sort();
        factors.dedup();
        factors.iter().map(|factor| self.sensitivity_row(&load.times(factor), factor, workers)).collect()
    }

    fn sensitivity_row(&self, risen: &Load, factor: &Exact, workers: u64) -> SensitivityRow {
        let waiting = risen.waiting(workers);
        SensitivityRow {
            rate_factor: factor.to_f64(),
            stable: risen.has_steady_state(workers),
            utilisation: risen.utilisation(workers, waiting.as_ref()),
            wait_mean_s: waiting.map(|waiting| waiting.mean_s()),
            lost_share: waiting.and_then(|waiting| waiting.losses().map(|_| waiting.lost_share())),
            workers: risen.smallest_for_all(&self.objectives),
        }
    }
}

/// The interval that the sample leaves open, moved to the pool that simulation settled and at least as wide as its own.
fn interval(sampled: Option<[u64; 2]>, refinement: Option<&Refinement>) -> Option<[u64; 2]> {
    let Some(refined) = refinement else { return sampled };
    let [low, high] = refined.workers_interval;
    let moved = |workers: u64| (workers + refined.workers).saturating_sub(refined.formula_workers);
    Some(sampled.map_or([low, high], |sampled| [moved(sampled[0]).min(low), moved(sampled[1]).max(high)]))
}

/// Gives the objective on the wait that demands the most the pool that simulation settled; no other one demands more.
fn settle(each: &mut [u64], objectives: &[Objective], workers: u64) {
    let on_wait: Vec<usize> = (0..each.len()).filter(|&at| objectives[at].limits_the_wait()).collect();
    let most = on_wait.iter().copied().max_by_key(|&at| each[at]);
    for at in on_wait {
        each[at] = if Some(at) == most { workers } else { each[at].min(workers) };
    }
}

/// What becomes of an objective whose smallest pool is `least`.
fn constraint(load: &Load, workers: u64, objective: &Objective, least: u64, settled: bool) -> Constraint {
    let pool = load.pool(workers);
    Constraint {
        objective: objective.name(),
        limit: objective.limit(),
        achieved: load.waiting(workers).map(|waiting| objective.achieved(&pool, &waiting)),
        met: if settled && objective.limits_the_wait() {
            workers >= least
        } else {
            load.is_met_by(workers, objective)
        },
        workers: least,
        asked: objective.clone(),
    }
}
