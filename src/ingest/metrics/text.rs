//! The text that a process exposes to Prometheus: one sample a line, `name{label="value"} number [time]`.

use super::series::{Classic, Covers, Found, SeriesKey, Snapshot};
use crate::ingest::collect::Collector;
use crate::ingest::duration::Unit;
use crate::ingest::error::{IngestError, IngestErrorKind};
use crate::ingest::skipped::{Place, shown};
use crate::ingest::timestamp;
use std::collections::{BTreeMap, BTreeSet};

/// Whether a text begins as an exposition does.
pub(super) fn is_metrics(head: &[u8]) -> bool {
    head.split(|byte| *byte == b'\n').take(200).any(|line| {
        let bucket = memchr::memmem::find(line, b"_bucket{").is_some()
            && memchr::memmem::find(line, b"le=\"").is_some();
        line.starts_with(b"# TYPE ") || line.starts_with(b"# HELP ") || bucket
    })
}

/// A sample as it stands on its line.
#[derive(Clone, Debug, Default, PartialEq)]
struct Sample {
    name: String,
    labels: Vec<(String, String)>,
    value: f64,
    at_ns: Option<i64>,
}

/// Series while their lines are collected.
#[derive(Default)]
struct Exposition {
    series: BTreeMap<SeriesKey, (Classic, Option<i64>)>,
    units: BTreeMap<String, Unit>,
    summaries: BTreeSet<String>,
    names: BTreeSet<String>,
}

/// Parses a scrape.
pub(super) fn parse(name: &str, bytes: &[u8], collector: &mut Collector) -> Result<Found, IngestError> {
    let mut exposition = Exposition::default();
    for (place, line) in bytes.split(|byte| *byte == b'\n').enumerate() {
        let number = place as u64 + 1;
        let text = String::from_utf8_lossy(line);
        let text = text.trim();
        if text.is_empty() {
            continue;
        }
        if let Some(comment) = text.strip_prefix('#') {
            exposition.comment(comment);
            continue;
        }
        collector.rows += 1;
        match sample(text) {
            Some(sample) => exposition.add(sample, number),
            None => collector.skip("that are no sample: name{labels} number", 1, || Place {
                file: name.to_owned(),
                line: number,
                column: None,
                text: Some(shown(line)),
            })?,
        }
    }
    exposition.finish(name)
}

impl Exposition {
    /// `TYPE name kind` and `UNIT name unit`.
    fn comment(&mut self, comment: &str) {
        let mut words = comment.split_whitespace();
        match (words.next(), words.next(), words.next()) {
            (Some("TYPE"), Some(name), Some("summary")) => drop(self.summaries.insert(name.to_owned())),
            (Some("UNIT"), Some(name), Some(unit)) => {
                if let Ok(unit) = unit.parse() {
                    self.units.insert(name.to_owned(), unit);
                }
            }
            _ => {}
        }
    }

    fn add(&mut self, mut sample: Sample, line: u64) {
        let end = sample
            .labels
            .iter()
            .position(|(label, _)| label == "le")
            .map(|place| sample.labels.remove(place).1);
        if sample.labels.iter().any(|(label, _)| label == "quantile") {
            self.summaries.insert(sample.name.clone());
        }
        let part = ["_bucket", "_sum", "_count"].into_iter().find(|part| sample.name.ends_with(part));
        let Some(part) = part else {
            self.names.insert(sample.name);
            return;
        };
        let metric = sample.name[..sample.name.len() - part.len()].to_owned();
        let (classic, at_ns) = self.series.entry(SeriesKey { metric, labels: sample.labels }).or_default();
        *at_ns = at_ns.or(sample.at_ns);
        match part {
            "_sum" => classic.sum = Some(sample.value),
            "_count" => classic.count = Some(sample.value),
            _ => {
                // A bucket without a readable end cannot be placed: NaN is refused when counts are made.
                let end = end.and_then(|end| number(&end)).unwrap_or(f64::NAN);
                classic.buckets.push((end, sample.value, line));
            }
        }
    }

    fn finish(mut self, name: &str) -> Result<Found, IngestError> {
        let mut found = Found { round_edges: true, units: self.units, ..Found::default() };
        // Sums and counts without buckets are those of summaries.
        let summed: BTreeSet<String> = self
            .series
            .iter()
            .filter(|(_, (classic, _))| classic.buckets.is_empty())
            .map(|(key, _)| key.metric.clone())
            .collect();
        self.series.retain(|_, (classic, _)| !classic.buckets.is_empty());
        self.summaries.extend(summed);
        found.others.summaries = self.summaries.len();
        found.others.metrics = self.names.len();
        for (key, (classic, at_ns)) in self.series {
            let counts = classic.counts().map_err(|unfit| {
                let error = IngestError::new(
                    IngestErrorKind::Malformed,
                    name,
                    format!("the histogram {}: {}", key.metric, unfit.reason),
                );
                match unfit.line.or_else(|| classic.buckets.first().map(|bucket| bucket.2)) {
                    Some(line) => error.at(line, None),
                    None => error,
                }
            });
            let snapshot = counts.map(|counts| Snapshot { at_ns, covers: Covers::Since(None), counts });
            found.push(key, snapshot);
        }
        Ok(found)
    }
}

