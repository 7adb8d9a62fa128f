//! Where fields and records end in a piece of a table, sixteen bytes at a time.

use wide::u8x16;

/// The places of all bytes that end a field or a record, or make either awkward: delimiters, line feeds, carriage
/// returns and quotes, in order.
///
/// The time of a bulk load is spent here and in the numbers, so this compares whole vectors. `memchr` finds one of three
/// bytes fast where they are rare; in a table they come every few bytes.
pub(super) fn places(bytes: &[u8], delimiter: u8, places: &mut Vec<u32>) {
    places.clear();
    let (blocks, rest) = bytes.as_chunks::<64>();
    // One place a byte is the most there can be; the length is set to what was found in the end.
    let mut found = 0;
    let sought = [delimiter, b'\n', b'\r', b'"'].map(u8x16::splat);
    let mut base = 0u32;
    for block in blocks {
        if places.len() < found + 64 {
            places.resize((found + 64).max(2 * found), 0);
        }
        let (quarters, _) = block.as_chunks::<16>();
        let mut mask = 0u64;
        for (number, quarter) in quarters.iter().enumerate() {
            mask |= u64::from(found_in(u8x16::new(*quarter), &sought)) << (16 * number);
        }
        let Some(free) = places.get_mut(found..found + 64) else { return };
        let mut count = 0;
        while mask != 0 {
            free[count & 63] = base + mask.trailing_zeros();
            mask &= mask - 1;
            count += 1;
        }
        found += count;
        base += 64;
    }
    places.truncate(found);
    let is_place = |byte: u8| byte == delimiter || matches!(byte, b'\n' | b'\r' | b'"');
    let last = rest.iter().zip(base..).filter(|(byte, _)| is_place(**byte)).map(|(_, at)| at);
    places.extend(last);
}

#[inline]
fn found_in(bytes: u8x16, sought: &[u8x16; 4]) -> u32 {
    let [delimiter, feed, carriage, quote] = sought.map(|byte| bytes.simd_eq(byte));
    (delimiter | feed | carriage | quote).to_bitmask()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn every_place_is_found_in_order(text in "[a-d,;\n\r\"|]{0,300}", delimiter in prop::sample::select(vec![b',', b';', b'|'])) {
            let mut found = Vec::new();
            places(text.as_bytes(), delimiter, &mut found);
            let expected: Vec<u32> = (0u32..).zip(text.bytes())
                .filter(|(_, byte)| *byte == delimiter || b"\n\r\"".contains(byte))
                .map(|(at, _)| at)
                .collect();
            prop_assert_eq!(found, expected);
        }
    }
}
