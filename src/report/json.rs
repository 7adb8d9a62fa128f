//! The JSON envelope: `{"schema", "version", "inputs", "result", "notes"}`.

use super::Report;
use crate::notice::Note;
use serde::Serialize;
use serde_json::Value;

#[derive(Serialize)]
struct Envelope<'a> {
    schema: String,
    version: &'static str,
    inputs: &'a Value,
    result: &'a Value,
    notes: &'a [Note],
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    explanations: &'a [super::Explanation],
}

/// Renders a report as one JSON document with a final newline.
///
/// # Errors
/// None in practice: the parts were serialised when the report was made.
pub fn render(report: &Report) -> serde_json::Result<String> {
    let envelope = Envelope {
        schema: super::schema::name(report.command),
        version: env!("CARGO_PKG_VERSION"),
        inputs: &report.inputs,
        result: &report.result,
        notes: &report.notes,
        explanations: &report.explanations,
    };
    serde_json::to_string_pretty(&envelope).map(|text| text + "\n")
}
