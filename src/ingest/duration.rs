//! Durations as they are written in files, read to whole nanoseconds without a float on the way.

use std::fmt;
use std::str::FromStr;

/// The unit of a bare number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Unit {
    /// Nanoseconds.
    Nanoseconds,
    /// Microseconds.
    Microseconds,
    /// Milliseconds.
    Milliseconds,
    /// Seconds.
    Seconds,
}

impl Unit {
    /// The unit's length in nanoseconds.
    #[must_use]
    pub fn ns(self) -> u64 {
        match self {
            Unit::Nanoseconds => 1,
            Unit::Microseconds => 1_000,
            Unit::Milliseconds => 1_000_000,
            Unit::Seconds => 1_000_000_000,
        }
    }
}

impl fmt::Display for Unit {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Unit::Nanoseconds => "ns",
            Unit::Microseconds => "us",
            Unit::Milliseconds => "ms",
            Unit::Seconds => "s",
        })
    }
}

impl FromStr for Unit {
    type Err = String;

    fn from_str(typed: &str) -> Result<Self, String> {
        match typed {
            "s" | "sec" | "seconds" => Ok(Unit::Seconds),
            "ms" | "milliseconds" => Ok(Unit::Milliseconds),
            "us" | "\u{b5}s" | "\u{3bc}s" | "microseconds" => Ok(Unit::Microseconds),
            "ns" | "nanoseconds" => Ok(Unit::Nanoseconds),
            _ => Err(format!("\"{typed}\": the unit is not known; it is s, ms, us or ns")),
        }
    }
}

/// The decimal sign of the numbers in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decimal {
    /// `1.4`; a comma groups thousands.
    Point,
    /// `1,4`; a point groups thousands.
    Comma,
    /// Either, as each number shows. Where one number alone does not show it (`1,234`), it is refused.
    Either,
}

/// Why a text is not a duration.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DurationError {
    /// There is no value: an empty cell, NULL, a dash.
    #[error("there is no value")]
    Missing,
    /// It is below zero.
    #[error("it is negative")]
    Negative,
    /// It is no number.
    #[error("it is not a duration")]
    NotANumber,
    /// A comma may group thousands or be the decimal sign.
    #[error("its comma may be a decimal sign or group thousands")]
    AmbiguousComma,
    /// A comma stands where neither a decimal comma nor a group of thousands can.
    #[error("its comma is neither a decimal sign here nor between groups of three digits")]
    Comma,
    /// The number has no unit and none is known for the column.
    #[error("it has no unit, and other values of the column have one")]
    NoUnit,
    /// The value carries another unit than the column.
    #[error("its unit is not that of the column")]
    OtherUnit,
    /// Rounded to nanoseconds it is zero, and it is not.
    #[error("it is shorter than half a nanosecond: another unit?")]
    TooShort,
    /// It cannot be the duration of an attempt.
    #[error("it is longer than seven days: a time stamp, or another unit?")]
    TooLong,
}

/// Reads a duration in whole nanoseconds, rounded half up.
///
/// With `unit` a bare number is in that unit, and a value that carries a unit must carry the same one. Without, every
/// value must carry its own: `1.4s`, `120ms`, `1m30s`, `00:01:30.5`.
///
/// # Errors
/// Says why the text is not a duration.
pub fn parse(text: &[u8], unit: Option<Unit>, decimal: Decimal) -> Result<u64, DurationError> {
    let text = trim(text);
    if is_missing(text) {
        return Err(DurationError::Missing);
    }
    let (number, suffix) = split_unit(text);
    if suffix.is_empty() {
        if number.contains(&b':') {
            return clock(number);
        }
        let value = Number::parse(number, decimal)?;
        return value.times(unit.ok_or(DurationError::NoUnit)?.ns());
    }
    if let Some(column) = unit {
        return match suffix_ns(suffix) {
            Some(ns) if ns == column.ns() => Number::parse(number, decimal)?.times(ns),
            Some(_) => {
                Number::parse(number, decimal)?;
                Err(DurationError::OtherUnit)
            }
            None => Err(DurationError::NotANumber),
        };
    }
    compound(text, decimal)
}

