//! A TOML file with its text, so that every value knows its place.

use super::overrides::{Override, Reach};
use super::{ConfigError, Table};
use crate::units::words::{shortened, within};
use std::ops::Range;
use std::path::{Path, PathBuf};
use toml::de::DeTable;

/// The most letters of a message: names and values in it are those of a file, of any length.
const MOST_SAID: usize = 1_000;

/// A TOML file as it was read.
#[derive(Clone, Debug)]
pub struct Document {
    file: PathBuf,
    text: String,
    /// Where values are set, and these. Their places lie behind the end of the text, one after the other.
    overrides: Option<(Reach, Vec<Override>)>,
}

impl Document {
    /// A file with its text.
    #[must_use]
    pub fn new(file: impl Into<PathBuf>, text: impl Into<String>) -> Self {
        Document { file: file.into(), text: text.into(), overrides: None }
    }

    /// The same with values typed over its own, later ones over earlier ones.
    #[must_use]
    pub fn with_overrides(self, reach: Reach, overrides: Vec<Override>) -> Self {
        Document { overrides: Some((reach, overrides)), ..self }
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
    /// If the text is no TOML, or a value is set where there is no table.
    pub fn root(&self) -> Result<Table<'_>, ConfigError> {
        let parsed = DeTable::parse(&self.text).map_err(|error| {
            let place = error.span().unwrap_or(0..0);
            self.error_at(&place, self.in_words(error.message(), &place))
        })?;
        let place = parsed.span();
        let mut table = parsed.into_inner();
        if let Some((reach, overrides)) = &self.overrides {
            for (index, each) in overrides.iter().enumerate() {
                let behind = self.text.len() + 1 + index;
                each.apply(&mut table, *reach, &(behind..behind), self)?;
            }
        }
        Ok(Table::new(self, String::new(), place, table))
    }

    /// What the parser of TOML says, with the key that it is about and what to do.
    fn in_words(&self, said: &str, place: &Range<usize>) -> String {
        let key = self.text.get(place.clone()).unwrap_or_default().trim();
        if said == "duplicate key" && !key.is_empty() {
            return format!("\"{}\" is there twice; leave one of them out", shortened(key.trim_matches('"')));
        }
        within(said, MOST_SAID)
    }

    /// An error about a part of the text, or about what was set.
    pub(super) fn error_at(&self, place: &Range<usize>, message: impl Into<String>) -> ConfigError {
        let message = within(&message.into(), MOST_SAID);
        let overrides = self.overrides.as_ref().map_or(&[][..], |(_, overrides)| overrides);
        let set = place.start.checked_sub(self.text.len() + 1).and_then(|index| overrides.get(index));
        match set {
            Some(each) => ConfigError { file: each.in_words().into(), at: None, message },
            None => {
                ConfigError { file: self.file.clone(), at: Some(self.line_and_column(place.start)), message }
            }
        }
    }

    /// Line and column of a byte, both from 1; columns count characters.
    pub(super) fn line_and_column(&self, byte: usize) -> (usize, usize) {
        let before = self.text.get(..byte).unwrap_or(&self.text);
        let line_start = before.rfind('\n').map_or(0, |end| end + 1);
        (before.matches('\n').count() + 1, before[line_start..].chars().count() + 1)
    }
}
