mod properties;
mod readings;

use super::*;
use crate::sizing::ServiceTime;
use crate::units::Seconds;
use crate::units::human::RateUnit;
use rand::{RngExt, SeedableRng};

/// `backlog` messages at `rate` new ones a second, and nothing else known yet.
fn queue(backlog: u64, rate: &str) -> Question {
    Question {
        backlog,
        rate: Some(rate.parse().unwrap()),
        consumers: None,
        retries: None,
        downstream_limit: None,
        earlier: None,
        deadline: None,
        oldest_age: None,
        acceptable_latency: None,
        confidence: None,
    }
}

fn pool(workers: impl Into<Option<u64>>, mean: &str) -> Option<Consumers> {
    let service = ServiceTime::exponential(mean.parse().unwrap());
    Some(Consumers::Pool { workers: workers.into(), service })
}

fn served(rate: &str) -> Option<Consumers> {
    Some(Consumers::Rate(rate.parse().unwrap()))
}

fn seconds(typed: &str) -> Option<Seconds> {
    Some(typed.parse().unwrap())
}

fn plan(question: &Question) -> DrainPlan {
    question.answer().unwrap().plan
}

fn notes(question: &Question) -> Vec<DrainNote> {
    question.answer().unwrap().notes
}

/// The published example of the sizing guides: a million at 500/s in and 600/s out.
#[test]
fn a_million_at_a_net_hundred_a_second_takes_ten_thousand_seconds() {
    let plan = plan(&Question { consumers: served("600"), ..queue(1_000_000, "500") });
    assert_eq!((plan.drain_s, plan.net_rate_per_s), (Some(10_000.0), 100.0));
    assert_eq!(plan.bottleneck, Some(Bottleneck::ServedRate));
    assert!(plan.holds());
    // 1.96 √(q(λ+μ)/net³) = 1.959964 √(10⁶ · 1100 / 10⁶).
    let [low, high] = plan.drain_interval_s.unwrap();
    assert!((high - 10_000.0 - 65.004_65).abs() < 1e-3, "{high}");
    assert!((10_000.0 - low - 65.004_65).abs() < 1e-3, "{low}");
}

#[test]
fn a_backlog_that_does_not_fall_never_drains() {
    let level = plan(&Question { consumers: served("5"), ..queue(10, "5") });
    assert!(!level.drains && level.drain_s.is_none() && level.oldest_age_at_end_s.is_none());
    let stopped = plan(&Question { consumers: served("0"), ..queue(10, "0") });
    assert!(!stopped.drains);
    let filling = plan(&Question { consumers: served("4"), ..queue(0, "5") });
    assert!(!filling.drains, "an empty queue that grows is no answer of yes");
    let empty = plan(&Question { consumers: served("5"), ..queue(0, "5") });
    assert_eq!((empty.drains, empty.drain_s, empty.oldest_age_at_end_s), (true, Some(0.0), Some(0.0)));
}

/// In floats 0.1 + 0.2 is more than 0.3, and three tenths would never drain.
#[test]
fn draining_is_decided_on_exact_decimals() {
    let question = Question { consumers: pool(3, "10"), ..queue(7, "0.3") };
    assert_eq!(plan(&question).net_rate_per_s, 0.0);
    assert!(!plan(&question).drains);
    // 25 × 1.16 is 29 on paper and less in floats: 29 workers keep level, 30 drain.
    let question = Question { consumers: pool(29, "1.16"), ..queue(7, "25") };
    assert_eq!((plan(&question).drains, plan(&question).workers_to_drain), (false, Some(30)));
}

/// Three consumers at 180 ms and 110/s (450/s at the peak) with 14.5 million waiting, as reported from the field.
#[test]
fn three_consumers_never_drain_and_twenty_hardly_do() {
    let at = |workers, rate| Question { consumers: pool(workers, "180ms"), ..queue(14_500_000, rate) };
    let three = plan(&at(3, "110"));
    assert!(!three.drains);
    assert!((three.served_rate_per_s.unwrap() - 16.666_666_7).abs() < 1e-6);
    assert_eq!(three.workers_to_drain, Some(20));
    let twenty = plan(&at(20, "110"));
    assert!((twenty.drain_s.unwrap() / 86_400.0 - 151.04).abs() < 0.01, "151 days");
    assert!(notes(&at(20, "110")).iter().any(|note| matches!(note, DrainNote::Fragile { .. })));
    assert_eq!(plan(&at(3, "450")).workers_to_drain, Some(82));
}

/// 50 thousand jobs of a minute a night: 167 h with 5 workers, 33 h with 25, 105 workers for 8 h.
#[test]
fn a_nightly_batch_takes_what_was_reported() {
    let with = |workers: Option<u64>, deadline: Option<&str>| Question {
        consumers: pool(workers, "60"),
        deadline: deadline.and_then(seconds),
        ..queue(50_000, "0")
    };
    let hours = |workers| plan(&with(Some(workers), None)).drain_s.unwrap() / 3600.0;
    assert_eq!((hours(5).round(), hours(25).round()), (167.0, 33.0));
    let found = plan(&with(None, Some("8h")));
    assert_eq!(
        (found.workers, found.workers_for_deadline, found.meets_deadline),
        (Some(105), Some(105), Some(true))
    );
}

