//! `whsize drain`.

use crate::schema::assert_matches;
use crate::support::{command, run, run_json};
use proptest::prelude::*;
use std::process::Command;

#[test]
fn the_exit_code_is_the_answer() {
    for (arguments, code, first_words) in [
        ("--backlog 1M --served-rate 600 --rate 500", 0, "1,000,000 messages are gone in 2 h 47 m"),
        ("--backlog 1M --served-rate 600 --rate 500 --within 3h", 0, "Yes: "),
        ("--backlog 1M --served-rate 600 --rate 500 --within 1h", 1, "No: "),
        ("--backlog 10 --served-rate 5 --rate 5", 1, "Never: "),
        ("--backlog 14.5M --workers 3 --mean 180ms --rate 110", 1, "Never: "),
        ("--backlog 1M --mean 0.2 --rate 500 --within 15m", 0, "323 workers will do: "),
        ("--backlog 1500 --workers 10 --mean 0.1 --rate 0 --acceptable-latency 10", 1, "No: "),
        ("--backlog 1500 --workers 15 --mean 0.1 --rate 0 --acceptable-latency 10", 0, "Yes: "),
        ("--backlog 0 --served-rate 5 --rate 5", 0, "There is no backlog"),
        ("--backlog 700k --earlier 1M@5m", 0, "700,000 messages are gone in 11 m 40 s"),
        ("--backlog 10 --workers 9 --mean 0.2 --rate 500 --downstream-limit 400", 1, "Never: "),
        ("--backlog 10 --rate 500 --mean 0.2 --acceptable-latency 0.1", 0, "101 workers will do: "),
        ("--backlog 0 --rate 500 --mean 0.2 --within 15m", 0, "There is no backlog"),
        ("--backlog 1 --served-rate 5 --rate 5", 1, "Never: the backlog of 1 message stays as it is "),
        ("--backlog 700k --earlier 1M@5m --rate 500 --acceptable-latency 5m", 1, "No: "),
        ("--backlog 1e15 --served-rate 1e-50 --rate 0 --within 1e-50", 1, "No: "),
    ] {
        let json = run_json(&format!("drain {arguments}"));
        assert_eq!(json.code, code, "{arguments}: {json:?}");
        assert_matches("drain", &json.json());
        let table = run(&format!("drain {arguments}"));
        assert_eq!(table.code, code, "{arguments}");
        assert!(table.stdout.starts_with(first_words), "{arguments}: {}", table.stdout);
        assert!(table.stdout.lines().all(|line| line.chars().count() <= 100), "{}", table.stdout);
    }
}

#[test]
fn too_little_or_too_much_is_bad_usage() {
    for (arguments, named) in [
        ("--backlog 10", "--rate"),
        ("--backlog 10 --rate 5", "mean service time"),
        ("--backlog 10 --rate 5 --mean 1", "deadline"),
        ("--backlog 10 --rate 5 --workers 3", "--mean"),
        ("--backlog 10 --rate 5 --workers 3 --mean 1 --served-rate 3", "--served-rate"),
        ("--backlog -1 --rate 5 --served-rate 3", "negative"),
        ("--backlog 1.5 --rate 5 --served-rate 3", "whole number"),
        ("--backlog 10 --rate NaN --served-rate 3", "not a finite number"),
        ("--backlog 10 --rate 5 --served-rate 3 --within 0", "more than zero"),
        ("--backlog 10 --rate 5 --served-rate 3 --earlier 10", "1000000@5m"),
        ("--backlog 10 --rate 5 --served-rate 3 --failure-share 5%", "--max-attempts"),
        ("--rate 5 --served-rate 3", "--backlog"),
        ("--backlog 700k --earlier 1M@5m --acceptable-latency 5m", "how fast messages leave"),
        ("--backlog 700k --earlier 1M@5m --oldest-age 10h", "age of the oldest message"),
        ("--backlog 700k --earlier 1M@5m --confidence 99%", "confidence of an interval"),
        ("--backlog 700k --earlier 1M@5m --downstream-limit 5", "what serves the queue"),
        ("--backlog 700k --earlier 1M@5m --mean 0.2", "neither a number of workers"),
        (
            "--backlog 700k --earlier 1M@5m --workers 10 --mean 0.2 --acceptable-latency 5m",
            "faster than the consumers could",
        ),
    ] {
        let output = run(&format!("drain {arguments}"));
        assert!(output.code == 2 && output.stdout.is_empty(), "{arguments}: {output:?}");
        assert!(output.stderr.contains(named), "{arguments}: {}", output.stderr);
    }
}

