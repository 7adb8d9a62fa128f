//! Labels: what groups and selects series, and what tells failures.

use super::series::SeriesKey;
use crate::ingest::error::{IngestError, IngestErrorKind};
use crate::ingest::known::Outcome;
use crate::ingest::options::Options;
use std::collections::BTreeSet;

/// Labels whose value tells whether an attempt failed.
const STATUS_LABELS: &[&str] = &[
    "code",
    "status",
    "status_code",
    "http_status_code",
    "http.status_code",
    "http.response.status_code",
    "grpc_code",
    "outcome",
];

/// How many names a message lists.
const LISTED: usize = 12;

/// Whether a series is of attempts that failed.
pub(super) fn failed(key: &SeriesKey) -> bool {
    let mut values = STATUS_LABELS.iter().filter_map(|label| key.label(label));
    values.any(|value| Outcome::Status.failed(value.as_bytes()))
}

/// The status of a series that says neither that its attempts failed nor that they did not: the label and its value.
pub(super) fn unknown_outcome(key: &SeriesKey) -> Option<(&'static str, &str)> {
    let mut values = STATUS_LABELS.iter().filter_map(|label| Some((*label, key.label(label)?)));
    values.find(|(_, value)| Outcome::Status.judge(value.as_bytes()).is_none())
}

/// The group of a series, if there are to be groups.
pub(super) fn group(key: &SeriesKey, options: &Options) -> Option<String> {
    if options.group_by.is_empty() {
        return None;
    }
    let value =
        |label: &String| key.label(label).filter(|value| !value.is_empty()).unwrap_or("(empty)").to_owned();
    Some(options.group_by.iter().map(value).collect::<Vec<_>>().join(" / "))
}

/// A label that is absent is an empty one, as in a query.
pub(super) fn passes(key: &SeriesKey, options: &Options) -> bool {
    options
        .filters
        .iter()
        .all(|filter| (key.label(&filter.column).unwrap_or_default() == filter.value) != filter.negated)
}

/// Refuses labels that no series has.
pub(super) fn check_labels(
    file: &str,
    keys: &BTreeSet<&SeriesKey>,
    options: &Options,
) -> Result<(), IngestError> {
    let labels: BTreeSet<&str> =
        keys.iter().flat_map(|key| key.labels.iter().map(|(label, _)| label.as_str())).collect();
    let mut asked = options.group_by.iter().chain(options.filters.iter().map(|filter| &filter.column));
    match asked.find(|label| !labels.contains(label.as_str())) {
        None => Ok(()),
        Some(label) => {
            let error =
                IngestError::new(IngestErrorKind::Column, file, format!("there is no label \"{label}\""));
            Err(if labels.is_empty() {
                error.remedy("its series have no labels")
            } else {
                error.remedy(format!("its labels are {}", listed(labels.into_iter())))
            })
        }
    }
}

/// Names for a message.
pub(super) fn listed<'a>(names: impl Iterator<Item = &'a str>) -> String {
    let mut names: Vec<&str> = names.collect();
    let more = names.len() > LISTED;
    names.truncate(LISTED);
    let text = names.iter().map(|name| format!("\"{name}\"")).collect::<Vec<_>>().join(", ");
    if more { format!("{text}, …") } else { text }
}
