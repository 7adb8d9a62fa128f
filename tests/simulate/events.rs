//! Retries, patience, bounded queues, priority classes and blocks against exact values.

use crate::oracle::{assert_covers, birth_death};
use whsize::simulate::{
    Arrivals, Block, Class, Horizon, Law, Retries, Run, Scenario, Simulated, WarmUp, simulate,
};

fn run(arrivals: u64) -> Run {
    Run::new(Horizon::Arrivals(arrivals))
}

fn markovian(workers: u32, rate: f64) -> Scenario {
    Scenario::plain(workers, Arrivals::poisson(rate).unwrap(), Law::exponential(1.0).unwrap())
}

/// Erlang C by the recursion for 1/B.
fn erlang_c(workers: u32, load: f64) -> f64 {
    let inverse_b = (1..=workers).fold(1.0, |inverse, servers| 1.0 + inverse * f64::from(servers) / load);
    let utilisation = load / f64::from(workers);
    1.0 / (utilisation + (1.0 - utilisation) * inverse_b)
}

/// Erlang A: 10 workers, 11 arrivals a second of 1 s, patience 2 s. The chain leaves state n at rate min(n,10) + (n−10)⁺/2.
#[test]
fn impatient_queues_abandon_as_erlang_a_says() {
    let (workers, rate, patience) = (10_usize, 11.0, 2.0);
    let leaving = |state: usize| state.min(workers) as f64 + state.saturating_sub(workers) as f64 / patience;
    let chain = birth_death(400, |_| rate, leaving);
    let waiting: f64 = chain[workers..].iter().sum();
    let queue: f64 =
        chain.iter().enumerate().map(|(state, p)| p * state.saturating_sub(workers) as f64).sum();
    let scenario = Scenario { patience: Some(Law::exponential(patience).unwrap()), ..markovian(10, rate) };
    let result = simulate(&scenario, &run(40_000)).unwrap();
    assert_covers("P(W>0)", result.wait_probability_interval, waiting, 0.1);
    // Little's law over all that queue, whether they are served or leave.
    assert_covers("mean wait", result.wait_mean_interval_s, queue / rate, 0.2);
    let abandoned = result.abandoned.unwrap();
    assert_covers("abandoned", abandoned.share_interval, queue / patience / rate, 0.2);
    assert_eq!(result.served + abandoned.count, result.arrivals);

    // The closed form: A = 1 + Σ yʲ/Π(x+k), x = N·patience/S, y = λ·patience, P(W>0) = A·B/(1+(A−1)B).
    let (x, y) = (10.0 * patience, rate * patience);
    let (mut a, mut term) = (1.0, 1.0);
    for k in 1..1000 {
        term *= y / (x + f64::from(k));
        a += term;
    }
    let b = 1.0 / (1..=10).fold(1.0, |inverse, servers| 1.0 + inverse * f64::from(servers) / rate);
    assert!((a * b / (1.0 + (a - 1.0) * b) - waiting).abs() < 1e-12);
}

/// M/M/5/12: 5 workers, 7 places to wait, 5.5 arrivals a second of 1 s.
#[test]
fn a_full_queue_loses_as_the_finite_chain_says() {
    let (workers, places, rate) = (5_usize, 7, 5.5);
    let chain = birth_death(workers + places + 1, |_| rate, |state| state.min(workers) as f64);
    let lost = chain[workers + places];
    let queue: f64 =
        chain.iter().enumerate().map(|(state, p)| p * state.saturating_sub(workers) as f64).sum();
    let scenario = Scenario { queue_limit: Some(places as u64), ..markovian(5, rate) };
    let result = simulate(&scenario, &run(40_000)).unwrap();
    assert_covers("lost", result.lost.unwrap().share_interval, lost, 0.2);
    assert_covers("mean wait", result.wait_mean_interval_s, queue / (rate * (1.0 - lost)), 0.1);
    assert_eq!(result.queue_max, places as u64);

    // The closed form: ρʳ/(1/B + ρ(1−ρʳ)/(1−ρ)).
    let rho: f64 = rate / 5.0;
    let inverse_b = (1..=5).fold(1.0, |inverse, servers| 1.0 + inverse * f64::from(servers) / rate);
    let power = rho.powi(places as i32);
    assert!((power / (inverse_b + rho * (1.0 - power) / (1.0 - rho)) - lost).abs() < 1e-12);
}

/// Cobham 1954 for several servers: with W₀ = C·S/N, class k waits W₀/((1−σₖ₋₁)(1−σₖ)), σₖ the utilisation by classes 1…k.
#[test]
fn urgent_events_wait_less_and_others_more_as_cobham_says() {
    let class = |name: &str, rate| Class {
        name: name.to_owned(),
        arrivals: Some(Arrivals::poisson(rate).unwrap()),
        service: Law::exponential(1.0).unwrap(),
    };
    let scenario = Scenario { classes: vec![class("urgent", 1.5), class("other", 2.5)], ..markovian(5, 1.0) };
    let result = simulate(&scenario, &run(60_000)).unwrap();
    let first = erlang_c(5, 4.0) / 5.0;
    let exact = [first / (1.0 - 0.3), first / ((1.0 - 0.3) * (1.0 - 0.8))];
    for (class, exact) in result.classes.iter().zip(exact) {
        assert_covers(&class.name, class.wait_mean_interval_s, exact, 0.3);
    }
    // Who waits does not depend on the order, and neither does the mean over all.
    assert_covers("P(W>0)", result.wait_probability_interval, erlang_c(5, 4.0), 0.1);
    assert_covers("all", result.wait_mean_interval_s, erlang_c(5, 4.0) / (5.0 - 4.0), 0.3);
}

