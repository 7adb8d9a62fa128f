//! nginx's combined log format with times behind it.

use super::Format;
use super::fields::{Fields, began_ns, is_whole, tokens};
use crate::ingest::duration::{self, Decimal, Unit};
use crate::ingest::error::{IngestError, IngestErrorKind};

/// `$remote_addr - $remote_user [$time_local] "$request" $status $body_bytes_sent "$http_referer" "$http_user_agent"`,
/// then `$request_time` and perhaps `$upstream_response_time`, plain or as `rt=… urt=…`.
pub(super) struct Nginx;

/// Fields up to the user agent.
const COMBINED: usize = 9;

/// Names under which logs carry the times.
const REQUEST_TIME: [&[u8]; 3] = [b"rt", b"request_time", b"req_time"];
const CONNECT_TIME: [&[u8]; 2] = [b"uct", b"upstream_connect_time"];
const UPSTREAM_TIME: [&[u8]; 3] = [b"urt", b"upstream_response_time", b"upstream_time"];

/// What nginx wrote behind the combined format.
#[derive(Default)]
struct Times<'a> {
    request: Option<&'a [u8]>,
    connect: Option<&'a [u8]>,
    upstream: Option<&'a [u8]>,
}

/// A line of the combined format.
struct Combined {
    ended_ns: i64,
    request: Vec<u8>,
    status: Vec<u8>,
    /// What follows the user agent.
    rest: Vec<u8>,
}

fn combined(line: &[u8]) -> Option<Combined> {
    // A value in quotes behind an equals sign is no token by itself.
    let line = without_quoted_values(line);
    let found = tokens(&line)?;
    let whole = |place: usize| found.get(place).is_some_and(|token| is_whole(token) || *token == b"-");
    let (status, rest) = (*found.get(5)?, found.get(COMBINED..)?);
    if !whole(6) || !is_whole(status) || status.len() != 3 {
        return None;
    }
    Some(Combined {
        ended_ns: time(found.get(3)?)?,
        request: found.get(4)?.to_vec(),
        status: status.to_vec(),
        rest: rest.join(&b' '),
    })
}

/// The line with `a="b"` written as `a=b`.
fn without_quoted_values(line: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(line.len());
    let mut rest = line;
    // Whether a quote that comes next opens something, by those written so far.
    let mut opens = true;
    while let Some(at) = memchr::memmem::find(rest, b"=\"") {
        // Within a quoted token, such as a request with a query, the quote closes it.
        let (before, after) = rest.split_at(at + 1);
        out.extend_from_slice(before);
        let inner = &after[1..];
        let end = memchr::memchr(b'"', inner);
        opens ^= memchr::memchr_iter(b'"', before).count() % 2 == 1;
        match end.filter(|_| opens) {
            Some(end) => {
                out.extend(inner[..end].iter().map(|byte| if *byte == b' ' { b'_' } else { *byte }));
                rest = &inner[end + 1..];
            }
            None => {
                out.push(b'"');
                opens = !opens;
                rest = inner;
            }
        }
    }
    out.extend_from_slice(rest);
    out
}

/// `30/Nov/2026:16:04:05 +0000`, in nanoseconds since the epoch.
fn time(text: &[u8]) -> Option<i64> {
    let text = std::str::from_utf8(text).ok()?;
    let at = jiff::fmt::strtime::parse("%d/%b/%Y:%H:%M:%S %z", text).ok()?.to_timestamp().ok()?;
    i64::try_from(at.as_nanosecond()).ok()
}

/// The sum of a list of upstream times, in nanoseconds: `0.1, 0.2 : 0.3`, of tries and of internal redirects.
fn sum_ns(text: &[u8]) -> Option<u64> {
    let parts = text.split(|byte| matches!(byte, b',' | b':' | b' ' | b'_')).filter(|part| !part.is_empty());
    let mut sum = None;
    for part in parts.filter(|part| *part != b"-") {
        let ns = duration::parse(part, Some(Unit::Seconds), Decimal::Point).ok()?;
        sum = Some(sum.unwrap_or(0u64).checked_add(ns)?);
    }
    sum
}

