//! Traffic over time as CSV: `time,rate[,service_mean]`, with or without a header.

use crate::autoscale::{Trace, TraceRow};
use crate::units::{ArrivalRate, Seconds};
use csv::{ReaderBuilder, StringRecord, Trim};

const TIME: [&str; 4] = ["time", "time_s", "at", "at_s"];
const RATE: [&str; 3] = ["rate", "rate_per_s", "rps"];
const MEAN: [&str; 4] = ["service_mean", "service_mean_s", "mean", "mean_s"];

/// Where the columns stand.
#[derive(Clone, Copy, Debug)]
struct Columns {
    time: usize,
    rate: usize,
    mean: Option<usize>,
}

/// Reads a trace.
///
/// # Errors
/// If it is none, with the line.
pub fn parse(text: &str) -> Result<Trace, String> {
    let text = text.trim_start_matches('\u{feff}');
    let mut reader = ReaderBuilder::new()
        .has_headers(false)
        .flexible(true)
        .trim(Trim::All)
        .comment(Some(b'#'))
        .from_reader(text.as_bytes());
    let mut columns = Columns { time: 0, rate: 1, mean: Some(2) };
    let mut rows = Vec::new();
    for (index, record) in reader.records().enumerate() {
        let record = record.map_err(|error| error.to_string())?;
        let line = record.position().map_or(0, csv::Position::line);
        if index == 0 && record.get(0).is_some_and(|first| first.parse::<Seconds>().is_err()) {
            columns = header(&record)?;
            continue;
        }
        rows.push(row(&record, columns).map_err(|error| format!("line {line}: {error}"))?);
    }
    Trace::new(rows).map_err(|error| error.to_string())
}

fn header(record: &StringRecord) -> Result<Columns, String> {
    let at = |names: &[&str]| {
        record.iter().position(|field| names.iter().any(|name| field.eq_ignore_ascii_case(name)))
    };
    let (Some(time), Some(rate)) = (at(&TIME), at(&RATE)) else {
        return Err(format!(
            "the header \"{}\" names no time and rate; it is time,rate or time,rate,service_mean",
            record.iter().collect::<Vec<_>>().join(",")
        ));
    };
    Ok(Columns { time, rate, mean: at(&MEAN) })
}

fn row(record: &StringRecord, columns: Columns) -> Result<TraceRow, String> {
    let field = |column: usize, what: &str| record.get(column).ok_or_else(|| format!("there is no {what}"));
    let mean = columns.mean.and_then(|column| record.get(column)).filter(|field| !field.is_empty());
    let refused = |error: crate::units::ParseError| error.to_string();
    Ok(TraceRow {
        at: field(columns.time, "time")?.parse().map_err(refused)?,
        rate: field(columns.rate, "rate")?.parse::<ArrivalRate>().map_err(refused)?,
        mean: mean.map(Seconds::parse_positive).transpose().map_err(refused)?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_found_by_name_or_by_place() {
        for text in [
            "time,rate,service_mean\n0,900,1.4\n60,2400,3.1\n",
            "0,900,1.4\n1m,144k/min,3100ms\n",
            "\u{feff}mean_s,AT,rate\n1.4,0,900\n3.1,60,2400\n",
        ] {
            let trace = parse(text).unwrap();
            assert_eq!((trace.seconds(), trace.rows().len()), (120, 2), "{text}");
            assert_eq!(trace.rows()[1].mean, "3.1".parse().ok());
        }
        assert_eq!(parse("0,900\n").unwrap().seconds(), 3600, "a single row holds for an hour");
    }

    #[test]
    fn what_is_no_trace_is_refused_with_its_line() {
        for (text, named) in [
            ("", "no rows"),
            ("time,rate\n", "no rows"),
            ("when,how\n0,1\n", "time,rate"),
            ("0,900\n0,900\n", "row 2"),
            ("0,900\n60,fast\n", "line 2"),
            ("0,900\n60\n", "no rate"),
            ("0,900,0\n", "more than zero"),
            ("0,1\n40d,1\n", "31 days"),
        ] {
            let error = parse(text).unwrap_err();
            assert!(error.contains(named), "{text}: {error}");
        }
    }
}
