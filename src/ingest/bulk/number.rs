//! Plain decimal numbers, eight digits at a time; whatever else is left to the careful parsers.

/// Eight bytes that end at `end`, the last one in the highest byte; what lies before `start` is replaced by zeros in
/// writing, which are no digits of weight.
#[inline]
fn eight(text: &[u8], start: usize, end: usize) -> Option<u64> {
    let length = end - start;
    let word = if let Some(bytes) = end.checked_sub(8).and_then(|from| text.get(from..end)) {
        u64::from_le_bytes(bytes.try_into().ok()?)
    } else {
        let mut bytes = [b'0'; 8];
        bytes[8 - length..].copy_from_slice(text.get(start..end)?);
        return Some(u64::from_le_bytes(bytes));
    };
    if length >= 8 {
        return Some(word);
    }
    let kept = u64::MAX.checked_shl(8 * (8 - length) as u32).unwrap_or(0);
    Some(word & kept | ZEROS & !kept)
}

const ZEROS: u64 = u64::from_le_bytes([b'0'; 8]);

/// The value of eight digits, the first in the lowest byte; `None` if one is no digit. (Daniel Lemire, "Quickly
/// parsing eight digits", 2018.)
#[inline]
fn value(word: u64) -> Option<u64> {
    let high = 0xf0f0_f0f0_f0f0_f0f0;
    let above_nine = word.wrapping_add(0x0606_0606_0606_0606);
    if word & high != ZEROS || above_nine & high != ZEROS {
        return None;
    }
    let word = (word & 0x0f0f_0f0f_0f0f_0f0f).wrapping_mul(2561) >> 8;
    let word = (word & 0x00ff_00ff_00ff_00ff).wrapping_mul(6_553_601) >> 16;
    Some((word & 0x0000_ffff_0000_ffff).wrapping_mul(42_949_672_960_001) >> 32)
}

/// Up to sixteen digits from `start` to `end`.
#[inline]
pub(super) fn digits(text: &[u8], start: usize, end: usize) -> Option<u64> {
    match end.checked_sub(start)? {
        1..=8 => value(eight(text, start, end)?),
        9..=16 => {
            let high = value(eight(text, start, end - 8)?)?;
            Some(high * 100_000_000 + value(eight(text, end - 8, end)?)?)
        }
        _ => None,
    }
}

/// A number of digits with at most one point between them: its digits as a whole number, and how many stand behind the
/// point.
#[inline]
pub(super) fn decimal(text: &[u8], start: usize, end: usize) -> Option<(u64, usize)> {
    let length = end.checked_sub(start)?;
    if !(1..=8).contains(&length) {
        return longer(text, start, end);
    }
    let word = eight(text, start, end)?;
    // The highest bit of each byte that is a point; exact for the lowest one, and a second one is no digit below.
    let other = word ^ u64::from_le_bytes([b'.'; 8]);
    let point = other.wrapping_sub(0x0101_0101_0101_0101) & !other & 0x8080_8080_8080_8080;
    if point == 0 {
        return Some((value(word)?, 0));
    }
    let at = point.trailing_zeros() / 8;
    let behind = 7 - at as usize;
    if length == 1 {
        return None;
    }
    let below = (1u64 << (8 * at)) - 1;
    let above = !below & !(0xff << (8 * at));
    let joined = word & above | (word & below) << 8 | u64::from(b'0');
    Some((value(joined)?, behind))
}

/// The same for more than eight bytes.
fn longer(text: &[u8], start: usize, end: usize) -> Option<(u64, usize)> {
    let field = text.get(start..end).filter(|field| (9..=16).contains(&field.len()))?;
    match memchr::memchr(b'.', field) {
        None => Some((digits(text, start, end)?, 0)),
        Some(at) => {
            let point = start + at;
            let whole = if at == 0 { 0 } else { digits(text, start, point)? };
            let behind = end - point - 1;
            let fraction = if behind == 0 { 0 } else { digits(text, point + 1, end)? };
            let scale = 10u64.checked_pow(u32::try_from(behind).ok()?)?;
            Some((whole.checked_mul(scale)?.checked_add(fraction)?, behind))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn read(text: &str, before: &str) -> Option<(u64, usize)> {
        let whole = format!("{before}{text}");
        decimal(whole.as_bytes(), before.len(), whole.len())
    }

    #[test]
    fn plain_decimals_are_read_and_nothing_else() {
        for before in ["", "9", "12345678,", "1234567.9999999999,"] {
            for (text, expected) in [
                ("0", Some((0, 0))),
                ("7", Some((7, 0))),
                ("123.456", Some((123_456, 3))),
                ("12345678", Some((12_345_678, 0))),
                ("1234567.", Some((1_234_567, 0))),
                (".5", Some((5, 1))),
                ("1234567.8", Some((12_345_678, 1))),
                ("0.004250123", Some((4_250_123, 9))),
                ("1234567890123456", Some((1_234_567_890_123_456, 0))),
                ("12345678901234567", None),
                ("", None),
                (".", None),
                ("1.2.3", None),
                ("..1", None),
                ("-1", None),
                ("+1", None),
                ("1e3", None),
                (" 1", None),
                ("1,5", None),
                ("12a", None),
                ("1:30", None),
            ] {
                assert_eq!(read(text, before), expected, "{before}|{text}");
            }
        }
    }

    proptest! {
        #[test]
        fn what_is_read_is_what_the_text_says(text in "[0-9.+\\-e/:]{0,18}", before in "[0-9.,]{0,10}") {
            if let Some((number, behind)) = read(&text, &before) {
                let (whole, fraction) = text.split_once('.').unwrap_or((&text, ""));
                prop_assert_eq!(fraction.len(), behind);
                prop_assert_eq!(number, format!("{whole}{fraction}").parse::<u64>().unwrap());
            }
        }
    }
}
