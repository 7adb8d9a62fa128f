//! Files of measurements → a [`ServiceProfile`]: what it is, which column, which unit, and nothing half-read in silence.
//!
//! [`read_files`] is the door. It tells the format by header or shape, reads every row or counts why it could not, and
//! returns the profile with remarks. Input is read in bounded memory; errors carry file, line, reason and remedy.

mod bulk;
mod collect;
mod column_names;
mod columns;
mod comparison;
mod dialect;
mod duration;
mod error;
mod hdr;
mod known;
mod lines;
mod logs;
mod metrics;
mod notice;
mod open;
mod options;
mod percentiles;
mod phases;
mod records;
mod rows;
mod saved;
mod skipped;
mod summary;
mod table;
mod timestamp;
mod trace;
mod unknown_outcomes;
mod watch;

use crate::profile::ServiceProfile;
use collect::Collector;
use open::Input;
use std::collections::HashSet;
use std::io::Read;

pub use comparison::{Change, Comparison, Workers};
pub use duration::{Decimal, DurationError, Unit, parse as parse_duration};
pub use error::{IngestError, IngestErrorKind};
pub use hdr::to_hdr_log;
pub use notice::IngestNotice;
pub use open::STDIN;
pub use options::{BadRows, Correction, InputFormat, Options, Where};
pub use saved::to_json;
pub use skipped::{Place, Skipped, SkippedReason};
pub use summary::{
    ArrivalSummary, CapSummary, GroupSummary, OTHERS, OfPhases, ServiceQuantile, SourceSummary, Summary,
};
pub use timestamp::{Timestamp, TimestampError, parse as parse_timestamp, show as show_second};
pub use trace::read_trace;
pub use watch::Watch;

/// The quantiles that are reported.
pub const QUANTILES: [f64; 5] = [0.5, 0.9, 0.95, 0.99, 0.999];

/// What was read.
#[derive(Clone, Debug)]
pub struct Ingested {
    /// The profile.
    pub profile: ServiceProfile,
    /// Rows that hold an attempt and passed the filters, skipped ones included.
    pub rows: u64,
    /// Rows that a filter left out.
    pub filtered: u64,
    /// Rows that could not be read.
    pub skipped: Skipped,
    /// Remarks for the reader, the most important first.
    pub notices: Vec<IngestNotice>,
    /// Request timeouts whose effect is asked for, in nanoseconds, shortest first.
    pub timeouts_ns: Vec<u64>,
}

/// Reads files, or standard input for [`STDIN`], into one profile.
///
/// # Errors
/// If a file cannot be opened, is not what it was said to be, holds nothing, or too much of it cannot be read.
pub fn read_files(files: &[String], options: &Options) -> Result<Ingested, IngestError> {
    read_files_watched(files, options, &Watch::default())
}

/// The same, and another thread can see how far it is.
///
/// # Errors
/// As [`read_files`].
pub fn read_files_watched(
    files: &[String],
    options: &Options,
    watch: &Watch,
) -> Result<Ingested, IngestError> {
    let mut collector = Collector::new(options)?;
    collector.watch = watch.clone();
    let mut seen = HashSet::new();
    for name in files {
        if name != STDIN && !seen.insert(std::fs::canonicalize(name).unwrap_or_else(|_| name.into())) {
            collector.notices.push(IngestNotice::NamedTwice { file: name.clone() });
        }
        read_input(Input::open_watched(name, watch)?, &mut collector)?;
    }
    finish(collector, files.first().map_or("input", String::as_str))
}

/// Reads what other commands take as `--profile FILE`: a saved profile, or any file that is recognised by itself.
///
/// # Errors
/// As [`read_files`].
pub fn load(file: &str) -> Result<Ingested, IngestError> {
    read_files(&[file.to_owned()], &Options::default())
}

/// Reads one stream, known by `name` in messages, into a profile.
///
/// # Errors
/// As [`read_files`].
pub fn read_stream(
    name: &str,
    stream: impl Read + Send + 'static,
    options: &Options,
) -> Result<Ingested, IngestError> {
    let mut collector = Collector::new(options)?;
    read_input(Input::from_reader(name, Box::new(stream))?, &mut collector)?;
    finish(collector, name)
}

fn read_input(input: Input, collector: &mut Collector) -> Result<(), IngestError> {
    if let Some(kind) = hdr::recognise(&input, collector.options.format) {
        return hdr::read(input, kind, collector);
    }
    input.check_text()?;
    if let Some(kind) = metrics::recognise(&input, collector.options.format) {
        return metrics::read(input, kind, collector);
    }
    if let Some(kind) = percentiles::recognise(&input, collector.options.format) {
        return percentiles::read(input, kind, collector);
    }
    match collector.options.format {
        InputFormat::Auto if saved::is_profile(&input) => read_profile(input, collector),
        InputFormat::Profile => read_profile(input, collector),
        _ => match logs::recognise(&input, &collector.options)? {
            Some(format) => table::read_lines(input, format, collector),
            None => table::read(input, collector),
        },
    }
}

fn read_profile(input: Input, collector: &mut Collector) -> Result<(), IngestError> {
    let name = input.name.clone();
    saved::read_each(input, |profile| collector.profile(&name, profile))
}

fn finish(mut collector: Collector, name: &str) -> Result<Ingested, IngestError> {
    std::mem::take(&mut collector.metrics).finish(&mut collector)?;
    let asked = !collector.options.caps.is_empty();
    let mut timeouts_ns = collector.options.caps_ns();
    let (profile, rest) = collector.finish(name)?;
    let mut notices = rest.notices;
    if rest.skipped.rows() > 0 {
        notices.push(IngestNotice::SkippedRows(rest.skipped.clone()));
    }
    notices.extend(notice::of_profile(&profile));
    notices.dedup();
    // Of a saved profile, those that were counted when it was made are the exact ones.
    if !asked && profile.caps_ns().next().is_some() {
        timeouts_ns = profile.caps_ns().collect();
    }
    timeouts_ns.sort_unstable();
    timeouts_ns.dedup();
    let collect::Rest { skipped, rows, filtered, .. } = rest;
    Ok(Ingested { profile, rows, filtered, skipped, notices, timeouts_ns })
}
