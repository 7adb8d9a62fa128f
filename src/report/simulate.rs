//! The report of `simulate`.

use super::{Answer, Column, NotFinite, Report, Section, Table};
use crate::notice::Note;
use crate::simulate::{Part, Simulated, WaitQuantile};
use crate::units::human;
use schemars::JsonSchema;
use serde::Serialize;

/// What was simulated, as the envelope shows it.
#[derive(Clone, Debug, Serialize)]
pub struct Inputs {
    /// Workers of the pool.
    pub workers: u64,
    /// Attempts a second, without retries.
    pub rate_per_s: f64,
    /// Mean service time in seconds.
    pub service_mean_s: f64,
    /// Squared coefficient of variation of the service time.
    pub service_scv: f64,
    /// The law of the service time, such as `exponential`.
    pub service: String,
    /// The arrival process, such as `poisson`.
    pub arrivals: String,
    /// Seed of all random numbers.
    pub seed: u64,
}

/// What a formula says of the same queue.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Predicted {
    /// Mean wait in seconds; absent for a pool without steady state.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wait_mean_s: Option<f64>,
    /// Share of attempts that wait; absent for a pool without steady state.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wait_probability: Option<f64>,
    /// The formula.
    pub model: crate::sizing::Model,
}

/// A simulation beside the formula.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Compared {
    /// What happened in virtual time.
    #[serde(flatten)]
    pub simulated: Simulated,
    /// What a formula says; absent where none covers the scenario.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub predicted: Option<Predicted>,
}

/// Builds the report of a simulation.
///
/// # Errors
/// If a number is not finite, which would be a defect.
pub fn report(inputs: &Inputs, compared: &Compared) -> Result<Report, NotFinite> {
    let mut report = Report::new("simulate", Answer::Yes, headline(inputs, compared), inputs, compared)?;
    report.sections.push(run(inputs, &compared.simulated));
    report.sections.push(Section::Table(waits(compared)));
    let events = events(&compared.simulated);
    if !events.is_empty() {
        report.sections.push(Section::Facts { title: "Events", rows: events });
    }
    if !compared.simulated.classes.is_empty() {
        report.sections.push(Section::Table(classes(&compared.simulated)));
    }
    if !compared.simulated.blocks.is_empty() {
        report.sections.push(Section::Table(blocks(&compared.simulated)));
    }
    report.notes = notes(inputs, compared);
    Ok(report)
}

fn headline(inputs: &Inputs, compared: &Compared) -> String {
    let simulated = &compared.simulated;
    let wait = with_interval(simulated.wait_mean_s, simulated.wait_mean_interval_s, human::duration);
    let prediction = match compared.predicted.as_ref().map(|predicted| predicted.wait_mean_s) {
        None => String::new(),
        Some(None) => "; no steady state is predicted".to_owned(),
        Some(Some(predicted)) => {
            let inside = simulated.wait_mean_interval_s.map(|[low, high]| (low..=high).contains(&predicted));
            let verdict = match inside {
                Some(true) => "agrees with",
                Some(false) => "differs from",
                None => "stands beside",
            };
            format!("; it {verdict} the {} of the formula", human::duration(predicted))
        }
    };
    format!(
        "{} under {} at {} each wait {wait} on average{prediction}.",
        human::counted(inputs.workers, "worker"),
        human::rate(inputs.rate_per_s),
        human::duration(inputs.service_mean_s)
    )
}

/// A value with its interval behind it: `418 ms (380 ms to 460 ms)`.
fn with_interval(value: f64, interval: Option<[f64; 2]>, show: fn(f64) -> String) -> String {
    match interval {
        Some([low, high]) => format!("{} ({} to {})", show(value), show(low), show(high)),
        None => show(value),
    }
}

fn run(inputs: &Inputs, simulated: &Simulated) -> Section {
    let fact = |name: &str, value: String| (name.to_owned(), value);
    let rows = vec![
        fact("arrivals", format!("{}, {}", human::count(simulated.arrivals), inputs.arrivals)),
        fact(
            "service time",
            format!(
                "{}, mean {}, SCV {}",
                inputs.service,
                human::duration(inputs.service_mean_s),
                human::significant(inputs.service_scv, 3)
            ),
        ),
        fact(
            "run",
            format!(
                "{} of {} each, after a warm-up of {}",
                human::counted(simulated.replications.into(), "replication"),
                human::duration(simulated.measured_s),
                human::duration(simulated.warm_up_s)
            ),
        ),
        fact("utilisation", human::percent(simulated.utilisation)),
        fact("oldest age", format!("{} at most", human::duration(simulated.oldest_age_max_s))),
        fact("longest queue", human::counted(simulated.queue_max, "message")),
        fact("seed", inputs.seed.to_string()),
    ];
    Section::Facts { title: "Run", rows }
}

