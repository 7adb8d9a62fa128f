//! One partner degrades only itself.

use crate::harness::{Parts, assert_conserved};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use whsize::dispatch::failure::Failure;
use whsize::dispatch::governor::GovernorPolicy;
use whsize::dispatch::message::{EndpointId, MessageId, Priority};
use whsize::dispatch::phases::Phase;
use whsize::dispatch::queue::Queue;
use whsize::dispatch::recorder::{AttemptRecord, Observer};
use whsize::dispatch::{EndpointConfig, PoolSettings};
use whsize::ingest::{self, Options};

#[tokio::test]
async fn a_hanging_endpoint_does_not_keep_the_others_from_being_served() {
    let mut parts = Parts::new(16).faults(&["endpoint=1,hang"]);
    parts.endpoints = 4;
    parts.settings.governor = GovernorPolicy::Paced;
    parts.settings.pool = PoolSettings::for_workers(16);
    let mut rig = parts.start();
    rig.enqueue(400).await;
    rig.until(|rig| rig.queue.stats().delivered == 300).await;
    let counts = rig.sandbox.counts();
    assert_eq!(counts[1].accepted + counts[2].accepted + counts[3].accepted, 300);
    assert!(counts[0].in_flight_max <= 4, "the governor starts at four");
    rig.shutdown.drain();
    let (snapshot, counts) = rig.end().await;
    assert_conserved(&snapshot, &counts);
    assert_eq!(snapshot.queue.queued(), 100);
}

#[tokio::test]
async fn an_endpoint_that_fails_too_often_is_disabled_and_its_queue_is_its_own_dead_letters() {
    let mut parts = Parts::new(2).faults(&["endpoint=1,status=500"]);
    parts.endpoints = 2;
    parts.settings.disable_after = Some(5);
    let mut rig = parts.start();
    rig.enqueue(100).await;
    rig.until_empty().await;
    assert_eq!(rig.queue.dead_letters(EndpointId(0)).len(), 50);
    assert!(rig.queue.dead_letters(EndpointId(1)).is_empty());
    let requests = rig.sandbox.counts()[0].requests;
    assert!((5..=6).contains(&requests), "{requests}: five failures, and one that was under way");
    rig.enqueue_to(0, Priority::Normal).await;
    rig.until_empty().await;
    assert_eq!(rig.queue.dead_letters(EndpointId(0))[50].cause, Failure::EndpointDisabled);

    let healthy = EndpointConfig::new(rig.sandbox.urls()[1].clone());
    rig.dispatcher.change_endpoint(EndpointId(0), &healthy).unwrap();
    rig.enqueue_to(0, Priority::Normal).await;
    let (snapshot, counts) = rig.finish().await;
    assert_conserved(&snapshot, &counts);
    assert_eq!((snapshot.queue.delivered, counts[1].accepted), (51, 51));
}

#[tokio::test]
async fn gone_disables_at_once() {
    let mut parts = Parts::new(1).faults(&["status=410"]);
    parts.settings.disable_after = None;
    let mut rig = parts.start();
    rig.enqueue(10).await;
    let (snapshot, counts) = rig.finish().await;
    assert_eq!((counts[0].requests, snapshot.queue.dead_lettered), (1, 10));
    assert_eq!(snapshot.endpoints[0].disabled, Some(Failure::Status(410)));
}

#[tokio::test]
async fn retry_after_keeps_everything_from_the_endpoint_for_that_long() {
    let mut parts = Parts::new(4).faults(&["until=900ms,status=429,retry-after=1s"]);
    parts.settings.governor = GovernorPolicy::Paced;
    let mut rig = parts.start();
    let begun = std::time::Instant::now();
    rig.enqueue(30).await;
    rig.until(|rig| rig.queue.stats().delivered > 0).await;
    assert!(begun.elapsed() >= Duration::from_secs(1));
    let (snapshot, counts) = rig.finish().await;
    assert_conserved(&snapshot, &counts);
    assert!(counts[0].too_many <= 4, "only what was in flight when the first answer came");
    assert_eq!(snapshot.queue.delivered, 30);
}

