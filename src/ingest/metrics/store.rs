//! The series of all files, and what was added to each of them.

use super::Kind;
use super::counts::{Counts, Total};
use super::increase::{Added, Increase, none_added, selected};
use super::labels;
use super::series::{Found, SeriesKey};
use crate::exposition::SERVICE_SECONDS;
use crate::ingest::collect::Collector;
use crate::ingest::duration::Unit;
use crate::ingest::error::{IngestError, IngestErrorKind};
use crate::ingest::notice::IngestNotice;
use crate::ingest::options::Options;
use crate::profile::{HistogramOf, Range, Ranged, Reading, Source, Sum};
use std::collections::{BTreeMap, BTreeSet};

struct File {
    name: String,
    kind: Kind,
    found: Found,
}

/// Collects what the files say until all are read: scrapes of one target may lie in several.
#[derive(Default)]
pub(in crate::ingest) struct Store {
    files: Vec<File>,
}

impl Store {
    /// Keeps what a file says.
    pub(super) fn add_file(&mut self, name: &str, kind: Kind, found: Found) -> Result<(), IngestError> {
        if found.series.is_empty() {
            let others = found.others;
            let reason = format!(
                "it holds no histogram: {} summaries and {} other metrics",
                others.summaries, others.metrics
            );
            return Err(IngestError::new(IngestErrorKind::Unsupported, name, reason).remedy(
                "the quantiles of a summary cannot be added up or give a variation: export a histogram",
            ));
        }
        self.files.push(File { name: name.to_owned(), kind, found });
        Ok(())
    }

    /// Hands what was added to each series to the collector.
    pub(in crate::ingest) fn finish(self, collector: &mut Collector) -> Result<(), IngestError> {
        let options = collector.options.clone();
        let Some(first) = self.files.first().map(|file| file.name.clone()) else {
            if options.difference {
                let reason = "--difference is for scrapes and other states of counters, and there are none";
                return Err(IngestError::new(IngestErrorKind::Options, "input", reason)
                    .remedy("leave out --difference"));
            }
            return Ok(());
        };
        let metric = self.metric(&first, &options)?;
        let unit = self.unit(&first, &metric, &options)?;
        let scrapes = self.files.iter().filter(|file| file.kind == Kind::Text).count();
        if options.difference && scrapes == 1 {
            let reason = "--difference needs two scrapes or more, in the order in which they were made";
            return Err(IngestError::new(IngestErrorKind::Options, &first, reason).remedy("name both files"));
        }
        for file in self.files.iter().filter(|file| file.holds(&metric)) {
            collector.recognised(Source {
                format: file.kind.format().to_owned(),
                column: Some(metric.clone()),
                unit: Some(unit.to_string()),
                files: vec![file.name.clone()],
                ..Source::default()
            });
        }
        let keys = self.keys(&metric);
        labels::check_labels(&first, &keys, &options)?;
        let mut all = Added::default();
        let (mut asked, mut told) = (0, 0);
        for key in keys {
            if !labels::passes(key, &options) {
                collector.filtered += 1;
                continue;
            }
            let added = self.added(key, collector, &options)?;
            asked += 1;
            told += usize::from(!added.increases.is_empty());
            all.resets += added.resets;
            all.since_start |= added.since_start;
            let round_edges = self.files.iter().all(|file| file.found.round_edges);
            count(&first, key, &added.increases, unit, round_edges, collector)?;
        }
        if asked > 0 && told == 0 {
            return Err(none_added(&first, &options));
        }
        if all.resets > 0 {
            collector.notices.push(IngestNotice::CounterResets { resets: all.resets });
        }
        if all.since_start {
            collector.notices.push(IngestNotice::SinceStart { metric: metric.clone() });
        }
        self.remark(&metric, &options, collector);
        Ok(())
    }

    fn keys(&self, metric: &str) -> BTreeSet<&SeriesKey> {
        self.files
            .iter()
            .flat_map(|file| file.found.series.keys())
            .filter(|key| key.metric == metric)
            .collect()
    }

