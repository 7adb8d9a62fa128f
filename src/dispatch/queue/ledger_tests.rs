use super::*;
use crate::dispatch::gate::Open;
use crate::dispatch::message::MessageId;
use bytes::Bytes;
use proptest::prelude::*;
use std::cell::Cell;
use std::time::Duration;

const VISIBILITY: Duration = Duration::from_secs(10);

fn ledger(max_attempts: u32) -> Ledger {
    Ledger::new(QueueSettings { visibility: VISIBILITY, max_attempts })
}

fn message(id: u128, endpoint: u32, priority: Priority) -> Message {
    Message { id: MessageId(id), endpoint: EndpointId(endpoint), priority, body: Bytes::new() }
}

fn normal(id: u128) -> Message {
    message(id, 0, Priority::Normal)
}

fn seconds(start: Instant, seconds: u64) -> Instant {
    start + Duration::from_secs(seconds)
}

fn ids(ledger: &mut Ledger, gate: &impl Gate, now: Instant) -> Vec<u128> {
    std::iter::from_fn(|| ledger.lease(gate, now)).map(|lease| lease.message.id.0).collect()
}

/// Refuses one endpoint, and counts how often it is asked.
struct Closed {
    endpoint: u32,
    until: Option<Instant>,
    asked: Cell<u32>,
}

impl Gate for Closed {
    fn admit(&self, endpoint: EndpointId, attempt: u32, now: Instant) -> Admission {
        if endpoint.0 != self.endpoint {
            return Open.admit(endpoint, attempt, now);
        }
        self.asked.set(self.asked.get() + 1);
        Admission::Wait(self.until)
    }
}

#[test]
fn high_priority_goes_first_and_the_rest_in_the_order_of_becoming_ready() {
    let (mut ledger, start) = (ledger(3), Instant::now());
    ledger.enqueue(message(1, 0, Priority::Normal), start, start);
    ledger.enqueue(message(2, 1, Priority::Normal), start, start);
    ledger.enqueue(message(3, 0, Priority::Normal), start, start);
    ledger.enqueue(message(4, 1, Priority::High), start, start);
    ledger.enqueue(message(5, 2, Priority::Normal), seconds(start, 1), start);
    assert_eq!(ids(&mut ledger, &Open, start), [4, 1, 2, 3]);
    assert_eq!(ledger.next_event(), Some(seconds(start, 1)));
    assert_eq!(ids(&mut ledger, &Open, seconds(start, 1)), [5]);
}

#[test]
fn a_refused_endpoint_is_asked_once_holds_up_nobody_and_loses_no_attempt() {
    let (mut ledger, start) = (ledger(3), Instant::now());
    for id in 0..1_000 {
        ledger.enqueue(message(id, (id % 2) as u32, Priority::Normal), start, start);
    }
    let closed = Closed { endpoint: 0, until: None, asked: Cell::new(0) };
    assert_eq!(ids(&mut ledger, &closed, start).len(), 500);
    assert_eq!(closed.asked.get(), 1);
    assert_eq!(ledger.stats(start).ready, 500);
    let finished = ledger.leased.values().next().unwrap().entry.message.clone();
    let lease = Lease {
        id: *ledger.leased.keys().next().unwrap(),
        message: Arc::new(Message { endpoint: EndpointId(0), ..(*finished).clone() }),
        attempt: 1,
        ready_at: start,
        leased_at: start,
        ticket: Ticket { taken: start, retry: false },
    };
    ledger.settle(&lease, Settlement::Acknowledge, start).unwrap();
    let lease = ledger.lease(&Open, start).unwrap();
    assert_eq!((lease.message.id.0, lease.attempt), (0, 1));
}

#[test]
fn an_endpoint_refused_for_a_time_is_asked_again_at_that_time() {
    let (mut ledger, start) = (ledger(3), Instant::now());
    ledger.enqueue(normal(1), start, start);
    let until = Some(seconds(start, 2));
    let closed = Closed { endpoint: 0, until, asked: Cell::new(0) };
    assert!(ledger.lease(&closed, start).is_none());
    assert!(ledger.lease(&closed, seconds(start, 1)).is_none());
    assert_eq!((closed.asked.get(), ledger.next_event()), (1, until));
    assert!(ledger.lease(&Open, seconds(start, 1)).is_none());
    assert!(ledger.lease(&Open, seconds(start, 2)).is_some());
}

