//! `[pool.NAME.autoscale]`: how the replicas of a pool follow its traffic.

use super::{ConfigError, Table, trace};
use crate::autoscale::{Bounds, BuiltIn, Controller, Downstream, Policy, PolicyName, Trace};
use crate::plan::{Autoscaling, Traffic};
use crate::units::{ArrivalRate, Count, Ratio, Seconds, Share};
use std::io::Read;

const SHAPES: [(&str, BuiltIn); 3] =
    [("surge", BuiltIn::Surge), ("outage", BuiltIn::Outage), ("nightly", BuiltIn::Nightly)];

/// The longest trace that is read, in bytes.
const LARGEST: u64 = 64 * 1024 * 1024;

/// The fewest replicas, where nothing is said.
const USUAL_MINIMUM: u64 = 3;

/// What a refused attempt costs the receiving side, as a share of one that it serves, where nothing is said.
const USUAL_REFUSAL_COST: f64 = 0.1;

/// Reads the table, with the defaults of `autoscale replay`; the lease is that of the layout where nothing is said.
pub(super) fn autoscaling(
    pool: &mut Table<'_>,
    lease: Option<&Seconds>,
) -> Result<Option<Autoscaling>, ConfigError> {
    let Some(mut table) = pool.table("autoscale")? else { return Ok(None) };
    let read = replayed(&mut table, lease)?;
    table.finish()?;
    Ok(Some(read))
}

fn replayed(table: &mut Table<'_>, lease: Option<&Seconds>) -> Result<Autoscaling, ConfigError> {
    let policy = policy(table)?;
    let usual_lease = lease.map_or_else(|| whole_seconds("60s"), whole);
    Ok(Autoscaling {
        policy,
        tasks_per_replica: table.optional("tasks_per_replica", Count::parse_positive)?.map(Count::get),
        traffic: traffic(table)?,
        interval_s: table.or("interval", at_least_a_second, "15s")?,
        start_delay_s: table.or("start_delay", whole_seconds, "30s")?,
        lease_s: match table.optional("lease", whole_seconds)? {
            Some(lease) => lease,
            None => usual_lease.map_err(|reason| table.error(reason))?,
        },
        objective: table.or("objective", Seconds::parse_positive, "60s")?,
        vcpu_per_replica: table.or("vcpu_per_replica", positive, "1")?,
        downstream: downstream(table)?,
    })
}

fn policy(table: &mut Table<'_>) -> Result<Policy, ConfigError> {
    let names = PolicyName::ALL.map(|name| (name.as_str(), name));
    let positive =
        |table: &mut Table<'_>, key, usual| table.or(key, Count::parse_positive, usual).map(Count::get);
    let minimum = table.optional("min", str::parse::<Count>)?;
    let policy = Policy {
        name: table.choice("policy", &names)?.unwrap_or(PolicyName::Age),
        controller: Controller {
            target_age: table.or("target_age", Seconds::parse_positive, "30s")?,
            scale_in_age: table.or("scale_in_age", str::parse::<Seconds>, "10s")?,
            step_up: positive(table, "step_up", "8")?,
            step_down: positive(table, "step_down", "1")?,
            bounds: Bounds {
                minimum: minimum.map_or(USUAL_MINIMUM, Count::get),
                maximum: positive(table, "max", "60")?,
            },
        },
        target_depth: positive(table, "target_depth", "1000")?,
        acceptable_latency: table.or("acceptable_latency", Seconds::parse_positive, "30s")?,
        target_cpu: table.or("target_cpu", Share::parse_inside, "70%")?.get(),
    };
    let (controller, stated) = (&policy.controller, minimum.is_some());
    if controller.bounds.minimum > controller.bounds.maximum {
        let Bounds { minimum, maximum } = controller.bounds;
        return Err(match stated {
            true => table.error_at("min", format!("{minimum} is above max, {maximum}")),
            false => {
                table.error_at("max", format!("{maximum} is below min, {minimum} unless it is said; say min"))
            }
        });
    }
    if controller.scale_in_age > controller.target_age {
        return Err(table.error_at(
            "scale_in_age",
            format!(
                "{} is above target_age, {}: it would grow and shrink at once",
                controller.scale_in_age, controller.target_age
            ),
        ));
    }
    Ok(policy)
}

/// `trace`, a file, or `shape`, one that comes with the program; a surge where nothing is said.
fn traffic(table: &mut Table<'_>) -> Result<Traffic, ConfigError> {
    let shape = table.choice("shape", &SHAPES)?;
    let document = table.document();
    let trace = table.optional("trace", |named| {
        let path = document.resolve(named);
        read(&path).map_err(|reason| format!("reading {}: {reason}", path.display()))
    })?;
    match (trace, shape) {
        (Some(_), Some(_)) => Err(table.error_at("shape", "there is a trace as well; give one of them")),
        (Some(trace), None) => Ok(Traffic::Trace(trace)),
        (None, shape) => Ok(Traffic::Shape(shape.unwrap_or(BuiltIn::Surge))),
    }
}

fn read(path: &std::path::Path) -> Result<Trace, String> {
    let file = std::fs::File::open(path).map_err(|error| error.to_string())?;
    let mut text = String::new();
    // One byte more tells a trace that ends there from one that is cut.
    file.take(LARGEST + 1).read_to_string(&mut text).map_err(|error| error.to_string())?;
    if text.len() as u64 > LARGEST {
        return Err("it is longer than 64 MiB; leave out rows, or join them to longer steps".to_owned());
    }
    trace::parse(&text)
}

fn downstream(table: &mut Table<'_>) -> Result<Option<Downstream>, ConfigError> {
    let limit = table.optional("downstream_limit", ArrivalRate::parse_positive)?;
    let refusal_cost = table.optional("refusal_cost", Share::parse_inside)?;
    match (limit, refusal_cost) {
        (Some(limit), cost) => {
            let refusal_cost = cost.map_or(USUAL_REFUSAL_COST, |cost| cost.get());
            Ok(Some(Downstream { limit, refusal_cost }))
        }
        (None, Some(_)) => Err(table.missing("downstream_limit")),
        (None, None) => Ok(None),
    }
}

fn whole_seconds(typed: &str) -> Result<u64, String> {
    whole(&typed.parse::<Seconds>().map_err(|error| error.to_string())?)
}

fn whole(time: &Seconds) -> Result<u64, String> {
    time.exact().to_whole().ok_or_else(|| format!("{time}: a replay counts in whole seconds"))
}

fn at_least_a_second(typed: &str) -> Result<u64, String> {
    match whole_seconds(typed)? {
        0 => Err(format!("\"{typed}\": it must be more than zero")),
        seconds => Ok(seconds),
    }
}

fn positive(typed: &str) -> Result<f64, String> {
    match typed.parse::<Ratio>().map_err(|error| error.to_string())?.get() {
        0.0 => Err(format!("\"{typed}\": it must be more than zero")),
        number => Ok(number),
    }
}
