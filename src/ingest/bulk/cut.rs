//! A stream of bytes cut where records end, so that every piece can be read by itself.

use crate::ingest::error::IngestError;
use crate::ingest::open::read_failed;
use crate::ingest::records::LONGEST_RECORD;
use std::io::Read;

/// Cuts a stream into pieces of whole records.
pub(super) struct Cutter<R> {
    name: String,
    source: R,
    delimiter: u8,
    /// Bytes of a piece, if records are not longer.
    size: usize,
    /// The beginning of the next piece.
    carried: Vec<u8>,
    /// The number of the next piece, from 0.
    number: usize,
    ended: bool,
    failed: Option<IngestError>,
}

impl<R: Read> Cutter<R> {
    pub(super) fn new(name: &str, source: R, delimiter: u8, size: usize) -> Self {
        Cutter {
            name: name.to_owned(),
            source,
            delimiter,
            size: size.max(2),
            carried: Vec::new(),
            number: 0,
            ended: false,
            failed: None,
        }
    }

    /// Puts the next piece at the beginning of `buffer`, which keeps its length so that no memory is cleared for
    /// nothing, and tells its number and its length; `None` at the end. A piece ends where a record does; one that is
    /// longer than any record holds the beginning of a record that is too long.
    pub(super) fn advance(&mut self, buffer: &mut Vec<u8>) -> (usize, Result<Option<usize>, IngestError>) {
        let number = self.number;
        self.number += 1;
        (number, self.piece(buffer))
    }

    fn piece(&mut self, buffer: &mut Vec<u8>) -> Result<Option<usize>, IngestError> {
        let mut filled = self.carried.len();
        buffer.resize(buffer.len().max(filled), 0);
        buffer[..filled].copy_from_slice(&self.carried);
        self.carried.clear();
        let (mut searched, mut wanted) = (0, self.size.max(filled));
        loop {
            self.fill(buffer, &mut filled, wanted);
            if self.ended && self.failed.is_none() {
                return Ok((filled > 0).then_some(filled));
            }
            let bytes = &buffer[..filled];
            let end = if searched == 0 || memchr::memchr(b'"', bytes).is_some() {
                last_end(bytes, self.delimiter)
            } else {
                // Nothing before ended a record, so only what was added can.
                last_end(&bytes[searched..], self.delimiter).map(|end| searched + end)
            };
            match end {
                Some(end) => {
                    self.carried.extend_from_slice(&bytes[end..]);
                    return Ok(Some(end));
                }
                // What was read before the stream failed is no whole record.
                None if self.failed.is_some() => return self.failed.take().map_or(Ok(None), Err),
                None if filled > LONGEST_RECORD + self.size => {
                    self.ended = true;
                    return Ok(Some(filled));
                }
                None => {
                    // A carriage return at the end may be half of a line's end.
                    searched = filled.saturating_sub(1);
                    wanted = filled + self.size.max(filled);
                }
            }
        }
    }

    /// Reads until the buffer is filled so far, or nothing more comes.
    fn fill(&mut self, buffer: &mut Vec<u8>, filled: &mut usize, wanted: usize) {
        buffer.resize(buffer.len().max(wanted), 0);
        while *filled < wanted && !self.ended {
            match self.source.read(&mut buffer[*filled..wanted]) {
                Ok(0) => self.ended = true,
                Ok(read) => *filled += read,
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                Err(error) => {
                    self.failed = Some(read_failed(&self.name, &error));
                    self.ended = true;
                }
            }
        }
    }
}

/// Where the last record ends of which that can be told.
fn last_end(bytes: &[u8], delimiter: u8) -> Option<usize> {
    if memchr::memchr(b'"', bytes).is_some() {
        let (mut at, mut last) = (0, None);
        while let Some(end) = record_end(&bytes[at..], delimiter) {
            at += end;
            last = Some(at);
        }
        return last;
    }
    match memchr::memrchr(b'\n', bytes) {
        Some(at) => Some(at + 1),
        // Lines may end with a carriage return alone; the last byte may be half of a line's end.
        None => memchr::memrchr(b'\r', &bytes[..bytes.len().saturating_sub(1)]).map(|at| at + 1),
    }
}

/// Where the first record ends, its line's end included; `None` if it does not within these bytes. As `csv-core` has it:
/// a quote opens only at the beginning of a field, two within are one, and either of two bytes ends a line.
pub(in crate::ingest) fn record_end(bytes: &[u8], delimiter: u8) -> Option<usize> {
    let mut at = 0;
    let mut field_begins = true;
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'\n' => return Some(at + 1),
            b'\r' => {
                // Whether a line feed belongs to it is known only where something follows.
                let next = bytes.get(at + 1)?;
                return Some(if *next == b'\n' { at + 2 } else { at + 1 });
            }
            b'"' if field_begins => {
                at = after_quoted(bytes, at + 1)?;
                field_begins = false;
            }
            byte => {
                field_begins = *byte == delimiter;
                at += 1;
            }
        }
    }
    None
}

/// Behind the quote that closes a quoted text beginning at `at`.
fn after_quoted(bytes: &[u8], mut at: usize) -> Option<usize> {
    loop {
        at += memchr::memchr(b'"', bytes.get(at..)?)? + 1;
        match bytes.get(at) {
            Some(b'"') => at += 1,
            _ => return Some(at),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ingest::records::Records;
    use proptest::prelude::*;
    use std::io::Cursor;

    /// Records with the line on which they begin, read as one stream.
    fn records(bytes: &[u8], line: u64) -> Result<Vec<(u64, Vec<String>)>, IngestError> {
        let mut records = Records::at_line("x", Cursor::new(bytes.to_vec()), b',', line);
        let mut all = Vec::new();
        while records.advance()? {
            all.push((records.line(), records.texts()));
        }
        Ok(all)
    }

    /// The same, each piece by itself.
    fn piecewise(bytes: &[u8], size: usize) -> Result<Vec<(u64, Vec<String>)>, IngestError> {
        let mut cutter = Cutter::new("x", Cursor::new(bytes.to_vec()), b',', size);
        let (mut piece, mut line, mut all) = (Vec::new(), 1, Vec::new());
        while let Some(length) = cutter.advance(&mut piece).1? {
            all.extend(records(&piece[..length], line)?);
            line += memchr::memchr_iter(b'\n', &piece[..length]).count() as u64;
        }
        Ok(all)
    }

    proptest! {
        #[test]
        fn pieces_hold_the_records_of_the_whole(text in "([a-c,]|\"\"|\",|\r|\n|,\"|\r\n|\"){0,60}", size in 2usize..40) {
            match records(text.as_bytes(), 1) {
                Ok(whole) => prop_assert_eq!(piecewise(text.as_bytes(), size).unwrap(), whole),
                Err(error) => prop_assert_eq!(piecewise(text.as_bytes(), size).unwrap_err(), error),
            }
        }
    }

    #[test]
    fn what_never_ends_is_cut_in_bounded_memory() {
        let mut cutter = Cutter::new("x", std::io::repeat(b'7'), b',', 1 << 16);
        let mut piece = Vec::new();
        let length = cutter.advance(&mut piece).1.unwrap().unwrap();
        assert!(length > LONGEST_RECORD && length < 4 * LONGEST_RECORD, "{length}");
        assert_eq!(cutter.advance(&mut piece).1.unwrap(), None);
    }
}
