//! What the reader of a file may be told about it.

use super::duration::{Decimal, Unit};
use super::error::{IngestError, IngestErrorKind};
use crate::units::{ParseError, Seconds, Share};
use std::str::FromStr;

/// Formats that can be asked for by name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum InputFormat {
    /// Told by header or shape.
    #[default]
    Auto,
    /// Comma-separated values, or another delimiter that is found or given.
    Csv,
    /// Tab-separated values.
    Tsv,
    /// JSON lines: an object a line.
    Jsonl,
    /// One encoded HdrHistogram.
    Hdr,
    /// An HDR interval log.
    HdrLog,
    /// The percentile text of HDR tools and wrk2, or the report of hey or wrk.
    Percentiles,
    /// Prometheus or OpenMetrics text, or the answer of the Prometheus query API.
    Prometheus,
    /// OTLP/JSON.
    Otlp,
    /// A saved profile.
    Profile,
}

/// How endpoint latency becomes service time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Correction {
    /// Every attempt holds its worker for so much longer than the endpoint took.
    Overhead(Seconds),
    /// The endpoint's latency is this share of service time.
    EndpointShare(Share),
}

/// A filter on rows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Where {
    /// The column's name, or its number from 1.
    pub column: String,
    /// The value that it is compared with, as text.
    pub value: String,
    /// Whether rows with another value are kept instead (`NAME!=VALUE`).
    pub negated: bool,
}

impl FromStr for Where {
    type Err = String;

    fn from_str(typed: &str) -> Result<Self, String> {
        let (column, value) = typed
            .split_once('=')
            .ok_or_else(|| format!("\"{typed}\": there is no =; a filter is NAME=VALUE or NAME!=VALUE"))?;
        let (column, negated) = column.strip_suffix('!').map_or((column, false), |column| (column, true));
        if column.trim().is_empty() {
            return Err(format!("\"{typed}\": there is no column; a filter is NAME=VALUE or NAME!=VALUE"));
        }
        Ok(Where { column: column.trim().to_owned(), value: value.trim().to_owned(), negated })
    }
}

impl std::fmt::Display for Where {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "{}{}{}", self.column, if self.negated { "!=" } else { "=" }, self.value)
    }
}

/// How many rows may be skipped before it is an error.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BadRows {
    /// At most so many.
    Count(u64),
    /// At most this share of all rows.
    Share(Share),
}

/// One per cent: a log that was cut or mixed is noticed, a stray line is not a reason to stop.
const DEFAULT_BAD_PERCENT: &str = "1%";

impl Default for BadRows {
    fn default() -> Self {
        DEFAULT_BAD_PERCENT.parse().unwrap_or(BadRows::Count(0))
    }
}

impl FromStr for BadRows {
    type Err = ParseError;

    fn from_str(typed: &str) -> Result<Self, ParseError> {
        if typed.trim_end().ends_with('%') {
            typed.parse().map(BadRows::Share)
        } else {
            typed.parse::<crate::units::Count>().map(|count| BadRows::Count(count.get()))
        }
    }
}

impl BadRows {
    pub(super) fn allows(&self, bad: u64, all: u64) -> bool {
        match self {
            BadRows::Count(most) => bad <= *most,
            BadRows::Share(share) => {
                let allowed = share.exact() * &crate::units::Exact::whole(all.into());
                crate::units::Exact::whole(bad.into()) <= allowed
            }
        }
    }
}

impl std::fmt::Display for BadRows {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            BadRows::Count(most) => write!(formatter, "{most}"),
            BadRows::Share(share) => write!(formatter, "{share}"),
        }
    }
}

/// Everything that may be said about the input; the default finds out by itself.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// The format.
    pub format: InputFormat,
    /// The column of the duration: its name, or its number from 1.
    pub column: Option<String>,
    /// The unit of durations without one of their own.
    pub unit: Option<Unit>,
    /// The column that says how many attempts a row stands for.
    pub count_column: Option<String>,
    /// The column of the time stamp.
    pub timestamp_column: Option<String>,
    /// The columns whose values form the groups.
    pub group_by: Vec<String>,
    /// Filters; all must hold.
    pub filters: Vec<Where>,
    /// The delimiter between fields.
    pub delimiter: Option<u8>,
    /// Whether the first line is data.
    pub no_header: bool,
    /// The decimal sign.
    pub decimal: Option<Decimal>,
    /// Whether scrapes are successive states of one target, of which the increase counts.
    pub difference: bool,
    /// How many rows may be skipped.
    pub max_bad_rows: BadRows,
    /// Request timeouts whose effect is counted; without any 5, 10, 15 and 30 s.
    pub caps: Vec<Seconds>,
    /// How endpoint latency becomes service time.
    pub correction: Option<Correction>,
    /// Attempts before this time, in nanoseconds since the epoch, are left out.
    pub since_ns: Option<i64>,
    /// Attempts from this time on, in nanoseconds since the epoch, are left out.
    pub until_ns: Option<i64>,
}

