//! Tables that take minutes of simulation: run by hand, kept in `fixtures/simulated`, and read by the page on accuracy.
//!
//! ```sh
//! cargo test --release --locked --test reference -- --ignored --nocapture --test-threads 1
//! ```
//!
//! adds the rows that a table lacks; remove a row, or a file, to have it made anew.

use std::fs;
use std::io::Write as _;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use whsize::simulate::{Arrivals, Goal, Horizon, Law, Run, Scenario, Search, WarmUp, refine, simulate};

/// The mean wait is known when its 95% interval is this narrow, relative to it.
const HALF_WIDTH: f64 = 0.03;

/// Arrivals after which a row is given up.
const MOST_ARRIVALS: f64 = 2.5e9;

/// Waits rarer than this are left to the formula, as `size --refine` does.
const RAREST: f64 = 1e-5;

/// A table with its file.
struct Kept {
    path: PathBuf,
    rows: Vec<String>,
}

impl Kept {
    fn open(file: &str, header: &str) -> Self {
        let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("fixtures/simulated").join(file);
        let text = fs::read_to_string(&path).unwrap_or_default();
        if text.is_empty() {
            fs::write(&path, format!("{header}\n")).unwrap();
        }
        Kept { path, rows: text.lines().map(str::to_owned).collect() }
    }

    /// Adds the row of a key, unless it is there.
    fn add(&mut self, key: &str, values: impl FnOnce() -> String) {
        if self.rows.iter().any(|row| row.starts_with(&format!("{key},"))) {
            return;
        }
        let row = format!("{key},{}", values());
        println!("{row}");
        let mut file = fs::OpenOptions::new().append(true).open(&self.path).unwrap();
        writeln!(file, "{row}").unwrap();
        self.rows.push(row);
    }
}

fn threads() -> NonZeroUsize {
    std::thread::available_parallelism().unwrap()
}

/// The mean wait with the half width of its 95% interval and the share that waits, in mean service times, and the arrivals
/// that it took; longer runs until the interval is narrow enough.
fn simulated(workers: u32, arrivals: &Arrivals, service: &Law) -> String {
    let utilisation = arrivals.mean_rate_per_s() / f64::from(workers);
    let variability = 0.5 * (arrivals.dispersion().unwrap() + service.scv());
    let relaxation_s = variability / f64::from(workers) / (1.0 - utilisation.sqrt()).powi(2);
    let scenario = Scenario::plain(workers, arrivals.clone(), service.clone());
    let mut length_s = (200.0 * relaxation_s).max(200.0).max(2e5 / arrivals.mean_rate_per_s());
    loop {
        let run = Run {
            replications: 24,
            warm_up: WarmUp::Seconds(0.1 * length_s),
            quantiles: Vec::new(),
            threads: threads(),
            ..Run::new(Horizon::Seconds(length_s))
        };
        let found = simulate(&scenario, &run).unwrap();
        let [low, high] = found.wait_mean_interval_s.unwrap();
        let half_width = (high - low) / 2.0 / found.wait_mean_s;
        let spent = length_s * arrivals.mean_rate_per_s() * 24.0;
        let growth = if half_width.is_finite() { (half_width / HALF_WIDTH).powi(2) * 1.2 } else { 8.0 };
        if half_width <= HALF_WIDTH || spent * growth.clamp(1.5, 8.0) > MOST_ARRIVALS {
            return format!(
                "{:.5e},{:.2e},{:.4e},{:.2e}",
                found.wait_mean_s, half_width, found.wait_probability, spent
            );
        }
        length_s *= growth.clamp(1.5, 8.0);
    }
}

/// 95% lognormal (median 0.12 s, σ 0.6), 5% at a timeout of 25.263 s, with a mean of 1: SCV 15.3.
fn webhook_mix() -> Law {
    let scale = 1.4;
    let body = Law::lognormal(0.12 * 0.18_f64.exp() / scale, 0.36_f64.exp() - 1.0).unwrap();
    Law::mixture(vec![(0.95, body), (0.05, Law::constant(25.263 / scale).unwrap())]).unwrap()
}

#[test]
#[ignore = "half an hour of simulation"]
fn measured_service_is_tabulated() {
    let mut kept = Kept::open("service.csv", "service,servers,rho,wait,half_width,wait_probability,arrivals");
    let lognormal = |scv: f64| (format!("lognormal {scv}"), Law::lognormal(1.0, scv).unwrap());
    let laws = [
        lognormal(2.0),
        lognormal(5.0),
        lognormal(15.0),
        ("timeout mix 15.3".to_owned(), webhook_mix()),
        lognormal(60.0),
    ];
    for utilisation in [0.9, 0.97] {
        for (name, law) in &laws {
            for workers in [20_u32, 100, 400, 1263] {
                // Next to nobody waits, or no run is long enough.
                let idle = utilisation < 0.95 && workers > 400;
                let endless = utilisation > 0.95 && law.scv() > 30.0 && workers < 1000;
                if idle || endless {
                    continue;
                }
                let arrivals = Arrivals::poisson(f64::from(workers) * utilisation / law.mean_s()).unwrap();
                kept.add(&format!("{name},{workers},{utilisation}"), || simulated(workers, &arrivals, law));
            }
        }
    }
}

