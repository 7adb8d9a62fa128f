//! `whsize layout`.

mod emit;
mod hosts;
mod saved;

use super::Outcome;
use super::output::Output;
use super::service::{MeanArgs, Service};
use anyhow::{Result, bail};
use emit::EmitArgs;
use hosts::host;
use saved::SavedSize;
use std::path::PathBuf;
use whsize::layout::{
    DatabaseUse, Egress, Host, Limits, Network, PgBouncerUse, Platform, PortScope, Question, Shape, Traffic,
};
use whsize::report;
use whsize::units::{ArrivalRate, Bytes, Count, Ratio, Seconds, Share};

/// What does N concurrency mean in processes, pods, descriptors, pools, ports, database connections?
#[derive(clap::Args, Debug)]
#[command(
    after_help = "The exit code is 1 if the asked shape exceeds a limit, or if no layout keeps all of them.

Examples:
  whsize layout --concurrency 1300 --rate 900 --mean 1.4 --lease 60
  whsize layout --concurrency 1280 --database-pool 20 --database-max 100
  whsize layout --concurrency 1300 --fd-limit 512 --vcpu-per-pod 1 --mean 1.4
  whsize size --rate 900 --mean 1.4 --wait 0.5 --format json | whsize layout --from -
  whsize layout --concurrency 1300 --rate 900 --mean 1.4 --emit kubernetes,keda --queue deliveries --region eu-west-1"
)]
pub(crate) struct Args {
    /// Attempts that must be able to run at once
    #[arg(long, value_name = "N", value_parser = Count::parse_positive, required_unless_present = "from",
          help_heading = "Concurrency")]
    concurrency: Option<Count>,
    /// Concurrency, rate and service time from the saved JSON of size; - is standard input
    #[arg(long, value_name = "FILE|-", conflicts_with = "concurrency", help_heading = "Concurrency")]
    from: Option<PathBuf>,
    /// Attempts a second
    #[arg(long, value_name = "R", value_parser = ArrivalRate::parse_positive, help_heading = "Concurrency")]
    rate: Option<ArrivalRate>,
    #[command(flatten, next_help_heading = "Concurrency")]
    service: MeanArgs,

    /// Tasks in each process; usually 160, fewer where a limit demands it
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=100_000), help_heading = "Shape")]
    tasks_per_process: Option<u64>,
    /// Processes in each pod; usually 4
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=1_000), help_heading = "Shape")]
    processes_per_pod: Option<u64>,

    /// Descriptors that a process may open
    #[arg(long, value_name = "N", value_parser = Count::parse_positive, help_heading = "Limits")]
    fd_limit: Option<Count>,
    /// Tasks that share an event loop fairly
    #[arg(long, value_name = "N", default_value = "500", value_parser = Count::parse_positive, help_heading = "Limits")]
    max_tasks_per_loop: Count,
    /// Connections in a process's HTTP pool, where that is fixed
    #[arg(long, value_name = "N", value_parser = Count::parse_positive, help_heading = "Limits")]
    http_pool: Option<Count>,
    /// Processors of a pod; needs the service time
    #[arg(long, value_name = "X", help_heading = "Limits")]
    vcpu_per_pod: Option<Ratio>,
    /// Processor time of an attempt
    #[arg(long, value_name = "D", default_value = "1ms", value_parser = Seconds::parse_positive, help_heading = "Limits")]
    cpu_per_attempt: Seconds,
    /// Memory of a pod, such as 2Gi
    #[arg(long, value_name = "SIZE", value_parser = Bytes::parse_positive, requires = "memory_per_process", help_heading = "Limits")]
    pod_memory: Option<Bytes>,
    /// Memory that a process takes with all its tasks, such as 300Mi
    #[arg(long, value_name = "SIZE", value_parser = Bytes::parse_positive, help_heading = "Limits")]
    memory_per_process: Option<Bytes>,
    /// Pods at most
    #[arg(long, value_name = "N", value_parser = Count::parse_positive, help_heading = "Limits")]
    max_pods: Option<Count>,
    /// Messages that the broker lets be in flight (SQS: 120000)
    #[arg(long, value_name = "N", value_parser = Count::parse_positive, help_heading = "Limits")]
    broker_in_flight_limit: Option<Count>,
    /// Attempts a second that the receiving side takes
    #[arg(long, value_name = "R", value_parser = ArrivalRate::parse_positive, help_heading = "Limits")]
    downstream_limit: Option<ArrivalRate>,

    /// A host, such as name=a,rate=20,p95=0.25[,keepalive=60s][,limit=5]
    #[arg(long, value_name = "NAME,RATE,P95", value_parser = host, help_heading = "Hosts and ports")]
    host: Vec<Host>,
    /// Hosts from a file, one a line as --host takes it
    #[arg(long, value_name = "FILE", help_heading = "Hosts and ports")]
    hosts: Option<PathBuf>,
    /// The longest that an attempt may take
    #[arg(long, value_name = "D", default_value = "10s", value_parser = Seconds::parse_positive,
          help_heading = "Hosts and ports")]
    timeout: Seconds,
    /// Share of attempts that find an open connection
    #[arg(long, value_name = "P", default_value = "90%", help_heading = "Hosts and ports")]
    reuse_ratio: Share,
    /// The way out: linux, aws-nat, gcp-nat, gcp-nat-default, azure-lb or azure-nat
    #[arg(long, value_name = "NAME", conflicts_with = "nat_ports", help_heading = "Hosts and ports")]
    egress: Option<String>,
    /// Source ports for each address and destination, of a gateway of one's own; for each machine with --machines
    #[arg(long, value_name = "N", value_parser = Count::parse_positive, help_heading = "Hosts and ports")]
    nat_ports: Option<Count>,
    /// Source addresses; 1 is the worst case
    #[arg(long, visible_alias = "source-addresses", value_name = "N", value_parser = Count::parse_positive,
          help_heading = "Hosts and ports")]
    nat_addresses: Option<Count>,
    /// Machines that the pods spread over, where ports are allotted to machines; one a pod otherwise
    #[arg(long, value_name = "N", value_parser = Count::parse_positive, help_heading = "Hosts and ports")]
    machines: Option<Count>,
    /// Destinations (address and port) that connections spread over; 1 is the worst case
    #[arg(long, value_name = "N", default_value = "1", value_parser = Count::parse_positive,
          help_heading = "Hosts and ports")]
    destinations: Count,

    /// Database connections in each process's pool
    #[arg(long, value_name = "N", value_parser = Count::parse_positive, requires = "database_max", help_heading = "Database")]
    database_pool: Option<Count>,
    /// Connections that the database takes
    #[arg(long, value_name = "N", value_parser = Count::parse_positive, requires = "database_pool", help_heading = "Database")]
    database_max: Option<Count>,
    /// Of these, kept back for administrators
    #[arg(long, value_name = "N", default_value = "3", help_heading = "Database")]
    database_reserved: Count,
    /// Clients that a PgBouncer in between takes (max_client_conn, 100 by default)
    #[arg(long, value_name = "N", value_parser = Count::parse_positive, requires = "database_pool", help_heading = "Database")]
    pgbouncer_clients: Option<Count>,
    /// Connections that PgBouncer opens to the database (default_pool_size)
    #[arg(long, value_name = "N", default_value = "20", value_parser = Count::parse_positive, help_heading = "Database")]
    pgbouncer_pool: Count,

    /// How long a message is leased to a worker; a minute is assumed
    #[arg(long, value_name = "D", value_parser = Seconds::parse_positive, help_heading = "Safety")]
    lease: Option<Seconds>,

    #[command(flatten)]
    emit: EmitArgs,
}

