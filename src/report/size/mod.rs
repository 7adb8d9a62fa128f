//! The report of `size`.

mod explain;
mod extra;
mod figure;
mod losses;
mod tables;

pub use figure::figure;

use super::{Answer, Column, NotFinite, Report, Section, Table};
use crate::notice::Note;
use crate::sizing::{
    Answered, ArrivalProcess, Basis, Constraint, Demand, Model, NEVER_SETTLES_S, Objective, PoolSize,
    QuantileValue, Question, Refinement, Sizing,
};
use crate::units::{Seconds, human};
use serde::Serialize;

/// What `size` was given, as the envelope shows it.
#[derive(Serialize)]
struct Inputs<'a> {
    rate_per_s: f64,
    service_mean_s: f64,
    service_scv: f64,
    arrival_scv: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    batch: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    patience_s: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    queue_limit: Option<u64>,
    service_basis: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    attempts_measured: Option<u64>,
    objectives: Vec<ObjectiveInput>,
    #[serde(skip_serializing_if = "Option::is_none")]
    workers: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    retries: Option<RetriesInput>,
    scenarios: Vec<ScenarioInput<'a>>,
    /// How sure the interval is, and what its drawing started from; absent without a sample.
    #[serde(skip_serializing_if = "Option::is_none")]
    confidence: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    seed: Option<u64>,
}

/// First attempts, of which the rate is the amplification.
#[derive(Serialize)]
struct RetriesInput {
    first_attempt_rate_per_s: f64,
    failure_share: f64,
    max_attempts: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    failure_mean_s: Option<f64>,
    attempts_per_message: f64,
}

#[derive(Serialize)]
struct ScenarioInput<'a> {
    name: &'a str,
    rate_per_s: f64,
    service_mean_s: f64,
}

#[derive(Serialize)]
struct ObjectiveInput {
    objective: String,
    limit: f64,
}

/// Builds the report of a sizing.
///
/// # Errors
/// If a number is not finite, which would be a defect.
pub fn report(question: &Question, answered: &Answered) -> Result<Report, NotFinite> {
    let steady = &answered.sizing.steady;
    // A pool that is given is judged by all that is asked for; a pool that is found answers each question by itself.
    let holds =
        if question.workers.is_some() { answered.sizing.holds_throughout() } else { steady.meets_objective };
    let answer = if holds { Answer::Yes } else { Answer::No };
    let headline = headline(question, &answered.sizing);
    let mut report = Report::new("size", answer, headline, &inputs(question), &answered.sizing)?;
    report.sections.push(basis(question, steady));
    if steady.constraints.len() > 1 {
        report.sections.push(Section::Table(objectives(steady)));
    }
    if !answered.sizing.classes.is_empty() {
        report.sections.push(Section::Table(extra::classes(&answered.sizing.classes)));
    }
    if let Some(block) = &answered.sizing.block {
        report.sections.push(extra::block(block));
    }
    report.sections.push(Section::Table(tables::comparison(steady)));
    if !answered.sizing.scenarios.is_empty() {
        report.sections.push(Section::Table(tables::scenarios(question, &answered.sizing)));
    }
    if let Some(schedule) = &answered.sizing.schedule {
        report.sections.push(Section::Table(tables::staffing(schedule)));
    }
    report.sections.push(Section::Table(tables::sensitivity(question, steady)));
    report.notes = answered.notes.iter().map(Note::from).collect();
    report.explanations = explain::explanations(question, steady);
    Ok(report)
}

