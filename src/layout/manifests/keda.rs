//! A KEDA ScaledObject with two triggers: the age of the oldest message, and the load.
//!
//! KEDA's own queue triggers read the depth only. The age comes from CloudWatch or Prometheus, with `metricType: Value`:
//! the default, `AverageValue`, divides an age by the replicas. Age alone scales a busy, healthy fleet down; the second
//! trigger is ⌈λS / tasks⌉, and the HPA takes the larger of both.

use super::kubernetes::{Document, Metadata};
use super::request::{AgeSource, ManifestError, PROMETHEUS_SERIES};
use super::scaling::{Behavior, Target, behavior, target};
use super::workload::Workload;
use super::{Reasoned, because};
use serde::Serialize;
use std::collections::BTreeMap;

/// How often KEDA reads, how long a value of CloudWatch covers, and how far back one is looked for, in seconds.
const POLLING_S: u64 = 30;
const PERIOD_S: u64 = 60;
const COLLECTED_S: u64 = 300;

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ScaledObjectSpec {
    scale_target_ref: Target,
    polling_interval: Reasoned<u64>,
    min_replica_count: Reasoned<u64>,
    max_replica_count: Reasoned<u64>,
    advanced: Advanced,
    triggers: Vec<Trigger>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Advanced {
    horizontal_pod_autoscaler_config: AutoscalerConfig,
}

#[derive(Serialize)]
struct AutoscalerConfig {
    behavior: Behavior,
}

/// Metadata of a trigger are strings, also where they are numbers.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Trigger {
    r#type: &'static str,
    name: &'static str,
    metric_type: Reasoned<&'static str>,
    metadata: BTreeMap<&'static str, Reasoned<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    authentication_ref: Option<AuthenticationRef>,
}

#[derive(Serialize)]
struct AuthenticationRef {
    name: String,
}

/// Who KEDA is when it reads CloudWatch. Without it, a trigger of CloudWatch wants access keys.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct TriggerAuthenticationSpec {
    pod_identity: PodIdentity,
}

#[derive(Serialize)]
struct PodIdentity {
    provider: Reasoned<&'static str>,
}

/// The authentication that the triggers refer to; Prometheus inside a cluster needs none.
pub(super) fn trigger_authentication(workload: &Workload) -> Option<Document<TriggerAuthenticationSpec>> {
    matches!(workload.source, AgeSource::CloudWatch { .. }).then(|| Document {
        api_version: "keda.sh/v1alpha1",
        kind: "TriggerAuthentication",
        metadata: Metadata::of(workload),
        spec: TriggerAuthenticationSpec {
            pod_identity: PodIdentity { provider: because("aws", "the role of KEDA's operator") },
        },
    })
}

pub(super) fn scaled_object(workload: &Workload) -> Result<Document<ScaledObjectSpec>, ManifestError> {
    let (triggers, polling_reason) = match &workload.source {
        AgeSource::CloudWatch { queue, region } => {
            (by_cloudwatch(workload, queue, region)?, "a value of CloudWatch comes once a minute")
        }
        AgeSource::Prometheus { address, queue } => {
            (by_prometheus(workload, address, queue)?, "at least once for each target age")
        }
    };
    Ok(Document {
        api_version: "keda.sh/v1alpha1",
        kind: "ScaledObject",
        metadata: Metadata::of(workload),
        spec: ScaledObjectSpec {
            scale_target_ref: target(workload),
            polling_interval: because(POLLING_S, polling_reason),
            min_replica_count: workload.minimum.number(),
            max_replica_count: workload.maximum.number(),
            advanced: Advanced {
                horizontal_pod_autoscaler_config: AutoscalerConfig { behavior: behavior(workload) },
            },
            triggers,
        },
    })
}

fn plain(text: impl Into<String>) -> Reasoned<String> {
    because(text.into(), "")
}

/// Whole seconds, at least one.
fn target_age(workload: &Workload) -> Reasoned<String> {
    let seconds = workload.target_age.exact().floor().unwrap_or(1).max(1);
    because(seconds.to_string(), "seconds that the oldest message may be old")
}

fn by_cloudwatch(workload: &Workload, queue: &str, region: &str) -> Result<Vec<Trigger>, ManifestError> {
    let shared = |metric: &str, statistic: Reasoned<String>| {
        BTreeMap::from([
            ("namespace", plain("AWS/SQS")),
            ("dimensionName", plain("QueueName")),
            ("dimensionValue", plain(queue)),
            ("awsRegion", plain(region)),
            ("metricName", plain(metric)),
            ("metricStat", statistic),
            (
                "metricStatPeriod",
                because(PERIOD_S.to_string(), "SQS reports once a minute; the default is 300"),
            ),
            (
                "metricCollectionTime",
                because(COLLECTED_S.to_string(), "the latest value of these; one may come minutes late"),
            ),
            ("minMetricValue", because("0".to_owned(), "no value means that nothing waits")),
        ])
    };
    let mut age = shared(
        "ApproximateAgeOfOldestMessage",
        because("Maximum".to_owned(), "the default, Average, hides the oldest"),
    );
    age.insert("targetMetricValue", target_age(workload));
    let mut load = shared("NumberOfMessagesSent", because("Sum".to_owned(), "messages of a period"));
    let a_minute = workload.rate_per_pod_millis()?.saturating_mul(PERIOD_S) / 1_000;
    load.insert(
        "targetMetricValue",
        because(a_minute.max(1).to_string(), format!("a minute; {}", workload.rate_reason())),
    );
    let trigger = |name, metric_type, metadata| Trigger {
        r#type: "aws-cloudwatch",
        name,
        metric_type,
        metadata,
        authentication_ref: Some(AuthenticationRef { name: workload.name.clone() }),
    };
    Ok(vec![trigger("age", by_value(), age), trigger("load", by_average(), load)])
}

fn by_prometheus(workload: &Workload, address: &str, queue: &str) -> Result<Vec<Trigger>, ManifestError> {
    let millis = workload.rate_per_pod_millis()?;
    let threshold = format!("{}.{:03}", millis / 1_000, millis % 1_000);
    let trigger = |name, metric_type, query: String, threshold| Trigger {
        r#type: "prometheus",
        name,
        metric_type,
        metadata: BTreeMap::from([
            ("serverAddress", plain(address)),
            ("query", plain(query)),
            ("threshold", threshold),
        ]),
        authentication_ref: None,
    };
    let [age, sent] = PROMETHEUS_SERIES;
    let queue = label(queue);
    let age = format!("max({age}{{queue={queue}}})");
    let load = format!("sum(rate({sent}{{queue={queue}}}[2m]))");
    Ok(vec![
        trigger("age", by_value(), age, target_age(workload)),
        trigger("load", by_average(), load, because(threshold, workload.rate_reason())),
    ])
}

fn by_value() -> Reasoned<&'static str> {
    because("Value", "the default, AverageValue, divides the age by the replicas")
}

fn by_average() -> Reasoned<&'static str> {
    because("AverageValue", "the rate is shared by the replicas")
}

/// A label's value as PromQL quotes it.
fn label(value: &str) -> String {
    format!("\"{}\"", value.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n"))
}
