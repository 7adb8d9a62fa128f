//! Arrival rates.

use super::count::scaled_number;
use super::{Exact, ParseError, Seconds, human, more_than_zero};
use std::fmt;
use std::num::NonZeroU64;
use std::str::FromStr;

const ACCEPTED: &str = "a rate is a number a second, or a number with /s, /min, /h or /day, \
                        and k, M or G for thousands, millions, billions (900, 54000/min, 3.2M/h)";

/// The largest rate that is accepted, a second: a trillion.
const LARGEST: u128 = 1_000_000_000_000;

/// Arrivals a second, exact, zero or positive, at most a trillion.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ArrivalRate(Exact);

impl ArrivalRate {
    /// Builds from an exact number a second; `None` beyond a trillion.
    #[must_use]
    pub fn new(per_second: Exact) -> Option<Self> {
        (per_second <= Exact::whole(LARGEST)).then_some(ArrivalRate(per_second))
    }

    /// Builds from a float; `None` if it is negative, not finite or beyond a trillion.
    #[must_use]
    pub fn from_f64(per_second: f64) -> Option<Self> {
        Exact::from_f64(per_second).and_then(ArrivalRate::new)
    }

    /// Reads a rate that must not be zero.
    ///
    /// # Errors
    /// As [`FromStr`], and where the rate is zero.
    pub fn parse_positive(typed: &str) -> Result<Self, ParseError> {
        let parsed: ArrivalRate = typed.parse()?;
        let is_zero = parsed.0.is_zero();
        more_than_zero(parsed, is_zero, typed, ACCEPTED)
    }

    /// The exact number a second.
    #[must_use]
    pub fn exact(&self) -> &Exact {
        &self.0
    }

    /// The number a second as the nearest float.
    #[must_use]
    pub fn get(&self) -> f64 {
        self.0.to_f64()
    }

    /// Whether it is zero.
    #[must_use]
    pub fn is_zero(&self) -> bool {
        self.0.is_zero()
    }

    /// Offered load in erlangs: arrivals a second times the time that each occupies a worker (Little's law).
    #[must_use]
    pub fn offered_load(&self, service: &Seconds) -> Exact {
        &self.0 * service.exact()
    }
}

impl FromStr for ArrivalRate {
    type Err = ParseError;

    fn from_str(typed: &str) -> Result<Self, ParseError> {
        let refuse = |reason: String| ParseError::new(typed, reason, ACCEPTED);
        let (number, period) = typed.trim().split_once('/').unwrap_or((typed.trim(), "s"));
        let seconds = match period.trim() {
            "s" | "sec" | "second" => 1,
            "m" | "min" | "minute" => 60,
            "h" | "hr" | "hour" => 3_600,
            "d" | "day" => 86_400,
            other => return Err(refuse(format!("the period \"{other}\" is not known"))),
        };
        let per_period = scaled_number(number.trim()).map_err(refuse)?;
        let per_second = &per_period / NonZeroU64::new(seconds).unwrap_or(NonZeroU64::MIN);
        ArrivalRate::new(per_second).ok_or_else(|| refuse("it is more than a trillion a second".to_owned()))
    }
}

impl fmt::Display for ArrivalRate {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&human::rate(self.get()))
    }
}

impl serde::Serialize for ArrivalRate {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(serializer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn every_spelling_gives_the_same_exact_rate() {
        for (typed, expected) in [
            ("900", "900"),
            ("54000/min", "900"),
            ("54k/min", "900"),
            ("900/s", "900"),
            ("3.24M/h", "900"),
            ("77.76M/day", "900"),
            ("100 / d", "100/day"),
            ("0", "0/s"),
        ] {
            assert_eq!(typed.parse::<ArrivalRate>().unwrap(), expected.parse().unwrap(), "{typed}");
        }
    }

    #[test]
    fn what_is_not_a_rate_is_quoted_with_the_grammar() {
        for typed in
            ["", "900/fortnight", "1,4", "NaN", "inf/s", "-1", "1e400", "k", "2e12", "1//s", "5 parsecs"]
        {
            let error = typed.parse::<ArrivalRate>().unwrap_err();
            assert!(error.to_string().contains("54000/min"), "{error}");
            assert_eq!(error.typed, typed);
        }
        assert!(ArrivalRate::parse_positive("0").is_err());
    }

    #[test]
    fn offered_load_is_exact() {
        let rate: ArrivalRate = "25".parse().unwrap();
        assert_eq!(rate.offered_load(&"1.16".parse().unwrap()), Exact::whole(29));
    }

    proptest! {
        #[test]
        fn no_text_makes_the_parser_panic(text in "\\PC{0,40}") {
            let _ = text.parse::<ArrivalRate>();
        }
    }
}
