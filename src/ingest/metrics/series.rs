//! Series: a name, labels, and the states of one histogram over time.

use super::counts::{Counts, Slot};
use crate::ingest::duration::Unit;
use crate::ingest::error::IngestError;
use std::collections::BTreeMap;

/// What identifies a series.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct SeriesKey {
    /// The histogram's name, without `_bucket`, `_sum` and `_count`.
    pub(super) metric: String,
    /// Its labels without `le`, sorted by name.
    pub(super) labels: Vec<(String, String)>,
}

impl std::fmt::Display for SeriesKey {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(&self.metric)?;
        let labels: Vec<String> =
            self.labels.iter().take(8).map(|(name, value)| format!("{name}={value:?}")).collect();
        if labels.is_empty() { Ok(()) } else { write!(formatter, "{{{}}}", labels.join(",")) }
    }
}

impl SeriesKey {
    pub(super) fn label(&self, name: &str) -> Option<&str> {
        self.labels.iter().find(|(label, _)| label == name).map(|(_, value)| value.as_str())
    }
}

/// What a state of a histogram covers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Covers {
    /// Everything since the counter was at zero, which was at this time if it is known.
    Since(Option<i64>),
    /// Only what came after this time: it is an increase already.
    Only(i64),
}

/// A state of a histogram.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Snapshot {
    /// When, in nanoseconds since the epoch.
    pub(super) at_ns: Option<i64>,
    pub(super) covers: Covers,
    pub(super) counts: Counts,
}

impl Snapshot {
    /// When the counter was at zero, if that is known.
    pub(super) fn began_ns(&self) -> Option<i64> {
        match self.covers {
            Covers::Since(start) => start,
            Covers::Only(_) => None,
        }
    }
}

/// The states of a series, and why it cannot be used if it cannot: that matters only if it is asked for.
#[derive(Clone, Debug, Default)]
pub(super) struct States {
    pub(super) snapshots: Vec<Snapshot>,
    pub(super) error: Option<IngestError>,
}

/// Everything that a file says of its histograms.
#[derive(Clone, Debug, Default)]
pub(super) struct Found {
    pub(super) series: BTreeMap<SeriesKey, States>,
    /// Units that the file names, by metric.
    pub(super) units: BTreeMap<String, Unit>,
    /// Whether the ends of ranges were chosen by a person.
    pub(super) round_edges: bool,
    /// Metrics of other kinds, for the message if there is no histogram.
    pub(super) others: Others,
}

impl Found {
    /// Adds a state of a series.
    pub(super) fn push(&mut self, key: SeriesKey, snapshot: Result<Snapshot, IngestError>) {
        let states = self.series.entry(key).or_default();
        match snapshot {
            Ok(snapshot) => states.snapshots.push(snapshot),
            Err(error) => states.error = states.error.take().or(Some(error)),
        }
    }
}

/// How many metrics of other kinds there are.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Others {
    pub(super) summaries: usize,
    pub(super) metrics: usize,
}

/// A classic histogram while its lines are collected: cumulative counts by upper end.
#[derive(Clone, Debug, Default)]
pub(super) struct Classic {
    /// Upper end, cumulative count, and the line on which it stands.
    pub(super) buckets: Vec<(f64, f64, u64)>,
    pub(super) sum: Option<f64>,
    pub(super) count: Option<f64>,
}

/// Why counts are no histogram of durations, and on which line if on one.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Unfit {
    pub(super) reason: String,
    pub(super) line: Option<u64>,
}

impl Unfit {
    pub(super) fn new(reason: impl Into<String>, line: Option<u64>) -> Self {
        Unfit { reason: reason.into(), line }
    }
}

impl Classic {
    /// The counts by range.
    pub(super) fn counts(&self) -> Result<Counts, Unfit> {
        let mut buckets = self.buckets.clone();
        buckets.sort_by(|a, b| a.0.total_cmp(&b.0));
        if let Some((count, last)) = self.count.zip(buckets.last()).filter(|(_, last)| last.0 < f64::INFINITY)
        {
            buckets.push((f64::INFINITY, count.max(last.1), last.2));
        }
        let mut slots = Vec::with_capacity(buckets.len());
        let (mut low, mut below) = (f64::NEG_INFINITY, 0);
        for (high, cumulative, line) in buckets {
            if high == low {
                return Err(Unfit::new(
                    format!("the bucket up to {} is there twice: two scrapes in one file?", short(high)),
                    Some(line),
                ));
            }
            let cumulative = whole(cumulative).map_err(|reason| Unfit::new(reason, Some(line)))?;
            let count = cumulative
                .checked_sub(below)
                .ok_or_else(|| Unfit::new("its counts fall from one bucket to the next", Some(line)))?;
            slots.push(slot(low, high, count).map_err(|reason| Unfit::new(reason, Some(line)))?);
            (low, below) = (high, cumulative);
        }
        self.check_whole()?;
        Counts::summed(slots, self.sum).map_err(|reason| Unfit::new(reason, None))
    }

