//! `[cost]`: what is compared.

use super::positive_ratio;
use super::{ConfigError, Table};
use crate::config::prices::Prices;
use crate::pipeline::Delivery;
use crate::pipeline::cost::{ColdStart, Cost};
use crate::units::{Count, Seconds, Share};

pub(super) fn cost(
    root: &mut Table<'_>,
    delivery: &Delivery,
    prices: &Prices,
) -> Result<Option<Cost>, ConfigError> {
    let Some(mut table) = root.table("cost")? else { return Ok(None) };
    let tasks = delivery.tasks_per_process;
    // Four processes to a machine, as to a pod.
    let on_a_machine = Count::new(tasks.get().saturating_mul(4)).unwrap_or(tasks);
    let cost = Cost {
        prices: prices.list.clone(),
        function_memory_mb: table.or("function_memory_mb", Count::parse_positive, "128")?,
        account_concurrency: table
            .optional("account_concurrency", Count::parse_positive)?
            .unwrap_or(prices.quotas.function_concurrency),
        cold_start: cold_start(&mut table)?,
        container_vcpu: table.or("container_vcpu", positive_ratio, "0.25")?,
        container_memory_gb: table.or("container_memory_gb", positive_ratio, "0.5")?,
        container_tasks: table.optional("container_tasks", Count::parse_positive)?.unwrap_or(tasks),
        machine_tasks: table.optional("machine_tasks", Count::parse_positive)?.unwrap_or(on_a_machine),
        least_instances: table.or("least_instances", Count::parse_positive, "1")?,
        fifo: table.flag("fifo")?.unwrap_or(false),
    };
    table.finish()?;
    Ok(Some(cost))
}

fn cold_start(table: &mut Table<'_>) -> Result<Option<ColdStart>, ConfigError> {
    let share = table.optional("cold_start_share", str::parse::<Share>)?;
    let idle_timeout = table.or("idle_timeout", Seconds::parse_positive, "6m")?;
    match table.optional("cold_start", Seconds::parse_positive)? {
        Some(duration) => Ok(Some(ColdStart { duration, idle_timeout, share })),
        None if share.is_some() => Err(table.missing("cold_start")),
        None => Ok(None),
    }
}
