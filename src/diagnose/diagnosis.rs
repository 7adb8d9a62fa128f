//! The answer: the kind of trouble, what led to it, what to do next. Documented once; every output reads it.

use super::evidence::{self, DiagnosisNote, Evidence};
use super::next_steps::{self, NextStep};
use super::observation::Observation;
use super::signs::Signs;
use schemars::JsonSchema;
use serde::Serialize;

/// A kind of trouble.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// In flight is at the broker's ceiling: it hands out no more, whatever the number of workers.
    BrokerLimit,
    /// Messages wait, and hardly any is received: consumers are down, refused, or crash.
    NotConsuming,
    /// Nothing waits longer than is acceptable.
    Healthy,
    /// Workers hold messages and wait for a connection out of a pool that is too small.
    PoolStarvation,
    /// Far more attempts arrive than messages are offered: failures come back.
    RetryAmplification,
    /// All workers are busy and take longer than usual, or never end.
    SlowOrStuckWorkers,
    /// All workers are busy at their usual speed, and it is not enough.
    NotEnoughWorkers,
    /// One message, or a few, is far older than the queue explains.
    PoisonMessage,
    /// These numbers explain nothing.
    Unexplained,
}

/// What kind of trouble a queue is in.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Diagnosis {
    /// The kind of trouble to deal with first.
    pub verdict: Verdict,
    /// Further kinds of trouble that the same numbers show.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub also: Vec<Verdict>,
    /// The numbers that led to the verdict.
    pub evidence: Vec<Evidence>,
    /// What to check or do next, first things first.
    pub next_steps: Vec<NextStep>,
    /// Whether more workers help. Only where there are not enough of them.
    pub scaling_out_helps: bool,
    /// Messages in flight for each worker; absent without workers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub in_flight_per_worker: Option<f64>,
    /// The time that a busy worker takes for an attempt, in seconds: busy workers over throughput. Absent where the
    /// throughput is not known or zero.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub implied_service_time_s: Option<f64>,
    /// That over the usual service time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub service_time_ratio: Option<f64>,
    /// Attempts a second that the workers serve at the usual service time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub capacity_per_s: Option<f64>,
    /// The smallest pool that keeps up with the rate at the usual service time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub workers_to_keep_up: Option<u64>,
    /// How long the waiting messages take to be served, in seconds, with nothing new.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub work_ahead_s: Option<f64>,
    /// Attempts for each message that is offered.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub attempts_per_message: Option<f64>,
    /// Messages a second by which the depth grows between the two readings; negative where it falls.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub growth_per_s: Option<f64>,
}

/// An answer with what its reader should know.
#[derive(Clone, Debug, PartialEq)]
pub struct Diagnosed {
    /// The answer.
    pub diagnosis: Diagnosis,
    /// What was not known, and what it leaves open.
    pub notes: Vec<DiagnosisNote>,
}

/// One trace and the trouble that leaves it.
type Rule = (Verdict, fn(&Signs<'_>) -> bool);

/// What is looked for, in the order in which it must be dealt with: a cause comes before what it causes.
const RULES: [Rule; 8] = [
    (Verdict::BrokerLimit, |signs| signs.is_at_broker_limit()),
    (Verdict::NotConsuming, |signs| signs.is_not_consuming()),
    (Verdict::Healthy, |signs| signs.is_quiet()),
    (Verdict::PoolStarvation, |signs| signs.is_starved()),
    (Verdict::RetryAmplification, |signs| signs.is_amplified()),
    (Verdict::SlowOrStuckWorkers, |signs| signs.is_slow()),
    (Verdict::NotEnoughWorkers, |signs| signs.is_short_of_workers()),
    (Verdict::PoisonMessage, |signs| signs.holds_a_poison_message()),
];

impl Observation {
    /// Says what kind of trouble this is.
    #[must_use]
    pub fn diagnose(&self) -> Diagnosed {
        let signs = Signs::of(self);
        let mut found = RULES.iter().filter(|(_, shows)| shows(&signs)).map(|(verdict, _)| *verdict);
        let verdict = found.next().unwrap_or(Verdict::Unexplained);
        // More workers help only where nothing else is wrong, so a lack of them is never the second trouble.
        let also = found.filter(|other| !matches!(other, Verdict::Healthy | Verdict::NotEnoughWorkers));
        let diagnosis = Diagnosis {
            verdict,
            also: also.collect(),
            evidence: evidence::of(verdict, &signs),
            next_steps: next_steps::of(verdict, &signs),
            scaling_out_helps: verdict == Verdict::NotEnoughWorkers,
            in_flight_per_worker: signs.busy_share,
            implied_service_time_s: signs.implied_service_s,
            service_time_ratio: signs.slowness,
            capacity_per_s: signs.capacity_per_s,
            workers_to_keep_up: signs.workers_needed,
            work_ahead_s: signs.work_ahead_s,
            attempts_per_message: signs.attempts_per_message,
            growth_per_s: signs.growth_per_s,
        };
        let notes = DiagnosisNote::all(&diagnosis, &signs);
        Diagnosed { diagnosis, notes }
    }
}
