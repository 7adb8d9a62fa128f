//! The report of `layout`.

use super::{Answer, Column, Explanation, NotFinite, Report, Section, Table};
use crate::layout::{
    Answered, CeilingVerdict, Database, Deployment, HostVerdict, Layout, PortScope, Ports, PortsVerdict,
    Question,
};
use crate::notice::Severity;
use crate::units::{Bytes, human};
use serde::Serialize;

/// What `layout` was given, as the envelope shows it.
#[derive(Serialize)]
struct Inputs {
    concurrency: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    tasks_per_process: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    processes_per_pod: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    fd_limit: Option<u64>,
    max_tasks_per_loop: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    http_pool: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    vcpu_per_pod: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pod_memory_bytes: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    memory_per_process_bytes: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_pods: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    broker_in_flight_limit: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    downstream_limit_per_s: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    rate_per_s: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    service_mean_s: Option<f64>,
    cpu_per_attempt_s: f64,
    timeout_s: f64,
    reuse_ratio: f64,
    egress: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    database_pool: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    database_max: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    database_reserved: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    lease_s: Option<f64>,
}

/// Builds the report of a layout.
///
/// # Errors
/// If a number is not finite, which would be a defect.
pub fn report(question: &Question, answered: &Answered) -> Result<Report, NotFinite> {
    let layout = &answered.layout;
    let answer = if layout.holds() { Answer::Yes } else { Answer::No };
    let mut report = Report::new("layout", answer, headline(question, layout), &inputs(question), layout)?;
    if layout.deployment.is_some() || layout.balanced.is_some() {
        report.sections.push(Section::Table(shapes(layout)));
    }
    report.sections.push(takes(layout));
    if !layout.hosts.is_empty() {
        report.sections.push(Section::Table(hosts(layout)));
    }
    report.notes.clone_from(&layout.findings);
    report.explanations = explanations(question, layout);
    Ok(report)
}

fn inputs(question: &Question) -> Inputs {
    let (limits, traffic, database) = (&question.limits, &question.traffic, &question.database);
    Inputs {
        concurrency: question.concurrency,
        tasks_per_process: question.shape.tasks_per_process,
        processes_per_pod: question.shape.processes_per_pod,
        fd_limit: limits.descriptors,
        max_tasks_per_loop: limits.tasks_per_loop,
        http_pool: limits.http_pool,
        vcpu_per_pod: limits.vcpu_per_pod.as_ref().map(crate::units::Exact::to_f64),
        pod_memory_bytes: limits.pod_memory.as_ref().map(Bytes::get),
        memory_per_process_bytes: limits.memory_per_process.as_ref().map(Bytes::get),
        max_pods: limits.pods,
        broker_in_flight_limit: limits.broker_in_flight,
        downstream_limit_per_s: limits.downstream.as_ref().map(|limit| limit.get()),
        rate_per_s: traffic.rate.as_ref().map(|rate| rate.get()),
        service_mean_s: traffic.mean.as_ref().map(|mean| mean.get()),
        cpu_per_attempt_s: traffic.cpu_per_attempt.get(),
        timeout_s: traffic.timeout.get(),
        reuse_ratio: question.network.reuse.get(),
        egress: question.network.egress.platform.name.clone(),
        database_pool: database.map(|database| database.pool),
        database_max: database.map(|database| database.max_connections),
        database_reserved: database.map(|database| database.reserved),
        lease_s: question.lease.as_ref().map(|lease| lease.get()),
    }
}

fn headline(question: &Question, layout: &Layout) -> String {
    let target = human::count(question.concurrency);
    if let Some(contradiction) = &layout.contradiction {
        return format!("No: no layout for {target} at once keeps all limits: {}.", contradiction.words);
    }
    let proposed = layout.balanced.as_ref().map(|balanced| {
        format!(
            "{}, which run {} at once",
            balanced.deployment.in_words(),
            human::count(balanced.deployment.deployed_concurrency)
        )
    });
    let proposed = proposed.unwrap_or_default();
    match (&layout.deployment, layout.exceeded.first()) {
        (Some(asked), Some(limit)) => {
            format!("No: {} exceed {}. This fits: {proposed}.", asked.in_words(), limit.words)
        }
        (Some(asked), None) if !layout.holds() => {
            let problem = layout.findings.iter().find(|finding| finding.severity == Severity::Error);
            format!(
                "No: {} would do for {target} at once, but {}.",
                asked.in_words(),
                problem.map_or("a limit is not kept", |problem| &problem.message)
            )
        }
        (Some(asked), None) => {
            let differs = layout.balanced.as_ref().is_some_and(|balanced| balanced.deployment != *asked);
            let other = if differs { format!("; balanced: {proposed}") } else { String::new() };
            format!(
                "{target} at once are {}, which run {}{other}.",
                asked.in_words(),
                human::count(asked.deployed_concurrency)
            )
        }
        (None, _) => format!("This fits: {proposed}."),
    }
}

