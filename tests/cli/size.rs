//! `whsize size`.

use crate::schema::assert_matches;
use crate::support::{run, run_json};
use proptest::prelude::*;

/// Workers and mean wait as `shared` worked values give them, to the digits that they give.
#[test]
fn the_worked_values_come_out() {
    for (traffic, objective, workers, wait_mean_s) in [
        ("--rate 900 --mean 1.4", "--wait 0.5", 1263, Some(0.419_460)),
        ("--rate 2400 --mean 3.1", "--wait 0.5", 7446, Some(0.473_167)),
        ("--rate 500 --mean 0.2", "--wait 0.5", 101, Some(0.176_663)),
        ("--rate 5 --mean 1", "--wait 0.5", 7, Some(0.162_075)),
        ("--rate 900 --mean 1.4", "--wait-quantile p99=0.5", 1272, None),
        ("--rate 900 --mean 1.4", "--max-utilisation 95%", 1327, None),
        ("--rate 900 --mean 1.4", "--max-utilisation 0.7", 1800, None),
        ("--rate 500 --mean 0.2", "--max-utilisation 70%", 143, None),
        ("--rate 25 --mean 1.16", "--max-utilisation 99.99%", 30, None),
        ("--rate 900 --mean 1.4", "--beta 1", 1296, None),
        ("--rate 900 --mean 1.4", "--beta 1.5", 1314, None),
        ("--rate 2400 --mean 3.1", "--beta 1.5", 7570, None),
        ("--rate 5 --mean 1", "--beta 1.5", 9, None),
        ("--rate 500 --mean 0.2", "--beta 1.5", 115, None),
        ("--rate 900 --mean 1.4", "--beta 2", 1331, None),
        ("--rate 900 --mean 1.4", "--headroom 10%", 1386, None),
    ] {
        let output = run_json(&format!("size {traffic} {objective}"));
        assert_eq!(output.number("workers"), f64::from(workers), "{traffic} {objective}");
        if let Some(expected) = wait_mean_s {
            assert!((output.number("wait_mean_s") - expected).abs() < 6e-7, "{traffic} {objective}");
        }
        assert_eq!(output.code, 0);
        assert_matches("size", &output.json());
    }
}

#[test]
fn the_steady_row_of_the_guides_has_every_figure() {
    let output = run_json("size --rate 900 --mean 1.4 --wait 0.5");
    for (field, value) in [
        ("offered_load_erlangs", 1260.0),
        ("smallest_stable_workers", 1261.0),
        ("square_root_workers", 1314.0),
        ("fixed_utilisation_workers", 1800.0),
        ("erlang_c_workers", 1263.0),
    ] {
        assert_eq!(output.number(field), value, "{field}");
    }
    assert_eq!(output.field("square_root_range"), serde_json::json!([1296, 1331]));
    assert_eq!(output.field("utilisation_band_workers"), serde_json::json!([1327, 1482]));
    assert_eq!(output.field("binding_constraint"), "wait");
    for (field, value, tolerance) in [
        ("utilisation", 0.997_625, 5e-7),
        ("wait_probability", 0.898_844, 5e-7),
        ("rate_headroom_ratio", 3.0 / 1260.0, 1e-15),
        ("relaxation_time_s", 785.0, 0.5),
    ] {
        assert!((output.number(field) - value).abs() < tolerance, "{field}");
    }
}

#[test]
fn the_largest_of_several_objectives_binds() {
    let output =
        run_json("size --rate 900 --mean 1.4 --wait 0.5 --max-utilisation 95% --wait-probability 50%");
    assert_eq!(output.number("workers"), 1327.0);
    assert_eq!(output.field("binding_constraint"), "max_utilisation");
    let output = run_json("size --rate 900 --mean 1.4 --wait 1h");
    assert_eq!((output.number("workers"), output.field("binding_constraint")), (1261.0, "stability".into()));
}

