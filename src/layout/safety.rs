//! What keeps messages from being lost or delivered twice when pods come and go.

use crate::units::Seconds;
use schemars::JsonSchema;
use serde::Serialize;

/// The lease that is assumed where none is given, in seconds.
pub(super) const USUAL_LEASE_S: f64 = 60.0;

/// What a pod needs after its last attempt, in seconds: acknowledge, close connections, exit.
const CLOSING_S: u64 = 10;

/// Leases, draining and scaling in.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Safety {
    /// How long a message is leased to a worker, in seconds.
    pub lease_s: f64,
    /// `terminationGracePeriodSeconds`: above the lease, so that every attempt that has begun can end.
    pub grace_period_s: u64,
    /// Seconds between two pods that are taken away: not below the lease, or messages come back faster than the rest
    /// of the fleet can take them.
    pub scale_in_period_s: u64,
}

impl Safety {
    pub(super) fn of(lease: Option<&Seconds>) -> Self {
        let lease_s = lease.map_or(USUAL_LEASE_S, Seconds::get);
        let whole = lease.map_or(USUAL_LEASE_S as u64, |lease| lease.exact().ceil().unwrap_or(0));
        Safety { lease_s, grace_period_s: whole.saturating_add(CLOSING_S), scale_in_period_s: whole.max(1) }
    }
}
