//! Interval logs: comments, a legend, and one line an interval with its histogram in base64.
//!
//! A line is `[Tag=NAME,]START,LENGTH,MAX,HISTOGRAM`, times in seconds. They count from `BaseTime`; without one from
//! `StartTime` if they lie more than a year before it, and else from the epoch (as HistogramLogReader has it).

use super::codec;
use super::{announce, ranged, unit_of};
use crate::ingest::collect::Collector;
use crate::ingest::duration::Unit;
use crate::ingest::error::{IngestError, IngestErrorKind};
use crate::ingest::lines::Lines;
use crate::ingest::notice::IngestNotice;
use crate::ingest::open::Input;
use crate::ingest::options::{Flag, Options};
use crate::ingest::skipped::{Place, shown};
use crate::profile::{HistogramOf, ServiceTimes};

/// The group of intervals without a tag, where others have one.
const UNTAGGED: &str = "(untagged)";

/// Intervals longer than this hide the busiest minute.
const COARSE_NS: i64 = 60_000_000_000;

/// More than a year before the start, a time stamp is no date but counts from the start.
const YEAR_NS: i64 = 365 * 86_400 * 1_000_000_000;

/// Whether a text begins as a log does: a comment that names the format, its legend, or an interval.
pub(super) fn is_log(head: &[u8]) -> bool {
    head.split(|byte| *byte == b'\n').take(50).any(|line| {
        let line = line.trim_ascii();
        let holds = |text: &str| memchr::memmem::find(line, text.as_bytes()).is_some();
        if line.starts_with(b"#") {
            return holds("Histogram log format")
                || line.starts_with(b"#[StartTime")
                || line.starts_with(b"#[BaseTime");
        }
        let last = line.rsplit(|byte| *byte == b',').next().unwrap_or_default().trim_ascii();
        holds("Interval_Compressed_Histogram") || codec::is_encoded_text(last) && line.len() > last.len()
    })
}

/// Where the times of a log count from.
#[derive(Clone, Copy, Debug, Default)]
struct Clock {
    start_ns: Option<i64>,
    base_ns: Option<i64>,
    /// What is added, once the first interval has shown it.
    offset_ns: Option<i64>,
}

impl Clock {
    fn at(&mut self, stamp_ns: i64) -> i64 {
        let (start, base) = (self.start_ns, self.base_ns);
        let offset = *self.offset_ns.get_or_insert_with(|| match (base, start) {
            (Some(base), _) => base,
            (None, Some(start)) if stamp_ns < start.saturating_sub(YEAR_NS) => start,
            _ => 0,
        });
        stamp_ns.saturating_add(offset)
    }
}

/// What a line holds.
enum Line<'a> {
    Nothing,
    Start(i64),
    Base(i64),
    Units(Unit),
    Interval { tag: Option<&'a [u8]>, start_ns: i64, length_ns: i64, histogram: &'a [u8] },
}

/// Reads a log into the collector.
pub(super) fn read(input: Input, collector: &mut Collector) -> Result<(), IngestError> {
    check_options(&input.name, &collector.options)?;
    let name = input.name.clone();
    let mut lines = Lines::new(&name, input.into_stream());
    let mut log = Log {
        name: &name,
        clock: Clock::default(),
        units: None,
        unit: None,
        untagged: ServiceTimes::default(),
        coarse_ns: 0,
        collector,
    };
    while lines.advance()? {
        log.line(lines.number(), lines.text())?;
    }
    log.finish()
}

/// Tags are all that a log can be grouped or filtered by.
fn check_options(name: &str, options: &Options) -> Result<(), IngestError> {
    let named = options.group_by.iter().chain(options.filters.iter().map(|filter| &filter.column));
    match named.into_iter().find(|named| !named.eq_ignore_ascii_case("tag")) {
        None => Ok(()),
        Some(other) => Err(IngestError::new(
            IngestErrorKind::Column,
            name,
            format!("an HDR log has tags and no \"{other}\""),
        )
        .remedy("group and select by tag, as in --where tag=A")),
    }
}

