//! The report of `ingest`.

mod comparison;
mod explain;
mod figure;

pub use figure::figure;

use super::{Answer, Column, NotFinite, Report, Section, Table};
use crate::ingest::{
    Comparison, GroupSummary, IngestNotice, Ingested, OTHERS, Options, ServiceQuantile, Summary,
};
use crate::units::human;
use schemars::JsonSchema;
use serde::Serialize;

/// Groups that a table shows; JSON has all.
const SHOWN_GROUPS: usize = 15;

/// What `ingest` was given, as the envelope shows it.
#[derive(Serialize)]
struct Inputs<'a> {
    files: &'a [String],
    #[serde(skip_serializing_if = "Option::is_none")]
    column: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    unit: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    count_column: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    timestamp_column: Option<&'a str>,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    group_by: &'a [String],
    #[serde(skip_serializing_if = "Vec::is_empty")]
    filters: Vec<String>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    difference: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    compare: Option<&'a str>,
    max_bad_rows: String,
}

/// The result: what was measured, and what changed if it is compared.
#[derive(Serialize, JsonSchema)]
pub struct Measured {
    /// What was measured.
    #[serde(flatten)]
    pub summary: Summary,
    /// What changed since another profile; absent without `--compare`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub comparison: Option<Comparison>,
}

/// Builds the report of what was read, with further remarks such as those on saving.
///
/// # Errors
/// If a number is not finite, which would be a defect.
pub fn report(
    files: &[String],
    options: &Options,
    ingested: &Ingested,
    comparison: Option<Comparison>,
    further: &[IngestNotice],
) -> Result<Report, NotFinite> {
    let measured = Measured { summary: Summary::of(ingested), comparison };
    let Measured { summary, comparison } = &measured;
    let inputs = Inputs {
        files,
        column: options.column.as_deref(),
        unit: options.unit.map(|unit| unit.to_string()),
        count_column: options.count_column.as_deref(),
        timestamp_column: options.timestamp_column.as_deref(),
        group_by: &options.group_by,
        filters: options.filters.iter().map(ToString::to_string).collect(),
        difference: options.difference,
        compare: comparison.as_ref().map(|comparison| comparison.baseline.as_str()),
        max_bad_rows: options.max_bad_rows.to_string(),
    };
    let headline = comparison.as_ref().map_or_else(|| headline(summary), comparison::headline);
    let mut report = Report::new("ingest", Answer::Yes, headline, &inputs, &measured)?;
    report.sections.extend(comparison.iter().flat_map(comparison::sections));
    report.sections.push(source(ingested, summary));
    report.sections.push(service_time(summary));
    if let Some(arrivals) = arrivals(summary) {
        report.sections.push(arrivals);
    }
    if !summary.phases.is_empty() {
        report.sections.push(Section::Table(phases(summary)));
    }
    if !summary.groups.is_empty() {
        report.sections.push(Section::Table(groups(&summary.groups, summary.failures_recorded)));
    }
    if summary.cap_effect.iter().any(|cap| cap.attempts_cut > 0) {
        report.sections.push(Section::Table(caps(summary)));
    }
    report.explanations = explain::explanations(ingested, summary);
    report.notes = ingested.notices.iter().chain(further).map(IngestNotice::note).collect();
    Ok(report)
}

fn headline(summary: &Summary) -> String {
    let quantile = |wanted: f64| {
        let found = summary.quantiles.iter().find(|row| row.quantile == wanted);
        found.map_or_else(String::new, value)
    };
    let lasts = if summary.count == 1 { "lasts" } else { "last" };
    format!(
        "{} {lasts} {} on average (SCV {}): median {}, p99 {}.",
        human::counted(summary.count, "attempt"),
        human::duration(summary.mean_s),
        human::significant(summary.scv, 3),
        quantile(0.5),
        quantile(0.99)
    )
}

fn fact(name: &str, value: String) -> (String, String) {
    (name.to_owned(), value)
}

