//! What a gate must not let through: a failed check whose reader has gone, limits that are broken and said to hold,
//! comparisons with nothing.

use crate::plan::{folder, on, pool};
use crate::support::{command, run};
use std::fs;
use std::path::Path;
use std::process::Stdio;

const REQUIRED: &str = "require = [\"workers_deployed >= workers\"]";

/// The exit code where nobody reads standard output.
fn code_without_a_reader(arguments: &[&str]) -> Option<i32> {
    let mut child = command().args(arguments).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    drop(child.stdout.take());
    child.wait().unwrap().code()
}

#[test]
fn the_verdict_stands_when_the_reader_has_gone() {
    let failing = folder(&pool(&format!("workers_deployed = 1262\n{REQUIRED}")));
    let plan = failing.path().join("whsize.toml");
    let plan = plan.to_str().unwrap();
    for format in ["table", "json", "junit", "github", "markdown", "html"] {
        assert_eq!(code_without_a_reader(&["check", plan, "--format", format]), Some(1), "{format}");
    }
    assert_eq!(code_without_a_reader(&["plan", plan]), Some(1));
    let size = |workers| ["size", "--rate", "900", "--mean", "1.4", "--wait", "500ms", "--workers", workers];
    assert_eq!(code_without_a_reader(&size("1262")), Some(1));
    assert_eq!(code_without_a_reader(&size("1263")), Some(0));
}

/// The layout's answer, the plan's, its headline, and the verdict of the gate, for a pool with more in its file.
fn verdicts(rate: &str, more: &str) -> (bool, bool, String, String) {
    let folder = folder(&format!(
        "[pool.a]\nrate = {rate}\nmean = 1.4\nwait = \"500ms\"\nrequire = [\"layout fits\"]\n{more}"
    ));
    let plan = on(folder.path(), "plan", "--format json");
    let shown = on(folder.path(), "plan", "");
    assert_eq!(plan.code, shown.code);
    let headline = shown.stdout.lines().take_while(|line| !line.is_empty()).collect::<Vec<_>>().join(" ");
    let check = on(folder.path(), "check", "--only findings.0.verdict");
    (
        plan.field("pools.0.layout.fits").as_bool().unwrap(),
        plan.field("holds").as_bool().unwrap(),
        headline,
        check.stdout.trim().to_owned(),
    )
}

#[test]
fn every_answer_agrees_on_whether_a_limit_is_broken() {
    for (rate, more) in [
        ("900", "[pool.a.layout]\ntimeout = \"90s\"\nlease = \"10s\"\n"),
        ("900", "[pool.a.layout]\ndownstream_limit = 50\n"),
        ("900", "[pool.a.layout]\nnat_ports = 100\nreuse_ratio = 0\n"),
        // Five connections of a second carry 5 of 100 a second.
        ("900", "[[pool.a.host]]\nname = \"h\"\nrate = 100\np95 = \"1s\"\nlimit = 5\n"),
    ] {
        let (fits, holds, headline, verdict) = verdicts(rate, more);
        assert_eq!((fits, holds, verdict.as_str()), (false, false, "fail"), "{more}: {headline}");
        assert!(headline.starts_with("No:") && headline.contains("layout"), "{headline}");
    }
    for (rate, more) in [
        // Nobody has said what the way out has, and a slow host has no limit: worth a warning, and no limit is broken.
        ("9000", "[pool.a.layout]\nreuse_ratio = 0\n"),
        ("900", "[[pool.a.host]]\nname = \"h\"\nrate = 100\np95 = \"1s\"\n"),
    ] {
        let (fits, holds, headline, verdict) = verdicts(rate, more);
        assert_eq!((fits, holds, verdict.as_str()), (true, true, "pass"), "{more}: {headline}");
        assert!(headline.contains("every stated") && headline.contains("warning"), "{headline}");
    }
}

#[test]
fn a_headroom_of_a_bare_ten_is_refused_at_its_place() {
    for (key, place) in [("headroom = 10", ":5:12:"), ("max_utilisation = 0.0001", ":5:19:")] {
        let output = on(folder(&pool(key)).path(), "plan", "");
        assert!(output.code == 2 && output.stderr.contains(place), "{output:?}");
    }
    let output = on(folder(&pool("headroom = 10")).path(), "plan", "");
    assert!(output.stderr.contains("per cent sign, such as 10%"), "{output:?}");
    assert_eq!(on(folder(&pool("headroom = \"10%\"")).path(), "plan", "").code, 0);
}

