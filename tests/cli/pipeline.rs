//! `whsize pipeline`.

use crate::schema::assert_matches;
use crate::support::{Output, command, run, run_json};
use proptest::prelude::*;
use serde_json::Value;
use std::fs;
use std::path::PathBuf;

/// A file for one run, removed when it goes out of scope.
struct File(PathBuf);

impl File {
    fn new(name: &str, text: &str) -> Self {
        let path = std::env::temp_dir().join(format!("whsize-{}-{name}.toml", std::process::id()));
        fs::write(&path, text).unwrap();
        File(path)
    }

    fn run(&self, more: &[&str]) -> Output {
        let output = command().arg("pipeline").arg(&self.0).args(more).output().unwrap();
        Output {
            code: output.status.code().unwrap_or_else(|| panic!("ended by a signal: {output:?}")),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
        }
    }
}

impl Drop for File {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}

fn base() -> String {
    fs::read_to_string("docs/examples/pipeline-base.toml").unwrap()
}

fn full() -> String {
    fs::read_to_string("docs/examples/pipeline-full.toml").unwrap()
}

/// The full example without what is simulated, which takes its time.
fn computed() -> String {
    let full = full();
    let (before, after) = (full.find("[isolation]").unwrap(), full.find("[cost]").unwrap());
    format!("{}{}", &full[..before], &full[after..])
}

/// A need of a stage, out of the JSON of a run.
fn need(output: &Output, stage: &str, need: &str) -> Value {
    let stages = output.field("stages");
    let by_name = |list: &Value, key: &str, name: &str| {
        let found = list.as_array().unwrap().iter().find(|item| item[key] == name).cloned();
        found.unwrap_or_else(|| panic!("no {name}: {list}"))
    };
    by_name(&by_name(&stages, "stage", stage)["needs"], "name", need)
}

#[test]
fn six_workers_carry_the_base_case_and_not_ten_times_as_much() {
    let output = run_json("pipeline docs/examples/pipeline-base.toml");
    assert_eq!(output.code, 0);
    assert_matches("pipeline", &output.json());
    let workers = need(&output, "delivery", "workers");
    assert_eq!(
        (workers["at"][0]["value"].clone(), workers["at"][0]["holds"].clone()),
        (4.0.into(), true.into())
    );
    assert_eq!(
        (workers["at"][3]["value"].clone(), workers["at"][3]["holds"].clone()),
        (36.0.into(), false.into())
    );
    // M/M/6 keeps half a second up to 18.417/s.
    assert!((workers["breaks_at_growth"].as_f64().unwrap() - 1.591_25).abs() < 1e-4);
}

#[test]
fn a_million_a_day_is_no_expensive_pool() {
    let million = base().replace("100k", "1M").replace("workers = 6\n", "");
    let file = File::new("million", &million);
    let output = file.run(&["--format", "json"]);
    assert!((output.number("offered_load_erlangs") - 34.7222).abs() < 1e-4);
    assert_eq!(output.number("workers"), 36.0);
    assert_eq!(need(&output, "delivery", "processes")["at"][0]["value"], 1.0);
    let text = file.run(&[]).stdout;
    assert!(text.contains("not an expensive pool"), "{text}");
    let roomy = File::new("roomy", &million.replace("wait = \"500ms\"", "beta = 1.5"));
    assert_eq!(roomy.run(&["--only", "workers"]).stdout, "44\n");
}

#[test]
fn a_quarter_processor_breaks_even_with_functions_at_4_2_a_second() {
    let costed = File::new("cost", &(base() + "[cost]\n"));
    let output = costed.run(&["--format", "json"]);
    let break_even =
        output.json()["result"]["cost"]["break_even_rate_of_one_container_per_s"].as_f64().unwrap();
    // (0.25 × 0.04048 + 0.5 × 0.004445)/(3600 × (2e-7 + 0.125 × 0.3 × 0.0000166667)).
    assert!((break_even - 4.155_720).abs() < 1e-5, "{break_even}");
    for price in output.json()["result"]["cost"]["prices"].as_array().unwrap() {
        assert!(price["source"].as_str().unwrap().starts_with("https://"), "{price}");
        assert!(price["date"].as_str().unwrap().starts_with("20"), "{price}");
    }
    let text = costed.run(&[]).stdout;
    assert!(text.contains("https://aws.amazon.com/lambda/pricing/") && text.contains("2026-03"), "{text}");
}

#[test]
fn a_price_file_takes_the_place_of_the_bundled_one_entry_by_entry() {
    let own = "currency = \"USD\"\nregion = \"us-east-1\"\n[price.container_vcpu_hour]\namount = 0.08096\n\
               source = \"our contract\"\ndate = \"2026-11\"\n";
    let (prices, costed) = (File::new("prices", own), File::new("own-cost", &(base() + "[cost]\n")));
    let output = costed.run(&["--prices", prices.0.to_str().unwrap(), "--format", "json"]);
    let break_even =
        output.json()["result"]["cost"]["break_even_rate_of_one_container_per_s"].as_f64().unwrap();
    assert!((break_even - 7.563_13).abs() < 1e-4, "{break_even}");
    let elsewhere = File::new("elsewhere", &own.replace("us-east-1", "home"));
    let output = costed.run(&["--prices", elsewhere.0.to_str().unwrap()]);
    assert!(output.code == 2 && output.stderr.contains("no price for"), "{output:?}");
}

