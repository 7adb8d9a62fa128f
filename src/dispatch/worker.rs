//! Workers: permits that are taken before a message is, and given back when its task ends, however it ends.

use super::attempt::Attempt;
use super::endpoint::Finished;
use super::exchange::{Exchanged, Facts, exchange};
use super::failure::Failure;
use super::message::EndpointId;
use super::phases::Phase;
use super::queue::{Lease, Queue, QueueError, Settlement};
use super::recorder::{AttemptRecord, Outcome};
use super::{Inner, Settings, Shutdown};
use std::pin::pin;
use std::sync::Arc;
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
                Some((permit, held)) => {
                    workers.spawn(work(permit, held, shutdown.clone()));
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
    inner: &Arc<Inner<Q>>,
    permits: &Arc<Semaphore>,
) -> Option<(OwnedSemaphorePermit, Held<Q>)> {
    let permit = Arc::clone(permits).acquire_owned().await.ok()?;
    let lease = inner.queue.lease(&inner.endpoints).await.ok()?;
    Some((permit, Held::new(inner, lease)))
}

fn count_panic<Q: Queue>(inner: &Inner<Q>, ended: Result<(), tokio::task::JoinError>) {
    if ended.is_err_and(|error| error.is_panic()) {
        inner.recorder.count_panic();
    }
}

/// One worker: its message, and then, under the same permit, each further message that is ready at that moment.
async fn work<Q: Queue>(permit: OwnedSemaphorePermit, first: Held<Q>, shutdown: Shutdown) {
    let inner = Arc::clone(&first.inner);
    let mut next = Some(first);
    while let Some(held) = next {
        deliver(held).await;
        if shutdown.is_draining() {
            break;
        }
        next = inner.queue.try_lease(&inner.endpoints).map(|lease| Held::new(&inner, lease));
    }
    drop(permit);
}

/// A lease in work. If it is dropped unsettled, by a panic or because the worker was stopped, it is given up, and
/// the endpoint's place with it: a message can be delayed by that, but not lost.
struct Held<Q: Queue> {
    inner: Arc<Inner<Q>>,
    lease: Lease,
    settled: bool,
}

impl<Q: Queue> Held<Q> {
    fn new(inner: &Arc<Inner<Q>>, lease: Lease) -> Self {
        Held { inner: Arc::clone(inner), lease, settled: false }
    }

    fn endpoint(&self) -> EndpointId {
        self.lease.message.endpoint
    }

    /// Gives the place back, then settles: the queue may ask the gate again.
    async fn settle(&mut self, finished: &Finished, settlement: Settlement) -> Result<(), QueueError> {
        self.settled = true;
        self.finish(finished);
        self.inner.queue.settle(&self.lease, settlement).await
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

impl<Q: Queue> Drop for Held<Q> {
    fn drop(&mut self) {
        if !self.settled {
            self.inner.recorder.count_abandoned();
            let result = Some(Err(Failure::Abandoned));
            self.finish(&Finished { result, retry_after: None, wait: self.wait() });
            self.inner.queue.abandon(&self.lease);
        }
    }
}

async fn deliver<Q: Queue>(mut held: Held<Q>) {
    let (inner, lease) = (Arc::clone(&held.inner), held.lease.clone());
    let settings = &inner.settings;
    let mut attempt =
        Attempt::new(&lease, &*inner.queue, &*inner.clock, settings.timeouts, settings.renew_after);
    attempt.mark(Phase::Lease);
    let exchanged = if inner.is_delivered(lease.message.id) {
        None
    } else {
        Some(match inner.endpoints.route(held.endpoint()) {
            Some(route) => exchange(&inner.pool, &route, &mut attempt).await,
            None => Exchanged { result: Err(Failure::UnknownEndpoint), facts: Facts::default() },
        })
    };
    let Facts { retry_after, reused, replayed } =
        exchanged.map_or_else(Facts::default, |exchanged| exchanged.facts);
    let retry_after = retry_after.map(|after| settings.retry.clamped(Some(after)));
    let result = exchanged.map(|exchanged| exchanged.result);
    if matches!(result, Some(Ok(_))) {
        inner.remember_delivered(lease.message.id);
    }
    let made = result.map(|result| result.map(|_| ()));
    let finished = Finished { result: made, retry_after, wait: held.wait() };
    let settled = held.settle(&finished, settlement(settings, &lease, result, retry_after)).await;
    attempt.mark(Phase::Acknowledge);
    let record = AttemptRecord {
        lease: &lease,
        outcome: match result {
            None => Outcome::AlreadyDelivered,
            Some(Ok(status)) => Outcome::Delivered(status),
            Some(Err(failure)) => Outcome::Failed(failure),
        },
        watch: &attempt.watch,
        reused,
        replayed,
        lease_lost: settled == Err(QueueError::LeaseLost),
    };
    inner.recorder.record(&record);
    if let Some(observer) = &settings.observer {
        observer.attempt_finished(&record);
    }
}

/// What becomes of the message; `result` is `None` if it had been delivered before.
fn settlement(
    settings: &Settings,
    lease: &Lease,
    result: Option<Result<u16, Failure>>,
    retry_after: Option<Duration>,
) -> Settlement {
    let Settings { retry, timeouts, seed, .. } = settings;
    match result {
        None | Some(Ok(_)) => Settlement::Acknowledge,
        // Nothing was sent: the message goes back without an attempt counted.
        Some(Err(Failure::HostPoolSaturated)) => Settlement::Release { after: timeouts.pool },
        Some(Err(cause @ Failure::UnknownEndpoint)) => Settlement::DeadLetter { cause },
        Some(Err(Failure::Status(410))) => Settlement::DeadLetter { cause: Failure::EndpointDisabled },
        Some(Err(cause)) => {
            let after = retry.delay(lease.attempt, lease.message.id, *seed, retry_after);
            Settlement::Retry { after, cause }
        }
    }
}
