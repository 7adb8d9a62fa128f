//! `whsize simulate`.

pub(super) mod scenario;

use super::output::Output;
use super::service::{Service, ServiceArgs};
use super::values::{max_attempts, seed};
use anyhow::{Result, bail};
use clap::ValueEnum;
use std::num::NonZeroUsize;
use std::time::Instant;
use whsize::report::simulate::{Compared, Inputs, Predicted};
use whsize::report::{self, Report};
use whsize::simulate::{self, Horizon, Law, Run, Scenario, WarmUp};
use whsize::sizing::{ArrivalProcess, Demand, MOST_PLACES, Question, QueueBounds, ServiceTime};
use whsize::units::{ArrivalRate, Count, Seconds, Share, human};

/// The length of a replication, where none is given: so many relaxation times, and arrivals within these bounds.
const RELAXATIONS: f64 = 40.0;
const FEWEST_ARRIVALS: f64 = 20_000.0;
const MOST_ARRIVALS: f64 = 2_000_000.0;

/// What does the queue do, in virtual time, with these service times?
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:
  whsize simulate --workers 10 --rate 8 --mean 1
  whsize simulate --workers 1280 --rate 900 --profile attempts.csv
  whsize simulate --workers 120 --rate 500 --mean 200ms --arrivals batch:50
  whsize simulate --workers 10 --rate 8 --mean 1 --patience 5s --queue-limit 100
  whsize simulate --workers 110 --rate 500 --mean 200ms --priority-share 10% --block 20k@60s --duration 10m")]
pub(crate) struct Args {
    /// Workers of the pool
    #[arg(long, value_name = "N", value_parser = Count::parse_positive, help_heading = "Queue")]
    workers: Count,
    /// Events a second, retries not counted; without it, that of the profile's busiest minute
    #[arg(long, value_name = "R", value_parser = ArrivalRate::parse_positive, help_heading = "Queue")]
    rate: Option<ArrivalRate>,
    /// How events arrive: poisson, batch:N (N at once), trace:FILE (one arrival time a line)
    #[arg(long, value_name = "KIND", default_value = "poisson", value_parser = arrival_kind, help_heading = "Queue")]
    arrivals: ArrivalKind,
    #[command(flatten, next_help_heading = "Queue")]
    service: ServiceArgs,
    /// Law of the service time: empirical with a profile, else exponential, or lognormal with --scv
    #[arg(long = "service", value_name = "LAW", value_enum, help_heading = "Queue")]
    law: Option<LawKind>,
    /// Share of the events that are urgent and go first
    #[arg(long, value_name = "P", value_parser = Share::parse_inside, help_heading = "Queue")]
    priority_share: Option<Share>,
    /// Events that arrive at once, such as 20k@60s; they are not urgent
    #[arg(long, value_name = "N@D", value_parser = block, help_heading = "Queue")]
    block: Vec<(u32, Seconds)>,
    /// Mean time after which an event that waits leaves (exponential)
    #[arg(long, value_name = "D", value_parser = Seconds::parse_positive, help_heading = "Queue")]
    patience: Option<Seconds>,
    /// Events that can wait; one that finds the queue full is lost
    #[arg(long, value_name = "N", help_heading = "Queue")]
    queue_limit: Option<Count>,
    /// Share of attempts that fail and are tried again
    #[arg(long, value_name = "F", requires = "max_attempts", help_heading = "Queue")]
    failure_share: Option<Share>,
    /// The most attempts of one event, the first included
    #[arg(long, value_name = "N", requires = "failure_share", help_heading = "Queue",
          value_parser = max_attempts)]
    max_attempts: Option<u32>,
    /// Delay before the second attempt, the third, and so on; the last holds for all later ones
    #[arg(long, value_name = "D", value_delimiter = ',', requires = "failure_share", help_heading = "Queue")]
    retry_delay: Vec<Seconds>,

    /// Length of each replication in virtual time
    #[arg(long, value_name = "D", value_parser = Seconds::parse_positive, conflicts_with = "arrivals_count",
          help_heading = "Run")]
    duration: Option<Seconds>,
    /// Length of each replication in arrivals
    #[arg(long, value_name = "N", value_parser = Count::parse_positive, help_heading = "Run")]
    arrivals_count: Option<Count>,
    /// Independent replications, from whose spread the intervals come
    #[arg(long, value_name = "N", default_value_t = 20, help_heading = "Run")]
    replications: u32,
    /// What is left out at the start of each: a time, or auto (nothing for a trace or a block)
    #[arg(long, value_name = "D", default_value = "auto", value_parser = warm_up, help_heading = "Run")]
    warm_up: WarmUpTime,
    /// How sure the intervals are
    #[arg(long, value_name = "P", default_value = "95%", value_parser = Share::parse_inside, help_heading = "Run")]
    confidence: Share,
    /// Seed of all random numbers; the same seed gives the same bytes
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = seed, help_heading = "Run")]
    seed: u64,
    /// Threads to use; the result does not depend on them
    #[arg(long, value_name = "N", help_heading = "Run")]
    threads: Option<NonZeroUsize>,
}

