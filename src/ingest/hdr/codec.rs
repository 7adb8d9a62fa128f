//! The encoded form of one HdrHistogram: V0, V1 and V2, plain or compressed.
//!
//! | bytes | V1 and V2 (40 bytes) | V0 (32 bytes) |
//! | --- | --- | --- |
//! | 0–3 | cookie: version in the low half byte, word size in the next | the same |
//! | 4–7 | length of the counts | significant digits |
//! | 8–11 | normalizing offset: how the writer kept its counts; they are written in order | lowest discernible value (8–15) |
//! | 12–15 | significant digits | |
//! | 16–23 | lowest discernible value | highest trackable value |
//! | 24–31 | highest trackable value | total count |
//! | 32–39 | ratio of values, 1.0 but for histograms of floats (some write no float at all) | – |
//!
//! Then the counts from the shortest bucket on: of 2, 4 or 8 bytes in V0 and V1, in V2 as ZigZag LEB128 where a
//! negative number is a run of empty buckets. All numbers are big-endian. The compressed form is a cookie, the length
//! of what follows, and the plain form in a zlib stream. (The layout of AbstractHistogram in HdrHistogram 2.2.)

use base64::Engine;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use flate2::read::ZlibDecoder;
use std::io::Read;

const BASE: u32 = 0x1c84_9300;
const DOUBLE: [u32; 2] = [0x0c72_124e, 0x0c72_124f];

/// The most bytes of an encoded histogram, packed or not: six million buckets of five digits at nine bytes each.
pub(in crate::ingest) const LARGEST: u64 = 64 << 20;

/// Base64 with or without padding: writers differ.
const BASE64: GeneralPurpose = GeneralPurpose::new(
    &base64::alphabet::STANDARD,
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

/// Why bytes are no histogram that can be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(in crate::ingest) enum CodecError {
    #[error(
        "it is a double histogram (DHIST), whose values are floats of a changing scale; log integers instead"
    )]
    Double,
    #[error("it is no HdrHistogram: it begins with {cookie:08x}")]
    Cookie { cookie: u32 },
    #[error("it is not base64, or cut short")]
    NotBase64,
    #[error("it is cut short")]
    Truncated,
    #[error("its compressed bytes are damaged")]
    Damaged,
    #[error("its header is impossible: {0}")]
    Header(&'static str),
    #[error("it holds counts beyond its highest value")]
    Overflow,
    #[error("it holds a negative count")]
    Negative,
    #[error("there are {0} bytes after its end")]
    Trailing(usize),
}

/// Where the buckets of a histogram are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Layout {
    unit_magnitude: u32,
    half_count_magnitude: u32,
    /// Buckets up to the highest trackable value.
    length: u64,
}

/// A bucket that is not empty: `count` values from `low` to `high`, both inclusive, in the histogram's own unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::ingest) struct HdrBucket {
    pub(in crate::ingest) low: u64,
    pub(in crate::ingest) high: u64,
    pub(in crate::ingest) count: u64,
}

impl Layout {
    fn new(digits: u32, lowest: u64, highest: u64) -> Result<Self, CodecError> {
        let header = |problem| Err(CodecError::Header(problem));
        if digits > 5 {
            return header("more than five significant digits");
        }
        if lowest == 0 || highest < lowest.saturating_mul(2) || highest > i64::MAX as u64 {
            return header("its lowest and highest value do not belong together");
        }
        let resolution = 2 * 10u64.pow(digits);
        let half_count_magnitude = (u64::BITS - (resolution - 1).leading_zeros()).max(1) - 1;
        let unit_magnitude = lowest.ilog2();
        if unit_magnitude + half_count_magnitude > 61 {
            return header("its resolution does not fit its lowest value");
        }
        // Each further octave of values above the first takes half as many buckets as the first.
        let first = half_count_magnitude + 1 + unit_magnitude;
        let octaves = u64::from((highest.ilog2() + 1).saturating_sub(first));
        Ok(Layout { unit_magnitude, half_count_magnitude, length: (octaves + 2) << half_count_magnitude })
    }

