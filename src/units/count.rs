//! Whole things: messages, workers, connections.

use super::{Exact, ParseError, human, more_than_zero};
use std::fmt;
use std::str::FromStr;

const ACCEPTED: &str =
    "a count is a whole number, with k, M or G for thousands, millions, billions (1300, 280k, 1M)";

/// The largest count that is accepted: above it, neighbouring whole numbers are no longer apart as floats.
const LARGEST: u64 = 1_000_000_000_000_000;

/// A whole number of things, at most 10¹⁵.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize)]
#[serde(transparent)]
pub struct Count(u64);

impl Count {
    /// Builds a count; `None` beyond 10¹⁵.
    #[must_use]
    pub fn new(value: u64) -> Option<Self> {
        (value <= LARGEST).then_some(Count(value))
    }

    /// Reads a count that must not be zero.
    ///
    /// # Errors
    /// As [`FromStr`], and where the count is zero.
    pub fn parse_positive(typed: &str) -> Result<Self, ParseError> {
        let parsed: Count = typed.parse()?;
        let is_zero = parsed.0 == 0;
        more_than_zero(parsed, is_zero, typed, ACCEPTED)
    }

    /// The number.
    #[must_use]
    pub fn get(self) -> u64 {
        self.0
    }
}

/// A decimal with an optional scale letter: `280k` is 280,000.
pub(super) fn scaled_number(text: &str) -> Result<Exact, String> {
    let (number, scale) = match text.as_bytes().last() {
        Some(b'k' | b'K') => (&text[..text.len() - 1], 1_000),
        Some(b'M') => (&text[..text.len() - 1], 1_000_000),
        Some(b'G') => (&text[..text.len() - 1], 1_000_000_000),
        _ => (text, 1),
    };
    Ok(&Exact::parse(number.trim_end())? * &Exact::whole(scale))
}

impl FromStr for Count {
    type Err = ParseError;

    fn from_str(typed: &str) -> Result<Self, ParseError> {
        let refuse = |reason: String| ParseError::new(typed, reason, ACCEPTED);
        let number = scaled_number(typed.trim()).map_err(refuse)?;
        if number > Exact::whole(u128::from(LARGEST)) {
            return Err(refuse("it is more than 10^15".to_owned()));
        }
        number.to_whole().map(Count).ok_or_else(|| refuse("it is not a whole number".to_owned()))
    }
}

impl fmt::Display for Count {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&human::count(self.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scales_and_exponents_are_read_exactly() {
        for (typed, value) in [
            ("1300", 1300),
            ("280k", 280_000),
            ("1M", 1_000_000),
            ("1.5k", 1500),
            ("1e6", 1_000_000),
            ("0", 0),
        ] {
            assert_eq!(typed.parse::<Count>().unwrap().get(), value, "{typed}");
        }
    }

    #[test]
    fn what_is_not_a_count_is_refused_with_the_reason() {
        for (typed, reason) in [
            ("1.5", "whole"),
            ("-3", "negative"),
            ("", "empty"),
            ("1e30", "10^15"),
            ("1,000", "comma"),
            ("many", "not a number"),
        ] {
            let error = typed.parse::<Count>().unwrap_err().to_string();
            assert!(error.contains(reason), "{error}");
        }
        assert!(Count::parse_positive("0").is_err());
    }
}
