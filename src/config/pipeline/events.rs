//! `[events]`: the volume, as typed or as measured.

use super::measured::measured;
use super::{ConfigError, Table, positive_ratio};
use crate::arrivals::ArrivalProfile;
use crate::notice::Note;
use crate::pipeline::{Bulk, Events, LoadShape, Priority};
use crate::units::{Bytes, Count, Exact, Ratio, Seconds, Share};

/// Seconds of a day.
const DAY_S: u128 = 86_400;

pub(super) fn events(root: &mut Table<'_>, notes: &mut Vec<Note>) -> Result<Events, ConfigError> {
    let mut table = root.table("events")?.ok_or_else(|| root.missing("events"))?;
    let arrivals = arrivals(&mut table, notes)?;
    let per_day = table.optional("per_day", Count::parse_positive)?;
    let per_day = per_day.or_else(|| arrivals.as_ref().and_then(measured_per_day));
    let peak_factor = table.optional("peak_factor", peak_factor)?;
    let peak_factor = peak_factor.or_else(|| arrivals.as_ref().and_then(measured_peak_factor));
    let events = Events {
        per_day: per_day.ok_or_else(|| table.missing("per_day"))?,
        peak_factor: peak_factor.ok_or_else(|| table.missing("peak_factor"))?,
        size: table.optional("size", Bytes::parse_positive)?,
        subscriptions: table.or("subscriptions", positive_ratio, "1")?,
        priority: priority(&mut table)?,
        bulk: bulk(&mut table)?,
        load: arrivals.as_ref().and_then(|arrivals| {
            let counts: Vec<u64> = arrivals.counts().map(|(_, count)| count).collect();
            LoadShape::from_counts(&counts)
        }),
    };
    table.finish()?;
    Ok(events)
}

/// The arrivals in the file that `profile` names.
fn arrivals(table: &mut Table<'_>, notes: &mut Vec<Note>) -> Result<Option<ArrivalProfile>, ConfigError> {
    let Some(measured) = measured(table, "profile")? else { return Ok(None) };
    let Some(arrivals) = measured.profile.arrivals().cloned() else {
        return Err(table.error_at("profile", "it has no time stamps, so it does not say when events arrive"));
    };
    notes.extend(measured.notes);
    Ok(Some(arrivals))
}

fn measured_per_day(arrivals: &ArrivalProfile) -> Option<Count> {
    let a_day = arrivals.mean_rate()?.exact() * &Exact::whole(DAY_S);
    a_day.ceil().and_then(Count::new).filter(|count| count.get() > 0)
}

/// The busiest minute over the mean.
fn measured_peak_factor(arrivals: &ArrivalProfile) -> Option<Ratio> {
    let factor = arrivals.busiest_minute_rate()?.exact().over(arrivals.mean_rate()?.exact())?;
    Ratio::new(factor.max(Exact::one()))
}

fn priority(table: &mut Table<'_>) -> Result<Option<Priority>, ConfigError> {
    let share = table.optional("priority_share", Share::parse_inside)?;
    let wait = table.optional("priority_wait", Seconds::parse_positive)?;
    match (share, wait) {
        (Some(share), Some(wait)) => Ok(Some(Priority { share, wait })),
        (None, None) => Ok(None),
        (Some(_), None) => Err(table.missing("priority_wait")),
        (None, Some(_)) => Err(table.missing("priority_share")),
    }
}

fn bulk(table: &mut Table<'_>) -> Result<Option<Bulk>, ConfigError> {
    let events = table.optional("bulk", Count::parse_positive)?;
    let within = table.optional("bulk_within", Seconds::parse_positive)?;
    match events {
        Some(events) => Ok(Some(Bulk { events, within })),
        None if within.is_some() => Err(table.missing("bulk")),
        None => Ok(None),
    }
}

/// The busiest rate over the mean, at least one.
fn peak_factor(typed: &str) -> Result<Ratio, String> {
    let factor: Ratio = typed.parse().map_err(|error| format!("{error}"))?;
    if *factor.exact() < Exact::one() {
        return Err(format!("\"{typed}\": the peak is at least the mean, so its factor is at least 1"));
    }
    Ok(factor)
}