/// Saves the answer of a plan beside it.
fn saved(folder: &Path) -> String {
    let path = folder.join("last.json");
    fs::write(&path, on(folder, "plan", "--format json").stdout).unwrap();
    path.display().to_string()
}

#[test]
fn a_baseline_that_knows_no_pool_of_the_plan_is_refused_where_nothing_else_is_required() {
    let folder = folder(&pool(""));
    let baseline = saved(folder.path());
    let plan = folder.path().join("whsize.toml");
    let renamed = fs::read_to_string(&plan).unwrap().replace("[pool.deliveries]", "[pool.sendings]");
    fs::write(&plan, &renamed).unwrap();
    let output = on(folder.path(), "check", &format!("--baseline {baseline}"));
    assert_eq!(output.code, 2, "{output:?}");
    assert!(output.stderr.contains("it has deliveries, the plan has sendings"), "{output:?}");
    // With something else that is judged, a pool that is gone or new is a warning.
    fs::write(&plan, renamed + "require = [\"layout fits\"]\n").unwrap();
    let output = on(folder.path(), "check", &format!("--baseline {baseline}"));
    assert!(output.code == 0 && output.stdout.contains("the baseline has this pool"), "{output:?}");
}

#[test]
fn a_baseline_of_any_figures_is_compared_with_or_refused_by_its_pool() {
    let folder = folder(&pool(""));
    let baseline = saved(folder.path());
    let text = fs::read_to_string(&baseline).unwrap();
    let mut document: serde_json::Value = serde_json::from_str(&text).unwrap();
    for figure in ["rate_per_s", "service_mean_s", "service_scv", "arrival_scv"] {
        let kept = document["result"]["pools"][0][figure].take();
        document["result"]["pools"][0][figure] = 1.7e308.into();
        fs::write(&baseline, document.to_string()).unwrap();
        let output = on(folder.path(), "check", &format!("--baseline {baseline}"));
        assert_eq!(output.code, 2, "{output:?}");
        for said in ["last.json", "the pool deliveries", figure] {
            assert!(output.stderr.contains(said), "{output:?}");
        }
        document["result"]["pools"][0][figure] = kept;
    }
    fs::write(&baseline, format!("\u{feff}{text}")).unwrap();
    assert_eq!(on(folder.path(), "check", &format!("--baseline {baseline}")).code, 0);
}

#[test]
fn a_profile_from_the_future_does_not_pass_for_a_fresh_one() {
    let folder = folder(
        "[pool.a]\nrate = 9\nprofile = \"m.csv\"\nwait = 1\nrequire = [\"profile not older than 14 days\"]\n",
    );
    // From 2026-03-01T00:00:00Z on.
    fs::write(folder.path().join("m.csv"), "timestamp,duration_ms\n1772323200,900\n1772323201,950\n")
        .unwrap();
    for (now, code) in [
        ("2026-03-02T00:00:00Z", 0),
        ("2026-02-28T06:00:00Z", 0),
        ("2026-02-27T00:00:00Z", 1),
        ("2002-03-01", 1),
    ] {
        let output = on(folder.path(), "check", &format!("--now {now}"));
        assert_eq!(output.code, code, "{now}: {output:?}");
        assert_eq!(output.stdout.contains("ahead of now"), code == 1, "{output:?}");
    }
}

#[test]
fn a_path_without_its_index_is_bad_usage_with_the_remedy() {
    let plan = folder(&pool("workers_deployed = 1263\nrequire = [\"layout fits\"]"));
    for (subcommand, field, said) in [
        ("check", "findings.hint", "findings.0.hint"),
        ("plan", "pools.drain", "pools.0.drain"),
        ("plan", "pools.layout.pods", "pools.0.layout.pods"),
        ("plan", "pools.0.verdict", "no field"),
        ("plan", "pools.7.drain", "the numbers 0 to 0"),
    ] {
        let output = on(plan.path(), subcommand, &format!("--only {field}"));
        assert!(output.code == 2 && output.stderr.contains(said), "{field}: {output:?}");
    }
    // What is documented there, and what this answer has not, is an answer.
    assert_eq!(on(plan.path(), "plan", "--only pools.0.drain").code, 1);
    assert_eq!(run("size --rate 900 --mean 1.4 --wait 1 --only wait_quantiles.quantile").code, 2);
}

