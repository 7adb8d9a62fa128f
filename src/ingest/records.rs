//! One record after the other from delimited text, in bounded memory and with its place.

use super::bulk::record_end;
use super::error::{IngestError, IngestErrorKind};
use super::open::read_failed;
use csv_core::{ReadFieldResult, ReadRecordResult, Reader, ReaderBuilder};
use std::io::BufRead;

/// The longest record. An attempt takes some hundred bytes; what is longer is not a table of attempts, or a quote was
/// opened and never closed.
pub(super) const LONGEST_RECORD: usize = 1 << 20;

/// Reads delimited records. The splitting is that of the `csv` crate (its engine, `csv-core`), which the `csv` crate
/// itself only offers with records of unbounded length.
pub(super) struct Records<R> {
    name: String,
    source: R,
    delimiter: u8,
    core: Reader,
    fields: Vec<u8>,
    ends: Vec<usize>,
    count: usize,
    /// The bytes of the record as they stand in the file.
    raw: Vec<u8>,
    line: u64,
}

fn core(delimiter: u8) -> Reader {
    ReaderBuilder::new().delimiter(delimiter).build()
}

impl<R: BufRead> Records<R> {
    pub(super) fn new(name: &str, source: R, delimiter: u8) -> Self {
        Self::at_line(name, source, delimiter, 1)
    }

    /// Reads from the middle of a file, of which this is the number of the first line.
    pub(super) fn at_line(name: &str, source: R, delimiter: u8, line: u64) -> Self {
        let mut core = core(delimiter);
        core.set_line(line);
        Records {
            name: name.to_owned(),
            source,
            delimiter,
            core,
            fields: vec![0; 1024],
            ends: vec![0; 64],
            count: 0,
            raw: Vec::new(),
            line,
        }
    }

    /// Moves over blank lines.
    fn skip_blank(&mut self) -> Result<(), IngestError> {
        loop {
            let input = self.source.fill_buf().map_err(|error| read_failed(&self.name, &error))?;
            let blank = input.iter().take_while(|byte| matches!(byte, b'\r' | b'\n')).count();
            let lines = memchr::memchr_iter(b'\n', &input[..blank]).count() as u64;
            let more = blank > 0 && blank == input.len();
            self.source.consume(blank);
            self.core.set_line(self.core.line() + lines);
            if !more {
                return Ok(());
            }
        }
    }

    /// Moves to the next record that is not blank; `false` at the end.
    pub(super) fn advance(&mut self) -> Result<bool, IngestError> {
        self.raw.clear();
        self.count = 0;
        self.skip_blank()?;
        let mut length = 0;
        self.line = self.core.line();
        loop {
            let input = self.source.fill_buf().map_err(|error| read_failed(&self.name, &error))?;
            let at_end = input.is_empty();
            let (result, read, written, ended) =
                self.core.read_record(input, &mut self.fields[length..], &mut self.ends[self.count..]);
            self.raw.extend_from_slice(&input[..read]);
            self.source.consume(read);
            length += written;
            self.count += ended;
            match result {
                ReadRecordResult::InputEmpty => {}
                ReadRecordResult::OutputFull => self.fields.resize(self.fields.len() * 2, 0),
                ReadRecordResult::OutputEndsFull => self.ends.resize(self.ends.len() * 2, 0),
                ReadRecordResult::End => return Ok(false),
                ReadRecordResult::Record => {
                    self.check_length()?;
                    if at_end && self.is_open() {
                        return Err(self.malformed("a quoted field that begins in this record never ends"));
                    }
                    return Ok(true);
                }
            }
            self.check_length()?;
        }
    }

    /// Whether the last record, which has no line's end, ends within a quoted field. A quote within a field that begins
    /// without one opens nothing.
    fn is_open(&self) -> bool {
        let ended = [&self.raw[..], b"\n"].concat();
        record_end(&ended, self.delimiter).is_none()
    }

    fn check_length(&self) -> Result<(), IngestError> {
        if self.raw.len() <= LONGEST_RECORD {
            return Ok(());
        }
        // The end of the line itself is no sign that a field goes on.
        let what = if memchr::memchr(b'\n', &self.raw[..LONGEST_RECORD]).is_some() {
            "a quoted field that begins in this record does not end within a megabyte"
        } else {
            "the line is longer than a megabyte"
        };
        Err(self.malformed(what))
    }

    fn malformed(&self, reason: &str) -> IngestError {
        IngestError::new(IngestErrorKind::Malformed, &self.name, reason)
            .at(self.line, None)
            .remedy("look at this line, and at the delimiter and quotes of the file")
    }

    /// How many fields the record has.
    pub(super) fn len(&self) -> usize {
        self.count
    }

    /// A field of the record, without its quotes.
    pub(super) fn field(&self, number: usize) -> Option<&[u8]> {
        let end = *self.ends[..self.count].get(number)?;
        let start = if number == 0 { 0 } else { self.ends[number - 1] };
        self.fields.get(start..end)
    }

