//! `whsize drain`.

use super::values::earlier_depth;
use anyhow::Result;
use whsize::drain::{Consumers, EarlierDepth, Question, RetryLimit};
use whsize::report::{self, Report};
use whsize::sizing::ServiceTime;
use whsize::units::{ArrivalRate, Count, Ratio, Seconds, Share};

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
          value_parser = clap::value_parser!(u32).range(1..=1000))]
    max_attempts: Option<u32>,

    /// Workers; without them, the number for --within and --acceptable-latency is found
    #[arg(long, value_name = "N", value_parser = Count::parse_positive, requires = "mean",
          conflicts_with = "served_rate", help_heading = "Consumers")]
    workers: Option<Count>,
    /// Mean service time: how long an attempt occupies a worker, lease to acknowledgement
    #[arg(long, value_name = "D", value_parser = Seconds::parse_positive, conflicts_with = "served_rate",
          help_heading = "Consumers")]
    mean: Option<Seconds>,
    /// Squared coefficient of variation of the service time (1 is exponential)
    #[arg(long, value_name = "X", requires = "mean", help_heading = "Consumers")]
    scv: Option<Ratio>,
    /// Attempts a second that are served, instead of workers and their service time
    #[arg(long, value_name = "R", help_heading = "Consumers")]
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
    /// How sure the interval of the drain time is
    #[arg(long, value_name = "P", default_value = "95%", value_parser = Share::parse_inside,
          help_heading = "Objectives")]
    confidence: Share,
}

impl Args {
    pub(crate) fn run(&self) -> Result<Report> {
        let question = self.question();
        let answered = question.answer()?;
        Ok(report::drain::report(&question, &answered)?)
    }

    fn question(&self) -> Question {
        Question {
            backlog: self.backlog.get(),
            rate: self.rate.clone(),
            consumers: self.consumers(),
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
        }
    }

    fn consumers(&self) -> Option<Consumers> {
        if let Some(rate) = &self.served_rate {
            return Some(Consumers::Rate(rate.clone()));
        }
        let mean = self.mean.clone()?;
        let service = match &self.scv {
            Some(scv) => ServiceTime::with_scv(mean, scv.get()),
            None => ServiceTime::exponential(mean),
        };
        Some(Consumers::Pool { workers: self.workers.map(Count::get), service })
    }
}