/// The laws of the times between arrivals, by name.
pub(crate) fn gaps(name: &str, mean_s: f64) -> Law {
    let (kind, number) = name.split_once(' ').unwrap();
    let number: f64 = number.parse().unwrap();
    match kind {
        "Erlang" => Law::erlang(mean_s, number as u32),
        "hyperexponential" => Law::hyperexponential(mean_s, number),
        "lognormal" => Law::lognormal(mean_s, number),
        other => panic!("{other}"),
    }
    .unwrap()
}

/// The laws of the service times, by name.
pub(crate) fn services(name: &str) -> Law {
    match name {
        "constant" => Law::constant(1.0),
        "exponential" => Law::exponential(1.0),
        "hyperexponential 4" => Law::hyperexponential(1.0, 4.0),
        other => panic!("{other}"),
    }
    .unwrap()
}

#[test]
#[ignore = "half an hour of simulation"]
fn other_arrivals_are_tabulated() {
    let mut kept =
        Kept::open("arrivals.csv", "gaps,service,servers,rho,wait,half_width,wait_probability,arrivals");
    for gap in [
        "Erlang 4",
        "Erlang 2",
        "hyperexponential 2",
        "hyperexponential 4",
        "lognormal 4",
        "hyperexponential 10",
    ] {
        for service in ["constant", "exponential", "hyperexponential 4"] {
            for (workers, utilisation) in
                [(2_u32, 0.7), (2, 0.9), (10, 0.8), (10, 0.95), (100, 0.9), (100, 0.97), (1000, 0.97)]
            {
                let arrivals = Arrivals::renewal(gaps(gap, 1.0 / (f64::from(workers) * utilisation)));
                kept.add(&format!("{gap},{service},{workers},{utilisation}"), || {
                    simulated(workers, &arrivals, &services(service))
                });
            }
        }
    }
}

fn oracle(file: &str) -> Vec<Vec<String>> {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("fixtures/oracle").join(file);
    let text = fs::read_to_string(path).unwrap();
    text.lines().skip(1).map(|line| line.split(',').map(str::to_owned).collect()).collect()
}

/// A service law of `mgc_exact.csv` with a mean of 1.
fn exact_law(name: &str, scv: f64) -> Law {
    let part = |mean_s: f64| Law::exponential(mean_s / 0.796).unwrap();
    match name.split(' ').next().unwrap() {
        "E2" => Law::erlang(1.0, 2).unwrap(),
        "H2" => Law::hyperexponential(1.0, scv).unwrap(),
        _ => Law::mixture(vec![(0.98, part(0.2)), (0.02, part(30.0))]).unwrap(),
    }
}

/// The row's own mean wait as the limit, searched as `size --refine` does: with its arrivals, from a start that is as far off
/// as the formulas are at most.
#[test]
#[ignore = "half an hour of simulation"]
fn refinement_is_tabulated_over_every_exact_row() {
    let mut kept = Kept::open("refine.csv", "service,servers,rho,wait,found,low,high,settled,arrivals");
    let mixed = oracle("mgc_exact.csv").into_iter().map(|row| {
        let law = exact_law(&row[0], row[1].parse().unwrap());
        (row[0].clone(), law, row[2].clone(), row[3].clone(), row[4].clone(), row[5].clone())
    });
    let constant = oracle("mdc_exact.csv").into_iter().map(|row| {
        let law = Law::constant(1.0).unwrap();
        ("constant".to_owned(), law, row[0].clone(), row[1].clone(), row[2].clone(), row[3].clone())
    });
    for (name, law, servers, utilisation, wait, probability) in mixed.chain(constant) {
        if probability.parse::<f64>().unwrap() < RAREST {
            continue;
        }
        kept.add(&format!("{name},{servers},{utilisation},{wait}"), || {
            let workers: u32 = servers.parse().unwrap();
            let arrivals =
                Arrivals::poisson(f64::from(workers) * utilisation.parse::<f64>().unwrap()).unwrap();
            let goal = Goal { wait_mean_s: Some(wait.parse().unwrap()), ..Goal::default() };
            let start = Some(workers + (workers / 100).max(1));
            let search = Search { start, threads: threads(), most_arrivals: 1_000_000_000, ..Search::new() };
            let found = refine(&arrivals, &law, &goal, &search).unwrap();
            let [low, high] = found.workers_interval;
            format!("{},{low},{high},{},{:.2e}", found.workers, found.settled, found.arrivals as f64)
        });
    }
}
