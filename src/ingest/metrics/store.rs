//! The series of all files, and what was added to each of them.

use super::Kind;
use super::counts::{Counts, Total};
use super::series::{Covers, Found, SeriesKey, Snapshot};
use crate::exposition::SERVICE_SECONDS;
use crate::ingest::collect::Collector;
use crate::ingest::duration::Unit;
use crate::ingest::error::{IngestError, IngestErrorKind};
use crate::ingest::known::Outcome;
use crate::ingest::notice::IngestNotice;
use crate::ingest::options::Options;
use crate::profile::{HistogramOf, Range, Ranged, Reading, Source, Sum};
use std::collections::{BTreeMap, BTreeSet};

/// Labels whose value tells whether an attempt failed.
const STATUS_LABELS: &[&str] = &[
    "code",
    "status",
    "status_code",
    "http_status_code",
    "http.status_code",
    "http.response.status_code",
    "grpc_code",
];

/// How many names a message lists.
const LISTED: usize = 12;

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

/// What was added to a series between two states.
struct Increase {
    counts: Counts,
    interval_ns: Option<(i64, i64)>,
}

/// What was added to a series in all files.
#[derive(Default)]
struct Added {
    increases: Vec<Increase>,
    /// How often the series started anew.
    resets: u64,
    /// Whether it is everything since the process started.
    since_start: bool,
}

impl Added {
    /// Adds what came from state to state; of the first, everything that it has counted if `first_counts`.
    fn follow(&mut self, snapshots: &[&Snapshot], first_counts: bool) {
        let (increases, resets) = increases(snapshots, first_counts);
        self.increases.extend(increases);
        self.resets += resets;
    }
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
        check_labels(&first, &keys, &options)?;
        let mut all = Added::default();
        let (mut asked, mut told) = (0, 0);
        for key in keys {
            if !passes(key, &options) {
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
        let listed = || listed(all.iter().copied());
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

/// Whether a state counts in the time that was asked for: an increase by its start, a total if what was added up to it,
/// or from it on, may lie within.
fn selected(file: &str, snapshot: &Snapshot, options: &Options) -> Result<bool, IngestError> {
    let (since, until) = (options.since_ns.unwrap_or(i64::MIN), options.until_ns.unwrap_or(i64::MAX));
    if options.since_ns.is_none() && options.until_ns.is_none() {
        return Ok(true);
    }
    match (snapshot.covers, snapshot.at_ns) {
        (Covers::Only(start), _) => Ok(start >= since && start < until),
        (Covers::Since(_), Some(at)) => Ok(at >= since && at <= until),
        (Covers::Since(_), None) => {
            let reason = "its samples carry no time stamps to select by";
            Err(IngestError::new(IngestErrorKind::Options, file, reason)
                .remedy("leave out --since and --until"))
        }
    }
}

/// The refusal of states between which nothing is known to have been added.
fn none_added(file: &str, options: &Options) -> IngestError {
    if options.since_ns.is_some() || options.until_ns.is_some() {
        let reason = "no two of its samples lie within --since and --until, and what counts is what was added \
                      from one to the next";
        return IngestError::new(IngestErrorKind::NothingSelected, file, reason).remedy("widen the range");
    }
    let reason = "no series has two states, between which something may have been added";
    IngestError::new(IngestErrorKind::Empty, file, reason).remedy("give a later state as well")
}

/// What was added from state to state, and how often a counter started anew: its counts fell, or its start is another.
fn increases(snapshots: &[&Snapshot], first_counts: bool) -> (Vec<Increase>, u64) {
    let mut found = Vec::new();
    let mut resets = 0;
    let mut before: Option<&Snapshot> = None;
    for now in snapshots {
        let start = match now.covers {
            Covers::Only(start) => {
                let interval_ns = now.at_ns.map(|at| (start, at));
                found.push(Increase { counts: now.counts.clone(), interval_ns });
                continue;
            }
            Covers::Since(start) => start,
        };
        let whole = || Increase { counts: now.counts.clone(), interval_ns: start.zip(now.at_ns) };
        match before {
            None if first_counts => found.push(whole()),
            None => {}
            Some(earlier) => {
                let restarted = matches!(earlier.covers, Covers::Since(Some(then)) if start.is_some_and(|now| now != then));
                let added = if restarted { None } else { now.counts.since(&earlier.counts) };
                let interval_ns = earlier.at_ns.zip(now.at_ns);
                resets += u64::from(added.is_none());
                // What was counted between the earlier state and the restart is lost to everyone.
                found.push(added.map_or_else(whole, |counts| Increase { counts, interval_ns }));
            }
        }
        before = Some(now);
    }
    (found, resets)
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
    let failed = STATUS_LABELS
        .iter()
        .filter_map(|label| key.label(label))
        .any(|value| Outcome::Status.failed(value.as_bytes()));
    let group = group(key, &collector.options);
    for part in total.parts() {
        let ranged = ranged(&part, unit, round_edges);
        let histogram = HistogramOf { ranged: &ranged, failed, interval_ns: None, group: group.as_deref() };
        collector.histogram(file, &histogram)?;
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

fn group(key: &SeriesKey, options: &Options) -> Option<String> {
    if options.group_by.is_empty() {
        return None;
    }
    let value =
        |label: &String| key.label(label).filter(|value| !value.is_empty()).unwrap_or("(empty)").to_owned();
    Some(options.group_by.iter().map(value).collect::<Vec<_>>().join(" / "))
}

/// A label that is absent is an empty one, as in a query.
fn passes(key: &SeriesKey, options: &Options) -> bool {
    options
        .filters
        .iter()
        .all(|filter| (key.label(&filter.column).unwrap_or_default() == filter.value) != filter.negated)
}

fn check_labels(file: &str, keys: &BTreeSet<&SeriesKey>, options: &Options) -> Result<(), IngestError> {
    let labels: BTreeSet<&str> =
        keys.iter().flat_map(|key| key.labels.iter().map(|(label, _)| label.as_str())).collect();
    let mut asked = options.group_by.iter().chain(options.filters.iter().map(|filter| &filter.column));
    match asked.find(|label| !labels.contains(label.as_str())) {
        None => Ok(()),
        Some(label) => {
            let error =
                IngestError::new(IngestErrorKind::Column, file, format!("there is no label \"{label}\""));
            Err(if labels.is_empty() {
                error.remedy("its series have no labels")
            } else {
                error.remedy(format!("its labels are {}", listed(labels.into_iter())))
            })
        }
    }
}

fn listed<'a>(names: impl Iterator<Item = &'a str>) -> String {
    let mut names: Vec<&str> = names.collect();
    let more = names.len() > LISTED;
    names.truncate(LISTED);
    let text = names.iter().map(|name| format!("\"{name}\"")).collect::<Vec<_>>().join(", ");
    if more { format!("{text}, …") } else { text }
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
