//! `whsize size`.

use super::order::OrderArgs;
use super::plot::Plot;
use super::queue_bounds::QueueBoundArgs;
use super::refine::Searched;
use super::service::{Service, ServiceArgs};
use super::values::{
    QuantileLimit, Surge, headroom, max_attempts, pool, quantile_limit, seed, surge, utilisation,
};
use anyhow::{Context, Result, bail};
use std::path::PathBuf;
use whsize::notice::Note;
use whsize::report::{self, Report};
use whsize::sizing::{
    ArrivalProcess, Demand, Objective, PoolSize, Question, RateProfile, Retries, Sample, Scenario, SizingNote,
};
use whsize::units::{ArrivalRate, Count, Ratio, Seconds, Share};

/// The intervals of a rate profile, where none are asked for.
const USUAL_INTERVAL_S: f64 = 3_600.0;

/// How the traffic itself is called beside the scenarios.
const STEADY: &str = "steady";

/// How many workers? From traffic and objectives to a pool size
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:
  whsize size --rate 900 --mean 1.4 --wait 0.5
  whsize size --profile attempts.csv --wait 0.5
  whsize size --rate 54000/min --mean 1400ms --wait-quantile p95=5s --max-utilisation 95%
  whsize size --rate 900 --mean 1.4 --wait 0.5 --workers 1300
  whsize size --rate 900 --mean 1.4 --wait 0.5 --surge name=outage,rate=2400,mean=3.1
  whsize size --rate 900 --mean 1.4 --wait 0.5 --batch 10
  whsize size --rate 900 --mean 1.4 --max-lost 1% --patience 30s --queue-limit 2000
  whsize size --profile attempts.csv --rate 900 --wait 0.5 --refine
  whsize size --rate-profile day.csv --interval 1h --mean 1.4 --wait 0.5
  whsize size --rate 900 --mean 1.4 --wait 0.5 --plot wait.svg

The exit code is 0 where a pool is found. With --workers it is 1 if the pool misses an objective, under the traffic itself or
in any --surge.")]
pub(crate) struct Args {
    /// All attempts a second, retries included, as measured at the queue
    #[arg(long, value_name = "R", value_parser = ArrivalRate::parse_positive, help_heading = "Traffic")]
    rate: Option<ArrivalRate>,
    #[command(flatten, next_help_heading = "Traffic")]
    service: ServiceArgs,
    /// A rate that moves, as CSV of time,rate: a pool for each interval, and the peak; instead of --rate
    #[arg(long, value_name = "FILE", conflicts_with_all = ["rate", "first_attempt_rate"], help_heading = "Traffic")]
    rate_profile: Option<PathBuf>,
    /// Length of the intervals of --rate-profile (1h), or of a schedule from the arrivals of --profile
    #[arg(long, value_name = "D", value_parser = Seconds::parse_positive, conflicts_with_all = ["rate", "first_attempt_rate"],
          help_heading = "Traffic")]
    interval: Option<Seconds>,
    /// Squared coefficient of variation of the times between arrivals (1 is a Poisson stream)
    #[arg(long, value_name = "X", help_heading = "Traffic")]
    arrival_scv: Option<Ratio>,
    /// Messages that arrive at one moment, such as the fan-out of an event
    #[arg(long, value_name = "N", value_parser = Count::parse_positive, conflicts_with = "arrival_scv",
          help_heading = "Traffic")]
    batch: Option<Count>,
    /// First attempts a second, to be amplified by retries; instead of --rate
    #[arg(long, value_name = "R", value_parser = ArrivalRate::parse_positive, conflicts_with = "rate",
          requires_all = ["failure_share", "max_attempts"], help_heading = "Traffic")]
    first_attempt_rate: Option<ArrivalRate>,
    /// Share of attempts that fail and are tried again
    #[arg(
        long,
        value_name = "F",
        requires = "first_attempt_rate",
        conflicts_with = "rate",
        help_heading = "Traffic"
    )]
    failure_share: Option<Share>,
    /// The most attempts of one message, the first included
    #[arg(long, value_name = "N", requires = "first_attempt_rate", conflicts_with = "rate", help_heading = "Traffic",
          value_parser = max_attempts)]
    max_attempts: Option<u32>,
    /// Mean time that a failed attempt occupies a worker, where it differs
    #[arg(long, value_name = "D", value_parser = Seconds::parse_positive, requires = "first_attempt_rate", conflicts_with = "rate",
          help_heading = "Traffic")]
    failure_mean: Option<Seconds>,
    /// Other traffic to size for as well, such as name=outage,rate=2400,mean=3.1; its rate counts all attempts
    #[arg(long, value_name = "NAME,RATE,MEAN", value_parser = surge, help_heading = "Traffic")]
    surge: Vec<Surge>,
    #[command(flatten, next_help_heading = "Traffic")]
    bounds: QueueBoundArgs,
    #[command(flatten, next_help_heading = "Traffic")]
    order: OrderArgs,

    /// Mean wait at most this
    #[arg(long, value_name = "D", value_parser = Seconds::parse_positive, help_heading = "Objectives, one or more")]
    wait: Option<Seconds>,
    /// A quantile of the wait at most this, such as p95=5s
    #[arg(long, value_name = "P=D", value_parser = quantile_limit, help_heading = "Objectives, one or more")]
    wait_quantile: Vec<QuantileLimit>,
    /// At most this share of arrivals waits at all
    #[arg(long, value_name = "P", value_parser = Share::parse_inside, help_heading = "Objectives, one or more")]
    wait_probability: Option<Share>,
    /// Workers busy at most this share of their time
    #[arg(long, value_name = "U", alias = "max-utilization", value_parser = utilisation,
          help_heading = "Objectives, one or more")]
    max_utilisation: Option<Share>,
    /// Room for the rate to rise by this before the pool is full
    #[arg(long, value_name = "P%", value_parser = headroom, help_heading = "Objectives, one or more")]
    headroom: Option<Ratio>,
    /// Square-root rule as a requirement: at least B square roots of the load above it
    #[arg(long, value_name = "B", help_heading = "Objectives, one or more")]
    beta: Option<Ratio>,
    /// At most this share of arrivals gives up or is turned away, with --patience or --queue-limit
    #[arg(long, value_name = "P", value_parser = Share::parse_inside, help_heading = "Objectives, one or more")]
    max_lost: Option<Share>,
    /// Judge this pool instead of finding one
    #[arg(long, value_name = "N", value_parser = pool, help_heading = "Objectives, one or more")]
    workers: Option<Count>,
    /// How sure the interval of the answer is, with a profile
    #[arg(long, value_name = "P", default_value = "95%", value_parser = Share::parse_inside,
          help_heading = "Objectives, one or more")]
    confidence: Share,
    /// Seed of everything random: the resampling behind the interval
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = seed, help_heading = "Objectives, one or more")]
    seed: u64,

    /// Settle the answer by simulation of the service times; --seed is that of its random numbers as well
    #[arg(long, help_heading = "Objectives, one or more")]
    refine: bool,
    /// How long the traffic stays like this; says if the queue does not settle in that time
    #[arg(long, value_name = "D", value_parser = Seconds::parse_positive, help_heading = "Traffic")]
    peak_length: Option<Seconds>,

    #[command(flatten)]
    pub(crate) plot: Plot,
}

