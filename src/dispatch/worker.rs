//! Workers: permits that are taken before a message is, and given back when its task ends, however it ends.

use super::attempt::{Attempted, attempt};
use super::endpoint::Finished;
use super::failure::Failure;
use super::message::EndpointId;
use super::phases::{Phase, Stopwatch};
use super::queue::{Lease, Queue, Settlement};
use super::recorder::{AttemptRecord, Outcome};
use super::{Inner, Shutdown};
use std::future::{Future, poll_fn};
use std::pin::pin;
use std::sync::{Arc, PoisonError};
use std::task::Poll;
use std::time::Duration;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::task::JoinSet;
use tokio::time::{MissedTickBehavior, interval, sleep, timeout};

/// How often expired idle connections are looked for.
const EXPIRY_CHECK: Duration = Duration::from_secs(1);

/// Dispatches until the shutdown asks for the end and all workers have come to theirs.
pub(super) async fn run<Q: Queue>(inner: &Arc<Inner<Q>>, shutdown: &Shutdown) {
    let permits = Arc::new(Semaphore::new(inner.settings.workers.clamp(1, Semaphore::MAX_PERMITS)));
    let mut workers = JoinSet::new();
    let mut draining = pin!(shutdown.draining());
    let mut expiry = interval(EXPIRY_CHECK);
    expiry.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        tokio::select! {
            biased;
            () = &mut draining => break,
            Some(ended) = workers.join_next() => count_panic(inner, ended),
            _ = expiry.tick() => inner.pool.expire(),
            claimed = claim(inner, &permits) => match claimed {
                Some((permit, lease)) => {
                    workers.spawn(work(Arc::clone(inner), permit, lease, shutdown.clone()));
                }
                None => sleep(EXPIRY_CHECK).await,
            },
        }
    }
    let all_ended = async {
        while let Some(ended) = workers.join_next().await {
            count_panic(inner, ended);
        }
    };
    tokio::select! {
        // A worker that has not finished within the lease has lost its message to another anyway.
        _ = timeout(inner.settings.drain_within, all_ended) => {}
        () = shutdown.stopped() => {}
    }
    workers.shutdown().await;
    inner.pool.clear();
}

/// Takes a permit, then a message; `None` if the queue fails. The permit comes first, so a message is never leased
/// without a worker that starts on it at once.
async fn claim<Q: Queue>(
    inner: &Inner<Q>,
    permits: &Arc<Semaphore>,
) -> Option<(OwnedSemaphorePermit, Lease)> {
    let permit = Arc::clone(permits).acquire_owned().await.ok()?;
    let lease = inner.queue.lease(&inner.endpoints).await.ok()?;
    Some((permit, lease))
}

fn count_panic<Q: Queue>(inner: &Inner<Q>, ended: Result<(), tokio::task::JoinError>) {
    if ended.is_err_and(|error| error.is_panic()) {
        inner.recorder.count_panic();
    }
}

/// One worker: its message, and then, under the same permit, each further message that is ready at that moment.
async fn work<Q: Queue>(
    inner: Arc<Inner<Q>>,
    permit: OwnedSemaphorePermit,
    first: Lease,
    shutdown: Shutdown,
) {
    let mut next = Some(first);
    while let Some(lease) = next {
        deliver(&inner, lease).await;
        if shutdown.is_draining() {
            break;
        }
        next = now_or_never(inner.queue.lease(&inner.endpoints)).await.and_then(Result::ok);
    }
    drop(permit);
}

async fn now_or_never<T>(future: impl Future<Output = T>) -> Option<T> {
    let mut future = pin!(future);
    poll_fn(|context| match future.as_mut().poll(context) {
        Poll::Ready(value) => Poll::Ready(Some(value)),
        Poll::Pending => Poll::Ready(None),
    })
    .await
}

/// A lease in work. If it is dropped unsettled, by a panic or because the worker was stopped, it is given up, and
/// the endpoint's place with it: a message can be delayed by that, but not lost.
struct Held<'a, Q: Queue> {
    inner: &'a Inner<Q>,
    lease: &'a Lease,
    settled: bool,
}

