//! What columns are called: the names that tell what they hold, and the unit that a name ends in.

use super::duration::Unit;

/// Names of a duration column, likeliest first; within a rank none is likelier than another.
pub(super) const DURATION_NAMES: &[&[&str]] = &[
    &["service_time", "attempt_duration", "delivery_duration", "processing_time"],
    &["duration", "elapsed", "elapsed_time", "time_taken", "took", "execution_time", "runtime", "run_time"],
    &[
        "latency",
        "response_time",
        "request_time",
        "request_duration",
        "response_duration",
        "total_time",
        "time_total",
    ],
];

/// Times that nginx logs, in seconds.
pub(super) const NGINX_TIMES: &[&str] =
    &["request_time", "upstream_response_time", "upstream_header_time", "upstream_connect_time"];

/// What else nginx logs, and nobody else calls so.
pub(super) const NGINX_VARIABLES: &[&str] = &[
    "body_bytes_sent",
    "remote_addr",
    "remote_user",
    "http_user_agent",
    "http_referer",
    "request_uri",
    "time_iso8601",
    "time_local",
    "upstream_addr",
    "upstream_status",
    "upstream_response_time",
];

/// Names of a column that says how many attempts a row stands for, as SQL engines name a count.
pub(super) const COUNT_NAMES: &[&str] = &[
    "count",
    "counts",
    "cnt",
    "n",
    "num",
    "hits",
    "requests",
    "request_count",
    "calls",
    "occurrences",
    "frequency",
    "freq",
    "row_count",
    "count_star",
    "total_count",
    "sample_count",
    "weight",
];

/// The same in a table that holds nothing but a value beside it; elsewhere these name something else as well.
pub(super) const COUNT_NAMES_BESIDE_A_VALUE: &[&str] =
    &["attempts", "attempt_count", "rows", "samples", "total", "f0", "count_1", "col1"];

/// What is typed for `--count-column` where no column is one.
pub(super) const NO_COUNT: &str = "none";

/// First words of a column that holds a statistic of several attempts.
pub(super) const STATISTICS: &[&str] = &[
    "avg", "average", "mean", "median", "min", "max", "minimum", "maximum", "stddev", "std", "sum", "total",
];

/// Names of a time stamp's column.
pub(super) const TIMESTAMP_NAMES: &[&str] = &[
    "timestamp",
    "time_stamp",
    "ts",
    "time",
    "datetime",
    "date_time",
    "started_at",
    "start_time",
    "attempted_at",
    "sent_at",
    "created_at",
    "start",
    "event_time",
];

/// Names of columns that tell failures.
pub(super) const STATUS_NAMES: &[&str] = &[
    "status",
    "status_code",
    "response_code",
    "http_status",
    "http_code",
    "response_status",
    "code",
    "outcome",
];
pub(super) const SUCCESS_NAMES: &[&str] = &["success", "succeeded", "successful", "ok"];
pub(super) const ERROR_NAMES: &[&str] = &["error", "error_message", "failure", "failed", "failure_message"];

/// A name in lower case with `_` between its words, and the unit that its last word names.
pub(super) fn normalised(name: &str) -> (String, Option<Unit>) {
    let mut words: Vec<String> = Vec::new();
    let mut lower_before = false;
    for letter in name.chars() {
        if !letter.is_alphanumeric() {
            words.push(String::new());
            lower_before = false;
            continue;
        }
        if words.is_empty() || letter.is_uppercase() && lower_before {
            words.push(String::new());
        }
        lower_before = letter.is_lowercase() || letter.is_numeric();
        if let Some(word) = words.last_mut() {
            word.extend(letter.to_lowercase());
        }
    }
    words.retain(|word| !word.is_empty());
    let unit = words.last().and_then(|last| unit_word(last)).filter(|_| words.len() > 1);
    if unit.is_some() {
        words.pop();
        if words.last().is_some_and(|word| word == "in") {
            words.pop();
        }
    }
    (words.join("_"), unit)
}

fn unit_word(word: &str) -> Option<Unit> {
    Some(match word {
        "s" | "sec" | "secs" | "second" | "seconds" => Unit::Seconds,
        "ms" | "msec" | "msecs" | "milli" | "millis" | "millisecond" | "milliseconds" => Unit::Milliseconds,
        "us" | "usec" | "usecs" | "micro" | "micros" | "microsecond" | "microseconds" => Unit::Microseconds,
        "\u{b5}s" | "\u{3bc}s" => Unit::Microseconds,
        "ns" | "nsec" | "nsecs" | "nano" | "nanos" | "nanosecond" | "nanoseconds" => Unit::Nanoseconds,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_unit_is_in_the_name() {
        for (name, base, unit) in [
            ("duration_ms", "duration", Some(Unit::Milliseconds)),
            ("durationMs", "duration", Some(Unit::Milliseconds)),
            ("Duration (ms)", "duration", Some(Unit::Milliseconds)),
            ("latency.seconds", "latency", Some(Unit::Seconds)),
            ("elapsed_in_micros", "elapsed", Some(Unit::Microseconds)),
            ("took [ns]", "took", Some(Unit::Nanoseconds)),
            ("@timestamp", "timestamp", None),
            ("responseCode", "response_code", None),
            ("s", "s", None),
        ] {
            assert_eq!(normalised(name), (base.to_owned(), unit), "{name}");
        }
    }
}
