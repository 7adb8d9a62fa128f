//! A profile as an HDR interval log, for other HDR tools.

use crate::ingest::error::{IngestError, IngestErrorKind};
use crate::ingest::summary::OTHERS;
use crate::profile::{Bucket, ServiceProfile, ServiceTimes};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use hdrhistogram::serialization::{Serializer, V2DeflateSerializer};
use std::collections::BTreeSet;
use std::fmt::Write;

/// Significant digits of what is written.
const DIGITS: u8 = 3;

/// Writes a profile as an HDR log of version 1.3 with V2 histograms of nanoseconds: one interval over the whole span,
/// or one for each group with the group as its tag.
///
/// # Errors
/// If a count is beyond what an HdrHistogram holds (2⁶³).
pub fn to_hdr_log(profile: &ServiceProfile) -> Result<String, IngestError> {
    let mut text = format!(
        "#[Logged with whsize {}]\n#[Histogram log format version 1.3]\n#UNITS:ns\n",
        env!("CARGO_PKG_VERSION")
    );
    let mut length_s = 0.0;
    if let Some(arrivals) = profile.arrivals() {
        let start = seconds(arrivals.first_ns());
        let _ = writeln!(text, "#[BaseTime: {start} (seconds since epoch)]");
        let _ = writeln!(text, "#[StartTime: {start} (seconds since epoch)]");
        length_s = arrivals.span_s();
    }
    text.push_str(
        "\"StartTimestamp\",\"Interval_Length\",\"Interval_Max\",\"Interval_Compressed_Histogram\"\n",
    );
    let mut taken = BTreeSet::new();
    let mut interval = |tag: Option<&str>, times: &ServiceTimes| -> Result<(), IngestError> {
        if let Some(tag) = tag {
            let tag = distinct(tag_of(tag), &taken);
            let _ = write!(text, "Tag={tag},");
            taken.insert(tag);
        }
        let highest_ms = times.moments().max_ns() as f64 / 1e6;
        let _ = writeln!(text, "0.000,{length_s:.3},{highest_ms:.3},{}", encoded(times)?);
        Ok(())
    };
    let groups = profile.groups();
    let grouped = groups.by_busy_time().iter().map(|group| group.times.count()).sum::<u64>();
    if grouped + groups.others().count() < profile.count() {
        // Some attempts have no group (or none has): the groups would not add up.
        interval(None, profile.times())?;
    } else {
        groups.by_busy_time().into_iter().try_for_each(|group| interval(Some(&group.name), &group.times))?;
        if groups.others().count() > 0 {
            interval(Some(OTHERS), groups.others())?;
        }
    }
    Ok(text)
}

fn seconds(ns: i64) -> String {
    format!("{}.{:03}", ns.div_euclid(1_000_000_000), ns.rem_euclid(1_000_000_000) / 1_000_000)
}

/// A tag ends at a comma and a line at its end; HDR tools also split at blanks.
fn tag_of(name: &str) -> String {
    name.chars()
        .map(
            |letter| {
                if letter == ',' || letter.is_whitespace() || letter.is_control() { '_' } else { letter }
            },
        )
        .collect()
}

/// Names may differ in nothing but what a tag cannot hold: the later ones are numbered.
fn distinct(tag: String, taken: &BTreeSet<String>) -> String {
    if !taken.contains(&tag) {
        return tag;
    }
    let mut numbered = (2u64..).map(|number| format!("{tag}_{number}"));
    numbered.find(|numbered| !taken.contains(numbered)).unwrap_or(tag)
}

fn encoded(times: &ServiceTimes) -> Result<String, IngestError> {
    let failed = || {
        IngestError::new(IngestErrorKind::TooLarge, "HDR log", "a count is beyond what an HdrHistogram holds")
    };
    let highest = times.moments().max_ns().max(2);
    let mut histogram =
        hdrhistogram::Histogram::<u64>::new_with_bounds(1, highest, DIGITS).map_err(|_| failed())?;
    for Bucket { low_ns, high_ns, count } in times.buckets() {
        let middle = low_ns + (high_ns - low_ns) / 2;
        histogram.record_n(middle.min(highest), count).map_err(|_| failed())?;
    }
    let mut bytes = Vec::new();
    V2DeflateSerializer::new().serialize(&histogram, &mut bytes).map_err(|_| failed())?;
    Ok(STANDARD.encode(bytes))
}
