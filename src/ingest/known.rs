//! Tables that are recognised by their header or shape.

use super::duration::Unit;
use crate::profile::Phase;

/// What is known of a program's table.
#[derive(Debug)]
pub(super) struct Known {
    /// As the report names it.
    pub(super) format: &'static str,
    /// Columns that are all in its header, and in no other's.
    signature: &'static [&'static str],
    pub(super) duration: &'static str,
    pub(super) unit: Unit,
    /// The column of the time stamp, if it holds the time of day and not one since the start of the run.
    pub(super) timestamp: Option<&'static str>,
    /// Columns that tell failures, with how they tell it.
    pub(super) outcomes: &'static [(&'static str, Outcome)],
    /// The column that says what a row measures, of a long table.
    pub(super) labels: Option<&'static str>,
    /// Which attempts are missing from the table.
    pub(super) absent: Option<&'static str>,
    /// Columns with the duration of a phase, in the same unit.
    pub(super) phases: &'static [(&'static str, Phase)],
    /// A column, and how a cell of it begins in a row that sums up other rows: such rows are left out.
    pub(super) sums: Option<(&'static str, &'static str)>,
    /// Whether a load tool made the requests: then it made the arrivals as well.
    pub(super) load_tool: bool,
}

/// How a column tells that an attempt failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    /// An HTTP status or a word: 400 and above, 0, `failed`, `error`, `timeout` are failures.
    Status,
    /// `true` or `1` where the attempt succeeded.
    Success,
    /// Anything but an empty cell, `false`, `0` or `none` where it failed.
    Error,
}

/// Load tools and proxies: what they measure is the endpoint's latency.
pub(super) const KNOWN: &[Known] = &[
    Known {
        format: "hey csv",
        signature: &["response-time", "DNS+dialup", "Response-delay", "offset"],
        duration: "response-time",
        unit: Unit::Seconds,
        timestamp: None,
        outcomes: &[("status-code", Outcome::Status)],
        labels: None,
        absent: Some("hey leaves out requests that failed or timed out without an answer"),
        phases: &[
            ("DNS+dialup", Phase::Connect),
            ("Request-write", Phase::Send),
            ("Response-delay", Phase::Http),
            ("Response-read", Phase::Receive),
        ],
        sums: None,
        load_tool: true,
    },
    Known {
        format: "oha csv",
        // Older versions write no request-start.
        signature: &["DNS+dialup", "Response-delay", "request-duration"],
        duration: "request-duration",
        unit: Unit::Seconds,
        timestamp: None,
        outcomes: &[("status", Outcome::Status)],
        labels: None,
        absent: Some("oha leaves out requests that failed or timed out without an answer"),
        phases: &[("DNS+dialup", Phase::Connect)],
        sums: None,
        load_tool: true,
    },
    Known {
        format: "JMeter csv",
        signature: &["timeStamp", "elapsed"],
        duration: "elapsed",
        unit: Unit::Milliseconds,
        timestamp: Some("timeStamp"),
        outcomes: &[("success", Outcome::Success)],
        labels: None,
        absent: None,
        phases: &[("Connect", Phase::Connect)],
        sums: Some(("responseMessage", "Number of samples in transaction")),
        load_tool: true,
    },
    Known {
        // k6's JSON is read into the same columns.
        format: "k6 csv",
        signature: &["metric_name", "timestamp", "metric_value"],
        duration: "metric_value",
        unit: Unit::Milliseconds,
        timestamp: Some("timestamp"),
        outcomes: &[("status", Outcome::Status), ("error", Outcome::Error)],
        labels: Some("metric_name"),
        absent: Some(
            "k6 leaves out requests that were cut off when the run ended, and of each the time to connect",
        ),
        phases: &[],
        sums: None,
        load_tool: true,
    },
    Known {
        format: "vegeta csv",
        signature: &[
            "timestamp",
            "code",
            "latency",
            "bytes_out",
            "bytes_in",
            "error",
            "body",
            "attack",
            "seq",
        ],
        duration: "latency",
        unit: Unit::Nanoseconds,
        timestamp: Some("timestamp"),
        outcomes: &[("code", Outcome::Status), ("error", Outcome::Error)],
        labels: None,
        absent: None,
        phases: &[],
        sums: None,
        load_tool: true,
    },
    Known {
        format: "vegeta json",
        signature: &["attack", "seq", "code", "latency", "bytes_out"],
        duration: "latency",
        unit: Unit::Nanoseconds,
        timestamp: Some("timestamp"),
        outcomes: &[("code", Outcome::Status), ("error", Outcome::Error)],
        labels: None,
        absent: None,
        phases: &[],
        sums: None,
        load_tool: true,
    },
    Known {
        format: "ab -g",
        signature: &["starttime", "seconds", "ctime", "dtime", "ttime", "wait"],
        duration: "ttime",
        unit: Unit::Milliseconds,
        timestamp: Some("seconds"),
        outcomes: &[],
        labels: None,
        absent: Some("ab leaves out requests that failed to connect or had no answer, and tells no failures"),
        phases: &[("ctime", Phase::Connect), ("dtime", Phase::Http)],
        sums: None,
        load_tool: true,
    },
    Known {
        format: "nginx access log",
        signature: &["started", "request_time", "upstream_response_time", "upstream_connect_time"],
        duration: "request_time",
        unit: Unit::Seconds,
        timestamp: Some("started"),
        outcomes: &[("status", Outcome::Status)],
        labels: None,
        absent: Some("an access log leaves out attempts that never reached nginx"),
        phases: &[("upstream_connect_time", Phase::Connect)],
        sums: None,
        load_tool: false,
    },
    Known {
        format: "Envoy access log",
        signature: &["start_time", "duration", "upstream_service_time", "response_flags"],
        duration: "duration",
        unit: Unit::Milliseconds,
        timestamp: Some("start_time"),
        outcomes: &[("response_code", Outcome::Status)],
        labels: None,
        absent: Some("an access log leaves out attempts that never reached Envoy"),
        phases: &[],
        sums: None,
        load_tool: false,
    },
    Known {
        format: "AWS ALB access log",
        signature: &["request_creation_time", "total_processing_time", "target_processing_time"],
        duration: "total_processing_time",
        unit: Unit::Seconds,
        timestamp: Some("request_creation_time"),
        outcomes: &[("elb_status_code", Outcome::Status)],
        labels: None,
        absent: Some("an access log leaves out attempts that never reached the load balancer"),
        phases: &[],
        sums: None,
        load_tool: false,
    },
];

