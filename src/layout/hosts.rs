//! Hosts: how many connections each needs, and what a slow one takes from the others.

use super::deployment::Deployment;
use super::pool::keepalive_expiry_s;
use crate::profile::ServiceProfile;
use crate::units::{ArrivalRate, Exact, Seconds};
use schemars::JsonSchema;
use serde::Serialize;

/// Connections to one host in one process, where nothing else is configured; a slow host is never given more.
const USUAL_GATE: u64 = 8;

/// A host that holds a connection for this long, in seconds, is slow: more connections would only pile up there.
const SLOW_HOLD_S: f64 = 1.0;

/// The quantile of a group's service times that counts as how long a host holds a connection.
const HOLD_QUANTILE: f64 = 0.95;

/// A host that attempts go to.
#[derive(Clone, Debug, PartialEq)]
pub struct Host {
    /// Its name.
    pub name: String,
    /// Attempts a second that go to it.
    pub rate: ArrivalRate,
    /// How long an attempt holds its connection, 95th percentile.
    pub hold_p95: Seconds,
    /// How long it keeps idle connections open, as it advertises.
    pub keepalive: Option<Seconds>,
    /// Connections that it accepts from the whole fleet.
    pub limit: Option<u64>,
}

impl Host {
    /// The groups of a profile as hosts: each with its share of the rate.
    #[must_use]
    pub fn of_profile(profile: &ServiceProfile, rate: &ArrivalRate) -> Vec<Host> {
        let total = profile.count();
        let groups = profile.groups().by_busy_time().into_iter();
        groups
            .filter_map(|group| {
                let share = Exact::fraction(group.times.count().into(), total.into())?;
                let hold_p95 =
                    Seconds::from_f64(group.times.quantile(HOLD_QUANTILE)).filter(|hold| !hold.is_zero())?;
                let rate = ArrivalRate::new(rate.exact() * &share).filter(|rate| !rate.is_zero())?;
                Some(Host { name: group.name.clone(), rate, hold_p95, keepalive: None, limit: None })
            })
            .collect()
    }
}

/// What to do about a host.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum HostVerdict {
    /// The cap can be set as it stands.
    Ok,
    /// The host is slow: slow the sender down rather than raise its cap.
    SlowTheSender,
    /// A cap in each process allows more over the fleet than the host needs or takes: a shared limiter is needed.
    SharedLimiter,
}

/// The cap on connections to a host.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct HostCap {
    /// The host.
    pub name: String,
    /// Attempts a second.
    pub rate_per_s: f64,
    /// How long an attempt holds its connection, 95th percentile, in seconds.
    pub hold_p95_s: f64,
    /// Connections that the fleet needs at once: ⌈rate × hold⌉.
    pub connections: u64,
    /// The cap in each process: that, or what the host accepts if that is less, divided over the processes that run, at
    /// least 1; for a slow host at most the usual gate of 8.
    pub connections_per_process: u64,
    /// What caps in each process allow over the whole fleet.
    pub connections_allowed: u64,
    /// Connections that the host accepts, where it says so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit: Option<u64>,
    /// How long an idle connection is kept, in seconds.
    pub keepalive_expiry_s: f64,
    /// Share of all tasks that this host takes if it hangs and nothing caps it.
    pub share_without_cap: f64,
    /// The same with the cap.
    pub share_with_cap: f64,
    /// Attempts a second that the accepted connections carry, limit / hold, where the host accepts fewer than are
    /// needed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub carried_per_s: Option<f64>,
    /// Whether caps in each process allow more over the fleet than the host needs or accepts, so that only a limiter
    /// that all processes share can hold it.
    pub needs_shared_limiter: bool,
    /// What to do about it.
    pub verdict: HostVerdict,
}

impl Host {
    /// The cap of this host in a deployment; `timeout` is how long a hanging host holds an attempt.
    pub(super) fn cap(&self, deployment: &Deployment, timeout: &Seconds) -> HostCap {
        let needed = self.rate.exact() * self.hold_p95.exact();
        let connections = needed.ceil().unwrap_or(u64::MAX).max(1);
        let processes = deployment.deployed_processes;
        let slow = self.hold_p95.get() >= SLOW_HOLD_S && connections > USUAL_GATE;
        let wanted = self.limit.map_or(connections, |limit| connections.min(limit));
        let each = wanted.div_ceil(processes).min(deployment.tasks_per_process);
        let connections_per_process = if slow { each.min(USUAL_GATE) } else { each };
        let connections_allowed = connections_per_process.saturating_mul(processes);
        let needs_shared_limiter = match self.limit {
            Some(limit) => connections_allowed > limit,
            None => connections_per_process == 1 && connections_allowed > connections,
        };
        let verdict = match (slow, needs_shared_limiter) {
            (true, _) => HostVerdict::SlowTheSender,
            (false, true) => HostVerdict::SharedLimiter,
            (false, false) => HostVerdict::Ok,
        };
        let carried = self
            .limit
            .filter(|limit| *limit < connections)
            .and_then(|limit| Exact::whole(limit.into()).over(self.hold_p95.exact()));
        let tasks = deployment.deployed_concurrency as f64;
        let hanging =
            (self.rate.exact() * timeout.exact()).min(Exact::whole(deployment.deployed_concurrency.into()));
        HostCap {
            name: self.name.clone(),
            rate_per_s: self.rate.get(),
            hold_p95_s: self.hold_p95.get(),
            connections,
            connections_per_process,
            connections_allowed,
            limit: self.limit,
            keepalive_expiry_s: keepalive_expiry_s(self.keepalive.as_ref()),
            share_without_cap: hanging.to_f64() / tasks,
            share_with_cap: hanging.to_f64().min(connections_allowed as f64) / tasks,
            carried_per_s: carried.map(|carried| carried.to_f64()),
            needs_shared_limiter,
            verdict,
        }
    }
}
