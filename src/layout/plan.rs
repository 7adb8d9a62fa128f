//! The answer: what is deployed, what it takes, what binds. Documented once; every output reads it.

use super::ceilings::{Broker, Database, Downstream, FleetCeiling};
use super::deployment::Deployment;
use super::findings::LayoutFinding;
use super::hosts::HostCap;
use super::limits::Limit;
use super::pool::HttpPool;
use super::ports::Ports;
use super::safety::Safety;
use super::search::Contradiction;
use crate::notice::Note;
use schemars::JsonSchema;
use serde::Serialize;

/// A deployment that keeps every limit, with as few pods as that allows and its tasks evened out.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Proposal {
    /// The deployment.
    #[serde(flatten)]
    pub deployment: Deployment,
    /// What keeps it from being smaller.
    pub binding_limit: Limit,
}

/// A layout: the asked shape with what it takes, and the balanced proposal beside it.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Layout {
    /// Whether the asked shape keeps every limit that was stated, which is when no finding is an error. Where it does not,
    /// the fields below say by how much; the balanced proposal, if there is one, keeps those that a shape can keep.
    pub fits: bool,
    /// The asked shape, by itself; absent where the limits leave no room for a single task.
    #[serde(flatten)]
    pub deployment: Option<Deployment>,
    /// The limits that the asked shape exceeds.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub exceeded: Vec<Limit>,
    /// A deployment that keeps every limit; absent where there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub balanced: Option<Proposal>,
    /// The two limits that leave no deployment.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub contradiction: Option<Contradiction>,
    /// The HTTP pool of each process.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pool: Option<HttpPool>,
    /// The cap on each host.
    pub hosts: Vec<HostCap>,
    /// Source ports; absent where no rate is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ports: Option<Ports>,
    /// Database connections.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub database: Option<Database>,
    /// Messages in flight at the broker.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub broker: Option<Broker>,
    /// The receiving side's limit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub downstream: Option<Downstream>,
    /// The most attempts at once that this fleet can reach with its shape.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fleet_ceiling: Option<FleetCeiling>,
    /// Processors that the traffic keeps busy: rate × processor time of an attempt.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cpu_cores: Option<f64>,
    /// Processors that all tasks keep busy at once: concurrency / mean × processor time of an attempt.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cpu_cores_at_full_load: Option<f64>,
    /// Memory of each pod in bytes, where that of a process is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memory_per_pod_bytes: Option<u64>,
    /// Leases, draining and scaling in.
    #[serde(flatten)]
    pub safety: Safety,
    /// What was found, worst first.
    pub findings: Vec<Note>,
}

/// An answer with its findings as facts.
#[derive(Clone, Debug, PartialEq)]
pub struct Answered {
    /// The answer.
    pub layout: Layout,
    /// What was found.
    pub findings: Vec<LayoutFinding>,
}

impl Layout {
    /// Whether what was asked for holds: nothing that was stated refuses the asked shape.
    #[must_use]
    pub fn holds(&self) -> bool {
        self.fits
    }
}