#[test]
fn an_expired_lease_is_leased_again_and_the_late_answer_is_told_so() {
    let (mut ledger, start) = (ledger(2), Instant::now());
    ledger.enqueue(normal(1), start, start);
    let first = ledger.lease(&Open, start).unwrap();
    ledger.renew(first.id, seconds(start, 5)).unwrap();
    assert!(ledger.lease(&Open, seconds(start, 14)).is_none(), "it was renewed");
    let second = ledger.lease(&Open, seconds(start, 15)).unwrap();
    assert_eq!((second.attempt, second.ready_at), (2, seconds(start, 15)));
    assert_eq!(ledger.settle(&first, Settlement::Acknowledge, start), Err(QueueError::LeaseLost));
    assert_eq!(ledger.renew(first.id, start), Err(QueueError::LeaseLost));
    assert!(ledger.lease(&Open, seconds(start, 25)).is_none());
    assert_eq!(ledger.dead_letters(EndpointId(0))[0].cause, Failure::LeaseExpired, "two attempts are all");
}

#[test]
fn a_release_counts_no_attempt_and_a_retry_does() {
    let (mut ledger, start) = (ledger(2), Instant::now());
    ledger.enqueue(normal(1), start, start);
    for _ in 0..5 {
        let lease = ledger.lease(&Open, start).unwrap();
        assert_eq!(lease.attempt, 1);
        ledger.settle(&lease, Settlement::Release { after: Duration::ZERO }, start).unwrap();
    }
    let retry = Settlement::Retry { after: Duration::from_secs(3), cause: Failure::Status(500) };
    let lease = ledger.lease(&Open, start).unwrap();
    ledger.settle(&lease, retry, start).unwrap();
    assert!(ledger.lease(&Open, start).is_none());
    let lease = ledger.lease(&Open, seconds(start, 3)).unwrap();
    assert_eq!(lease.attempt, 2);
    ledger.settle(&lease, retry, start).unwrap();
    let dead = ledger.dead_letters(EndpointId(0));
    assert_eq!((dead.len(), dead[0].attempts, dead[0].cause), (1, 2, Failure::Status(500)));
}

#[test]
fn giving_an_endpoint_up_empties_its_queue_into_its_own_dead_letters() {
    let (mut ledger, start) = (ledger(3), Instant::now());
    for id in 0..10 {
        ledger.enqueue(
            message(id, (id % 2) as u32, Priority::Normal),
            seconds(start, (id / 5) as u64),
            start,
        );
    }
    let closed = Closed { endpoint: 1, until: Some(seconds(start, 60)), asked: Cell::new(0) };
    assert_eq!(ids(&mut ledger, &closed, start), [0, 2, 4]);
    ledger.give_up_endpoint(EndpointId(1), Failure::EndpointDisabled);
    let stats = ledger.stats(start);
    assert_eq!((stats.dead_lettered, stats.ready, stats.delayed, stats.leased), (5, 0, 2, 3));
    assert_eq!(ledger.dead_letters(EndpointId(1)).len(), 5);
    assert!(ledger.dead_letters(EndpointId(0)).is_empty());
    ledger.enqueue(message(11, 1, Priority::Normal), start, start);
    assert!(ledger.lease(&Open, start).is_some(), "its lanes are open again");
}

/// What a worker, or time, does to the queue.
#[derive(Clone, Debug)]
enum Step {
    Enqueue { endpoint: u32, high: bool, delay_s: u64 },
    Lease,
    Settle { which: usize, how: u8 },
    Renew { which: usize },
    Pass { seconds: u64 },
    GiveUp { endpoint: u32 },
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        4 => (0..3_u32, any::<bool>(), 0..3_u64)
            .prop_map(|(endpoint, high, delay_s)| Step::Enqueue { endpoint, high, delay_s }),
        6 => Just(Step::Lease),
        5 => (any::<usize>(), 0..5_u8).prop_map(|(which, how)| Step::Settle { which, how }),
        1 => any::<usize>().prop_map(|which| Step::Renew { which }),
        2 => (0..12_u64).prop_map(|seconds| Step::Pass { seconds }),
        1 => (0..3_u32).prop_map(|endpoint| Step::GiveUp { endpoint }),
    ]
}

