//! `whsize plan`: one file, every answer.

use crate::schema::assert_matches;
use crate::support::{Output, command, run, run_all};
use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::Stdio;
use tempfile::TempDir;

/// A folder with a plan in it.
pub(crate) fn folder(plan: &str) -> TempDir {
    let folder = TempDir::new().unwrap();
    fs::write(folder.path().join("whsize.toml"), plan).unwrap();
    folder
}

/// Runs a command on the plan of a folder, from another one.
pub(crate) fn on(folder: &Path, subcommand: &str, arguments: &str) -> Output {
    let plan = folder.join("whsize.toml");
    let arguments = arguments.split_whitespace().map(str::to_owned);
    run_all([subcommand.to_owned(), plan.display().to_string()].into_iter().chain(arguments))
}

/// The smallest plan of a pool of 1260 erlangs, with more lines for its table.
pub(crate) fn pool(more: &str) -> String {
    format!("[pool.deliveries]\nrate = 900\nmean = \"1.4s\"\nwait = \"500ms\"\n{more}\n")
}

#[test]
fn the_starter_is_written_once_and_runs_as_it_is() {
    let folder = TempDir::new().unwrap();
    let init = || {
        let output = command().args(["plan", "--init"]).current_dir(folder.path()).output().unwrap();
        (output.status.code(), String::from_utf8(output.stderr).unwrap())
    };
    assert_eq!(init().0, Some(0));
    let (code, said) = init();
    assert!(code == Some(2) && said.contains("exists already"), "{said}");
    for subcommand in ["plan", "check"] {
        let output = command().arg(subcommand).current_dir(folder.path()).output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{output:?}");
    }
    assert_eq!(run("plan --init -").stdout, fs::read_to_string(folder.path().join("whsize.toml")).unwrap());
}

#[test]
fn a_plan_gives_the_answers_of_the_single_commands() {
    let folder = folder(&pool(
        "workers_deployed = 1305\n[pool.deliveries.layout]\ntasks_per_process = 145\nprocesses_per_pod = 3\nlease = 60\n\
         [pool.deliveries.recovery]\nbacklog = \"1M\"\nwithin = \"12h\"\n\
         [pool.deliveries.autoscale]\nshape = \"outage\"\ntasks_per_replica = 435\nmax = 12\n",
    ));
    let plan = on(folder.path(), "plan", "--format json");
    assert_matches("plan", &plan.json());
    let only =
        |arguments: &str, field: &str| run(&format!("{arguments} --only {field}")).stdout.trim().to_owned();
    let same = |field: &str, arguments: &str, of: &str| {
        let found = plan.field(&format!("pools.0.{field}"));
        assert_eq!(
            found.to_string().trim_matches('"').trim_end_matches(".0"),
            only(arguments, of),
            "{field}"
        );
    };
    let size = "size --rate 900 --mean 1.4 --wait 0.5 --workers 1305";
    same("size.required_workers", size, "required_workers");
    same("size.wait_mean_s", size, "wait_mean_s");
    same("workers", size, "required_workers");
    let layout = "layout --concurrency 1305 --tasks-per-process 145 --processes-per-pod 3 --rate 900 --mean 1.4 --lease 60";
    for field in ["pods", "deployed_concurrency", "fd_limit_per_process", "grace_period_s"] {
        same(&format!("layout.{field}"), layout, field);
    }
    let drain = "drain --backlog 1M --rate 900 --mean 1.4 --workers 1305 --within 12h";
    for field in ["drain_s", "workers_for_deadline", "oldest_age_at_end_s"] {
        same(&format!("drain.{field}"), drain, field);
    }
    let replay = "autoscale replay --shape outage --rate 900 --mean 1.4 --tasks-per-replica 435 --max 12";
    for field in ["oldest_age_max_s", "replica_seconds", "objective_missed_s"] {
        same(&format!("autoscale.{field}"), replay, field);
    }
}

