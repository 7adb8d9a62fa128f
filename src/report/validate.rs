//! The report of `validate`.

use super::{Answer, Column, NotFinite, Report, Section, Table};
use crate::notice::Note;
use crate::units::human;
use crate::validate::{Level, Validation, Verdict};
use serde::Serialize;

/// What was validated, as the envelope shows it.
#[derive(Clone, Debug, Serialize)]
pub struct Inputs {
    /// Messages a second at level 1.
    pub rate_per_s: f64,
    /// Mean latency of the endpoints in seconds.
    pub latency_mean_s: f64,
    /// Workers at level 1.
    pub workers: u64,
    /// Whether the workers grow with the rate.
    pub scale_pool: bool,
    /// How long messages arrive at a level, in seconds.
    pub duration_s: f64,
    /// What is left out at the start, in seconds.
    pub warm_up_s: f64,
    /// Seconds on the clock for a second of the plan.
    pub time_scale: f64,
    /// What rate and workers are divided by.
    pub shrink: f64,
    /// Endpoints.
    pub endpoints: usize,
    /// Fault rules.
    pub faults: usize,
    /// The governor's policy.
    pub governor: &'static str,
    /// Whether a host has at most 8 attempts at a time.
    pub host_cap: bool,
    /// Whether TLS is spoken.
    pub tls: bool,
    /// Seed of all random numbers.
    pub seed: u64,
}

/// Builds the report of a validation.
///
/// # Errors
/// If a number is not finite, which would be a defect.
pub fn report(inputs: &Inputs, validation: &Validation, notes: Vec<Note>) -> Result<Report, NotFinite> {
    let answer = if validation.verdict == Verdict::Agrees { Answer::Yes } else { Answer::No };
    let mut report = Report::new("validate", answer, headline(inputs, validation), inputs, validation)?;
    report.sections.push(Section::Table(levels(inputs, validation)));
    report.sections.push(Section::Table(checks(validation)));
    report.sections.extend(validation.levels.iter().filter_map(failures).map(Section::Table));
    report.sections.extend(validation.levels.iter().filter_map(endpoints).map(Section::Table));
    report.sections.extend(validation.levels.first().and_then(phases).map(Section::Table));
    report.notes = notes;
    Ok(report)
}

fn times(multiplier: f64) -> String {
    format!("{}x", human::significant(multiplier, 3))
}

fn headline(inputs: &Inputs, validation: &Validation) -> String {
    let named = |wanted: Verdict| {
        let levels = validation.levels.iter().filter(|level| level.verdict == wanted);
        listed(levels.map(|level| level.multiplier))
    };
    let (agree, disagree, open) =
        (named(Verdict::Agrees), named(Verdict::Disagrees), named(Verdict::NotJudged));
    let mut sentences = Vec::new();
    if !disagree.is_empty() {
        sentences.push(format!("The dispatcher does not agree with the prediction at {disagree}."));
    }
    if let Some(level) = validation.levels.iter().find(|level| level.interrupted_after_s.is_some()) {
        let ran_s = level.interrupted_after_s.unwrap_or_default();
        let shown = if ran_s < inputs.duration_s {
            format!("after {} of {}", human::duration(ran_s), human::duration(inputs.duration_s))
        } else {
            "while the queue drained".to_owned()
        };
        sentences.push(format!("Interrupted {shown} at {}.", times(level.multiplier)));
    } else if !open.is_empty() && disagree.is_empty() {
        sentences.push(format!("Not judged: {open}."));
    }
    if !agree.is_empty() && disagree.is_empty() {
        sentences.push(match waits_for(inputs) {
            None => format!("The dispatcher agrees with the prediction at {agree}."),
            Some(holder) => format!(
                "The dispatcher agrees where it was judged; the wait at {agree} is {holder}, and was not judged."
            ),
        });
    }
    if !validation.levels_not_run.is_empty() {
        sentences.push(format!("Not run: {}.", listed(validation.levels_not_run.iter().copied())));
    }
    sentences.join(" ")
}

/// Whose the wait is where messages are held for more than a worker.
fn waits_for(inputs: &Inputs) -> Option<&'static str> {
    match (inputs.governor != "off", inputs.host_cap) {
        (false, false) => None,
        (true, false) => Some("the governor's"),
        (false, true) => Some("the host cap's"),
        (true, true) => Some("the governor's and the host cap's"),
    }
}

fn listed(multipliers: impl Iterator<Item = f64>) -> String {
    multipliers.map(times).collect::<Vec<_>>().join(", ")
}

fn word(verdict: Verdict) -> String {
    match verdict {
        Verdict::Agrees => "agrees",
        Verdict::NotJudged => "not judged",
        Verdict::Disagrees => "disagrees",
    }
    .to_owned()
}