struct Log<'a> {
    name: &'a str,
    clock: Clock,
    /// The unit that a comment names.
    units: Option<Unit>,
    /// The unit in use, once an interval was read.
    unit: Option<Unit>,
    untagged: ServiceTimes,
    /// The longest interval that is too long to show the busiest minute.
    coarse_ns: i64,
    collector: &'a mut Collector,
}

impl Log<'_> {
    fn line(&mut self, number: u64, text: &[u8]) -> Result<(), IngestError> {
        let line = match parse(text) {
            Ok(line) => line,
            Err(reason) => {
                self.collector.rows += 1;
                return self.skip(number, reason, text);
            }
        };
        match line {
            Line::Nothing => Ok(()),
            Line::Units(unit) => {
                self.units = Some(unit);
                Ok(())
            }
            Line::Start(_) | Line::Base(_) => {
                if self.clock.offset_ns.is_some() {
                    // A further log begins: several were joined into one file.
                    self.clock = Clock::default();
                }
                match line {
                    Line::Base(at) => self.clock.base_ns = Some(at),
                    Line::Start(at) => self.clock.start_ns = Some(at),
                    _ => {}
                }
                Ok(())
            }
            Line::Interval { tag, start_ns, length_ns, histogram } => {
                self.collector.rows += 1;
                let tag = tag.map(|tag| String::from_utf8_lossy(tag).into_owned());
                if !self.selected(tag.as_deref()) {
                    self.collector.rows -= 1;
                    self.collector.filtered += 1;
                    return Ok(());
                }
                match codec::decode_base64(histogram) {
                    Ok(buckets) => self.interval(number, tag, start_ns, length_ns, &buckets),
                    Err(codec::CodecError::Double) => {
                        Err(super::undecodable(self.name, &codec::CodecError::Double).at(number, None))
                    }
                    Err(error) => {
                        self.skip(number, format!("whose histogram cannot be read: {error}"), histogram)
                    }
                }
            }
        }
    }

    fn selected(&self, tag: Option<&str>) -> bool {
        let is = |value: &str| match tag {
            Some(tag) => value == tag,
            None => value.is_empty() || value == UNTAGGED,
        };
        self.collector.options.filters.iter().all(|filter| is(&filter.value) != filter.negated)
    }

    fn interval(
        &mut self,
        number: u64,
        tag: Option<String>,
        stamp_ns: i64,
        length_ns: i64,
        buckets: &[codec::HdrBucket],
    ) -> Result<(), IngestError> {
        let unit = match self.unit {
            Some(unit) => unit,
            None => unit_of(self.collector, self.units, self.name),
        };
        if self.unit.replace(unit).is_none() {
            announce(self.name, "HDR interval log", unit, self.collector);
        }
        let ranged = ranged(buckets, unit);
        let start_ns = self.clock.at(stamp_ns);
        // A length of zero is that of a histogram without a time, as a saved profile may be.
        if length_ns == 0 {
            let times: [&[Flag]; 1] = [&[Flag::Since, Flag::Until]];
            let untimed = self.collector.options.refuse(self.name, "an interval without a length", &times);
            untimed.map_err(|error| error.at(number, None))?;
        }
        let interval_ns = (length_ns > 0).then(|| (start_ns, start_ns.saturating_add(length_ns)));
        let histogram = HistogramOf { ranged: &ranged, failed: false, interval_ns, group: tag.as_deref() };
        let counted =
            self.collector.histogram(self.name, &histogram).map_err(|error| error.at(number, None))?;
        if !counted {
            self.collector.rows -= 1;
            return Ok(());
        }
        self.coarse_ns = self.coarse_ns.max(length_ns);
        if tag.is_none() {
            let adjusted = self.collector.adjusted(&ranged);
            // It was just added to all attempts, so it fits here too.
            let _ = self.untagged.add_ranged(&adjusted, false);
        }
        Ok(())
    }

    fn skip(&mut self, number: u64, reason: impl AsRef<str>, text: &[u8]) -> Result<(), IngestError> {
        let place =
            || Place { file: self.name.to_owned(), line: number, column: None, text: Some(shown(text)) };
        self.collector.skip(reason.as_ref(), 1, place)
    }

    fn finish(self) -> Result<(), IngestError> {
        if self.untagged.count() > 0 {
            self.collector.name_ungrouped(self.name, UNTAGGED, &self.untagged)?;
        }
        if self.coarse_ns > COARSE_NS {
            let length_s = self.coarse_ns as f64 / 1e9;
            self.collector.notices.push(IngestNotice::CoarseIntervals { length_s });
        }
        Ok(())
    }
}

