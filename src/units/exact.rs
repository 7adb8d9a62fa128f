//! Exact non-negative rational numbers: what a typed decimal really is.

use num_bigint::{BigInt, Sign};
use num_integer::Integer;
use num_rational::BigRational;
use num_traits::{FromPrimitive, One, ToPrimitive, Zero};
use std::fmt;
use std::ops::{Add, Div, Mul};

/// The most digits that a typed number may have, and the largest power of ten in its exponent. Far beyond
/// any quantity of the field, and small enough that exact arithmetic on it stays cheap.
const MOST_DIGITS: usize = 60;

/// An exact rational number that is zero or positive.
///
/// Decimals such as `0.7` have no exact `f64`; as `Exact` they do, so a ceiling or a comparison made on it
/// is the one that a person would make on paper.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Exact(BigRational);

impl Exact {
    /// Zero.
    #[must_use]
    pub fn zero() -> Self {
        Exact(BigRational::zero())
    }

    /// One.
    #[must_use]
    pub fn one() -> Self {
        Exact(BigRational::one())
    }

    /// A whole number.
    #[must_use]
    pub fn whole(value: u128) -> Self {
        Exact(BigRational::from_integer(BigInt::from(value)))
    }

    /// `numerator / denominator`, or `None` if the denominator is zero.
    #[must_use]
    pub fn fraction(numerator: u128, denominator: u128) -> Option<Self> {
        (denominator != 0)
            .then(|| Exact(BigRational::new(BigInt::from(numerator), BigInt::from(denominator))))
    }

    /// A number of thousandths: `thousandths(1_500)` is 1.5.
    #[must_use]
    pub fn thousandths(thousandths: u32) -> Self {
        Exact(BigRational::new(BigInt::from(thousandths), BigInt::from(1_000)))
    }

    /// The exact value of a float, or `None` if it is negative or not finite.
    #[must_use]
    pub fn from_f64(value: f64) -> Option<Self> {
        if value.is_finite() && value >= 0.0 { BigRational::from_f64(value).map(Exact) } else { None }
    }

    /// Reads a plain decimal: digits, at most one point, an optional exponent (`12`, `1.4`, `.5`, `2.5e3`).
    ///
    /// # Errors
    /// Says in words what is wrong: not a number, negative, or outside 60 digits.
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let unsigned = text.strip_prefix('+').unwrap_or(text);
        if let Some(rest) = unsigned.strip_prefix('-') {
            return match Self::parse(rest) {
                Ok(_) => Err("it is negative".to_owned()),
                Err(reason) => Err(reason),
            };
        }
        let (mantissa, exponent) = match unsigned.find(['e', 'E']) {
            Some(at) => (&unsigned[..at], Some(&unsigned[at + 1..])),
            None => (unsigned, None),
        };
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let digits = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
        if whole.len() + fraction.len() == 0 || !digits(whole) || !digits(fraction) {
            return Err(not_a_number(text));
        }
        let exponent: i64 = match exponent {
            None => 0,
            Some(typed) => {
                let bare = typed.strip_prefix(['+', '-']).unwrap_or(typed);
                if bare.is_empty() || !digits(bare) {
                    return Err(not_a_number(text));
                }
                // Too many digits for an i64 is out of range as well, not a malformed number.
                typed.parse().unwrap_or(i64::MAX)
            }
        };
        if whole.len() + fraction.len() > MOST_DIGITS || exponent.unsigned_abs() > MOST_DIGITS as u64 {
            return Err("it is out of range".to_owned());
        }
        let joined = format!("{whole}{fraction}");
        let mantissa = BigInt::parse_bytes(joined.as_bytes(), 10).unwrap_or_default();
        let shift = exponent - fraction.len() as i64;
        let power = BigInt::from(10u8).pow(shift.unsigned_abs() as u32);
        Ok(Exact(if shift >= 0 {
            BigRational::from_integer(mantissa * power)
        } else {
            BigRational::new(mantissa, power)
        }))
    }

    /// The nearest `f64`, correctly rounded. Values that people type are far inside its range.
    #[must_use]
    pub fn to_f64(&self) -> f64 {
        self.0.to_f64().unwrap_or(f64::MAX)
    }

    /// Whether it is zero.
    #[must_use]
    pub fn is_zero(&self) -> bool {
        self.0.is_zero()
    }

    /// The largest whole number that does not exceed it, or `None` beyond `u64`.
    #[must_use]
    pub fn floor(&self) -> Option<u64> {
        self.0.numer().div_floor(self.0.denom()).to_u64()
    }

    /// The smallest whole number that is not below it, or `None` beyond `u64`.
    #[must_use]
    pub fn ceil(&self) -> Option<u64> {
        self.0.numer().div_ceil(self.0.denom()).to_u64()
    }

    /// Its value if it is a whole number within `u64`.
    #[must_use]
    pub fn to_whole(&self) -> Option<u64> {
        if self.0.is_integer() { self.floor() } else { None }
    }

    /// `self − other`, or `None` if that would be negative.
    #[must_use]
    pub fn minus(&self, other: &Exact) -> Option<Exact> {
        let difference = &self.0 - &other.0;
        (difference.numer().sign() != Sign::Minus).then_some(Exact(difference))
    }

    /// `self / other`, or `None` if `other` is zero.
    #[must_use]
    pub fn over(&self, other: &Exact) -> Option<Exact> {
        (!other.is_zero()).then(|| Exact(&self.0 / &other.0))
    }

    /// `self` to a whole power.
    #[must_use]
    pub fn power(&self, exponent: u32) -> Exact {
        Exact(BigRational::new_raw(self.0.numer().pow(exponent), self.0.denom().pow(exponent)))
    }
}

