//! What a pool must achieve, as a table says it.

use super::{ConfigError, Table};
use crate::sizing::Objective;
use crate::units::words::shortened;
use crate::units::{Quantile, Ratio, Seconds, Share};

/// The least utilisation that can be asked for: below it a pool is a thousand times its load.
const LEAST_UTILISATION: f64 = 0.001;

/// The most headroom that can be asked for: a hundred times the rate.
const MOST_HEADROOM: f64 = 100.0;

/// Reads a limit of the utilisation, of an option or a key.
///
/// # Errors
/// If it is no share between 0 and 1, or below any that a pool could have.
pub fn utilisation(typed: &str) -> Result<Share, String> {
    let share = Share::parse_inside(typed).map_err(|error| error.to_string())?;
    if share.get() < LEAST_UTILISATION {
        return Err(format!("\"{typed}\": a pool that is busy for less than 0.1% of its time is no answer"));
    }
    Ok(share)
}

/// Reads a headroom, of an option or a key. A bare number from 1 on is refused, see [`Ratio::parse_percentage`].
///
/// # Errors
/// If it is no percentage, or more than anybody has.
pub fn headroom(typed: &str) -> Result<Ratio, String> {
    let ratio = Ratio::parse_percentage(typed).map_err(|error| error.to_string())?;
    if ratio.get() > MOST_HEADROOM {
        return Err(format!("\"{typed}\": more than a hundred times the rate is no headroom"));
    }
    Ok(ratio)
}

/// Takes the objectives out of a table: `wait`, `wait_quantile` (one or a list of `p95=5s`), `wait_probability`,
/// `max_utilisation`, `headroom` and `beta`, as the options of `size` are called.
///
/// # Errors
/// If one of them is not understood.
pub(super) fn objectives(table: &mut Table<'_>) -> Result<Vec<Objective>, ConfigError> {
    let single = [
        table.optional("wait", Seconds::parse_positive)?.map(Objective::MeanWait),
        table.optional("wait_probability", Share::parse_inside)?.map(Objective::WaitProbability),
        table.optional("max_utilisation", utilisation)?.map(Objective::MaxUtilisation),
        table.optional("headroom", headroom)?.map(Objective::Headroom),
        table.optional("beta", str::parse::<Ratio>)?.map(Objective::SquareRoot),
    ];
    let quantiles = table.list("wait_quantile", wait_quantile)?;
    Ok(single.into_iter().flatten().chain(quantiles).collect())
}

/// Reads `p95=5s`.
fn wait_quantile(typed: &str) -> Result<Objective, String> {
    let (quantile, limit) = typed
        .split_once('=')
        .ok_or_else(|| format!("\"{}\": a quantile and its limit are written p95=5s", shortened(typed)))?;
    let quantile = quantile.parse::<Quantile>().map_err(|error| error.to_string())?;
    let limit = Seconds::parse_positive(limit).map_err(|error| error.to_string())?;
    Ok(Objective::WaitQuantile(quantile, limit))
}
