//! The numbers behind a verdict in words, and what was not known.

use super::diagnosis::{Diagnosis, Verdict};
use super::signs::Signs;
use crate::notice::Note;
use crate::units::{ArrivalRate, Seconds, human};
use schemars::JsonSchema;
use serde::Serialize;

/// One observation that speaks for the verdict.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Evidence {
    /// What it is about: `in-flight`, `service-time`, `depth`, `age`, `rate`, `retries`, `pool-wait`, `broker`,
    /// `delayed`.
    pub about: &'static str,
    /// The numbers in words.
    pub finding: String,
}

/// The evidence for a verdict, the most telling first.
pub(super) fn of(verdict: Verdict, signs: &Signs<'_>) -> Vec<Evidence> {
    type Finding = fn(&Signs<'_>) -> Option<Evidence>;
    let order: &[Finding] = match verdict {
        Verdict::BrokerLimit => &[broker, in_flight, depth, service_time],
        Verdict::NotConsuming => &[in_flight, depth, age, throughput],
        Verdict::Healthy => &[depth, age, in_flight, service_time, retries, delayed],
        Verdict::PoolStarvation => &[pool_wait, in_flight, service_time, depth, age],
        Verdict::RetryAmplification => &[retries, in_flight, depth, age, service_time, delayed],
        Verdict::SlowOrStuckWorkers => &[in_flight, service_time, throughput, depth, age, capacity],
        Verdict::NotEnoughWorkers => &[in_flight, service_time, capacity, depth, age],
        Verdict::PoisonMessage => &[age, depth, in_flight],
        Verdict::Unexplained => &[in_flight, depth, age, throughput, service_time, capacity, delayed],
    };
    order.iter().filter_map(|finding| finding(signs)).collect()
}

fn finding(about: &'static str, finding: String) -> Option<Evidence> {
    Some(Evidence { about, finding })
}

/// `1 worker serves`, `3 workers serve`.
fn several(count: u64, noun: &str, one: &str, more: &str) -> String {
    format!("{} {}", human::counted(count, noun), if count == 1 { one } else { more })
}

fn in_flight(signs: &Signs<'_>) -> Option<Evidence> {
    let (held, workers) = (signs.seen.in_flight, signs.seen.workers);
    let text = match signs.busy_share {
        None => format!("there are no workers, and {} are in flight", human::counted(held, "message")),
        Some(share) if held > workers => format!(
            "{} are in flight with {}: they are received ahead of their turn, or not acknowledged ({} a worker)",
            human::counted(held, "message"),
            human::counted(workers, "worker"),
            human::significant(share, 3)
        ),
        Some(share) => format!(
            "{} of {} a message ({})",
            human::count(held),
            several(workers, "worker", "holds", "hold"),
            human::percent(share)
        ),
    };
    finding("in-flight", text)
}

fn service_time(signs: &Signs<'_>) -> Option<Evidence> {
    let implied = signs.implied_service_s?;
    let busy = signs.seen.in_flight.min(signs.seen.workers);
    let served = signs.rate(signs.seen.throughput.as_ref()?.get());
    let compared = match (&signs.seen.mean, signs.slowness) {
        (Some(usual), Some(ratio)) if !(0.95..=1.05).contains(&ratio) => {
            format!(", {} times the usual {usual}", human::significant(ratio, 3))
        }
        (Some(usual), _) => format!(", as usual ({usual})"),
        (None, _) => String::new(),
    };
    finding(
        "service-time",
        format!(
            "an attempt takes {}{compared}: {} {served}",
            human::duration(implied),
            several(busy, "busy worker", "ends", "end")
        ),
    )
}

fn throughput(signs: &Signs<'_>) -> Option<Evidence> {
    let served = signs.seen.throughput.as_ref()?;
    let text = if served.is_zero() {
        "no attempt ends".to_owned()
    } else {
        format!("{} end", signs.rate(served.get()))
    };
    let against = signs
        .seen
        .rate
        .as_ref()
        .map_or_else(String::new, |rate| format!(", {} arrive", signs.rate(rate.get())));
    finding("rate", text + &against)
}

fn capacity(signs: &Signs<'_>) -> Option<Evidence> {
    let (capacity, mean) = (signs.capacity_per_s?, signs.seen.mean.as_ref()?);
    let able = format!(
        "{} {} at {mean} each",
        several(signs.seen.workers, "worker", "serves", "serve"),
        signs.rate(capacity)
    );
    let arriving = signs.seen.rate.as_ref().map(|rate| signs.rate(rate.get()));
    let text = match (arriving, signs.workers_needed) {
        (Some(rate), Some(needed)) if needed > signs.seen.workers => {
            format!("{able}, and {rate} arrive: {needed} is the smallest pool that keeps up")
        }
        (Some(rate), _) => {
            format!("{able}, and {rate} arrive: they would keep up, and catch up with what waits")
        }
        (None, _) => able,
    };
    finding("rate", text)
}

fn depth(signs: &Signs<'_>) -> Option<Evidence> {
    let waiting = human::counted(signs.seen.depth, "message");
    let verb = if signs.seen.depth == 1 { "waits" } else { "wait" };
    let work = match signs.work_ahead_s {
        Some(seconds) if signs.seen.depth > 0 => format!(", {} of work", human::duration(seconds)),
        _ => String::new(),
    };
    let movement = match signs.growth_per_s {
        None => String::new(),
        Some(growth) if growth > 0.0 => format!("; the depth grows by {}", signs.rate(growth)),
        Some(growth) if growth < 0.0 => format!("; the depth falls by {}", signs.rate(-growth)),
        Some(_) => "; the depth stays".to_owned(),
    };
    finding("depth", format!("{waiting} {verb}{work}{movement}"))
}

fn age(signs: &Signs<'_>) -> Option<Evidence> {
    let (age, acceptable) = (signs.seen.oldest_age.as_ref()?, &signs.seen.acceptable_age);
    finding("age", format!("the oldest message is {age} old; up to {acceptable} is acceptable"))
}

fn retries(signs: &Signs<'_>) -> Option<Evidence> {
    let attempts = signs.attempts_per_message?;
    let offered = signs.seen.first_attempt_rate.as_ref()?;
    // A message that is tried until it succeeds takes 1/(1−f) attempts.
    let failing = if attempts > 1.0 {
        format!("; about {} of attempts fail", human::percent(1.0 - 1.0 / attempts))
    } else {
        String::new()
    };
    finding(
        "retries",
        format!("{} attempts for each message offered ({offered}){failing}", human::significant(attempts, 3)),
    )
}

fn pool_wait(signs: &Signs<'_>) -> Option<Evidence> {
    let share = human::percent(signs.pool_wait_share?.min(1.0));
    let text = match (&signs.seen.pool_wait, &signs.seen.usual_pool_wait) {
        (Some(wait), _) => format!("an attempt waits {wait} for a connection, {share} of its time"),
        (None, Some(usual)) => {
            let wait = human::duration(usual.mean.get());
            format!("an attempt of the profile waits {wait} for a connection, {share} of its time")
        }
        (None, None) => return None,
    };
    finding("pool-wait", text)
}

fn broker(signs: &Signs<'_>) -> Option<Evidence> {
    let limit = signs.seen.broker_limit?;
    let share = human::percent(signs.seen.in_flight as f64 / limit as f64);
    finding("broker", format!("in flight is at {share} of the broker's limit of {}", human::count(limit)))
}

fn delayed(signs: &Signs<'_>) -> Option<Evidence> {
    let delayed = signs.seen.delayed.filter(|delayed| *delayed > 0)?;
    finding(
        "delayed",
        format!("{} held back on purpose; no worker can take them", human::counted(delayed, "message")),
    )
}

/// What was not known, and what that leaves open.
#[derive(Clone, Debug, PartialEq)]
pub enum DiagnosisNote {
    /// Slow workers cannot be told from too few of them.
    SpeedUnknown {
        /// Whether the throughput is missing.
        throughput: bool,
        /// Whether the usual service time is missing.
        mean: bool,
    },
    /// A poison message cannot be seen.
    AgeUnknown,
    /// More messages are in flight than there are workers.
    HeldAhead {
        /// Messages in flight.
        in_flight: u64,
        /// Workers.
        workers: u64,
    },
    /// Many messages are held back on purpose.
    ManyDelayed {
        /// Messages held back.
        delayed: u64,
    },
    /// The workers do not wait for work, although nothing waits too long yet.
    NoHeadroom,
}

impl DiagnosisNote {
    pub(super) fn all(diagnosis: &Diagnosis, signs: &Signs<'_>) -> Vec<Self> {
        let seen = signs.seen;
        let mut notes = Vec::new();
        if diagnosis.verdict == Verdict::NotEnoughWorkers && signs.slowness.is_none() {
            notes.push(DiagnosisNote::SpeedUnknown {
                throughput: seen.throughput.as_ref().is_none_or(ArrivalRate::is_zero),
                mean: seen.mean.as_ref().is_none_or(Seconds::is_zero),
            });
        }
        if diagnosis.verdict == Verdict::Healthy && seen.oldest_age.is_none() {
            notes.push(DiagnosisNote::AgeUnknown);
        }
        if diagnosis.verdict == Verdict::Healthy && signs.is_full() && seen.workers > 0 {
            notes.push(DiagnosisNote::NoHeadroom);
        }
        if seen.workers > 0 && seen.in_flight > seen.workers {
            notes.push(DiagnosisNote::HeldAhead { in_flight: seen.in_flight, workers: seen.workers });
        }
        if let Some(delayed) = seen.delayed.filter(|delayed| *delayed > seen.depth.max(seen.workers)) {
            notes.push(DiagnosisNote::ManyDelayed { delayed });
        }
        notes
    }
}

impl From<&DiagnosisNote> for Note {
    fn from(note: &DiagnosisNote) -> Note {
        match note {
            DiagnosisNote::SpeedUnknown { throughput, mean } => {
                let flags = match (throughput, mean) {
                    (true, true) => "--throughput and --mean",
                    (true, false) => "--throughput",
                    _ => "--mean",
                };
                Note::warning(
                    "speed-unknown",
                    "slow or stuck workers look the same from here; do not add workers before that is ruled out",
                )
                .with_hint(format!("give {flags}"))
            }
            DiagnosisNote::AgeUnknown => Note::info(
                "age-unknown",
                "without the age of the oldest message, a message that is never delivered cannot be seen",
            )
            .with_hint("give --oldest-age"),
            DiagnosisNote::HeldAhead { in_flight, workers } => Note::warning(
                "held-ahead",
                format!(
                    "{} in flight for {}: messages are received before a worker is free, or not acknowledged and \
                     held until their lease ends",
                    human::count(*in_flight),
                    human::counted(*workers, "worker")
                ),
            )
            .with_hint("take a permit before receiving, and acknowledge as soon as an attempt ends"),
            DiagnosisNote::ManyDelayed { delayed } => Note::info(
                "many-delayed",
                format!(
                    "{} are held back on purpose, as retries with a delay are; they come back later",
                    human::counted(*delayed, "message")
                ),
            ),
            DiagnosisNote::NoHeadroom => {
                Note::warning("no-headroom", "all workers are busy: any rise of the rate builds up a backlog")
            }
        }
    }
}
