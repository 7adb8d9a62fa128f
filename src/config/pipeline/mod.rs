//! The file of `pipeline`: events, partners, and a table for each stage.

mod cost;
mod partners;
mod stages;

use super::prices::Prices;
use super::{ConfigError, Document, Table};
use crate::pipeline::{Bulk, Events, Pipeline, Priority};
use crate::units::{Bytes, Count, Exact, Ratio, Seconds, Share};

/// Reads a pipeline file. The prices say what a stage costs, and what the provider allows where the file does not.
///
/// # Errors
/// If something in it is not understood, is missing, or does not fit together.
pub fn read(document: &Document, prices: &Prices) -> Result<Pipeline, ConfigError> {
    let mut root = document.root()?;
    let events = events(&mut root)?;
    let delivery = stages::delivery(&mut root, &prices.quotas)?;
    let partners = partners::partners(&mut root, delivery.max_attempts)?;
    let bus = stages::bus(&mut root, &events, &partners, &prices.quotas)?;
    let pipeline = Pipeline {
        outbox: stages::outbox(&mut root)?,
        fan_out: stages::fan_out(&mut root, &prices.quotas)?,
        queues: stages::queues(&mut root)?,
        replay: stages::replay(&mut root, &partners)?,
        alarm: stages::alarm(&mut root)?,
        cost: cost::cost(&mut root, &delivery.stage, prices)?,
        bus,
        events,
        partners,
        delivery: delivery.stage,
    };
    root.finish()?;
    Ok(pipeline)
}

fn events(root: &mut Table<'_>) -> Result<Events, ConfigError> {
    let mut table = root.table("events")?.ok_or_else(|| root.missing("events"))?;
    let priority_share = table.optional("priority_share", Share::parse_inside)?;
    let priority_wait = table.optional("priority_wait", Seconds::parse_positive)?;
    let priority = match (priority_share, priority_wait) {
        (Some(share), Some(wait)) => Some(Priority { share, wait }),
        (None, None) => None,
        (Some(_), None) => return Err(table.missing("priority_wait")),
        (None, Some(_)) => return Err(table.missing("priority_share")),
    };
    let bulk = table.optional("bulk", Count::parse_positive)?;
    let within = table.optional("bulk_within", Seconds::parse_positive)?;
    if bulk.is_none() && within.is_some() {
        return Err(table.missing("bulk"));
    }
    let events = Events {
        per_day: table.required("per_day", Count::parse_positive)?,
        peak_factor: table.required("peak_factor", peak_factor)?,
        size: table.optional("size", Bytes::parse_positive)?,
        subscriptions: table.or("subscriptions", positive_ratio, "1")?,
        priority,
        bulk: bulk.map(|events| Bulk { events, within }),
    };
    table.finish()?;
    Ok(events)
}

/// The busiest rate over the mean, at least one.
fn peak_factor(typed: &str) -> Result<Ratio, String> {
    let factor: Ratio = typed.parse().map_err(|error| format!("{error}"))?;
    if *factor.exact() < Exact::one() {
        return Err(format!("\"{typed}\": the peak is at least the mean, so its factor is at least 1"));
    }
    Ok(factor)
}

/// A ratio above zero.
fn positive_ratio(typed: &str) -> Result<Ratio, String> {
    let ratio: Ratio = typed.parse().map_err(|error| format!("{error}"))?;
    if ratio.exact().is_zero() {
        return Err(format!("\"{typed}\": it must be more than zero"));
    }
    Ok(ratio)
}