#[test]
fn fragility_is_told_in_numbers() {
    // At 902/s the wait is 6.95 s, at 905/s it never settles (maths).
    let at_902 = run_json("size --rate 902 --mean 1.4 --workers 1263 --wait 10");
    assert!((at_902.number("wait_mean_s") - 6.95).abs() < 0.005);
    let at_905 = run_json("size --rate 905 --mean 1.4 --workers 1263 --wait 10");
    assert_eq!((at_905.code, at_905.field("stable")), (1, false.into()));
    assert!(at_905.json()["result"].get("wait_mean_s").is_none(), "no wait where there is none");
    let steady = run("size --rate 900 --mean 1.4 --wait 0.5").stdout;
    assert!(steady.contains("are full at 902.14/s"), "{steady}");
}

#[test]
fn a_given_pool_is_judged_and_told_what_it_sustains() {
    let enough = run_json("size --rate 900 --mean 1.4 --workers 1300 --wait 0.5");
    assert_eq!((enough.code, enough.field("meets_objective")), (0, true.into()));
    assert_eq!(enough.number("required_workers"), 1263.0);
    let at_most = enough.number("max_rate_per_s");
    for (factor, code) in [(0.9999, 0), (1.0001, 1)] {
        let judged = run(&format!("size --rate {} --mean 1.4 --workers 1300 --wait 0.5", at_most * factor));
        assert_eq!(judged.code, code, "{factor}");
    }
    let at_most = enough.number("max_mean_s");
    for (factor, code) in [(0.9999, 0), (1.0001, 1)] {
        let judged = run(&format!("size --rate 900 --mean {} --workers 1300 --wait 0.5", at_most * factor));
        assert_eq!(judged.code, code, "{factor}");
    }
    let short = run("size --rate 900 --mean 1.4 --workers 1262 --wait 0.5");
    assert_eq!(short.code, 1);
    assert!(short.stdout.starts_with("No: 1262 workers"), "{}", short.stdout);
}

#[test]
fn scenarios_stand_beside_the_steady_row() {
    let output = run_json(
        "size --rate 900 --mean 1.4 --wait 0.5 --surge name=outage,rate=2400,mean=3.1 --surge name=slow,mean=2",
    );
    let scenarios = output.field("scenarios");
    assert_eq!(
        (scenarios[0]["name"].clone(), scenarios[0]["workers"].clone()),
        ("outage".into(), 7446.into())
    );
    assert_eq!(scenarios[1]["offered_load_erlangs"], 1800.0);
    assert_matches("size", &output.json());
}

#[test]
fn retries_are_amplified_and_never_counted_twice() {
    let output =
        run_json("size --first-attempt-rate 750 --failure-share 20% --max-attempts 2 --mean 1.4 --wait 0.5");
    assert_eq!((output.number("offered_load_erlangs"), output.number("workers")), (1260.0, 1263.0));
    let both = run(
        "size --rate 900 --first-attempt-rate 750 --failure-share 0.2 --max-attempts 2 --mean 1.4 --wait 1",
    );
    assert!(both.code == 2 && both.stderr.contains("--rate"), "{both:?}");
    let unused = run("size --rate 900 --failure-share 10% --max-attempts 3 --mean 1.4 --wait 0.5");
    assert!(unused.code == 2 && unused.stderr.contains("--failure-share"), "{unused:?}");
}

#[test]
fn a_question_without_traffic_or_objective_says_what_is_missing() {
    for (arguments, missing) in [
        ("size --rate 900 --mean 1.4", "objective"),
        ("size --mean 1.4 --wait 1", "--rate"),
        ("size --rate 900 --wait 1", "--mean"),
        ("size --rate 1e12 --mean 1d --wait 1", "10 billion erlangs"),
        ("size --rate 900 --mean 1.4 --wait 1 --surge name=x", "neither a rate nor a mean"),
    ] {
        let output = run(arguments);
        assert!(
            output.code == 2 && output.stderr.contains(missing) && output.stdout.is_empty(),
            "{output:?}"
        );
    }
}

const WEEK: &str = "fixtures/attempts-week.csv.gz";

