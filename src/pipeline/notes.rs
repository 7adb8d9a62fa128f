//! What the reader of a plan should know, as facts; the words are made in one place.

use super::isolation::Design;
use super::need::{Need, StageName};
use super::plan::{Pipeline, PipelinePlan};
use crate::notice::Note;
use crate::sizing::Basis;
use crate::units::human;

/// A wait that has grown by this factor is another wait.
const MANY_TIMES: f64 = 3.0;

/// One remark on a pipeline.
#[derive(Clone, Debug, PartialEq)]
pub enum PipelineNote {
    /// A limit is broken at today's volume.
    BrokenToday {
        /// The stage.
        stage: StageName,
        /// The need.
        need: &'static str,
    },
    /// The peak fits one process.
    OneProcess {
        /// Busy workers on average.
        erlangs: f64,
        /// Workers.
        workers: u64,
        /// Attempts that a process runs at once.
        tasks: u64,
        /// Processor cores that the attempts take.
        cores: f64,
    },
    /// Stages that the file does not describe.
    NotPlanned {
        /// Which.
        stages: Vec<StageName>,
    },
    /// Only means were given for these classes.
    ExponentialAssumed {
        /// Their names.
        classes: Vec<String>,
    },
    /// One class takes most of the workers' time, and more than its share of the deliveries.
    OneClassFillsThePool {
        /// Its name.
        class: String,
        /// Its share of the deliveries.
        share: f64,
        /// Its share of the workers' time.
        busy: f64,
    },
    /// Idle queues are polled for more money than the messages cost.
    PollingCostsMore {
        /// For empty receives, a month.
        empty: f64,
        /// For messages, a month.
        messages: f64,
        /// The currency.
        currency: String,
    },
    /// Cold starts are frequent enough to move the p99.
    ColdStartsReachTheTail {
        /// Their share.
        share: f64,
        /// p99 without them, in seconds.
        warm_s: f64,
        /// p99 with them, in seconds.
        cold_s: f64,
    },
    /// One partner in trouble makes everybody else wait.
    OneHoldsUpAll {
        /// The partner.
        partner: String,
        /// p99 of everybody else's wait in one pool, in seconds.
        pooled_p99_s: f64,
        /// The same with the partner apart.
        apart_p99_s: f64,
    },
    /// Functions for the peak exceed what the account runs.
    AccountConcurrency {
        /// Functions at once at the peak.
        functions: u64,
        /// Functions that the account runs.
        account: u64,
    },
    /// Prices age.
    PricesAreDated {
        /// The oldest date.
        oldest: String,
        /// The newest date.
        newest: String,
    },
}

impl PipelineNote {
    /// Every remark that applies.
    pub(super) fn all(pipeline: &Pipeline, plan: &PipelinePlan) -> Vec<Self> {
        let mut notes = broken_today(plan);
        notes.extend(one_process(pipeline, plan));
        notes.extend(one_class(plan));
        notes.extend(one_holds_up_all(plan));
        notes.extend(cost(plan));
        notes.extend(exponential_assumed(pipeline));
        notes.extend(not_planned(plan));
        notes
    }
}

fn broken_today(plan: &PipelinePlan) -> Vec<PipelineNote> {
    let broken = plan.stages.iter().flat_map(|stage| {
        let broken = stage.needs.iter().filter(|need| !need.holds_today());
        broken.map(|need| PipelineNote::BrokenToday { stage: stage.stage, need: need.name })
    });
    broken.collect()
}

fn one_process(pipeline: &Pipeline, plan: &PipelinePlan) -> Option<PipelineNote> {
    let tasks = pipeline.delivery.tasks_per_process.get();
    let cores = plan.stage(StageName::Delivery)?.need("processor_cores").and_then(Need::today)?;
    (plan.workers <= tasks && cores <= 1.0).then_some(PipelineNote::OneProcess {
        erlangs: plan.offered_load_erlangs,
        workers: plan.workers,
        tasks,
        cores,
    })
}

fn one_class(plan: &PipelinePlan) -> Option<PipelineNote> {
    let class = plan
        .classes
        .iter()
        .max_by(|left, right| left.share_of_busy_time.total_cmp(&right.share_of_busy_time))?;
    (class.share_of_busy_time > 0.5 && class.share_of_busy_time > 1.5 * class.share_of_deliveries).then(
        || PipelineNote::OneClassFillsThePool {
            class: class.name.clone(),
            share: class.share_of_deliveries,
            busy: class.share_of_busy_time,
        },
    )
}

/// Worth a warning where the trouble multiplies everybody's wait and apart does not.
fn one_holds_up_all(plan: &PipelinePlan) -> Option<PipelineNote> {
    let isolation = plan.isolation.as_ref()?;
    let outcome = |design| isolation.designs.iter().find(|outcome| outcome.design == design);
    let (pooled, apart) = (outcome(Design::Pooled)?, outcome(Design::PartnerApart)?);
    (pooled.p99_s > MANY_TIMES * pooled.healthy_p99_s && pooled.p99_s > MANY_TIMES * apart.p99_s).then(|| {
        PipelineNote::OneHoldsUpAll {
            partner: isolation.partner.clone(),
            pooled_p99_s: pooled.p99_s,
            apart_p99_s: apart.p99_s,
        }
    })
}

