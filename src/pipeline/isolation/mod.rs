//! Isolation: one partner becomes slow, or sends for more than usual. How long does everybody else wait?
//!
//! Simulated at the peak, for three designs: one pool for all; the same workers, some of them for that partner alone; and
//! a queue with workers of its own for every partner.

mod apart;
mod law;

use self::law::{attempt, everyone_else};
use super::queues::PartnerQueues;
use super::{Events, Partners};
use crate::simulate::{
    Arrivals, Block, Class, ClassOutcome, Error, Horizon, Law, Run, Scenario, Simulated, WarmUp, simulate,
};
use crate::sizing::{ArrivalProcess, Demand, Objective, smallest_workers};
use crate::units::{ArrivalRate, Count, Exact, Seconds};
use schemars::JsonSchema;
use serde::Serialize;
use std::num::NonZeroUsize;

/// The quantile of the wait that is told.
const QUANTILE: f64 = 0.99;

/// Independent runs of each design.
const REPLICATIONS: u32 = 5;

/// The most attempts that one run may have.
const MOST_ATTEMPTS: f64 = 5e6;

/// The question: what happens to everybody else while one partner is in trouble.
#[derive(Clone, Debug, PartialEq)]
pub struct Isolation {
    /// The partner, by its rank from 0, the largest.
    pub partner: usize,
    /// The mean time of its attempts while it is slow.
    pub slow_mean: Option<Seconds>,
    /// Deliveries to it that come all at once.
    pub burst: Option<Count>,
    /// How long the trouble lasts.
    pub length: Seconds,
}

/// How the random numbers are drawn, and by how many threads; the threads do not change the result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Chance {
    /// The seed.
    pub seed: u64,
    /// Threads.
    pub threads: NonZeroUsize,
}

/// A way to arrange queues and workers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Design {
    /// One queue and one pool for all partners.
    Pooled,
    /// As many workers, but the partner in trouble has a queue and workers of its own.
    PartnerApart,
    /// A queue and workers for every partner.
    QueuePerPartner,
}

/// What a design does to everybody else.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct DesignOutcome {
    /// The design.
    pub design: Design,
    /// All workers of it.
    pub workers: u64,
    /// p99 of everybody else's wait while all is well, in seconds.
    pub healthy_p99_s: f64,
    /// p99 of everybody else's wait while the partner is in trouble, in seconds.
    pub p99_s: f64,
    /// p99 of the wait of the partner itself, in seconds.
    pub partner_p99_s: f64,
}

/// The answer.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct IsolationPlan {
    /// The partner in trouble.
    pub partner: String,
    /// Its share of the deliveries.
    pub share: f64,
    /// The mean time of its attempts while it is slow, in seconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub slow_mean_s: Option<f64>,
    /// Deliveries to it that come all at once.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub burst: Option<u64>,
    /// How long the trouble lasts, in seconds.
    pub length_s: f64,
    /// The designs.
    pub designs: Vec<DesignOutcome>,
}

/// Why isolation cannot be simulated.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum IsolationError {
    /// The engine refuses.
    #[error("isolation: {0}")]
    Simulation(#[from] Error),
    /// There is nobody else.
    #[error("isolation: there is one partner, and nobody else to wait for it")]
    Alone,
    /// It would take too long.
    #[error("isolation: {attempts:.0} attempts in {length} are more than are simulated; shorten the length")]
    TooLong {
        /// How many.
        attempts: f64,
        /// The length, as a person reads it.
        length: String,
    },
    /// A pool so large is not simulated.
    #[error("isolation: {workers} workers are more than are simulated")]
    TooManyWorkers {
        /// How many.
        workers: u64,
    },
}

/// Everything that the three designs have in common.
struct Case<'a> {
    isolation: &'a Isolation,
    chance: Chance,
    /// Attempts a second to everybody else, and how long they take.
    others: (f64, Law),
    /// Attempts a second to the partner.
    partner_rate: f64,
    /// How long they take while all is well, and in trouble.
    partner_law: Law,
    slow_law: Law,
    /// Attempts that come at once.
    burst: u32,
}