/// A limit of 12 a minute, jobs of 10 to 15 s and one worker: about 4.8 a minute is all that it can do.
#[test]
fn one_worker_is_the_bottleneck_before_a_rate_limit_is() {
    let limited = |workers| Question {
        consumers: pool(workers, "12.5"),
        downstream_limit: Some("12/min".parse().unwrap()),
        ..queue(600, "0")
    };
    let one = plan(&limited(1));
    assert_eq!((one.served_rate_per_s, one.bottleneck), (Some(0.08), Some(Bottleneck::Workers)));
    let three = plan(&limited(3));
    assert_eq!((three.served_rate_per_s, three.bottleneck), (Some(0.2), Some(Bottleneck::DownstreamLimit)));
}

#[test]
fn more_workers_are_not_advised_against_a_downstream_limit() {
    let question = Question {
        consumers: pool(100, "0.2"),
        downstream_limit: Some("400".parse().unwrap()),
        deadline: seconds("1h"),
        ..queue(10_000, "500")
    };
    let plan = plan(&question);
    assert_eq!((plan.drains, plan.workers_for_deadline, plan.workers_to_drain), (false, None, None));
    assert!(notes(&question).contains(&DrainNote::DownstreamBinds { limit_per_s: 400.0, hopeless: true }));
    let unlimited = Question { consumers: pool(None, "0.2"), ..question };
    assert_eq!(super::tests::plan(&unlimited).workers, None, "no pool keeps this deadline");
}

/// The example of the queue provider's documentation: 1,500 messages, 10 workers, 0.1 s each, 10 s acceptable.
#[test]
fn an_acceptable_latency_gives_the_backlog_a_worker_may_have() {
    let question =
        Question { consumers: pool(10, "0.1"), acceptable_latency: seconds("10"), ..queue(1_500, "0") };
    let plan = plan(&question);
    assert_eq!((plan.backlog_per_worker, plan.acceptable_backlog_per_worker), (Some(150.0), Some(100.0)));
    assert_eq!(plan.workers_for_acceptable_latency, Some(15), "five more");
    assert_eq!(plan.meets_acceptable_latency, Some(false));
}

/// A million that built up over 2,000 s and is served at 600/s: the worst wait is 2,000 s, not the age plus the
/// drain time; without the age it is that of a message that arrives now.
#[test]
fn the_longest_wait_is_the_oldest_age_or_that_of_the_newest_message() {
    let question = Question { consumers: served("600"), ..queue(1_000_000, "500") };
    let aged = Question { oldest_age: seconds("2000"), ..question.clone() };
    assert_eq!(plan(&aged).oldest_age_at_end_s, Some(2_000.0));
    assert!((plan(&question).oldest_age_at_end_s.unwrap() - 1_666.666_666_7).abs() < 1e-6);
}

/// 20% of attempts fail and a message gets three: 1 + 0.2 + 0.04 attempts each.
#[test]
fn retries_cost_service_and_count_as_arrivals() {
    let retries = RetryLimit { failure_share: "20%".parse().unwrap(), max_attempts: 3 };
    let plan = plan(&Question {
        consumers: pool(100, "0.2"),
        retries: Some(retries),
        deadline: seconds("1000"),
        ..queue(100_000, "300")
    });
    assert_eq!((plan.attempts_per_message, plan.attempt_rate_per_s), (Some(1.24), Some(372.0)));
    // In attempts: 124,000 wait, 372/s in, 500/s out; in messages the same time.
    assert!((plan.drain_s.unwrap() - 124_000.0 / (500.0 - 372.0)).abs() < 1e-9);
    // 0.2 s × 1.24 × (300 + 100)/s = 99.2.
    assert_eq!((plan.workers_for_deadline, plan.meets_deadline), (Some(100), Some(true)));
}

#[test]
fn the_timeline_ends_at_exactly_zero_and_shows_the_deadline() {
    let question =
        Question { consumers: served("601.7"), deadline: seconds("15m"), ..queue(999_983, "500.3") };
    let plan = plan(&question);
    let last = plan.timeline.last().unwrap();
    assert_eq!((Some(last.at_s), last.backlog), (plan.drain_s, 0.0));
    assert_eq!(plan.timeline[0], TimelinePoint { at_s: 0.0, backlog: 999_983.0 });
    let at_deadline = plan.timeline.iter().find(|point| point.at_s == 900.0).unwrap();
    assert!((at_deadline.backlog - (999_983.0 - 900.0 * 101.4)).abs() < 1e-6);
    assert!(plan.timeline.is_sorted_by(|one, next| one.at_s < next.at_s && one.backlog > next.backlog));
}