#[test]
fn a_profile_is_found_beside_the_plan_and_gives_an_interval() {
    let folder = folder("[pool.a]\nrate = 900\nprofile = \"measured.csv\"\nwait = 0.5\n");
    let rows: String =
        (0..400).map(|row| format!("{}\n", if row % 20 == 0 { 20_000 } else { 100 + row })).collect();
    fs::write(folder.path().join("measured.csv"), format!("duration_ms\n{rows}")).unwrap();
    let plan = on(folder.path(), "plan", "--format json");
    assert_eq!(plan.number("pools.0.attempts_measured"), 400.0);
    let interval = plan.field("pools.0.workers_interval");
    let (low, high) = (interval[0].as_f64().unwrap(), interval[1].as_f64().unwrap());
    assert!(low < plan.number("pools.0.workers") && high > plan.number("pools.0.workers"), "{interval}");
    let missing = on(folder.path(), "plan", "--set a.profile=nowhere.csv");
    assert_eq!(missing.code, 2);
    assert!(missing.stderr.contains("--set a.profile=nowhere.csv: profile:"), "{}", missing.stderr);
}

#[test]
fn what_is_set_stands_over_the_file() {
    let folder = folder(&pool("[[pool.deliveries.surge]]\nname = \"x\"\nrate = 2000\n"));
    let only = |set: &str, field: &str| on(folder.path(), "plan", &format!("{set} --only {field}")).stdout;
    assert_eq!(only("", "pools.0.workers"), "1263\n");
    assert_eq!(only("--set deliveries.rate=950", "pools.0.rate_per_s"), "950\n");
    assert_eq!(
        only("--set deliveries.layout.processes_per_pod=2", "pools.0.layout.processes_per_pod"),
        "2\n"
    );
    assert_eq!(only("--set deliveries.max_utilisation=95%", "pools.0.workers"), "1327\n");
}

#[test]
fn a_slip_is_named_at_its_place() {
    for (plan, said) in [
        (pool("wiat = 1"), "whsize.toml:5:1: [pool.deliveries] has no key \"wiat\"; did you mean \"wait\"?"),
        (pool("require = [\"utilization <= 1\"]"), "whsize.toml:5:12: require: \"utilization <= 1\""),
        (pool("rate = 1"), "whsize.toml:5:1"),
        (
            pool("[pool.deliveries.layout]\ntasks = 3"),
            "whsize.toml:6:1: [pool.deliveries.layout] has no key \"tasks\"",
        ),
        (pool("[pool.deliveries.autoscale]\nmin = 9\nmax = 3"), "whsize.toml:6:7: min: 9 is above max, 3"),
        (pool("[pool.deliveries.autoscale]\ntrace = \"none.csv\""), "whsize.toml:6:9: trace: reading"),
        (pool("failure_share = 0.1"), "whsize.toml:5:17: failure_share: it is about first attempts"),
        (pool("[pools.b]\nrate = 1"), "has no key \"pools\"; did you mean \"pool\"?"),
        ("".to_owned(), "whsize.toml:1:1: the file: there is no pool"),
        ("[pool]\n".to_owned(), "whsize.toml:1:2: [pool]: there is no pool in it"),
        ("[pool.a]\nrate = 1\nmean = 1\n".to_owned(), "whsize.toml:1:7: [pool.a]: it has no objective"),
        ("[pool.a]\nrate = 1\nwait = 1\n".to_owned(), "whsize.toml:1:7: [pool.a] needs \"mean\""),
        ("[pool.a]\nmean = 1\nwait = 1\n".to_owned(), "whsize.toml:1:7: [pool.a] needs \"rate\""),
        (pool("[pool.deliveries.recovery]\nbacklog = 1000000000\nwithin = \"1ns\""), ""),
    ] {
        let folder = folder(&plan);
        for subcommand in ["plan", "check"] {
            let output = on(folder.path(), subcommand, "");
            if said.is_empty() {
                assert!(output.code != 0, "{output:?}");
            } else {
                assert_eq!((output.code, output.stdout.as_str()), (2, ""), "{plan}");
                assert!(output.stderr.contains(said), "{plan}\n{}", output.stderr);
            }
        }
    }
    assert!(run("plan /nowhere/whsize.toml").stderr.contains("whsize plan --init"));
}

