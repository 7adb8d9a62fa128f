//! What a pool must achieve, as a table says it.

use super::{ConfigError, Table};
use crate::sizing::Objective;
use crate::units::{Quantile, Ratio, Seconds, Share};

/// Takes the objectives out of a table: `wait`, `wait_quantile` (one or a list of `p95=5s`), `wait_probability`,
/// `max_utilisation`, `headroom` and `beta`, as the options of `size` are called.
///
/// # Errors
/// If one of them is not understood.
pub(super) fn objectives(table: &mut Table<'_>) -> Result<Vec<Objective>, ConfigError> {
    let single = [
        table.optional("wait", Seconds::parse_positive)?.map(Objective::MeanWait),
        table.optional("wait_probability", Share::parse_inside)?.map(Objective::WaitProbability),
        table.optional("max_utilisation", Share::parse_inside)?.map(Objective::MaxUtilisation),
        table.optional("headroom", str::parse::<Ratio>)?.map(Objective::Headroom),
        table.optional("beta", str::parse::<Ratio>)?.map(Objective::SquareRoot),
    ];
    let quantiles = table.list("wait_quantile", wait_quantile)?;
    Ok(single.into_iter().flatten().chain(quantiles).collect())
}

/// Reads `p95=5s`.
fn wait_quantile(typed: &str) -> Result<Objective, String> {
    let (quantile, limit) = typed
        .split_once('=')
        .ok_or_else(|| format!("\"{typed}\": a quantile and its limit are written p95=5s"))?;
    let quantile = quantile.parse::<Quantile>().map_err(|error| error.to_string())?;
    let limit = Seconds::parse_positive(limit).map_err(|error| error.to_string())?;
    Ok(Objective::WaitQuantile(quantile, limit))
}
