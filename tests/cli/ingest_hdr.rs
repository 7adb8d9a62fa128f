//! `whsize ingest` of HdrHistograms.

use crate::ingest::{Files, assert_refused, close, ingest, shared};
use crate::schema::assert_matches;
use crate::support::{Output, run_all};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use hdrhistogram::Histogram;
use hdrhistogram::serialization::{Serializer, V2DeflateSerializer, V2Serializer};
use std::fs;

fn histogram(values: impl IntoIterator<Item = u64>) -> Histogram<u64> {
    let mut histogram = Histogram::new_with_bounds(1, 3_600_000_000_000, 3).unwrap();
    values.into_iter().for_each(|value| histogram.record(value).unwrap());
    histogram
}

fn deflated(histogram: &Histogram<u64>) -> Vec<u8> {
    let mut bytes = Vec::new();
    V2DeflateSerializer::new().serialize(histogram, &mut bytes).unwrap();
    bytes
}

fn base64(histogram: &Histogram<u64>) -> String {
    STANDARD.encode(deflated(histogram))
}

fn quantile(output: &Output, place: usize, field: &str) -> f64 {
    output.field("quantiles")[place][field].as_f64().unwrap()
}

/// Delivery times in nanoseconds with a timeout tail.
fn values() -> impl Iterator<Item = u64> {
    (0..5000u64).map(|n| if n % 50 == 0 { 9_000_000_000 + n } else { 80_000_000 + n * 7_919 })
}

#[test]
fn a_single_histogram_is_read_binary_or_base64_compressed_or_not() {
    let files = Files::new();
    let made = histogram(values());
    let mut plain = Vec::new();
    V2Serializer::new().serialize(&made, &mut plain).unwrap();
    let wrapped: String = base64(&made)
        .as_bytes()
        .chunks(64)
        .map(|line| format!("{}\n", String::from_utf8_lossy(line)))
        .collect();
    for file in [
        files.write("plain.hist", &plain),
        files.write("packed.hist", deflated(&made)),
        files.write("packed.hist.gz", crate::ingest::gzipped(&deflated(&made))),
        files.write("text.hist", base64(&made)),
        files.write("wrapped.hist", wrapped),
        files.write("plain.txt", STANDARD.encode(&plain)),
    ] {
        let output = ingest([&file]);
        assert_eq!(output.code, 0, "{file}: {}", output.stderr);
        assert_eq!(output.number("count"), 5000.0);
        // What the library itself says, in nanoseconds; to a rounding of the float.
        assert!(close(output.number("mean_s"), made.mean() / 1e9, 1e-14), "{file}");
        assert!(close(output.number("stddev_s"), made.stdev() / 1e9, 1e-9), "{file}");
        assert_eq!(quantile(&output, 2, "value_s"), made.value_at_quantile(0.95) as f64 / 1e9);
        assert_eq!(output.field("source")["format"], "HDR histogram");
        assert_eq!(output.field("source")["from_histogram"], true);
        let notes = output.json()["notes"].to_string();
        assert!(notes.contains("hdr-unit-assumed") && notes.contains("mean-from-buckets"), "{notes}");
        assert_matches("ingest", &output.json());
    }
    let named = ingest([&files.path("text.hist"), "--unit", "us"]);
    assert!(close(named.number("mean_s"), made.mean() / 1e6, 1e-9));
    assert!(!named.json()["notes"].to_string().contains("hdr-unit-assumed"));
}

/// Values of files that the HdrHistogram project ships: Σ mean·n over the intervals by exact sums, quantiles and
/// maximum as its own readers have them when they add the intervals up with three digits.
#[test]
fn logs_of_all_versions_give_the_means_of_their_intervals() {
    let Some(data) = shared() else { return };
    for (file, intervals, count, mean, p50, p99, max) in [
        ("jHiccup-2.0.1.logV0", 81, 61_256, 33_138_447.0, 377_087, 1_099_956_223, 1_569_718_271),
        ("jHiccup-2.0.6.logV1", 88, 65_964, 40_037_601.0, 377_087, 1_234_173_951, 1_888_485_375),
        ("jHiccup-2.0.7S.logV2", 62, 48_761, 67_806_931.0, 327_935, 1_427_111_935, 1_796_210_687),
        (
            "jHiccup-with-basetime-2.0.7S.logV2",
            62,
            48_761,
            67_806_931.0,
            327_935,
            1_427_111_935,
            1_796_210_687,
        ),
        ("tagged-Log.logV2", 42, 32_290, 74_889_902.0, 344_319, 1_385_168_895, 1_544_552_447),
    ] {
        let path = data.join("hdr").join(format!("{file}.hlog")).display().to_string();
        let output = ingest([&path]);
        assert_eq!(output.code, 0, "{}", output.stderr);
        assert_eq!(output.number("count"), f64::from(count), "{file}");
        assert!(
            close(output.number("mean_s"), mean / 1e9, 0.5 / mean),
            "{file}: {}",
            output.number("mean_s")
        );
        for (place, ns) in [(0, p50), (3, p99)] {
            assert_eq!(quantile(&output, place, "value_s"), f64::from(ns) / 1e9, "{file}");
            // The bucket's own ends: these logs have two digits, and nothing finer than 16 us.
            let (low, high) = (quantile(&output, place, "low_s"), quantile(&output, place, "high_s"));
            assert!(low * 1e9 <= f64::from(ns) && f64::from(ns) <= high * 1e9, "{file}: {low} {high}");
        }
        assert_eq!(output.number("max_s"), f64::from(max) / 1e9, "{file}");
        let table = run_all(["ingest", &path]);
        let rows = table.stdout.lines().find(|line| line.starts_with("  rows")).unwrap();
        assert_eq!(rows.split_whitespace().nth(1), Some(intervals.to_string().as_str()), "{file}");
    }
}

