//! What the reader of a decision or of a replay should know.

use super::decision::{Decision, Observed};
use super::engine::Replay;
use super::outcome::Outcome;
use super::policy::{Policy, PolicyName};
use crate::notice::Note;
use crate::units::human;

/// One remark.
#[derive(Clone, Debug, PartialEq)]
pub enum AutoscaleNote {
    /// The load needs more replicas than the maximum allows.
    MaximumTooLow {
        /// Replicas that the load needs.
        floor: u64,
        /// Replicas that are allowed.
        maximum: u64,
    },
    /// The guides' floor is too low here.
    FloorCorrected {
        /// The floor.
        floor: u64,
        /// As the guides publish it.
        published: u64,
    },
    /// The policy has no floor by the load, and takes replicas away from a fleet that is healthy because of them.
    NoLoadFloor(PolicyName),
    /// Waiting for the receiving side uses hardly any processor time.
    CpuIsBlind,
    /// Depth says nothing of how long messages wait.
    DepthIsNotWait,
    /// The receiving side's limit is below what arrives; more replicas are refused more often.
    DownstreamBinds {
        /// Attempts a second that it takes.
        limit_per_s: f64,
    },
    /// The objective was missed.
    ObjectiveMissed {
        /// For how long, in seconds.
        missed_s: f64,
        /// The largest age, in seconds.
        age_max_s: f64,
        /// The objective, in seconds.
        objective_s: f64,
    },
    /// Something still waits at the end.
    BacklogAtEnd {
        /// Messages.
        backlog: f64,
    },
    /// A poison message distorts the age.
    AgeNeedsDeadLetters,
}

impl AutoscaleNote {
    /// Remarks on a decision.
    #[must_use]
    pub fn of_decision(policy: &Policy, observed: &Observed, decision: &Decision) -> Vec<Self> {
        let bounds = policy.controller.bounds;
        let mut notes = Vec::new();
        if !decision.floor_within_maximum {
            notes.push(AutoscaleNote::MaximumTooLow { floor: decision.floor, maximum: bounds.maximum });
        }
        if let Some(published) = decision.floor_as_published.filter(|published| *published < decision.floor) {
            notes.push(AutoscaleNote::FloorCorrected { floor: decision.floor, published });
        }
        let needed = observed.floor().unwrap_or(0);
        if policy.name == PolicyName::HpaAge && needed > decision.desired {
            notes.push(AutoscaleNote::NoLoadFloor(policy.name));
        }
        notes
    }

    /// Remarks on a replay.
    #[must_use]
    pub fn of_replay(replay: &Replay, outcome: &Outcome) -> Vec<Self> {
        let mut notes = Vec::new();
        let objective_s = replay.objective.get();
        let shown = &outcome.shown;
        if shown.objective_missed_s > 0.0 {
            notes.push(AutoscaleNote::ObjectiveMissed {
                missed_s: shown.objective_missed_s,
                age_max_s: shown.oldest_age_max_s,
                objective_s,
            });
        }
        if shown.backlog_at_end >= 1.0 {
            notes.push(AutoscaleNote::BacklogAtEnd { backlog: shown.backlog_at_end });
        }
        let needed = replay.trace.rows().iter().filter_map(|row| {
            let mean = row.mean.as_ref().unwrap_or(&replay.mean);
            row.rate.offered_load(mean).ceil().map(|load| load.div_ceil(replay.tasks_per_replica.max(1)))
        });
        let (floor, maximum) = (needed.max().unwrap_or(0), replay.policy.controller.bounds.maximum);
        if floor > maximum {
            notes.push(AutoscaleNote::MaximumTooLow { floor, maximum });
        }
        if let Some(downstream) = &replay.downstream
            && replay.trace.rows().iter().any(|row| row.rate > downstream.limit)
        {
            notes.push(AutoscaleNote::DownstreamBinds { limit_per_s: downstream.limit.get() });
        }
        match replay.policy.name {
            PolicyName::HpaAge => notes.push(AutoscaleNote::NoLoadFloor(PolicyName::HpaAge)),
            PolicyName::Cpu => notes.push(AutoscaleNote::CpuIsBlind),
            PolicyName::Depth => notes.push(AutoscaleNote::DepthIsNotWait),
            PolicyName::Age | PolicyName::HpaAgeAndLoad | PolicyName::Backlog => {}
        }
        if matches!(replay.policy.name, PolicyName::Age | PolicyName::HpaAge | PolicyName::HpaAgeAndLoad) {
            notes.push(AutoscaleNote::AgeNeedsDeadLetters);
        }
        notes
    }
}

impl From<&AutoscaleNote> for Note {
    fn from(note: &AutoscaleNote) -> Note {
        match note {
            AutoscaleNote::MaximumTooLow { floor, maximum } => Note::error(
                "maximum-too-low",
                format!(
                    "the maximum of {} is too low: the load alone needs {}",
                    human::counted(*maximum, "replica"),
                    human::count(*floor)
                ),
            )
            .with_hint(format!("give --max {floor} or more, or more tasks a replica")),
            AutoscaleNote::FloorCorrected { floor, published } => Note::info(
                "floor-corrected",
                format!(
                    "the guides truncate the load before they divide it: their floor is {}, and the load needs {}",
                    human::count(*published),
                    human::count(*floor)
                ),
            ),
            AutoscaleNote::NoLoadFloor(policy) => Note::warning(
                "no-load-floor",
                format!(
                    "{} takes replicas away from a fleet that is healthy because it has them: nothing waits, so the \
                     age says that fewer will do",
                    policy.as_str()
                ),
            )
            .with_hint("add a second trigger by the load, \u{2308}\u{3bb}S / tasks\u{2309}: hpa-age-and-load"),
            AutoscaleNote::CpuIsBlind => Note::warning(
                "cpu-is-blind",
                "a worker that waits for somebody else's server uses hardly any processor time, so processor use stays \
                 low however long the queue is",
            )
            .with_hint("scale by age"),
            AutoscaleNote::DepthIsNotWait => Note::warning(
                "depth-is-not-wait",
                "a depth says how many messages wait, not how long: a slow endpoint makes the same depth wait longer",
            )
            .with_hint("scale by age"),
            AutoscaleNote::DownstreamBinds { limit_per_s } => Note::warning(
                "downstream-limit",
                format!(
                    "the receiving side takes {}, and more arrive: replicas that are added are refused, and refusing \
                     costs it as well",
                    human::rate(*limit_per_s)
                ),
            )
            .with_hint("slow the senders down, or cap the replicas at what the limit can use"),
            AutoscaleNote::ObjectiveMissed { missed_s, age_max_s, objective_s } => Note::error(
                "objective-missed",
                format!(
                    "the oldest message is older than {} for {}, and {} at worst",
                    human::duration(*objective_s),
                    human::duration(*missed_s),
                    human::duration(*age_max_s)
                ),
            ),
            AutoscaleNote::BacklogAtEnd { backlog } => Note::warning(
                "backlog-at-end",
                format!("{} messages still wait at the end", human::significant(*backlog, 6)),
            ),
            AutoscaleNote::AgeNeedsDeadLetters => Note::info(
                "age-needs-dead-letters",
                "one message that is never done drives the age, and with it the replicas, to the maximum",
            )
            .with_hint("set up a dead-letter queue before scaling by age"),
        }
    }
}