fn source(ingested: &Ingested, summary: &Summary) -> Section {
    let source = &summary.source;
    let files = match source.files.as_slice() {
        [] => String::new(),
        [only] => format!(", {only}"),
        many => format!(", {} files", many.len()),
    };
    let mut rows = vec![fact("read", format!("{}{files}", source.format))];
    if let Some(column) = &source.column {
        let unit = source.unit.as_deref().map_or("units as written".to_owned(), |unit| format!("in {unit}"));
        rows.push(fact("duration", format!("column \"{column}\", {unit}")));
    } else if let Some(unit) = &source.unit {
        rows.push(fact("duration", format!("values in {unit}")));
    }
    if let Some(column) = &source.count_column {
        rows.push(fact("attempts a row", format!("column \"{column}\"")));
    }
    if let Some(columns) = &source.failures_from {
        rows.push(fact("failures", format!("told by column {columns}")));
    }
    if let Some(correction) = &source.correction {
        rows.push(fact("corrected", correction.clone()));
    }
    let mut counted = human::count(ingested.rows);
    for (number, what) in [(summary.skipped_rows, "skipped"), (summary.filtered_rows, "left out by filters")]
    {
        if number > 0 {
            counted.push_str(&format!(", {} {what}", human::count(number)));
        }
    }
    if ingested.rows > 0 {
        rows.push(fact("rows", counted));
    }
    Section::Facts { title: "Source", rows }
}

fn shown(quantile: &ServiceQuantile) -> String {
    let unsure = if quantile.supported { "" } else { " (few attempts)" };
    format!("{}{unsure}", value(quantile))
}

/// A quantile's value, or between what it lies where a bucket is wider than a reader would take for a number.
fn value(quantile: &ServiceQuantile) -> String {
    const NARROW: f64 = 1.05;
    let value = human::duration(quantile.value_s);
    match (quantile.at_least, quantile.low_s, quantile.high_s) {
        (true, ..) => format!("at least {value}"),
        (false, Some(low), Some(high)) if high > low * NARROW => {
            format!("{} to {}", human::duration(low), human::duration(high))
        }
        _ => value,
    }
}

fn service_time(summary: &Summary) -> Section {
    let mut rows = vec![
        fact("mean", human::duration(summary.mean_s)),
        fact(
            "deviation",
            format!("{} (SCV {})", human::duration(summary.stddev_s), human::significant(summary.scv, 3)),
        ),
        fact("range", range(summary)),
    ];
    for quantile in &summary.quantiles {
        let name = format!("p{}", human::significant(quantile.quantile * 100.0, 4));
        rows.push((name, shown(quantile)));
    }
    if let Some(ratio) = summary.mean_over_median {
        rows.push(fact("mean / median", human::significant(ratio, 3)));
    }
    rows.push(fact("failed", failed(summary)));
    Section::Facts { title: "Service time", rows }
}

/// Nothing is said of failures where nothing told them.
fn failed(summary: &Summary) -> String {
    if !summary.failures_recorded {
        return "not recorded".to_owned();
    }
    let share = human::percent(summary.failures as f64 / summary.count.max(1) as f64);
    format!("{} ({share})", human::count(summary.failures))
}

fn range(summary: &Summary) -> String {
    let more = if summary.max_at_least { "at least " } else { "" };
    format!("{} to {more}{}", human::duration(summary.min_s), human::duration(summary.max_s))
}

fn arrivals(summary: &Summary) -> Option<Section> {
    let arrivals = summary.arrivals.as_ref()?;
    let mut rows = vec![fact("span", human::duration(arrivals.span_s))];
    if let Some(rate) = arrivals.mean_rate_per_s {
        rows.push(fact("mean rate", human::rate(rate)));
    }
    if let Some(rate) = arrivals.busiest_minute_rate_per_s {
        let window = if arrivals.busiest_window_s == 60 {
            String::new()
        } else {
            format!(", over {}", human::duration(arrivals.busiest_window_s as f64))
        };
        let start = &arrivals.busiest_minute_start;
        rows.push(fact("busiest minute", format!("{} from {start}{window}", human::rate(rate))));
    }
    if let Some(scv) = arrivals.interarrival_scv {
        rows.push(fact("between arrivals", format!("SCV {} (1 is Poisson)", human::significant(scv, 3))));
    }
    if let Some(dispersion) = arrivals.dispersion {
        let dispersion = human::significant(dispersion, 3);
        rows.push(fact("counts a second", format!("dispersion {dispersion} within minutes (1 is Poisson)")));
    }
    Some(Section::Facts { title: "Arrivals", rows })
}

