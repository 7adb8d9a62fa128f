//! Counts the plain rows of a piece of a table, and notes which are not plain.

mod window;

use super::number::{decimal, short};
use super::scan::{Places, places};
use super::stamps::Stamps;
use crate::ingest::collect::Adjust;
use crate::ingest::columns::Columns;
use crate::ingest::duration::{self, Decimal, Unit};
use crate::ingest::options::Options;
use crate::ingest::phases::{Labelled, LabelledRows, PhaseLabels};
use crate::profile::{CapCounts, Grouped, Groups, LONGEST_NS, Phase, PhaseForm, Phases, Stretch, Tally};
use foldhash::fast::FixedState;
use std::collections::HashMap;
use std::sync::Arc;
use window::{WINDOW, Window};

/// What is the same for all rows of a table.
pub(super) struct Plan<'a> {
    pub(super) columns: &'a Columns,
    pub(super) delimiter: u8,
    pub(super) adjust: Adjust,
    pub(super) since_ns: Option<i64>,
    pub(super) until_ns: Option<i64>,
    /// Nanoseconds of a number by how many digits stand behind its point, as long as they are whole; empty where plain
    /// numbers are no durations.
    scales: Vec<u64>,
    /// Whether nothing is asked of a row that cannot be asked column by column.
    by_column: bool,
}

impl<'a> Plan<'a> {
    pub(super) fn new(columns: &'a Columns, delimiter: u8, options: &Options, adjust: Adjust) -> Self {
        let unit = columns.unit.map(Unit::ns);
        let scales = std::iter::successors(unit, |scale| scale.is_multiple_of(10).then_some(scale / 10));
        // Where a comma is the decimal sign a point groups thousands, so only numbers without one are plain.
        let most = if columns.decimal == Decimal::Comma { 1 } else { usize::MAX };
        let by_column = columns.count.is_none()
            && columns.filters.is_empty()
            && columns.phases.is_empty()
            && columns.labels.as_ref().is_none_or(|labels| labels.rows != LabelledRows::Beside)
            && !options.selects_by_time();
        Plan {
            by_column,
            columns,
            delimiter,
            adjust,
            since_ns: options.since_ns,
            until_ns: options.until_ns,
            scales: scales.take(most).collect(),
        }
    }
}

impl Plan<'_> {
    /// A duration in nanoseconds, which has so many by how many digits stand behind its point.
    #[inline(always)]
    fn duration(
        &self,
        bytes: &[u8],
        (start, end): (usize, usize),
        unit: Option<Unit>,
        scales: &[u64],
    ) -> Result<u64, NotPlain> {
        let quick = decimal(bytes, start, end)
            .and_then(|(number, behind)| number.checked_mul(*scales.get(behind)?))
            .filter(|ns| *ns <= LONGEST_NS);
        match quick {
            Some(ns) => Ok(ns),
            None => self.odd_duration(bytes.get(start..end).ok_or(NotPlain)?, unit),
        }
    }

    #[cold]
    fn odd_duration(&self, cell: &[u8], unit: Option<Unit>) -> Result<u64, NotPlain> {
        duration::parse(cell, unit, self.columns.decimal).map_err(|_| NotPlain)
    }
}

/// The groups that are told apart so far, by the bytes of their names.
#[derive(Debug, Default)]
pub(super) struct KnownGroups {
    places: HashMap<Box<[u8]>, u16, FixedState>,
    full: bool,
}

impl KnownGroups {
    pub(super) fn of(groups: &Groups) -> Self {
        let names = groups.in_order().iter().map(|group| group.name.as_bytes().into());
        KnownGroups {
            places: names.zip(0..).collect(),
            full: groups.in_order().len() >= crate::profile::MOST_GROUPS,
        }
    }

    pub(super) fn len(&self) -> usize {
        self.places.len()
    }
}

/// Records that are read in the order of the file, row by row.
#[derive(Debug)]
pub(super) struct InOrder {
    /// How many rows, stamps and lines come before them.
    pub(super) rows: u64,
    pub(super) stamps: usize,
    pub(super) line: u64,
    /// Where they begin and end.
    pub(super) from: usize,
    pub(super) to: usize,
}

