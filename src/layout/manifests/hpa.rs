//! A HorizontalPodAutoscaler with two external metrics: the age of the oldest message, and the load.

use super::kubernetes::{Document, Metadata};
use super::request::{AgeSource, EXTERNAL_METRICS, ManifestError};
use super::scaling::{Behavior, Target, behavior, target};
use super::workload::Workload;
use super::{Reasoned, because};
use serde::Serialize;
use std::collections::BTreeMap;

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct AutoscalerSpec {
    scale_target_ref: Target,
    min_replicas: Reasoned<u64>,
    max_replicas: Reasoned<u64>,
    metrics: Vec<Metric>,
    behavior: Behavior,
}

#[derive(Serialize)]
struct Metric {
    r#type: &'static str,
    external: External,
}

#[derive(Serialize)]
struct External {
    metric: MetricName,
    target: MetricTarget,
}

#[derive(Serialize)]
struct MetricName {
    name: &'static str,
    selector: Selector,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Selector {
    match_labels: BTreeMap<&'static str, String>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct MetricTarget {
    r#type: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    value: Option<Reasoned<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    average_value: Option<Reasoned<String>>,
}

pub(super) fn autoscaler(workload: &Workload) -> Result<Document<AutoscalerSpec>, ManifestError> {
    let (AgeSource::CloudWatch { queue, .. } | AgeSource::Prometheus { queue, .. }) = &workload.source;
    let external = |name, target| Metric {
        r#type: "External",
        external: External {
            metric: MetricName {
                name,
                selector: Selector { match_labels: BTreeMap::from([("queue", queue.clone())]) },
            },
            target,
        },
    };
    let seconds = workload.target_age.exact().floor().unwrap_or(1).max(1);
    let age = MetricTarget {
        r#type: "Value",
        value: Some(because(seconds.to_string(), "seconds that the oldest message may be old")),
        average_value: None,
    };
    let load = MetricTarget {
        r#type: "AverageValue",
        value: None,
        average_value: Some(because(format!("{}m", workload.rate_per_pod_millis()?), workload.rate_reason())),
    };
    let [age_name, load_name] = EXTERNAL_METRICS;
    Ok(Document {
        api_version: "autoscaling/v2",
        kind: "HorizontalPodAutoscaler",
        metadata: Metadata::of(workload),
        spec: AutoscalerSpec {
            scale_target_ref: target(workload),
            min_replicas: workload.minimum.number(),
            max_replicas: workload.maximum.number(),
            metrics: vec![external(age_name, age), external(load_name, load)],
            behavior: behavior(workload),
        },
    })
}
