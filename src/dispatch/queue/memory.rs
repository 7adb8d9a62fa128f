//! The embedded queue: in memory, for one process.

use super::ledger::Ledger;
use super::{DeadLetter, Lease, Queue, QueueError, QueueSettings, QueueStats, Settlement};
use crate::dispatch::clock::{Clock, SystemClock};
use crate::dispatch::failure::Failure;
use crate::dispatch::gate::Gate;
use crate::dispatch::message::{EndpointId, Message};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::Notify;
use tokio::time::{Instant, sleep_until};

/// A leased queue in memory. It does not survive its process.
#[derive(Debug)]
pub struct MemoryQueue {
    ledger: Mutex<Ledger>,
    changed: Notify,
    clock: Arc<dyn Clock>,
}

impl MemoryQueue {
    /// An empty queue on the machine's clock.
    #[must_use]
    pub fn new(settings: QueueSettings) -> Self {
        MemoryQueue::with_clock(settings, Arc::new(SystemClock))
    }

    /// An empty queue on a clock of the caller's.
    #[must_use]
    pub fn with_clock(settings: QueueSettings, clock: Arc<dyn Clock>) -> Self {
        MemoryQueue { ledger: Mutex::new(Ledger::new(settings)), changed: Notify::new(), clock }
    }

    /// Adds a message that counts as ready from this instant on: a load generator gives the planned arrival, so that
    /// its own lateness counts as wait. An instant to come delays the message.
    pub fn enqueue_at(&self, message: Message, ready_at: Instant) {
        let now = self.clock.now();
        self.change(|ledger| ledger.enqueue(message, ready_at, now));
    }

    /// The dead letters of one endpoint, oldest first.
    #[must_use]
    pub fn dead_letters(&self, endpoint: EndpointId) -> Vec<DeadLetter> {
        self.lock().dead_letters(endpoint).to_vec()
    }

    fn lock(&self) -> MutexGuard<'_, Ledger> {
        self.ledger.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A message that may be leased now, or else when time alone changes something next.
    fn lease_now(&self, gate: &impl Gate) -> (Option<Lease>, Option<Instant>) {
        let now = self.clock.now();
        let mut ledger = self.lock();
        let lease = ledger.lease(gate, now);
        let (more, next_event) = (ledger.has_ready(), ledger.next_event());
        drop(ledger);
        if lease.is_some() && more {
            // A wake-up stands for any number of messages: pass it on.
            self.changed.notify_one();
        }
        (lease, next_event)
    }

    /// Changes the books, and wakes a waiting lease if there is now something to do earlier than it thinks.
    fn change<T>(&self, change: impl FnOnce(&mut Ledger) -> T) -> T {
        let mut ledger = self.lock();
        let before = ledger.next_event();
        let result = change(&mut ledger);
        let earlier = ledger.next_event().is_some_and(|next| before.is_none_or(|before| next < before));
        let wake = ledger.has_ready() || earlier;
        drop(ledger);
        if wake {
            self.changed.notify_one();
        }
        result
    }
}

impl Queue for MemoryQueue {
    async fn enqueue(&self, message: Message) -> Result<(), QueueError> {
        self.enqueue_at(message, self.clock.now());
        Ok(())
    }

    async fn lease<G: Gate + Sync>(&self, gate: &G) -> Result<Lease, QueueError> {
        loop {
            let (lease, next_event) = self.lease_now(gate);
            if let Some(lease) = lease {
                return Ok(lease);
            }
            match next_event {
                None => self.changed.notified().await,
                Some(at) => tokio::select! {
                    () = self.changed.notified() => {}
                    () = sleep_until(at) => {}
                },
            }
        }
    }

    fn try_lease<G: Gate + Sync>(&self, gate: &G) -> Option<Lease> {
        self.lease_now(gate).0
    }

    async fn renew(&self, lease: &Lease) -> Result<(), QueueError> {
        let now = self.clock.now();
        self.lock().renew(lease.id, now)
    }

    async fn settle(&self, lease: &Lease, settlement: Settlement) -> Result<(), QueueError> {
        let now = self.clock.now();
        self.change(|ledger| ledger.settle(lease, settlement, now))
    }

    fn abandon(&self, lease: &Lease) {
        let now = self.clock.now();
        let settlement = Settlement::Retry { after: Default::default(), cause: Failure::Abandoned };
        // A lease that has run out meanwhile has been dealt with.
        let _ = self.change(|ledger| ledger.settle(lease, settlement, now));
    }

    fn give_up_endpoint(&self, endpoint: EndpointId, cause: Failure) {
        self.change(|ledger| ledger.give_up_endpoint(endpoint, cause));
    }

    fn stats(&self) -> QueueStats {
        let now = self.clock.now();
        self.lock().stats(now)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dispatch::gate::Open;
    use crate::dispatch::message::{MessageId, Priority};
    use bytes::Bytes;
    use std::time::Duration;

    fn message(id: u128) -> Message {
        Message { id: MessageId(id), endpoint: EndpointId(0), priority: Priority::Normal, body: Bytes::new() }
    }

    #[tokio::test(start_paused = true)]
    async fn waiting_leases_are_woken_by_messages_by_time_and_by_expiry() {
        let settings = QueueSettings { visibility: Duration::from_secs(10), max_attempts: 3 };
        let queue = Arc::new(MemoryQueue::new(settings));
        let start = Instant::now();
        let waiting = tokio::spawn({
            let queue = Arc::clone(&queue);
            async move {
                let lease = queue.lease(&Open).await.unwrap();
                (lease, Instant::now())
            }
        });
        tokio::time::sleep(Duration::from_secs(3)).await;
        queue.enqueue(message(1)).await.unwrap();
        let (lease, at) = waiting.await.unwrap();
        assert_eq!((at - start).as_secs(), 3);

        let after = Duration::from_secs(5);
        queue.settle(&lease, Settlement::Retry { after, cause: Failure::Connect }).await.unwrap();
        let lease = queue.lease(&Open).await.unwrap();
        assert_eq!(((lease.leased_at - start).as_secs(), lease.attempt), (8, 2));

        let expired = lease;
        let lease = queue.lease(&Open).await.unwrap();
        assert_eq!(((lease.leased_at - start).as_secs(), lease.attempt), (18, 3));
        assert_eq!(queue.settle(&expired, Settlement::Acknowledge).await, Err(QueueError::LeaseLost));
        queue.abandon(&lease);
        assert_eq!(queue.dead_letters(EndpointId(0)).len(), 1, "the last attempt was dropped");
    }

    #[tokio::test(start_paused = true)]
    async fn one_wake_up_serves_every_waiting_lease() {
        let queue = Arc::new(MemoryQueue::new(QueueSettings::default()));
        let waiting: Vec<_> = (0..5)
            .map(|_| {
                let queue = Arc::clone(&queue);
                tokio::spawn(async move { queue.lease(&Open).await.unwrap().message.id })
            })
            .collect();
        tokio::task::yield_now().await;
        (0..5).for_each(|id| queue.enqueue_at(message(id), Instant::now()));
        for lease in waiting {
            lease.await.unwrap();
        }
        assert_eq!(queue.stats().leased, 5);
    }
}
