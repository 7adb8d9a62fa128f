//! Plain decimal numbers, eight digits at a time; whatever else is left to the careful parsers.

const ZEROS: u64 = u64::from_le_bytes([b'0'; 8]);

/// What a point is where digits are their values.
const POINT: u64 = (b'.' ^ b'0') as u64;

/// The high half of each byte.
const HIGH: u64 = 0xf0f0_f0f0_f0f0_f0f0;

/// The eight bytes that end at `end`, the last one in the highest byte, and by how many bits the first of a text of at
/// most eight that begins at `start` lies above the lowest.
#[inline(always)]
fn eight(text: &[u8], start: usize, end: usize) -> Option<(u64, u32)> {
    let length = end.checked_sub(start).filter(|length| (1..=8).contains(length))?;
    let word = match text.get(..end)?.last_chunk() {
        Some(bytes) => u64::from_le_bytes(*bytes),
        None => first_bytes(text, end)?,
    };
    Some((word, 64 - 8 * length as u32))
}

/// Fewer than eight bytes that begin the text.
#[cold]
fn first_bytes(text: &[u8], end: usize) -> Option<u64> {
    let mut bytes = [0; 8];
    bytes[8usize.checked_sub(end)?..].copy_from_slice(text.get(..end)?);
    Some(u64::from_le_bytes(bytes))
}

/// A text of one to eight bytes from `start` to `end` as one number, which another text of that length does not have.
#[inline(always)]
pub(super) fn short(text: &[u8], start: usize, end: usize) -> Option<u64> {
    eight(text, start, end).map(|(word, before)| word >> before)
}

/// The values of up to eight digits, the last one in the highest byte, and zeros before them.
#[inline(always)]
fn values(text: &[u8], start: usize, end: usize) -> Option<u64> {
    eight(text, start, end).map(|(word, before)| (word ^ ZEROS) >> before << before)
}

/// The number of eight digits.
#[inline(always)]
pub(super) fn eight_digits(bytes: [u8; 8]) -> Option<u64> {
    number(u64::from_le_bytes(bytes) ^ ZEROS)
}

/// The number of eight values of digits, of which the first is in the lowest byte; `None` if one is no digit. (Daniel Lemire,
/// "Quickly parsing eight digits", 2018.)
#[inline(always)]
fn number(digits: u64) -> Option<u64> {
    if (digits | digits.wrapping_add(0x0606_0606_0606_0606)) & HIGH != 0 {
        return None;
    }
    let pairs = digits.wrapping_mul(2561) >> 8 & 0x00ff_00ff_00ff_00ff;
    let fours = pairs.wrapping_mul(6_553_601) >> 16 & 0x0000_ffff_0000_ffff;
    Some(fours.wrapping_mul(42_949_672_960_001) >> 32)
}

/// Up to sixteen digits from `start` to `end`.
#[inline]
pub(super) fn digits(text: &[u8], start: usize, end: usize) -> Option<u64> {
    match end.checked_sub(start)? {
        1..=8 => number(values(text, start, end)?),
        9..=16 => {
            let high = number(values(text, start, end - 8)?)?;
            Some(high * 100_000_000 + number(values(text, end - 8, end)?)?)
        }
        _ => None,
    }
}

/// A number of digits with at most one point between them: its digits as a whole number, and how many stand behind the
/// point.
#[inline(always)]
pub(super) fn decimal(text: &[u8], start: usize, end: usize) -> Option<(u64, usize)> {
    let length = end.checked_sub(start)?;
    if !(1..=8).contains(&length) {
        return longer(text, start, end);
    }
    let word = values(text, start, end)?;
    let odd = word & HIGH;
    if odd == 0 {
        return Some((number(word)?, 0));
    }
    // The bits before the first byte that is no digit; a second one is left, and found, below.
    let before = odd.trailing_zeros() & 0x38;
    if word >> before & 0xff != POINT || length == 1 {
        return None;
    }
    let below = (1u64 << before) - 1;
    let joined = (word & below) << 8 | word & !below << 8;
    Some((number(joined)?, 7 - before as usize / 8))
}
/// The same for more than eight bytes.
#[inline(never)]
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
