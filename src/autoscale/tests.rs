use super::*;
use crate::units::{ArrivalRate, Seconds};
use proptest::prelude::*;

fn policy(name: PolicyName) -> Policy {
    Policy {
        name,
        controller: Controller {
            target_age: "30".parse().unwrap(),
            scale_in_age: "10".parse().unwrap(),
            step_up: 8,
            step_down: 1,
            bounds: Bounds::default(),
        },
        target_depth: 1_000,
        acceptable_latency: "10".parse().unwrap(),
        target_cpu: 0.7,
    }
}

fn observed(current: u64, age: &str, rate: &str, mean: &str, tasks_per_replica: u64) -> Observed {
    Observed {
        current,
        tasks_per_replica,
        oldest_age: age.parse().ok(),
        backlog: None,
        rate: rate.parse().ok(),
        mean: mean.parse().ok(),
        cpu: None,
    }
}

/// The guides' algorithm as they publish it, in floats, the truncation included.
fn as_published(current: u64, age_s: f64, rate: f64, mean_s: f64, tasks: u64) -> u64 {
    let floor = ((rate * mean_s).trunc() / tasks as f64).ceil() as u64;
    let proposal = if age_s > 30.0 {
        (current + 8).min((current as f64 * (age_s / 30.0).min(2.0)).floor() as u64 + 1)
    } else if age_s < 10.0 {
        current.saturating_sub(1)
    } else {
        current
    };
    proposal.max(floor).clamp(3, 60)
}

/// On a grid of inputs; where the decisions differ, the load is not whole and its whole part fills its replicas.
#[test]
fn decisions_are_those_of_the_guides_except_where_their_floor_is_truncated() {
    let (mut equal, mut differing) = (0, Vec::new());
    for current in [0, 1, 3, 5, 10, 29, 30, 59, 60] {
        for age in ["0", "9.5", "10", "20", "30", "30.5", "37.5", "45", "60", "61", "3600"] {
            for (rate, mean) in [
                ("0", "1.5"),
                ("1", "0.5"),
                ("64", "10"),
                ("64", "10.0625"),
                ("900", "1.5"),
                ("1281", "0.5"),
                ("2560", "4.5"),
            ] {
                for tasks in [1, 128, 160, 640] {
                    let seen = observed(current, age, rate, mean, tasks);
                    let decision = policy(PolicyName::Age).decide(&seen).unwrap();
                    let number = |typed: &str| typed.parse::<f64>().unwrap();
                    let published = as_published(current, number(age), number(rate), number(mean), tasks);
                    if decision.desired == published {
                        equal += 1;
                        continue;
                    }
                    let load = number(rate) * number(mean);
                    assert!(
                        load.fract() > 0.0 && (load.trunc() as u64).is_multiple_of(tasks),
                        "{seen:?}: {decision:?} {published}"
                    );
                    assert_eq!(Some(decision.floor), seen.floor(), "the corrected floor decides");
                    differing.push((load, tasks));
                }
            }
        }
    }
    differing.sort_by(|one, other| one.partial_cmp(other).unwrap());
    differing.dedup();
    // 640.5 erlangs on 640 or 160 or 128 tasks, and 644 of 64 × 10.0625 on no such number.
    assert_eq!(differing, [(640.5, 128), (640.5, 160)]);
    assert!(equal > 2_500, "{equal}");
}

#[test]
fn the_published_example_grows_from_ten_to_sixteen() {
    let decision = policy(PolicyName::Age).decide(&observed(10, "45", "900", "1.4", 640)).unwrap();
    assert_eq!(
        (decision.desired, decision.floor, decision.change, decision.rule),
        (16, 3, 6, Rule::ScaleOut)
    );
    assert!(decision.reason.contains("45 s") && decision.reason.contains("30 s"));
}

#[test]
fn a_floor_above_the_maximum_says_that_the_maximum_is_too_low() {
    let policy = policy(PolicyName::Age);
    let seen = observed(60, "5", "9760", "1", 160);
    let decision = policy.decide(&seen).unwrap();
    assert_eq!((decision.floor, decision.desired, decision.rule), (61, 60, Rule::Maximum));
    assert!(!decision.floor_within_maximum);
    let notes = AutoscaleNote::of_decision(&policy, &seen, &decision);
    assert_eq!(notes, [AutoscaleNote::MaximumTooLow { floor: 61, maximum: 60 }]);
}