/// Whether a cell says that there is no value.
pub(super) fn is_missing(text: &[u8]) -> bool {
    matches!(text, b"" | b"-" | b"\\N" | b"N/A" | b"n/a" | b"NA" | b"None")
        || text.eq_ignore_ascii_case(b"null")
        || text.eq_ignore_ascii_case(b"nan")
        || text.eq_ignore_ascii_case(b"nil")
}

/// Without white space and non-breaking spaces around it.
pub(super) fn trim(text: &[u8]) -> &[u8] {
    let mut text = text.trim_ascii();
    while let Some(rest) = text.strip_prefix(b"\xc2\xa0") {
        text = rest.trim_ascii_start();
    }
    while let Some(rest) = text.strip_suffix(b"\xc2\xa0") {
        text = rest.trim_ascii_end();
    }
    text
}

/// The length in nanoseconds of a unit that is written behind a number.
fn suffix_ns(suffix: &[u8]) -> Option<u64> {
    Some(match suffix {
        b"ns" => 1,
        // Micro sign, Greek mu, and the letter that stands for both.
        b"us" | b"\xc2\xb5s" | b"\xce\xbcs" | b"usec" => 1_000,
        b"ms" | b"msec" | b"millis" => 1_000_000,
        b"s" | b"sec" | b"secs" | b"second" | b"seconds" => 1_000_000_000,
        b"m" | b"min" | b"mins" | b"minute" | b"minutes" => 60_000_000_000,
        b"h" | b"hr" | b"hour" | b"hours" => 3_600_000_000_000,
        b"d" | b"day" | b"days" => 86_400_000_000_000,
        _ => return None,
    })
}

/// A number and the unit behind it; an exponent belongs to the number.
fn split_unit(text: &[u8]) -> (&[u8], &[u8]) {
    let is_unit = |byte: u8| byte.is_ascii_alphabetic() || byte >= 0x80;
    let end = text.iter().rposition(|byte| !is_unit(*byte)).map_or(0, |last| last + 1);
    let (number, suffix) = text.split_at(end);
    (number.trim_ascii_end(), suffix)
}

/// `1m30s`: numbers with units, longest unit first.
fn compound(text: &[u8], decimal: Decimal) -> Result<u64, DurationError> {
    let (mut rest, mut total, mut shorter_than) = (text, 0u64, u64::MAX);
    while !rest.is_empty() {
        let unit_at = rest
            .iter()
            .enumerate()
            .position(|(at, byte)| {
                // The e of an exponent stands between digits.
                let exponent = matches!(byte, b'e' | b'E')
                    && rest.get(at + 1).is_some_and(|next| next.is_ascii_digit() || b"+-".contains(next));
                (byte.is_ascii_alphabetic() || is_micro(&rest[at..])) && !exponent
            })
            .ok_or(DurationError::NotANumber)?;
        let (number, after) = rest.split_at(unit_at);
        let unit_end = after
            .iter()
            .position(|byte| !(byte.is_ascii_alphabetic() || *byte >= 0x80))
            .unwrap_or(after.len());
        let ns = suffix_ns(&after[..unit_end]).ok_or(DurationError::NotANumber)?;
        if ns >= shorter_than {
            return Err(DurationError::NotANumber);
        }
        shorter_than = ns;
        let part = Number::parse(number.trim_ascii(), decimal)?.times(ns)?;
        total = total.checked_add(part).ok_or(DurationError::TooLong)?;
        rest = after[unit_end..].trim_ascii_start();
    }
    in_range(total.into())
}

fn is_micro(text: &[u8]) -> bool {
    text.starts_with(b"\xc2\xb5") || text.starts_with(b"\xce\xbc")
}

/// `HH:MM:SS.fff`, as SQL engines write an interval.
fn clock(text: &[u8]) -> Result<u64, DurationError> {
    let mut parts = text.split(|byte| *byte == b':');
    let (Some(hours), Some(minutes), Some(seconds), None) =
        (parts.next(), parts.next(), parts.next(), parts.next())
    else {
        return Err(DurationError::NotANumber);
    };
    let whole = |part: &[u8]| part.len() <= 4 && part.iter().all(u8::is_ascii_digit);
    if !whole(hours)
        || !whole(minutes)
        || minutes.len() != 2
        || seconds.get(2).is_some_and(u8::is_ascii_digit)
    {
        return Err(DurationError::NotANumber);
    }
    let part = |text, ns| Number::parse(text, Decimal::Point).and_then(|number| number.times(ns));
    let total = u128::from(part(hours, 3_600_000_000_000)?)
        + u128::from(part(minutes, 60_000_000_000)?)
        + u128::from(part(seconds, 1_000_000_000)?);
    in_range(total)
}

