//! Amounts of memory.

use super::{Exact, ParseError, human};
use std::fmt;
use std::str::FromStr;

const ACCEPTED: &str =
    "an amount of memory is a number with B, kB, MB, GB, Ki, Mi or Gi (512Mi, 1.5Gi, 500MB)";

/// The largest amount that is accepted: a pebibyte is a slip in the unit.
const LARGEST: u64 = 1 << 50;

/// An amount of memory in whole bytes, more than zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize)]
#[serde(transparent)]
pub struct Bytes(u64);

impl Bytes {
    /// The number of bytes.
    #[must_use]
    pub fn get(self) -> u64 {
        self.0
    }
}

impl FromStr for Bytes {
    type Err = ParseError;

    fn from_str(typed: &str) -> Result<Self, ParseError> {
        let refuse = |reason: &str| ParseError::new(typed, reason, ACCEPTED);
        let text = typed.trim();
        let unit_at = text.find(|letter: char| letter.is_ascii_alphabetic()).unwrap_or(text.len());
        let unit: u128 = match text[unit_at..].trim_end_matches('B') {
            "" if text.ends_with('B') => 1,
            "" => return Err(refuse("it has no unit")),
            "k" | "K" => 1_000,
            "M" => 1_000_000,
            "G" => 1_000_000_000,
            "Ki" => 1 << 10,
            "Mi" => 1 << 20,
            "Gi" => 1 << 30,
            _ => return Err(refuse("its unit is not known")),
        };
        let number = Exact::parse(text[..unit_at].trim_end()).map_err(|reason| refuse(&reason))?;
        match (&number * &Exact::whole(unit)).floor() {
            Some(0) => Err(refuse("it must be more than zero")),
            Some(bytes) if bytes <= LARGEST => Ok(Bytes(bytes)),
            _ => Err(refuse("it is more than a pebibyte")),
        }
    }
}

impl fmt::Display for Bytes {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (unit, name) = match self.0 {
            bytes if bytes < 1 << 20 => (1 << 10, "KiB"),
            bytes if bytes < 1 << 30 => (1 << 20, "MiB"),
            _ => (1 << 30, "GiB"),
        };
        write!(formatter, "{} {name}", human::significant(self.0 as f64 / f64::from(unit), 4))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kubernetes_and_other_spellings_are_read() {
        for (typed, bytes) in [
            ("512Mi", 512 << 20),
            ("1.5Gi", 3 << 29),
            ("500MB", 500_000_000),
            ("64 KiB", 1 << 16),
            ("7B", 7),
            ("2k", 2000),
        ] {
            assert_eq!(typed.parse::<Bytes>().unwrap().get(), bytes, "{typed}");
        }
        assert_eq!("1.5Gi".parse::<Bytes>().unwrap().to_string(), "1.5 GiB");
        assert_eq!("512Mi".parse::<Bytes>().unwrap().to_string(), "512 MiB");
    }

    #[test]
    fn what_is_no_amount_is_refused() {
        for typed in ["", "512", "Mi", "-5Mi", "0Mi", "1Ti", "NaNMi", "9999999999Gi", "5 parsecs"] {
            assert!(typed.parse::<Bytes>().unwrap_err().to_string().contains("512Mi"), "{typed}");
        }
    }
}