    /// Refuses a histogram that was cut, or whose count is not that of its buckets.
    fn check_whole(&self) -> Result<(), Unfit> {
        let Some(last) = self.buckets.iter().max_by(|a, b| a.0.total_cmp(&b.0)) else { return Ok(()) };
        let whole = last.0 == f64::INFINITY;
        match self.count {
            Some(count) if count < last.1 || whole && count != last.1 => Err(Unfit::new(
                format!("its _count is {} and its buckets count {}", short(count), short(last.1)),
                Some(last.2),
            )),
            None if !whole => Err(Unfit::new(
                "it has neither the bucket le=\"+Inf\" nor a _count, so how many took longer is not known",
                Some(last.2),
            )),
            _ => Ok(()),
        }
    }
}

/// A number for a message; it may be anything.
fn short(number: f64) -> String {
    if number.abs() < 1e15 { number.to_string() } else { format!("{number:e}") }
}

impl Counts {
    /// Counts with a sum that is a number; nothing has the sum zero, whatever is written.
    pub(super) fn summed(slots: Vec<Slot>, sum: Option<f64>) -> Result<Self, String> {
        let counts = Counts { slots, sum, sum_error: 0.0 };
        if counts.count() == 0 {
            return Ok(Counts { sum: sum.map(|_| 0.0), ..counts });
        }
        match sum {
            Some(sum) if !sum.is_finite() || sum < 0.0 => {
                Err(format!("its sum is {}, so it is not one of durations", short(sum)))
            }
            _ => Ok(counts),
        }
    }
}

/// A range of durations: what lies below zero is none, unless there is nothing in it.
pub(super) fn slot(low: f64, high: f64, count: u64) -> Result<Slot, String> {
    if low.is_nan() || high.is_nan() || high < low {
        return Err("a bucket ends before it starts".to_owned());
    }
    if high < 0.0 && count > 0 {
        return Err(format!("{count} values lie below zero, so they are no durations"));
    }
    Ok(Slot { low: low.max(0.0), high: high.max(0.0), count })
}

/// A count as a whole number.
pub(super) fn whole(number: f64) -> Result<u64, String> {
    const MOST: f64 = (1u64 << 53) as f64;
    if !(0.0..=MOST).contains(&number) {
        return Err(format!("{} is no count", short(number)));
    }
    if (number - number.round()).abs() > 1e-6 * number.max(1.0) {
        return Err(format!(
            "its counts are no whole numbers ({number}): this is a rate() or increase(), so query the histogram itself"
        ));
    }
    Ok(number.round() as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn classic(buckets: &[(f64, f64)], count: Option<f64>, sum: Option<f64>) -> Classic {
        Classic { buckets: buckets.iter().map(|(end, count)| (*end, *count, 7)).collect(), sum, count }
    }

    #[test]
    fn cumulative_counts_become_ranges_whatever_their_order() {
        let counts = classic(&[(f64::INFINITY, 10.0), (0.1, 4.0), (1.0, 9.0)], Some(10.0), Some(3.5))
            .counts()
            .unwrap();
        let slots: Vec<_> = counts.slots.iter().map(|slot| (slot.low, slot.high, slot.count)).collect();
        assert_eq!(slots, [(0.0, 0.1, 4), (0.1, 1.0, 5), (1.0, f64::INFINITY, 1)]);
        let implied = classic(&[(0.1, 4.0)], Some(6.0), None).counts().unwrap();
        assert_eq!((implied.slots[1].count, implied.sum), (2, None));
    }

    #[test]
    fn what_is_no_histogram_of_durations_says_why() {
        for (buckets, sum, part) in [
            (vec![(0.1, 4.0), (1.0, 3.0)], None, "fall"),
            (vec![(-0.1, 4.0), (1.0, 5.0)], None, "below zero"),
            (vec![(0.1, 0.25)], None, "rate()"),
            (vec![(0.1, f64::NAN)], None, "no count"),
            (vec![(0.1, 1.0), (0.1, 1.0)], None, "twice"),
            (vec![(0.1, 1.0), (f64::INFINITY, 1.0)], Some(f64::NAN), "its sum is NaN"),
        ] {
            let error = classic(&buckets, None, sum).counts().unwrap_err();
            assert!(error.reason.contains(part), "{buckets:?}: {error:?}");
        }
        let infinite = f64::INFINITY;
        assert!(classic(&[(-0.1, 0.0), (1.0, 5.0), (infinite, 5.0)], None, None).counts().is_ok());
        for (buckets, count, part) in [
            (vec![(0.1, 5.0), (infinite, 7.0)], Some(9.0), "its _count is 9 and its buckets count 7"),
            (vec![(0.1, 5.0), (1.0, 7.0)], Some(6.0), "its _count is 6"),
            (vec![(0.1, 5.0), (1.0, 7.0)], None, "neither the bucket"),
            (vec![(0.1, 1e300), (infinite, 1e300)], None, "1e300 is no count"),
        ] {
            let error = classic(&buckets, count, None).counts().unwrap_err();
            assert!(error.reason.contains(part), "{buckets:?}: {error:?}");
        }
    }
}