/// One column a level: so each row compares the levels.
fn levels(inputs: &Inputs, validation: &Validation) -> Table {
    let mut columns = vec![Column::words("level")];
    columns.extend(validation.levels.iter().map(|level| Column::number(times(level.multiplier))));
    let mut table = Table::new("Levels", &columns);
    let mut row = |name: &str, shown: &dyn Fn(&Level) -> String| {
        table.row(
            std::iter::once(name.to_owned()).chain(validation.levels.iter().map(shown)).collect::<Vec<_>>(),
        );
    };
    row("workers", &|level| human::count(level.workers));
    row("offered", &|level| human::rate(level.offered_rate_per_s));
    row("achieved", &|level| human::rate(level.achieved_rate_per_s));
    let measured = |level: &Level, value: String| if is_attempted(level) { value } else { "-".to_owned() };
    row("service time", &|level| measured(level, human::duration(level.service_mean_s)));
    row("utilisation", &|level| measured(level, human::percent(level.utilisation)));
    row("mean wait", &|level| measured(level, human::duration(level.wait_mean_s)));
    // What holds messages back beside the workers has no prediction.
    let predicted = |level: &Level| level.predicted.clone().filter(|_| waits_for(inputs).is_none());
    row("predicted", &|level| {
        predicted(level).map_or_else(|| "-".to_owned(), |predicted| between(predicted.wait_mean_interval_s))
    });
    row("oldest age", &|level| measured(level, human::duration(level.oldest_age_max_s)));
    row("drained after", &|level| {
        level.drained_after_s.map_or_else(|| "not drained".to_owned(), human::duration)
    });
    row("verdict", &|level| word(level.verdict));
    table
}

/// Whether any message was taken by a worker.
fn is_attempted(level: &Level) -> bool {
    level.endpoints.iter().any(|endpoint| endpoint.attempts > 0)
}

/// An interval; once where its ends are shown alike.
fn between([low, high]: [f64; 2]) -> String {
    let [low, high] = [low, high].map(human::duration);
    if low == high { low } else { format!("{low} to {high}") }
}

fn checks(validation: &Validation) -> Table {
    let columns = [
        Column::number("level"),
        Column::words("check"),
        Column::number("measured"),
        Column::number("at least"),
        Column::number("at most"),
        Column::words("verdict"),
        Column::words("why"),
    ];
    let mut table = Table::new("Checks", &columns);
    for level in &validation.levels {
        for check in &level.checks {
            let shown = |value: f64| match check.name {
                "wait_mean_s" | "oldest_age_max_s" | "service_mean_s" => human::duration(value),
                "utilisation" | "status_429_ratio" => human::percent(value),
                _ => human::significant(value, 6),
            };
            let limit = |limit: Option<f64>| limit.map(shown).unwrap_or_default();
            table.row([
                times(level.multiplier),
                check.name.to_owned(),
                shown(check.measured),
                limit(check.low),
                limit(check.high),
                word(check.verdict),
                check.reason.clone(),
            ]);
        }
    }
    table
}

/// What made attempts fail, where any did.
fn failures(level: &Level) -> Option<Table> {
    let columns = [Column::words("cause"), Column::number("attempts")];
    let mut table = Table::new(format!("Failed attempts at {}", times(level.multiplier)), &columns);
    for (cause, count) in &level.failures {
        table.row([cause.clone(), human::count(*count)]);
    }
    (!level.failures.is_empty()).then_some(table)
}

/// The endpoints of a level, where they differ in what became of their messages.
fn endpoints(level: &Level) -> Option<Table> {
    let troubled = level.failed > 0 || level.dead_lettered > 0 || level.still_queued > 0;
    if !troubled {
        return None;
    }
    let columns = [
        Column::number("endpoint"),
        Column::number("attempts"),
        Column::number("delivered"),
        Column::number("429"),
        Column::number("mean wait"),
        Column::number("p99 wait"),
        Column::words("disabled by"),
    ];
    let mut table = Table::new(format!("Endpoints at {}", times(level.multiplier)), &columns);
    for endpoint in &level.endpoints {
        let time = |seconds: Option<f64>| seconds.map(human::duration).unwrap_or_default();
        table.row([
            endpoint.endpoint.to_string(),
            human::count(endpoint.attempts),
            human::count(endpoint.delivered),
            human::percent(endpoint.status_429_ratio),
            time(endpoint.wait_mean_s),
            time(endpoint.wait_p99_s),
            endpoint.disabled.clone().unwrap_or_default(),
        ]);
    }
    Some(table)
}

/// Where the time of an attempt goes, where there was one.
fn phases(level: &Level) -> Option<Table> {
    let columns = [Column::words("phase"), Column::number("mean"), Column::number("share")];
    let title = format!("Service time at {}, by phase", times(level.multiplier));
    let mut table = Table::new(title, &columns);
    for phase in level.phases.iter().filter(|phase| phase.mean_s > 0.0) {
        table.row([phase.name.to_owned(), human::duration(phase.mean_s), human::percent(phase.share)]);
    }
    (!table.rows.is_empty()).then_some(table)
}