    /// The range of values that share a bucket; `None` beyond 64 bits.
    fn bounds(&self, index: u64) -> Option<(u64, u64)> {
        let half = 1u64 << self.half_count_magnitude;
        let (octave, slot) = match index >> self.half_count_magnitude {
            0 => (0, index),
            octave => (u32::try_from(octave).ok()? - 1, (index & (half - 1)) + half),
        };
        let shift = octave + self.unit_magnitude;
        let low = slot.checked_mul(1u64.checked_shl(shift)?)?;
        Some((low, low.checked_add((1u64 << shift) - 1)?))
    }
}

/// Reads big-endian numbers from a header.
struct Header<'a>(&'a [u8]);

impl Header<'_> {
    fn word(&self, at: usize) -> Result<u32, CodecError> {
        let bytes = self.0.get(at..at + 4).and_then(|bytes| bytes.try_into().ok());
        bytes.map(u32::from_be_bytes).ok_or(CodecError::Truncated)
    }

    fn long(&self, at: usize) -> Result<u64, CodecError> {
        Ok(u64::from(self.word(at)?) << 32 | u64::from(self.word(at + 4)?))
    }
}

/// How counts are written.
#[derive(Clone, Copy)]
enum Words {
    Fixed(usize),
    ZigZag,
}

/// What a header says.
struct Described {
    layout: Layout,
    words: Words,
    header: usize,
    /// Bytes of counts, where the header says so.
    payload: Option<u64>,
}

/// Whether bytes begin as an encoded histogram does, of floats included.
pub(in crate::ingest) fn is_encoded(bytes: &[u8]) -> bool {
    let cookie = Header(bytes).word(0);
    cookie.is_ok_and(|cookie| DOUBLE.contains(&cookie) || version(cookie).is_some())
}

/// Whether a text begins as one in base64 does: a word such as HISTORY does not.
pub(in crate::ingest) fn is_encoded_text(text: &[u8]) -> bool {
    let cookie = text.get(..8).and_then(|beginning| BASE64.decode(beginning).ok());
    cookie.is_some_and(|cookie| is_encoded(&cookie))
}

/// Version and whether it is compressed.
fn version(cookie: u32) -> Option<(u8, bool)> {
    match (cookie & !0xff, cookie & 0x0f) {
        (BASE, 8) => Some((0, false)),
        (BASE, 9) => Some((0, true)),
        (BASE, 1) => Some((1, false)),
        (BASE, 2) => Some((1, true)),
        (BASE, 3) => Some((2, false)),
        (BASE, 4) => Some((2, true)),
        _ => None,
    }
}

/// Decodes the base64 text of a histogram.
pub(in crate::ingest) fn decode_base64(text: &[u8]) -> Result<Vec<HdrBucket>, CodecError> {
    decode(&BASE64.decode(text).map_err(|_| CodecError::NotBase64)?)
}

/// Decodes a histogram, compressed or not. Memory follows what the bytes hold, never what a header claims.
pub(in crate::ingest) fn decode(bytes: &[u8]) -> Result<Vec<HdrBucket>, CodecError> {
    let cookie = Header(bytes).word(0)?;
    if DOUBLE.contains(&cookie) {
        return Err(CodecError::Double);
    }
    let (_, compressed) = version(cookie).ok_or(CodecError::Cookie { cookie })?;
    if !compressed {
        let described = describe(bytes)?;
        return counts(&described, bytes.get(described.header..).ok_or(CodecError::Truncated)?);
    }
    let length = Header(bytes).word(4)? as usize;
    let packed = &bytes[8..];
    let packed = packed.get(..length).ok_or(CodecError::Truncated)?;
    if bytes.len() - 8 > length {
        return Err(CodecError::Trailing(bytes.len() - 8 - length));
    }
    inflate(packed)
}

