//! `whsize check`: the gate.

use crate::plan::{folder, on, pool};
use crate::schema::assert_matches;
use crate::support::Output;
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use whsize::config::plan::{REQUIREMENTS, requirement};

/// A CSV of attempts a second apart from 2026-03-01T00:00:00Z on.
fn attempts(count: u64, slow_every: u64) -> String {
    let row = |index: u64| {
        let duration = if index.is_multiple_of(slow_every) { 20_000 } else { 900 + (index * 37) % 200 };
        format!("{},{duration}\n", 1_772_323_200 + index)
    };
    format!("timestamp,duration_ms\n{}", (0..count).map(row).collect::<String>())
}

fn check_in(folder: &Path, arguments: &str) -> Output {
    on(folder, "check", &format!("--now 2026-03-08T00:00:00Z {arguments}"))
}

/// The verdict on one requirement of one pool, with the exit code and the finding.
fn verdict(requirement: &str, more: &str) -> (String, i32, serde_json::Value) {
    // Keys of the pool come before its tables.
    let folder = folder(&pool(&format!("require = [\"{requirement}\"]\n{more}")));
    fs::write(folder.path().join("measured.csv"), attempts(3_600, 1_000_000)).unwrap();
    fs::write(folder.path().join("wide.csv"), attempts(120, 10)).unwrap();
    let output = check_in(folder.path(), "--format json");
    assert_matches("check", &output.json());
    let finding = output.field("findings.0");
    (finding["verdict"].as_str().unwrap().to_owned(), output.code, finding)
}

/// A pool from a measurement instead of the 1260 erlangs.
fn measured(file: &str) -> String {
    format!("[pool.deliveries]\nrate = 900\nprofile = \"{file}\"\nwait = \"500ms\"\n")
}

#[test]
fn every_documented_requirement_passes_and_fails() {
    let deployed = |workers: u64| format!("workers_deployed = {workers}");
    let surge = |max: u64| {
        format!(
            "[[pool.deliveries.surge]]\nname = \"campaign\"\nrate = 2400\n[pool.deliveries.autoscale]\n\
             tasks_per_replica = 480\nmax = {max}"
        )
    };
    let database = |max: u64| {
        format!(
            "[pool.deliveries.layout]\ntasks_per_process = 160\nprocesses_per_pod = 4\n[pool.deliveries.database]\n\
             pool = 5\nmax = {max}\nreserved = 0"
        )
    };
    let descriptors =
        |limit: u64| format!("[pool.deliveries.layout]\ntasks_per_process = 160\nfd_limit = {limit}");
    // Each with a pool that meets it, one that does not, and what is found there. By hand: 1260/1326 = 0.9502;
    // 1385/1260 = 1.099; ⌈1260/0.85⌉ = 1483; ⌈1263/160⌉ = 8 processes × 5 connections = 40, 80% of 50; 1e6/(2815/1.4 − 900) =
    // 900.32. By Erlang's recursion in another language: C(1262) and C(1300), and 3363 workers for 3360 erlangs, which
    // are 8 replicas of 480.
    let cases: [(&str, String, String, f64); 10] = [
        ("workers_deployed >= workers", deployed(1_263), deployed(1_262), 1_262.0),
        ("workers <= 1400", String::new(), "max_utilisation = \"85%\"".to_owned(), 1_483.0),
        ("utilisation <= 95%", deployed(1_327), deployed(1_326), 1_260.0 / 1_326.0),
        ("rate_headroom >= 10%", deployed(1_386), deployed(1_385), 1_385.0 / 1_260.0 - 1.0),
        ("wait_mean <= 500ms", deployed(1_263), deployed(1_262), 0.652_180_024_251),
        ("wait_probability <= 5%", deployed(1_331), deployed(1_300), 0.181_196_349_389),
        ("layout fits", descriptors(576), descriptors(575), 1.0),
        ("surge fits max_replicas", surge(8), surge(7), 8.0),
        ("drain 1M within 15m", deployed(2_816), deployed(2_815), 1e6 / (2_815.0 / 1.4 - 900.0)),
        ("database connections <= 80%", database(50), database(49), 40.0 / 49.0),
    ];
    let mut seen = BTreeSet::new();
    for (requirement, good, bad, actual) in cases {
        seen.insert(requirement.to_owned());
        let (pass, code, finding) = verdict(requirement, &good);
        assert_eq!((pass.as_str(), code), ("pass", 0), "{requirement}: {finding}");
        let (fail, code, finding) = verdict(requirement, &bad);
        assert_eq!((fail.as_str(), code), ("fail", 1), "{requirement}: {finding}");
        let found = finding["actual"].as_f64().unwrap();
        assert!((found / actual - 1.0).abs() < 1e-9, "{requirement}: {found} for {actual}");
        assert!(finding["hint"].is_string(), "{finding}");
    }
    seen.extend(of_the_quantile());
    seen.extend(of_the_replay());
    seen.extend(of_the_measurement());
    let documented: BTreeSet<String> =
        REQUIREMENTS.iter().map(|(written, _)| (*written).to_owned()).collect();
    assert_eq!(seen, documented);
}

