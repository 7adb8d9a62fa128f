//! What two readings of the depth tell, and what they do not.

use super::*;

fn earlier(backlog: u64, ago: &str) -> Option<EarlierDepth> {
    Some(EarlierDepth { backlog, ago: ago.parse().unwrap() })
}

/// A fall from a million to 700 thousand in five minutes, and nothing else known.
fn falling() -> Question {
    Question { rate: None, earlier: earlier(1_000_000, "5m"), ..queue(700_000, "0") }
}

/// Each of these would be dropped in silence, and the answer would read as a yes to it.
#[test]
fn an_option_that_cannot_be_evaluated_is_refused() {
    let limit = Some("5".parse().unwrap());
    let unknown = |needs| DrainError::DeparturesUnknown(needs);
    for (question, error) in [
        (
            Question { acceptable_latency: seconds("5m"), ..falling() },
            unknown(NeedsDepartures::AcceptableLatency),
        ),
        (Question { oldest_age: seconds("10h"), ..falling() }, unknown(NeedsDepartures::OldestAge)),
        (
            Question { confidence: Some("99%".parse().unwrap()), ..falling() },
            unknown(NeedsDepartures::Confidence),
        ),
        (Question { downstream_limit: limit.clone(), ..falling() }, DrainError::LimitWithoutConsumers),
        (
            Question { downstream_limit: limit, rate: Some("500".parse().unwrap()), ..falling() },
            DrainError::LimitWithoutConsumers,
        ),
        (Question { consumers: pool(None, "0.2"), ..falling() }, DrainError::ServiceTimeAlone),
        (Question { earlier: earlier(10, "0"), ..falling() }, DrainError::NoTimeBetweenReadings),
    ] {
        assert_eq!(question.answer(), Err(error), "{question:?}");
    }
    // With the rate of new messages it is known what leaves, and all of it is answered.
    let known = Question {
        rate: Some("500".parse().unwrap()),
        acceptable_latency: seconds("5m"),
        oldest_age: seconds("10h"),
        ..falling()
    };
    let plan = plan(&known);
    assert_eq!((plan.served_rate_per_s, plan.meets_acceptable_latency), (Some(1500.0), Some(false)));
    assert_eq!(plan.oldest_age_at_end_s, Some(36_000.0));
}

/// Ten workers at 0.2 s serve 50/s; a fall of 1000/s is not theirs, and no arrivals below zero explain it.
#[test]
fn a_fall_beyond_the_pool_leaves_the_rates_unknown_and_says_so() {
    let question = Question { consumers: pool(10, "0.2"), ..falling() };
    let plan = plan(&question);
    assert_eq!((plan.arrival_rate_per_s, plan.served_rate_per_s, plan.bottleneck), (None, None, None));
    assert_eq!((plan.net_rate_per_s, plan.drain_s), (1000.0, Some(700.0)));
    assert!(plan.pools.is_empty() && plan.drain_interval_s.is_none());
    assert!(notes(&question).contains(&DrainNote::FallsFasterThanServed {
        measured_per_s: 1000.0,
        served_per_s: 50.0,
        bottleneck: Some(Bottleneck::Workers),
    }));
    let judged = Question { acceptable_latency: seconds("5m"), ..question };
    let needs = NeedsDepartures::AcceptableLatency;
    assert_eq!(judged.answer(), Err(DrainError::DeparturesContradictory(needs)));
}

#[test]
fn without_a_rate_the_arrivals_follow_from_the_pool_and_the_readings() {
    // 2,000/s out and a fall of 1,000/s: 1,000/s in.
    let question = Question { consumers: pool(400, "0.2"), ..falling() };
    let plan = plan(&question);
    assert_eq!((plan.arrival_rate_per_s, plan.served_rate_per_s), (Some(1000.0), Some(2000.0)));
    assert_eq!(plan.workers_to_drain, Some(201));
}

