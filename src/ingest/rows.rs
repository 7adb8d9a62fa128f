//! Rows one by one: the careful path, which knows every odd spelling and the place of every fault.

use super::collect::{Collector, Outcome};
use super::columns::Columns;
use super::duration::{self, DurationError};
use super::error::{IngestError, IngestErrorKind};
use super::phases::{Labelled, LabelledRows};
use super::records::Records;
use super::skipped::{Place, shown};
use super::timestamp;
use crate::profile::{Attempt, Phase, PhaseForm, Phases};
use std::io::BufRead;

/// How the group of an empty cell is named.
pub(super) const EMPTY: &str = "(empty)";

/// A table whose columns are known.
pub(super) struct Table<'a> {
    pub(super) file: &'a str,
    pub(super) columns: &'a Columns,
    pub(super) delimiter: u8,
}

/// Reads rows, one at a time.
pub(super) struct Rows<'a> {
    file: &'a str,
    columns: &'a Columns,
    collector: &'a mut Collector,
    group: String,
    /// The duration of the row at hand.
    measured_ns: u64,
    /// The phases of the attempt at hand.
    phases: Vec<(Phase, u64)>,
    /// Whether a date had no zone.
    pub(super) zone_assumed: bool,
}

/// Why a row cannot be read, and in which field.
struct BadRow {
    reason: String,
    field: Option<usize>,
}

/// Why there is no attempt.
enum Fault {
    Row(BadRow),
    /// What was read so far is not what it was taken for.
    Table(IngestError),
}

impl From<BadRow> for Fault {
    fn from(bad: BadRow) -> Self {
        Fault::Row(bad)
    }
}

impl<'a> Rows<'a> {
    pub(super) fn new(table: &Table<'a>, collector: &'a mut Collector) -> Self {
        let (file, columns) = (table.file, table.columns);
        Rows {
            file,
            columns,
            collector,
            group: String::new(),
            measured_ns: 0,
            phases: Vec::new(),
            zone_assumed: false,
        }
    }

    pub(super) fn row<R: BufRead>(&mut self, record: &Records<R>) -> Result<(), IngestError> {
        self.collector.rows += 1;
        match self.attempt(record) {
            Ok(None) => Ok(()),
            Ok(Some((attempt, grouped))) => {
                let group = std::mem::take(&mut self.group);
                let attempt = Attempt { group: grouped.then_some(group.as_str()), ..attempt };
                let outcome = self.collector.attempt(self.file, &attempt);
                if matches!(outcome, Ok(Outcome::Counted)) {
                    self.count_phases(record, &attempt);
                    self.count_unknown_outcomes(record, attempt.weight);
                }
                self.group = group;
                match outcome? {
                    Outcome::Counted => Ok(()),
                    Outcome::Filtered => {
                        self.collector.rows -= 1;
                        Ok(())
                    }
                    Outcome::TooLong => self.skip(record, &self.bad_duration(DurationError::TooLong)),
                }
            }
            Err(Fault::Row(bad)) => self.skip(record, &bad),
            Err(Fault::Table(error)) => Err(error),
        }
    }

    /// Counts the phases of an attempt that was counted.
    fn count_phases<R: BufRead>(&mut self, record: &Records<R>, attempt: &Attempt<'_>) {
        let recorder = &mut self.collector.recorder;
        if !self.phases.is_empty() {
            recorder.add_phases(attempt.group, |phases| phases.add_attempt(&self.phases, attempt.weight));
        }
        let Some(labels) = self.columns.labels.as_ref() else { return };
        if labels.rows == LabelledRows::Beside {
            return;
        }
        if let Labelled::Phase(phase) = labels.read(record.field(labels.column).unwrap_or_default()) {
            // What the recorder counts was corrected; a phase is what was measured.
            let ns = self.measured_ns;
            let form = PhaseForm::InsteadOfAttempts;
            recorder.add_phases(attempt.group, |phases| phases.add_phase(form, phase, ns));
        }
    }

    /// Counts the words of an attempt that was counted which say neither that it failed nor that it did not.
    fn count_unknown_outcomes<R: BufRead>(&mut self, record: &Records<R>, attempts: u64) {
        for (column, outcome) in &self.columns.outcomes {
            let cell = record.field(*column).unwrap_or_default();
            if outcome.judge(cell).is_none() {
                let name = self.columns.outcome_names.as_deref().unwrap_or_default();
                self.collector.unknown_outcomes.add(name, cell, attempts);
            }
        }
    }

    fn skip<R: BufRead>(&mut self, record: &Records<R>, bad: &BadRow) -> Result<(), IngestError> {
        // A record of several lines that cannot be read has most likely swallowed as many rows.
        let lines = record.lines();
        self.collector.rows += lines - 1;
        self.collector.skip(&bad.reason, lines, || Place {
            file: self.file.to_owned(),
            line: record.line(),
            column: bad
                .field
                .filter(|_| self.columns.lines.is_none())
                .and_then(|field| record.column_of(field)),
            text: bad.field.and_then(|field| record.field(field)).map(shown),
        })
    }

    fn bad_duration(&self, error: DurationError) -> BadRow {
        let name = &self.columns.duration_name;
        BadRow {
            reason: format!("with a bad duration in \"{name}\": {error}"),
            field: Some(self.columns.duration),
        }
    }