impl<Q: Queue> Held<'_, Q> {
    fn endpoint(&self) -> EndpointId {
        self.lease.message.endpoint
    }

    /// Gives the place back, then settles: the queue may ask the gate again.
    async fn settle(mut self, finished: &Finished, settlement: Settlement) -> bool {
        self.settled = true;
        self.finish(finished);
        self.inner.queue.settle(self.lease, settlement).await.is_err()
    }

    fn finish(&self, finished: &Finished) {
        if self.inner.endpoints.finish(self.endpoint(), self.lease.ticket, finished) {
            self.inner.queue.give_up_endpoint(self.endpoint(), Failure::EndpointDisabled);
        }
    }

    fn wait(&self) -> Duration {
        self.lease.leased_at.saturating_duration_since(self.lease.ready_at)
    }
}

impl<Q: Queue> Drop for Held<'_, Q> {
    fn drop(&mut self) {
        if !self.settled {
            self.inner.recorder.count_abandoned();
            let result = Some(Err(Failure::Abandoned));
            self.finish(&Finished { result, retry_after: None, wait: self.wait() });
            self.inner.queue.abandon(self.lease);
        }
    }
}

async fn deliver<Q: Queue>(inner: &Inner<Q>, lease: Lease) {
    let clock = &*inner.clock;
    let held = Held { inner, lease: &lease, settled: false };
    let mut watch = Stopwatch::start(lease.leased_at);
    watch.mark(Phase::Lease, clock.now());
    let id = lease.message.id;
    let known = inner.delivered.lock().unwrap_or_else(PoisonError::into_inner).contains(id);
    let attempted = match inner.endpoints.route(held.endpoint()) {
        _ if known => Attempted::default(),
        None => Attempted { result: Some(Err(Failure::UnknownEndpoint)), ..Attempted::default() },
        Some(route) => {
            let attempting =
                attempt(&inner.pool, &route, &lease.message, inner.settings.timeouts, clock, &mut watch);
            renewing(inner, &lease, attempting).await
        }
    };
    if matches!(attempted.result, Some(Ok(_))) {
        inner.delivered.lock().unwrap_or_else(PoisonError::into_inner).insert(id);
    }
    let policy = &inner.settings.retry;
    let retry_after = attempted.retry_after.map(|after| policy.clamped(Some(after)));
    let (outcome, settlement) = match attempted.result {
        None => (Outcome::AlreadyDelivered, Settlement::Acknowledge),
        Some(Ok(status)) => (Outcome::Delivered(status), Settlement::Acknowledge),
        Some(Err(cause)) => {
            let after = policy.delay(lease.attempt, id, inner.settings.seed, retry_after);
            let settlement = match cause {
                // Nothing was sent: the message goes back without an attempt counted.
                Failure::HostPoolSaturated => Settlement::Release { after: inner.settings.timeouts.pool },
                Failure::UnknownEndpoint => Settlement::DeadLetter { cause },
                Failure::Status(410) => Settlement::DeadLetter { cause: Failure::EndpointDisabled },
                _ => Settlement::Retry { after, cause },
            };
            (Outcome::Failed(cause), settlement)
        }
    };
    let result = attempted.result.map(|result| result.map(|_| ()));
    let finished = Finished { result, retry_after, wait: held.wait() };
    let lease_lost = held.settle(&finished, settlement).await;
    watch.mark(Phase::Acknowledge, clock.now());
    let Attempted { reused, replayed, .. } = attempted;
    let record = AttemptRecord { lease: &lease, outcome, watch: &watch, reused, replayed, lease_lost };
    inner.recorder.record(&record);
    if let Some(observer) = &inner.settings.observer {
        observer.attempt_finished(&record);
    }
}

/// Renews the lease at half its time for as long as the attempt takes; every phase of it has its own timeout.
async fn renewing<Q: Queue>(
    inner: &Inner<Q>,
    lease: &Lease,
    attempting: impl Future<Output = Attempted>,
) -> Attempted {
    let mut attempting = pin!(attempting);
    loop {
        match timeout(inner.settings.renew_after, attempting.as_mut()).await {
            Ok(attempted) => return attempted,
            // A lease that is lost shows when it is settled.
            Err(_) => drop(inner.queue.renew(lease).await),
        }
    }
}