#[derive(ValueEnum, Clone, Copy, Debug, PartialEq, Eq)]
enum LawKind {
    Exponential,
    Constant,
    Lognormal,
    Hyperexponential,
    Empirical,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum ArrivalKind {
    Poisson,
    Batch(u32),
    Trace(String),
}

fn arrival_kind(typed: &str) -> Result<ArrivalKind, String> {
    match typed.split_once(':') {
        None if typed == "poisson" => Ok(ArrivalKind::Poisson),
        Some(("batch", size)) => match size.parse() {
            Ok(size @ 1..) => Ok(ArrivalKind::Batch(size)),
            _ => Err(format!("\"{typed}\": the size of a batch is a whole number from 1 on")),
        },
        Some(("trace", file)) if !file.is_empty() => Ok(ArrivalKind::Trace(file.to_owned())),
        _ => Err(format!("\"{typed}\": arrivals are poisson, batch:N or trace:FILE")),
    }
}

fn block(typed: &str) -> Result<(u32, Seconds), String> {
    let (events, at) = typed
        .split_once('@')
        .ok_or_else(|| format!("\"{typed}\": there is no \"@\"; a block and its time are written 20k@60s"))?;
    let events = Count::parse_positive(events).map_err(|error| error.to_string())?;
    let events = u32::try_from(events.get()).map_err(|_| format!("\"{typed}\": the block is too large"))?;
    Ok((events, at.parse().map_err(|error: whsize::units::ParseError| error.to_string())?))
}

/// What is left out at the start.
#[derive(Clone, Debug)]
enum WarmUpTime {
    Automatic,
    Time(Seconds),
}

fn warm_up(typed: &str) -> Result<WarmUpTime, String> {
    if typed == "auto" {
        return Ok(WarmUpTime::Automatic);
    }
    typed
        .parse()
        .map(WarmUpTime::Time)
        .map_err(|error: whsize::units::ParseError| format!("{error}; or auto"))
}

impl Args {
    pub(crate) fn run(&self, output: &Output) -> Result<Report> {
        let Some(service) = self.service.read()? else {
            bail!(
                "there is no service time; give --mean, such as --mean 1.4, or measured ones with --profile FILE"
            );
        };
        let law = scenario::law(self.law, &service.time, service.profile())?;
        let arrivals = scenario::arrivals(self, &service)?;
        let scenario = scenario::scenario(self, &arrivals, &law)?;
        let rate_per_s = arrivals.mean_rate_per_s();
        let predicted = self.predicted(&scenario, &service, &law, rate_per_s)?;
        let run = self.run_of(
            &scenario,
            rate_per_s,
            predicted.as_ref().and_then(|(_, relaxation_s)| *relaxation_s),
        );

        let start = Instant::now();
        let simulated = simulate::simulate(&scenario, &run)?;
        let seconds = start.elapsed().as_secs_f64();
        output.remark(&format!(
            "{} arrivals in {}, {}",
            human::count(simulated.arrivals),
            human::duration(seconds),
            human::rate(simulated.arrivals as f64 / seconds.max(1e-9))
        ));
        let inputs = Inputs {
            workers: self.workers.get(),
            rate_per_s,
            service_mean_s: law.mean_s(),
            service_scv: law.scv(),
            service: scenario::law_name(self.law, &service.time).to_owned(),
            arrivals: self.arrivals.to_string(),
            seed: self.seed,
        };
        let compared = Compared { simulated, predicted: predicted.map(|(predicted, _)| predicted) };
        let mut report = report::simulate::report(&inputs, &compared)?;
        report.notes.extend(service.notes());
        Ok(report)
    }

