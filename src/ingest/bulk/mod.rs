//! Tables in bulk: pieces of whole records, counted by several threads in constant memory.
//!
//! A thread takes the next piece of the stream, counts its plain rows by itself, and waits for its turn: in the order of
//! the pieces it hands over what depends on order, and reads what was not plain row by row with [`Rows`]. So counts,
//! sums, skipped rows with their lines, groups and the time between arrivals are those of reading row by row, whatever
//! the number of threads and the size of a piece.

mod cut;
mod number;
mod rows;
mod scan;
mod stamps;
#[cfg(test)]
mod tests;

use super::collect::Collector;
use super::error::IngestError;
use super::open::HEAD;
use super::records::Records;
use super::rows::{Rows, Table};
pub(super) use cut::record_end;

use cut::Cutter;
use rows::{KnownGroups, Plan, RowCounter};
use std::io::{Cursor, Read};
use std::num::NonZero;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;

/// Bytes of a piece: small enough that it is still in a processor's cache when it has been read.
const PIECE: usize = 256 * 1024;

/// The most threads: each holds its own counts of every group, and one stream cannot be read faster than a few count.
const MOST_THREADS: usize = 4;

/// Threads beyond the processors: one waits for its turn now and then.
const SPARE_THREADS: usize = 1;

/// Reads the rows of a table from a stream that begins with the first of them, on line `line`; tells whether dates had
/// no zone. A small table is not worth a second thread.
pub(super) fn read(
    table: &Table<'_>,
    source: impl Read + Send,
    line: u64,
    small: bool,
    collector: &mut Collector,
) -> Result<bool, IngestError> {
    let processors = thread::available_parallelism().map_or(1, NonZero::get);
    let threads = if small || processors == 1 { 1 } else { (processors + SPARE_THREADS).min(MOST_THREADS) };
    let piece = if small { PIECE.min(HEAD) } else { PIECE };
    read_in(table, source, line, collector, threads, piece)
}

/// The same with so many threads and pieces of so many bytes.
fn read_in(
    table: &Table<'_>,
    source: impl Read + Send,
    line: u64,
    collector: &mut Collector,
    threads: usize,
    piece: usize,
) -> Result<bool, IngestError> {
    let caps_ns = collector.options.caps_ns();
    let plan = Plan::new(table.columns, table.delimiter, &collector.options, collector.adjust);
    let known = Arc::new(KnownGroups::of(collector.recorder.groups()));
    let source = Mutex::new(Cutter::new(table.file, source, table.delimiter, piece));
    let turns = Turns {
        turn: Mutex::new(Turn { next: 0, line, collector, zone_assumed: false, ended: None }),
        changed: Condvar::new(),
    };
    thread::scope(|scope| {
        let work = || {
            let counter = RowCounter::new(&plan, &caps_ns, Arc::clone(&known));
            Worker { table, source: &source, turns: &turns, counter, bytes: Vec::new() }.run();
        };
        (1..threads).for_each(|_| drop(scope.spawn(work)));
        work();
    });
    let turn = turns.turn.into_inner().unwrap_or_else(PoisonError::into_inner);
    turn.ended.unwrap_or(Ok(())).map(|()| turn.zone_assumed)
}

/// What is done in the order of the pieces.
struct Turn<'a> {
    /// The number of the piece whose turn it is.
    next: usize,
    /// The line on which it begins.
    line: u64,
    collector: &'a mut Collector,
    zone_assumed: bool,
    /// Set when there are no more pieces, or one cannot be used.
    ended: Option<Result<(), IngestError>>,
}

struct Turns<'a> {
    turn: Mutex<Turn<'a>>,
    changed: Condvar,
}

impl<'a> Turns<'a> {
    /// Waits until all pieces before have been handed over; `None` if there is nothing more to hand over.
    fn wait_for(&self, number: usize) -> Option<MutexGuard<'_, Turn<'a>>> {
        let turn = self.turn.lock().unwrap_or_else(PoisonError::into_inner);
        let waiting = |turn: &mut Turn<'_>| turn.next != number && turn.ended.is_none();
        let turn = self.changed.wait_while(turn, waiting).unwrap_or_else(PoisonError::into_inner);
        turn.ended.is_none().then_some(turn)
    }

    fn end(&self, mut turn: MutexGuard<'_, Turn<'a>>, how: Result<(), IngestError>) {
        turn.ended = Some(how);
        self.changed.notify_all();
    }
}