fn inputs(question: &Question) -> Inputs<'_> {
    let service = &question.demand.service;
    let (service_basis, attempts_measured) = match service.basis {
        Basis::ExponentialAssumed => ("exponential assumed", None),
        Basis::MomentsGiven => ("moments given", None),
        Basis::Measured { attempts } => ("measured", Some(attempts)),
    };
    Inputs {
        rate_per_s: question.demand.rate.get(),
        service_mean_s: service.mean.get(),
        service_scv: service.scv,
        arrival_scv: question.demand.arrivals.dispersion(),
        batch: match question.demand.arrivals {
            ArrivalProcess::Batches { size } => Some(size),
            _ => None,
        },
        patience_s: question.demand.bounds.patience.as_ref().map(Seconds::get),
        queue_limit: question.demand.bounds.queue_limit,
        service_basis,
        attempts_measured,
        objectives: question
            .objectives
            .iter()
            .map(|objective| ObjectiveInput { objective: objective.name(), limit: objective.limit() })
            .collect(),
        workers: question.workers,
        retries: question.demand.retries.as_ref().map(|retries| RetriesInput {
            first_attempt_rate_per_s: retries.first_attempt_rate.get(),
            failure_share: retries.failure_share.get(),
            max_attempts: retries.max_attempts,
            failure_mean_s: retries.failure_mean.as_ref().map(Seconds::get),
            attempts_per_message: retries.amplification().to_f64(),
        }),
        scenarios: question
            .scenarios
            .iter()
            .map(|scenario| ScenarioInput {
                name: &scenario.name,
                rate_per_s: scenario.demand.rate.get(),
                service_mean_s: scenario.demand.service.mean.get(),
            })
            .collect(),
        confidence: question.sample.as_ref().map(|sample| sample.confidence.get()),
        seed: question.sample.as_ref().map(|sample| sample.seed),
    }
}

fn headline(question: &Question, sizing: &Sizing) -> String {
    let steady = &sizing.steady;
    let traffic = format!("{} at {} each", question.demand.rate, question.demand.service.mean);
    let asked = asked(steady);
    let workers = human::counted(steady.workers, "worker");
    let carry = human::verb(steady.workers, "carries", "carry");
    let required = human::count(steady.required_workers);
    let Some(achieved) = achieved(steady) else {
        let needed = needed(steady);
        return format!("No: {workers} cannot carry {traffic}; it takes {required} for {needed}.");
    };
    let surge = largest_surge(sizing);
    match (question.workers, surge) {
        (Some(_), _) if !steady.meets_objective => format!(
            "No: {workers} {carry} {traffic} with {achieved}, but {required} are needed for {}.",
            needed(steady)
        ),
        (Some(_), Some((name, most))) => {
            format!("No: {workers} {carry} {traffic} with {achieved}, but \"{name}\" takes {most}.")
        }
        (Some(_), None) if steady.constraints.is_empty() && steady.state.lost_share().is_some() => {
            format!("Yes: {workers} {carry} {traffic} with {achieved} (nothing was asked for).")
        }
        (Some(_), None) => {
            format!("Yes: {workers} {carry} {traffic} with {achieved} ({asked}; {required} would do).")
        }
        (None, Some((name, most))) => format!(
            "{workers} {carry} {traffic} with {achieved} (asked for: {asked}); \"{name}\" takes {most}."
        ),
        (None, None) => format!("{workers} {carry} {traffic} with {achieved} (asked for: {asked})."),
    }
}

/// The scenario that takes the most workers, if that is more than the pool has.
fn largest_surge(sizing: &Sizing) -> Option<(&str, String)> {
    let most = sizing.scenarios.iter().max_by_key(|scenario| scenario.size.required_workers)?;
    let required = most.size.required_workers;
    (required > sizing.steady.workers).then(|| (most.name.as_str(), human::count(required)))
}

/// What a stable pool achieves where it matters most: under the objective that it misses or that binds, else under the
/// first one.
fn achieved(steady: &PoolSize) -> Option<String> {
    let wait = steady.state.wait_mean_s?;
    if wait > NEVER_SETTLES_S {
        return Some("a queue that practically never settles".to_owned());
    }
    let shown = steady.binding().or(steady.constraints.first());
    let words = shown.and_then(|constraint| Some(constraint.asked.achieved_in_words(constraint.achieved?)));
    let words = words.unwrap_or_else(|| format!("a mean wait of {}", human::duration(wait)));
    // Whatever else it achieves, what it loses belongs into the answer.
    let says_so = shown.is_some_and(|constraint| matches!(constraint.asked, Objective::MaxLost(_)));
    let lost = steady.state.lost_share().filter(|_| !says_so);
    Some(
        words
            + &lost.map_or_else(String::new, |lost| format!(", losing {} of arrivals", human::percent(lost))),
    )
}

