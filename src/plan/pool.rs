//! What a plan says of each pool.

use super::outcome::Surge;
use crate::autoscale::{BuiltIn, Downstream, Policy, Trace};
use crate::drain::{self, Consumers, RetryLimit};
use crate::layout::{self, DatabaseUse, Host, Limits, Network, Shape};
use crate::profile::ServiceProfile;
use crate::sizing::{self, Demand, Objective, Scenario};
use crate::units::{ArrivalRate, Seconds};

/// Where something stands in the file of the plan; both numbers count from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// The line.
    pub line: usize,
    /// The column, in characters.
    pub column: usize,
}

/// Named pools.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    /// The pools, in the order of the file.
    pub pools: Vec<Pool>,
}

/// One pool with all that is asked of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Pool {
    /// Its name.
    pub name: String,
    /// Where it stands.
    pub at: Place,
    /// All attempts a second, and how long each takes.
    pub demand: Demand,
    /// The measurement behind the service time.
    pub profile: Option<ServiceProfile>,
    /// What it must achieve.
    pub objectives: Vec<Objective>,
    /// Other traffic that is asked for as well.
    pub scenarios: Vec<Scenario>,
    /// The workers that are deployed today, where the plan says so.
    pub workers_deployed: Option<u64>,
    /// How it is deployed.
    pub deployed: Deployed,
    /// A backlog that it must be able to clear.
    pub recovery: Option<Recovery>,
    /// How its replicas follow the traffic.
    pub autoscaling: Option<Autoscaling>,
}

/// How a pool is deployed, and within which limits.
#[derive(Clone, Debug, PartialEq)]
pub struct Deployed {
    /// Tasks in a process, processes in a pod.
    pub shape: Shape,
    /// What must not be exceeded.
    pub limits: Limits,
    /// Processor time of an attempt.
    pub cpu_per_attempt: Seconds,
    /// The longest that an attempt may take.
    pub timeout: Seconds,
    /// The hosts that attempts go to.
    pub hosts: Vec<Host>,
    /// The way out.
    pub network: Network,
    /// What each process takes of a database.
    pub database: Option<DatabaseUse>,
    /// How long a message is leased to a worker.
    pub lease: Option<Seconds>,
}

/// A backlog that a pool must be able to clear beside its usual traffic.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recovery {
    /// Messages that wait.
    pub backlog: u64,
    /// By when they must be gone.
    pub within: Seconds,
}

/// How a pool's replicas follow the traffic.
#[derive(Clone, Debug, PartialEq)]
pub struct Autoscaling {
    /// The policy with its settings.
    pub policy: Policy,
    /// Attempts that a replica runs at once; those of a pod of the layout where nothing is said.
    pub tasks_per_replica: Option<u64>,
    /// The traffic that is replayed.
    pub traffic: Traffic,
    /// How often the controller decides, in whole seconds.
    pub interval_s: u64,
    /// How long a new replica takes to start, in whole seconds.
    pub start_delay_s: u64,
    /// The lease, in whole seconds.
    pub lease_s: u64,
    /// The age that no message should exceed.
    pub objective: Seconds,
    /// Processors of a replica.
    pub vcpu_per_replica: f64,
    /// A receiving side with a limit of its own.
    pub downstream: Option<Downstream>,
}

/// The traffic that is replayed.
#[derive(Clone, Debug, PartialEq)]
pub enum Traffic {
    /// A shape that comes with the program, at the pool's rate and service time.
    Shape(BuiltIn),
    /// A recorded trace.
    Trace(Trace),
}

impl Pool {
    /// How many workers this pool needs, or what becomes of those that are deployed. Where replicas follow the traffic,
    /// the deployed workers need not carry a surge by themselves.
    #[must_use]
    pub fn size_question(&self) -> sizing::Question {
        sizing::Question {
            demand: self.demand.clone(),
            objectives: self.objectives.clone(),
            workers: self.workers_deployed,
            scenarios: if self.autoscaling.is_some() { Vec::new() } else { self.scenarios.clone() },
            sample: None,
        }
    }

    /// How many workers each surge needs.
    #[must_use]
    pub(super) fn surges(&self) -> Vec<Surge> {
        let surge = |scenario: &Scenario| Surge {
            name: scenario.name.clone(),
            rate_per_s: scenario.demand.rate.get(),
            service_mean_s: scenario.demand.service.mean.get(),
            workers: sizing::smallest_workers(&scenario.demand, &self.objectives),
        };
        self.scenarios.iter().map(surge).collect()
    }

    /// What `concurrency` attempts at once mean in processes and pods.
    #[must_use]
    pub fn layout_question(&self, concurrency: u64) -> layout::Question {
        let deployed = &self.deployed;
        layout::Question {
            concurrency,
            shape: deployed.shape,
            limits: deployed.limits.clone(),
            traffic: layout::Traffic {
                rate: Some(self.demand.rate.clone()),
                mean: Some(self.demand.service.mean.clone()),
                cpu_per_attempt: deployed.cpu_per_attempt.clone(),
                timeout: deployed.timeout.clone(),
            },
            hosts: deployed.hosts.clone(),
            network: deployed.network.clone(),
            database: deployed.database,
            lease: deployed.lease.clone(),
        }
    }

    /// How long `workers` take for a backlog beside the usual traffic. A backlog counts messages, so it is the first
    /// attempts that arrive, and each takes its retries along.
    #[must_use]
    pub fn drain_question(&self, recovery: &Recovery, workers: u64) -> drain::Question {
        let retries = self.demand.retries.as_ref();
        drain::Question {
            backlog: recovery.backlog,
            rate: Some(self.arrivals().clone()),
            consumers: Some(Consumers::Pool { workers: Some(workers), service: self.demand.service.clone() }),
            retries: retries.map(|retries| RetryLimit {
                failure_share: retries.failure_share.clone(),
                max_attempts: retries.max_attempts,
            }),
            downstream_limit: self.deployed.limits.downstream.clone(),
            earlier: None,
            deadline: Some(recovery.within.clone()),
            oldest_age: None,
            acceptable_latency: None,
            confidence: None,
        }
    }

    /// New messages a second: first attempts where they are told apart, all attempts otherwise.
    fn arrivals(&self) -> &ArrivalRate {
        self.demand.retries.as_ref().map_or(&self.demand.rate, |retries| &retries.first_attempt_rate)
    }
}
