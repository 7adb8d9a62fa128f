//! `whsize validate`.

use super::load;
use super::output::Output;
use super::save;
use super::service::{Service, ServiceArgs};
use super::values::seed;
use anyhow::{Result, bail};
use clap::ValueEnum;
use std::io::{self, IsTerminal, Write};
use std::path::PathBuf;
use std::sync::Mutex;
use std::time::{Duration, Instant};
use whsize::dispatch::Shutdown;
use whsize::dispatch::governor::GovernorPolicy;
use whsize::ingest::{self, IngestNotice};
use whsize::notice::Note;
use whsize::report::{self, Report};
use whsize::sandbox::Fault;
use whsize::units::{ArrivalRate, Count, Ratio, Seconds, human};
use whsize::validate::{Arrivals, Plan, Progress, validate};

/// The part of each level that is left out at its start, where no warm-up is given.
const WARM_UP_SHARE: f64 = 0.1;

/// What does a real dispatcher do over real HTTP, and does it agree with the prediction?
#[derive(clap::Args, Debug)]
#[command(
    after_help = "It runs a dispatcher and a sandbox on this machine. The exit code is 1 if a level does not agree with its \
                  prediction, or could not be judged.

Examples:
  whsize validate --rate 100 --mean 50ms --workers 8 --duration 20s
  whsize validate --rate 900 --mean 1.4 --workers 1263 --shrink 20 --time-scale 0.1 --duration 10m
  whsize validate --rate 100 --mean 50ms --workers 8 --levels 1,2,4 --scale-pool --max-age 1s
  whsize validate --rate 100 --mean 50ms --workers 20 --fault endpoint=1,hang --governor paced --host-cap"
)]
pub(crate) struct Args {
    /// Messages a second at level 1; without it, that of the profile's busiest minute
    #[arg(long, value_name = "R", value_parser = ArrivalRate::parse_positive, help_heading = "Plan")]
    rate: Option<ArrivalRate>,
    #[command(flatten, next_help_heading = "Plan")]
    service: ServiceArgs,
    /// Workers at level 1
    #[arg(long, value_name = "N", value_parser = Count::parse_positive, help_heading = "Plan")]
    workers: Count,
    /// Multiples of the rate, each run in turn
    #[arg(long, value_name = "X", value_delimiter = ',', default_value = "1,2,4", help_heading = "Plan")]
    levels: Vec<Ratio>,
    /// Let the workers grow with the rate
    #[arg(long, help_heading = "Plan")]
    scale_pool: bool,
    /// The oldest age that may be reached where the pool is large enough
    #[arg(long, value_name = "D", value_parser = Seconds::parse_positive, help_heading = "Plan")]
    max_age: Option<Seconds>,
    /// How messages arrive: poisson, or trace:FILE (one arrival time a line)
    #[arg(long, value_name = "KIND", default_value = "poisson", value_parser = arrival_kind, help_heading = "Plan")]
    arrivals: ArrivalKind,

