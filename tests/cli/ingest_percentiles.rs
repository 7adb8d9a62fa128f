//! `whsize ingest` of percentile text and of the reports of load tools.

use crate::ingest::{Files, assert_refused, close, ingest, shared};
use crate::schema::assert_matches;
use crate::support::{Output, run_all};

fn quantile(output: &Output, place: usize, field: &str) -> f64 {
    output.field("quantiles")[place][field].as_f64().unwrap()
}

/// Mean, deviation and count as the tools printed them, quantiles as the rows that reach them.
#[test]
fn percentile_text_gives_the_mean_of_its_footer() {
    let Some(data) = shared() else { return };
    for (file, format, count, mean, deviation, p50, p99) in [
        ("wrk2-README-sample.txt", "wrk2", 39_500, 6.602, 1.919, 6.671, 11.207),
        ("example1.txt", "HDR percentiles", 475_109, 25.048, 120.097, 11.167, 206.207),
        ("example3.txt", "HDR percentiles", 1_091_324, 297.175, 976.346, 30.447, 5881.855),
    ] {
        let path = data.join("text").join(file).display().to_string();
        let output = ingest([&path]);
        assert_eq!(output.code, 0, "{}", output.stderr);
        assert_eq!(output.number("count"), f64::from(count), "{file}");
        assert!(close(output.number("mean_s"), mean / 1e3, 1e-9), "{file}: {}", output.number("mean_s"));
        assert!(
            close(output.number("stddev_s"), deviation / 1e3, 1e-6),
            "{file}: {}",
            output.number("stddev_s")
        );
        assert!(output.number("mean_low_s") < mean / 1e3 && mean / 1e3 < output.number("mean_high_s"));
        assert!(output.number("mean_high_s") / output.number("mean_low_s") < 1.005, "{file}");
        assert!(
            close(quantile(&output, 0, "value_s"), p50 / 1e3, 1e-3),
            "{file}: {}",
            quantile(&output, 0, "value_s")
        );
        let (low, high) = (quantile(&output, 3, "low_s"), quantile(&output, 3, "value_s"));
        assert!(low <= p99 / 1e3 && p99 / 1e3 <= high * 1.001 && high < low * 1.1, "{file}: {low} to {high}");
        assert_eq!(output.field("source")["format"], format);
        assert_matches("ingest", &output.json());
    }
}

#[test]
fn without_a_footer_the_mean_is_estimated_and_that_is_said() {
    let files = Files::new();
    let rows = "       Value     Percentile TotalCount 1/(1-Percentile)\n\n       1.000 0.000000000000          1           1.00\n       2.000 0.500000000000         50           2.00\n       8.000 1.000000000000        100\n";
    let output = ingest([&files.write("x.hgrm", rows)]);
    assert_eq!(output.code, 0, "{}", output.stderr);
    // One at 1, 49 between 1 and 2, 50 between 2 and 8 milliseconds.
    assert!(close(output.number("mean_s"), (1.0 + 49.0 * 1.5 + 50.0 * 5.0) / 1e5, 1e-6));
    assert!(close(output.number("mean_low_s"), (1.0 + 49.0 + 50.0 * 2.0) / 1e5, 1e-6));
    assert!(close(output.number("mean_high_s"), (1.0 + 49.0 * 2.0 + 50.0 * 8.0) / 1e5, 1e-6));
    let notes = output.json()["notes"].to_string();
    assert!(
        ["mean-from-rows", "percentile-unit-assumed", "mean-from-buckets"]
            .iter()
            .all(|code| notes.contains(code)),
        "{notes}"
    );
    let seconds = ingest([&files.path("x.hgrm"), "--unit", "s", "--overhead", "1"]);
    assert!(close(seconds.number("mean_s"), 1.0 + output.number("mean_s") * 1e3, 1e-6));
    assert_refused(&ingest([&files.path("x.hgrm"), "--where", "a=b"]), &["--where does not apply"]);
    let cut = files
        .write("cut.hgrm", format!("{rows}#[Mean = 3, StdDeviation = 1]\n#[Max = 9, Total count = 120]\n"));
    assert_refused(&ingest([&cut]), &["count 100 attempts and its footer 120"]);
}

#[test]
fn the_summary_of_hey_is_read_with_its_bars_and_quantiles() {
    let Some(data) = shared() else { return };
    let path = data.join("text/hey.txt").display().to_string();
    let output = ingest([&path]);
    assert_eq!(output.code, 0, "{}", output.stderr);
    assert_eq!(output.number("count"), 800.0);
    assert!(close(output.number("mean_s"), 0.1458, 1e-9));
    assert!(close(quantile(&output, 0, "value_s"), 0.072, 2e-3));
    // 27 of 800 took above 1.5 s, so p99 is one of them; the one above it is the printed 2.3001 s.
    assert!(quantile(&output, 3, "low_s") >= 2.25 && quantile(&output, 3, "value_s") <= 2.31);
    assert!(close(output.number("max_s"), 2.5044, 1e-3));
    let (low, high) = (output.number("scv_low"), output.number("scv_high"));
    assert!(low <= output.number("scv") && output.number("scv") <= high, "{low} {high}");
    assert!(high / low < 1.4, "bars and quantiles leave little room: {low} to {high}");
    let codes = output.json()["notes"].to_string();
    assert!(codes.contains("endpoint-latency") && codes.contains("attempts-missing"), "{codes}");
    let table = run_all(["ingest", &path]).stdout;
    assert!(table.contains("hey summary"), "{table}");
}

#[test]
fn the_report_of_wrk_is_read_and_its_quantiles_are_bounds() {
    let files = Files::new();
    let report = "Running 30s test @ http://127.0.0.1:8080/index.html\n  12 threads and 400 connections\n  Thread Stats   Avg      Stdev     Max   +/- Stdev\n    Latency     6.36ms    8.90ms  129.20ms   93.69%\n    Req/Sec    56.20k     8.07k   62.00k    86.54%\n  1000 requests in 30.08s, 17.76GB read\nRequests/sec: 748868.53\n";
    let output = ingest([&files.write("wrk.txt", report)]);
    assert_eq!(output.code, 0, "{}", output.stderr);
    assert!(close(output.number("mean_s"), 0.00636, 1e-9));
    assert!(close(output.number("stddev_s"), 0.0089, 1e-6));
    assert_eq!(quantile(&output, 0, "low_s"), 0.0);
    assert!(close(quantile(&output, 0, "high_s"), 0.1292, 1e-3));
}
