//! The smallest pool found by simulation, against pools that are known exactly.

use crate::oracle::{rows, service};
use std::num::NonZeroUsize;
use whsize::simulate::{Arrivals, Error, Goal, Law, QuantileGoal, RateInterval, Search, Window, refine};

fn mean_wait(limit_s: f64) -> Goal {
    Goal { wait_mean_s: Some(limit_s), ..Goal::default() }
}

/// With a row's own mean wait as the limit the answer is the row's pool or, by a coin's toss, the one above it.
#[test]
fn exact_rows_are_found_within_one_worker() {
    let mut compared = 0;
    for row in rows("mgc_exact.csv") {
        let (scv, workers): (f64, u32) = (row[1].parse().unwrap(), row[2].parse().unwrap());
        let (utilisation, wait): (f64, f64) = (row[3].parse().unwrap(), row[4].parse().unwrap());
        if workers > 25 || scv > 10.0 {
            continue;
        }
        let arrivals = Arrivals::poisson(f64::from(workers) * utilisation).unwrap();
        let found = refine(&arrivals, &service(&row[0], scv), &mean_wait(wait), &Search::new()).unwrap();
        assert!(found.settled, "{row:?}: {found:?}");
        assert!(found.workers.abs_diff(workers) <= 1, "{row:?}: {found:?}");
        let [low, high] = found.workers_interval;
        assert!(low <= found.workers && found.workers <= high && high - low <= 1, "{row:?}: {found:?}");
        compared += 1;
    }
    assert_eq!(compared, 12);
}

/// 5 a second of 1 s: 7 workers keep a mean wait of ½ s (0.162 s; 6 would wait 0.588 s), 9 keep P(W>0) at 10% (8.1%; 8 have
/// 16.7%), and 8 keep P(W>0.5 s) at 5% (3.7%; 7 have 11.9%).
#[test]
fn every_kind_of_goal_finds_the_pool_of_erlang_c() {
    let arrivals = Arrivals::poisson(5.0).unwrap();
    let service = Law::exponential(1.0).unwrap();
    let share = Goal { wait_probability: Some(0.1), ..Goal::default() };
    let quantile = QuantileGoal { quantile: 0.95, limit_s: 0.5 };
    let tail = Goal { wait_quantiles: vec![quantile], ..Goal::default() };
    let all = Goal { wait_mean_s: Some(0.5), wait_quantiles: vec![quantile], wait_probability: Some(0.1) };
    for (goal, workers) in [(mean_wait(0.5), 7), (share, 9), (tail, 8), (all, 9)] {
        let found = refine(&arrivals, &service, &goal, &Search::new()).unwrap();
        assert_eq!((found.workers, found.settled), (workers, true), "{goal:?}: {found:?}");
        let kept: Vec<bool> = found.candidates.iter().map(|candidate| candidate.keeps_goal).collect();
        assert!(kept.contains(&true) && kept.is_sorted(), "{found:?}");
    }
}

#[test]
fn a_hint_and_the_threads_do_not_change_what_is_found() {
    let arrivals = Arrivals::batches(20.0, 4).unwrap();
    let service = Law::lognormal(1.0, 3.0).unwrap();
    let goal = mean_wait(0.3);
    let plain = refine(&arrivals, &service, &goal, &Search::new()).unwrap();
    let threads = NonZeroUsize::new(3).unwrap();
    assert_eq!(refine(&arrivals, &service, &goal, &Search { threads, ..Search::new() }).unwrap(), plain);
    for start in [1, plain.workers + 10] {
        let hinted =
            refine(&arrivals, &service, &goal, &Search { start: Some(start), ..Search::new() }).unwrap();
        assert!(hinted.workers.abs_diff(plain.workers) <= 1 && hinted.settled, "{hinted:?} {plain:?}");
    }
}

/// A peak of a minute from an empty start: 10 a second of 1 s need fewer workers than in the long run, where 11 wait 0.68 s.
#[test]
fn a_short_peak_needs_no_more_than_the_long_run() {
    let arrivals = Arrivals::poisson(10.0).unwrap();
    let service = Law::exponential(1.0).unwrap();
    let goal = mean_wait(0.2);
    let long_run = refine(&arrivals, &service, &goal, &Search::new()).unwrap();
    let search = Search { window: Window::Seconds(30.0), replications: 400, ..Search::new() };
    let peak = refine(&arrivals, &service, &goal, &search).unwrap();
    assert!(peak.workers < long_run.workers, "{peak:?} {long_run:?}");
    assert_eq!(peak.warm_up_s, 0.0);
}

#[test]
fn with_too_few_arrivals_it_says_that_it_is_not_settled() {
    let arrivals = Arrivals::poisson(99.9).unwrap();
    let service = Law::hyperexponential(1.0, 10.0).unwrap();
    let search = Search { most_arrivals: 300_000, ..Search::new() };
    let found = refine(&arrivals, &service, &mean_wait(5.0), &search).unwrap();
    assert!(!found.settled, "{found:?}");
}

#[test]
fn what_cannot_be_searched_is_refused() {
    let service = Law::exponential(1.0).unwrap();
    let poisson = Arrivals::poisson(5.0).unwrap();
    let day = Arrivals::schedule(vec![RateInterval { duration_s: 60.0, rate_per_s: 5.0 }]).unwrap();
    let search = Search::new();
    assert!(matches!(refine(&poisson, &service, &Goal::default(), &search), Err(Error::Empty(_))));
    assert!(matches!(refine(&day, &service, &mean_wait(1.0), &search), Err(Error::NoSteadyState { .. })));
    assert!(refine(&poisson, &service, &mean_wait(0.0), &search).is_err());
    for bad in [
        Search { replications: 1, ..search.clone() },
        Search { tolerance: f64::NAN, ..search.clone() },
        Search { window: Window::Seconds(0.0), ..search.clone() },
        Search { most_arrivals: 0, ..search.clone() },
        Search { confidence: 0.0, ..search.clone() },
    ] {
        assert!(
            matches!(refine(&poisson, &service, &mean_wait(1.0), &bad), Err(Error::OutOfRange { .. })),
            "{bad:?}"
        );
    }
}
