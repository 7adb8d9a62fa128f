//! Counts the plain rows of a window column by column: a loop over one column stays in a processor's registers, and what
//! a column has in common (a label, a second, the kind of its quotes) is seen once.

use super::{NotPlain, Place, RowCounter};
use crate::ingest::bulk::number::short;
use crate::ingest::bulk::scan::{Places, ends};
use crate::ingest::collect::Adjust;
use crate::ingest::phases::{Labelled, LabelledRows, PhaseLabels};
use crate::profile::{LONGEST_NS, Phase, PhaseForm};

/// Bytes of a window: they and what is known of their rows stay in the first cache.
pub(super) const WINDOW: usize = 8 * 1024;

/// The most columns of which the quotes are looked at.
const MOST_QUOTED: usize = 64;

/// What is known of the rows of a window.
#[derive(Debug, Default)]
pub(super) struct Window {
    ends: Places,
    durations_ns: Vec<u64>,
    starts_ns: Vec<i64>,
    phases: Vec<Phase>,
    places: Vec<Place>,
    failed: Vec<bool>,
}

/// Rows of one shape: as many fields as there are columns, in some columns all of them quoted, in the others none.
#[derive(Clone, Copy)]
struct Shaped<'a> {
    bytes: &'a [u8],
    /// Where the fields end, behind the place before the first row.
    ends: &'a [u32],
    width: usize,
    rows: usize,
    /// A bit for each column that is quoted.
    quoted: u64,
    /// Whether a carriage return stands before each line feed.
    returns: bool,
}

impl<'a> Shaped<'a> {
    /// The rows that end within the bytes; `None` if there is none, or they are not of one shape.
    fn of(bytes: &'a [u8], ends: &'a [u32], width: usize) -> Option<Self> {
        let rows = (ends.len().checked_sub(1)?).checked_div(width).filter(|rows| *rows > 0)?;
        let ends = &ends[..=rows * width];
        let bytes = &bytes[..=*ends.last()? as usize];
        let mut lasts = ends[1..].chunks_exact(width).map(|row| row[width - 1] as usize);
        // As many line feeds as rows, and each where a row ends, so none elsewhere.
        if !lasts.all(|last| bytes[last] == b'\n') || memchr::memchr_iter(b'\n', bytes).count() != rows {
            return None;
        }
        let plain = Shaped { bytes, ends, width, rows, quoted: 0, returns: false };
        if memchr::memchr2(b'"', b'\r', bytes).is_none() { Some(plain) } else { plain.dressed() }
    }

    /// The same rows with quotes or carriage returns, if these are such as any program writes everywhere.
    fn dressed(mut self) -> Option<Self> {
        let returns = memchr::memchr_iter(b'\r', self.bytes).count();
        let quotes = memchr::memchr_iter(b'"', self.bytes).count();
        self.returns = returns > 0;
        // A text of a line's end alone is taken off a field's end below.
        let before_feed = |(start, end): (usize, usize)| start < end && self.bytes[end - 1] == b'\r';
        let last = Shaped { returns: false, ..self }.spans(self.width - 1);
        if self.returns && (returns != self.rows || !last.into_iter().all(before_feed)) {
            return None;
        }
        let begins = |(start, end): (usize, usize)| start < end && self.bytes[start] == b'"';
        let columns = 0..self.width.min(MOST_QUOTED);
        let quoted =
            columns.filter(|column| self.spans(*column).next().is_some_and(begins)).collect::<Vec<_>>();
        let both = |(start, end): (usize, usize)| {
            start + 1 < end && self.bytes[start] == b'"' && self.bytes[end - 1] == b'"'
        };
        // Two quotes a field of these columns, and no more anywhere: so none within a field, and a delimiter or a
        // line's end between two fields is really one.
        if quotes != 2 * quoted.len() * self.rows
            || !quoted.iter().all(|column| self.spans(*column).all(both))
        {
            return None;
        }
        self.quoted = quoted.iter().fold(0, |columns, column| columns | 1 << column);
        Some(self)
    }

    /// Where the text of each field of a column begins and ends.
    #[inline]
    fn spans(&self, column: usize) -> impl Iterator<Item = (usize, usize)> + use<'a> {
        let quote = usize::from(self.quoted.checked_shr(column as u32).unwrap_or(0) & 1 == 1);
        let behind = quote + usize::from(self.returns && column + 1 == self.width);
        let (width, fields) = (self.width, self.rows * self.width);
        let befores = self.ends[..fields].chunks_exact(width);
        befores.zip(self.ends[1..].chunks_exact(width)).map(move |(befores, ends)| {
            (befores[column].wrapping_add(1) as usize + quote, (ends[column] as usize).saturating_sub(behind))
        })
    }

    /// The text of one field.
    #[inline]
    fn cell(&self, row: usize, column: usize) -> &'a [u8] {
        let row = &self.ends[row * self.width..];
        let quote = usize::from(self.quoted.checked_shr(column as u32).unwrap_or(0) & 1 == 1);
        let behind = quote + usize::from(self.returns && column + 1 == self.width);
        let start = row[column].wrapping_add(1) as usize + quote;
        self.bytes.get(start..(row[column + 1] as usize).saturating_sub(behind)).unwrap_or_default()
    }

    /// The text of each field of a column.
    fn cells(&self, column: usize) -> impl Iterator<Item = &'a [u8]> + use<'a> {
        let bytes = self.bytes;
        self.spans(column).map(move |(start, end)| bytes.get(start..end).unwrap_or_default())
    }
}

