//! `whsize ingest` of Prometheus text, answers of the query API, and OTLP/JSON.

use crate::ingest::{Files, assert_refused, close, ingest, shared};
use crate::schema::assert_matches;
use crate::support::{Output, run_all};
use serde_json::Value;

/// A scrape: cumulative counts at 0.1, 0.5 and +Inf, and the sum, for each endpoint and code.
fn scrape(series: &[(&str, &str, [u64; 3], f64)]) -> String {
    let mut text =
        "# HELP attempt_seconds Time of an attempt.\n# TYPE attempt_seconds histogram\n".to_owned();
    for (endpoint, code, counts, sum) in series {
        let labels = format!("endpoint=\"{endpoint}\",code=\"{code}\"");
        for (end, count) in ["0.1", "0.5", "+Inf"].iter().zip(counts) {
            text.push_str(&format!("attempt_seconds_bucket{{{labels},le=\"{end}\"}} {count}\n"));
        }
        text.push_str(&format!(
            "attempt_seconds_sum{{{labels}}} {sum}\nattempt_seconds_count{{{labels}}} {}\n",
            counts[2]
        ));
    }
    text
}

fn quantile(output: &Output, place: usize) -> Value {
    output.field("quantiles")[place].clone()
}

fn notes(output: &Output) -> String {
    output.json()["notes"].to_string()
}

#[test]
fn a_status_that_is_not_known_is_named_with_its_attempts() {
    let files = Files::new();
    let scrape = scrape(&[
        ("a", "2xx", [80, 95, 100], 31.0),
        ("a", "5xx", [0, 1, 2], 1.0),
        ("a", "odd", [1, 2, 3], 0.9),
    ]);
    let output = ingest([&files.write("a.prom", scrape)]);
    assert_eq!((output.number("count"), output.number("failures")), (105.0, 2.0), "{output:?}");
    let notes = notes(&output);
    assert!(
        notes.contains("3 attempts counted as successes whose code is known") && notes.contains("odd"),
        "{notes}"
    );
}

#[test]
fn one_scrape_has_the_mean_of_its_sum_and_quantiles_as_bounds() {
    let files = Files::new();
    let file = files.write("a.prom", scrape(&[("a", "200", [80, 95, 100], 31.0)]));
    let output = ingest([&file]);
    assert_eq!(output.code, 0, "{}", output.stderr);
    assert_eq!((output.number("count"), output.number("mean_s")), (100.0, 0.31));
    assert!(output.json()["result"].get("mean_low_s").is_none(), "the mean of a sum is exact");
    let median = quantile(&output, 0);
    assert_eq!(
        (median["low_s"].as_f64(), median["high_s"].as_f64(), median["value_s"].as_f64()),
        (Some(0.0), Some(0.1), Some(0.1))
    );
    let p90 = quantile(&output, 1);
    assert_eq!((p90["low_s"].as_f64(), p90["high_s"].as_f64()), (Some(0.1), Some(0.5)));
    let p99 = quantile(&output, 3);
    assert_eq!((p99["at_least"].as_bool(), p99["value_s"].as_f64()), (Some(true), Some(0.5)));
    assert!(p99.get("high_s").is_none());
    assert_eq!(output.field("max_at_least"), true);
    // The five beyond half a second share at most 31 − 15·0.1 s; all in one is the most variable, alike the least.
    let squares = |values: &[(f64, f64)]| {
        values.iter().map(|(count, value)| count * value * value).sum::<f64>() / 100.0
    };
    let most = squares(&[(80.0, 0.0), (15.0, 0.1), (4.0, 0.5), (1.0, 27.5)]) / 0.31f64.powi(2) - 1.0;
    let least = squares(&[(80.0, 0.1), (15.0, 0.5), (5.0, 3.1)]) / 0.31f64.powi(2) - 1.0;
    assert!(close(output.number("scv_high"), most, 1e-9), "{} {most}", output.number("scv_high"));
    assert!(close(output.number("scv_low"), least, 1e-9), "{} {least}", output.number("scv_low"));
    let scv = output.number("scv");
    assert!(least < scv && scv < most);
    assert!(
        notes(&output).contains("counts-since-start") && notes(&output).contains("variation-from-buckets")
    );
    let source = output.field("source");
    assert_eq!(
        (&source["format"], &source["column"], &source["unit"]),
        (&"Prometheus histogram".into(), &"attempt_seconds".into(), &"s".into())
    );
    assert_matches("ingest", &output.json());
    let table = run_all(["ingest", &file]).stdout;
    assert!(table.contains("at least 500 ms") && table.contains("100 ms to 500 ms"), "{table}");
}