fn inflate(packed: &[u8]) -> Result<Vec<HdrBucket>, CodecError> {
    let mut stream = ZlibDecoder::new(packed);
    let failed = |error: std::io::Error| match error.kind() {
        std::io::ErrorKind::UnexpectedEof => CodecError::Truncated,
        _ => CodecError::Damaged,
    };
    let mut plain = Vec::new();
    stream.by_ref().take(40).read_to_end(&mut plain).map_err(failed)?;
    let described = describe(&plain)?;
    let widest = match described.words {
        Words::Fixed(bytes) => bytes as u64,
        Words::ZigZag => 9,
    };
    let most = (described.layout.length.saturating_mul(widest) + 40).min(LARGEST);
    stream.take(most).read_to_end(&mut plain).map_err(failed)?;
    counts(&described, plain.get(described.header..).ok_or(CodecError::Truncated)?)
}

fn describe(bytes: &[u8]) -> Result<Described, CodecError> {
    let header = Header(bytes);
    let cookie = header.word(0)?;
    let word = (cookie >> 4 & 0x0f) as usize;
    let words = |version| match (version, word) {
        (2, _) => Ok(Words::ZigZag),
        (_, 2 | 4 | 8) => Ok(Words::Fixed(word)),
        _ => Err(CodecError::Header("counts of a size that no version has")),
    };
    match version(cookie) {
        Some((0, false)) => Ok(Described {
            layout: Layout::new(header.word(4)?, header.long(8)?, header.long(16)?)?,
            words: words(0)?,
            header: 32,
            payload: None,
        }),
        Some((version, false)) => {
            let ratio = f64::from_bits(header.long(32)?);
            // The JavaScript library writes the integer 1 here, which is no normal float.
            if ratio.is_normal() && ratio != 1.0 {
                return Err(CodecError::Double);
            }
            Ok(Described {
                layout: Layout::new(header.word(12)?, header.long(16)?, header.long(24)?)?,
                words: words(version)?,
                header: 40,
                payload: Some(header.word(4)?.into()),
            })
        }
        _ => Err(CodecError::Cookie { cookie }),
    }
}

fn counts(described: &Described, bytes: &[u8]) -> Result<Vec<HdrBucket>, CodecError> {
    let held = bytes.len() as u64;
    let bytes = match described.payload {
        Some(length) if length > held => return Err(CodecError::Truncated),
        Some(length) if length < held => return Err(CodecError::Trailing((held - length) as usize)),
        _ => bytes,
    };
    let layout = &described.layout;
    let mut found = Vec::new();
    let mut put = |index: u64, count: i64| -> Result<(), CodecError> {
        if count == 0 {
            return Ok(());
        }
        let count = u64::try_from(count).map_err(|_| CodecError::Negative)?;
        let (low, high) =
            (index < layout.length).then(|| layout.bounds(index)).flatten().ok_or(CodecError::Overflow)?;
        found.push(HdrBucket { low, high, count });
        Ok(())
    };
    match described.words {
        Words::Fixed(width) => {
            if !bytes.len().is_multiple_of(width) {
                return Err(CodecError::Truncated);
            }
            for (index, word) in bytes.chunks_exact(width).enumerate() {
                // Sign extension: the words are signed.
                let sign = if word[0] & 0x80 == 0 { 0 } else { -1 };
                put(index as u64, word.iter().fold(sign, |number, byte| number << 8 | i64::from(*byte)))?;
            }
        }
        Words::ZigZag => {
            let (mut rest, mut index) = (bytes, 0u64);
            while !rest.is_empty() {
                let number = zigzag(&mut rest)?;
                if number < 0 {
                    index = index.checked_add(number.unsigned_abs()).ok_or(CodecError::Overflow)?;
                } else {
                    put(index, number)?;
                    index = index.checked_add(1).ok_or(CodecError::Overflow)?;
                }
            }
        }
    }
    Ok(found)
}