#[test]
fn a_measured_profile_corrects_erlang_c_and_says_how_sure_it_is() {
    let output = run_json(&format!("size --profile {WEEK} --rate 900 --wait 0.5"));
    assert_eq!(output.code, 0);
    assert_matches("size", &output.json());
    // Erlang C for the same mean, as if service were exponential.
    let mean = output.json()["inputs"]["service_mean_s"].clone();
    let textbook = run_json(&format!("size --rate 900 --mean {mean} --wait 0.5"));
    assert_eq!(output.field("erlang_c_workers"), textbook.field("workers"));
    assert!(output.number("workers") > textbook.number("workers"), "the tail counts");
    let (low, high) = (output.number("workers_interval.0"), output.number("workers_interval.1"));
    assert!(low < output.number("workers") && output.number("workers") < high, "{low} {high}");
    let narrower = run_json(&format!("size --profile {WEEK} --rate 900 --wait 0.5 --confidence 50%"));
    assert!(narrower.number("workers_interval.0") > low && narrower.number("workers_interval.1") < high);
    let text = run(&format!("size --profile {WEEK} --rate 900 --wait 0.5")).stdout;
    assert!(
        text.contains("60,000 measured attempts") && !text.contains("exponential service times are assumed")
    );
}

#[test]
fn a_saved_profile_gives_what_the_file_itself_gives() {
    let saved = std::env::temp_dir().join(format!("whsize-size-{}.json", std::process::id()));
    let saved = saved.to_str().unwrap();
    assert_eq!(run(&format!("ingest {WEEK} --save {saved}")).code, 0);
    for command in [
        "size --wait 0.5",
        "size --rate 900 --wait-quantile p99=2s",
        "drain --backlog 9k --rate 10 --workers 100",
    ] {
        let [from_file, from_saved] =
            [WEEK, saved].map(|file| run_json(&format!("{command} --profile {file}")));
        assert_eq!(from_file.json()["result"], from_saved.json()["result"], "{command}");
    }
    std::fs::remove_file(saved).unwrap();
}

#[test]
fn the_rate_of_the_busiest_minute_is_used_and_said() {
    let output = run_json(&format!("size --profile {WEEK} --wait 0.5"));
    let busiest = run_json(&format!("ingest {WEEK}")).number("arrivals.busiest_minute_rate_per_s");
    assert_eq!(output.json()["inputs"]["rate_per_s"], busiest);
    assert!(output.json()["notes"].to_string().contains("rate-from-profile"));
}

#[test]
fn a_profile_and_a_typed_mean_are_not_mixed() {
    for (arguments, reason) in [
        (format!("size --profile {WEEK} --mean 1 --wait 1"), "cannot be used with"),
        (format!("size --profile {WEEK} --scv 4 --wait 1"), "cannot be used with"),
        ("size --profile fixtures/absent.csv --wait 1".to_owned(), "fixtures/absent.csv"),
        ("size --profile fixtures/hey.csv --wait 1".to_owned(), "no time stamps"),
        (
            format!(
                "size --profile {WEEK} --first-attempt-rate 9 --failure-share 1% --max-attempts 3 --failure-mean 30 --wait 1"
            ),
            "already holds the failed attempts",
        ),
    ] {
        let output = run(&arguments);
        assert!(output.code == 2 && output.stderr.contains(reason) && output.stdout.is_empty(), "{output:?}");
    }
}

