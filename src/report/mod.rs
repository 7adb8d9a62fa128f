//! What a command has to say, once, for every output format.
//!
//! A command builds one [`Report`]: the answer in words, the sections that a person reads, the result that a
//! script reads. The renderers only read it: none of them computes a figure, and the exit code follows
//! [`Report::answer`], never the format.

pub mod autoscale;
mod bars;
pub mod check;
pub mod diagnose;
pub mod drain;
mod explain;
mod figure;
mod github;
mod html;
pub mod ingest;
mod json;
mod junit;
pub mod layout;
mod markdown;
mod only;
pub mod pipeline;
pub mod plan;
mod printable;
pub mod sandbox;
pub mod schema;
mod section;
pub mod simulate;
pub mod size;
pub mod sweep;
mod table;
pub mod validate;

use crate::check::Checked;
use crate::notice::Note;
use serde::Serialize;
use serde_json::Value;

pub use bars::{Bar, Bars};
pub use explain::Explanation;
pub use figure::{Axis, Figure, Mark, Panel, Path, Place, Scale, Series, Unit, render_svg};
pub use github::render as render_github;
pub use html::render as render_html;
pub use json::render as render_json;
pub use junit::{JunitError, render as render_junit};
pub use markdown::render as render_markdown;
pub use only::{OnlyError, is_selectable, select};
pub use printable::printable;
pub use section::{Column, Section, Table};
pub use table::{Style, render as render_table};

/// Whether what was asked for holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// Answered, and what was asked for holds: exit code 0.
    Yes,
    /// Answered, and the answer is no (objective missed, backlog never drains, requirement failed): exit code 1.
    No,
}

/// One command's whole answer.
#[derive(Clone, Debug)]
pub struct Report {
    /// The command's name; the JSON schema is `whsize.NAME/1`.
    pub command: &'static str,
    /// Whether what was asked for holds.
    pub answer: Answer,
    /// The first line of every output for people: the answer in words.
    pub headline: String,
    /// What follows, in reading order.
    pub sections: Vec<Section>,
    /// Remarks and warnings.
    pub notes: Vec<Note>,
    /// The formulas behind the answer with the numbers put in, shown on request.
    pub explanations: Vec<Explanation>,
    /// The findings of a check, for the formats that show nothing else.
    pub judged: Option<Judged>,
    /// What the command was given, as the envelope shows it.
    inputs: Value,
    /// The documented fields of the answer.
    result: Value,
}

/// The findings of a check, and the file that they are about.
#[derive(Clone, Debug, PartialEq)]
pub struct Judged {
    /// The plan, as it was named.
    pub file: String,
    /// What became of its requirements.
    pub checked: Checked,
}

/// A result cannot be shown because one of its numbers is not finite: a defect of the program, never of the input.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "{path} is not a finite number; this is a defect in whsize, please report the command that led to it"
)]
pub struct NotFinite {
    /// Where in the result it stands, such as `result.wait_mean_s`.
    pub path: String,
}

impl Report {
    /// Starts a report from what a command was given and what it found. `inputs` and `result` are the plain
    /// structs of the domain; an absent value must be left out, not null.
    ///
    /// # Errors
    /// If a number in either is NaN or infinite. JSON has no such numbers, and a silent `null` in their place
    /// would be a wrong answer.
    pub fn new(
        command: &'static str,
        answer: Answer,
        headline: impl Into<String>,
        inputs: &impl Serialize,
        result: &impl Serialize,
    ) -> Result<Self, NotFinite> {
        Ok(Report {
            command,
            answer,
            headline: headline.into(),
            sections: Vec::new(),
            notes: Vec::new(),
            explanations: Vec::new(),
            judged: None,
            inputs: finite(inputs, "inputs")?,
            result: finite(result, "result")?,
        })
    }

    /// The documented fields of the answer, as JSON.
    #[must_use]
    pub fn result(&self) -> &Value {
        &self.result
    }

    /// Takes the figures out of the sections, to be shown elsewhere.
    pub fn take_figures(&mut self) -> Vec<Figure> {
        let (mut figures, mut rest) = (Vec::new(), Vec::new());
        for section in self.sections.drain(..) {
            match section {
                Section::Figure(figure) => figures.push(figure),
                other => rest.push(other),
            }
        }
        self.sections = rest;
        figures
    }

    /// What the command was given, as JSON.
    #[must_use]
    pub fn inputs(&self) -> &Value {
        &self.inputs
    }
}

/// Serialises, and refuses any null: `serde_json` writes NaN and infinity as null, and our structs never do.
fn finite(value: &impl Serialize, root: &str) -> Result<Value, NotFinite> {
    let mut value =
        serde_json::to_value(value).map_err(|error| NotFinite { path: format!("{root} ({error})") })?;
    no_negative_zero(&mut value);
    match null_path(&value) {
        None => Ok(value),
        Some(path) => Err(NotFinite { path: format!("{root}{path}") }),
    }
}

/// The sum of nothing is −0 in floats, which means no other thing than 0.
fn no_negative_zero(value: &mut Value) {
    match value {
        Value::Number(number) if number.is_f64() && number.as_f64() == Some(0.0) => *value = 0.0.into(),
        Value::Array(items) => items.iter_mut().for_each(no_negative_zero),
        Value::Object(fields) => fields.values_mut().for_each(no_negative_zero),
        _ => {}
    }
}

fn null_path(value: &Value) -> Option<String> {
    match value {
        Value::Null => Some(String::new()),
        Value::Array(items) => items
            .iter()
            .enumerate()
            .find_map(|(index, item)| null_path(item).map(|rest| format!(".{index}{rest}"))),
        Value::Object(fields) => {
            fields.iter().find_map(|(name, field)| null_path(field).map(|rest| format!(".{name}{rest}")))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Serialize)]
    struct Nested {
        rows: Vec<f64>,
    }

    #[test]
    fn zero_has_no_sign() {
        let report = Report::new(
            "size",
            Answer::Yes,
            "",
            &Nested { rows: vec![] },
            &Nested { rows: vec![-0.0, -1.5, 0.0] },
        );
        assert_eq!(
            report.map(|report| report.result().to_string()),
            Ok::<_, NotFinite>("{\"rows\":[0.0,-1.5,0.0]}".to_owned())
        );
    }

    #[test]
    fn a_number_that_is_not_finite_is_refused_by_its_path() {
        for bad in [f64::NAN, f64::INFINITY] {
            let error = Report::new("size", Answer::Yes, "", &(), &Nested { rows: vec![1.0, bad] });
            assert_eq!(error.unwrap_err().path, "inputs");
            let empty = Nested { rows: vec![] };
            let error = Report::new("size", Answer::Yes, "", &empty, &Nested { rows: vec![1.0, bad] });
            assert_eq!(error.unwrap_err().path, "result.rows.1");
        }
    }
}
