//! `whsize ingest`.

use super::output::Output;
use super::plot::Plot;
use super::progress::Progress;
use super::{Outcome, save};
use anyhow::Result;
use clap::ValueEnum;
use std::path::PathBuf;
use whsize::ingest::{
    self, BadRows, Comparison, Correction, Decimal, IngestErrorKind, IngestNotice, InputFormat, Options,
    Unit, Watch, Where,
};
use whsize::report;
use whsize::units::{Seconds, Share};

/// What is the service time? From samples to a profile that every other command takes
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:
  whsize ingest attempts.csv --save profile.json
  whsize ingest attempts.csv.gz --column took --unit ms --timestamp-column started --group-by endpoint
  zcat attempts.csv.gz | whsize ingest - --where status=200
  whsize ingest before.prom after.prom --difference --group-by endpoint
  whsize ingest today.csv --compare profile.json
  whsize ingest access.log --group-by path --plot service-time.svg
  hey -o csv http://127.0.0.1:8080/ | whsize ingest - --overhead 40ms")]
pub(crate) struct Args {
    /// Files to read, merged into one profile; - is standard input, .gz and .zst are unpacked
    #[arg(value_name = "FILE", required = true)]
    files: Vec<String>,
    /// What the files are, where that cannot be told by itself
    #[arg(long, value_name = "FORMAT", value_enum, default_value_t = Format::Auto, help_heading = "Input")]
    input_format: Format,
    /// Column or JSON field of the duration: its name, or its number from 1; of metrics, the histogram's name
    #[arg(long, value_name = "NAME|INDEX", help_heading = "Input")]
    column: Option<String>,
    /// Unit of durations that carry none: s, ms, us or ns
    #[arg(long, help_heading = "Input")]
    unit: Option<Unit>,
    /// Column that says how many attempts a row stands for; none if no column does
    #[arg(long, value_name = "NAME", help_heading = "Input")]
    count_column: Option<String>,
    /// Column of the time at which an attempt started
    #[arg(long, value_name = "NAME", help_heading = "Input")]
    timestamp_column: Option<String>,
    /// Delimiter between fields: one character, or tab
    #[arg(long, value_name = "C", value_parser = delimiter, help_heading = "Input")]
    delimiter: Option<u8>,
    /// Decimal sign of the numbers, where it cannot be told by itself
    #[arg(long, value_name = "SIGN", value_enum, help_heading = "Input")]
    decimal: Option<DecimalSign>,
    /// The first line is data
    #[arg(long, help_heading = "Input")]
    no_header: bool,
    /// Rows that may be unreadable before it is an error [default: 1%]
    #[arg(long, value_name = "N|P%", help_heading = "Input")]
    max_bad_rows: Option<BadRows>,

    /// Columns or labels whose values form groups, such as endpoint or endpoint,region
    #[arg(long, value_name = "NAME", value_delimiter = ',', help_heading = "Selection")]
    group_by: Vec<String>,
    /// Only rows with this value in this column or label (or with another: NAME!=VALUE); several must all hold
    #[arg(long = "where", value_name = "NAME=VALUE", help_heading = "Selection")]
    filters: Vec<Where>,
    /// Only attempts that started at this time or later: seconds since 1970, or 2026-11-30T16:00:00Z
    #[arg(long, value_name = "T", value_parser = time, help_heading = "Selection")]
    since: Option<i64>,
    /// Only attempts that started before this time
    #[arg(long, value_name = "T", value_parser = time, help_heading = "Selection")]
    until: Option<i64>,

    /// The files are scrapes of one target in the order in which they were made: count what was added in between
    #[arg(long, help_heading = "Selection")]
    difference: bool,

    /// Request timeouts whose effect is shown [default: 5,10,15,30]
    #[arg(long, value_name = "D", value_delimiter = ',', value_parser = Seconds::parse_positive,
          help_heading = "Analysis")]
    cap: Vec<Seconds>,
    /// Time for which a worker is held beyond what the endpoint takes, added to every attempt
    #[arg(long, value_name = "D", conflicts_with = "endpoint_share", help_heading = "Analysis")]
    overhead: Option<Seconds>,
    /// Share of service time that is the endpoint's latency; every attempt is divided by it
    #[arg(long, value_name = "P", value_parser = endpoint_share, help_heading = "Analysis")]
    endpoint_share: Option<Share>,
    /// Compare with this profile: one saved earlier, or any file that is read by itself
    #[arg(long, value_name = "PROFILE", help_heading = "Analysis")]
    compare: Option<String>,
    /// Write the profile to this file, for --profile of other commands; as an HDR log if it ends in .hlog, to
    /// standard output instead of the report if it is -
    #[arg(long, value_name = "FILE")]
    save: Option<PathBuf>,
    /// An empty input is no error, and nothing is saved: a part of a fleet without attempts
    #[arg(long, requires = "save")]
    allow_empty: bool,

    #[command(flatten)]
    pub(crate) plot: Plot,
}