    /// What the formula says, with the relaxation time, for a scenario that it covers.
    fn predicted(
        &self,
        scenario: &Scenario,
        service: &Service,
        law: &Law,
        rate_per_s: f64,
    ) -> Result<Option<(Predicted, Option<f64>)>> {
        let bounds =
            QueueBounds { patience: self.patience.clone(), queue_limit: self.queue_limit.map(Count::get) };
        let unbounded = Scenario { patience: None, queue_limit: None, ..scenario.clone() };
        if !unbounded.is_plain() || self.arrivals != ArrivalKind::Poisson {
            return Ok(None);
        }
        let time = match self.law {
            None | Some(LawKind::Empirical) => service.time.clone(),
            Some(_) => ServiceTime::with_scv(service.time.mean.clone(), law.scv()),
        };
        // The formulas of a bounded queue know no other law, and no queue so long.
        let too_long = bounds.queue_limit.is_some_and(|most| most > MOST_PLACES);
        if bounds.is_any() && (time.scv != 1.0 || service.profile().is_some() || too_long) {
            return Ok(None);
        }
        let Some(rate) = ArrivalRate::from_f64(rate_per_s) else { return Ok(None) };
        let question = Question {
            demand: Demand::new(rate, time, ArrivalProcess::Poisson)?.bounded(bounds)?,
            objectives: Vec::new(),
            workers: Some(self.workers.get()),
            scenarios: Vec::new(),
            sample: None,
        };
        let steady = question.answer().sizing.steady;
        let state = steady.state;
        let predicted = Predicted {
            wait_mean_s: state.wait_mean_s,
            wait_probability: state.wait_probability,
            model: steady.model,
        };
        Ok(Some((predicted, state.relaxation_time_s)))
    }

    fn run_of(&self, scenario: &Scenario, rate_per_s: f64, relaxation_s: Option<f64>) -> Run {
        let horizon = match (&self.duration, self.arrivals_count, &self.arrivals) {
            (Some(duration), _, _) => Horizon::Seconds(duration.get()),
            (None, Some(count), _) => Horizon::Arrivals(count.get()),
            // A trace is run to its end.
            (None, None, ArrivalKind::Trace(_)) => Horizon::Arrivals(u64::MAX),
            (None, None, _) => {
                let arrivals = RELAXATIONS * relaxation_s.unwrap_or(0.0) * rate_per_s;
                Horizon::Arrivals(arrivals.clamp(FEWEST_ARRIVALS, MOST_ARRIVALS) as u64)
            }
        };
        let transient = matches!(self.arrivals, ArrivalKind::Trace(_)) || !scenario.blocks.is_empty();
        let warm_up = match &self.warm_up {
            WarmUpTime::Time(time) => WarmUp::Seconds(time.get()),
            WarmUpTime::Automatic if transient => WarmUp::Nothing,
            WarmUpTime::Automatic => WarmUp::Automatic,
        };
        let threads = self.threads.or_else(|| std::thread::available_parallelism().ok());
        Run {
            replications: self.replications,
            warm_up,
            confidence: self.confidence.get(),
            seed: self.seed,
            threads: threads.unwrap_or(NonZeroUsize::MIN),
            ..Run::new(horizon)
        }
    }
}