fn parse(text: &[u8]) -> Result<Line<'_>, &'static str> {
    let line = text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text).trim_ascii();
    if line.is_empty() {
        return Ok(Line::Nothing);
    }
    if let Some(comment) = line.strip_prefix(b"#") {
        return comment_line(comment);
    }
    let (tag, rest) = match tagged(line) {
        Some((tag, rest)) => (Some(tag), rest),
        None => (None, line),
    };
    // Writers separate with commas, and some with blanks.
    let mut fields = rest.split(|byte| matches!(byte, b',' | b' ' | b'\t')).filter(|field| !field.is_empty());
    let (start, length, _max, histogram) = (fields.next(), fields.next(), fields.next(), fields.next());
    let Some(histogram) = histogram.filter(|text| text.starts_with(b"HIST") || text.starts_with(b"DHIST"))
    else {
        let is_legend = line.starts_with(b"\"")
            || line.first().is_some_and(u8::is_ascii_alphabetic) && tag.is_none() && !holds_histogram(line);
        return if is_legend {
            Ok(Line::Nothing)
        } else {
            Err("that are no interval: start, length, maximum, histogram")
        };
    };
    if fields.next().is_some() {
        return Err("with more than a histogram");
    }
    let start_ns = start.and_then(seconds).ok_or("whose start is no number of seconds")?;
    let length_ns = length.and_then(seconds).ok_or("whose length is no number of seconds")?;
    Ok(Line::Interval { tag, start_ns, length_ns, histogram })
}

fn holds_histogram(line: &[u8]) -> bool {
    memchr::memmem::find(line, b",HIST").is_some() || memchr::memmem::find(line, b",DHIST").is_some()
}

fn tagged(line: &[u8]) -> Option<(&[u8], &[u8])> {
    let rest = line.get(..4).filter(|key| key.eq_ignore_ascii_case(b"tag=")).map(|_| &line[4..])?;
    let comma = memchr::memchr(b',', rest)?;
    Some((rest[..comma].trim_ascii(), &rest[comma + 1..]))
}

/// `[StartTime: 1441812279.474 (seconds since epoch), …]` in any case and spacing, `UNITS:ms`; the rest are comments.
fn comment_line(comment: &[u8]) -> Result<Line<'_>, &'static str> {
    let text = comment.trim_ascii();
    let text = text.strip_prefix(b"[").unwrap_or(text).trim_ascii();
    let Some(end) = memchr::memchr2(b':', b'=', text) else { return Ok(Line::Nothing) };
    let (name, value) = (text[..end].trim_ascii(), text[end + 1..].trim_ascii());
    let word = value.split(|byte| matches!(byte, b' ' | b',' | b']' | b'(')).next().unwrap_or_default();
    let is = |names: &[&str]| names.iter().any(|known| name.eq_ignore_ascii_case(known.as_bytes()));
    if is(&["StartTime", "Start Time"]) {
        seconds(word).map(Line::Start).ok_or("whose StartTime is no number of seconds")
    } else if is(&["BaseTime", "Base Time"]) {
        seconds(word).map(Line::Base).ok_or("whose BaseTime is no number of seconds")
    } else if is(&["Units", "Unit"]) {
        let unit = std::str::from_utf8(word).ok().and_then(|word| word.to_lowercase().parse().ok());
        unit.map(Line::Units).ok_or("whose UNITS are none of s, ms, us, ns")
    } else {
        Ok(Line::Nothing)
    }
}