fn shapes(layout: &Layout) -> Table {
    let columns = [
        Column::words("layout"),
        Column::number("pods"),
        Column::number("processes a pod"),
        Column::number("tasks a process"),
        Column::number("at once"),
        Column::number("descriptors"),
        Column::words("set by"),
    ];
    let mut table = Table::new("Deployment", &columns);
    let mut row = |name: &str, deployment: &Deployment, binding: String| {
        table.row([
            name.to_owned(),
            human::count(deployment.pods),
            human::count(deployment.processes_per_pod),
            human::count(deployment.tasks_per_process),
            human::count(deployment.deployed_concurrency),
            human::count(deployment.fd_limit_per_process),
            binding,
        ]);
    };
    if let Some(asked) = &layout.deployment {
        let exceeded = layout.exceeded.first().map(|limit| format!("exceeds {}", limit.words));
        row("as asked", asked, exceeded.unwrap_or_default());
    }
    if let Some(balanced) = &layout.balanced {
        row("balanced", &balanced.deployment, balanced.binding_limit.words.clone());
    }
    table.highlighted.extend(layout.balanced.as_ref().map(|_| table.rows.len() - 1));
    table
}

fn takes(layout: &Layout) -> Section {
    let mut rows: Vec<(String, String)> = Vec::new();
    let mut fact =
        |name: &str, value: Option<String>| rows.extend(value.map(|value| (name.to_owned(), value)));
    fact(
        "HTTP pool",
        layout.pool.as_ref().map(|pool| {
            format!(
                "{} connections a process, all kept alive for {} (one guide keeps half, {}); by descriptors it would \
                 be {}",
                human::count(pool.max_connections),
                human::duration(pool.keepalive_expiry_s),
                human::count(pool.half_keepalive),
                human::count(pool.by_descriptors)
            )
        }),
    );
    fact("ports", layout.ports.as_ref().map(ports));
    fact("database", layout.database.as_ref().map(database));
    fact(
        "broker",
        layout.broker.as_ref().map(|broker| {
            let held = broker
                .in_flight_if_held
                .map(|held| format!("; {} if each is held until its lease ends", human::count(held)));
            format!(
                "{} in flight of {}{}",
                human::count(broker.in_flight),
                human::count(broker.limit),
                held.unwrap_or_default()
            )
        }),
    );
    fact(
        "receiving side",
        layout.downstream.as_ref().map(|downstream| {
            let useful = downstream
                .useful_concurrency
                .map(|useful| format!(", which {} at once fill", human::count(useful)));
            format!("takes {}{}", human::rate(downstream.limit_per_s), useful.unwrap_or_default())
        }),
    );
    fact(
        "fleet's ceiling",
        layout.fleet_ceiling.as_ref().map(|ceiling| {
            format!("{} at once, by {}", human::count(ceiling.concurrency), ceiling.limit.words)
        }),
    );
    let cores = |cores: f64| format!("{} processors", human::significant(cores, 3));
    fact("CPU", layout.cpu_cores.map(|busy| format!("{} for this traffic", cores(busy))));
    fact(
        "CPU at most",
        layout.cpu_cores_at_full_load.map(|busy| format!("{} with all tasks busy", cores(busy))),
    );
    fact(
        "shutdown",
        Some(format!(
            "stop leasing on SIGTERM and end what has begun: grace period {} s, one pod every {} s at most when \
             scaling in",
            human::count(layout.safety.grace_period_s),
            human::count(layout.safety.scale_in_period_s)
        )),
    );
    Section::Facts { title: "What it takes", rows }
}

