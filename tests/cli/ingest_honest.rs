//! What is asked for is done or refused, and what is left out of an input is said.

use crate::ingest::{Files, assert_refused, ingest};

/// The codes of the notes, in order.
fn codes(output: &crate::support::Output) -> Vec<String> {
    let json = output.json();
    json["notes"].as_array().unwrap().iter().map(|note| note["code"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn an_option_that_an_input_has_nothing_for_is_refused() {
    let files = Files::new();
    let table = files.write("a.csv", "ts,endpoint,duration_ms\n1700000000,a,5\n1700000100,b,7\n");
    let saved = files.path("saved.json");
    assert_eq!(ingest([&table, "--group-by", "endpoint", "--save", &saved]).code, 0);
    let since = "2023-11-14T22:14:00Z";
    for option in [["--where", "endpoint=a"], ["--since", since], ["--until", since], ["--overhead", "1ms"]] {
        let refusal = format!("{} does not apply to a saved profile", option[0]);
        assert_refused(&ingest([&saved, option[0], option[1]]), &[&refusal, "where the attempts themselves"]);
        assert_refused(&ingest([&table, &saved, option[0], option[1]]), &[&refusal]);
    }
    for option in [["--group-by", "endpoint"], ["--unit", "ms"], ["--column", "x"], ["--delimiter", ";"]] {
        assert_refused(&ingest([&saved, option[0], option[1]]), &[option[0], "saved profiles alone"]);
    }
    // Beside a table they say how the table is read.
    let both = ingest([&table, &saved, "--group-by", "endpoint", "--column", "duration_ms"]);
    assert_eq!((both.code, both.number("count")), (0, 4.0));
    let percentiles = "fixtures/attempts.hgrm";
    for option in [["--since", since], ["--group-by", "x"], ["--where", "a=b"], ["--decimal", "comma"]] {
        let refusal = format!("{} does not apply to a report of percentiles", option[0]);
        assert_refused(&ingest([percentiles, option[0], option[1]]), &[&refusal]);
    }
    let untimed = files.write("untimed.csv", "duration_ms\n5\n7\n");
    let log = files.path("untimed.hlog");
    assert_eq!(ingest([&untimed, "--save", &log]).code, 0);
    assert_refused(&ingest([&log, "--since", since]), &["untimed.hlog:", "interval without a length"]);
}

#[test]
fn a_timeout_of_ones_choice_is_answered_of_a_saved_profile_too() {
    let files = Files::new();
    let rows: String = (1..=100).map(|n| format!("{}\n", n * 100)).collect();
    let table = files.write("a.csv", format!("duration_ms\n{rows}"));
    let saved = files.path("saved.json");
    assert_eq!(ingest([&table, "--save", &saved]).code, 0);
    for input in [[&saved, &saved], [&table, &saved], [&table, &table]] {
        let cut = ingest([input[0], input[1], "--cap", "7s"]).field("cap_effect");
        // 7.1 to 10 s of 0.1 to 10 s; (0.1 + … + 7 + 30·7)/100 = (248.5 + 210)/100.
        assert_eq!((cut.as_array().unwrap().len(), cut[0]["attempts_cut"].as_u64()), (1, Some(60)), "{cut}");
        assert!((cut[0]["mean_s"].as_f64().unwrap() / 4.585 - 1.0).abs() < 1e-3, "{cut}");
    }
    let default = ingest([&saved]).field("cap_effect");
    assert_eq!(default.as_array().unwrap().len(), 4);
}

#[test]
fn a_row_without_a_time_is_not_within_any() {
    let files = Files::new();
    let table =
        files.write("a.csv", "ts,duration_ms\n2026-03-02T00:00:00Z,5\n-,90000\n2026-03-02T00:00:09Z,7\n");
    for (option, value, kept_ms) in
        [("--until", "2026-03-02T00:00:05Z", 5.0), ("--since", "2026-03-02T00:00:05Z", 7.0)]
    {
        let output = ingest([&table, option, value, "--max-bad-rows", "1"]);
        assert_eq!((output.number("count"), output.number("skipped_rows")), (1.0, 1.0), "{option}");
        assert!((output.number("mean_s") - kept_ms / 1e3).abs() < 1e-12);
    }
}

#[test]
fn as_many_bad_rows_as_are_allowed_do_no_harm_at_the_head_of_a_table_either() {
    let files = Files::new();
    let rows = format!("duration_ms\n{}{}", "x\n".repeat(1_500), "5\n".repeat(10));
    let table = files.write("a.csv", rows);
    assert_refused(&ingest([&table, "--column", "duration_ms"]), &["1000 of 1000 rows", "1% is allowed"]);
    for allowed in ["1500", "100%"] {
        let output = ingest([&table, "--column", "duration_ms", "--max-bad-rows", allowed]);
        assert_eq!((output.code, output.number("count"), output.number("skipped_rows")), (0, 10.0, 1_500.0));
    }
}

#[test]
fn a_count_that_cannot_be_read_is_not_taken_for_one_attempt() {
    let files = Files::new();
    for odd in ["\"1,000\"", "1e3", "-1", "1.5", "1 000"] {
        for rows in [format!("5,2\n7,{odd}\n"), format!("5,{odd}\n7,2\n8,3\n"), format!("7,{odd}\n8,{odd}\n")]
        {
            let table = files.write("a.csv", format!("latency_ms,count\n{rows}"));
            assert_refused(
                &ingest([&table]),
                &["\"count\" may say how many attempts", "--count-column none"],
            );
        }
    }
    let empty = files.write("a.csv", "latency_ms,count\n5,\n7,2\n");
    assert_refused(&ingest([&empty]), &["is no whole number"]);
    let each = ingest([&empty, "--count-column", "none"]);
    assert_eq!(each.number("count"), 2.0);
    let names = files.write("a.csv", "latency_ms,n\n5,first\n7,second\n");
    assert_eq!(ingest([&names]).number("count"), 2.0);
}

#[test]
fn time_stamps_are_believed_by_most_cells_and_their_loss_is_said() {
    let files = Files::new();
    let american = files.write("a.csv", "ts,duration_ms\n03/25/2024 10:00:00,5\n03/25/2024 10:00:01,5\n");
    let output = ingest([&american]);
    assert!(codes(&output).contains(&"column-not-read".to_owned()), "{output:?}");
    assert!(output.stdout.contains("03/25/2024 10:00:00"), "{output:?}");
    let refused = ingest([&american, "--since", "2024-03-25T00:00:00Z"]);
    assert_refused(&refused, &["\"ts\" cannot be read as time stamps", "03/25/2024"]);
    let rows: String = (0..50).map(|n| format!("{},5\n", 1_700_000_000 + n)).collect();
    let one = files.write("b.csv", format!("ts,duration_ms\ngarbage,5\n{rows}"));
    let output = ingest([&one]);
    assert!((output.number("arrivals.mean_rate_per_s") - 1.0).abs() < 0.05, "{output:?}");
    assert!(codes(&output).contains(&"rows-without-time-stamp".to_owned()));
    // Times since a start are no times of day, and nobody asked for them.
    let relative = files.write("c.csv", "time,duration_ms\n0.12,5\n3.5,7\n");
    assert!(!codes(&ingest([&relative])).contains(&"column-not-read".to_owned()));
}

#[test]
fn phases_are_believed_by_most_cells_and_their_loss_is_said() {
    let files = Files::new();
    let rows: String = (0..500).map(|n| format!("{},{}\n", n % 3, 20 + n % 7)).collect();
    let one = files.write("a.csv", format!("connect_ms,duration_ms\n-1,9\n{rows}"));
    let output = ingest([&one]);
    assert_eq!(output.field("phases")[0]["name"], "connect");
    assert_eq!(output.number("skipped_rows"), 1.0);
    let none = files.write("b.csv", "connect_ms,duration_ms\nx,9\n-1,8\n,7\n");
    let output = ingest([&none]);
    assert!(codes(&output).contains(&"column-not-read".to_owned()), "{output:?}");
}

#[test]
fn phases_in_two_forms_are_left_out_and_that_is_said() {
    let files = Files::new();
    let columns = files.write("a.csv", "connect_ms,http_ms,duration_ms\n5,20,26\n0,20,21\n");
    let rows = files.write("b.csv", "phase,duration_ms\nconnect,5\nhttp,20\ntotal,26\n");
    let (one, other) = (ingest([&columns, &rows]), ingest([&rows, &columns]));
    assert!(codes(&one).contains(&"phases-mixed".to_owned()), "{one:?}");
    for output in [&one, &other] {
        assert!(output.json()["result"].get("phases").is_none_or(|phases| phases == &serde_json::json!([])));
        assert_eq!(output.number("count"), 3.0);
    }
    let plain = files.write("c.csv", "duration_ms\n1\n2\n3\n4\n");
    assert!(codes(&ingest([&columns, &plain])).contains(&"phases-of-some".to_owned()));
}

#[test]
fn groups_that_may_be_incomplete_are_said_to_be() {
    let files = Files::new();
    let many: String = (0..300).map(|n| format!("s{n},1\n")).collect();
    let big = "BIG,5000\n".repeat(500);
    let table = files.write("a.csv", format!("endpoint,duration_ms\n{many}{big}"));
    let saved = files.path("saved.json");
    let output = ingest([&table, "--group-by", "endpoint", "--save", &saved]);
    let joined = codes(&output).contains(&"groups-joined".to_owned());
    assert!(joined && output.stdout.contains("the others hold 99.9"), "{}", output.stdout);
    assert!(!codes(&output).contains(&"groups-incomplete".to_owned()));
    assert!(codes(&ingest([&saved, &saved])).contains(&"groups-incomplete".to_owned()));
}

#[test]
fn no_text_of_a_file_steers_the_terminal() {
    let files = Files::new();
    let lines =
        files.write("a.jsonl", "{\"endpoint\":\"\\u001b[2J\\u001b]0;x\\u0007\\nb\",\"duration_ms\":5}\n");
    let output = crate::support::run_all(["ingest", &lines, "--group-by", "endpoint", "--color", "never"]);
    assert!(output.stdout.contains("?[2J?]0;x? b"), "{output:?}");
    let header = files.write("b.csv", "a\u{1b}[2J,b\n1,2\n");
    let refused = crate::support::run_all(["ingest", &header]);
    assert!(refused.code == 2 && refused.stderr.contains("a?[2J"), "{refused:?}");
}

#[test]
fn what_a_report_says_of_failures_is_passed_on() {
    let files = Files::new();
    let wrk = "  Thread Stats   Avg      Stdev     Max   +/- Stdev\n    Latency   635.91us    0.89ms  12.92ms   93.69%\n  1000 requests in 30.00s, 17.76GB read\n  Socket errors: connect 0, read 0, write 0, timeout 500\n  Non-2xx or 3xx responses: 300\n";
    let report = files.write("wrk.txt", wrk);
    let output = ingest([&report]);
    assert!(codes(&output).contains(&"failures-reported".to_owned()), "{output:?}");
    for part in ["300 answers with the status of a failure", "500 requests without an answer"] {
        assert!(output.stdout.contains(part), "{part}: {output:?}");
    }
}

#[test]
fn words_of_a_status_that_are_not_known_are_named() {
    let files = Files::new();
    let dead = files.write("a.csv", "status,duration_ms\n200,150\ndead_lettered,30000\ndelivered,5\n");
    let output = ingest([&dead]);
    assert_eq!(output.number("failures"), 1.0);
    assert!(!codes(&output).contains(&"outcome-unknown".to_owned()));
    // The words are met far behind the rows from which columns are told.
    let rows = format!("{}{}wobble,9\n", "200,150\n".repeat(2_000), "wibble,30000\n".repeat(50));
    let odd = files.write("b.csv", format!("status,duration_ms\n{rows}"));
    let output = ingest([&odd]);
    assert_eq!(output.number("failures"), 0.0);
    assert!(codes(&output).contains(&"outcome-unknown".to_owned()));
    for part in
        ["51 attempts counted as successes whose status is known", "\\\"wibble\\\" 50, \\\"wobble\\\" 1"]
    {
        assert!(output.stdout.contains(part), "{part}: {}", output.json()["notes"]);
    }
}

#[test]
fn rows_that_sum_up_other_rows_are_left_out() {
    let files = Files::new();
    let header = "timeStamp,elapsed,label,responseCode,responseMessage,success";
    let rows = "1700000000000,300,TX,200,\"Number of samples in transaction : 2, number of failing samples : 0\",true\n1700000000000,100,a,200,OK,true\n1700000000100,200,b,200,OK,true\n";
    let output = ingest([&files.write("a.jtl", format!("{header}\n{rows}"))]);
    assert_eq!((output.number("count"), output.number("mean_s")), (2.0, 0.15));
    assert_eq!(output.number("filtered_rows"), 1.0);
    assert!(codes(&output).contains(&"sums-left-out".to_owned()), "{output:?}");
}

#[test]
fn times_of_nginx_in_a_format_of_its_user_are_seconds() {
    let files = Files::new();
    let line = r#"{"time_iso8601":"2026-03-02T09:00:00+00:00","remote_addr":"10.0.0.1","status":"200","request_time":"0.123"}"#;
    let output = ingest([&files.write("a.jsonl", format!("{line}\n"))]);
    assert_eq!((output.code, output.number("mean_s")), (0, 0.123), "{output:?}");
    // The name alone may be anybody's.
    let anybody = files.write("b.jsonl", "{\"status\":200,\"request_time\":95}\n");
    assert_refused(&ingest([&anybody]), &["names no unit", "--unit"]);
    let older = "DNS,DNS+dialup,Response-delay,request-duration,bytes,status\n0.001,0.002,0.01,0.02,5,200\n";
    let output = ingest([&files.write("oha.csv", older)]);
    assert_eq!((output.code, output.number("mean_s")), (0, 0.02), "{output:?}");
}

#[test]
fn a_refusal_says_what_to_do() {
    let files = Files::new();
    let missing = files.path("missing.csv");
    assert_refused(&ingest([&missing]), &["cannot be opened", "check the path"]);
    let cut = files.write("cut.hlog", "HISTFAAAAEV42pNpmSzMwMCgwsDAwMzA");
    assert_refused(&ingest([&cut]), &["copy or export it again"]);
}

#[test]
fn a_file_that_is_named_twice_and_a_key_that_is_there_twice_are_noticed() {
    let files = Files::new();
    let table = files.write("a.csv", "duration_ms\n5\n");
    assert!(codes(&ingest([&table, &table])).contains(&"file-named-twice".to_owned()));
    let lines = files.write(
        "a.jsonl",
        "{\"duration_ms\":5}\n{\"duration_ms\":6,\"duration_ms\":7}\n{\"duration_ms\":9}\n",
    );
    let output = ingest([&lines, "--max-bad-rows", "1"]);
    assert_eq!((output.number("count"), output.number("skipped_rows")), (2.0, 1.0));
    assert!(output.stdout.contains("JSON lines: one object, each key once"), "{output:?}");
    assert_refused(&ingest([&files.write("empty.json", "{}\n")]), &["hold no field"]);
}

#[test]
fn phases_that_exceed_the_attempt_are_noticed() {
    let files = Files::new();
    let table = files.write("a.csv", "connect_ms,http_ms,duration_ms\n30,100,50\n");
    let output = ingest([&table]);
    assert!(codes(&output).contains(&"phases-exceed-attempts".to_owned()), "{output:?}");
    assert!(output.stdout.contains("260%"), "{output:?}");
}

#[test]
fn another_column_of_a_known_table_has_its_unit() {
    let output = ingest(["fixtures/nginx.log", "--column", "upstream_response_time"]);
    assert_eq!(
        (output.code, output.field("source")["unit"].as_str().unwrap().to_owned()),
        (0, "s".to_owned())
    );
}

#[test]
fn a_histogram_that_cannot_be_used_is_named_with_its_labels() {
    let files = Files::new();
    let text = "a_seconds_bucket{host=\"x\",le=\"0.1\"} 5\na_seconds_bucket{host=\"x\",le=\"+Inf\"} 5\na_seconds_sum{host=\"x\"} 100\na_seconds_count{host=\"x\"} 5\n";
    let scrape = files.write("a.prom", text);
    assert_refused(&ingest([&scrape]), &["a_seconds{host=\"x\"}: its sum contradicts its buckets"]);
    let point = r#"{"count":"5","sum":3,"scale":-11,"zeroCount":"0","positive":{"offset":1,"bucketCounts":["5"]},"timeUnixNano":"1700000000000000000"}"#;
    let otlp = format!(
        r#"{{"resourceMetrics":[{{"scopeMetrics":[{{"metrics":[{{"name":"d","unit":"s","exponentialHistogram":{{"aggregationTemporality":2,"dataPoints":[{point}]}}}}]}}]}}]}}"#
    );
    let document = files.write("a.json", otlp);
    let refused = ingest([&document]);
    assert_refused(&refused, &["the histogram d: a bucket lies beyond all durations"]);
}
