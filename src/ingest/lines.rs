//! One line after the other, in bounded memory and with its number.

use super::error::{IngestError, IngestErrorKind};
use super::open::read_failed;
use std::io::{BufRead, Read};

/// The longest line: an encoded histogram of five digits takes some megabytes.
const LONGEST: usize = 8 << 20;

/// Reads lines.
pub(super) struct Lines<R> {
    name: String,
    source: R,
    line: Vec<u8>,
    number: u64,
}

impl<R: BufRead> Lines<R> {
    pub(super) fn new(name: &str, source: R) -> Self {
        Lines { name: name.to_owned(), source, line: Vec::new(), number: 0 }
    }

    /// Moves to the next line; `false` at the end.
    pub(super) fn advance(&mut self) -> Result<bool, IngestError> {
        self.line.clear();
        self.number += 1;
        let read = self.source.by_ref().take(LONGEST as u64 + 1).read_until(b'\n', &mut self.line);
        let read = read.map_err(|error| read_failed(&self.name, &error))?;
        if read > LONGEST {
            let reason = format!("a line is longer than {} MB", LONGEST >> 20);
            return Err(IngestError::new(IngestErrorKind::Malformed, &self.name, reason)
                .at(self.number, None)
                .remedy("write one record a line"));
        }
        Ok(read > 0)
    }

    /// The line, its end included.
    pub(super) fn text(&self) -> &[u8] {
        &self.line
    }

    /// Its number, from 1.
    pub(super) fn number(&self) -> u64 {
        self.number
    }
}
