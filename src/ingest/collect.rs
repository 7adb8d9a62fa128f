//! What all readers share: filters on time, corrections, counting, and the judgement at the end.

use super::error::{IngestError, IngestErrorKind};
use super::metrics::Store;
use super::notice::IngestNotice;
use super::options::{CORRECTING, Correction, Flag, OF_TABLES, Options, SELECTING, whole_ns};
use super::skipped::{Place, Skipped};
use super::unknown_outcomes::UnknownOutcomes;
use super::watch::Watch;
use crate::profile::{
    Attempt, Grouped, HistogramOf, MOST_CAPS, ProfileError, ProfileRecorder, Ranged, ServiceProfile,
    ServiceTimes, Source, Sum, Tally,
};
use crate::units::Exact;
use std::collections::BTreeSet;

/// Rows after which a reader gives up if none of them could be read.
const HOPELESS_ROWS: u64 = 1000;

/// Shares are kept as whole billionths: finer than anybody can know one.
const SHARE_SCALE: u64 = 1_000_000_000;

/// Turns endpoint latency into service time.
#[derive(Clone, Copy, Debug)]
pub(super) enum Adjust {
    Nothing,
    Add(u64),
    /// Divide by so many billionths.
    Scale(u64),
}

impl Adjust {
    #[inline]
    pub(super) fn apply(self, ns: u64) -> u64 {
        match self {
            Adjust::Nothing => ns,
            Adjust::Add(overhead) => ns.saturating_add(overhead),
            Adjust::Scale(share) => {
                let exact = u128::from(ns) * u128::from(SHARE_SCALE) + u128::from(share / 2);
                u64::try_from(exact / u128::from(share.max(1))).unwrap_or(u64::MAX)
            }
        }
    }

    /// The same of every attempt of a histogram.
    fn ranged(self, ranged: &Ranged) -> Ranged {
        let mut adjusted = ranged.clone();
        if matches!(self, Adjust::Nothing) {
            return adjusted;
        }
        for range in &mut adjusted.ranges {
            range.low_ns = self.apply(range.low_ns);
            range.high_ns = range.high_ns.map(|high| self.apply(high));
        }
        let count = ranged.count();
        if let Sum::Known { ns, low_ns, high_ns } = ranged.sum {
            let [ns, low_ns, high_ns] = [ns, low_ns, high_ns].map(|sum| self.sum(sum, count));
            adjusted.sum = Sum::Known { ns, low_ns, high_ns };
            adjusted.sum_squares_ns2 = ranged.sum_squares_ns2.map(|squares| self.squares(squares, ns, count));
        }
        adjusted
    }

    fn sum(self, sum_ns: u128, count: u64) -> u128 {
        match self {
            Adjust::Nothing => sum_ns,
            Adjust::Add(overhead) => sum_ns.saturating_add(u128::from(overhead) * u128::from(count)),
            Adjust::Scale(share) => sum_ns.saturating_mul(SHARE_SCALE.into()) / u128::from(share.max(1)),
        }
    }

    /// The sum of squares, given the sum after the adjustment: Σ(x+o)² = Σx² + 2oΣ(x+o) − no².
    fn squares(self, squares: u128, adjusted_sum_ns: u128, count: u64) -> u128 {
        match self {
            Adjust::Nothing => squares,
            Adjust::Add(overhead) => {
                let overhead = u128::from(overhead);
                let twice = overhead.saturating_mul(2).saturating_mul(adjusted_sum_ns);
                let once = overhead.saturating_mul(overhead).saturating_mul(count.into());
                squares.saturating_add(twice.saturating_sub(once))
            }
            Adjust::Scale(share) => {
                let factor = SHARE_SCALE as f64 / share.max(1) as f64;
                (squares as f64 * factor * factor) as u128
            }
        }
    }
}

