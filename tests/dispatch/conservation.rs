//! Nothing is lost and nothing is sent twice without a reason, whatever the endpoints and the machine do.

use crate::harness::{Parts, assert_conserved};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::time::Duration;
use tokio::time::Instant;
use whsize::dispatch::clock::{Clock, SystemClock};
use whsize::dispatch::failure::Failure;
use whsize::dispatch::message::{EndpointId, Message, MessageId, Priority};
use whsize::dispatch::queue::Queue;

const MILLISECOND: Duration = Duration::from_millis(1);

#[tokio::test]
async fn every_message_is_delivered_once_when_nothing_fails() {
    let mut parts = Parts::new(8);
    parts.endpoints = 3;
    let mut rig = parts.start();
    rig.enqueue(500).await;
    let (snapshot, counts) = rig.finish().await;
    assert_conserved(&snapshot, &counts);
    assert_eq!((snapshot.queue.delivered, snapshot.attempts.delivered), (500, 500));
    assert_eq!(counts.iter().map(|count| count.accepted).sum::<u64>(), 500);
}

#[tokio::test]
async fn resets_storms_and_lost_responses_lose_nothing() {
    let mut parts = Parts::new(16).faults(&[
        "share=10%,reset",
        "share=10%,lose-response",
        "share=20%,status=503",
        "share=10%,status=429",
        "share=1%,hang",
    ]);
    parts.endpoints = 2;
    parts.queue.max_attempts = 6;
    parts.settings.timeouts.read = 100 * MILLISECOND;
    let mut rig = parts.start();
    rig.enqueue(600).await;
    let (snapshot, counts) = rig.finish().await;
    assert_conserved(&snapshot, &counts);
    let (queue, failures) = (&snapshot.queue, &snapshot.attempts.failures);
    assert_eq!(queue.delivered + queue.dead_lettered, 600);
    assert!(queue.dead_lettered > 0 && queue.delivered > 500, "{queue:?}");
    for name in ["response_lost", "status_503", "status_429", "wait_timeout"] {
        assert!(failures[name] > 0, "{failures:?}");
    }
    let lost: u64 = counts.iter().map(|count| count.lost_responses).sum();
    let duplicates: u64 = counts.iter().map(|count| count.duplicates).sum();
    assert!(
        lost > 0 && duplicates > 0 && duplicates <= lost,
        "{duplicates} duplicates of {lost} lost responses"
    );
}

#[tokio::test]
async fn an_endpoint_that_is_down_ends_in_dead_letters_with_the_reason() {
    let mut parts = Parts::new(4).faults(&["status=503"]);
    parts.queue.max_attempts = 3;
    let mut rig = parts.start();
    rig.enqueue(20).await;
    rig.until_empty().await;
    let dead = rig.queue.dead_letters(EndpointId(0));
    assert!(dead.iter().all(|letter| letter.attempts == 3 && letter.cause == Failure::Status(503)));
    let (snapshot, counts) = rig.finish().await;
    assert_conserved(&snapshot, &counts);
    assert_eq!((snapshot.queue.dead_lettered, counts[0].requests), (20, 60));
}

/// A clock whose calendar panics now and then: it is read when a request is signed, in the middle of an attempt.
#[derive(Debug, Default)]
struct PanickingClock(AtomicU32);

impl Clock for PanickingClock {
    fn now(&self) -> Instant {
        SystemClock.now()
    }

    fn unix(&self) -> Duration {
        assert!(self.0.fetch_add(1, Relaxed) % 5 != 4, "a panic in the middle of an attempt");
        SystemClock.unix()
    }
}

#[tokio::test]
async fn a_worker_that_panics_loses_neither_its_message_nor_its_place() {
    let mut parts = Parts::new(3);
    parts.clock = Arc::new(PanickingClock::default());
    parts.queue.max_attempts = 20;
    let mut rig = parts.start();
    rig.enqueue(100).await;
    let (snapshot, counts) = rig.finish().await;
    assert_conserved(&snapshot, &counts);
    assert_eq!((snapshot.queue.delivered, counts[0].accepted, counts[0].duplicates), (100, 100, 0));
    assert!(snapshot.attempts.panics >= 20 && snapshot.attempts.panics == snapshot.attempts.abandoned);
    assert_eq!(snapshot.endpoints[0].in_flight, 0);
}

#[tokio::test]
async fn a_poison_message_ends_as_a_dead_letter_instead_of_panicking_for_ever() {
    #[derive(Debug)]
    struct Poison;
    impl Clock for Poison {
        fn now(&self) -> Instant {
            SystemClock.now()
        }
        fn unix(&self) -> Duration {
            panic!("every attempt panics")
        }
    }
    let mut parts = Parts::new(2);
    parts.clock = Arc::new(Poison);
    parts.queue.max_attempts = 4;
    let mut rig = parts.start();
    rig.enqueue(3).await;
    rig.until_empty().await;
    assert_eq!(rig.queue.dead_letters(EndpointId(0))[0].cause, Failure::Abandoned);
    let (snapshot, counts) = rig.finish().await;
    assert_conserved(&snapshot, &counts);
    assert_eq!((snapshot.queue.dead_lettered, snapshot.attempts.panics, counts[0].accepted), (3, 12, 0));
}