fn waits(compared: &Compared) -> Table {
    let simulated = &compared.simulated;
    let level = human::percent(simulated.confidence);
    let columns = [
        Column::words("wait"),
        Column::number("simulated"),
        Column::number("interval"),
        Column::number("formula"),
    ];
    let mut table = Table::new(format!("Time in the queue, with its {level} interval"), &columns);
    let interval = |interval: Option<[f64; 2]>, show: fn(f64) -> String| {
        interval.map_or_else(String::new, |[low, high]| format!("{} to {}", show(low), show(high)))
    };
    let predicted = compared.predicted.as_ref();
    table.row([
        "mean".to_owned(),
        human::duration(simulated.wait_mean_s),
        interval(simulated.wait_mean_interval_s, human::duration),
        predicted.and_then(|p| p.wait_mean_s).map_or_else(String::new, human::duration),
    ]);
    table.row([
        "arrivals that wait".to_owned(),
        human::percent(simulated.wait_probability),
        interval(simulated.wait_probability_interval, human::percent),
        predicted.and_then(|p| p.wait_probability).map_or_else(String::new, human::percent),
    ]);
    for WaitQuantile { quantile, value_s, interval_s } in &simulated.wait_quantiles {
        table.row([
            human::quantile(*quantile),
            human::duration(*value_s),
            interval(*interval_s, human::duration),
            String::new(),
        ]);
    }
    table
}

/// What became of events beyond waiting and being served.
fn events(simulated: &Simulated) -> Vec<(String, String)> {
    let part = |name: &str, part: Option<Part>| {
        let part = part?;
        Some((name.to_owned(), format!("{} ({})", human::count(part.count), human::percent(part.share))))
    };
    let count = |name: &str, count: Option<u64>| Some((name.to_owned(), human::count(count?)));
    let time = |name: &str, seconds: Option<f64>| Some((name.to_owned(), human::duration(seconds?)));
    [
        part("lost patience", simulated.abandoned),
        part("found the queue full", simulated.lost),
        part("failed at every attempt", simulated.dead_lettered),
        count("attempts retried", simulated.retried),
        count("attempts refused with 429", simulated.refused),
        time("mean time to delivery", simulated.delivery_mean_s),
        time("longest time to delivery", simulated.delivery_max_s),
    ]
    .into_iter()
    .flatten()
    .collect()
}

fn classes(simulated: &Simulated) -> Table {
    let columns = [
        Column::words("class"),
        Column::number("arrivals"),
        Column::number("mean wait"),
        Column::number("p99 wait"),
        Column::number("oldest age"),
    ];
    let mut table = Table::new("Priority classes, the most urgent first", &columns);
    for class in &simulated.classes {
        let p99 = class.wait_quantiles.iter().find(|row| row.quantile == 0.99);
        table.row([
            class.name.clone(),
            human::count(class.arrivals),
            class.wait_mean_s.map_or_else(|| "none began".to_owned(), human::duration),
            p99.map_or_else(String::new, |row| human::duration(row.value_s)),
            human::duration(class.oldest_age_max_s),
        ]);
    }
    table
}

fn blocks(simulated: &Simulated) -> Table {
    let columns = [
        Column::number("at"),
        Column::number("events"),
        Column::number("all done after"),
        Column::number("queue empty after"),
        Column::number("longest queue"),
    ];
    let mut table = Table::new("Blocks of arrivals", &columns);
    let within =
        |seconds: Option<f64>| seconds.map_or_else(|| "not within the run".to_owned(), human::duration);
    for block in &simulated.blocks {
        table.row([
            human::duration(block.at_s),
            human::count(block.events.into()),
            within(block.done_s),
            within(block.queue_empty_s),
            human::count(block.queue_max),
        ]);
    }
    table
}

fn notes(inputs: &Inputs, compared: &Compared) -> Vec<Note> {
    let mut notes = Vec::new();
    let load = inputs.rate_per_s * inputs.service_mean_s;
    if compared.predicted.as_ref().is_some_and(|predicted| predicted.wait_mean_s.is_none()) {
        notes.push(Note::warning(
            "overloaded",
            format!(
                "{} erlangs on {}: the queue grows without end, and these waits belong to the length of the run",
                human::significant(load, 6),
                human::counted(inputs.workers, "worker")
            ),
        ));
    } else if compared.simulated.warm_up_settled == Some(false) {
        notes.push(
            Note::warning(
                "not-settled",
                "the waits still rise after three fifths of the run: this is not their steady state",
            )
            .with_hint("give a longer --duration, or a --warm-up of your own"),
        );
    }
    if compared.simulated.wait_mean_interval_s.is_none() {
        notes.push(
            Note::info("no-interval", "one replication gives no interval")
                .with_hint("ask for --replications 20"),
        );
    }
    notes
}