fn cost(plan: &PipelinePlan) -> Vec<PipelineNote> {
    let Some(comparison) = &plan.cost else { return Vec::new() };
    let today = |name: &str| plan.stage(StageName::Cost)?.need(name).and_then(Need::today);
    let mut notes = Vec::new();
    if let (Some(empty), Some(messages)) = (today("empty_receives"), today("queue_requests"))
        && empty > messages
    {
        notes.push(PipelineNote::PollingCostsMore { empty, messages, currency: comparison.currency.clone() });
    }
    if comparison.functions_at_the_peak > comparison.account_concurrency {
        notes.push(PipelineNote::AccountConcurrency {
            functions: comparison.functions_at_the_peak,
            account: comparison.account_concurrency,
        });
    }
    if let Some(cold) = comparison.cold_start.filter(|cold| cold.p99_s > 1.01 * cold.p99_warm_s) {
        notes.push(PipelineNote::ColdStartsReachTheTail {
            share: cold.share,
            warm_s: cold.p99_warm_s,
            cold_s: cold.p99_s,
        });
    }
    let dates = || comparison.prices.iter().map(|price| price.date.as_str());
    if let (Some(oldest), Some(newest)) = (dates().min(), dates().max()) {
        notes.push(PipelineNote::PricesAreDated { oldest: oldest.to_owned(), newest: newest.to_owned() });
    }
    notes
}

fn exponential_assumed(pipeline: &Pipeline) -> Option<PipelineNote> {
    let assumed =
        pipeline.partners.classes().iter().filter(|class| class.service.basis == Basis::ExponentialAssumed);
    let classes: Vec<String> = assumed.map(|class| class.name.clone()).collect();
    (!classes.is_empty()).then_some(PipelineNote::ExponentialAssumed { classes })
}

fn not_planned(plan: &PipelinePlan) -> Option<PipelineNote> {
    let stages: Vec<StageName> =
        StageName::ALL.into_iter().filter(|name| plan.stage(*name).is_none()).collect();
    (!stages.is_empty()).then_some(PipelineNote::NotPlanned { stages })
}

impl From<&PipelineNote> for Note {
    fn from(note: &PipelineNote) -> Note {
        match note {
            PipelineNote::BrokenToday { stage, need } => Note::error(
                "broken-today",
                format!("{}: {} is over its limit at today's volume", stage.in_words(), need.replace('_', " ")),
            ),
            PipelineNote::OneProcess { erlangs, workers, tasks, cores } => Note::info(
                "one-process",
                format!(
                    "{} erlangs are {} waiting for answers, and {} of a processor core: one asynchronous process of \
                     {} tasks carries the peak; this is not an expensive pool",
                    human::significant(*erlangs, 3),
                    human::counted(*workers, "task"),
                    human::percent(*cores),
                    human::count(*tasks),
                ),
            ),
            PipelineNote::NotPlanned { stages } => {
                let stages: Vec<&str> = stages.iter().map(|stage| stage.in_words()).collect();
                Note::info("not-planned", format!("the file does not describe: {}", stages.join(", ")))
            }
            PipelineNote::ExponentialAssumed { classes } => Note::info(
                "exponential-assumed",
                format!("exponential service times are assumed for {}", classes.join(", ")),
            )
            .with_hint("real attempts with a timeout tail wait several times longer: measure them and give their scv"),
            PipelineNote::OneClassFillsThePool { class, share, busy } => Note::warning(
                "one-class-fills-the-pool",
                format!(
                    "\"{class}\" gets {} of the deliveries and {} of the workers' time",
                    human::percent(*share),
                    human::percent(*busy)
                ),
            )
            .with_hint("its endpoints decide the size of the pool: give it queues and workers of its own, or cap it"),
            PipelineNote::PollingCostsMore { empty, messages, currency } => Note::warning(
                "polling-costs-more",
                format!(
                    "polling idle queues costs up to {} a month, the messages {}",
                    human::money(*empty, currency),
                    human::money(*messages, currency)
                ),
            )
            .with_hint("fewer pollers, fewer queues, or queues only for the partners that need isolation"),
            PipelineNote::ColdStartsReachTheTail { share, warm_s, cold_s } => Note::warning(
                "cold-starts-reach-the-tail",
                format!(
                    "{} of the invocations start cold: their p99 is {} instead of {}",
                    human::percent(*share),
                    human::duration(*cold_s),
                    human::duration(*warm_s)
                ),
            ),
            PipelineNote::OneHoldsUpAll { partner, pooled_p99_s, apart_p99_s } => Note::warning(
                "one-holds-up-all",
                format!(
                    "in one pool the trouble of \"{partner}\" makes everyone else wait {} (p99); apart it would be {}",
                    human::duration(*pooled_p99_s),
                    human::duration(*apart_p99_s)
                ),
            )
            .with_hint("cap what one partner may have in flight, or give it a queue and workers of its own"),
            PipelineNote::AccountConcurrency { functions, account } => Note::warning(
                "account-concurrency",
                format!(
                    "functions would need {} at once at the peak; the account runs {}",
                    human::count(*functions),
                    human::count(*account)
                ),
            )
            .with_hint("ask the provider for more, or deliver from a pool"),
            PipelineNote::PricesAreDated { oldest, newest } => {
                let span = if oldest == newest { oldest.clone() } else { format!("{oldest} to {newest}") };
                Note::info("prices-are-dated", format!("prices are of {span}"))
                    .with_hint("check them before you decide, and give your own with --prices")
            }
        }
    }
}
