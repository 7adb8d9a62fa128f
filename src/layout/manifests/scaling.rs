//! How fast an HPA moves: up by eight pods, down by one and no faster than the lease. It has no band between growing
//! and shrinking; this is the nearest to the controller that the sizing guides describe.

use super::workload::Workload;
use super::{Reasoned, because};
use serde::Serialize;

/// The controller's step up, in pods, and how often an HPA decides, in seconds.
const STEP_UP: u64 = 8;
const SYNC_S: u64 = 15;
const STABILISATION_S: u64 = 300;

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Behavior {
    scale_up: Rules,
    scale_down: Rules,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Rules {
    stabilization_window_seconds: Reasoned<u64>,
    policies: Vec<Policy>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Policy {
    r#type: &'static str,
    value: Reasoned<u64>,
    period_seconds: Reasoned<u64>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Target {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) api_version: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) kind: Option<&'static str>,
    pub(super) name: String,
}

pub(super) fn target(workload: &Workload) -> Target {
    Target { api_version: Some("apps/v1"), kind: Some("Deployment"), name: workload.name.clone() }
}

pub(super) fn behavior(workload: &Workload) -> Behavior {
    Behavior {
        scale_up: Rules {
            stabilization_window_seconds: because(0, "a backlog does not wait"),
            policies: vec![Policy {
                r#type: "Pods",
                value: because(STEP_UP, "the controller's step up"),
                period_seconds: because(SYNC_S, "how often an HPA decides"),
            }],
        },
        scale_down: Rules {
            stabilization_window_seconds: because(STABILISATION_S, "the highest need of five minutes"),
            policies: vec![Policy {
                r#type: "Pods",
                value: because(1, "the controller's step down"),
                period_seconds: workload.scale_in_s.number(),
            }],
        },
    }
}
