//! A Deployment and its PodDisruptionBudget.

use super::workload::Workload;
use super::{Reasoned, because};
use serde::Serialize;
use std::collections::BTreeMap;

/// The label by which pods are selected.
const NAME_LABEL: &str = "app.kubernetes.io/name";

/// The variable that says how many processes to start.
pub(super) const PROCESSES: &str = "WORKER_PROCESSES";

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Document<S: Serialize> {
    pub(super) api_version: &'static str,
    pub(super) kind: &'static str,
    pub(super) metadata: Metadata,
    pub(super) spec: S,
}

#[derive(Serialize)]
pub(super) struct Metadata {
    pub(super) name: String,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub(super) labels: BTreeMap<&'static str, String>,
}

impl Metadata {
    pub(super) fn of(workload: &Workload) -> Self {
        Metadata { name: workload.name.clone(), labels: labels(workload) }
    }
}

fn labels(workload: &Workload) -> BTreeMap<&'static str, String> {
    BTreeMap::from([(NAME_LABEL, workload.name.clone())])
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct DeploymentSpec {
    #[serde(skip_serializing_if = "Option::is_none")]
    replicas: Option<Reasoned<u64>>,
    selector: Selector,
    strategy: Strategy,
    template: Template,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Selector {
    match_labels: BTreeMap<&'static str, String>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Strategy {
    r#type: &'static str,
    rolling_update: RollingUpdate,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct RollingUpdate {
    max_surge: Reasoned<u64>,
    max_unavailable: Reasoned<u64>,
}

#[derive(Serialize)]
struct Template {
    metadata: TemplateMetadata,
    spec: PodSpec,
}

#[derive(Serialize)]
struct TemplateMetadata {
    labels: BTreeMap<&'static str, String>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct PodSpec {
    termination_grace_period_seconds: Reasoned<u64>,
    containers: Vec<Container>,
}

#[derive(Serialize)]
struct Container {
    name: String,
    image: String,
    env: Vec<Variable>,
    resources: Resources,
}

/// A variable of the environment.
#[derive(Serialize)]
pub(super) struct Variable {
    pub(super) name: &'static str,
    pub(super) value: Reasoned<String>,
}

#[derive(Serialize)]
struct Resources {
    requests: BTreeMap<&'static str, Reasoned<String>>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    limits: BTreeMap<&'static str, Reasoned<String>>,
}

pub(super) fn deployment(workload: &Workload) -> Document<DeploymentSpec> {
    let deployment = &workload.deployment;
    let replicas = because(
        deployment.pods,
        format!("{} at once, {} a pod", deployment.concurrency, deployment.tasks_per_pod()),
    );
    let (max_surge, max_unavailable) = if workload.spare_pod {
        (because(1, "one pod more fits within the limits"), because(0, "never fewer than are needed"))
    } else {
        (because(0, "one pod more would exceed a limit of the fleet"), because(1, "one pod at a time"))
    };
    Document {
        api_version: "apps/v1",
        kind: "Deployment",
        metadata: Metadata::of(workload),
        spec: DeploymentSpec {
            // A scaler owns the number; a manifest that states it would reset it at each apply.
            replicas: (!workload.scaled).then_some(replicas),
            selector: Selector { match_labels: labels(workload) },
            strategy: Strategy {
                r#type: "RollingUpdate",
                rolling_update: RollingUpdate { max_surge, max_unavailable },
            },
            template: Template {
                metadata: TemplateMetadata { labels: labels(workload) },
                spec: PodSpec {
                    termination_grace_period_seconds: workload.grace_s.number(),
                    containers: vec![Container {
                        name: workload.name.clone(),
                        image: workload.image.clone(),
                        env: variables(workload),
                        resources: resources(workload),
                    }],
                },
            },
        },
    }
}

fn resources(workload: &Workload) -> Resources {
    let cpu = because(format!("{}m", workload.cpu_millis.value), workload.cpu_millis.reason.clone());
    let mut requests = BTreeMap::from([("cpu", cpu)]);
    let mut limits = BTreeMap::new();
    if let Some(memory) = &workload.memory_mib {
        let amount = || because(format!("{}Mi", memory.value), memory.reason.clone());
        requests.insert("memory", amount());
        limits.insert("memory", amount());
    }
    Resources { requests, limits }
}

/// The settings of the workload as variables.
pub(super) fn variables(workload: &Workload) -> Vec<Variable> {
    let deployment = &workload.deployment;
    let variable =
        |name, value: u64, reason: &str| Variable { name, value: because(value.to_string(), reason) };
    let mut variables = vec![
        variable(PROCESSES, deployment.processes_per_pod, "processes in a pod"),
        variable("WORKER_TASKS", deployment.tasks_per_process, "attempts that a process runs at once"),
        Variable { name: "WORKER_NOFILE", value: workload.descriptors.text() },
        Variable { name: "HTTP_POOL_MAX", value: workload.pool.text() },
        Variable { name: "HTTP_POOL_KEEPALIVE", value: workload.keepalive.text() },
        Variable { name: "HTTP_KEEPALIVE_SECONDS", value: workload.keepalive_expiry_s.text() },
        Variable { name: "ATTEMPT_TIMEOUT_SECONDS", value: workload.timeout_s.text() },
        Variable { name: "LEASE_SECONDS", value: workload.lease_s.text() },
    ];
    if let Some(pool) = &workload.database_pool {
        variables.push(Variable { name: "DATABASE_POOL_MAX", value: pool.text() });
    }
    variables
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct BudgetSpec {
    max_unavailable: Reasoned<u64>,
    selector: Selector,
}

pub(super) fn disruption_budget(workload: &Workload) -> Document<BudgetSpec> {
    Document {
        api_version: "policy/v1",
        kind: "PodDisruptionBudget",
        metadata: Metadata::of(workload),
        spec: BudgetSpec {
            max_unavailable: because(1, "an eviction takes one pod at a time, as scaling in does"),
            selector: Selector { match_labels: labels(workload) },
        },
    }
}
