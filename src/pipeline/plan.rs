//! The whole pipeline: what was asked about, and the plan that answers it.

use super::cost::{Billed, Cost, CostComparison, NoPrice};
use super::need::{Stage, StageName};
use super::notes::PipelineNote;
use super::queues::{PartnerPlan, PartnerQueues, Queues};
use super::{AbsenceAlarm, Bus, Delivery, Events, FanOut, Outbox, Partners, Replay};
use super::{Chance, Isolation, IsolationError, IsolationPlan};
use crate::sizing::{DemandError, smallest_workers};
use crate::units::{Count, Exact};
use schemars::JsonSchema;
use serde::Serialize;

/// A pipeline to plan. A stage that is absent is not planned.
#[derive(Clone, Debug, PartialEq)]
pub struct Pipeline {
    /// What is published.
    pub events: Events,
    /// Who is delivered to.
    pub partners: Partners,
    /// Outbox and change capture.
    pub outbox: Option<Outbox>,
    /// The event bus.
    pub bus: Option<Bus>,
    /// From events to deliveries.
    pub fan_out: Option<FanOut>,
    /// A queue for each partner.
    pub queues: Option<Queues>,
    /// The workers.
    pub delivery: Delivery,
    /// The replay of dead letters.
    pub replay: Option<Replay>,
    /// The alarm for what is missing.
    pub alarm: Option<AbsenceAlarm>,
    /// What it costs.
    pub cost: Option<Cost>,
    /// One partner in trouble.
    pub isolation: Option<Isolation>,
}

/// Why a pipeline cannot be planned.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum PipelineError {
    /// Today's load is out of range.
    #[error(transparent)]
    Demand(#[from] DemandError),
    /// A price is missing.
    #[error(transparent)]
    NoPrice(#[from] NoPrice),
    /// Isolation cannot be simulated.
    #[error(transparent)]
    Isolation(#[from] IsolationError),
}

/// A class of partners in the plan.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct ClassPlan {
    /// Its name.
    pub name: String,
    /// How many partners it has.
    pub partners: usize,
    /// Its share of the deliveries.
    pub share_of_deliveries: f64,
    /// Mean service time of an attempt in seconds, failures included.
    pub service_mean_s: f64,
    /// Attempts that a delivery takes on average.
    pub attempts_per_delivery: f64,
    /// Its share of the workers' time.
    pub share_of_busy_time: f64,
}

/// The limit that breaks first.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct FirstToBreak {
    /// The stage.
    pub stage: StageName,
    /// The need.
    pub need: &'static str,
    /// The growth at which it breaks; below 1 where it is broken today.
    pub growth: f64,
}

/// The plan of a pipeline.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct PipelinePlan {
    /// Events a second, averaged over the day.
    pub events_mean_rate_per_s: f64,
    /// Events a second at the peak.
    pub events_peak_rate_per_s: f64,
    /// Deliveries a second at the peak.
    pub deliveries_peak_rate_per_s: f64,
    /// Busy workers at the peak on average.
    pub offered_load_erlangs: f64,
    /// Workers that the peak needs.
    pub workers: u64,
    /// How many partners there are.
    pub partners: usize,
    /// The classes of partners.
    pub classes: Vec<ClassPlan>,
    /// Whether every limit is kept today.
    pub holds_today: bool,
    /// The limit that breaks first as the volume grows; absent where none breaks.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first_to_break: Option<FirstToBreak>,
    /// The stages, from the outbox to the cost.
    pub stages: Vec<Stage>,
    /// The partners that break first; empty where they have no queues of their own.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub partners_first_to_break: Vec<PartnerPlan>,
    /// Functions or a pool.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost: Option<CostComparison>,
    /// What everybody else waits while one partner is in trouble.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub isolation: Option<IsolationPlan>,
}

impl PipelinePlan {
    /// A stage, where it was planned.
    #[must_use]
    pub fn stage(&self, name: StageName) -> Option<&Stage> {
        self.stages.iter().find(|stage| stage.stage == name)
    }
}

/// A plan with what its reader should know.
#[derive(Clone, Debug, PartialEq)]
pub struct Planned {
    /// The plan.
    pub plan: PipelinePlan,
    /// Assumptions and warnings.
    pub notes: Vec<PipelineNote>,
}

