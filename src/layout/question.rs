//! What is asked about a deployment.

use super::hosts::Host;
use super::ports::Egress;
use crate::units::{ArrivalRate, Bytes, Exact, Seconds, Share};

/// A question about a deployment.
#[derive(Clone, Debug, PartialEq)]
pub struct Question {
    /// Attempts that must be able to run at once.
    pub concurrency: u64,
    /// The shape that was asked for; what is left out is found.
    pub shape: Shape,
    /// What must not be exceeded.
    pub limits: Limits,
    /// The traffic, as far as it is known.
    pub traffic: Traffic,
    /// The hosts that attempts go to.
    pub hosts: Vec<Host>,
    /// The way out.
    pub network: Network,
    /// What each process takes of a database.
    pub database: Option<DatabaseUse>,
    /// How long a message is leased to a worker; without it, a minute is assumed.
    pub lease: Option<Seconds>,
}

/// The shape of a deployment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Shape {
    /// Tasks in each process, that is, attempts that it runs at once.
    pub tasks_per_process: Option<u64>,
    /// Processes in each pod.
    pub processes_per_pod: Option<u64>,
}

/// What must not be exceeded.
#[derive(Clone, Debug, PartialEq)]
pub struct Limits {
    /// Descriptors that a process may open.
    pub descriptors: Option<u64>,
    /// Tasks that share one event loop fairly.
    pub tasks_per_loop: u64,
    /// Connections in a process's HTTP pool, where that is fixed.
    pub http_pool: Option<u64>,
    /// Processors of a pod.
    pub vcpu_per_pod: Option<Exact>,
    /// Memory of a pod.
    pub pod_memory: Option<Bytes>,
    /// Memory that a process takes with all its tasks.
    pub memory_per_process: Option<Bytes>,
    /// Pods.
    pub pods: Option<u64>,
    /// Messages that the broker lets be in flight.
    pub broker_in_flight: Option<u64>,
    /// Attempts a second that the receiving side takes.
    pub downstream: Option<ArrivalRate>,
}

/// The traffic, as far as it is known.
#[derive(Clone, Debug, PartialEq)]
pub struct Traffic {
    /// Attempts a second.
    pub rate: Option<ArrivalRate>,
    /// Mean service time.
    pub mean: Option<Seconds>,
    /// Processor time of an attempt.
    pub cpu_per_attempt: Seconds,
    /// The longest that an attempt may take before it is given up.
    pub timeout: Seconds,
}

/// The way out of the deployment.
#[derive(Clone, Debug, PartialEq)]
pub struct Network {
    /// Share of attempts that find an open connection.
    pub reuse: Share,
    /// Where source ports come from.
    pub egress: Egress,
    /// Different destinations (address and port) over which connections spread; 1 is the worst case.
    pub destinations: u64,
}

/// What each process takes of a database.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DatabaseUse {
    /// Connections in each process's pool.
    pub pool: u64,
    /// Connections that the database takes.
    pub max_connections: u64,
    /// Of these, kept back for administrators.
    pub reserved: u64,
    /// A PgBouncer between the processes and the database.
    pub pgbouncer: Option<PgBouncerUse>,
}

/// A PgBouncer in front of a database.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PgBouncerUse {
    /// Client connections that it takes, `max_client_conn`.
    pub max_clients: u64,
    /// Server connections that it opens, `default_pool_size`.
    pub pool_size: u64,
}
