//! What must not be exceeded, each limit in the unit in which it binds.

use super::deployment::{Deployment, tasks_within};
use super::question::{DatabaseUse, Question};
use crate::units::human;
use schemars::JsonSchema;
use serde::Serialize;

/// Tasks in a process and processes in a pod where nothing else is asked for: the layout of the sizing guides.
pub(super) const USUAL_TASKS: u64 = 160;
pub(super) const USUAL_PROCESSES: u64 = 4;

/// Processes in a pod beyond which nobody deploys without asking for it.
const MOST_PROCESSES: u64 = 64;

/// Which limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum LimitName {
    /// The attempts that must be able to run at once.
    Concurrency,
    /// Tasks in a process: as asked, or as is usual.
    TasksPerProcess,
    /// Processes in a pod: as asked, or as is usual.
    ProcessesPerPod,
    /// Descriptors of a process.
    Descriptors,
    /// Descriptors that a process needs for something else than tasks.
    OtherDescriptors,
    /// Tasks that share an event loop fairly.
    LoopFairness,
    /// Connections of the HTTP pool in a process.
    HttpPool,
    /// The one processor that an event loop can use.
    LoopCpu,
    /// Processor time of an attempt.
    CpuPerAttempt,
    /// Processors of a pod.
    VcpuPerPod,
    /// Memory of a pod.
    PodMemory,
    /// Memory of a process.
    MemoryPerProcess,
    /// Pods.
    MaxPods,
    /// Connections that the database takes.
    Database,
    /// Connections in a process's database pool.
    DatabasePool,
    /// Clients that PgBouncer takes.
    PgbouncerClients,
    /// Messages that the broker lets be in flight.
    BrokerInFlight,
    /// Attempts a second that the receiving side takes.
    Downstream,
}

/// A limit with what it allows.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Limit {
    /// Which limit.
    pub limit: LimitName,
    /// What it allows, in the unit in which it binds: tasks, processes, pods.
    pub allows: u64,
    /// The same in words.
    pub words: String,
}

impl Limit {
    pub(super) fn new(limit: LimitName, allows: u64, words: impl Into<String>) -> Self {
        Limit { limit, allows, words: words.into() }
    }
}

/// Every limit of a question, by what it bounds.
#[derive(Clone, Debug)]
pub(super) struct Caps {
    /// Tasks in each process.
    pub(super) tasks: Vec<Limit>,
    /// Processes in each pod.
    pub(super) processes_per_pod: Vec<Limit>,
    /// Tasks in each pod.
    pub(super) tasks_per_pod: Vec<Limit>,
    /// Processes of the fleet.
    pub(super) processes: Vec<Limit>,
    /// Pods of the fleet.
    pub(super) pods: Vec<Limit>,
    /// Attempts at once of the fleet.
    pub(super) concurrency: Vec<Limit>,
}

/// The tightest of several limits.
pub(super) fn tightest(limits: &[Limit]) -> Option<&Limit> {
    limits.iter().min_by_key(|limit| limit.allows)
}

/// What the tightest of several limits allows.
pub(super) fn allowed(limits: &[Limit]) -> u64 {
    tightest(limits).map_or(u64::MAX, |limit| limit.allows)
}

impl Caps {
    pub(super) fn of(question: &Question) -> Self {
        let limits = &question.limits;
        let maximum = |name, count: Option<u64>, words: &str| {
            count.map(|count| Limit::new(name, count, format!("{} {words}", human::count(count))))
        };
        Caps {
            tasks: tasks(question),
            processes_per_pod: processes_per_pod(question),
            tasks_per_pod: vcpu(question).into_iter().collect(),
            processes: question.database.iter().flat_map(database).collect(),
            pods: maximum(LimitName::MaxPods, limits.pods, "pods at most").into_iter().collect(),
            concurrency: maximum(
                LimitName::BrokerInFlight,
                limits.broker_in_flight,
                "messages in flight at the broker",
            )
            .into_iter()
            .collect(),
        }
    }

    /// The limits that a deployment exceeds.
    pub(super) fn exceeded_by(&self, deployment: &Deployment) -> Vec<Limit> {
        [
            (&self.tasks, deployment.tasks_per_process),
            (&self.processes_per_pod, deployment.processes_per_pod),
            (&self.tasks_per_pod, deployment.tasks_per_pod()),
            (&self.processes, deployment.deployed_processes),
            (&self.pods, deployment.pods),
            (&self.concurrency, deployment.deployed_concurrency),
        ]
        .into_iter()
        .flat_map(|(limits, used)| limits.iter().filter(move |limit| used > limit.allows).cloned())
        .collect()
    }
}