impl Args {
    pub(crate) fn run(&self) -> Result<Report> {
        let objectives = self.objectives();
        if objectives.is_empty() && self.workers.is_none() {
            bail!(
                "there is no objective; say what the pool must achieve, such as --wait 0.5, --wait-quantile p95=5s, \
                 --wait-probability 5%, --max-utilisation 95%, --headroom 10% or --beta 1.5, or judge a pool with \
                 --workers"
            );
        }
        self.bounds.check(self.max_lost.is_some(), self.refine)?;
        let Some(service) = self.service.read()? else {
            bail!(
                "there is no service time; give --mean, such as --mean 1.4, or measured ones with --profile FILE"
            );
        };
        let moving = self.moving_rate(&service)?;
        let demand = self.demand(&service, moving.as_ref())?.bounded(self.bounds.read())?;
        let question = Question {
            objectives,
            workers: self.workers.map(Count::get),
            scenarios: self.scenarios(&demand)?,
            sample: service.profile().map(|profile| Sample::of(profile, self.confidence.clone(), self.seed)),
            demand,
        };
        let searched = match self.refine {
            true => super::refine::refine(&question, &service, &self.confidence, self.seed)?,
            false => Searched::NothingToSettle,
        };
        let mut answered = match searched.found() {
            Some(refinement) => question.answer_refined(refinement),
            None => question.answer(),
        };
        if let Some(moving) = &moving {
            let interval_s = self.interval.as_ref().map_or(USUAL_INTERVAL_S, Seconds::get);
            let schedule = moving.schedule(&question.demand, &question.objectives, interval_s)?;
            answered.sizing.schedule = Some(schedule);
        }
        self.order.answer(&question, &mut answered.sizing, &self.confidence);
        let mut report = report::size::report(&question, &answered)?;
        report.notes.extend(searched.note());
        report.notes.extend(self.rate_note(&service));
        report.notes.extend(self.peak_note(&answered.sizing.steady));
        report.notes.extend(service.notes());
        let steady = &answered.sizing.steady;
        self.plot.add(&mut report, || report::size::figure(&question, steady, &question.wait_curve(steady)));
        Ok(report)
    }

