//! `whsize validate` and `whsize sandbox`.

use crate::schema::assert_matches;
use crate::support::{command, run, run_json};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Stdio};

const RUN: &str = "validate --rate 100 --mean 0.05 --workers 10 --duration 1s --endpoints 2 --seed 1";

#[test]
fn every_level_has_the_documented_fields() {
    let output = run_json(&format!("{RUN} --levels 0.5,1"));
    assert!([0, 1].contains(&output.code), "{output:?}");
    assert_matches("validate", &output.json());
    assert_eq!(output.field("levels").as_array().unwrap().len(), 2);
    for level in [0, 1] {
        for field in [
            "multiplier",
            "offered_rate_per_s",
            "achieved_rate_per_s",
            "delivered",
            "failed",
            "dead_lettered",
            "duplicated",
            "service_mean_s",
            "wait_mean_s",
            "oldest_age_max_s",
            "utilisation",
            "reuse_ratio",
            "status_429_ratio",
            "predicted.wait_mean_s",
        ] {
            output.number(&format!("levels.{level}.{field}"));
        }
        assert_eq!(output.number(&format!("levels.{level}.lost")), 0.0);
        assert!(output.field(&format!("levels.{level}.verdict")).is_string());
    }
    let verdict = output.field("verdict");
    assert_eq!(output.code == 0, verdict == "agrees", "{verdict}");
    assert_eq!(output.json()["inputs"]["workers"], 10);
}

#[test]
fn the_same_seed_offers_the_same_messages() {
    let enqueued = || run_json(&format!("{RUN} --levels 1")).number("levels.0.enqueued");
    assert_eq!(enqueued(), enqueued());
}

#[test]
fn measured_service_times_are_a_profile_that_size_takes() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("measured.json");
    let file = file.to_str().unwrap();
    let saved = || {
        let output = run_json(&format!("{RUN} --levels 1 --save {file}"));
        let refused = output.json()["notes"].to_string().contains("not-saved");
        assert_eq!(refused, !std::path::Path::new(file).exists(), "{output:?}");
        !refused
    };
    // A machine that is busy with other things may be too slow for one run, and not for all.
    assert!((0..5).any(|_| saved()), "no run kept up");
    let sized = run_json(&format!("size --rate 100 --profile {file} --wait 0.5"));
    assert_eq!(sized.code, 0, "{sized:?}");
    assert!((sized.number("offered_load_erlangs") - 5.0).abs() < 2.5);
}

#[test]
fn bad_usage_is_told_apart_from_an_answer() {
    for (arguments, reason) in [
        ("validate --rate 100 --workers 10", "no service time"),
        ("validate --mean 0.05 --workers 10", "no rate"),
        ("validate --rate 100 --mean 0.05", "--workers"),
        ("validate --rate 100 --mean 0.05 --workers 10 --fault explode", "explode"),
        ("validate --rate 100 --mean 0.05 --workers 10 --warm-up 1h", "warm-up"),
        ("validate --rate 100 --mean 0.05 --workers 10 --shrink 0.5", "at least 1"),
        ("validate --rate 1G --mean 0.05 --workers 10", "--shrink"),
        ("validate --rate 100 --mean 0.05 --workers 10 --arrivals sometimes", "trace:FILE"),
        ("validate --rate 100 --mean 0.05 --workers 10 --time-scale 1e-12", "time scale"),
        ("validate --rate 100 --mean 0.05 --workers 10 --format junit", "of whsize check"),
        ("validate --rate 100 --mean 0.05 --workers 10 --format csv", "of --sweep"),
        ("validate --rate 100 --mean 0.05 --workers 10 --only nosuch", "it has levels"),
        ("validate --rate 100 --mean 0.05 --workers 10 --save /no/such/folder/x.json", "cannot be written"),
        ("sandbox --mean 1ms --duration 1h --only nosuch", "it has endpoints"),
        ("sandbox --mean 1ms --endpoints 100000", "not 100000"),
        ("sandbox --endpoints 5", "no latency"),
        ("sandbox --mean 1ms --endpoints 0", "more than zero"),
        ("sandbox --mean 1ms --endpoints 5000", "4096"),
        ("sandbox --mean 1ms --fault endpoint=2,hang", "only 1"),
        ("sandbox --mean 2h", "3600"),
        ("sandbox --endpoint mean=1ms --endpoints 5", "--mean or --profile"),
        ("sandbox --endpoint mean=1ms,profile=x.csv", "either a mean or a profile"),
        ("sandbox --endpoint scv=2", "either a mean or a profile"),
        ("sandbox --endpoint mean=1ms,speed=2", "\"speed\" is not known"),
        ("sandbox --endpoint mean=1ms,count=0", "more than zero"),
        ("sandbox --endpoint mean=1ms,count=4096 --mean 1ms", "4096"),
        ("sandbox --endpoint profile=no-such-file.csv", "no-such-file.csv"),
    ] {
        let output = run(arguments);
        assert_eq!(output.code, 2, "{arguments}: {output:?}");
        assert!(output.stderr.contains(reason), "{arguments}: {}", output.stderr);
        assert!(output.stdout.is_empty());
    }
}

