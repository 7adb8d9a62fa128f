//! What the reader of a drain plan should know, as facts; `words` puts them into sentences.

use super::EarlierDepth;
use super::flow::{Disagreement, Trend};
use super::plan::{Bottleneck, DrainPlan};
use super::solve::Solved;
use crate::units::Exact;

/// A backlog that falls by less than this share of what arrives is called fragile.
const LITTLE_HEADROOM: f64 = 0.05;

/// One remark on a drain plan.
#[derive(Clone, Debug, PartialEq)]
pub enum DrainNote {
    /// The backlog is never gone.
    Never {
        /// Messages a second by which it grows; zero where it stays.
        growth_per_s: f64,
        /// What sets the rate at which messages leave.
        bottleneck: Option<Bottleneck>,
        /// The smallest pool with which it falls.
        workers_to_drain: Option<u64>,
        /// New messages a second.
        rate_per_s: Option<f64>,
        /// Messages that wait now.
        backlog: u64,
        /// The earlier reading, where there is one.
        earlier: Option<EarlierDepth>,
    },
    /// The receiving side's limit sets the pace.
    DownstreamBinds {
        /// Attempts a second that it takes.
        limit_per_s: f64,
        /// Whether the limit is at or below what arrives.
        hopeless: bool,
    },
    /// It is not gone by the deadline.
    DeadlineMissed {
        /// The deadline in seconds.
        deadline_s: f64,
        /// Messages that still wait then.
        left: f64,
        /// The smallest pool that keeps it; `None` where no number of workers does.
        workers: Option<u64>,
        /// Messages a second that must leave; `None` where it is not known how many arrive.
        rate_per_s: Option<f64>,
        /// Messages a second by which the backlog must fall.
        fall_per_s: f64,
    },
    /// A message that arrives now waits longer than is acceptable.
    LatencyMissed {
        /// Its wait in seconds; `None` where nothing leaves.
        wait_s: Option<f64>,
        /// What is acceptable, in seconds.
        acceptable_s: f64,
        /// The smallest pool that keeps it; `None` where no number of workers does.
        workers: Option<u64>,
    },
    /// A small rise of the rate stops the draining.
    Fragile {
        /// By which share the rate may rise.
        headroom: f64,
    },
    /// The rates and the depth readings do not fit together.
    ReadingsDisagree {
        /// What the readings say, in messages a second by which the backlog falls.
        measured_per_s: f64,
        /// What the rates say.
        assumed_per_s: f64,
        /// The time of a worker that a message then takes, in seconds.
        implied_service_s: Option<f64>,
    },
    /// By the readings the backlog falls faster than the consumers serve, even if nothing arrives.
    FallsFasterThanServed {
        /// Messages a second by which it falls.
        measured_per_s: f64,
        /// Messages a second that the consumers serve.
        served_per_s: f64,
        /// What sets that number.
        bottleneck: Option<Bottleneck>,
    },
    /// By the readings the backlog grows faster than messages arrive, even if nothing leaves.
    GrowsFasterThanArrivals {
        /// Messages a second by which it grows.
        measured_per_s: f64,
        /// Messages a second that arrive.
        rate_per_s: f64,
    },
    /// By the readings more leaves than the receiving side is said to take.
    LeavesFasterThanLimit {
        /// Messages a second that leave.
        measured_per_s: f64,
        /// Messages a second that the receiving side takes.
        limit_per_s: f64,
    },
    /// The readings are too close together to tell draining from chance.
    ReadingsTooClose {
        /// What they say, in messages a second.
        measured_per_s: f64,
        /// The standard deviation of that.
        deviation_per_s: f64,
    },
    /// Failed attempts are tried again.
    Retried {
        /// Attempts that a message takes on average.
        attempts_per_message: f64,
    },
    /// There are fewer messages than workers.
    FewerThanWorkers {
        /// The mean service time, in seconds.
        service_mean_s: f64,
    },
    /// The longest wait holds for a queue in order.
    OrderAssumed,
    /// What the interval covers.
    IntervalOfChance {
        /// The confidence, between 0 and 1.
        confidence: f64,
    },
}

