//! Connections are counted exactly, shared, bounded, and closed when their time has come.

use crate::harness::{Parts, Rig};
use std::time::Duration;
use whsize::dispatch::phases::Phase;
use whsize::dispatch::queue::Queue;
use whsize::dispatch::{EndpointConfig, PoolSettings};

async fn one_after_the_other(rig: &mut Rig, count: u128) {
    for _ in 0..count {
        rig.enqueue(1).await;
        rig.until_empty().await;
    }
}

#[tokio::test]
async fn twenty_sequential_deliveries_open_one_connection() {
    let mut rig = Parts::new(10).start();
    one_after_the_other(&mut rig, 20).await;
    let (snapshot, counts) = rig.finish().await;
    assert_eq!((counts[0].connections, counts[0].accepted), (1, 20));
    let host = snapshot.hosts[0].1;
    assert_eq!((host.opened, host.reused, host.reuse_ratio()), (1, 19, Some(0.95)));
    assert_eq!(snapshot.connections_open, 0, "the end closes idle connections");
}

#[tokio::test]
async fn a_connection_that_is_idle_for_too_long_is_replaced() {
    let mut parts = Parts::new(10);
    parts.settings.pool.idle_expiry = Duration::from_millis(300);
    let mut rig = parts.start();
    rig.enqueue(1).await;
    rig.until_empty().await;
    tokio::time::sleep(Duration::from_millis(350)).await;
    rig.enqueue(1).await;
    let (snapshot, counts) = rig.finish().await;
    assert_eq!((counts[0].connections, snapshot.hosts[0].1.opened, snapshot.hosts[0].1.reused), (2, 2, 0));
}

#[tokio::test]
async fn a_connection_is_not_used_beyond_its_lifetime() {
    let mut parts = Parts::new(1);
    parts.settings.pool.lifetime = Duration::ZERO;
    let mut rig = parts.start();
    rig.enqueue(5).await;
    let (snapshot, counts) = rig.finish().await;
    assert_eq!((counts[0].connections, snapshot.hosts[0].1.opened), (5, 5));
}

#[tokio::test]
async fn connections_never_outnumber_the_workers_whatever_the_number_of_hosts() {
    let mut parts = Parts::new(4);
    parts.endpoints = 12;
    let mut rig = parts.start();
    rig.enqueue(600).await;
    let mut most = 0;
    while rig.queue.stats().queued() > 0 {
        most = most.max(rig.dispatcher.snapshot().connections_open);
        tokio::task::yield_now().await;
    }
    let (snapshot, counts) = rig.finish().await;
    assert!((1..=4).contains(&most), "{most} sockets open at once");
    assert_eq!(counts.iter().map(|count| count.accepted).sum::<u64>(), 600);
    let opened: u64 = snapshot.hosts.iter().map(|(_, host)| host.opened).sum();
    assert_eq!(opened, counts.iter().map(|count| count.connections).sum::<u64>());
}

#[tokio::test]
async fn a_connection_that_becomes_idle_gives_its_slot_to_a_worker_that_waits_for_one() {
    let mut parts = Parts::new(2).faults(&["endpoint=1,slow-body=100ms"]);
    parts.endpoints = 2;
    parts.settings.pool.connections = 1;
    let mut rig = parts.start();
    // The second waits while the only connection is in use at the other host, and nothing comes after it.
    rig.enqueue(2).await;
    let (snapshot, _) = rig.finish().await;
    assert_eq!(
        (snapshot.attempts.delivered, snapshot.attempts.failures.len()),
        (2, 0),
        "{:?}",
        snapshot.attempts
    );
    let waited_s = snapshot.durations.phases[Phase::PoolWait as usize].sum_s();
    assert!((0.05..1.0).contains(&waited_s), "{waited_s}");
}

#[tokio::test]
async fn the_cap_of_a_host_holds_and_its_waiters_are_not_failures() {
    let mut parts = Parts::new(16);
    parts.settings.pool.per_host = Some(3);
    let mut rig = parts.start();
    rig.enqueue(300).await;
    let (snapshot, counts) = rig.finish().await;
    assert!(counts[0].in_flight_max <= 3 && counts[0].connections <= 3, "{:?}", counts[0]);
    assert_eq!((snapshot.attempts.delivered, snapshot.attempts.failures.len()), (300, 0));
    assert!(snapshot.durations.phases[Phase::PoolWait as usize].sum_s() > 0.0);
}

