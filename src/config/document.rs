//! A TOML file with its text, so that every value knows its place.

use super::{ConfigError, Table};
use std::ops::Range;
use std::path::{Path, PathBuf};
use toml::de::DeTable;

/// The largest file that is read, in bytes: a plan that a person wrote is far smaller.
const LARGEST_FILE: u64 = 64 << 20;

/// A TOML file as it was read.
#[derive(Clone, Debug)]
pub struct Document {
    file: PathBuf,
    text: String,
}

impl Document {
    /// Reads a file.
    ///
    /// # Errors
    /// If it cannot be read, is not UTF-8, or is larger than 64 MiB.
    pub fn read(file: &Path) -> Result<Self, ConfigError> {
        let trouble = |message: String| ConfigError { file: file.to_owned(), at: None, message };
        let size = std::fs::metadata(file).map_err(|error| trouble(error.to_string()))?.len();
        if size > LARGEST_FILE {
            return Err(trouble(format!("it has {size} bytes; files of up to {LARGEST_FILE} are read")));
        }
        let text = std::fs::read_to_string(file).map_err(|error| trouble(error.to_string()))?;
        Ok(Document::new(file, text))
    }

    /// A file whose text is at hand.
    #[must_use]
    pub fn new(file: impl Into<PathBuf>, text: impl Into<String>) -> Self {
        Document { file: file.into(), text: text.into() }
    }

    /// The file, as it was named.
    #[must_use]
    pub fn file(&self) -> &Path {
        &self.file
    }

    /// A path that the file names: a relative one is relative to the file.
    #[must_use]
    pub fn resolve(&self, named: &str) -> PathBuf {
        self.file.parent().unwrap_or(Path::new("")).join(named)
    }

    /// Its outermost table.
    ///
    /// # Errors
    /// If the text is no TOML.
    pub fn root(&self) -> Result<Table<'_>, ConfigError> {
        let parsed = DeTable::parse(&self.text).map_err(|error| {
            let place = error.span().unwrap_or(0..0);
            self.error_at(&place, error.message().to_owned())
        })?;
        let place = parsed.span();
        Ok(Table::new(self, String::new(), place, parsed.into_inner()))
    }

    /// An error about a part of the text.
    pub(super) fn error_at(&self, place: &Range<usize>, message: impl Into<String>) -> ConfigError {
        ConfigError {
            file: self.file.clone(),
            at: Some(self.line_and_column(place.start)),
            message: message.into(),
        }
    }

    /// Line and column of a byte, both from 1; columns count characters.
    fn line_and_column(&self, byte: usize) -> (usize, usize) {
        let before = self.text.get(..byte).unwrap_or(&self.text);
        let line_start = before.rfind('\n').map_or(0, |end| end + 1);
        (before.matches('\n').count() + 1, before[line_start..].chars().count() + 1)
    }
}