impl Args {
    pub(crate) fn run(&self, output: &Output) -> Result<Outcome> {
        let service = self.service.read()?;
        let saved = self.from.as_deref().map(SavedSize::read).transpose()?;
        let question = self.question(service.as_ref(), saved.as_ref())?;
        let answered = question.answer();
        if self.emit.is_wanted() {
            return self.emit.run(&question, &answered.layout, saved.as_ref(), output);
        }
        let mut report = report::layout::report(&question, &answered)?;
        report.notes.extend(service.iter().flat_map(Service::notes));
        Ok(Outcome::Report(Box::new(report)))
    }

    fn question(&self, service: Option<&Service>, saved: Option<&SavedSize>) -> Result<Question> {
        let typed = |count: Option<Count>| count.map(Count::get);
        let Some(concurrency) = typed(self.concurrency).or(saved.map(|saved| saved.workers)) else {
            bail!("there is no concurrency; give --concurrency, such as --concurrency 1300, or --from");
        };
        let rate = self.rate.clone().or(saved.map(|saved| saved.rate.clone()));
        let rate = rate.or_else(|| service?.busiest_rate());
        let mean = service.map(|service| service.time.mean.clone());
        let mean = mean.or(saved.map(|saved| saved.mean.clone()));
        if self.vcpu_per_pod.as_ref().is_some_and(|vcpu| vcpu.exact().is_zero()) {
            bail!("--vcpu-per-pod must be more than zero");
        }
        if self.vcpu_per_pod.is_some() && mean.is_none() {
            bail!(
                "--vcpu-per-pod needs the service time, to know how busy a task is; give --mean, such as --mean 1.4"
            );
        }
        Ok(Question {
            concurrency,
            shape: Shape {
                tasks_per_process: self.tasks_per_process,
                processes_per_pod: self.processes_per_pod,
            },
            limits: Limits {
                descriptors: typed(self.fd_limit),
                tasks_per_loop: self.max_tasks_per_loop.get(),
                http_pool: typed(self.http_pool),
                vcpu_per_pod: self.vcpu_per_pod.as_ref().map(|vcpu| vcpu.exact().clone()),
                pod_memory: self.pod_memory.clone(),
                memory_per_process: self.memory_per_process.clone(),
                pods: typed(self.max_pods),
                broker_in_flight: typed(self.broker_in_flight_limit),
                downstream: self.downstream_limit.clone(),
            },
            hosts: self.hosts(service, rate.as_ref())?,
            traffic: Traffic {
                rate,
                mean,
                cpu_per_attempt: self.cpu_per_attempt.clone(),
                timeout: self.timeout.clone(),
            },
            network: Network {
                reuse: self.reuse_ratio.clone(),
                egress: self.egress()?,
                destinations: self.destinations.get(),
            },
            database: self.database(),
            lease: self.lease.clone(),
        })
    }

