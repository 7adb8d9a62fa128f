//! How long a queue takes to settle.

/// The time, in seconds, in which a disturbance falls to 1/e: 1/(√(N/S) − √λ)² for M/M/N near saturation
/// (N. U. Prabhu 1965; W. Whitt, "Untold horrors of the waiting room", Management Science 29, 1983), stretched by
/// the `variability` (ca²+cs²)/2, and never shorter than one service time.
///
/// `slack` is N − a, from the exact load. `None` for an unstable pool, which never settles.
#[must_use]
pub fn relaxation_s(
    rate: f64,
    workers: u64,
    slack: f64,
    service_mean_s: f64,
    variability: f64,
) -> Option<f64> {
    if slack <= 0.0 {
        return None;
    }
    let (served, arriving) = ((workers as f64 / service_mean_s).sqrt(), rate.sqrt());
    // √x − √y = (x − y)/(√x + √y): the difference comes from the exact slack, without cancellation.
    let gap = slack / service_mean_s / (served + arriving);
    Some((variability / (gap * gap)).max(service_mean_s))
}

/// The same for a pool that loses arrivals, at any load, in seconds.
///
/// With patience two runs of the queue that begin apart come together at least at the rate at which a single attempt
/// leaves, by service or by giving up (a coupling; M. F. Chen, *Eigenvalues, Inequalities, and Ergodic Theory*, 2005, ch.
/// 9), so the longer of service and patience is a bound. With a limit of r places a full pool is M/M/1/r, which relaxes
/// within 1/(λ + N/S − 2√(λN/S)·cos(π/(r+2))) (P. M. Morse, *Queues, Inventories and Maintenance*, 1958, ch. 6).
#[must_use]
pub fn bounded_relaxation_s(
    rate: f64,
    workers: u64,
    slack: f64,
    service_mean_s: f64,
    patience_s: Option<f64>,
    places: Option<u64>,
) -> f64 {
    let by_patience = patience_s.map_or(f64::INFINITY, |patience_s| patience_s.max(service_mean_s));
    let most = workers as f64 / service_mean_s;
    let gap = slack / service_mean_s / (most.sqrt() + rate.sqrt());
    // 1 − cos x = 2·sin²(x/2).
    let wave = places.map_or(0.0, |places| (std::f64::consts::FRAC_PI_2 / (places as f64 + 2.0)).sin());
    let by_rates = (gap * gap + 4.0 * (rate * most).sqrt() * wave * wave).recip().max(service_mean_s);
    if slack > 0.0 || places.is_some() { by_rates.min(by_patience) } else { by_patience }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_nearly_full_pool_settles_in_a_quarter_of_an_hour() {
        let seconds = relaxation_s(900.0, 1263, 3.0, 1.4, 1.0).unwrap();
        assert!((seconds - 785.0).abs() < 0.5, "{seconds}");
    }

    #[test]
    fn an_idle_pool_settles_in_a_service_time_and_an_unstable_one_never() {
        assert_eq!(relaxation_s(0.001, 1000, 999.998_6, 1.4, 1.0), Some(1.4));
        assert_eq!(relaxation_s(900.0, 1260, 0.0, 1.4, 1.0), None);
    }

    /// The slowest mode of the chain, by its first differences: the second eigenvalue of a birth–death chain.
    fn slowest_mode(rate: f64, leaving: impl Fn(usize) -> f64, states: usize) -> f64 {
        // From a start far off, the distance to the steady state falls by the same factor in the end.
        let (step, mut chain) = (0.002 / (rate + leaving(states - 1)), vec![0.0; states]);
        chain[0] = 1.0;
        let advance = |chain: &Vec<f64>, steps: usize| {
            let mut now = chain.clone();
            for _ in 0..steps {
                let flow: Vec<f64> =
                    (0..states - 1).map(|n| rate * now[n] - leaving(n + 1) * now[n + 1]).collect();
                for (n, flow) in flow.into_iter().enumerate() {
                    now[n] -= step * flow;
                    now[n + 1] += step * flow;
                }
            }
            now
        };
        let mean = |chain: &Vec<f64>| chain.iter().enumerate().map(|(n, p)| n as f64 * p).sum::<f64>();
        let steps = (4.0 / step) as usize;
        let settled = advance(&chain, 12 * steps);
        let apart = [1, 2].map(|times| (mean(&settled) - mean(&advance(&chain, times * steps))).abs());
        4.0 / (apart[0] / apart[1]).ln()
    }

    #[test]
    fn bounded_pools_settle_about_within_the_bound() {
        for (rate, workers, patience_s, places) in [
            (3.0, 4u64, Some(2.0), None),
            (6.0, 4, Some(0.5), None),
            (6.0, 4, None, Some(5)),
            (3.5, 4, Some(3.0), Some(6)),
        ] {
            let leaving = |n: usize| {
                let waiting = n.saturating_sub(workers as usize) as f64;
                (n.min(workers as usize)) as f64 + patience_s.map_or(0.0, |patience| waiting / patience)
            };
            let states = workers as usize + 1 + places.map_or(40, |places: u64| places as usize);
            let exact = slowest_mode(rate, leaving, states);
            let bound = bounded_relaxation_s(rate, workers, workers as f64 - rate, 1.0, patience_s, places);
            assert!(
                exact <= 1.25 * bound && exact > 0.2 * bound,
                "{rate} {patience_s:?} {places:?}: {exact} {bound}"
            );
        }
        // However long a full pool with a little room is overloaded, a patience of a year does not slow it down.
        assert!(bounded_relaxation_s(2000.0, 1000, -1000.0, 1.0, Some(3e7), Some(10)) < 2.0);
    }
}