/// `wait_p95`: 1261 workers at 900/s and, with 1260.7 erlangs, at 900.5/s; by Erlang's recursion in another language.
fn of_the_quantile() -> Vec<String> {
    let requirement = "wait_p95 <= 5s";
    let folder = folder(&pool(&format!("workers_deployed = 1261\nrequire = [\"{requirement}\"]")));
    for (rate, code, p95_s) in [("900", 0, 4.144_728_032_189), ("900.5", 1, 13.930_963_566_126)] {
        let output = check_in(folder.path(), &format!("--set deliveries.rate={rate} --format json"));
        let found = output.field("findings.0")["actual"].as_f64().unwrap();
        assert!((found / p95_s - 1.0).abs() < 1e-9, "{rate}: {found}");
        assert_eq!(output.code, code);
    }
    vec![requirement.to_owned()]
}

/// `oldest_age`: a surge to 2.7 times the rate is met by replicas that start at once, and not by three that stay.
fn of_the_replay() -> Vec<String> {
    let requirement = "oldest_age <= 60s";
    let replay =
        |max: u64| format!("[pool.deliveries.autoscale]\ntasks_per_replica = 480\nmin = 3\nmax = {max}");
    assert_eq!(verdict(requirement, &replay(20)).0, "pass");
    let (fail, code, finding) = verdict(requirement, &replay(3));
    assert_eq!((fail.as_str(), code), ("fail", 1), "{finding}");
    vec![requirement.to_owned()]
}

fn of_the_measurement() -> Vec<String> {
    let cases = [
        (
            "profile not older than 14 days",
            "measured.csv",
            "--now 2026-03-14T00:00:00Z",
            "--now 2026-03-16T00:00:00Z",
        ),
        ("sample count >= 1000", "measured.csv", "", "--set deliveries.profile=wide.csv"),
        ("sample count enough", "measured.csv", "", "--set deliveries.profile=wide.csv"),
    ];
    for (requirement, file, good, bad) in cases {
        let folder = folder(&format!("{}require = [\"{requirement}\"]\n", measured(file)));
        fs::write(folder.path().join("measured.csv"), attempts(3_600, 1_000_000)).unwrap();
        fs::write(folder.path().join("wide.csv"), attempts(120, 10)).unwrap();
        let check = |more: &str| on(folder.path(), "check", &format!("{more} --format json"));
        let (pass, fail) = (check(good), check(bad));
        assert_eq!((pass.code, fail.code), (0, 1), "{requirement}: {} {}", pass.stdout, fail.stdout);
        assert_eq!(fail.field("findings.0.verdict"), "fail");
    }
    cases.map(|(requirement, ..)| requirement.to_owned()).into()
}

#[test]
fn what_cannot_be_judged_does_not_pass() {
    for requirement in [
        "workers_deployed >= workers",
        "surge fits max_replicas",
        "oldest_age <= 60s",
        "database connections <= 80%",
        "profile not older than 14 days",
        "sample count >= 1",
        "sample count enough",
    ] {
        let (fail, code, finding) = verdict(requirement, "");
        assert_eq!((fail.as_str(), code), ("fail", 1), "{finding}");
        assert!(finding["actual"].is_null() && finding["hint"].is_string(), "{finding}");
    }
    let unstable = verdict("wait_mean <= 500ms", "workers_deployed = 1200");
    assert!(unstable.0 == "fail" && unstable.2["message"].as_str().unwrap().contains("without end"));
}

#[test]
fn the_exit_code_follows_the_verdict_whatever_the_format() {
    let failing = folder(&pool("workers_deployed = 1262\nrequire = [\"workers_deployed >= workers\"]"));
    let warning = folder(&pool("workers_deployed = 1262\nwarn = [\"workers_deployed >= workers\"]"));
    let passing = folder(&pool("workers_deployed = 1263\nrequire = [\"workers_deployed >= workers\"]"));
    for format in ["table", "json", "junit", "github", "markdown", "html"] {
        let code = |folder: &Path| check_in(folder, &format!("--format {format} --quiet")).code;
        let codes = (code(failing.path()), code(warning.path()), code(passing.path()));
        assert_eq!(codes, (1, 0, 0), "{format}");
    }
    assert_eq!(check_in(failing.path(), "--only verdict").stdout, "fail\n");
    assert_eq!(check_in(failing.path(), "--only verdict").code, 1);
    assert_eq!(check_in(warning.path(), "--only verdict").stdout, "warn\n");
    let nothing = folder(&pool(""));
    let output = check_in(nothing.path(), "");
    assert!(output.code == 2 && output.stderr.contains("requires nothing"), "{output:?}");
}

#[test]
fn junit_has_a_suite_for_each_pool_and_a_case_for_each_requirement() {
    let plan = format!(
        "require = [\"workers_deployed >= workers\"]\nwarn = [\"utilisation <= 10%\"]\n{}\n\
         [pool.\"a <b> & c\"]\nrate = 1\nmean = 1\nwait = 1\n",
        pool("workers_deployed = 1263")
    );
    let output = check_in(folder(&plan).path(), "--format junit");
    let document = roxmltree::Document::parse(&output.stdout).unwrap();
    let root = document.root_element();
    let of = |name: &str| document.descendants().filter(|node| node.has_tag_name(name)).count();
    assert_eq!((of("testsuite"), of("testcase"), of("failure")), (2, 4, 1), "{}", output.stdout);
    assert_eq!((root.attribute("tests"), root.attribute("failures")), (Some("4"), Some("1")));
    assert!(document.descendants().any(|node| node.attribute("name") == Some("a <b> & c")));
}