/// Amazon's example: 1,500 messages, 10 instances, 0.1 s a message, 10 s acceptable.
#[test]
fn backlog_for_each_worker_gives_amazons_example() {
    let seen = Observed { backlog: Some(1_500), ..observed(10, "0", "0", "0.1", 1) };
    let decision = policy(PolicyName::Backlog).decide(&seen).unwrap();
    assert_eq!((decision.acceptable_backlog_per_task, decision.backlog_per_task), (Some(100.0), Some(150.0)));
    assert_eq!((decision.desired, decision.change), (15, 5));
}

#[test]
fn an_hpa_holds_within_its_tolerance_and_rounds_up_beyond_it() {
    let hpa = policy(PolicyName::HpaAge);
    for (age, desired) in [("27", 10), ("33", 10), ("33.1", 12), ("60", 20), ("20", 7), ("0", 3)] {
        assert_eq!(hpa.decide(&observed(10, age, "0", "1", 1)).unwrap().desired, desired, "{age}");
    }
    let both = policy(PolicyName::HpaAgeAndLoad);
    assert_eq!(both.decide(&observed(10, "0", "900", "1.4", 160)).unwrap().desired, 8, "the larger of both");
}

#[test]
fn a_policy_says_what_it_lacks() {
    let blind = Observed { oldest_age: None, ..observed(10, "0", "900", "1.4", 160) };
    for (name, flag) in [
        (PolicyName::Age, "--oldest-age"),
        (PolicyName::Depth, "--backlog"),
        (PolicyName::Backlog, "--backlog"),
        (PolicyName::Cpu, "--cpu"),
    ] {
        assert_eq!(policy(name).decide(&blind).unwrap_err().flag, flag);
    }
}

fn replay(trace: Trace, name: PolicyName) -> Replay {
    Replay {
        trace,
        mean: "1.4".parse().unwrap(),
        tasks_per_replica: 160,
        initial: None,
        policy: policy(name),
        compared: Vec::new(),
        interval_s: 15,
        start_delay_s: 30,
        lease_s: 60,
        objective: "60".parse().unwrap(),
        cpu_per_attempt: "1ms".parse().unwrap(),
        vcpu_per_replica: 1.0,
        downstream: None,
    }
}

fn built_in(shape: BuiltIn) -> Trace {
    Trace::built_in(shape, &"900".parse().unwrap(), &"1.4".parse().unwrap()).unwrap()
}

fn outcome(replay: &Replay) -> PolicyOutcome {
    replay.run().unwrap().shown
}

#[test]
fn age_beats_depth_and_processor_use_in_a_surge_and_in_an_outage() {
    for shape in [BuiltIn::Surge, BuiltIn::Outage] {
        let by = |name| outcome(&replay(built_in(shape), name));
        let (age, cpu) = (by(PolicyName::Age), by(PolicyName::Cpu));
        assert_eq!(age.objective_missed_s, 0.0, "{shape:?}");
        assert!(cpu.objective_missed_s > 600.0 && cpu.replicas_max <= 8, "{shape:?}: {cpu:?}");
        assert!(by(PolicyName::Depth).oldest_age_max_s > age.oldest_age_max_s, "{shape:?}");
        let alone = by(PolicyName::HpaAge);
        assert!(
            alone.objective_missed_s > by(PolicyName::HpaAgeAndLoad).objective_missed_s,
            "{shape:?}: {alone:?}"
        );
    }
}

#[test]
fn replicas_beyond_a_receiving_sides_limit_make_it_worse() {
    let limited = |maximum: u64| {
        let mut replay = replay(built_in(BuiltIn::Surge), PolicyName::Age);
        replay.policy.controller.bounds.maximum = maximum;
        replay.downstream = Some(Downstream { limit: "1200".parse().unwrap(), refusal_cost: 0.1 });
        outcome(&replay)
    };
    let (few, many) = (limited(11), limited(60));
    assert!(many.served < few.served && many.oldest_age_max_s > few.oldest_age_max_s, "{few:?} {many:?}");
}

/// A hundred a second more than 1,600 tasks serve for a minute, by hand: the backlog rises to 6,000, and the oldest
/// message is as old as what waits takes to have arrived.
#[test]
fn a_small_replay_is_the_one_on_paper() {
    let row =
        |at: &str, rate: &str| TraceRow { at: at.parse().unwrap(), rate: rate.parse().unwrap(), mean: None };
    let mut replay = replay(Trace::new(vec![row("0", "1700"), row("60", "0")]).unwrap(), PolicyName::Age);
    (replay.mean, replay.initial, replay.interval_s) = ("1".parse().unwrap(), Some(10), 1);
    replay.policy.controller.bounds = Bounds { minimum: 10, maximum: 10 };
    let outcome = replay.run().unwrap();
    let at = |second: usize| outcome.steps[second - 1];
    assert_eq!((at(60).backlog, at(60).served, at(60).arrived), (6_000.0, 96_000.0, 102_000.0));
    // Served is what had arrived after 96,000/1,700 = 56.47 s.
    assert!((at(60).oldest_age_s - (60.0 - 96_000.0 / 1_700.0)).abs() < 1e-9);
    assert!((at(63).oldest_age_s - (63.0 - 100_800.0 / 1_700.0)).abs() < 1e-9);
    assert_eq!((at(64).backlog, at(64).oldest_age_s), (0.0, 0.0));
    assert_eq!(outcome.shown.replica_seconds, 1_200.0);
}