/// What was said on standard error of a plan that cannot be read.
fn refused(plan: &[u8]) -> String {
    let folder = folder("");
    fs::write(folder.path().join("whsize.toml"), plan).unwrap();
    fs::write(folder.path().join("a.csv"), "a,b\n1,2\n3,4\n").unwrap();
    fs::write(folder.path().join("unit.csv"), "name,duration\na,2\nb,4\n").unwrap();
    let output = on(folder.path(), "check", "");
    assert_eq!(output.code, 2, "{output:?}");
    assert!(output.stderr.len() < 2_000, "{} letters", output.stderr.len());
    output.stderr
}

#[test]
fn a_plan_that_cannot_be_read_says_where_why_and_what_to_do() {
    let long = "x".repeat(1_000_000);
    for (more, said) in [
        (
            "profile = \"a.csv\"".to_owned(),
            "in whsize ingest a.csv … --save profile.json, and let the plan name",
        ),
        ("profile = \"unit.csv\"".to_owned(), "--unit, in whsize ingest unit.csv"),
        ("mean = 1\nmean = 2".to_owned(), "5:1: \"mean\" is there twice; leave one of them out"),
        ("mean = 1\nrequire = {a = 1}".to_owned(), "\"require\" is a text or a list of them, not a table"),
        ("mean = 1\n[pool.a.database]\nfoo = 1".to_owned(), "[pool.a.database] needs \"pool\"\n"),
        (format!("mean = 1\nrequire = [\"{long}\"]"), "xxx…\" is no requirement"),
        (format!("mean = 1\nrequire = [\"{long} <= 1\"]"), "is not known"),
        (format!("mean = 1\n{long} = 1"), "xxx…\""),
        (format!("mean = 1\n[pool.{long}]"), "xxx…"),
        ("mean = 1\n[pool.a.autoscale]\nmax = 1".to_owned(), "6:7: max: 1 is below min, 3 unless it is said"),
        ("mean = 1\n[pool.a.autoscale]\nmin = 3\nmax = 1".to_owned(), "min: 3 is above max, 1"),
        ("mean = 1\nrequire = [\"profile not older than 14\"]".to_owned(), "such as 14 days"),
    ] {
        let stderr = refused(format!("[pool.a]\nrate = 1\nwait = 1\n{more}\n").as_bytes());
        assert!(stderr.contains(said), "{said}: {stderr}");
    }
    assert!(
        refused(b"[pool.a]\nrate = 1\nmean = \"\xff\"\n")
            .contains("whsize.toml:3:9: what stands here is not UTF-8")
    );
}

#[cfg(unix)]
#[test]
fn a_plan_that_is_there_and_cannot_be_opened_says_why() {
    let folder = folder("");
    let plan = folder.path().join("whsize.toml");
    fs::remove_file(&plan).unwrap();
    assert!(on(folder.path(), "plan", "").stderr.contains("there is no"));
    std::os::unix::fs::symlink("whsize.toml", &plan).unwrap();
    let output = on(folder.path(), "plan", "");
    assert!(output.code == 2 && !output.stderr.contains("there is no"), "{output:?}");
    assert!(output.stderr.contains("symbolic links"), "{output:?}");
}

#[test]
fn a_requirement_of_the_file_and_of_its_pool_is_judged_once_and_strictly() {
    let plan = |top: &str, own: &str| {
        let folder = folder(&format!(
            "{top} = [\"wait_mean <= 500ms\"]\n{}",
            pool(&format!("workers_deployed = 1262\n{own} = [\"wait_mean <= 0.5s\", \"layout fits\"]"))
        ));
        on(folder.path(), "check", "--format json")
    };
    for (top, own, code) in
        [("require", "require", 1), ("warn", "require", 1), ("require", "warn", 1), ("warn", "warn", 0)]
    {
        let output = plan(top, own);
        assert_eq!(
            (output.code, output.field("findings").as_array().unwrap().len()),
            (code, 2),
            "{top} {own}"
        );
    }
}

