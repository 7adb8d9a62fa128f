//! The solver against reference values of 20 digits and more, and the laws that it must obey at any load.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test may fail by unwrapping, and panic")]

mod accuracy;
mod bounded;
#[allow(clippy::print_stdout, reason = "a run of hours says how far it is")]
mod long;
mod simulated;

use proptest::prelude::*;
use whsize::queueing::erlang::{erlang_b, erlang_c};
use whsize::queueing::{Pool, WaitModel};
use whsize::sizing::{ArrivalProcess, Demand, Objective, Question, ServiceTime, Sizing};
use whsize::units::{ArrivalRate, Seconds};

/// The project's own promise for loads up to 10⁷ erlangs.
const RELATIVE: f64 = 1e-12;

fn relative_error(found: f64, expected: f64) -> f64 {
    if expected == 0.0 { found.abs() } else { (found / expected - 1.0).abs() }
}

#[test]
fn erlang_b_and_c_match_50_digit_values() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures/oracle/erlang.csv");
    let mut rows = 0;
    for record in csv::Reader::from_path(path).unwrap().into_deserialize::<(u64, f64, f64, f64, f64)>() {
        let (servers, load, b, c, mean_wait) = record.unwrap();
        let slack = servers as f64 - load;
        let pool = Pool { workers: servers, load, slack, service_mean_s: 1.0 };
        for (name, found, expected) in [
            ("B", erlang_b(servers, load), b),
            ("C", erlang_c(servers, load, slack), c),
            ("mean wait", WaitModel::textbook().waiting(&pool).unwrap().mean_s(), mean_wait),
        ] {
            let error = relative_error(found, expected);
            assert!(error <= RELATIVE, "{name} at N = {servers}, a = {load}: {found} {expected} ({error:e})");
        }
        rows += 1;
    }
    assert_eq!(rows, 31);
}

fn sized(load: f64, objectives: &[Objective], workers: Option<u64>) -> Sizing {
    let service = ServiceTime::exponential(Seconds::from_f64(1.0).unwrap());
    let demand = Demand::new(ArrivalRate::from_f64(load).unwrap(), service, ArrivalProcess::Poisson).unwrap();
    Question { demand, objectives: objectives.to_vec(), workers, scenarios: Vec::new(), sample: None }
        .answer()
        .sizing
}

fn objective() -> impl Strategy<Value = Objective> {
    let share = (1u32..999).prop_map(|thousandths| format!("{}", f64::from(thousandths) / 1000.0));
    let wait = (-4.0f64..3.0).prop_map(|exponent| Seconds::from_f64(10f64.powf(exponent)).unwrap());
    prop_oneof![
        wait.clone().prop_map(Objective::MeanWait),
        (share.clone(), wait).prop_map(|(q, limit)| Objective::WaitQuantile(q.parse().unwrap(), limit)),
        share.clone().prop_map(|share| Objective::WaitProbability(share.parse().unwrap())),
        share.clone().prop_map(|share| Objective::MaxUtilisation(share.parse().unwrap())),
        share.clone().prop_map(|ratio| Objective::Headroom(ratio.parse().unwrap())),
        share.prop_map(|ratio| Objective::SquareRoot(ratio.parse().unwrap())),
    ]
}

fn load() -> impl Strategy<Value = f64> {
    (-2.0f64..6.0).prop_map(|exponent| 10f64.powf(exponent))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn the_answer_meets_the_objectives_and_one_worker_fewer_does_not(load in load(), objectives in proptest::collection::vec(objective(), 1..4)) {
        let answer = sized(load, &objectives, None).steady;
        prop_assert!(answer.meets_objective && answer.workers as f64 > load, "{answer:?}");
        if answer.workers > 1 {
            let fewer = sized(load, &objectives, Some(answer.workers - 1)).steady;
            prop_assert!(!fewer.meets_objective, "{} of {load}", fewer.workers);
        }
    }

    #[test]
    fn more_workers_never_wait_longer(load in load(), extra in 1u64..2000) {
        let workers = load as u64 + extra;
        let wait = |workers: u64| {
            let pool = Pool { workers, load, slack: workers as f64 - load, service_mean_s: 1.0 };
            WaitModel::textbook().waiting(&pool).unwrap()
        };
        let (fewer, more) = (wait(workers), wait(workers + 1));
        // Two neighbours of a large pool may be closer than rounding.
        prop_assert!(more.mean_s() <= fewer.mean_s() * (1.0 + RELATIVE));
        prop_assert!(more.quantile_s(0.99) <= fewer.quantile_s(0.99) * (1.0 + RELATIVE));
    }

    #[test]
    fn a_busier_queue_never_needs_fewer_workers(load in load(), factor in 1.0f64..3.0, objective in objective()) {
        let (calm, busy) = (sized(load, std::slice::from_ref(&objective), None), sized(load * factor, &[objective], None));
        prop_assert!(busy.steady.workers >= calm.steady.workers);
    }
}

#[test]
fn every_load_up_to_a_billion_erlangs_has_an_answer() {
    for exponent in -2..=9 {
        for mantissa in [1.0, 2.5, 9.99] {
            let load = (mantissa * 10f64.powi(exponent)).min(1e9);
            let answer = sized(load, &[Objective::MeanWait("0.5".parse().unwrap())], None).steady;
            assert!(answer.meets_objective && answer.workers as f64 > load, "{load}");
        }
    }
}