#[test]
fn replicas_start_late_and_drain_for_a_lease() {
    let mut fleet = fleet::Fleet::new(4, 30, 60);
    fleet.ask(0, 10);
    assert_eq!((fleet.ready, fleet.asked(), fleet.running()), (4, 10, 10));
    fleet.ask(10, 8);
    assert_eq!((fleet.ready, fleet.asked(), fleet.running()), (4, 8, 8), "what has not started goes first");
    fleet.advance(30);
    assert_eq!(fleet.ready, 8);
    fleet.ask(40, 5);
    assert_eq!((fleet.ready, fleet.asked(), fleet.running()), (5, 5, 8), "three drain");
    fleet.advance(100);
    assert_eq!(fleet.running(), 5);
}

#[test]
fn the_controller_takes_replicas_away_no_faster_than_the_lease() {
    let outcome = replay(built_in(BuiltIn::Nightly), PolicyName::Age).run().unwrap();
    let falls: Vec<f64> = outcome
        .steps
        .windows(2)
        .filter(|pair| pair[1].replicas < pair[0].replicas)
        .map(|pair| pair[1].at_s)
        .collect();
    assert!(falls.len() > 10 && falls.windows(2).all(|pair| pair[1] - pair[0] >= 60.0), "{falls:?}");
}

prop_compose! {
    fn any_trace()(rows in proptest::collection::vec((1u64..120, 0u32..5_000, proptest::option::of(1u32..10_000)), 1..8)) -> Trace {
        let mut at = 0;
        let rows = rows.into_iter().map(|(held, rate, mean_ms)| {
            at += held;
            TraceRow {
                at: at.to_string().parse().unwrap(),
                rate: format!("{rate}.5").parse::<ArrivalRate>().unwrap(),
                mean: mean_ms.map(|mean| format!("{mean}ms").parse::<Seconds>().unwrap()),
            }
        });
        Trace::new(rows.collect()).unwrap()
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]
    #[test]
    fn nothing_is_created_or_lost(
        trace in any_trace(), name in proptest::sample::select(PolicyName::ALL.to_vec()), initial in 0u64..80,
        delay in 0u64..100, lease in 0u64..200, limit in proptest::option::of((1u32..3_000, 0.01f64..0.99)),
    ) {
        let mut replay = replay(trace, name);
        (replay.interval_s, replay.start_delay_s, replay.lease_s, replay.initial) = (1, delay, lease, Some(initial));
        replay.downstream = limit.map(|(limit, refusal_cost)| Downstream { limit: limit.to_string().parse().unwrap(), refusal_cost });
        let outcome = replay.run().unwrap();
        prop_assert_eq!(outcome.steps.len() as u64, replay.trace.seconds());
        let (mut arrived, mut served) = (0.0, 0.0);
        for step in &outcome.steps {
            arrived += step.rate_per_s;
            served += step.served_per_s;
            let close = |one: f64, other: f64| (one - other).abs() <= 1e-6 * (1.0 + other);
            prop_assert!(close(step.arrived, arrived) && close(step.served, served), "{step:?}");
            prop_assert!(close(step.served + step.backlog, step.arrived), "{step:?}");
            prop_assert!(step.backlog >= 0.0 && step.oldest_age_s >= 0.0 && step.oldest_age_s <= step.at_s, "{step:?}");
            prop_assert_eq!(step.backlog == 0.0, step.oldest_age_s == 0.0);
            prop_assert!(step.ready_replicas <= step.replicas, "{step:?}");
            let mean = replay.trace.at(step.at_s as u64 - 1).mean.as_ref().unwrap_or(&replay.mean).get();
            // Whoever leaves a replica's tasks full for a second serves no more than they hold.
            let most = 60u64.max(initial) as f64 * 160.0 / mean;
            prop_assert!(step.served_per_s <= most * (1.0 + 1e-9), "{step:?}");
        }
    }
}
