//! What the whole fleet shares: the database, the broker, the receiving side.

use super::deployment::Deployment;
use super::limits::{Caps, Limit, LimitName, tightest};
use super::question::{DatabaseUse, Question};
use crate::units::{ArrivalRate, Exact, Seconds};
use schemars::JsonSchema;
use serde::Serialize;

/// Whether a ceiling is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum CeilingVerdict {
    /// It is kept.
    Fits,
    /// It is exceeded.
    Refused,
}

impl CeilingVerdict {
    fn of(fits: bool) -> Self {
        if fits { CeilingVerdict::Fits } else { CeilingVerdict::Refused }
    }
}

/// The connections that a deployment takes of a database.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Database {
    /// Connections that the processes open: processes that run × the pool of each.
    pub connections: u64,
    /// Connections that they may open: those of the database less the reserved ones, or PgBouncer's clients.
    pub limit: u64,
    /// Processes that the limit allows.
    pub max_processes: u64,
    /// PgBouncer's own connections, where there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pgbouncer: Option<PgBouncer>,
    /// Whether it fits.
    pub verdict: CeilingVerdict,
}

/// PgBouncer's connections to the database.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct PgBouncer {
    /// Connections that it opens, `default_pool_size`.
    pub server_connections: u64,
    /// Connections that the database takes, less the reserved ones.
    pub server_limit: u64,
    /// Whether they fit.
    pub verdict: CeilingVerdict,
}

impl Database {
    pub(super) fn of(database: &DatabaseUse, deployment: &Deployment) -> Self {
        let available = database.max_connections.saturating_sub(database.reserved);
        let connections = deployment.deployed_processes.saturating_mul(database.pool);
        let limit = database.pgbouncer.map_or(available, |bouncer| bouncer.max_clients);
        let pgbouncer = database.pgbouncer.map(|bouncer| PgBouncer {
            server_connections: bouncer.pool_size,
            server_limit: available,
            verdict: CeilingVerdict::of(bouncer.pool_size <= available),
        });
        let servers_fit = pgbouncer.as_ref().is_none_or(|bouncer| bouncer.verdict == CeilingVerdict::Fits);
        Database {
            connections,
            limit,
            max_processes: limit / database.pool.max(1),
            pgbouncer,
            verdict: CeilingVerdict::of(connections <= limit && servers_fit),
        }
    }
}

/// The messages in flight at the broker.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Broker {
    /// Messages in flight if each is acknowledged when its attempt ends: one for each task.
    pub in_flight: u64,
    /// Messages in flight if each is held until its lease ends; absent where no rate is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub in_flight_if_held: Option<u64>,
    /// Messages that it lets be in flight.
    pub limit: u64,
    /// Whether those in flight fit if each is acknowledged when its attempt ends.
    pub verdict: CeilingVerdict,
}

impl Broker {
    pub(super) fn of(limit: u64, deployment: &Deployment, rate: Option<&ArrivalRate>, lease: &Exact) -> Self {
        let in_flight = deployment.deployed_concurrency;
        Broker {
            in_flight,
            in_flight_if_held: rate.and_then(|rate| (rate.exact() * lease).ceil()),
            limit,
            verdict: CeilingVerdict::of(in_flight <= limit),
        }
    }
}

/// The limit of the receiving side.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Downstream {
    /// Attempts a second that it takes.
    pub limit_per_s: f64,
    /// Attempts a second that arrive, where that is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rate_per_s: Option<f64>,
    /// Attempts at once that fill the limit, ⌈limit × mean⌉; more wait for it. Absent where no mean is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub useful_concurrency: Option<u64>,
    /// Whether the rate is within the limit.
    pub verdict: CeilingVerdict,
}

impl Downstream {
    pub(super) fn of(limit: &ArrivalRate, rate: Option<&ArrivalRate>, mean: Option<&Seconds>) -> Self {
        Downstream {
            limit_per_s: limit.get(),
            rate_per_s: rate.map(ArrivalRate::get),
            useful_concurrency: mean.and_then(|mean| limit.offered_load(mean).ceil()),
            verdict: CeilingVerdict::of(rate.is_none_or(|rate| rate <= limit)),
        }
    }
}

/// The most attempts at once that this fleet can reach with its shape.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct FleetCeiling {
    /// What sets it.
    pub limit: Limit,
    /// Attempts at once.
    pub concurrency: u64,
    /// Whether more workers than were asked for can help.
    pub more_workers_help: bool,
}

impl FleetCeiling {
    /// The lowest ceiling of the fleet; `None` where nothing bounds it.
    pub(super) fn of(
        question: &Question,
        caps: &Caps,
        deployment: &Deployment,
        downstream: Option<&Downstream>,
    ) -> Option<Self> {
        let tasks = deployment.tasks_per_process;
        let scaled = |limits: &[Limit], each: u64| {
            tightest(limits).map(|limit| (limit.clone(), limit.allows.saturating_mul(each)))
        };
        let receiving = downstream.and_then(|downstream| {
            let useful = downstream.useful_concurrency?;
            let limit = question.limits.downstream.as_ref()?;
            let words = format!("{limit} that the receiving side takes");
            Some((Limit::new(LimitName::Downstream, useful, words), useful))
        });
        let ceilings = [
            scaled(&caps.processes, tasks),
            scaled(&caps.pods, deployment.tasks_per_pod()),
            scaled(&caps.concurrency, 1),
            receiving,
        ];
        let (limit, concurrency) =
            ceilings.into_iter().flatten().min_by_key(|(_, concurrency)| *concurrency)?;
        Some(FleetCeiling { limit, concurrency, more_workers_help: question.concurrency < concurrency })
    }
}
