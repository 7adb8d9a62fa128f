//! Delimited tables, row by row: the careful path, which knows every odd spelling and the place of every fault.

use super::collect::{Collector, Outcome};
use super::columns::Columns;
use super::dialect::Dialect;
use super::duration::{self, DurationError};
use super::error::{IngestError, IngestErrorKind};
use super::notice::IngestNotice;
use super::open::Input;
use super::options::{InputFormat, Options};
use super::records::Records;
use super::skipped::{Place, shown};
use super::timestamp;
use crate::profile::{Attempt, Source};
use std::io::BufRead;

/// Reads a delimited table into the collector.
pub(super) fn read(input: Input, collector: &mut Collector) -> Result<(), IngestError> {
    let options = collector.options.clone();
    let tab = (options.format == InputFormat::Tsv).then_some(b'\t');
    let named = named_columns(&options);
    let mut dialect = Dialect::of(&input, options.delimiter.or(tab), options.no_header, &named)?;
    let headed = dialect.header.is_some();
    if headed && dialect.sample.is_empty() && input.whole {
        let reason = "there is a header and no row below it";
        return Err(IngestError::new(IngestErrorKind::Empty, &input.name, reason));
    }
    let columns = Columns::find(&input.name, &mut dialect, &options)?;
    announce(&input.name, &columns, collector);
    let name = input.name.clone();
    let mut records = Records::new(&name, input.into_stream(), dialect.delimiter);
    if headed {
        records.advance()?;
    }
    let mut rows =
        Rows { file: &name, columns: &columns, collector, group: String::new(), zone_assumed: false };
    while records.advance()? {
        rows.row(&records)?;
    }
    if rows.zone_assumed {
        collector.notices.push(IngestNotice::ZoneAssumed { file: name });
    }
    Ok(())
}

/// The columns that were named: a first record that holds one is a header.
fn named_columns(options: &Options) -> Vec<&str> {
    let single = [&options.column, &options.count_column, &options.timestamp_column];
    let names = single.into_iter().flatten().chain(&options.group_by);
    // A number may be the number of a column.
    names
        .chain(options.filters.iter().map(|filter| &filter.column))
        .map(String::as_str)
        .filter(|name| name.parse::<usize>().is_err())
        .collect()
}

fn announce(name: &str, columns: &Columns, collector: &mut Collector) {
    collector.recognised(Source {
        format: columns.format.clone(),
        column: Some(columns.duration_name.clone()),
        unit: columns.unit.map(|unit| unit.to_string()),
        files: vec![name.to_owned()],
        correction: None,
        endpoint_latency: columns.known.is_some(),
    });
    let Some(known) = columns.known else { return };
    if collector.options.correction.is_none() {
        collector.notices.push(IngestNotice::EndpointLatency { format: known.format });
    }
    if let Some(absent) = known.absent {
        collector.notices.push(IngestNotice::AbsentAttempts { explanation: absent });
    }
    if known.timestamp.is_some() {
        collector.notices.push(IngestNotice::LoadToolArrivals { format: known.format });
    }
}

/// Reads rows, one at a time.
struct Rows<'a> {
    file: &'a str,
    columns: &'a Columns,
    collector: &'a mut Collector,
    group: String,
    zone_assumed: bool,
}

/// Why a row cannot be read, and in which field.
struct BadRow {
    reason: String,
    field: Option<usize>,
}

