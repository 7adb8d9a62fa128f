//! Exports of load tools, access logs, JSON lines, phases, comparisons.

use crate::ingest::{Files, assert_refused, close, ingest};
use crate::schema::assert_matches;
use crate::support::{run, run_json};

/// Mean and SCV as Python's `fractions` compute them from the same files.
#[test]
fn exports_and_logs_are_recognised_and_read_exactly() {
    for (file, format, column, failures, mean, scv) in [
        ("k6.csv", "k6 csv", "metric_value", 3, 0.09643, 0.360_602_977_720_143_7),
        ("k6.json", "k6 json", "metric_value", 3, 0.09643, 0.360_602_977_720_143_7),
        ("vegeta.csv", "vegeta csv", "latency", 9, 0.08949, 0.309_212_990_896_964_1),
        ("vegeta.json", "vegeta json", "latency", 9, 0.08949, 0.309_212_990_896_964_1),
        ("ab.tsv", "ab -g", "ttime", 0, 0.09199, 0.507_706_052_500_708_4),
        ("nginx.log", "nginx access log", "request_time", 7, 0.09518, 0.451_467_345_069_986_26),
        ("envoy.log", "Envoy access log", "duration", 16, 0.09299, 0.473_010_712_524_479_6),
        ("alb.log", "AWS ALB access log", "total_processing_time", 7, 0.08621, 0.352_976_046_371_204_3),
        ("attempts.jsonl", "JSON lines", "http.duration_ms", 7, 0.094_755, 0.431_182_341_415_272_84),
        ("phases.csv", "csv", "duration_ms", 6, 0.111_187_315, 0.421_792_745_197_727_64),
    ] {
        let output = run_json(&format!("ingest fixtures/{file}"));
        assert_eq!(output.code, 0, "{file}: {}", output.stderr);
        assert_eq!(output.number("count"), 200.0, "{file}");
        assert_eq!(output.number("failures"), f64::from(failures), "{file}");
        assert!(close(output.number("mean_s"), mean, 4e-16), "{file}: {}", output.number("mean_s"));
        assert!(close(output.number("scv"), scv, 4e-16), "{file}: {}", output.number("scv"));
        let source = output.field("source");
        assert_eq!((&source["format"], &source["column"]), (&format.into(), &column.into()), "{file}");
        let span = output.field("arrivals")["span_s"].as_f64().unwrap();
        assert!((5.0..20.0).contains(&span), "{file}: {span}");
        assert_matches("ingest", &output.json());
        let codes = output.json()["notes"].to_string();
        let latency = !matches!(file, "attempts.jsonl" | "phases.csv");
        assert_eq!(codes.contains("endpoint-latency"), latency, "{file}: {codes}");
        let log = file.ends_with(".log");
        assert_eq!(codes.contains("load-tool-arrivals"), latency && !log, "{file}: {codes}");
        let complete = matches!(file, "vegeta.csv" | "vegeta.json");
        assert_eq!(codes.contains("attempts-missing"), latency && !complete, "{file}: {codes}");
    }
    let upstream = run_json("ingest fixtures/nginx.log --column upstream_response_time --unit s");
    assert!(close(upstream.number("mean_s"), 0.094_185, 4e-16), "tries of one request are added up");
    let named = run_json(
        "ingest fixtures/attempts.jsonl --input-format jsonl --column http.duration_ms --group-by endpoint",
    );
    assert_eq!(named.field("groups").as_array().unwrap().len(), 2);
}

