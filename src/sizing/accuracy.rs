//! How far the formula behind an answer is known to be off.

use super::{Basis, Demand, Model};
use crate::queueing::{Pool, ServiceShape};

/// Above this SCV the law of rare long services matters as much as its moments.
const WIDE_SCV: f64 = 5.0;

/// Above this SCV a lognormal tail waits a third as long as the mixture that stands in for it.
const VERY_WIDE_SCV: f64 = 20.0;

/// Above this SCV a wait cannot be told from two moments: laws that share them differ by half and more.
const MOST_SCV_OF_TWO_MOMENTS: f64 = 10.0;

/// Batches that are under way at once from which on the limit of large pools is known to hold.
const MANY_BATCHES: f64 = 1_000.0;

/// The times between arrivals whose waits are tabulated: their SCV, that of the service, and how busy the pool is.
const TABULATED_ARRIVALS: std::ops::RangeInclusive<f64> = 0.25..=10.0;
const TABULATED_SERVICE: f64 = 4.0;
const TABULATED_UTILISATION: f64 = 0.7;
const TABULATED_SLACK: f64 = 1.2;

/// The known relative error of a mean wait, from the lowest to the highest, by the comparisons in `docs/accuracy.md`;
/// `None` where nothing is known of it and the answer needs simulation.
#[must_use]
pub(super) fn known_error(demand: &Demand, model: Model, pool: &Pool) -> Option<[f64; 2]> {
    let measured = matches!(demand.service.basis, Basis::Measured { .. });
    let scv = demand.service.scv;
    match model {
        Model::ErlangC => Some([0.0, 0.0]),
        Model::TwoMoments => Some([-0.05, 0.05]),
        Model::ThreeMoments if !demand.shape().is_within_reach() => None,
        Model::ThreeMoments if measured && scv <= WIDE_SCV => Some([-0.15, 0.15]),
        Model::ThreeMoments if measured && scv <= VERY_WIDE_SCV => Some([-0.15, 0.6]),
        Model::ThreeMoments if measured => Some([-0.15, 2.1]),
        Model::ThreeMoments if scv <= MOST_SCV_OF_TWO_MOMENTS => Some([-0.1, 0.5]),
        Model::ThreeMoments => None,
        Model::Batches if !demand.wait_model().solves_batches(pool) => {
            let many = pool.load >= MANY_BATCHES * demand.arrivals.dispersion();
            (many && demand.shape() == ServiceShape::EXPONENTIAL).then_some([-0.05, 0.05])
        }
        Model::Batches if demand.shape() == ServiceShape::EXPONENTIAL => Some([0.0, 0.0]),
        Model::Batches if scv <= WIDE_SCV => Some([-0.15, 0.15]),
        Model::Batches => None,
        Model::GeneralArrivals => other_arrivals(demand, pool),
        // Without a place to wait only the mean of the service time counts (B. A. Sevastyanov 1957).
        _ if demand.bounds.queue_limit == Some(0) => Some([0.0, 0.0]),
        Model::ErlangA | Model::FiniteQueue | Model::FiniteImpatient => {
            (demand.shape() == ServiceShape::EXPONENTIAL).then_some([0.0, 0.0])
        }
    }
}

/// Arrivals one by one that are no Poisson stream, as far as they are tabulated: up to a slack of about a square root of the
/// load, so that a good part of the arrivals waits.
fn other_arrivals(demand: &Demand, pool: &Pool) -> Option<[f64; 2]> {
    let scv = demand.service.scv;
    let tabulated = TABULATED_ARRIVALS.contains(&demand.arrivals.dispersion())
        && scv <= TABULATED_SERVICE
        && pool.workers > 1
        && pool.utilisation() >= TABULATED_UTILISATION
        && pool.slack <= TABULATED_SLACK * pool.load.sqrt();
    // Two streams that are both nearly regular hardly meet, and peakedness sees too much of them.
    tabulated.then_some(if scv < 1.0 { [-0.05, 0.75] } else { [-0.05, 0.4] })
}
