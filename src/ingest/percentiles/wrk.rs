//! The report of wrk: mean, deviation and maximum of the latency, four quantiles with `--latency`.
//!
//! ```text
//!   Thread Stats   Avg      Stdev     Max   +/- Stdev
//!     Latency   635.91us    0.89ms  12.92ms   93.69%
//!   Latency Distribution
//!      50%  250.00us
//!   22464657 requests in 30.00s, 17.76GB read
//! ```

use super::{Reported, Row, Spectrum, Written, merged};
use crate::ingest::duration::Unit;
use crate::ingest::error::{IngestError, IngestErrorKind};
use crate::ingest::lines::Lines;
use std::io::BufRead;

/// Parses a report.
pub(super) fn parse<R: BufRead>(name: &str, lines: &mut Lines<R>) -> Result<Spectrum, IngestError> {
    let mut latency = None;
    let mut quantiles = Vec::new();
    let mut requests = None;
    let mut reported = Reported::default();
    while lines.advance()? {
        let line = String::from_utf8_lossy(lines.text());
        reported.read(line.trim());
        let mut words = line.split_whitespace();
        let first = words.next().unwrap_or_default();
        if first == "Latency" && latency.is_none() {
            let mut number = || nanoseconds(words.next()?);
            latency =
                number().zip(number()).zip(number()).map(|((mean, deviation), max)| (mean, deviation, max));
        } else if let Some(percent) = first.strip_suffix('%') {
            let percent = percent.parse::<f64>().ok().filter(|percent| (0.0..=100.0).contains(percent));
            quantiles.extend(percent.zip(words.next().and_then(nanoseconds)));
        } else if line.contains(" requests in ") {
            if requests.is_some() {
                let reason = "a second report ends here: give each its own file";
                return Err(
                    IngestError::new(IngestErrorKind::Malformed, name, reason).at(lines.number(), None)
                );
            }
            requests = first.parse::<u64>().ok().filter(|requests| *requests > 0);
        }
    }
    let (Some((mean, deviation, max)), Some(count)) = (latency, requests) else {
        let reason = "the report of wrk is not whole: its latency line and its number of requests are needed";
        return Err(
            IngestError::new(IngestErrorKind::Malformed, name, reason).remedy("keep all that wrk prints")
        );
    };
    let rank = |percent: f64| ((percent / 100.0 * count as f64).ceil() as u64).clamp(1, count);
    let mut rows: Vec<Row> =
        quantiles.into_iter().map(|(percent, value)| Row { value, count: rank(percent) }).collect();
    rows.push(Row { value: max, count });
    Ok(Spectrum {
        format: "wrk report",
        rows: merged(rows),
        mean: Some(mean),
        deviation: Some(deviation),
        mean_resolution: 0.0,
        unit: Some(Unit::Nanoseconds),
        absent: Some("wrk leaves out requests that failed or timed out without an answer"),
        reported,
    })
}

/// `635.91us`, `0.89ms`, `12.92s`, `1.50m`, `1.00h` in nanoseconds.
fn nanoseconds(text: &str) -> Option<Written> {
    let end = text.find(|letter: char| letter.is_ascii_alphabetic())?;
    let scale = match &text[end..] {
        "us" => 1e3,
        "ms" => 1e6,
        "s" => 1e9,
        "m" => 60e9,
        "h" => 3600e9,
        _ => return None,
    };
    let written = Written::parse(&text[..end]).filter(|written| written.value >= 0.0)?;
    Some(Written { value: written.value * scale, rounding: written.rounding * scale })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Cursor;

    fn of(text: &str) -> Result<Spectrum, IngestError> {
        parse("x", &mut Lines::new("x", Cursor::new(text.as_bytes().to_vec())))
    }

    const LATENCY: &str = "  Thread Stats   Avg      Stdev     Max   +/- Stdev\n    Latency   635.91us    0.89ms  12.92ms   93.69%\n    Req/Sec    56.20k     8.07k   62.00k    86.54%\n";

    #[test]
    fn mean_deviation_and_quantiles_are_read_with_their_units() {
        let distribution = "  Latency Distribution\n     50%  250.00us\n     99%    4.00ms\n";
        let spectrum =
            of(&format!("{LATENCY}{distribution}  1000 requests in 30.00s, 17.76GB read\n")).unwrap();
        let rows: Vec<_> = spectrum.rows.iter().map(|row| (row.count, row.value.value)).collect();
        assert_eq!(rows, [(500, 250_000.0), (990, 4e6), (1000, 12.92e6)]);
        assert_eq!(spectrum.mean.unwrap().value, 635_910.0);
        // Without --latency the maximum is all that bounds an attempt.
        assert_eq!(of(&format!("{LATENCY}  10 requests in 1.00s, 1MB read\n")).unwrap().rows.len(), 1);
        assert!(of(LATENCY).unwrap_err().reason.contains("not whole"));
    }
}