fn times(rest: &[u8]) -> Option<Times<'_>> {
    let mut times = Times::default();
    if memchr::memchr(b'=', rest).is_some() {
        for pair in rest.split(|byte| *byte == b' ') {
            let Some(at) = memchr::memchr(b'=', pair) else { continue };
            let (name, value) = (&pair[..at], &pair[at + 1..]);
            let place = if REQUEST_TIME.contains(&name) {
                &mut times.request
            } else if CONNECT_TIME.contains(&name) {
                &mut times.connect
            } else if UPSTREAM_TIME.contains(&name) {
                &mut times.upstream
            } else {
                continue;
            };
            *place = Some(value);
        }
    } else {
        let (first, upstream) = match memchr::memchr(b' ', rest) {
            Some(at) => (&rest[..at], Some(&rest[at + 1..])),
            None => (rest, None),
        };
        (times.request, times.upstream) = (Some(first).filter(|first| !first.is_empty()), upstream);
    }
    // A number with a point: `$gzip_ratio` and forwarded addresses stand in that place as well.
    let seconds = |text: &[u8]| text == b"-" || sum_ns(text).is_some() && text.contains(&b'.');
    (times.request.is_some_and(seconds)
        && times.upstream.is_none_or(|list| list.iter().all(|byte| b"0123456789., :-_".contains(byte))))
    .then_some(times)
}

/// Whether a line is of the combined format, with times or without.
pub(super) fn is_combined(line: &[u8]) -> bool {
    combined(line).is_some()
}

/// The refusal of a log without times.
pub(super) fn without_time(name: &str) -> IngestError {
    IngestError::new(
        IngestErrorKind::Unsupported,
        name,
        "it is an access log in the combined format, which does not say how long requests took",
    )
    .at(1, None)
    .remedy("add $request_time at the end of nginx's log_format")
}

impl Format for Nginx {
    fn name(&self) -> &'static str {
        "nginx access log"
    }

    fn header(&self) -> Vec<String> {
        let names = [
            "started",
            "request_time",
            "upstream_response_time",
            "upstream_connect_time",
            "status",
            "method",
            "path",
        ];
        names.map(str::to_owned).into()
    }

    fn fields(&self, line: &[u8], fields: &mut Fields) -> Option<()> {
        let line = combined(line)?;
        let times = times(&line.rest)?;
        let took = times.request.and_then(sum_ns);
        // The line is written when the request ends, and stamped to the second: a start is no more exact.
        let started_s = began_ns(line.ended_ns, took).div_euclid(1_000_000_000);
        fields.push(started_s.to_string().as_bytes());
        for list in [times.request, times.upstream, times.connect] {
            fields.push_seconds(list.and_then(sum_ns).map(i128::from));
        }
        fields.push(&line.status);
        let mut words = line.request.split(|byte| *byte == b' ');
        fields.push(words.next().unwrap_or_default());
        let path = words.next().unwrap_or_default();
        fields.push(path.split(|byte| *byte == b'?').next().unwrap_or_default());
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::{Duration, Instant};

    #[test]
    fn values_in_quotes_lose_them_where_a_quote_opens() {
        for (line, expected) in [
            (r#"rt=1 urt="0.1, 0.2" x"#, "rt=1 urt=0.1,_0.2 x"),
            (r#""GET /?a="b" HTTP/1.1" rt="3""#, r#""GET /?a="b" HTTP/1.1" rt=3"#),
            (r#""GET /?a=" 200 rt="0.3" uct="-""#, r#""GET /?a=" 200 rt=0.3 uct=-"#),
            (r#"a="b"#, r#"a="b"#),
        ] {
            assert_eq!(
                String::from_utf8(without_quoted_values(line.as_bytes())).unwrap(),
                expected,
                "{line}"
            );
        }
    }

    #[test]
    fn a_long_line_takes_time_in_proportion() {
        let line = br#"a="b" "#.repeat(500_000);
        let begun = Instant::now();
        assert_eq!(without_quoted_values(&line).len(), 500_000 * 4);
        assert_eq!(without_quoted_values(&br#"a=""#.repeat(500_000)).len(), 1_000_000);
        // Counting all quotes anew for each takes minutes.
        assert!(begun.elapsed() < Duration::from_secs(10), "{:?}", begun.elapsed());
    }
}
