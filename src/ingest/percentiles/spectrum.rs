//! Percentile text as HDR tools and wrk2 print it: rows of value, percentile and count, and a footer.
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
//! The mean is that of the footer; from the rows it would be some per cent off.

use super::{Reported, Row, Spectrum, Written};
use crate::ingest::duration::Unit;
use crate::ingest::error::{IngestError, IngestErrorKind};
use crate::ingest::lines::Lines;
use std::io::BufRead;

/// The most rows: a spectrum has some hundred.
const MOST_ROWS: usize = 100_000;

/// Whether a text holds a percentile spectrum.
pub(super) fn is_spectrum(head: &[u8]) -> bool {
    head.split(|byte| *byte == b'\n').take(500).any(is_legend)
}

fn is_legend(line: &[u8]) -> bool {
    let holds = |text: &str| memchr::memmem::find(line, text.as_bytes()).is_some();
    holds("Value") && holds("Percentile") && holds("TotalCount")
}

/// What the lines below the rows say.
#[derive(Clone, Copy, Debug, Default)]
struct Footer {
    mean: Option<Written>,
    deviation: Option<Written>,
    count: Option<u64>,
    sub_buckets: Option<u64>,
}

/// Parses the one spectrum of a text; what stands around it is left alone.
pub(super) fn parse<R: BufRead>(name: &str, lines: &mut Lines<R>) -> Result<Spectrum, IngestError> {
    let mut rows: Vec<Row> = Vec::new();
    let mut last = Last::default();
    let mut footer = Footer::default();
    let mut reported = Reported::default();
    let (mut within, mut is_wrk2) = (false, false);
    while lines.advance()? {
        let bad = |reason: &str| {
            IngestError::new(IngestErrorKind::Malformed, name, reason.to_owned()).at(lines.number(), None)
        };
        let line = String::from_utf8_lossy(lines.text());
        let line = line.trim();
        reported.read(line);
        if !within {
            is_wrk2 |= line.contains("Recorded Latency") || line.starts_with("Detailed Percentile spectrum");
            within = is_legend(line.as_bytes());
            if within && !rows.is_empty() {
                return Err(bad(
                    "a second spectrum begins, and it cannot be told whether both are of the same attempts",
                )
                .remedy("give each its own file; several files merge"));
            }
            continue;
        }
        if let Some(text) = line.strip_prefix("#[") {
            footer.read(text);
            continue;
        }
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let Some((row, share, ends)) = row(line) else {
            if footer.count.is_some() || line.starts_with("---") {
                within = false;
                continue;
            }
            return Err(bad("this is no row of value, percentile and count"));
        };
        if rows.last().is_some_and(|last| row.count < last.count || row.value.value < last.value.value) {
            return Err(bad("values and counts must not fall from row to row"));
        }
        if rows.len() >= MOST_ROWS {
            return Err(bad("there are more rows than any spectrum has"));
        }
        rows.push(row);
        last = Last { share, ends, line: lines.number() };
    }
    check(name, &rows, last, footer)?;
    Ok(Spectrum {
        format: if is_wrk2 { "wrk2" } else { "HDR percentiles" },
        rows,
        mean: footer.mean,
        deviation: footer.deviation,
        // Half a bucket: the upper half of the sub-buckets share a power of two.
        mean_resolution: footer
            .sub_buckets
            .filter(|buckets| *buckets > 1)
            .map_or(0.0, |buckets| 1.0 / buckets as f64),
        unit: is_wrk2.then_some(Unit::Milliseconds),
        absent: is_wrk2.then_some("wrk2 leaves out requests that failed or timed out without an answer"),
        reported,
    })
}

/// The share of attempts up to the last row, whether it is that of the longest attempt, and its line.
#[derive(Clone, Copy, Default)]
struct Last {
    share: f64,
    ends: bool,
    line: u64,
}