#[test]
fn two_scrapes_are_differenced_and_a_reset_is_noticed() {
    let files = Files::new();
    let before = files
        .write("1.prom", scrape(&[("a", "200", [80, 95, 100], 31.0), ("b", "200", [500, 500, 500], 20.0)]));
    let after = files.write(
        "2.prom",
        scrape(&[
            ("a", "200", [90, 115, 130], 51.0),
            ("b", "200", [7, 7, 8], 1.5),
            ("c", "503", [0, 0, 2], 8.0),
        ]),
    );
    let output = ingest([&before, &after, "--difference", "--group-by", "endpoint"]);
    assert_eq!(output.code, 0, "{}", output.stderr);
    let groups = output.field("groups");
    let group =
        |name: &str| groups.as_array().unwrap().iter().find(|group| group["name"] == name).unwrap().clone();
    assert_eq!(
        (group("a")["count"].as_u64(), group("b")["count"].as_u64(), group("c")["count"].as_u64()),
        (Some(30), Some(8), Some(2))
    );
    assert!(close(group("a")["mean_s"].as_f64().unwrap(), 20.0 / 30.0, 1e-12));
    assert!(close(output.number("mean_s"), 29.5 / 40.0, 1e-12));
    assert_eq!(output.number("failures"), 2.0, "the code tells failures");
    assert!(notes(&output).contains("counter-resets") && !notes(&output).contains("counts-since-start"));
    let selected = ingest([&before, &after, "--difference", "--where", "endpoint=a"]);
    assert_eq!(selected.number("count"), 30.0);
    // Without --difference the files are those of different targets.
    let added = ingest([&before, &after]);
    assert_eq!(added.number("count"), 100.0 + 500.0 + 130.0 + 8.0 + 2.0);
    assert!(notes(&added).contains("scrapes-added"));
    assert_refused(&ingest([&after, "--difference"]), &["needs two scrapes"]);
    assert_refused(&ingest(["fixtures/hey.csv", "--difference"]), &["--difference is for scrapes"]);
    assert_refused(&ingest([&before, "--where", "host=a"]), &["no label \"host\"", "\"code\", \"endpoint\""]);
    assert_refused(&ingest([&before, "--since", "1700000000"]), &["no time stamps"]);
    let same = ingest([&before, &before, "--difference"]);
    assert_eq!((same.code, same.stdout.as_str()), (2, ""), "nothing was added in between");
}

#[test]
fn files_of_the_openmetrics_project_are_read_right() {
    let Some(data) = shared() else { return };
    let path = |name: &str| data.join("prometheus").join(name).display().to_string();
    let output = ingest([&path("1histogram.om.txt"), "--group-by", "port"]);
    assert_eq!(output.code, 0, "{}", output.stderr);
    assert_eq!((output.number("count"), output.number("mean_s")), (3.0, 10.0));
    assert_eq!(output.field("groups").as_array().unwrap().len(), 3);
    // Each took at most ten seconds and all together thirty: none can have taken less.
    assert!(output.number("scv_high") < 1e-9);
    assert_eq!(quantile(&output, 0)["high_s"].as_f64(), Some(10.0));
    assert_refused(
        &ingest([&path("alltypes.5mfs.om.txt")]),
        &["alltypes.5mfs.om.txt:19", "rpc_durations_histogram_seconds", "below zero"],
    );
}