    /// How long messages arrive at each level
    #[arg(long, value_name = "D", default_value = "30s", value_parser = Seconds::parse_positive, help_heading = "Run")]
    duration: Seconds,
    /// What is left out at the start of each level [default: a tenth of the duration]
    #[arg(long, value_name = "D", help_heading = "Run")]
    warm_up: Option<Seconds>,
    /// Seconds on the clock for a second of the plan: all durations shrink with it
    #[arg(long, value_name = "X", default_value = "1", help_heading = "Run")]
    time_scale: Ratio,
    /// Divide rate and workers by this, and predict for the smaller pool
    #[arg(long, value_name = "X", default_value = "1", help_heading = "Run")]
    shrink: Ratio,
    /// Seed of arrivals, latencies, faults and simulations
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = seed, help_heading = "Run")]
    seed: u64,
    /// Write the measured service times as a profile, for --profile of other commands, if the machine kept up
    #[arg(long, value_name = "FILE", value_parser = save::file, help_heading = "Run")]
    save: Option<PathBuf>,

    /// How many endpoints, to which messages go in turn
    #[arg(long, value_name = "N", default_value = "10", value_parser = Count::parse_positive,
          help_heading = "Endpoints")]
    endpoints: Count,
    /// What goes wrong, as for sandbox, such as endpoint=3,hang or above-concurrency=8,status=429,retry-after=1s (HTTP
    /// has whole seconds on the clock)
    #[arg(long, value_name = "FAULT", help_heading = "Endpoints")]
    fault: Vec<Fault>,
    /// How the limit of attempts at each endpoint moves
    #[arg(long, value_name = "POLICY", value_enum, default_value_t = Governor::Off, help_heading = "Endpoints")]
    governor: Governor,
    /// At most 8 attempts at an endpoint at a time
    #[arg(long, help_heading = "Endpoints")]
    host_cap: bool,
    /// Speak TLS
    #[arg(long, help_heading = "Endpoints")]
    tls: bool,
    /// A sandbox elsewhere: the address of its first endpoint
    #[arg(long, value_name = "URL", conflicts_with_all = ["fault", "tls"], help_heading = "Endpoints")]
    target: Option<String>,
}

#[derive(ValueEnum, Clone, Copy, Debug)]
enum Governor {
    Additive,
    Paced,
    Off,
}

#[derive(Clone, Debug)]
enum ArrivalKind {
    Poisson,
    Trace(String),
}

fn arrival_kind(typed: &str) -> Result<ArrivalKind, String> {
    match typed.split_once(':') {
        None if typed == "poisson" => Ok(ArrivalKind::Poisson),
        Some(("trace", file)) if !file.is_empty() => Ok(ArrivalKind::Trace(file.to_owned())),
        _ => Err(format!("\"{typed}\": arrivals are poisson or trace:FILE")),
    }
}

impl Args {
    pub(crate) fn run(&self, output: &Output) -> Result<Report> {
        output.check("validate")?;
        let Some(service) = self.service.read()? else {
            bail!(
                "there is no service time; give --mean, such as --mean 50ms, or measured ones with --profile FILE"
            );
        };
        let plan = self.plan(&service)?;
        let inputs = self.input_files();
        if let Some(file) = &self.save {
            save::check(file, &inputs)?;
        }
        let shutdown = Shutdown::new();
        let line = ProgressLine::new(output);
        let validated = load::runtime()?.block_on(async {
            let show = |progress| line.show(&progress);
            let running = validate(&plan, &shutdown, &show);
            tokio::select! {
                validated = running => validated.map_err(anyhow::Error::from),
                signalled = load::each_signal(|| shutdown.drain()) => Err(signalled.err().unwrap_or_else(|| {
                    anyhow::anyhow!("interrupted")
                })),
            }
        });
        line.clear();
        let validated = validated?;
        let mut notes = validated.notes;
        if let Some(file) = &self.save {
            if let Some(profile) = &validated.profile {
                let (text, given_up) = ingest::to_json(profile)?;
                save::write(file, &text, &inputs)?;
                notes.extend(given_up.into_iter().map(|notice| IngestNotice::Saved(notice).note()));
            } else {
                notes.push(Note::warning(
                    "not-saved",
                    format!(
                        "{} was not written: no level has service times of the endpoints alone",
                        file.display()
                    ),
                ));
            }
        }
        let mut report = report::validate::report(&self.inputs(&plan), &validated.validation, notes)?;
        report.notes.extend(service.notes());
        Ok(report)
    }

    /// The files that were read.
    fn input_files(&self) -> Vec<String> {
        let trace = match &self.arrivals {
            ArrivalKind::Trace(file) => Some(file.clone()),
            ArrivalKind::Poisson => None,
        };
        self.service.file().map(str::to_owned).into_iter().chain(trace).collect()
    }

