//! `whsize ingest`.

use crate::schema::assert_matches;
use crate::support::{Output, command, run, run_all, run_json};
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use tempfile::TempDir;

/// A folder of files for one test.
pub(crate) struct Files(TempDir);

impl Files {
    pub(crate) fn new() -> Self {
        Files(TempDir::new().unwrap())
    }

    pub(crate) fn path(&self, name: &str) -> String {
        self.0.path().join(name).display().to_string()
    }

    pub(crate) fn write(&self, name: &str, bytes: impl AsRef<[u8]>) -> String {
        fs::write(self.path(name), bytes).unwrap();
        self.path(name)
    }
}

pub(crate) fn gzipped(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

pub(crate) fn ingest<const N: usize>(arguments: [&str; N]) -> Output {
    run_all(["ingest"].into_iter().chain(arguments).chain(["--format", "json"]))
}

pub(crate) fn close(found: f64, expected: f64, relative: f64) -> bool {
    (found - expected).abs() <= relative * expected.abs()
}

/// The folder of files that other projects made; they are not part of this one.
#[allow(clippy::print_stdout, reason = "a test that is skipped says so")]
pub(crate) fn shared() -> Option<PathBuf> {
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared");
    let folder = std::env::var_os("WHSIZE_SHARED").map_or(beside, PathBuf::from).join("data");
    if !folder.is_dir() {
        println!(
            "skipped: {} is not there, so files that other projects made are not read",
            folder.display()
        );
        return None;
    }
    Some(folder)
}

/// Mean, SCV, least, greatest, median and p99 as Python's `fractions` compute them from the same files.
#[test]
fn means_and_variations_are_exact_and_quantiles_within_a_thousandth() {
    for (file, count, failures, mean, scv, min, max, median, p99) in [
        (
            "attempts-week.csv.gz",
            60_000,
            2133,
            1.421_646_881_666_666_8,
            15.323_537_350_201_017,
            0.0082,
            29.9988,
            0.1203,
            28.1534,
        ),
        (
            "hey.csv",
            1461,
            17,
            0.024_457_768_651_608_487,
            0.426_743_026_092_880_56,
            0.0034,
            0.1363,
            0.0203,
            0.0797,
        ),
        (
            "oha.csv",
            1454,
            18,
            0.024_144_107_590_096_286,
            0.459_862_640_136_137_65,
            0.002_504_896,
            0.174_391_573,
            0.020_420_827,
            0.086_239_645,
        ),
        ("jmeter.csv", 1200, 28, 0.152_312_5, 31.836_834_092_471_83, 0.006, 10.033, 0.063, 0.366),
    ] {
        let output = run_json(&format!("ingest fixtures/{file}"));
        assert_eq!(output.number("count"), f64::from(count), "{file}");
        assert_eq!(output.number("failures"), f64::from(failures), "{file}");
        assert!(close(output.number("mean_s"), mean, 2e-16), "{file}: {}", output.number("mean_s"));
        assert!(close(output.number("scv"), scv, 2e-16), "{file}: {}", output.number("scv"));
        assert_eq!((output.number("min_s"), output.number("max_s")), (min, max), "{file}");
        let quantiles = output.field("quantiles");
        for (place, expected) in [(0, median), (3, p99)] {
            let found = quantiles[place]["value_s"].as_f64().unwrap();
            assert!(found >= expected && found <= expected * 1.001, "{file}: {found} for {expected}");
        }
        assert_matches("ingest", &output.json());
    }
}

#[test]
fn load_tools_are_recognised_and_their_blind_spots_are_named() {
    for (file, format, column, unit, notes) in [
        ("hey.csv", "hey csv", "response-time", "s", ["endpoint-latency", "attempts-missing"]),
        ("oha.csv", "oha csv", "request-duration", "s", ["endpoint-latency", "attempts-missing"]),
        ("jmeter.csv", "JMeter csv", "elapsed", "ms", ["endpoint-latency", "load-tool-arrivals"]),
    ] {
        let output = run_json(&format!("ingest fixtures/{file}"));
        let source = output.field("source");
        assert_eq!(
            (&source["format"], &source["column"], &source["unit"]),
            (&format.into(), &column.into(), &unit.into())
        );
        let codes = output.json()["notes"].to_string();
        assert!(notes.iter().all(|code| codes.contains(code)), "{file}: {codes}");
        let corrected = run_json(&format!("ingest fixtures/{file} --overhead 40ms"));
        let codes = corrected.json()["notes"].to_string();
        assert!(!codes.contains("endpoint-latency") && codes.contains("latency-corrected"), "{codes}");
        assert!(close(corrected.number("mean_s"), output.number("mean_s") + 0.04, 1e-12));
    }
    let halved = run_json("ingest fixtures/hey.csv --endpoint-share 50%");
    let plain = run_json("ingest fixtures/hey.csv");
    assert!(close(halved.number("mean_s"), 2.0 * plain.number("mean_s"), 1e-12));
    assert_eq!(run("ingest fixtures/hey.csv --endpoint-share 0").code, 2);
}

#[test]
fn groups_are_sorted_by_busy_time_and_add_up() {
    let output = run_json("ingest fixtures/attempts-week.csv.gz --group-by endpoint");
    let groups = output.field("groups");
    let groups = groups.as_array().unwrap();
    assert_eq!(groups.len(), 12);
    assert_eq!(groups[0]["name"], "legacy-erp");
    let shares: Vec<f64> = groups.iter().map(|group| group["share_of_busy_time"].as_f64().unwrap()).collect();
    assert!(shares.is_sorted_by(|a, b| a >= b) && close(shares.iter().sum(), 1.0, 1e-12), "{shares:?}");
    let count: u64 = groups.iter().map(|group| group["count"].as_u64().unwrap()).sum();
    assert_eq!(count, 60_000);
    let one = run_json("ingest fixtures/attempts-week.csv.gz --where endpoint=legacy-erp");
    assert_eq!(one.field("mean_s"), groups[0]["mean_s"]);
    let rest = run_json("ingest fixtures/attempts-week.csv.gz --where endpoint!=legacy-erp");
    assert_eq!(one.number("count") + rest.number("count"), 60_000.0);
}

#[test]
fn a_timeout_is_judged_attempt_by_attempt() {
    let output = run_json("ingest fixtures/attempts-week.csv.gz --cap 1s,25 --cap 40");
    let caps = output.field("cap_effect");
    let cut: Vec<u64> =
        caps.as_array().unwrap().iter().map(|cap| cap["attempts_cut"].as_u64().unwrap()).collect();
    // Counted with awk: 3,083 attempts above 1 s, 1,628 above 25 s.
    let text = std::process::Command::new("sh")
        .args(["-c", "gzip -dc fixtures/attempts-week.csv.gz | awk -F, 'NR>1 && $4>1000 {a++} NR>1 && $4>25000 {b++} END {print a, b}'"])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .unwrap();
    let counted = String::from_utf8(text.stdout).unwrap();
    assert_eq!(format!("{} {}", cut[0], cut[1]), counted.trim());
    assert_eq!(cut[2], 0);
    assert_eq!(caps[2]["mean_s"], output.field("mean_s"));
    let shown = run("ingest fixtures/attempts-week.csv.gz --cap 1s").stdout;
    assert!(
        shown.contains("would do to the smallest pool for the busiest minute"),
        "whose workers are saved: {shown}"
    );
}

#[test]
fn more_timeouts_than_are_counted_are_refused() {
    let caps = |count: u32| (1..=count).map(|cap| format!("{cap}s")).collect::<Vec<_>>().join(",");
    let output = ingest(["fixtures/attempts-week.csv.gz", "--cap", &caps(16), "--cap", "1s,1000ms"]);
    assert_eq!(output.field("cap_effect").as_array().unwrap().len(), 16, "{}", output.stderr);
    let refused = ingest(["fixtures/attempts-week.csv.gz", "--cap", &caps(17)]);
    assert_refused(&refused, &["--cap names 17 timeouts, and at most 16 are counted"]);
}

#[test]
fn several_files_standard_input_and_compression_give_the_same_profile() {
    let files = Files::new();
    let rows = |from: u32, to: u32| {
        let row = |n: u32| format!("{},h{},{}\n", 1_700_000_000 + n / 20, n % 3, 80 + n * 37 % 90);
        (from..to).map(row).collect::<String>()
    };
    let header = "timestamp,host,duration_ms\n";
    let whole = files.write("whole.csv", format!("{header}{}", rows(0, 2000)));
    let first = files.write("first.csv", format!("{header}{}", rows(0, 700)));
    let second = files.write("second.csv.gz", gzipped(format!("{header}{}", rows(700, 2000)).as_bytes()));
    let crlf = files.write("crlf.csv", format!("\u{feff}{header}{}", rows(0, 2000)).replace('\n', "\r\n"));
    let quoted = files.write(
        "quoted.csv",
        format!("{header}{}", rows(0, 2000))
            .replace(',', "\",\"")
            .replace('\n', "\"\n\"")
            .trim_end_matches('"'),
    );
    let quoted = files.write("quoted.csv", format!("\"{}", fs::read_to_string(quoted).unwrap()));
    let result = |output: Output| {
        assert_eq!(output.code, 0, "{}", output.stderr);
        let mut result = output.json()["result"].clone();
        result["source"]["files"].take();
        result
    };
    let expected = result(ingest([&whole, "--group-by", "host"]));
    assert_eq!(result(ingest([&first, &second, "--group-by", "host"])), expected);
    assert_eq!(result(ingest([&crlf, "--group-by", "host"])), expected);
    assert_eq!(result(ingest([&quoted, "--group-by", "host"])), expected);
    let mut child = command()
        .args(["ingest", "-", "--group-by", "host", "--format", "json"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(&fs::read(&whole).unwrap()).unwrap();
    let output = child.wait_with_output().unwrap();
    let piped: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(piped["result"]["mean_s"], expected["mean_s"]);
    assert_eq!(piped["result"]["source"]["files"][0], "-");
}

#[test]
fn a_saved_profile_says_the_same_and_merges() {
    let files = Files::new();
    let saved = files.path("week.json");
    let week = "fixtures/attempts-week.csv.gz";
    let fresh = ingest([week, "--group-by", "endpoint", "--save", &saved]);
    assert!(fs::metadata(&saved).unwrap().len() < 100_000);
    let (mut fresh, mut read) = (fresh.json()["result"].clone(), ingest([&saved]).json()["result"].clone());
    for result in [&mut fresh, &mut read] {
        result["skipped_rows"].take();
    }
    assert_eq!(read, fresh);
    let twice = ingest([&saved, &saved]);
    assert_eq!(twice.number("count"), 120_000.0);
    assert_eq!(twice.field("mean_s"), fresh["mean_s"]);
    assert_eq!(twice.field("scv"), fresh["scv"]);
    let damaged =
        files.write("damaged.json", fs::read_to_string(&saved).unwrap().replace("\"count\":", "\"count\":9"));
    assert_refused(&ingest([&damaged]), &["damaged.json", "saved profile"]);
    let truncated = files.write("cut.json", &fs::read(&saved).unwrap()[..5000]);
    assert_refused(&ingest([&truncated]), &["cut.json:1:", "saved profile"]);
}

#[test]
fn weights_stand_for_attempts() {
    let files = Files::new();
    let table = files.write("buckets.tsv", "duration_s\tn\n0.1\t900\n2.5\t100\n");
    let output = ingest([&table, "--count-column", "n"]);
    assert_eq!(output.number("count"), 1000.0);
    assert!(close(output.number("mean_s"), 0.34, 1e-15));
    assert!(close(output.field("quantiles")[0]["value_s"].as_f64().unwrap(), 0.1, 1e-3));
    assert_eq!(output.field("source")["format"], "tsv");
}

#[test]
fn awkward_numbers_are_read_right() {
    let files = Files::new();
    for (text, arguments, mean) in [
        ("Dauer;wert\na;1,4\nb;1,6\n", vec!["--column", "wert", "--unit", "s"], 1.5),
        ("elapsed\n1.4s\n120ms\n1m30s\n250\u{b5}s\n250\u{3bc}s\n", vec![], 18.3041),
        ("x,took_ms\n1,\"1,234.5\"\n2,\"765.5\"\n", vec![], 1.0),
        ("duration_ms,x\n1.0E-4,1\n", vec![], 1e-7),
        ("\"duration\"\n\"00:00:01.5\"\n", vec![], 1.5),
        ("1.5\n2.5\n", vec!["--unit", "ms"], 0.002),
        ("a|duration_us\n1|500\n\n2|1500\n", vec![], 0.001),
    ] {
        let file = files.write("x.csv", text);
        let output = run_all(["ingest", &file, "--format", "json"].into_iter().chain(arguments));
        assert_eq!(output.code, 0, "{text}: {}", output.stderr);
        assert!(close(output.number("mean_s"), mean, 1e-15), "{text}: {}", output.number("mean_s"));
    }
}

pub(crate) fn assert_refused(output: &Output, parts: &[&str]) {
    assert_eq!((output.code, output.stdout.as_str()), (2, ""), "{}", output.stderr);
    for part in parts {
        assert!(output.stderr.contains(part), "{part:?} is not in {}", output.stderr);
    }
}

#[test]
fn what_cannot_be_read_is_refused_with_place_reason_and_remedy() {
    let files = Files::new();
    let utf16: Vec<u8> = "\u{feff}duration_ms\n5\n".encode_utf16().flat_map(u16::to_le_bytes).collect();
    let long = [b"duration_ms\n5\n".to_vec(), vec![b'7'; 3 << 20]].concat();
    let packed = gzipped(&b"duration_ms\n12.345\n".repeat(100_000));
    let cases: &[(&str, Vec<u8>, &[&str])] = &[
        ("utf16.csv", utf16, &["UTF-16", "iconv"]),
        ("cut.csv.gz", packed[..packed.len() / 2].to_vec(), &["cut short"]),
        ("empty.csv", vec![], &["there is nothing in it"]),
        ("header.csv", b"timestamp,duration_ms\n".to_vec(), &["no row below"]),
        ("failed.csv", b"duration_ms,status\n30000,504\n30000,0\n".to_vec(), &["all 2 attempts failed"]),
        (
            "mixed.csv",
            b"duration\n1.4s\n120\n130\n".to_vec(),
            &["mixed.csv:3:1", "has no unit", "\"120\"", "--max-bad-rows"],
        ),
        ("units.csv", b"duration_ms\n1.4s\n120\n".to_vec(), &["units.csv:2:1", "unit is not that"]),
        ("bare.csv", b"t,duration\n1,95\n".to_vec(), &["names no unit", "95", "--unit"]),
        ("which.csv", b"alpha,beta\n1,2\n".to_vec(), &["\"alpha\", \"beta\"", "--column"]),
        ("headless.csv", b"1,2\n3,4\n".to_vec(), &["2 columns and no header", "--column"]),
        (
            "stamps.csv",
            b"duration_ms\n1700000000123\n1700000000124\n".to_vec(),
            &["stamps.csv:2:1", "longer than seven days"],
        ),
        ("negative.csv", b"duration_ms\n-1\n5\n".to_vec(), &["negative.csv:2:1", "negative"]),
        ("long.csv", long, &["long.csv:3", "longer than a megabyte"]),
        ("endless.csv", vec![b'7'; 3 << 20], &["endless.csv:1", "longer than"]),
        ("quote.csv", b"duration_ms,note\n5,\"open\n6,x\n".to_vec(), &["quote.csv:2", "never ends"]),
        ("ragged.csv", b"duration_ms,note\n5,a\n6\n7,b,c\n".to_vec(), &["ragged.csv:3", "number of fields"]),
        ("binary.csv", b"\x00\x01\x02duration".to_vec(), &["binary"]),
        ("comma.csv", b"a,duration_ms\n1,\"1,4\"\n".to_vec(), &["comma.csv:2:3", "comma"]),
        (
            "ambiguous.csv",
            b"a\tduration_ms\n1\t1,234\n".to_vec(),
            &["ambiguous.csv:2:3", "may be a decimal sign"],
        ),
    ];
    for (name, bytes, parts) in cases {
        let file = files.write(name, bytes);
        assert_refused(&ingest([&file]), &[&[*name], *parts].concat());
    }
    let folder = files.path("");
    assert_refused(&ingest([&folder]), &["it is a directory"]);
    assert_refused(&ingest([&files.path("absent.csv")]), &["absent.csv: it cannot be opened"]);
    let good = files.write("good.csv", "timestamp,duration_ms\n1700000000,5\n");
    assert_refused(
        &ingest([&good, "--column", "nope"]),
        &["no column \"nope\"", "\"timestamp\", \"duration_ms\""],
    );
    assert_refused(&ingest([&good, "--where", "duration_ms=6"]), &["none of its 1 rows passes"]);
    assert_refused(&ingest([&good, "--since", "1800000000"]), &["--since"]);
    assert_refused(&ingest([&good, "--since", "yesterday"]), &["\"yesterday\""]);
    for end in ["\r", "\n"] {
        assert_refused(&ingest([&good, "--delimiter", end]), &["or line's end"]);
    }
    assert_refused(&ingest([&good, "--save", "/nowhere/p.json"]), &["/nowhere/p.json"]);
}

#[test]
fn skipped_rows_are_counted_with_their_lines_and_too_many_are_an_error() {
    let files = Files::new();
    let mut text = "duration_ms\n".to_owned() + &"5\n".repeat(300);
    text.push_str("NULL\noops\n");
    let file = files.write("x.csv", &text);
    let output = ingest([&file]);
    assert_eq!((output.number("count"), output.number("skipped_rows")), (300.0, 2.0));
    let notes = output.json()["notes"].to_string();
    assert!(
        notes.contains("x.csv:302:1 \\\"NULL\\\"") && notes.contains("x.csv:303:1 \\\"oops\\\""),
        "{notes}"
    );
    assert_refused(&ingest([&file, "--max-bad-rows", "1"]), &["2 of 302 rows", "1 is allowed"]);
    assert_eq!(ingest([&file, "--max-bad-rows", "2"]).code, 0);
    assert_refused(&ingest([&file, "--max-bad-rows", "0%"]), &["x.csv:302:1"]);
}

#[test]
fn time_selects_attempts() {
    let files = Files::new();
    let rows: String =
        (0..100).map(|n| format!("2026-03-02T00:{:02}:{:02}Z,{n}\n", n / 60, n % 60)).collect();
    let file = files.write("x.csv", format!("ts,duration_ms\n{rows}"));
    let output = ingest([&file, "--since", "2026-03-02T00:00:10Z", "--until", "2026-03-02 00:01:00"]);
    assert_eq!((output.number("count"), output.number("filtered_rows")), (50.0, 50.0));
    let arrivals = output.field("arrivals");
    assert_eq!((arrivals["span_s"].as_f64(), arrivals["mean_rate_per_s"].as_f64()), (Some(49.0), Some(1.0)));
}

/// Files of other projects: values computed from them with Python's `fractions`.
#[test]
fn exports_that_other_projects_made_are_read_right() {
    let Some(data) = shared() else { return };
    let path = |name: &str| data.join("csv").join(name).display().to_string();
    let output = ingest([&path("hey.csv")]);
    assert!(close(output.number("mean_s"), 0.129_245_966_666_666_66, 2e-16));
    assert!(close(output.number("scv"), 5.998_992_555_269_935, 2e-16));
    assert_eq!((output.number("count"), output.number("failures")), (3000.0, 28.0));
    let output = ingest([&path("HTMLReportTestFile.csv"), "--group-by", "label"]);
    assert!(close(output.number("mean_s"), 0.235_474_509_803_921_57, 2e-16));
    assert_eq!((output.number("count"), output.number("failures")), (255.0, 3.0));
    assert_refused(&ingest([&path("JDBC_TESTS.csv")]), &["no column can be told", "\"SampleCount\""]);
    assert_refused(&ingest([&path("testquoted.csv")]), &["testquoted.csv:5", "never ends"]);
}

#[test]
fn a_profile_is_never_saved_over_an_input_and_never_half() {
    let folder = tempfile::tempdir().unwrap();
    let input = folder.path().join("in.csv");
    std::fs::write(&input, "duration_ms\n10\n20\n30\n").unwrap();
    let link = folder.path().join("link.csv");
    std::fs::hard_link(&input, &link).unwrap();
    for target in [&input, &link, &folder.path().join("./in.csv")] {
        let output = run(&format!("ingest {} --save {}", input.display(), target.display()));
        assert!(output.code == 2 && output.stderr.contains("one of the inputs"), "{output:?}");
    }
    assert!(std::fs::read_to_string(&input).unwrap().starts_with("duration_ms"));
    let full = run(&format!("ingest {} --save /dev/full", input.display()));
    assert!(full.code == 2 && full.stderr.contains("/dev/full"), "{full:?}");
    assert!(std::path::Path::new("/dev/full").exists());
}

#[test]
fn a_profile_goes_down_a_pipe() {
    let saved = run("ingest fixtures/attempts-week.csv.gz --save -");
    assert!(
        saved.code == 0 && saved.stdout.starts_with('{') && saved.stdout.contains("whsize.profile/1"),
        "{saved:?}"
    );
}