#[test]
fn what_holds_no_single_attempts_is_refused_by_name() {
    let files = Files::new();
    for (name, text, parts) in [
        (
            "r.jtl",
            "<?xml version=\"1.0\"?>\n<testResults version=\"1.2\">\n",
            ["JMeter's XML", "output_format=csv"],
        ),
        (
            "stats.csv",
            "Type,Name,Request Count,Failure Count,Median Response Time,Average Response Time\nPOST,/,5,0,9,9\n",
            ["Locust", "events.request"],
        ),
        (
            "history.csv",
            "Timestamp,User Count,Type,Name,Requests/s\n1700000000,1,POST,/,5\n",
            ["Locust", "single requests"],
        ),
        ("array.json", "[{\"duration_ms\":5}]", ["JSON array", "jq -c"]),
        (
            "report.json",
            "{\"latencies\":{\"mean\":5},\"status_codes\":{\"200\":5}}",
            ["vegeta", "encode --to csv"],
        ),
        ("pretty.json", "{\n \"duration_ms\": 5\n}\n", ["no JSON objects of one line", "jq -c"]),
        (
            "combined.log",
            "10.0.0.1 - - [14/Nov/2023:22:13:20 +0000] \"GET / HTTP/1.1\" 200 12 \"-\" \"a\"\n",
            ["combined format", "$request_time"],
        ),
        (
            "means.csv",
            "minute,avg_duration_ms,requests\n1700000000,120,900\n",
            ["statistic", "avg_duration_ms"],
        ),
    ] {
        assert_refused(&ingest([&files.write(name, text)]), &parts);
    }
}

#[test]
fn lines_that_are_not_of_the_format_are_counted_with_their_numbers() {
    let files = Files::new();
    let log = std::fs::read_to_string("fixtures/nginx.log").unwrap();
    let file = files.write("a.log", format!("{log}garbage\n"));
    let output = ingest([&file]);
    assert_eq!(output.number("skipped_rows"), 1.0);
    let notes = output.json()["notes"].to_string();
    assert!(notes.contains("a.log:201 ") && notes.contains("garbage"), "{notes}");
    let json = files.write("a.jsonl", "{\"duration_ms\":5}\n{\"duration_ms\":null}\nnope\n");
    assert_refused(&ingest([&json]), &["a.jsonl:2", "2 of 3 rows"]);
}

#[test]
fn a_damaged_line_of_lines_with_one_field_is_no_attempt() {
    let files = Files::new();
    let file = files.write("one.jsonl", "{\"duration_ms\":5}\n7\n{\"duration_ms\":6}\n");
    assert_refused(&ingest([&file]), &["one.jsonl:2", "\"7\"", "no lines of the format JSON lines"]);
    let output = ingest([&file, "--max-bad-rows", "1"]);
    assert_eq!((output.number("count"), output.number("mean_s")), (2.0, 0.0055));
}

#[test]
fn a_count_column_is_recognised_or_asked_for_and_never_read_as_one_attempt_a_row() {
    let buckets = run_json("ingest fixtures/buckets.csv");
    assert_eq!(
        (buckets.number("count"), &buckets.field("source")["count_column"]),
        (2200.0, &"count".into())
    );
    assert!(close(buckets.number("mean_s"), 0.089_545_454_545_454_54, 4e-16));
    assert!(close(buckets.number("scv"), 113.192_068_850_009_02, 4e-16));
    assert!(buckets.json()["notes"].to_string().contains("count-column-found"));
    let rows = run_json("ingest fixtures/buckets.csv --count-column none");
    assert_eq!(rows.number("count"), 7.0);
    let files = Files::new();
    let sql = files.write("sql.csv", "\"value\",\"COUNT(*)\"\n\"12.5\",\"4\"\n\"20\",\"6\"\n");
    assert_eq!(ingest([&sql, "--unit", "ms"]).number("count"), 10.0);
    let numbered = files.write("numbered.csv", "n,duration_ms\n1,5\n2,6\n3,5\n");
    assert_eq!(ingest([&numbered]).number("count"), 3.0, "a number of the row is no count");
    let stamped = files.write("stamped.csv", "ts,duration_ms,requests\n1700000000,5,3\n1700000001,6,2\n");
    assert_refused(&ingest([&stamped]), &["\"requests\"", "--count-column none"]);
    assert_eq!(ingest([&stamped, "--count-column", "requests"]).number("count"), 5.0);
}

#[test]
fn nothing_is_said_of_failures_where_nothing_told_them() {
    let files = Files::new();
    let silent = files.write("silent.csv", "duration_ms\n5\n6\n");
    assert_eq!(ingest([&silent]).field("failures_recorded"), false);
    let text = run(&format!("ingest {silent}")).stdout;
    assert!(text.contains("not recorded") && !text.contains("(0%)"), "{text}");
    let told = run("ingest fixtures/attempts.jsonl").stdout;
    assert!(told.contains("told by column http.status") && told.contains("7 (3.5%)"), "{told}");
}

