//! What the reader of a layout should know, as facts; the words are made in one place.

use super::ceilings::CeilingVerdict;
use super::hosts::{HostCap, HostVerdict};
use super::limits::{Limit, LimitName};
use super::plan::Layout;
use super::pool::{HttpPool, contradiction_in_words};
use super::ports::{PortScope, Ports, PortsVerdict};
use super::question::Question;
use super::search::Contradiction;
use crate::notice::Note;
use crate::units::human;

/// Connections in the pool of common HTTP clients by default (httpx: 100, of which 20 are kept alive).
const CLIENT_DEFAULT: u64 = 100;

/// A host that takes this share of all tasks when it hangs holds up the others.
const LARGE_SHARE: f64 = 0.2;

/// Hosts that one remark names.
const HOSTS_NAMED: usize = 5;

/// Identical pods that deploy this much more than was asked for are worth a word.
const MUCH_MORE: f64 = 1.1;

/// One finding on a layout.
#[derive(Clone, Debug, PartialEq)]
pub enum LayoutFinding {
    /// No layout keeps all limits.
    Contradictory(Contradiction),
    /// The asked shape exceeds a limit.
    Exceeds {
        /// The limit.
        limit: Limit,
        /// Whether the balanced proposal keeps it.
        proposed: bool,
    },
    /// More workers than were asked for cannot help.
    MoreCannotHelp {
        /// What sets the ceiling.
        limit: Limit,
        /// Attempts at once that it allows.
        concurrency: u64,
        /// Whether it is at or below what arrives.
        hopeless: bool,
    },
    /// PgBouncer itself opens more connections than the database takes.
    PgBouncerTooWide {
        /// Connections that it opens.
        server_connections: u64,
        /// Connections that the database takes.
        limit: u64,
    },
    /// Messages that are held until their lease ends exceed the broker's limit.
    HeldExceeds {
        /// Messages in flight then.
        in_flight: u64,
        /// The broker's limit.
        limit: u64,
    },
    /// Source ports run out, at least in the worst case.
    Ports {
        /// The count.
        ports: Ports,
        /// Whether the way out was stated, not assumed.
        stated: bool,
    },
    /// Hosts are slow: their senders must slow down.
    SlowTheSender(Vec<HostCap>),
    /// A host accepts fewer connections than its traffic needs.
    HostAcceptsTooFew(HostCap),
    /// Caps in each process allow more than a host accepts.
    SharedLimiter {
        /// The host.
        host: HostCap,
        /// Processes that run.
        processes: u64,
    },
    /// Hosts need fewer connections than there are processes, so that a cap of one in each allows more.
    FewerThanProcesses {
        /// The hosts.
        hosts: Vec<HostCap>,
        /// Processes that run.
        processes: u64,
    },
    /// Hosts that hang take a large share of all tasks each unless they are capped.
    TakesTheFleet(Vec<HostCap>),
    /// The two rules for the HTTP pool contradict each other.
    PoolRules(HttpPool),
    /// An HTTP client's default pool is smaller than the tasks.
    ClientDefault {
        /// Tasks in each process.
        tasks: u64,
    },
    /// Identical pods deploy more than was asked for.
    Overdeployed {
        /// What was asked for.
        concurrency: u64,
        /// What is deployed.
        deployed: u64,
        /// What the balanced proposal deploys.
        balanced: Option<u64>,
    },
    /// One pod has no other to stand in for it.
    SinglePod,
    /// An attempt can outlast its lease.
    LeaseTooShort {
        /// The lease in seconds.
        lease_s: f64,
        /// The longest attempt in seconds.
        timeout_s: f64,
    },
    /// No lease was given.
    LeaseAssumed {
        /// What is assumed, in seconds.
        lease_s: f64,
    },
}

impl LayoutFinding {
    pub(super) fn all(question: &Question, layout: &Layout) -> Vec<Self> {
        let mut findings = limits(layout);
        findings.extend(ceilings(layout));
        findings.extend(network(question, layout));
        findings.extend(shape(layout));
        if question.lease.is_none() {
            findings.push(LayoutFinding::LeaseAssumed { lease_s: layout.safety.lease_s });
        }
        let timeout_s = question.traffic.timeout.get();
        if layout.safety.lease_s < timeout_s {
            findings.push(LayoutFinding::LeaseTooShort { lease_s: layout.safety.lease_s, timeout_s });
        }
        findings
    }
}

fn limits(layout: &Layout) -> Vec<LayoutFinding> {
    let contradictory = layout.contradiction.clone().map(LayoutFinding::Contradictory);
    let proposed = layout.balanced.is_some();
    let exceeded = layout.exceeded.iter().cloned().map(|limit| LayoutFinding::Exceeds { limit, proposed });
    contradictory.into_iter().chain(exceeded).collect()
}

