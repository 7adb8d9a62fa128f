//! Watching a level until it is over: drained, interrupted, or not worth waiting for any longer.

use super::Progress;
use super::generator::{Generator, Messages};
use super::level::READ_TIMEOUT_S;
use super::plan::Plan;
use crate::dispatch::message::EndpointId;
use crate::dispatch::queue::{MemoryQueue, Queue, QueueStats};
use crate::dispatch::{Dispatcher, Shutdown};
use std::time::Duration;
use tokio::time::{Instant, sleep};

/// How often it is looked whether a level is over, on the clock.
const LOOK_EVERY: Duration = Duration::from_millis(20);
/// An attempt that is under way for longer than all but this share of them says that its endpoint does not answer.
const SELDOM: f64 = 1e-4;
/// Nothing has been settled for this much longer, in seconds of the plan: the first retries lie within it.
const STILL_S: f64 = 2.0;

/// How a level ended. Times on the clock.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum End {
    /// The queue was empty so long after the last planned arrival.
    Drained {
        /// From the last planned arrival.
        after_s: f64,
    },
    /// The end was asked for.
    Interrupted {
        /// From the start of the level.
        after_s: f64,
    },
    /// All that was left was for endpoints, counted from 1, that had taken nothing.
    Stuck {
        /// Their numbers.
        endpoints: Vec<usize>,
    },
    /// It was waited for long enough.
    OutOfTime {
        /// From the last planned arrival.
        after_s: f64,
    },
}

/// Watches a level until it is over.
pub(super) struct Watcher<'a> {
    pub(super) plan: &'a Plan,
    pub(super) multiplier: f64,
    pub(super) queue: &'a MemoryQueue,
    pub(super) dispatcher: &'a Dispatcher<MemoryQueue>,
    pub(super) messages: Messages,
    pub(super) start: Instant,
    /// Planned arrivals, and the last of them in seconds on the clock.
    pub(super) arrivals: u64,
    pub(super) last_s: f64,
    pub(super) shutdown: &'a Shutdown,
    pub(super) progress: &'a (dyn Fn(Progress) + Sync),
}

impl Watcher<'_> {
    pub(super) async fn until_over(&self, generator: &Generator) -> End {
        let end = self.start + Duration::from_secs_f64(self.last_s);
        let patience = self.patience();
        let still = self.on_the_clock(self.plan.seldom_exceeded_s(SELDOM) + STILL_S);
        let (mut settled, mut moved) = (0, end);
        loop {
            sleep(LOOK_EVERY).await;
            let (now, stats) = (Instant::now(), self.queue.stats());
            self.show(now, &stats);
            if generator.is_finished() && stats.queued() == 0 {
                return End::Drained { after_s: now.saturating_duration_since(end).as_secs_f64() };
            }
            if self.shutdown.is_draining() {
                let after_s = now.saturating_duration_since(self.start).as_secs_f64();
                return End::Interrupted { after_s };
            }
            if now > end + patience {
                return End::OutOfTime { after_s: patience.as_secs_f64() };
            }
            if settled != stats.delivered + stats.dead_lettered {
                (settled, moved) = (stats.delivered + stats.dead_lettered, end.max(now));
            }
            if generator.is_finished() && now > moved + still {
                match self.stuck(&stats) {
                    Some(endpoints) => return End::Stuck { endpoints },
                    None => moved = now,
                }
            }
        }
    }

    /// How long the queue may drain after the last arrival: as long as arrivals came, as long as one attempt may take,
    /// and what a pool that is too small needs for what has piled up.
    fn patience(&self) -> Duration {
        let plan = self.plan;
        let work_s = self.arrivals as f64 * plan.law.mean_s() / plan.workers_at(self.multiplier) as f64;
        let piled_up_s = (work_s - plan.duration_s).max(0.0);
        let recovery_s = plan.faults.iter().filter_map(|fault| fault.until).max().unwrap_or_default();
        let attempt_s = plan.seldom_exceeded_s(SELDOM).max(READ_TIMEOUT_S);
        self.on_the_clock(plan.duration_s.max(recovery_s.as_secs_f64()) + attempt_s + piled_up_s)
    }

    fn on_the_clock(&self, plan_s: f64) -> Duration {
        Duration::from_secs_f64(plan_s * self.plan.time_scale)
    }

    /// The endpoints that messages are left for, if none of these has taken any, nor will recover.
    fn stuck(&self, stats: &QueueStats) -> Option<Vec<usize>> {
        if self.plan.faults.iter().any(|fault| fault.until.is_some()) {
            return None;
        }
        let mut stuck = Vec::new();
        for (index, endpoint) in self.dispatcher.snapshot().endpoints.iter().enumerate() {
            let dead = self.queue.dead_letters(EndpointId(index as u32)).len() as u64;
            if self.messages.sent_to(index, stats.enqueued) <= endpoint.delivered + dead {
                continue;
            }
            if endpoint.delivered > 0 {
                return None;
            }
            stuck.push(index + 1);
        }
        (!stuck.is_empty()).then_some(stuck)
    }

    fn show(&self, now: Instant, stats: &QueueStats) {
        let elapsed_s = now.saturating_duration_since(self.start).as_secs_f64();
        (self.progress)(Progress {
            multiplier: Some(self.multiplier),
            share: if self.last_s > 0.0 { (elapsed_s / self.last_s).min(1.0) } else { 1.0 },
            delivered: stats.delivered,
            queued: stats.queued(),
            oldest_age_s: stats.oldest_ready_age.as_secs_f64() / self.plan.time_scale,
        });
    }
}
