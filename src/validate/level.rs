//! One level: a sandbox, a dispatcher, a generator, and what became of the messages.

use super::generator::{Generator, Lateness};
use super::plan::Plan;
use super::records::{Collector, Records};
use super::schedule;
use super::target::Target;
use super::{Progress, ValidateError};
use crate::dispatch::clock::SystemClock;
use crate::dispatch::queue::{MemoryQueue, Queue, QueueSettings};
use crate::dispatch::recorder::Observer;
use crate::dispatch::retry::RetryPolicy;
use crate::dispatch::{
    Dispatcher, EndpointConfig, PoolSettings, Settings, Shutdown, Snapshot, Timeouts, trusting,
};
use crate::sandbox::{EndpointCounts, Sandbox, SandboxConfig};
use std::convert::Infallible;
use std::future::pending;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::{Instant, sleep};

/// The retries of a validation run: short enough to be seen within it. Seconds of the plan.
const FIRST_RETRY_S: f64 = 1.0;
const LONGEST_RETRY_S: f64 = 30.0;
const MAX_ATTEMPTS: u32 = 6;
/// Standard Webhooks asks senders to wait 15 to 30 s for an answer.
const READ_TIMEOUT_S: f64 = 30.0;
/// The queue is left to drain for at most this many times the duration, and at least this long. Seconds of the plan.
const DRAIN_DURATIONS: f64 = 4.0;
const SHORTEST_DRAIN_S: f64 = 60.0;
/// How often it is looked whether a level is over, on the clock.
const LOOK_EVERY: Duration = Duration::from_millis(20);
/// From the start of the dispatcher to the first planned arrival, on the clock.
const LEAD: Duration = Duration::from_millis(50);
const SECRET: &str = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";

/// What a level left behind. Times on the clock.
#[derive(Debug)]
pub(super) struct LevelRun {
    pub(super) multiplier: f64,
    pub(super) workers: usize,
    /// Planned arrivals, in seconds of the plan.
    pub(super) arrivals: u64,
    pub(super) records: Records,
    pub(super) snapshot: Snapshot,
    /// Counts of our own sandbox; `None` with a sandbox elsewhere.
    pub(super) sandbox: Option<Vec<EndpointCounts>>,
    /// Deliveries that the endpoints took more than once.
    pub(super) duplicated: u64,
    pub(super) lateness: Lateness,
    /// From the last planned arrival until the queue was empty; `None` if it never was.
    pub(super) drained_after_s: Option<f64>,
}

/// Endpoints to send to: our own, or elsewhere.
enum Endpoints {
    Own(Sandbox),
    Elsewhere(Target),
}

impl Endpoints {
    async fn start(plan: &Plan) -> Result<Self, ValidateError> {
        if let Some(url) = &plan.target {
            return Ok(Endpoints::Elsewhere(Target::find(url).await?));
        }
        let law = plan.law.scaled(plan.time_scale).map_err(super::PlanError::from)?;
        let config = SandboxConfig {
            endpoints: vec![law; plan.endpoints],
            faults: plan.faults.iter().map(|fault| fault.scaled(plan.time_scale)).collect(),
            tls: plan.tls,
            seed: plan.seed,
        };
        Ok(Endpoints::Own(Sandbox::start(&config, ([127, 0, 0, 1], 0).into())?))
    }

    fn urls(&self) -> Vec<String> {
        match self {
            Endpoints::Own(sandbox) => sandbox.urls(),
            Endpoints::Elsewhere(target) => target.urls.clone(),
        }
    }
}

