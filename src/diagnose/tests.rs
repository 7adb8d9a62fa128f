use super::*;
use crate::drain::EarlierDepth;
use crate::profile::{Attempt, Phase, ProfileRecorder, Source};
use proptest::prelude::*;

/// A queue with everything unknown but its three counts.
fn queue(depth: u64, in_flight: u64, workers: u64) -> Observation {
    Observation {
        depth,
        in_flight,
        workers,
        delayed: None,
        oldest_age: None,
        acceptable_age: "30s".parse().unwrap(),
        earlier: None,
        throughput: None,
        rate: None,
        first_attempt_rate: None,
        mean: None,
        pool_wait: None,
        usual_pool_wait: None,
        broker_limit: None,
    }
}

fn rate(typed: &str) -> Option<crate::units::ArrivalRate> {
    Some(typed.parse().unwrap())
}

fn time(typed: &str) -> Option<crate::units::Seconds> {
    Some(typed.parse().unwrap())
}

fn verdict(seen: &Observation) -> Verdict {
    seen.diagnose().diagnosis.verdict
}

#[test]
fn a_profile_knows_how_long_its_attempts_waited_for_a_connection() {
    let recorded = |pool_wait: Option<u64>| {
        let mut recorder = ProfileRecorder::new(&[]);
        for duration_ns in [150_000_000, 250_000_000] {
            let attempt = Attempt { duration_ns, weight: 1, failed: false, started_ns: None, group: None };
            recorder.add(&attempt).unwrap();
        }
        if let Some(ns) = pool_wait {
            // Only one of the two waited.
            recorder.add_phases(None, |phases| phases.add_attempt(&[(Phase::PoolWait, ns)], 1));
            recorder.add_phases(None, |phases| phases.add_attempt(&[(Phase::PoolWait, 0)], 1));
        }
        UsualPoolWait::of(&recorder.finish(Source::default()).unwrap())
    };
    let usual = recorded(Some(100_000_000)).unwrap();
    assert_eq!((usual.mean.get(), usual.share), (0.05, 0.25));
    assert_eq!(recorded(None), None);
    let busy = Observation {
        oldest_age: time("60"),
        throughput: rate("500"),
        rate: rate("510"),
        mean: time("200ms"),
        ..queue(5_000, 100, 100)
    };
    let starved = Observation { usual_pool_wait: Some(usual), ..busy };
    assert_eq!(verdict(&starved), Verdict::PoolStarvation);
    // What is seen now counts more than what was usual.
    assert_eq!(verdict(&Observation { pool_wait: time("1ms"), ..starved }), Verdict::NotEnoughWorkers);
}

/// The incidents among the cases from the field, with the diagnosis that their numbers call for.
#[test]
fn incidents_from_the_field_get_their_diagnosis() {
    let outpaced = Observation {
        throughput: rate("16.7"),
        rate: rate("110"),
        mean: time("180ms"),
        ..queue(14_500_000, 3, 3)
    };
    let found = outpaced.diagnose().diagnosis;
    assert_eq!((found.verdict, found.workers_to_keep_up), (Verdict::NotEnoughWorkers, Some(20)));
    assert!(found.scaling_out_helps);

    let dead_hosts = Observation {
        throughput: rate("5.5"),
        rate: rate("280k/day"),
        mean: time("300ms"),
        ..queue(40_000, 55, 55)
    };
    let found = dead_hosts.diagnose().diagnosis;
    assert_eq!(found.verdict, Verdict::SlowOrStuckWorkers);
    assert!((found.implied_service_time_s.unwrap() - 10.0).abs() < 1e-9 && !found.scaling_out_helps);

    let one_at_a_time = Observation {
        throughput: rate("4.8/min"),
        rate: rate("12/min"),
        mean: time("12.5"),
        ..queue(300, 1, 1)
    };
    let found = one_at_a_time.diagnose().diagnosis;
    assert_eq!((found.verdict, found.workers_to_keep_up), (Verdict::NotEnoughWorkers, Some(3)));

    let nightly = Observation { throughput: rate("5/min"), mean: time("60"), ..queue(50_000, 5, 5) };
    assert_eq!(verdict(&nightly), Verdict::NotEnoughWorkers);

    let held = Observation {
        rate: rate("4000"),
        throughput: rate("4000"),
        mean: time("1.4"),
        broker_limit: Some(120_000),
        ..queue(900_000, 120_000, 5_600)
    };
    let found = held.diagnose().diagnosis;
    assert_eq!((found.verdict, found.also), (Verdict::BrokerLimit, vec![]), "more workers cannot help");
}

