//! `[pool.NAME]`: what arrives, what it must achieve, and the tables below it.

use super::autoscaling::autoscaling;
use super::deployment::deployment;
use super::objectives::objectives;
use super::service::{Service, failure_mean, name, service};
use super::{ConfigError, Table, place};
use crate::notice::Note;
use crate::plan::{Pool, Recovery};
use crate::sizing::{ArrivalProcess, Demand, MOST_PLACES, Objective, QueueBounds, Retries, Scenario};
use crate::units::{ArrivalRate, Count, Ratio, Seconds, Share};

/// The largest pool that is judged, as `size` has it.
const LARGEST_POOL: u64 = 100_000_000_000;

/// The most attempts of one message.
const MOST_ATTEMPTS: u32 = 1_000;

/// The largest squared coefficient of variation that is taken.
const LARGEST_SCV: f64 = 1e6;

/// Reads a pool.
pub(super) fn pool(name: String, table: &mut Table<'_>, notes: &mut Vec<Note>) -> Result<Pool, ConfigError> {
    let mut remarks = Vec::new();
    let service = service(table, &mut remarks)?;
    notes.extend(
        remarks.into_iter().map(|note| Note { message: format!("{name}: {}", note.message), ..note }),
    );
    let demand = demand(table, &service)?;
    let demand = bounded(table, demand)?;
    let mut objectives = objectives(table)?;
    objectives.extend(max_lost(table, &demand)?);
    let workers_deployed = table.optional("workers_deployed", workers)?;
    if objectives.is_empty() && workers_deployed.is_none() {
        return Err(table.error(
            "it has no objective; say what it must achieve: wait, wait_quantile, wait_probability, max_utilisation, \
             headroom, beta or max_lost",
        ));
    }
    let scenarios = scenarios(table, &demand)?;
    let deployed = deployment(table, service.profile.as_ref(), &demand)?;
    Ok(Pool {
        name,
        at: place(table.at()),
        objectives,
        workers_deployed,
        recovery: recovery(table)?,
        autoscaling: autoscaling(table, deployed.lease.as_ref())?,
        scenarios,
        deployed,
        profile: service.profile,
        demand,
    })
}

/// `rate`, or first attempts with what failures make of them, or the busiest minute of the profile.
fn demand(table: &mut Table<'_>, service: &Service) -> Result<Demand, ConfigError> {
    let rate = table.optional("rate", ArrivalRate::parse_positive)?;
    let first_attempt_rate = table.optional("first_attempt_rate", ArrivalRate::parse_positive)?;
    let failure_share = table.optional("failure_share", str::parse::<Share>)?;
    let max_attempts = table.optional("max_attempts", attempts)?;
    let failure_mean = failure_mean(table, &service.time)?;
    let arrivals = arrivals(table)?;
    let Some(first_attempt_rate) = first_attempt_rate else {
        for (key, given) in [
            ("failure_share", failure_share.is_some()),
            ("max_attempts", max_attempts.is_some()),
            ("failure_mean", failure_mean.is_some()),
        ] {
            if given {
                return Err(table
                    .error_at(key, "it is about first attempts; give first_attempt_rate instead of rate"));
            }
        }
        let measured = || service.profile.as_ref()?.arrivals()?.busiest_minute_rate();
        let rate = rate.or_else(measured).ok_or_else(|| table.missing("rate"))?;
        return Demand::new(rate, service.time.clone(), arrivals)
            .map_err(|error| table.error_at("rate", error));
    };
    if rate.is_some() {
        return Err(table.error_at("rate", "it counts all attempts; give it or first_attempt_rate, not both"));
    }
    let retries = Retries {
        first_attempt_rate,
        failure_share: failure_share.ok_or_else(|| table.missing("failure_share"))?,
        max_attempts: max_attempts.ok_or_else(|| table.missing("max_attempts"))?,
        failure_mean,
    };
    retries
        .demand(service.time.clone(), arrivals)
        .map_err(|error| table.error_at("first_attempt_rate", error))
}

/// `patience` and `queue_limit`: attempts that give up or are turned away.
fn bounded(table: &mut Table<'_>, demand: Demand) -> Result<Demand, ConfigError> {
    let bounds = QueueBounds {
        patience: table.optional("patience", Seconds::parse_positive)?,
        queue_limit: table.optional("queue_limit", places)?,
    };
    let key = if bounds.patience.is_some() { "patience" } else { "queue_limit" };
    demand.bounded(bounds).map_err(|error| table.error_at(key, error))
}