/// The rows must reach the count that the footer names, and without one the longest attempt: a spectrum that was cut has
/// lost it.
fn check(name: &str, rows: &[Row], last: Last, footer: Footer) -> Result<(), IngestError> {
    let counted = rows.last().map_or(0, |last| last.count);
    if counted == 0 {
        let reason = "its percentile spectrum counts no attempt";
        return Err(IngestError::new(IngestErrorKind::Empty, name, reason));
    }
    match footer.count {
        Some(count) if count != counted => {
            let reason =
                format!("its rows count {counted} attempts and its footer {count}: rows are missing");
            Err(IngestError::new(IngestErrorKind::Malformed, name, reason)
                .remedy("export the whole spectrum"))
        }
        None if !last.ends => {
            // A share that is printed as 1 may be rounded.
            let below = if last.share < 1.0 { "" } else { "just below " };
            let reason = format!(
                "its rows end at the percentile {below}{}: the rest, up to the longest attempt, is missing",
                last.share
            );
            Err(IngestError::new(IngestErrorKind::Malformed, name, reason)
                .at(last.line, None)
                .remedy("export the whole spectrum"))
        }
        _ => Ok(()),
    }
}

/// `9.143     0.900000        35570        10.00`, or the same with commas; the last field may be `inf` or missing.
fn row(line: &str) -> Option<(Row, f64, bool)> {
    let is_between = |letter: char| letter.is_whitespace() || letter == ',';
    let mut fields = line.split(is_between).filter(|field| !field.is_empty());
    let value = Written::parse(fields.next()?)?;
    let share: f64 = fields.next()?.parse().ok()?;
    let count = fields.next()?.parse().ok()?;
    let inverse: f64 = fields.next().map_or(Ok(f64::INFINITY), str::parse).ok()?;
    let ends = share >= 1.0 && inverse.is_infinite();
    (value.value >= 0.0 && (0.0..=1.0).contains(&share) && fields.next().is_none()).then_some((
        Row { value, count },
        share,
        ends,
    ))
}

impl Footer {
    /// `Mean    =        6.602, StdDeviation   =        1.919]`
    fn read(&mut self, text: &str) {
        for part in text.trim_end_matches(']').split(',') {
            let Some((name, value)) = part.split_once('=') else { continue };
            let number = Written::parse(value.trim()).filter(|number| number.value >= 0.0);
            match name.trim().to_ascii_lowercase().as_str() {
                "mean" => self.mean = number,
                "stddeviation" => self.deviation = number,
                "total count" => self.count = value.trim().parse().ok(),
                "subbuckets" => self.sub_buckets = value.trim().parse().ok(),
                _ => {}
            }
        }
    }
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
    fn the_footer_gives_mean_and_deviation() {
        let footer = "#[Mean    =        2.500, StdDeviation   =        1.000]\n#[Max     =        4.000, Total count    =           10]\n#[Buckets =           27, SubBuckets     =         2048]\n";
        let spectrum = of(&format!("{SMALL}{footer}")).unwrap();
        assert_eq!(spectrum.mean, Some(Written { value: 2.5, rounding: 0.5 * 10f64.powi(-3) }));
        assert_eq!(spectrum.mean_resolution, 1.0 / 2048.0);
        assert_eq!(of(SMALL).unwrap().mean, None);
        assert_eq!(
            of("Value,Percentile,TotalCount,1/(1-Percentile)\n1.5,0.5,1,2\n2.5,1.0,2\n").unwrap().rows.len(),
            2
        );
    }

    #[test]
    fn what_is_cut_or_out_of_order_is_refused_with_its_line() {
        for (text, line, part) in [
            (format!("{SMALL}3.0 1.0 12 inf\n"), Some(6), "must not fall"),
            (format!("{SMALL}oops\n"), Some(6), "no row"),
            (format!("{SMALL}#[Max = 4.0, Total count = 11]\n"), None, "rows are missing"),
            ("Value Percentile TotalCount\n".to_owned(), None, "counts no attempt"),
            (SMALL.replace("4.000 1.0 10 inf\n", ""), Some(4), "end at the percentile 0.5"),
            (SMALL.replace("inf", "10000000.0"), Some(5), "end at the percentile just below 1"),
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
                let _ = spectrum.ranged(Unit::Seconds);
            }
        }
    }
}
