//! Histograms of monitoring systems: Prometheus and OpenMetrics text, answers of the Prometheus query API, OTLP/JSON.
//!
//! All three give snapshots of series, collected in a [`Store`] over all files; at the end the store makes of each
//! series what was added to it, and hands it to the collector.

mod counts;
mod increase;
mod labels;
mod otlp;
mod query;
mod series;
mod store;
mod text;

use super::collect::Collector;
use super::error::{IngestError, IngestErrorKind};
use super::open::{Input, read_failed};
use super::options::{InputFormat, OF_TABLES};
use std::io::Read;

pub(super) use store::Store;

/// The largest JSON or text that is read: metrics of thousands of series take some megabytes.
const LARGEST: u64 = 64 << 20;

/// In which form metrics are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Text,
    Query,
    Otlp,
}

/// Tells by its beginning whether an input holds metrics, or believes the option that says so.
pub(super) fn recognise(input: &Input, format: InputFormat) -> Option<Kind> {
    let head = input.head.trim_ascii_start();
    let holds = |text: &str| memchr::memmem::find(head, text.as_bytes()).is_some();
    let json = head.starts_with(b"{");
    match format {
        InputFormat::Otlp => Some(Kind::Otlp),
        InputFormat::Prometheus => Some(if json { Kind::Query } else { Kind::Text }),
        InputFormat::Auto if json && holds("\"resourceMetrics\"") => Some(Kind::Otlp),
        InputFormat::Auto if json && holds("\"resultType\"") => Some(Kind::Query),
        InputFormat::Auto if json && holds("\"status\"") && holds("\"errorType\"") => Some(Kind::Query),
        InputFormat::Auto if !json && text::is_metrics(head) => Some(Kind::Text),
        _ => None,
    }
}

/// Reads metrics into the collector's store.
pub(super) fn read(input: Input, kind: Kind, collector: &mut Collector) -> Result<(), IngestError> {
    collector.options.refuse(&input.name, "metrics, which have labels", &[OF_TABLES])?;
    let name = input.name.clone();
    let mut bytes = Vec::new();
    let read = input.into_stream().take(LARGEST + 1).read_to_end(&mut bytes);
    read.map_err(|error| read_failed(&name, &error))?;
    if bytes.len() as u64 > LARGEST {
        let reason = format!("it is larger than {} MB, which metrics are not", LARGEST >> 20);
        return Err(
            IngestError::new(IngestErrorKind::TooLarge, &name, reason).remedy("export a shorter time")
        );
    }
    let found = match kind {
        Kind::Text => text::parse(&name, &bytes, collector)?,
        Kind::Query => query::parse(&name, &bytes)?,
        Kind::Otlp => otlp::parse(&name, &bytes)?,
    };
    collector.metrics.add_file(&name, kind, found)
}

/// A JSON text that is not as it should be.
fn malformed(name: &str, error: &serde_json::Error) -> IngestError {
    let message = error.to_string();
    let reason = message.split(" at line ").next().unwrap_or_default();
    IngestError::new(IngestErrorKind::Malformed, name, format!("its JSON cannot be read: {reason}"))
        .at(error.line() as u64, Some(error.column() as u64))
}
