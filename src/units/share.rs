//! Fractions: shares of a whole, ratios that may exceed one, and quantiles.

use super::{Exact, ParseError, human};
use std::fmt;
use std::str::FromStr;

/// A number, or a number followed by a per cent sign.
fn fraction(text: &str) -> Result<Exact, String> {
    match text.trim().strip_suffix('%') {
        Some(percent) => Exact::parse(percent.trim_end())?
            .over(&Exact::whole(100))
            .ok_or_else(|| "it is not a number".to_owned()),
        None => Exact::parse(text.trim()),
    }
}

const SHARE_ACCEPTED: &str = "a share is a fraction from 0 to 1 or a percentage (0.05, 5%)";

/// A part of a whole, exact, from 0 to 1 inclusive.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Share(Exact);

impl Share {
    /// Builds from an exact fraction; `None` above one.
    #[must_use]
    pub fn new(fraction: Exact) -> Option<Self> {
        (fraction <= Exact::one()).then_some(Share(fraction))
    }

    /// Reads a share strictly between 0 and 1.
    ///
    /// # Errors
    /// As [`FromStr`], and at exactly 0 or 1.
    pub fn parse_inside(typed: &str) -> Result<Self, ParseError> {
        let parsed: Share = typed.parse()?;
        if parsed.0.is_zero() || parsed.0 == Exact::one() {
            return Err(ParseError::new(
                typed,
                "it must lie between 0 and 1, not at either end",
                SHARE_ACCEPTED,
            ));
        }
        Ok(parsed)
    }

    /// The exact fraction.
    #[must_use]
    pub fn exact(&self) -> &Exact {
        &self.0
    }

    /// The fraction as the nearest float.
    #[must_use]
    pub fn get(&self) -> f64 {
        self.0.to_f64()
    }
}

impl FromStr for Share {
    type Err = ParseError;

    fn from_str(typed: &str) -> Result<Self, ParseError> {
        let parsed = fraction(typed).map_err(|reason| ParseError::new(typed, reason, SHARE_ACCEPTED))?;
        Share::new(parsed).ok_or_else(|| ParseError::new(typed, "it is more than the whole", SHARE_ACCEPTED))
    }
}

const RATIO_ACCEPTED: &str = "a ratio is a number or a percentage, and may exceed 1 (0.1, 10%, 150%)";

/// A non-negative ratio that may exceed one, at most a million.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Ratio(Exact);

impl Ratio {
    /// Builds from an exact number; `None` above a million.
    #[must_use]
    pub fn new(ratio: Exact) -> Option<Self> {
        (ratio <= Exact::whole(1_000_000)).then_some(Ratio(ratio))
    }

    /// Reads a part of something that it may exceed, such as a headroom. A bare number from 1 on is refused: 10 would be
    /// 1000%, and 10% is meant.
    ///
    /// # Errors
    /// As [`FromStr`], and for a bare number from 1 on.
    pub fn parse_percentage(typed: &str) -> Result<Self, ParseError> {
        let parsed: Ratio = typed.parse()?;
        if !typed.contains('%') && parsed.0 >= Exact::one() {
            let reason = format!("write it with a per cent sign, such as {}%", typed.trim());
            return Err(ParseError::new(typed, reason, RATIO_ACCEPTED));
        }
        Ok(parsed)
    }

    /// The exact number.
    #[must_use]
    pub fn exact(&self) -> &Exact {
        &self.0
    }

    /// The number as the nearest float.
    #[must_use]
    pub fn get(&self) -> f64 {
        self.0.to_f64()
    }
}

impl FromStr for Ratio {
    type Err = ParseError;

    fn from_str(typed: &str) -> Result<Self, ParseError> {
        let parsed = fraction(typed).map_err(|reason| ParseError::new(typed, reason, RATIO_ACCEPTED))?;
        Ratio::new(parsed).ok_or_else(|| ParseError::new(typed, "it is more than a million", RATIO_ACCEPTED))
    }
}