/// At night nothing arrives, and chance alone makes the pool look a little faster than it is.
#[test]
fn a_fall_that_is_within_chance_of_the_pool_is_taken_as_no_arrivals() {
    // 50/s for 100 s is 5,000 with a standard deviation of 71.
    let question = Question {
        rate: None,
        consumers: pool(10, "0.2"),
        earlier: earlier(15_100, "100"),
        acceptable_latency: seconds("5m"),
        ..queue(10_000, "0")
    };
    let plan = plan(&question);
    assert_eq!((plan.arrival_rate_per_s, plan.served_rate_per_s), (Some(0.0), Some(51.0)));
    assert_eq!((plan.net_rate_per_s, plan.meets_acceptable_latency), (51.0, Some(true)));
}

#[test]
fn a_growth_beyond_the_arrivals_never_drains_and_says_so() {
    let question = Question {
        consumers: pool(10, "0.2"),
        earlier: earlier(400_000, "5m"),
        acceptable_latency: seconds("5m"),
        ..queue(700_000, "100")
    };
    let plan = plan(&question);
    assert_eq!((plan.drains, plan.net_rate_per_s), (false, -1000.0));
    assert_eq!((plan.arrival_rate_per_s, plan.served_rate_per_s), (None, None));
    let expected = DrainNote::GrowsFasterThanArrivals { measured_per_s: 1000.0, rate_per_s: 100.0 };
    assert!(notes(&question).contains(&expected));
}

#[test]
fn a_limit_that_the_readings_pass_is_not_used_against_them() {
    let question = Question {
        rate: Some("500".parse().unwrap()),
        consumers: pool(None, "0.2"),
        downstream_limit: Some("600".parse().unwrap()),
        deadline: seconds("1h"),
        ..falling()
    };
    let expected = DrainNote::LeavesFasterThanLimit { measured_per_s: 1500.0, limit_per_s: 600.0 };
    assert!(notes(&question).contains(&expected));
    // 500 + 700,000/3,600 a second, of 0.2 s each.
    assert_eq!(plan(&question).workers_for_deadline, Some(139));
}

#[test]
fn two_readings_alone_tell_when_it_is_gone() {
    let earlier = Some(EarlierDepth { backlog: 1_000_000, ago: "5m".parse().unwrap() });
    let falling = plan(&Question { rate: None, earlier: earlier.clone(), ..queue(700_000, "0") });
    assert_eq!((falling.net_rate_per_s, falling.drain_s), (1_000.0, Some(700.0)));
    assert_eq!((falling.net_rate_basis, falling.served_rate_per_s), (NetRateBasis::Measured, None));
    let growing = plan(&Question { rate: None, earlier, ..queue(1_300_000, "0") });
    assert_eq!((growing.drains, growing.net_rate_per_s), (false, -1_000.0));
}

#[test]
fn readings_overrule_rates_and_say_so_when_they_differ() {
    let at = |earlier| Question {
        consumers: pool(120, "0.2"),
        earlier: Some(EarlierDepth { backlog: earlier, ago: "30m".parse().unwrap() }),
        deadline: seconds("1h"),
        ..queue(900_000, "500")
    };
    // 180,000 fewer in 1,800 s is what 600/s out and 500/s in make.
    assert!(!notes(&at(1_080_000)).iter().any(|note| matches!(note, DrainNote::ReadingsDisagree { .. })));
    // A fall of 55.6/s means 555.6/s out: 0.216 s of a worker's time a message.
    let note = notes(&at(1_000_000))
        .into_iter()
        .find_map(|note| match note {
            DrainNote::ReadingsDisagree { implied_service_s, .. } => implied_service_s,
            _ => None,
        })
        .unwrap();
    assert!((note - 0.216).abs() < 1e-12, "{note}");
    // At that pace 750/s need 162 workers.
    assert_eq!(plan(&at(1_000_000)).workers_for_deadline, Some(162));
    // A backlog that grows faster than messages arrive: nothing leaves, and no pace is known.
    let stuck = plan(&at(0));
    assert_eq!((stuck.served_rate_per_s, stuck.workers_for_deadline), (Some(0.0), None));
}
