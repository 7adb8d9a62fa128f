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
