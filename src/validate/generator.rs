//! The load generator: every message at its planned time, whatever becomes of the others.
//!
//! It is a thread of its own that sleeps to the microsecond; a message that is late is still counted as ready at its
//! planned time, so lateness shows as wait and is never hidden, and how late the generator was is reported.

use crate::dispatch::message::{EndpointId, Message, MessageId, Priority};
use crate::dispatch::queue::MemoryQueue;
use bytes::Bytes;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::thread::{self, JoinHandle};
use std::time::Duration;
use tokio::time::Instant;

const BODY: &[u8] =
    br#"{"type":"invoice.paid","timestamp":"2022-11-03T20:26:10.344522Z","data":{"id":"in_1"}}"#;

/// How late the generator was, in seconds on the clock.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Lateness {
    pub(super) mean_s: f64,
    pub(super) longest_s: f64,
}

/// A generator at work.
#[derive(Debug)]
pub(super) struct Generator {
    cancelled: Arc<AtomicBool>,
    thread: Option<JoinHandle<Lateness>>,
}

impl Generator {
    /// Starts a thread that enqueues a message for each of `times` (seconds on the clock from `start`, in order), to the
    /// endpoints in turn.
    pub(super) fn start(
        queue: Arc<MemoryQueue>,
        start: Instant,
        times: Vec<f64>,
        messages: Messages,
    ) -> std::io::Result<Self> {
        let cancelled = Arc::new(AtomicBool::new(false));
        let work = {
            let cancelled = Arc::clone(&cancelled);
            move || generate(&queue, start, &times, &messages, &cancelled)
        };
        let thread = Some(thread::Builder::new().name("load-generator".to_owned()).spawn(work)?);
        Ok(Generator { cancelled, thread })
    }

    /// Whether all messages are enqueued.
    pub(super) fn is_finished(&self) -> bool {
        self.thread.as_ref().is_none_or(JoinHandle::is_finished)
    }

    /// Enqueues nothing more, and says how late it was.
    pub(super) fn finish(mut self) -> Lateness {
        self.cancelled.store(true, Relaxed);
        // The thread cannot panic: it only sleeps and enqueues.
        self.thread.take().and_then(|thread| thread.join().ok()).unwrap_or_default()
    }
}

impl Drop for Generator {
    fn drop(&mut self) {
        self.cancelled.store(true, Relaxed);
    }
}

fn generate(
    queue: &MemoryQueue,
    start: Instant,
    times: &[f64],
    messages: &Messages,
    cancelled: &AtomicBool,
) -> Lateness {
    /// The longest sleep, so that a cancelled generator ends soon.
    const LONGEST_SLEEP: Duration = Duration::from_millis(50);
    let (mut late_s, mut longest_s) = (0.0, 0.0_f64);
    let mut count: u64 = 0;
    for (index, seconds) in times.iter().enumerate() {
        let planned = start + Duration::from_secs_f64(*seconds);
        loop {
            if cancelled.load(Relaxed) {
                return Lateness { mean_s: late_s / count.max(1) as f64, longest_s };
            }
            let left = planned.saturating_duration_since(Instant::now());
            if left.is_zero() {
                break;
            }
            thread::sleep(left.min(LONGEST_SLEEP));
        }
        queue.enqueue_at(messages.at(index), planned);
        let late = planned.elapsed().as_secs_f64();
        late_s += late;
        longest_s = longest_s.max(late);
        count += 1;
    }
    Lateness { mean_s: late_s / count.max(1) as f64, longest_s }
}

/// The messages of one run of a level, to the endpoints in turn.
#[derive(Clone, Copy, Debug)]
pub(super) struct Messages {
    /// Upper half of the identifiers: no two runs share any, or a sandbox that outlives a run would take the messages
    /// of the next one for duplicates. It is no part of what the seed decides.
    run: u64,
    endpoints: usize,
}

impl Messages {
    pub(super) fn new(endpoints: usize) -> Self {
        Messages { run: RandomState::new().build_hasher().finish(), endpoints: endpoints.max(1) }
    }

    /// The message of an index.
    pub(super) fn at(&self, index: usize) -> Message {
        Message {
            id: MessageId(u128::from(self.run) << 64 | index as u128),
            endpoint: EndpointId((index % self.endpoints) as u32),
            priority: Priority::Normal,
            body: Bytes::from_static(BODY),
        }
    }

    /// How many of the first `count` messages go to the endpoint at this position.
    pub(super) fn sent_to(&self, endpoint: usize, count: u64) -> u64 {
        let endpoints = self.endpoints as u64;
        count / endpoints + u64::from((endpoint as u64) < count % endpoints)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_go_to_the_endpoints_in_turn_and_no_two_runs_share_an_identifier() {
        let (one, other) = (Messages::new(3), Messages::new(3));
        for count in [0, 1, 3, 7, 11] {
            for endpoint in 0..3 {
                let sent = (0..count).filter(|index| one.at(*index).endpoint.0 == endpoint).count() as u64;
                assert_eq!(one.sent_to(endpoint as usize, count as u64), sent);
            }
        }
        assert!((0..100).all(|index| one.at(index).id != other.at(index).id));
        assert_ne!(one.at(0).id, one.at(1).id);
    }
}