fn ceilings(layout: &Layout) -> Vec<LayoutFinding> {
    let mut findings = Vec::new();
    if let Some(ceiling) = layout.fleet_ceiling.as_ref().filter(|ceiling| !ceiling.more_workers_help) {
        let refused = layout.downstream.as_ref().is_some_and(|down| down.verdict == CeilingVerdict::Refused);
        findings.push(LayoutFinding::MoreCannotHelp {
            limit: ceiling.limit.clone(),
            concurrency: ceiling.concurrency,
            hopeless: ceiling.limit.limit == LimitName::Downstream && refused,
        });
    } else if let Some(downstream) =
        layout.downstream.as_ref().filter(|down| down.verdict == CeilingVerdict::Refused)
    {
        let words = format!("{} that the receiving side takes", human::rate(downstream.limit_per_s));
        let concurrency = downstream.useful_concurrency.unwrap_or(0);
        let limit = Limit::new(LimitName::Downstream, concurrency, words);
        findings.push(LayoutFinding::MoreCannotHelp { limit, concurrency, hopeless: true });
    }
    if let Some(bouncer) = layout.database.as_ref().and_then(|database| database.pgbouncer.as_ref())
        && bouncer.verdict == CeilingVerdict::Refused
    {
        findings.push(LayoutFinding::PgBouncerTooWide {
            server_connections: bouncer.server_connections,
            limit: bouncer.server_limit,
        });
    }
    if let Some(broker) = &layout.broker
        && let Some(in_flight) = broker.in_flight_if_held.filter(|held| *held >= broker.limit)
    {
        findings.push(LayoutFinding::HeldExceeds { in_flight, limit: broker.limit });
    }
    findings
}

fn network(question: &Question, layout: &Layout) -> Vec<LayoutFinding> {
    let mut findings = Vec::new();
    if let Some(ports) = layout.ports.as_ref().filter(|ports| ports.verdict != PortsVerdict::Ok) {
        let stated = question.network.egress.stated;
        findings.push(LayoutFinding::Ports { ports: ports.clone(), stated });
    }
    let processes = layout.deployment.map_or(0, |deployment| deployment.deployed_processes);
    let hosts = |like: fn(&HostCap) -> bool| -> Vec<HostCap> {
        layout.hosts.iter().filter(|host| like(host)).cloned().collect()
    };
    let slow = hosts(|host| host.verdict == HostVerdict::SlowTheSender);
    let taking = hosts(|host| host.share_without_cap >= LARGE_SHARE);
    let few = hosts(|host| host.limit.is_none() && host.needs_shared_limiter);
    findings.extend((!slow.is_empty()).then_some(LayoutFinding::SlowTheSender(slow)));
    let refusing = hosts(|host| host.carried_per_s.is_some());
    findings.extend(refusing.into_iter().map(LayoutFinding::HostAcceptsTooFew));
    let limited = hosts(|host| host.limit.is_some() && host.needs_shared_limiter);
    findings.extend(limited.into_iter().map(|host| LayoutFinding::SharedLimiter { host, processes }));
    findings.extend((!taking.is_empty()).then_some(LayoutFinding::TakesTheFleet(taking)));
    findings.extend((!few.is_empty()).then_some(LayoutFinding::FewerThanProcesses { hosts: few, processes }));
    findings
}

fn shape(layout: &Layout) -> Vec<LayoutFinding> {
    let mut findings = Vec::new();
    if let Some(pool) = layout.pool.as_ref().filter(|pool| pool.rules_contradict) {
        findings.push(LayoutFinding::PoolRules(pool.clone()));
    }
    let Some(deployment) = layout.deployment else { return findings };
    if deployment.tasks_per_process > CLIENT_DEFAULT {
        findings.push(LayoutFinding::ClientDefault { tasks: deployment.tasks_per_process });
    }
    if deployment.deployed_concurrency as f64 >= MUCH_MORE * deployment.concurrency as f64 {
        findings.push(LayoutFinding::Overdeployed {
            concurrency: deployment.concurrency,
            deployed: deployment.deployed_concurrency,
            balanced: layout.balanced.as_ref().map(|balanced| balanced.deployment.deployed_concurrency),
        });
    }
    if deployment.pods == 1 {
        findings.push(LayoutFinding::SinglePod);
    }
    findings
}