/// Collects the attempts of all files.
pub(super) struct Collector {
    pub(super) options: Options,
    pub(super) recorder: ProfileRecorder,
    /// Saved profiles among the files.
    merged: Option<ServiceProfile>,
    pub(super) adjust: Adjust,
    source: Option<Source>,
    pub(super) skipped: Skipped,
    /// Rows that hold an attempt, whether it was read or not.
    pub(super) rows: u64,
    /// Rows that a filter left out.
    pub(super) filtered: u64,
    /// Rows whose time stamp was left empty or could not be read, where that column was found and not named.
    pub(super) unstamped: u64,
    /// Rows among those that sum up other rows.
    pub(super) sums: u64,
    /// Words of a status that are known neither as a failure nor as a success.
    pub(super) unknown_outcomes: UnknownOutcomes,
    pub(super) notices: Vec<IngestNotice>,
    /// Series of metrics: what was added to them is known once all files are read.
    pub(super) metrics: Store,
    /// Where others can see how far the reading is.
    pub(super) watch: Watch,
}

/// What became of an attempt.
pub(super) enum Outcome {
    Counted,
    /// A filter on time left it out.
    Filtered,
    /// It is not the duration of an attempt.
    TooLong,
}

impl Collector {
    pub(super) fn new(options: &Options) -> Result<Self, IngestError> {
        let bad = |reason: &str| IngestError::new(IngestErrorKind::Options, "options", reason.to_owned());
        let adjust = match &options.correction {
            None => Adjust::Nothing,
            Some(Correction::Overhead(overhead)) => Adjust::Add(whole_ns(overhead)),
            Some(Correction::EndpointShare(share)) => {
                let billionths = share.exact() * &Exact::whole(SHARE_SCALE.into());
                Adjust::Scale(
                    billionths
                        .floor()
                        .filter(|share| *share > 0)
                        .ok_or_else(|| bad("the endpoint's share of service time must be more than zero"))?,
                )
            }
        };
        if options.since_ns.zip(options.until_ns).is_some_and(|(since, until)| since >= until) {
            return Err(bad("--since is not before --until, so nothing lies between them"));
        }
        let caps_ns: BTreeSet<u64> = options.caps_ns().into_iter().collect();
        if caps_ns.len() > MOST_CAPS {
            return Err(bad(&format!(
                "--cap names {} timeouts, and at most {MOST_CAPS} are counted",
                caps_ns.len()
            )));
        }
        Ok(Collector {
            recorder: ProfileRecorder::new(&options.caps_ns()),
            merged: None,
            adjust,
            source: None,
            skipped: Skipped::default(),
            rows: 0,
            filtered: 0,
            unstamped: 0,
            sums: 0,
            unknown_outcomes: UnknownOutcomes::default(),
            notices: Vec::new(),
            metrics: Store::default(),
            watch: Watch::default(),
            options: options.clone(),
        })
    }

    /// Counts an attempt.
    pub(super) fn attempt(&mut self, file: &str, attempt: &Attempt<'_>) -> Result<Outcome, IngestError> {
        if attempt.started_ns.is_some_and(|at| !self.options.is_within(at)) {
            self.filtered += 1;
            return Ok(Outcome::Filtered);
        }
        let adjusted = Attempt { duration_ns: self.adjust.apply(attempt.duration_ns), ..*attempt };
        match self.recorder.add(&adjusted) {
            Ok(()) => Ok(Outcome::Counted),
            Err(ProfileError::TooLong { .. }) => Ok(Outcome::TooLong),
            Err(_) => Err(too_large(file)),
        }
    }

    /// Takes over attempts that were counted apart.
    pub(super) fn take_over(&mut self, file: &str, tally: Tally) -> Result<(), IngestError> {
        self.recorder.take_over(tally).map_err(|_| too_large(file))
    }

    /// Counts attempts in their groups that are taken over as well.
    pub(super) fn take_over_grouped(&mut self, file: &str, attempts: &[Grouped]) -> Result<(), IngestError> {
        self.recorder.take_over_grouped(attempts).map_err(|_| too_large(file))
    }

