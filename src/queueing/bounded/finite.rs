//! A bounded queue without impatience: M/M/c/K with K − c places to wait.

use super::super::erlang::inverse_blocking;
use super::super::waiting::{Pool, Waiting};
use super::chain::Chain;
use super::{Losses, Tail};

/// How a pool waits with so many places: the states above a full pool are geometric (D. Gross, C. M. Harris,
/// *Fundamentals of Queueing Theory*, 1998, §2.5). Everything is a sum of positive terms; above a load of N it is divided
/// by its largest one, so that no power overflows.
pub(super) fn waiting(pool: &Pool, places: u64) -> Waiting {
    let workers = pool.workers as f64;
    // −ln ρ, from the exact slack.
    let fall = (pool.slack / pool.load).ln_1p();
    // States with a free worker, states in which an arrival waits, and the full one, over the first full pool's.
    let free = inverse_blocking(pool.workers - 1, pool.load) * workers / pool.load;
    let room = places as f64;
    let (free, waits, full) = if fall >= 0.0 {
        (free, geometric(room, fall), (-room * fall).exp())
    } else {
        (free * (room * fall).exp(), fall.exp() * geometric(room, -fall), 1.0)
    };
    let admitted = free + waits;
    let probability = waits / admitted;
    let conditional_mean_s = if places > 0 {
        (1.0 + mean_of_geometric(room - 1.0, fall)) * pool.service_mean_s / workers
    } else {
        0.0
    };
    let turned_away = full / (admitted + full);
    Waiting::losing(
        probability,
        conditional_mean_s,
        Losses {
            abandoned: 0.0,
            turned_away,
            served: if turned_away == 0.0 { 1.0 } else { admitted / (admitted + full) },
            served_wait_mean_s: probability * conditional_mean_s,
            tail: Tail::Chain(Chain::new(pool, 0.0, places, probability)),
        },
    )
}

/// Σ e^(−js), j from 0, of so many terms; s is at least 0.
fn geometric(terms: f64, fall: f64) -> f64 {
    if fall == 0.0 { terms } else { (-terms * fall).exp_m1() / (-fall).exp_m1() }
}

/// The mean of j from 0 to `last` with weights e^(−js).
fn mean_of_geometric(last: f64, fall: f64) -> f64 {
    let (steep, terms) = (fall.abs(), last + 1.0);
    let mean = if terms * steep >= 1.0 {
        1.0 / steep.exp_m1() - terms / (terms * steep).exp_m1()
    } else {
        last / 2.0 + bend(steep) - terms * bend(terms * steep)
    };
    if fall < 0.0 { last - mean } else { mean }
}

/// 1/(eˣ − 1) − 1/x + ½ for x from 0 to 1, by its Taylor series with the Bernoulli numbers.
fn bend(x: f64) -> f64 {
    const COEFFICIENTS: [f64; 9] = [
        1.0 / 12.0,
        -1.0 / 720.0,
        1.0 / 30_240.0,
        -1.0 / 1_209_600.0,
        1.0 / 47_900_160.0,
        -691.0 / 1_307_674_368_000.0,
        1.0 / 74_724_249_600.0,
        -3_617.0 / 10_670_622_842_880_000.0,
        43_867.0 / 5_109_094_217_170_944_000.0,
    ];
    x * COEFFICIENTS.iter().rev().fold(0.0, |sum, coefficient| coefficient + x * x * sum)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mean_of_a_cut_geometric_law_is_that_of_its_sum() {
        for last in [0u32, 1, 2, 7, 100, 3_000] {
            for fall in [0.0, 1e-12, 1e-5, 3e-4, 0.01, 0.4, 5.0, -1e-12, -3e-4, -0.4, -5.0] {
                // Divided by the largest term, which is the last one where they rise.
                let weight = |j: u32| {
                    f64::exp(-fall * if fall < 0.0 { f64::from(j) - f64::from(last) } else { f64::from(j) })
                };
                let total: f64 = (0..=last).map(weight).sum();
                let expected = (0..=last).map(|j| f64::from(j) * weight(j)).sum::<f64>() / total;
                let found = mean_of_geometric(f64::from(last), fall);
                assert!(
                    (found - expected).abs() <= 1e-12 * expected.max(1e-3),
                    "{last} {fall}: {found} {expected}"
                );
            }
        }
    }
}
