//! Pools that lose arrivals: some lose patience while they wait, some find no place to wait.
//!
//! Exponential service and patience, Poisson arrivals. Such a pool has a steady state at any load.
//!
//! | bounds | queue | computed by |
//! | --- | --- | --- |
//! | patience | M/M/N+M, Erlang A | the density of the wait on offer, integrated |
//! | places to wait | M/M/c/K | geometric sums in closed form |
//! | both | M/M/c/K+M | the birth–death chain, state by state |

mod chain;
mod finite;
mod impatient;
mod log_concave;

use super::waiting::{Pool, Waiting};
use chain::Chain;
use impatient::Impatient;

/// Below this a probability is zero for every practical purpose.
const NEGLIGIBLE: f64 = 1e-300;

/// What bounds a wait.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Bounds {
    /// Who waits leaves after an exponential time with this mean, in seconds.
    Patience {
        /// The mean.
        mean_s: f64,
    },
    /// So many can wait; who comes beside them is turned away.
    Places {
        /// Places to wait, workers not counted; without any it is Erlang's loss system.
        most: u64,
    },
    /// Both.
    Both {
        /// The mean patience, in seconds.
        patience_s: f64,
        /// Places to wait.
        most: u64,
    },
}

/// What becomes of the arrivals of a pool that can lose some, as shares of all arrivals.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Losses {
    /// Those that wait and leave before a worker is free.
    pub abandoned: f64,
    /// Those that find no place to wait.
    pub turned_away: f64,
    /// Those that are served: the rest, without the rounding of a difference.
    pub served: f64,
    /// Mean wait of those that are served, in seconds.
    pub served_wait_mean_s: f64,
    /// The law of the wait of those that are not turned away.
    pub(super) tail: Tail,
}

/// P(W > t) of those that are not turned away.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Tail {
    Impatient(Impatient),
    Chain(Chain),
}

impl Bounds {
    /// The bounds of a mean patience in seconds and of a number of places, where there is either.
    #[must_use]
    pub fn of(patience_s: Option<f64>, places: Option<u64>) -> Option<Self> {
        match (patience_s, places) {
            (None, None) => None,
            (Some(mean_s), None) => Some(Bounds::Patience { mean_s }),
            (None, Some(most)) => Some(Bounds::Places { most }),
            (Some(patience_s), Some(most)) => Some(Bounds::Both { patience_s, most }),
        }
    }

    /// How a pool waits and loses within these bounds, at any load.
    pub(super) fn waiting(&self, pool: &Pool) -> Waiting {
        match *self {
            Bounds::Patience { mean_s } => impatient::waiting(pool, mean_s),
            Bounds::Places { most } => finite::waiting(pool, most),
            Bounds::Both { patience_s, most } => chain::waiting(pool, patience_s, most),
        }
    }
}

impl Tail {
    /// P(W > t), t in seconds.
    pub(super) fn share_beyond(&self, seconds: f64) -> f64 {
        match self {
            Tail::Impatient(queue) => queue.share_beyond(seconds),
            Tail::Chain(queue) => queue.share_beyond(seconds),
        }
    }

    /// The wait, in seconds, beyond which a share of exactly `beyond` waits; `probability` is P(W > 0), more than that,
    /// and `near_s` a wait of the right size.
    pub(super) fn beyond(&self, beyond: f64, probability: f64, near_s: f64) -> f64 {
        let over = |seconds: f64| (self.share_beyond(seconds) / beyond).ln();
        let (mut low, mut above) = (0.0, (probability / beyond).ln());
        let mut high = near_s;
        let mut below = over(high);
        while below > 0.0 {
            (low, above) = (high, below);
            high *= 2.0;
            below = over(high);
        }
        // The logarithm of the tail is concave and nearly straight: the secant with a safeguard (M. Dowell, P. Jarratt,
        // "A modified regula falsi method", BIT 11, 1971) takes a handful of steps.
        for _ in 0..MOST_STEPS {
            if high - low <= PRECISION * high {
                break;
            }
            let secant = high - below * (high - low) / (below - above);
            let next = if secant > low && secant < high { secant } else { f64::midpoint(low, high) };
            let found = over(next);
            if found > 0.0 {
                (low, above) = (next, found);
                below /= 2.0;
            } else {
                if next == high {
                    break;
                }
                (high, below) = (next, found);
                above /= 2.0;
            }
            if found == 0.0 {
                return next;
            }
        }
        high
    }
}

const MOST_STEPS: usize = 200;
const PRECISION: f64 = 1e-15;