/// Admits up to two attempts at each endpoint, and never the third endpoint's retries.
#[derive(Default)]
struct Two([Cell<u32>; 3]);

impl Gate for Two {
    fn admit(&self, endpoint: EndpointId, attempt: u32, now: Instant) -> Admission {
        let in_flight = &self.0[endpoint.0 as usize];
        if endpoint.0 == 2 && attempt > 1 {
            return Admission::DeadLetter(Failure::EndpointDisabled);
        }
        if in_flight.get() >= 2 {
            return Admission::Wait((endpoint.0 == 1).then(|| now + Duration::from_secs(1)));
        }
        in_flight.set(in_flight.get() + 1);
        Open.admit(endpoint, attempt, now)
    }
}

proptest! {
    #[test]
    fn every_message_is_in_one_place_whatever_happens(steps in prop::collection::vec(step(), 1..200)) {
        let (mut ledger, gate, mut now) = (ledger(3), Two::default(), Instant::now());
        let (mut held, mut next_id): (Vec<Lease>, u128) = (Vec::new(), 0);
        for step in steps {
            match step {
                Step::Enqueue { endpoint, high, delay_s } => {
                    next_id += 1;
                    let priority = if high { Priority::High } else { Priority::Normal };
                    ledger.enqueue(message(next_id, endpoint, priority), seconds(now, delay_s), now);
                }
                Step::Lease => {
                    if let Some(lease) = ledger.lease(&gate, now) {
                        prop_assert!(lease.ready_at <= now && lease.attempt <= 3);
                        held.push(lease);
                    } else {
                        let open = ledger.lanes.values().filter(|lane| lane.parked.is_none());
                        prop_assert!(open.into_iter().all(|lane| lane.waiting.is_empty()));
                    }
                }
                Step::Settle { which, how } if !held.is_empty() => {
                    let lease = held.swap_remove(which % held.len());
                    let in_flight = &gate.0[lease.message.endpoint.0 as usize];
                    in_flight.set(in_flight.get() - 1);
                    let after = Duration::from_secs(2);
                    let settlement = match how {
                        0 | 1 => Settlement::Acknowledge,
                        2 => Settlement::Retry { after, cause: Failure::Connect },
                        3 => Settlement::Release { after },
                        _ => Settlement::DeadLetter { cause: Failure::Status(400) },
                    };
                    let known = ledger.leased.contains_key(&lease.id);
                    prop_assert_eq!(ledger.settle(&lease, settlement, now).is_ok(), known);
                }
                Step::Renew { which } if !held.is_empty() => {
                    let lease = &held[which % held.len()];
                    prop_assert_eq!(ledger.renew(lease.id, now).is_ok(), ledger.leased.contains_key(&lease.id));
                }
                Step::Pass { seconds: passed } => now = seconds(now, passed),
                Step::GiveUp { endpoint } => {
                    ledger.give_up_endpoint(EndpointId(endpoint), Failure::EndpointDisabled);
                }
                Step::Settle { .. } | Step::Renew { .. } => {}
            }
            let stats = ledger.stats(now);
            prop_assert_eq!(u128::from(stats.enqueued), next_id);
            prop_assert_eq!(stats.enqueued, stats.delivered + stats.dead_lettered + stats.queued());
            let waiting = ledger.lanes.values().flat_map(|lane| &lane.waiting).map(|(_, entry)| entry);
            let all = waiting
                .chain(ledger.delayed.values())
                .chain(ledger.leased.values().map(|leased| &leased.entry))
                .map(|entry| entry.message.id)
                .chain(ledger.dead.values().flatten().map(|letter| letter.message.id));
            let places: Vec<MessageId> = all.collect();
            let different: BTreeSet<MessageId> = places.iter().copied().collect();
            prop_assert_eq!(places.len(), different.len(), "no message twice");
            prop_assert_eq!(places.len() as u64, stats.enqueued - stats.delivered, "none lost");
            prop_assert_eq!(ledger.expiries.len(), ledger.leased.len());
        }
    }
}
