//! Why input cannot be read: what, where, why, and what to do about it.

use super::open::STDIN;
use std::fmt;

/// The kind of an [`IngestError`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IngestErrorKind {
    /// The file cannot be opened or read, or is a directory.
    Unreadable,
    /// There is nothing in it, or nothing below its header.
    Empty,
    /// It is UTF-16 or binary.
    Encoding,
    /// Its compressed bytes are damaged or cut short.
    Compression,
    /// What it is cannot be told, or it is a format that is not read.
    Format,
    /// A column that was asked for is not there, or none can be chosen.
    Column,
    /// The unit of the durations is not known.
    Unit,
    /// A line cannot be split into fields, or is too long.
    Malformed,
    /// It is known, and of a kind from which no service time can be had.
    Unsupported,
    /// More rows than allowed could not be read.
    TooManyBadRows,
    /// No row passed the filters.
    NothingSelected,
    /// All attempts failed, so nothing is known of those that do not.
    OnlyFailures,
    /// The exact sums cannot hold it.
    TooLarge,
    /// A saved profile is damaged or of another version.
    Profile,
    /// The options contradict one another or the input.
    Options,
}

/// Why input cannot be read. Shown as `file:line:column: reason; remedy`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IngestError {
    /// What kind of trouble it is.
    pub kind: IngestErrorKind,
    /// The file; `-` is standard input.
    pub file: String,
    /// The line, from 1, where the trouble has one.
    pub line: Option<u64>,
    /// The byte within the line, from 1.
    pub column: Option<u64>,
    /// What is wrong.
    pub reason: String,
    /// What to do about it.
    pub remedy: Option<String>,
}

impl IngestError {
    pub(super) fn new(kind: IngestErrorKind, file: &str, reason: impl Into<String>) -> Self {
        IngestError {
            kind,
            file: file.to_owned(),
            line: None,
            column: None,
            reason: reason.into(),
            remedy: None,
        }
    }

    pub(super) fn at(mut self, line: u64, column: Option<u64>) -> Self {
        (self.line, self.column) = (Some(line), column);
        self
    }

    pub(super) fn remedy(mut self, remedy: impl Into<String>) -> Self {
        self.remedy = Some(remedy.into());
        self
    }
}

impl fmt::Display for IngestError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(if self.file == STDIN { "standard input" } else { &self.file })?;
        for part in [self.line, self.column].into_iter().flatten() {
            write!(formatter, ":{part}")?;
        }
        write!(formatter, ": {}", self.reason)?;
        self.remedy.iter().try_for_each(|remedy| write!(formatter, "; {remedy}"))
    }
}

impl std::error::Error for IngestError {}