impl Isolation {
    /// Simulates the designs. `workers` is the pool for all; the third design needs the queues.
    pub(super) fn plan(
        &self,
        events: &Events,
        partners: &Partners,
        objectives: &[Objective],
        workers: u64,
        queues: Option<&PartnerQueues<'_>>,
        chance: Chance,
    ) -> Result<IsolationPlan, IsolationError> {
        let partner = partners.all().get(self.partner).ok_or(IsolationError::Alone)?;
        let class = partners.class_of(partner).ok_or(IsolationError::Alone)?;
        let deliveries = events.deliveries(&events.peak_rate(&Exact::one())).to_f64();
        let (others, law) = everyone_else(partners, self.partner)?.ok_or(IsolationError::Alone)?;
        let per_delivery = partners.attempts_per_delivery(class);
        let burst = self.burst.map_or(0.0, |burst| burst.get() as f64 * per_delivery);
        let case = Case {
            isolation: self,
            chance,
            others: (deliveries * others, law),
            partner_rate: deliveries * partner.share * per_delivery,
            partner_law: attempt(class, None)?,
            slow_law: attempt(class, self.slow_mean.as_ref())?,
            burst: burst.round().min(f64::from(u32::MAX)) as u32,
        };
        let attempts = (case.others.0 + case.partner_rate) * self.length.get() + f64::from(case.burst);
        if attempts > MOST_ATTEMPTS {
            return Err(IsolationError::TooLong { attempts, length: self.length.to_string() });
        }
        let usual = case.usual_demand(partners, class);
        let own = usual
            .map_or(1, |demand| smallest_workers(&demand, objectives))
            .min(workers.saturating_sub(1).max(1));
        let mut designs = vec![case.pooled(workers)?, case.partner_apart(workers, own)?];
        if let Some(queues) = queues {
            designs.push(case.queue_per_partner(queues)?);
        }
        Ok(IsolationPlan {
            partner: partner.name.clone(),
            share: partner.share,
            slow_mean_s: self.slow_mean.as_ref().map(Seconds::get),
            burst: self.burst.map(Count::get),
            length_s: self.length.get(),
            designs,
        })
    }
}

