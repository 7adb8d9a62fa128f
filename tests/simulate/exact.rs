//! Waits of the plain queue against exact values.

use crate::oracle::{assert_covers, quantile_interval, relaxation_s, rows, service};
use whsize::simulate::{Arrivals, Horizon, Law, Run, Scenario, Simulated, simulate};

const RELAXATION_TIMES: f64 = 50.0;
/// An interval says something if it is narrower than the value.
const WIDEST: f64 = 1.0;

fn at_load(workers: u32, utilisation: f64, service: Law, run: Run) -> Simulated {
    let arrivals = Arrivals::poisson(f64::from(workers) * utilisation / service.mean_s()).unwrap();
    simulate(&Scenario::plain(workers, arrivals, service), &run).unwrap()
}

fn run(arrivals: u64) -> Run {
    Run { quantiles: vec![0.95, 0.99], ..Run::new(Horizon::Arrivals(arrivals)) }
}

#[test]
fn markovian_pools_wait_as_erlang_c_says() {
    for row in rows("erlang.csv") {
        let [workers, load, _, wait_probability, mean_wait] = &row[..] else { panic!("{row:?}") };
        let (workers, load): (u32, f64) = (workers.parse().unwrap(), load.parse().unwrap());
        if ![(2, 1.0), (4, 2.5), (12, 10.0), (20, 10.0), (110, 99.5), (1331, 1260.0)]
            .contains(&(workers, load))
        {
            continue;
        }
        let utilisation = load / f64::from(workers);
        let result = at_load(workers, utilisation, Law::exponential(1.0).unwrap(), run(200_000));
        let (wait_probability, mean_wait): (f64, f64) =
            (wait_probability.parse().unwrap(), mean_wait.parse().unwrap());
        let what = format!("{workers} workers, {load} erlangs");
        assert_covers(&what, result.wait_mean_interval_s, mean_wait, WIDEST);
        assert_covers(&what, result.wait_probability_interval, wait_probability, WIDEST);
        assert_covers(&what, result.utilisation_interval, utilisation, 0.01);
        // P(W > t) = C·e^(−(N−a)t/S).
        for quantile in [0.95, 0.99] {
            let exact = (wait_probability / (1.0 - quantile)).ln() / (f64::from(workers) - load);
            if exact > 0.0 {
                assert_covers(&what, quantile_interval(&result, quantile), exact, WIDEST);
            }
        }
    }
}

#[test]
fn general_service_waits_as_the_matrix_analytic_values_say() {
    let mut compared = 0;
    for row in rows("mgc_exact.csv") {
        let number = |at: usize| row[at].parse::<f64>().ok();
        let (scv, workers, utilisation) = (number(1).unwrap(), row[2].parse().unwrap(), number(3).unwrap());
        let arrivals_needed = RELAXATION_TIMES * relaxation_s(workers, utilisation, scv) * f64::from(workers);
        // Longer runs, and those where waits are rare, belong to the validation that is run by hand.
        if arrivals_needed > 150_000.0 || number(5).unwrap() < 0.05 {
            continue;
        }
        let result = at_load(workers, utilisation, service(&row[0], scv), run(150_000));
        let what = row.join(",");
        assert_covers(&what, result.wait_mean_interval_s, number(4).unwrap(), WIDEST);
        assert_covers(&what, result.wait_probability_interval, number(5).unwrap(), WIDEST);
        for (quantile, at) in [(0.95, 6), (0.99, 7)] {
            if let Some(exact) = number(at) {
                assert_covers(&what, quantile_interval(&result, quantile), exact, 1.5 * WIDEST);
            }
        }
        compared += 1;
    }
    assert!(compared >= 12, "only {compared} rows fit the test's time");
}

#[test]
fn constant_service_waits_as_the_exact_series_says() {
    let mut compared = 0;
    for row in rows("mdc_exact.csv") {
        let (workers, utilisation): (u32, f64) = (row[0].parse().unwrap(), row[1].parse().unwrap());
        let (mean_wait, wait_probability): (f64, f64) = (row[2].parse().unwrap(), row[3].parse().unwrap());
        let arrivals_needed = RELAXATION_TIMES * relaxation_s(workers, utilisation, 0.0) * f64::from(workers);
        if arrivals_needed > 100_000.0 || wait_probability < 0.05 {
            continue;
        }
        let result = at_load(workers, utilisation, Law::constant(1.0).unwrap(), run(100_000));
        let what = row.join(",");
        assert_covers(&what, result.wait_mean_interval_s, mean_wait, WIDEST);
        assert_covers(&what, result.wait_probability_interval, wait_probability, WIDEST);
        compared += 1;
    }
    assert!(compared >= 12, "only {compared} rows fit the test's time");
}

/// 900 a second, 95% lognormal (median 0.12 s, σ 0.6) and 5% at a timeout of 25.263 s: 1.4 s on average, SCV 15.3.
pub(crate) fn webhook_mix() -> Law {
    let body = Law::lognormal(0.12 * 0.18_f64.exp(), 0.36_f64.exp() - 1.0).unwrap();
    Law::mixture(vec![(0.95, body), (0.05, Law::constant(25.263).unwrap())]).unwrap()
}

#[test]
fn the_webhook_mix_waits_as_long_simulations_elsewhere_found() {
    let mix = webhook_mix();
    assert!(
        (mix.mean_s() - 1.4).abs() < 1e-3 && (mix.scv() - 15.3).abs() < 0.05,
        "{} {}",
        mix.mean_s(),
        mix.scv()
    );
    let scenario = Scenario::plain(1290, Arrivals::poisson(900.0).unwrap(), mix);
    let result = simulate(&scenario, &run(400_000)).unwrap();
    // 0.113 s, itself known to 5%.
    let [low, high] = result.wait_mean_interval_s.unwrap();
    assert!(low < 0.113 * 1.05 && high > 0.113 * 0.95, "[{low}, {high}]");
}

/// At 1260 erlangs a mean wait of 0.5 s needs 1273 workers with batches of 10 and 1311 with batches of 50.
#[test]
fn batches_wait_as_the_exact_batch_results_say() {
    for (size, too_few, enough) in [(10, 1267, 1279), (50, 1299, 1323)] {
        let arrivals = Arrivals::batches(900.0, size).unwrap();
        let wait = |workers| {
            let service = Law::exponential(1.4).unwrap();
            let scenario = Scenario::plain(workers, arrivals.clone(), service);
            let run = Run { replications: 10, ..run(400_000) };
            simulate(&scenario, &run).unwrap().wait_mean_s
        };
        assert!(wait(too_few) > 0.5 && wait(enough) < 0.5, "batches of {size}");
    }
}
