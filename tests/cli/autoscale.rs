//! `whsize autoscale`.

use crate::schema::assert_matches;
use crate::support::{run, run_json};
use proptest::prelude::*;

const DECIDE: &str =
    "autoscale decide --current 10 --oldest-age 45 --rate 900 --mean 1.4 --tasks-per-replica 640";
const REPLAY: &str = "autoscale replay --rate 900 --mean 1.4 --tasks-per-replica 160";

#[test]
fn a_decision_has_its_floor_and_its_reason() {
    let output = run_json(DECIDE);
    assert_eq!((output.code, output.number("desired"), output.number("floor")), (0, 16.0, 3.0));
    assert!(output.field("reason").as_str().unwrap().contains("above the target of 30 s"));
    assert_matches("autoscale-decide", &output.json());
    let low = run_json(&format!("{DECIDE} --max 2 --min 1"));
    assert_eq!(low.code, 0, "two replicas carry the load: {low:?}");
    let too_low = run(&format!("{DECIDE} --max 1 --min 1"));
    assert!(too_low.code == 1 && too_low.stdout.contains("maximum of 1 replica is too low"), "{too_low:?}");
    let backlog = run_json(
        "autoscale decide --policy backlog --current 10 --backlog 1500 --mean 0.1 --acceptable-latency 10 --tasks-per-replica 1",
    );
    assert_eq!((backlog.number("desired"), backlog.number("change")), (15.0, 5.0));
    assert_eq!(backlog.number("acceptable_backlog_per_task"), 100.0);
    assert_matches("autoscale-decide", &backlog.json());
}

#[test]
fn a_replay_has_its_steps_and_says_whether_the_objective_holds() {
    let output = run_json(&format!("{REPLAY} --shape surge --compare"));
    assert_eq!(output.code, 0);
    assert_matches("autoscale-replay", &output.json());
    let steps = output.field("steps");
    assert_eq!(steps.as_array().unwrap().len(), 240, "one every 15 s of an hour");
    for field in ["at_s", "rate_per_s", "backlog", "oldest_age_s", "replicas"] {
        assert!(steps[100].get(field).is_some(), "{field}");
    }
    assert_eq!(output.field("comparison").as_array().unwrap().len(), 5);
    assert_eq!(output.number("objective_missed_s"), 0.0);
    let missed = run_json(&format!("{REPLAY} --shape surge --policy cpu"));
    assert_eq!(missed.code, 1);
    assert!(missed.number("objective_missed_s") > 0.0);
    assert_matches("autoscale-replay", &missed.json());
}

#[test]
fn a_trace_is_read_from_a_file() {
    let path = std::path::PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("trace.csv");
    std::fs::write(&path, "time,rate,service_mean\n0,100,1\n10m,300,1\n20m,100,2\n").unwrap();
    let replay = format!("autoscale replay --trace {} --tasks-per-replica 100", path.display());
    let output = run_json(&replay);
    assert_eq!((output.code, output.number("arrived")), (0, 600.0 * 500.0));
    std::fs::write(&path, "time,rate\n0,100\n10m,fast\n").unwrap();
    let wrong = run(&format!("{replay} --mean 1"));
    assert!(
        wrong.code == 2 && wrong.stderr.contains("trace.csv") && wrong.stderr.contains("line 3"),
        "{wrong:?}"
    );
}

#[test]
fn the_figure_shows_rate_replicas_and_age() {
    let table = run(&format!("{REPLAY} --shape outage --compare depth --plot --quiet"));
    for panel in ["attempts a second", "  replicas\n", "age of the oldest message", "b  depth", "objective"] {
        assert!(table.stdout.contains(panel), "{panel}: {}", table.stdout);
    }
    assert_eq!(table.stdout.matches("b  depth").count(), 1, "one legend for two panels with the same lines");
    assert!(table.stdout.lines().all(|line| line.chars().count() <= 100), "{}", table.stdout);
    let path = std::path::PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("replay.svg");
    let output = run(&format!("{REPLAY} --shape outage --compare --plot {} --quiet", path.display()));
    assert_eq!(output.code, 0);
    let text = std::fs::read_to_string(&path).unwrap();
    assert!(
        roxmltree::Document::parse(&text).is_ok()
            && text.contains("hpa-age-and-load: the oldest message reaches")
    );
}

#[test]
fn bad_usage_is_named() {
    for (arguments, named) in [
        ("autoscale", "decide"),
        ("autoscale decide --current 10 --tasks-per-replica 5", "--oldest-age"),
        ("autoscale decide --current 10 --oldest-age 45 --tasks-per-replica 5", "--rate and --mean"),
        ("autoscale decide --current 10 --oldest-age -5 --rate 9 --mean 1 --tasks-per-replica 5", "negative"),
        (
            "autoscale decide --current 10 --oldest-age 5 --rate 9 --mean 1 --tasks-per-replica 0",
            "more than zero",
        ),
        (
            "autoscale decide --current 10 --oldest-age 5 --rate 9 --mean 1 --tasks-per-replica 5 --min 9 --max 8",
            "--min 9 is above --max 8",
        ),
        (
            "autoscale decide --current 10 --oldest-age 5 --rate 9 --mean 1 --tasks-per-replica 5 --scale-in-age 60",
            "--scale-in-age",
        ),
        ("autoscale replay --tasks-per-replica 5", "--trace"),
        ("autoscale replay --tasks-per-replica 5 --shape surge --rate 9", "--mean"),
        (
            "autoscale replay --tasks-per-replica 5 --shape surge --rate 9 --mean 1 --interval 1.5s",
            "--interval",
        ),
        (
            "autoscale replay --tasks-per-replica 5 --shape nightly --rate 1e12 --mean 1",
            "beyond what is accepted",
        ),
        ("autoscale replay --tasks-per-replica 5 --trace /nonexistent.csv", "/nonexistent.csv"),
    ] {
        let output = run(arguments);
        assert!(output.code == 2 && output.stdout.is_empty(), "{arguments}: {output:?}");
        assert!(output.stderr.contains(named), "{arguments}: {}", output.stderr);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(16))]
    #[test]
    fn any_numbers_give_json_of_the_schema_or_exit_2(
        current in "[0-9]{1,15}", age in "[0-9smhd.]{1,6}", rate in "[0-9/minkM.]{1,8}", mean in "[0-9ums.]{1,6}", tasks in "[0-9]{1,15}",
        max in "[0-9]{1,15}",
    ) {
        let shared = format!("--rate {rate} --mean {mean} --tasks-per-replica {tasks} --max {max}");
        for (arguments, schema) in [
            (format!("autoscale decide --current {current} --oldest-age {age} {shared}"), "autoscale-decide"),
            (format!("autoscale replay --shape surge --initial {current} --interval 60 {shared}"), "autoscale-replay"),
        ] {
            let output = run_json(&arguments);
            prop_assert!((0..=2).contains(&output.code) && !output.stderr.contains("panicked"), "{:?}", output);
            if output.code < 2 {
                assert_matches(schema, &output.json());
            }
        }
    }
}