    fn scenarios(&self, steady: &Demand) -> Result<Vec<Scenario>> {
        let mut named = vec![STEADY];
        for surge in &self.surge {
            if named.contains(&surge.name.as_str()) {
                bail!(
                    "--surge name={}: the name stands for other traffic already; give each its own",
                    surge.name
                );
            }
            named.push(&surge.name);
        }
        self.surge.iter().map(|surge| scenario(surge, steady)).collect()
    }

    fn objectives(&self) -> Vec<Objective> {
        let quantiles = self.wait_quantile.iter().cloned();
        let all = [
            self.wait.clone().map(Objective::MeanWait),
            self.wait_probability.clone().map(Objective::WaitProbability),
            self.max_utilisation.clone().map(Objective::MaxUtilisation),
            self.headroom.clone().map(Objective::Headroom),
            self.beta.clone().map(Objective::SquareRoot),
            self.max_lost.clone().map(Objective::MaxLost),
        ];
        let quantiles = quantiles.map(|asked| Objective::WaitQuantile(asked.quantile, asked.limit));
        all.into_iter().flatten().chain(quantiles).collect()
    }

    fn demand(&self, service: &Service, moving: Option<&RateProfile>) -> Result<Demand> {
        let arrivals = self.arrivals();
        let time = service.time.clone();
        if let Some(retries) = self.retries() {
            if service.measured.is_some() && retries.failure_mean.is_some() {
                bail!(
                    "the profile already holds the failed attempts, with the time that they took; leave out \
                     --failure-mean"
                );
            }
            return Ok(retries.demand(time, arrivals)?);
        }
        if let Some(moving) = moving {
            return Ok(Demand::new(moving.peak(&time)?, time, arrivals)?);
        }
        let Some(rate) = self.rate.clone().or_else(|| service.busiest_rate()) else {
            match &service.measured {
                Some(_) => {
                    bail!("there is no rate: the profile has no time stamps; give --rate, such as --rate 900")
                }
                None => bail!("there is no rate; give --rate, such as --rate 900 or --rate 54000/min"),
            }
        };
        Ok(Demand::new(rate, time, arrivals)?)
    }

    fn arrivals(&self) -> ArrivalProcess {
        match (&self.arrival_scv, &self.batch) {
            (Some(scv), _) => ArrivalProcess::Renewal { scv: scv.get() },
            (None, Some(size)) => ArrivalProcess::Batches { size: size.get() },
            (None, None) => ArrivalProcess::Poisson,
        }
    }

    /// The rate that moves, where one is given: in a file, or by the arrivals of the profile.
    fn moving_rate(&self, service: &Service) -> Result<Option<RateProfile>> {
        if let Some(path) = &self.rate_profile {
            return super::rate_profile::read(path).map(Some);
        }
        if self.interval.is_none() {
            return Ok(None);
        }
        let Some(arrivals) = service.profile().and_then(|profile| profile.arrivals()) else {
            bail!(
                "there is no rate that moves: --interval cuts a --rate-profile FILE, or the arrivals of a --profile that \
                 has time stamps"
            );
        };
        super::rate_profile::of_arrivals(arrivals).map(Some)
    }

    /// Says where the rate comes from, if it was not typed.
    fn rate_note(&self, service: &Service) -> Option<Note> {
        if self.rate.is_some() || self.first_attempt_rate.is_some() {
            return None;
        }
        if self.rate_profile.is_some() || self.interval.is_some() {
            let message =
                "the rate is the constant one that keeps as much under way as the busiest moment does";
            return Some(Note::info("rate-of-the-peak", message));
        }
        let rate = service.busiest_rate()?;
        let message = format!("the rate is that of the busiest minute in the profile, {rate}");
        Some(Note::info("rate-from-profile", message).with_hint("give --rate to size for another"))
    }

    /// Says if the peak is over before its steady state is there.
    fn peak_note(&self, steady: &PoolSize) -> Option<Note> {
        let (peak, relaxation_s) = (self.peak_length.as_ref()?.get(), steady.state.relaxation_time_s?);
        SizingNote::short_peak(peak, relaxation_s).as_ref().map(Note::from)
    }

    fn retries(&self) -> Option<Retries> {
        Some(Retries {
            first_attempt_rate: self.first_attempt_rate.clone()?,
            failure_share: self.failure_share.clone()?,
            max_attempts: self.max_attempts?,
            failure_mean: self.failure_mean.clone(),
        })
    }
}

fn scenario(surge: &Surge, steady: &Demand) -> Result<Scenario> {
    let service = match &surge.mean {
        Some(mean) => steady.service.stretched_to(mean.clone()),
        None => steady.service.clone(),
    };
    let rate = surge.rate.clone().unwrap_or_else(|| steady.rate.clone());
    let demand = Demand::new(rate, service, steady.arrivals);
    let demand = demand.and_then(|demand| demand.bounded(steady.bounds.clone()));
    let demand = demand.with_context(|| format!("--surge name={}", surge.name))?;
    Ok(Scenario { name: surge.name.clone(), demand })
}
