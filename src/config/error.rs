//! Why a file could not be used, and where.

use std::fmt;
use std::path::PathBuf;

/// What is wrong with a file that somebody wrote.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub struct ConfigError {
    /// The file, as it was named.
    pub file: PathBuf,
    /// Line and column, both from 1, where the trouble has a place.
    pub at: Option<(usize, usize)>,
    /// What is wrong, and what to do about it.
    pub message: String,
}

impl fmt::Display for ConfigError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}:", self.file.display())?;
        if let Some((line, column)) = self.at {
            write!(formatter, "{line}:{column}:")?;
        }
        write!(formatter, " {}", self.message)
    }
}