/// The text with its lines joined, to look for a sentence.
fn unwrapped(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn a_given_pool_must_carry_every_surge_and_a_found_one_says_what_each_takes() {
    let outage = "size --rate 900 --mean 1.4 --wait 0.5 --surge name=outage,rate=2400,mean=3.1";
    let found = run_json(outage);
    assert_eq!(found.code, 0, "each traffic has its own answer");
    assert!(found.json()["notes"].to_string().contains("cannot keep up with \\\"outage\\\""), "{found:?}");
    assert!(run(outage).stdout.contains("\"outage\" takes 7446"));
    for (workers, code, first) in [
        (1300, 1, "No: 1300 workers carry 900/s"),
        (7445, 1, "No: 7445 workers carry 900/s"),
        (7446, 0, "Yes: 7446 workers"),
    ] {
        let judged = run(&format!("{outage} --workers {workers}"));
        assert_eq!(judged.code, code, "{workers}");
        assert!(judged.stdout.starts_with(first), "{}", judged.stdout);
        assert_eq!(judged.stdout.contains("problem:"), code == 1, "{}", judged.stdout);
    }
    // 7440 erlangs: the queue grows by (7440 − 1300)/3.1 a second.
    assert!(run(&format!("{outage} --workers 1300")).stdout.contains("grows by 1981/s while it lasts"));
    let twice = run("size --rate 900 --mean 1.4 --wait 1 --surge name=a,rate=1k --surge name=a,rate=2k");
    assert!(twice.code == 2 && twice.stderr.contains("name=a"), "{twice:?}");
    let huge = run("size --rate 900 --mean 1.4 --wait 1 --surge name=a,rate=1e11");
    assert!(huge.code == 2 && huge.stderr.contains("--surge name=a: 100,000,000,000/s"), "{huge:?}");
    let steady = run("size --rate 900 --mean 1.4 --wait 1 --surge name=steady,rate=1k");
    assert!(steady.code == 2 && steady.stdout.is_empty(), "{steady:?}");
}

#[test]
fn of_two_limits_on_one_quantile_the_stricter_binds_by_its_own_words() {
    let both = "size --rate 900 --mean 1.4 --wait-quantile p95=5s --wait-quantile p95=100ms";
    let text = run(both).stdout;
    let strict = run_json("size --rate 900 --mean 1.4 --wait-quantile p95=100ms").number("workers");
    assert_eq!(run_json(both).number("workers"), strict);
    assert!(text.contains(&format!("  p95 wait at most 100 ms ({strict} workers)")), "{text}");
    let headline = "asked for: p95 wait at most 100 ms, which binds; p95 wait at most 5 s";
    assert!(unwrapped(&text).contains(headline), "{text}");
    assert!(text.lines().any(|line| line.starts_with("> p95 wait at most 100 ms")), "{text}");
    assert!(text.lines().any(|line| line.starts_with("  p95 wait at most 5 s")), "{text}");
}

#[test]
fn an_amplified_rate_is_shown_in_words_and_in_the_inputs() {
    let asked = "size --first-attempt-rate 750 --failure-share 20% --max-attempts 2 --mean 1.4 --wait 0.5";
    let text = unwrapped(&run(asked).stdout);
    let words = "retries make 900/s of 750/s first attempts: 20% of attempts fail, and a message gets at most 2 \
                 attempts: 1.2 attempts on average";
    assert!(text.contains(words), "{text}");
    let inputs = run_json(asked).json()["inputs"].clone();
    assert_eq!(inputs["rate_per_s"], 900.0);
    assert_eq!(
        inputs["retries"],
        serde_json::json!({
            "first_attempt_rate_per_s": 750.0, "failure_share": 0.2, "max_attempts": 2, "attempts_per_message": 1.2,
        })
    );
}

#[test]
fn failures_of_another_length_stay_a_law_of_their_own() {
    // Two attempts in a hundred fail after 30 s on average: 95 in a hundred are over within a few milliseconds.
    let output = run_json(
        "size --first-attempt-rate 10 --failure-share 2% --max-attempts 1 --failure-mean 30 --mean 1ms --workers 40",
    );
    assert_eq!(output.code, 0);
    let p95 = output.number("sojourn_quantiles.2.value_s");
    assert!((p95 / (0.001 * (0.98f64 / 0.03).ln()) - 1.0).abs() < 0.01, "{p95}");
    // P(failure > t) = 0.02·e^(−t/30) = 0.01
    let p99 = output.number("sojourn_quantiles.3.value_s");
    assert!((p99 / (30.0 * 2f64.ln()) - 1.0).abs() < 0.01, "{p99}");
}

#[test]
fn the_time_from_arrival_to_completion_holds_for_pools_of_any_size_and_services_of_any_variability() {
    // Hardly anybody waits, so the sojourn is the exponential service: −1.4·ln(1 − q).
    let generous = run_json("size --rate 900 --mean 1.4 --wait 0.5 --workers 1800");
    for (index, quantile) in [0.5, 0.9, 0.95, 0.99, 0.999].into_iter().enumerate() {
        let found = generous.number(&format!("sojourn_quantiles.{index}.value_s"));
        assert!((found / (-1.4 * f64::ln(1.0 - quantile)) - 1.0).abs() < 1e-6, "{quantile}: {found}");
    }
    for scv in ["0", "1e-60", "1e-16", "1e-8", "1e-5", "0.1", "4", "2000", "1e6"] {
        let output = run_json(&format!("size --rate 900 --mean 1.4 --wait 0.5 --scv {scv}"));
        assert_eq!(output.code, 0, "{scv}: {output:?}");
        let quantiles: Vec<f64> =
            (0..5).map(|at| output.number(&format!("sojourn_quantiles.{at}.value_s"))).collect();
        assert!(quantiles.is_sorted() && quantiles[0] >= 0.0, "{scv}: {quantiles:?}");
    }
}

#[test]
fn what_a_pool_sustains_is_a_bound_and_a_full_pool_grows_by_no_number() {
    let text = run("size --rate 900 --mean 1.4 --workers 1300 --wait 0.5").stdout;
    let (_, below) = text.split_once("sustains            below ").unwrap();
    let (rate, _) = below.split_once("/s").unwrap();
    assert_eq!(run(&format!("size --rate {rate} --mean 1.4 --workers 1300 --wait 0.5")).code, 0, "{rate}");
    let full = run("size --rate 900 --mean 1.4 --workers 1260").stdout;
    assert!(!full.contains("0/s, without end") && full.contains("never catch up"), "{full}");
}

#[test]
fn saturation_within_rounding_is_said_and_no_wait_takes_a_billion_years() {
    let output = run(
        "size --rate 900 --mean 1.3999999999999999999999999 --max-utilisation 99.99999999999999999999999999%",
    );
    assert_eq!(output.code, 0, "{output:?}");
    let text = unwrapped(&output.stdout);
    let headline = "1260 workers carry 900/s at 1.4 s each with a queue that practically never settles";
    assert!(text.starts_with(headline), "{text}");
    assert!(text.contains("within the rounding of numbers") && !text.contains("years"), "{text}");
}

#[test]
fn one_worker_is_spoken_of_in_the_singular() {
    let text = run("size --rate 0.1 --mean 1 --wait 5").stdout;
    assert!(text.starts_with("1 worker carries 0.1/s") && !text.contains("1 workers"), "{text}");
    assert!(!run("size --rate 0.9 --mean 1 --workers 1").stdout.contains("1 worker carry"));
    let tiny = run("size --rate 900 --mean 1.4 --wait 1e-12").stdout;
    assert!(tiny.contains("mean wait at most 1.00e-12 s"), "{tiny}");
}

#[test]
fn an_interval_from_a_handful_of_attempts_is_warned_of() {
    let scratch = std::path::PathBuf::from(env!("CARGO_TARGET_TMPDIR"));
    let file = |attempts: usize| {
        let path = scratch.join(format!("few-{attempts}.csv"));
        let rows: String = (0..attempts).map(|i| format!("{}\n", 100 + 17 * i)).collect();
        std::fs::write(&path, format!("duration_ms\n{rows}")).unwrap();
        path.to_str().unwrap().to_owned()
    };
    for (attempts, warned) in [(1, true), (29, true), (30, false)] {
        let output = run(&format!("size --profile {} --rate 50 --wait 1", file(attempts)));
        assert_eq!(output.code, 0, "{output:?}");
        assert_eq!(
            output.stdout.contains("narrower than what is really unknown"),
            warned,
            "{}",
            output.stdout
        );
    }
    let one = run(&format!("size --profile {} --rate 50 --wait 1", file(1))).stdout;
    assert!(one.contains("6 workers from this sample") && !one.contains("6 to 6"), "{one}");
    assert!(one.contains("1 measured attempt leaves"), "{one}");
}

#[test]
fn the_inputs_hold_what_a_reader_needs_to_ask_again() {
    let inputs = run_json(&format!(
        "size --profile {WEEK} --rate 900 --wait 0.5 --confidence 90% --seed 7 --surge name=slow,mean=3"
    ))
    .json()["inputs"]
        .clone();
    assert_eq!((&inputs["confidence"], &inputs["seed"]), (&0.9.into(), &7.into()));
    assert_eq!(
        inputs["scenarios"],
        serde_json::json!([{ "name": "slow", "rate_per_s": 900.0, "service_mean_s": 3.0 }])
    );
    let typed = run_json("size --rate 900 --mean 1.4 --wait 0.5").json()["inputs"].clone();
    assert!(typed.get("seed").is_none() && typed.get("retries").is_none(), "{typed}");
}

#[test]
fn a_value_that_is_refused_is_quoted_with_the_remedy() {
    for (arguments, quoted, remedy) in [
        ("--wait-quantile p95=5s,p99=10s", "\"p95=5s,p99=10s\"", "repeat the flag"),
        ("--wait 1 --seed -1", "\"-1\"", "such as 1 or 42"),
        ("--wait 1 --max-attempts x", "\"x\"", "from 1 to 1000"),
        ("--wait 1 --max-attempts 0", "\"0\"", "from 1 to 1000"),
    ] {
        let output = run(&format!("size --rate 900 --mean 1.4 {arguments}"));
        assert_eq!((output.code, output.stdout.as_str()), (2, ""), "{arguments}");
        assert!(output.stderr.contains(quoted) && output.stderr.contains(remedy), "{output:?}");
    }
    let same = |mean: &str| run_json(&format!("size --rate 900 --mean {mean} --wait 1")).stdout;
    assert_eq!(same("1.4e3ms"), same("1.4"));
}

#[test]
fn a_remedy_of_ingest_comes_with_the_way_to_apply_it() {
    let path = std::path::PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("no-unit.csv");
    std::fs::write(&path, "took\n120\n300\n").unwrap();
    let path = path.to_str().unwrap();
    let output = run(&format!("size --profile {path} --rate 5 --wait 1"));
    assert_eq!((output.code, output.stdout.as_str()), (2, ""));
    assert!(output.stderr.contains(&format!("whsize ingest {path} ... --save")), "{output:?}");
}

#[test]
fn messages_that_arrive_together_need_the_pool_of_the_exact_batch_queue() {
    for (batch, workers, model) in
        [(1, 1263.0, "M/M/N (Erlang C)"), (10, 1273.0, "MX/G/N (batches)"), (50, 1311.0, "MX/G/N (batches)")]
    {
        let output = run_json(&format!("size --rate 900 --mean 1.4 --wait 0.5 --batch {batch}"));
        assert_eq!((output.number("workers"), output.field("model")), (workers, model.into()));
        assert_eq!(output.number("erlang_c_workers"), 1263.0);
        assert_matches("size", &output.json());
    }
    let both = run("size --rate 900 --mean 1.4 --wait 0.5 --batch 10 --arrival-scv 2");
    assert!(both.code == 2 && both.stdout.is_empty() && both.stderr.contains("--arrival-scv"), "{both:?}");
}

#[test]
fn a_model_is_named_with_the_error_that_is_known_of_it() {
    let exact = run_json("size --rate 900 --mean 1.4 --wait 0.5");
    assert_eq!(exact.field("model_error"), serde_json::json!([0.0, 0.0]));
    let known = run_json("size --rate 900 --mean 1.4 --scv 4 --wait 0.5");
    assert_eq!(known.field("model"), "M/H2/N (three moments)");
    assert!(known.number("model_error.1") > 0.0);
    let unknown = run_json("size --rate 900 --mean 1.4 --scv 100 --wait 0.5");
    assert!(unknown.json()["result"].get("model_error").is_none());
    assert!(unknown.json()["notes"].to_string().contains("needs-simulation"));
    assert!(run("size --rate 900 --mean 1.4 --scv 100 --wait 0.5").stdout.contains("--refine"));
}

/// 5 a second of 1 s: 7 workers wait 0.162 s on average, 6 wait 0.588 s.
#[test]
fn simulation_settles_the_answer_and_the_exit_code() {
    let found = run_json("size --rate 5 --mean 1 --wait 0.5 --refine");
    assert_eq!((found.code, found.number("workers"), found.number("refined.workers")), (0, 7.0, 7.0));
    assert_eq!(found.number("refined.formula_workers"), 7.0);
    assert_eq!(found.field("refined.settled"), true);
    let waits = found.number("wait_mean_s") / found.number("refined.wait_mean_s");
    assert!((waits - 1.0).abs() < 1e-12, "the waits are those that were simulated");
    let (low, high) =
        (found.number("refined.wait_mean_interval_s.0"), found.number("refined.wait_mean_interval_s.1"));
    assert!(low < 0.1621 && 0.1621 < high && high - low < 0.1, "{low} {high}");
    assert_matches("size", &found.json());
    for (workers, code) in [(6, 1), (7, 0), (9, 0)] {
        let judged = run_json(&format!("size --rate 5 --mean 1 --wait 0.5 --workers {workers} --refine"));
        assert_eq!((judged.code, judged.number("required_workers")), (code, 7.0), "{workers}");
    }
    let shown = run("size --rate 5 --mean 1 --wait 0.5 --refine").stdout;
    assert!(
        shown.contains("settled by simulation") && shown.contains("7 workers (7 by the formula"),
        "{shown}"
    );
    let exact = run_json("size --rate 5 --mean 1 --max-utilisation 70% --refine");
    assert!(exact.json()["result"].get("refined").is_none(), "nothing there is to be settled");
}

/// 250 erlangs of constant service: a mean wait of 10⁻⁴⁰ s is a question for the formula alone.
#[test]
fn what_is_too_rare_to_simulate_is_left_to_the_formula_and_said() {
    let asked = "size --rate 250 --mean 1 --scv 0 --wait 1e-40";
    let (formula, refined) = (run_json(asked), run_json(&format!("{asked} --refine")));
    assert_eq!((refined.code, refined.number("workers")), (0, formula.number("workers")));
    assert!(refined.json()["result"].get("refined").is_none());
    assert!(refined.json()["notes"].to_string().contains("too-rare-to-simulate"));
}

#[test]
fn a_peak_too_short_for_its_steady_state_is_said_to_be() {
    let notes = |peak: &str| {
        run_json(&format!("size --rate 900 --mean 1.4 --wait 0.5 --peak-length {peak}")).json()["notes"]
            .to_string()
    };
    // The queue of 1263 workers settles with a time constant of 785 s.
    assert!(notes("10m").contains("peak-shorter-than-relaxation"));
    assert!(!notes("2h").contains("peak-shorter-than-relaxation"));
}

#[test]
fn a_day_is_staffed_hour_by_hour_and_its_peak_is_the_answer() {
    let day = "size --rate-profile docs/examples/day.csv --mean 1.4 --wait 0.5";
    let output = run_json(day);
    assert_eq!(
        (output.code, output.number("workers"), output.number("schedule.peak_workers")),
        (0, 1263.0, 1263.0)
    );
    let intervals = output.field("schedule.intervals");
    let intervals = intervals.as_array().unwrap();
    assert_eq!(intervals.len(), 24);
    // From three o'clock on 110/s for an hour.
    let alone = run_json("size --rate 110 --mean 1.4 --wait 0.5").number("workers");
    assert_eq!(intervals[3]["workers"].as_f64().unwrap(), alone);
    assert!(output.number("schedule.worker_seconds") < output.number("schedule.constant_worker_seconds"));
    assert_matches("size", &output.json());
    assert_eq!(
        run_json(&format!("{day} --interval 30m")).field("schedule.intervals").as_array().unwrap().len(),
        48
    );
    let measured = run_json("size --profile fixtures/attempts-week.csv.gz --interval 6h --wait 0.5");
    assert_eq!(measured.code, 0);
    assert!(measured.number("schedule.peak_workers") >= 1.0);
    assert_matches("size", &measured.json());
}

#[test]
fn a_rate_profile_that_cannot_be_read_says_why() {
    let folder = tempfile::tempdir().unwrap();
    let written = |text: &str| {
        let path = folder.path().join("rates.csv");
        std::fs::write(&path, text).unwrap();
        path.to_str().unwrap().to_owned()
    };
    for (text, reason) in [
        ("0,0\n60,0\n", "no rate in the profile is above zero"),
        ("0,900,1.4\n", "third column"),
        ("0,900\n0,800\n", "row 2"),
    ] {
        let output = run(&format!("size --rate-profile {} --mean 1 --wait 1", written(text)));
        assert!(output.code == 2 && output.stdout.is_empty() && output.stderr.contains(reason), "{output:?}");
    }
    let bare = run("size --rate 5 --mean 1 --wait 1 --interval 1h");
    assert!(bare.code == 2 && bare.stderr.contains("--interval"), "{bare:?}");
    let none = run("size --mean 1 --wait 1 --interval 1h");
    assert!(none.code == 2 && none.stderr.contains("--rate-profile"), "{none:?}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn any_numbers_give_json_of_the_schema_or_exit_2(
        rate in "[0-9]{1,9}(\\.[0-9]{1,3})?(e-?[0-9])?", mean in "[0-9]{1,4}(ms|s|us|h)?", wait in "[0-9]{1,3}(ms|s|ns)?", given in proptest::option::of(0u64..3_000_000),
    ) {
        let workers = given.map(|n| format!("--workers {n}")).unwrap_or_default();
        let output = run_json(&format!("size --rate {rate} --mean {mean} --wait {wait} {workers}"));
        match output.code {
            0 | 1 => assert_matches("size", &output.json()),
            code => prop_assert!(code == 2 && output.stdout.is_empty() && !output.stderr.contains("panicked"), "{output:?}"),
        }
    }

    #[test]
    fn no_argument_text_makes_the_program_panic(text in "\\PC{0,30}") {
        for flag in FLAGS {
            let output = crate::support::run_all(with(flag, &text));
            prop_assert!(!output.stderr.contains("panicked"), "{output:?}");
        }
    }

    #[test]
    fn no_number_makes_the_program_panic_or_hang(mantissa in 0u32..1000, exponent in -20i32..16) {
        let number = format!("{mantissa}e{exponent}");
        for flag in FLAGS {
            let output = crate::support::run_all(with(flag, &number));
            prop_assert!((0..=2).contains(&output.code), "{output:?}");
        }
    }
}

const FLAGS: [&str; 18] = [
    "--rate",
    "--mean",
    "--scv",
    "--arrival-scv",
    "--batch",
    "--peak-length",
    "--wait",
    "--wait-quantile",
    "--wait-probability",
    "--max-utilisation",
    "--headroom",
    "--beta",
    "--workers",
    "--patience",
    "--queue-limit",
    "--max-lost",
    "--priority-share",
    "--block",
];

/// A complete command line with one flag's value replaced or added, so that what is accepted is also computed.
fn with<'a>(flag: &'a str, value: &'a str) -> Vec<&'a str> {
    let usual = ["--rate", "900", "--mean", "1.4", "--wait", "0.5"];
    let rest = usual.chunks(2).filter(|pair| pair[0] != flag).flatten().copied();
    ["size", flag, value].into_iter().chain(rest).collect()
}

#[test]
fn the_rate_of_a_surge_counts_all_attempts_and_that_is_said_where_first_attempts_were_given() {
    let steady = "size --first-attempt-rate 100 --failure-share 50% --max-attempts 4 --mean 1 --wait 0.1";
    let output = run_json(&format!("{steady} --surge name=campaign,rate=150"));
    // 1 + 1/2 + 1/4 + 1/8 = 1.875: 150 first attempts are 281.25 attempts.
    let warnings = output.json()["notes"].clone();
    let said = warnings.as_array().unwrap().iter().find(|note| note["code"] == "surge-of-all-attempts");
    assert!(said.unwrap()["message"].as_str().unwrap().contains("281.2/s"), "{warnings}");
    for without in ["--surge name=slow,mean=2", ""] {
        let warnings = run_json(&format!("{steady} {without}")).json()["notes"].to_string();
        assert!(!warnings.contains("surge-of-all-attempts"), "{warnings}");
    }
}