/// A rarer event than this is no quantile that anybody measures, and close to where floats end.
const RAREST: f64 = 1e-9;

const QUANTILE_ACCEPTED: &str =
    "a quantile is p and a percentage, or a fraction between 0 and 1 (p95, p99.9, 0.95)";

/// A quantile, strictly between 0 and 1.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Quantile(Exact);

impl Quantile {
    /// The fraction of values at or below it, exact.
    #[must_use]
    pub fn exact(&self) -> &Exact {
        &self.0
    }

    /// The fraction as the nearest float.
    #[must_use]
    pub fn get(&self) -> f64 {
        self.0.to_f64()
    }
}

impl FromStr for Quantile {
    type Err = ParseError;

    fn from_str(typed: &str) -> Result<Self, ParseError> {
        let refuse = |reason: String| ParseError::new(typed, reason, QUANTILE_ACCEPTED);
        let text = typed.trim();
        let parsed = match text.strip_prefix(['p', 'P']) {
            Some(percent) => Exact::parse(percent).map_err(refuse)?.over(&Exact::whole(100)),
            None => Some(fraction(text).map_err(refuse)?),
        };
        let between = |quantile: &Exact| !quantile.is_zero() && *quantile < Exact::one();
        let quantile =
            parsed.filter(between).ok_or_else(|| refuse("it does not lie between 0 and 1".to_owned()))?;
        let beyond = Exact::one().minus(&quantile).map_or(0.0, |beyond| beyond.to_f64());
        if beyond < RAREST {
            return Err(refuse("fewer than one in a billion lie beyond it".to_owned()));
        }
        Ok(Quantile(quantile))
    }
}

impl fmt::Display for Quantile {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&human::quantile(self.get()))
    }
}

macro_rules! fraction_text {
    ($($name:ident),*) => {$(
        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                self.0.serialize(serializer)
            }
        }
    )*};
}
fraction_text!(Share, Ratio, Quantile);

/// What was typed is shown as a number, where a measured share so small would be as good as none.
fn percentage(fraction: f64) -> String {
    let percent = fraction * 100.0;
    if percent > 0.0 && percent < human::SMALLEST_PERCENT {
        format!("{}%", human::significant(percent, 3))
    } else {
        human::percent(fraction)
    }
}

impl fmt::Display for Share {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&percentage(self.get()))
    }
}

impl fmt::Display for Ratio {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&percentage(self.get()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentages_and_fractions_are_the_same_number() {
        assert_eq!("5%".parse::<Share>().unwrap(), "0.05".parse().unwrap());
        assert_eq!("150%".parse::<Ratio>().unwrap(), "1.5".parse().unwrap());
        assert_eq!("p99.9".parse::<Quantile>().unwrap(), "0.999".parse().unwrap());
        assert_eq!("p95".parse::<Quantile>().unwrap().to_string(), "p95");
        assert_eq!("0.999".parse::<Quantile>().unwrap().to_string(), "p99.9");
        assert_eq!("1e-9".parse::<Share>().unwrap().to_string(), "1.00e-7%");
        assert_eq!("p99.9999999".parse::<Quantile>().unwrap().get(), 0.999_999_999);
    }

    #[test]
    fn what_lies_outside_is_refused() {
        for typed in ["1.01", "101%", "-1%", "%", "", "NaN", "5 %%", "half"] {
            assert!(typed.parse::<Share>().is_err(), "{typed}");
        }
        for typed in ["0", "1", "100%"] {
            assert!(Share::parse_inside(typed).is_err(), "{typed}");
        }
        for typed in ["1", "10", "1e1"] {
            assert!(typed.parse::<Ratio>().is_ok() && Ratio::parse_percentage(typed).is_err(), "{typed}");
        }
        assert_eq!(Ratio::parse_percentage("1000%").unwrap(), "10".parse().unwrap());
        for typed in ["p0", "p100", "1", "0", "p", "95", "p-5", "pp95", "p99.99999999999999999999"] {
            assert!(typed.parse::<Quantile>().is_err(), "{typed}");
        }
    }
}
