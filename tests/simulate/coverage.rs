//! What an interval promises: that it covers the exact value as often as it says.

use whsize::simulate::{Arrivals, Horizon, Law, Run, Scenario, simulate};

/// Runs, each with a seed of its own; the coverage's standard error is then 0.9%.
const RUNS: u64 = 600;

/// One server at 80%: P(W>0) = 0.8, mean wait 4 s, P(W>t) = 0.8·e^(−t/5). Waits next to each other are alike: their
/// relaxation time is 90 services. The runs near saturation, which take minutes, are in `benches/validation.rs`.
#[test]
fn intervals_at_95_per_cent_cover_93_to_97_per_cent() {
    let scenario = Scenario::plain(1, Arrivals::poisson(0.8).unwrap(), Law::exponential(1.0).unwrap());
    let (probability, mean, quantile) = (0.8, 4.0, 5.0 * 16.0_f64.ln());
    let mut covered = [0_u64; 3];
    for seed in 0..RUNS {
        let run = Run { seed, quantiles: vec![0.95], ..Run::new(Horizon::Seconds(50.0 * 90.0)) };
        let result = simulate(&scenario, &run).unwrap();
        let intervals = [
            (result.wait_mean_interval_s, mean),
            (result.wait_probability_interval, probability),
            (result.wait_quantiles[0].interval_s, quantile),
        ];
        for (count, (interval, exact)) in covered.iter_mut().zip(intervals) {
            let [low, high] = interval.unwrap();
            *count += u64::from(low <= exact && exact <= high);
        }
    }
    for (count, what) in covered.into_iter().zip(["mean wait", "wait probability", "95% quantile"]) {
        let share = count as f64 / RUNS as f64;
        assert!((0.93..=0.97).contains(&share), "{what}: {share}");
    }
}

#[test]
fn an_overloaded_pool_never_settles_and_says_so() {
    let scenario = Scenario::plain(10, Arrivals::poisson(11.0).unwrap(), Law::exponential(1.0).unwrap());
    let result = simulate(&scenario, &Run::new(Horizon::Seconds(2000.0))).unwrap();
    assert_eq!(result.warm_up_settled, Some(false));
    assert!(result.utilisation > 0.999 && result.utilisation <= 1.0);
    // A tenth of the arrivals piles up: 2,000 with a standard deviation of 200, and this is the most of 20.
    assert!((2000..2800).contains(&result.queue_max), "{}", result.queue_max);
}
