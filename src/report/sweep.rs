//! The report of a sweep: one answer for each value of an option.

use super::{Answer, Column, NotFinite, Report, Section, Table};
use crate::notice::{Note, Severity};
use crate::units::human;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

/// What was swept, as the envelope shows it.
#[derive(Clone, Debug, Serialize)]
pub struct Inputs {
    /// The command that answered.
    pub command: &'static str,
    /// The option that takes the values in turn.
    pub option: String,
    /// What the command was given beside it, as it was typed.
    pub arguments: Vec<String>,
}

/// The answers in the order of the values.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Swept {
    /// The command that answered.
    pub command: String,
    /// The option that takes the values.
    pub option: String,
    /// One answer for each value.
    pub rows: Vec<SweptRow>,
}

/// The answer for one value.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct SweptRow {
    /// The value, as it would be typed.
    pub value: String,
    /// Whether what was asked for holds.
    pub holds: bool,
    /// The result of the command, as its own schema says.
    pub result: Value,
}

/// The fields of each command that a table has room for; the first is what the headline follows.
fn shown(command: &str) -> &'static [&'static str] {
    match command {
        "size" => &["workers", "utilisation", "wait_mean_s", "wait_probability", "rate_headroom_ratio"],
        "drain" => &["drain_s", "net_rate_per_s", "oldest_age_at_end_s", "workers_for_deadline"],
        "layout" => {
            &["pods", "processes", "tasks_per_process", "deployed_concurrency", "fd_limit_per_process"]
        }
        "simulate" => &["wait_mean_s", "wait_probability", "utilisation", "oldest_age_max_s"],
        _ => &[],
    }
}

/// Builds the report from the values and their reports, at least one.
///
/// # Errors
/// If a number is not finite, which would be a defect.
pub fn report(inputs: &Inputs, answers: &[(String, Report)]) -> Result<Report, NotFinite> {
    let rows: Vec<SweptRow> = answers
        .iter()
        .map(|(value, report)| SweptRow {
            value: value.clone(),
            holds: report.answer == Answer::Yes,
            result: report.result().clone(),
        })
        .collect();
    let refused = rows.iter().filter(|row| !row.holds).count();
    let answer = if refused == 0 { Answer::Yes } else { Answer::No };
    let swept = Swept { command: inputs.command.to_owned(), option: inputs.option.clone(), rows };
    let mut report = Report::new("sweep", answer, headline(&swept, refused), inputs, &swept)?;
    report.sections.push(Section::Table(table(&swept, refused > 0)));
    report.notes = warnings(&inputs.option, answers);
    Ok(report)
}

/// The warnings of all answers, each kind once, with the values that it is about.
fn warnings(option: &str, answers: &[(String, Report)]) -> Vec<Note> {
    let mut found: Vec<(Note, usize)> = Vec::new();
    for (value, report) in answers {
        for note in report.notes.iter().filter(|note| note.severity > Severity::Info) {
            match found.iter_mut().find(|(other, _)| other.code == note.code) {
                Some((_, more)) => *more += 1,
                None => {
                    let message = format!("--{option} {value}: {}", note.message);
                    found.push((Note { message, ..note.clone() }, 0));
                }
            }
        }
    }
    let counted = found.into_iter().map(|(note, more)| match more {
        0 => note,
        _ => Note { message: format!("{} (and so for {more} more)", note.message), ..note },
    });
    counted.collect()
}

fn headline(swept: &Swept, refused: usize) -> String {
    let range = |cell: &dyn Fn(&SweptRow) -> String| match (swept.rows.first(), swept.rows.last()) {
        (Some(first), Some(last)) if swept.rows.len() > 1 => {
            format!("from {} to {}", cell(first), cell(last))
        }
        (Some(only), _) => cell(only),
        _ => "no value".to_owned(),
    };
    let option = format!("--{} {}", swept.option, range(&|row| row.value.clone()));
    let found = shown(&swept.command)
        .first()
        .map(|field| format!("{} {}", heading(field), range(&|row| cell(row, field))))
        .unwrap_or_default();
    match refused {
        0 => format!("{option}: {found}."),
        _ => format!("{option}: {found}; the answer is no for {refused} of {}.", swept.rows.len()),
    }
}

fn table(swept: &Swept, with_answer: bool) -> Table {
    let fields: Vec<&str> = shown(&swept.command)
        .iter()
        .copied()
        .filter(|field| swept.rows.iter().any(|row| row.result.get(field).is_some()))
        .collect();
    let mut columns = vec![Column::number(format!("--{}", swept.option))];
    columns.extend(fields.iter().map(|field| Column::number(heading(field))));
    columns.extend(with_answer.then(|| Column::words("holds")));
    let mut table = Table::new("Answers", &columns);
    for row in &swept.rows {
        let mut cells = vec![row.value.clone()];
        cells.extend(fields.iter().map(|field| cell(row, field)));
        cells.extend(with_answer.then(|| if row.holds { "yes" } else { "no" }.to_owned()));
        table.row(cells);
    }
    table
}

/// A field's name as words, without the unit at its end.
fn heading(field: &str) -> String {
    if field == "wait_mean_s" {
        return "mean wait".to_owned();
    }
    let bare = ["_per_s", "_s", "_ratio"].iter().find_map(|unit| field.strip_suffix(unit)).unwrap_or(field);
    bare.replace('_', " ")
}

/// A field's value as a person reads it; its name tells the unit.
fn cell(row: &SweptRow, field: &str) -> String {
    let Some(number) = row.result.get(field).and_then(Value::as_f64) else {
        return match field {
            "drain_s" => "never",
            "wait_mean_s" => "endless",
            _ => "\u{2013}",
        }
        .to_owned();
    };
    match field {
        _ if field.ends_with("_per_s") => human::rate(number),
        _ if field.ends_with("_s") => human::duration(number),
        "utilisation" => human::percent(number),
        _ if field.ends_with("_ratio") || field.ends_with("_probability") => human::percent(number),
        _ => human::significant(number, 12),
    }
}

/// The rows of a sweep as CSV: the value, whether it holds, and every field of the result that is one value.
///
/// # Errors
/// `None` if the report is no sweep.
#[must_use]
pub fn render_csv(report: &Report) -> Option<String> {
    let (option, rows) = (report.result().get("option")?.as_str()?, report.result().get("rows")?.as_array()?);
    let mut fields: Vec<&String> = Vec::new();
    for (name, value) in rows.iter().filter_map(|row| row.get("result")?.as_object()).flatten() {
        if !value.is_object() && !value.is_array() && !fields.contains(&name) {
            fields.push(name);
        }
    }
    let text = |value: Option<&Value>| match value {
        Some(Value::String(text)) => text.clone(),
        Some(value) => value.to_string(),
        None => String::new(),
    };
    let mut writer = csv::Writer::from_writer(Vec::new());
    let names = [option, "holds"].into_iter().chain(fields.iter().map(|field| field.as_str()));
    writer.write_record(names).ok()?;
    for row in rows {
        let cells = [text(row.get("value")), text(row.get("holds"))];
        let result = row.get("result");
        let rest = fields.iter().map(|field| text(result.and_then(|result| result.get(field.as_str()))));
        writer.write_record(cells.into_iter().chain(rest)).ok()?;
    }
    String::from_utf8(writer.into_inner().ok()?).ok()
}