impl From<&LayoutFinding> for Note {
    fn from(finding: &LayoutFinding) -> Note {
        match finding {
            LayoutFinding::Contradictory(contradiction) => {
                Note::error("contradictory-limits", format!("no layout keeps all limits: {}", contradiction.words))
                    .with_hint("one of the two must give way")
            }
            LayoutFinding::Exceeds { limit, proposed } => {
                let note = Note::error("limit-exceeded", format!("this shape exceeds {}", limit.words));
                if *proposed { note.with_hint("the balanced layout keeps it") } else { note }
            }
            LayoutFinding::MoreCannotHelp { limit, concurrency, hopeless } => {
                more_cannot_help(limit, *concurrency, *hopeless)
            }
            LayoutFinding::PgBouncerTooWide { server_connections, limit } => Note::error(
                "pgbouncer-too-wide",
                format!(
                    "PgBouncer opens {} connections, and the database takes {}",
                    human::count(*server_connections),
                    human::count(*limit)
                ),
            )
            .with_hint("lower default_pool_size"),
            LayoutFinding::HeldExceeds { in_flight, limit } => Note::warning(
                "held-until-lease-ends",
                format!(
                    "messages that are held until their lease ends make {} in flight, and the broker lets {} be: \
                     more workers cannot help then",
                    human::count(*in_flight),
                    human::count(*limit)
                ),
            )
            .with_hint("acknowledge each message when its attempt ends"),
            LayoutFinding::Ports { ports, stated } => ports_note(ports, *stated),
            LayoutFinding::SlowTheSender(hosts) => slow_the_sender(hosts),
            LayoutFinding::HostAcceptsTooFew(host) => Note::error(
                "host-accepts-too-few",
                format!(
                    "{} accepts {}, and {} at {} a connection need {}: those that it accepts carry {}",
                    host.name,
                    human::counted(host.limit.unwrap_or_default(), "connection"),
                    human::rate(host.rate_per_s),
                    human::duration(host.hold_p95_s),
                    human::count(host.connections),
                    human::rate(host.carried_per_s.unwrap_or_default())
                ),
            )
            .with_hint(format!("slow down what is sent to {}", host.name)),
            LayoutFinding::SharedLimiter { host, processes } => Note::warning(
                "shared-limiter",
                format!(
                    "{} accepts {} from the whole fleet, and a cap of {} in each of {} allows {}",
                    host.name,
                    human::counted(host.limit.unwrap_or_default(), "connection"),
                    human::count(host.connections_per_process),
                    processes_in_words(*processes),
                    human::count(host.connections_allowed)
                ),
            )
            .with_hint("only a limiter that all processes share can hold fewer"),
            LayoutFinding::FewerThanProcesses { hosts, processes } => fewer_than_processes(hosts, *processes),
            LayoutFinding::TakesTheFleet(hosts) => takes_the_fleet(hosts),
            LayoutFinding::PoolRules(pool) => Note::warning("pool-rules-contradict", contradiction_in_words(pool))
                .with_hint("set the pool to one connection a task, and the descriptors to two a task and 256"),
            LayoutFinding::ClientDefault { tasks } => Note::warning(
                "client-default-pool",
                format!(
                    "the default pool of common HTTP clients, {CLIENT_DEFAULT} connections of which 20 are kept \
                     alive, is below {} tasks",
                    human::count(*tasks)
                ),
            )
            .with_hint("set both limits of the client"),
            LayoutFinding::Overdeployed { concurrency, deployed, balanced } => {
                let note = Note::info(
                    "overdeployed",
                    format!(
                        "pods are alike, so {} can run at once, not {}; that is what endpoints and the database see",
                        human::counted(*deployed, "attempt"),
                        human::count(*concurrency)
                    ),
                );
                match balanced.filter(|balanced| balanced < deployed) {
                    Some(balanced) => {
                        note.with_hint(format!("the balanced layout runs {}", human::count(balanced)))
                    }
                    None => note,
                }
            }
            LayoutFinding::SinglePod => {
                Note::info("single-pod", "one pod has no other to stand in for it while it is replaced")
            }
            LayoutFinding::LeaseTooShort { lease_s, timeout_s } => Note::error(
                "lease-too-short",
                format!(
                    "an attempt may take {}, and the lease ends after {}: the message is delivered twice",
                    human::duration(*timeout_s),
                    human::duration(*lease_s)
                ),
            )
            .with_hint("lease for longer than the longest attempt, or renew the lease"),
            LayoutFinding::LeaseAssumed { lease_s } => Note::info(
                "lease-assumed",
                format!("a lease of {} is assumed", human::duration(*lease_s)),
            )
            .with_hint("give --lease"),
        }
    }
}

fn slow_the_sender(hosts: &[HostCap]) -> Note {
    let (message, hint) = match hosts {
        [host] => (
            format!(
                "{} at {} a connection would take {} of them: the host is slow, and a higher cap only moves the queue \
                 there",
                human::rate(host.rate_per_s),
                human::duration(host.hold_p95_s),
                human::count(host.connections)
            ),
            format!("slow down what is sent to {} rather than raise its cap", host.name),
        ),
        _ => (
            format!(
                "{} hosts are slow, and higher caps only move the queue there: {}",
                human::count(hosts.len() as u64),
                listed(hosts, |host| format!(
                    "{} ({} at {} would take {} connections)",
                    host.name,
                    human::rate(host.rate_per_s),
                    human::duration(host.hold_p95_s),
                    human::count(host.connections)
                ))
            ),
            "slow down what is sent to them rather than raise their caps".to_owned(),
        ),
    };
    Note::warning("slow-the-sender", message).with_hint(hint)
}