/// The timeouts that are looked at when none are given, in seconds.
const DEFAULT_CAPS_S: [u64; 4] = [5, 10, 15, 30];

impl Options {
    /// Whether a time, in nanoseconds since the epoch, is one of those that are selected.
    pub(super) fn is_within(&self, at_ns: i64) -> bool {
        self.since_ns.is_none_or(|since| at_ns >= since) && self.until_ns.is_none_or(|until| at_ns < until)
    }

    /// Whether attempts are chosen by the time at which they began.
    pub(super) fn selects_by_time(&self) -> bool {
        self.since_ns.or(self.until_ns).is_some()
    }

    /// Refuses options that an input has nothing for, so that none is ignored in silence.
    pub(super) fn refuse(&self, file: &str, input: &str, flags: &[&[Flag]]) -> Result<(), IngestError> {
        let Some(flag) = flags.concat().into_iter().find(|flag| flag.is_given(self)) else { return Ok(()) };
        let reason = format!("{} does not apply to {input}", flag.name());
        Err(IngestError::new(IngestErrorKind::Options, file, reason)
            .remedy(format!("leave out {}", flag.name())))
    }

    /// The timeouts whose effect is counted, in nanoseconds.
    #[must_use]
    pub fn caps_ns(&self) -> Vec<u64> {
        if self.caps.is_empty() {
            DEFAULT_CAPS_S.map(|seconds| seconds * crate::profile::NS_PER_SECOND).to_vec()
        } else {
            self.caps.iter().map(whole_ns).collect()
        }
    }
}

/// An option that not every input has something for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Flag {
    Column,
    Unit,
    CountColumn,
    TimestampColumn,
    GroupBy,
    Where,
    Delimiter,
    NoHeader,
    Decimal,
    Since,
    Until,
    Overhead,
    EndpointShare,
}

/// What says how a table is read.
pub(super) const OF_TABLES: &[Flag] =
    &[Flag::CountColumn, Flag::TimestampColumn, Flag::Delimiter, Flag::NoHeader, Flag::Decimal];

/// What chooses among attempts.
pub(super) const SELECTING: &[Flag] = &[Flag::Where, Flag::Since, Flag::Until];

/// What makes service time of latency.
pub(super) const CORRECTING: &[Flag] = &[Flag::Overhead, Flag::EndpointShare];

impl Flag {
    fn name(self) -> &'static str {
        match self {
            Flag::Column => "--column",
            Flag::Unit => "--unit",
            Flag::CountColumn => "--count-column",
            Flag::TimestampColumn => "--timestamp-column",
            Flag::GroupBy => "--group-by",
            Flag::Where => "--where",
            Flag::Delimiter => "--delimiter",
            Flag::NoHeader => "--no-header",
            Flag::Decimal => "--decimal",
            Flag::Since => "--since",
            Flag::Until => "--until",
            Flag::Overhead => "--overhead",
            Flag::EndpointShare => "--endpoint-share",
        }
    }

    fn is_given(self, options: &Options) -> bool {
        match self {
            Flag::Column => options.column.is_some(),
            Flag::Unit => options.unit.is_some(),
            Flag::CountColumn => options.count_column.is_some(),
            Flag::TimestampColumn => options.timestamp_column.is_some(),
            Flag::GroupBy => !options.group_by.is_empty(),
            Flag::Where => !options.filters.is_empty(),
            Flag::Delimiter => options.delimiter.is_some(),
            Flag::NoHeader => options.no_header,
            Flag::Decimal => options.decimal.is_some(),
            Flag::Since => options.since_ns.is_some(),
            Flag::Until => options.until_ns.is_some(),
            Flag::Overhead => matches!(options.correction, Some(Correction::Overhead(_))),
            Flag::EndpointShare => matches!(options.correction, Some(Correction::EndpointShare(_))),
        }
    }
}

/// A duration in whole nanoseconds, rounded up.
pub(super) fn whole_ns(seconds: &Seconds) -> u64 {
    let scale = crate::units::Exact::whole(crate::profile::NS_PER_SECOND.into());
    (seconds.exact() * &scale).ceil().unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_filter_is_a_column_and_a_value() {
        let filter: Where = "url = http://a/?b=c".parse().unwrap();
        assert_eq!((filter.column.as_str(), filter.value.as_str()), ("url", "http://a/?b=c"));
        assert!("phase!=dns".parse::<Where>().unwrap().negated);
        for bad in ["phase", "=dns", "!=dns"] {
            assert!(bad.parse::<Where>().unwrap_err().contains("NAME=VALUE"));
        }
    }

    #[test]
    fn one_bad_row_in_a_hundred_is_allowed_by_default() {
        let default = BadRows::default();
        assert!(default.allows(1, 100) && !default.allows(2, 199) && default.allows(0, 0));
        assert!("3".parse::<BadRows>().unwrap().allows(3, 4));
        assert!("0%".parse::<BadRows>().unwrap().allows(0, 5));
        assert!("x".parse::<BadRows>().is_err());
    }
}