    /// The refusal of a whole attempt below its parts, which were counted as attempts.
    fn contradiction<R: BufRead>(&self, record: &Records<R>) -> IngestError {
        let column = self.columns.labels.as_ref().map_or(0, |labels| labels.column);
        let label = shown(record.field(column).unwrap_or_default());
        let name = self.columns.label_name.as_deref().unwrap_or_default();
        let reason = format!(
            "its {name} \"{label}\" is a whole attempt, and the rows above are parts of attempts, each of which was \
             counted as one"
        );
        let place = record.column_of(column).filter(|_| self.columns.lines.is_none());
        IngestError::new(IngestErrorKind::Format, self.file, reason).at(record.line(), place).remedy(format!(
            "read the attempts alone with --where \"{name}={label}\", or sort the file so that its first \
             hundred rows hold one"
        ))
    }

    /// The attempt in a record, and whether its group is set; `None` if a filter leaves it out.
    fn attempt<R: BufRead>(
        &mut self,
        record: &Records<R>,
    ) -> Result<Option<(Attempt<'static>, bool)>, Fault> {
        let columns = self.columns;
        self.check_width(record)?;
        let cell = |column: usize| record.field(column).unwrap_or_default();
        for filter in &columns.filters {
            if !filter.passes(cell(filter.column)) {
                self.collector.sums += u64::from(filter.beginning);
                self.collector.filtered += 1;
                self.collector.rows -= 1;
                return Ok(None);
            }
        }
        let label = columns.labels.as_ref().map(|labels| labels.read(cell(labels.column)));
        match label {
            Some(Labelled::Contradiction) => return Err(Fault::Table(self.contradiction(record))),
            Some(Labelled::Nothing) => {
                self.collector.filtered += 1;
                self.collector.rows -= 1;
                return Ok(None);
            }
            _ => {}
        }
        let duration_ns = duration::parse(cell(columns.duration), columns.unit, columns.decimal)
            .map_err(|error| self.bad_duration(error))?;
        self.measured_ns = duration_ns;
        let beside = columns.labels.as_ref().is_some_and(|labels| labels.rows == LabelledRows::Beside);
        if let (true, Some(Labelled::Phase(phase))) = (beside, label) {
            if self.started(record)?.is_some_and(|at| !self.collector.options.is_within(at)) {
                self.collector.filtered += 1;
                self.collector.rows -= 1;
                return Ok(None);
            }
            self.name_group(record);
            let group = (!columns.groups.is_empty()).then_some(self.group.as_str());
            let add = |phases: &mut Phases| phases.add_phase(PhaseForm::BesideAttempts, phase, duration_ns);
            self.collector.recorder.add_phases(group, add);
            return Ok(None);
        }
        self.phases.clear();
        for phase in &columns.phases {
            let text = cell(phase.column);
            match duration::parse(text, phase.unit, columns.decimal) {
                Ok(ns) => self.phases.push((phase.phase, ns)),
                Err(DurationError::Missing) => {}
                Err(error) => {
                    let reason = format!("with a bad duration of the phase {}: {error}", phase.phase.name());
                    return Err(BadRow { reason, field: Some(phase.column) }.into());
                }
            }
        }
        let weight = match columns.count {
            None => 1,
            Some(column) => whole(cell(column)).ok_or_else(|| BadRow {
                reason: "whose count is not a whole number".to_owned(),
                field: Some(column),
            })?,
        };
        let started_ns = self.started(record)?;
        let failed = columns.outcomes.iter().any(|(column, outcome)| outcome.failed(cell(*column)));
        self.name_group(record);
        let attempt = Attempt { duration_ns, weight, failed, started_ns, group: None };
        Ok(Some((attempt, !columns.groups.is_empty())))
    }

    /// Puts together the name of the group of a record.
    fn name_group<R: BufRead>(&mut self, record: &Records<R>) {
        let cell = |column: usize| record.field(column).unwrap_or_default();
        self.group.clear();
        for (place, column) in self.columns.groups.iter().enumerate() {
            if place > 0 {
                self.group.push_str(" / ");
            }
            let value = String::from_utf8_lossy(cell(*column).trim_ascii());
            self.group.push_str(if value.is_empty() { EMPTY } else { &value });
        }
    }

    /// Refuses records with too few or too many fields; empty ones at the end do no harm.
    fn check_width<R: BufRead>(&self, record: &Records<R>) -> Result<(), BadRow> {
        let width = self.columns.width;
        let spare = (width..record.len()).all(|field| record.field(field).is_some_and(<[u8]>::is_empty));
        if record.len() >= width && spare {
            return Ok(());
        }
        if let Some(format) = self.columns.lines {
            let is_json = format.to_ascii_lowercase().contains("json");
            let rule = if is_json { ": one object, each key once" } else { "" };
            let reason = format!("that are no lines of the format {format}{rule}");
            return Err(BadRow { reason, field: Some(0) });
        }
        Err(BadRow { reason: format!("with another number of fields than {width}"), field: None })
    }

    fn started<R: BufRead>(&mut self, record: &Records<R>) -> Result<Option<i64>, BadRow> {
        let Some(column) = self.columns.timestamp else { return Ok(None) };
        match timestamp::parse(record.field(column).unwrap_or_default()) {
            Ok(at) => {
                self.zone_assumed |= at.zone_assumed;
                Ok(Some(at.ns))
            }
            Err(_) if !self.columns.timestamp_required && !self.collector.options.selects_by_time() => {
                self.collector.unstamped += 1;
                Ok(None)
            }
            Err(_) => Err(BadRow { reason: "with a bad time stamp".to_owned(), field: Some(column) }),
        }
    }
}

/// A count, which some engines write as `12.0`.
pub(super) fn whole(cell: &[u8]) -> Option<u64> {
    let text = std::str::from_utf8(cell.trim_ascii()).ok()?;
    let digits = text
        .split_once('.')
        .map_or(Some(text), |(whole, fraction)| fraction.bytes().all(|byte| byte == b'0').then_some(whole))?;
    digits.parse().ok()
}
