//! One bare value out of a result, for a shell: `--only workers`.

use super::Report;
use super::schema::documents;
use serde_json::Value;

/// Why a field cannot be shown.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum OnlyError {
    /// The answer never has such a field.
    #[error("there is no field \"{path}\" in this answer{}; it has {}", hint(.nearest.as_deref()), available.join(", "))]
    Unknown {
        /// The field that was asked for.
        path: String,
        /// The field that was probably meant.
        nearest: Option<String>,
        /// The fields that there are at the place where the path ends.
        available: Vec<String>,
    },
    /// The path stops at a list and does not say which of it.
    #[error("\"{list}\" is a list in this answer; say which of it by a number from 0, such as {example}")]
    NoIndex {
        /// The list.
        list: String,
        /// The path with the number of the first.
        example: String,
    },
    /// The field is documented at this place, and this answer has no value for it, as an unstable pool has no wait.
    #[error("this answer has no \"{path}\": {answer}")]
    Absent {
        /// The field that was asked for.
        path: String,
        /// The answer in words.
        answer: String,
    },
}

/// The value at a dotted path below `result`, such as `workers` or `scenarios.0.workers`, as one line without
/// quotes; lists and objects come as compact JSON.
///
/// # Errors
/// If there is no such field, with those that there are; or if this answer has no value for it.
pub fn select(report: &Report, path: &str) -> Result<String, OnlyError> {
    let mut value = report.result();
    let steps: Vec<&str> = path.split('.').collect();
    for (depth, step) in steps.iter().enumerate() {
        let next = match value {
            Value::Object(fields) => fields.get(*step),
            Value::Array(items) => step.parse::<usize>().ok().and_then(|index| items.get(index)),
            _ => None,
        };
        value = next.ok_or_else(|| {
            let first = || [&steps[..depth], &["0"], &steps[depth..]].concat();
            if value.is_array() && step.parse::<usize>().is_err() && documents(report.command, &first()) {
                return OnlyError::NoIndex { list: steps[..depth].join("."), example: first().join(".") };
            }
            if documents(report.command, &steps) && !value.is_array() {
                return OnlyError::Absent { path: path.to_owned(), answer: report.headline.clone() };
            }
            let available = names(value);
            OnlyError::Unknown { path: path.to_owned(), nearest: nearest(step, &available), available }
        })?;
    }
    Ok(match value {
        Value::String(text) => text.clone(),
        other => whole(other).unwrap_or_else(|| other.to_string()),
    })
}

/// Whether a command's answer can have the field that a path begins with: asked before a long run.
///
/// # Errors
/// If it never has such a field, with those that there are.
pub fn is_selectable(command: &str, path: &str) -> Result<(), OnlyError> {
    let step = path.split('.').next().unwrap_or_default();
    let available = super::schema::fields(command);
    if available.iter().any(|field| field == step) {
        return Ok(());
    }
    Err(OnlyError::Unknown { path: path.to_owned(), nearest: nearest(step, &available), available })
}

/// A float that is a whole number reads better in a shell without its `.0`.
fn whole(value: &Value) -> Option<String> {
    let number = value.as_f64().filter(|_| value.is_f64())?;
    (number.fract() == 0.0 && number.abs() < 1e15).then(|| format!("{number:.0}"))
}

fn names(value: &Value) -> Vec<String> {
    match value {
        Value::Object(fields) => fields.keys().cloned().collect(),
        Value::Array(items) if !items.is_empty() => vec![format!("the numbers 0 to {}", items.len() - 1)],
        _ => vec!["nothing below it".to_owned()],
    }
}

/// The name that is most like what was typed, if any is alike at all.
fn nearest(typed: &str, names: &[String]) -> Option<String> {
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    crate::nearest::nearest(typed, &names).map(str::to_owned)
}

fn hint(nearest: Option<&str>) -> String {
    nearest.map(|name| format!(" (did you mean \"{name}\"?)")).unwrap_or_default()
}