/// Runs a level to its end: until every message is delivered or given up, or the patience for that is over.
pub(super) async fn run(
    plan: &Plan,
    multiplier: f64,
    shutdown: &Shutdown,
    progress: &(dyn Fn(Progress) + Sync),
) -> Result<LevelRun, ValidateError> {
    let endpoints = Endpoints::start(plan).await?;
    let workers = plan.workers_at(multiplier);
    let times: Vec<f64> =
        schedule::arrivals(plan, multiplier).into_iter().map(|at| at * plan.time_scale).collect();
    let arrivals = times.len() as u64;
    let last_s = times.last().copied().unwrap_or(0.0);

    let start = Instant::now() + LEAD;
    let collector = Arc::new(Collector::new(start));
    let mut settings = settings(plan, workers);
    settings.observer = Some(Arc::clone(&collector) as Arc<dyn Observer>);
    if let Endpoints::Own(sandbox) = &endpoints
        && let Some(certificate) = sandbox.certificate()
    {
        settings.pool.tls = Some(trusting(std::slice::from_ref(certificate))?);
    }
    let visibility = settings.drain_within;
    let queue = Arc::new(MemoryQueue::new(QueueSettings { visibility, max_attempts: MAX_ATTEMPTS }));
    let urls = endpoints.urls();
    let configs: Vec<EndpointConfig> = urls
        .iter()
        .map(|url| EndpointConfig { secret: Some(SECRET.to_owned()), ..EndpointConfig::new(url) })
        .collect();
    let dispatcher = Dispatcher::new(settings, &configs, Arc::clone(&queue), Arc::new(SystemClock))?;
    let generator =
        Generator::start(Arc::clone(&queue), start, times, urls.len()).map_err(ValidateError::Generator)?;

    let ending = Shutdown::new();
    let watching = async {
        let watcher = Watcher { plan, multiplier, queue: &queue, start, last_s, shutdown, progress };
        let drained_after_s = watcher.until_drained(&generator).await;
        let lateness = generator.finish();
        ending.drain();
        if drained_after_s.is_none() && !shutdown.is_draining() {
            // It has been waited for long enough: what still hangs is dropped.
            ending.stop();
        }
        (drained_after_s, lateness)
    };
    let running = async { tokio::join!(watching, dispatcher.run(&ending)) };
    // Whoever interrupts once lets what is leased finish; twice, and it is dropped.
    let second_interrupt = async {
        shutdown.stopped().await;
        ending.stop();
        pending::<Infallible>().await
    };
    let ((drained_after_s, lateness), ()) = tokio::select! {
        ran = running => ran,
        never = second_interrupt => match never {},
    };
    let (sandbox, duplicated) = match endpoints {
        Endpoints::Own(sandbox) => {
            let counts = sandbox.counts();
            sandbox.stop().await;
            let duplicated = counts.iter().map(|count| count.duplicates).sum();
            (Some(counts), duplicated)
        }
        Endpoints::Elsewhere(target) => (None, target.new_duplicates().await?),
    };
    let (records, snapshot) = (collector.records(), dispatcher.snapshot());
    Ok(LevelRun {
        multiplier,
        workers,
        arrivals,
        records,
        snapshot,
        sandbox,
        duplicated,
        lateness,
        drained_after_s,
    })
}

/// Watches a level until it is over.
struct Watcher<'a> {
    plan: &'a Plan,
    multiplier: f64,
    queue: &'a MemoryQueue,
    start: Instant,
    /// The last planned arrival, in seconds on the clock.
    last_s: f64,
    shutdown: &'a Shutdown,
    progress: &'a (dyn Fn(Progress) + Sync),
}

impl Watcher<'_> {
    /// Says when, after the last arrival, the queue was empty; `None` if that was not waited for.
    async fn until_drained(&self, generator: &Generator) -> Option<f64> {
        let plan = self.plan;
        let patience_s = (DRAIN_DURATIONS * plan.duration_s).max(SHORTEST_DRAIN_S) * plan.time_scale;
        let end = self.start + Duration::from_secs_f64(self.last_s);
        let give_up = end + Duration::from_secs_f64(patience_s);
        loop {
            sleep(LOOK_EVERY).await;
            let (now, stats) = (Instant::now(), self.queue.stats());
            let elapsed_s = now.saturating_duration_since(self.start).as_secs_f64();
            (self.progress)(Progress {
                multiplier: Some(self.multiplier),
                share: if self.last_s > 0.0 { (elapsed_s / self.last_s).min(1.0) } else { 1.0 },
                delivered: stats.delivered,
                queued: stats.queued(),
                oldest_age_s: stats.oldest_ready_age.as_secs_f64() / plan.time_scale,
            });
            if generator.is_finished() && stats.queued() == 0 {
                return Some(now.saturating_duration_since(end).as_secs_f64());
            }
            if self.shutdown.is_draining() || now > give_up {
                return None;
            }
        }
    }
}

fn settings(plan: &Plan, workers: usize) -> Settings {
    let scaled = |seconds: f64| Duration::from_secs_f64(seconds * plan.time_scale);
    let usual = Timeouts::default();
    let scale = |time: Duration| scaled(time.as_secs_f64());
    let visibility = scaled(READ_TIMEOUT_S * 1.5);
    Settings {
        governor: plan.governor,
        retry: RetryPolicy::doubling(scaled(FIRST_RETRY_S), scaled(LONGEST_RETRY_S)),
        timeouts: Timeouts {
            pool: scale(usual.pool),
            connect: scale(usual.connect),
            tls: scale(usual.tls),
            write: scale(usual.write),
            read: scaled(READ_TIMEOUT_S),
        },
        pool: PoolSettings {
            per_host: plan.host_cap.then_some(8),
            idle_expiry: scaled(30.0),
            lifetime: scaled(300.0),
            ..PoolSettings::for_workers(workers)
        },
        renew_after: visibility / 2,
        drain_within: visibility,
        seed: plan.seed,
        ..Settings::for_workers(workers)
    }
}