/// What one thread counts.
pub(super) struct RowCounter<'a> {
    plan: &'a Plan<'a>,
    places: Places,
    window: Window,
    days: Stamps,
    pub(super) known: Arc<KnownGroups>,
    name: Vec<u8>,
    /// The short labels of the table, and its long ones.
    short_labels: Vec<(usize, u64, Labelled)>,
    labels: Vec<(Vec<u8>, Labelled)>,
    attempt_phases: Vec<(Phase, u64)>,
    /// All rows.
    pub(super) tally: Tally,
    /// The phases of the rows by group, and of groups that are not told apart.
    pub(super) group_phases: Vec<Phases>,
    pub(super) others_phases: Phases,
    pub(super) caps: CapCounts,
    /// Of the last piece:
    pub(super) stretch: Stretch,
    /// Rows with a group: only one thread at a time has histograms of all groups.
    pub(super) grouped: Vec<Grouped>,
    pub(super) in_order: Vec<InOrder>,
    pub(super) rows: u64,
    pub(super) filtered: u64,
    pub(super) unstamped: u64,
    pub(super) zone_assumed: bool,
    pub(super) lines: u64,
}

/// A record that may be plain: where its fields end.
#[derive(Clone, Copy)]
struct Row<'a> {
    bytes: &'a [u8],
    start: usize,
    /// Places of the delimiters, and of the end.
    ends: &'a [u32],
}

impl<'a> Row<'a> {
    #[inline]
    fn span(self, field: usize) -> (usize, usize) {
        let start = if field == 0 { self.start } else { self.ends[field - 1] as usize + 1 };
        (start, self.ends[field] as usize)
    }

    #[inline]
    fn field(self, field: usize) -> &'a [u8] {
        let (start, end) = self.span(field);
        &self.bytes[start..end]
    }
}

/// Why a row is not counted here.
struct NotPlain;

impl<'a> RowCounter<'a> {
    pub(super) fn new(plan: &'a Plan<'a>, caps_ns: &[u64], known: Arc<KnownGroups>) -> Self {
        RowCounter {
            plan,
            places: Places::default(),
            window: Window::default(),
            days: Stamps::default(),
            known,
            name: Vec::new(),
            short_labels: Vec::new(),
            labels: Vec::new(),
            attempt_phases: Vec::new(),
            tally: Tally::default(),
            group_phases: Vec::new(),
            others_phases: Phases::default(),
            grouped: Vec::new(),
            caps: CapCounts::new(caps_ns),
            stretch: Stretch::default(),
            in_order: Vec::new(),
            rows: 0,
            filtered: 0,
            unstamped: 0,
            zone_assumed: false,
            lines: 0,
        }
    }

    /// Counts the rows of a piece that consists of whole records.
    pub(super) fn count(&mut self, bytes: &[u8]) {
        self.stretch.clear();
        self.grouped.clear();
        self.in_order.clear();
        (self.rows, self.filtered, self.unstamped, self.zone_assumed, self.lines) = (0, 0, 0, false, 0);
        self.group_phases.resize_with(self.known.len(), Phases::default);
        let mut start = 0;
        while start < bytes.len() {
            let rest = &bytes[start..];
            let counted =
                if self.plan.by_column { self.window(&rest[..rest.len().min(WINDOW)]) } else { None };
            start = match counted {
                Some(counted) => start + counted,
                None if self.plan.by_column => self.one_by_one(bytes, start, start + WINDOW),
                None => self.one_by_one(bytes, start, bytes.len()),
            };
        }
    }

    /// Counts the rows that begin from `start` on and before `until`, one by one, and tells where the next one begins.
    fn one_by_one(&mut self, bytes: &[u8], mut start: usize, until: usize) -> usize {
        let until = until.min(bytes.len());
        let (width, delimiter, first) = (self.plan.columns.width, self.plan.delimiter, start);
        let mut found = std::mem::take(&mut self.places);
        places(&bytes[first..until], delimiter, &mut found);
        let mut next = 0;
        while start < until {
            let rest = &found.found()[next..];
            match plain(&bytes[first..], start - first, rest, width, delimiter) {
                Shape::Plain { taken, end } => {
                    let end = first + end;
                    let row = Row { bytes: &bytes[first..], start: start - first, ends: &rest[..width] };
                    if self.row(row).is_err() {
                        self.put_off(start, end);
                    }
                    self.lines += 1;
                    (start, next) = (end, next + taken);
                }
                Shape::Blank => {
                    self.lines += u64::from(bytes[start] == b'\n');
                    (start, next) = (start + 1, next + 1);
                }
                Shape::Other => {
                    let end = super::cut::record_end(&bytes[start..], delimiter);
                    let end = end.map_or(bytes.len(), |end| start + end);
                    self.put_off(start, end);
                    self.lines += memchr::memchr_iter(b'\n', &bytes[start..end]).count() as u64;
                    next += rest.iter().take_while(|place| first + (**place as usize) < end).count();
                    start = end;
                }
            }
        }
        self.places = found;
        start
    }