fn ports(ports: &Ports) -> String {
    let verdict = match ports.verdict {
        PortsVerdict::Ok => "enough",
        PortsVerdict::OkIfSpread => "enough only if spread over the destinations",
        PortsVerdict::Exhausted => "not enough in the worst case",
    };
    let source = match ports.scope {
        PortScope::Address => "source address",
        PortScope::Machine => "machine",
    };
    format!(
        "{} new connections, {} ports in TIME_WAIT; each {source} holds {} if all go to one destination, and has {}: \
         {verdict}",
        human::rate(ports.new_connections_per_s),
        human::count(ports.time_wait),
        human::count(ports.worst_case_per_source),
        human::count(ports.limit)
    )
}

fn database(database: &Database) -> String {
    let verdict = match database.verdict {
        CeilingVerdict::Fits => "fits".to_owned(),
        CeilingVerdict::Refused => {
            format!("refused, at most {} processes", human::count(database.max_processes))
        }
    };
    let bouncer = database.pgbouncer.as_ref().map(|bouncer| {
        format!(
            "; PgBouncer opens {} of {}",
            human::count(bouncer.server_connections),
            human::count(bouncer.server_limit)
        )
    });
    format!(
        "{} connections of {}: {verdict}{}",
        human::count(database.connections),
        human::count(database.limit),
        bouncer.unwrap_or_default()
    )
}

fn hosts(layout: &Layout) -> Table {
    let columns = [
        Column::words("host"),
        Column::number("needs"),
        Column::number("cap a process"),
        Column::number("caps allow"),
        Column::number("idle kept"),
        Column::number("if it hangs"),
        Column::number("with the cap"),
        Column::words("verdict"),
    ];
    let mut table = Table::new("Hosts", &columns);
    for host in &layout.hosts {
        table.row([
            host.name.clone(),
            human::count(host.connections),
            human::count(host.connections_per_process),
            human::count(host.connections_allowed),
            human::duration(host.keepalive_expiry_s),
            format!("{} of tasks", human::percent(host.share_without_cap)),
            human::percent(host.share_with_cap),
            match host.verdict {
                HostVerdict::Ok => "ok",
                HostVerdict::SlowTheSender => "slow the sender",
                HostVerdict::SharedLimiter => "shared limiter",
            }
            .to_owned(),
        ]);
    }
    table
}

fn explanations(question: &Question, layout: &Layout) -> Vec<Explanation> {
    const GUIDES: &str = "the published sizing guides";
    let mut steps = Vec::new();
    let mut step = |quantity, formula: &str, numbers: String, source| {
        steps.push(Explanation { quantity, formula: formula.to_owned(), numbers, source });
    };
    if let Some(asked) = &layout.deployment {
        step(
            "processes and pods",
            "\u{2308}N / tasks\u{2309}, \u{2308}processes / processes a pod\u{2309}",
            format!(
                "\u{2308}{} / {}\u{2309} = {}, \u{2308}{} / {}\u{2309} = {}",
                question.concurrency,
                asked.tasks_per_process,
                asked.processes,
                asked.processes,
                asked.processes_per_pod,
                asked.pods
            ),
            GUIDES,
        );
        step(
            "descriptors",
            "2 \u{d7} tasks + 256",
            format!("2 \u{d7} {} + 256 = {}", asked.tasks_per_process, asked.fd_limit_per_process),
            GUIDES,
        );
    }
    if let (Some(ports), Some(rate)) = (&layout.ports, &question.traffic.rate) {
        step(
            "ports in TIME_WAIT",
            "rate \u{d7} (1 \u{2212} reuse) \u{d7} time that a closed connection keeps its port",
            format!(
                "{rate} \u{d7} (1 \u{2212} {}) \u{d7} {} s = {}",
                human::significant(question.network.reuse.get(), 4),
                question.network.egress.platform.time_wait_s,
                ports.time_wait
            ),
            "RFC 9293, section 3.6; the ports by the source that the result names",
        );
    }
    if let Some(host) = layout.hosts.first() {
        step(
            "connections to a host",
            "\u{2308}rate \u{d7} p95 of the hold time\u{2309}",
            format!(
                "\u{2308}{} \u{d7} {} s\u{2309} = {}",
                human::rate(host.rate_per_s),
                host.hold_p95_s,
                host.connections
            ),
            GUIDES,
        );
    }
    steps
}