/// A decimal number: `digits × 10^exponent`.
struct Number {
    digits: u128,
    exponent: i32,
}

/// Digits that are kept: times the longest unit they fit 128 bits, and what follows them in a duration within range
/// is more than eight digits below a nanosecond.
const MOST_DIGITS: u32 = 24;

impl Number {
    fn parse(text: &[u8], decimal: Decimal) -> Result<Self, DurationError> {
        let (text, negative) = match text {
            [b'-', rest @ ..] => (rest, true),
            [b'+', rest @ ..] => (rest, false),
            _ => (text, false),
        };
        let (mantissa, exponent) = match text.iter().position(|byte| matches!(byte, b'e' | b'E')) {
            Some(at) => (&text[..at], exponent(&text[at + 1..])?),
            None => (text, 0),
        };
        let mut number = if mantissa.iter().all(|byte| byte.is_ascii_digit() || *byte == b'.')
            && (decimal != Decimal::Comma || !mantissa.contains(&b'.'))
            && mantissa.iter().filter(|byte| **byte == b'.').count() <= 1
        {
            Number::plain(mantissa, b'.')?
        } else {
            Number::grouped(mantissa, decimal)?
        };
        number.exponent = number.exponent.saturating_add(exponent);
        if negative && number.digits != 0 { Err(DurationError::Negative) } else { Ok(number) }
    }

    /// Digits with at most one decimal sign.
    fn plain(text: &[u8], sign: u8) -> Result<Self, DurationError> {
        let (mut digits, mut kept, mut exponent, mut behind, mut any) = (0u128, 0u32, 0i32, false, false);
        for byte in text {
            if *byte == sign && !behind {
                behind = true;
                continue;
            }
            if !byte.is_ascii_digit() {
                return Err(DurationError::NotANumber);
            }
            any = true;
            if kept < MOST_DIGITS {
                digits = digits * 10 + u128::from(byte - b'0');
                kept += u32::from(digits != 0);
                exponent -= i32::from(behind);
            } else if !behind {
                exponent += 1;
            }
        }
        if any { Ok(Number { digits, exponent }) } else { Err(DurationError::NotANumber) }
    }

    /// Digits with commas, points, spaces or apostrophes between them.
    fn grouped(text: &[u8], decimal: Decimal) -> Result<Self, DurationError> {
        // Spaces (plain, non-breaking, narrow) and apostrophes only ever group thousands.
        let text = String::from_utf8_lossy(text).replace(['\u{a0}', '\u{202f}', '\u{2019}', '\''], " ");
        if !text.chars().all(|letter| letter.is_ascii_digit() || ",. ".contains(letter)) {
            return Err(DurationError::NotANumber);
        }
        let count = |sign| text.matches(sign).count();
        let sign = match (decimal, count(','), count('.')) {
            (Decimal::Point, ..) => '.',
            (Decimal::Comma, ..) => ',',
            (Decimal::Either, 0, 0..=1) => '.',
            (Decimal::Either, 0, _) => ',',
            (Decimal::Either, 1, 0) => {
                let (head, tail) = text.split_once(',').unwrap_or((&text, ""));
                let thousands = tail.len() == 3 && (1..=3).contains(&head.len()) && !head.starts_with('0');
                if thousands {
                    return Err(DurationError::AmbiguousComma);
                }
                ','
            }
            (Decimal::Either, _, 0) => '.',
            (Decimal::Either, ..) => {
                if text.rfind(',') > text.rfind('.') {
                    ','
                } else {
                    '.'
                }
            }
        };
        let (whole, fraction) = text.split_once(sign).map_or((text.as_str(), None), |(a, b)| (a, Some(b)));
        let mut groups = whole.split([',', '.', ' ']);
        let head = groups.next().unwrap_or_default();
        let separators: Vec<char> = whole.chars().filter(|letter| !letter.is_ascii_digit()).collect();
        let uniform = separators.windows(2).all(|pair| pair[0] == pair[1]);
        let well_grouped = separators.is_empty()
            || (1..=3).contains(&head.len())
                && groups.all(|group| group.len() == 3)
                && uniform
                && head != "0";
        if !well_grouped {
            return Err(DurationError::Comma);
        }
        let digits: String = whole.chars().filter(char::is_ascii_digit).collect();
        Number::plain(format!("{digits}.{}", fraction.unwrap_or_default()).as_bytes(), b'.')
    }