#[test]
fn of_several_histograms_one_is_chosen_by_name_or_by_its_unit() {
    let files = Files::new();
    let sizes = "response_bytes_bucket{le=\"10\"} 4\nresponse_bytes_bucket{le=\"+Inf\"} 4\nresponse_bytes_sum 9\nresponse_bytes_count 4\n";
    let attempts = scrape(&[("a", "200", [80, 95, 100], 31.0)]);
    let both = files.write("both.prom", format!("{attempts}{sizes}"));
    assert_eq!(ingest([&both]).field("source")["column"], "attempt_seconds");
    assert_eq!(ingest([&both, "--column", "response_bytes", "--unit", "us"]).number("count"), 4.0);
    assert_refused(&ingest([&both, "--column", "nope"]), &["no histogram \"nope\"", "\"response_bytes\""]);
    assert_refused(&ingest([&both, "--column", "response_bytes"]), &["unit of its values", "--unit"]);
    let two = files
        .write("two.prom", format!("{attempts}{}", attempts.replace("attempt_seconds", "queue_seconds")));
    assert_refused(
        &ingest([&two]),
        &["it holds 2 histograms", "--column", "\"attempt_seconds\", \"queue_seconds\""],
    );
    let summary = files.write(
        "s.prom",
        "# TYPE a_seconds summary\na_seconds{quantile=\"0.5\"} 1\na_seconds_sum 5\na_seconds_count 4\nup 1\n",
    );
    assert_refused(&ingest([&summary]), &["no histogram", "1 summaries", "export a histogram"]);
    let no_sum = files.write("n.prom", "a_seconds_bucket{le=\"0.1\"} 4\na_seconds_bucket{le=\"+Inf\"} 5\n");
    assert_refused(&ingest([&no_sum]), &["1 attempts lie in its last bucket", "mean cannot be told"]);
    let wrong = files.write(
        "w.prom",
        "a_seconds_bucket{le=\"0.1\"} 4\na_seconds_bucket{le=\"+Inf\"} 4\na_seconds_sum 400\n",
    );
    assert_refused(&ingest([&wrong]), &["sum contradicts its buckets"]);
    let odd = files.write("o.prom", format!("{attempts}attempt_seconds_bucket{{le=\n"));
    assert_refused(&ingest([&odd]), &["o.prom:8", "no sample"]);
}

/// The answers of a server: a classic histogram over an hour with a restart, and a native one.
#[test]
fn answers_of_the_query_api_are_differenced_over_their_range() {
    let files = Files::new();
    let classic = r#"{"status":"success","data":{"resultType":"matrix","result":[
        {"metric":{"__name__":"h_seconds_bucket","job":"x","le":"0.1"},"values":[[1700000000,"10"],[1700000060,"70"],[1700000120,"5"]]},
        {"metric":{"__name__":"h_seconds_bucket","job":"x","le":"+Inf"},"values":[[1700000000,"20"],[1700000060,"140"],[1700000120,"6"]]},
        {"metric":{"__name__":"h_seconds_sum","job":"x"},"values":[[1700000000,"9"],[1700000060,"75.5"],[1700000120,"2.5"]]},
        {"metric":{"__name__":"h_seconds_count","job":"x"},"values":[[1700000000,"20"],[1700000060,"140"],[1700000120,"6"]]}]}}"#;
    let file = files.write("range.json", classic);
    let output = ingest([&file]);
    assert_eq!(output.code, 0, "{}", output.stderr);
    // 120 in the first minute, then a restart and 6.
    assert_eq!(output.number("count"), 126.0);
    assert!(close(output.number("mean_s"), (75.5 - 9.0 + 2.5) / 126.0, 1e-12));
    assert_eq!(output.field("arrivals")["busiest_minute_rate_per_s"].as_f64(), Some(2.0));
    assert!(notes(&output).contains("counter-resets"));
    let first = ingest([&file, "--until", "1700000100"]);
    assert_eq!(first.number("count"), 120.0);
    // A sample at the very end bounds what lies before it.
    assert_eq!(ingest([&file, "--until", "1700000060"]).number("count"), 120.0);
    assert_eq!(ingest([&file, "--since", "1700000060"]).number("count"), 6.0);
    let native = r#"{"status":"success","data":{"resultType":"vector","result":[{"metric":{"__name__":"h_seconds","endpoint":"a"},
        "histogram":[1700000000.123,{"count":"7","sum":"3.25","buckets":[[3,"-0.001","0.001","1"],[0,"0.25","0.5","4"],[0,"0.5","1","2"]]}]}]}}"#;
    let output = ingest([&files.write("native.json", native), "--group-by", "endpoint"]);
    assert_eq!((output.code, output.number("count")), (0, 7.0), "{}", output.stderr);
    assert!(close(output.number("mean_s"), 3.25 / 7.0, 1e-12));
    let median = quantile(&output, 0);
    assert!(
        close(median["low_s"].as_f64().unwrap(), 0.25, 1e-3)
            && close(median["high_s"].as_f64().unwrap(), 0.5, 1e-3)
    );
    assert_eq!(output.field("groups")[0]["name"], "a");
    let rate = native.replace("\"7\"", "\"7.3\"").replace("\"4\"", "\"4.3\"");
    assert_refused(&ingest([&files.write("rate.json", rate)]), &["no whole numbers", "rate()"]);
    let failed = r#"{"status":"error","errorType":"bad_data","error":"parse error: unexpected end"}"#;
    assert_refused(&ingest([&files.write("failed.json", failed)]), &["query that failed", "unexpected end"]);
    assert_refused(
        &ingest([&files.write("cut.json", &native[..native.len() - 20])]),
        &["cut.json:2:", "JSON cannot be read"],
    );
}

