//! Messages that arrive several at a time: Mˣ/M/N with a fixed batch, exactly.

/// Standard deviations of the number of busy workers below the load at which the chain is begun: what lies farther
/// down has no weight.
const REACH: f64 = 12.0;

/// Above this the running sums are scaled down.
const LARGE: f64 = 1e250;

/// A window of states with less than this part of all of them ends the chain: above it there is no weight.
const NO_WEIGHT: f64 = 1e-20;

/// Batches that are under way at once at most, beside the reach of a normal law: with rare batches their number is Poisson.
const MOST_AT_ONCE: f64 = 8.0;

/// The most states that are gone through: a hundredth of a second.
const MOST_STATES: f64 = 2e6;

/// The standard deviation of the number of busy workers.
fn spread(load: f64, size: u64) -> f64 {
    (load * f64::midpoint(size as f64, 1.0)).sqrt()
}

/// Whether [`steady`] solves such a pool within a hundredth of a second, whatever it has beyond what is ever busy.
pub(super) fn is_solved(workers: u64, load: f64, size: u64) -> bool {
    let states = 2.0 * REACH * spread(load, size) + MOST_AT_ONCE * size as f64;
    states.min(workers as f64) <= MOST_STATES
}

/// P(W>0) and E(W) over all messages, with service times of 1 and `load` erlangs that arrive in batches of `size`.
///
/// The cut between n and n+1 messages gives the chain below a full pool one state at a time, and the generating
/// function of the number in the system gives the mean from these states alone (M. L. Chaudhry, J. G. C. Templeton,
/// *A First Course in Bulk Queues*, 1983). About 17·√(load·size) steps. `slack` is N − a, positive.
pub(super) fn steady(workers: u64, load: f64, slack: f64, size: u64) -> (f64, f64) {
    let batch = size as f64;
    let first = ((load - REACH * spread(load, size) - batch).floor().max(0.0) as u64).min(workers - 1);
    let mut states: std::collections::VecDeque<f64> = std::collections::VecDeque::new();
    let (mut state, mut window) = (1.0_f64, 0.0_f64);
    let mut sums = Sums::default();
    for n in first..workers {
        let (at, free) = (n as f64, (workers - n) as f64);
        sums.all += state;
        sums.free += free * state;
        sums.excess += (at - load) * free * state;
        sums.late += (batch - free).max(0.0) / batch * state;
        window += state;
        states.push_back(state);
        if states.len() as u64 > size {
            window -= states.pop_front().unwrap_or(0.0);
        }
        if at > load && window < NO_WEIGHT * sums.all {
            break;
        }
        state = load / batch * window / (at + 1.0);
        if window > LARGE {
            let down = LARGE.recip();
            (state, window) = (state * down, window * down);
            states.iter_mut().for_each(|value| *value *= down);
            sums = sums.times(down);
        }
    }
    let sums = sums.times(slack / sums.free);
    let waiting = (1.0 - sums.all + sums.late).clamp(0.0, 1.0);
    let mean = (sums.excess + load * f64::midpoint(batch, 1.0)) / (load * slack);
    (waiting, if waiting > 0.0 { mean.max(0.0) } else { 0.0 })
}

/// Sums over the states with a free worker: of their probabilities, of the free workers, of (n − a) times the free
/// workers, and of the share of a batch that finds no worker.
#[derive(Clone, Copy, Default)]
struct Sums {
    all: f64,
    free: f64,
    excess: f64,
    late: f64,
}

impl Sums {
    fn times(self, factor: f64) -> Self {
        Sums {
            all: self.all * factor,
            free: self.free * factor,
            excess: self.excess * factor,
            late: self.late * factor,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::erlang::erlang_c;
    use super::*;

    #[test]
    fn batches_of_one_are_erlang_c() {
        for (workers, load) in [(1, 0.5), (7, 5.0), (1263, 1260.0), (1331, 1260.0)] {
            let slack = workers as f64 - load;
            let expected = erlang_c(workers, load, slack);
            let (waiting, mean) = steady(workers, load, slack, 1);
            assert!((waiting / expected - 1.0).abs() < 1e-9, "{workers}: {waiting} {expected}");
            assert!((mean * slack / expected - 1.0).abs() < 1e-9, "{workers}: {mean}");
        }
    }

    #[test]
    fn one_worker_waits_for_the_batches_before_and_for_its_own() {
        // Mˣ/M/1: E(W) = ρ(b+1)/(2(1−ρ)) + (b−1)/2 · … in closed form (b+1)/2·ρ/(1−ρ) + (b−1)/2.
        for (load, size) in [(0.5, 4u64), (0.9, 10)] {
            let batch = size as f64;
            let expected = f64::midpoint(batch, 1.0) * load / (1.0 - load) + (batch - 1.0) / 2.0;
            let (_, mean) = steady(1, load, 1.0 - load, size);
            assert!((mean / expected - 1.0).abs() < 1e-12, "{mean} {expected}");
        }
    }

    /// Mean wait of at most 0.5 s at 900/s of 1.4 s: batches of 10 need 1273 workers, batches of 50 need 1311.
    #[test]
    fn the_published_pools_are_the_smallest() {
        for (size, workers) in [(10, 1273), (50, 1311)] {
            let wait = |workers: u64| steady(workers, 1260.0, workers as f64 - 1260.0, size).1 * 1.4;
            assert!(wait(workers) <= 0.5 && wait(workers - 1) > 0.5, "{size}");
        }
    }

    #[test]
    fn large_pools_are_solved_and_rare_batches_meet() {
        for (workers, load, size) in [(100_150, 1e5, 10), (1_002_000, 1e6, 50), (20_000, 5.0, 1_000)] {
            assert!(is_solved(workers, load, size));
            let (waiting, mean) = steady(workers, load, workers as f64 - load, size);
            assert!((0.0..=1.0).contains(&waiting) && mean.is_finite(), "{workers}: {waiting} {mean}");
        }
        // Two batches of 1,000 at once among 1,500 workers: the second one waits.
        let (waiting, _) = steady(1_500, 5.0, 1_495.0, 1_000);
        assert!(waiting > 1e-4, "{waiting}");
        assert!(is_solved(50_000_000_000, 10.0, 5) && !is_solved(20_000_000_000, 1e10, 1_000_000));
    }

    #[test]
    fn a_pool_far_too_generous_waits_not_at_all_and_is_no_nan() {
        let (waiting, mean) = steady(50_000, 10.0, 49_990.0, 5);
        assert!(waiting < 1e-12 && mean < 1e-12);
    }
}
