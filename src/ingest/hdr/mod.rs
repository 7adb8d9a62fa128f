//! HdrHistograms: one encoded histogram, or a log of one histogram an interval.

mod codec;
mod log;
mod write;

use super::collect::Collector;
use super::duration::Unit;
use super::error::{IngestError, IngestErrorKind};
use super::notice::IngestNotice;
use super::open::{Input, read_failed};
use super::options::{Flag, InputFormat, OF_TABLES, SELECTING};
use crate::profile::{HistogramOf, Range, Ranged, Reading, Source, Sum};
use codec::{CodecError, HdrBucket};
use std::io::Read;

pub use write::to_hdr_log;

/// What of HDR an input is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Binary,
    Base64,
    Log,
}

/// Tells by its beginning whether an input is HDR, or believes the option that says so.
pub(super) fn recognise(input: &Input, format: InputFormat) -> Option<Kind> {
    let head = input.head.trim_ascii_start();
    if codec::is_encoded(&input.head) {
        return Some(Kind::Binary);
    }
    let is_base64 = codec::is_encoded_text(head);
    match format {
        InputFormat::Auto if is_base64 => Some(Kind::Base64),
        InputFormat::Auto if log::is_log(head) => Some(Kind::Log),
        InputFormat::HdrLog => Some(Kind::Log),
        InputFormat::Hdr if is_base64 || !log::is_log(head) => Some(Kind::Base64),
        InputFormat::Hdr => Some(Kind::Log),
        _ => None,
    }
}

/// Reads an HDR histogram or log into the collector.
pub(super) fn read(input: Input, kind: Kind, collector: &mut Collector) -> Result<(), IngestError> {
    let columns: [&[Flag]; 2] = [&[Flag::Column], OF_TABLES];
    collector.options.refuse(&input.name, "HDR histograms, which have no columns", &columns)?;
    if kind == Kind::Log {
        input.check_text()?;
        return log::read(input, collector);
    }
    let name = input.name.clone();
    let of_logs: [&[Flag]; 2] = [&[Flag::GroupBy], SELECTING];
    collector.options.refuse(&name, "a single HDR histogram, which has neither tags nor times", &of_logs)?;
    let mut bytes = Vec::new();
    let read = input.into_stream().take(codec::LARGEST + 1).read_to_end(&mut bytes);
    read.map_err(|error| read_failed(&name, &error))?;
    if bytes.len() as u64 > codec::LARGEST {
        return Err(IngestError::new(IngestErrorKind::TooLarge, &name, "it is too large for one histogram"));
    }
    let decoded = match kind {
        Kind::Base64 => {
            bytes.retain(|byte| !byte.is_ascii_whitespace());
            codec::decode_base64(&bytes)
        }
        _ => codec::decode(&bytes),
    };
    let buckets = decoded.map_err(|error| undecodable(&name, &error))?;
    let unit = unit_of(collector, None, &name);
    announce(&name, "HDR histogram", unit, collector);
    collector.rows += 1;
    let ranged = ranged(&buckets, unit);
    collector
        .histogram(&name, &HistogramOf { ranged: &ranged, failed: false, interval_ns: None, group: None })?;
    Ok(())
}

fn undecodable(name: &str, error: &CodecError) -> IngestError {
    let kind =
        if *error == CodecError::Double { IngestErrorKind::Unsupported } else { IngestErrorKind::Malformed };
    let remedy = match error {
        CodecError::Double => "record with integer counts of a fixed unit",
        _ => "copy or export it again, whole",
    };
    IngestError::new(kind, name, format!("the HDR histogram cannot be read: {error}")).remedy(remedy)
}

/// The unit that was asked for, that the file names, or nanoseconds, which is then said.
fn unit_of(collector: &mut Collector, named: Option<Unit>, name: &str) -> Unit {
    if let Some((named, taken)) = named.zip(collector.options.unit).filter(|(named, taken)| named != taken) {
        let (file, named, taken) = (name.to_owned(), named.to_string(), taken.to_string());
        collector.notices.push(IngestNotice::UnitOverridden { file, named, taken });
    }
    collector.options.unit.or(named).unwrap_or_else(|| {
        collector.notices.push(IngestNotice::HdrUnitAssumed { file: name.to_owned() });
        Unit::Nanoseconds
    })
}

fn announce(name: &str, format: &str, unit: Unit, collector: &mut Collector) {
    collector.recognised(Source {
        format: format.to_owned(),
        unit: Some(unit.to_string()),
        files: vec![name.to_owned()],
        ..Source::default()
    });
}

/// The buckets in nanoseconds. A bucket of a single value is that value; a wider one reaches to the next bucket.
fn ranged(buckets: &[HdrBucket], unit: Unit) -> Ranged {
    let scale = unit.ns();
    let range = |bucket: &HdrBucket| {
        let low_ns = bucket.low.saturating_mul(scale);
        let width = bucket.high - bucket.low;
        let high_ns = if width == 0 {
            low_ns
        } else {
            bucket.high.saturating_add(1).saturating_mul(scale).saturating_sub(1).max(low_ns)
        };
        Range { low_ns, high_ns: Some(high_ns), count: bucket.count }
    };
    Ranged {
        ranges: buckets.iter().map(range).collect(),
        sum: Sum::Middles,
        sum_squares_ns2: None,
        reading: Reading::Lowest,
        round_edges: false,
    }
}