impl DrainNote {
    /// Every remark that applies.
    pub(super) fn all(solved: &Solved<'_>, plan: &DrainPlan) -> Vec<Self> {
        let mut notes = verdict(solved, plan);
        notes.extend(readings(solved, plan));
        if let (Some(rate), true) = (plan.arrival_rate_per_s, plan.drains)
            && plan.net_rate_per_s < LITTLE_HEADROOM * rate
        {
            notes.push(DrainNote::Fragile { headroom: plan.net_rate_per_s / rate });
        }
        if let Some(attempts_per_message) = plan.attempts_per_message {
            notes.push(DrainNote::Retried { attempts_per_message });
        }
        let backlog = solved.question.backlog;
        if let (Some(service), Some(workers)) = (solved.question.service(), solved.workers)
            && (1..workers).contains(&backlog)
        {
            notes.push(DrainNote::FewerThanWorkers { service_mean_s: service.mean.get() });
        }
        if plan.drain_s.is_some_and(|seconds| seconds > 0.0) {
            notes.extend(plan.oldest_age_at_end_s.map(|_| DrainNote::OrderAssumed));
            notes.extend(
                plan.drain_interval_confidence.map(|confidence| DrainNote::IntervalOfChance { confidence }),
            );
        }
        notes
    }
}

fn verdict(solved: &Solved<'_>, plan: &DrainPlan) -> Vec<DrainNote> {
    let question = solved.question;
    let mut notes = Vec::new();
    if !plan.drains {
        notes.push(DrainNote::Never {
            growth_per_s: (-plan.net_rate_per_s).max(0.0),
            bottleneck: plan.bottleneck,
            workers_to_drain: plan.workers_to_drain,
            rate_per_s: plan.arrival_rate_per_s,
            backlog: question.backlog,
            earlier: question.earlier.clone(),
        });
    }
    if let (Some(Bottleneck::DownstreamLimit), Some(limit)) = (plan.bottleneck, &question.downstream_limit) {
        let hopeless = solved
            .capacity
            .as_ref()
            .zip(solved.flow.rate.as_ref())
            .is_some_and(|(capacity, rate)| capacity.served <= *rate);
        notes.push(DrainNote::DownstreamBinds { limit_per_s: limit.get(), hopeless });
    }
    if let (Some(false), Some(deadline)) = (plan.meets_deadline, &question.deadline) {
        let deadline_s = deadline.get();
        notes.push(DrainNote::DeadlineMissed {
            deadline_s,
            left: question.backlog as f64 - plan.net_rate_per_s * deadline_s,
            workers: plan.workers_for_deadline,
            rate_per_s: plan.served_rate_for_deadline_per_s,
            fall_per_s: question.backlog as f64 / deadline_s,
        });
    }
    if let (Some(false), Some(latency)) = (plan.meets_acceptable_latency, &question.acceptable_latency) {
        notes.push(DrainNote::LatencyMissed {
            wait_s: solved.wait_now().as_ref().map(Exact::to_f64),
            acceptable_s: latency.get(),
            workers: plan.workers_for_acceptable_latency,
        });
    }
    notes
}

fn readings(solved: &Solved<'_>, plan: &DrainPlan) -> Vec<DrainNote> {
    let mut notes = Vec::new();
    notes.extend(solved.flow.disagreement.as_ref().map(|found| disagreement(found, solved, plan)));
    if let (Some(earlier), Trend::Shrinking(_)) = (&solved.question.earlier, &solved.flow.trend)
        && let Some(deviation_per_s) = solved.flow.net_deviation(earlier)
        && plan.net_rate_per_s < 2.0 * deviation_per_s
    {
        notes.push(DrainNote::ReadingsTooClose { measured_per_s: plan.net_rate_per_s, deviation_per_s });
    }
    notes
}

fn disagreement(found: &Disagreement, solved: &Solved<'_>, plan: &DrainPlan) -> DrainNote {
    let measured_per_s = plan.net_rate_per_s;
    let served = plan.served_rate_per_s.filter(|&served| served > 0.0);
    match found {
        Disagreement::OtherTrend(assumed) => DrainNote::ReadingsDisagree {
            measured_per_s,
            assumed_per_s: assumed.net_per_s(),
            implied_service_s: solved
                .workers
                .zip(served)
                .filter(|_| plan.bottleneck == Some(Bottleneck::Workers))
                .map(|(workers, served)| workers as f64 / served),
        },
        Disagreement::FallsFasterThanServed(served) => DrainNote::FallsFasterThanServed {
            measured_per_s,
            served_per_s: served.to_f64(),
            bottleneck: solved.capacity.as_ref().map(|capacity| capacity.bottleneck),
        },
        Disagreement::GrowsFasterThanArrivals(rate) => {
            DrainNote::GrowsFasterThanArrivals { measured_per_s: -measured_per_s, rate_per_s: rate.to_f64() }
        }
        Disagreement::LeavesFasterThanLimit(limit) => DrainNote::LeavesFasterThanLimit {
            measured_per_s: served.unwrap_or_default(),
            limit_per_s: limit.to_f64(),
        },
    }
}
