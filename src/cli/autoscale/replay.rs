//! `whsize autoscale replay`.

use super::policy::{Name, PolicyArgs};
use super::trace;
use crate::cli::plot::Plot;
use crate::cli::service::{MeanArgs, Service};
use anyhow::{Context, Result, bail};
use clap::ValueEnum;
use std::path::PathBuf;
use whsize::autoscale::{BuiltIn, Downstream, Policy, PolicyName, Replay, Trace};
use whsize::report::{self, Report};
use whsize::units::{ArrivalRate, Count, Ratio, Seconds, Share};

/// A shape of traffic that comes with the program.
#[derive(ValueEnum, Clone, Copy, Debug, PartialEq, Eq)]
enum Shape {
    /// The rate rises to 2.7 times itself in five minutes and stays for twenty
    Surge,
    /// Endpoints take three times as long for twenty minutes, and retries add a quarter to the rate
    Outage,
    /// Little traffic, and then an hour's worth within a minute
    Nightly,
}

/// What does the controller do over a trace?
#[derive(clap::Args, Debug)]
#[command(
    after_help = "A trace is CSV with the columns time, rate and, where it changes, service_mean; each row holds until the next. The \
                  exit code is 1 if the oldest message is ever older than --objective.

Examples:
  whsize autoscale replay --shape surge --rate 900 --mean 1.4 --tasks-per-replica 160 --plot
  whsize autoscale replay --shape outage --rate 900 --mean 1.4 --tasks-per-replica 160 --compare --plot replay.svg
  whsize autoscale replay --trace day.csv --mean 1.4 --tasks-per-replica 160"
)]
pub(crate) struct Args {
    /// Traffic over time; - is standard input
    #[arg(
        long,
        value_name = "FILE.csv",
        required_unless_present = "shape",
        conflicts_with = "shape",
        help_heading = "Traffic"
    )]
    trace: Option<PathBuf>,
    /// A shape of traffic that comes with the program, at --rate and --mean
    #[arg(long, value_enum, requires = "rate", help_heading = "Traffic")]
    shape: Option<Shape>,
    /// The usual rate of a shape, attempts a second
    #[arg(long, value_name = "R", value_parser = ArrivalRate::parse_positive, conflicts_with = "trace", help_heading = "Traffic")]
    rate: Option<ArrivalRate>,
    #[command(flatten, next_help_heading = "Traffic")]
    service: MeanArgs,

    /// Tasks in each replica
    #[arg(long, value_name = "N", value_parser = Count::parse_positive, help_heading = "Fleet")]
    tasks_per_replica: Count,
    /// Replicas at the start; otherwise those that the traffic at the start needs
    #[arg(long, value_name = "N", help_heading = "Fleet")]
    initial: Option<Count>,
    /// How often the controller decides
    #[arg(long, value_name = "D", default_value = "15s", value_parser = Seconds::parse_positive, help_heading = "Fleet")]
    interval: Seconds,
    /// How long a new replica takes to start
    #[arg(long, value_name = "D", default_value = "30s", help_heading = "Fleet")]
    start_delay: Seconds,
    /// The lease: a replica that goes drains for that long, and replicas go no faster
    #[arg(long, value_name = "D", default_value = "60s", help_heading = "Fleet")]
    lease: Seconds,
    /// Processor time of an attempt
    #[arg(long, value_name = "D", default_value = "1ms", help_heading = "Fleet")]
    cpu_per_attempt: Seconds,
    /// Processors of a replica
    #[arg(long, value_name = "X", default_value = "1", help_heading = "Fleet")]
    vcpu_per_replica: Ratio,
    /// Attempts a second that the receiving side takes
    #[arg(long, value_name = "R", value_parser = ArrivalRate::parse_positive, help_heading = "Fleet")]
    downstream_limit: Option<ArrivalRate>,
    /// What a refused attempt costs the receiving side, as a share of one that it serves
    #[arg(long, value_name = "P", default_value = "10%", value_parser = Share::parse_inside, requires = "downstream_limit",
          help_heading = "Fleet")]
    refusal_cost: Share,

    /// The age that no message should exceed
    #[arg(long, value_name = "D", default_value = "60s", value_parser = Seconds::parse_positive, help_heading = "Policy")]
    objective: Seconds,
    /// Compare with these policies, or with every other one
    #[arg(long, value_enum, value_name = "POLICY", num_args = 0.., value_delimiter = ',', help_heading = "Policy")]
    compare: Option<Vec<Name>>,
    #[command(flatten)]
    policy: PolicyArgs,
    #[command(flatten)]
    pub(super) plot: Plot,
}

impl Args {
    pub(crate) fn run(&self) -> Result<Report> {
        let service = self.service.read()?;
        let replay = self.replay(service.as_ref())?;
        let outcome = replay.run()?;
        let mut report = report::autoscale::replay(&replay, &outcome)?;
        report.notes.extend(service.iter().flat_map(Service::notes));
        self.plot.add(&mut report, || report::autoscale::figure(&replay, &outcome));
        Ok(report)
    }

    fn replay(&self, service: Option<&Service>) -> Result<Replay> {
        let mean = service.map(|service| service.time.mean.clone());
        let trace = match (&self.trace, self.shape, &self.rate, &mean) {
            (Some(path), ..) => trace::read(path)?,
            (None, Some(shape), Some(rate), Some(mean)) => Trace::built_in(shape.domain(), rate, mean)?,
            _ => bail!("a shape needs the usual service time; give --mean, such as --mean 1.4, or --profile"),
        };
        let first = trace.rows().first().and_then(|row| row.mean.clone());
        let mean = mean.or(first).context(
            "the trace has no column service_mean, so the service time is needed: give --mean or --profile",
        )?;
        let whole = |time: &Seconds, name: &str| {
            time.exact()
                .to_whole()
                .with_context(|| format!("{name} is counted in whole seconds, and {time} is not one"))
        };
        let policy = self.policy.policy()?;
        Ok(Replay {
            trace,
            mean,
            tasks_per_replica: self.tasks_per_replica.get(),
            initial: self.initial.map(Count::get),
            compared: self.compare.as_ref().map_or_else(Vec::new, |names| others(&policy, names)),
            policy,
            interval_s: whole(&self.interval, "--interval")?,
            start_delay_s: whole(&self.start_delay, "--start-delay")?,
            lease_s: whole(&self.lease, "--lease")?,
            objective: self.objective.clone(),
            cpu_per_attempt: self.cpu_per_attempt.clone(),
            vcpu_per_replica: self.vcpu()?,
            downstream: self
                .downstream_limit
                .clone()
                .map(|limit| Downstream { limit, refusal_cost: self.refusal_cost.get() }),
        })
    }

    fn vcpu(&self) -> Result<f64> {
        if self.vcpu_per_replica.exact().is_zero() {
            bail!("--vcpu-per-replica must be more than zero");
        }
        Ok(self.vcpu_per_replica.get())
    }
}

/// The named policies, or all of them, without the one that is shown.
fn others(policy: &Policy, named: &[Name]) -> Vec<Policy> {
    let all = PolicyName::ALL.into_iter().filter(|name| *name != policy.name);
    let wanted = all.filter(|name| named.is_empty() || named.iter().any(|other| other.domain() == *name));
    wanted.map(|name| Policy { name, ..policy.clone() }).collect()
}

impl Shape {
    fn domain(self) -> BuiltIn {
        match self {
            Shape::Surge => BuiltIn::Surge,
            Shape::Outage => BuiltIn::Outage,
            Shape::Nightly => BuiltIn::Nightly,
        }
    }
}
