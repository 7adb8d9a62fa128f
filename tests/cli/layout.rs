//! `whsize layout`.

use crate::schema::assert_matches;
use crate::support::{command, run, run_json};
use proptest::prelude::*;
use serde_json::Value;
use std::io::Write;
use std::process::Stdio;

#[test]
fn the_published_example_has_every_figure() {
    let output = run_json(
        "layout --concurrency 1300 --rate 900 --mean 1.4 --host name=a,rate=20,p95=0.25 --database-pool 20 \
         --database-max 500 --reuse-ratio 0.9 --lease 60",
    );
    assert_eq!(output.code, 0);
    assert_matches("layout", &output.json());
    for (field, value) in [
        ("processes", 9.0),
        ("pods", 3.0),
        ("tasks_per_process", 160.0),
        ("concurrency", 1300.0),
        ("deployed_concurrency", 1920.0),
        ("fd_limit_per_process", 576.0),
        ("cpu_cores", 0.9),
        ("grace_period_s", 70.0),
    ] {
        assert_eq!(output.number(field), value, "{field}");
    }
    let (balanced, ports, database) =
        (output.field("balanced"), output.field("ports"), output.field("database"));
    assert_eq!(
        (&balanced["pods"], &balanced["processes_per_pod"], &balanced["tasks_per_process"]),
        (&3.into(), &3.into(), &145.into())
    );
    assert_eq!((&ports["time_wait"], &ports["limit"]), (&5400.into(), &28_232.into()));
    assert_eq!((&database["connections"], &database["max_processes"]), (&240.into(), &24.into()));
    assert_eq!(output.field("hosts")[0]["connections"], 5);
    assert_eq!(output.field("pool")["max_connections"], 160);
}

#[test]
fn the_exit_code_says_whether_the_asked_shape_fits() {
    for (arguments, code, said) in [
        ("--concurrency 1300", 0, "3 pods × 3 processes × 145 tasks"),
        ("--concurrency 1280 --database-pool 20 --database-max 100", 1, "at most 4 processes"),
        ("--concurrency 1280 --database-pool 20 --database-max 100 --tasks-per-process 160", 1, "no layout"),
        (
            "--concurrency 1280 --database-pool 20 --database-max 100 --pgbouncer-clients 200",
            0,
            "PgBouncer opens 20 of 97",
        ),
        ("--concurrency 1300 --fd-limit 512", 0, "4 processes × 109 tasks"),
        ("--concurrency 1300 --fd-limit 256", 1, "no layout"),
        ("--concurrency 1300 --mean 1.4 --vcpu-per-pod 0.1", 0, "0.1 processors a pod"),
        ("--concurrency 2000 --rate 2000 --reuse-ratio 0", 0, "120,000"),
        ("--concurrency 2000 --rate 2000 --reuse-ratio 0 --source-addresses 1", 1, "5 source addresses"),
        ("--concurrency 2000 --rate 2000 --reuse-ratio 0 --egress aws-nat --nat-addresses 3", 0, "55,000"),
        ("--concurrency 9 --lease 5s", 1, "delivered twice"),
    ] {
        let table = run(&format!("layout {arguments}"));
        assert_eq!(table.code, code, "{arguments}: {}", table.stdout);
        let words = table.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(words.contains(said), "{arguments}: {}", table.stdout);
        assert!(table.stdout.lines().all(|line| line.chars().count() <= 100), "{}", table.stdout);
        let json = run_json(&format!("layout {arguments}"));
        assert_eq!(json.code, code, "{arguments}");
        assert_matches("layout", &json.json());
    }
}