#[test]
fn phases_have_their_shares_and_connections_their_reuse() {
    let output = run_json("ingest fixtures/phases.csv --group-by endpoint");
    let phases = output.field("phases");
    let phase =
        |name: &str| phases.as_array().unwrap().iter().find(|phase| phase["name"] == name).unwrap().clone();
    for (name, mean, share) in [
        ("pool wait", 0.004_768_75, 0.042_889_334_992_935_12),
        ("connect", 0.000_302_365, 0.002_719_419_926_634_616_5),
        ("tls", 0.008_241_2, 0.074_119_965_933_164_22),
        ("http", 0.095_375, 0.857_786_699_858_702_4),
        ("ack", 0.0025, 0.022_484_579_288_563_43),
    ] {
        assert!(close(phase(name)["mean_s"].as_f64().unwrap(), mean, 1e-14), "{name}");
        assert!(close(phase(name)["share"].as_f64().unwrap(), share, 1e-14), "{name}");
    }
    assert_eq!(output.number("reuse_ratio"), 0.87);
    let groups = output.field("groups");
    let reuse = |name: &str| {
        groups.as_array().unwrap().iter().find(|group| group["name"] == name).unwrap()["reuse_ratio"].as_f64()
    };
    assert_eq!((reuse("orders"), reuse("billing")), (Some(1.0), Some(0.74)));
    let files = Files::new();
    let saved = files.path("p.json");
    ingest(["fixtures/phases.csv", "--group-by", "endpoint", "--save", &saved]);
    let read = ingest([&saved]);
    assert_eq!(
        (read.field("phases"), read.field("groups")),
        (output.field("phases"), output.field("groups"))
    );
    let k6 = run_json("ingest fixtures/k6.csv");
    assert!(close(k6.number("reuse_ratio"), 0.82, 1e-15), "k6 tells by rows of their own");
    let hey = run_json("ingest fixtures/hey.csv");
    assert!(close(hey.number("reuse_ratio"), 0.971_937_029_431_896, 1e-15));
}

#[test]
fn rows_that_are_phases_are_said_to_be_no_attempts() {
    let files = Files::new();
    let rows = "1,dns,10\n1,connect,20\n1,http,100\n2,http,140\n2,connect,0\n2,ack,30\n".repeat(10);
    let file = files.write("long.csv", format!("id,phase,duration_ms\n{rows}"));
    let output = ingest([&file]);
    assert!(output.json()["notes"].to_string().contains("rows-are-phases"));
    // 300 ms of phases for each pair of attempts.
    let of_phases = output.field("of_phases");
    assert_eq!((of_phases["attempts"].as_u64(), of_phases["mean_s"].as_f64()), (Some(20), Some(0.15)));
    assert_eq!(output.number("reuse_ratio"), 0.5);
    let one = ingest([&file, "--where", "phase=http"]);
    assert_eq!((one.number("count"), one.number("mean_s")), (20.0, 0.12));
    assert!(!one.json()["notes"].to_string().contains("rows-are-phases"));
}

#[test]
fn a_comparison_says_what_moved_the_mean_and_what_it_costs() {
    let files = Files::new();
    let saved = files.path("before.json");
    let week = "fixtures/attempts-week.csv.gz";
    ingest([week, "--group-by", "endpoint", "--save", &saved]);
    let same = ingest([week, "--group-by", "endpoint", "--compare", &saved]);
    assert_eq!(same.field("comparison")["moved_s"], 0.0);
    let now =
        ingest([week, "--group-by", "endpoint", "--where", "endpoint!=legacy-erp", "--compare", &saved]);
    let comparison = now.field("comparison");
    assert_eq!(comparison["moved_most"], "legacy-erp");
    let moved: f64 = comparison["groups"]
        .as_array()
        .unwrap()
        .iter()
        .map(|group| group["moved_mean_s"].as_f64().unwrap())
        .sum();
    let before = ingest([&saved]).number("mean_s");
    assert!(close(moved, now.number("mean_s") - before, 1e-9), "{moved}");
    assert!(comparison["workers"]["before"].as_u64() >= comparison["workers"]["after"].as_u64());
    assert_matches("ingest", &now.json());
    let text =
        run(&format!("ingest {week} --group-by endpoint --where endpoint!=legacy-erp --compare {saved}"));
    let answer = |text: &str| text.split("\n\n").next().unwrap().replace('\n', " ");
    let first = answer(&text.stdout);
    assert!(first.contains("shorter than in") && first.contains("legacy-erp"), "{first}");
    // Twenty a second: 0.1 s each are two busy workers, 0.4 s each are eight.
    let rows =
        |ms: u32| (0..2000).map(|n| format!("{},{ms}\n", 1_700_000_000_000u64 + n * 50)).collect::<String>();
    let old = files.write("old.csv", format!("ts,duration_ms\n{}", rows(100)));
    let new = files.write("new.csv", format!("ts,duration_ms\n{}", rows(400)));
    let slower = run(&format!("ingest {new} --compare {old}")).stdout;
    let first = answer(&slower);
    assert!(first.contains("300 ms (300%) longer") && first.contains("costs 6 workers at 20/s"), "{first}");
    assert_refused(&ingest([week, "--compare", "/nowhere.json"]), &["/nowhere.json"]);
}