impl Pipeline {
    /// Plans every stage that there is. Isolation is simulated with the given random numbers; all else is computed.
    ///
    /// # Errors
    /// If today's load is out of range, a price is missing, or isolation cannot be simulated.
    pub fn plan(&self, chance: Chance) -> Result<Planned, PipelineError> {
        let one = Exact::one();
        let events = &self.events;
        let deliveries = events.deliveries(&events.peak_rate(&one));
        let demand = self.partners.demand(&deliveries)?;
        let queues = self.queues.as_ref().map(|queues| PartnerQueues::new(queues, &self.partners, events));
        let queues = queues.transpose()?;
        let cost = self.cost.as_ref().map(|cost| cost.compare(self.billed())).transpose()?.flatten();
        let stages = self.stages(queues.as_ref())?;
        let workers = smallest_workers(&demand, &self.delivery.objectives);
        let isolation = self.isolation.as_ref().map(|isolation| {
            let workers = self.delivery.workers.map_or(workers, Count::get);
            let objectives = &self.delivery.objectives;
            isolation.plan(events, &self.partners, objectives, workers, queues.as_ref(), chance)
        });
        let plan = PipelinePlan {
            events_mean_rate_per_s: events.mean_rate(&one).to_f64(),
            events_peak_rate_per_s: events.peak_rate(&one).to_f64(),
            deliveries_peak_rate_per_s: deliveries.to_f64(),
            offered_load_erlangs: demand.load().to_f64(),
            workers,
            partners: self.partners.all().len(),
            classes: self.classes()?,
            holds_today: stages.iter().all(Stage::holds_today),
            first_to_break: first_to_break(&stages),
            stages,
            partners_first_to_break: queues.as_ref().map_or_else(Vec::new, PartnerQueues::first_to_break),
            cost,
            isolation: isolation.transpose()?,
        };
        let notes = PipelineNote::all(self, &plan);
        Ok(Planned { plan, notes })
    }

    fn billed(&self) -> Billed<'_> {
        Billed {
            events: &self.events,
            partners: &self.partners,
            delivery: &self.delivery,
            bus: self.bus.as_ref(),
            queues: self.queues.as_ref(),
        }
    }

    fn stages(&self, queues: Option<&PartnerQueues<'_>>) -> Result<Vec<Stage>, NoPrice> {
        let (events, partners) = (&self.events, &self.partners);
        let stages = [
            self.outbox.as_ref().map(|outbox| outbox.stage(events)),
            self.bus.as_ref().map(|bus| bus.stage(events)),
            self.fan_out.as_ref().map(|fan_out| fan_out.stage(events, self.bus.as_ref())),
            queues.map(PartnerQueues::stage),
            Some(self.delivery.stage(events, partners)),
            self.replay.as_ref().map(|replay| replay.stage(events, partners, queues)),
            self.alarm.as_ref().map(|alarm| alarm.stage(events)),
            self.cost.as_ref().map(|cost| cost.stage(self.billed())).transpose()?,
        ];
        Ok(stages.into_iter().flatten().collect())
    }

    fn classes(&self) -> Result<Vec<ClassPlan>, DemandError> {
        let partners = &self.partners;
        let classes = partners.classes().iter().zip(partners.class_shares()).enumerate();
        let plans = classes.map(|(index, (class, share))| {
            let attempts = partners.attempts(class)?;
            Ok(ClassPlan {
                name: class.name.clone(),
                partners: partners.all().iter().filter(|partner| partner.class == index).count(),
                share_of_deliveries: share.to_f64(),
                service_mean_s: attempts.service.mean.get(),
                attempts_per_delivery: attempts.rate.get(),
                // The time of a delivery to the class, until all classes are there to divide by.
                share_of_busy_time: attempts.load().to_f64() * share.to_f64(),
            })
        });
        let mut plans: Vec<ClassPlan> = plans.collect::<Result<_, DemandError>>()?;
        let all: f64 = plans.iter().map(|class| class.share_of_busy_time).sum();
        plans.iter_mut().for_each(|class| class.share_of_busy_time /= all);
        Ok(plans)
    }
}

fn first_to_break(stages: &[Stage]) -> Option<FirstToBreak> {
    let breaking = stages.iter().filter_map(|stage| {
        Some(FirstToBreak { stage: stage.stage, need: stage.binding?, growth: stage.breaks_at_growth? })
    });
    breaking.min_by(|left, right| left.growth.total_cmp(&right.growth))
}