    /// The number times a whole number of nanoseconds, rounded half up.
    fn times(&self, ns: u64) -> Result<u64, DurationError> {
        let scaled = self.digits.checked_mul(ns.into()).ok_or(DurationError::TooLong)?;
        if self.digits == 0 {
            return Ok(0);
        }
        if self.exponent < -60 {
            return Err(DurationError::TooShort);
        }
        if self.exponent >= 0 {
            let power = 10u128.checked_pow(self.exponent.unsigned_abs()).ok_or(DurationError::TooLong)?;
            return in_range(scaled.checked_mul(power).ok_or(DurationError::TooLong)?);
        }
        let Some(power) = 10u128.checked_pow(self.exponent.unsigned_abs()) else {
            return Err(DurationError::TooShort);
        };
        let ns = scaled / power + u128::from(scaled % power >= power / 2);
        if ns == 0 { Err(DurationError::TooShort) } else { in_range(ns) }
    }
}

fn exponent(text: &[u8]) -> Result<i32, DurationError> {
    let digits = text.strip_prefix(b"-").or_else(|| text.strip_prefix(b"+")).unwrap_or(text);
    if digits.is_empty() || !digits.iter().all(u8::is_ascii_digit) {
        return Err(DurationError::NotANumber);
    }
    let magnitude = digits
        .iter()
        .fold(0i32, |sum, digit| sum.saturating_mul(10).saturating_add(i32::from(digit - b'0')).min(1000));
    Ok(if text.starts_with(b"-") { -magnitude } else { magnitude })
}

