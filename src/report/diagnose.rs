//! The report of `diagnose`.

use super::{Answer, Explanation, NotFinite, Report, Section};
use crate::diagnose::{Diagnosed, Diagnosis, Observation, Verdict};
use crate::notice::Note;
use crate::units::{ArrivalRate, Seconds, human};
use serde::Serialize;

/// What `diagnose` was given, as the envelope shows it.
#[derive(Serialize)]
struct Inputs {
    depth: u64,
    in_flight: u64,
    workers: u64,
    acceptable_age_s: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    delayed: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    oldest_age_s: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    earlier_depth: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    earlier_ago_s: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    throughput_per_s: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    rate_per_s: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    first_attempt_rate_per_s: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    service_mean_s: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pool_wait_s: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    usual_pool_wait_s: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    broker_in_flight_limit: Option<u64>,
}

/// Builds the report of a diagnosis.
///
/// # Errors
/// If a number is not finite, which would be a defect.
pub fn report(seen: &Observation, diagnosed: &Diagnosed) -> Result<Report, NotFinite> {
    let diagnosis = &diagnosed.diagnosis;
    let answer = if diagnosis.verdict == Verdict::Healthy { Answer::Yes } else { Answer::No };
    let mut report = Report::new("diagnose", answer, headline(diagnosis), &inputs(seen), diagnosis)?;
    let evidence = diagnosis.evidence.iter();
    report.sections.push(Section::Facts {
        title: "What led to this",
        rows: evidence.map(|found| (found.about.replace('-', " "), found.finding.clone())).collect(),
    });
    report.sections.push(next_steps(diagnosis));
    report.notes = diagnosed.notes.iter().map(Note::from).collect();
    report.explanations = explanations(seen, diagnosis);
    Ok(report)
}

fn inputs(seen: &Observation) -> Inputs {
    let seconds = |time: &Option<Seconds>| time.as_ref().map(Seconds::get);
    let rate = |rate: &Option<ArrivalRate>| rate.as_ref().map(ArrivalRate::get);
    Inputs {
        depth: seen.depth,
        in_flight: seen.in_flight,
        workers: seen.workers,
        acceptable_age_s: seen.acceptable_age.get(),
        delayed: seen.delayed,
        oldest_age_s: seconds(&seen.oldest_age),
        earlier_depth: seen.earlier.as_ref().map(|earlier| earlier.backlog),
        earlier_ago_s: seen.earlier.as_ref().map(|earlier| earlier.ago.get()),
        throughput_per_s: rate(&seen.throughput),
        rate_per_s: rate(&seen.rate),
        first_attempt_rate_per_s: rate(&seen.first_attempt_rate),
        service_mean_s: seconds(&seen.mean),
        pool_wait_s: seconds(&seen.pool_wait),
        usual_pool_wait_s: seen.usual_pool_wait.as_ref().map(|usual| usual.mean.get()),
        broker_in_flight_limit: seen.broker_limit,
    }
}

fn headline(diagnosis: &Diagnosis) -> String {
    let verdict = match diagnosis.verdict {
        Verdict::BrokerLimit => {
            "The broker hands out no more messages: its limit in flight is reached, and more workers cannot help."
        }
        Verdict::NotConsuming => {
            "Nothing is consuming: messages wait, and hardly any is received. This is no lack of workers."
        }
        Verdict::Healthy => "Healthy: nothing waits longer than is acceptable.",
        Verdict::PoolStarvation => {
            "Workers wait for connections: the pool of connections is too small, not the number of workers."
        }
        Verdict::RetryAmplification => {
            "Retries: far more attempts arrive than messages are offered. More workers would retry faster."
        }
        Verdict::SlowOrStuckWorkers => {
            "All workers are busy and slow or stuck: the endpoints hold them up, and more workers would be held up too."
        }
        Verdict::NotEnoughWorkers => "Not enough workers: all are busy, and more of them help.",
        Verdict::PoisonMessage => {
            "A message that is never done: the oldest one is far older than the queue explains. More workers cannot help."
        }
        Verdict::Unexplained => {
            "These numbers explain nothing: work waits, and it is neither for lack of workers nor for slow ones."
        }
    };
    let also: Vec<&str> = diagnosis.also.iter().map(|other| name(*other)).collect();
    if also.is_empty() { verdict.to_owned() } else { format!("{verdict} Also: {}.", also.join(", ")) }
}

fn name(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::BrokerLimit => "the broker's limit",
        Verdict::NotConsuming => "nothing consuming",
        Verdict::Healthy => "healthy",
        Verdict::PoolStarvation => "workers that wait for connections",
        Verdict::RetryAmplification => "more retries than are good",
        Verdict::SlowOrStuckWorkers => "slow or stuck workers",
        Verdict::NotEnoughWorkers => "not enough workers",
        Verdict::PoisonMessage => "a message that is never done",
        Verdict::Unexplained => "unexplained",
    }
}

fn next_steps(diagnosis: &Diagnosis) -> Section {
    let rows = diagnosis.next_steps.iter().enumerate().flat_map(|(index, step)| {
        // A command stands on a line of its own, to be copied.
        let command = step.command.iter().map(|command| (String::new(), command.clone()));
        std::iter::once(((index + 1).to_string(), step.action.clone())).chain(command)
    });
    Section::Facts { title: "Next", rows: rows.collect() }
}

fn explanations(seen: &Observation, diagnosis: &Diagnosis) -> Vec<Explanation> {
    let mut steps = Vec::new();
    if let (Some(implied), Some(throughput)) = (diagnosis.implied_service_time_s, &seen.throughput) {
        steps.push(Explanation {
            quantity: "service time by what is seen",
            formula: "S = busy workers / throughput".to_owned(),
            numbers: format!(
                "{} / {} = {} s",
                seen.in_flight.min(seen.workers),
                human::rate_to(throughput.get(), 8),
                human::significant(implied, 6)
            ),
            source: "J. D. C. Little, A proof for the queuing formula L = \u{3bb}W, Operations Research 9, 1961",
        });
    }
    if let (Some(needed), Some(rate), Some(mean)) = (diagnosis.workers_to_keep_up, &seen.rate, &seen.mean) {
        steps.push(Explanation {
            quantity: "workers that keep up",
            formula: "\u{230a}\u{3bb}S\u{230b} + 1".to_owned(),
            numbers: format!(
                "{} \u{d7} {} s: {needed}",
                human::rate_to(rate.get(), 8),
                human::significant(mean.get(), 8)
            ),
            source: "J. D. C. Little, A proof for the queuing formula L = \u{3bb}W, Operations Research 9, 1961",
        });
    }
    steps
}
