//! Does reality agree? `cargo bench --bench validate [-- SEEDS]`
//!
//! First M/M/N over real HTTP: for 50, 200 and 1,000 workers, how many of SEEDS runs (20 unless given) have their mean
//! wait where 99% of simulated runs of the same length lie. At least 95% must; runs that the machine was too busy for
//! are not judged and are counted apart. Then one endpoint that hangs: what the waits of the others become, with
//! governor and host cap, and without.
#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a bench may fail by unwrapping, and prints")]

use whsize::dispatch::Shutdown;
use whsize::dispatch::governor::GovernorPolicy;
use whsize::sandbox::LatencyLaw;
use whsize::sizing::ServiceTime;
use whsize::validate::{Arrivals, Level, Plan, Verdict, validate};

/// Workers, messages a second, mean service time. The steady mean waits are 14.6, 11.4 and 10.3 ms; closer to saturation
/// a run of this length would have so wide an interval that it says little.
const POOLS: [(u64, f64, &str); 3] = [(50, 225.0, "200ms"), (200, 960.0, "200ms"), (1_000, 1_960.0, "500ms")];
const SEEDS: u64 = 20;
const LEAST_SHARE: f64 = 0.95;
/// The waits of healthy endpoints may rise by this share or by this time, in seconds.
const MOST_RISE: (f64, f64) = (0.10, 0.005);

fn main() {
    // cargo adds `--bench`.
    let seeds = std::env::args().filter_map(|argument| argument.parse().ok()).next().unwrap_or(SEEDS);
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    let agree = runtime.block_on(mmn(seeds));
    let isolated = runtime.block_on(isolation());
    assert!(agree && isolated, "reality does not agree");
}

fn plan(rate_per_s: f64, mean: &str, workers: u64) -> Plan {
    let service = ServiceTime::exponential(mean.parse().unwrap());
    Plan {
        rate_per_s,
        law: LatencyLaw::exponential(service.mean.get()).unwrap(),
        service,
        workers,
        levels: vec![1.0],
        scale_pool: false,
        max_age_s: None,
        duration_s: 10.0,
        warm_up_s: 1.0,
        time_scale: 1.0,
        shrink: 1.0,
        arrivals: Arrivals::Poisson,
        endpoints: 5,
        faults: Vec::new(),
        governor: GovernorPolicy::Off,
        host_cap: false,
        tls: false,
        target: None,
        seed: 1,
    }
}

async fn run(plan: &Plan) -> Level {
    let validated = validate(plan, &Shutdown::new(), &|_| ()).await.unwrap();
    validated.validation.levels.into_iter().next().unwrap()
}

/// Counts the runs whose mean wait lies inside its interval.
async fn mmn(seeds: u64) -> bool {
    let mut all = true;
    for (workers, rate_per_s, mean) in POOLS {
        let (mut inside, mut judged) = (0, 0);
        for seed in 1..=seeds {
            let level = run(&Plan { seed, ..plan(rate_per_s, mean, workers) }).await;
            let predicted = level.predicted.as_ref().unwrap();
            let [low, high] = predicted.wait_mean_interval_s.map(|wait_s| wait_s * 1e3);
            println!(
                "{workers} workers, seed {seed}: mean wait {:.1} ms, ideal {:.1} ms, 99% of simulated runs {low:.1} to \
                 {high:.1} ms, overhead {:.2} ms, lateness {:.2} ms, {:?}",
                level.wait_mean_s * 1e3,
                predicted.ideal_wait_mean_s * 1e3,
                level.overhead_mean_s.unwrap_or(0.0) * 1e3,
                level.generator_lateness_mean_s * 1e3,
                level.verdict
            );
            assert_eq!(level.lost, 0);
            judged += u64::from(level.verdict != Verdict::NotJudged);
            inside += u64::from(level.verdict == Verdict::Agrees);
        }
        println!("{workers} workers: {inside} of {judged} judged runs agree ({seeds} were run)");
        all &= inside as f64 >= LEAST_SHARE * judged as f64;
    }
    all
}

/// Compares the 99th percentiles of the healthy endpoints' waits with and without an endpoint that hangs.
async fn isolation() -> bool {
    let faults = vec!["endpoint=1,hang".parse().unwrap()];
    let base = Plan { endpoints: 10, duration_s: 15.0, ..plan(200.0, "50ms", 40) };
    let governed = Plan { governor: GovernorPolicy::Paced, host_cap: true, ..base.clone() };
    let healthy = healthy_p99(&run(&governed).await);
    let hanging = healthy_p99(&run(&Plan { faults: faults.clone(), ..governed }).await);
    let unprotected = healthy_p99(&run(&Plan { faults, ..base }).await);
    println!(
        "one of 10 endpoints hangs: p99 wait of the others {:.2} ms without the hang, {:.2} ms with governor and cap, \
         {:.0} ms with both off",
        healthy * 1e3,
        hanging * 1e3,
        unprotected * 1e3
    );
    hanging <= healthy + (healthy * MOST_RISE.0).max(MOST_RISE.1)
}

/// The longest of the 99th percentiles of the waits of all endpoints but the first, in seconds.
fn healthy_p99(level: &Level) -> f64 {
    level.endpoints.iter().skip(1).filter_map(|endpoint| endpoint.wait_p99_s).fold(0.0, f64::max)
}
