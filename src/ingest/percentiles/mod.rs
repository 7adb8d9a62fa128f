//! Reports of load tools and HDR tools that give quantiles, counts and a mean as text.
//!
//! Each is read into a [`Spectrum`]: how many attempts took at most how long, at some points. What lies between two
//! points is known to lie between their values, and the mean is the one that the tool computed.

mod hey;
mod spectrum;
mod wrk;

use super::collect::Collector;
use super::duration::Unit;
use super::error::IngestError;
use super::lines::Lines;
use super::notice::IngestNotice;
use super::open::Input;
use super::options::{Flag, InputFormat, OF_TABLES, SELECTING};
use crate::profile::{HistogramOf, Range, Ranged, Reading, Source, Sum};

/// Which report a text is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Rows of value, percentile and count.
    Spectrum,
    Hey,
    Wrk,
}

/// Tells by its beginning whether an input is such a report, or believes the option that says so.
pub(super) fn recognise(input: &Input, format: InputFormat) -> Option<Kind> {
    let asked = format == InputFormat::Percentiles;
    if !asked && format != InputFormat::Auto {
        return None;
    }
    let holds = |text: &str| memchr::memmem::find(&input.head, text.as_bytes()).is_some();
    if spectrum::is_spectrum(&input.head) {
        Some(Kind::Spectrum)
    } else if holds("Response time histogram:") && holds("Requests/sec:") {
        Some(Kind::Hey)
    } else if holds("Thread Stats ") && holds(" requests in ") {
        Some(Kind::Wrk)
    } else {
        asked.then_some(Kind::Spectrum)
    }
}

/// A number as it is written: its value, and what half a unit of its last digit is.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Written {
    value: f64,
    rounding: f64,
}

impl Written {
    fn parse(text: &str) -> Option<Self> {
        let value: f64 = text.parse().ok()?;
        let decimals = text.split_once('.').map_or(0, |(_, fraction)| fraction.len());
        let rounding = 0.5 * 10f64.powi(-i32::try_from(decimals.min(30)).unwrap_or(30));
        value.is_finite().then_some(Written { value, rounding })
    }

    /// The rounding where it matters beside the width of a bucket of three digits.
    fn slack(self) -> f64 {
        if self.rounding > self.value * 5e-4 { self.rounding } else { 0.0 }
    }
}

/// So many attempts took at most so long, and the others at least so long.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Row {
    value: Written,
    count: u64,
}

/// A report as it was read.
#[derive(Clone, Debug)]
struct Spectrum {
    format: &'static str,
    /// Rising in value and count.
    rows: Vec<Row>,
    mean: Option<Written>,
    deviation: Option<Written>,
    /// By what share of itself the tool's own mean may be off, as it is that of a histogram.
    mean_resolution: f64,
    /// The unit of the values, if the text says it.
    unit: Option<Unit>,
    /// Which attempts are missing, if it is the report of a load tool.
    absent: Option<&'static str>,
    /// Failures of which the report says no more than their number.
    reported: Reported,
}

/// Failures that a load tool reports by their number alone.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Reported {
    /// Answers with the status of a failure: they are among the attempts.
    answered: u64,
    /// Requests without an answer: they are not.
    unanswered: u64,
    /// Whether the lines that follow are hey's errors.
    within_errors: bool,
}