#[tokio::test]
async fn draining_finishes_what_is_leased_and_leaves_the_rest_queued() {
    let mut parts = Parts::new(4);
    parts.law = whsize::sandbox::LatencyLaw::constant(0.2).unwrap();
    let mut rig = parts.start();
    rig.enqueue(50).await;
    rig.until(|rig| rig.sandbox.counts()[0].in_flight == 4).await;
    let (snapshot, counts) = rig.end().await;
    assert_conserved(&snapshot, &counts);
    let queue = snapshot.queue;
    assert_eq!((queue.delivered, queue.leased, counts[0].duplicates), (counts[0].accepted, 0, 0));
    assert!(queue.delivered >= 4 && queue.ready >= 40, "{queue:?}");
    assert_eq!(snapshot.attempts.abandoned, 0);
}

#[tokio::test]
async fn stopping_at_once_puts_what_is_in_work_back_into_the_queue() {
    let mut parts = Parts::new(4).faults(&["hang"]);
    parts.settings.drain_within = Duration::from_secs(3600);
    let mut rig = parts.start();
    rig.enqueue(10).await;
    rig.until(|rig| rig.sandbox.counts()[0].in_flight == 4).await;
    let begun = std::time::Instant::now();
    rig.shutdown.drain();
    let (snapshot, counts) = rig.end().await;
    assert!(begun.elapsed() < Duration::from_secs(5), "it did not wait for the hanging endpoint");
    assert_conserved(&snapshot, &counts);
    assert_eq!((snapshot.queue.queued(), snapshot.queue.leased, snapshot.attempts.abandoned), (10, 0, 4));
    assert_eq!((snapshot.connections_open, snapshot.endpoints[0].in_flight), (0, 0));
}

#[tokio::test]
async fn draining_gives_up_after_the_lease() {
    let mut parts = Parts::new(2).faults(&["hang"]);
    parts.settings.drain_within = 100 * MILLISECOND;
    let mut rig = parts.start();
    rig.enqueue(3).await;
    rig.until(|rig| rig.sandbox.counts()[0].in_flight == 2).await;
    let (snapshot, counts) = rig.end().await;
    assert_conserved(&snapshot, &counts);
    assert_eq!((snapshot.queue.queued(), snapshot.attempts.abandoned), (3, 2));
}

#[tokio::test]
async fn a_long_attempt_renews_its_lease_and_is_not_sent_twice() {
    let mut parts = Parts::new(4);
    parts.law = whsize::sandbox::LatencyLaw::constant(1.0).unwrap();
    parts.queue.visibility = 400 * MILLISECOND;
    parts.settings.renew_after = 100 * MILLISECOND;
    let mut rig = parts.start();
    rig.enqueue(4).await;
    let (snapshot, counts) = rig.finish().await;
    assert_conserved(&snapshot, &counts);
    assert_eq!((counts[0].accepted, counts[0].duplicates, snapshot.queue.leases_expired), (4, 0, 0));
}

#[tokio::test]
async fn a_lease_that_is_not_renewed_runs_out_and_only_then_is_there_a_duplicate() {
    let mut parts = Parts::new(4);
    parts.law = whsize::sandbox::LatencyLaw::constant(0.6).unwrap();
    parts.queue.visibility = 200 * MILLISECOND;
    parts.settings.renew_after = Duration::from_secs(60);
    let mut rig = parts.start();
    rig.enqueue(1).await;
    rig.until(|rig| rig.dispatcher.snapshot().attempts.delivered >= 1).await;
    let (snapshot, counts) = rig.finish().await;
    assert_conserved(&snapshot, &counts);
    assert!(counts[0].duplicates > 0 && snapshot.queue.leases_expired > 0);
    assert!(snapshot.attempts.leases_lost > 0);
}

#[tokio::test]
async fn a_message_that_was_delivered_before_costs_no_call() {
    let rig = Parts::new(1).start();
    for _ in 0..3 {
        let body = bytes::Bytes::from_static(b"{}");
        let (id, endpoint) = (MessageId(7), EndpointId(0));
        rig.queue.enqueue(Message { id, endpoint, priority: Priority::Normal, body }).await.unwrap();
    }
    let (snapshot, counts) = rig.finish().await;
    assert_eq!((counts[0].requests, snapshot.attempts.delivered), (1, 1));
    assert_eq!((snapshot.attempts.already_delivered, snapshot.queue.delivered), (2, 3));
}

#[tokio::test]
async fn a_message_to_nowhere_is_a_dead_letter_at_once() {
    let mut rig = Parts::new(1).start();
    rig.enqueue_to(9, Priority::Normal).await;
    rig.until_empty().await;
    assert_eq!(rig.queue.dead_letters(EndpointId(9))[0].cause, Failure::UnknownEndpoint);
    rig.finish().await;
}
