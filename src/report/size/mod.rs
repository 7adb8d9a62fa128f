//! The report of `size`.

mod figure;

pub use figure::figure;

use super::{Answer, Column, Explanation, NotFinite, Report, Section, Table};
use crate::notice::Note;
use crate::sizing::{
    Answered, ArrivalProcess, Basis, Constraint, Demand, Model, NEVER_SETTLES_S, PoolSize, QuantileValue,
    Question, Refinement, Rule, Schedule, Sizing,
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
    report.sections.push(Section::Table(comparison(steady)));
    if !answered.sizing.scenarios.is_empty() {
        report.sections.push(Section::Table(scenarios(question, &answered.sizing)));
    }
    if let Some(schedule) = &answered.sizing.schedule {
        report.sections.push(Section::Table(staffing(schedule)));
    }
    report.sections.push(Section::Table(sensitivity(question, steady)));
    report.notes = answered.notes.iter().map(Note::from).collect();
    report.explanations = explanations(question, steady);
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
    let shown = shown.and_then(|constraint| Some(constraint.asked.achieved_in_words(constraint.achieved?)));
    Some(shown.unwrap_or_else(|| format!("a mean wait of {}", human::duration(wait))))
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
    if let Some(sojourn) = p99(&steady.state.sojourn_quantiles) {
        rows.push(fact("wait plus service", format!("p99 {sojourn}")));
    }
    rows.push(fact("binding", binding(steady)));
    if let Some(interval) = steady.workers_interval.filter(|_| question.sample.is_some()) {
        rows.push(fact("interval", format!("{} from this sample", human::counted_range(interval, "worker"))));
    }
    if question.workers.is_some() && steady.max_rate_per_s > 0.0 {
        let rate = human::rate_to(human::rounded_down(steady.max_rate_per_s, 5), 5);
        let mean = human::duration(human::rounded_down(steady.max_mean_s, 4));
        rows.push(fact(
            "sustains",
            format!("below {rate} at this service time, or below {mean} at this rate"),
        ));
    }
    if let Some(refined) = &steady.refined {
        rows.push(fact("settled by simulation", settled(refined)));
    }
    rows.push(fact("model", format!("{}; {}", model(steady.model), known_error(steady.model_error))));
    Section::Facts { title: "Basis", rows }
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
    table.highlighted = steady.binding().and_then(|binding| {
        steady.constraints.iter().position(|constraint| std::ptr::eq(constraint, binding))
    });
    for constraint in &steady.constraints {
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

fn comparison(steady: &PoolSize) -> Table {
    let columns = [
        Column::words("rule"),
        Column::number("workers"),
        Column::number("utilisation"),
        Column::number("arrivals that wait"),
        Column::number("mean wait"),
    ];
    let mut table = Table::new("What each rule gives for this traffic", &columns);
    for row in &steady.comparison {
        if matches!(row.rule, Rule::Answer | Rule::Given) {
            table.highlighted = Some(table.rows.len());
        }
        table.row([
            rule_name(row.rule).to_owned(),
            human::count(row.workers),
            human::percent(row.utilisation),
            row.wait_probability.map_or_else(|| "all".to_owned(), human::percent),
            wait(row.wait_mean_s),
        ]);
    }
    table
}

fn rule_name(rule: Rule) -> &'static str {
    match rule {
        Rule::SmallestStable => "smallest stable",
        Rule::ErlangC => "Erlang C",
        Rule::Answer => "the answer",
        Rule::Given => "the given pool",
        Rule::SquareRootLean => "square root, \u{3b2}=1",
        Rule::SquareRoot => "square root, \u{3b2}=1.5",
        Rule::SquareRootGenerous => "square root, \u{3b2}=2",
        Rule::FixedUtilisation => "70% utilisation",
    }
}

fn scenarios(question: &Question, sizing: &Sizing) -> Table {
    let given = question.workers.is_some();
    let columns = [
        Column::words("traffic"),
        Column::number("rate"),
        Column::number("service"),
        Column::number("erlangs"),
        Column::number("workers needed"),
        Column::number(if given { "mean wait with the given pool" } else { "mean wait" }),
    ];
    let mut table = Table::new("Scenarios", &columns);
    let demand = &question.demand;
    let mut row = |name: &str, rate: f64, mean: f64, size: &PoolSize| {
        table.row([
            name.to_owned(),
            human::rate(rate),
            human::duration(mean),
            human::significant(size.offered_load_erlangs, 6),
            human::count(size.required_workers),
            wait(size.state.wait_mean_s),
        ]);
    };
    row("steady", demand.rate.get(), demand.service.mean.get(), &sizing.steady);
    for scenario in &sizing.scenarios {
        row(&scenario.name, scenario.rate_per_s, scenario.mean_s, &scenario.size);
    }
    table
}

/// Intervals that a table shows; the JSON has them all.
const MOST_SHOWN: usize = 48;

fn staffing(schedule: &Schedule) -> Table {
    let columns = [
        Column::number("from"),
        Column::number("highest rate"),
        Column::number("erlangs under way"),
        Column::number("workers"),
    ];
    let saved = 1.0 - schedule.worker_seconds / schedule.constant_worker_seconds;
    let hidden = schedule.intervals.len().saturating_sub(MOST_SHOWN);
    let rest = if hidden > 0 {
        format!("; {} more in the JSON", human::count(hidden as u64))
    } else {
        String::new()
    };
    let title = format!(
        "Workers for each {}: {} at the peak, {} fewer worker hours than that all the time{rest}",
        human::duration(schedule.interval_s),
        human::count(schedule.peak_workers),
        human::percent(saved)
    );
    let mut table = Table::new(title, &columns);
    for interval in schedule.intervals.iter().take(MOST_SHOWN) {
        if interval.workers == schedule.peak_workers && table.highlighted.is_none() {
            table.highlighted = Some(table.rows.len());
        }
        table.row([
            human::duration(interval.at_s),
            human::rate(interval.rate_per_s),
            human::significant(interval.offered_load_erlangs, 5),
            human::count(interval.workers),
        ]);
    }
    table
}

fn sensitivity(question: &Question, steady: &PoolSize) -> Table {
    let columns = [
        Column::number("rate"),
        Column::number("rise"),
        Column::number("utilisation"),
        Column::number("mean wait"),
        Column::number("workers it would take"),
    ];
    let title =
        format!("If the rate rises and the pool stays at {}", human::counted(steady.workers, "worker"));
    let mut table = Table::new(title, &columns);
    for row in &steady.sensitivity {
        table.row([
            human::rate_to(question.demand.rate.get() * row.rate_factor, 5),
            format!("+{}", human::percent(row.rate_factor - 1.0)),
            human::percent(row.utilisation),
            wait(row.wait_mean_s),
            human::count(row.workers),
        ]);
    }
    table
}

fn explanations(question: &Question, steady: &PoolSize) -> Vec<Explanation> {
    let (rate, mean) = (question.demand.rate.get(), question.demand.service.mean.get());
    let load = human::significant(steady.offered_load_erlangs, 8);
    let mut steps = vec![Explanation {
        quantity: "offered load",
        formula: "a = \u{3bb}S".to_owned(),
        numbers: format!("{} \u{d7} {mean} s = {load} erlangs", human::rate_to(rate, 8)),
        source: "J. D. C. Little, A proof for the queuing formula L = \u{3bb}W, Operations Research 9, 1961",
    }];
    let (Some(textbook), Some(wait)) = (&steady.erlang_c, steady.state.wait_mean_s) else { return steps };
    let (workers, probability) = (steady.workers, textbook.wait_probability);
    let slack = steady.state.rate_headroom_ratio * steady.offered_load_erlangs;
    steps.push(Explanation {
        quantity: "probability of waiting by Erlang C",
        formula:
            "C = 1/(\u{3c1} + (1 \u{2212} \u{3c1})/B), 1/B = \u{3a3} N(N\u{2212}1)\u{2026}(N\u{2212}k+1)/a\u{1d4f}"
                .to_owned(),
        numbers: format!("N = {workers}, a = {load}: C = {probability:.9}"),
        source: "A. K. Erlang 1917; R. B. Cooper, Introduction to Queueing Theory, 1981, ch. 3",
    });
    steps.push(Explanation {
        quantity: "mean wait by Erlang C",
        formula: "C\u{b7}S/(N \u{2212} a)".to_owned(),
        numbers: format!(
            "{probability:.6} \u{d7} {mean} s / {} = {:.6} s",
            human::significant(slack, 6),
            textbook.wait_mean_s
        ),
        source: "A. K. Erlang 1917; exact for Poisson arrivals and exponential service",
    });
    if steady.model != Model::ErlangC || steady.refined.is_some() {
        steps.push(Explanation {
            quantity: "mean wait",
            formula: "W = k \u{b7} C\u{b7}S/(N \u{2212} a)".to_owned(),
            numbers: format!("k = {}: {wait:.6} s", human::significant(wait / textbook.wait_mean_s, 6)),
            source: correction(steady),
        });
    }
    steps
}

/// Where the factor on Erlang C comes from.
fn correction(steady: &PoolSize) -> &'static str {
    match steady.model {
        _ if steady.refined.is_some() => {
            "the simulated mean wait of the smallest pool that keeps the objectives"
        }
        Model::ErlangC => "exact",
        Model::ThreeMoments | Model::TwoMoments => {
            "pools of 5, 10 and 20 workers solved exactly at the same (N \u{2212} a)/\u{221a}a with the moments of the \
             service time (docs/accuracy.md)"
        }
        Model::GeneralArrivals | Model::Batches => {
            "the peakedness of the arrivals (A. E. Eckberg 1983; W. Whitt 2004), and small pools solved exactly for the \
             service time (docs/accuracy.md)"
        }
    }
}
