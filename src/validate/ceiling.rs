//! What this machine can do at all, before anything is judged on it.

use super::ValidateError;
use super::generator::Messages;
use super::plan::Plan;
use crate::dispatch::clock::SystemClock;
use crate::dispatch::governor::GovernorPolicy;
use crate::dispatch::queue::{MemoryQueue, QueueSettings};
use crate::dispatch::recorder::{AttemptRecord, Observer};
use crate::dispatch::{Dispatcher, EndpointConfig, PoolSettings, Settings, Shutdown, trusting};
use crate::sandbox::{LatencyLaw, Sandbox, SandboxConfig};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Duration;
use tokio::time::{Instant, sleep};

const WORKERS: usize = 32;
const WARM_UP: Duration = Duration::from_millis(100);
const MEASURED: Duration = Duration::from_millis(300);

/// Enqueues a message for each that is finished.
#[derive(Debug)]
struct Feeder {
    queue: Arc<MemoryQueue>,
    messages: Messages,
    fed: AtomicU64,
}

impl Feeder {
    fn feed(&self) {
        let index = self.fed.fetch_add(1, Relaxed) as usize;
        self.queue.enqueue_at(self.messages.at(index), Instant::now());
    }
}

impl Observer for Feeder {
    fn attempt_finished(&self, _: &AttemptRecord<'_>) {
        self.feed();
    }
}

/// Deliveries a second on the clock of the dispatcher and a sandbox without latency, both on this machine.
pub(super) async fn measure(plan: &Plan) -> Result<f64, ValidateError> {
    let law = LatencyLaw::constant(0.0).map_err(super::PlanError::from)?;
    let config = SandboxConfig { endpoints: vec![law], faults: Vec::new(), tls: plan.tls, seed: plan.seed };
    let sandbox = Sandbox::start(&config, ([127, 0, 0, 1], 0).into())?;
    let queue = Arc::new(MemoryQueue::new(QueueSettings::default()));
    let feeder =
        Arc::new(Feeder { queue: Arc::clone(&queue), messages: Messages::new(1), fed: AtomicU64::new(0) });
    let mut settings = Settings {
        governor: GovernorPolicy::Off,
        pool: PoolSettings { per_host: None, ..PoolSettings::for_workers(WORKERS) },
        observer: Some(Arc::clone(&feeder) as Arc<dyn Observer>),
        ..Settings::for_workers(WORKERS)
    };
    if let Some(certificate) = sandbox.certificate() {
        settings.pool.tls = Some(trusting(std::slice::from_ref(certificate))?);
    }
    let endpoints: Vec<EndpointConfig> = sandbox.urls().into_iter().map(EndpointConfig::new).collect();
    let dispatcher = Dispatcher::new(settings, &endpoints, queue, Arc::new(SystemClock))?;
    (0..WORKERS).for_each(|_| feeder.feed());
    let shutdown = Shutdown::new();
    let measuring = async {
        sleep(WARM_UP).await;
        let (start, before) = (Instant::now(), feeder.fed.load(Relaxed));
        sleep(MEASURED).await;
        let rate = (feeder.fed.load(Relaxed) - before) as f64 / start.elapsed().as_secs_f64();
        shutdown.drain();
        rate
    };
    let (rate, ()) = tokio::join!(measuring, dispatcher.run(&shutdown));
    sandbox.stop().await;
    Ok(rate)
}