fn phases(summary: &Summary) -> Table {
    let title = match summary.reuse_ratio {
        Some(reused) => format!("Phases ({} of attempts reused a connection)", human::percent(reused)),
        None => "Phases".to_owned(),
    };
    let columns = [Column::words("phase"), Column::number("mean"), Column::number("share of the mean")];
    let mut table = Table::new(title, &columns);
    for phase in &summary.phases {
        table.row([phase.name.clone(), human::duration(phase.mean_s), human::percent(phase.share)]);
    }
    table
}

fn groups(groups: &[GroupSummary], failures_recorded: bool) -> Table {
    let mut columns = vec![
        Column::words("group"),
        Column::number("attempts"),
        Column::number("share of busy time"),
        Column::number("mean"),
        Column::number("SCV"),
        Column::number("median"),
        Column::number("p99"),
    ];
    if failures_recorded {
        columns.push(Column::number("failed"));
    }
    let reuse = groups.iter().any(|group| group.reuse_ratio.is_some());
    if reuse {
        columns.push(Column::number("reuse"));
    }
    let (named, others): (Vec<_>, Vec<_>) = groups.iter().partition(|group| group.name != OTHERS);
    let title = match named.len() {
        0..=SHOWN_GROUPS => "Groups, by the time for which they held workers".to_owned(),
        many => format!("The {SHOWN_GROUPS} of {many} groups that held workers longest"),
    };
    let mut table = Table::new(title, &columns);
    for group in named.into_iter().take(SHOWN_GROUPS).chain(others) {
        let quantile = |wanted: f64| {
            let found = group.quantiles.iter().find(|row| row.quantile == wanted);
            found.map_or_else(String::new, value)
        };
        let mut row = vec![
            name(&group.name),
            human::count(group.count),
            human::percent(group.share_of_busy_time),
            human::duration(group.mean_s),
            human::significant(group.scv, 3),
            quantile(0.5),
            quantile(0.99),
        ];
        if failures_recorded {
            row.push(human::count(group.failures));
        }
        if reuse {
            row.push(group.reuse_ratio.map_or_else(|| "-".to_owned(), human::percent));
        }
        table.rows.push(row);
    }
    table
}

/// A group's name, cut in the middle so that the table keeps its width: names of hosts and paths differ at their ends.
fn name(name: &str) -> String {
    const LONGEST: usize = 28;
    let letters: Vec<char> = name.chars().collect();
    if letters.len() <= LONGEST {
        return name.to_owned();
    }
    let (head, tail) = (LONGEST / 2, LONGEST - 1 - LONGEST / 2);
    letters[..head].iter().chain(['…'].iter()).chain(&letters[letters.len() - tail..]).collect()
}

fn caps(summary: &Summary) -> Table {
    let rated = summary.cap_effect.iter().any(|cap| cap.workers_saved.is_some());
    let mut columns = vec![
        Column::number("timeout"),
        Column::number("attempts cut"),
        Column::number("of all"),
        Column::number("mean becomes"),
    ];
    if rated {
        columns.push(Column::number("workers saved"));
    }
    let title = if rated {
        "What a request timeout would do to the smallest pool for the busiest minute"
    } else {
        "What a request timeout would do"
    };
    let mut table = Table::new(title, &columns);
    for cap in &summary.cap_effect {
        let mut row = vec![
            human::duration(cap.timeout_s),
            human::count(cap.attempts_cut),
            human::percent(cap.attempts_cut as f64 / summary.count.max(1) as f64),
            human::duration(cap.mean_s),
        ];
        if rated {
            row.push(cap.workers_saved.map_or_else(|| "-".to_owned(), human::count));
        }
        table.rows.push(row);
    }
    table
}