#[test]
fn a_sizing_flows_into_a_layout() {
    let sized = run("size --rate 900 --mean 1.4 --wait 0.5 --format json").stdout;
    let mut child = command()
        .args(["layout", "--from", "-", "--format", "json"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(sized.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    let document: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(document["result"]["concurrency"], 1263);
    assert_eq!(document["result"]["cpu_cores"], 0.9);
    assert_eq!(document["inputs"]["service_mean_s"], 1.4);
}

#[test]
fn hosts_come_from_a_file_and_from_the_groups_of_a_profile() {
    let folder = std::path::PathBuf::from(env!("CARGO_TARGET_TMPDIR"));
    let hosts = folder.join("hosts.txt");
    std::fs::write(
        &hosts,
        "# name, rate, hold\nname=a,rate=20,p95=0.25\n\nname=b,rate=3/min,p95=2s,limit=4\n",
    )
    .unwrap();
    let output = run_json(&format!("layout --concurrency 100 --hosts {}", hosts.display()));
    assert_eq!(output.field("hosts").as_array().unwrap().len(), 2);
    std::fs::write(&hosts, "name=a,rate=20,p95=0.25\nname=b\n").unwrap();
    let wrong = run(&format!("layout --concurrency 100 --hosts {}", hosts.display()));
    assert!(wrong.code == 2 && wrong.stderr.contains("hosts.txt:2"), "{wrong:?}");

    let samples = folder.join("layout-samples.csv");
    let rows: String = (0..400)
        .map(|i| {
            format!("{},{}\n", if i % 4 == 0 { "slow" } else { "fast" }, if i % 4 == 0 { 2.0 } else { 0.1 })
        })
        .collect();
    std::fs::write(&samples, format!("host,duration_s\n{rows}")).unwrap();
    let profile = folder.join("layout-profile.json");
    let saved = run(&format!(
        "ingest {} --column duration_s --unit s --group-by host --save {}",
        samples.display(),
        profile.display()
    ));
    assert_eq!(saved.code, 0, "{saved:?}");
    let output = run_json(&format!("layout --concurrency 100 --rate 80 --profile {}", profile.display()));
    let hosts = output.field("hosts");
    let slow = hosts.as_array().unwrap().iter().find(|host| host["name"] == "slow").unwrap().clone();
    assert_eq!((&slow["rate_per_s"], &slow["verdict"]), (&20.0.into(), &"slow-the-sender".into()));
}

#[test]
fn bad_usage_is_named() {
    for (arguments, named) in [
        ("", "--concurrency"),
        ("--concurrency 0", "more than zero"),
        ("--concurrency 5 --tasks-per-process 0", "tasks-per-process"),
        ("--concurrency 5 --database-pool 20", "--database-max"),
        ("--concurrency 5 --vcpu-per-pod 2", "--mean"),
        ("--concurrency 5 --pod-memory 2Gi", "--memory-per-process"),
        ("--concurrency 5 --pod-memory 2parsecs --memory-per-process 1Gi", "1.5Gi"),
        ("--concurrency 5 --host a", "name=a,rate=20,p95=0.25"),
        ("--concurrency 5 --host name=a,rate=1,p95=1 --host name=a,rate=2,p95=1", "twice"),
        ("--concurrency 5 --egress pigeon", "aws-nat"),
        ("--concurrency 5 --egress aws-nat --nat-addresses 9", "8 addresses"),
        ("--from /nonexistent.json", "/nonexistent.json"),
    ] {
        let output = run(&format!("layout {arguments}"));
        assert!(output.code == 2 && output.stdout.is_empty(), "{arguments}: {output:?}");
        assert!(output.stderr.contains(named), "{arguments}: {}", output.stderr);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn any_numbers_give_json_of_the_schema_or_exit_2(
        concurrency in "[0-9kM]{1,9}", rate in "[0-9/minkM.]{1,8}", mean in "[0-9ums.]{1,6}", fd in "[0-9]{1,12}",
        pool in "[0-9]{1,15}", max in "[0-9]{1,15}", reuse in "[0-9.%]{1,4}", lease in "[0-9]{1,9}",
    ) {
        let arguments = format!(
            "layout --concurrency {concurrency} --rate {rate} --mean {mean} --fd-limit {fd} --database-pool {pool} \
             --database-max {max} --reuse-ratio {reuse} --lease {lease} --host name=a,rate={rate},p95={mean} \
             --broker-in-flight-limit {max} --downstream-limit {rate}"
        );
        let output = run_json(&arguments);
        prop_assert!((0..=2).contains(&output.code) && !output.stderr.contains("panicked"), "{:?}", output);
        if output.code < 2 {
            assert_matches("layout", &output.json());
        }
    }
}

#[test]
fn an_answer_of_no_says_why_in_its_first_line() {
    for (arguments, because) in [
        ("--concurrency 1300 --lease 5", "the lease ends after 5 s"),
        ("--concurrency 1300 --rate 2000 --reuse-ratio 0 --egress aws-nat", "120,000 ports in TIME_WAIT"),
        ("--concurrency 1300 --rate 900 --mean 1.4 --downstream-limit 800", "more workers cannot help"),
    ] {
        let output = run(&format!("layout {arguments} --format json"));
        let report: Value = serde_json::from_str(&output.stdout).unwrap();
        assert_eq!(output.code, 1, "{arguments}");
        let table = run(&format!("layout {arguments}")).stdout;
        let headline = table.split("\n\n").next().unwrap().replace('\n', " ");
        assert!(headline.starts_with("No: ") && headline.contains(because), "{headline}");
        assert_eq!(report["result"]["fits"], false, "what refuses it was stated");
        assert!(report["result"]["exceeded"].is_null(), "the shape itself keeps its limits");
    }
}

#[test]
fn a_pod_without_processors_is_bad_usage() {
    let output = run("layout --concurrency 1300 --mean 1.4 --vcpu-per-pod 0");
    assert!(
        output.code == 2 && output.stderr.contains("--vcpu-per-pod must be more than zero"),
        "{output:?}"
    );
}

/// Sixteen instances with three thousand connections to one address: 188 each, which 1,024 ports hold and 128 do not.
#[test]
fn ports_are_counted_for_each_machine_where_machines_are_given() {
    let fleet = "layout --concurrency 3000 --tasks-per-process 188 --processes-per-pod 1 --rate 3000 --mean 1 --reuse-ratio 100%";
    for (way_out, code, verdict) in
        [("--egress azure-lb", 0, "ok"), ("--nat-ports 1024", 0, "ok"), ("--nat-ports 128", 1, "exhausted")]
    {
        let output = run(&format!("{fleet} {way_out} --machines 16 --format json"));
        let ports = &serde_json::from_str::<Value>(&output.stdout).unwrap()["result"]["ports"];
        assert_eq!((output.code, &ports["worst_case_per_source"]), (code, &188.into()), "{way_out}");
        assert_eq!((&ports["verdict"], &ports["scope"]), (&verdict.into(), &"machine".into()), "{way_out}");
    }
    for (way_out, named) in [
        ("--machines 16", "--nat-addresses instead"),
        ("--egress azure-lb --nat-addresses 2", "--machines instead"),
        ("--nat-ports 1024 --nat-addresses 2 --machines 16", "--nat-addresses or --machines"),
    ] {
        let output = run(&format!("{fleet} {way_out}"));
        assert!(output.code == 2 && output.stderr.contains(named), "{way_out}: {output:?}");
    }
}
