//! A rate that moves over the day: from a file, or from the arrivals that were measured.

use super::autoscale::trace;
use anyhow::{Result, bail};
use std::path::Path;
use whsize::arrivals::ArrivalProfile;
use whsize::sizing::{RateFrom, RateProfile};
use whsize::units::{ArrivalRate, Exact};

/// Counts over less than this say more of chance than of the rate, in seconds.
const SHORTEST_S: i64 = 60;

/// Reads times and rates.
pub(crate) fn read(path: &Path) -> Result<RateProfile> {
    let trace = trace::read(path)?;
    if trace.rows().iter().any(|row| row.mean.is_some()) {
        bail!(
            "{}: the service time is that of --mean or --profile; leave the third column out",
            super::input::name(path)
        );
    }
    let rates = trace.rows().iter().map(|row| RateFrom { at_s: row.at.get(), rate: row.rate.clone() });
    Ok(RateProfile::new(rates.collect(), trace.seconds() as f64)?)
}

/// The rate as counted, in bins of at least a minute.
pub(crate) fn of_arrivals(arrivals: &ArrivalProfile) -> Result<RateProfile> {
    let width = arrivals.bin_width_s();
    let bins: Vec<(i64, u64)> = arrivals.counts().collect();
    let start = bins.first().map_or(0, |bin| bin.0);
    let each = usize::try_from((SHORTEST_S + width - 1) / width).unwrap_or(1).max(1);
    let rates = bins.chunks(each).filter_map(|chunk| {
        let count: u64 = chunk.iter().map(|bin| bin.1).sum();
        let seconds = u128::from(width.unsigned_abs()) * chunk.len() as u128;
        let rate = ArrivalRate::new(Exact::fraction(count.into(), seconds)?)?;
        Some(RateFrom { at_s: (chunk[0].0 - start) as f64, rate })
    });
    Ok(RateProfile::new(rates.collect(), width as f64 * bins.len() as f64)?)
}