impl Reported {
    /// Takes what a line of a report says of failures.
    fn read(&mut self, line: &str) {
        let number = |text: &str| text.trim().parse::<u64>().ok();
        // hey: `[503]	9 responses`, and `[50]	Get "…": context deadline exceeded` below its heading.
        let bracketed = line.strip_prefix('[').and_then(|rest| rest.split_once(']'));
        if let Some((inside, rest)) = bracketed {
            if self.within_errors {
                self.unanswered = self.unanswered.saturating_add(number(inside).unwrap_or(0));
            } else if let Some(responses) = rest.trim().strip_suffix("responses").and_then(number)
                && number(inside).is_some_and(|status| status >= 400)
            {
                self.answered = self.answered.saturating_add(responses);
            }
            return;
        }
        self.within_errors |= line == "Error distribution:";
        // wrk: `Socket errors: connect 0, read 0, write 0, timeout 500`, `Non-2xx or 3xx responses: 3000`.
        if let Some(errors) = line.strip_prefix("Socket errors:") {
            let each = errors.split(',').filter_map(|part| number(part.trim().rsplit(' ').next()?));
            self.unanswered = each.fold(self.unanswered, u64::saturating_add);
        } else if let Some(responses) = line.strip_prefix("Non-2xx or 3xx responses:").and_then(number) {
            self.answered = self.answered.saturating_add(responses);
        }
    }
}

/// Reads a report into the collector.
pub(super) fn read(input: Input, kind: Kind, collector: &mut Collector) -> Result<(), IngestError> {
    let name = input.name.clone();
    let options = &collector.options;
    options.refuse(
        &name,
        "a report of percentiles, which has neither columns nor times",
        &[&[Flag::Column, Flag::GroupBy], OF_TABLES, SELECTING],
    )?;
    let mut lines = Lines::new(&name, input.into_stream());
    let spectrum = match kind {
        Kind::Spectrum => spectrum::parse(&name, &mut lines)?,
        Kind::Hey => hey::parse(&name, &mut lines)?,
        Kind::Wrk => wrk::parse(&name, &mut lines)?,
    };
    let unit = collector.options.unit.or(spectrum.unit).unwrap_or_else(|| {
        collector.notices.push(IngestNotice::PercentileUnitAssumed { file: name.clone() });
        Unit::Milliseconds
    });
    announce(&name, &spectrum, unit, collector);
    collector.rows += spectrum.rows.len() as u64;
    let ranged = spectrum.ranged(unit);
    collector
        .histogram(&name, &HistogramOf { ranged: &ranged, failed: false, interval_ns: None, group: None })?;
    Ok(())
}

fn announce(name: &str, spectrum: &Spectrum, unit: Unit, collector: &mut Collector) {
    collector.recognised(Source {
        format: spectrum.format.to_owned(),
        unit: Some(unit.to_string()),
        files: vec![name.to_owned()],
        endpoint_latency: spectrum.absent.is_some(),
        ..Source::default()
    });
    if let Some(explanation) = spectrum.absent {
        if collector.options.correction.is_none() {
            collector.notices.push(IngestNotice::EndpointLatency { format: spectrum.format });
        }
        collector.notices.push(IngestNotice::AbsentAttempts { explanation });
    }
    let Reported { answered, unanswered, .. } = spectrum.reported;
    if answered > 0 || unanswered > 0 {
        let format = spectrum.format;
        collector.notices.push(IngestNotice::FailuresReported { format, answered, unanswered });
    }
    if spectrum.mean.is_none() {
        collector.notices.push(IngestNotice::MeanFromRows { file: name.to_owned() });
    }
}

impl Spectrum {
    /// The attempts between successive rows, with the sums that follow from mean and deviation.
    fn ranged(&self, unit: Unit) -> Ranged {
        let scale = unit.ns() as f64;
        let ns = |value: f64| (value.max(0.0) * scale).round() as u64;
        let mut ranges = Vec::with_capacity(self.rows.len());
        let (mut low_ns, mut below) = (None, 0);
        for Row { value, count } in &self.rows {
            let least = ns(value.value - value.slack());
            if *count > below {
                // The first row is the shortest attempt itself, or all that lies below.
                let low_ns = low_ns.unwrap_or(if *count == 1 { least } else { 0 });
                let high_ns = ns(value.value + value.slack()).max(low_ns);
                ranges.push(Range { low_ns, high_ns: Some(high_ns), count: count - below });
            }
            (below, low_ns) = (*count, Some(least));
        }
        let count = below as f64;
        let sum = self.mean.map_or(Sum::Middles, |mean| {
            let slack = mean.rounding + mean.value * self.mean_resolution;
            let sum = |mean: f64| (mean.max(0.0) * scale * count).round() as u128;
            Sum::Known {
                ns: sum(mean.value),
                low_ns: sum(mean.value - slack),
                high_ns: sum(mean.value + slack),
            }
        });
        let squares = self.mean.zip(self.deviation).map(|(mean, deviation)| {
            ((mean.value * mean.value + deviation.value * deviation.value) * scale * scale * count).round()
                as u128
        });
        Ranged { ranges, sum, sum_squares_ns2: squares, reading: Reading::Highest, round_edges: false }
    }
}

