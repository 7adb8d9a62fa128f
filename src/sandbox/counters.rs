//! What an endpoint counts.

use crate::recent::RecentKeys;
use schemars::JsonSchema;
use serde::Serialize;
use std::hash::{BuildHasher, RandomState};
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering::Relaxed};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// Delivery identifiers that an endpoint remembers in order to tell a duplicate.
const REMEMBERED: usize = 1 << 20;

/// Live counters of one endpoint.
#[derive(Debug)]
pub(super) struct Counters {
    pub(super) connections: AtomicU64,
    pub(super) connections_open: AtomicU32,
    pub(super) connections_open_max: AtomicU32,
    pub(super) requests: AtomicU64,
    pub(super) in_flight: AtomicU32,
    pub(super) in_flight_max: AtomicU32,
    pub(super) accepted: AtomicU64,
    pub(super) duplicates: AtomicU64,
    pub(super) too_many: AtomicU64,
    pub(super) other_statuses: AtomicU64,
    pub(super) resets: AtomicU64,
    pub(super) lost_responses: AtomicU64,
    pub(super) hangs: AtomicU64,
    pub(super) latency_ns: AtomicU64,
    receipts: Mutex<RecentKeys<u64>>,
    hasher: RandomState,
}

/// What one endpoint has seen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct EndpointCounts {
    /// Connections accepted since the start.
    pub connections: u64,
    /// Connections open now.
    pub connections_open: u32,
    /// Most connections open at once.
    pub connections_open_max: u32,
    /// Requests that arrived.
    pub requests: u64,
    /// Requests being answered now.
    pub in_flight: u32,
    /// Most requests being answered at once.
    pub in_flight_max: u32,
    /// Deliveries taken: answered with 200, or taken and then not answered by a `lose-response` fault.
    pub accepted: u64,
    /// Deliveries taken whose `webhook-id` had been taken before, among `accepted`.
    pub duplicates: u64,
    /// Answers 429.
    pub too_many: u64,
    /// Other answers that are no success.
    pub other_statuses: u64,
    /// Connections reset before the delivery was taken.
    pub resets: u64,
    /// Connections reset after the delivery was taken.
    pub lost_responses: u64,
    /// Requests never answered.
    pub hangs: u64,
    /// Sum of the latencies drawn for the deliveries taken, in seconds.
    pub latency_s: f64,
}

impl Counters {
    pub(super) fn new() -> Self {
        Counters {
            connections: AtomicU64::new(0),
            connections_open: AtomicU32::new(0),
            connections_open_max: AtomicU32::new(0),
            requests: AtomicU64::new(0),
            in_flight: AtomicU32::new(0),
            in_flight_max: AtomicU32::new(0),
            accepted: AtomicU64::new(0),
            duplicates: AtomicU64::new(0),
            too_many: AtomicU64::new(0),
            other_statuses: AtomicU64::new(0),
            resets: AtomicU64::new(0),
            lost_responses: AtomicU64::new(0),
            hangs: AtomicU64::new(0),
            latency_ns: AtomicU64::new(0),
            receipts: Mutex::new(RecentKeys::new(REMEMBERED)),
            hasher: RandomState::new(),
        }
    }

    /// A delivery was taken, with its identifier if it has one.
    pub(super) fn take(&self, id: Option<&[u8]>, latency: Duration) {
        self.accepted.fetch_add(1, Relaxed);
        self.latency_ns.fetch_add(u64::try_from(latency.as_nanos()).unwrap_or(u64::MAX), Relaxed);
        if let Some(id) = id {
            let key = self.hasher.hash_one(id);
            let new = self.receipts.lock().unwrap_or_else(PoisonError::into_inner).insert(key);
            if !new {
                self.duplicates.fetch_add(1, Relaxed);
            }
        }
    }

    pub(super) fn snapshot(&self) -> EndpointCounts {
        EndpointCounts {
            connections: self.connections.load(Relaxed),
            connections_open: self.connections_open.load(Relaxed),
            connections_open_max: self.connections_open_max.load(Relaxed),
            requests: self.requests.load(Relaxed),
            in_flight: self.in_flight.load(Relaxed),
            in_flight_max: self.in_flight_max.load(Relaxed),
            accepted: self.accepted.load(Relaxed),
            duplicates: self.duplicates.load(Relaxed),
            too_many: self.too_many.load(Relaxed),
            other_statuses: self.other_statuses.load(Relaxed),
            resets: self.resets.load(Relaxed),
            lost_responses: self.lost_responses.load(Relaxed),
            hangs: self.hangs.load(Relaxed),
            latency_s: self.latency_ns.load(Relaxed) as f64 / 1e9,
        }
    }
}

/// Raises a level by one, keeps its peak, and gives the level reached.
pub(super) fn rise(level: &AtomicU32, peak: &AtomicU32) -> u32 {
    let reached = level.fetch_add(1, Relaxed) + 1;
    peak.fetch_max(reached, Relaxed);
    reached
}
