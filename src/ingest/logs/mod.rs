//! Lines that are no delimited table: JSON lines, access logs. Each line becomes one record with named fields, so that
//! everything that tables can do (columns, units, groups, filters, counts of bad rows) is the same for all.

mod alb;
mod envoy;
mod fields;
mod json;
mod nginx;
mod refused;

use super::error::IngestError;
use super::lines::Lines;
use super::open::Input;
use super::options::{InputFormat, Options};
use fields::Fields;
use std::io::{self, BufRead, Read};

/// The delimiter of the records that are made of lines: a character that no log holds.
pub(super) const DELIMITER: u8 = 0x1f;

/// A format of lines: which fields a line has.
pub(super) trait Format: Send {
    /// As the report names it.
    fn name(&self) -> &'static str;
    /// The names of the fields.
    fn header(&self) -> Vec<String>;
    /// Writes the fields of a line; `None` if the line is none of this format.
    fn fields(&self, line: &[u8], fields: &mut Fields) -> Option<()>;
}

/// Tells by its first line what an input is; refuses what is known and holds no single attempts.
pub(super) fn recognise(input: &Input, options: &Options) -> Result<Option<Box<dyn Format>>, IngestError> {
    if options.format == InputFormat::Jsonl {
        return json::of(input, options).map(Some);
    }
    if options.format != InputFormat::Auto || options.delimiter.is_some() || options.no_header {
        return Ok(None);
    }
    refused::check(input)?;
    let head = input.head.trim_ascii_start();
    if head.starts_with(b"{") {
        return json::of(input, options).map(Some);
    }
    let first = head.split(|byte| *byte == b'\n').next().unwrap_or_default().trim_ascii_end();
    let formats: [Box<dyn Format>; 3] = [Box::new(alb::Alb), Box::new(envoy::Envoy), Box::new(nginx::Nginx)];
    let found = formats.into_iter().find(|format| format.fields(first, &mut Fields::default()).is_some());
    if found.is_none() && nginx::is_combined(first) {
        return Err(nginx::without_time(&input.name));
    }
    Ok(found)
}

/// The input as a table: a record for each line.
pub(super) fn to_table(input: Input, format: Box<dyn Format>) -> Result<Input, IngestError> {
    let name = input.name.clone();
    let lines = Lines::new(&name, input.into_stream());
    let mut fields = Fields::default();
    let header = format.header();
    header.iter().for_each(|column| fields.push(column.as_bytes()));
    let mut out = Vec::new();
    fields.end_into(&mut out);
    Input::made(&name, Box::new(Records { lines, format, width: header.len(), fields, out, at: 0 }))
}

struct Records<R> {
    lines: Lines<R>,
    format: Box<dyn Format>,
    /// How many fields a line of the format has.
    width: usize,
    fields: Fields,
    out: Vec<u8>,
    at: usize,
}

impl<R: BufRead> Read for Records<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while self.at == self.out.len() {
            self.out.clear();
            self.at = 0;
            if !self.lines.advance().map_err(io::Error::other)? {
                return Ok(0);
            }
            let line = self.lines.text().trim_ascii();
            if !line.is_empty() && self.format.fields(line, &mut self.fields).is_none() {
                self.fields.clear();
                // A record of another number of fields is none of this format, and shows what it was.
                self.fields.push(&line[..line.len().min(100)]);
                if self.width == 1 {
                    self.fields.push(b"?");
                }
            }
            self.fields.end_into(&mut self.out);
        }
        let count = (self.out.len() - self.at).min(buffer.len());
        buffer[..count].copy_from_slice(&self.out[self.at..self.at + count]);
        self.at += count;
        Ok(count)
    }
}