/// What was added before the first sample within a range is not told apart from what was added since the start.
#[test]
fn one_sample_left_of_a_range_is_not_everything_since_the_start() {
    let files = Files::new();
    let series = |part: &str, values: &str| {
        format!(r#"{{"metric":{{"__name__":"h_seconds_{part},"job":"x"}},"values":[{values}]}}"#)
    };
    let range = |values: &str, sums: &str| {
        let all = [
            series(r#"bucket","le":"0.1""#, values),
            series(r#"bucket","le":"+Inf""#, values),
            series(r#"sum""#, sums),
            series(r#"count""#, values),
        ];
        format!(r#"{{"data":{{"resultType":"matrix","result":[{}]}}}}"#, all.join(","))
    };
    let three = range(
        r#"[1700000000,"1000"],[1700000060,"1060"],[1700000120,"1090"]"#,
        r#"[1700000000,"50"],[1700000060,"53"],[1700000120,"54.5"]"#,
    );
    let three = files.write("three.json", three);
    assert_eq!(ingest([&three]).number("count"), 90.0);
    assert_eq!(ingest([&three, "--since", "1700000030"]).number("count"), 30.0);
    let within = "from one sample to the next within --since and --until";
    assert_refused(&ingest([&three, "--since", "1700000090"]), &[within, "three.json"]);
    assert_refused(&ingest([&three, "--until", "1700000030"]), &[within]);
    // The answer to `query` holds everything since the start, which is no time that can be asked for.
    let one = files.write("one.json", range(r#"[1700000060,"1060"]"#, r#"[1700000060,"53"]"#));
    let output = ingest([&one]);
    assert_eq!((output.number("count"), notes(&output).contains("counts-since-start")), (1060.0, true));
    assert_refused(&ingest([&one, "--since", "1700000030"]), &[within]);
    // So does a scrape, also one whose samples carry their time.
    let text = "h_seconds_bucket{le=\"+Inf\"} 7 1700000060000\nh_seconds_sum 3 1700000060000\nh_seconds_count 7 1700000060000\n";
    let scrape = files.write("stamped.prom", text);
    assert_eq!(ingest([&scrape, "--until", "1700000090"]).number("count"), 7.0);
    assert_refused(&ingest([&scrape, "--since", "1700000030"]), &[within]);
    // Two such answers are one range.
    let later = files.write("later.json", range(r#"[1700000120,"1090"]"#, r#"[1700000120,"54.5"]"#));
    let both = ingest([&one, &later]);
    assert_eq!((both.number("count"), notes(&both).contains("counts-since-start")), (30.0, false));
}

#[test]
fn otlp_histograms_of_both_kinds_and_temporalities_are_read() {
    let files = Files::new();
    let line = |metric: &str| {
        format!(r#"{{"resourceMetrics":[{{"resource":{{}},"scopeMetrics":[{{"metrics":[{metric}]}}]}}]}}"#)
    };
    let delta = |at: u64, counts: [u64; 2], sum: f64| {
        let (start, count) = (at - 60, counts[0] + counts[1]);
        line(&format!(
            r#"{{"name":"attempt.duration","unit":"ms","histogram":{{"aggregationTemporality":1,"dataPoints":[{{"attributes":[{{"key":"endpoint","value":{{"stringValue":"a"}}}}],
            "startTimeUnixNano":"{start}000000000","timeUnixNano":"{at}000000000","count":"{count}","sum":{sum},"bucketCounts":["{}","{}"],"explicitBounds":[250]}}]}}}}"#,
            counts[0], counts[1]
        ).replace('\n', ""))
    };
    let text =
        format!("{}\n{}\n", delta(1_700_000_060, [30, 0], 3000.0), delta(1_700_000_120, [50, 10], 9000.0));
    let output = ingest([&files.write("delta.jsonl", text), "--group-by", "endpoint"]);
    assert_eq!(output.code, 0, "{}", output.stderr);
    assert_eq!(output.number("count"), 90.0);
    assert!(close(output.number("mean_s"), 12.0 / 90.0, 1e-12));
    assert_eq!(output.field("arrivals")["busiest_minute_rate_per_s"].as_f64(), Some(1.0));
    assert_eq!(output.field("source")["format"], "OTLP histogram");
    let cumulative = |at: u64, start: u64, counts: [u64; 2], sum: f64| {
        let count = counts[0] + counts[1];
        line(&format!(
            r#"{{"name":"attempt.duration","unit":"s","exponentialHistogram":{{"aggregationTemporality":2,"dataPoints":[{{"startTimeUnixNano":"{start}000000000","timeUnixNano":"{at}000000000",
            "count":"{count}","sum":{sum},"scale":0,"positive":{{"offset":-3,"bucketCounts":["{}","{}"]}}}}]}}}}"#,
            counts[0], counts[1]
        ).replace('\n', ""))
    };
    // Two states since one start count once; then a restart.
    let states = [
        cumulative(1_700_000_060, 1_700_000_000, [3, 1], 0.9),
        cumulative(1_700_000_120, 1_700_000_000, [9, 1], 2.0),
        cumulative(1_700_000_180, 1_700_000_150, [5, 0], 0.8),
    ];
    let file = files.write("cumulative.jsonl", states.join("\n"));
    let output = ingest([&file]);
    assert_eq!((output.code, output.number("count")), (0, 15.0), "{}", output.stderr);
    assert!(close(output.number("mean_s"), 2.8 / 15.0, 1e-12));
    assert_eq!(ingest([&file, "--difference"]).number("count"), 11.0);
    // With a start that is known and lies within, the first state counts.
    assert_eq!(ingest([&file, "--since", "1700000130"]).number("count"), 5.0);
    assert_eq!(ingest([&file, "--since", "1700000055"]).number("count"), 11.0);
    assert!(notes(&output).contains("counter-resets"));
}

