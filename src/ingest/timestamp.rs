//! Time stamps as they are written in files, read to nanoseconds since the epoch.

use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use std::fmt;

/// Why a text is not a time stamp.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "it is not a time stamp: seconds, milliseconds, microseconds or nanoseconds since 1970, or 2026-11-30T16:04:05.123Z"
)]
pub struct TimestampError;

/// A time stamp that was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timestamp {
    /// Nanoseconds since the epoch.
    pub ns: i64,
    /// Whether it is a date and time without a zone, which is then taken as UTC.
    pub zone_assumed: bool,
}

/// Reads a time stamp.
///
/// A bare number is time since 1970, its unit told by its size: below 10¹¹ seconds, then milliseconds, microseconds and
/// nanoseconds (each is a date between 1973 and 5138). Numbers of seconds close to zero are times since some start.
/// Anything else is a date and a time as in RFC 3339, with `T` or a space between; without a zone it is UTC.
///
/// # Errors
/// If it is neither.
pub fn parse(text: &[u8]) -> Result<Timestamp, TimestampError> {
    let text = std::str::from_utf8(super::duration::trim(text)).map_err(|_| TimestampError)?;
    match text.as_bytes().first() {
        Some(first) if text.contains(['-', ':', '/']) && first.is_ascii_digit() => {
            date(text).or_else(|error| scientific(text).ok_or(error))
        }
        Some(_) => epoch(text).ok_or(TimestampError),
        None => Err(TimestampError),
    }
}

fn epoch(text: &str) -> Option<Timestamp> {
    let unsigned = text.strip_prefix('+').unwrap_or(text);
    let (whole, fraction) = unsigned.split_once('.').unwrap_or((unsigned, ""));
    let digits = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
    if whole.is_empty() || whole.len() > 20 || !digits(whole) || !digits(fraction) {
        return scientific(text);
    }
    let number: i64 = whole.parse().ok()?;
    scaled(number, fraction)
}

/// `1.700000000987E9`, as some exports write numbers: its point is moved in the text, so no digit is lost.
fn scientific(text: &str) -> Option<Timestamp> {
    /// More digits than any time has.
    const FARTHEST: i32 = 400;
    let (number, exponent) = text.split_once(['e', 'E'])?;
    let exponent: i32 = exponent.parse().ok().filter(|exponent| (-FARTHEST..=FARTHEST).contains(exponent))?;
    let number = number.strip_prefix('+').unwrap_or(number);
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    let mut digits = [whole, fraction].concat();
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let point = whole.len() as i64 + i64::from(exponent);
    if point < 0 {
        digits.insert_str(0, &"0".repeat(point.unsigned_abs() as usize));
    }
    let point = point.max(0) as usize;
    digits.push_str(&"0".repeat(point.saturating_sub(digits.len())));
    let (whole, fraction) = digits.split_at(point);
    let whole = whole.trim_start_matches('0');
    scaled(if whole.is_empty() { 0 } else { whole.parse().ok()? }, fraction)
}

fn scaled(number: i64, fraction: &str) -> Option<Timestamp> {
    let (unit_ns, places) = match number.max(1).ilog10() {
        0..=10 => (1_000_000_000, 9),
        11..=13 => (1_000_000, 6),
        14..=16 => (1_000, 3),
        _ => (1, 0),
    };
    let mut below: i64 = 0;
    for place in 0..places {
        let digit = fraction.as_bytes().get(place).map_or(0, |digit| i64::from(digit - b'0'));
        below = below * 10 + digit;
    }
    let ns = number.checked_mul(unit_ns)?.checked_add(below)?;
    Some(Timestamp { ns, zone_assumed: false })
}