    /// Counts the attempts of a histogram; `false` if a filter on time leaves it out: it belongs to the time at which
    /// its interval starts.
    pub(super) fn histogram(&mut self, file: &str, histogram: &HistogramOf<'_>) -> Result<bool, IngestError> {
        if histogram.interval_ns.is_some_and(|(start, _)| !self.options.is_within(start)) {
            self.filtered += 1;
            return Ok(false);
        }
        let adjusted = self.adjusted(histogram.ranged);
        let counted = self.recorder.add_histogram(&HistogramOf { ranged: &adjusted, ..*histogram });
        counted.map_err(|error| unusable(file, error)).map(|()| true)
    }

    /// Counts arrivals within an interval, in nanoseconds since the epoch.
    pub(super) fn arrived(&mut self, (start_ns, end_ns): (i64, i64), count: u64) {
        self.recorder.add_arrivals(start_ns, end_ns, count);
    }

    /// The histogram with latency turned into service time.
    pub(super) fn adjusted(&self, ranged: &Ranged) -> Ranged {
        self.adjust.ranged(ranged)
    }

    /// Gives a name to the attempts of a file that had no group, if others have one.
    pub(super) fn name_ungrouped(
        &mut self,
        file: &str,
        name: &str,
        ungrouped: &ServiceTimes,
    ) -> Result<(), IngestError> {
        self.recorder.name_ungrouped(name, ungrouped).map_err(|error| unusable(file, error))
    }

    /// Counts a row that could not be read, and gives up if nothing can be.
    pub(super) fn skip(
        &mut self,
        reason: &str,
        rows: u64,
        place: impl FnOnce() -> Place,
    ) -> Result<(), IngestError> {
        self.skipped.add(reason, rows, place);
        let (bad, all) = (self.skipped.rows(), self.rows);
        if all >= HOPELESS_ROWS && bad >= all && !self.options.max_bad_rows.allows(bad, all) {
            return Err(self.too_many_bad_rows());
        }
        Ok(())
    }

    /// Says what a file was recognised as.
    pub(super) fn recognised(&mut self, mut source: Source) {
        source.correction = self.options.correction.as_ref().map(|correction| match correction {
            Correction::Overhead(overhead) => format!("{overhead} added to each attempt"),
            Correction::EndpointShare(share) => format!("each attempt divided by {share}"),
        });
        source.endpoint_latency &= self.options.correction.is_none();
        match &mut self.source {
            Some(known) => known.merge(&source),
            None => self.source = Some(source),
        }
    }

    /// Adds a saved profile.
    pub(super) fn profile(&mut self, file: &str, profile: ServiceProfile) -> Result<(), IngestError> {
        let whole = "a saved profile: give it where the attempts themselves are read";
        self.options.refuse(file, whole, &[SELECTING, CORRECTING])?;
        match &mut self.merged {
            Some(merged) => {
                self.notices.extend(incomplete(merged, &profile));
                merged.merge(&profile).map_err(|_| too_large(file))?;
            }
            None => self.merged = Some(profile),
        }
        Ok(())
    }

    fn too_many_bad_rows(&self) -> IngestError {
        let (bad, all) = (self.skipped.rows(), self.rows);
        let place = self.skipped.reasons.first().and_then(|reason| reason.first.first());
        let file = place.map_or("input", |place| place.file.as_str());
        let percent = crate::units::human::percent(bad as f64 / all.max(1) as f64);
        let reason = format!(
            "{bad} of {all} rows ({percent}) cannot be read, and {} is allowed: {}",
            self.options.max_bad_rows,
            self.skipped.describe()
        );
        let error = IngestError::new(IngestErrorKind::TooManyBadRows, file, reason)
            .remedy("look at these lines; --max-bad-rows allows more, --where selects rows");
        match place {
            Some(place) => error.at(place.line, place.column),
            None => error,
        }
    }