fn takes_the_fleet(hosts: &[HostCap]) -> Note {
    let each = |host: &HostCap| format!("{} {}", host.name, human::percent(host.share_without_cap));
    let capped = hosts.iter().map(|host| host.share_with_cap).fold(0.0, f64::max);
    let message = match hosts {
        [host] => format!(
            "if {} hangs, it takes {} of all tasks without a cap, and {} with {} in each process",
            host.name,
            human::percent(host.share_without_cap),
            human::percent(host.share_with_cap),
            human::count(host.connections_per_process)
        ),
        _ => format!(
            "each of {} hosts that hangs takes a large share of all tasks without a cap ({}), and at most {} with its \
             cap",
            human::count(hosts.len() as u64),
            listed(hosts, each),
            human::percent(capped)
        ),
    };
    Note::warning("takes-the-fleet", message)
}

fn fewer_than_processes(hosts: &[HostCap], processes: u64) -> Note {
    let processes = processes_in_words(processes);
    let message = match hosts {
        [host] => format!(
            "{} needs {} over the fleet, and a cap of 1 in each of {processes} allows {}",
            host.name,
            human::counted(host.connections, "connection"),
            human::count(host.connections_allowed)
        ),
        _ => format!(
            "{} hosts need fewer connections than a cap of 1 in each of {processes} allows: {}",
            human::count(hosts.len() as u64),
            listed(hosts, |host| format!("{} {}", host.name, human::count(host.connections)))
        ),
    };
    Note::info("fewer-than-processes", message)
        .with_hint("only a limiter that all processes share can hold fewer")
}

/// The first few hosts in words, and how many more there are.
fn listed(hosts: &[HostCap], words: impl Fn(&HostCap) -> String) -> String {
    let named: Vec<String> = hosts.iter().take(HOSTS_NAMED).map(words).collect();
    let rest = hosts.len().saturating_sub(HOSTS_NAMED);
    let more = if rest > 0 { format!(" and {} more", human::count(rest as u64)) } else { String::new() };
    named.join(", ") + &more
}

fn more_cannot_help(limit: &Limit, concurrency: u64, hopeless: bool) -> Note {
    let ceiling = human::counted(concurrency, "attempt");
    let message = format!("more workers cannot help: {} are the ceiling, at {ceiling} at once", limit.words);
    let hint = match limit.limit {
        LimitName::Database | LimitName::PgbouncerClients => {
            "share connections through PgBouncer, make the pool of a process smaller, or put more tasks in a process"
        }
        LimitName::BrokerInFlight => "acknowledge earlier, shorten the lease, or spread over several queues",
        LimitName::Downstream => "raise that limit, spread over more receivers, or slow the senders down",
        _ => "raise it, or make attempts shorter",
    };
    let note = if hopeless {
        Note::error("more-cannot-help", message)
    } else {
        Note::warning("more-cannot-help", message)
    };
    note.with_hint(hint)
}

fn ports_note(ports: &Ports, stated: bool) -> Note {
    let (one, several) = match ports.scope {
        PortScope::Address => ("source address", "source addresses"),
        PortScope::Machine => ("machine", "machines"),
    };
    let at = if ports.sources == 1 {
        format!("at the one {one}")
    } else {
        format!("at each of {} {several}", human::count(ports.sources))
    };
    let open = human::count(ports.open);
    let held = if ports.time_wait == 0 {
        format!("{open} open connections hold a port each")
    } else {
        format!(
            "{} new connections hold {} ports in TIME_WAIT, beside {open} open ones",
            human::rate(ports.new_connections_per_s),
            human::count(ports.time_wait)
        )
    };
    let message = format!(
        "{held}: {} {at} if all go to one destination, the worst case, and {} are available",
        human::count(ports.worst_case_per_source),
        human::count(ports.limit)
    );
    let hint = match ports.most_sources {
        Some(most) if ports.sources_needed > most => format!(
            "reuse connections, or use several gateways: it takes {} {several}, and one gateway has {most}",
            human::count(ports.sources_needed)
        ),
        _ => format!("reuse connections, or use {} {several}", human::count(ports.sources_needed)),
    };
    let certain = stated && ports.verdict == PortsVerdict::Exhausted;
    let note = if certain {
        Note::error("ports-exhausted", message)
    } else {
        Note::warning("ports-exhausted", message)
    };
    note.with_hint(hint)
}

fn processes_in_words(processes: u64) -> String {
    if processes == 1 { "1 process".to_owned() } else { format!("{} processes", human::count(processes)) }
}