fn tasks(question: &Question) -> Vec<Limit> {
    let limits = &question.limits;
    let fairness = limits.tasks_per_loop;
    let mut tasks = vec![Limit::new(
        LimitName::LoopFairness,
        fairness,
        format!("{} tasks share an event loop fairly", human::count(fairness)),
    )];
    if let Some(typed) = question.shape.tasks_per_process {
        let words = format!("{} tasks a process, as asked", human::count(typed));
        tasks.push(Limit::new(LimitName::TasksPerProcess, typed, words));
    }
    if let Some(descriptors) = limits.descriptors {
        let within = tasks_within(descriptors);
        let words = format!(
            "{} descriptors, which are enough for {} tasks",
            human::count(descriptors),
            human::count(within)
        );
        tasks.push(Limit::new(LimitName::Descriptors, within, words));
    }
    if let Some(pool) = limits.http_pool {
        let words = format!("{} connections in the HTTP pool, one a task", human::count(pool));
        tasks.push(Limit::new(LimitName::HttpPool, pool, words));
    }
    if let Some(mean) = &question.traffic.mean
        && let Some(within) =
            mean.exact().over(question.traffic.cpu_per_attempt.exact()).and_then(|tasks| tasks.floor())
    {
        let words = format!(
            "one processor for each event loop, which {} tasks fill at {} of it every {mean}",
            human::count(within),
            question.traffic.cpu_per_attempt
        );
        tasks.push(Limit::new(LimitName::LoopCpu, within, words));
    }
    tasks
}

fn processes_per_pod(question: &Question) -> Vec<Limit> {
    let mut processes = Vec::new();
    match question.shape.processes_per_pod {
        Some(typed) => {
            let words = format!("{} processes a pod, as asked", human::count(typed));
            processes.push(Limit::new(LimitName::ProcessesPerPod, typed, words));
        }
        None => processes.push(Limit::new(
            LimitName::ProcessesPerPod,
            MOST_PROCESSES,
            format!("{MOST_PROCESSES} processes a pod, unless more are asked for"),
        )),
    }
    if let (Some(pod), Some(process)) = (&question.limits.pod_memory, &question.limits.memory_per_process) {
        let within = pod.exact().over(process.exact()).and_then(|processes| processes.floor()).unwrap_or(0);
        let words =
            format!("{pod} of memory a pod, which holds {} processes of {process}", human::count(within));
        processes.push(Limit::new(LimitName::PodMemory, within, words));
    }
    processes
}

/// Tasks that the processors of a pod can run, all of them busy.
fn vcpu(question: &Question) -> Option<Limit> {
    let (vcpu, mean) = (question.limits.vcpu_per_pod.as_ref()?, question.traffic.mean.as_ref()?);
    let within = (vcpu * mean.exact()).over(question.traffic.cpu_per_attempt.exact())?.floor()?;
    let words = format!(
        "{} processors a pod, which {} tasks fill at {} every {mean}",
        human::significant(vcpu.to_f64(), 4),
        human::count(within),
        question.traffic.cpu_per_attempt
    );
    Some(Limit::new(LimitName::VcpuPerPod, within, words))
}

fn database(database: &DatabaseUse) -> Vec<Limit> {
    let available = database.max_connections.saturating_sub(database.reserved);
    let within = |connections: u64| connections / database.pool.max(1);
    match &database.pgbouncer {
        Some(bouncer) => vec![Limit::new(
            LimitName::PgbouncerClients,
            within(bouncer.max_clients),
            format!(
                "{} clients of PgBouncer, which are {} processes with {} connections each",
                human::count(bouncer.max_clients),
                human::count(within(bouncer.max_clients)),
                human::count(database.pool)
            ),
        )],
        None => vec![Limit::new(
            LimitName::Database,
            within(available),
            format!(
                "{} database connections ({} \u{2212} {} reserved), which are {} processes with {} each",
                human::count(available),
                human::count(database.max_connections),
                human::count(database.reserved),
                human::count(within(available)),
                human::count(database.pool)
            ),
        )],
    }
}
