//! `whsize layout --emit`.

use crate::support::{Output, run, run_all};
use serde_json::Value;
use std::path::PathBuf;

const LAYOUT: &str = "layout --concurrency 1300 --rate 900 --mean 1.4 --lease 45";
const EVERYTHING: &str =
    "--database-pool 20 --database-max 1000 --memory-per-process 300Mi --surge-concurrency 7446";

fn emitted(arguments: &str) -> Output {
    let output = run(&format!("{LAYOUT} {arguments}"));
    assert_eq!(output.code, 0, "{arguments}: {output:?}");
    output
}

/// The documents of a stream, each checked against the schema of its kind.
fn documents(text: &str) -> Vec<Value> {
    let documents = text.split("---\n").filter(|document| !document.trim().is_empty());
    let checked = documents.map(|document| {
        let value: Value = serde_saphyr::from_str(document).unwrap();
        let kind = value["kind"].as_str().unwrap();
        let path =
            PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(format!("fixtures/manifests/{kind}.schema.json"));
        let schema: Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
        let errors: Vec<String> = jsonschema::validator_for(&schema)
            .unwrap()
            .iter_errors(&value)
            .map(|error| format!("{}: {error}", error.instance_path()))
            .collect();
        assert!(errors.is_empty(), "{kind}: {errors:#?}\n{document}");
        value
    });
    checked.collect()
}

fn only(text: &str, kind: &str) -> Value {
    documents(text).into_iter().find(|document| document["kind"] == kind).unwrap()["spec"].clone()
}

#[test]
fn every_kind_is_valid_by_its_schema() {
    for source in ["--region eu-west-1", "--prometheus http://prometheus:9090"] {
        for kinds in ["kubernetes", "keda", "hpa", "kubernetes,keda", "kubernetes,hpa"] {
            for rest in ["", EVERYTHING, "--processes-per-pod 1 --max-pods 20", "--min-replicas 1"] {
                let output = emitted(&format!("--emit {kinds} {source} {rest}"));
                let documents_of = |kind| match kind {
                    "kubernetes" => 2,
                    "keda" if source.contains("--region") => 2,
                    _ => 1,
                };
                let expected = kinds.split(',').map(documents_of).sum::<usize>();
                assert_eq!(documents(&output.stdout).len(), expected, "{kinds} {rest}");
            }
        }
    }
}

#[test]
fn the_deployment_is_the_balanced_layout_with_room_to_drain() {
    let spec = only(&emitted(&format!("--emit kubernetes {EVERYTHING}")).stdout, "Deployment");
    let pod = &spec["template"]["spec"];
    assert_eq!((&spec["replicas"], &pod["terminationGracePeriodSeconds"]), (&3.into(), &55.into()));
    let container = &pod["containers"][0];
    let variable = |name: &str| {
        let all = container["env"].as_array().unwrap();
        all.iter().find(|variable| variable["name"] == name).unwrap()["value"].clone()
    };
    for (name, value) in [
        ("WORKER_PROCESSES", "3"),
        ("WORKER_TASKS", "145"),
        ("WORKER_NOFILE", "546"),
        ("HTTP_POOL_MAX", "145"),
        ("LEASE_SECONDS", "45"),
        ("DATABASE_POOL_MAX", "20"),
    ] {
        assert_eq!(variable(name), value, "{name}");
    }
    // 435 tasks a pod, each busy for 1 ms in 1.4 s: 0.3107 of a processor; three processes of 300 MiB.
    assert_eq!(container["resources"]["requests"]["cpu"], "320m");
    assert_eq!(container["resources"]["limits"]["memory"], "900Mi");
    let scaled = only(&emitted("--emit kubernetes,hpa").stdout, "Deployment");
    assert!(scaled.get("replicas").is_none(), "a scaler owns the number");
}

#[test]
fn the_scaled_object_goes_by_age_and_by_load_and_takes_its_maximum_from_the_surge() {
    let spec = only(
        &emitted(&format!("--emit keda --region eu-west-1 --queue deliveries {EVERYTHING}")).stdout,
        "ScaledObject",
    );
    // The surge needs ⌈7,446 / 435⌉ = 18 pods; the database allows 49 processes, 16 pods of three.
    assert_eq!((&spec["minReplicaCount"], &spec["maxReplicaCount"]), (&3.into(), &16.into()));
    let [age, load] = &spec["triggers"].as_array().unwrap()[..] else { panic!("{spec}") };
    assert_eq!((&age["type"], &age["metricType"]), (&"aws-cloudwatch".into(), &"Value".into()));
    for (field, value) in [
        ("metricName", "ApproximateAgeOfOldestMessage"),
        ("metricStat", "Maximum"),
        ("metricStatPeriod", "60"),
        ("targetMetricValue", "30"),
        ("dimensionValue", "deliveries"),
    ] {
        assert_eq!(age["metadata"][field], value, "{field}");
    }
    // 435 tasks a pod at 1.4 s each are 310.71 a second, 18,642 a minute.
    assert_eq!(
        (&load["metricType"], &load["metadata"]["targetMetricValue"]),
        (&"AverageValue".into(), &"18642".into())
    );
    // Without it, a trigger of CloudWatch wants access keys.
    assert_eq!(age["authenticationRef"]["name"], "dispatcher");
    let down = &spec["advanced"]["horizontalPodAutoscalerConfig"]["behavior"]["scaleDown"]["policies"][0];
    assert_eq!((&down["value"], &down["periodSeconds"]), (&1.into(), &45.into()));
    let unbounded = emitted("--emit keda --region eu-west-1 --surge-concurrency 7446");
    assert_eq!(only(&unbounded.stdout, "ScaledObject")["maxReplicaCount"], 18);
}