#[test]
fn every_stage_is_planned_and_its_json_matches_the_schema() {
    let output = run_json("pipeline docs/examples/pipeline-full.toml --explain");
    assert_eq!(output.code, 0, "{output:?}");
    assert_matches("pipeline", &output.json());
    let stages = output.field("stages");
    let names: Vec<&str> =
        stages.as_array().unwrap().iter().map(|stage| stage["stage"].as_str().unwrap()).collect();
    assert_eq!(
        names,
        ["outbox", "bus", "fan_out", "partner_queues", "delivery", "replay", "absence_alarm", "cost"]
    );
    for line in run("pipeline docs/examples/pipeline-full.toml --explain").stdout.lines() {
        assert!(line.chars().count() <= 100, "{line}");
    }
}

#[test]
fn what_is_over_its_limit_today_is_a_no() {
    let short = File::new("short", &base().replace("workers = 6", "workers = 3"));
    let output = short.run(&[]);
    assert!(output.code == 1 && output.stdout.starts_with("No: 100,000 events a day"), "{output:?}");
    let missing = File::new("missing", &computed().replace("1.5M", "1.49M"));
    let output = missing.run(&[]);
    assert!(output.code == 1 && output.stdout.contains("absence alarm"), "{output:?}");
}

#[test]
fn ten_thousand_partners_are_planned() {
    let file = File::new("many", &computed().replace("count = 400", "count = 10000"));
    let output = file.run(&["--format", "json"]);
    assert_eq!(output.number("partners"), 10_000.0);
    assert_matches("pipeline", &output.json());
}

#[test]
fn one_slow_partner_is_everybodys_trouble_in_one_pool_only() {
    let slow = base()
        .replace("wait = \"500ms\"", "wait = \"500ms\"\n[isolation]\nslow_mean = \"20s\"\nlength = \"5m\"")
        + "[partners]\ncount = 5\ndistribution = \"zipf\"\n";
    let file = File::new("isolation", &slow);
    let output = file.run(&["--format", "json"]);
    assert_matches("pipeline", &output.json());
    let designs = output.field("isolation.designs");
    let [pooled, apart] = [0, 1].map(|index| designs[index].clone());
    assert_eq!(
        (pooled["design"].clone(), apart["design"].clone()),
        ("pooled".into(), "partner_apart".into())
    );
    assert!(pooled["p99_s"].as_f64().unwrap() > 60.0 && apart["p99_s"].as_f64().unwrap() < 10.0, "{designs}");
    assert!(file.run(&[]).stdout.contains("makes everyone else wait"));
    assert_eq!(file.run(&["--seed", "1", "--format", "json"]).stdout, output.stdout);
    assert_ne!(file.run(&["--seed", "2", "--format", "json"]).stdout, output.stdout);
    for (table, reason) in
        [("[isolation]\n", "it says no trouble"), ("[isolation]\nburst = 5\n", "nobody else")]
    {
        let output = File::new("no-trouble", &(base() + table)).run(&[]);
        assert!(output.code == 2 && output.stderr.contains(reason), "{output:?}");
    }
}

#[test]
fn a_slip_in_the_file_is_found_where_it_stands() {
    for (from, to, place, reason) in [
        ("peak_factor = 10", "peak_facter = 10", "5:1", "is \"peak_facter\" meant to be it?"),
        ("size =", "sise =", "6:1", "[events] has no key \"sise\"; did you mean \"size\"?"),
        ("\"100k\"", "\"100 thousand\"", "4:11", "not a number"),
        ("peak_factor = 10", "peak_factor = 0.5", "5:15", "at least 1"),
        ("\"300ms\"", "\"300 parsecs\"", "10:8", "\"parsecs\" is not known"),
        ("wait = \"500ms\"", "", "12:2", "it has no objective"),
        ("[delivery]", "[delivry]", "12:2", "is \"delivry\" meant to be it?"),
        ("workers = 6", "workers = [6]", "13:11", "is a number or a text, not a list"),
        ("workers = 6", "workers = 6\nworkers = 7", "14:1", "\"workers\" is there twice"),
        ("wait = \"500ms\"", "wait = 500ms", "14:8", "must be quoted"),
        ("mean =", "failure_share = \"10%\"\nmean =", "10:17", "max_attempts"),
        ("[[class]]", "[class]", "8:1", "[[class]]"),
    ] {
        assert!(base().contains(from), "{from}");
        let file = File::new("slip", &base().replacen(from, to, 1));
        let output = file.run(&[]);
        let at = format!("{}:{place}:", file.0.display());
        assert!(
            output.code == 2 && output.stderr.contains(&at) && output.stderr.contains(reason),
            "{from} -> {to}: {output:?}"
        );
        assert_eq!(output.stdout, "");
    }
    let absent = run("pipeline docs/examples/absent.toml");
    assert!(absent.code == 2 && absent.stderr.contains("docs/examples/absent.toml"), "{absent:?}");
}

