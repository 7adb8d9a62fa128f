//! `whsize simulate`.

use crate::schema::assert_matches;
use crate::support::{run, run_json};

const QUEUE: &str = "simulate --workers 10 --rate 8 --mean 1 --arrivals-count 20000 --replications 10";

#[test]
fn the_simulation_agrees_with_erlang_c_and_says_so() {
    let output = run_json("simulate --workers 10 --rate 8 --mean 1 --arrivals-count 100000");
    assert_matches("simulate", &output.json());
    // Erlang C at 8 erlangs on 10 workers: C = 0.409180, mean wait 0.204590 s (exact arithmetic).
    let (low, high) = (output.number("wait_mean_interval_s.0"), output.number("wait_mean_interval_s.1"));
    assert!((output.number("predicted.wait_mean_s") - 0.204_590).abs() < 1e-6);
    assert!((output.number("predicted.wait_probability") - 0.409_180).abs() < 1e-6);
    assert!(low < 0.204_59 && 0.204_59 < high && high - low < 0.02, "{low} {high}");
    assert!((output.number("utilisation") - 0.8).abs() < 0.01);
    let text = run("simulate --workers 10 --rate 8 --mean 1 --arrivals-count 100000").stdout;
    assert!(text.lines().next().unwrap().contains("10 workers under 8/s"), "{text}");
}

#[test]
fn a_seed_gives_the_same_bytes_on_one_thread_and_on_many() {
    let bytes = |threads| run_json(&format!("{QUEUE} --threads {threads} --seed 5")).stdout;
    assert_eq!(bytes(1), bytes(3));
    assert_ne!(bytes(1), run_json(&format!("{QUEUE} --seed 6")).stdout);
    let speed = run_json(QUEUE);
    assert!(speed.stderr.contains("arrivals in") && run_json(&format!("{QUEUE} --quiet")).stderr.is_empty());
}

#[test]
fn every_law_and_arrival_process_keeps_the_offered_load() {
    let trace = tempfile::NamedTempFile::new().unwrap();
    let times: Vec<String> = (0..20_000).map(|event| format!("{}", f64::from(event) / 8.0)).collect();
    std::fs::write(trace.path(), times.join("\n")).unwrap();
    for extra in [
        "--service constant",
        "--service lognormal --scv 4",
        "--service hyperexponential --scv 4",
        "--scv 0.5",
        "--arrivals batch:4",
        &format!("--arrivals trace:{}", trace.path().display()),
    ] {
        let rate = if extra.contains("trace") { "" } else { "--rate 8" };
        let output =
            run_json(&format!("simulate --workers 10 {rate} --mean 1 --arrivals-count 20000 {extra}"));
        assert_matches("simulate", &output.json());
        assert!((output.number("utilisation") - 0.8).abs() < 0.03, "{extra}: {}", output.stdout);
    }
}

#[test]
fn measured_times_are_resampled_with_their_own_mean() {
    let output = run_json(
        "simulate --workers 30 --rate 18 --profile fixtures/attempts-week.csv.gz --arrivals-count 50000",
    );
    assert_matches("simulate", &output.json());
    let ingested = run_json("ingest fixtures/attempts-week.csv.gz");
    let mean = output.json()["inputs"]["service_mean_s"].as_f64().unwrap();
    assert!((mean / ingested.number("mean_s") - 1.0).abs() < 1e-12);
    let scv = output.json()["inputs"]["service_scv"].as_f64().unwrap();
    assert!((scv / ingested.number("scv") - 1.0).abs() < 1e-3);
}

#[test]
fn what_erlang_c_leaves_out_is_counted() {
    let output = run_json(&format!(
        "{QUEUE} --patience 2 --queue-limit 5 --failure-share 10% --max-attempts 3 --retry-delay 1s,5s"
    ));
    assert_matches("simulate", &output.json());
    for field in ["abandoned.count", "lost.count", "dead_lettered.count", "retried"] {
        assert!(output.number(field) > 0.0, "{field}");
    }
    assert!(output.json()["result"].get("predicted").is_none(), "no formula covers all of this");
}

/// Ten workers at 11/s of 1 s, patience 2 s, five places: what gives up and what is turned away has a formula.
#[test]
fn a_bounded_queue_agrees_with_its_formula() {
    for (bounds, model) in [
        ("--patience 2", "M/M/N+M (Erlang A)"),
        ("--queue-limit 5", "M/M/c/K (finite queue)"),
        ("--patience 2 --queue-limit 5", "M/M/c/K+M (finite queue, impatient)"),
    ] {
        let asked = format!("simulate --workers 10 --rate 11 --mean 1 {bounds} --arrivals-count 40000");
        let output = run_json(&asked);
        assert_eq!(output.field("predicted.model"), model);
        let (low, high) = (output.number("wait_mean_interval_s.0"), output.number("wait_mean_interval_s.1"));
        let (predicted, slack) = (output.number("predicted.wait_mean_s"), 0.5 * (high - low));
        assert!(low - slack <= predicted && predicted <= high + slack, "{bounds}: {low} {predicted} {high}");
        let other = run_json(&format!("{asked} --scv 4"));
        assert!(other.json()["result"].get("predicted").is_none(), "the formula knows no other law");
    }
}

#[test]
fn urgent_events_overtake_a_block_of_others() {
    let output = run_json(
        "simulate --workers 110 --rate 500 --mean 0.2 --priority-share 10% --block 20k@60s --duration 600 --replications 4",
    );
    assert_matches("simulate", &output.json());
    let wait = |class: usize| output.number(&format!("classes.{class}.wait_mean_s"));
    assert!(wait(0) < 0.05 && wait(1) > 1.0, "{} {}", wait(0), wait(1));
    // 550/s leave and 500/s arrive, so a block of 20,000 takes about 400 s.
    assert!((output.number("blocks.0.queue_empty_s") - 400.0).abs() < 60.0);
}

#[test]
fn an_overloaded_pool_is_called_one() {
    let text = run("simulate --workers 5 --rate 8 --mean 1 --arrivals-count 20000 --replications 2").stdout;
    assert!(text.contains("grows without end"), "{text}");
}

#[test]
fn a_question_that_cannot_be_simulated_is_refused() {
    for (arguments, reason) in [
        ("simulate --workers 10 --mean 1", "no rate"),
        ("simulate --workers 10 --rate 8", "no service time"),
        ("simulate --workers 20M --rate 8 --mean 1", "ten million"),
        ("simulate --workers 10 --rate 8 --mean 1 --service hyperexponential --scv 0.5", "at least 1"),
        ("simulate --workers 10 --rate 8 --mean 1 --service empirical", "--profile"),
        ("simulate --workers 10 --rate 8 --mean 1 --arrivals batch:0", "from 1 on"),
        ("simulate --workers 10 --rate 8 --mean 1 --arrivals poison", "poisson, batch:N"),
        ("simulate --workers 10 --mean 1 --arrivals trace:fixtures/hey.csv", "fixtures/hey.csv:2"),
        ("simulate --workers 10 --mean 1 --arrivals trace:absent", "absent"),
        ("simulate --workers 10 --rate 8 --mean 1 --block 5", "20k@60s"),
        ("simulate --workers 10 --rate 8 --mean 1 --warm-up soon", "or auto"),
        ("simulate --workers 10 --rate 8 --mean 1 --duration 1ms", "no arrival"),
        ("simulate --workers 10 --rate 8 --mean 1 --replications 0", "replications"),
    ] {
        let output = run(arguments);
        assert!(
            output.code == 2 && output.stderr.contains(reason) && output.stdout.is_empty(),
            "{arguments}: {output:?}"
        );
    }
}
