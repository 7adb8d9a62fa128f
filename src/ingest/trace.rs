//! Recorded arrival times, one a line.

use super::open::{Input, read_failed};
use super::{IngestError, IngestErrorKind, parse_timestamp};
use std::io::{BufRead, Read};

/// The longest line, and the most arrivals: a bound on memory, far above what a trace needs.
const LONGEST_LINE: u64 = 1_000;
const MOST_ARRIVALS: usize = 100_000_000;

/// Reads a trace: one time stamp a line (seconds, epoch or RFC 3339, as in the other formats), never going back; a
/// first line that is no time is a heading. Returns seconds from the first arrival.
///
/// # Errors
/// If the file cannot be opened, a line is no time stamp or goes back in time, or there is none.
pub fn read_trace(name: &str) -> Result<Vec<f64>, IngestError> {
    let input = Input::open(name)?;
    input.check_text()?;
    let mut stream = input.into_stream();
    let error = |line: u64, reason: String| {
        IngestError::new(IngestErrorKind::Malformed, name, reason)
            .at(line, None)
            .remedy("a trace has one arrival time a line, in seconds or as a date with time, in order")
    };
    let mut stamps: Vec<i64> = Vec::new();
    let mut line = Vec::new();
    for number in 1.. {
        line.clear();
        let read = stream.by_ref().take(LONGEST_LINE).read_until(b'\n', &mut line);
        if read.map_err(|why| read_failed(name, &why))? == 0 {
            break;
        }
        let text = line.trim_ascii();
        if text.is_empty() {
            continue;
        }
        match parse_timestamp(text) {
            Ok(stamp) if stamps.last().is_some_and(|&last| stamp.ns < last) => {
                return Err(error(number, "it lies before the arrival ahead of it".to_owned()));
            }
            Ok(stamp) => stamps.push(stamp.ns),
            Err(_) if number == 1 => {}
            Err(why) => return Err(error(number, why.to_string())),
        }
        if stamps.len() > MOST_ARRIVALS {
            return Err(error(number, "there are more than a hundred million arrivals".to_owned()));
        }
    }
    let Some(&first) = stamps.first() else {
        return Err(IngestError::new(IngestErrorKind::Empty, name, "there is no arrival in it"));
    };
    Ok(stamps.into_iter().map(|stamp| stamp.abs_diff(first) as f64 / 1e9).collect())
}
