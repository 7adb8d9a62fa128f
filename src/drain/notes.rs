//! What the reader of a drain plan should know, as facts; the words are made in one place.

use super::flow::Trend;
use super::plan::{Bottleneck, DrainPlan};
use super::solve::Solved;
use crate::notice::Note;
use crate::units::{Exact, human};

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
        /// Messages a second that must leave.
        rate_per_s: Option<f64>,
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
    if let (true, Some(assumed)) = (solved.flow.disagrees, &solved.flow.assumed) {
        let served = plan.served_rate_per_s.filter(|&served| served > 0.0);
        notes.push(DrainNote::ReadingsDisagree {
            measured_per_s: plan.net_rate_per_s,
            assumed_per_s: assumed.net_per_s(),
            implied_service_s: solved
                .workers
                .zip(served)
                .filter(|_| plan.bottleneck == Some(Bottleneck::Workers))
                .map(|(workers, served)| workers as f64 / served),
        });
    }
    if let (Some(earlier), Trend::Shrinking(_)) = (&solved.question.earlier, &solved.flow.trend)
        && let Some(deviation_per_s) = solved.flow.net_deviation(earlier)
        && plan.net_rate_per_s < 2.0 * deviation_per_s
    {
        notes.push(DrainNote::ReadingsTooClose { measured_per_s: plan.net_rate_per_s, deviation_per_s });
    }
    notes
}

/// A net rate in words: `falls by 100/s`.
fn movement(net_per_s: f64) -> String {
    if net_per_s > 0.0 {
        format!("falls by {}", human::rate(net_per_s))
    } else if net_per_s < 0.0 {
        format!("grows by {}", human::rate(-net_per_s))
    } else {
        "stays as it is".to_owned()
    }
}

impl From<&DrainNote> for Note {
    fn from(note: &DrainNote) -> Note {
        match note {
            DrainNote::Never { growth_per_s, bottleneck, workers_to_drain, rate_per_s } => {
                let message = if *growth_per_s > 0.0 {
                    format!("the backlog never drains: it grows by {}", human::rate(*growth_per_s))
                } else {
                    "the backlog never drains: as much arrives as leaves".to_owned()
                };
                let note = Note::error("never-drains", message);
                match (workers_to_drain, bottleneck, rate_per_s) {
                    (Some(workers), ..) => note.with_hint(format!(
                        "{} is the smallest pool with which it falls",
                        human::counted(*workers, "worker")
                    )),
                    (None, Some(Bottleneck::DownstreamLimit), _) => note,
                    (None, _, Some(rate)) => {
                        note.with_hint(format!("more than {} must leave for it to fall", human::rate(*rate)))
                    }
                    (None, _, None) => {
                        note.with_hint("whsize diagnose tells what kind of trouble this is".to_owned())
                    }
                }
            }
            DrainNote::DownstreamBinds { limit_per_s, hopeless } => {
                let limit = human::rate(*limit_per_s);
                if *hopeless {
                    Note::error(
                        "downstream-limit",
                        format!("the receiving side takes {limit} at most, so more workers cannot help"),
                    )
                    .with_hint(
                        "raise that limit, spread the load over more receivers, or slow the senders down",
                    )
                } else {
                    Note::warning(
                        "downstream-limit",
                        format!("the receiving side's limit of {limit} sets the pace, not the workers"),
                    )
                    .with_hint("more workers only queue up in front of it")
                }
            }
            DrainNote::DeadlineMissed { deadline_s, left, workers, rate_per_s } => {
                let note = Note::error(
                    "deadline-missed",
                    format!(
                        "{} messages still wait after {}",
                        human::count(left.max(0.0).ceil() as u64),
                        human::duration(*deadline_s)
                    ),
                );
                match (workers, rate_per_s) {
                    (Some(workers), _) => {
                        note.with_hint(format!("it takes {}", human::counted(*workers, "worker")))
                    }
                    (None, Some(rate)) => note.with_hint(format!("{} must leave", human::rate(*rate))),
                    (None, None) => note,
                }
            }
            DrainNote::LatencyMissed { wait_s, acceptable_s, workers } => {
                let acceptable = human::duration(*acceptable_s);
                let message = match wait_s {
                    Some(wait_s) => {
                        format!(
                            "a message that arrives now waits {}, {acceptable} is acceptable",
                            human::duration(*wait_s)
                        )
                    }
                    None => {
                        format!("a message that arrives now waits without end, {acceptable} is acceptable")
                    }
                };
                let note = Note::error("latency-missed", message);
                match workers {
                    Some(workers) => {
                        note.with_hint(format!("it takes {}", human::counted(*workers, "worker")))
                    }
                    None => note,
                }
            }
            DrainNote::Fragile { headroom: 0.0 } => Note::warning(
                "fragile",
                "as much arrives as leaves: any rise of the rate builds up a backlog",
            ),
            DrainNote::Fragile { headroom } => Note::warning(
                "fragile",
                format!("if the rate rises by {}, the backlog stops falling", human::percent(*headroom)),
            ),
            DrainNote::ReadingsDisagree { measured_per_s, assumed_per_s, implied_service_s } => {
                let note = Note::warning(
                    "readings-disagree",
                    format!(
                        "by the two readings the backlog {}, by the given rates it {}; the readings are used",
                        movement(*measured_per_s),
                        movement(*assumed_per_s)
                    ),
                );
                match implied_service_s {
                    Some(seconds) => note.with_hint(format!(
                        "a message seems to take {} of a worker's time; check the service time and the rate",
                        human::duration(*seconds)
                    )),
                    None => note.with_hint("check the rates, or take the readings further apart"),
                }
            }
            DrainNote::ReadingsTooClose { measured_per_s, deviation_per_s } => Note::warning(
                "readings-too-close",
                format!(
                    "a fall of {} is within chance for readings so close together (\u{b1}{})",
                    human::rate(*measured_per_s),
                    human::rate(2.0 * deviation_per_s)
                ),
            )
            .with_hint("take the readings further apart"),
            DrainNote::Retried { attempts_per_message } => Note::info(
                "retried",
                format!(
                    "a message takes {} attempts on average; the rates count messages, of which each leaves once, \
                     and retries are taken as coming back at once",
                    human::significant(*attempts_per_message, 4)
                ),
            ),
            DrainNote::FewerThanWorkers { service_mean_s } => Note::info(
                "fewer-than-workers",
                format!(
                    "there are fewer messages than workers: the last one ends about a service time ({}) from now",
                    human::duration(*service_mean_s)
                ),
            ),
            DrainNote::OrderAssumed => Note::info(
                "order-assumed",
                "the longest wait holds if messages leave in the order of their arrival; a queue without order can \
                 keep some of them longer",
            ),
            DrainNote::IntervalOfChance { confidence } => Note::info(
                "interval-of-chance",
                format!(
                    "the interval ({} confidence) is what chance leaves open if the rates stay as they are",
                    human::percent(*confidence)
                ),
            ),
        }
    }
}
