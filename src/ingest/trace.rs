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
    let mut arrivals_s = Vec::new();
    let mut ends: Option<(i64, i64)> = None;
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
            Ok(stamp) if ends.is_some_and(|(_, last)| stamp.ns < last) => {
                return Err(error(number, "it lies before the arrival ahead of it".to_owned()));
            }
            Ok(stamp) => {
                let (first, last) = ends.get_or_insert((stamp.ns, stamp.ns));
                *last = stamp.ns;
                arrivals_s.push(stamp.ns.abs_diff(*first) as f64 / 1e9);
            }
            Err(_) if number == 1 => {}
            Err(why) => return Err(error(number, why.to_string())),
        }
        if arrivals_s.len() > MOST_ARRIVALS {
            return Err(error(number, "there are more than a hundred million arrivals".to_owned()));
        }
    }
    if arrivals_s.is_empty() {
        return Err(IngestError::new(IngestErrorKind::Empty, name, "there is no arrival in it"));
    }
    Ok(arrivals_s)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Vec<f64>, IngestError> {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), text).unwrap();
        read_trace(file.path().to_str().unwrap())
    }

    #[test]
    fn arrivals_are_seconds_from_the_first() {
        let text = "started\n1700000000.5\n\n1700000000.5\r\n2023-11-14T22:13:22Z\n1700000010";
        assert_eq!(read(text).unwrap(), [0.0, 0.0, 1.5, 9.5]);
        for (text, line, part) in [
            ("1\n3\n2\n", Some(3), "before the arrival ahead"),
            ("1\n3\nx\n", Some(3), "not a time stamp"),
            ("time\n", None, "no arrival"),
        ] {
            let error = read(text).unwrap_err();
            assert_eq!(error.line, line, "{error}");
            assert!(error.reason.contains(part), "{error}");
        }
    }
}
