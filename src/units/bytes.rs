//! Sizes of data.

use super::{Exact, ParseError, human};
use std::fmt;
use std::str::FromStr;

const ACCEPTED: &str = "a size is a number of bytes, or a number with B, kB, MB, GB or TB (powers of 1000) or \
                        Ki, Mi, Gi or Ti (powers of 1024, also KiB) (512, 2kB, 1.5Gi)";

/// The largest size that is accepted, in bytes: an exabyte.
const LARGEST: u128 = 1_000_000_000_000_000_000;

/// An amount of data in bytes, exact, zero or positive, at most an exabyte.
///
/// Fractions are allowed, because a mean size is one.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Bytes(Exact);

impl Bytes {
    /// Builds from an exact number of bytes; `None` beyond an exabyte.
    #[must_use]
    pub fn new(bytes: Exact) -> Option<Self> {
        (bytes <= Exact::whole(LARGEST)).then_some(Bytes(bytes))
    }

    /// Reads a size that must not be zero.
    ///
    /// # Errors
    /// As [`FromStr`], and where the size is zero.
    pub fn parse_positive(typed: &str) -> Result<Self, ParseError> {
        let parsed: Bytes = typed.parse()?;
        if parsed.0.is_zero() {
            return Err(ParseError::new(typed, "it must be more than zero", ACCEPTED));
        }
        Ok(parsed)
    }

    /// The exact number of bytes.
    #[must_use]
    pub fn exact(&self) -> &Exact {
        &self.0
    }

    /// The number of bytes as the nearest float.
    #[must_use]
    pub fn get(&self) -> f64 {
        self.0.to_f64()
    }
}

fn unit(name: &str) -> Option<u128> {
    Some(match name {
        "" | "B" => 1,
        "kB" | "KB" => 1_000,
        "MB" => 1_000_000,
        "GB" => 1_000_000_000,
        "TB" => 1_000_000_000_000,
        "Ki" | "KiB" => 1 << 10,
        "Mi" | "MiB" => 1 << 20,
        "Gi" | "GiB" => 1 << 30,
        "Ti" | "TiB" => 1 << 40,
        _ => return None,
    })
}

impl FromStr for Bytes {
    type Err = ParseError;

    fn from_str(typed: &str) -> Result<Self, ParseError> {
        let refuse = |reason: String| ParseError::new(typed, reason, ACCEPTED);
        let text = typed.trim();
        let letters = text.chars().rev().take_while(|letter| letter.is_ascii_alphabetic()).count();
        let (number, name) = text.split_at(text.len() - letters);
        if number.is_empty() {
            // A word such as NaN stands where the number should be; the number parser names it.
            Exact::parse(text).map_err(refuse)?;
        }
        let size = unit(name).ok_or_else(|| refuse(format!("the unit \"{name}\" is not known")))?;
        let number = Exact::parse(number.trim_end()).map_err(refuse)?;
        Bytes::new(&number * &Exact::whole(size))
            .ok_or_else(|| refuse("it is more than an exabyte".to_owned()))
    }
}

impl fmt::Display for Bytes {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&human::bytes(self.get()))
    }
}

impl serde::Serialize for Bytes {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(serializer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn decimal_and_binary_units_are_told_apart() {
        for (typed, bytes) in [
            ("512", 512.0),
            ("512B", 512.0),
            ("2kB", 2_000.0),
            ("2 KB", 2_000.0),
            ("1.5MB", 1_500_000.0),
            ("1KiB", 1_024.0),
            ("1.5GiB", 1_610_612_736.0),
            ("1TB", 1e12),
            ("1e3", 1_000.0),
            ("0", 0.0),
        ] {
            assert_eq!(typed.parse::<Bytes>().unwrap().get(), bytes, "{typed}");
        }
        assert_eq!("2500".parse::<Bytes>().unwrap().to_string(), "2.5 kB");
    }

    #[test]
    fn what_is_not_a_size_is_quoted_with_the_grammar() {
        for typed in ["", "kB", "2 parsecs", "2kb", "-1MB", "NaN", "1,5MB", "1e30", "5Mb"] {
            let error = typed.parse::<Bytes>().unwrap_err();
            assert!(error.to_string().contains("1.5Gi"), "{error}");
            assert_eq!(error.typed, typed);
        }
        assert!(Bytes::parse_positive("0kB").is_err());
    }

    proptest! {
        #[test]
        fn no_text_makes_the_parser_panic(text in "\\PC{0,40}") {
            let _ = text.parse::<Bytes>();
        }
    }
}
