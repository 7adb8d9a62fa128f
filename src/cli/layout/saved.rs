//! The saved JSON of `size`, as the start of a layout.

use crate::cli::input;
use anyhow::{Context, Result, bail};
use serde::Deserialize;
use serde_json::{Number, Value};
use std::path::Path;
use whsize::report::schema;
use whsize::units::{ArrivalRate, Seconds};

/// What a layout takes of a sizing.
#[derive(Clone, Debug)]
pub(crate) struct SavedSize {
    /// The pool.
    pub(crate) workers: u64,
    /// The traffic that it was sized for.
    pub(crate) rate: ArrivalRate,
    pub(crate) mean: Seconds,
    /// The largest pool of its scenarios, where there are any.
    pub(crate) surge_workers: Option<u64>,
}

#[derive(Deserialize)]
struct Envelope {
    schema: String,
    inputs: Value,
    result: Value,
}

#[derive(Deserialize)]
struct Inputs {
    rate_per_s: Number,
    service_mean_s: Number,
}

#[derive(Deserialize)]
struct Sized {
    workers: u64,
    required_workers: u64,
    #[serde(default)]
    scenarios: Vec<Scenario>,
}

#[derive(Deserialize)]
struct Scenario {
    required_workers: u64,
}

impl SavedSize {
    /// Reads it from a file or from standard input.
    pub(crate) fn read(path: &Path) -> Result<Self> {
        parse(&input::text(path)?).with_context(|| format!("reading a sizing from {}", input::name(path)))
    }
}

fn parse(text: &str) -> Result<SavedSize> {
    let envelope: Envelope = serde_json::from_str(text)
        .context("this is not the JSON of a command; save it with whsize size … --format json")?;
    let expected = schema::name("size");
    if envelope.schema != expected {
        bail!("it has the schema {}, and {expected} is needed: whsize size … --format json", envelope.schema);
    }
    let inputs: Inputs = serde_json::from_value(envelope.inputs).context("reading its inputs")?;
    let sized: Sized = serde_json::from_value(envelope.result).context("reading its result")?;
    // A pool that was given and falls short is not what to deploy.
    let workers = sized.workers.max(sized.required_workers);
    Ok(SavedSize {
        workers,
        // The text of the number, not its float: 1.4 stays 1.4.
        rate: ArrivalRate::parse_positive(&inputs.rate_per_s.to_string())?,
        mean: Seconds::parse_positive(&inputs.service_mean_s.to_string())?,
        surge_workers: sized.scenarios.iter().map(|scenario| scenario.required_workers).max(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn document(schema: &str, result: &str) -> String {
        format!(
            r#"{{"schema":"{schema}","version":"1","inputs":{{"rate_per_s":900,"service_mean_s":1.4}},"result":{result},"notes":[]}}"#
        )
    }

    #[test]
    fn the_pool_its_traffic_and_its_surge_are_read() {
        let text = document(
            "whsize.size/1",
            r#"{"workers":1200,"required_workers":1263,"scenarios":[{"required_workers":7446}]}"#,
        );
        let saved = parse(&text).unwrap();
        assert_eq!(saved.surge_workers, Some(7446));
        assert_eq!(saved.workers, 1263, "what is needed, not the pool that falls short");
        assert_eq!(saved.mean, "1.4".parse().unwrap());
    }

    #[test]
    fn what_is_no_sizing_is_refused_with_what_to_do() {
        let short = document("whsize.size/1", "{}");
        let other = document("whsize.drain/1", "{}");
        for (text, named) in
            [("", "--format json"), ("[]", "--format json"), (&other, "whsize.size/1"), (&short, "workers")]
        {
            let error = format!("{:#}", parse(text).unwrap_err());
            assert!(error.contains(named), "{text}: {error}");
        }
    }
}