/// What was asked for, and which of it binds.
fn asked(steady: &PoolSize) -> String {
    let others = |binding: Option<&Constraint>| {
        let others = steady.constraints.iter().filter(|one| binding.is_none_or(|b| !std::ptr::eq(*one, b)));
        others.map(|constraint| constraint.asked.in_words()).collect::<Vec<_>>()
    };
    match (steady.binding(), steady.constraints.len()) {
        (_, 0) => "a stable queue".to_owned(),
        (Some(binding), 1) => binding.asked.in_words(),
        (Some(binding), _) => {
            format!("{}, which binds; {}", binding.asked.in_words(), others(Some(binding)).join("; "))
        }
        (None, _) => format!("{}; the smallest stable pool does", others(None).join("; ")),
    }
}

/// What the required workers are needed for.
fn needed(steady: &PoolSize) -> String {
    steady.binding().map_or_else(|| "a stable queue".to_owned(), |constraint| constraint.asked.in_words())
}

fn basis(question: &Question, steady: &PoolSize) -> Section {
    let demand = &question.demand;
    let fact = |name: &str, value: String| (name.to_owned(), value);
    let service = match demand.service.basis {
        Basis::ExponentialAssumed => "exponential, assumed".to_owned(),
        Basis::MomentsGiven => {
            format!("SCV {}{}", human::significant(demand.service.scv, 3), mixed(demand))
        }
        Basis::Measured { attempts } => {
            format!(
                "{}, SCV {}",
                human::counted(attempts, "measured attempt"),
                human::significant(demand.service.scv, 3)
            )
        }
    };
    let mut rows = vec![
        fact(
            "offered load",
            format!(
                "{} erlangs (workers busy on average)",
                human::significant(steady.offered_load_erlangs, 6)
            ),
        ),
        fact("service time", format!("mean {}, {service}", demand.service.mean)),
        fact("utilisation", human::percent(steady.state.utilisation)),
    ];
    if let Some(waiting) = steady.state.wait_probability {
        let p99 = p99(&steady.state.wait_quantiles).map(|wait| format!("; p99 wait {wait}"));
        rows.push(fact("arrivals that wait", human::percent(waiting) + &p99.unwrap_or_default()));
    }
    rows.extend(losses::facts(question, steady));
    if let Some(sojourn) = p99(&steady.state.sojourn_quantiles) {
        rows.push(fact("wait plus service", format!("p99 {sojourn}")));
    }
    rows.push(fact("binding", binding(steady)));
    if let Some(interval) = steady.workers_interval.filter(|_| question.sample.is_some()) {
        rows.push(fact("interval", format!("{} from this sample", human::counted_range(interval, "worker"))));
    }
    if question.workers.is_some() && steady.max_rate_per_s.is_none_or(|rate| rate > 0.0) {
        rows.push(fact("sustains", sustains(steady)));
    }
    if let Some(refined) = &steady.refined {
        rows.push(fact("settled by simulation", settled(refined)));
    }
    rows.push(fact("model", format!("{}; {}", model(steady.model), known_error(steady.model_error))));
    Section::Facts { title: "Basis", rows }
}

/// The largest rate and mean within the objectives.
fn sustains(steady: &PoolSize) -> String {
    let rate = steady.max_rate_per_s.map_or_else(
        || "any rate".to_owned(),
        |rate| format!("below {}", human::rate_to(human::rounded_down(rate, 5), 5)),
    );
    let mean = steady.max_mean_s.map_or_else(
        || "any mean".to_owned(),
        |mean| format!("below {}", human::duration(human::rounded_down(mean, 4))),
    );
    format!("{rate} at this service time, or {mean} at this rate")
}