/// A number in ZigZag LEB128, at most nine bytes: the ninth holds eight bits.
fn zigzag(rest: &mut &[u8]) -> Result<i64, CodecError> {
    let mut number = 0u64;
    for place in 0..9 {
        let (byte, after) = rest.split_first().ok_or(CodecError::Truncated)?;
        *rest = after;
        if place == 8 {
            number |= u64::from(*byte) << 56;
            break;
        }
        number |= u64::from(byte & 0x7f) << (7 * place);
        if byte & 0x80 == 0 {
            break;
        }
    }
    Ok((number >> 1) as i64 ^ -((number & 1) as i64))
}

#[cfg(test)]
mod tests {
    use super::*;
    use hdrhistogram::serialization::{Serializer, V2DeflateSerializer, V2Serializer};
    use proptest::prelude::*;
    use std::io::Write;

    fn made(values: &[(u64, u64)], lowest: u64, digits: u8) -> hdrhistogram::Histogram<u64> {
        let mut histogram =
            hdrhistogram::Histogram::new_with_bounds(lowest, 3_600_000_000_000, digits).unwrap();
        for (value, count) in values {
            histogram.record_n(*value, *count).unwrap();
        }
        histogram
    }

    fn expected(histogram: &hdrhistogram::Histogram<u64>) -> Vec<HdrBucket> {
        let bucket = |step: hdrhistogram::iterators::IterationValue<u64>| HdrBucket {
            low: histogram.lowest_equivalent(step.value_iterated_to()),
            high: histogram.highest_equivalent(step.value_iterated_to()),
            count: step.count_at_value(),
        };
        histogram.iter_recorded().map(bucket).collect()
    }

    fn plain(histogram: &hdrhistogram::Histogram<u64>) -> Vec<u8> {
        let mut bytes = Vec::new();
        V2Serializer::new().serialize(histogram, &mut bytes).unwrap();
        bytes
    }

    /// V1 and V0 as the format's description has them, the counts being those of `histogram`.
    fn older(histogram: &hdrhistogram::Histogram<u64>, version: u8, word: usize) -> Vec<u8> {
        let layout = Layout::new(histogram.sigfig().into(), histogram.low(), histogram.high()).unwrap();
        let mut payload = Vec::new();
        for index in 0..layout.length {
            let count = layout
                .bounds(index)
                .map_or(0, |(low, _)| if low > histogram.high() { 0 } else { histogram.count_at(low) });
            payload.extend_from_slice(&count.to_be_bytes()[8 - word..]);
        }
        let nibble = (word as u32) << 4;
        let mut bytes = Vec::new();
        if version == 0 {
            bytes.extend((BASE | 8 | nibble).to_be_bytes());
            bytes.extend(u32::from(histogram.sigfig()).to_be_bytes());
        } else {
            bytes.extend((BASE | 1 | nibble).to_be_bytes());
            bytes.extend((payload.len() as u32).to_be_bytes());
            bytes.extend(7u32.to_be_bytes());
            bytes.extend(u32::from(histogram.sigfig()).to_be_bytes());
        }
        bytes.extend(histogram.low().to_be_bytes());
        bytes.extend(histogram.high().to_be_bytes());
        bytes.extend(if version == 0 { histogram.len() } else { 1f64.to_bits() }.to_be_bytes());
        bytes.extend(payload);
        bytes
    }