/// `max_lost`, which needs something that loses.
fn max_lost(table: &mut Table<'_>, demand: &Demand) -> Result<Option<Objective>, ConfigError> {
    let share = table.optional("max_lost", Share::parse_inside)?;
    if share.is_some() && !demand.bounds.is_any() {
        let missing =
            "without patience or queue_limit nothing is ever lost; give one of them, or leave this out";
        return Err(table.error_at("max_lost", missing));
    }
    Ok(share.map(Objective::MaxLost))
}

fn places(typed: &str) -> Result<u64, String> {
    let places = typed.parse::<Count>().map_err(|error| error.to_string())?.get();
    if places > MOST_PLACES {
        return Err(format!("\"{typed}\": so many places are as good as endless; leave it out"));
    }
    Ok(places)
}

/// `arrival_scv`, or `batch`; a Poisson stream where nothing is said.
fn arrivals(table: &mut Table<'_>) -> Result<ArrivalProcess, ConfigError> {
    let scv = table.optional("arrival_scv", scv)?;
    let batch = table.optional("batch", Count::parse_positive)?;
    match (scv, batch) {
        (Some(_), Some(_)) => {
            Err(table.error_at("batch", "it is another law than arrival_scv; give one of them"))
        }
        (Some(scv), None) => Ok(ArrivalProcess::Renewal { scv: scv.get() }),
        (None, Some(size)) => Ok(ArrivalProcess::Batches { size: size.get() }),
        (None, None) => Ok(ArrivalProcess::Poisson),
    }
}

fn workers(typed: &str) -> Result<u64, String> {
    let workers = Count::parse_positive(typed).map_err(|error| error.to_string())?.get();
    if workers > LARGEST_POOL {
        return Err(format!("\"{typed}\": more than 100 billion workers are no pool"));
    }
    Ok(workers)
}

fn attempts(typed: &str) -> Result<u32, String> {
    typed
        .parse::<u32>()
        .ok()
        .filter(|attempts| (1..=MOST_ATTEMPTS).contains(attempts))
        .ok_or_else(|| format!("\"{typed}\": a whole number from 1 to {MOST_ATTEMPTS}"))
}

fn scv(typed: &str) -> Result<Ratio, String> {
    let scv: Ratio = typed.parse().map_err(|error: crate::units::ParseError| error.to_string())?;
    if scv.get() > LARGEST_SCV {
        return Err(format!("\"{typed}\": more than a million is no variability"));
    }
    Ok(scv)
}

/// `[[pool.NAME.surge]]`: a name, and a rate, a mean, or both; what is not given is that of the usual traffic.
fn scenarios(table: &mut Table<'_>, steady: &Demand) -> Result<Vec<Scenario>, ConfigError> {
    let mut scenarios: Vec<Scenario> = Vec::new();
    for mut surge in table.tables("surge")? {
        let name = surge.required("name", name)?;
        if scenarios.iter().any(|known| known.name == name) {
            return Err(surge.error_at("name", format!("there are two surges \"{name}\"")));
        }
        let rate = surge.optional("rate", ArrivalRate::parse_positive)?;
        let mean = surge.optional("mean", Seconds::parse_positive)?;
        if rate.is_none() && mean.is_none() {
            return Err(surge.missing("rate"));
        }
        let service = mean.map_or_else(|| steady.service.clone(), |mean| steady.service.stretched_to(mean));
        let demand = Demand::new(rate.unwrap_or_else(|| steady.rate.clone()), service, steady.arrivals)
            .and_then(|demand| demand.bounded(steady.bounds.clone()));
        scenarios.push(Scenario { name, demand: demand.map_err(|error| surge.error(error))? });
        surge.finish()?;
    }
    Ok(scenarios)
}

/// `[pool.NAME.recovery]`: a backlog and by when it must be gone.
fn recovery(table: &mut Table<'_>) -> Result<Option<Recovery>, ConfigError> {
    let Some(mut recovery) = table.table("recovery")? else { return Ok(None) };
    let read = Recovery {
        backlog: recovery.required("backlog", Count::parse_positive)?.get(),
        within: recovery.required("within", Seconds::parse_positive)?,
    };
    recovery.finish()?;
    Ok(Some(read))
}