fn in_range(ns: u128) -> Result<u64, DurationError> {
    u64::try_from(ns).ok().filter(|ns| *ns <= crate::profile::LONGEST_NS).ok_or(DurationError::TooLong)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const MS: Option<Unit> = Some(Unit::Milliseconds);
    const S: Option<Unit> = Some(Unit::Seconds);

    fn read(text: &str, unit: Option<Unit>, decimal: Decimal) -> Result<u64, DurationError> {
        parse(text.as_bytes(), unit, decimal)
    }

    #[test]
    fn every_way_to_write_a_duration_is_read_exactly() {
        for (text, unit, ns) in [
            ("1.4", S, 1_400_000_000),
            ("0.0141", S, 14_100_000),
            ("120", MS, 120_000_000),
            (" 120 ", MS, 120_000_000),
            ("120ms", MS, 120_000_000),
            ("1.0E-4", S, 100_000),
            ("1e3", MS, 1_000_000_000),
            ("+5", MS, 5_000_000),
            (".5", S, 500_000_000),
            ("5.", S, 5_000_000_000),
            ("-0", S, 0),
            ("0.0000000005", S, 1),
            ("0.000000000999999999999999999999999999999999999", S, 1),
            ("1234567.891", Some(Unit::Nanoseconds), 1_234_568),
            ("1.4s", None, 1_400_000_000),
            ("120ms", None, 120_000_000),
            ("120 ms", None, 120_000_000),
            ("1m30s", None, 90_000_000_000),
            ("1h 2m 3.5s", None, 3_723_500_000_000),
            ("250us", None, 250_000),
            ("250\u{b5}s", None, 250_000),
            ("250\u{3bc}s", None, 250_000),
            ("1e-1s", None, 100_000_000),
            ("00:00:01.4", None, 1_400_000_000),
            ("12:34:56", None, 45_296_000_000_000),
            ("1,234.5", MS, 1_234_500_000),
            ("1 234", MS, 1_234_000_000),
            ("1\u{a0}234\u{202f}567", MS, 1_234_567_000_000),
            ("1'234", MS, 1_234_000_000),
        ] {
            assert_eq!(read(text, unit, Decimal::Point), Ok(ns), "{text}");
        }
    }

    #[test]
    fn what_would_round_to_nothing_is_refused_and_zero_is_not() {
        for text in ["0.00000000049999999999999999999999999999999999", "1e-10", "1e-400", "0.0001e-99"] {
            assert_eq!(read(text, S, Decimal::Point), Err(DurationError::TooShort), "{text}");
        }
        assert_eq!(read("0.000e-400", S, Decimal::Point), Ok(0));
    }

    #[test]
    fn a_comma_is_what_the_file_says_it_is() {
        use Decimal::{Comma, Either, Point};
        for (text, decimal, result) in [
            ("1,4", Comma, Ok(1_400_000_000)),
            ("1.234,5", Comma, Ok(1_234_500_000_000)),
            ("1.234", Comma, Ok(1_234_000_000_000)),
            ("1,4", Either, Ok(1_400_000_000)),
            ("0,123", Either, Ok(123_000_000)),
            ("1.234", Either, Ok(1_234_000_000)),
            ("1.234,5", Either, Ok(1_234_500_000_000)),
            ("1,234.5", Either, Ok(1_234_500_000_000)),
            ("1,234,567", Either, Err(DurationError::TooLong)),
            ("1,234", Either, Err(DurationError::AmbiguousComma)),
            ("1,234", Point, Ok(1_234_000_000_000)),
            ("1,4", Point, Err(DurationError::Comma)),
            ("12,34", Point, Err(DurationError::Comma)),
            ("0,123", Point, Err(DurationError::Comma)),
            ("1,2.3", Comma, Err(DurationError::NotANumber)),
        ] {
            assert_eq!(read(text, S, decimal), result, "{text} {decimal:?}");
        }
    }

    #[test]
    fn what_is_not_a_duration_is_refused_with_the_reason() {
        use DurationError::{Missing, Negative, NoUnit, NotANumber, OtherUnit, TooLong};
        for (text, unit, reason) in [
            ("", S, Missing),
            ("NULL", S, Missing),
            ("null", S, Missing),
            ("\\N", S, Missing),
            ("NaN", S, Missing),
            ("-", S, Missing),
            ("-1", S, Negative),
            ("abc", S, NotANumber),
            ("1.2.3", S, NotANumber),
            ("inf", S, NotANumber),
            ("1e", S, NotANumber),
            ("0x10", S, NotANumber),
            ("12:30", None, NotANumber),
            ("1s1m", None, NotANumber),
            ("5 parsecs", None, NotANumber),
            ("120", None, NoUnit),
            ("1.4s", MS, OtherUnit),
            ("1700000000123", MS, TooLong),
            ("1700000000", S, TooLong),
            ("1700000000", MS, TooLong),
            ("1e400", S, TooLong),
            ("99999999999999999999999999999999999999999999", S, TooLong),
        ] {
            assert_eq!(read(text, unit, Decimal::Point), Err(reason), "{text}");
        }
    }

    proptest! {
        #[test]
        fn plain_decimals_agree_with_exact_rationals(whole in 0u64..600_000, fraction in "[0-9]{0,25}", unit in 0usize..4) {
            let unit = [Unit::Seconds, Unit::Milliseconds, Unit::Microseconds, Unit::Nanoseconds][unit];
            let text = format!("{whole}.{fraction}");
            let exact = text.parse::<crate::units::Seconds>().unwrap();
            let scaled = exact.exact() * &crate::units::Exact::whole(unit.ns().into());
            let half = crate::units::Exact::fraction(1, 2).unwrap();
            prop_assert_eq!(read(&text, Some(unit), Decimal::Point).ok(), (&scaled + &half).floor());
        }

        #[test]
        fn no_bytes_make_it_panic(text in prop::collection::vec(any::<u8>(), 0..40), declared in any::<bool>()) {
            for decimal in [Decimal::Point, Decimal::Comma, Decimal::Either] {
                let _ = parse(&text, declared.then_some(Unit::Seconds), decimal);
            }
        }

        #[test]
        fn no_number_like_text_makes_it_panic(text in "[-+0-9.,eE :hmsnuµ']{0,24}") {
            for decimal in [Decimal::Point, Decimal::Comma, Decimal::Either] {
                let _ = (read(&text, None, decimal), read(&text, S, decimal));
            }
        }
    }
}
