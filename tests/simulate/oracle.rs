//! Exact values that the simulator has no part in.

use std::path::Path;
use whsize::simulate::{Law, Simulated};

/// Rows of a table of exact values, without its header.
pub(crate) fn rows(file: &str) -> Vec<Vec<String>> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/oracle").join(file);
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    text.lines().skip(1).map(|line| line.split(',').map(str::to_owned).collect()).collect()
}

/// A service law of `mgc_exact.csv` with mean 1.
pub(crate) fn service(name: &str, scv: f64) -> Law {
    match name.split_whitespace().next().unwrap() {
        "E2" => Law::erlang(1.0, 2),
        "H2" => Law::hyperexponential(1.0, scv),
        "webhook" => {
            let part = |mean_s: f64| Law::exponential(mean_s / 0.796).unwrap();
            Law::mixture(vec![(0.98, part(0.2)), (0.02, part(30.0))])
        }
        other => panic!("unknown service {other}"),
    }
    .unwrap()
}

/// Relaxation time of a pool with mean service time 1, after docs of the run's length.
pub(crate) fn relaxation_s(workers: u32, utilisation: f64, scv: f64) -> f64 {
    let workers = f64::from(workers);
    0.5 * (1.0 + scv) / (workers.sqrt() - (workers * utilisation).sqrt()).powi(2)
}

/// Steady-state probabilities of a birth–death chain from its rates, up to the given state.
pub(crate) fn birth_death(
    states: usize,
    birth: impl Fn(usize) -> f64,
    death: impl Fn(usize) -> f64,
) -> Vec<f64> {
    let mut weights = vec![1.0];
    for state in 1..states {
        weights.push(weights[state - 1] * birth(state - 1) / death(state));
    }
    let total: f64 = weights.iter().sum();
    weights.into_iter().map(|weight| weight / total).collect()
}

/// Fails unless the exact value lies within the 95% interval, made twice as wide so that a hundred comparisons with fixed
/// seeds all hold (it then covers 99.9%), and unless the interval is narrow enough to say something.
pub(crate) fn assert_covers(what: &str, interval: Option<[f64; 2]>, exact: f64, widest: f64) {
    let [low, high] = interval.unwrap();
    // Rounding of the table's last digits, where the interval has hardly a width.
    let slack = 0.5 * (high - low) + 1e-6 * exact;
    assert!(low - slack <= exact && exact <= high + slack, "{what}: {exact} not about [{low}, {high}]");
    assert!(high - low <= widest * exact, "{what}: [{low}, {high}] is too wide to say anything of {exact}");
}

/// The quantile's interval in a result.
pub(crate) fn quantile_interval(result: &Simulated, quantile: f64) -> Option<[f64; 2]> {
    result.wait_quantiles.iter().find(|entry| entry.quantile == quantile).unwrap().interval_s
}
