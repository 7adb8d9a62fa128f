//! Rows that could not be read: how many, why, and where the first ones are.

/// How many places are kept for each reason.
const MOST_PLACES: usize = 3;

/// How many reasons are told apart.
const MOST_REASONS: usize = 12;

/// Where a row is that could not be read, and what it held there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The file; `-` is standard input.
    pub file: String,
    /// The line, from 1.
    pub line: u64,
    /// The byte within the line, from 1, if the trouble is in one field.
    pub column: Option<u64>,
    /// What the field held, shortened.
    pub text: Option<String>,
}

impl std::fmt::Display for Place {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let file = if self.file == super::STDIN { "standard input" } else { &self.file };
        write!(formatter, "{file}:{}", self.line)?;
        self.column.iter().try_for_each(|column| write!(formatter, ":{column}"))?;
        self.text.iter().try_for_each(|text| write!(formatter, " \"{text}\""))
    }
}

/// Rows that were skipped for one reason.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SkippedReason {
    /// The reason in words.
    pub reason: String,
    /// How many rows.
    pub rows: u64,
    /// The first of them.
    pub first: Vec<Place>,
}

/// All rows that were skipped, by reason, in the order in which the reasons were met.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Skipped {
    /// By reason.
    pub reasons: Vec<SkippedReason>,
}

impl Skipped {
    /// How many rows were skipped.
    #[must_use]
    pub fn rows(&self) -> u64 {
        self.reasons.iter().map(|reason| reason.rows).sum()
    }

    /// Counts `rows` rows that were skipped for a reason; `place` is asked for only while places are still kept.
    pub(super) fn add(&mut self, reason: &str, rows: u64, place: impl FnOnce() -> Place) {
        let known = self.reasons.iter().position(|known| known.reason == reason);
        let number = known.unwrap_or_else(|| {
            let other = "other reasons".to_owned();
            let reason = if self.reasons.len() < MOST_REASONS { reason.to_owned() } else { other };
            if self.reasons.last().is_none_or(|last| last.reason != reason) {
                self.reasons.push(SkippedReason { reason, rows: 0, first: Vec::new() });
            }
            self.reasons.len() - 1
        });
        let known = &mut self.reasons[number];
        known.rows += rows;
        if known.first.len() < MOST_PLACES {
            known.first.push(place());
        }
    }

    /// The reasons in words, each with its first places.
    #[must_use]
    pub fn describe(&self) -> String {
        let one = |reason: &SkippedReason| {
            let places: Vec<String> = reason.first.iter().map(ToString::to_string).collect();
            let more = if reason.rows > reason.first.len() as u64 { ", …" } else { "" };
            format!("{} {} ({}{more})", reason.rows, reason.reason, places.join(", "))
        };
        self.reasons.iter().map(one).collect::<Vec<_>>().join("; ")
    }
}

/// A cell for a message: printable and short.
pub(super) fn shown(cell: &[u8]) -> String {
    const LONGEST: usize = 40;
    let text = String::from_utf8_lossy(cell);
    let printable = |letter: char| if letter.is_control() { '?' } else { letter };
    let mut short: String = text.chars().take(LONGEST).map(printable).collect();
    if text.chars().nth(LONGEST).is_some() {
        short.push('…');
    }
    short
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reasons_are_counted_with_their_first_places() {
        let mut skipped = Skipped::default();
        for line in 1..=5 {
            let place = Place { file: "a.csv".to_owned(), line, column: Some(3), text: Some("x".to_owned()) };
            skipped.add("have no number", 1, || place);
        }
        assert_eq!(skipped.rows(), 5);
        assert_eq!(
            skipped.describe(),
            "5 have no number (a.csv:1:3 \"x\", a.csv:2:3 \"x\", a.csv:3:3 \"x\", …)"
        );
    }

    #[test]
    fn the_number_of_reasons_is_bounded() {
        let mut skipped = Skipped::default();
        let place = Place { file: "a".to_owned(), line: 1, column: None, text: None };
        (0..100).for_each(|n| skipped.add(&n.to_string(), 1, || place.clone()));
        assert_eq!((skipped.reasons.len(), skipped.rows()), (MOST_REASONS + 1, 100));
    }
}