#[test]
fn github_annotations_point_at_the_line_of_the_requirement() {
    let folder = folder(&pool(
        "workers_deployed = 1262\nrequire = [\n  \"layout fits\",\n  \"workers_deployed >= workers\",\n]",
    ));
    let output = check_in(folder.path(), "--format github");
    let lines: Vec<&str> = output.stdout.lines().collect();
    assert!(lines[0].starts_with("Fail: 1 of 2 requirements"), "{lines:?}");
    let plan = folder.path().join("whsize.toml");
    let expected = format!(
        "::error file={},line=8,col=3,title=deliveries%3A workers_deployed >= workers::1262 deployed, 1263 needed \
         (deploy 1 more)",
        plan.display()
    );
    assert_eq!(lines[1..], [expected.as_str()]);
    assert_eq!(check_in(folder.path(), "--format markdown").code, 1);
}

#[test]
fn a_name_cannot_become_a_command_of_the_runner() {
    let plan = "[pool.\"a%0A::set-output name=x::\"]\nrate = 1\nmean = 1\nwait = 1\nrequire = [\"utilisation <= 1%\"]\n";
    let output = check_in(folder(plan).path(), "--format github");
    assert_eq!(output.stdout.lines().filter(|line| line.starts_with("::")).count(), 1, "{}", output.stdout);
    assert!(output.stdout.contains("title=a%250A%3A%3Aset-output name=x%3A%3A"), "{}", output.stdout);
}

#[test]
fn a_regression_is_found_with_its_cause() {
    let folder = folder(
        "[baseline]\nworkers = \"2%\"\n[pool.a]\nrate = 900\nmean = 1.4\nscv = 1\nwait = 0.5\n[pool.b]\nrate = 1\nmean = 1\nwait = 1\n",
    );
    let saved = folder.path().join("last.json");
    for subcommand in ["check", "plan"] {
        let mut arguments =
            vec![subcommand.to_owned(), folder.path().join("whsize.toml").display().to_string()];
        // What check has saved is a baseline as well; it checks nothing without a requirement.
        if subcommand == "check" {
            arguments.extend(["--set".to_owned(), "b.require=layout fits".to_owned()]);
        }
        arguments.extend(["--format".to_owned(), "json".to_owned()]);
        fs::write(&saved, crate::support::run_all(arguments).stdout).unwrap();
        let against = |more: &str| {
            check_in(folder.path(), &format!("--baseline {} {more} --format json", saved.display()))
        };
        assert_eq!(against("").code, 0);
        for (set, requirement, cause) in [
            ("--set a.rate=1000", "workers <= baseline +2%", "the rate went from 900/s to 1000/s"),
            ("--set a.mean=1.6", "workers <= baseline +2%", "the mean service time went from 1.4 s to 1.6 s"),
            ("--set a.scv=900", "workers <= baseline +2%", "the variability"),
            (
                "--set a.wait=1us",
                "workers <= baseline +2%",
                "the objectives, the patience or the queue limit",
            ),
            ("--set a.mean=1.7", "service_mean <= baseline +20%", "1.7 s now, 1.4 s before"),
        ] {
            let output = against(set);
            let findings = output.field("findings");
            let finding = findings.as_array().unwrap().iter().find(|finding| {
                finding["requirement"] == requirement
                    && finding["pool"] == "a"
                    && finding["verdict"] == "fail"
            });
            let Some(finding) = finding else { panic!("{set}: {findings}") };
            assert_eq!(output.code, 1);
            assert!(finding["message"].as_str().unwrap().contains(cause), "{set}: {finding}");
        }
        assert_eq!(against("--set a.rate=800").code, 0, "fewer workers are no regression");
    }
    let plan = fs::read_to_string(folder.path().join("whsize.toml")).unwrap();
    fs::write(folder.path().join("whsize.toml"), plan.replace("[pool.b]", "[pool.c]")).unwrap();
    let renamed = check_in(folder.path(), &format!("--baseline {}", saved.display()));
    assert!(
        renamed.stdout.contains("b: the baseline has this pool")
            && renamed.stdout.contains("c: the baseline does not know")
    );
    let bad = check_in(folder.path(), "--baseline whsize.toml");
    assert_eq!(bad.code, 2);
}

#[test]
fn requirements_of_the_file_hold_for_every_pool() {
    let plan = format!("require = [\"layout fits\"]\n{}[pool.b]\nrate = 1\nmean = 1\nwait = 1\n", pool(""));
    let output = check_in(folder(&plan).path(), "--format json");
    assert_eq!((output.number("passed"), output.number("failed")), (2.0, 0.0));
    assert!(requirement("layout fits").is_ok());
}