impl RowCounter<'_> {
    /// Counts the rows that end within the bytes, and tells how many bytes they take; `None` if one of them has to be
    /// looked at by itself: then nothing is counted.
    pub(super) fn window(&mut self, bytes: &[u8]) -> Option<usize> {
        let mut window = std::mem::take(&mut self.window);
        ends(bytes, self.plan.delimiter, &mut window.ends);
        let mut found = std::mem::take(&mut window.ends);
        let shaped = Shaped::of(bytes, found.with_start(), self.plan.columns.width);
        let counted =
            shaped.filter(|rows| self.shaped(rows, &mut window).is_ok()).map(|rows| rows.bytes.len());
        std::mem::swap(&mut window.ends, &mut found);
        self.window = window;
        counted
    }

    fn shaped(&mut self, rows: &Shaped<'_>, window: &mut Window) -> Result<(), NotPlain> {
        let plan = self.plan;
        let columns = plan.columns;
        window.durations_ns.clear();
        for span in rows.spans(columns.duration) {
            window.durations_ns.push(plan.duration(rows.bytes, span, columns.unit, &plan.scales)?);
        }
        let adjusted = window.durations_ns.iter().max().map_or(0, |longest| plan.adjust.apply(*longest));
        if adjusted > LONGEST_NS {
            return Err(NotPlain);
        }
        window.starts_ns.clear();
        let (mut step_ns, mut zone_assumed) = (u64::MAX, false);
        if let Some(column) = columns.timestamp {
            for cell in rows.cells(column) {
                let stamp = self.days.read(cell).ok_or(NotPlain)?;
                window.starts_ns.push(stamp.ns);
                // All steps are powers of ten: a multiple of one is a multiple of any that is shorter.
                step_ns = step_ns.min(stamp.step_ns);
                zone_assumed |= stamp.zone_assumed;
            }
        }
        window.failed.clear();
        if !columns.outcomes.is_empty() {
            window.failed.resize(rows.rows, false);
            for (column, outcome) in &columns.outcomes {
                for (failed, cell) in window.failed.iter_mut().zip(rows.cells(*column)) {
                    *failed |= outcome.judge(cell).ok_or(NotPlain)?;
                }
            }
        }
        self.places_of(rows, &mut window.places)?;
        if let Some(labels) = &columns.labels {
            self.phases_of(rows, labels, &mut window.phases)?;
        }
        // Nothing fails from here on.
        if columns.labels.as_ref().is_some_and(|labels| labels.rows == LabelledRows::Instead) {
            self.count_phases(window);
        }
        if !matches!(plan.adjust, Adjust::Nothing) {
            window.durations_ns.iter_mut().for_each(|ns| *ns = plan.adjust.apply(*ns));
        }
        self.count_durations(window);
        if columns.timestamp.is_some() {
            self.stretch.add_all(&window.starts_ns, step_ns, &window.durations_ns);
        }
        self.zone_assumed |= zone_assumed;
        self.rows += rows.rows as u64;
        self.lines += rows.rows as u64;
        Ok(())
    }

    /// Where the rows are counted by their groups; nothing if there are no groups.
    fn places_of(&mut self, rows: &Shaped<'_>, places: &mut Vec<Place>) -> Result<(), NotPlain> {
        places.clear();
        match self.plan.columns.groups.as_slice() {
            [] => {}
            [column] => {
                for cell in rows.cells(*column) {
                    places.push(self.place(|_| cell)?);
                }
            }
            _ => {
                for row in 0..rows.rows {
                    places.push(self.place(|column| rows.cell(row, column))?);
                }
            }
        }
        Ok(())
    }

    /// The phases of the rows; one for all if they have one label.
    fn phases_of(
        &mut self,
        rows: &Shaped<'_>,
        labels: &PhaseLabels,
        phases: &mut Vec<Phase>,
    ) -> Result<(), NotPlain> {
        let phase = |label: Labelled| match label {
            Labelled::Phase(phase) => Ok(phase),
            Labelled::Attempt | Labelled::Nothing => Ok(Phase::Other),
            Labelled::Contradiction => Err(NotPlain),
        };
        phases.clear();
        let key = |(start, end): (usize, usize)| short(rows.bytes, start, end).map(|key| (end - start, key));
        let mut spans = rows.spans(labels.column);
        let Some(first) = spans.next() else { return Ok(()) };
        phases.push(phase(self.label(labels, rows.bytes, first))?);
        let first = key(first);
        if first.is_none() || !spans.all(|span| key(span) == first) {
            for span in rows.spans(labels.column).skip(1) {
                phases.push(phase(self.label(labels, rows.bytes, span))?);
            }
        }
        Ok(())
    }

    fn count_phases(&mut self, window: &Window) {
        let form = PhaseForm::InsteadOfAttempts;
        if let ([phase], []) = (window.phases.as_slice(), window.places.as_slice()) {
            self.tally.phases_mut().add_phases(form, *phase, &window.durations_ns);
            return;
        }
        let places = window.places.iter().copied().chain(std::iter::repeat(Place::Plain));
        let phases = window.phases.iter().copied().cycle();
        for ((phase, place), ns) in phases.zip(places).zip(&window.durations_ns) {
            self.phases(place, |phases| phases.add_phase(form, phase, *ns));
        }
    }

    fn count_durations(&mut self, window: &Window) {
        let durations = &window.durations_ns;
        self.tally.add_all(durations);
        for (ns, _) in durations.iter().zip(&window.failed).filter(|(_, failed)| **failed) {
            self.tally.fail(*ns);
        }
        let failed = window.failed.iter().copied().chain(std::iter::repeat(false));
        for ((ns, place), failed) in durations.iter().zip(&window.places).zip(failed) {
            self.group(*place, failed, *ns);
        }
        durations.iter().for_each(|ns| self.caps.add(*ns, 1));
    }
}
