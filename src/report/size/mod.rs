//! The report of `size`.

mod figure;

pub use figure::figure;

use super::{Answer, Column, Explanation, NotFinite, Report, Section, Table};
use crate::notice::Note;
use crate::sizing::{Answered, Basis, Model, PoolSize, Question, Rule, Sizing};
use crate::units::human;
use serde::Serialize;

/// What `size` was given, as the envelope shows it.
#[derive(Serialize)]
struct Inputs<'a> {
    rate_per_s: f64,
    service_mean_s: f64,
    service_scv: f64,
    arrival_scv: f64,
    service_basis: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    attempts_measured: Option<u64>,
    objectives: Vec<ObjectiveInput>,
    #[serde(skip_serializing_if = "Option::is_none")]
    workers: Option<u64>,
    scenarios: Vec<&'a str>,
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
    let answer = if steady.meets_objective { Answer::Yes } else { Answer::No };
    let mut report =
        Report::new("size", answer, headline(question, steady), &inputs(question), &answered.sizing)?;
    report.sections.push(basis(question, steady));
    report.sections.push(Section::Table(comparison(steady)));
    if !answered.sizing.scenarios.is_empty() {
        report.sections.push(Section::Table(scenarios(question, &answered.sizing)));
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
        arrival_scv: question.demand.arrival_scv,
        service_basis,
        attempts_measured,
        objectives: question
            .objectives
            .iter()
            .map(|objective| ObjectiveInput { objective: objective.name(), limit: objective.limit() })
            .collect(),
        workers: question.workers,
        scenarios: question.scenarios.iter().map(|scenario| scenario.name.as_str()).collect(),
    }
}

fn headline(question: &Question, steady: &PoolSize) -> String {
    let traffic = format!("{} at {} each", question.demand.rate, question.demand.service.mean);
    let asked: Vec<&str> = steady.constraints.iter().map(|constraint| constraint.words.as_str()).collect();
    let asked = if asked.is_empty() { "a stable queue".to_owned() } else { asked.join(", ") };
    let workers = human::counted(steady.workers, "worker");
    let required = human::count(steady.required_workers);
    match (question.workers, steady.state.wait_mean_s) {
        (_, None) => format!("No: {workers} cannot carry {traffic}; it takes {required} for {asked}."),
        (Some(_), Some(wait)) if !steady.meets_objective => format!(
            "No: {workers} carry {traffic} with a mean wait of {}, but {required} are needed for {asked}.",
            human::duration(wait)
        ),
        (Some(_), Some(wait)) => format!(
            "Yes: {workers} carry {traffic} with a mean wait of {} ({asked}; {required} would do).",
            human::duration(wait)
        ),
        (None, Some(wait)) => format!(
            "{workers} carry {traffic} with a mean wait of {} (asked for: {asked}).",
            human::duration(wait)
        ),
    }
}

fn basis(question: &Question, steady: &PoolSize) -> Section {
    let demand = &question.demand;
    let fact = |name: &str, value: String| (name.to_owned(), value);
    let service = match demand.service.basis {
        Basis::ExponentialAssumed => "exponential, assumed".to_owned(),
        Basis::MomentsGiven => format!("SCV {}", human::significant(demand.service.scv, 3)),
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
    if let (Some(waiting), Some(p99)) =
        (steady.state.wait_probability, steady.state.wait_quantiles.iter().find(|row| row.quantile == 0.99))
    {
        rows.push(fact(
            "arrivals that wait",
            format!("{}; p99 wait {}", human::percent(waiting), human::duration(p99.value_s)),
        ));
    }
    if let Some(p99) = steady.state.sojourn_quantiles.iter().find(|row| row.quantile == 0.99) {
        rows.push(fact("wait plus service", format!("p99 {}", human::duration(p99.value_s))));
    }
    rows.push(fact("binding", binding(steady)));
    if let Some([low, high]) = steady.workers_interval {
        rows.push(fact(
            "interval",
            format!("{} to {} workers from this sample", human::count(low), human::count(high)),
        ));
    }
    if question.workers.is_some() && steady.max_rate_per_s > 0.0 {
        let (rate, mean) = (human::rate_to(steady.max_rate_per_s, 5), human::duration(steady.max_mean_s));
        rows.push(fact("sustains at most", format!("{rate} at this service time, or {mean} at this rate")));
    }
    rows.push(fact("model", model(steady.model).to_owned()));
    Section::Facts { title: "Basis", rows }
}

fn binding(steady: &PoolSize) -> String {
    let constraint =
        steady.constraints.iter().find(|constraint| constraint.objective == steady.binding_constraint);
    match constraint {
        Some(constraint) => format!("{} ({} workers)", constraint.words, human::count(constraint.workers)),
        None => "stability: more workers than erlangs".to_owned(),
    }
}

fn model(model: Model) -> &'static str {
    match model {
        Model::ErlangC => "M/M/N, Erlang C",
        Model::GeneralService => "M/G/N, Erlang C scaled by (1 + SCV)/2 (Allen-Cunneen)",
        Model::GeneralArrivals => "G/G/N, Erlang C scaled by (arrival SCV + service SCV)/2 (Allen-Cunneen)",
    }
}

fn wait(wait_mean_s: Option<f64>) -> String {
    wait_mean_s.map_or_else(|| "grows without end".to_owned(), human::duration)
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
            rule(row.rule).to_owned(),
            human::count(row.workers),
            human::percent(row.utilisation),
            row.wait_probability.map_or_else(|| "all".to_owned(), human::percent),
            wait(row.wait_mean_s),
        ]);
    }
    table
}

fn rule(rule: Rule) -> &'static str {
    match rule {
        Rule::SmallestStable => "smallest stable pool",
        Rule::ErlangC => "Erlang C for the objectives",
        Rule::Answer => "the answer",
        Rule::Given => "the given pool",
        Rule::SquareRootLean => "square root, \u{3b2} = 1",
        Rule::SquareRoot => "square root, \u{3b2} = 1.5",
        Rule::SquareRootGenerous => "square root, \u{3b2} = 2",
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
    if let (Some(probability), Some(wait)) = (steady.state.wait_probability, steady.state.wait_mean_s) {
        let workers = steady.workers;
        let slack = steady.state.rate_headroom_ratio * steady.offered_load_erlangs;
        steps.push(Explanation {
            quantity: "probability of waiting",
            formula: "C = 1/(\u{3c1} + (1 \u{2212} \u{3c1})/B), 1/B = \u{3a3} N(N\u{2212}1)\u{2026}(N\u{2212}k+1)/a\u{1d4f}".to_owned(),
            numbers: format!("N = {workers}, a = {load}: C = {probability:.9}"),
            source: "A. K. Erlang 1917; R. B. Cooper, Introduction to Queueing Theory, 1981, ch. 3",
        });
        let factor = question.demand.variability();
        steps.push(Explanation {
            quantity: "mean wait",
            formula: "W = (ca\u{b2} + cs\u{b2})/2 \u{b7} C\u{b7}S/(N \u{2212} a)".to_owned(),
            numbers: format!(
                "{} \u{d7} {probability:.6} \u{d7} {mean} s / {} = {wait:.6} s",
                human::significant(factor, 6),
                human::significant(slack, 6)
            ),
            source: "A. O. Allen, Probability, Statistics, and Queueing Theory, 1978 (exact where the factor is 1)",
        });
    }
    steps
}
