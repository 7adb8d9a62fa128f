//! `whsize sandbox`.

use super::load;
use super::output::Output;
use super::service::{Service, ServiceArgs};
use super::values::{Fields, seed};
use anyhow::{Result, bail};
use std::net::SocketAddr;
use std::time::Duration;
use whsize::report::{self, Report};
use whsize::sandbox::{Fault, LatencyLaw, MOST_ENDPOINTS, Sandbox, SandboxConfig, SandboxError};
use whsize::units::{Count, Ratio, Seconds};

/// Run endpoints with known latencies and faults, to be called by any sender
#[derive(clap::Args, Debug)]
#[command(
    after_help = "It runs until it is interrupted, or for --duration, and then reports what it has seen. Each endpoint has a \
                  port of its own; GET /endpoints on any of them lists all, and GET /metrics counts (Prometheus text).

Examples:
  whsize sandbox --mean 200ms --endpoints 5
  whsize sandbox --listen 127.0.0.1:9000 --profile attempts.csv --fault endpoint=3,hang
  whsize sandbox --mean 200ms --endpoints 8 --endpoint mean=3s,scv=4 --endpoint profile=slow.csv,count=2
  whsize sandbox --mean 50ms --fault above-concurrency=8,slower=2 --fault above-concurrency=16,status=429,retry-after=1s
  whsize sandbox --mean 50ms --tls --duration 1m --format json"
)]
pub(crate) struct Args {
    /// Address of the first endpoint; the others take the ports after it, and port 0 takes free ones
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:0", help_heading = "Endpoints")]
    listen: SocketAddr,
    /// How many endpoints have the latency of --mean or --profile [default: 1]
    #[arg(long, value_name = "N", value_parser = Count::parse_positive, help_heading = "Endpoints")]
    endpoints: Option<Count>,
    /// An endpoint with a latency of its own, after those: mean=D with scv=X, or profile=FILE; count=N for several
    #[arg(long, value_name = "ENDPOINT", value_parser = own_latency, help_heading = "Endpoints")]
    endpoint: Vec<OwnLatency>,
    /// Speak TLS, with a certificate made for the occasion
    #[arg(long, help_heading = "Endpoints")]
    tls: bool,
    #[command(flatten, next_help_heading = "Endpoints")]
    service: ServiceArgs,
    /// What goes wrong: an effect (status=CODE, slower=X, slow-body=D, reset, lose-response, hang, close-idle=D,
    /// keep-alive=D) and its conditions (endpoint=N, share=P, above-concurrency=N, from=D, until=D); with a status,
    /// retry-after=D, which HTTP says in whole seconds: a part of one is rounded up
    #[arg(long, value_name = "FAULT", help_heading = "Endpoints")]
    fault: Vec<Fault>,

    /// Stop by itself after this time
    #[arg(long, value_name = "D", value_parser = Seconds::parse_positive, help_heading = "Run")]
    duration: Option<Seconds>,
    /// Seed of latencies and faults
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = seed, help_heading = "Run")]
    seed: u64,
}

/// Endpoints that differ from the others: where their latency is from, and how many they are.
#[derive(Clone, Debug)]
struct OwnLatency {
    source: LatencySource,
    count: u64,
}

#[derive(Clone, Debug)]
enum LatencySource {
    Mean(Seconds, Option<Ratio>),
    Profile(String),
}

/// Reads `mean=3s,scv=4` or `profile=slow.csv,count=2`.
fn own_latency(typed: &str) -> Result<OwnLatency, String> {
    const SHAPE: &str =
        "an endpoint is written mean=3s,scv=4 or profile=slow.csv, and count=2 makes two of it";
    let mut fields = Fields::read(typed, SHAPE)?;
    let mean = fields.parsed("mean", Seconds::parse_positive)?;
    let scv = fields.parsed("scv", str::parse::<Ratio>)?;
    let profile = fields.take("profile");
    let count = fields.parsed("count", Count::parse_positive)?;
    fields.finish(&["mean", "scv", "profile", "count"])?;
    let source = match (mean, scv, profile) {
        (Some(mean), scv, None) => LatencySource::Mean(mean, scv),
        (None, None, Some(file)) => LatencySource::Profile(file),
        _ => {
            return Err(format!(
                "\"{typed}\": it needs either a mean or a profile, and scv goes with mean; {SHAPE}"
            ));
        }
    };
    Ok(OwnLatency { source, count: count.map_or(1, Count::get) })
}

impl LatencySource {
    fn read(&self) -> Result<Service> {
        match self {
            LatencySource::Mean(mean, scv) => Ok(Service::from_mean(mean.clone(), scv.as_ref())),
            LatencySource::Profile(file) => Service::from_profile(file),
        }
    }
}

impl Args {
    /// The latencies in the order of the endpoints: first those that are alike, then those with one of their own.
    fn latencies(&self) -> Result<Vec<(Service, u64)>> {
        let common = self.service.read()?;
        let count = self.endpoints.map(Count::get);
        let mut latencies = match (common, count) {
            (Some(service), count) => vec![(service, count.unwrap_or(1))],
            (None, Some(_)) => bail!(
                "there is no latency for --endpoints, which counts those of --mean or --profile; give one of these"
            ),
            (None, None) if self.endpoint.is_empty() => bail!(
                "there is no latency; give --mean, such as --mean 200ms, or measured times with --profile FILE"
            ),
            (None, None) => Vec::new(),
        };
        for own in &self.endpoint {
            latencies.push((own.source.read()?, own.count));
        }
        Ok(latencies)
    }

    pub(crate) fn run(&self, output: &Output) -> Result<Report> {
        output.check("sandbox")?;
        let latencies = self.latencies()?;
        let wanted = latencies.iter().fold(0_u64, |sum, (_, count)| sum.saturating_add(*count));
        if wanted > MOST_ENDPOINTS as u64 {
            return Err(SandboxError::Endpoints(wanted).into());
        }
        let mut endpoints = Vec::new();
        for (service, count) in &latencies {
            let count = usize::try_from(*count).unwrap_or(usize::MAX);
            endpoints.extend(std::iter::repeat_n(load::latency_law(service)?, count));
        }
        let latency_mean_s = endpoints.iter().map(LatencyLaw::mean_s).sum::<f64>() / endpoints.len() as f64;
        let config = SandboxConfig { endpoints, faults: self.fault.clone(), tls: self.tls, seed: self.seed };
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
        report.notes.extend(latencies.iter().flat_map(|(service, _)| service.notes()));
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