impl Rows<'_> {
    fn row<R: BufRead>(&mut self, record: &Records<R>) -> Result<(), IngestError> {
        self.collector.rows += 1;
        match self.attempt(record) {
            Ok(None) => Ok(()),
            Ok(Some((attempt, grouped))) => {
                let group = std::mem::take(&mut self.group);
                let attempt = Attempt { group: grouped.then_some(group.as_str()), ..attempt };
                let outcome = self.collector.attempt(self.file, &attempt);
                self.group = group;
                match outcome? {
                    Outcome::Counted => Ok(()),
                    Outcome::Filtered => {
                        self.collector.rows -= 1;
                        Ok(())
                    }
                    Outcome::TooLong => self.skip(record, &self.bad_duration(DurationError::TooLong)),
                }
            }
            Err(bad) => self.skip(record, &bad),
        }
    }

    fn skip<R: BufRead>(&mut self, record: &Records<R>, bad: &BadRow) -> Result<(), IngestError> {
        // A record of several lines that cannot be read has most likely swallowed as many rows.
        let lines = record.lines();
        self.collector.rows += lines - 1;
        self.collector.skip(&bad.reason, lines, || Place {
            file: self.file.to_owned(),
            line: record.line(),
            column: bad.field.and_then(|field| record.column_of(field)),
            text: bad.field.and_then(|field| record.field(field)).map(shown),
        })
    }

    fn bad_duration(&self, error: DurationError) -> BadRow {
        let name = &self.columns.duration_name;
        BadRow {
            reason: format!("with a bad duration in \"{name}\": {error}"),
            field: Some(self.columns.duration),
        }
    }

    /// The attempt in a record, and whether its group is set; `None` if a filter leaves it out.
    fn attempt<R: BufRead>(
        &mut self,
        record: &Records<R>,
    ) -> Result<Option<(Attempt<'static>, bool)>, BadRow> {
        let columns = self.columns;
        self.check_width(record)?;
        let cell = |column: usize| record.field(column).unwrap_or_default();
        for filter in &columns.filters {
            let same = cell(filter.column).trim_ascii() == filter.value.as_bytes();
            if same == filter.negated {
                self.collector.filtered += 1;
                self.collector.rows -= 1;
                return Ok(None);
            }
        }
        let duration_ns = duration::parse(cell(columns.duration), columns.unit, columns.decimal)
            .map_err(|error| self.bad_duration(error))?;
        let weight = match columns.count {
            None => 1,
            Some(column) => whole(cell(column)).ok_or_else(|| BadRow {
                reason: "whose count is not a whole number".to_owned(),
                field: Some(column),
            })?,
        };
        let started_ns = self.started(record)?;
        let failed = columns.outcomes.iter().any(|(column, outcome)| outcome.failed(cell(*column)));
        self.group.clear();
        for (place, column) in columns.groups.iter().enumerate() {
            if place > 0 {
                self.group.push_str(" / ");
            }
            let value = String::from_utf8_lossy(cell(*column).trim_ascii());
            self.group.push_str(if value.is_empty() { "(empty)" } else { &value });
        }
        let attempt = Attempt { duration_ns, weight, failed, started_ns, group: None };
        Ok(Some((attempt, !columns.groups.is_empty())))
    }

    /// Refuses records with too few or too many fields; empty ones at the end do no harm.
    fn check_width<R: BufRead>(&self, record: &Records<R>) -> Result<(), BadRow> {
        let width = self.columns.width;
        let spare = (width..record.len()).all(|field| record.field(field).is_some_and(<[u8]>::is_empty));
        if record.len() >= width && spare {
            return Ok(());
        }
        Err(BadRow { reason: format!("with another number of fields than {width}"), field: None })
    }

    fn started<R: BufRead>(&mut self, record: &Records<R>) -> Result<Option<i64>, BadRow> {
        let Some(column) = self.columns.timestamp else { return Ok(None) };
        match timestamp::parse(record.field(column).unwrap_or_default()) {
            Ok(at) => {
                self.zone_assumed |= at.zone_assumed;
                Ok(Some(at.ns))
            }
            Err(_) if !self.columns.timestamp_required && self.collector.options.since_ns.is_none() => {
                self.collector.unstamped += 1;
                Ok(None)
            }
            Err(_) => Err(BadRow { reason: "with a bad time stamp".to_owned(), field: Some(column) }),
        }
    }
}

/// A count, which some engines write as `12.0`.
fn whole(cell: &[u8]) -> Option<u64> {
    let text = std::str::from_utf8(cell.trim_ascii()).ok()?;
    let digits = text
        .split_once('.')
        .map_or(Some(text), |(whole, fraction)| fraction.bytes().all(|byte| byte == b'0').then_some(whole))?;
    digits.parse().ok()
}
