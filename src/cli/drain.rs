//! `whsize drain`.

use super::service::{Service, ServiceArgs};
use super::values::{earlier_depth, max_attempts};
use anyhow::{Result, bail};
use whsize::drain::{Consumers, EarlierDepth, Question, RetryLimit};
use whsize::report::{self, Report};
use whsize::units::{ArrivalRate, Count, Seconds, Share};

/// How long until the backlog is gone, and how many workers clear it by a deadline?
#[derive(clap::Args, Debug)]
#[command(
    after_help = "The exit code is 1 if the backlog never drains, or not within --within, or if a message that arrives now \
                  waits longer than --acceptable-latency.

Examples:
  whsize drain --backlog 1M --rate 500 --served-rate 600
  whsize drain --backlog 1M --rate 500 --workers 120 --mean 200ms --within 15m
  whsize drain --backlog 1M --rate 500 --mean 200ms --within 15m
  whsize drain --backlog 700k --earlier 1M@5m
  whsize drain --backlog \"$depth\" --rate 500 --served-rate 600 --within 1h --quiet || page"
)]
pub(crate) struct Args {
    /// Messages that wait now
    #[arg(long, value_name = "N", help_heading = "Queue")]
    backlog: Count,
    /// New messages a second; 0 if none arrive
    #[arg(long, value_name = "R", required_unless_present = "earlier", help_heading = "Queue")]
    rate: Option<ArrivalRate>,
    /// An earlier depth and how long ago it was read, such as 1000000@5m: the net rate is then measured
    #[arg(long, value_name = "N@D", value_parser = earlier_depth, help_heading = "Queue")]
    earlier: Option<EarlierDepth>,
    /// Age of the oldest message now
    #[arg(long, value_name = "D", help_heading = "Queue")]
    oldest_age: Option<Seconds>,
    /// Share of attempts that fail and are tried again; --rate then counts first attempts
    #[arg(long, value_name = "F", requires_all = ["max_attempts", "rate"], help_heading = "Queue")]
    failure_share: Option<Share>,
    /// The most attempts of one message, the first included
    #[arg(long, value_name = "N", requires = "failure_share", help_heading = "Queue",
          value_parser = max_attempts)]
    max_attempts: Option<u32>,

    /// Workers; without them, the number for --within and --acceptable-latency is found
    #[arg(long, value_name = "N", value_parser = Count::parse_positive, conflicts_with = "served_rate",
          help_heading = "Consumers")]
    workers: Option<Count>,
    #[command(flatten, next_help_heading = "Consumers")]
    service: ServiceArgs,
    /// Attempts a second that are served, instead of workers and their service time
    #[arg(long, value_name = "R", conflicts_with_all = ["mean", "profile"], help_heading = "Consumers")]
    served_rate: Option<ArrivalRate>,
    /// The most attempts a second that the receiving side takes
    #[arg(long, value_name = "R", value_parser = ArrivalRate::parse_positive, help_heading = "Consumers")]
    downstream_limit: Option<ArrivalRate>,

    /// The backlog must be gone by then, from now
    #[arg(long, value_name = "D", value_parser = Seconds::parse_positive, help_heading = "Objectives")]
    within: Option<Seconds>,
    /// The wait that a message may see
    #[arg(long, value_name = "D", value_parser = Seconds::parse_positive, help_heading = "Objectives")]
    acceptable_latency: Option<Seconds>,
    /// How sure the interval of the drain time is [default: 95%]
    // Not clap's default: an interval that was asked for and cannot be given is an error.
    #[arg(long, value_name = "P", value_parser = Share::parse_inside, help_heading = "Objectives")]
    confidence: Option<Share>,
}

impl Args {
    pub(crate) fn run(&self) -> Result<Report> {
        let service = self.service.read()?;
        let question = self.question(service.as_ref())?;
        let answered = question.answer()?;
        let mut report = report::drain::report(&question, &answered)?;
        report.notes.extend(service.iter().flat_map(Service::notes));
        Ok(report)
    }

    fn question(&self, service: Option<&Service>) -> Result<Question> {
        Ok(Question {
            backlog: self.backlog.get(),
            rate: self.rate.clone(),
            consumers: self.consumers(service)?,
            retries: self
                .failure_share
                .clone()
                .zip(self.max_attempts)
                .map(|(failure_share, max_attempts)| RetryLimit { failure_share, max_attempts }),
            downstream_limit: self.downstream_limit.clone(),
            earlier: self.earlier.clone(),
            deadline: self.within.clone(),
            oldest_age: self.oldest_age.clone(),
            acceptable_latency: self.acceptable_latency.clone(),
            confidence: self.confidence.clone(),
        })
    }

    fn consumers(&self, service: Option<&Service>) -> Result<Option<Consumers>> {
        let workers = self.workers.map(Count::get);
        match (&self.served_rate, service) {
            (Some(rate), _) => Ok(Some(Consumers::Rate(rate.clone()))),
            (None, Some(service)) => Ok(Some(Consumers::Pool { workers, service: service.time.clone() })),
            (None, None) if workers.is_some() => {
                bail!(
                    "--workers needs their service time; give --mean, such as --mean 0.2, or --profile FILE"
                )
            }
            (None, None) => Ok(None),
        }
    }
}
