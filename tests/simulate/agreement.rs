//! The two engines, and one thread and many, must agree.

use std::num::NonZeroUsize;
use whsize::simulate::{
    Arrivals, Error, Horizon, Law, RateInterval, Run, Scenario, Simulated, WarmUp, simulate,
    simulate_by_events,
};

fn scenarios() -> Vec<Scenario> {
    let day = vec![
        RateInterval { duration_s: 100.0, rate_per_s: 3.0 },
        RateInterval { duration_s: 50.0, rate_per_s: 7.0 },
    ];
    let arrivals = [
        Arrivals::poisson(4.5).unwrap(),
        Arrivals::batches(4.0, 6).unwrap(),
        Arrivals::renewal(Law::lognormal(0.22, 3.0).unwrap()),
        Arrivals::trace((0..5000).map(|n| f64::from(n / 3) * 0.7).collect()).unwrap(),
        Arrivals::schedule(day).unwrap(),
    ];
    let services = [
        Law::constant(1.0).unwrap(),
        Law::exponential(1.0).unwrap(),
        Law::from_values(&[(0.2, 90), (0.9, 5), (15.0, 5)]).unwrap(),
    ];
    let pairs = arrivals.iter().flat_map(|arrivals| services.iter().map(move |service| (arrivals, service)));
    pairs.map(|(arrivals, service)| Scenario::plain(5, arrivals.clone(), service.clone())).collect()
}

fn close(one: f64, other: f64) -> bool {
    (one - other).abs() <= 1e-9 * one.abs().max(other.abs()).max(1e-9)
}

fn assert_same(one: &Simulated, other: &Simulated) {
    assert_eq!(
        (one.arrivals, one.served, one.queue_max, one.warm_up_settled),
        (other.arrivals, other.served, other.queue_max, other.warm_up_settled)
    );
    // Start times are the same floats; only sums are added up in another order.
    assert_eq!(
        (one.oldest_age_max_s, one.wait_probability),
        (other.oldest_age_max_s, other.wait_probability)
    );
    assert_eq!(one.wait_quantiles, other.wait_quantiles);
    for (one, other) in [
        (one.wait_mean_s, other.wait_mean_s),
        (one.utilisation, other.utilisation),
        (one.measured_s, other.measured_s),
    ] {
        assert!(close(one, other), "{one} {other}");
    }
}

#[test]
fn both_engines_give_the_same_waits_on_the_plain_queue() {
    for scenario in scenarios() {
        for horizon in [Horizon::Arrivals(4000), Horizon::Seconds(900.0)] {
            let run = Run { replications: 3, warm_up: WarmUp::Seconds(100.0), ..Run::new(horizon) };
            assert_same(&simulate(&scenario, &run).unwrap(), &simulate_by_events(&scenario, &run).unwrap());
        }
    }
}

#[test]
fn both_engines_agree_under_an_automatic_warm_up() {
    let scenario = Scenario::plain(5, Arrivals::poisson(4.5).unwrap(), Law::exponential(1.0).unwrap());
    let run = Run { replications: 40, ..Run::new(Horizon::Arrivals(5000)) };
    assert_same(&simulate(&scenario, &run).unwrap(), &simulate_by_events(&scenario, &run).unwrap());
}

#[test]
fn one_thread_and_many_give_the_same_bytes() {
    let plain = Scenario::plain(5, Arrivals::poisson(4.5).unwrap(), Law::lognormal(1.0, 2.0).unwrap());
    let impatient = Scenario { patience: Some(Law::exponential(3.0).unwrap()), ..plain.clone() };
    for scenario in [plain, impatient] {
        let bytes = |threads| {
            let threads = NonZeroUsize::new(threads).unwrap();
            // More replications than decide about the warm-up.
            let run = Run { replications: 45, threads, ..Run::new(Horizon::Arrivals(3000)) };
            serde_json::to_string(&simulate(&scenario, &run).unwrap()).unwrap()
        };
        let one = bytes(1);
        assert!(one.contains("wait_mean_interval_s") && !one.contains("null"));
        for threads in [2, 3, 8] {
            assert_eq!(bytes(threads), one);
        }
    }
}

#[test]
fn another_seed_gives_other_numbers_and_more_replications_keep_the_first() {
    let scenario = Scenario::plain(5, Arrivals::poisson(4.5).unwrap(), Law::exponential(1.0).unwrap());
    let wait = |seed, replications| {
        let run = Run { seed, replications, warm_up: WarmUp::Nothing, ..Run::new(Horizon::Arrivals(1000)) };
        simulate(&scenario, &run).unwrap()
    };
    assert_ne!(wait(1, 1).wait_mean_s, wait(2, 1).wait_mean_s);
    // The mean over two replications is half the first and half another.
    assert_ne!(wait(1, 2).wait_mean_s, wait(1, 1).wait_mean_s);
    assert_eq!(wait(1, 1).wait_mean_interval_s, None);
}

#[test]
fn more_workers_never_wait_longer_on_the_same_numbers() {
    let mut before = f64::INFINITY;
    for workers in 4..12 {
        let scenario = Scenario::plain(
            workers,
            Arrivals::poisson(4.5).unwrap(),
            Law::hyperexponential(1.0, 5.0).unwrap(),
        );
        let run = Run { replications: 4, warm_up: WarmUp::Nothing, ..Run::new(Horizon::Arrivals(5000)) };
        let wait = simulate(&scenario, &run).unwrap().wait_mean_s;
        assert!(wait <= before, "{workers}: {wait} {before}");
        before = wait;
    }
}

#[test]
fn what_cannot_be_answered_is_refused() {
    let trace = Arrivals::trace(vec![1.0, 2.0]).unwrap();
    let scenario = Scenario::plain(5, trace, Law::exponential(1.0).unwrap());
    let run = Run::new(Horizon::Arrivals(100));
    assert!(matches!(simulate(&scenario, &run), Err(Error::NoSteadyState { .. })));
    let late = Run { warm_up: WarmUp::Seconds(50.0), ..run.clone() };
    assert_eq!(simulate(&scenario, &late), Err(Error::NothingMeasured));
    let at_once = Scenario::plain(1, Arrivals::trace(vec![0.0, 0.0]).unwrap(), Law::constant(1.0).unwrap());
    let from_start = Run { warm_up: WarmUp::Nothing, ..run.clone() };
    assert_eq!(simulate(&at_once, &from_start), Err(Error::NothingMeasured));
    assert!(simulate(&scenario, &from_start).is_ok());
    for bad in [
        Run { replications: 0, ..from_start.clone() },
        Run { confidence: 1.0, ..from_start.clone() },
        Run { quantiles: vec![1.0], ..from_start.clone() },
        Run { horizon: Horizon::Arrivals(0), ..from_start.clone() },
        Run { horizon: Horizon::Seconds(f64::INFINITY), ..from_start.clone() },
        Run { horizon: Horizon::Seconds(10.0), warm_up: WarmUp::Seconds(10.0), ..from_start },
    ] {
        assert!(matches!(simulate(&scenario, &bad), Err(Error::OutOfRange { .. })), "{bad:?}");
    }
}