    /// The histogram that was asked for, or the only one whose name speaks of a time, or our dispatcher's.
    fn metric(&self, file: &str, options: &Options) -> Result<String, IngestError> {
        let all: BTreeSet<&str> = self
            .files
            .iter()
            .flat_map(|file| file.found.series.keys())
            .map(|key| key.metric.as_str())
            .collect();
        let listed = || labels::listed(all.iter().copied());
        if let Some(asked) = &options.column {
            let asked = asked.strip_suffix("_bucket").unwrap_or(asked);
            return if all.contains(asked) {
                Ok(asked.to_owned())
            } else {
                let reason = format!("there is no histogram \"{asked}\"");
                Err(IngestError::new(IngestErrorKind::Column, file, reason)
                    .remedy(format!("there are {}", listed())))
            };
        }
        let timed: Vec<&str> =
            all.iter().copied().filter(|metric| self.named_unit(metric).is_some()).collect();
        match (all.len(), timed.as_slice()) {
            (1, _) => Ok(all.iter().copied().collect()),
            (_, [only]) => Ok((*only).to_owned()),
            (_, several) if several.contains(&SERVICE_SECONDS) => Ok(SERVICE_SECONDS.to_owned()),
            _ => Err(IngestError::new(
                IngestErrorKind::Column,
                file,
                format!("it holds {} histograms", all.len()),
            )
            .remedy(format!("choose one with --column: {}", listed()))),
        }
    }

    fn named_unit(&self, metric: &str) -> Option<Unit> {
        let said = self.files.iter().find_map(|file| file.found.units.get(metric).copied());
        said.or_else(|| unit_of_name(metric))
    }

    fn unit(&self, file: &str, metric: &str, options: &Options) -> Result<Unit, IngestError> {
        options.unit.or_else(|| self.named_unit(metric)).ok_or_else(|| {
            let reason = format!("neither the name of \"{metric}\" nor the file says the unit of its values");
            IngestError::new(IngestErrorKind::Unit, file, reason).remedy("say it with --unit s, ms, us or ns")
        })
    }

    /// What was added to a series in all files.
    fn added(
        &self,
        key: &SeriesKey,
        collector: &mut Collector,
        options: &Options,
    ) -> Result<Added, IngestError> {
        let mut added = Added::default();
        // What a counter held at its first state came before any time that is asked for.
        let from_zero = !options.difference && options.since_ns.is_none();
        for kind in [Kind::Text, Kind::Query, Kind::Otlp] {
            let files = || self.files.iter().filter(|file| file.kind == kind);
            let (mut snapshots, mut times) = (Vec::new(), BTreeSet::new());
            for file in files() {
                let Some(series) = file.found.series.get(key) else { continue };
                if let Some(error) = &series.error {
                    return Err(error.clone());
                }
                if kind != Kind::Text {
                    collector.rows += series.snapshots.len() as u64;
                }
                times.extend(series.snapshots.iter().map(|snapshot| snapshot.at_ns));
                for snapshot in &series.snapshots {
                    if selected(&file.name, snapshot, options)? {
                        snapshots.push(snapshot);
                    } else {
                        collector.filtered += 1;
                    }
                }
            }
            match kind {
                Kind::Text if !options.difference => {
                    snapshots.iter().for_each(|one| added.follow(&[one], from_zero));
                    added.since_start |= from_zero && !snapshots.is_empty();
                }
                Kind::Text => {
                    let from_the_start =
                        files().next().is_some_and(|file| file.found.series.contains_key(key));
                    added.follow(&snapshots, !from_the_start);
                }
                Kind::Query => {
                    snapshots.sort_by_key(|snapshot| snapshot.at_ns);
                    snapshots.dedup_by_key(|snapshot| snapshot.at_ns);
                    // One sample is the answer to `query`; one that was left of a range is not.
                    let single = from_zero && times.len() == 1;
                    added.follow(&snapshots, single);
                    added.since_start |= single && !snapshots.is_empty();
                }
                Kind::Otlp => {
                    snapshots.sort_by_key(|snapshot| snapshot.at_ns);
                    let began = snapshots.first().and_then(|first| first.began_ns());
                    let inside = began.zip(options.since_ns).is_some_and(|(began, since)| began >= since);
                    added.follow(&snapshots, from_zero || inside && !options.difference);
                }
            }
        }
        Ok(added)
    }

