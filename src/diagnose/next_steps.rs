//! What to check or do next, with the command that answers the next question.

use super::diagnosis::Verdict;
use super::signs::Signs;
use crate::units::{ArrivalRate, Seconds, human};
use schemars::JsonSchema;
use serde::Serialize;

/// One thing to check or do.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct NextStep {
    /// What to check or do.
    pub action: String,
    /// The command that answers it, where there is one; it can be run as it stands.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
}

fn step(action: impl Into<String>) -> NextStep {
    NextStep { action: action.into(), command: None }
}

/// A step with the command that answers it; the step stands without it where the numbers for it are not known.
fn with(action: impl Into<String>, command: Option<String>) -> NextStep {
    NextStep { action: action.into(), command }
}

/// The next steps for a verdict, first things first; in trouble at least one of them has a command.
pub(super) fn of(verdict: Verdict, signs: &Signs<'_>) -> Vec<NextStep> {
    let known = Known(signs);
    let mut steps = for_verdict(verdict, signs, &known);
    if verdict != Verdict::Healthy && steps.iter().all(|step| step.command.is_none()) {
        steps.push(with("read the numbers again in a minute, and compare", known.again()));
    }
    steps
}

fn for_verdict(verdict: Verdict, signs: &Signs<'_>, known: &Known<'_, '_>) -> Vec<NextStep> {
    match verdict {
        Verdict::BrokerLimit => vec![
            step(
                "more workers cannot help: acknowledge each message as soon as its attempt ends, not when its lease does",
            ),
            step("shorten the lease (visibility timeout), or spread the load over several queues"),
            with("see what this load needs in flight", known.size_workers()),
        ],
        Verdict::NotConsuming => vec![
            step(
                "check that consumers run and reach the queue: crash loops, permissions, a wrong queue or region, a paused deployment",
            ),
            step("check the consumers' own log for receive errors before anything is scaled"),
            with("once they receive again, see how long the backlog takes", known.drain()),
        ],
        Verdict::Healthy => vec![with("see how much the rate may rise with this pool", known.size_workers())],
        Verdict::PoolStarvation => vec![
            step(
                "more workers in the same processes only wait longer: make the pool at least as large as the tasks that share it",
            ),
            with("see the pool that each process needs", known.layout()),
        ],
        Verdict::RetryAmplification => vec![
            step(
                "find what fails: status codes by endpoint; stop retrying what cannot succeed (410, 401, refused connections)",
            ),
            step(
                "bound retries to a fifth of the first attempts, with growing delays; more workers only retry faster",
            ),
            with("see what the traffic needs with one retry at most", known.size_with_one_retry()),
        ],
        Verdict::SlowOrStuckWorkers => vec![
            step(
                "find the slow endpoints: service time by host in the attempt log (whsize ingest FILE --group-by host)",
            ),
            step(
                "bound each attempt (connect 3 s, read 10 s) and each host's share of the workers; workers added now are held up as well",
            ),
            with("see what it would take if this service time stays", known.size_at_implied()),
        ],
        Verdict::NotEnoughWorkers => vec![
            with("find the pool that keeps up with this traffic", known.size()),
            with("find the pool that clears the backlog in time", known.drain()),
            step("make sure that the receiving side and the database take the larger pool"),
        ],
        Verdict::PoisonMessage => vec![
            step(
                "look for one message that is received again and again: receive counts, the same identifier in the log",
            ),
            step("set up a dead-letter queue with a small maximum receive count; more workers cannot help"),
            with("read the depth again in a minute, and compare", known.again()),
        ],
        Verdict::Unexplained => unexplained(signs, known),
    }
}

fn unexplained(signs: &Signs<'_>, known: &Known<'_, '_>) -> Vec<NextStep> {
    if signs.is_contradictory() {
        return vec![
            step(
                "the rate and the queue do not fit: check that producers and consumers use the queue that was measured",
            ),
            step("read all numbers over the same minute, and try again"),
        ];
    }
    vec![
        step(
            "work waits while workers are free: look for limits between them, such as a rate limit, a cap for each host, ordered message groups, or small receive batches",
        ),
        step(
            "read the missing numbers over the same minute: throughput, rate, the usual service time, the oldest age",
        ),
        with("read the depth again in a minute, and compare", known.again()),
    ]
}

/// A number as it is typed: six digits, without separators.
fn typed(value: f64) -> String {
    human::significant(value, 6).replace(',', "")
}

/// Commands from what is known.
struct Known<'a, 'b>(&'b Signs<'a>);

impl Known<'_, '_> {
    fn rate(&self) -> Option<f64> {
        self.0.seen.rate.as_ref().map(ArrivalRate::get).filter(|rate| *rate > 0.0)
    }

    fn mean_s(&self) -> Option<f64> {
        self.0.seen.mean.as_ref().map(Seconds::get).or(self.0.implied_service_s)
    }

    fn traffic(&self) -> Option<String> {
        Some(format!("--rate {} --mean {}", typed(self.rate()?), typed(self.mean_s()?)))
    }

    fn size(&self) -> Option<String> {
        Some(format!("whsize size {} --wait 0.5", self.traffic()?))
    }

    fn size_workers(&self) -> Option<String> {
        let workers = self.0.seen.workers;
        (workers > 0).then_some(())?;
        Some(format!("whsize size {} --wait 0.5 --workers {workers}", self.traffic()?))
    }

    fn size_at_implied(&self) -> Option<String> {
        Some(format!(
            "whsize size --rate {} --mean {} --wait 0.5",
            typed(self.rate()?),
            typed(self.0.implied_service_s?)
        ))
    }

    fn size_with_one_retry(&self) -> Option<String> {
        let first = self.0.seen.first_attempt_rate.as_ref().filter(|rate| !rate.is_zero())?.get();
        let failing = 1.0 - 1.0 / self.0.attempts_per_message?;
        Some(format!(
            "whsize size --first-attempt-rate {} --failure-share {} --max-attempts 2 --mean {} --wait 0.5",
            typed(first),
            human::significant(failing, 3),
            typed(self.mean_s()?)
        ))
    }

    fn drain(&self) -> Option<String> {
        let rate = self.0.seen.rate.as_ref()?.get();
        Some(format!(
            "whsize drain --backlog {} --rate {} --mean {} --within 1h",
            self.0.seen.depth,
            typed(rate),
            typed(self.mean_s()?)
        ))
    }

    fn layout(&self) -> Option<String> {
        let workers = self.0.seen.workers;
        (workers > 0).then(|| format!("whsize layout --concurrency {workers}"))
    }

    fn again(&self) -> Option<String> {
        let seen = self.0.seen;
        Some(format!(
            "whsize diagnose --depth {} --in-flight {} --workers {} --earlier {}@1m{}",
            seen.depth,
            seen.in_flight,
            seen.workers,
            seen.depth,
            seen.oldest_age
                .as_ref()
                .map_or_else(String::new, |age| format!(" --oldest-age {}", typed(age.get())))
        ))
    }
}