impl Case<'_> {
    /// What the partner needs while all is well.
    fn usual_demand(&self, partners: &Partners, class: &super::Class) -> Option<Demand> {
        let first = self.partner_rate / partners.attempts_per_delivery(class);
        let rate = ArrivalRate::from_f64(first)?;
        partners.retries(class, rate).demand(class.service.clone(), ArrivalProcess::Poisson).ok()
    }

    fn run(&self) -> Run {
        Run {
            replications: REPLICATIONS,
            // The trouble begins with the run.
            warm_up: WarmUp::Nothing,
            quantiles: vec![QUANTILE],
            seed: self.chance.seed,
            threads: self.chance.threads,
            ..Run::new(Horizon::Seconds(self.isolation.length.get()))
        }
    }

    fn simulated(
        &self,
        workers: u64,
        classes: Vec<Class>,
        burst_to: Option<usize>,
    ) -> Result<Simulated, IsolationError> {
        let workers = u32::try_from(workers).map_err(|_| IsolationError::TooManyWorkers { workers })?;
        let [first, ..] = classes.as_slice() else { return Err(IsolationError::Alone) };
        let arrivals = first.arrivals.clone().ok_or(IsolationError::Alone)?;
        let mut scenario = Scenario::plain(workers, arrivals, first.service.clone());
        scenario.classes = classes;
        scenario.one_queue = true;
        if let Some(class) = burst_to.filter(|_| self.burst > 0) {
            scenario.blocks = vec![Block { at_s: 0.0, events: self.burst, class }];
        }
        Ok(simulate(&scenario, &self.run())?)
    }

    fn everyone_else(&self) -> Result<Class, Error> {
        Ok(Class {
            name: "everyone else".to_owned(),
            arrivals: Some(Arrivals::poisson(self.others.0)?),
            service: self.others.1.clone(),
        })
    }

    fn the_partner(&self, law: &Law) -> Result<Class, Error> {
        Ok(Class {
            name: "the partner".to_owned(),
            arrivals: Some(Arrivals::poisson(self.partner_rate)?),
            service: law.clone(),
        })
    }

    /// One queue, one pool.
    fn pooled(&self, workers: u64) -> Result<DesignOutcome, IsolationError> {
        let both = |law: &Law| Ok::<_, Error>(vec![self.everyone_else()?, self.the_partner(law)?]);
        let healthy = self.simulated(workers, both(&self.partner_law)?, None)?;
        let trouble = self.simulated(workers, both(&self.slow_law)?, Some(1))?;
        Ok(DesignOutcome {
            design: Design::Pooled,
            workers,
            healthy_p99_s: class_p99(&healthy.classes, 0),
            p99_s: class_p99(&trouble.classes, 0),
            partner_p99_s: class_p99(&trouble.classes, 1),
        })
    }

    /// The same workers, `own` of them for the partner.
    fn partner_apart(&self, workers: u64, own: u64) -> Result<DesignOutcome, IsolationError> {
        let rest = workers.saturating_sub(own).max(1);
        let others = self.simulated(rest, vec![self.everyone_else()?], None)?;
        let p99_s = p99(&others);
        Ok(DesignOutcome {
            design: Design::PartnerApart,
            workers: rest + own,
            healthy_p99_s: p99_s,
            p99_s,
            partner_p99_s: self.partner_p99_s(own)?,
        })
    }

    /// p99 of the partner's own wait with workers of its own, in trouble.
    fn partner_p99_s(&self, own: u64) -> Result<f64, IsolationError> {
        self.simulated(own, vec![self.the_partner(&self.slow_law)?], Some(0)).map(|found| p99(&found))
    }

    /// A queue and workers for everybody, as the partner queues plan them.
    fn queue_per_partner(&self, queues: &PartnerQueues<'_>) -> Result<DesignOutcome, IsolationError> {
        let p99_s = apart::p99_s(queues, self.isolation, self.chance)?;
        Ok(DesignOutcome {
            design: Design::QueuePerPartner,
            workers: queues.concurrency(1.0) as u64,
            healthy_p99_s: p99_s,
            p99_s,
            partner_p99_s: self.partner_p99_s(queues.concurrency_of(self.isolation.partner))?,
        })
    }
}

/// p99 of a class; 0 where nothing of it began, which needs no wait.
fn class_p99(classes: &[ClassOutcome], index: usize) -> f64 {
    let quantiles = classes.get(index).map(|class| class.wait_quantiles.as_slice());
    quantiles.and_then(|quantiles| quantiles.first()).map_or(0.0, |quantile| quantile.value_s)
}

fn p99(found: &Simulated) -> f64 {
    found.wait_quantiles.first().map_or(0.0, |quantile| quantile.value_s)
}

#[cfg(test)]
mod tests {
    use super::super::events::tests::million;
    use super::super::partners::tests::{class, zipf};
    use super::super::queues::tests::queues;
    use super::*;
    use crate::queueing::{Pool, WaitModel};

    const CHANCE: Chance = Chance { seed: 1, threads: NonZeroUsize::MIN };

    /// A hundred equal partners, 34.72 erlangs of 300 ms at the peak.
    fn hundred() -> Partners {
        Partners::new(vec![class("usual", "300ms")], vec![], Some(zipf("100", 0.0, &["1"])), 1).unwrap()
    }

    fn trouble(slow_mean: &str, burst: &str) -> Isolation {
        Isolation {
            partner: 0,
            slow_mean: slow_mean.parse().ok(),
            burst: burst.parse().ok(),
            length: "15m".parse().unwrap(),
        }
    }