/// The p99, unless it belongs to a steady state that never comes about.
fn p99(quantiles: &[QuantileValue]) -> Option<String> {
    let row = quantiles.iter().find(|row| row.quantile == 0.99)?;
    (row.value_s <= NEVER_SETTLES_S).then(|| human::duration(row.value_s))
}

/// Says that the variability is that of two kinds of attempts.
fn mixed(demand: &Demand) -> &'static str {
    let failures = demand.retries.as_ref().and_then(|retries| retries.failure_mean.as_ref());
    if failures.is_some() { ", successes and failures together" } else { "" }
}

fn objectives(steady: &PoolSize) -> Table {
    let columns = [
        Column::words("asked for"),
        Column::number("achieved"),
        Column::number("workers needed"),
        Column::words("met"),
    ];
    let mut table = Table::new("Objectives", &columns);
    // What is missed, and where nothing is, what binds.
    let all_met = steady.constraints.iter().all(|constraint| constraint.met);
    let binds = |constraint| steady.binding().is_some_and(|binding| std::ptr::eq(constraint, binding));
    for constraint in &steady.constraints {
        if if all_met { binds(constraint) } else { !constraint.met } {
            table.highlighted.push(table.rows.len());
        }
        let achieved = constraint.achieved.map(|achieved| constraint.asked.shown(achieved));
        table.row([
            constraint.asked.in_words(),
            achieved.unwrap_or_else(|| "-".to_owned()),
            human::count(constraint.workers),
            if constraint.met { "yes" } else { "no" }.to_owned(),
        ]);
    }
    table
}

fn binding(steady: &PoolSize) -> String {
    match steady.binding() {
        Some(constraint) => {
            format!("{} ({})", constraint.asked.in_words(), human::counted(constraint.workers, "worker"))
        }
        None if steady.state.lost_share().is_some() => "nothing: what cannot be served is lost".to_owned(),
        None => "stability: more workers than erlangs".to_owned(),
    }
}

fn model(model: Model) -> &'static str {
    match model {
        Model::ErlangC => "M/M/N, Erlang C",
        Model::ThreeMoments => "M/H2/N with the first three moments of the service time",
        Model::TwoMoments => "M/G/N with the first two moments of the service time",
        Model::GeneralArrivals => "G/G/N by the peakedness of the arrivals",
        Model::Batches => "arrivals in batches, MX/M/N corrected for the service time",
        Model::ErlangA => "M/M/N+M, Erlang A",
        Model::FiniteQueue => "M/M/c/K, a finite queue",
        Model::FiniteImpatient => "M/M/c/K+M, a finite queue with patience",
    }
}

fn settled(refined: &Refinement) -> String {
    let [low, high] = refined.workers_interval;
    let between = if low == high {
        String::new()
    } else {
        format!(", {} to {}", human::count(low), human::count(high))
    };
    format!(
        "{} ({} by the formula{between}; {} service, {})",
        human::counted(refined.workers, "worker"),
        human::count(refined.formula_workers),
        refined.service,
        human::counted(refined.arrivals, "arrival"),
    )
}

fn known_error(error: Option<[f64; 2]>) -> String {
    match error {
        None => "its error here is not known".to_owned(),
        Some([low, high]) if low == high => "exact".to_owned(),
        Some([low, high]) => format!(
            "mean wait within {}{} to +{} of exact",
            if low < 0.0 { "\u{2212}" } else { "" },
            human::percent(low.abs()),
            human::percent(high)
        ),
    }
}

fn wait(wait_mean_s: Option<f64>) -> String {
    match wait_mean_s {
        None => "grows without end".to_owned(),
        Some(wait) if wait > NEVER_SETTLES_S => "practically never settles".to_owned(),
        Some(wait) => human::duration(wait),
    }
}