/// The columns of vegeta's CSV, which has no header; older versions write the first nine alone.
const VEGETA_COLUMNS: [&str; 12] = [
    "timestamp",
    "code",
    "latency",
    "bytes_out",
    "bytes_in",
    "error",
    "body",
    "attack",
    "seq",
    "method",
    "url",
    "headers",
];

/// The columns that JMeter writes by default, for a file without a header.
pub(super) const JMETER_COLUMNS: [&str; 17] = [
    "timeStamp",
    "elapsed",
    "label",
    "responseCode",
    "responseMessage",
    "threadName",
    "dataType",
    "success",
    "failureMessage",
    "bytes",
    "sentBytes",
    "grpThreads",
    "allThreads",
    "URL",
    "Latency",
    "IdleTime",
    "Connect",
];

/// The table that a header belongs to.
pub(super) fn by_header(header: &[String]) -> Option<&'static Known> {
    KNOWN.iter().find(|known| known.signature.iter().all(|name| header.iter().any(|column| column == name)))
}

/// The header of a table that is recognised by the shape of its records alone.
pub(super) fn header_by_shape(record: &[String]) -> Option<Vec<String>> {
    let is_number = |cell: &String, digits: std::ops::RangeInclusive<usize>| {
        digits.contains(&cell.len()) && cell.bytes().all(|byte| byte.is_ascii_digit())
    };
    let vegeta = (9..=VEGETA_COLUMNS.len()).contains(&record.len())
        && is_number(&record[0], 19..=19)
        && is_number(&record[1], 1..=3)
        && is_number(&record[2], 1..=15)
        && is_number(&record[8], 1..=20);
    if vegeta {
        return Some(VEGETA_COLUMNS[..record.len()].iter().map(|&name| name.to_owned()).collect());
    }
    let jmeter = (16..=JMETER_COLUMNS.len()).contains(&record.len())
        && is_number(&record[0], 13..=13)
        && is_number(&record[1], 1..=8)
        && matches!(record[7].as_str(), "true" | "false");
    jmeter.then(|| {
        let mut names = JMETER_COLUMNS.to_vec();
        if record.len() == 16 {
            // Before 3.1 there was no sentBytes.
            names.retain(|name| *name != "sentBytes");
        }
        names.into_iter().map(str::to_owned).collect()
    })
}

/// Words of a status that say that the attempt failed; `_` stands for `-` and a blank as well.
const FAILURES: &[&str] = &[
    "false",
    "no",
    "fail",
    "failed",
    "failure",
    "error",
    "errored",
    "exception",
    "timeout",
    "timed_out",
    "deadline_exceeded",
    "ko",
    "dead",
    "dead_letter",
    "dead_lettered",
    "deadletter",
    "deadlettered",
    "dlq",
    "exhausted",
    "expired",
    "rejected",
    "refused",
    "dropped",
    "discarded",
    "undelivered",
    "undeliverable",
    "bounced",
    "nack",
    "nacked",
    "aborted",
    "cancelled",
    "canceled",
    "unreachable",
    "unavailable",
    // Of Micrometer and gRPC.
    "client_error",
    "server_error",
    "deadlineexceeded",
    "failedprecondition",
    "internal",
    "invalidargument",
    "permissiondenied",
    "resourceexhausted",
    "resource_exhausted",
    "unauthenticated",
    "unimplemented",
];

