//! An exact connection pool: how many connections there are, to whom, new or reused, is known at every moment.
//!
//! General HTTP clients race a new connection against a busy pool and wake waiters last in, first out; then neither
//! the number of connections nor the wait can be stated. Here a connection is opened only by a worker that holds a
//! place at the host and a slot of the pool; both are owned permits, handed out first in, first out, and a slot is
//! given back when the socket is closed, not before.

mod connect;
mod connection;
mod host;
mod wire;

pub(super) use connection::Connection;
pub(super) use host::Host;

use super::attempt::Attempt;
use super::clock::Clock;
use super::failure::Failure;
use super::phases::Phase;
use super::queue::Queue;
use super::target::HostName;
use host::Claim;
use std::collections::HashMap;
use std::fmt;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio_rustls::TlsConnector;

/// How long each phase of an attempt may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timeouts {
    /// Waiting for a place at the host and a slot of the pool.
    pub pool: Duration,
    /// Resolving the name and opening the connection.
    pub connect: Duration,
    /// The TLS handshake.
    pub tls: Duration,
    /// Writing the request.
    pub write: Duration,
    /// From the request written to the answer's head, and again to the end of its body.
    pub read: Duration,
}

impl Default for Timeouts {
    /// Pool 2 s, connect 3 s, TLS 3 s, write 5 s, read 10 s.
    fn default() -> Self {
        let seconds = Duration::from_secs;
        Timeouts {
            pool: seconds(2),
            connect: seconds(3),
            tls: seconds(3),
            write: seconds(5),
            read: seconds(10),
        }
    }
}

/// How connections are kept.
#[derive(Clone)]
pub struct PoolSettings {
    /// Connections in all, idle ones included. With as many as workers, no worker waits for a slot for long.
    pub connections: usize,
    /// Attempts, and so connections, at one host at a time; `None` for no limit.
    pub per_host: Option<usize>,
    /// An idle connection is closed after this long, or 5 s before the host says that it closes it, but not before 1 s.
    pub idle_expiry: Duration,
    /// A connection is not used any more after this long: it pins the address that was once resolved.
    pub lifetime: Duration,
    /// What certificates are trusted; without it, `https` endpoints fail at the handshake.
    pub tls: Option<Arc<rustls::ClientConfig>>,
}

impl PoolSettings {
    /// As many connections as workers, 8 at a host, closed after 30 s idle or 5 minutes in all.
    #[must_use]
    pub fn for_workers(workers: usize) -> Self {
        PoolSettings {
            connections: workers,
            per_host: Some(8),
            idle_expiry: Duration::from_secs(30),
            lifetime: Duration::from_secs(300),
            tls: None,
        }
    }
}

impl fmt::Debug for PoolSettings {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("PoolSettings")
            .field("connections", &self.connections)
            .field("per_host", &self.per_host)
            .field("idle_expiry", &self.idle_expiry)
            .field("lifetime", &self.lifetime)
            .field("tls", &self.tls.is_some())
            .finish()
    }
}

/// A TLS client that trusts exactly these certificates: a sandbox's own, or a company's root.
///
/// # Errors
/// A certificate cannot be used.
pub fn trusting(
    certificates: &[rustls::pki_types::CertificateDer<'static>],
) -> Result<Arc<rustls::ClientConfig>, rustls::Error> {
    let mut roots = rustls::RootCertStore::empty();
    for certificate in certificates {
        roots.add(certificate.clone())?;
    }
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = rustls::ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()?
        .with_root_certificates(roots)
        .with_no_client_auth();
    Ok(Arc::new(config))
}

/// What a host's connections have been through.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HostStats {
    /// Connections opened, each for a request that found none.
    pub opened: u64,
    /// Requests sent on a connection that had been used before.
    pub reused: u64,
    /// Idle connections found closed by the host.
    pub stale: u64,
    /// Idle connections closed here: idle or alive for too long, evicted, or flushed.
    pub retired: u64,
    /// Connections idle now.
    pub idle: usize,
}

impl HostStats {
    /// Share of requests that found an open connection; `None` before the first request.
    #[must_use]
    pub fn reuse_ratio(&self) -> Option<f64> {
        let requests = self.reused + self.opened;
        (requests > 0).then(|| self.reused as f64 / requests as f64)
    }
}

/// The pool.
#[derive(Debug)]
pub(super) struct Pool {
    settings: PoolSettings,
    hosts: Mutex<HashMap<HostName, Arc<Host>>>,
    slots: Arc<Semaphore>,
    /// Workers that wait for a slot: as long as there are any, no idle connection keeps one.
    waiting: AtomicUsize,
    clock: Arc<dyn Clock>,
}