#[test]
fn a_question_that_says_too_little_is_refused() {
    let bare = queue(10, "5");
    assert_eq!(bare.answer(), Err(DrainError::NoConsumers));
    assert_eq!(Question { rate: None, ..bare.clone() }.answer(), Err(DrainError::NoArrivals));
    let unsized_pool = Question { consumers: pool(None, "1"), ..bare.clone() };
    assert_eq!(unsized_pool.answer(), Err(DrainError::NothingToFindWorkersBy));
    let instant = Question { deadline: seconds("1e-50"), ..unsized_pool };
    assert_eq!(instant.answer(), Err(DrainError::TooManyWorkers));
}

/// 500/s of 0.2 s are 100 erlangs: a pool of 100 keeps whatever waits for ever.
#[test]
fn a_pool_that_is_found_serves_more_than_arrives() {
    let latency =
        Question { consumers: pool(None, "0.2"), acceptable_latency: seconds("0.1"), ..queue(10, "500") };
    let found = plan(&latency);
    assert_eq!((found.workers, found.workers_for_acceptable_latency), (Some(101), Some(101)));
    assert!(found.holds());
    let deadline = Question { consumers: pool(None, "0.2"), deadline: seconds("15m"), ..queue(0, "500") };
    assert_eq!((plan(&deadline).workers, plan(&deadline).workers_for_deadline), (Some(101), Some(101)));
    // A receiving side that takes 500/s and no more leaves nothing for the backlog.
    let limited = Question { downstream_limit: Some("500".parse().unwrap()), ..latency };
    assert_eq!((plan(&limited).workers, plan(&limited).workers_for_acceptable_latency), (None, None));
}

/// Attempts that fail at random thin a Poisson stream, which stays one; attempts of a fixed number average out.
#[test]
fn the_interval_counts_the_chance_in_retries() {
    let interval = |rate: &str, retries| {
        let question = Question { consumers: served(rate), retries, ..queue(400, "50") };
        plan(&question).drain_interval_s.unwrap()
    };
    let retries =
        |share: &str, max_attempts| Some(RetryLimit { failure_share: share.parse().unwrap(), max_attempts });
    let half_width = |[low, high]: [f64; 2]| (high - low) / 2.0;
    let close = |one: f64, other: f64| (one - other).abs() < 1e-9 * other;
    let plain = half_width(interval("60", None));
    assert!(close(half_width(interval("120", retries("50%", 200))), plain));
    // Two attempts each, always: half the variance of one. 50 + 60/2 instead of 50 + 60.
    let always_two = half_width(interval("120", retries("100%", 2)));
    assert!(close(always_two, plain * (80.0_f64 / 110.0).sqrt()), "{always_two} {plain}");
    // P(A = 1) = 1/2, P(A = 2) = 1/2: mean 3/2, variance 1/4; c² = 2/3 + 1/9.
    let either = half_width(interval("90", retries("50%", 2)));
    assert!(close(either, plain * ((50.0 + 60.0 * 7.0 / 9.0) / 110.0_f64).sqrt()), "{either} {plain}");
}

#[test]
fn remarks_agree_in_number_and_share_a_unit() {
    let per_minute = RateUnit::of([0.2]);
    let text = |note: DrainNote| note.note(per_minute).message;
    let retried = |attempts_per_message| text(DrainNote::Retried { attempts_per_message });
    assert!(retried(1.0).starts_with("a message takes 1 attempt on average"), "{}", retried(1.0));
    assert!(retried(1.5).starts_with("a message takes 1.5 attempts on average"));
    let missed = |left| {
        text(DrainNote::DeadlineMissed {
            deadline_s: 60.0,
            left,
            workers: None,
            rate_per_s: None,
            fall_per_s: 0.5,
        })
    };
    assert_eq!(
        (missed(0.4).as_str(), missed(3.0).as_str()),
        ("1 message still waits after 60 s", "3 messages still wait after 60 s",)
    );
    let limit = text(DrainNote::DownstreamBinds { limit_per_s: 20.0, hopeless: false });
    assert!(limit.contains("1200/min"), "{limit}");
}

/// The interval is checked against a random walk with exponential steps, which the formula is about.
#[test]
fn the_interval_covers_a_random_walk_as_often_as_it_says() {
    let question = Question { consumers: served("60"), ..queue(400, "50") };
    let [low, high] = plan(&question).drain_interval_s.unwrap();
    let mut random = rand_xoshiro::Xoshiro256PlusPlus::seed_from_u64(7);
    let walks = 2_000;
    let mut inside = 0;
    for _ in 0..walks {
        let (mut depth, mut at_s) = (400_u32, 0.0_f64);
        while depth > 0 {
            at_s -= (1.0 - random.random::<f64>()).ln() / 110.0;
            depth = if random.random::<f64>() < 50.0 / 110.0 { depth + 1 } else { depth - 1 };
        }
        inside += u32::from((low..=high).contains(&at_s));
    }
    // Four standard deviations of a binomial share of 2,000 around 95% are 1.9%.
    let share = f64::from(inside) / f64::from(walks);
    assert!((share - 0.95).abs() < 0.02, "{share}");
}