#[derive(ValueEnum, Clone, Copy, Debug)]
enum Format {
    Auto,
    Csv,
    Tsv,
    Jsonl,
    Hdr,
    HdrLog,
    Percentiles,
    Prometheus,
    Otlp,
    Profile,
}

#[derive(ValueEnum, Clone, Copy, Debug)]
enum DecimalSign {
    Point,
    Comma,
}

/// Whether something of the input is not in the profile.
fn is_loss(notice: &IngestNotice) -> bool {
    matches!(
        notice,
        IngestNotice::SkippedRows(_)
            | IngestNotice::Unstamped { .. }
            | IngestNotice::CounterResets { .. }
            | IngestNotice::Saved(_)
    )
}

fn delimiter(typed: &str) -> Result<u8, String> {
    match typed.as_bytes() {
        [byte] if byte.is_ascii() && !byte.is_ascii_alphanumeric() && !b"\"\r\n".contains(byte) => Ok(*byte),
        b"tab" | b"\\t" => Ok(b'\t'),
        _ => Err(format!(
            "\"{typed}\": a delimiter is one character that is no letter, digit, quote or line's end, or tab"
        )),
    }
}

fn time(typed: &str) -> Result<i64, String> {
    let parsed = ingest::parse_timestamp(typed.as_bytes());
    parsed.map(|time| time.ns).map_err(|error| format!("\"{typed}\": {error}"))
}

fn endpoint_share(typed: &str) -> Result<Share, String> {
    let share: Share = typed.parse().map_err(|error: whsize::units::ParseError| error.to_string())?;
    if share.exact().is_zero() {
        return Err(format!("\"{typed}\": the endpoint's share of service time must be more than zero"));
    }
    Ok(share)
}

impl Args {
    pub(crate) fn run(&self, output: &Output) -> Result<Outcome> {
        let options = self.options();
        let watch = Watch::default();
        let progress = Progress::of(&self.files, &watch, output.is_quiet());
        let ingested = ingest::read_files_watched(&self.files, &options, &watch);
        drop(progress);
        let ingested = match ingested {
            Err(error) if self.allow_empty && error.kind == IngestErrorKind::Empty => {
                return Ok(Outcome::Text(String::new()));
            }
            ingested => ingested?,
        };
        let mut further = Vec::new();
        if let Some(path) = &self.save {
            let text = if path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("hlog")) {
                further.push(IngestNotice::SavedAsHdrLog);
                ingest::to_hdr_log(&ingested.profile)?
            } else {
                let (text, given_up) = ingest::to_json(&ingested.profile)?;
                further.extend(given_up.into_iter().map(IngestNotice::Saved));
                text
            };
            if path.as_os_str() == ingest::STDIN {
                // As a stage of a pipe: the profile goes where the report would, and what was lost beside it. All
                // else is said by whoever reads the profile.
                ingested.notices.iter().chain(&further).filter(|notice| is_loss(notice)).for_each(|notice| {
                    output.note(&notice.note());
                });
                return Ok(Outcome::Text(text));
            }
            save::write(path, &text, &self.files)?;
        }
        let comparison = self.compare.as_ref().map(|file| {
            let before = ingest::load(file)?;
            Ok::<_, anyhow::Error>(Comparison::of(file, &before.profile, &ingested.profile))
        });
        let comparison = comparison.transpose()?;
        let mut report = report::ingest::report(&self.files, &options, &ingested, comparison, &further)?;
        self.plot.add(&mut report, || report::ingest::figure(&ingested));
        Ok(Outcome::Report(Box::new(report)))
    }

    fn options(&self) -> Options {
        let correction = match (&self.overhead, &self.endpoint_share) {
            (Some(overhead), _) => Some(Correction::Overhead(overhead.clone())),
            (None, Some(share)) => Some(Correction::EndpointShare(share.clone())),
            (None, None) => None,
        };
        Options {
            format: match self.input_format {
                Format::Auto => InputFormat::Auto,
                Format::Csv => InputFormat::Csv,
                Format::Tsv => InputFormat::Tsv,
                Format::Jsonl => InputFormat::Jsonl,
                Format::Hdr => InputFormat::Hdr,
                Format::HdrLog => InputFormat::HdrLog,
                Format::Percentiles => InputFormat::Percentiles,
                Format::Prometheus => InputFormat::Prometheus,
                Format::Otlp => InputFormat::Otlp,
                Format::Profile => InputFormat::Profile,
            },
            column: self.column.clone(),
            unit: self.unit,
            count_column: self.count_column.clone(),
            timestamp_column: self.timestamp_column.clone(),
            group_by: self.group_by.clone(),
            filters: self.filters.clone(),
            delimiter: self.delimiter,
            no_header: self.no_header,
            decimal: self.decimal.map(|sign| match sign {
                DecimalSign::Point => Decimal::Point,
                DecimalSign::Comma => Decimal::Comma,
            }),
            difference: self.difference,
            max_bad_rows: self.max_bad_rows.clone().unwrap_or_default(),
            caps: self.cap.clone(),
            correction,
            since_ns: self.since,
            until_ns: self.until,
        }
    }
}