/// Puts rows of different origin in order: those of a histogram and those of quantiles say the same of one set of
/// attempts. A row that contradicts an earlier one by rounding takes its value.
fn merged(mut rows: Vec<Row>) -> Vec<Row> {
    rows.sort_by(|a, b| a.count.cmp(&b.count).then(a.value.value.total_cmp(&b.value.value)));
    let mut ordered: Vec<Row> = Vec::with_capacity(rows.len());
    for mut row in rows {
        if let Some(last) = ordered.last_mut() {
            if row.count == last.count {
                // Both hold: at most the lesser, and what follows is at least the greater.
                continue;
            }
            if row.value.value < last.value.value {
                row.value = last.value;
            }
        }
        ordered.push(row);
    }
    ordered
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(value: &str, count: u64) -> Row {
        Row { value: Written::parse(value).unwrap(), count }
    }

    #[test]
    fn attempts_lie_between_the_values_of_rows() {
        let spectrum = Spectrum {
            format: "x",
            rows: vec![row("1.000", 1), row("2.000", 5), row("4.000", 10)],
            mean: Some(Written { value: 2.5, rounding: 0.0005 }),
            deviation: Some(Written { value: 1.0, rounding: 0.0005 }),
            mean_resolution: 0.0,
            unit: None,
            absent: None,
            reported: Reported::default(),
        };
        let ranged = spectrum.ranged(Unit::Seconds);
        let counts: Vec<u64> = ranged.ranges.iter().map(|range| range.count).collect();
        assert_eq!(counts, [1, 4, 5]);
        assert_eq!(ranged.ranges[2], Range { low_ns: 2_000_000_000, high_ns: Some(4_000_000_000), count: 5 });
        let Sum::Known { ns, low_ns, high_ns } = ranged.sum else { panic!("{ranged:?}") };
        assert_eq!((low_ns, ns, high_ns), (24_995_000_000, 25_000_000_000, 25_005_000_000));
        assert_eq!(ranged.sum_squares_ns2, Some(72_500_000_000_000_000_000));
    }

    #[test]
    fn failures_that_are_only_counted_are_told_apart_by_whether_they_had_an_answer() {
        let of = |text: &str| {
            let mut reported = Reported::default();
            text.lines().for_each(|line| reported.read(line.trim()));
            (reported.answered, reported.unanswered)
        };
        let hey = "Status code distribution:\n  [200]\t991 responses\n  [503]\t9 responses\n\nError distribution:\n  [50]\tGet \"http://a\": context deadline exceeded\n";
        assert_eq!(of(hey), (9, 50));
        let wrk =
            "  Socket errors: connect 1, read 2, write 0, timeout 500\n  Non-2xx or 3xx responses: 3000\n";
        assert_eq!(of(wrk), (3000, 503));
        assert_eq!(of("[info] Requests/sec: 9\n  0.264 [771]\t|\n"), (0, 0));
    }

    #[test]
    fn rows_of_a_histogram_and_of_quantiles_are_put_in_order() {
        let rows =
            merged(vec![row("0.3", 9), row("0.5", 10), row("0.1", 5), row("0.2999", 9), row("0.09", 7)]);
        let found: Vec<_> = rows.iter().map(|row| (row.count, row.value.value)).collect();
        assert_eq!(found, [(5, 0.1), (7, 0.1), (9, 0.2999), (10, 0.5)]);
    }
}
