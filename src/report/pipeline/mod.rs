//! The report of `pipeline`.

mod cost;
mod explain;
mod isolation;
mod stages;

use super::{Answer, Column, NotFinite, Report, Section, Table};
use crate::notice::Note;
use crate::pipeline::{Pipeline, PipelinePlan, Planned};
use crate::units::human::{self, RateUnit};
use serde::Serialize;

/// What `pipeline` was given, as the envelope shows it.
#[derive(Serialize)]
struct Inputs {
    events_per_day: u64,
    peak_factor: f64,
    subscriptions_per_event: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    event_size_bytes: Option<f64>,
    partners: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    workers: Option<u64>,
    objectives: Vec<ObjectiveInput>,
}

#[derive(Serialize)]
struct ObjectiveInput {
    objective: String,
    limit: f64,
}

/// Builds the report of a planned pipeline.
///
/// # Errors
/// If a number is not finite, which would be a defect.
pub fn report(pipeline: &Pipeline, planned: &Planned) -> Result<Report, NotFinite> {
    let plan = &planned.plan;
    let answer = if plan.holds_today { Answer::Yes } else { Answer::No };
    let mut report = Report::new("pipeline", answer, headline(pipeline, plan), &inputs(pipeline), plan)?;
    report.sections.push(traffic(pipeline, plan));
    if plan.classes.len() > 1 {
        report.sections.push(Section::Table(classes(plan)));
    }
    report.sections.extend(plan.stages.iter().map(|stage| Section::Table(stages::table(stage, plan))));
    if !plan.partners_first_to_break.is_empty() {
        report.sections.push(Section::Table(stages::partners(plan)));
    }
    if let Some(isolation) = &plan.isolation {
        report.sections.extend(isolation::sections(isolation));
    }
    if let Some(comparison) = &plan.cost {
        report.sections.extend(cost::sections(comparison, rate_unit(plan)));
    }
    report.notes = planned.notes.iter().map(Note::from).collect();
    report.explanations = explain::steps(pipeline, plan);
    Ok(report)
}

/// The one unit of all rates of a report: that in which the traffic of the peak is a number of at least one.
fn rate_unit(plan: &PipelinePlan) -> RateUnit {
    RateUnit::of([plan.events_peak_rate_per_s, plan.deliveries_peak_rate_per_s])
}

fn inputs(pipeline: &Pipeline) -> Inputs {
    let events = &pipeline.events;
    Inputs {
        events_per_day: events.per_day.get(),
        peak_factor: events.peak_factor.get(),
        subscriptions_per_event: events.subscriptions.get(),
        event_size_bytes: events.size.as_ref().map(crate::units::Bytes::get),
        partners: pipeline.partners.all().len(),
        workers: pipeline.delivery.workers.map(crate::units::Count::get),
        objectives: pipeline
            .delivery
            .objectives
            .iter()
            .map(|objective| ObjectiveInput { objective: objective.name(), limit: objective.limit() })
            .collect(),
    }
}

fn headline(pipeline: &Pipeline, plan: &PipelinePlan) -> String {
    let volume = format!("{} events a day", pipeline.events.per_day);
    let need = |name: &str| name.replace('_', " ");
    match &plan.first_to_break {
        None => format!("{volume} hold today, and no limit breaks up to 1000 times as many."),
        Some(first) if plan.holds_today => format!(
            "{volume} hold today; the first limit to break is in the {} stage, {}: {}.",
            first.stage.in_words(),
            stages::when(first.growth),
            need(first.need)
        ),
        Some(first) => {
            let broken = plan.stages.iter().filter(|stage| !stage.holds_today());
            let broken: Vec<&str> = broken.map(|stage| stage.stage.in_words()).collect();
            format!(
                "No: {volume} break a limit today in: {}. The first is {} in the {} stage.",
                broken.join(", "),
                need(first.need),
                first.stage.in_words()
            )
        }
    }
}

fn traffic(pipeline: &Pipeline, plan: &PipelinePlan) -> Section {
    let fact = |name: &str, value: String| (name.to_owned(), value);
    let unit = rate_unit(plan);
    let partners = pipeline.partners.all().len() as u64;
    let share = human::percent(pipeline.partners.largest_share());
    let there_are = pipeline.delivery.workers.map_or_else(String::new, |workers| format!(", of {workers}"));
    let mut rows = vec![
        fact(
            "events",
            format!(
                "{} a day: {} on average, {} at the peak",
                pipeline.events.per_day,
                unit.show(plan.events_mean_rate_per_s),
                unit.show(plan.events_peak_rate_per_s)
            ),
        ),
        fact("deliveries", format!("{} at the peak", unit.show(plan.deliveries_peak_rate_per_s))),
        fact(
            "offered load",
            format!("{} erlangs at the peak", human::significant(plan.offered_load_erlangs, 6)),
        ),
        fact("workers", format!("{} for the peak{there_are}", human::count(plan.workers))),
    ];
    if partners > 1 {
        let partners = human::counted(partners, "partner");
        rows.push(fact("partners", format!("{partners}, the largest with {share} of the deliveries")));
    }
    Section::Facts { title: "Traffic today", rows }
}

fn classes(plan: &PipelinePlan) -> Table {
    let columns = [
        Column::words("class"),
        Column::number("partners"),
        Column::number("deliveries"),
        Column::number("mean attempt"),
        Column::number("attempts each"),
        Column::number("workers' time"),
    ];
    let mut table = Table::new("Partner classes", &columns);
    for class in &plan.classes {
        table.row([
            class.name.clone(),
            human::count(class.partners as u64),
            human::percent(class.share_of_deliveries),
            human::duration(class.service_mean_s),
            human::significant(class.attempts_per_delivery, 4),
            human::percent(class.share_of_busy_time),
        ]);
    }
    table
}