#[tokio::test]
async fn the_governor_settles_below_the_capacity_of_an_endpoint() {
    let mut parts = Parts::new(32).faults(&["above-concurrency=6,status=429"]);
    parts.law = whsize::sandbox::LatencyLaw::constant(0.005).unwrap();
    parts.settings.governor = GovernorPolicy::Paced;
    parts.queue.max_attempts = 50;
    let mut rig = parts.start();
    rig.enqueue(1_000).await;
    let (snapshot, counts) = rig.finish().await;
    assert_conserved(&snapshot, &counts);
    assert_eq!(snapshot.queue.delivered, 1_000);
    let ratio = counts[0].too_many as f64 / counts[0].requests as f64;
    assert!(ratio < 0.2 && counts[0].in_flight_max <= 10, "{ratio} {:?}", counts[0]);
}

/// The order in which attempts were finished.
#[derive(Debug, Default)]
struct Order(Mutex<Vec<MessageId>>);

impl Observer for Order {
    fn attempt_finished(&self, record: &AttemptRecord<'_>) {
        self.0.lock().unwrap().push(record.lease.message.id);
    }
}

#[tokio::test]
async fn high_priority_overtakes_what_is_waiting_and_the_rest_is_first_in_first_out() {
    let order = Arc::new(Order::default());
    let mut parts = Parts::new(1);
    parts.settings.observer = Some(Arc::clone(&order) as Arc<dyn Observer>);
    let mut rig = parts.start();
    // Nothing runs between these in a runtime of one thread.
    rig.enqueue(20).await;
    rig.enqueue_to(0, Priority::High).await;
    rig.finish().await;
    let expected: Vec<MessageId> = std::iter::once(20).chain(0..20).map(MessageId).collect();
    assert_eq!(*order.0.lock().unwrap(), expected);
}

#[tokio::test]
async fn metrics_show_phases_queue_governor_and_reuse() {
    let mut parts = Parts::new(2).faults(&["share=20%,status=503"]);
    parts.settings.governor = GovernorPolicy::Paced;
    let mut rig = parts.start();
    rig.enqueue(40).await;
    rig.until_empty().await;
    let page = rig.dispatcher.metrics();
    for sample in [
        "whsize_acknowledged_total 40\n",
        "whsize_queue_depth{state=\"ready\"} 0\n",
        "whsize_queue_oldest_age_seconds 0\n",
        "whsize_phase_seconds_count{phase=\"sign\"} ",
        "whsize_failures_total{reason=\"status_503\"} ",
        "whsize_governor_limit{endpoint=\"http://127.0.0.1:",
        "whsize_reuse_ratio{host=\"127.0.0.1:",
    ] {
        assert!(page.contains(sample), "{sample} is not in\n{page}");
    }
    rig.finish().await;
}

#[tokio::test]
async fn ingest_reads_the_dispatchers_metrics_back() {
    let mut rig = Parts::new(4).faults(&["share=20%,status=503"]).start();
    rig.enqueue(60).await;
    rig.until_empty().await;
    let page = rig.dispatcher.metrics();
    let (snapshot, _) = rig.finish().await;
    let read = |options: &Options| {
        let stream = std::io::Cursor::new(page.clone().into_bytes());
        ingest::read_stream("metrics", stream, options).unwrap().profile
    };
    // Of the page's three histograms the one that a pool is sized from is taken.
    let service = read(&Options::default());
    let measured = &snapshot.durations.service;
    assert_eq!((service.count(), measured.count() > 60), (measured.count(), true));
    let exact = measured.sum_s() / measured.count() as f64;
    assert!((service.mean().get() / exact - 1.0).abs() < 1e-6, "the mean is exact, not that of the buckets");
    let phases = read(&Options {
        column: Some("whsize_phase_seconds".to_owned()),
        group_by: vec!["phase".to_owned()],
        ..Options::default()
    });
    let wait = &snapshot.durations.phases[Phase::Wait as usize];
    assert_eq!(phases.groups().get("wait").unwrap().times.count(), wait.count());
}