#[test]
fn one_worker_more_is_no_regression_of_a_small_pool() {
    let plan = "[pool.a]\nrate = 3\nmean = 1\nscv = 1\nwait = 10\n";
    let folder = folder(plan);
    let baseline = saved(folder.path());
    let mut document: serde_json::Value =
        serde_json::from_str(&fs::read_to_string(&baseline).unwrap()).unwrap();
    let workers = document["result"]["pools"][0]["workers"].as_u64().unwrap();
    assert_eq!(workers, 4, "for three erlangs");
    for (before, tolerance, code) in [(3, "10%", 0), (2, "10%", 1), (3, "0", 1)] {
        document["result"]["pools"][0]["workers"] = before.into();
        fs::write(&baseline, document.to_string()).unwrap();
        fs::write(
            folder.path().join("whsize.toml"),
            format!("[baseline]\nworkers = \"{tolerance}\"\n{plan}"),
        )
        .unwrap();
        let output = on(folder.path(), "check", &format!("--baseline {baseline} --format json"));
        assert_eq!(output.code, code, "{before}: {}", output.stdout);
    }
}

#[test]
fn what_fails_shows_digits_that_fail_and_every_failing_row_is_marked() {
    // 1260 of 1301 workers: 96.85%, which is 96.8% or 96.9% to three digits.
    let folder = folder(&pool(
        "workers_deployed = 1301\nrequire = [\"utilisation <= 96.8%\", \"utilisation <= 90%\", \"layout fits\"]",
    ));
    let shown = on(folder.path(), "check", "").stdout;
    assert!(shown.contains("96.85% with 1301 workers"), "{shown}");
    assert_eq!(shown.lines().filter(|line| line.starts_with("> fail")).count(), 2, "{shown}");
    let size =
        run("size --rate 900 --mean 1.4 --wait 1ms --max-utilisation 90% --beta 0.1 --workers 1300").stdout;
    assert_eq!(
        size.lines().filter(|line| line.starts_with('>') && line.ends_with("no")).count(),
        2,
        "{size}"
    );
}

#[test]
fn the_formulas_of_a_check_are_those_of_its_plan() {
    let folder = folder(&pool("require = [\"layout fits\"]"));
    let formulas = |subcommand: &str| {
        on(folder.path(), subcommand, "--explain --format json").json()["explanations"]
            .as_array()
            .cloned()
            .unwrap()
    };
    assert!(formulas("check").len() > 2);
    assert_eq!(formulas("check"), formulas("plan"));
    assert!(on(folder.path(), "check", "--explain").stdout.contains("source:"));
}

#[test]
fn every_surge_is_shown_by_its_name() {
    let surges = "[[pool.deliveries.surge]]\nname = \"campaign\"\nrate = 2400\n\
                  [[pool.deliveries.surge]]\nname = \"outage\"\nmean = 2\n";
    let scaled = format!("{surges}[pool.deliveries.autoscale]\ntasks_per_replica = 480\nmax = 12\n");
    for more in [surges, &scaled] {
        let folder = folder(&pool(&format!("require = [\"layout fits\"]\n{more}")));
        for format in ["table", "markdown", "html"] {
            let shown = on(folder.path(), "plan", &format!("--format {format}")).stdout;
            assert!(shown.contains("campaign takes") && shown.contains("outage takes"), "{format}: {shown}");
        }
    }
    let folder = folder(&pool(&format!("require = [\"surge fits max_replicas\"]\n{scaled}")));
    let shown = on(folder.path(), "check", "--format json").field("findings.0.message");
    // Two seconds make 1800 erlangs, four replicas of 480.
    assert_eq!(shown, "campaign needs 8 replicas of 480 tasks, 12 may run; outage 4");
}

#[test]
fn junit_carries_the_remarks_that_no_requirement_has() {
    let folder =
        folder(&format!("{}[pool.b]\nrate = 1\nmean = 1\nwait = 1\n", pool("require = [\"layout fits\"]")));
    let baseline = saved(folder.path());
    let plan = folder.path().join("whsize.toml");
    fs::write(&plan, fs::read_to_string(&plan).unwrap().replace("[pool.b]", "[pool.c]")).unwrap();
    let output = on(folder.path(), "check", &format!("--baseline {baseline} --format junit"));
    let document = roxmltree::Document::parse(&output.stdout).unwrap();
    let said: Vec<&str> = document
        .descendants()
        .filter(|node| node.has_tag_name("testsuite"))
        .flat_map(|suite| suite.children().filter(|node| node.has_tag_name("system-out")))
        .filter_map(|node| node.text())
        .collect();
    assert!(said.len() == 1 && said[0].contains("warning: b: the baseline has this pool"), "{output:?}");
}

