//! `whsize sandbox`.

use super::load;
use super::output::Output;
use super::service::{Service, ServiceArgs};
use anyhow::{Result, bail};
use std::net::SocketAddr;
use std::time::Duration;
use whsize::report::{self, Report};
use whsize::sandbox::{Fault, Sandbox, SandboxConfig};
use whsize::units::{Count, Seconds};

/// Run endpoints with known latencies and faults, to be called by any sender
#[derive(clap::Args, Debug)]
#[command(
    after_help = "It runs until it is interrupted, or for --duration, and then reports what it has seen. Each endpoint has a \
                  port of its own; GET /endpoints on any of them lists all, and GET /metrics counts (Prometheus text).

Examples:
  whsize sandbox --mean 200ms --endpoints 5
  whsize sandbox --listen 127.0.0.1:9000 --profile attempts.csv --fault endpoint=3,hang
  whsize sandbox --mean 50ms --fault above-concurrency=8,slower=2 --fault above-concurrency=16,status=429,retry-after=1s
  whsize sandbox --mean 50ms --tls --duration 1m --format json"
)]
pub(crate) struct Args {
    /// Address of the first endpoint; the others take the ports after it, and port 0 takes free ones
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:0", help_heading = "Endpoints")]
    listen: SocketAddr,
    /// How many endpoints
    #[arg(long, value_name = "N", default_value = "1", value_parser = Count::parse_positive, help_heading = "Endpoints")]
    endpoints: Count,
    /// Speak TLS, with a certificate made for the occasion
    #[arg(long, help_heading = "Endpoints")]
    tls: bool,
    #[command(flatten, next_help_heading = "Endpoints")]
    service: ServiceArgs,
    /// What goes wrong: an effect (status=CODE, slower=X, slow-body=D, reset, lose-response, hang, close-idle=D,
    /// keep-alive=D) and its conditions (endpoint=N, share=P, above-concurrency=N, from=D, until=D, retry-after=D)
    #[arg(long, value_name = "FAULT", help_heading = "Endpoints")]
    fault: Vec<Fault>,

    /// Stop by itself after this time
    #[arg(long, value_name = "D", value_parser = Seconds::parse_positive, help_heading = "Run")]
    duration: Option<Seconds>,
    /// Seed of latencies and faults
    #[arg(long, value_name = "N", default_value_t = 1, help_heading = "Run")]
    seed: u64,
}

impl Args {
    pub(crate) fn run(&self, output: &Output) -> Result<Report> {
        let Some(service) = self.service.read()? else {
            bail!(
                "there is no latency; give --mean, such as --mean 200ms, or measured times with --profile FILE"
            );
        };
        let law = load::latency_law(&service)?;
        let endpoints = usize::try_from(self.endpoints.get()).unwrap_or(usize::MAX);
        let latency_mean_s = law.mean_s();
        let config = SandboxConfig {
            endpoints: vec![law; endpoints.min(whsize::sandbox::MOST_ENDPOINTS + 1)],
            faults: self.fault.clone(),
            tls: self.tls,
            seed: self.seed,
        };
        let counts = load::runtime()?.block_on(async {
            let sandbox = Sandbox::start(&config, self.listen)?;
            for (index, url) in sandbox.urls().iter().enumerate() {
                output.remark(&format!("endpoint {} listens on {url}", index + 1));
            }
            self.until_the_end().await?;
            let counts = sandbox.counts();
            sandbox.stop().await;
            anyhow::Ok(counts)
        })?;
        let inputs = report::sandbox::Inputs {
            endpoints: counts.len(),
            latency_mean_s,
            faults: self.fault.len(),
            tls: self.tls,
            seed: self.seed,
        };
        let mut report = report::sandbox::report(&inputs, counts)?;
        report.notes.extend(Service::notes(&service));
        Ok(report)
    }

    async fn until_the_end(&self) -> Result<()> {
        let longest = self.duration.as_ref().map(|duration| Duration::from_secs_f64(duration.get()));
        match longest {
            None => load::signal().await,
            Some(longest) => tokio::time::timeout(longest, load::signal()).await.unwrap_or(Ok(())),
        }
    }
}
