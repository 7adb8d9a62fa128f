//! What was added to a series from state to state.

use super::counts::Counts;
use super::series::{Covers, Snapshot};
use crate::ingest::error::{IngestError, IngestErrorKind};
use crate::ingest::options::Options;

/// What was added to a series between two states.
pub(super) struct Increase {
    pub(super) counts: Counts,
    pub(super) interval_ns: Option<(i64, i64)>,
}

/// What was added to a series in all files.
#[derive(Default)]
pub(super) struct Added {
    pub(super) increases: Vec<Increase>,
    /// How often the series started anew.
    pub(super) resets: u64,
    /// Whether it is everything since the process started.
    pub(super) since_start: bool,
}

impl Added {
    /// Adds what came from state to state; of the first, everything that it has counted if `first_counts`.
    pub(super) fn follow(&mut self, snapshots: &[&Snapshot], first_counts: bool) {
        let (increases, resets) = increases(snapshots, first_counts);
        self.increases.extend(increases);
        self.resets += resets;
    }
}

/// Whether a state counts in the time that was asked for: an increase by its start, a total if what was added up to it,
/// or from it on, may lie within.
pub(super) fn selected(file: &str, snapshot: &Snapshot, options: &Options) -> Result<bool, IngestError> {
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
pub(super) fn none_added(file: &str, options: &Options) -> IngestError {
    if options.since_ns.is_some() || options.until_ns.is_some() {
        let reason = "nothing was added from one sample to the next within --since and --until";
        return IngestError::new(IngestErrorKind::NothingSelected, file, reason)
            .remedy("widen the range so that two samples lie within");
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
