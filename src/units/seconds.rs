//! Durations.

use super::{Exact, ParseError, human, more_than_zero};
use std::fmt;
use std::str::FromStr;

const ACCEPTED: &str = "a duration is a number of seconds, or numbers with ns, us, ms, s, m, h or d \
                        (1.4, 1400ms, 2m, 1h30m)";

/// A span of time in seconds, exact, zero or positive, at most a hundred years.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Seconds(Exact);

/// A hundred years of 365 days: anything longer is a slip in the unit.
const LONGEST: u128 = 100 * 365 * 86_400;

/// What was typed is shown as a number, where a measured time so short would be as good as none.
const SHORTEST_SHOWN: f64 = 5e-10;

impl Seconds {
    /// Builds from an exact number of seconds; `None` if it is beyond a hundred years.
    #[must_use]
    pub fn new(seconds: Exact) -> Option<Self> {
        (seconds <= Exact::whole(LONGEST)).then_some(Seconds(seconds))
    }

    /// Builds from a float; `None` if it is negative, not finite or beyond a hundred years.
    #[must_use]
    pub fn from_f64(seconds: f64) -> Option<Self> {
        Exact::from_f64(seconds).and_then(Seconds::new)
    }

    /// Reads a duration that must not be zero.
    ///
    /// # Errors
    /// As [`FromStr`], and where the duration is zero.
    pub fn parse_positive(typed: &str) -> Result<Self, ParseError> {
        let parsed: Seconds = typed.parse()?;
        let is_zero = parsed.0.is_zero();
        more_than_zero(parsed, is_zero, typed, ACCEPTED)
    }

    /// The exact number of seconds.
    #[must_use]
    pub fn exact(&self) -> &Exact {
        &self.0
    }

    /// The number of seconds as the nearest float.
    #[must_use]
    pub fn get(&self) -> f64 {
        self.0.to_f64()
    }

    /// Whether it is zero.
    #[must_use]
    pub fn is_zero(&self) -> bool {
        self.0.is_zero()
    }
}

/// Each unit's spellings, with its length as a fraction of seconds, longest unit first.
fn unit(name: &str) -> Option<(u8, Exact)> {
    let (rank, numerator, denominator) = match name {
        "d" | "day" | "days" => (7, 86_400, 1),
        "h" | "hr" | "hour" | "hours" => (6, 3_600, 1),
        "m" | "min" | "mins" | "minute" | "minutes" => (5, 60, 1),
        "s" | "sec" | "secs" | "second" | "seconds" => (4, 1, 1),
        "ms" => (3, 1, 1_000),
        // The micro sign and the Greek letter mu look alike and are both in use.
        "us" | "\u{b5}s" | "\u{3bc}s" => (2, 1, 1_000_000),
        "ns" => (1, 1, 1_000_000_000),
        _ => return None,
    };
    Exact::fraction(numerator, denominator).map(|length| (rank, length))
}

impl FromStr for Seconds {
    type Err = ParseError;

    fn from_str(typed: &str) -> Result<Self, ParseError> {
        let text = typed.trim();
        let refuse = |reason: String| ParseError::new(typed, reason, ACCEPTED);
        let total = if text.ends_with(|last: char| last.is_ascii_digit() || last == '.') {
            if text.contains(|letter: char| letter.is_alphabetic() && letter != 'e' && letter != 'E') {
                return Err(refuse("its last number has no unit".to_owned()));
            }
            Exact::parse(text).map_err(refuse)?
        } else {
            with_units(text).map_err(refuse)?
        };
        Seconds::new(total).ok_or_else(|| refuse("it is longer than a hundred years".to_owned()))
    }
}

/// The length of the number at the start of a text, its exponent included.
fn number_length(text: &str) -> usize {
    let digits = |text: &str, more: &str| {
        text.find(|c: char| !c.is_ascii_digit() && !more.contains(c)).unwrap_or(text.len())
    };
    let mantissa = digits(text, "+-.,");
    let Some(exponent) = text[mantissa..].strip_prefix(['e', 'E']) else { return mantissa };
    let signed = exponent.strip_prefix(['+', '-']).unwrap_or(exponent);
    match digits(signed, "") {
        0 => mantissa,
        length => text.len() - signed.len() + length,
    }
}

