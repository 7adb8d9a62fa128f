//! Sizing at 1,260, 10⁶ and 10⁹ erlangs, beside the plain recursion for one blocking probability at the same load.
//! `cargo bench --bench size` prints both; the ratio is what matters, since machines differ.
#![allow(missing_docs, reason = "criterion's macro writes a function without one")]
#![allow(clippy::unwrap_used, reason = "a bench may fail by unwrapping")]

use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use std::hint::black_box;
use std::time::Duration;
use whsize::queueing::erlang::erlang_b;
use whsize::sizing::{Demand, Objective, Question, ServiceTime};

/// 1/B(j) = 1 + (j/a)/B(j−1): what most calculators do, one step a worker.
fn by_recursion(servers: u64, load: f64) -> f64 {
    1.0 / (1..=servers).fold(1.0, |inverse, j| 1.0 + inverse * j as f64 / load)
}

fn question(rate: &str, mean: &str) -> Question {
    let service = ServiceTime::exponential(mean.parse().unwrap());
    Question {
        demand: Demand::new(rate.parse().unwrap(), service, 1.0).unwrap(),
        objectives: vec![Objective::MeanWait("0.5".parse().unwrap())],
        workers: None,
        scenarios: Vec::new(),
        sample: None,
    }
}

fn sizing(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("size");
    group.sample_size(10).measurement_time(Duration::from_secs(2)).warm_up_time(Duration::from_millis(500));
    for (name, rate, mean, load) in
        [("1260", "900", "1.4", 1260.0), ("1e6", "1M", "1", 1e6), ("1e9", "1G", "1", 1e9)]
    {
        let question = question(rate, mean);
        let workers = question.answer().sizing.steady.workers;
        group.bench_function(BenchmarkId::new("whole answer", name), |bencher| {
            bencher.iter(|| black_box(&question).answer())
        });
        group.bench_function(BenchmarkId::new("one Erlang B", name), |bencher| {
            bencher.iter(|| erlang_b(black_box(workers), load));
        });
        group.bench_function(BenchmarkId::new("one plain recursion", name), |bencher| {
            bencher.iter(|| by_recursion(black_box(workers), load));
        });
    }
    group.finish();
}

criterion_group!(benches, sizing);
criterion_main!(benches);