#[tokio::test]
async fn a_host_without_a_place_in_time_is_named_and_costs_no_attempt() {
    let mut parts = Parts::new(4).faults(&["until=1s,slow-body=300ms"]);
    parts.settings.pool.per_host = Some(1);
    parts.settings.timeouts.pool = Duration::from_millis(50);
    parts.queue.max_attempts = 1;
    let mut rig = parts.start();
    rig.enqueue(4).await;
    let (snapshot, _) = rig.finish().await;
    assert!(snapshot.attempts.failures["host_pool_saturated"] >= 1, "{:?}", snapshot.attempts);
    assert_eq!((snapshot.queue.delivered, snapshot.queue.dead_lettered), (4, 0));
    assert_eq!(snapshot.queue.released, snapshot.attempts.failures["host_pool_saturated"]);
}

#[tokio::test]
async fn connections_that_the_host_closed_are_not_used_and_cost_no_attempt() {
    let mut parts = Parts::new(1).faults(&["close-idle=5ms"]);
    parts.queue.max_attempts = 1;
    let mut rig = parts.start();
    for _ in 0..5 {
        one_after_the_other(&mut rig, 1).await;
        rig.until(|rig| rig.sandbox.counts()[0].connections_open == 0).await;
    }
    let (snapshot, counts) = rig.finish().await;
    assert_eq!((snapshot.queue.delivered, counts[0].connections), (5, 5));
}

#[tokio::test]
async fn the_host_is_believed_when_it_says_how_long_it_keeps_a_connection() {
    // 5 s before the advertised 6 s: kept for one second.
    let mut parts = Parts::new(1).faults(&["keep-alive=6s"]);
    parts.settings.pool.idle_expiry = Duration::from_secs(60);
    let mut rig = parts.start();
    one_after_the_other(&mut rig, 2).await;
    assert_eq!(rig.sandbox.counts()[0].connections, 1);
    tokio::time::sleep(Duration::from_millis(1_100)).await;
    one_after_the_other(&mut rig, 1).await;
    assert_eq!(rig.finish().await.1[0].connections, 2);
}

#[tokio::test]
async fn a_changed_endpoint_is_reached_at_its_new_address_and_the_old_connection_is_closed() {
    let mut parts = Parts::new(2);
    parts.endpoints = 2;
    let mut rig = parts.start();
    rig.enqueue_to(0, Default::default()).await;
    rig.until_empty().await;
    let new = EndpointConfig::new(rig.sandbox.urls()[1].clone());
    rig.dispatcher.change_endpoint(whsize::dispatch::message::EndpointId(0), &new).unwrap();
    rig.until(|rig| rig.sandbox.counts()[0].connections_open == 0).await;
    rig.enqueue_to(0, Default::default()).await;
    let (_, counts) = rig.finish().await;
    assert_eq!((counts[0].accepted, counts[1].accepted), (1, 1));
}

#[tokio::test]
async fn tls_is_spoken_and_its_handshake_is_a_phase() {
    let mut parts = Parts::new(1);
    parts.tls = true;
    let mut rig = parts.start();
    rig.enqueue(10).await;
    let (snapshot, counts) = rig.finish().await;
    assert_eq!((counts[0].accepted, counts[0].connections), (10, 1));
    let tls = &snapshot.durations.phases[Phase::Tls as usize];
    assert!(tls.count() == 1 && tls.sum_s() > 0.0);
}

#[tokio::test]
async fn a_certificate_that_is_not_trusted_is_a_named_failure() {
    let mut parts = Parts::new(1);
    parts.tls = true;
    parts.queue.max_attempts = 1;
    let mut rig = parts.start();
    let other = Parts { tls: true, ..Parts::new(1) }.start();
    let url = other.sandbox.urls()[0].clone();
    rig.dispatcher
        .change_endpoint(whsize::dispatch::message::EndpointId(0), &EndpointConfig::new(url))
        .unwrap();
    rig.enqueue(1).await;
    let (snapshot, _) = rig.finish().await;
    assert_eq!(snapshot.attempts.failures["tls_failed"], 1);
    other.finish().await;
}

#[tokio::test]
async fn phases_add_up_to_the_service_time() {
    let mut rig = Parts::new(3).start();
    rig.enqueue(50).await;
    let (snapshot, _) = rig.finish().await;
    let durations = &snapshot.durations;
    let phases: f64 = durations.phases.iter().map(whsize::dispatch::tally::Tally::sum_s).sum();
    assert!((phases - durations.service.sum_s()).abs() < 1e-9);
    assert!(durations.phases[Phase::Wait as usize].sum_s() >= 50.0 * 0.001);
    assert_eq!(durations.phases[Phase::Connect as usize].count(), snapshot.hosts[0].1.opened);
    assert_eq!(durations.phases[Phase::Dns as usize].count(), 0, "an address needs no resolving");
}

#[test]
fn the_default_pool_has_a_connection_for_each_worker() {
    assert_eq!(PoolSettings::for_workers(160).connections, 160);
}
