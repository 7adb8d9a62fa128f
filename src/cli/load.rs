//! What the commands that move real bytes share: a runtime, descriptors, signals, latencies.

use super::service::Service;
use anyhow::{Context, Result};
use tokio::runtime::Runtime;
use whsize::sandbox::{Bucket, LatencyLaw};

/// Descriptors that are asked for: a thousand connections have two ends in one process.
const DESCRIPTORS: u64 = 65_536;

/// A runtime on all cores, with as many descriptors as the system gives.
pub(crate) fn runtime() -> Result<Runtime> {
    // What the system refuses shows when a connection fails.
    let _ = rlimit::increase_nofile_limit(DESCRIPTORS);
    tokio::runtime::Builder::new_multi_thread().enable_all().build().context("starting the runtime")
}

/// Calls `asked` for each interrupt or request to terminate.
pub(crate) async fn each_signal(mut asked: impl FnMut()) -> Result<()> {
    loop {
        signal().await?;
        asked();
    }
}

/// Waits for an interrupt or a request to terminate.
pub(crate) async fn signal() -> Result<()> {
    let interrupt = tokio::signal::ctrl_c();
    tokio::select! {
        interrupted = interrupt => interrupted.context("waiting for an interrupt"),
        terminated = terminate() => terminated.context("waiting for a request to terminate"),
    }
}

#[cfg(unix)]
async fn terminate() -> std::io::Result<()> {
    use tokio::signal::unix::{SignalKind, signal};
    signal(SignalKind::terminate())?.recv().await;
    Ok(())
}

#[cfg(not(unix))]
async fn terminate() -> std::io::Result<()> {
    std::future::pending().await
}

/// The latencies that a sandbox draws for this service time: as measured, or exponential, constant or lognormal by the
/// squared coefficient of variation.
pub(crate) fn latency_law(service: &Service) -> Result<LatencyLaw> {
    let time = &service.time;
    let mean_s = time.mean.get();
    if let Some(profile) = service.profile() {
        return Ok(LatencyLaw::histogram(&buckets(profile), mean_s)?);
    }
    Ok(if time.scv == 1.0 {
        LatencyLaw::exponential(mean_s)?
    } else if time.scv == 0.0 {
        LatencyLaw::constant(mean_s)?
    } else {
        LatencyLaw::lognormal(mean_s, time.scv)?
    })
}

fn buckets(profile: &whsize::profile::ServiceProfile) -> Vec<Bucket> {
    let seconds = |ns: u64| ns as f64 / 1e9;
    let each = profile.buckets();
    each.map(|b| Bucket { low_s: seconds(b.low_ns), high_s: seconds(b.high_ns), count: b.count }).collect()
}