#[test]
fn every_number_has_its_reason_beside_it() {
    let text = emitted(&format!("--emit kubernetes,keda --region eu-west-1 {EVERYTHING}")).stdout;
    for line in text.lines().filter(|line| line.ends_with(|last: char| last.is_ascii_digit() || last == '"'))
    {
        let value = line.rsplit(": ").next().unwrap().trim_matches('"');
        assert!(value.parse::<f64>().is_err(), "no reason: {line}");
    }
    for reason in ["allow no more", "the lease of 45 s", "AverageValue, divides the age", "hides the oldest"]
    {
        assert!(text.contains(reason), "{reason}: {text}");
    }
}

#[test]
fn the_surge_of_a_saved_sizing_sets_the_maximum() {
    let sized =
        run("size --rate 900 --mean 1.4 --wait 0.5 --surge name=outage,rate=2400,mean=3.1 --format json")
            .stdout;
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("sized.json");
    std::fs::write(&path, sized).unwrap();
    let output = run_all(["layout", "--from", path.to_str().unwrap(), "--emit", "hpa", "--lease", "60"]);
    assert_eq!(output.code, 0, "{output:?}");
    // 1,263 at once are 2 pods of 4 × 158 = 632; 7,446 need 12 of them.
    assert_eq!(only(&output.stdout, "HorizontalPodAutoscaler")["maxReplicas"], 12);
    assert!(!output.stderr.contains("no surge"), "{output:?}");
}

#[test]
fn systemd_and_the_environment_carry_the_limits_with_their_reasons() {
    let unit = emitted("--emit systemd --name sender").stdout;
    for line in [
        "LimitNOFILE=546",
        "# 2 × 145 tasks + 256",
        "TimeoutStopSec=55",
        "EnvironmentFile=/etc/sender.env",
        "Start 9 instances",
    ] {
        assert!(unit.contains(line), "{line}: {unit}");
    }
    let environment = emitted("--emit env").stdout;
    assert!(environment.contains("# one connection a task\nHTTP_POOL_MAX=145\n"), "{environment}");
    assert!(environment.contains("WORKER_PROCESSES=3\n"), "{environment}");
    assert!(
        emitted("--emit systemd,env").stdout.contains("WORKER_PROCESSES=1\n"),
        "an instance is one process"
    );
    let assignment = |line: &str| {
        line.starts_with('#')
            || line
                .split_once('=')
                .is_some_and(|(name, _)| name.chars().all(|c| c.is_ascii_uppercase() || c == '_'))
    };
    assert!(environment.lines().all(assignment), "{environment}");
}

#[test]
fn what_must_not_be_applied_is_not_written() {
    for (arguments, code, named) in [
        ("--emit keda,hpa --region eu-west-1", 2, "never both"),
        ("--emit keda", 2, "--region"),
        ("--emit kubernetes,env", 2, "two commands"),
        ("--emit hpa --min-replicas 0", 2, "scale to zero"),
        ("--emit kubernetes --name Sender", 2, "no name"),
        ("--emit kubernetes --format json", 2, "--format"),
        ("--emit kubernetes --tasks-per-process 160 --database-pool 20 --database-max 100", 1, "database"),
        ("--emit kubernetes --downstream-limit 800", 1, "more workers cannot help"),
        ("--emit hpa --min-replicas 9 --max-pods 5", 1, "--min-replicas 9"),
        ("--name x", 2, "--emit"),
    ] {
        let output = run(&format!("{LAYOUT} {arguments}"));
        assert!(output.code == code && output.stdout.is_empty(), "{arguments}: {output:?}");
        assert!(output.stderr.contains(named), "{arguments}: {}", output.stderr);
    }
    let unknown = run("layout --concurrency 1300 --emit hpa");
    assert!(unknown.code == 2 && unknown.stderr.contains("--mean"), "{unknown:?}");
}

#[test]
fn a_kind_that_is_named_twice_is_written_once() {
    assert_eq!(documents(&emitted("--emit hpa,hpa").stdout).len(), 1);
}

#[test]
fn warnings_go_beside_the_manifests() {
    let zero = emitted("--emit keda --region eu-west-1 --min-replicas 0 --surge-concurrency 2000");
    assert!(zero.stderr.contains("waits for a pod to start"), "{zero:?}");
    assert_eq!(only(&zero.stdout, "ScaledObject")["minReplicaCount"], 0);
    assert!(zero.stderr.contains("cloudwatch:GetMetricData"), "{zero:?}");
    let queue = emitted("--emit keda --prometheus http://p:9090 --queue deliveries");
    assert!(queue.stderr.contains("queue_messages_sent_total with queue=\"deliveries\""), "{queue:?}");
    let guess = emitted("--emit hpa");
    assert!(guess.stderr.contains("adapter of external metrics"), "{guess:?}");
    assert!(guess.stderr.contains("no surge is known"), "{guess:?}");
    let beyond = emitted("--emit hpa --max-pods 4 --surge-concurrency 7446");
    assert!(beyond.stderr.contains("the surge needs 18 pods"), "{beyond:?}");
    assert_eq!(only(&beyond.stdout, "HorizontalPodAutoscaler")["maxReplicas"], 4);
}