/// `name{a="b",le="0.5"} 12 1700000000 # exemplar`, or with the name in quotes within the braces.
fn sample(line: &str) -> Option<Sample> {
    let end = line.find(|letter: char| letter == '{' || letter.is_whitespace())?;
    let mut sample = Sample { name: line[..end].to_owned(), ..Sample::default() };
    let mut rest = &line[end..];
    if let Some(inside) = rest.strip_prefix('{') {
        rest = labels(inside, &mut sample)?;
    }
    if sample.name.is_empty() {
        return None;
    }
    sample.labels.sort();
    // What follows a # is an exemplar.
    let mut words = rest.split('#').next().unwrap_or_default().split_whitespace();
    sample.value = number(words.next()?)?;
    sample.at_ns = match words.next() {
        Some(word) => Some(timestamp::parse(word.as_bytes()).ok()?.ns),
        None => None,
    };
    words.next().is_none().then_some(sample)
}

/// Reads labels up to the closing brace, and returns what follows it.
fn labels<'a>(mut rest: &'a str, sample: &mut Sample) -> Option<&'a str> {
    loop {
        rest = rest.trim_start_matches(|letter: char| letter == ',' || letter.is_whitespace());
        if let Some(after) = rest.strip_prefix('}') {
            return Some(after);
        }
        let label = if rest.starts_with('"') {
            let (text, after) = quoted(rest)?;
            rest = after.trim_start();
            if !rest.starts_with('=') {
                sample.name = text;
                continue;
            }
            text
        } else {
            let end = rest.find('=')?;
            let label = rest[..end].trim().to_owned();
            rest = &rest[end..];
            label
        };
        let (value, after) = quoted(rest[1..].trim_start())?;
        sample.labels.push((label, value));
        rest = after;
    }
}

/// A text in quotes with `\\`, `\"` and `\n` in it, and what follows it.
fn quoted(text: &str) -> Option<(String, &str)> {
    let mut letters = text.strip_prefix('"')?.char_indices();
    let mut value = String::new();
    while let Some((place, letter)) = letters.next() {
        match letter {
            '"' => return Some((value, &text[place + 2..])),
            '\\' => match letters.next()?.1 {
                'n' => value.push('\n'),
                other => value.push(other),
            },
            other => value.push(other),
        }
    }
    None
}

/// A number as Go and Prometheus write it: `1e-05`, `+Inf`, `NaN`.
pub(super) fn number(text: &str) -> Option<f64> {
    let starts = text.bytes().next()?;
    let plausible =
        starts.is_ascii_digit() || matches!(starts, b'+' | b'-' | b'.' | b'N' | b'I' | b'n' | b'i');
    if plausible { text.parse().ok() } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn samples_are_read_with_labels_times_and_exemplars() {
        let read = |line: &str| sample(line).unwrap_or_else(|| panic!("{line}"));
        let full = read("a_bucket{le=\"+Inf\", b=\"x,\\\"y\\\\}\"} 1e3 1700000000123 # {id=\"1\"} 0.5");
        assert_eq!(full.name, "a_bucket");
        assert_eq!(
            full.labels,
            [("b".to_owned(), "x,\"y\\}".to_owned()), ("le".to_owned(), "+Inf".to_owned())]
        );
        assert_eq!((full.value, full.at_ns), (1000.0, Some(1_700_000_000_123_000_000)));
        assert_eq!(read("a_sum 0.5").value, 0.5);
        assert!(read("a{} NaN").value.is_nan());
        let quoted = read("{\"my.metric_bucket\",le=\"1\"} 4");
        assert_eq!((quoted.name.as_str(), quoted.labels.len()), ("my.metric_bucket", 1));
        for bad in ["a", "a{le=\"1\" 4", "a{le=1} 4", "a 1 2 3", "{} 4", "a b"] {
            assert_eq!(sample(bad), None, "{bad}");
        }
    }

    proptest! {
        #[test]
        fn no_line_makes_it_panic(line in "[a-z_]{0,4}(\\{[a-z\"=\\\\, é}]{0,12})?[ 0-9a-zA-Z.#+-]{0,12}", any in ".{0,30}") {
            let _ = (sample(&line), sample(&any));
        }
    }
}
