//! A leased queue: what the dispatcher asks of a broker.
//!
//! A message is ready, delayed, leased, delivered or a dead letter, and never two of these. A lease ends by being
//! settled, or runs out; then the message is ready again. Attempts are counted at the lease.

mod ledger;
mod memory;

pub use memory::MemoryQueue;

use super::failure::Failure;
use super::gate::{Gate, Ticket};
use super::message::{EndpointId, Message};
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;

/// How a queue leases.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QueueSettings {
    /// How long a lease lasts unless it is renewed.
    pub visibility: Duration,
    /// Attempts in all, the first included; after that many a message is a dead letter. At least one.
    pub max_attempts: u32,
}

impl Default for QueueSettings {
    /// 45 s and 8 attempts, as Svix has them.
    fn default() -> Self {
        QueueSettings { visibility: Duration::from_secs(45), max_attempts: 8 }
    }
}

/// A message that this worker, and no other, may attempt until the lease runs out.
#[derive(Clone, Debug)]
pub struct Lease {
    /// Identifies the lease; the same message has another one next time.
    pub id: u64,
    /// The message.
    pub message: Arc<Message>,
    /// Which attempt this is: 1 for the first.
    pub attempt: u32,
    /// When the message became ready. The time from then to `leased_at` is its wait in the queue.
    pub ready_at: Instant,
    /// When it was leased.
    pub leased_at: Instant,
    /// The place that the gate gave.
    pub ticket: Ticket,
}

/// How a lease ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Settlement {
    /// Delivered.
    Acknowledge,
    /// Failed: ready again after this time, or a dead letter if that was its last attempt.
    Retry {
        /// Time until it is ready again.
        after: Duration,
        /// Why it failed.
        cause: Failure,
    },
    /// Not attempted: ready again after this time, and no attempt counted.
    Release {
        /// Time until it is ready again.
        after: Duration,
    },
    /// Failed for good.
    DeadLetter {
        /// Why.
        cause: Failure,
    },
}

/// Why a queue did not do what was asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum QueueError {
    /// The lease ran out before, and the message may be with another worker.
    #[error("the lease has run out")]
    LeaseLost,
}

/// A message that is not tried any more.
#[derive(Clone, Debug)]
pub struct DeadLetter {
    /// The message.
    pub message: Arc<Message>,
    /// Attempts made.
    pub attempts: u32,
    /// Why the last one failed.
    pub cause: Failure,
}

/// Where the messages are. `enqueued` = `delivered` + `dead_lettered` + `ready` + `delayed` + `leased`, always.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct QueueStats {
    /// Messages ever enqueued.
    pub enqueued: u64,
    /// Messages acknowledged.
    pub delivered: u64,
    /// Messages given up.
    pub dead_lettered: u64,
    /// Messages that may be leased now, as far as the queue knows.
    pub ready: u64,
    /// Messages that wait for their next attempt's time.
    pub delayed: u64,
    /// Messages with a worker.
    pub leased: u64,
    /// Leases that ran out, ever.
    pub leases_expired: u64,
    /// Leases given back without an attempt, ever.
    pub released: u64,
    /// How long the oldest ready message has been ready.
    pub oldest_ready_age: Duration,
}

impl QueueStats {
    /// Messages that are still to be delivered or given up.
    #[must_use]
    pub fn queued(&self) -> u64 {
        self.ready + self.delayed + self.leased
    }
}

/// A leased queue. Every method may be called from many tasks at once.
pub trait Queue: Send + Sync + 'static {
    /// Adds a message that is ready now.
    ///
    /// # Errors
    /// The broker's own.
    fn enqueue(&self, message: Message) -> impl Future<Output = Result<(), QueueError>> + Send;

    /// Waits for a message whose endpoint the gate lets through, and leases it: messages of high priority first, then
    /// in the order of becoming ready. Dropping the future leases nothing.
    ///
    /// A queue that cannot choose asks the gate after it received a message, and gives it back if it is refused.
    ///
    /// # Errors
    /// The broker's own.
    fn lease<G: Gate + Sync>(&self, gate: &G) -> impl Future<Output = Result<Lease, QueueError>> + Send;

    /// Leases a message that is at hand, without waiting; a queue that is elsewhere may have none at hand, ever.
    fn try_lease<G: Gate + Sync>(&self, gate: &G) -> Option<Lease>;

    /// Makes a lease last its full time again.
    ///
    /// # Errors
    /// [`QueueError::LeaseLost`].
    fn renew(&self, lease: &Lease) -> impl Future<Output = Result<(), QueueError>> + Send;

    /// Ends a lease. The attempt must have been finished with the gate before: this makes the queue ask again for
    /// messages of the same endpoint that were told to wait.
    ///
    /// # Errors
    /// [`QueueError::LeaseLost`]: nothing was changed.
    fn settle(
        &self,
        lease: &Lease,
        settlement: Settlement,
    ) -> impl Future<Output = Result<(), QueueError>> + Send;

    /// Ends a lease whose attempt was dropped in the middle, from where nothing can be awaited. A queue that cannot
    /// do it lets the lease run out.
    fn abandon(&self, lease: &Lease);

    /// Turns every waiting message of an endpoint into a dead letter.
    fn give_up_endpoint(&self, endpoint: EndpointId, cause: Failure);

    /// Where the messages are.
    fn stats(&self) -> QueueStats;
}
