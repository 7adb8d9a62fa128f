//! `size --refine`: the formula's answer settled by simulation.

use super::service::Service;
use super::simulate::scenario;
use anyhow::{Result, bail};
use whsize::notice::Note;
use whsize::queueing::ServiceLaw;
use whsize::simulate::{self, Arrivals, Goal, Law, QuantileGoal, Search};
use whsize::sizing::{ArrivalProcess, Demand, Objective, Question, Refinement};
use whsize::units::{Share, human};

/// Arrivals to simulate at most: about a minute on two cores of a usual machine.
const MOST_ARRIVALS: u64 = 1_000_000_000;

/// Waits of a smaller share of arrivals are too few to settle a pool within [`MOST_ARRIVALS`], which go to several pools
/// one after the other.
const RAREST: f64 = 1e-5;

/// What became of a search.
pub(crate) enum Searched {
    /// Simulation settled a pool.
    Found(Refinement),
    /// No objective limits the wait: the answer is exact as it is.
    NothingToSettle,
    /// Next to nobody waits, and the answer of the formula stands.
    TooRare {
        /// The share of arrivals that wait, by the formula.
        probability: f64,
    },
}

impl Searched {
    /// The pool that was settled, if one was.
    pub(crate) fn found(&self) -> Option<&Refinement> {
        match self {
            Searched::Found(refinement) => Some(refinement),
            _ => None,
        }
    }

    /// Says why simulation settled nothing, where it was to.
    pub(crate) fn note(&self) -> Option<Note> {
        let Searched::TooRare { probability } = self else { return None };
        let message = format!(
            "{} of arrivals wait, by the formula: too few to settle the pool by simulation, so its answer stands",
            human::percent(*probability)
        );
        Some(Note::warning("too-rare-to-simulate", message))
    }
}

/// Searches the smallest pool from the formula's answer on.
pub(crate) fn refine(
    question: &Question,
    service: &Service,
    confidence: &Share,
    seed: u64,
) -> Result<Searched> {
    let goal = goal(&question.objectives);
    if goal == Goal::default() {
        return Ok(Searched::NothingToSettle);
    }
    let on_wait = question.objectives.iter().filter(|objective| objective.limits_the_wait()).cloned();
    let formula = Question { objectives: on_wait.collect(), workers: None, sample: None, ..question.clone() };
    let formula = formula.answer().sizing.steady;
    let formula_workers = formula.workers;
    if let Some(probability) = formula.state.wait_probability.filter(|&probability| probability < RAREST) {
        return Ok(Searched::TooRare { probability });
    }
    let Ok(start) = u32::try_from(formula_workers) else {
        bail!(
            "a pool of {formula_workers} workers is more than can be simulated (ten million); leave out --refine"
        );
    };
    let demand = &question.demand;
    let (law, name) = law(&demand.service.law, service)?;
    let search = Search {
        start: Some(start),
        confidence: confidence.get(),
        seed,
        threads: std::thread::available_parallelism().unwrap_or(std::num::NonZeroUsize::MIN),
        most_arrivals: MOST_ARRIVALS,
        ..Search::new()
    };
    let found = simulate::refine(&arrivals(demand)?, &law, &goal, &search)?;
    // A search that is not settled does not overrule a formula that it does not contradict.
    let formula_stands = !found.settled && formula.model_error.is_some();
    let measured = |workers| found.candidates.iter().find(|candidate| candidate.workers == workers);
    let by_formula = measured(start).filter(|_| formula_stands);
    let Some(answer) = by_formula.or_else(|| measured(found.workers)) else {
        bail!("the simulation settled a pool that it did not measure, which is a defect");
    };
    Ok(Searched::Found(Refinement {
        workers: answer.workers.into(),
        workers_interval: found.workers_interval.map(u64::from),
        settled: found.settled,
        formula_workers,
        wait_mean_s: answer.wait_mean_s,
        wait_mean_interval_s: answer.wait_mean_interval_s,
        wait_probability: answer.wait_probability,
        arrivals: found.arrivals,
        service: name.to_owned(),
    }))
}

fn goal(objectives: &[Objective]) -> Goal {
    let mut goal = Goal::default();
    for objective in objectives {
        match objective {
            Objective::MeanWait(limit) => goal.wait_mean_s = Some(limit.get()),
            Objective::WaitProbability(share) => goal.wait_probability = Some(share.get()),
            Objective::WaitQuantile(quantile, limit) => {
                goal.wait_quantiles.push(QuantileGoal { quantile: quantile.get(), limit_s: limit.get() });
            }
            Objective::MaxUtilisation(_)
            | Objective::Headroom(_)
            | Objective::SquareRoot(_)
            | Objective::MaxLost(_) => {}
        }
    }
    goal
}

fn arrivals(demand: &Demand) -> Result<Arrivals> {
    let rate = demand.rate.get();
    Ok(match demand.arrivals {
        ArrivalProcess::Poisson => Arrivals::poisson(rate)?,
        ArrivalProcess::Renewal { scv: 0.0 } => Arrivals::renewal(Law::constant(1.0 / rate)?),
        ArrivalProcess::Renewal { scv } if scv > 1.0 => {
            Arrivals::renewal(Law::hyperexponential(1.0 / rate, scv)?)
        }
        ArrivalProcess::Renewal { scv } => Arrivals::renewal(Law::lognormal(1.0 / rate, scv)?),
        ArrivalProcess::Batches { size } => match u32::try_from(size) {
            Ok(size) => Arrivals::batches(rate, size)?,
            Err(_) => bail!("a batch of {size} is more than can be simulated"),
        },
    })
}

/// The law to simulate, and its name: what was measured, else what the moments suggest.
fn law(law: &ServiceLaw, service: &Service) -> Result<(Law, &'static str)> {
    Ok(match (law, service.profile()) {
        (ServiceLaw::Measured { .. }, Some(profile)) => (scenario::empirical(profile)?, "empirical"),
        (ServiceLaw::Measured { atoms }, None) => {
            let points = atoms.iter().map(|&(value, share)| Ok((share, Law::constant(value)?)));
            (Law::mixture(points.collect::<Result<_>>()?)?, "empirical")
        }
        (ServiceLaw::Exponential { mean_s }, _) => (Law::exponential(*mean_s)?, "exponential"),
        (ServiceLaw::TwoMoment { mean_s, scv: 0.0 }, _) => (Law::constant(*mean_s)?, "constant"),
        (ServiceLaw::TwoMoment { mean_s, scv }, _) => (Law::lognormal(*mean_s, *scv)?, "lognormal"),
        (ServiceLaw::Mixture { parts }, _) => {
            let parts = parts.iter().map(|(share, part)| Ok((*share, self::law(part, service)?.0)));
            (Law::mixture(parts.collect::<Result<_>>()?)?, "mixed")
        }
    })
}
