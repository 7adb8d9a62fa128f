//! What is kept of each attempt of a level.

use crate::dispatch::failure::Failure;
use crate::dispatch::phases::Phase;
use crate::dispatch::recorder::{AttemptRecord, Observer, Outcome};
use crate::profile::{Attempt, ProfileRecorder, ServiceProfile, Source};
use std::sync::{Mutex, PoisonError};
use tokio::time::Instant;

/// Shards, so that workers seldom meet at one lock.
const SHARDS: usize = 8;

/// One attempt; times in seconds on the clock since the start of the level.
#[derive(Clone, Copy, Debug)]
pub(super) struct Record {
    pub(super) ready_s: f64,
    pub(super) leased_s: f64,
    pub(super) service_s: f64,
    /// From the request written to the end of the answer: what the endpoint took.
    pub(super) answer_s: f64,
    pub(super) endpoint: u32,
    pub(super) delivered: bool,
    pub(super) too_many: bool,
}

impl Record {
    pub(super) fn wait_s(&self) -> f64 {
        (self.leased_s - self.ready_s).max(0.0)
    }

    pub(super) fn finished_s(&self) -> f64 {
        self.leased_s + self.service_s
    }
}

/// Collects records from the workers.
#[derive(Debug)]
pub(super) struct Collector {
    start: Instant,
    shards: [Mutex<Vec<Record>>; SHARDS],
}

impl Collector {
    pub(super) fn new(start: Instant) -> Self {
        Collector { start, shards: Default::default() }
    }

    /// All attempts so far, in the order of becoming ready.
    pub(super) fn records(&self) -> Records {
        let lock = |shard: &Mutex<Vec<Record>>| shard.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let mut all: Vec<Record> = self.shards.iter().flat_map(lock).collect();
        all.sort_by(|a, b| a.ready_s.total_cmp(&b.ready_s));
        Records { all }
    }
}

impl Observer for Collector {
    fn attempt_finished(&self, record: &AttemptRecord<'_>) {
        // A message that needed no call held no worker worth speaking of.
        if record.outcome == Outcome::AlreadyDelivered {
            return;
        }
        let since = |at: Instant| at.saturating_duration_since(self.start).as_secs_f64();
        let kept = Record {
            ready_s: since(record.lease.ready_at),
            leased_s: since(record.lease.leased_at),
            service_s: record.watch.total().as_secs_f64(),
            answer_s: (record.watch.spent(Phase::Wait) + record.watch.spent(Phase::Read)).as_secs_f64(),
            endpoint: record.lease.message.endpoint.0,
            delivered: matches!(record.outcome, Outcome::Delivered(_)),
            too_many: record.outcome == Outcome::Failed(Failure::Status(429)),
        };
        let shard = (record.lease.id % SHARDS as u64) as usize;
        self.shards[shard].lock().unwrap_or_else(PoisonError::into_inner).push(kept);
    }
}

/// The attempts of a level, in the order of becoming ready.
#[derive(Clone, Debug, Default)]
pub(super) struct Records {
    pub(super) all: Vec<Record>,
}

impl Records {
    /// The service times as a profile, each divided by the time scale.
    pub(super) fn profile(&self, time_scale: f64) -> Option<ServiceProfile> {
        let mut recorder = ProfileRecorder::new(&[]);
        for record in &self.all {
            let duration_ns = (record.service_s / time_scale * 1e9).round() as u64;
            let failed = !record.delivered;
            let attempt = Attempt { duration_ns, weight: 1, failed, started_ns: None, group: None };
            // An attempt of more than a week cannot have been measured in a run.
            recorder.add(&attempt).ok()?;
        }
        recorder.finish(Source {
            format: "whsize validate".to_owned(),
            failures_from: Some("outcome".to_owned()),
            ..Source::default()
        })
    }
}