    fn packed(plain: &[u8], cookie: u32) -> Vec<u8> {
        let mut encoder = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::fast());
        encoder.write_all(plain).unwrap();
        let packed = encoder.finish().unwrap();
        let length = (packed.len() as u32).to_be_bytes();
        [&(BASE | cookie).to_be_bytes()[..], &length, &packed].concat()
    }

    proptest! {
        #[test]
        fn all_versions_hold_the_buckets_that_the_hdrhistogram_crate_has(
            values in prop::collection::vec((0u64..3_600_000_000_000, 1u64..30_000), 0..40), lowest in 1u64..100_000, digits in 0u8..=4,
        ) {
            let mut histogram = made(&values, lowest, digits);
            let expected = expected(&histogram);
            let plain = plain(&histogram);
            prop_assert_eq!(decode(&plain), Ok(expected.clone()));
            let mut deflated = Vec::new();
            V2DeflateSerializer::new().serialize(&histogram, &mut deflated).unwrap();
            prop_assert_eq!(decode(&deflated), Ok(expected.clone()));
            prop_assert_eq!(decode_base64(BASE64.encode(&deflated).trim_end_matches('=').as_bytes()), Ok(expected.clone()));
            histogram.auto(false);
            for (version, word, cookie) in [(1, 8, 0x82), (1, 4, 0x42), (0, 8, 0x89)] {
                let bytes = older(&histogram, version, word);
                prop_assert_eq!(decode(&bytes), Ok(expected.clone()), "V{} of {}", version, word);
                prop_assert_eq!(decode(&packed(&bytes, cookie)), Ok(expected.clone()));
            }
        }

        #[test]
        fn damaged_bytes_are_an_error_or_other_counts_but_never_a_panic(
            damage in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6), cut in any::<prop::sample::Index>(), deflate in any::<bool>(),
        ) {
            let histogram = made(&[(5, 1), (70_000, 3), (3_000_000_000, 900)], 1, 3);
            let mut bytes = if deflate { packed(&plain(&histogram), 0x14) } else { plain(&histogram) };
            for (place, value) in damage {
                let place = place.index(bytes.len());
                bytes[place] = value;
            }
            let _ = decode(&bytes);
            let _ = decode(&bytes[..cut.index(bytes.len())]);
        }
    }

    #[test]
    fn what_cannot_be_read_says_why() {
        let good = plain(&made(&[(1000, 5)], 1, 3));
        let changed = |at: usize, bytes: &[u8]| {
            let mut bad = good.clone();
            bad[at..at + bytes.len()].copy_from_slice(bytes);
            decode(&bad).unwrap_err()
        };
        assert_eq!(changed(0, b"\x0c\x72\x12\x4e"), CodecError::Double);
        assert_eq!(changed(0, b"abcd"), CodecError::Cookie { cookie: 0x6162_6364 });
        assert_eq!(changed(12, &[0, 0, 0, 9]), CodecError::Header("more than five significant digits"));
        assert_eq!(changed(32, &2f64.to_be_bytes()), CodecError::Double);
        let mut integer = good.clone();
        integer[32..40].copy_from_slice(&1u64.to_be_bytes());
        assert_eq!(decode(&integer), decode(&good), "as the JavaScript library writes it");
        assert!(matches!(changed(16, &[0; 8]), CodecError::Header(_)));
        assert_eq!(decode(&good[..good.len() - 1]), Err(CodecError::Truncated));
        assert_eq!(decode(&[&good[..], b"x"].concat()), Err(CodecError::Trailing(1)));
        assert_eq!(decode(b"\x1c"), Err(CodecError::Truncated));
        assert_eq!(decode_base64(b"DHISTwAA"), Err(CodecError::Double));
        assert!(is_encoded_text(b"HISTFAAAAEJ42p") && is_encoded_text(b"DHISTwAAA8R"));
        assert!(!is_encoded_text(b"HISTORY,duration") && !is_encoded_text(b"HIST"));
        assert_eq!(decode_base64(b"HIST!"), Err(CodecError::NotBase64));
        // A normalizing offset, as some Go versions write it, changes nothing: the counts are in order.
        let mut offset = good.clone();
        offset[11] = 1;
        assert_eq!(decode(&offset), decode(&good));
    }

    #[test]
    fn a_header_that_claims_much_is_not_believed() {
        let mut claims = plain(&made(&[(1000, 5)], 1, 3));
        claims[4..8].copy_from_slice(&[0x7f, 0xff, 0xff, 0xff]);
        assert_eq!(decode(&claims), Err(CodecError::Truncated));
        // A stream of a gigabyte of zeros is read no further than the layout can use.
        let bomb = packed(&[&claims[..40], &vec![0; 64 << 20]].concat(), 0x14);
        assert!(decode(&bomb).is_err());
    }
}