#[test]
fn a_sweep_says_what_a_range_takes_and_never_ends_at_a_dash() {
    for range in ["-5:5:1", "1:1e9:1", "1E3:2:1"] {
        let output = run(&format!("size --sweep rate={range} --mean 1 --wait 1"));
        assert!(output.code == 2 && output.stderr.contains("without a sign or an exponent"), "{output:?}");
    }
    let output = run("drain --backlog 1000 --served-rate 900 --sweep rate=800:1000:100");
    assert!(output.stdout.starts_with("--rate from 800 to 1000: drain from 10 s to never;"), "{output:?}");
}

#[test]
fn a_value_can_be_set_wherever_the_file_has_one() {
    let surges = "[[pool.deliveries.surge]]\nname = \"campaign\"\nrate = 2400\n\
                  [[pool.deliveries.surge]]\nname = \"outage\"\nmean = 2\n";
    let folder = folder(&format!("require = [\"workers <= 1\"]\n{}", pool(surges)));
    let surge = on(folder.path(), "plan", "--set deliveries.surge.1.rate=100 --format json");
    assert_eq!(surge.field("pools.0.surges.1.rate_per_s"), 100.0);
    assert_eq!(surge.field("pools.0.surges.0.rate_per_s"), 2400.0);
    let baseline = saved(folder.path());
    let plan = folder.path().join("whsize.toml").display().to_string();
    let check = |set: &str| {
        let required = "require=workers <= 1400";
        crate::support::run_all([
            "check",
            &plan,
            "--set",
            required,
            "--set",
            set,
            "--set",
            "deliveries.rate=930",
            "--baseline",
            &baseline,
        ])
    };
    // 930/s need three per cent more workers.
    assert_eq!(check("baseline.workers=5%").code, 0);
    assert_eq!(check("baseline.workers=2%").code, 1);
    for (set, said) in [
        ("deliveries.surge.2.rate=1", "a number from 0 to 1"),
        ("deliveries.surge.rate=1", "a number from 0 to 1"),
        ("baseline.wrokers=1", "did you mean \"workers\"?"),
        ("prices.workers=1", "there is no pool \"prices\""),
    ] {
        let output = check(set);
        assert!(output.code == 2 && output.stderr.contains(said), "{set}: {output:?}");
    }
}

/// The script of docs/ci.md, night by night.
#[cfg(unix)]
#[test]
fn the_script_of_every_night_keeps_its_baseline() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let script = root.join("docs/examples/nightly.sh");
    let shown = fs::read_to_string(root.join("docs/ci.md")).unwrap();
    assert!(shown.contains(&fs::read_to_string(&script).unwrap()), "docs/ci.md shows another script");
    // A plan that is a no, as two workers carry no such traffic, and a gate that does not ask for that.
    let folder = folder(
        "[baseline]\nworkers = \"90%\"\n[pool.a]\nrate = 10\nprofile = \"attempts.json\"\nwait = \"500ms\"\nworkers_deployed = 2\nrequire = [\"sample count >= 2\"]\n",
    );
    let night = |millis: u64| {
        let rows: String = (0..40).map(|second| format!("{},{millis}\n", 1_772_323_200 + second)).collect();
        fs::write(folder.path().join("today.csv"), format!("timestamp,duration_ms\n{rows}")).unwrap();
        let program = std::path::PathBuf::from(command().get_program());
        let found = std::env::var_os("PATH").unwrap();
        let path = std::iter::once(program.parent().unwrap().to_owned()).chain(std::env::split_paths(&found));
        let output = std::process::Command::new("sh")
            .arg(&script)
            .arg("today.csv")
            .current_dir(folder.path())
            .env("PATH", std::env::join_paths(path).unwrap())
            .output()
            .unwrap();
        (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
    };
    let kept = || fs::read(folder.path().join("baseline.json")).unwrap_or_default();
    assert_eq!(night(900), (Some(0), String::new()));
    let first = kept();
    assert!(!first.is_empty());
    // Nine per cent more each night pass twice and not a third time, as the baseline stays.
    assert_eq!(night(981).0, Some(0));
    assert_eq!(night(1_069).0, Some(0));
    assert_eq!(night(1_165).0, Some(1));
    assert!(kept() == first);
}