#[test]
fn a_sandbox_that_runs_for_a_time_reports_what_it_saw() {
    let output = run_json("sandbox --mean 1ms --endpoints 3 --duration 100ms");
    assert_eq!(output.code, 0, "{output:?}");
    assert_matches("sandbox", &output.json());
    assert_eq!(output.field("endpoints").as_array().unwrap().len(), 3);
    assert_eq!(output.stderr.matches("listens on http://127.0.0.1:").count(), 3);
    assert!(run("sandbox --mean 1ms --duration 10ms").stdout.starts_with("0 requests on 0 connections"));
}

/// A sandbox in a process of its own, which is killed if a test fails.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn a_sandbox_answers_is_validated_against_from_elsewhere_and_ends_when_interrupted() {
    let child = command()
        .args([
            "sandbox",
            "--mean",
            "10ms",
            "--endpoint",
            "mean=40ms,scv=0",
            "--duration",
            "5m",
            "--format",
            "json",
        ])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut running = Running(child);
    let mut first = String::new();
    BufReader::new(running.0.stderr.take().unwrap()).read_line(&mut first).unwrap();
    let url = first.trim().rsplit(' ').next().unwrap();
    let mut stream = TcpStream::connect(url.trim_start_matches("http://")).unwrap();
    stream
        .write_all(b"POST / HTTP/1.1\r\nhost: x\r\nconnection: close\r\ncontent-length: 2\r\n\r\nhi")
        .unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");

    let validated = run_json(&format!(
        "validate --rate 50 --mean 10ms --workers 5 --levels 1 --duration 500ms --target {url}"
    ));
    assert_eq!(validated.number("levels.0.lost"), 0.0, "{validated:?}");
    assert_eq!(validated.field("levels.0.endpoints").as_array().unwrap().len(), 2);

    #[cfg(unix)]
    {
        let id = running.0.id().to_string();
        assert!(std::process::Command::new("kill").args(["-TERM", &id]).status().unwrap().success());
        let mut report = String::new();
        running.0.stdout.take().unwrap().read_to_string(&mut report).unwrap();
        assert!(running.0.wait().unwrap().success());
        let seen: serde_json::Value = serde_json::from_str(&report).unwrap();
        let taken = |endpoint: usize| seen["result"]["endpoints"][endpoint]["accepted"].as_u64().unwrap();
        assert!(taken(0) + taken(1) > 10, "{report}");
        let latency_s =
            |endpoint: usize| seen["result"]["endpoints"][endpoint]["latency_s"].as_f64().unwrap();
        let mean_s = |endpoint: usize| latency_s(endpoint) / taken(endpoint) as f64;
        assert!((mean_s(1) - 0.04).abs() < 1e-6, "the second has a latency of its own: {report}");
        assert!((0.001..0.03).contains(&mean_s(0)), "{report}");
    }
}

#[test]
fn the_headline_says_whose_the_wait_is_and_that_a_port_is_taken_once() {
    let governed =
        run("validate --rate 20 --mean 10ms --workers 5 --levels 1 --duration 1s --governor paced");
    let first = governed.stdout.lines().take(2).collect::<Vec<_>>().join(" ");
    assert!(
        first.contains("the governor's, and was not judged") || first.starts_with("Not judged"),
        "{first}"
    );
    let silent = run("validate --rate 1e-9 --mean 10ms --workers 5 --levels 1 --duration 200ms");
    assert_eq!(silent.code, 1);
    assert!(silent.stdout.starts_with("Not judged: 1x."), "{}", silent.stdout);
    assert!(
        !silent.stdout.contains("0 s to 0 s") && !silent.stdout.contains("by phase"),
        "{}",
        silent.stdout
    );
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap();
    let refused = run(&format!("sandbox --mean 1ms --listen {address}"));
    assert_eq!((refused.code, refused.stderr.matches("in use").count()), (2, 1), "{}", refused.stderr);
}

#[test]
fn a_trace_of_one_arrival_is_refused_by_name() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("trace.txt");
    std::fs::write(&file, "5\n").unwrap();
    let file = file.to_str().unwrap();
    let refused = run(&format!("validate --mean 10ms --workers 5 --arrivals trace:{file}"));
    assert_eq!(refused.code, 2);
    assert!(refused.stderr.contains("1 arrival at one moment"), "{}", refused.stderr);
}