    fn outcomes(isolation: &Isolation, workers: u64, chance: Chance) -> Vec<DesignOutcome> {
        let (events, partners, queues) = (million(), hundred(), queues());
        let queues = PartnerQueues::new(&queues, &partners, &events).unwrap();
        let objectives = [Objective::MeanWait("1".parse().unwrap())];
        let plan = isolation.plan(&events, &partners, &objectives, workers, Some(&queues), chance);
        plan.unwrap().designs
    }

    /// p99 of M/M/N.
    fn textbook(workers: u64, load: f64) -> f64 {
        let slack = workers as f64 - load;
        let pool = Pool { workers, load, slack, service_mean_s: 0.3 };
        WaitModel::textbook().waiting(&pool).unwrap().quantile_s(0.99)
    }

    fn near(found: f64, expected: f64, tolerance: f64) {
        assert!((found / expected - 1.0).abs() < tolerance, "{found} {expected}");
    }

    #[test]
    fn in_peace_every_design_waits_as_the_textbook_says() {
        let [pooled, apart, own] = outcomes(&trouble("1", ""), 40, CHANCE)[..] else { panic!() };
        near(pooled.healthy_p99_s, textbook(40, 34.722), 0.15);
        // A partner of 0.35 erlangs gets one worker for a mean wait of a second; the rest has 39 for 34.375.
        near(apart.healthy_p99_s, textbook(39, 34.375), 0.15);
        // A hundred queues of 0.3472 erlangs with a worker each.
        assert_eq!(own.workers, 100);
        near(own.healthy_p99_s, textbook(1, 0.347_22), 0.1);
    }

    #[test]
    fn a_slow_partner_fills_one_pool_and_leaves_the_others_alone() {
        // 1.157/s at 12 s are 13.9 erlangs more: 48.26 on 40 workers. The wait grows by 0.2066 s a second.
        let [pooled, apart, own] = outcomes(&trouble("12", ""), 40, CHANCE)[..] else { panic!() };
        near(pooled.p99_s, 0.99 * 900.0 * (48.264 / 40.0 - 1.0), 0.1);
        near(pooled.partner_p99_s, pooled.p99_s, 0.1);
        assert!(apart.p99_s < 1.0 && own.p99_s < 3.0, "{apart:?} {own:?}");
        assert!(apart.partner_p99_s > pooled.p99_s, "the partner itself waits for its one worker");
    }

    #[test]
    fn a_burst_is_everybodys_in_one_pool_and_the_partners_alone_apart() {
        // 20,000 × 0.3 s over 40 workers: 150 s, falling as the pool catches up at 1 − 34.72/40.
        let [pooled, apart, own] = outcomes(&trouble("", "20k"), 40, CHANCE)[..] else { panic!() };
        near(pooled.p99_s, 150.0 - 9.0 * (1.0 - 34.722 / 40.0), 0.05);
        assert!(apart.p99_s < 1.0 && own.p99_s < 3.0, "{apart:?} {own:?}");
    }

    #[test]
    fn the_answer_depends_on_the_seed_and_not_on_the_threads() {
        let isolation = trouble("3", "100");
        let one = outcomes(&isolation, 40, CHANCE);
        let four = Chance { threads: NonZeroUsize::new(4).unwrap(), ..CHANCE };
        assert_eq!(one, outcomes(&isolation, 40, four));
        assert_ne!(one, outcomes(&isolation, 40, Chance { seed: 2, ..CHANCE }));
    }

    #[test]
    fn what_cannot_be_simulated_is_refused() {
        let plan = |isolation: &Isolation, partners: &Partners| {
            isolation.plan(
                &million(),
                partners,
                &[Objective::MeanWait("1".parse().unwrap())],
                40,
                None,
                CHANCE,
            )
        };
        let alone = Partners::new(vec![class("usual", "300ms")], vec![], None, 1).unwrap();
        assert_eq!(plan(&trouble("1", ""), &alone), Err(IsolationError::Alone));
        let long = Isolation { length: "30d".parse().unwrap(), ..trouble("1", "") };
        assert!(matches!(plan(&long, &hundred()), Err(IsolationError::TooLong { .. })));
    }
}