fn not_a_number(text: &str) -> String {
    let lower = text.trim_start_matches(['+', '-']).to_ascii_lowercase();
    if text.is_empty() {
        "it is empty".to_owned()
    } else if lower.starts_with("nan") || lower.starts_with("inf") {
        "it is not a finite number".to_owned()
    } else if text.contains(',') {
        "a comma is not understood; the decimal sign is a point".to_owned()
    } else {
        "it is not a number".to_owned()
    }
}

impl Add<&Exact> for &Exact {
    type Output = Exact;
    fn add(self, other: &Exact) -> Exact {
        Exact(&self.0 + &other.0)
    }
}

impl Mul<&Exact> for &Exact {
    type Output = Exact;
    fn mul(self, other: &Exact) -> Exact {
        Exact(&self.0 * &other.0)
    }
}

/// Division by a whole number that the program itself knows not to be zero.
impl Div<std::num::NonZeroU64> for &Exact {
    type Output = Exact;
    fn div(self, other: std::num::NonZeroU64) -> Exact {
        Exact(&self.0 / BigInt::from(other.get()))
    }
}

impl fmt::Debug for Exact {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}", self.0)
    }
}

impl serde::Serialize for Exact {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_f64(self.to_f64())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_ceiling_is_the_one_on_paper_not_the_one_of_floats() {
        let load = &Exact::parse("900").unwrap() * &Exact::parse("1.4").unwrap();
        let seventy = load.over(&Exact::parse("0.7").unwrap()).unwrap();
        assert_eq!((1260.0_f64 / 0.7).ceil(), 1801.0, "the float product is the trap");
        assert_eq!(seventy.ceil(), Some(1800));
        let load = &Exact::parse("25").unwrap() * &Exact::parse("1.16").unwrap();
        assert_eq!((25.0_f64 * 1.16).floor(), 28.0, "the float product is the trap");
        assert_eq!(load.floor(), Some(29));
    }

    #[test]
    fn malformed_numbers_are_refused_in_words() {
        for (typed, reason) in [
            ("", "empty"),
            ("1,4", "comma"),
            ("NaN", "finite"),
            ("-inf", "finite"),
            ("-1", "negative"),
            ("1e400", "range"),
            ("1e99999999999999999999999", "range"),
            ("1e", "not a number"),
            ("1.2.3", "not a number"),
            (".", "not a number"),
            ("0x10", "not a number"),
        ] {
            let error = Exact::parse(typed).unwrap_err();
            assert!(error.contains(reason), "{typed:?} gave {error:?}");
        }
    }

    proptest! {
        #[test]
        fn the_nearest_float_is_the_one_that_the_standard_parser_finds(digits in "[0-9]{1,18}", point in 0usize..18, exponent in -20i32..20) {
            let point = point.min(digits.len());
            let text = format!("{}.{}e{exponent}", &digits[..point], &digits[point..]);
            prop_assert_eq!(Exact::parse(&text).unwrap().to_f64(), text.parse::<f64>().unwrap());
        }

        #[test]
        fn no_text_makes_the_parser_panic(text in ".{0,80}") {
            let _ = Exact::parse(&text);
        }
    }
}
