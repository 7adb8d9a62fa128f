//! Speed of the plain queue, beside a bare heap loop over numbers that were drawn before.

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::hint::black_box;
use whsize::simulate::{
    Arrivals, Bucket, Horizon, Law, Run, Scenario, Servers, WarmUp, simulate, simulate_by_events,
};

/// Arrivals in one measurement.
const ARRIVALS: u64 = 1_000_000;
/// Utilisation of the guides' steady row: 1260 erlangs on 1263 workers.
const UTILISATION: f64 = 1260.0 / 1263.0;

/// Measured service times as a histogram of 3 significant digits would hold them: 95% around 0.12 s, 5% at a timeout of 25 s.
fn measured() -> Law {
    let bucket = |low_s: f64, width: f64, count| Bucket { low_s, high_s: low_s + width, count };
    let body =
        (0..1000).map(|n: u64| bucket(0.02 + 0.0005 * n as f64, 0.0005, 1 + 950_000 / (50 + n * n / 8)));
    let buckets: Vec<Bucket> = body.collect();
    let in_body: u64 = buckets.iter().map(|bucket| bucket.count).sum();
    let tail = (0..100).map(|n| bucket(25.0 + 0.01 * f64::from(n), 0.01, in_body / 1900));
    let buckets: Vec<Bucket> = buckets.into_iter().chain(tail).collect();
    let total: f64 = buckets.iter().map(|b| b.count as f64).sum();
    let mean: f64 =
        buckets.iter().map(|b| b.count as f64 * (b.low_s + 0.4 * (b.high_s - b.low_s))).sum::<f64>() / total;
    Law::empirical(&buckets, mean, None).expect("a valid histogram")
}

fn scenario(workers: u32) -> Scenario {
    let service = measured();
    let rate = f64::from(workers) * UTILISATION / service.mean_s();
    Scenario::plain(workers, Arrivals::poisson(rate).expect("a valid rate"), service)
}

fn run() -> Run {
    Run { replications: 1, warm_up: WarmUp::Nothing, ..Run::new(Horizon::Arrivals(ARRIVALS)) }
}

/// Exponential gaps and resampled service times, drawn beforehand by a small generator of the bench's own.
fn drawn(workers: u32) -> (Vec<f64>, Vec<f64>) {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut uniform = move || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((state >> 11) as f64 + 0.5) / (1_u64 << 53) as f64
    };
    let mean_gap = measured().mean_s() / (f64::from(workers) * UTILISATION);
    let mut now = 0.0;
    let times = (0..ARRIVALS)
        .map(|_| {
            now -= mean_gap * uniform().ln();
            now
        })
        .collect();
    let services = (0..ARRIVALS)
        .map(|_| if uniform() < 0.05 { 25.0 + uniform() } else { 0.02 + 0.03 / (0.05 + uniform()) })
        .collect();
    (times, services)
}

/// Only the heap: the standard library's, with its top replaced in place, and the sum of the waits.
fn bare_heap(workers: u32, times: &[f64], services: &[f64]) -> f64 {
    let mut heap: BinaryHeap<Reverse<u64>> = (0..workers).map(|_| Reverse(0)).collect();
    let mut waits = 0.0;
    for (&time, &service) in times.iter().zip(services) {
        let mut first = heap.peek_mut().expect("there are workers");
        let start = f64::from_bits(first.0).max(time);
        waits += start - time;
        *first = Reverse((start + service).to_bits());
    }
    waits
}

/// The same with the engine's own tournament tree.
fn bare_tree(workers: u32, times: &[f64], services: &[f64]) -> f64 {
    let mut servers = Servers::new(workers as usize);
    let mut waits = 0.0;
    for (&time, &service) in times.iter().zip(services) {
        let start = servers.first_free().max(time);
        waits += start - time;
        servers.occupy_first(start + service);
    }
    waits
}

fn engine_beside_bare_loops(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("plain_queue");
    group.throughput(Throughput::Elements(ARRIVALS)).sample_size(10);
    for workers in [10, 100, 1_263, 10_000, 100_000] {
        let (times, services) = drawn(workers);
        let (scenario, run) = (scenario(workers), run());
        group.bench_function(BenchmarkId::new("engine", workers), |bencher| {
            bencher.iter(|| simulate(black_box(&scenario), &run));
        });
        group.bench_function(BenchmarkId::new("bare_binary_heap", workers), |bencher| {
            bencher.iter(|| bare_heap(workers, black_box(&times), &services));
        });
        group.bench_function(BenchmarkId::new("bare_tournament_tree", workers), |bencher| {
            bencher.iter(|| bare_tree(workers, black_box(&times), &services));
        });
    }
    group.finish();
}

fn event_engine(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("event_engine");
    group.throughput(Throughput::Elements(ARRIVALS)).sample_size(10);
    let (scenario, run) = (scenario(1_263), run());
    group.bench_function("plain/1263", |bencher| {
        bencher.iter(|| simulate_by_events(black_box(&scenario), &run));
    });
    group.finish();
}

criterion_group!(benches, engine_beside_bare_loops, event_engine);
criterion_main!(benches);
