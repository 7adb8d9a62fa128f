//! `whsize diagnose`.

use super::queue_attributes::{self, QueueAttributes};
use super::service::{MeanArgs, Service};
use super::values::earlier_depth;
use anyhow::Result;
use std::path::PathBuf;
use whsize::diagnose::{Observation, UsualPoolWait};
use whsize::drain::EarlierDepth;
use whsize::report::{self, Report};
use whsize::units::{ArrivalRate, Count, Seconds};

/// Which kind of trouble is this? Too few workers, slow endpoints, nothing consuming, retries, …
#[derive(clap::Args, Debug)]
#[command(
    after_help = "The exit code is 0 if the queue is healthy, and 1 for every kind of trouble. Only for not-enough-workers is \
                  scaling out the answer. --mean or --profile is the usual service time, from a time without trouble.

Examples:
  whsize diagnose --depth 5000 --in-flight 100 --workers 100 --oldest-age 60 --throughput 500 --rate 510 --mean 0.2
  aws sqs get-queue-attributes --queue-url \"$url\" --attribute-names All |
    whsize diagnose --from - --workers 100 --throughput 500 --mean 0.2"
)]
pub(crate) struct Args {
    /// Messages that wait for a worker
    #[arg(
        long,
        value_name = "N",
        required_unless_present = "from",
        conflicts_with = "from",
        help_heading = "Queue"
    )]
    depth: Option<Count>,
    /// Messages that workers hold: received and not yet acknowledged
    #[arg(
        long,
        value_name = "N",
        required_unless_present = "from",
        conflicts_with = "from",
        help_heading = "Queue"
    )]
    in_flight: Option<Count>,
    /// Messages that the queue holds back on purpose
    #[arg(long, value_name = "N", conflicts_with = "from", help_heading = "Queue")]
    delayed: Option<Count>,
    /// Depth, in flight and delayed from the JSON of aws sqs get-queue-attributes; - is standard input
    #[arg(long, value_name = "FILE|-", help_heading = "Queue")]
    from: Option<PathBuf>,
    /// Age of the oldest message
    #[arg(long, value_name = "D", help_heading = "Queue")]
    oldest_age: Option<Seconds>,
    /// The age up to which nothing is wrong
    #[arg(long, value_name = "D", default_value = "30s", value_parser = Seconds::parse_positive, help_heading = "Queue")]
    acceptable_age: Seconds,
    /// An earlier depth and how long ago it was read, such as 1000000@5m
    #[arg(long, value_name = "N@D", value_parser = earlier_depth, help_heading = "Queue")]
    earlier: Option<EarlierDepth>,
    /// The most messages that the broker lets be in flight; 120,000 with --from
    #[arg(long, value_name = "N", value_parser = Count::parse_positive, help_heading = "Queue")]
    broker_in_flight_limit: Option<Count>,

    /// All attempts a second that arrive, retries included
    #[arg(long, value_name = "R", help_heading = "Traffic")]
    rate: Option<ArrivalRate>,
    /// Messages a second that producers offer, each counted once: compared with the attempts
    #[arg(long, value_name = "R", value_parser = ArrivalRate::parse_positive, help_heading = "Traffic")]
    first_attempt_rate: Option<ArrivalRate>,

    /// Workers that run
    #[arg(long, value_name = "N", help_heading = "Consumers")]
    workers: Count,
    /// Attempts a second that end
    #[arg(long, value_name = "R", help_heading = "Consumers")]
    throughput: Option<ArrivalRate>,
    #[command(flatten, next_help_heading = "Consumers")]
    service: MeanArgs,
    /// Mean time that an attempt waits for a connection out of its pool; without it, that of the profile's phases
    #[arg(long, value_name = "D", help_heading = "Consumers")]
    pool_wait: Option<Seconds>,
}

impl Args {
    pub(crate) fn run(&self) -> Result<Report> {
        let service = self.service.read()?;
        let seen = self.observation(service.as_ref())?;
        let mut report = report::diagnose::report(&seen, &seen.diagnose())?;
        report.notes.extend(service.iter().flat_map(Service::notes));
        Ok(report)
    }

    fn observation(&self, service: Option<&Service>) -> Result<Observation> {
        let read = self.from.as_deref().map(queue_attributes::read).transpose()?;
        let typed = |count: Option<Count>| count.map(Count::get);
        let from_queue = |take: fn(&QueueAttributes) -> Option<u64>| read.as_ref().and_then(take);
        let or_typed = |read: Option<u64>, count: Option<Count>| read.or(typed(count)).unwrap_or_default();
        Ok(Observation {
            depth: or_typed(from_queue(|queue| Some(queue.depth)), self.depth),
            in_flight: or_typed(from_queue(|queue| Some(queue.in_flight)), self.in_flight),
            workers: self.workers.get(),
            delayed: from_queue(|queue| queue.delayed).or(typed(self.delayed)),
            oldest_age: self.oldest_age.clone(),
            acceptable_age: self.acceptable_age.clone(),
            earlier: self.earlier.clone(),
            throughput: self.throughput.clone(),
            rate: self.rate.clone(),
            first_attempt_rate: self.first_attempt_rate.clone(),
            mean: service.map(|service| service.time.mean.clone()),
            pool_wait: self.pool_wait.clone(),
            usual_pool_wait: service.and_then(Service::profile).and_then(UsualPoolWait::of),
            broker_limit: typed(self.broker_in_flight_limit)
                .or(from_queue(|_| Some(queue_attributes::IN_FLIGHT_LIMIT))),
        })
    }
}
