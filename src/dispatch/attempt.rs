//! An attempt in time: every wait in it has an end, its phases are measured, and its lease is kept alive.

use super::clock::Clock;
use super::phases::{Phase, Stopwatch};
use super::pool::Timeouts;
use super::queue::{Lease, Queue};
use std::future::Future;
use std::pin::pin;
use std::time::Duration;
use tokio::time::{Instant, timeout_at};

/// One attempt under way.
#[derive(Debug)]
pub(super) struct Attempt<'a, Q> {
    pub(super) lease: &'a Lease,
    pub(super) timeouts: Timeouts,
    pub(super) watch: Stopwatch,
    clock: &'a dyn Clock,
    queue: &'a Q,
    renew_every: Duration,
    renew_at: Instant,
}

impl<'a, Q: Queue> Attempt<'a, Q> {
    pub(super) fn new(
        lease: &'a Lease,
        queue: &'a Q,
        clock: &'a dyn Clock,
        timeouts: Timeouts,
        renew_every: Duration,
    ) -> Self {
        let (watch, renew_at) = (Stopwatch::start(lease.leased_at), lease.leased_at + renew_every);
        Attempt { lease, timeouts, watch, clock, queue, renew_every, renew_at }
    }

    pub(super) fn now(&self) -> Instant {
        self.clock.now()
    }

    /// Time since 1970.
    pub(super) fn unix(&self) -> Duration {
        self.clock.unix()
    }

    /// Ends a phase now.
    pub(super) fn mark(&mut self, phase: Phase) {
        self.watch.mark(phase, self.clock.now());
    }

    /// Waits for at most this long; `None` if that was not enough.
    pub(super) async fn within<T>(
        &mut self,
        most: Duration,
        waited_for: impl Future<Output = T>,
    ) -> Option<T> {
        let deadline = self.now() + most;
        self.until(deadline, || deadline, waited_for).await
    }

    /// Waits until a deadline, which is asked for once more when it has come, since it may have moved on.
    pub(super) async fn until<T>(
        &mut self,
        first: Instant,
        deadline: impl Fn() -> Instant,
        waited_for: impl Future<Output = T>,
    ) -> Option<T> {
        let mut waited_for = pin!(waited_for);
        let mut due = first;
        loop {
            // One timer serves both, since most waits end before either.
            if let Ok(value) = timeout_at(due.min(self.renew_at), waited_for.as_mut()).await {
                return Some(value);
            }
            if self.renew_at < due {
                // A lease that is lost shows when it is settled.
                let _ = self.queue.renew(self.lease).await;
                self.renew_at = self.now() + self.renew_every;
                continue;
            }
            let moved_on = deadline();
            if moved_on <= due {
                return None;
            }
            due = moved_on;
        }
    }
}
