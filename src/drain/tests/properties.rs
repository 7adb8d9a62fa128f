//! What holds for every question.

use super::*;
use crate::units::ArrivalRate;
use proptest::option::of;
use proptest::prelude::*;

fn finite(plan: &DrainPlan) -> bool {
    let numbers = [
        plan.drain_s,
        plan.arrival_rate_per_s,
        plan.served_rate_per_s,
        Some(plan.net_rate_per_s),
        plan.assumed_net_rate_per_s,
        plan.attempts_per_message,
        plan.attempt_rate_per_s,
        plan.served_rate_for_deadline_per_s,
        plan.oldest_age_at_end_s,
        plan.backlog_per_worker,
        plan.acceptable_backlog_per_worker,
    ]
    .into_iter()
    .flatten()
    .chain(plan.drain_interval_s.into_iter().flatten())
    .chain(plan.timeline.iter().flat_map(|point| [point.at_s, point.backlog]))
    .chain(plan.pools.iter().flat_map(|pool| pool.drain_s.into_iter().chain([pool.served_rate_per_s])));
    numbers.into_iter().all(f64::is_finite)
}

proptest! {
    /// The oracle is whole milliseconds and whole rates in integers: N·T ≥ S(λT + q).
    #[test]
    fn the_pool_for_a_deadline_keeps_it_and_one_worker_fewer_does_not(
        backlog in 0u64..10_000_000, rate in 0u64..5_000, mean_ms in 1u64..60_000, deadline_s in 1u64..100_000,
    ) {
        let question = Question {
            consumers: pool(1, &format!("{mean_ms}ms")),
            deadline: seconds(&deadline_s.to_string()),
            ..queue(backlog, &rate.to_string())
        };
        let workers = plan(&question).workers_for_deadline.unwrap();
        let enough = |workers: u64| {
            u128::from(workers) * u128::from(deadline_s) * 1000
                >= u128::from(mean_ms) * (u128::from(rate) * u128::from(deadline_s) + u128::from(backlog))
        };
        // A backlog of nothing is kept by a pool that only keeps level; more than that is still wanted.
        let drains = |workers: u64| u128::from(workers) * 1000 > u128::from(mean_ms) * u128::from(rate);
        prop_assert!(enough(workers) && drains(workers));
        prop_assert!(workers == 0 || !enough(workers - 1) || !drains(workers - 1));
        let judged = |workers| plan(&Question { consumers: pool(workers, &format!("{mean_ms}ms")), ..question.clone() });
        if workers > 0 {
            prop_assert_eq!(judged(workers).meets_deadline, Some(true));
        }
        if workers > 1 && backlog > 0 {
            prop_assert_eq!(judged(workers - 1).meets_deadline, Some(false));
        }
    }

    #[test]
    fn every_combination_of_options_is_refused_or_answered_in_full(question in any_question()) {
        if let Ok(answered) = question.answer() {
            let plan = &answered.plan;
            prop_assert!(finite(plan), "{plan:?}");
            prop_assert_eq!(plan.drains, plan.drain_s.is_some());
            prop_assert_eq!(plan.meets_deadline.is_some(), question.deadline.is_some());
            if plan.drains {
                let asked = question.acceptable_latency.is_some();
                prop_assert_eq!(plan.meets_acceptable_latency.is_some(), asked);
                prop_assert!(question.oldest_age.is_none() || plan.oldest_age_at_end_s.is_some());
                prop_assert!(question.confidence.is_none() || plan.drain_interval_s.is_some());
            }
            if let (Some(rate), Some(served)) = (plan.arrival_rate_per_s, plan.served_rate_per_s) {
                prop_assert!(alike(served - rate, plan.net_rate_per_s, served.max(rate)), "{plan:?}");
            }
            for pool in plan.pools.iter().filter(|pool| plan.workers == Some(pool.workers)) {
                let served = plan.served_rate_per_s.unwrap();
                prop_assert!(alike(pool.served_rate_per_s, served, served), "{plan:?}");
            }
            if question.given_workers().is_none() && plan.workers.is_some() {
                prop_assert!(plan.holds(), "a pool that is found does what was asked: {plan:?}");
            }
            for note in &answered.notes {
                let text = note.note(RateUnit::of([plan.net_rate_per_s])).message;
                prop_assert!(!text.contains("NaN") && !text.contains("out of range"), "{text}");
            }
        }
    }
}

/// Whether two numbers are the same up to the rounding of numbers as large as `scale`.
fn alike(one: f64, other: f64, scale: f64) -> bool {
    (one - other).abs() <= 1e-12 * scale
}

/// Every option given or not, most of them far out now and then.
fn any_question() -> impl Strategy<Value = Question> {
    let depth = || prop_oneof![Just(0u64), 1u64..10, 0u64..1_000_000, Just(1_000_000_000_000_000)];
    let rate = || prop_oneof![Just("0".to_owned()), Just("1e12".to_owned()), "[0-9]{1,6}(\\.[0-9]{1,9})?"];
    let mean = prop_oneof![Just("1e-55".to_owned()), Just("36500d".to_owned()), "[1-9][0-9]{0,3}ms"];
    let workers = prop_oneof![1u64..1_000, 1u64..1_000_000_000_000_000];
    let consumers = prop_oneof![
        Just(None),
        rate().prop_map(|rate| served(&rate)),
        (of(workers), mean).prop_map(|(workers, mean)| pool(workers, &mean)),
    ];
    let earlier = (depth(), prop_oneof!["[1-9][0-9]{0,3}", "[1-9][0-9]{0,5}e-?[0-9]"]);
    let time = || prop_oneof![Just("1ms".to_owned()), "[1-9][0-9]{0,4}"];
    let retries = ("0\\.[0-9]{1,4}", 1u32..40);
    let traffic = (depth(), of(rate()), consumers, of("[1-9][0-9]{0,2}e-?[0-9]"), of(earlier), of(retries));
    let objectives = (of(time()), of(time()), of(time()), of("0\\.[1-9]"));
    (traffic, objectives).prop_map(|(traffic, objectives)| {
        let (backlog, rate, consumers, limit, earlier, retries) = traffic;
        let (deadline, oldest_age, acceptable_latency, confidence) = objectives;
        let time = |typed: Option<String>| typed.and_then(|typed| seconds(&typed));
        Question {
            rate: rate.map(|rate| rate.parse().unwrap()),
            consumers,
            retries: retries.map(|(share, max_attempts)| RetryLimit {
                failure_share: share.parse().unwrap(),
                max_attempts,
            }),
            downstream_limit: limit.map(|limit| limit.parse::<ArrivalRate>().unwrap()),
            earlier: earlier
                .and_then(|(backlog, ago)| Some(EarlierDepth { backlog, ago: ago.parse().ok()? })),
            deadline: time(deadline),
            oldest_age: time(oldest_age),
            acceptable_latency: time(acceptable_latency),
            confidence: confidence.map(|confidence| confidence.parse().unwrap()),
            ..queue(backlog, "0")
        }
    })
}
