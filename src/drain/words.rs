//! The remarks on a drain plan in sentences.

use super::notes::DrainNote;
use super::plan::Bottleneck;
use crate::notice::Note;
use crate::units::human::{self, RateUnit};

/// A net rate in words: `falls by 100/s`.
pub(crate) fn movement(net_per_s: f64, unit: RateUnit) -> String {
    if net_per_s > 0.0 {
        format!("falls by {}", unit.show(net_per_s))
    } else if net_per_s < 0.0 {
        format!("grows by {}", unit.show(-net_per_s))
    } else {
        "stays as it is".to_owned()
    }
}

impl DrainNote {
    /// The remark in a sentence, with its rates in `unit`.
    #[must_use]
    pub fn note(&self, unit: RateUnit) -> Note {
        match self {
            DrainNote::Never { growth_per_s, bottleneck, workers_to_drain, rate_per_s, backlog, earlier } => {
                let message = if *growth_per_s > 0.0 {
                    format!("the backlog never drains: it {}", movement(-growth_per_s, unit))
                } else {
                    "the backlog never drains: as much arrives as leaves".to_owned()
                };
                let note = Note::error("never-drains", message);
                match (workers_to_drain, bottleneck, rate_per_s, earlier) {
                    (Some(workers), ..) => note.with_hint(format!(
                        "{} is the smallest pool with which it falls",
                        human::counted(*workers, "worker")
                    )),
                    (None, Some(Bottleneck::DownstreamLimit), ..) => note,
                    (None, _, Some(rate), _) => {
                        note.with_hint(format!("more than {} must leave for it to fall", unit.show(*rate)))
                    }
                    (None, _, None, Some(earlier)) => note.with_hint(format!(
                        "whsize diagnose --depth {backlog} --in-flight N --workers N --earlier {}@{}s \
                         tells what kind of trouble this is",
                        earlier.backlog,
                        earlier.ago.get()
                    )),
                    (None, _, None, None) => note,
                }
            }
            DrainNote::DownstreamBinds { limit_per_s, hopeless } => {
                let limit = unit.show(*limit_per_s);
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
            DrainNote::DeadlineMissed { deadline_s, left, workers, rate_per_s, fall_per_s } => {
                let left = left.max(0.0).ceil() as u64;
                let note = Note::error(
                    "deadline-missed",
                    format!(
                        "{} still {} after {}",
                        human::counted(left, "message"),
                        if left == 1 { "waits" } else { "wait" },
                        human::duration(*deadline_s)
                    ),
                );
                note.with_hint(match (workers, rate_per_s) {
                    (Some(workers), _) => format!("it takes {}", human::counted(*workers, "worker")),
                    (None, Some(rate)) => format!("{} must leave", unit.show(*rate)),
                    (None, None) => format!("the backlog must fall by {}", unit.show(*fall_per_s)),
                })
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
                        movement(*measured_per_s, unit),
                        movement(*assumed_per_s, unit)
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
            DrainNote::FallsFasterThanServed { measured_per_s, served_per_s, bottleneck } => {
                let who = match bottleneck {
                    Some(Bottleneck::Workers) => "this pool serves",
                    Some(Bottleneck::DownstreamLimit) => "the receiving side takes",
                    Some(Bottleneck::ServedRate) | None => "the consumers serve",
                };
                Note::warning(
                    "readings-disagree",
                    format!(
                        "by the two readings the backlog {}, but {who} {} at most; what is shown follows from \
                         the readings alone",
                        movement(*measured_per_s, unit),
                        unit.show(*served_per_s)
                    ),
                )
                .with_hint("check the two depths, the consumers and their service time")
            }
            DrainNote::GrowsFasterThanArrivals { measured_per_s, rate_per_s } => Note::warning(
                "readings-disagree",
                format!(
                    "by the two readings the backlog {}, but only {} is said to arrive; what is shown follows from \
                     the readings alone",
                    movement(-measured_per_s, unit),
                    unit.show(*rate_per_s)
                ),
            )
            .with_hint("check the two depths and the rate of new messages"),
            DrainNote::LeavesFasterThanLimit { measured_per_s, limit_per_s } => Note::warning(
                "readings-disagree",
                format!(
                    "by the two readings and the rate {} leaves, but the receiving side is said to take {} at most; \
                     the readings are used",
                    unit.show(*measured_per_s),
                    unit.show(*limit_per_s)
                ),
            )
            .with_hint("check the two depths, the rate and the limit"),
            DrainNote::ReadingsTooClose { measured_per_s, deviation_per_s } => Note::warning(
                "readings-too-close",
                format!(
                    "a fall of {} is within chance for readings so close together (\u{b1}{})",
                    unit.show(*measured_per_s),
                    unit.show(2.0 * deviation_per_s)
                ),
            )
            .with_hint("take the readings further apart"),
            DrainNote::Retried { attempts_per_message } => Note::info(
                "retried",
                format!(
                    "a message takes {} on average; the rates count messages, of which each leaves once, \
                     and retries are taken as coming back at once",
                    human::quantity(*attempts_per_message, "attempt")
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
