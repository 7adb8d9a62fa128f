//! The reference dispatcher: a leased queue, workers, and signed deliveries over HTTP/1.1.
//!
//! It shows how such a dispatcher should behave, and it is what a validation run measures. It knows nothing of
//! queueing formulas: what is validated does not know the prediction.
//!
//! ```text
//! enqueue ─▶ queue ─▶ gate ─▶ lease ─▶ worker ─▶ pool ─▶ sign ─▶ write ─▶ wait ─▶ read ─▶ acknowledge
//!              ▲      governor, throttle,  permit                                          │
//!              └────── retry, release ◀── health ◀─────────────────────────────────────────┘──▶ dead letters
//! ```
//!
//! A worker is a permit that is taken before a message is leased. The wait is the time from ready to leased, the
//! service time that from leased to acknowledged, and the [phases] add up to it.

pub mod clock;
pub mod failure;
pub mod gate;
pub mod governor;
pub mod message;
pub mod phases;
pub mod queue;
pub mod recorder;
pub mod retry;
pub mod signing;
pub mod tally;
pub mod throttle;

mod attempt;
mod endpoint;
mod exchange;
mod metrics;
mod pool;
mod shutdown;
mod target;
mod worker;

pub use endpoint::{EndpointConfig, EndpointError, EndpointSnapshot};
pub use pool::{HostStats, PoolSettings, Timeouts, trusting};
pub use shutdown::Shutdown;
pub use target::UrlError;

use crate::recent::RecentKeys;
use clock::Clock;
use endpoint::Endpoints;
use governor::GovernorPolicy;
use message::{EndpointId, MessageId};
use pool::Pool;
use queue::{Queue, QueueStats};
use recorder::{AttemptCounts, Durations, Observer, Recorder};
use retry::RetryPolicy;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// Delivered messages that are remembered, so that one that comes again costs no call.
const REMEMBERED: usize = 1 << 17;

/// How a dispatcher works.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Attempts in flight in all; at least one.
    pub workers: usize,
    /// How endpoints' limits move.
    pub governor: GovernorPolicy,
    /// Delays between attempts. How many there are is the queue's to say.
    pub retry: RetryPolicy,
    /// Timeouts of the phases.
    pub timeouts: Timeouts,
    /// How connections are kept.
    pub pool: PoolSettings,
    /// A lease is renewed when an attempt has taken this long: half the queue's visibility.
    pub renew_after: Duration,
    /// How long draining may take: the queue's visibility.
    pub drain_within: Duration,
    /// An endpoint is disabled after this many failures in a row; `None` never does, except on 410.
    pub disable_after: Option<u32>,
    /// Seed of the retries' spread.
    pub seed: u64,
    /// Sees every finished attempt.
    pub observer: Option<Arc<dyn Observer>>,
}

impl Settings {
    /// The usual settings for a number of workers, and a queue with the usual visibility of 45 s.
    #[must_use]
    pub fn for_workers(workers: usize) -> Self {
        let visibility = queue::QueueSettings::default().visibility;
        Settings {
            workers,
            governor: GovernorPolicy::default(),
            retry: RetryPolicy::default(),
            timeouts: Timeouts::default(),
            pool: PoolSettings::for_workers(workers),
            renew_after: visibility / 2,
            drain_within: visibility,
            disable_after: Some(100),
            seed: 1,
            observer: None,
        }
    }
}

/// A dispatcher over a queue.
#[derive(Debug)]
pub struct Dispatcher<Q> {
    inner: Arc<Inner<Q>>,
}

/// What the workers share.
#[derive(Debug)]
struct Inner<Q> {
    settings: Settings,
    queue: Arc<Q>,
    endpoints: Endpoints,
    pool: Pool,
    clock: Arc<dyn Clock>,
    recorder: Recorder,
    delivered: Mutex<RecentKeys<MessageId>>,
}

impl<Q> Inner<Q> {
    /// Whether the message is known to be delivered.
    fn is_delivered(&self, id: MessageId) -> bool {
        self.delivered.lock().unwrap_or_else(PoisonError::into_inner).contains(id)
    }

    fn remember_delivered(&self, id: MessageId) {
        self.delivered.lock().unwrap_or_else(PoisonError::into_inner).insert(id);
    }
}

/// What a dispatcher has measured so far.
#[derive(Clone, Debug)]
pub struct Snapshot {
    /// Waits, service times, phases.
    pub durations: Durations,
    /// Attempts by their end.
    pub attempts: AttemptCounts,
    /// Where the messages are.
    pub queue: QueueStats,
    /// Each endpoint, in the order given.
    pub endpoints: Vec<EndpointSnapshot>,
    /// Each host, `name:port`, in no order.
    pub hosts: Vec<(String, HostStats)>,
    /// Sockets open now, idle ones included.
    pub connections_open: usize,
}

impl Snapshot {
    /// Share of requests that found an open connection; `None` before the first request.
    #[must_use]
    pub fn reuse_ratio(&self) -> Option<f64> {
        let all = self.hosts.iter().fold(HostStats::default(), |sum, (_, host)| HostStats {
            opened: sum.opened + host.opened,
            reused: sum.reused + host.reused,
            ..sum
        });
        all.reuse_ratio()
    }
}

impl<Q: Queue> Dispatcher<Q> {
    /// A dispatcher that does nothing yet. Messages name endpoints by their position in this list.
    ///
    /// # Errors
    /// An endpoint's URL or secret is no good.
    pub fn new(
        settings: Settings,
        endpoints: &[EndpointConfig],
        queue: Arc<Q>,
        clock: Arc<dyn Clock>,
    ) -> Result<Self, EndpointError> {
        let pool = Pool::new(settings.pool.clone(), Arc::clone(&clock));
        let (governor, disable_after) = (settings.governor, settings.disable_after);
        let endpoints = Endpoints::new(endpoints, governor, disable_after, &pool, Arc::clone(&clock))?;
        let (recorder, delivered) = (Recorder::default(), Mutex::new(RecentKeys::new(REMEMBERED)));
        Ok(Dispatcher {
            inner: Arc::new(Inner { settings, queue, endpoints, pool, clock, recorder, delivered }),
        })
    }

    /// Dispatches until the shutdown is asked for: then leases nothing more and finishes what is leased within the
    /// lease; at the second request it drops what is in work, which goes back to the queue.
    pub async fn run(&self, shutdown: &Shutdown) {
        worker::run(&self.inner, shutdown).await;
    }

    /// Changes an endpoint: new attempts go to the new URL, the idle connections to the old one are closed, and if it
    /// was disabled it is enabled again.
    ///
    /// # Errors
    /// There is no such endpoint, or its URL or secret is no good.
    pub fn change_endpoint(
        &self,
        endpoint: EndpointId,
        config: &EndpointConfig,
    ) -> Result<(), EndpointError> {
        self.inner.endpoints.replace(endpoint, config, &self.inner.pool)
    }

    /// What has been measured so far.
    #[must_use]
    pub fn snapshot(&self) -> Snapshot {
        Snapshot {
            durations: self.inner.recorder.durations(),
            attempts: self.inner.recorder.counts(),
            queue: self.inner.queue.stats(),
            endpoints: self.inner.endpoints.snapshot(),
            hosts: self.inner.pool.stats(),
            connections_open: self.inner.pool.open(),
        }
    }

    /// The same in Prometheus text.
    #[must_use]
    pub fn metrics(&self) -> String {
        metrics::page(&self.snapshot())
    }
}
