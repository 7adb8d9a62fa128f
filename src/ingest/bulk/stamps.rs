//! Time stamps in the notations that logs are full of; whatever else is left to the careful parser.

use super::number::{digits, eight_digits};
use crate::ingest::timestamp;

const SECOND_NS: i64 = 1_000_000_000;

/// A time stamp.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Stamp {
    /// Nanoseconds since the epoch.
    pub(super) ns: i64,
    /// It is a multiple of so many nanoseconds.
    pub(super) step_ns: u64,
    pub(super) zone_assumed: bool,
}

/// Reads time stamps, and remembers what successive ones have in common: logs seldom change it.
#[derive(Debug, Default)]
pub(super) struct Stamps {
    /// The digits of a number before its last eight, how many they are, and what they are worth.
    digits: u64,
    length: usize,
    worth: u64,
    day: [u8; 10],
    /// When that day begins in UTC, once one was read.
    begins_ns: Option<i64>,
}

impl Stamps {
    /// The stamp that a cell holds; `None` if it holds none.
    #[inline(always)]
    pub(super) fn read(&mut self, cell: &[u8]) -> Option<Stamp> {
        // As in `timestamp`: the number of digits tells the unit. Below ten of them is a time since some start.
        let (unit, step_ns) = match cell.len() {
            10 | 11 => (SECOND_NS, SECOND_NS as u64),
            12..=14 => (1_000_000, 1_000_000),
            15 | 16 => (1_000, 1_000),
            _ => return self.date(cell),
        };
        match self.number(cell).and_then(|number| number.checked_mul(unit)) {
            Some(ns) => Some(Stamp { ns, step_ns, zone_assumed: false }),
            None => self.date(cell),
        }
    }

    /// A number of 9 to 16 digits that does not begin with zero.
    #[inline(always)]
    fn number(&mut self, cell: &[u8]) -> Option<i64> {
        let length = cell.len().checked_sub(8).filter(|length| (1..=8).contains(length))?;
        let first = u64::from_le_bytes(*cell.first_chunk()?) << (64 - 8 * length);
        if first != self.digits || length != self.length {
            self.learn(cell, first, length)?;
        }
        let last = eight_digits(*cell.last_chunk()?)?;
        // Sixteen digits are less than 2⁶³.
        Some((self.worth + last) as i64)
    }

    #[cold]
    fn learn(&mut self, cell: &[u8], first: u64, length: usize) -> Option<()> {
        let value = digits(cell, 0, length).filter(|_| cell[0] != b'0')?;
        (self.digits, self.length, self.worth) = (first, length, value * 100_000_000);
        Some(())
    }

    #[inline(never)]
    fn date(&mut self, field: &[u8]) -> Option<Stamp> {
        self.known_day(field).or_else(|| {
            let at = timestamp::parse(field).ok()?;
            self.remember(field);
            Some(Stamp { ns: at.ns, step_ns: 1, zone_assumed: at.zone_assumed })
        })
    }

    /// Remembers the day of a date that was read.
    fn remember(&mut self, field: &[u8]) {
        let Some(day) = field.first_chunk::<10>().filter(|day| day[4] == b'-' && day[7] == b'-') else {
            return;
        };
        if let Ok(midnight) = timestamp::parse(&[&day[..], b"T00:00:00Z"].concat()) {
            (self.day, self.begins_ns) = (*day, Some(midnight.ns));
        }
    }

    /// `2026-11-30T16:04:05.123Z`, with or without fraction and zone, of the day that was read last.
    fn known_day(&self, field: &[u8]) -> Option<Stamp> {
        let begins_ns = self.begins_ns?;
        let rest = field.strip_prefix(&self.day)?;
        let [b'T' | b' ', h1, h2, b':', m1, m2, b':', s1, s2, rest @ ..] = rest else { return None };
        let two = |tens: u8, ones: u8, limit: i64| {
            let (tens, ones) = (tens.wrapping_sub(b'0'), ones.wrapping_sub(b'0'));
            let number = i64::from(tens) * 10 + i64::from(ones);
            (tens <= 9 && ones <= 9 && number < limit).then_some(number)
        };
        let seconds = (two(*h1, *h2, 24)? * 60 + two(*m1, *m2, 60)?) * 60 + two(*s1, *s2, 60)?;
        let (fraction, zone_assumed) = match rest.strip_suffix(b"Z") {
            Some(fraction) => (fraction, false),
            None => (rest, true),
        };
        let (below, step_ns) = match fraction {
            [] => (0, SECOND_NS as u64),
            [b'.', places @ ..] if (1..=9).contains(&places.len()) => {
                let number = places.iter().try_fold(0u64, |sum, place| {
                    let digit = place.wrapping_sub(b'0');
                    (digit <= 9).then_some(sum * 10 + u64::from(digit))
                })?;
                let step_ns = 10u64.pow(9 - places.len() as u32);
                (i64::try_from(number * step_ns).ok()?, step_ns)
            }
            _ => return None,
        };
        let ns = begins_ns.checked_add(seconds * SECOND_NS)?.checked_add(below)?;
        Some(Stamp { ns, step_ns, zone_assumed })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn same(stamps: &mut Stamps, text: &str) {
        let padded = format!("1234567.89,{text}");
        let fast = stamps.read(&padded.as_bytes()[11..]);
        let careful = timestamp::parse(text.as_bytes()).ok();
        assert_eq!(
            fast.map(|at| (at.ns, at.zone_assumed)),
            careful.map(|at| (at.ns, at.zone_assumed)),
            "{text}"
        );
        if let Some(at) = fast {
            assert!(at.ns.unsigned_abs().is_multiple_of(at.step_ns), "{text}: {at:?}");
        }
    }

    #[test]
    fn stamps_are_those_of_the_careful_parser() {
        let mut stamps = Stamps::default();
        for text in [
            "1700000000",
            "0000000012",
            "1700000000123",
            "0700000000123",
            "17000000001.5",
            "170000000012345",
            "1700000000123456",
            "1700000000123456789",
            "99999999999",
            "9999999999999999",
            "2023-11-14T22:13:20Z",
            "2023-11-14T22:13:20.25Z",
            "2023-11-14T22:13:20.123456789Z",
            "2023-11-14T22:13:20.1234567891Z",
            "2023-11-14 22:13:20",
            "2023-11-14 22:13:20.",
            "2023-11-14 22:13:60",
            "2023-11-14 24:00:00",
            "2023-11-14T22:13:20+01:00",
            "2023-11-14T22:13:20 UTC",
            "2023-11-15T22:13:20Z",
            "2023-11-99T22:13:20Z",
            "0000-00-00T00:00:00Z",
            "",
            "-",
        ] {
            same(&mut stamps, text);
        }
    }

    proptest! {
        #[test]
        fn whatever_the_text_they_agree(texts in prop::collection::vec("(2023-11-1[45][T ][012][0-9]:[0-6][0-9]:[0-6][0-9](\\.[0-9]{1,9})?(Z|\\+00| UTC)?|[0-9.]{1,20}|[-0-9T:Z ]{0,20})", 1..6)) {
            let mut stamps = Stamps::default();
            for text in texts {
                same(&mut stamps, &text);
            }
        }
    }
}
