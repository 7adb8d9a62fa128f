//! The sandbox's counters as Prometheus text.

use super::answer::Shared;
use super::counters::EndpointCounts;
use crate::exposition::{Exposition, Kind};

/// A family, and how to read its sample.
type Row = (&'static str, Kind, &'static str, fn(&EndpointCounts) -> f64);

const ROWS: &[Row] = &[
    ("whsize_sandbox_connections_total", Kind::Counter, "Connections accepted.", |c| c.connections as f64),
    ("whsize_sandbox_connections_open", Kind::Gauge, "Connections open.", |c| c.connections_open.into()),
    ("whsize_sandbox_requests_total", Kind::Counter, "Requests that arrived.", |c| c.requests as f64),
    ("whsize_sandbox_in_flight", Kind::Gauge, "Requests being answered.", |c| c.in_flight.into()),
    ("whsize_sandbox_in_flight_max", Kind::Gauge, "Most requests being answered at once.", |c| {
        c.in_flight_max.into()
    }),
    ("whsize_sandbox_accepted_total", Kind::Counter, "Deliveries taken.", |c| c.accepted as f64),
    ("whsize_sandbox_duplicates_total", Kind::Counter, "Deliveries taken again.", |c| c.duplicates as f64),
    ("whsize_sandbox_status_429_total", Kind::Counter, "Answers 429.", |c| c.too_many as f64),
    ("whsize_sandbox_status_other_total", Kind::Counter, "Other answers that are no success.", |c| {
        c.other_statuses as f64
    }),
    ("whsize_sandbox_resets_total", Kind::Counter, "Resets before a delivery was taken.", |c| {
        c.resets as f64
    }),
    ("whsize_sandbox_lost_responses_total", Kind::Counter, "Resets after a delivery was taken.", |c| {
        c.lost_responses as f64
    }),
    ("whsize_sandbox_hangs_total", Kind::Counter, "Requests never answered.", |c| c.hangs as f64),
    ("whsize_sandbox_latency_seconds_total", Kind::Counter, "Latency drawn for deliveries taken.", |c| {
        c.latency_s
    }),
];

/// The page for all endpoints.
pub(super) fn page(shared: &Shared) -> String {
    let counts: Vec<EndpointCounts> =
        shared.endpoints.iter().map(|endpoint| endpoint.counters.snapshot()).collect();
    let mut page = Exposition::new();
    for (name, kind, help, read) in ROWS {
        let mut family = page.family(name, *kind, help);
        for (index, count) in counts.iter().enumerate() {
            family.sample(&[("endpoint", &(index + 1).to_string())], read(count));
        }
    }
    page.finish()
}
