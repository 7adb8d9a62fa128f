//! `whsize autoscale decide`.

use super::policy::PolicyArgs;
use crate::cli::service::{MeanArgs, Service};
use anyhow::Result;
use whsize::autoscale::Observed;
use whsize::report::{self, Report};
use whsize::units::{ArrivalRate, Count, Seconds, Share};

/// How many replicas now?
#[derive(clap::Args, Debug)]
#[command(after_help = "The exit code is 1 if the traffic alone needs more replicas than --max.

Examples:
  whsize autoscale decide --current 10 --oldest-age 45 --rate 900 --mean 1.4 --tasks-per-replica 640
  whsize autoscale decide --policy backlog --current 10 --backlog 1500 --mean 0.1 --acceptable-latency 10 \\
    --tasks-per-replica 1")]
pub(crate) struct Args {
    /// Replicas now
    #[arg(long, value_name = "N", help_heading = "Now")]
    current: Count,
    /// Age of the oldest message
    #[arg(long, value_name = "D", help_heading = "Now")]
    oldest_age: Option<Seconds>,
    /// Messages that wait
    #[arg(long, value_name = "N", help_heading = "Now")]
    backlog: Option<Count>,
    /// Processor use of the replicas
    #[arg(long, value_name = "P", help_heading = "Now")]
    cpu: Option<Share>,
    /// Attempts a second that arrive
    #[arg(long, value_name = "R", help_heading = "Now")]
    rate: Option<ArrivalRate>,
    #[command(flatten, next_help_heading = "Now")]
    service: MeanArgs,
    /// Tasks in each replica
    #[arg(long, value_name = "N", value_parser = Count::parse_positive, help_heading = "Now")]
    tasks_per_replica: Count,
    #[command(flatten)]
    policy: PolicyArgs,
}

impl Args {
    pub(crate) fn run(&self) -> Result<Report> {
        let service = self.service.read()?;
        let policy = self.policy.policy()?;
        let observed = Observed {
            current: self.current.get(),
            tasks_per_replica: self.tasks_per_replica.get(),
            oldest_age: self.oldest_age.clone(),
            backlog: self.backlog.map(Count::get),
            rate: self.rate.clone(),
            mean: service.as_ref().map(|service| service.time.mean.clone()),
            cpu: self.cpu.as_ref().map(Share::get),
        };
        let decision = policy.decide(&observed)?;
        let mut report = report::autoscale::decision(&policy, &observed, &decision)?;
        report.notes.extend(service.iter().flat_map(Service::notes));
        Ok(report)
    }
}
