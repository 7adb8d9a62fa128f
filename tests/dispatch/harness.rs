//! A dispatcher against a sandbox, in one runtime.

use bytes::Bytes;
use std::sync::Arc;
use std::time::Duration;
use tokio::task::JoinHandle;
use whsize::dispatch::clock::{Clock, SystemClock};
use whsize::dispatch::governor::GovernorPolicy;
use whsize::dispatch::message::{EndpointId, Message, MessageId, Priority};
use whsize::dispatch::queue::{MemoryQueue, Queue, QueueSettings};
use whsize::dispatch::retry::RetryPolicy;
use whsize::dispatch::{Dispatcher, EndpointConfig, PoolSettings, Settings, Shutdown, Snapshot};
use whsize::sandbox::{EndpointCounts, LatencyLaw, Sandbox, SandboxConfig};

/// No test waits longer than this for anything.
const PATIENCE: Duration = Duration::from_secs(60);

pub(crate) struct Rig {
    pub(crate) sandbox: Sandbox,
    pub(crate) queue: Arc<MemoryQueue>,
    pub(crate) dispatcher: Arc<Dispatcher<MemoryQueue>>,
    pub(crate) shutdown: Shutdown,
    running: JoinHandle<()>,
    enqueued: u128,
}

/// What a rig is made of; the tests change what they are about.
pub(crate) struct Parts {
    pub(crate) endpoints: usize,
    pub(crate) law: LatencyLaw,
    pub(crate) faults: Vec<String>,
    pub(crate) tls: bool,
    pub(crate) queue: QueueSettings,
    pub(crate) settings: Settings,
    pub(crate) clock: Arc<dyn Clock>,
}

/// A secret of 24 bytes.
const SECRET: &str = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";

impl Parts {
    pub(crate) fn new(workers: usize) -> Self {
        let ten = Duration::from_millis(10);
        let settings = Settings {
            governor: GovernorPolicy::Off,
            retry: RetryPolicy::doubling(ten, 10 * ten),
            pool: PoolSettings { per_host: None, ..PoolSettings::for_workers(workers) },
            disable_after: None,
            ..Settings::for_workers(workers)
        };
        Parts {
            endpoints: 1,
            law: LatencyLaw::constant(0.001).unwrap(),
            faults: Vec::new(),
            tls: false,
            queue: QueueSettings::default(),
            settings,
            clock: Arc::new(SystemClock),
        }
    }

    pub(crate) fn faults(mut self, faults: &[&str]) -> Self {
        self.faults = faults.iter().map(ToString::to_string).collect();
        self
    }

    pub(crate) fn start(mut self) -> Rig {
        let config = SandboxConfig {
            endpoints: vec![self.law; self.endpoints],
            faults: self.faults.iter().map(|fault| fault.parse().unwrap()).collect(),
            tls: self.tls,
            seed: 1,
        };
        let sandbox = Sandbox::start(&config, "127.0.0.1:0".parse().unwrap()).unwrap();
        if let Some(certificate) = sandbox.certificate() {
            self.settings.pool.tls =
                Some(whsize::dispatch::trusting(std::slice::from_ref(certificate)).unwrap());
        }
        let endpoints: Vec<EndpointConfig> = sandbox
            .urls()
            .into_iter()
            .map(|url| EndpointConfig { secret: Some(SECRET.to_owned()), ..EndpointConfig::new(url) })
            .collect();
        let queue = Arc::new(MemoryQueue::with_clock(self.queue, Arc::clone(&self.clock)));
        let dispatcher =
            Arc::new(Dispatcher::new(self.settings, &endpoints, Arc::clone(&queue), self.clock).unwrap());
        let shutdown = Shutdown::new();
        let running = tokio::spawn({
            let (dispatcher, shutdown) = (Arc::clone(&dispatcher), shutdown.clone());
            async move { dispatcher.run(&shutdown).await }
        });
        Rig { sandbox, queue, dispatcher, shutdown, running, enqueued: 0 }
    }
}

impl Rig {
    /// Enqueues messages to the endpoints in turn.
    pub(crate) async fn enqueue(&mut self, count: u128) {
        let endpoints = self.sandbox.urls().len() as u128;
        for _ in 0..count {
            self.enqueue_to((self.enqueued % endpoints) as u32, Priority::Normal).await;
        }
    }

    pub(crate) async fn enqueue_to(&mut self, endpoint: u32, priority: Priority) {
        let id = MessageId(self.enqueued);
        self.enqueued += 1;
        let body = Bytes::from_static(b"{\"event\":\"invoice.paid\"}");
        let message = Message { id, endpoint: EndpointId(endpoint), priority, body };
        self.queue.enqueue(message).await.unwrap();
    }

    pub(crate) async fn until(&self, done: impl Fn(&Self) -> bool) {
        let waiting = async {
            while !done(self) {
                tokio::time::sleep(Duration::from_millis(1)).await;
            }
        };
        assert!(
            tokio::time::timeout(PATIENCE, waiting).await.is_ok(),
            "{:?}",
            self.dispatcher.snapshot().queue
        );
    }

    pub(crate) async fn until_empty(&self) {
        self.until(|rig| rig.queue.stats().queued() == 0).await;
    }

    /// Waits until every message is delivered or dead, then ends the dispatcher.
    pub(crate) async fn finish(self) -> (Snapshot, Vec<EndpointCounts>) {
        self.until_empty().await;
        self.end().await
    }

    /// Ends the dispatcher after what is leased.
    pub(crate) async fn end(self) -> (Snapshot, Vec<EndpointCounts>) {
        self.shutdown.drain();
        tokio::time::timeout(PATIENCE, self.running).await.unwrap().unwrap();
        let (snapshot, counts) = (self.dispatcher.snapshot(), self.sandbox.counts());
        self.sandbox.stop().await;
        (snapshot, counts)
    }
}

/// The law of conservation, and that duplicates have a cause.
pub(crate) fn assert_conserved(snapshot: &Snapshot, counts: &[EndpointCounts]) {
    let (queue, attempts) = (&snapshot.queue, &snapshot.attempts);
    assert_eq!(queue.enqueued, queue.delivered + queue.dead_lettered + queue.queued(), "{queue:?}");
    let accepted: u64 = counts.iter().map(|count| count.accepted).sum();
    let duplicates: u64 = counts.iter().map(|count| count.duplicates).sum();
    assert!(accepted - duplicates >= queue.delivered, "an acknowledged message was never taken");
    let causes =
        attempts.may_have_been_taken + attempts.leases_lost + attempts.abandoned + queue.leases_expired;
    assert!(duplicates <= causes, "{duplicates} duplicates, {causes} causes: {attempts:?}");
}
