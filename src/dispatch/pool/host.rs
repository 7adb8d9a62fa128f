//! One host: its places, and its idle connections.

use super::connection::Connection;
use super::{HostStats, PoolSettings};
use crate::dispatch::target::HostName;
use std::future::poll_fn;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};
use std::time::Duration;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::Instant;

/// How long before the host's advertised time a connection is closed here, and at least how long it is kept.
const BEFORE_ADVERTISED: Duration = Duration::from_secs(5);
const SHORTEST_KEPT: Duration = Duration::from_secs(1);
const LONGEST_KEPT: Duration = Duration::from_secs(300);

/// What a worker gets to send with.
pub(super) enum Claim {
    /// A connection that is open.
    Idle(Connection),
    /// The right to open one.
    Slot(OwnedSemaphorePermit),
}

/// A host that connections go to.
#[derive(Debug)]
pub(in crate::dispatch) struct Host {
    pub(super) name: HostName,
    places: Option<Arc<Semaphore>>,
    shelf: Mutex<Shelf>,
    idle_expiry: Duration,
    lifetime: Duration,
    opened: AtomicU64,
    reused: AtomicU64,
    stale: AtomicU64,
    retired: AtomicU64,
}

/// Idle connections, the one that was used last at the end: it is used next, so that the others can expire.
#[derive(Debug, Default)]
struct Shelf {
    idle: Vec<Idle>,
    /// Connections opened before the last flush are of an older generation, and are not taken back.
    flushed: Option<Instant>,
}

#[derive(Debug)]
struct Idle {
    connection: Connection,
    since: Instant,
    expires_at: Instant,
}

impl Host {
    pub(super) fn new(name: HostName, settings: &PoolSettings) -> Self {
        let place = |most: usize| Arc::new(Semaphore::new(most.clamp(1, Semaphore::MAX_PERMITS)));
        Host {
            name,
            places: settings.per_host.map(place),
            shelf: Mutex::default(),
            idle_expiry: settings.idle_expiry,
            lifetime: settings.lifetime,
            opened: AtomicU64::new(0),
            reused: AtomicU64::new(0),
            stale: AtomicU64::new(0),
            retired: AtomicU64::new(0),
        }
    }

    /// Waits for a place, first come, first served; `None` where there is no limit.
    pub(super) async fn place(&self) -> Option<OwnedSemaphorePermit> {
        // The semaphore is never closed.
        Arc::clone(self.places.as_ref()?).acquire_owned().await.ok()
    }

    /// Takes the idle connection that was used last, and drops those that are of no use any more.
    pub(super) async fn take_idle(&self, now: Instant) -> Option<Connection> {
        loop {
            let Idle { mut connection, expires_at, .. } = self.lock().idle.pop()?;
            if expires_at <= now {
                self.retired.fetch_add(1, Relaxed);
            } else if poll_fn(|context| Poll::Ready(connection.is_usable(context))).await {
                return Some(connection);
            } else {
                self.stale.fetch_add(1, Relaxed);
            }
        }
    }

    /// Keeps a connection for the next request.
    pub(super) fn put_idle(&self, mut connection: Connection, keep_alive: Option<Duration>, now: Instant) {
        let advertised = keep_alive
            .map(|timeout| timeout.saturating_sub(BEFORE_ADVERTISED).clamp(SHORTEST_KEPT, LONGEST_KEPT));
        let expires_at = (now + advertised.unwrap_or(self.idle_expiry).min(LONGEST_KEPT))
            .min(connection.opened_at + self.lifetime);
        let closed = !connection.is_usable(&mut Context::from_waker(Waker::noop()));
        let mut shelf = self.lock();
        if closed || shelf.flushed.is_some_and(|flushed| connection.opened_at <= flushed) {
            drop(shelf);
            self.retired.fetch_add(1, Relaxed);
            return;
        }
        shelf.idle.push(Idle { connection, since: now, expires_at });
    }

    /// Closes the connections whose time has come, and those that the host has closed.
    pub(super) fn expire(&self, now: Instant) {
        // Nobody waits for an idle connection, so nobody needs to be woken by it.
        let mut context = Context::from_waker(Waker::noop());
        let mut shelf = self.lock();
        let expired: Vec<Idle> = shelf.idle.extract_if(.., |idle| idle.expires_at <= now).collect();
        let stale: Vec<Idle> =
            shelf.idle.extract_if(.., |idle| !idle.connection.is_usable(&mut context)).collect();
        drop(shelf);
        self.retired.fetch_add(expired.len() as u64, Relaxed);
        self.stale.fetch_add(stale.len() as u64, Relaxed);
    }

    /// Closes every idle connection, and those in use when they come back.
    pub(in crate::dispatch) fn flush(&self) {
        let mut shelf = self.lock();
        shelf.flushed = Some(Instant::now());
        let idle = std::mem::take(&mut shelf.idle);
        drop(shelf);
        self.retired.fetch_add(idle.len() as u64, Relaxed);
    }

    /// When the connection that has been idle for longest became idle.
    pub(super) fn oldest_idle(&self) -> Option<Instant> {
        self.lock().idle.first().map(|idle| idle.since)
    }

    pub(super) fn evict_oldest(&self) {
        let mut shelf = self.lock();
        let oldest = (!shelf.idle.is_empty()).then(|| shelf.idle.remove(0));
        drop(shelf);
        self.retired.fetch_add(u64::from(oldest.is_some()), Relaxed);
    }

    pub(super) fn count_use(&self, reused: bool) {
        if reused {
            self.reused.fetch_add(1, Relaxed);
        } else {
            self.opened.fetch_add(1, Relaxed);
        }
    }

    pub(super) fn stats(&self) -> HostStats {
        HostStats {
            opened: self.opened.load(Relaxed),
            reused: self.reused.load(Relaxed),
            stale: self.stale.load(Relaxed),
            retired: self.retired.load(Relaxed),
            idle: self.lock().idle.len(),
        }
    }

    fn lock(&self) -> MutexGuard<'_, Shelf> {
        self.shelf.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
