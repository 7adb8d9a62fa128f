//! Percentile text as HDR tools and wrk2 print it: rows of value, percentile, count, and a footer.
//!
//! ```text
//!        Value   Percentile   TotalCount 1/(1-Percentile)
//!        0.921     0.000000            1         1.00
//!       12.503     1.000000        39500          inf
//! #[Mean    =        6.602, StdDeviation   =        1.919]
//! #[Max     =       12.496, Total count    =        39500]
//! #[Buckets =           27, SubBuckets     =         2048]
//! ```
//!
//! A row says how many attempts took at most so long, so the attempts between two rows lie between their values. The
//! mean is that of the footer; from the rows it would be some per cent off.

use super::collect::Collector;
use super::duration::Unit;
use super::error::{IngestError, IngestErrorKind};
use super::lines::Lines;
use super::notice::IngestNotice;
use super::open::Input;
use crate::profile::{HistogramOf, Range, Ranged, Reading, Source, Sum};

/// The most rows: a spectrum has some hundred.
const MOST_ROWS: usize = 100_000;

/// Whether a text holds a percentile spectrum.
pub(super) fn is_percentiles(head: &[u8]) -> bool {
    head.split(|byte| *byte == b'\n').take(500).any(is_legend)
}

fn is_legend(line: &[u8]) -> bool {
    let holds = |text: &str| memchr::memmem::find(line, text.as_bytes()).is_some();
    holds("Value") && holds("Percentile") && holds("TotalCount")
}

/// A number as it is written: its digits, and what half a unit of its last digit is.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Written {
    value: f64,
    rounding: f64,
}

/// One row of a spectrum.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Row {
    value: Written,
    count: u64,
}

/// What the lines below the rows say.
#[derive(Clone, Copy, Debug, Default)]
struct Footer {
    mean: Option<Written>,
    deviation: Option<Written>,
    max: Option<Written>,
    count: Option<u64>,
    sub_buckets: Option<u64>,
}

/// A spectrum as it was read.
#[derive(Clone, Debug, Default)]
struct Spectrum {
    rows: Vec<Row>,
    footer: Footer,
    /// Whether the text around it is that of wrk2.
    is_wrk2: bool,
}

/// Reads a percentile spectrum into the collector.
pub(super) fn read(input: Input, collector: &mut Collector) -> Result<(), IngestError> {
    let name = input.name.clone();
    let options = &collector.options;
    options.refuse_table_options(&name, "a percentile spectrum has no columns to choose from")?;
    if !options.group_by.is_empty() || !options.filters.is_empty() {
        let reason = "a percentile spectrum has nothing to group or to select by";
        return Err(IngestError::new(IngestErrorKind::Options, &name, reason)
            .remedy("leave out --group-by and --where"));
    }
    let spectrum = parse(&name, &mut Lines::new(&name, input.into_stream()))?;
    let unit = match (options.unit, spectrum.is_wrk2) {
        (Some(unit), _) => unit,
        // wrk2 prints its spectrum in milliseconds, and so do the HDR tools by default.
        (None, true) => Unit::Milliseconds,
        (None, false) => {
            collector.notices.push(IngestNotice::PercentileUnitAssumed { file: name.clone() });
            Unit::Milliseconds
        }
    };
    let format = if spectrum.is_wrk2 { "wrk2 percentiles" } else { "HDR percentiles" };
    collector.recognised(Source {
        format: format.to_owned(),
        unit: Some(unit.to_string()),
        files: vec![name.clone()],
        endpoint_latency: spectrum.is_wrk2,
        ..Source::default()
    });
    if spectrum.is_wrk2 && collector.options.correction.is_none() {
        collector.notices.push(IngestNotice::EndpointLatency { format: "wrk2" });
    }
    if spectrum.footer.mean.is_none() {
        collector.notices.push(IngestNotice::MeanFromRows { file: name.clone() });
    }
    collector.rows += spectrum.rows.len() as u64;
    let ranged = ranged(&spectrum, unit);
    collector.histogram(&name, &HistogramOf { ranged: &ranged, failed: false, interval_ns: None, group: None })?;
    Ok(())
}

