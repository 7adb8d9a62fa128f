//! Where fields and records end in a piece of a table, sixteen bytes at a time.

use wide::u8x16;

/// Bytes that are looked at together.
const BLOCK: usize = 64;

/// Places that are written of each block, however many there are: a loop that ends when there are no more would be
/// guessed wrong by the processor about once a block.
const AT_ONCE: usize = 8;

/// The places of all bytes that end a field or a record, or make either awkward: delimiters, line feeds, carriage
/// returns and quotes, in order.
pub(super) fn places(bytes: &[u8], delimiter: u8, places: &mut Places) {
    places.find(bytes, [delimiter, b'\n', b'\r', b'"']);
}

/// The places of all delimiters and line feeds, in order.
pub(super) fn ends(bytes: &[u8], delimiter: u8, places: &mut Places) {
    places.find(bytes, [delimiter, b'\n']);
}

/// Places in a text, in order, behind a first one that is just before the text.
///
/// The time of a bulk load is spent here and in the numbers, so this compares whole vectors. `memchr` finds one of three
/// bytes fast where they are rare; in a table they come every few bytes.
#[derive(Debug, Default)]
pub(super) struct Places {
    /// Longer than what was found, so that no memory is cleared for nothing.
    places: Vec<u32>,
    found: usize,
}

impl Places {
    /// What was found.
    pub(super) fn found(&self) -> &[u32] {
        self.places.get(1..=self.found).unwrap_or_default()
    }

    /// What was found, behind the place before the text: one more than it, in wrapping arithmetic, is where it begins.
    pub(super) fn with_start(&self) -> &[u32] {
        self.places.get(..=self.found).unwrap_or_default()
    }

    fn find<const N: usize>(&mut self, bytes: &[u8], sought: [u8; N]) {
        // Every byte may be one.
        self.places.resize(self.places.len().max(1 + bytes.len() + BLOCK), u32::MAX);
        let vectors = sought.map(u8x16::splat);
        let (blocks, rest) = bytes.as_chunks::<BLOCK>();
        let mut found = 0;
        let mut base = 0u32;
        for block in blocks {
            let mask = mask(block, &vectors);
            let Some(free) = self.places.get_mut(1 + found..).and_then(<[u32]>::first_chunk_mut) else {
                return;
            };
            write(mask, base, free);
            found += mask.count_ones() as usize;
            base += BLOCK as u32;
        }
        for (byte, at) in rest.iter().zip(base..) {
            if sought.contains(byte) {
                self.places[1 + found] = at;
                found += 1;
            }
        }
        self.found = found;
    }
}

/// A bit for each byte that is one of those sought.
#[inline]
fn mask<const N: usize>(block: &[u8; BLOCK], sought: &[u8x16; N]) -> u64 {
    let (quarters, _) = block.as_chunks::<16>();
    quarters.iter().enumerate().fold(0, |mask, (number, quarter)| {
        let bytes = u8x16::new(*quarter);
        let found = sought.iter().fold(u8x16::ZERO, |found, byte| found | bytes.simd_eq(*byte));
        mask | u64::from(found.to_bitmask()) << (16 * number)
    })
}

#[inline]
fn write(mut mask: u64, base: u32, free: &mut [u32; BLOCK]) {
    for place in &mut free[..AT_ONCE] {
        *place = base + mask.trailing_zeros();
        mask &= mask.wrapping_sub(1);
    }
    let mut count = AT_ONCE;
    while mask != 0 {
        free[count % BLOCK] = base + mask.trailing_zeros();
        mask &= mask - 1;
        count += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn every_place_is_found_in_order(
            texts in prop::collection::vec("([a-d,;\n\r\"|]{0,300}|,{60,90})", 1..4), delimiter in prop::sample::select(vec![b',', b';', b'|']),
        ) {
            let mut found = Places::default();
            for text in &texts {
                let expected = |sought: &[u8]| -> Vec<u32> {
                    let bytes = (0u32..).zip(text.bytes());
                    bytes.filter(|(_, byte)| sought.contains(byte)).map(|(at, _)| at).collect()
                };
                places(text.as_bytes(), delimiter, &mut found);
                prop_assert_eq!(found.found(), expected(&[delimiter, b'\n', b'\r', b'"']));
                ends(text.as_bytes(), delimiter, &mut found);
                prop_assert_eq!(found.found(), expected(&[delimiter, b'\n']));
                prop_assert_eq!(found.with_start()[0], u32::MAX);
            }
        }
    }
}