#[test]
fn figures_and_formulas_are_there_when_asked_for() {
    let files = Files::new();
    let svg = files.path("a.svg");
    assert_eq!(run(&format!("ingest fixtures/hey.csv --plot {svg}")).code, 0);
    let text = std::fs::read_to_string(&svg).unwrap();
    assert!(roxmltree::Document::parse(&text).is_ok() && text.contains("of busy time"));
    assert!(run("ingest fixtures/hey.csv --plot").stdout.contains("of busy time"));
    let explained = run("ingest fixtures/attempts-week.csv.gz --explain").stdout;
    assert!(
        explained.contains("/ 60,000 = 1.422 s") && explained.contains("attempt 59,400 of 60,000"),
        "{explained}"
    );
}

#[test]
fn hostile_input_is_an_error_in_words() {
    let files = Files::new();
    let utf32: Vec<u8> =
        "duration_ms\n5\n".chars().flat_map(|letter| u32::from(letter).to_le_bytes()).collect();
    let marked = [b"\xff\xfe\0\0".to_vec(), utf32.clone()].concat();
    let cases: &[(&str, Vec<u8>, &[&str])] = &[
        ("utf32.csv", utf32, &["UTF-32"]),
        ("marked.csv", marked, &["UTF-32", "iconv -f UTF-32"]),
        ("zeros.csv", vec![0; 5000], &["nothing but zero bytes"]),
        ("some.csv", b"duration_ms\n5\n6\0\n".to_vec(), &["some.csv:3", "zero bytes"]),
        ("short.csv", b"duration_s\n1e-10\n2\n".to_vec(), &["short.csv:2:1", "half a nanosecond"]),
        ("twice.csv", b"a,b,a\n1,2,3\n".to_vec(), &["both called \"a\"", "1 or 3"]),
        (
            "stamp.csv",
            b"ts,duration_ms\n1700000000,5\nsoon,6\n".to_vec(),
            &["stamp.csv:3:1", "bad time stamp", "soon"],
        ),
    ];
    for (name, bytes, parts) in cases {
        let file = files.write(name, bytes);
        let output = match *name {
            "twice.csv" => ingest([&file, "--column", "a", "--unit", "ms"]),
            "stamp.csv" => ingest([&file, "--timestamp-column", "ts"]),
            _ => ingest([&file]),
        };
        assert_refused(&output, parts);
    }
}

/// A line without end that comes through a pipe: refused long before it could fill the memory.
#[test]
#[cfg(target_os = "linux")]
fn a_line_of_four_gigabytes_takes_no_memory() {
    let files = Files::new();
    let header = files.write("header.csv", "duration_ms\n5\n");
    for options in ["", "--input-format jsonl"] {
        let script = format!(
            "ulimit -v 400000; (cat {header}; head -c 4G /dev/zero | tr '\\0' 7) | '{}' ingest - {options}",
            env!("CARGO_BIN_EXE_whsize")
        );
        let output = std::process::Command::new("sh").args(["-c", &script]).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{output:?}");
        assert!(output.stdout.is_empty());
        let message = String::from_utf8(output.stderr).unwrap();
        assert!(message.contains("longer than") || message.contains("no JSON objects"), "{message}");
    }
}
