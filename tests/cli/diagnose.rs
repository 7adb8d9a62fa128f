//! `whsize diagnose`.

use crate::ingest::Files;
use crate::schema::assert_matches;
use crate::support::{command, run, run_json};
use proptest::prelude::*;
use std::io::Write;
use std::process::Stdio;

/// Each kind of trouble, as it is asked at the terminal.
const CASES: [(&str, &str); 10] = [
    (
        "--depth 5000 --in-flight 100 --workers 100 --throughput 100 --rate 510 --mean 0.2 --pool-wait 600ms",
        "pool-starvation",
    ),
    (
        "--depth 5000 --in-flight 100 --workers 100 --oldest-age 60 --throughput 500 --rate 510 --mean 0.2",
        "not-enough-workers",
    ),
    (
        "--depth 40k --in-flight 55 --workers 55 --throughput 5.5 --rate 280k/day --mean 300ms",
        "slow-or-stuck-workers",
    ),
    ("--depth 1M --in-flight 0 --workers 40 --rate 500 --mean 0.2", "not-consuming"),
    (
        "--depth 5000 --in-flight 100 --workers 100 --throughput 500 --rate 510 --first-attempt-rate 300 --mean 0.2",
        "retry-amplification",
    ),
    ("--depth 12 --in-flight 3 --workers 100 --oldest-age 6h --rate 50 --throughput 50", "poison-message"),
    (
        "--depth 900k --in-flight 120k --workers 5600 --rate 4000 --mean 1.4 --broker-in-flight-limit 120k",
        "broker-limit",
    ),
    (
        "--depth 10 --in-flight 40 --workers 100 --oldest-age 1 --rate 200 --throughput 200 --mean 0.2",
        "healthy",
    ),
    (
        "--depth 5000 --in-flight 50 --workers 100 --oldest-age 60 --throughput 250 --rate 510 --mean 0.2",
        "unexplained",
    ),
    (
        "--depth 14.5M --in-flight 3 --workers 3 --throughput 16.7 --rate 110 --mean 180ms",
        "not-enough-workers",
    ),
];

#[test]
fn each_kind_of_trouble_has_its_verdict_evidence_and_next_steps() {
    for (arguments, verdict) in CASES {
        let output = run_json(&format!("diagnose {arguments}"));
        assert_eq!(output.field("verdict"), verdict, "{arguments}");
        assert_eq!(output.code, i32::from(verdict != "healthy"), "{arguments}");
        assert_matches("diagnose", &output.json());
        assert_eq!(output.field("scaling_out_helps"), verdict == "not-enough-workers", "{arguments}");
        let table = run(&format!("diagnose {arguments}"));
        assert!(table.stdout.lines().all(|line| line.chars().count() <= 100), "{}", table.stdout);
    }
}

/// A command that is advised is one that can be run.
#[test]
fn every_advised_command_runs() {
    let mut run_so_far = 0;
    for (arguments, _) in CASES {
        let steps = run_json(&format!("diagnose {arguments}")).field("next_steps");
        for step in steps.as_array().unwrap() {
            let Some(advised) = step.get("command") else { continue };
            let arguments = advised.as_str().unwrap().strip_prefix("whsize ").unwrap().to_owned();
            let output = run(&arguments);
            assert!(output.code < 2, "{advised}: {}", output.stderr);
            run_so_far += 1;
        }
    }
    assert!(run_so_far >= CASES.len(), "{run_so_far}");
}

fn from_stdin(arguments: &str, input: &str) -> (i32, String, String) {
    let mut child = command()
        .args(arguments.split_whitespace())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (output.status.code().unwrap(), text(output.stdout), text(output.stderr))
}

#[test]
fn the_attributes_of_an_sqs_queue_are_read_from_standard_input() {
    let attributes = r#"{"Attributes": {"ApproximateNumberOfMessages": "5000",
        "ApproximateNumberOfMessagesNotVisible": "100", "ApproximateNumberOfMessagesDelayed": "0"}}"#;
    let arguments = "diagnose --from - --workers 100 --throughput 500 --rate 510 --mean 0.2 --only verdict";
    assert_eq!(from_stdin(arguments, attributes), (1, "not-enough-workers\n".to_owned(), String::new()));
    let other = attributes
        .replace("NumberOfMessages\"", "NumberOfMessagesVisible\"")
        .replace("\"100\"", "\"119999\"");
    assert_eq!(from_stdin(arguments, &other).1, "broker-limit\n", "SQS is known to stop at 120,000");
    let (code, stdout, stderr) = from_stdin(arguments, "{}");
    assert!(code == 2 && stdout.is_empty() && stderr.contains("standard input"), "{stderr}");
}

#[test]
fn the_pool_wait_of_a_profile_is_evidence_unless_the_present_one_is_given() {
    let files = Files::new();
    let rows = "2026-03-02T09:00:00Z,60,140,200\n".repeat(50);
    let profile = files.write("attempts.csv", format!("ts,pool_wait_ms,http_ms,duration_ms\n{rows}"));
    let seen = format!(
        "diagnose --depth 5000 --in-flight 100 --workers 100 --oldest-age 60 --throughput 500 --rate 510 --profile {profile}"
    );
    let starved = run_json(&seen);
    assert_eq!(starved.field("verdict"), "pool-starvation");
    assert_matches("diagnose", &starved.json());
    let table = run(&seen).stdout;
    assert!(table.contains("waits 60 ms for a connection, 30% of its time"), "{table}");
    assert_eq!(run_json(&format!("{seen} --pool-wait 1ms")).field("verdict"), "not-enough-workers");
}

#[test]
fn bad_usage_is_named() {
    for (arguments, named) in [
        ("--depth 5 --in-flight 5", "--workers"),
        ("--depth 5 --workers 5", "--in-flight"),
        ("--workers 5", "--depth"),
        ("--depth 5 --in-flight 5 --workers 5 --from -", "--from"),
        ("--depth -5 --in-flight 5 --workers 5", "negative"),
        ("--depth 5 --in-flight 5 --workers 5 --mean 0", "more than zero"),
        ("--from /nonexistent.json --workers 5", "/nonexistent.json"),
    ] {
        let output = run(&format!("diagnose {arguments}"));
        assert!(output.code == 2 && output.stdout.is_empty(), "{arguments}: {output:?}");
        assert!(output.stderr.contains(named), "{arguments}: {}", output.stderr);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn any_numbers_give_json_of_the_schema_or_exit_2(
        depth in "[0-9]{1,15}", in_flight in "[0-9kM.]{1,6}", workers in "[0-9]{1,3}", age in "[0-9smhd]{1,6}",
        rate in "[0-9/minkMe.]{1,9}", mean in "[0-9ums.]{1,6}",
    ) {
        let arguments = format!("diagnose --depth {depth} --in-flight {in_flight} --workers {workers} --oldest-age {age} --throughput {rate} --rate {rate} --mean {mean}");
        let output = run_json(&arguments);
        prop_assert!((0..=2).contains(&output.code) && !output.stderr.contains("panicked"), "{:?}", output);
        if output.code < 2 {
            assert_matches("diagnose", &output.json());
        }
    }
}
