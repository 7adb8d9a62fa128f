//! What a pool does under a demand.

use super::solve::Load;
use super::{Demand, Objective, PoolState, QuantileValue};
use crate::queueing::{Pool, Sojourn, Waiting, transient};
use crate::units::Seconds;

/// The quantiles of every wait that is reported.
const QUANTILES: [f64; 5] = [0.5, 0.9, 0.95, 0.99, 0.999];

/// The waits, the losses and the pace of `workers`, with the quantiles that the objectives ask for among them.
pub(super) fn pool_state(demand: &Demand, load: &Load, workers: u64, objectives: &[Objective]) -> PoolState {
    let pool = load.pool(workers);
    let waiting = load.waiting(workers);
    let losses = waiting.as_ref().and_then(Waiting::losses);
    let quantiles = |value: &dyn Fn(f64) -> f64| -> Vec<QuantileValue> {
        quantiles(objectives).map(|quantile| QuantileValue { quantile, value_s: value(quantile) }).collect()
    };
    let bounds = &demand.bounds;
    PoolState {
        stable: load.has_steady_state(workers),
        utilisation: load.utilisation(workers, waiting.as_ref()),
        wait_probability: waiting.map(|waiting| waiting.probability),
        wait_mean_s: waiting.map(|waiting| waiting.mean_s()),
        wait_mean_served_s: losses.filter(|_| bounds.patience.is_some()).map(|lost| lost.served_wait_mean_s),
        abandonment_share: losses.filter(|_| bounds.patience.is_some()).map(|lost| lost.abandoned),
        loss_share: losses.filter(|_| bounds.queue_limit.is_some()).map(|lost| lost.turned_away),
        wait_quantiles: waiting.map_or_else(Vec::new, |waiting| quantiles(&|q| waiting.quantile_s(q))),
        // Those that give up have no service, and those that are served wait less than all.
        sojourn_quantiles: waiting.filter(|_| losses.is_none()).map_or_else(Vec::new, |waiting| {
            let sojourn = Sojourn::new(waiting, &demand.service.law);
            quantiles(&|q| sojourn.quantile_s(q))
        }),
        rate_headroom_ratio: pool.slack / pool.load,
        relaxation_time_s: relaxation_s(demand, &pool),
    }
}

/// The usual quantiles and those of the objectives, in rising order.
fn quantiles(objectives: &[Objective]) -> impl Iterator<Item = f64> {
    let mut asked: Vec<f64> = QUANTILES.into();
    asked.extend(objectives.iter().filter_map(|objective| match objective {
        Objective::WaitQuantile(quantile, _) => Some(quantile.get()),
        _ => None,
    }));
    asked.sort_by(f64::total_cmp);
    asked.dedup();
    asked.into_iter()
}

fn relaxation_s(demand: &Demand, pool: &Pool) -> Option<f64> {
    let (rate, mean_s, bounds) = (demand.rate.get(), pool.service_mean_s, &demand.bounds);
    let patience_s = bounds.patience.as_ref().map(Seconds::get);
    if bounds.is_any() {
        return Some(transient::bounded_relaxation_s(
            rate,
            pool.workers,
            pool.slack,
            mean_s,
            patience_s,
            bounds.queue_limit,
        ));
    }
    transient::relaxation_s(rate, pool.workers, pool.slack, mean_s, demand.variability())
}