fn parse<R: std::io::BufRead>(name: &str, lines: &mut Lines<R>) -> Result<Spectrum, IngestError> {
    let mut spectrum = Spectrum::default();
    let mut within = false;
    while lines.advance()? {
        let bad = |reason: &str| {
            IngestError::new(IngestErrorKind::Malformed, name, reason.to_owned()).at(lines.number(), None)
        };
        let line = String::from_utf8_lossy(lines.text());
        let line = line.trim();
        if !within {
            spectrum.is_wrk2 |= line.contains("Recorded Latency") || line.starts_with("Detailed Percentile spectrum");
            within = is_legend(line.as_bytes());
            if within && !spectrum.rows.is_empty() {
                return Err(bad("a second spectrum begins: two cannot be told apart in one file")
                    .remedy("give each its own file; several files merge"));
            }
            continue;
        }
        if let Some(footer) = line.strip_prefix("#[") {
            spectrum.footer.read(footer);
            continue;
        }
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let Some(row) = row(line) else {
            if spectrum.footer.count.is_some() || line.starts_with("---") {
                within = false;
                continue;
            }
            return Err(bad("this is no row of value, percentile and count"));
        };
        if spectrum.rows.last().is_some_and(|last| row.count < last.count || row.value.value < last.value.value) {
            return Err(bad("values and counts must not fall from row to row"));
        }
        if spectrum.rows.len() >= MOST_ROWS {
            return Err(bad("there are more rows than any spectrum has"));
        }
        spectrum.rows.push(row);
    }
    if spectrum.rows.last().is_none_or(|last| last.count == 0) {
        let reason = "its percentile spectrum counts no attempt";
        return Err(IngestError::new(IngestErrorKind::Empty, name, reason));
    }
    check_whole(name, &spectrum)?;
    Ok(spectrum)
}

/// The rows must reach the count that the footer names: a spectrum that was cut has lost its longest attempts.
fn check_whole(name: &str, spectrum: &Spectrum) -> Result<(), IngestError> {
    let counted = spectrum.rows.last().map_or(0, |last| last.count);
    match spectrum.footer.count {
        Some(count) if count != counted => {
            let reason = format!("its rows count {counted} attempts and its footer {count}: rows are missing");
            Err(IngestError::new(IngestErrorKind::Malformed, name, reason).remedy("export the whole spectrum"))
        }
        _ => Ok(()),
    }
}

/// `9.143     0.900000        35570        10.00`, or the same with commas; the last field may be `inf` or missing.
fn row(line: &str) -> Option<Row> {
    let mut fields = line.split(|letter: char| letter.is_whitespace() || letter == ',').filter(|field| !field.is_empty());
    let value = written(fields.next()?)?;
    let share: f64 = fields.next()?.parse().ok()?;
    let count = fields.next()?.parse().ok()?;
    let beyond = fields.next().is_none_or(|inverse| inverse.parse::<f64>().is_ok() || inverse == "inf");
    (value.value >= 0.0 && (0.0..=1.0).contains(&share) && beyond && fields.next().is_none())
        .then_some(Row { value, count })
}

fn written(text: &str) -> Option<Written> {
    let value: f64 = text.parse().ok()?;
    let decimals = text.split_once('.').map_or(0, |(_, fraction)| fraction.len());
    let rounding = 0.5 * 10f64.powi(-i32::try_from(decimals.min(30)).unwrap_or(30));
    value.is_finite().then_some(Written { value, rounding })
}

impl Footer {
    /// `Mean    =        6.602, StdDeviation   =        1.919]`
    fn read(&mut self, text: &str) {
        for part in text.trim_end_matches(']').split(',') {
            let Some((name, value)) = part.split_once('=') else { continue };
            let number = written(value.trim()).filter(|number| number.value >= 0.0);
            match name.trim().to_ascii_lowercase().as_str() {
                "mean" => self.mean = number,
                "stddeviation" => self.deviation = number,
                "max" => self.max = number,
                "total count" => self.count = value.trim().parse().ok(),
                "subbuckets" => self.sub_buckets = value.trim().parse().ok(),
                _ => {}
            }
        }
    }
}