    /// Leaves a record to be read in order, with the one before if that was put off as well.
    fn put_off(&mut self, start: usize, end: usize) {
        let (rows, stamps, line) = (self.rows, self.stretch.len(), self.lines);
        if let Some(last) = self.in_order.last_mut()
            && last.to == start
        {
            last.to = end;
            return;
        }
        self.in_order.push(InOrder { rows, stamps, line, from: start, to: end });
    }

    /// Counts a row, or nothing of it if anything about it is unusual.
    #[inline]
    fn row(&mut self, row: Row<'_>) -> Result<(), NotPlain> {
        let plan = self.plan;
        let columns = plan.columns;
        if columns.count.is_some() {
            return Err(NotPlain);
        }
        for filter in &columns.filters {
            if !filter.passes(row.field(filter.column)) {
                if filter.beginning {
                    // Those are counted by themselves.
                    return Err(NotPlain);
                }
                self.filtered += 1;
                return Ok(());
            }
        }
        let label =
            columns.labels.as_ref().map(|labels| self.label(labels, row.bytes, row.span(labels.column)));
        match label {
            Some(Labelled::Contradiction) => return Err(NotPlain),
            Some(Labelled::Nothing) => {
                self.filtered += 1;
                return Ok(());
            }
            _ => {}
        }
        let measured_ns = plan.duration(row.bytes, row.span(columns.duration), columns.unit, &plan.scales)?;
        let ns = plan.adjust.apply(measured_ns);
        if ns > LONGEST_NS {
            return Err(NotPlain);
        }
        self.attempt_phases.clear();
        for phase in &columns.phases {
            if duration::is_missing(duration::trim(row.field(phase.column))) {
                continue;
            }
            let scales = if phase.unit == columns.unit { &plan.scales[..] } else { &[] };
            let ns = plan.duration(row.bytes, row.span(phase.column), phase.unit, scales)?;
            self.attempt_phases.push((phase.phase, ns));
        }
        let mut started = None;
        if let Some(column) = columns.timestamp {
            started = self.days.read(row.field(column));
            if started.is_none() && (columns.timestamp_required || plan.since_ns.or(plan.until_ns).is_some())
            {
                return Err(NotPlain);
            }
        }
        if let Some(at) = started {
            self.zone_assumed |= at.zone_assumed;
            if plan.since_ns.is_some_and(|since| at.ns < since)
                || plan.until_ns.is_some_and(|until| at.ns >= until)
            {
                self.filtered += 1;
                return Ok(());
            }
        }
        let mut failed = false;
        for (column, outcome) in &columns.outcomes {
            // Words that are not known are counted one by one.
            failed |= outcome.judge(row.field(*column)).ok_or(NotPlain)?;
        }
        let mut place = Place::Plain;
        if !columns.groups.is_empty() {
            place = self.place(|column| row.field(column))?;
        }
        self.rows += 1;
        if let (Some(Labelled::Phase(phase)), Some(labels)) = (label, &columns.labels) {
            if labels.rows == LabelledRows::Beside {
                // No attempt by itself.
                self.phases(place, |phases| phases.add_phase(PhaseForm::BesideAttempts, phase, measured_ns));
                self.unstamped += u64::from(started.is_none() && columns.timestamp.is_some());
                return Ok(());
            }
            self.phases(place, |phases| phases.add_phase(PhaseForm::InsteadOfAttempts, phase, measured_ns));
        }
        if !self.attempt_phases.is_empty() {
            let attempt = std::mem::take(&mut self.attempt_phases);
            self.phases(place, |phases| phases.add_attempt(&attempt, 1));
            self.attempt_phases = attempt;
        }
        self.tally.add(ns, failed);
        self.group(place, failed, ns);
        self.caps.add(ns, 1);
        match started {
            Some(at) => self.stretch.add(at.ns, at.step_ns, ns),
            None => self.unstamped += u64::from(columns.timestamp.is_some()),
        }
        Ok(())
    }