/// A worker that waits for a slot, until it has one or gives up.
struct Waiting<'a>(&'a AtomicUsize);

impl<'a> Waiting<'a> {
    fn new(waiting: &'a AtomicUsize) -> Self {
        waiting.fetch_add(1, SeqCst);
        Waiting(waiting)
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, SeqCst);
    }
}

/// A connection in use, with its place at the host.
pub(super) struct Checkout {
    pub(super) connection: Connection,
    pub(super) reused: bool,
    host: Arc<Host>,
    _place: Option<OwnedSemaphorePermit>,
}

impl Pool {
    pub(super) fn new(settings: PoolSettings, clock: Arc<dyn Clock>) -> Self {
        let most = settings.connections.clamp(1, Semaphore::MAX_PERMITS);
        let slots = Arc::new(Semaphore::new(most));
        Pool { settings, hosts: Mutex::default(), slots, waiting: AtomicUsize::new(0), clock }
    }

    /// The host of that name; the same one each time.
    pub(super) fn host(&self, name: &HostName) -> Arc<Host> {
        let mut hosts = self.hosts.lock().unwrap_or_else(PoisonError::into_inner);
        let make = || Arc::new(Host::new(name.clone(), &self.settings));
        Arc::clone(hosts.entry(name.clone()).or_insert_with(make))
    }

    /// Takes a connection to a host: an idle one, or a new one. The phases from pool wait to TLS are marked.
    pub(super) async fn checkout<Q: Queue>(
        &self,
        host: &Arc<Host>,
        attempt: &mut Attempt<'_, Q>,
    ) -> Result<Checkout, Failure> {
        let claimed = attempt.within(attempt.timeouts.pool, self.claim(host)).await;
        attempt.mark(Phase::PoolWait);
        let (place, claim) = claimed.ok_or(Failure::HostPoolSaturated)?;
        let (connection, reused) = match claim {
            Claim::Idle(connection) => (connection, true),
            Claim::Slot(slot) => {
                let tls = self.settings.tls.clone().map(TlsConnector::from);
                (connect::open(&host.name, tls, slot, attempt).await?, false)
            }
        };
        host.count_use(reused);
        Ok(Checkout { connection, reused, host: Arc::clone(host), _place: place })
    }

    /// Waits for a place at the host, then for an idle connection there or for a slot to open one.
    async fn claim(&self, host: &Host) -> (Option<OwnedSemaphorePermit>, Claim) {
        let place = host.place().await;
        if let Some(connection) = host.take_idle(self.clock.now()).await {
            return (place, Claim::Idle(connection));
        }
        let slots = Arc::clone(&self.slots);
        if let Ok(slot) = Arc::clone(&slots).try_acquire_owned() {
            return (place, Claim::Slot(slot));
        }
        // Announced before the look for an idle connection: one that is given back after the look is not kept.
        let _waiting = Waiting::new(&self.waiting);
        self.evict_one_idle();
        // The semaphore is never closed.
        let slot = slots.acquire_owned().await;
        (place, slot.map_or_else(|_| unreachable!("the pool's slots are never closed"), Claim::Slot))
    }

    /// Gives a connection back whose answer has been read to its end; `keep_alive` is what the host advertised.
    pub(super) fn give_back(&self, checkout: Checkout, keep_alive: Option<Duration>) {
        checkout.host.put_idle(checkout.connection, keep_alive, self.clock.now());
        if self.waiting.load(SeqCst) > 0 {
            self.evict_one_idle();
        }
    }

    /// Closes idle connections whose time has come, and those that their host has closed.
    pub(super) fn expire(&self) {
        let now = self.clock.now();
        self.all_hosts().iter().for_each(|host| host.expire(now));
    }

    /// Closes every idle connection.
    pub(super) fn clear(&self) {
        self.all_hosts().iter().for_each(|host| host.flush());
    }

    /// Sockets that are open now.
    pub(super) fn open(&self) -> usize {
        self.settings.connections.max(1) - self.slots.available_permits()
    }

    pub(super) fn stats(&self) -> Vec<(String, HostStats)> {
        let hosts = self.all_hosts();
        hosts.iter().map(|host| (format!("{}:{}", host.name.name, host.name.port), host.stats())).collect()
    }

    fn evict_one_idle(&self) {
        let hosts = self.all_hosts();
        let oldest =
            hosts.iter().filter_map(|host| Some((host.oldest_idle()?, host))).min_by_key(|(at, _)| *at);
        if let Some((_, host)) = oldest {
            host.evict_oldest();
        }
    }

    fn all_hosts(&self) -> Vec<Arc<Host>> {
        self.hosts.lock().unwrap_or_else(PoisonError::into_inner).values().map(Arc::clone).collect()
    }
}