    /// Hosts as typed, from a file, and from a profile's groups.
    fn hosts(&self, service: Option<&Service>, rate: Option<&ArrivalRate>) -> Result<Vec<Host>> {
        let mut hosts = self.host.clone();
        if let Some(path) = &self.hosts {
            hosts.extend(hosts::read(path)?);
        }
        if let (Some(measured), Some(rate)) = (service.and_then(|service| service.measured.as_ref()), rate) {
            hosts.extend(Host::of_profile(&measured.profile, rate));
        }
        if let Some(twice) = hosts::named_twice(&hosts) {
            bail!("the host \"{twice}\" is given twice");
        }
        Ok(hosts)
    }

    fn egress(&self) -> Result<Egress> {
        let addresses = self.nat_addresses.map_or(1, Count::get);
        let machines = self.machines.map(Count::get);
        let stated = self.egress.is_some() || self.nat_addresses.is_some() || self.machines.is_some();
        if let Some(ports) = self.nat_ports {
            if machines.is_some() && self.nat_addresses.is_some() {
                bail!("ports are for each address or for each machine: give --nat-addresses or --machines");
            }
            let minute = "60s".parse()?;
            return Ok(Egress::custom(ports.get(), addresses, machines, &minute));
        }
        let platform = Platform::find(self.egress.as_deref().unwrap_or("linux"))?;
        if let Some(most) = platform.most_addresses.filter(|most| addresses > *most) {
            bail!("{} takes {most} addresses at most", platform.what);
        }
        match platform.scope {
            PortScope::Machine if self.nat_addresses.is_some() => bail!(
                "{} allots its ports to machines, not to addresses: give --machines instead of --nat-addresses",
                platform.what
            ),
            PortScope::Address if machines.is_some() => bail!(
                "{} has its ports for each address, not for each machine: give --nat-addresses instead of --machines, \
                 or --egress",
                platform.what
            ),
            _ => {}
        }
        Ok(Egress { platform, addresses, machines, stated })
    }

    fn database(&self) -> Option<DatabaseUse> {
        Some(DatabaseUse {
            pool: self.database_pool?.get(),
            max_connections: self.database_max?.get(),
            reserved: self.database_reserved.get(),
            pgbouncer: self.pgbouncer_clients.map(|clients| PgBouncerUse {
                max_clients: clients.get(),
                pool_size: self.pgbouncer_pool.get(),
            }),
        })
    }
}
