//! The dispatcher's measurements as Prometheus text.

use super::Snapshot;
use super::phases::Phase;
use super::tally::Tally;
use crate::exposition::{Exposition, Family, Kind, SERVICE_SECONDS};

/// Upper edges of the histograms, in seconds.
const EDGES_S: [f64; 22] = [
    0.000_1, 0.000_25, 0.000_5, 0.001, 0.002_5, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0,
    10.0, 15.0, 30.0, 60.0, 120.0, 300.0, 600.0,
];

fn histogram(family: &mut Family<'_>, labels: &[(&str, &str)], tally: &Tally) {
    family.histogram(labels, tally.cumulative(&EDGES_S), tally.sum_s(), tally.count());
}

/// The page.
pub(super) fn page(snapshot: &Snapshot) -> String {
    let mut page = Exposition::new();
    durations(&mut page, snapshot);
    queue(&mut page, snapshot);
    attempts(&mut page, snapshot);
    endpoints(&mut page, snapshot);
    connections(&mut page, snapshot);
    page.finish()
}

fn durations(page: &mut Exposition, snapshot: &Snapshot) {
    let durations = &snapshot.durations;
    let help = "Time from leased to acknowledged.";
    histogram(&mut page.family(SERVICE_SECONDS, Kind::Histogram, help), &[], &durations.service);
    let help = "Time from ready to leased.";
    histogram(&mut page.family("whsize_wait_seconds", Kind::Histogram, help), &[], &durations.wait);
    let mut family =
        page.family("whsize_phase_seconds", Kind::Histogram, "Time in a phase of the service time.");
    for phase in Phase::ALL {
        histogram(&mut family, &[("phase", phase.name())], &durations.phases[phase as usize]);
    }
}

fn queue(page: &mut Exposition, snapshot: &Snapshot) {
    let queue = &snapshot.queue;
    page.family("whsize_queue_depth", Kind::Gauge, "Messages in the queue.")
        .sample(&[("state", "ready")], queue.ready)
        .sample(&[("state", "delayed")], queue.delayed)
        .sample(&[("state", "leased")], queue.leased);
    page.family("whsize_queue_oldest_age_seconds", Kind::Gauge, "Age of the oldest ready message.")
        .sample(&[], queue.oldest_ready_age.as_secs_f64());
    for (name, help, value) in [
        ("whsize_enqueued_total", "Messages enqueued.", queue.enqueued),
        ("whsize_acknowledged_total", "Messages acknowledged.", queue.delivered),
        ("whsize_dead_lettered_total", "Messages given up.", queue.dead_lettered),
        ("whsize_leases_expired_total", "Leases that ran out.", queue.leases_expired),
        ("whsize_released_total", "Leases given back without an attempt.", queue.released),
    ] {
        page.family(name, Kind::Counter, help).sample(&[], value);
    }
}

fn attempts(page: &mut Exposition, snapshot: &Snapshot) {
    let counts = &snapshot.attempts;
    for (name, help, value) in [
        ("whsize_delivered_total", "Attempts that an endpoint took.", counts.delivered),
        (
            "whsize_already_delivered_total",
            "Messages found to be delivered already.",
            counts.already_delivered,
        ),
        ("whsize_replayed_total", "Requests sent again on a fresh connection.", counts.replayed),
        ("whsize_leases_lost_total", "Attempts settled after their lease had run out.", counts.leases_lost),
        ("whsize_abandoned_total", "Attempts dropped in the middle.", counts.abandoned),
        ("whsize_worker_panics_total", "Workers that panicked.", counts.panics),
    ] {
        page.family(name, Kind::Counter, help).sample(&[], value);
    }
    let mut family = page.family("whsize_failures_total", Kind::Counter, "Attempts that failed.");
    for (reason, count) in &counts.failures {
        family.sample(&[("reason", reason)], count);
    }
}

fn endpoints(page: &mut Exposition, snapshot: &Snapshot) {
    let mut family =
        page.family("whsize_governor_limit", Kind::Gauge, "Attempts that the governor allows at once.");
    for endpoint in &snapshot.endpoints {
        if let Some(limit) = endpoint.governor_limit {
            family.sample(&[("endpoint", &endpoint.url)], limit);
        }
    }
    let mut family = page.family("whsize_endpoint_in_flight", Kind::Gauge, "Attempts in flight.");
    for endpoint in &snapshot.endpoints {
        family.sample(&[("endpoint", &endpoint.url)], endpoint.in_flight);
    }
    let mut family = page.family("whsize_endpoint_attempts_total", Kind::Counter, "Attempts finished.");
    for endpoint in &snapshot.endpoints {
        family.sample(&[("endpoint", &endpoint.url)], endpoint.attempts);
    }
    let mut family = page.family("whsize_endpoint_disabled", Kind::Gauge, "1 if the endpoint is disabled.");
    for endpoint in &snapshot.endpoints {
        family.sample(&[("endpoint", &endpoint.url)], u8::from(endpoint.disabled.is_some()));
    }
}

fn connections(page: &mut Exposition, snapshot: &Snapshot) {
    page.family("whsize_connections_open", Kind::Gauge, "Sockets open.")
        .sample(&[], snapshot.connections_open);
    let mut family = page.family("whsize_connections_total", Kind::Counter, "Requests by their connection.");
    for (host, stats) in &snapshot.hosts {
        family
            .sample(&[("host", host), ("kind", "new")], stats.opened)
            .sample(&[("host", host), ("kind", "reused")], stats.reused);
    }
    let mut family =
        page.family("whsize_reuse_ratio", Kind::Gauge, "Share of requests on a connection used before.");
    for (host, stats) in &snapshot.hosts {
        if let Some(ratio) = stats.reuse_ratio() {
            family.sample(&[("host", host)], ratio);
        }
    }
}
