//! Sizing at 1,260, 10⁶ and 10⁹ erlangs, beside the plain recursion for one blocking probability at the same load.
//! `cargo bench --bench size` prints both, and the ratio: that is what matters, since machines differ.
#![allow(missing_docs, reason = "criterion's macro writes a function without one")]
#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a bench may fail by unwrapping, and prints")]

use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use std::hint::black_box;
use std::process::Command;
use std::time::{Duration, Instant};
use whsize::queueing::erlang::erlang_b;
use whsize::sizing::{ArrivalProcess, Demand, Objective, Question, ServiceTime};

/// Name, rate, mean service time, and the load in erlangs.
const LOADS: [(&str, &str, &str, f64); 3] =
    [("1260", "900", "1.4", 1260.0), ("1e6", "1M", "1", 1e6), ("1e9", "1G", "1", 1e9)];

/// 1/B(j) = 1 + (j/a)/B(j−1): what most calculators do, one step a worker.
fn by_recursion(servers: u64, load: f64) -> f64 {
    1.0 / (1..=servers).fold(1.0, |inverse, j| 1.0 + inverse * j as f64 / load)
}

fn question(rate: &str, mean: &str) -> Question {
    let service = ServiceTime::exponential(mean.parse().unwrap());
    Question {
        demand: Demand::new(rate.parse().unwrap(), service, ArrivalProcess::Poisson).unwrap(),
        objectives: vec![Objective::MeanWait("0.5".parse().unwrap())],
        workers: None,
        scenarios: Vec::new(),
        sample: None,
    }
}

fn sizing(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("size");
    group.sample_size(10).measurement_time(Duration::from_secs(1)).warm_up_time(Duration::from_millis(300));
    for (name, rate, mean, load) in LOADS {
        let question = question(rate, mean);
        let workers = question.answer().sizing.steady.workers;
        group.bench_function(BenchmarkId::new("whole answer", name), |bencher| {
            bencher.iter(|| black_box(&question).answer());
        });
        group.bench_function(BenchmarkId::new("one Erlang B", name), |bencher| {
            bencher.iter(|| erlang_b(black_box(workers), load));
        });
    }
    group.finish();
    ratios();
}

/// The fastest of a few runs, in seconds: what the machine can do when nothing disturbs it.
fn fastest(runs: u32, mut work: impl FnMut()) -> f64 {
    let time = |work: &mut dyn FnMut()| {
        let start = Instant::now();
        work();
        start.elapsed().as_secs_f64()
    };
    (0..runs).map(|_| time(&mut work)).fold(f64::INFINITY, f64::min)
}

/// The whole process, from start to printed report, against one plain recursion.
fn ratios() {
    println!(
        "{:>8}  {:>14}  {:>15}  {:>27}",
        "erlangs", "whole process", "one recursion", "recursion / whole process"
    );
    for (name, rate, mean, load) in LOADS {
        let workers = question(rate, mean).answer().sizing.steady.workers;
        let process = fastest(5, || {
            let arguments = ["size", "--rate", rate, "--mean", mean, "--wait", "0.5"];
            let output = Command::new(env!("CARGO_BIN_EXE_whsize")).args(arguments).output().unwrap();
            assert!(output.status.success());
        });
        let recursion = fastest(2, || {
            black_box(by_recursion(black_box(workers), load));
        });
        println!(
            "{name:>8}  {:>11.2} ms  {:>12.3} ms  {:>27.3}",
            process * 1e3,
            recursion * 1e3,
            recursion / process
        );
    }
}

criterion_group!(benches, sizing);
criterion_main!(benches);
