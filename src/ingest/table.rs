//! Delimited tables: what the columns are, then their rows.

use super::bulk;
use super::collect::Collector;
use super::columns::Columns;
use super::dialect::Dialect;
use super::error::{IngestError, IngestErrorKind};
use super::logs::{self, Format};
use super::notice::IngestNotice;
use super::open::Input;
use super::open::read_failed;
use super::options::{Flag, InputFormat, Options};
use super::rows::Table;
use crate::profile::Source;
use std::io::Read;

/// Reads a delimited table into the collector.
pub(super) fn read(input: Input, collector: &mut Collector) -> Result<(), IngestError> {
    let options = collector.options.clone();
    let tab = (options.format == InputFormat::Tsv).then_some(b'\t');
    let named = named_columns(&options);
    let mut dialect = Dialect::of(&input, options.delimiter.or(tab), options.no_header, &named)?;
    let headed = dialect.header.is_some();
    if headed && dialect.sample.is_empty() && input.whole {
        let reason = "there is a header and no row below it";
        return Err(IngestError::new(IngestErrorKind::Empty, &input.name, reason)
            .remedy("export the rows as well; --no-header if this line is one"));
    }
    read_rows(input, &mut dialect, collector)
}

/// Reads lines that are no table by themselves.
pub(super) fn read_lines(
    input: Input,
    format: Box<dyn Format>,
    collector: &mut Collector,
) -> Result<(), IngestError> {
    collector.options.refuse(
        &input.name,
        "lines with named fields",
        &[&[Flag::Delimiter, Flag::NoHeader]],
    )?;
    let name = format.name();
    let made = logs::to_table(input, format)?;
    let mut dialect = Dialect::of_lines(&made, name);
    read_rows(made, &mut dialect, collector)
}

fn read_rows(input: Input, dialect: &mut Dialect, collector: &mut Collector) -> Result<(), IngestError> {
    let options = collector.options.clone();
    let headed = dialect.header.is_some();
    let columns = Columns::find(&input.name, dialect, &options)?;
    announce(&input.name, &columns, collector);
    let name = input.name.clone();
    let table = Table { file: &name, columns: &columns, delimiter: dialect.delimiter };
    let (skipped, line) = if headed { header(&input.head, dialect.delimiter) } else { (0, 1) };
    // The names of fields that lines do not carry take no line of the file.
    let line = if dialect.lines.is_some() { 1 } else { line };
    let small = input.whole;
    let mut source = input.into_stream();
    let skipping = std::io::copy(&mut source.by_ref().take(skipped), &mut std::io::sink());
    skipping.map_err(|error| read_failed(&name, &error))?;
    if bulk::read(&table, source, line, small, collector)? {
        collector.notices.push(IngestNotice::ZoneAssumed { file: name });
    }
    Ok(())
}

/// Bytes of the header with the blank lines before it, and the line on which what follows begins.
pub(super) fn header(head: &[u8], delimiter: u8) -> (u64, u64) {
    let blank = head.iter().take_while(|byte| matches!(byte, b'\r' | b'\n')).count();
    let end = bulk::record_end(&head[blank..], delimiter).map_or(head.len(), |end| blank + end);
    (end as u64, 1 + memchr::memchr_iter(b'\n', &head[..end]).count() as u64)
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
        count_column: columns.count_name.clone(),
        failures_from: columns.outcome_names.clone(),
        endpoint_latency: columns.known.is_some(),
    });
    if let Some(column) = columns.count_name.as_ref().filter(|_| columns.count_found) {
        collector.notices.push(IngestNotice::CountColumnFound { column: column.clone() });
    }
    for unread in &columns.unread {
        collector.notices.push(IngestNotice::ColumnUnread {
            column: unread.name.clone(),
            meaning: unread.meaning,
            example: unread.example.clone(),
        });
    }
    let Some(known) = columns.known else { return };
    // Lines of another shape are read into the columns of a known table.
    let format = columns.lines.unwrap_or(known.format);
    if collector.options.correction.is_none() {
        collector.notices.push(IngestNotice::EndpointLatency { format });
    }
    if let Some(absent) = known.absent {
        collector.notices.push(IngestNotice::AbsentAttempts { explanation: absent });
    }
    if known.load_tool && known.timestamp.is_some() {
        collector.notices.push(IngestNotice::LoadToolArrivals { format });
    }
}