#[test]
fn a_plan_that_does_not_hold_exits_with_one_and_says_which() {
    let folder = folder(&pool(
        "workers_deployed = 1261\n[pool.deliveries.layout]\ntasks_per_process = 160\nfd_limit = 300",
    ));
    for format in ["table", "json", "markdown", "html"] {
        assert_eq!(on(folder.path(), "plan", &format!("--format {format}")).code, 1, "{format}");
    }
    let said = on(folder.path(), "plan", "").stdout;
    assert!(
        said.starts_with("No: 1 pool: 1263 workers needed, and deliveries (objectives, layout)"),
        "{said}"
    );
    assert_eq!(on(folder.path(), "plan", "--format junit").code, 2);
}

#[test]
fn a_plan_can_come_from_standard_input() {
    let mut child = command()
        .args(["plan", "-", "--only", "pools.0.workers"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(pool("").as_bytes()).unwrap();
    assert_eq!(child.wait_with_output().unwrap().stdout, b"1263\n");
}

#[test]
fn detail_adds_what_the_single_commands_report() {
    let folder = folder(&pool("[pool.deliveries.recovery]\nbacklog = \"1M\"\nwithin = \"200d\""));
    let (brief, full) = (on(folder.path(), "plan", "").stdout, on(folder.path(), "plan", "--detail").stdout);
    for part in ["What each rule gives", "A backlog of 1,000,000 messages", "If the rate rises"] {
        assert!(!brief.contains(part) && full.contains(part), "{part}");
    }
    assert!(full.lines().all(|line| line.chars().count() <= 100));
}

#[test]
fn a_pool_may_lose_what_gives_up_or_is_turned_away() {
    let folder = folder(
        "[pool.calls]\nrate = 900\nmean = \"1.4s\"\npatience = \"30s\"\nqueue_limit = 2000\nmax_lost = \"1%\"\n\
         workers_deployed = 1270\nrequire = [\"workers_deployed >= workers\"]\n\
         [[pool.calls.surge]]\nname = \"noon\"\nrate = 1200\n",
    );
    let size = "size --rate 900 --mean 1.4 --patience 30s --queue-limit 2000 --max-lost 1%";
    let needed = run(&format!("{size} --only workers")).stdout;
    let plan = on(folder.path(), "plan", "--only pools.0.workers");
    assert_eq!(plan.stdout, needed);
    let surge = run(&format!("{size} --surge name=noon,rate=1200 --only scenarios.0.workers")).stdout;
    assert_eq!(on(folder.path(), "plan", "--only pools.0.surges.0.workers").stdout, surge);
    let enough = needed.trim().parse::<u64>().unwrap() <= 1270;
    let check = on(folder.path(), "check", "--only failed");
    assert_eq!((check.stdout.trim() == "0", check.code == 0), (enough, enough), "{check:?}");
}

#[test]
fn bounds_of_the_queue_that_make_no_sense_are_refused_at_their_place() {
    for (line, reason) in [
        ("max_lost = \"1%\"", "nothing is ever lost"),
        ("patience = \"5s\"\nbatch = 10", "single arrivals at random"),
        ("queue_limit = 5\narrival_scv = 3", "single arrivals at random"),
        ("queue_limit = \"1e30\"", "queue_limit"),
        ("patience = 0", "patience"),
    ] {
        let folder = folder(&pool(line));
        let refused = on(folder.path(), "plan", "");
        assert_eq!((refused.code, refused.stdout.as_str()), (2, ""), "{line}");
        assert!(
            refused.stderr.contains("whsize.toml:") && refused.stderr.contains(reason),
            "{}",
            refused.stderr
        );
    }
}
