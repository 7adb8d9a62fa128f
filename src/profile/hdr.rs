//! The histogram of a saved profile, as base64 of a compressed HdrHistogram V2: other HDR tools read it too.

use super::histogram::Histogram;
use super::moments::LONGEST_NS;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use flate2::read::ZlibDecoder;
use hdrhistogram::serialization::{Deserializer, Serializer, V2DeflateSerializer};
use std::io::Read;

/// Bytes of the two headers: cookie and length before the compressed part, and the fields of a V2 histogram.
const OUTER_HEADER: usize = 8;
const INNER_HEADER: usize = 40;

/// The most bytes that the uncompressed counts of all buckets of three digits can take.
const MOST_BYTES: u64 = INNER_HEADER as u64 + 9 * 41 * 1024;

/// Why a histogram cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DecodeError {
    /// The text is not base64.
    #[error("it is not base64")]
    NotBase64,
    /// The bytes are cut short or are not compressed as they should be.
    #[error("its compressed bytes are damaged or cut short")]
    Damaged,
    /// The header names another layout.
    #[error("its layout is not that of a saved profile")]
    Layout,
}

/// Which part of a coarse bucket stands for it: bounds may only move outwards.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    Low,
    Middle,
    High,
}

impl Side {
    fn of(self, low_ns: u64, high_ns: u64) -> u64 {
        match self {
            Side::Low => low_ns,
            // A coarse histogram that was restored falls into the same coarse bucket again.
            Side::Middle => low_ns + (high_ns - low_ns) / 2,
            Side::High => high_ns,
        }
    }
}

/// Encodes with `digits` significant digits; `None` if a count is beyond the format.
pub(super) fn encode(histogram: &Histogram, side: Side, highest_ns: u64, digits: u8) -> Option<String> {
    let highest = highest_ns.max(2);
    let mut encoded = hdrhistogram::Histogram::<u64>::new_with_bounds(1, highest, digits).ok()?;
    for bucket in histogram.buckets() {
        let value = side.of(bucket.low_ns, bucket.high_ns);
        encoded.record_n(value.min(highest), bucket.count).ok()?;
    }
    let mut bytes = Vec::new();
    V2DeflateSerializer::new().serialize(&encoded, &mut bytes).ok()?;
    Some(STANDARD.encode(bytes))
}

/// Decodes what [`encode`] wrote. Nothing is allocated that the bytes do not hold.
pub(super) fn decode(
    text: &str,
    side: Side,
    digits: u8,
    min_ns: u64,
    max_ns: u64,
) -> Result<Histogram, DecodeError> {
    let bytes = STANDARD.decode(text).map_err(|_| DecodeError::NotBase64)?;
    let compressed = bytes.get(OUTER_HEADER..).ok_or(DecodeError::Damaged)?;
    let mut raw = Vec::new();
    ZlibDecoder::new(compressed)
        .take(MOST_BYTES + 1)
        .read_to_end(&mut raw)
        .map_err(|_| DecodeError::Damaged)?;
    let word = |at: usize| {
        let bytes: [u8; 4] = raw.get(at..at + 4)?.try_into().ok()?;
        Some(u32::from_be_bytes(bytes))
    };
    let long = |at: usize| Some(u64::from(word(at)?) << 32 | u64::from(word(at + 4)?));
    let payload = word(4).ok_or(DecodeError::Damaged)? as usize;
    if raw.len() as u64 > MOST_BYTES || raw.len().checked_sub(INNER_HEADER) != Some(payload) {
        return Err(DecodeError::Damaged);
    }
    // The crate allocates what the header claims, so the header is checked first.
    let fits = word(8) == Some(0)
        && word(12) == Some(u32::from(digits))
        && long(16) == Some(1)
        && long(24).is_some_and(|highest| (2..=LONGEST_NS).contains(&highest));
    if !fits {
        return Err(DecodeError::Layout);
    }
    let decoded: hdrhistogram::Histogram<u64> =
        Deserializer::new().deserialize(&mut raw.as_slice()).map_err(|_| DecodeError::Damaged)?;
    let mut histogram = Histogram::default();
    let mut total = 0u64;
    for step in decoded.iter_recorded() {
        let (low, high) = (
            decoded.lowest_equivalent(step.value_iterated_to()),
            decoded.highest_equivalent(step.value_iterated_to()),
        );
        let count = step.count_at_value();
        total = total.checked_add(count).ok_or(DecodeError::Damaged)?;
        let value = if digits >= 3 { low } else { side.of(low, high) };
        histogram.add(value.clamp(min_ns, max_ns), count);
    }
    Ok(histogram)
}