/// Attempts that fail with probability f and come back at once make an M/M/N queue at rate λ/(1−f) (Jackson 1957).
#[test]
fn retries_load_the_pool_as_jacksons_network_says() {
    let retries = Retries {
        failure_share: 0.2,
        max_attempts: 1000,
        delays_s: Vec::new(),
        jitter: 0.0,
        failed_service: None,
    };
    let scenario = Scenario { retries: Some(retries), ..markovian(6, 4.0) };
    let result = simulate(&scenario, &run(60_000)).unwrap();
    assert_covers("P(W>0)", result.wait_probability_interval, erlang_c(6, 5.0), 0.1);
    assert_covers("mean wait", result.wait_mean_interval_s, erlang_c(6, 5.0), 0.2);
    assert_covers("utilisation", result.utilisation_interval, 5.0 / 6.0, 0.05);
    assert_eq!(result.dead_lettered.unwrap().count, 0);
}

/// With R attempts at failure probability f, an event makes (1−fᴿ)/(1−f) attempts, and fᴿ of them all end as dead letters.
#[test]
fn attempts_and_dead_letters_are_as_many_as_the_geometric_law_says() {
    let retries = Retries {
        failure_share: 0.4,
        max_attempts: 3,
        delays_s: vec![1.0, 60.0],
        jitter: 0.2,
        failed_service: Some(Law::constant(0.5).unwrap()),
    };
    let scenario = Scenario { retries: Some(retries), ..markovian(20, 4.0) };
    let result = simulate(&scenario, &run(20_000)).unwrap();
    let dead = result.dead_lettered.unwrap();
    assert_covers("dead letters", dead.share_interval, 0.4_f64.powi(3), 0.2);
    assert_eq!(result.served + dead.count, result.arrivals);
    // An event is tried again unless the first (or the second) attempt succeeds: 0.4 + 0.16.
    let again = result.retried.unwrap() as f64 / result.arrivals as f64;
    assert!((again / 0.56 - 1.0).abs() < 0.02, "{again}");
    // A success takes 1 s and a failure ½ s: 4·((1 − 0.064)·1 + (0.56 + 0.064)·½) = 4.992 busy workers.
    assert_covers("utilisation", result.utilisation_interval, 4.992 / 20.0, 0.05);
    // Delivered at the 1st, 2nd, 3rd attempt with 0.6, 0.24, 0.096: delays 0, 1, 61 and failures of ½ s.
    let delivery = (0.6 * 1.0 + 0.24 * 2.5 + 0.096 * 63.0) / 0.936;
    assert!((result.delivery_mean_s.unwrap() / delivery - 1.0).abs() < 0.05, "{:?}", result.delivery_mean_s);
    assert!(result.delivery_max_s.unwrap() > 61.0);
}

fn block_alone(workers: u32, events: u32) -> Simulated {
    let class = Class { name: "settlement".to_owned(), arrivals: None, service: Law::constant(2.0).unwrap() };
    let block = Block { at_s: 5.0, events, class: 0 };
    let scenario = Scenario { classes: vec![class], blocks: vec![block], ..markovian(workers, 1.0) };
    let run = Run { replications: 2, warm_up: WarmUp::Nothing, ..Run::new(Horizon::Seconds(1000.0)) };
    simulate(&scenario, &run).unwrap()
}

/// 1,000 events of 2 s on 10 workers: 100 rounds; the queue is empty when the last round begins, and holds 990 at first.
#[test]
fn a_block_of_constant_work_clears_in_whole_rounds() {
    let block = block_alone(10, 1000).blocks[0];
    assert_eq!((block.done_s, block.queue_empty_s), (Some(200.0), Some(198.0)));
    assert_eq!(block.queue_max, 990);
    // 5,000 events would need all of the thousand seconds: not done, and that is said.
    let unfinished = block_alone(10, 5000).blocks[0];
    assert_eq!((unfinished.done_s, unfinished.done_in_replications), (None, 0));
}

/// While a backlog keeps all workers busy, urgent events wait W₀/(1−σ₁) with W₀ = S/N: 10 workers, 3 urgent a second of 1 s.
#[test]
fn urgent_events_pass_a_backlog() {
    let urgent = Class { name: "urgent".to_owned(), ..markovian(10, 3.0).classes[0].clone() };
    let other =
        Class { name: "settlement".to_owned(), arrivals: None, service: Law::exponential(1.0).unwrap() };
    let block = Block { at_s: 0.0, events: 40_000, class: 1 };
    let scenario = Scenario { classes: vec![urgent, other], blocks: vec![block], ..markovian(10, 1.0) };
    let warm_up = WarmUp::Seconds(20.0);
    let during = Run { warm_up, ..Run::new(Horizon::Seconds(5000.0)) };
    let result = simulate(&scenario, &during).unwrap();
    let urgent = &result.classes[0];
    assert_covers("urgent", urgent.wait_mean_interval_s, 0.1 / (1.0 - 0.3), 0.1);
    assert!(urgent.wait_probability.unwrap() > 0.999);

    // Seven workers' worth is left for the block: 40,000/7 = 5,714 s, within a per cent of noise.
    let until_clear = Run { warm_up: WarmUp::Nothing, ..Run::new(Horizon::Seconds(7000.0)) };
    let cleared = simulate(&scenario, &until_clear).unwrap().blocks[0].done_s.unwrap();
    assert!((cleared / 5714.0 - 1.0).abs() < 0.01, "{cleared}");
}