/// Seconds with a fraction or an exponent, in nanoseconds.
fn seconds(text: &[u8]) -> Option<i64> {
    let text = std::str::from_utf8(text).ok()?;
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    let digits = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
    if whole.is_empty() || !digits(whole) || !digits(fraction) {
        let number: f64 = text.parse().ok()?;
        return (0.0..9.2e9).contains(&number).then(|| (number * 1e9).round() as i64);
    }
    let below = fraction.bytes().chain(std::iter::repeat(b'0')).take(9);
    let below = below.fold(0i64, |sum, digit| sum * 10 + i64::from(digit - b'0'));
    whole.parse::<i64>().ok()?.checked_mul(1_000_000_000)?.checked_add(below)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn start_and_base_time_are_found_however_they_are_written() {
        for (text, ns) in [
            (
                "#[StartTime: 1441812279.474 (seconds since epoch), Wed Sep 09 08:24:39 PDT 2015]",
                1_441_812_279_474_000_000,
            ),
            ("#[StartTime: 1441812279 (seconds since epoch)]", 1_441_812_279_000_000_000),
            ("#[Starttime:1.441812279e9]", 1_441_812_279_000_000_000),
            ("# [ starttime : 5 ]", 5_000_000_000),
        ] {
            assert!(matches!(parse(text.as_bytes()), Ok(Line::Start(at)) if at == ns), "{text}");
        }
        assert!(matches!(parse(b"#[Basetime: 12 (seconds since epoch)]"), Ok(Line::Base(12_000_000_000))));
        assert!(matches!(parse(b"#UNITS:ms"), Ok(Line::Units(Unit::Milliseconds))));
        assert!(matches!(parse(b"#[Logged with jHiccup version 2.0.7]"), Ok(Line::Nothing)));
        assert!(parse(b"#[StartTime: yesterday]").is_err() && parse(b"#UNITS:fortnights").is_err());
    }

    #[test]
    fn times_count_from_the_base_the_start_or_the_epoch() {
        const DAY: i64 = 86_400_000_000_000;
        let clock = |start_ns, base_ns, stamp| Clock { start_ns, base_ns, offset_ns: None }.at(stamp);
        assert_eq!(clock(Some(1000 * DAY), Some(990 * DAY), 5), 990 * DAY + 5);
        assert_eq!(clock(Some(1000 * DAY), None, 5), 1000 * DAY + 5);
        assert_eq!(clock(Some(1000 * DAY), None, 1000 * DAY + 5), 1000 * DAY + 5);
        assert_eq!(clock(None, None, 5), 5);
    }

    #[test]
    fn intervals_are_split_by_commas_or_blanks_and_legends_are_none() {
        for text in
            ["0.127,1.007,2.769,HISTx", " 0.127, 1.007, 2.769, HISTx", "Tag=a b,.127e0 1007e-3 2 HISTx"]
        {
            let line = parse(text.as_bytes());
            let Ok(Line::Interval { start_ns, length_ns, histogram, .. }) = line else { panic!("{text}") };
            assert_eq!((start_ns, length_ns, histogram), (127_000_000, 1_007_000_000, &b"HISTx"[..]));
        }
        for legend in ["\"StartTimestamp\",\"EndTimestamp\"", "StartTimestamp,Interval_Length", ""] {
            assert!(matches!(parse(legend.as_bytes()), Ok(Line::Nothing)), "{legend}");
        }
        for bad in [
            "Ta=a,7.133,0.999,0.459,HISTx",
            "7.1a33,0.999,0.459,HISTx",
            "1,2,3",
            "1,2,3,HISTx,4",
            "-1,2,3,HISTx",
        ] {
            assert!(parse(bad.as_bytes()).is_err(), "{bad}");
        }
    }

    proptest! {
        #[test]
        fn no_line_makes_it_panic(text in "(#\\[?|Tag=)?[A-Za-z]{0,9}[:=,]?[-0-9.e, ]{0,20}(,HIST.*)?", bytes in prop::collection::vec(any::<u8>(), 0..40)) {
            let _ = (parse(text.as_bytes()).is_ok(), parse(&bytes).is_ok(), is_log(&bytes));
        }
    }
}
