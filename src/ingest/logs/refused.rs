//! What is known and holds no single attempts: refused by name, with what to export instead.

use crate::ingest::error::{IngestError, IngestErrorKind};
use crate::ingest::open::Input;

/// Refuses an input by its beginning.
pub(super) fn check(input: &Input) -> Result<(), IngestError> {
    let head = input.head.trim_ascii_start();
    let refuse = |what: &str, remedy: &str| {
        Err(IngestError::new(IngestErrorKind::Unsupported, &input.name, what).remedy(remedy))
    };
    let begins = |text: &str| head.starts_with(text.as_bytes());
    let holds = |text: &str| memchr::memmem::find(head, text.as_bytes()).is_some();
    if begins("<") {
        if holds("<testResults") {
            return refuse(
                "it is JMeter's XML .jtl, which is not read",
                "have JMeter write CSV: jmeter -Jjmeter.save.saveservice.output_format=csv",
            );
        }
        return refuse("it is XML or HTML, which is not read", "export the attempts as CSV or JSON lines");
    }
    let lines = head.split(|byte| *byte == b'\n').next().unwrap_or_default();
    let first = String::from_utf8_lossy(lines).replace('"', "").to_lowercase();
    if first.contains("request count,failure count,median response time")
        || first.contains("timestamp,user count,type,name,requests/s")
    {
        return refuse(
            "it is one of Locust's aggregates, which hold no single requests",
            "log each request from a listener on events.request, as CSV with a timestamp and response_time_ms",
        );
    }
    if begins("[{") || begins("[\n") || begins("[\r\n") || begins("[ {") || begins("[]") {
        return refuse(
            "it is one JSON array, which would have to be held in memory as a whole",
            "write one object a line: jq -c '.[]' FILE",
        );
    }
    if begins("{") && holds("\"latencies\"") && holds("\"status_codes\"") {
        return refuse(
            "it is vegeta's report, which holds no single requests",
            "export them with vegeta encode --to csv",
        );
    }
    if begins("{") && holds("\"metrics\"") && holds("\"http_req_duration\"") && !holds("\"type\":\"Point\"") {
        return refuse(
            "it is k6's summary, which holds no single requests",
            "export them with k6 run --out csv=FILE",
        );
    }
    Ok(())
}