fn date(text: &str) -> Result<Timestamp, TimestampError> {
    let text = text.strip_suffix(" UTC").map_or_else(|| text.to_owned(), |local| format!("{local}Z"));
    // 2026/11/30 is written by some loggers.
    let text = text.replacen('/', "-", 2);
    if let Ok(instant) = text.parse::<jiff::Timestamp>() {
        return within(instant, false);
    }
    // PostgreSQL writes +00, which jiff reads, but with a space or comma before the fraction it does not.
    let local: DateTime = text.replacen(',', ".", 1).parse().map_err(|_| TimestampError)?;
    if text.ends_with(['Z', 'z']) || text.get(11..).is_some_and(|time| time.contains(['+', '-'])) {
        return Err(TimestampError);
    }
    let instant = TimeZone::UTC.to_timestamp(local).map_err(|_| TimestampError)?;
    within(instant, true)
}

fn within(instant: jiff::Timestamp, zone_assumed: bool) -> Result<Timestamp, TimestampError> {
    let ns = i64::try_from(instant.as_nanosecond()).map_err(|_| TimestampError)?;
    Ok(Timestamp { ns, zone_assumed })
}

/// A second since the epoch as people read it: `2026-11-30T16:04:05Z`.
#[must_use]
pub fn show(second: i64) -> String {
    jiff::Timestamp::from_second(second).map_or_else(|_| format!("second {second}"), |at| at.to_string())
}

impl fmt::Display for Timestamp {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&show(self.ns.div_euclid(1_000_000_000)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn numbers_and_dates_are_read_to_the_nanosecond() {
        const AT: i64 = 1_700_000_000_000_000_000;
        for (text, ns) in [
            ("1700000000", AT),
            ("1700000000.123456789", AT + 123_456_789),
            ("1700000000123", AT + 123_000_000),
            ("1700000000123.5", AT + 123_500_000),
            ("1700000000123456", AT + 123_456_000),
            ("1700000000123456789", AT + 123_456_789),
            ("1.7e9", AT),
            ("1.700000000987E9", AT + 987_000_000),
            ("+1.700000000987654321e+09", AT + 987_654_321),
            ("1.700000000123987E12", AT + 123_987_000),
            ("0.0017e12", AT),
            (".17e10", AT),
            ("17000000000000e-4", AT),
            ("1700000000987654321E0", AT + 987_654_321),
            ("1.25e1", 12_500_000_000),
            ("0.0e300", 0),
            ("12.5", 12_500_000_000),
            ("2023-11-14T22:13:20Z", AT),
            ("2023-11-14T22:13:20.25Z", AT + 250_000_000),
            ("2023-11-14T23:13:20+01:00", AT),
            ("2023-11-14 22:13:20.123456+00", AT + 123_456_000),
            ("2023-11-14 22:13:20 UTC", AT),
        ] {
            assert_eq!(parse(text.as_bytes()), Ok(Timestamp { ns, zone_assumed: false }), "{text}");
        }
        for text in [
            "2023-11-14 22:13:20",
            "2023-11-14T22:13:20.000",
            "2023/11/14 22:13:20",
            "2023-11-14 22:13:20,000",
        ] {
            assert_eq!(parse(text.as_bytes()), Ok(Timestamp { ns: AT, zone_assumed: true }), "{text}");
        }
        assert_eq!(show(1_700_000_000), "2023-11-14T22:13:20Z");
    }

    #[test]
    fn what_is_no_time_is_refused() {
        for text in [
            "",
            "-5",
            "yesterday",
            "2023-13-14T00:00:00Z",
            "1e400",
            "1e99",
            "1e9999999999",
            "e9",
            ".e9",
            "1.2.3e9",
            "-1e9",
            "1e5e4",
            "1e",
            "99999999999999999999",
            "12:30",
            "NaN",
        ] {
            assert!(parse(text.as_bytes()).is_err(), "{text}");
        }
    }

    proptest! {
        #[test]
        fn no_text_makes_it_panic(text in "[-+0-9TZ:./, eE]{0,32}", bytes in prop::collection::vec(any::<u8>(), 0..20)) {
            let _ = (parse(text.as_bytes()), parse(&bytes));
        }
    }
}