    /// Adds to the phases of all attempts, and of those of a group if there are groups.
    #[inline]
    fn phases(&mut self, place: Place, add: impl Fn(&mut Phases)) {
        add(self.tally.phases_mut());
        match place {
            Place::Plain => {}
            Place::Others => add(&mut self.others_phases),
            Place::Group(place) => add(&mut self.group_phases[usize::from(place)]),
        }
    }

    /// Notes an attempt of a group if there are groups.
    #[inline]
    fn group(&mut self, place: Place, failed: bool, ns: u64) {
        let group = match place {
            Place::Plain => return,
            Place::Others => None,
            Place::Group(place) => Some(place),
        };
        self.grouped.push(Grouped { group, failed, ns });
    }

    /// What a row with a label is; the few labels of a table are remembered.
    #[inline]
    fn label(&mut self, labels: &PhaseLabels, bytes: &[u8], (start, end): (usize, usize)) -> Labelled {
        const MOST: usize = 32;
        let key = short(bytes, start, end);
        if let Some(key) = key {
            let known = self.short_labels.iter().find(|known| (known.0, known.1) == (end - start, key));
            if let Some((.., label)) = known {
                return *label;
            }
        }
        let text = &bytes[start..end];
        if let Some((_, label)) = self.labels.iter().find(|(known, _)| known == text) {
            return *label;
        }
        let label = labels.read(text);
        match key {
            Some(key) if self.short_labels.len() < MOST => {
                self.short_labels.push((end - start, key, label));
            }
            None if self.labels.len() < MOST => self.labels.push((text.to_vec(), label)),
            _ => {}
        }
        label
    }

    /// Where a row with these cells is counted by its group.
    #[inline]
    fn place<'c>(&mut self, cell: impl Fn(usize) -> &'c [u8]) -> Result<Place, NotPlain> {
        let name: &[u8] = match self.plan.columns.groups.as_slice() {
            [column] => or_empty(cell(*column).trim_ascii()),
            columns => {
                self.name.clear();
                for (place, column) in columns.iter().enumerate() {
                    if place > 0 {
                        self.name.extend_from_slice(b" / ");
                    }
                    self.name.extend_from_slice(or_empty(cell(*column).trim_ascii()));
                }
                &self.name
            }
        };
        if let Some(place) = self.known.places.get(name) {
            return Ok(Place::Group(*place));
        }
        let text = std::str::from_utf8(name);
        if self.known.full && text.is_ok_and(|name| !Groups::is_shortened(name)) {
            return Ok(Place::Others);
        }
        // A group that was not met before is entered in the order of the file.
        Err(NotPlain)
    }
}

/// Where a row is counted.
#[derive(Clone, Copy, Debug)]
enum Place {
    Plain,
    Others,
    Group(u16),
}

fn or_empty(value: &[u8]) -> &[u8] {
    if value.is_empty() { crate::ingest::rows::EMPTY.as_bytes() } else { value }
}

/// The shape of what begins at a place.
enum Shape {
    /// As many fields as there are columns, none of them quoted: how many places it takes, and where the next begins.
    Plain {
        taken: usize,
        end: usize,
    },
    /// An empty line, or the second half of a line's end.
    Blank,
    Other,
}

#[inline]
fn plain(bytes: &[u8], start: usize, places: &[u32], width: usize, delimiter: u8) -> Shape {
    let Some(row) = places.get(..width) else {
        return match bytes[start] {
            b'\n' | b'\r' => Shape::Blank,
            _ => Shape::Other,
        };
    };
    let Some((last, between)) = row.split_last() else { return Shape::Other };
    if row[0] as usize == start && matches!(bytes[start], b'\n' | b'\r') {
        return Shape::Blank;
    }
    if between.iter().any(|place| bytes[*place as usize] != delimiter) {
        return Shape::Other;
    }
    let last = *last as usize;
    match bytes[last] {
        b'\n' => Shape::Plain { taken: width, end: last + 1 },
        b'\r' if bytes.get(last + 1) == Some(&b'\n') => Shape::Plain { taken: width + 1, end: last + 2 },
        _ => Shape::Other,
    }
}