#[test]
fn never_comes_with_its_reason_and_what_would_help() {
    let slow = run("drain --backlog 14.5M --workers 3 --mean 180ms --rate 110").stdout;
    assert!(slow.contains("grows by 93.33/s") && slow.contains("20 workers is the smallest pool"), "{slow}");
    let limited =
        run("drain --backlog 10k --workers 100 --mean 0.2 --rate 500 --downstream-limit 400").stdout;
    assert!(limited.contains("more workers cannot help"), "{limited}");
}

/// Ten workers at 0.2 s do not empty 1000/s, and no arrivals are made up to explain it.
#[test]
fn readings_that_contradict_the_pool_are_said_to() {
    let text = run("drain --backlog 700k --earlier 1M@5m --workers 10 --mean 0.2").stdout;
    let said = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(said.contains("falls by 1000/s, but this pool serves 50/s at most"), "{text}");
    assert!(said.contains("follows from the readings alone"), "{text}");
    assert!(!said.contains("0/s in") && !said.contains("messages in"), "{text}");
}

#[test]
fn a_report_shows_its_rates_in_one_unit() {
    let slow =
        "drain --backlog 600 --rate 12/min --mean 12.5 --workers 1 --downstream-limit 20/min --within 1h";
    let text = run(&format!("{slow} --explain")).stdout;
    assert!(text.contains("12/min") && text.contains("4.8/min"), "{text}");
    for unit in ["/s", "/h", "/day"] {
        let shown = text.split_whitespace().any(|word| {
            let word = word.trim_end_matches([',', '.', ';', ')', ':']);
            word.strip_suffix(unit).is_some_and(|number| number.ends_with(|end: char| end.is_ascii_digit()))
        });
        assert!(!shown, "{unit}: {text}");
    }
}

#[test]
fn a_deadline_without_known_rates_says_how_fast_the_backlog_must_fall() {
    let text = run("drain --backlog 700k --earlier 1M@5m --within 60s").stdout;
    assert!(text.contains("must fall by 11,667/s") && !text.contains("unknown rate"), "{text}");
}

/// What the reader is sent to is a command that runs, once the numbers that are not known here are filled in.
#[test]
fn the_command_that_is_suggested_runs() {
    let never = run_json("drain --backlog 1.3M --earlier 1M@5m").json();
    let hints = never["notes"].as_array().unwrap().iter().filter_map(|note| note["hint"].as_str());
    let hint = hints.into_iter().find(|hint| hint.contains("whsize diagnose")).unwrap();
    let (command, _) = hint.strip_prefix("whsize ").unwrap().split_once(" tells ").unwrap();
    let output = run(&command.replace(" N", " 5"));
    assert!(output.code < 2 && output.stderr.is_empty(), "{command}: {output:?}");
}

/// As in an incident: the shell pages if the answer is no.
#[test]
fn a_shell_pages_on_no() {
    let shell = |rate: &str| {
        let program = command().get_program().to_owned();
        let script = r#""$0" drain --backlog 1M --served-rate 600 --rate "$1" --within 3h --quiet >/dev/null || echo page"#;
        let output = Command::new("sh").arg("-c").arg(script).arg(program).arg(rate).output().unwrap();
        String::from_utf8(output.stdout).unwrap()
    };
    assert_eq!((shell("500").as_str(), shell("550").as_str()), ("", "page\n"));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn no_text_makes_it_panic(backlog in "[0-9kMGe.@-]{0,8}", rate in "[0-9/minkMe.-]{0,9}", earlier in "\\PC{0,12}") {
        let output = crate::support::run_all(["drain", "--backlog", &backlog, "--rate", &rate, "--served-rate", "5", "--earlier", &earlier]);
        prop_assert!((0..=2).contains(&output.code), "{:?}", output);
        prop_assert!(!output.stderr.contains("panicked"), "{:?}", output);
    }
}
