//! The summary that hey prints: average, fastest and slowest, a histogram of eleven bars, seven quantiles.
//!
//! A bar counts the requests up to its mark and above the one before; the quantile p is the request of rank
//! ⌈p·n⌉ + 1 (hey 0.1.4). Together they leave little room for where a request lies.

use super::{Reported, Row, Spectrum, Written, merged};
use crate::ingest::duration::Unit;
use crate::ingest::error::{IngestError, IngestErrorKind};
use crate::ingest::lines::Lines;
use std::io::BufRead;

/// Parses a summary.
pub(super) fn parse<R: BufRead>(name: &str, lines: &mut Lines<R>) -> Result<Spectrum, IngestError> {
    let (mut average, mut slowest) = (None, None);
    let (mut bars, mut quantiles) = (Vec::new(), Vec::new());
    let mut count = 0u64;
    let mut reported = Reported::default();
    while lines.advance()? {
        let line = String::from_utf8_lossy(lines.text());
        let line = line.trim();
        reported.read(line);
        let value =
            |prefix: &str| Written::parse(line.strip_prefix(prefix)?.trim().strip_suffix("secs")?.trim());
        if line == "Response time histogram:" && !bars.is_empty() {
            let reason = "a second summary begins: give each its own file";
            return Err(IngestError::new(IngestErrorKind::Malformed, name, reason).at(lines.number(), None));
        }
        average = average.or_else(|| value("Average:"));
        slowest = slowest.or_else(|| value("Slowest:"));
        if let Some((mark, requests)) = bar(line) {
            count = count.saturating_add(requests);
            bars.push(Row { value: mark, count });
        } else if let Some(quantile) = quantile(line) {
            quantiles.push(quantile);
        }
    }
    let (Some(average), Some(slowest), true) = (average, slowest, count > 0) else {
        let reason = "the summary of hey is not whole: average, slowest and the histogram are needed";
        return Err(IngestError::new(IngestErrorKind::Malformed, name, reason)
            .remedy("export single requests instead: hey -o csv"));
    };
    let rank = |share: f64| ((share * count as f64).ceil() as u64 + 1).min(count);
    bars.extend(quantiles.into_iter().map(|(share, value)| Row { value, count: rank(share) }));
    bars.push(Row { value: slowest, count });
    Ok(Spectrum {
        format: "hey summary",
        rows: merged(bars),
        mean: Some(average),
        deviation: None,
        mean_resolution: 0.0,
        unit: Some(Unit::Seconds),
        absent: Some("hey leaves out requests that failed or timed out without an answer"),
        reported,
    })
}

/// `0.264 [771] |■■■`
fn bar(line: &str) -> Option<(Written, u64)> {
    let (mark, rest) = line.split_once(" [")?;
    let (requests, rest) = rest.split_once(']')?;
    rest.trim_start().starts_with('|').then_some(())?;
    Some((Written::parse(mark.trim()).filter(|mark| mark.value >= 0.0)?, requests.parse().ok()?))
}

/// `95% in 0.1441 secs`
fn quantile(line: &str) -> Option<(f64, Written)> {
    let (percent, rest) = line.split_once("% in ")?;
    let percent: f64 = percent.trim_end_matches('%').trim().parse().ok()?;
    let value = Written::parse(rest.trim().strip_suffix("secs")?.trim())?;
    ((0.0..=100.0).contains(&percent) && value.value >= 0.0).then_some((percent / 100.0, value))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::io::Cursor;

    fn of(text: &str) -> Result<Spectrum, IngestError> {
        parse("x", &mut Lines::new("x", Cursor::new(text.as_bytes().to_vec())))
    }

    #[test]
    fn bars_and_quantiles_are_put_together() {
        let text = "Summary:\n  Slowest:\t2.0 secs\n  Average:\t0.5 secs\n  Requests/sec:\t9\n\nResponse time histogram:\n  0.100 [1]\t|\n  1.000 [8]\t|■■\n  2.000 [1]\t|\n\nLatency distribution:\n  50% in 0.4000 secs\n  95%% in 2.0000 secs\n";
        let spectrum = of(text).unwrap();
        let rows: Vec<_> = spectrum.rows.iter().map(|row| (row.count, row.value.value)).collect();
        assert_eq!(rows, [(1, 0.1), (6, 0.4), (9, 1.0), (10, 2.0)]);
        assert!(of("Response time histogram:\n  0.1 [4]\t|\n").unwrap_err().reason.contains("not whole"));
    }

    proptest! {
        #[test]
        fn no_text_makes_it_panic(lines in prop::collection::vec("[-0-9. ]{0,8}( \\[|% in )?[0-9. ]{0,8}(\\]|secs)?[ |]{0,3}", 0..8)) {
            let text = format!("Average: 0.1 secs\nSlowest: 0.2 secs\n{}", lines.join("\n"));
            if let Ok(spectrum) = of(&text) {
                let _ = spectrum.ranged(Unit::Seconds);
            }
        }
    }
}
