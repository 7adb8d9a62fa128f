//! `[pool.NAME.layout]`, `[[pool.NAME.host]]` and `[pool.NAME.database]`: how a pool is deployed.

use super::service::name;
use super::{ConfigError, Table};
use crate::layout::{DatabaseUse, Egress, Host, Limits, Network, PgBouncerUse, Platform, PortScope, Shape};
use crate::plan::Deployed;
use crate::profile::ServiceProfile;
use crate::sizing::Demand;
use crate::units::{ArrivalRate, Bytes, Count, Ratio, Seconds, Share};
use std::collections::HashSet;

/// What `layout` takes where nothing is said.
const USUAL_TASKS_PER_LOOP: u64 = 500;
const CPU_PER_ATTEMPT: &str = "1ms";
const TIMEOUT: &str = "10s";
const REUSE: &str = "90%";
const EGRESS: &str = "linux";
const RESERVED: &str = "3";
const PGBOUNCER_POOL: &str = "20";
/// Ports of a gateway of one's own stay in use for as long as on Linux.
const TIME_WAIT: &str = "60s";

/// The most tasks in a process and processes in a pod that anybody deploys.
const MOST_TASKS: u64 = 100_000;
const MOST_PROCESSES: u64 = 1_000;

/// Reads how a pool is deployed; what is not said is as `layout` takes it.
pub(super) fn deployment(
    pool: &mut Table<'_>,
    profile: Option<&ServiceProfile>,
    demand: &Demand,
) -> Result<Deployed, ConfigError> {
    let hosts = hosts(pool, profile, demand)?;
    let database = database(pool)?;
    let mut layout = pool.table("layout")?.unwrap_or_else(|| pool.empty("layout"));
    let deployed = laid_out(&mut layout, hosts, database)?;
    layout.finish()?;
    Ok(deployed)
}

fn laid_out(
    table: &mut Table<'_>,
    hosts: Vec<Host>,
    database: Option<DatabaseUse>,
) -> Result<Deployed, ConfigError> {
    let tasks = at_most("tasks in a process", MOST_TASKS);
    let processes = at_most("processes in a pod", MOST_PROCESSES);
    let count = |table: &mut Table<'_>, key| {
        table.optional(key, Count::parse_positive).map(|count| count.map(Count::get))
    };
    let limits = Limits {
        descriptors: count(table, "fd_limit")?,
        tasks_per_loop: count(table, "max_tasks_per_loop")?.unwrap_or(USUAL_TASKS_PER_LOOP),
        http_pool: count(table, "http_pool")?,
        vcpu_per_pod: table.optional("vcpu_per_pod", positive)?.map(|vcpu| vcpu.exact().clone()),
        pod_memory: table.optional("pod_memory", Bytes::parse_positive)?,
        memory_per_process: table.optional("memory_per_process", Bytes::parse_positive)?,
        pods: count(table, "max_pods")?,
        broker_in_flight: count(table, "broker_in_flight_limit")?,
        downstream: table.optional("downstream_limit", ArrivalRate::parse_positive)?,
    };
    if limits.pod_memory.is_some() && limits.memory_per_process.is_none() {
        return Err(table.missing("memory_per_process"));
    }
    Ok(Deployed {
        shape: Shape {
            tasks_per_process: table.optional("tasks_per_process", tasks)?,
            processes_per_pod: table.optional("processes_per_pod", processes)?,
        },
        limits,
        cpu_per_attempt: table.or("cpu_per_attempt", Seconds::parse_positive, CPU_PER_ATTEMPT)?,
        timeout: table.or("timeout", Seconds::parse_positive, TIMEOUT)?,
        network: Network {
            reuse: table.or("reuse_ratio", str::parse::<Share>, REUSE)?,
            egress: egress(table)?,
            destinations: count(table, "destinations")?.unwrap_or(1),
        },
        lease: table.optional("lease", Seconds::parse_positive)?,
        hosts,
        database,
    })
}