/// The week of attempts that comes with the project, as volume, service time, or both.
fn measured(events: &str, class: &str) -> File {
    let week = PathBuf::from("fixtures/attempts-week.csv.gz").canonicalize().unwrap();
    let profile = format!("profile = {:?}", week.display().to_string());
    let text = format!(
        "[events]\n{}\n[[class]]\nname = \"measured\"\n{}\n[delivery]\nwait = \"500ms\"\n[cost]\n",
        events.replace("profile", &profile),
        class.replace("profile", &profile)
    );
    File::new(&format!("measured-{}", events.len() * 100 + class.len()), &text)
}

#[test]
fn volume_peak_and_service_time_can_be_measured() {
    let output = measured("profile", "profile").run(&["--format", "json"]);
    assert_matches("pipeline", &output.json());
    // As `ingest` says of the file: 5.953/min, 1.333/s in the busiest minute, a mean of 1.4217 s with an SCV of 15.3.
    let inputs = &output.json()["inputs"];
    assert_eq!(inputs["events_per_day"], 8572);
    assert!((inputs["peak_factor"].as_f64().unwrap() - 1.333_333 / (5.953 / 60.0)).abs() < 5e-3, "{inputs}");
    assert!((output.number("offered_load_erlangs") - 1.333_333 * 1.421_7).abs() < 2e-3);
    let cost = output.field("cost");
    assert!(cost["share_of_time_below_break_even"].as_f64().unwrap() > 0.99);
    assert_eq!(cost["cheaper"], "functions");
    let followed = need(&output, "cost", "containers_that_follow_the_load");
    assert!(followed["at"][0]["value"].as_f64().unwrap() > 0.0);
    let codes: Vec<Value> =
        output.json()["notes"].as_array().unwrap().iter().map(|note| note["code"].clone()).collect();
    assert_eq!(codes.iter().filter(|code| **code == "mean-far-above-median").count(), 1, "{codes:?}");
}

#[test]
fn what_is_typed_goes_before_what_was_measured_and_never_twice() {
    let typed = measured("profile\nper_day = \"1M\"\npeak_factor = 3", "mean = 0.3");
    assert!(
        (typed.run(&["--format", "json"]).number("events_peak_rate_per_s") - 3e6 / 86_400.0).abs() < 1e-9
    );
    for (class, reason) in [
        ("mean = 0.3\nprofile", "one or the other"),
        ("profile\nfailure_mean = 3", "failed ones among them"),
        ("profile\nmaen = 3", "did you mean \"mean\""),
        ("scv = 3", "needs \"mean\""),
    ] {
        let output = measured("profile", class).run(&[]);
        assert!(output.code == 2 && output.stderr.contains(reason), "{class}: {output:?}");
    }
    let absent = File::new("absent", &base().replace("mean = \"300ms\"", "profile = \"absent.csv\""));
    let output = absent.run(&[]);
    let beside = absent.0.parent().unwrap().join("absent.csv");
    assert!(output.code == 2 && output.stderr.contains(":10:11: profile: "), "{output:?}");
    assert!(
        output.stderr.contains(&beside.display().to_string()),
        "a path is relative to the file: {output:?}"
    );
}

#[test]
fn numbers_stay_the_decimals_that_were_typed() {
    // 1 M a day at 8.64 times the mean is 100/s; at 250 ms 25 erlangs; at 60% busy 41.67, at 62.5% exactly 40.
    let exact = base().replace("\"100k\"", "1_000_000").replace("peak_factor = 10", "peak_factor = 8.64");
    let exact = exact.replace("300ms", "250ms").replace("wait = \"500ms\"", "max_utilisation = 0.625");
    assert_eq!(File::new("exact", &exact).run(&["--only", "workers"]).stdout, "40\n");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn a_mutated_file_gives_a_position_or_a_valid_plan(
        at in 0usize..2000, removed in 0usize..12, inserted in "[ -~\n]{0,6}|\\PC{0,3}",
    ) {
        let text = computed();
        let at = at % text.len();
        let end = (at + removed).min(text.len());
        let mutated = format!("{}{inserted}{}", &text[..at], &text[end..]);
        let file = File::new("mutated", &mutated);
        let output = file.run(&["--format", "json"]);
        match output.code {
            0 | 1 => assert_matches("pipeline", &output.json()),
            code => {
                prop_assert!(code == 2 && !output.stderr.contains("panicked"), "{output:?}");
                prop_assert!(output.stdout.is_empty());
            }
        }
    }
}