    /// Judges what was read, and makes the profile of it.
    pub(super) fn finish(mut self, files: &str) -> Result<(ServiceProfile, Rest), IngestError> {
        let (count, failures) = self.recorder.counts();
        if !self.options.max_bad_rows.allows(self.skipped.rows(), self.rows) {
            return Err(self.too_many_bad_rows());
        }
        let recorded = self.recorder.finish(self.source.unwrap_or_default());
        let profile = match (recorded, self.merged) {
            (Some(mut recorded), Some(merged)) => {
                self.notices.extend(incomplete(&recorded, &merged));
                recorded.merge(&merged).map_err(|_| too_large(files))?;
                recorded
            }
            (Some(profile), None) => profile,
            (None, Some(profile)) => {
                // Beside tables these say how the tables are read.
                let of_tables: [&[Flag]; 2] = [&[Flag::Column, Flag::Unit, Flag::GroupBy], OF_TABLES];
                self.options.refuse(files, "saved profiles alone", &of_tables)?;
                profile
            }
            (None, None) => {
                let selecting = !self.options.filters.is_empty() || self.options.selects_by_time();
                return Err(nothing(files, self.rows, self.filtered, selecting));
            }
        };
        if count > 0 && failures == count && profile.failures() == profile.count() {
            let reason = format!(
                "all {count} attempts failed, which says nothing of the service time of attempts that do not"
            );
            return Err(IngestError::new(IngestErrorKind::OnlyFailures, files, reason)
                .remedy("check which column tells failures, or read a time in which attempts succeeded"));
        }
        if self.unstamped > 0 {
            self.notices.push(IngestNotice::Unstamped { rows: self.unstamped });
        }
        if self.sums > 0 {
            self.notices.push(IngestNotice::SumsLeftOut { rows: self.sums });
        }
        self.notices.extend(self.unknown_outcomes.notice());
        let rest =
            Rest { skipped: self.skipped, rows: self.rows, filtered: self.filtered, notices: self.notices };
        Ok((profile, rest))
    }
}

/// What there is to say beside the profile.
pub(super) struct Rest {
    pub(super) skipped: Skipped,
    pub(super) rows: u64,
    pub(super) filtered: u64,
    pub(super) notices: Vec<IngestNotice>,
}

/// What there is to say where one of two profiles counts groups together and the other may name them.
fn incomplete(one: &ServiceProfile, other: &ServiceProfile) -> Option<IngestNotice> {
    let joined = |profile: &ServiceProfile| profile.groups().others().count() > 0;
    let named = |profile: &ServiceProfile| !profile.groups().in_order().is_empty();
    (joined(one) && named(other) || joined(other) && named(one)).then_some(IngestNotice::GroupsIncomplete)
}

/// Why the counts of a histogram cannot be used, and what to do about it.
fn unusable(file: &str, error: ProfileError) -> IngestError {
    let new = |kind| IngestError::new(kind, file, error.to_string());
    match error {
        ProfileError::TooLong { .. } => {
            new(IngestErrorKind::Unit).remedy("say which unit its values have with --unit s, ms, us or ns")
        }
        ProfileError::TooMany => too_large(file),
        ProfileError::NoSum { .. } => new(IngestErrorKind::Malformed).remedy("export the sum as well"),
        ProfileError::SumContradicts => {
            new(IngestErrorKind::Malformed).remedy("sum and buckets must be of the same unit and moment")
        }
    }
}

fn too_large(file: &str) -> IngestError {
    IngestError::new(IngestErrorKind::TooLarge, file, ProfileError::TooMany.to_string())
        .remedy("read it in parts")
}

fn nothing(files: &str, rows: u64, filtered: u64, selecting: bool) -> IngestError {
    if filtered > 0 {
        let new = |reason| IngestError::new(IngestErrorKind::NothingSelected, files, reason);
        return if selecting {
            new(format!("none of its {filtered} rows passes the filters"))
                .remedy("check --where, --since and --until")
        } else {
            new(format!("none of its {filtered} rows is an attempt; they measure something else"))
                .remedy("export the requests as well (of k6, http_req_duration)")
        };
    }
    let reason = if rows == 0 { "there is no row below its header" } else { "no row stands for an attempt" };
    IngestError::new(IngestErrorKind::Empty, files, reason).remedy("export the attempts themselves")
}