/// The attempts between successive rows, with the sums that follow from the footer.
fn ranged(spectrum: &Spectrum, unit: Unit) -> Ranged {
    let scale = unit.ns() as f64;
    let ns = |value: f64| (value.max(0.0) * scale).round() as u64;
    let mut ranges = Vec::with_capacity(spectrum.rows.len());
    let (mut low_ns, mut below) = (None, 0);
    for row in &spectrum.rows {
        // What is printed is rounded; what is bounded may be that much longer.
        let high_ns = ns(row.value.value + row.value.rounding);
        if row.count > below {
            // The first row is the shortest attempt itself, or all that lies below.
            let first = if row.count == 1 { ns(row.value.value - row.value.rounding) } else { 0 };
            let low_ns = low_ns.unwrap_or(first);
            ranges.push(Range { low_ns, high_ns: Some(high_ns.max(low_ns)), count: row.count - below });
        }
        below = row.count;
        low_ns = Some(ns(row.value.value - row.value.rounding));
    }
    let footer = &spectrum.footer;
    let count = below as f64;
    let sum = footer.mean.map_or(Sum::Middles, |mean| {
        // The tool's own mean is that of its buckets, half of whose width may be missing.
        let bucket = footer.sub_buckets.filter(|buckets| *buckets > 1).map_or(0.0, |buckets| mean.value / buckets as f64);
        let slack = mean.rounding + bucket;
        let sum = |mean: f64| (mean.max(0.0) * scale * count).round() as u128;
        Sum::Known { ns: sum(mean.value), low_ns: sum(mean.value - slack), high_ns: sum(mean.value + slack) }
    });
    let squares = footer.mean.zip(footer.deviation).map(|(mean, deviation)| {
        ((mean.value * mean.value + deviation.value * deviation.value) * scale * scale * count).round() as u128
    });
    Ranged { ranges, sum, sum_squares_ns2: squares, reading: Reading::Highest, round_edges: false }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::io::Cursor;

    fn of(text: &str) -> Result<Spectrum, IngestError> {
        parse("x", &mut Lines::new("x", Cursor::new(text.as_bytes().to_vec())))
    }

    const SMALL: &str = "Value Percentile TotalCount 1/(1-Percentile)\n\n1.000 0.0 1 1.00\n2.000 0.5 5 2.0\n4.000 1.0 10 inf\n";

    #[test]
    fn attempts_lie_between_the_values_of_rows() {
        let ranged = ranged(&of(SMALL).unwrap(), Unit::Milliseconds);
        let counts: Vec<u64> = ranged.ranges.iter().map(|range| range.count).collect();
        assert_eq!(counts, [1, 4, 5]);
        assert_eq!(ranged.ranges[2], Range { low_ns: 1_999_500, high_ns: Some(4_000_500), count: 5 });
        assert_eq!(ranged.sum, Sum::Middles);
    }

    #[test]
    fn the_footer_gives_mean_and_deviation() {
        let text = format!("{SMALL}#[Mean    =        2.500, StdDeviation   =        1.000]\n#[Max     =        4.000, Total count    =           10]\n#[Buckets =           27, SubBuckets     =         2048]\n");
        let ranged = ranged(&of(&text).unwrap(), Unit::Seconds);
        let Sum::Known { ns, low_ns, high_ns } = ranged.sum else { panic!("{ranged:?}") };
        assert_eq!(ns, 25_000_000_000);
        assert!(low_ns < ns && ns < high_ns && high_ns - low_ns < ns / 500);
        assert_eq!(ranged.sum_squares_ns2, Some(72_500_000_000_000_000_000));
    }

    #[test]
    fn what_is_cut_or_out_of_order_is_refused_with_its_line() {
        for (text, line, part) in [
            (format!("{SMALL}3.0 1.0 12 inf\n"), Some(6), "must not fall"),
            (format!("{SMALL}oops\n"), Some(6), "no row"),
            (format!("{SMALL}#[Max = 4.0, Total count = 11]\n"), None, "rows are missing"),
            ("Value Percentile TotalCount\n".to_owned(), None, "counts no attempt"),
            (format!("{SMALL}#[Max = 4, Total count = 10]\nend\n{SMALL}"), Some(8), "second spectrum"),
        ] {
            let error = of(&text).unwrap_err();
            assert!(error.line == line && error.reason.contains(part), "{text}: {error}");
        }
    }

    proptest! {
        #[test]
        fn no_text_makes_it_panic(rows in prop::collection::vec("[-0-9.einfa# \\[\\]=,]{0,30}", 0..8)) {
            let text = format!("Value Percentile TotalCount\n{}", rows.join("\n"));
            if let Ok(spectrum) = of(&text) {
                let _ = ranged(&spectrum, Unit::Seconds);
            }
        }
    }
}