/// Sum, quantiles and maximum as the Java library printed them when it wrote these fixtures.
#[test]
fn a_log_of_the_java_library_has_its_mean_and_its_buckets() {
    let output = ingest(["fixtures/attempts.hlog"]);
    assert_eq!(output.number("count"), 2400.0);
    assert!(close(output.number("mean_s"), 2_233_233_735_680.0 / 2400.0 / 1e9, 1e-14));
    for (place, ns) in
        [122_683_391f64, 306_184_191.0, 553_648_127.0, 24_159_191_039.0, 29_259_464_703.0].iter().enumerate()
    {
        assert_eq!(quantile(&output, place, "high_s"), ns / 1e9);
        assert!(quantile(&output, place, "low_s") <= quantile(&output, place, "value_s"));
    }
    let rates = output.field("arrivals");
    assert_eq!((rates["mean_rate_per_s"].as_f64(), rates["span_s"].as_f64()), (Some(200.0), Some(12.0)));
    let text = ingest(["fixtures/attempts.hgrm"]);
    assert_eq!(text.number("count"), 2400.0);
    assert!(close(text.number("mean_s"), output.number("mean_s"), 1e-5));
    assert!(close(text.number("stddev_s"), output.number("stddev_s"), 1e-5));
}

#[test]
fn start_and_base_time_place_the_arrivals() {
    let Some(data) = shared() else { return };
    let start = |file: &str| {
        let path = data.join("hdr").join(file).display().to_string();
        let output = ingest([&path]);
        output.field("arrivals")["busiest_minute_start"].as_str().unwrap().to_owned()
    };
    assert!(start("jHiccup-2.0.7S.logV2.hlog").starts_with("2015-09-09T15:24"));
    assert!(start("jHiccup-with-basetime-2.0.7S.logV2.hlog").starts_with("2015-09-09T15:22"));
    // Intervals are selected by the time at which they start.
    let path = data.join("hdr/jHiccup-2.0.7S.logV2.hlog").display().to_string();
    let (since, until) = ("2015-09-09T15:24:49Z", "2015-09-09T15:24:59Z");
    let part = ingest([&path, "--since", since, "--until", until]);
    assert_eq!(part.number("filtered_rows"), 52.0, "ten intervals of a second are left");
}