#[test]
fn a_profile_of_metrics_is_saved_merged_and_sized_from() {
    let files = Files::new();
    let file =
        files.write("a.prom", scrape(&[("a", "200", [80, 95, 100], 31.0), ("b", "500", [0, 1, 4], 9.0)]));
    let saved = files.path("a.json");
    let fresh = ingest([&file, "--group-by", "endpoint", "--save", &saved]);
    let back = ingest([&saved]);
    for field in [
        "count",
        "mean_s",
        "scv",
        "scv_low",
        "scv_high",
        "quantiles",
        "groups",
        "max_s",
        "failures",
        "cap_effect",
    ] {
        assert_eq!(back.field(field), fresh.field(field), "{field}");
    }
    let merged = ingest([&saved, "fixtures/hey.csv"]);
    assert_eq!(merged.number("count"), 104.0 + 1461.0);
    assert_eq!(merged.field("source")["from_histogram"], true);
    for profile in [&saved, &file] {
        let sized =
            run_all(["size", "--profile", profile, "--rate", "90", "--wait", "0.5", "--format", "json"]);
        assert_eq!(sized.code, 0, "{}", sized.stderr);
        assert!(close(sized.number("offered_load_erlangs"), 90.0 * 40.0 / 104.0, 1e-9));
    }
    let later = ingest([&file, "--overhead", "100ms"]);
    assert!(close(later.number("mean_s"), fresh.number("mean_s") + 0.1, 1e-12));
}
