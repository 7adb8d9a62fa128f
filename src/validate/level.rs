//! One level: a sandbox, a dispatcher, a generator, and what became of the messages.

use super::generator::{Generator, Lateness, Messages};
use super::plan::Plan;
use super::records::{Collector, Records};
use super::schedule;
use super::target::Target;
use super::watch::{End, Watcher};
use super::{Progress, ValidateError};
use crate::dispatch::clock::SystemClock;
use crate::dispatch::queue::{MemoryQueue, QueueSettings};
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
use tokio::time::Instant;

/// The retries of a validation run: short enough to be seen within it. Seconds of the plan.
const FIRST_RETRY_S: f64 = 1.0;
const LONGEST_RETRY_S: f64 = 30.0;
const MAX_ATTEMPTS: u32 = 6;
/// Standard Webhooks asks senders to wait 15 to 30 s for an answer.
pub(super) const READ_TIMEOUT_S: f64 = 30.0;
/// A timeout leaves room for all but this share of the latencies, and for a tenth more.
const BEYOND_TIMEOUT: f64 = 1e-7;
const ROOM: f64 = 1.1;
/// No timeout is shorter on the clock, however short the plan's time is made: these depend on the machine.
const SHORTEST_TIMEOUT: Duration = Duration::from_millis(250);
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
    pub(super) end: End,
}

impl LevelRun {
    /// From the last planned arrival until the queue was empty; `None` if it never was.
    pub(super) fn drained_after_s(&self) -> Option<f64> {
        if let End::Drained { after_s } = self.end { Some(after_s) } else { None }
    }

    /// How long messages arrived: less than planned if it was interrupted. In seconds of the plan.
    pub(super) fn ran_s(&self, plan: &Plan) -> f64 {
        match self.end {
            End::Interrupted { after_s } => (after_s / plan.time_scale).min(plan.duration_s),
            _ => plan.duration_s,
        }
    }

    /// What is measured, in seconds on the clock: from the warm-up, if it was over, to the end of the arrivals.
    pub(super) fn window_s(&self, plan: &Plan) -> [f64; 2] {
        let ran_s = self.ran_s(plan);
        let from_s = if plan.warm_up_s < ran_s { plan.warm_up_s } else { 0.0 };
        [from_s, ran_s].map(|time| time * plan.time_scale)
    }
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

/// Runs a level to its end: until every message is delivered or given up, or that is not worth waiting for.
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
    let messages = Messages::new(urls.len());
    let generator =
        Generator::start(Arc::clone(&queue), start, times, messages).map_err(ValidateError::Generator)?;

    let ending = Shutdown::new();
    let watching = async {
        let watcher = Watcher {
            plan,
            multiplier,
            queue: &queue,
            dispatcher: &dispatcher,
            messages,
            start,
            arrivals,
            last_s,
            shutdown,
            progress,
        };
        let end = watcher.until_over(&generator).await;
        let lateness = generator.finish();
        ending.drain();
        if matches!(end, End::Stuck { .. } | End::OutOfTime { .. }) {
            // It has been waited for long enough: what still hangs is dropped.
            ending.stop();
        }
        (end, lateness)
    };
    let running = async { tokio::join!(watching, dispatcher.run(&ending)) };
    // Whoever interrupts once lets what is leased finish; twice, and it is dropped.
    let second_interrupt = async {
        shutdown.stopped().await;
        ending.stop();
        pending::<Infallible>().await
    };
    let ((end, lateness), ()) = tokio::select! {
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
    Ok(LevelRun { multiplier, workers, arrivals, records, snapshot, sandbox, duplicated, lateness, end })
}

fn settings(plan: &Plan, workers: usize) -> Settings {
    let scaled = |seconds: f64| Duration::from_secs_f64(seconds * plan.time_scale);
    let usual = Timeouts::default();
    let scale = |time: Duration| scaled(time.as_secs_f64()).max(SHORTEST_TIMEOUT);
    let read_s = READ_TIMEOUT_S.max(ROOM * plan.seldom_exceeded_s(BEYOND_TIMEOUT));
    let read = scaled(read_s).max(SHORTEST_TIMEOUT);
    let visibility = read.mul_f64(1.5);
    Settings {
        governor: plan.governor,
        retry: RetryPolicy::doubling(scaled(FIRST_RETRY_S), scaled(LONGEST_RETRY_S)),
        timeouts: Timeouts {
            pool: scaled(usual.pool.as_secs_f64()),
            connect: scale(usual.connect),
            tls: scale(usual.tls),
            write: scale(usual.write),
            read,
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sandbox::{Bucket, LatencyLaw};
    use crate::validate::plan::tests::plan;

    #[test]
    fn no_timeout_is_shorter_than_what_the_plan_draws() {
        let read_s = |plan: &Plan| settings(plan, 10).timeouts.read.as_secs_f64();
        assert_eq!(read_s(&plan()), READ_TIMEOUT_S);
        let tail =
            [Bucket { low_s: 0.1, high_s: 0.1, count: 99 }, Bucket { low_s: 30.0, high_s: 40.0, count: 1 }];
        let law = LatencyLaw::histogram(&tail, 0.45).unwrap();
        let tailed = Plan { law, time_scale: 0.1, ..plan() };
        assert!((read_s(&tailed) - 4.4).abs() < 1e-9, "a tenth more than 40 s, on the clock");
        let slower = Plan { faults: vec!["slower=3".parse().unwrap()], ..tailed.clone() };
        assert!((read_s(&slower) - 13.2).abs() < 1e-9);
        let late = Plan { faults: vec!["slow-body=1m".parse().unwrap()], ..plan() };
        assert!(read_s(&late) > 60.0);
        let hasty = settings(&Plan { time_scale: 0.001, ..plan() }, 10);
        assert_eq!((hasty.timeouts.connect, hasty.timeouts.read), (SHORTEST_TIMEOUT, SHORTEST_TIMEOUT));
        assert!(hasty.drain_within > hasty.timeouts.read);
    }
}
