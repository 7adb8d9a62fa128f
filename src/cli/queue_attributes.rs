//! The JSON of `aws sqs get-queue-attributes`.

use super::input;
use anyhow::{Context, Result, bail};
use serde::Deserialize;
use serde_json::{Map, Value};
use std::path::Path;
use whsize::units::Count;

/// The most messages of an SQS queue that may be in flight (Amazon SQS Developer Guide, quotas, 2025: standard and
/// FIFO queues).
pub(crate) const IN_FLIGHT_LIMIT: u64 = 120_000;

/// The depth as the attribute is called, and as CloudWatch calls the same metric.
const DEPTH: [&str; 2] = ["ApproximateNumberOfMessages", "ApproximateNumberOfMessagesVisible"];
const IN_FLIGHT: [&str; 1] = ["ApproximateNumberOfMessagesNotVisible"];
const DELAYED: [&str; 1] = ["ApproximateNumberOfMessagesDelayed"];

/// What the attributes say of a queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct QueueAttributes {
    pub(crate) depth: u64,
    pub(crate) in_flight: u64,
    pub(crate) delayed: Option<u64>,
}

#[derive(Deserialize)]
struct Document {
    #[serde(rename = "Attributes")]
    attributes: Option<Map<String, Value>>,
    #[serde(flatten)]
    bare: Map<String, Value>,
}

/// Reads them from a file or from standard input.
pub(crate) fn read(path: &Path) -> Result<QueueAttributes> {
    parse(&input::text(path)?).with_context(|| format!("reading queue attributes from {}", input::name(path)))
}

fn parse(text: &str) -> Result<QueueAttributes> {
    let document: Document = serde_json::from_str(text)
        .context("this is not the JSON of aws sqs get-queue-attributes --attribute-names All")?;
    let attributes = document.attributes.unwrap_or(document.bare);
    let required = |names: &[&str]| {
        number(&attributes, names)?.with_context(|| {
            format!("there is no {}; ask for it with --attribute-names All", names.join(" or "))
        })
    };
    Ok(QueueAttributes {
        depth: required(&DEPTH)?,
        in_flight: required(&IN_FLIGHT)?,
        delayed: number(&attributes, &DELAYED)?,
    })
}

/// The number under any of its names; SQS writes numbers as strings.
fn number(attributes: &Map<String, Value>, names: &[&str]) -> Result<Option<u64>> {
    let mut found: Option<(&str, u64)> = None;
    for name in names {
        let text = match attributes.get(*name) {
            None => continue,
            Some(Value::String(text)) => text.clone(),
            Some(other) => other.to_string(),
        };
        let value = text.parse::<Count>().with_context(|| format!("reading {name}"))?.get();
        match found {
            Some((known, other)) if other != value => {
                bail!("{known} is {other} and {name} is {value}; they are two names of one number")
            }
            _ => found = Some((name, value)),
        }
    }
    Ok(found.map(|(_, value)| value))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_spellings_of_the_depth_are_read() {
        let expected = QueueAttributes { depth: 5000, in_flight: 100, delayed: Some(7) };
        for text in [
            r#"{"Attributes":{"ApproximateNumberOfMessages":"5000","ApproximateNumberOfMessagesNotVisible":"100","ApproximateNumberOfMessagesDelayed":"7","QueueArn":"arn"}}"#,
            r#"{"ApproximateNumberOfMessagesVisible":5000,"ApproximateNumberOfMessagesNotVisible":100,"ApproximateNumberOfMessagesDelayed":7}"#,
        ] {
            assert_eq!(parse(text).unwrap(), expected);
        }
    }

    #[test]
    fn what_is_missing_or_contradicts_itself_is_named() {
        for (text, named) in [
            ("", "get-queue-attributes"),
            ("[]", "get-queue-attributes"),
            (r#"{"Attributes":{}}"#, "ApproximateNumberOfMessages"),
            (r#"{"ApproximateNumberOfMessages":"5"}"#, "ApproximateNumberOfMessagesNotVisible"),
            (r#"{"ApproximateNumberOfMessages":"-5"}"#, "negative"),
            (r#"{"ApproximateNumberOfMessages":null}"#, "not a number"),
            (r#"{"ApproximateNumberOfMessages":"5","ApproximateNumberOfMessagesVisible":"6"}"#, "two names"),
        ] {
            let error = format!("{:#}", parse(text).unwrap_err());
            assert!(error.contains(named), "{text}: {error}");
        }
    }
}