struct Worker<'a, 't, R> {
    table: &'a Table<'a>,
    source: &'a Mutex<Cutter<R>>,
    turns: &'a Turns<'t>,
    counter: RowCounter<'a>,
    bytes: Vec<u8>,
}

/// A thread that fails must not leave the others waiting for its turn.
struct EndOnPanic<'a, 't>(&'a Turns<'t>);

impl Drop for EndOnPanic<'_, '_> {
    fn drop(&mut self) {
        if thread::panicking() {
            let turn = self.0.turn.lock().unwrap_or_else(PoisonError::into_inner);
            self.0.end(turn, Ok(()));
        }
    }
}

impl<R: Read> Worker<'_, '_, R> {
    fn run(mut self) {
        let _guard = EndOnPanic(self.turns);
        loop {
            let (number, read) = {
                let mut source = self.source.lock().unwrap_or_else(PoisonError::into_inner);
                source.advance(&mut self.bytes)
            };
            if let Ok(Some(length)) = read {
                self.counter.count(&self.bytes[..length]);
            }
            let Some(mut turn) = self.turns.wait_for(number) else { break };
            let handed_over = match read {
                Ok(Some(_)) => self.hand_over(&mut turn).map(|()| true),
                Ok(None) => Ok(false),
                Err(error) => Err(error),
            };
            match handed_over {
                Ok(true) => {
                    turn.next += 1;
                    drop(turn);
                    self.turns.changed.notify_all();
                }
                Ok(false) => {
                    self.turns.end(turn, Ok(()));
                    break;
                }
                Err(error) => {
                    self.turns.end(turn, Err(error));
                    return;
                }
            }
        }
        self.hand_over_sums();
    }

    /// Hands over what depends on the order of the pieces.
    fn hand_over(&mut self, turn: &mut Turn<'_>) -> Result<(), IngestError> {
        let counter = &self.counter;
        let (mut rows, mut stamps) = (0, 0);
        turn.collector.recorder.take_over_times(&counter.stretch);
        turn.collector.take_over_grouped(self.table.file, &counter.grouped)?;
        for step in &counter.in_order {
            turn.collector.rows += step.rows - rows;
            turn.collector.recorder.take_over_stamps(&counter.stretch, stamps, step.stamps);
            (rows, stamps) = (step.rows, step.stamps);
            let (bytes, line) = (&self.bytes[step.from..step.to], turn.line + step.line);
            turn.zone_assumed |= one_by_one(self.table, bytes, line, turn.collector)?;
        }
        turn.collector.rows += counter.rows - rows;
        turn.collector.recorder.take_over_stamps(&counter.stretch, stamps, counter.stretch.len());
        turn.collector.filtered += counter.filtered;
        turn.collector.unstamped += counter.unstamped;
        turn.zone_assumed |= counter.zone_assumed;
        turn.line += counter.lines;
        turn.collector.watch.read_rows(turn.collector.rows);
        if turn.collector.recorder.groups().in_order().len() != counter.known.len() {
            self.counter.known = Arc::new(KnownGroups::of(turn.collector.recorder.groups()));
        }
        Ok(())
    }

    /// Hands over what does not depend on order, once there are no more pieces.
    fn hand_over_sums(self) {
        let mut turn = self.turns.turn.lock().unwrap_or_else(PoisonError::into_inner);
        // Another thread may have failed.
        if !matches!(turn.ended, Some(Ok(()))) {
            return;
        }
        if let Err(error) = add_sums(self.table.file, self.counter, turn.collector) {
            turn.ended = Some(Err(error));
        }
    }
}

fn add_sums(file: &str, counter: RowCounter<'_>, collector: &mut Collector) -> Result<(), IngestError> {
    collector.recorder.take_over_caps(&counter.caps);
    for (group, phases) in (0..).zip(&counter.group_phases) {
        collector.recorder.take_over_phases(Some(group), phases);
    }
    collector.recorder.take_over_phases(None, &counter.others_phases);
    collector.take_over(file, counter.tally)
}

/// Reads records row by row; tells whether dates had no zone.
fn one_by_one(
    table: &Table<'_>,
    bytes: &[u8],
    line: u64,
    collector: &mut Collector,
) -> Result<bool, IngestError> {
    let mut records = Records::at_line(table.file, Cursor::new(bytes), table.delimiter, line);
    let mut rows = Rows::new(table, collector);
    while records.advance()? {
        rows.row(&records)?;
    }
    Ok(rows.zone_assumed)
}
