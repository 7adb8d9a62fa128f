//! The parsers, each with an input that it reads.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use hdrhistogram::Histogram;
use hdrhistogram::serialization::{Serializer, V2Serializer};
use ruzstd::encoding::{CompressionLevel, compress_to_vec};
use std::fs;
use std::io::{Cursor, Write};
use std::path::Path;
use whsize::ingest::{BadRows, InputFormat, Options, read_stream, to_json};

/// One parser: an input that it reads, and how mutated bytes are wrapped before they are read.
pub(super) struct Parser {
    pub(super) name: &'static str,
    pub(super) options: Options,
    pub(super) seed: Vec<u8>,
    pub(super) wrap: fn(&[u8]) -> Vec<u8>,
}

fn as_it_is(bytes: &[u8]) -> Vec<u8> {
    bytes.to_vec()
}

/// Compresses mutated bytes, which a checksum would else reject at once.
fn packed(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(bytes).unwrap();
    let packed = encoder.finish().unwrap();
    [&0x1c84_9314u32.to_be_bytes()[..], &(packed.len() as u32).to_be_bytes(), &packed].concat()
}

fn log_line(bytes: &[u8]) -> Vec<u8> {
    format!(
        "#[StartTime: 1.5e9]\n0.1,1.0,2.0,{}\nTag=a,1.1,1.0,2.0,{}\n",
        STANDARD.encode(packed(bytes)),
        STANDARD.encode(bytes)
    )
    .into_bytes()
}

fn plain_log_line(bytes: &[u8]) -> Vec<u8> {
    format!("#[StartTime: 1.5e9]\n0.1,1.0,2.0,{}\n", STANDARD.encode(bytes)).into_bytes()
}

/// Options with groups and many bad rows, so that one of them does not end the reading.
fn grouped(names: &[&str]) -> Options {
    Options {
        group_by: names.iter().map(|name| (*name).to_owned()).collect(),
        max_bad_rows: BadRows::Count(1_000_000),
        ..Options::default()
    }
}

fn gzipped(bytes: &[u8]) -> Vec<u8> {
    crate::ingest::gzipped(bytes)
}

fn zstandard(bytes: &[u8]) -> Vec<u8> {
    compress_to_vec(bytes, CompressionLevel::Fastest)
}

fn base64(bytes: &[u8]) -> Vec<u8> {
    STANDARD.encode(bytes).into_bytes()
}

fn packed_base64(bytes: &[u8]) -> Vec<u8> {
    base64(&packed(bytes))
}

/// The first lines of a fixture.
fn lines(name: &str, number: usize) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures").join(name);
    fs::read_to_string(path).unwrap().split_inclusive('\n').take(number).collect()
}