/// One or more numbers with units, longest unit first, each unit at most once.
fn with_units(text: &str) -> Result<Exact, String> {
    let mut rest = text;
    let mut last_rank = u8::MAX;
    let mut total = Exact::zero();
    while !rest.is_empty() {
        let number_end = number_length(rest);
        let after = rest[number_end..].trim_start();
        let unit_end = after.find(|c: char| !c.is_alphabetic() && c != '\u{b5}').unwrap_or(after.len());
        let (number, name) = (&rest[..number_end], &after[..unit_end]);
        let Some((rank, length)) = unit(name) else {
            if number.is_empty() {
                // A word such as NaN or inf stands where the number should be; the number parser names it.
                Exact::parse(text)?;
            }
            return Err(format!("the unit \"{name}\" is not known"));
        };
        if rank >= last_rank {
            return Err("its units must go from long to short, each once".to_owned());
        }
        last_rank = rank;
        total = &total + &(&Exact::parse(number)? * &length);
        rest = after[unit_end..].trim_start();
    }
    if last_rank == u8::MAX {
        return Err("it is empty".to_owned());
    }
    Ok(total)
}

impl fmt::Display for Seconds {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let seconds = self.get();
        if seconds > 0.0 && seconds < SHORTEST_SHOWN {
            return write!(formatter, "{} s", human::significant(seconds, 3));
        }
        formatter.write_str(&human::duration(seconds))
    }
}

impl serde::Serialize for Seconds {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(serializer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn every_spelling_gives_the_same_exact_duration() {
        for (typed, seconds) in [
            ("1.4", 1.4),
            ("1400ms", 1.4),
            ("1.4s", 1.4),
            ("1.4 s", 1.4),
            ("2m", 120.0),
            ("1h30m", 5400.0),
            ("1h 30m", 5400.0),
            ("250us", 0.00025),
            ("250\u{b5}s", 0.00025),
            ("250\u{3bc}s", 0.00025),
            ("5ns", 5e-9),
            ("1d", 86_400.0),
            ("1e3", 1000.0),
            ("1e3ms", 1.0),
            ("1.5E-3s", 0.0015),
            ("2e0h 3e1m", 9000.0),
            ("15min", 900.0),
            ("0", 0.0),
        ] {
            assert_eq!(typed.parse::<Seconds>().unwrap().get(), seconds, "{typed}");
        }
    }

    #[test]
    fn what_is_not_a_duration_is_quoted_with_the_grammar() {
        for typed in [
            "",
            " ",
            "5 parsecs",
            "1,4",
            "NaN",
            "inf",
            "-1",
            "-5s",
            "1e400",
            "m",
            "1m1h",
            "1h1h",
            "5m3",
            "1e400s",
            "1es",
            "1e-s",
        ] {
            let error = typed.parse::<Seconds>().unwrap_err();
            assert_eq!(error.typed, typed);
            assert!(error.to_string().contains("1400ms"), "{error}");
        }
        assert!("5 parsecs".parse::<Seconds>().unwrap_err().to_string().contains("\"parsecs\" is not known"));
        assert!(Seconds::parse_positive("0ms").unwrap_err().to_string().contains("more than zero"));
    }

    #[test]
    fn a_limit_too_short_to_have_a_unit_is_still_a_number() {
        assert_eq!("1e-12".parse::<Seconds>().unwrap().to_string(), "1.00e-12 s");
        assert_eq!("1ns".parse::<Seconds>().unwrap().to_string(), "1 ns");
    }

    proptest! {
        #[test]
        fn no_text_makes_the_parser_panic(text in "\\PC{0,40}") {
            let _ = text.parse::<Seconds>();
        }
    }
}
