//! The cases of docs/cases.md, as numbers: what was reported, and what is answered.

use crate::support::{run, run_json};

#[test]
fn three_consumers_never_drain_and_twenty_hardly() {
    let three = run_json("drain --backlog 14.5M --rate 110 --workers 3 --mean 180ms");
    assert_eq!((three.code, three.field("drains")), (1, false.into()));
    assert!((three.number("served_rate_per_s") - 16.7).abs() < 0.05);
    let twenty = run_json("drain --backlog 14.5M --rate 110 --workers 20 --mean 180ms");
    assert!((twenty.number("served_rate_per_s") - 111.0).abs() < 0.5);
    assert!(twenty.number("drain_s") > 100.0 * 86_400.0);
    let peak = run_json("size --rate 450 --mean 180ms --wait 0.5");
    assert_eq!(peak.number("smallest_stable_workers"), 82.0);
}

#[test]
fn dead_hosts_of_ten_seconds_need_33_to_38_workers() {
    let output = run_json("size --rate 280k/day --mean 10 --wait 0.5");
    assert!((output.number("offered_load_erlangs") - 32.4).abs() < 0.05);
    assert_eq!((output.number("smallest_stable_workers"), output.number("workers")), (33.0, 38.0));
}

#[test]
fn one_worker_ends_4_8_a_minute_whatever_the_limit_allows() {
    let one = run_json("size --rate 12/min --mean 12.5 --workers 1");
    assert_eq!(one.code, 1);
    assert!((one.number("max_rate_per_s") * 60.0 - 4.8).abs() < 1e-9);
    let output = run_json("size --rate 12/min --mean 12.5 --wait 0.5");
    let found =
        ["offered_load_erlangs", "smallest_stable_workers", "workers"].map(|name| output.number(name));
    assert_eq!(found, [2.5, 3.0, 6.0]);
}

#[test]
fn a_median_of_a_second_hides_2_8_erlangs() {
    let textbook = run_json("size --rate 20/min --mean 8.45 --wait 0.5");
    assert!((textbook.number("offered_load_erlangs") - 2.8).abs() < 0.05);
    assert_eq!((textbook.number("smallest_stable_workers"), textbook.number("workers")), (3.0, 6.0));
    let measured =
        run_json("size --rate 20/min --profile docs/examples/usually-under-a-second.csv --wait 0.5");
    assert_eq!(measured.number("smallest_stable_workers"), 3.0);
    assert!(measured.number("workers") > 6.0);
}

#[test]
fn a_night_of_eight_hours_needs_105_workers() {
    let hours = |workers: u32| {
        let output = run_json(&format!("drain --backlog 50k --rate 0 --mean 60 --workers {workers}"));
        output.number("drain_s") / 3600.0
    };
    assert!((hours(5) - 167.0).abs() < 0.5 && (hours(25) - 33.0).abs() < 0.5);
    let deadline = run_json("drain --backlog 50k --rate 0 --mean 60 --within 8h");
    assert_eq!(deadline.number("workers_for_deadline"), 105.0);
}

#[test]
fn a_visibility_timeout_fills_the_broker() {
    let output = run("pipeline docs/examples/pipeline-in-flight.toml");
    let in_flight = output.stdout.lines().find(|line| line.contains("in flight at the broker  ")).unwrap();
    assert!(in_flight.contains("120,000") && in_flight.ends_with("1x"), "{in_flight}");
    let counters = run_json(
        "diagnose --depth 50k --in-flight 120k --broker-in-flight-limit 120k --workers 6000 --rate 4000 \
         --throughput 4000 --oldest-age 5m",
    );
    assert_eq!((counters.code, counters.field("verdict")), (1, "broker-limit".into()));
}

#[test]
fn three_thousand_connections_over_sixteen_instances_fit_1024_ports_and_not_128() {
    let ports = |way_out: &str| {
        let output = run_json(&format!(
            "layout --concurrency 3000 --tasks-per-process 188 --processes-per-pod 1 --rate 3000 --mean 1 \
             --reuse-ratio 100% {way_out} --machines 16"
        ));
        (output.code, output.number("ports.worst_case_per_source"), output.field("ports.verdict"))
    };
    assert_eq!(ports("--egress azure-lb"), (0, 188.0, "ok".into()));
    assert_eq!(ports("--nat-ports 128"), (1, 188.0, "exhausted".into()));
}