#[test]
fn every_trouble_has_a_command_that_is_known_in_full() {
    let counts = [queue(5_000, 0, 20), queue(5_000, 0, 0), queue(5_000, 20, 20), queue(5_000, 10, 20)];
    let stopped = Observation { throughput: rate("0"), ..queue(5_000, 20, 20) };
    let limited = Observation { broker_limit: Some(20), ..queue(5_000, 20, 20) };
    for seen in counts.into_iter().chain([stopped, limited]) {
        let steps = seen.diagnose().diagnosis.next_steps;
        let commands: Vec<&str> = steps.iter().filter_map(|step| step.command.as_deref()).collect();
        assert!(!commands.is_empty(), "{seen:?}: {steps:?}");
        // An unknown rate is no rate of zero.
        assert!(commands.iter().all(|command| !command.contains("--rate")), "{commands:?}");
    }
}

#[test]
fn evidence_speaks_in_one_unit_and_of_one_worker() {
    let seen = Observation {
        throughput: rate("4.8/min"),
        rate: rate("0.2"),
        mean: time("12.5"),
        ..queue(300, 1, 1)
    };
    let evidence = seen.diagnose().diagnosis.evidence;
    let all: Vec<&str> = evidence.iter().map(|evidence| evidence.finding.as_str()).collect();
    for words in ["1 busy worker ends 4.8/min", "1 worker serves 4.8/min at 12.5 s each, and 12/min arrive"] {
        assert!(all.iter().any(|finding| finding.contains(words)), "{words}: {all:?}");
    }
}

/// One row a kind of trouble: the numbers that tell it apart.
#[test]
fn each_trace_leads_to_its_trouble() {
    let busy = |throughput: &str| Observation {
        oldest_age: time("60"),
        throughput: rate(throughput),
        rate: rate("510"),
        mean: time("0.2"),
        ..queue(5_000, 100, 100)
    };
    let idle = |throughput| Observation { throughput, rate: rate("510"), ..queue(5_000, 2, 100) };
    let old = |depth| Observation {
        oldest_age: time("6h"),
        rate: rate("50"),
        throughput: rate("50"),
        ..queue(depth, 10, 100)
    };
    let earlier = |backlog, ago: &str| Some(EarlierDepth { backlog, ago: ago.parse().unwrap() });
    for (seen, expected) in [
        (busy("500"), Verdict::NotEnoughWorkers),
        (busy("340"), Verdict::NotEnoughWorkers),
        (busy("333"), Verdict::SlowOrStuckWorkers),
        (busy("0"), Verdict::SlowOrStuckWorkers),
        (Observation { in_flight: 89, ..busy("445") }, Verdict::Unexplained),
        (Observation { pool_wait: time("250ms"), ..busy("100") }, Verdict::PoolStarvation),
        (Observation { pool_wait: time("20ms"), ..busy("500") }, Verdict::NotEnoughWorkers),
        (Observation { first_attempt_rate: rate("400"), ..busy("500") }, Verdict::RetryAmplification),
        (Observation { first_attempt_rate: rate("430"), ..busy("500") }, Verdict::NotEnoughWorkers),
        (Observation { broker_limit: Some(100), ..busy("500") }, Verdict::BrokerLimit),
        (idle(None), Verdict::NotConsuming),
        (idle(rate("0")), Verdict::NotConsuming),
        (idle(rate("20")), Verdict::NotConsuming),
        (queue(5_000, 0, 0), Verdict::NotConsuming),
        (Observation { throughput: rate("0"), ..queue(3, 0, 10) }, Verdict::NotConsuming),
        // Fast workers are idle in a snapshot; they serve what arrives, so this is another trouble.
        (Observation { oldest_age: time("1h"), ..idle(rate("500")) }, Verdict::PoisonMessage),
        (old(20), Verdict::PoisonMessage),
        // 100,000 messages at 50/s explain 2,000 s, and 6 hours are eleven times that.
        (old(100_000), Verdict::PoisonMessage),
        (old(200_000), Verdict::Unexplained),
        (
            Observation { oldest_age: time("10m"), earlier: earlier(20, "5m"), ..queue(20, 10, 100) },
            Verdict::PoisonMessage,
        ),
        (
            Observation { oldest_age: time("4m"), earlier: earlier(20, "5m"), ..queue(20, 10, 100) },
            Verdict::Unexplained,
        ),
        (
            Observation { oldest_age: time("10m"), earlier: earlier(20, "5m"), ..queue(90, 10, 100) },
            Verdict::Unexplained,
        ),
        (queue(0, 0, 100), Verdict::Healthy),
        (queue(100, 50, 100), Verdict::Healthy),
        (queue(101, 50, 100), Verdict::Unexplained),
        (
            Observation { oldest_age: time("30"), depth: 15_000, rate: rate("499"), ..busy("500") },
            Verdict::Healthy,
        ),
        (
            Observation { oldest_age: time("30"), depth: 15_001, rate: rate("499"), ..busy("500") },
            Verdict::NotEnoughWorkers,
        ),
        (Observation { oldest_age: time("30"), depth: 15_000, ..busy("500") }, Verdict::NotEnoughWorkers),
        (Observation { rate: rate("510"), throughput: rate("0"), ..queue(0, 0, 100) }, Verdict::Unexplained),
    ] {
        assert_eq!(verdict(&seen), expected, "{seen:?}");
    }
}

