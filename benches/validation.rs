//! The simulator's long validation, which takes minutes and therefore does not run in CI:
//! `cargo bench --bench validation [coverage|mix|batches|rows]`. It prints tables and judges nothing.

#![allow(clippy::print_stdout, reason = "it prints tables")]

use std::num::NonZeroUsize;
use std::path::Path;
use whsize::simulate::{Arrivals, Goal, Horizon, Law, Run, Scenario, Search, refine, simulate};

fn threads() -> NonZeroUsize {
    std::thread::available_parallelism().unwrap_or(NonZeroUsize::MIN)
}

fn law(law: Result<Law, whsize::simulate::Error>) -> Law {
    law.expect("a valid law")
}

fn poisson(rate_per_s: f64) -> Arrivals {
    Arrivals::poisson(rate_per_s).expect("a valid rate")
}

/// Relaxation time of a pool with mean service time 1.
fn relaxation_s(workers: f64, load: f64, scv: f64) -> f64 {
    0.5 * (1.0 + scv) / (workers.sqrt() - load.sqrt()).powi(2)
}

fn erlang_c(workers: u32, load: f64) -> f64 {
    let inverse_b = (1..=workers).fold(1.0, |inverse, servers| 1.0 + inverse * f64::from(servers) / load);
    let utilisation = load / f64::from(workers);
    1.0 / (utilisation + (1.0 - utilisation) * inverse_b)
}

/// How often 95% intervals cover the exact value, near saturation, with 20 replications of each length.
fn coverage() {
    const RUNS: u64 = 400;
    println!("| workers | utilisation | relaxation times | mean wait | P(W>0) | p95 | settled |");
    println!("| --- | --- | --- | --- | --- | --- | --- |");
    for (workers, utilisation, lengths) in [
        (1, 0.95, 20.0),
        (1, 0.95, 50.0),
        (10, 0.95, 50.0),
        (10, 0.99, 20.0),
        (100, 0.95, 50.0),
        (100, 0.99, 20.0),
    ] {
        let load = utilisation * f64::from(workers);
        let probability = erlang_c(workers, load);
        let slack = f64::from(workers) - load;
        let quantile = ((probability / 0.05).ln() / slack).max(0.0);
        let scenario = Scenario::plain(workers, poisson(load), law(Law::exponential(1.0)));
        let mut covered = [0_u64; 4];
        for seed in 0..RUNS {
            let horizon = Horizon::Seconds(lengths * relaxation_s(f64::from(workers), load, 1.0));
            let run = Run { seed, threads: threads(), quantiles: vec![0.95], ..Run::new(horizon) };
            let result = simulate(&scenario, &run).expect("a valid run");
            let covers = |interval: Option<[f64; 2]>, exact: f64| {
                u64::from(interval.is_some_and(|[low, high]| low <= exact && exact <= high))
            };
            covered[0] += covers(result.wait_mean_interval_s, probability / slack);
            covered[1] += covers(result.wait_probability_interval, probability);
            covered[2] += covers(result.wait_quantiles[0].interval_s, quantile);
            covered[3] += u64::from(result.warm_up_settled == Some(true));
        }
        let [mean, wait, p95, settled] = covered.map(|count| 100.0 * count as f64 / RUNS as f64);
        println!(
            "| {workers} | {utilisation} | {lengths} | {mean:.1}% | {wait:.1}% | {p95:.1}% | {settled:.1}% |"
        );
    }
}

/// 900 a second: 95% lognormal (median 0.12 s, σ 0.6) and 5% at 25.263 s. Elsewhere: 3.03 s at 1263 workers, 0.414 s at 1275,
/// 0.254 s at 1280, 0.113 s at 1290, 0.018 s at 1314.
fn mix() {
    let body = law(Law::lognormal(0.12 * 0.18_f64.exp(), 0.36_f64.exp() - 1.0));
    let mix = law(Law::mixture(vec![(0.95, body), (0.05, law(Law::constant(25.263)))]));
    println!("| workers | mean wait | 95% interval | elsewhere | arrivals |");
    println!("| --- | --- | --- | --- | --- |");
    for (workers, elsewhere, arrivals) in [
        (1314, 0.018, 10_000_000),
        (1290, 0.113, 10_000_000),
        (1280, 0.254, 15_000_000),
        (1275, 0.414, 20_000_000),
        (1263, 3.03, 100_000_000),
    ] {
        let scenario = Scenario::plain(workers, poisson(900.0), mix.clone());
        let run = Run { threads: threads(), ..Run::new(Horizon::Arrivals(arrivals)) };
        let result = simulate(&scenario, &run).expect("a valid run");
        let [low, high] = result.wait_mean_interval_s.unwrap_or_default();
        let wait = result.wait_mean_s;
        println!(
            "| {workers} | {wait:.4} s | {low:.4} to {high:.4} s | {elsewhere} s | {} |",
            result.arrivals
        );
    }
}

/// Batches at 1260 erlangs and a mean wait of 0.5 s: exactly, 10 need 1273 workers and 50 need 1311.
fn batches() {
    for (size, exact) in [(10, 1273), (50, 1311)] {
        let arrivals = Arrivals::batches(900.0, size).expect("valid batches");
        let goal = Goal { wait_mean_s: Some(0.5), ..Goal::default() };
        let search = Search { threads: threads(), most_arrivals: 20_000_000_000, ..Search::new() };
        let found = refine(&arrivals, &law(Law::exponential(1.4)), &goal, &search).expect("a valid search");
        let [low, high] = found.workers_interval;
        println!("batches of {size}: {} workers ({low} to {high}), exactly {exact}", found.workers);
    }
}

/// The search on every exact row, with the row's own mean wait as the limit.
fn rows() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/oracle/mgc_exact.csv");
    let text = std::fs::read_to_string(path).expect("the table of exact values");
    println!("| service | workers | utilisation | found | interval | settled | arrivals |");
    println!("| --- | --- | --- | --- | --- | --- | --- |");
    for line in text.lines().skip(1) {
        let cells: Vec<&str> = line.split(',').collect();
        let number = |at: usize| cells[at].parse::<f64>().expect("a number");
        let (name, scv, workers) = (cells[0], number(1), number(2));
        let service = law(match name.split(' ').next() {
            Some("E2") => Law::erlang(1.0, 2),
            Some("H2") => Law::hyperexponential(1.0, scv),
            _ => {
                let part = |mean_s: f64| law(Law::exponential(mean_s / 0.796));
                Law::mixture(vec![(0.98, part(0.2)), (0.02, part(30.0))])
            }
        });
        let goal = Goal { wait_mean_s: Some(number(4)), ..Goal::default() };
        let search = Search { threads: threads(), ..Search::new() };
        let found = refine(&poisson(workers * number(3)), &service, &goal, &search).expect("a valid search");
        println!(
            "| {name} | {workers} | {} | {} | {:?} | {} | {:.1e} |",
            number(3),
            found.workers,
            found.workers_interval,
            found.settled,
            found.arrivals as f64
        );
    }
}

fn main() {
    let parts: [(&str, fn()); 4] =
        [("coverage", coverage), ("mix", mix), ("batches", batches), ("rows", rows)];
    let wanted: Vec<String> =
        std::env::args().skip(1).filter(|argument| !argument.starts_with('-')).collect();
    for (name, part) in parts {
        if wanted.is_empty() || wanted.iter().any(|wanted| wanted == name) {
            println!("\n## {name}");
            part();
        }
    }
}