pub(super) fn parsers() -> Vec<Parser> {
    let mut histogram = Histogram::<u64>::new_with_bounds(1, 3_600_000_000, 2).unwrap();
    [5, 900, 70_000, 2_000_000].iter().for_each(|value| histogram.record_n(*value, 7).unwrap());
    let mut plain = Vec::new();
    V2Serializer::new().serialize(&histogram, &mut plain).unwrap();
    // V1 with counts of two bytes: the header of V2 with another cookie, and a few counts.
    let mut first = plain[..40].to_vec();
    first[..4].copy_from_slice(&0x1c84_9321u32.to_be_bytes());
    first[4..8].copy_from_slice(&40u32.to_be_bytes());
    first.extend([0, 1].repeat(20));
    let mut zeroth = 0x1c84_9388u32.to_be_bytes().to_vec();
    zeroth.extend([0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 5]);
    zeroth.extend([0, 0, 0, 0, 0, 0, 0, 3].repeat(8));
    let log = format!(
        "#[StartTime: 1441812279.474 (seconds since epoch)]\n#UNITS:us\n\"StartTimestamp\"\n0.127,1.007,2.769,{}\nTag=a,1.1,.9,1,{}\n",
        STANDARD.encode(packed(&plain)),
        STANDARD.encode(&plain)
    );
    let spectrum = "Value Percentile TotalCount 1/(1-Percentile)\n\n 0.921 0.0 1 1.00\n 4.053 0.5 3951 2.0\n12.503 1.0 39500 inf\n#[Mean = 6.602, StdDeviation = 1.919]\n#[Max = 12.496, Total count = 39500]\n#[Buckets = 27, SubBuckets = 2048]\n";
    let hey = "Summary:\n  Slowest:\t2.0 secs\n  Average:\t0.5 secs\n  Requests/sec:\t9\nResponse time histogram:\n  0.100 [1]\t|\n  1.000 [8]\t|#\n  2.000 [1]\t|\nLatency distribution:\n  50% in 0.4 secs\n  99% in 2.0 secs\n";
    let wrk = "  Thread Stats   Avg      Stdev     Max\n    Latency   635.91us    0.89ms  12.92ms   93.69%\n     50%  250.00us\n     99%    4.00ms\n  1000 requests in 30.00s, 1GB read\n";
    let metrics = "# TYPE a_seconds histogram\na_seconds_bucket{code=\"200\",le=\"0.1\"} 80\na_seconds_bucket{code=\"200\",le=\"0.5\"} 95\na_seconds_bucket{code=\"200\",le=\"+Inf\"} 100\na_seconds_sum{code=\"200\"} 31\na_seconds_count{code=\"200\"} 100 1700000000000\n";
    let query = r#"{"status":"success","data":{"resultType":"matrix","result":[{"metric":{"__name__":"a_seconds_bucket","le":"0.1"},"values":[[1,"1"],[2,"4"]]},{"metric":{"__name__":"a_seconds_bucket","le":"+Inf"},"values":[[1,"1"],[2,"5"]]},{"metric":{"__name__":"a_seconds_sum"},"values":[[1,"0.1"],[2,"2.4"]]}]}}"#;
    let native = r#"{"status":"success","data":{"resultType":"vector","result":[{"metric":{"__name__":"a_seconds"},"histogram":[1700000000.123,{"count":"7","sum":"3.25","buckets":[[3,"-0.001","0.001","1"],[0,"0.25","0.5","4"],[0,"0.5","1","2"]]}]}]}}"#;
    let otlp = r#"{"resourceMetrics":[{"resource":{"attributes":[{"key":"a","value":{"intValue":"5"}}]},"scopeMetrics":[{"metrics":[{"name":"d","unit":"s","histogram":{"aggregationTemporality":1,"dataPoints":[{"startTimeUnixNano":"1700000000000000000","timeUnixNano":"1700000060000000000","count":"6","sum":2.5,"min":0.1,"max":1,"bucketCounts":["4","2"],"explicitBounds":[0.5]}]}}]}]}]}"#;
    let exponential = r#"{"resourceMetrics":[{"scopeMetrics":[{"metrics":[{"name":"d","unit":"ms","exponentialHistogram":{"aggregationTemporality":2,"dataPoints":[{"timeUnixNano":"5","count":"5","sum":11,"scale":1,"zeroCount":"1","zeroThreshold":0.001,"positive":{"offset":1,"bucketCounts":[0,"4"]}}]}}]}]}]}"#;
    let csv = "ts,endpoint,status,duration_ms\n1700000000,a,200,12.5\n1700000001,\"b,c\",503,1e2\n2023-11-14T22:13:22Z,a,200,7\n2023-11-14 22:13:23,d,timeout,30000\n";
    let phases = "ts,dns_ms,connect_ms,tls_ms,http_ms,ack_ms,duration_ms\n1700000000,0,1.5,2,80,1,90\n1700000001,0,0,0,70,1,75\n";
    let labels = "ts,phase,duration_ms\n1700000000,dns,1\n1700000000,http,80\n1700000000,total,90\n";
    let vegeta = "1700000000000000000,200,1500000,0,10,,aGk=,big,0,GET,http://127.0.0.1/,Q29ubg==\n1700000000100000000,0,30000000000,0,0,timeout,,big,1,GET,http://127.0.0.1/,\n";
    let ab = "starttime\tseconds\tctime\tdtime\tttime\twait\nTue Nov 14 22:13:20 2023\t1700000000\t1\t20\t21\t19\nTue Nov 14 22:13:21 2023\t1700000001\t0\t30\t30\t29\n";
    let json = "{\"time\":\"2023-11-14T22:13:20Z\",\"http\":{\"duration_ms\":12.5,\"status\":200}}\n{\"time\":\"2023-11-14T22:13:21Z\",\"http\":{\"duration_ms\":80,\"status\":503}}\n";
    let k6 = "{\"type\":\"Metric\",\"data\":{\"name\":\"http_req_duration\"},\"metric\":\"http_req_duration\"}\n{\"type\":\"Point\",\"data\":{\"time\":\"2023-11-14T22:13:20.5+01:00\",\"value\":12.5,\"tags\":{\"status\":\"200\"}},\"metric\":\"http_req_duration\"}\n{\"type\":\"Point\",\"data\":{\"time\":\"2023-11-14T22:13:20.5+01:00\",\"value\":0,\"tags\":{}},\"metric\":\"http_req_connecting\"}\n";
    let nginx = "10.0.0.1 - - [14/Nov/2023:22:13:20 +0000] \"POST /hook HTTP/1.1\" 200 12 \"-\" \"a\" 0.123 0.100, 0.020\n10.0.0.1 - - [14/Nov/2023:22:13:21 +0000] \"POST /hook HTTP/1.1\" 504 0 \"-\" \"a\" 30.001 -\n";
    let envoy = "[2023-11-14T22:13:20.310Z] \"POST /hook HTTP/2\" 204 - 154 0 226 100 \"10.0.35.28\" \"a\" \"b\" \"h\" \"10.0.2.1:80\"\n[2023-11-14T22:13:21.310Z] \"POST /hook HTTP/2\" 503 UF - - \"x\" 154 0 12 - \"-\" \"a\" \"b\" \"h\" \"10.0.2.1:80\"\n";
    let alb = "https 2023-11-14T22:13:20.5Z app/l/1 10.0.0.1:2817 10.0.0.2:80 0.001 0.120 0.000 200 200 34 366 \"POST https://a:443/ HTTP/1.1\" \"c\" E T arn:aws:g \"R\" \"a\" \"b\" 0 2023-11-14T22:13:20.3Z \"f\" \"-\" \"-\"\n";
    let of = |name, format, seed: &[u8], wrap| Parser {
        name,
        options: Options { format, ..Options::default() },
        seed: seed.to_vec(),
        wrap,
    };
    let text = |name, format, seed: &str| of(name, format, seed.as_bytes(), as_it_is);
    let open_metrics = format!(
        "{}# EOF\n",
        metrics.replace("# TYPE", "# HELP a_seconds A.\n# UNIT a_seconds seconds\n# TYPE")
    );
    let many = format!("ts,endpoint,phase,duration_ms\n{}", "1700000000123,orders,http,12.345\n".repeat(200));
    let profile = {
        let read = read_stream("x", Cursor::new(csv.as_bytes().to_vec()), &grouped(&["endpoint"])).unwrap();
        to_json(&read.profile).unwrap().0
    };
    let with =
        |name, options, seed: &str| Parser { name, options, seed: seed.as_bytes().to_vec(), wrap: as_it_is };
    let quoted: String = csv
        .replace("\"b,c\"", "b")
        .lines()
        .map(|line| format!("\"{}\"\r\n", line.replace(',', "\",\"")))
        .collect();
    vec![
        text("hdr base64", InputFormat::Hdr, &STANDARD.encode(&plain)),
        of("hdr in base64", InputFormat::Hdr, &plain, base64),
        of("hdr zlib in base64", InputFormat::Hdr, &plain, packed_base64),
        of("hdr V0 intervals", InputFormat::HdrLog, &zeroth, plain_log_line),
        of("hdr V1 intervals", InputFormat::HdrLog, &first, plain_log_line),
        of("hdr compressed bytes", InputFormat::Hdr, &packed(&plain), as_it_is),
        text("open metrics", InputFormat::Prometheus, &open_metrics),
        text("saved profile", InputFormat::Profile, &profile),
        text("saved profiles", InputFormat::Auto, &profile.repeat(2)),
        text("hey csv", InputFormat::Auto, &lines("hey.csv", 20)),
        text("oha csv", InputFormat::Auto, &lines("oha.csv", 20)),
        text("k6 csv", InputFormat::Auto, &lines("k6.csv", 14)),
        text("jmeter csv", InputFormat::Auto, &lines("jmeter.csv", 12)),
        text("vegeta json", InputFormat::Auto, &lines("vegeta.json", 6)),
        text("csv of windows", InputFormat::Csv, &many),
        text("csv of quotes", InputFormat::Csv, &quoted),
        with("csv by group", grouped(&["endpoint", "status"]), csv),
        with(
            "csv with filters",
            Options { filters: vec!["endpoint=a".parse().unwrap()], since_ns: Some(0), ..grouped(&[]) },
            csv,
        ),
        with("phases by group", grouped(&["phase"]), labels),
        of("gzip bytes", InputFormat::Auto, &gzipped(csv.as_bytes()), as_it_is),
        of("zstd bytes", InputFormat::Auto, &zstandard(csv.as_bytes()), as_it_is),
        of("csv in zstd", InputFormat::Auto, csv.as_bytes(), zstandard),
        of("hdr V2", InputFormat::Hdr, &plain, as_it_is),
        of("hdr V1", InputFormat::Hdr, &first, as_it_is),
        of("hdr V0", InputFormat::Hdr, &zeroth, as_it_is),
        of("hdr zlib", InputFormat::Hdr, &plain, packed),
        of("hdr intervals", InputFormat::HdrLog, &plain, log_line),
        text("hdr log", InputFormat::HdrLog, &log),
        text("percentiles", InputFormat::Percentiles, spectrum),
        text("hey", InputFormat::Percentiles, hey),
        text("wrk", InputFormat::Percentiles, wrk),
        text("prometheus", InputFormat::Prometheus, metrics),
        text("query", InputFormat::Prometheus, query),
        text("native", InputFormat::Prometheus, native),
        text("otlp", InputFormat::Otlp, otlp),
        text("otlp exponential", InputFormat::Otlp, exponential),
        text("csv", InputFormat::Csv, csv),
        text("csv found by itself", InputFormat::Auto, csv),
        text("tsv", InputFormat::Tsv, &csv.replace(',', "\t")),
        text("value and count", InputFormat::Csv, "duration_ms,count\n12,5\n13.5,90\n250,3\n"),
        text("phases", InputFormat::Csv, phases),
        text("phase labels", InputFormat::Csv, labels),
        text("vegeta csv", InputFormat::Auto, vegeta),
        text("ab", InputFormat::Auto, ab),
        text("json lines", InputFormat::Jsonl, json),
        text("k6 json", InputFormat::Auto, k6),
        text("nginx", InputFormat::Auto, nginx),
        text("envoy", InputFormat::Auto, envoy),
        text("alb", InputFormat::Auto, alb),
        of("anything", InputFormat::Auto, metrics.as_bytes(), gzipped),
    ]
}
