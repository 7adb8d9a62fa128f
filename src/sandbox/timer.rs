//! A timer that is exact to tens of microseconds.
//!
//! The runtime's own timer rounds every sleep up to the next millisecond. At a mean latency of 50 ms that adds
//! 1 to 2% to the offered load, and near saturation that doubles the wait. One thread that sleeps until the next
//! deadline has no such rounding.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::io;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Instant;
use tokio::sync::oneshot;

/// Wakes tasks at their deadlines, from a thread of its own; the thread ends when the timer is dropped.
#[derive(Debug)]
pub(super) struct Timer {
    shared: Arc<Shared>,
}

#[derive(Debug, Default)]
struct Shared {
    schedule: Mutex<Schedule>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct Schedule {
    deadlines: BinaryHeap<Reverse<Deadline>>,
    registered: u64,
    closed: bool,
}

#[derive(Debug)]
struct Deadline {
    at: Instant,
    /// Order of registration: equal deadlines are first in, first out.
    order: u64,
    wake: oneshot::Sender<()>,
}

impl PartialEq for Deadline {
    fn eq(&self, other: &Self) -> bool {
        (self.at, self.order) == (other.at, other.order)
    }
}

impl Eq for Deadline {}

impl PartialOrd for Deadline {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Deadline {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        (self.at, self.order).cmp(&(other.at, other.order))
    }
}

impl Timer {
    /// Starts the timer's thread.
    ///
    /// # Errors
    /// The system refuses the thread.
    pub(super) fn start() -> io::Result<Self> {
        let shared = Arc::new(Shared::default());
        let owned = Arc::clone(&shared);
        thread::Builder::new().name("sandbox-timer".to_owned()).spawn(move || owned.run())?;
        Ok(Timer { shared })
    }

    /// Waits until the instant has come.
    pub(super) async fn sleep_until(&self, at: Instant) {
        let (wake, woken) = oneshot::channel();
        {
            let mut schedule = self.shared.lock();
            schedule.registered += 1;
            let order = schedule.registered;
            let earlier = schedule.deadlines.peek().is_none_or(|Reverse(next)| at < next.at);
            schedule.deadlines.push(Reverse(Deadline { at, order, wake }));
            if earlier {
                self.shared.changed.notify_one();
            }
        }
        // The sender is only dropped unsent when the timer goes away: then there is nothing left to wait for.
        let _ = woken.await;
    }
}

impl Drop for Timer {
    fn drop(&mut self) {
        self.shared.lock().closed = true;
        self.shared.changed.notify_one();
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Schedule> {
        self.schedule.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn run(&self) {
        let mut schedule = self.lock();
        while !schedule.closed {
            let now = Instant::now();
            let Some(Reverse(next)) = schedule.deadlines.peek() else {
                schedule = self.changed.wait(schedule).unwrap_or_else(PoisonError::into_inner);
                continue;
            };
            let left = next.at.saturating_duration_since(now);
            if left.is_zero() {
                if let Some(Reverse(due)) = schedule.deadlines.pop() {
                    // A sleeper that gave up has dropped its end.
                    let _ = due.wake.send(());
                }
            } else {
                let woken = self.changed.wait_timeout(schedule, left);
                schedule = woken.unwrap_or_else(PoisonError::into_inner).0;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[tokio::test]
    async fn sleepers_wake_in_the_order_of_their_deadlines_and_never_early() {
        let timer = Arc::new(Timer::start().unwrap());
        let (report, mut order) = tokio::sync::mpsc::unbounded_channel();
        let start = Instant::now();
        for milliseconds in [30_u64, 10, 20] {
            let (timer, report) = (Arc::clone(&timer), report.clone());
            tokio::spawn(async move {
                let at = start + Duration::from_millis(milliseconds);
                timer.sleep_until(at).await;
                assert!(Instant::now() >= at);
                report.send(milliseconds).unwrap();
            });
        }
        for expected in [10, 20, 30] {
            assert_eq!(order.recv().await, Some(expected));
        }
        timer.sleep_until(start).await;
    }
}
