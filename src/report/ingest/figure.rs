//! The figure of `ingest`: of which lengths attempts are, and which lengths hold the workers.

use crate::ingest::{Ingested, Summary};
use crate::profile::{Bucket, ServiceProfile};
use crate::report::{Axis, Figure, Mark, Panel, Path, Place, Scale, Series, Unit};
use crate::units::human;

/// The most columns of the figure.
const MOST_COLUMNS: usize = 60;

/// How many columns so many attempts bear: twice the cube root, the Rice rule (D. M. Lane, Online Statistics Education).
/// With more, the gaps between single attempts are drawn and not how they are distributed.
fn columns_for(attempts: u64) -> usize {
    ((2.0 * libm::cbrt(attempts as f64)).ceil() as usize).clamp(1, MOST_COLUMNS)
}

/// Draws the share of attempts and the share of busy time by length, on a logarithmic axis.
#[must_use]
pub fn figure(ingested: &Ingested) -> Figure {
    let (profile, summary) = (&ingested.profile, Summary::of(ingested));
    let columns = columns(profile);
    let line = |name: &str, share: fn(&Column) -> f64| Series {
        name: name.to_owned(),
        points: columns.iter().map(|column| (column.from_s, share(column))).collect(),
        path: Path::Steps,
    };
    let mark = |name: &str, value_s: f64| Mark { name: name.to_owned(), place: Place::X(value_s) };
    let p99_s = profile.quantile(0.99);
    Figure {
        title: format!("Length of {}", human::counted(summary.count, "attempt")),
        description: format!(
            "Share of attempts and of busy time by service time, from {} to {}. Median {}, mean {}, 99th percentile {}.",
            human::duration(summary.min_s),
            human::duration(summary.max_s),
            human::duration(profile.quantile(0.5)),
            human::duration(summary.mean_s),
            human::duration(p99_s)
        ),
        x: Axis { label: "service time", unit: Unit::Seconds, scale: Scale::Log },
        panels: vec![Panel {
            y: Axis { label: "share", unit: Unit::Share, scale: Scale::FromZero },
            series: vec![
                line("of attempts", |column| column.attempts),
                line("of busy time", |column| column.busy_time),
            ],
            marks: vec![
                mark("median", profile.quantile(0.5)),
                mark("mean", summary.mean_s),
                mark("p99", p99_s),
            ],
        }],
    }
}

/// One step of both lines.
struct Column {
    from_s: f64,
    attempts: f64,
    busy_time: f64,
}

/// Steps of equal width by the logarithm, from the shortest to the longest attempt, and one of nothing behind them.
fn columns(profile: &ServiceProfile) -> Vec<Column> {
    let middle_s = |bucket: &Bucket| f64::midpoint(bucket.low_ns as f64, bucket.high_ns as f64) / 1e9;
    let buckets: Vec<(f64, f64)> = profile
        .buckets()
        .map(|bucket| (middle_s(&bucket), bucket.count as f64))
        .filter(|(at, _)| *at > 0.0)
        .collect();
    let (Some((first, _)), Some((last, _))) = (buckets.first(), buckets.last()) else { return Vec::new() };
    // A single length still has a width.
    let (low, high) = (first / 1.05, last * 1.05);
    let number_of_columns = columns_for(profile.count());
    let step = (high / low).ln() / number_of_columns as f64;
    let attempts: f64 = buckets.iter().map(|(_, count)| count).sum();
    let busy: f64 = buckets.iter().map(|(at, count)| at * count).sum();
    let mut columns: Vec<Column> = (0..=number_of_columns)
        .map(|number| Column { from_s: low * (step * number as f64).exp(), attempts: 0.0, busy_time: 0.0 })
        .collect();
    for (at, count) in buckets {
        let number = (((at / low).ln() / step) as usize).min(number_of_columns - 1);
        columns[number].attempts += count / attempts;
        columns[number].busy_time += at * count / busy;
    }
    columns
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_attempts_bear_few_columns() {
        let columns = [1, 8, 1000, 27_000, u64::MAX].map(columns_for);
        assert_eq!(columns, [2, 4, 20, 60, 60]);
    }
}