#[test]
fn a_retry_loop_is_seen_in_the_depth_where_the_arrivals_are_not_counted() {
    let growing = Observation {
        earlier: Some(EarlierDepth { backlog: 2_000, ago: "1m".parse().unwrap() }),
        throughput: rate("500"),
        first_attempt_rate: rate("400"),
        ..queue(5_000, 100, 100)
    };
    // 500/s leave and the depth grows by 50/s: 550/s arrive for 400/s offered.
    let found = growing.diagnose().diagnosis;
    assert_eq!((found.verdict, found.attempts_per_message), (Verdict::RetryAmplification, Some(1.375)));
}

#[test]
fn further_trouble_is_named_beside_the_first() {
    let seen = Observation {
        oldest_age: time("60"),
        throughput: rate("100"),
        rate: rate("510"),
        first_attempt_rate: rate("100"),
        mean: time("0.2"),
        ..queue(5_000, 100, 100)
    };
    let found = seen.diagnose().diagnosis;
    assert_eq!((found.verdict, found.also), (Verdict::RetryAmplification, vec![Verdict::SlowOrStuckWorkers]));
    let quiet = Observation { depth: 0, oldest_age: None, mean: None, ..seen };
    let found = quiet.diagnose().diagnosis;
    assert_eq!(found.verdict, Verdict::Healthy);
    assert!(found.also.contains(&Verdict::RetryAmplification));
}

#[test]
fn too_few_workers_are_not_claimed_without_a_warning_where_slow_ones_look_the_same() {
    let diagnosed = queue(5_000, 100, 100).diagnose();
    assert_eq!(diagnosed.diagnosis.verdict, Verdict::NotEnoughWorkers);
    assert_eq!(diagnosed.notes, [DiagnosisNote::SpeedUnknown { throughput: true, mean: true }]);
}

proptest! {
    #[test]
    fn only_a_lack_of_workers_is_answered_with_more_of_them(
        depth in 0u64..100_000, in_flight in 0u64..2_000, workers in 0u64..1_000,
        age in proptest::option::of(0u32..10_000), throughput in proptest::option::of(0u32..1_000),
        offered in proptest::option::of(0u32..1_000), mean_ms in proptest::option::of(1u32..100_000),
        earlier in proptest::option::of((0u64..100_000, 1u32..1_000)), limit in proptest::option::of(1u64..2_000),
        first in proptest::option::of(1u32..1_000), wait in proptest::option::of(0u32..10),
    ) {
        let per_second = |rate: u32| rate.to_string().parse().unwrap();
        let seen = Observation {
            oldest_age: age.map(|age| age.to_string().parse().unwrap()),
            throughput: throughput.map(per_second),
            rate: offered.map(per_second),
            first_attempt_rate: first.map(per_second),
            mean: mean_ms.map(|mean| format!("{mean}ms").parse().unwrap()),
            pool_wait: wait.map(|wait| wait.to_string().parse().unwrap()),
            earlier: earlier.map(|(backlog, ago)| EarlierDepth { backlog, ago: ago.to_string().parse().unwrap() }),
            broker_limit: limit,
            ..queue(depth, in_flight, workers)
        };
        let diagnosis = seen.diagnose().diagnosis;
        prop_assert_eq!(diagnosis.scaling_out_helps, diagnosis.verdict == Verdict::NotEnoughWorkers);
        prop_assert!(!diagnosis.evidence.is_empty() && !diagnosis.next_steps.is_empty());
        prop_assert!(!diagnosis.also.contains(&diagnosis.verdict) && !diagnosis.also.contains(&Verdict::Healthy));
        if diagnosis.scaling_out_helps {
            prop_assert!(in_flight * 10 >= workers * 9 && depth > 0);
        }
        let numbers = [diagnosis.implied_service_time_s, diagnosis.service_time_ratio, diagnosis.capacity_per_s,
            diagnosis.work_ahead_s, diagnosis.attempts_per_message, diagnosis.growth_per_s, diagnosis.in_flight_per_worker];
        prop_assert!(numbers.into_iter().flatten().all(f64::is_finite));
    }
}
