//! What the dispatcher measures of its attempts.

use super::failure::Failure;
use super::phases::{Phase, Stopwatch};
use super::queue::Lease;
use super::tally::Tally;
use std::collections::BTreeMap;
use std::fmt::Debug;
use std::sync::{Mutex, PoisonError};

/// Shards of the histograms, so that threads seldom meet at one lock.
const SHARDS: u64 = 4;

/// How an attempt ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The endpoint took it, with this status.
    Delivered(u16),
    /// The message had been delivered before: no call was spent.
    AlreadyDelivered,
    /// It failed.
    Failed(Failure),
}

/// One finished attempt.
#[derive(Clone, Copy, Debug)]
pub struct AttemptRecord<'a> {
    /// The lease it was made under: message, attempt number, ready and leased.
    pub lease: &'a Lease,
    /// How it ended.
    pub outcome: Outcome,
    /// Time in each phase; their sum is the service time.
    pub watch: &'a Stopwatch,
    /// Whether its connection had been used before; `None` if there was none.
    pub reused: Option<bool>,
    /// Whether the request was sent twice because a reused connection had gone stale.
    pub replayed: bool,
    /// Whether the lease had run out when it was settled.
    pub lease_lost: bool,
}

/// Sees every finished attempt, on the worker that made it: it must be quick.
pub trait Observer: Debug + Send + Sync {
    /// An attempt was finished and settled.
    fn attempt_finished(&self, record: &AttemptRecord<'_>);
}

/// Durations of all attempts so far.
#[derive(Clone, Debug, Default)]
pub struct Durations {
    /// From ready to leased.
    pub wait: Tally,
    /// From leased to acknowledged.
    pub service: Tally,
    /// Each phase, over the attempts that went through it.
    pub phases: [Tally; Phase::ALL.len()],
}

/// Counts of all attempts so far.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AttemptCounts {
    /// Attempts that an endpoint took.
    pub delivered: u64,
    /// Messages found to be delivered already.
    pub already_delivered: u64,
    /// Failures by their name.
    pub failures: BTreeMap<String, u64>,
    /// Failures after which the endpoint may have taken the delivery all the same.
    pub may_have_been_taken: u64,
    /// Requests sent again on a fresh connection because a reused one had gone stale.
    pub replayed: u64,
    /// Attempts whose lease had run out when they were settled.
    pub leases_lost: u64,
    /// Attempts dropped in the middle, by a panic or because the dispatcher was stopped at once.
    pub abandoned: u64,
    /// Workers that panicked.
    pub panics: u64,
}

#[derive(Debug, Default)]
pub(super) struct Recorder {
    shards: [Mutex<Durations>; SHARDS as usize],
    counts: Mutex<AttemptCounts>,
}

impl Recorder {
    pub(super) fn record(&self, record: &AttemptRecord<'_>) {
        let shard = (record.lease.id % SHARDS) as usize;
        {
            let mut durations = self.shards[shard].lock().unwrap_or_else(PoisonError::into_inner);
            durations.wait.record(record.lease.leased_at.saturating_duration_since(record.lease.ready_at));
            durations.service.record(record.watch.total());
            for phase in Phase::ALL {
                let spent = record.watch.spent(phase);
                if !spent.is_zero() {
                    durations.phases[phase as usize].record(spent);
                }
            }
        }
        let mut counts = self.counts.lock().unwrap_or_else(PoisonError::into_inner);
        match record.outcome {
            Outcome::Delivered(_) => counts.delivered += 1,
            Outcome::AlreadyDelivered => counts.already_delivered += 1,
            Outcome::Failed(failure) => {
                *counts.failures.entry(failure.to_string()).or_default() += 1;
                counts.may_have_been_taken += u64::from(failure.may_have_been_taken());
            }
        }
        counts.replayed += u64::from(record.replayed);
        counts.leases_lost += u64::from(record.lease_lost);
    }

    pub(super) fn count_panic(&self) {
        self.counts.lock().unwrap_or_else(PoisonError::into_inner).panics += 1;
    }

    pub(super) fn count_abandoned(&self) {
        self.counts.lock().unwrap_or_else(PoisonError::into_inner).abandoned += 1;
    }

    pub(super) fn counts(&self) -> AttemptCounts {
        self.counts.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(super) fn durations(&self) -> Durations {
        let mut all = Durations::default();
        for shard in &self.shards {
            let shard = shard.lock().unwrap_or_else(PoisonError::into_inner);
            all.wait.merge(&shard.wait);
            all.service.merge(&shard.service);
            all.phases.iter_mut().zip(&shard.phases).for_each(|(all, part)| all.merge(part));
        }
        all
    }
}