    /// All fields of the record as text.
    pub(super) fn texts(&self) -> Vec<String> {
        (0..self.count)
            .filter_map(|n| self.field(n))
            .map(|f| String::from_utf8_lossy(f).into_owned())
            .collect()
    }

    /// The line on which the record begins, from 1.
    pub(super) fn line(&self) -> u64 {
        self.line
    }

    /// How many lines the record takes: more than one if a quoted field holds line breaks.
    pub(super) fn lines(&self) -> u64 {
        let inner = self.raw.trim_ascii();
        1 + memchr::memchr_iter(b'\n', inner).count() as u64
    }

    /// The byte within its line, from 1, at which a field begins; for messages only, so it may be slow.
    pub(super) fn column_of(&self, number: usize) -> Option<u64> {
        let (mut core, mut at, mut scratch) = (core(self.delimiter), 0, vec![0; self.fields.len()]);
        for _ in 0..number {
            let (result, read, _) = core.read_field(&self.raw[at..], &mut scratch);
            at += read;
            if !matches!(result, ReadFieldResult::Field { record_end: false }) {
                return None;
            }
        }
        let line_start = memchr::memrchr(b'\n', &self.raw[..at]).map_or(0, |newline| newline + 1);
        Some((at - line_start) as u64 + 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::io::{BufReader, Cursor};

    type Placed = (u64, Vec<Vec<u8>>);

    fn read(text: &[u8], chunk: usize) -> Result<Vec<Placed>, IngestError> {
        let source = BufReader::with_capacity(chunk, Cursor::new(text.to_vec()));
        let mut records = Records::new("x", source, b',');
        let mut all = Vec::new();
        while records.advance()? {
            let fields = (0..records.len()).map(|n| records.field(n).unwrap().to_vec()).collect();
            all.push((records.line(), fields));
        }
        Ok(all)
    }

    #[test]
    fn records_know_their_lines_whatever_ends_them() {
        let expected = [(1, "a"), (3, "b"), (4, "c\nd"), (6, "e")];
        for text in ["a\n\nb\n\"c\nd\"\ne", "a\r\n\r\nb\r\n\"c\nd\"\r\ne\r\n", "a\n\n\"b\"\n\"c\nd\"\ne\n\n"]
        {
            let read: Vec<(u64, String)> = read(text.as_bytes(), 3)
                .unwrap()
                .into_iter()
                .map(|(line, fields)| (line, String::from_utf8(fields.concat()).unwrap()))
                .collect();
            assert_eq!(read, expected.map(|(line, field)| (line, field.to_owned())), "{text:?}");
        }
    }

    #[test]
    fn a_field_knows_its_byte_in_the_line() {
        let mut records = Records::new("x", Cursor::new("\n\"a,\"\"b\",cd,\"e\nf\",g\n"), b',');
        assert!(records.advance().unwrap());
        assert_eq!((records.line(), records.lines()), (2, 2));
        let columns: Vec<_> = (0..5).map(|number| records.column_of(number)).collect();
        assert_eq!(columns, [Some(1), Some(9), Some(12), Some(4), None]);
    }

    #[test]
    fn a_quote_within_a_field_of_the_last_line_opens_nothing() {
        for text in ["a,b\n6\" pipe,5", "a,b\n1,5\"", "a,b\n\"x\"y\",5", "a,b\n\"\",\"\"\"\""] {
            assert_eq!(read(text.as_bytes(), 64).unwrap().len(), 2, "{text}");
            assert_eq!(read(format!("{text}\n").as_bytes(), 64).unwrap().len(), 2, "{text}");
        }
        for text in ["a,b\n1,\"", "a,b\n1,\"\"\"", "a,b\n\"x\"y,\"z"] {
            assert_eq!(read(text.as_bytes(), 64).unwrap_err().line, Some(2), "{text}");
        }
    }

    #[test]
    fn an_unclosed_quote_and_an_endless_line_are_errors_in_bounded_memory() {
        let error = read(b"a,b\n1,\"2\n3,4\n", 64).unwrap_err();
        assert_eq!((error.line, error.kind), (Some(2), IngestErrorKind::Malformed));
        let endless = BufReader::new(std::io::repeat(b'x'));
        let mut records = Records::new("x", endless, b',');
        let error = records.advance().unwrap_err();
        assert!(error.to_string().starts_with("x:1: the line is longer"), "{error}");
        assert!(records.raw.len() < 2 * LONGEST_RECORD);
    }

    proptest! {
        #[test]
        fn fields_are_those_of_the_csv_crate(text in "([a-c0-9\"\", \n]|\r\n){0,60}", chunk in 1usize..40) {
            if let Ok(ours) = read(text.as_bytes(), chunk) {
                let mut theirs = csv::ReaderBuilder::new().has_headers(false).flexible(true).from_reader(text.as_bytes());
                let theirs: Vec<Vec<Vec<u8>>> = theirs
                    .byte_records()
                    .map(|record| record.unwrap().iter().map(<[u8]>::to_vec).collect())
                    .collect();
                prop_assert_eq!(ours.into_iter().map(|(_, fields)| fields).collect::<Vec<_>>(), theirs);
            }
        }
    }
}
