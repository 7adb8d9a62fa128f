//! Source ports: each connection takes one, and keeps it for a while after it is closed.

use super::deployment::Deployment;
use crate::units::{ArrivalRate, Exact, Seconds, Share};
use schemars::JsonSchema;
use serde::Serialize;

/// The table of platforms, with source and date of each row.
const TABLE: &str = include_str!("../../data/ports.csv");

/// What a number of ports is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum PortScope {
    /// For each source address and destination.
    Address,
    /// For each machine and destination.
    Machine,
}

/// Where source ports come from on a platform, by its documentation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Platform {
    /// Its name on the command line.
    pub name: String,
    /// What its ports are counted by.
    pub scope: PortScope,
    /// Ports for each of these.
    pub ports: u64,
    /// Seconds for which a closed connection keeps its port.
    pub time_wait_s: u64,
    /// Addresses that it can have, where that is bounded.
    pub most_addresses: Option<u64>,
    /// What it is.
    pub what: String,
    /// Where this is documented.
    pub source: String,
    /// When that was read.
    pub as_of: String,
}

/// Why a platform is not known.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("\"{name}\" is not a known way out; known are {}", known.join(", "))]
pub struct PlatformError {
    /// What was asked for.
    pub name: String,
    /// What there is.
    pub known: Vec<String>,
}

impl Platform {
    /// Every platform of the table.
    #[must_use]
    pub fn all() -> Vec<Platform> {
        let rows = TABLE.lines().filter(|line| !line.starts_with('#')).skip(1);
        rows.filter_map(Platform::from_row).collect()
    }

    /// The platform of a name.
    ///
    /// # Errors
    /// If the table has none of that name; the error lists those that it has.
    pub fn find(name: &str) -> Result<Platform, PlatformError> {
        let all = Platform::all();
        let known = all.iter().map(|platform| platform.name.clone()).collect();
        let found = all.into_iter().find(|platform| platform.name == name);
        found.ok_or_else(|| PlatformError { name: name.to_owned(), known })
    }

    fn from_row(row: &str) -> Option<Platform> {
        let fields: Vec<&str> = row.split(',').map(str::trim).collect();
        let [name, scope, ports, time_wait_s, most_addresses, what, source, as_of] = fields[..] else {
            return None;
        };
        let scope = match scope {
            "address" => PortScope::Address,
            "machine" => PortScope::Machine,
            _ => return None,
        };
        let text = str::to_owned;
        Some(Platform {
            name: text(name),
            scope,
            ports: ports.parse().ok()?,
            time_wait_s: time_wait_s.parse().ok()?,
            most_addresses: most_addresses.parse().ok(),
            what: text(what),
            source: text(source),
            as_of: text(as_of),
        })
    }
}

/// The way out: a platform, with how many of its addresses or machines there are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Egress {
    /// Where the ports come from.
    pub platform: Platform,
    /// Source addresses; where it is not known, 1 is the worst case.
    pub addresses: u64,
    /// Machines over which the pods spread; without it, one a pod.
    pub machines: Option<u64>,
    /// Whether this was stated; else it is the worst case that is assumed.
    pub stated: bool,
}

/// Whether there are enough ports.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum PortsVerdict {
    /// Enough, even if all connections go to one destination.
    Ok,
    /// Enough if connections spread over the destinations that were named, not if all go to one.
    OkIfSpread,
    /// Not enough: connections fail.
    Exhausted,
}

/// The source ports that connections take.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Ports {
    /// The platform by whose limits this is judged.
    pub platform: String,
    /// Where that limit is documented, and when that was read.
    pub source: String,
    /// What the limit is counted by.
    pub scope: PortScope,
    /// New connections a second over the whole fleet.
    pub new_connections_per_s: f64,
    /// Closed connections that still keep their port, over the whole fleet.
    pub time_wait: u64,
    /// Open connections at most, over the whole fleet: one for each task.
    pub open: u64,
    /// Ports for each source address and destination, or for each machine and destination.
    pub limit: u64,
    /// New connections a second that one source address, or one machine, sustains to one destination.
    pub sustained_per_s: f64,
    /// Source addresses, or machines.
    pub sources: u64,
    /// Destinations over which connections spread.
    pub destinations: u64,
    /// Ports in use at each source address, or machine, if all connections go to one destination.
    pub worst_case_per_source: u64,
    /// The same for each destination, if they spread evenly.
    pub spread_per_source: u64,
    /// Source addresses, or machines, that are needed in the worst case.
    pub sources_needed: u64,
    /// Source addresses that the platform can have, where that is bounded.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub most_sources: Option<u64>,
    /// Whether there are enough.
    pub verdict: PortsVerdict,
}

impl Ports {
    /// The ports that `rate` attempts a second take, of which a share `reuse` finds an open connection.
    pub(super) fn of(
        rate: &ArrivalRate,
        reuse: &Share,
        egress: &Egress,
        destinations: u64,
        deployment: &Deployment,
    ) -> Self {
        let platform = &egress.platform;
        let fresh = Exact::one().minus(reuse.exact()).unwrap_or_else(Exact::zero);
        let new = rate.exact() * &fresh;
        let kept = &new * &Exact::whole(platform.time_wait_s.into());
        let time_wait = kept.ceil().unwrap_or(u64::MAX);
        let open = deployment.deployed_concurrency;
        let in_use = time_wait.saturating_add(open);
        // A translated port serves one connection for each destination (address and port), whoever it is allotted to.
        let destinations = destinations.max(1);
        let sources = match platform.scope {
            PortScope::Address => egress.addresses,
            PortScope::Machine => egress.machines.unwrap_or(deployment.pods),
        }
        .max(1);
        let worst_case_per_source = in_use.div_ceil(sources);
        let spread_per_source = worst_case_per_source.div_ceil(destinations);
        let verdict = if worst_case_per_source <= platform.ports {
            PortsVerdict::Ok
        } else if spread_per_source <= platform.ports {
            PortsVerdict::OkIfSpread
        } else {
            PortsVerdict::Exhausted
        };
        Ports {
            platform: platform.name.clone(),
            source: format!("{}, {}", platform.source, platform.as_of),
            scope: platform.scope,
            new_connections_per_s: new.to_f64(),
            time_wait,
            open,
            limit: platform.ports,
            sustained_per_s: platform.ports as f64 / platform.time_wait_s.max(1) as f64,
            sources,
            destinations,
            worst_case_per_source,
            spread_per_source,
            sources_needed: in_use.div_ceil(platform.ports.max(1)),
            most_sources: platform.most_addresses,
            verdict,
        }
    }
}

impl Egress {
    /// Ports of one's own choice, such as those of a gateway that is not in the table: for each machine where their
    /// number is given, else for each address.
    #[must_use]
    pub fn custom(ports: u64, addresses: u64, machines: Option<u64>, time_wait: &Seconds) -> Self {
        Egress {
            platform: Platform {
                name: "given".to_owned(),
                scope: if machines.is_some() { PortScope::Machine } else { PortScope::Address },
                ports,
                time_wait_s: time_wait.exact().ceil().unwrap_or(0),
                most_addresses: None,
                what: "a gateway with the given ports".to_owned(),
                source: "given".to_owned(),
                as_of: "on the command line".to_owned(),
            },
            addresses,
            machines,
            stated: true,
        }
    }
}