    fn plan(&self, service: &Service) -> Result<Plan> {
        let arrivals = match &self.arrivals {
            ArrivalKind::Poisson => Arrivals::Poisson,
            ArrivalKind::Trace(file) if self.rate.is_some() => {
                bail!("the trace {file} has its own rate; leave out --rate")
            }
            ArrivalKind::Trace(file) => Arrivals::Trace(ingest::read_trace(file)?.into()),
        };
        let rate_per_s = match &arrivals {
            Arrivals::Trace(times) => match times.last() {
                Some(last_s) if *last_s > 0.0 => times.len() as f64 / last_s,
                // Two arrivals at one moment have no rate; the plan refuses such a trace.
                _ => 0.0,
            },
            Arrivals::Poisson => match self.rate.clone().or_else(|| service.busiest_rate()) {
                Some(rate) => rate.get(),
                None => bail!("there is no rate; give --rate, such as --rate 100, or --arrivals trace:FILE"),
            },
        };
        let duration_s = self.duration.get();
        Ok(Plan {
            rate_per_s,
            law: load::latency_law(service)?,
            service: service.time.clone(),
            workers: self.workers.get(),
            levels: self.levels.iter().map(Ratio::get).collect(),
            scale_pool: self.scale_pool,
            max_age_s: self.max_age.as_ref().map(Seconds::get),
            duration_s,
            warm_up_s: self.warm_up.as_ref().map_or(WARM_UP_SHARE * duration_s, Seconds::get),
            time_scale: self.time_scale.get(),
            shrink: self.shrink.get(),
            arrivals,
            endpoints: usize::try_from(self.endpoints.get()).unwrap_or(usize::MAX),
            faults: self.fault.clone(),
            governor: match self.governor {
                Governor::Additive => GovernorPolicy::Additive,
                Governor::Paced => GovernorPolicy::Paced,
                Governor::Off => GovernorPolicy::Off,
            },
            host_cap: self.host_cap,
            tls: self.tls,
            target: self.target.clone(),
            seed: self.seed,
        })
    }

    fn inputs(&self, plan: &Plan) -> report::validate::Inputs {
        report::validate::Inputs {
            rate_per_s: plan.rate_per_s,
            latency_mean_s: plan.law.mean_s(),
            workers: plan.workers,
            scale_pool: plan.scale_pool,
            duration_s: plan.duration_s,
            warm_up_s: plan.warm_up_s,
            time_scale: plan.time_scale,
            shrink: plan.shrink,
            endpoints: plan.endpoints,
            faults: plan.faults.len(),
            governor: match self.governor {
                Governor::Additive => "additive",
                Governor::Paced => "paced",
                Governor::Off => "off",
            },
            host_cap: plan.host_cap,
            tls: plan.tls,
            seed: plan.seed,
        }
    }
}

/// One line on a terminal that is overwritten; nothing anywhere else.
struct ProgressLine {
    shown: Option<Mutex<Instant>>,
}

/// How often the line changes.
const SHOW_EVERY: Duration = Duration::from_millis(200);

impl ProgressLine {
    fn new(output: &Output) -> Self {
        let shown = io::stderr().is_terminal() && !output.is_quiet();
        ProgressLine { shown: shown.then(|| Mutex::new(Instant::now() - SHOW_EVERY)) }
    }

    fn show(&self, progress: &Progress) {
        let Some(last) = &self.shown else { return };
        let Ok(mut last) = last.lock() else { return };
        if last.elapsed() < SHOW_EVERY {
            return;
        }
        *last = Instant::now();
        let text = match progress.multiplier {
            None => "measuring this machine".to_owned(),
            Some(multiplier) => format!(
                "{}x: {}, {} delivered, {} queued, oldest {}",
                human::significant(multiplier, 3),
                human::percent(progress.share),
                human::count(progress.delivered),
                human::count(progress.queued),
                human::duration(progress.oldest_age_s)
            ),
        };
        // A closed standard error is no reason to fail.
        let _ = write!(io::stderr().lock(), "\r\x1b[2K{text}");
    }

    fn clear(&self) {
        if self.shown.is_some() {
            let _ = write!(io::stderr().lock(), "\r\x1b[2K");
        }
    }
}
