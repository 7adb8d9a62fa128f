//! Traffic over time, from a file or built in.

use crate::units::{ArrivalRate, Exact, Seconds};

/// The longest trace that is replayed: a month.
const LONGEST_S: u64 = 31 * 86_400;

/// How long a trace of a single row holds.
const SINGLE_ROW_S: u64 = 3_600;

/// Traffic from one time on.
#[derive(Clone, Debug, PartialEq)]
pub struct TraceRow {
    /// From when on, after the start.
    pub at: Seconds,
    /// Attempts a second.
    pub rate: ArrivalRate,
    /// Mean service time, where it changes.
    pub mean: Option<Seconds>,
}

/// Traffic over time: each row holds until the next one, and the last as long as the one before it did.
#[derive(Clone, Debug, PartialEq)]
pub struct Trace {
    rows: Vec<TraceRow>,
    /// The first whole second of each row.
    starts: Vec<u64>,
    seconds: u64,
}

/// Why a trace cannot be replayed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TraceError {
    /// It has no rows.
    #[error("the trace has no rows; each is a time and a rate, and may have a mean service time")]
    Empty,
    /// Its times do not rise.
    #[error("row {row} is not later than the row before it; the times must rise")]
    NotRising {
        /// The row, from 1.
        row: usize,
    },
    /// A shape multiplies the rate or the service time beyond what is accepted.
    #[error("this shape multiplies the rate or the service time beyond what is accepted")]
    OutOfRange,
    /// It is longer than a month.
    #[error("the trace is longer than 31 days")]
    TooLong,
}

/// A shape of traffic that comes with the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BuiltIn {
    /// The rate rises to two and two thirds of itself within five minutes, stays for twenty, and falls back.
    Surge,
    /// Endpoints take three times as long for twenty minutes, and retries raise the rate by a quarter.
    Outage,
    /// Little traffic, and then within a minute as much as an hour brings at the given rate.
    Nightly,
}

impl Trace {
    /// A trace of rows; times are counted from the first one.
    ///
    /// # Errors
    /// If there are no rows, their times do not rise, or they span more than a month.
    pub fn new(rows: Vec<TraceRow>) -> Result<Self, TraceError> {
        let first = rows.first().ok_or(TraceError::Empty)?.at.exact().clone();
        if let Some(index) = rows.windows(2).position(|pair| pair[1].at <= pair[0].at) {
            return Err(TraceError::NotRising { row: index + 2 });
        }
        let since = |row: &TraceRow| row.at.exact().minus(&first).unwrap_or_else(Exact::zero);
        let last = rows.last().map(since).unwrap_or_else(Exact::zero);
        let held = match rows.iter().rev().nth(1).map(since) {
            Some(before) => last.minus(&before).unwrap_or_else(Exact::zero),
            None => Exact::whole(SINGLE_ROW_S.into()),
        };
        let seconds =
            (&last + &held).ceil().filter(|seconds| *seconds <= LONGEST_S).ok_or(TraceError::TooLong)?;
        let rows = rows.iter().map(|row| TraceRow {
            at: Seconds::new(since(row)).unwrap_or_else(|| row.at.clone()),
            ..row.clone()
        });
        Ok(Trace::over(rows.collect(), seconds))
    }

    /// A shape that comes with the program, at this usual rate and service time.
    ///
    /// # Errors
    /// If the shape multiplies either beyond what is accepted.
    pub fn built_in(shape: BuiltIn, rate: &ArrivalRate, mean: &Seconds) -> Result<Self, TraceError> {
        let minutes = |minutes: u64| Seconds::new(Exact::whole(u128::from(minutes) * 60));
        let times = |thousandths: u32| ArrivalRate::new(rate.exact() * &Exact::thousandths(thousandths));
        let row = |at: u64, rate_thousandths: u32, mean_factor: u32| {
            let slow = Seconds::new(mean.exact() * &Exact::whole(mean_factor.into()));
            Some(TraceRow { at: minutes(at)?, rate: times(rate_thousandths)?, mean: slow })
        };
        let (rows, minutes): (Vec<Option<TraceRow>>, u64) = match shape {
            BuiltIn::Surge => (
                vec![
                    row(0, 1_000, 1),
                    row(10, 1_333, 1),
                    row(11, 1_667, 1),
                    row(12, 2_000, 1),
                    row(13, 2_333, 1),
                    row(14, 2_667, 1),
                    row(35, 1_000, 1),
                ],
                60,
            ),
            BuiltIn::Outage => (vec![row(0, 1_000, 1), row(10, 1_250, 3), row(30, 1_000, 1)], 60),
            BuiltIn::Nightly => (vec![row(0, 50, 1), row(10, 60_000, 1), row(11, 50, 1)], 120),
        };
        let rows: Option<Vec<TraceRow>> = rows.into_iter().collect();
        Ok(Trace::over(rows.ok_or(TraceError::OutOfRange)?, minutes * 60))
    }

    fn over(rows: Vec<TraceRow>, seconds: u64) -> Self {
        let starts = rows.iter().map(|row| row.at.exact().ceil().unwrap_or(u64::MAX)).collect();
        Trace { rows, starts, seconds }
    }

    /// How long it is, in seconds.
    #[must_use]
    pub fn seconds(&self) -> u64 {
        self.seconds
    }

    /// The rows.
    #[must_use]
    pub fn rows(&self) -> &[TraceRow] {
        &self.rows
    }

    /// The row that holds in the second that begins at `second`.
    pub(super) fn at(&self, second: u64) -> &TraceRow {
        &self.rows[self.row(second)]
    }

    /// Its place among the rows.
    pub(super) fn row(&self, second: u64) -> usize {
        self.starts.partition_point(|start| *start <= second).saturating_sub(1)
    }
}