#[test]
fn tags_become_groups_and_can_be_selected() {
    let Some(data) = shared() else { return };
    let path = data.join("hdr/tagged-Log.logV2.hlog").display().to_string();
    let output = ingest([&path]);
    let groups = output.field("groups");
    let names: Vec<&str> =
        groups.as_array().unwrap().iter().map(|group| group["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["(untagged)", "A"]);
    assert_eq!(groups[0]["count"], 16_145);
    assert_eq!(groups[0]["mean_s"], groups[1]["mean_s"]);
    let tagged = ingest([&path, "--where", "tag=A"]);
    assert_eq!((tagged.number("count"), tagged.number("filtered_rows")), (16_145.0, 21.0));
    assert_eq!(ingest([&path, "--where", "tag!=A"]).number("count"), 16_145.0);
    assert_eq!(ingest([&path, "--where", "tag=(untagged)"]).number("count"), 16_145.0);
    assert_refused(&ingest([&path, "--group-by", "endpoint"]), &["has tags and no \"endpoint\""]);
    assert_refused(&ingest([&path, "--column", "x"]), &["--column does not apply to HDR histograms"]);
}

#[test]
fn lines_that_are_no_interval_are_refused_with_their_number_and_reason() {
    if let Some(data) = shared() {
        for (file, part) in [
            ("test_tagged_invalid_histogram.txt", "cut short"),
            ("test_tagged_invalid_tag_key.txt", "no interval"),
            ("test_tagged_invalid_timestamp.txt", "start is no number of seconds"),
        ] {
            let path = data.join("hdr").join(file).display().to_string();
            let output = run_all(["ingest", "--input-format", "hdr-log", &path, "--format", "json"]);
            assert_refused(&output, &[&format!("{file}:1"), part]);
            assert_refused(&ingest([&path]), &[&format!("{file}:1"), part]);
        }
        for (file, count) in [("seq-nums.hist", 100_000), ("seq-nums.histz", 100_000)] {
            let path = data.join("hdr").join(file).display().to_string();
            let output = ingest([&path]);
            assert_eq!((output.code, output.number("count")), (0, f64::from(count)), "{}", output.stderr);
        }
    }
    let files = Files::new();
    let line = |tag: &str, at: f64| format!("{tag}{at},1.0,2.0,{}\n", base64(&histogram(values())));
    let double = files.write("double.hlog", "#[StartTime: 0]\n0,1,2,DHISTwAAABxx\n");
    assert_refused(&ingest([&double]), &["double.hlog:2", "double histogram"]);
    // One bad line of two hundred is skipped and told.
    let mut many: String = (0..199).map(|n| line("", f64::from(n))).collect();
    many.push_str("199,1,2,HISTFAAAA\n");
    let output = ingest([&files.write("many.hlog", many)]);
    assert_eq!((output.code, output.number("skipped_rows")), (0, 1.0), "{}", output.stderr);
    assert!(output.json()["notes"].to_string().contains("many.hlog:200"));
    // Odd but readable: a byte-order mark, blank lines, another legend, no last line end, an exponent, units.
    let odd = format!(
        "\u{feff}#[StartTime: 1.5e9]\r\n\r\n#UNITS:us\nStartTimestamp,Interval_Length,Interval_Max,Histogram\n {}{}",
        line("Tag=a b,", 0.0),
        line("", 1.0).trim_end()
    );
    let output = ingest([&files.write("odd.hlog", odd)]);
    assert_eq!((output.code, output.number("count")), (0, 10_000.0), "{}", output.stderr);
    assert!(close(output.number("mean_s"), histogram(values()).mean() / 1e6, 1e-9));
    assert_eq!(output.field("groups")[0]["count"], 5000);
}

#[test]
fn a_saved_log_is_read_by_the_hdrhistogram_crate_and_by_whsize_again() {
    let files = Files::new();
    let (log, profile) = (files.path("week.hlog"), files.path("week.json"));
    let fresh = ingest(["fixtures/attempts-week.csv.gz", "--group-by", "endpoint", "--save", &log]);
    assert_eq!(fresh.code, 0, "{}", fresh.stderr);
    assert!(fresh.json()["notes"].to_string().contains("saved-as-hdr-log"));
    let text = fs::read_to_string(&log).unwrap();
    let (mut tags, mut count) = (0, 0);
    for line in text.lines().filter(|line| line.starts_with("Tag=")) {
        let encoded = STANDARD.decode(line.rsplit(',').next().unwrap()).unwrap();
        let read: Histogram<u64> =
            hdrhistogram::serialization::Deserializer::new().deserialize(&mut encoded.as_slice()).unwrap();
        tags += 1;
        count += read.len();
    }
    assert_eq!((tags, count), (12, 60_000));
    let parsed = hdrhistogram::serialization::interval_log::IntervalLogIterator::new(text.as_bytes());
    assert!(parsed.take(14).all(|entry| entry.is_ok()), "the crate's own reader takes every line");
    let back = ingest([&log, "--save", &profile]);
    assert_eq!(back.number("count"), 60_000.0);
    assert!(close(back.number("mean_s"), fresh.number("mean_s"), 1e-3));
    assert_eq!(back.field("groups").as_array().unwrap().len(), 12);
    assert!(!back.json()["notes"].to_string().contains("hdr-unit-assumed"), "the log names its unit");
    // And what came from a log survives in a saved profile (groups with two digits).
    let again = ingest([&profile]);
    for field in ["mean_s", "mean_low_s", "mean_high_s", "scv", "scv_high", "quantiles", "max_s"] {
        assert_eq!(again.field(field), back.field(field), "{field}");
    }
    let merged = ingest([&profile, &profile]);
    assert_eq!((merged.number("count"), merged.field("scv")), (120_000.0, back.field("scv")));
}

#[test]
fn groups_whose_names_a_tag_cannot_hold_stay_apart() {
    let files = Files::new();
    let table = files.write("a.csv", "name,duration_ms\n\"a,b\",1\na b,20\na_b,300\na_b_2,4000\n");
    let log = files.path("a.hlog");
    assert_eq!(ingest([&table, "--group-by", "name", "--save", &log]).code, 0);
    let back = ingest([&log]);
    let groups = back.field("groups");
    let counts: Vec<_> = groups.as_array().unwrap().iter().map(|group| group["count"].as_u64()).collect();
    assert_eq!(counts, [Some(1); 4], "{groups}");
}

#[test]
fn durations_of_another_unit_are_noticed() {
    let files = Files::new();
    let file = files.write("x.hist", base64(&histogram([3_000_000_000_000])));
    assert_refused(&ingest([&file, "--unit", "s"]), &["longer than seven days", "--unit"]);
    assert!(close(ingest([&file, "--overhead", "40ms"]).number("mean_s"), 3000.04, 1e-3));
    assert_refused(&ingest([&file, "--group-by", "tag"]), &["neither tags nor times"]);
    let empty = files.write("empty.hist", base64(&histogram([])));
    assert_refused(&ingest([&empty]), &["empty.hist"]);
}
