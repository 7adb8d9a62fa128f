//! Scaling up against endpoints with a capacity of their own. The numbers of docs/feedback.md are these.

use whsize::simulate::{
    Arrivals, Block, BlockOutcome, Endpoints, Horizon, Law, Retries, Run, Scenario, Simulated, WarmUp,
    simulate,
};

const HOURS: f64 = 3600.0;

/// Five endpoints of 10 requests at once, 1 s each: 50 a second at most. 30 a second arrive, and 12,000 are waiting.
fn after_scaling_to(workers: u32, cap: Option<u32>) -> Simulated {
    let plain = Scenario::plain(workers, Arrivals::poisson(30.0).unwrap(), Law::exponential(1.0).unwrap());
    let scenario = Scenario {
        blocks: vec![Block { at_s: 0.0, events: 12_000, class: 0 }],
        retries: Some(Retries {
            failure_share: 0.0,
            max_attempts: 8,
            delays_s: vec![5.0, 300.0, 1800.0, 7200.0, 18_000.0, 36_000.0],
            jitter: 0.2,
            failed_service: None,
        }),
        endpoints: Some(Endpoints { count: 5, capacity: 10, refuse_above: 20, refusal_s: 0.1, cap }),
        ..plain
    };
    let run = Run { replications: 4, warm_up: WarmUp::Nothing, ..Run::new(Horizon::Seconds(4.0 * HOURS)) };
    simulate(&scenario, &run).unwrap()
}

fn minutes(time_s: Option<f64>) -> f64 {
    (time_s.unwrap() / 60.0 * 10.0).round() / 10.0
}

/// The row of the table in docs/feedback.md.
fn row(name: &str, workers: u32, cap: Option<u32>, result: &Simulated) -> String {
    let block: BlockOutcome = result.blocks[0];
    format!(
        "| {name} | {workers} | {} | {} min | {} min | {} | {} s |",
        cap.map_or_else(|| "none".to_owned(), |cap| cap.to_string()),
        minutes(block.queue_empty_s),
        minutes(block.done_s),
        (result.refused.unwrap() as f64 / f64::from(result.replications)).round(),
        result.delivery_mean_s.unwrap().round(),
    )
}

#[test]
fn scaling_up_turns_a_twenty_minute_backlog_into_hours_unless_endpoints_are_capped() {
    let before = after_scaling_to(45, None);
    let scaled = after_scaling_to(180, None);
    let capped = after_scaling_to(180, Some(10));
    let [before_block, scaled_block, capped_block] =
        [&before, &scaled, &capped].map(|result| result.blocks[0]);

    assert!((minutes(before_block.queue_empty_s) - 20.0).abs() < 1.0);
    // The queue looks fine within minutes, and the last of the backlog is delivered after three hours.
    assert!(scaled_block.queue_empty_s.unwrap() < 180.0);
    assert!((scaled_block.done_s.unwrap() / HOURS - 3.0).abs() < 0.3);
    assert!(scaled.oldest_age_max_s < 60.0 && scaled.delivery_max_s.unwrap() > 3.0 * HOURS);
    // With the cap no request is refused, and scaling up no longer hurts.
    assert_eq!(capped.refused, Some(0));
    assert!(
        capped_block.done_s < before_block.done_s && capped_block.queue_empty_s < before_block.queue_empty_s
    );

    let page = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/docs/feedback.md")).unwrap();
    let rows = [
        row("before", 45, None, &before),
        row("scaled up", 180, None, &scaled),
        row("scaled up, with a cap", 180, Some(10), &capped),
    ];
    assert!(rows.iter().all(|row| page.contains(row)), "docs/feedback.md lacks one of:\n{}", rows.join("\n"));
}