    /// What the reader should know of how the scrapes were understood.
    fn remark(&self, metric: &str, options: &Options, collector: &mut Collector) {
        let mut files_of: BTreeMap<&SeriesKey, u64> = BTreeMap::new();
        for file in self.files.iter().filter(|file| file.kind == Kind::Text && !options.difference) {
            file.found
                .series
                .keys()
                .filter(|key| key.metric == metric)
                .for_each(|key| *files_of.entry(key).or_default() += 1);
        }
        let series = files_of.values().filter(|files| **files > 1).count();
        if series > 0 {
            collector.notices.push(IngestNotice::ScrapesAdded { series });
        }
    }
}

impl File {
    fn holds(&self, metric: &str) -> bool {
        self.found.series.keys().any(|key| key.metric == metric)
    }
}

impl Kind {
    fn format(self) -> &'static str {
        match self {
            Kind::Text => "Prometheus histogram",
            Kind::Query => "Prometheus query",
            Kind::Otlp => "OTLP histogram",
        }
    }
}

fn count(
    file: &str,
    key: &SeriesKey,
    increases: &[Increase],
    unit: Unit,
    round_edges: bool,
    collector: &mut Collector,
) -> Result<(), IngestError> {
    let mut total = Total::default();
    for increase in increases {
        total.add(&increase.counts);
        if let Some(interval_ns) = increase.interval_ns {
            collector.arrived(interval_ns, increase.counts.count());
        }
    }
    let failed = labels::failed(key);
    let unknown = labels::unknown_outcome(key).filter(|_| !failed);
    let group = labels::group(key, &collector.options);
    for part in total.parts() {
        let ranged = ranged(&part, unit, round_edges);
        let histogram = HistogramOf { ranged: &ranged, failed, interval_ns: None, group: group.as_deref() };
        let counted = collector.histogram(file, &histogram);
        counted.map_err(|mut error| {
            if ranged.ranges.iter().any(|range| range.count > 0 && range.low_ns == u64::MAX) {
                // The end of what was computed is no value of the file.
                error.reason = "a bucket lies beyond all durations".to_owned();
                error.remedy = Some("its scale or offset is wrong".to_owned());
            }
            error.reason = format!("the histogram {key}: {}", error.reason);
            error
        })?;
        if let Some((label, value)) = unknown {
            collector.unknown_outcomes.add(label, value.as_bytes(), part.count());
        }
    }
    Ok(())
}

/// The counts in nanoseconds.
fn ranged(counts: &Counts, unit: Unit, round_edges: bool) -> Ranged {
    let scale = unit.ns() as f64;
    let range = |slot: &super::counts::Slot| Range {
        low_ns: (slot.low * scale).round() as u64,
        high_ns: slot.high.is_finite().then(|| (slot.high * scale).round() as u64),
        count: slot.count,
    };
    let sum = counts.sum.map_or(Sum::Middles, |sum| {
        let ns = |sum: f64| (sum.max(0.0) * scale).round() as u128;
        let error = counts.sum_error;
        Sum::Known { ns: ns(sum), low_ns: ns(sum - error), high_ns: ns(sum + error) }
    });
    let ranges = counts.slots.iter().map(range).collect();
    Ranged { ranges, sum, sum_squares_ns2: None, reading: Reading::Highest, round_edges }
}

/// The unit at the end of a metric's name.
fn unit_of_name(metric: &str) -> Option<Unit> {
    let word = metric.rsplit(['_', '.']).next()?;
    match word {
        "seconds" | "s" => Some(Unit::Seconds),
        "milliseconds" | "millis" | "ms" => Some(Unit::Milliseconds),
        "microseconds" | "micros" | "us" => Some(Unit::Microseconds),
        "nanoseconds" | "nanos" | "ns" => Some(Unit::Nanoseconds),
        _ => None,
    }
}