/// `egress`, or `nat_ports` of a gateway of one's own, with `nat_addresses` and `machines`.
fn egress(table: &mut Table<'_>) -> Result<Egress, ConfigError> {
    let platform = table.optional("egress", Platform::find)?;
    let ports = table.optional("nat_ports", Count::parse_positive)?;
    let addresses = table.optional("nat_addresses", Count::parse_positive)?;
    let machines = table.optional("machines", Count::parse_positive)?.map(Count::get);
    let stated = platform.is_some() || addresses.is_some() || machines.is_some();
    let by_address = addresses.is_some();
    let addresses = addresses.map_or(1, Count::get);
    if let Some(ports) = ports {
        if platform.is_some() {
            return Err(
                table.error_at("nat_ports", "they are those of a gateway of one's own; give them or egress")
            );
        }
        if machines.is_some() && by_address {
            return Err(
                table.error_at("machines", "ports are for each address or for each machine: leave out one")
            );
        }
        let time_wait = TIME_WAIT.parse().map_err(|error| table.error_at("nat_ports", error))?;
        return Ok(Egress::custom(ports.get(), addresses, machines, &time_wait));
    }
    let platform = match platform {
        Some(platform) => platform,
        None => Platform::find(EGRESS).map_err(|error| table.error(error))?,
    };
    match platform.scope {
        PortScope::Machine if by_address => {
            let message = format!("{} allots its ports to machines: give machines instead", platform.what);
            return Err(table.error_at("nat_addresses", message));
        }
        PortScope::Address if machines.is_some() => {
            let message =
                format!("{} has its ports for each address: give nat_addresses instead", platform.what);
            return Err(table.error_at("machines", message));
        }
        _ => {}
    }
    if let Some(most) = platform.most_addresses.filter(|most| addresses > *most) {
        return Err(
            table.error_at("nat_addresses", format!("{} takes {most} addresses at most", platform.what))
        );
    }
    Ok(Egress { platform, addresses, machines, stated })
}

/// `[[pool.NAME.host]]`, and the groups of the profile.
fn hosts(
    pool: &mut Table<'_>,
    profile: Option<&ServiceProfile>,
    demand: &Demand,
) -> Result<Vec<Host>, ConfigError> {
    let mut hosts: Vec<Host> = Vec::new();
    let mut names: HashSet<String> = HashSet::new();
    for mut table in pool.tables("host")? {
        let host = Host {
            name: table.required("name", name)?,
            rate: table.required("rate", ArrivalRate::parse_positive)?,
            hold_p95: table.required("p95", Seconds::parse_positive)?,
            keepalive: table.optional("keepalive", str::parse::<Seconds>)?,
            limit: table.optional("limit", Count::parse_positive)?.map(Count::get),
        };
        if !names.insert(host.name.clone()) {
            return Err(table.error_at("name", format!("there are two hosts \"{}\"", host.name)));
        }
        table.finish()?;
        hosts.push(host);
    }
    // What is said of a host stands over what was measured of it.
    let measured = profile.map_or_else(Vec::new, |profile| Host::of_profile(profile, &demand.rate));
    hosts.extend(measured.into_iter().filter(|host| !names.contains(&host.name)));
    Ok(hosts)
}

/// `[pool.NAME.database]`: what each process takes of a database.
fn database(pool: &mut Table<'_>) -> Result<Option<DatabaseUse>, ConfigError> {
    let Some(mut table) = pool.table("database")? else { return Ok(None) };
    let max_clients = table.optional("pgbouncer_clients", Count::parse_positive)?;
    let pool_size = table.optional("pgbouncer_pool", Count::parse_positive)?;
    if max_clients.is_none() && pool_size.is_some() {
        return Err(table.missing("pgbouncer_clients"));
    }
    let pool_size = match pool_size {
        Some(size) => size,
        None => PGBOUNCER_POOL.parse().map_err(|error| table.error(error))?,
    };
    let database = DatabaseUse {
        pool: table.required("pool", Count::parse_positive)?.get(),
        max_connections: table.required("max", Count::parse_positive)?.get(),
        reserved: table.or("reserved", str::parse::<Count>, RESERVED)?.get(),
        pgbouncer: max_clients
            .map(|clients| PgBouncerUse { max_clients: clients.get(), pool_size: pool_size.get() }),
    };
    table.finish()?;
    Ok(Some(database))
}

fn at_most(what: &str, most: u64) -> impl Fn(&str) -> Result<u64, String> {
    move |typed| {
        let count = Count::parse_positive(typed).map_err(|error| error.to_string())?.get();
        if count > most {
            return Err(format!("\"{typed}\": nobody deploys more than {most} {what}"));
        }
        Ok(count)
    }
}

fn positive(typed: &str) -> Result<Ratio, String> {
    let ratio: Ratio = typed.parse().map_err(|error: crate::units::ParseError| error.to_string())?;
    if ratio.exact().is_zero() {
        return Err(format!("\"{typed}\": it must be more than zero"));
    }
    Ok(ratio)
}