/// Words of a status that say that it did not.
const SUCCESSES: &[&str] = &[
    "true",
    "yes",
    "ok",
    "success",
    "succeeded",
    "successful",
    "delivered",
    "sent",
    "accepted",
    "acknowledged",
    "acked",
    "ack",
    "processed",
    "complete",
    "completed",
    "done",
    "finished",
    "pass",
    "passed",
    "none",
    "null",
    "\\n",
    "-",
];

/// Whether a cell is one of the words, in letters of either case.
fn is_one_of(cell: &[u8], words: &[&str]) -> bool {
    let same = |(a, b): (&u8, u8)| a.eq_ignore_ascii_case(&b) || b == b'_' && matches!(a, b'-' | b' ');
    words.iter().any(|word| cell.len() == word.len() && cell.iter().zip(word.bytes()).all(same))
}

impl Outcome {
    /// Whether a cell says that the attempt failed.
    pub(super) fn failed(self, cell: &[u8]) -> bool {
        self.judge(cell).unwrap_or(false)
    }

    /// The same; `None` if the cell says neither that it failed nor that it did not.
    pub(super) fn judge(self, cell: &[u8]) -> Option<bool> {
        let cell = cell.trim_ascii();
        let is_one_of = |words: &[&str]| is_one_of(cell, words);
        Some(match self {
            Outcome::Success => is_one_of(&["false", "0", "no", "f", "n"]),
            Outcome::Error => {
                !cell.is_empty() && !is_one_of(&["false", "0", "no", "none", "null", "\\N", "-", "f", "nil"])
            }
            Outcome::Status => {
                let digits = cell.iter().take_while(|byte| byte.is_ascii_digit()).count();
                if let [class @ b'1'..=b'5', b'x' | b'X', b'x' | b'X'] = cell {
                    *class >= b'4'
                } else if digits > 0 {
                    let code =
                        cell[..digits].iter().take(6).fold(0u32, |sum, d| sum * 10 + u32::from(d - b'0'));
                    code == 0 || code >= 400
                } else if cell.is_empty() || is_one_of(SUCCESSES) {
                    false
                } else if is_one_of(FAILURES) {
                    true
                } else {
                    return None;
                }
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failures_are_told_from_status_success_and_error() {
        for (outcome, cell, failed) in [
            (Outcome::Status, "200", false),
            (Outcome::Status, "302", false),
            (Outcome::Status, "503", true),
            (Outcome::Status, "0", true),
            (Outcome::Status, "404 Not Found", true),
            (Outcome::Status, "Timeout", true),
            (Outcome::Status, "delivered", false),
            (Outcome::Status, "dead_lettered", true),
            (Outcome::Status, "Dead-Letter", true),
            (Outcome::Status, "2xx", false),
            (Outcome::Status, "5XX", true),
            (Outcome::Status, "SERVER_ERROR", true),
            (Outcome::Status, "ResourceExhausted", true),
            (Outcome::Status, "timed out", true),
            (Outcome::Status, "", false),
            (Outcome::Success, "true", false),
            (Outcome::Success, "FALSE", true),
            (Outcome::Error, "", false),
            (Outcome::Error, "None", false),
            (Outcome::Error, "connection refused", true),
        ] {
            assert_eq!(outcome.failed(cell.as_bytes()), failed, "{outcome:?} {cell}");
            assert_eq!(outcome.judge(cell.as_bytes()), Some(failed), "{outcome:?} {cell}");
        }
        assert_eq!((Outcome::Status.judge(b"wibble"), Outcome::Status.failed(b"wibble")), (None, false));
        assert_eq!(Outcome::Error.judge(b"wibble"), Some(true));
    }

    #[test]
    fn jmeter_without_a_header_is_recognised_by_shape() {
        let record = "1551783627191,351,JR-OK,200,OK,Thread 1-1,text,true,,18,8,1,1,null,0,0,0";
        let cells: Vec<String> = record.split(',').map(str::to_owned).collect();
        assert_eq!(header_by_shape(&cells).unwrap().len(), 17);
        assert_eq!(header_by_shape(&cells[..16]).unwrap()[10], "grpThreads");
        assert!(header_by_shape(&["1".to_owned()]).is_none());
    }
}
