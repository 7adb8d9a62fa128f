//! Damaged input of every format: an answer or an error, never a panic, a number that is none, or memory without bound.
//!
//! A short run is part of the tests; `tests/mutate.sh` runs a million inputs for each parser. The seed and the number
//! of the input that failed are printed, and the same seed makes the same inputs.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use hdrhistogram::Histogram;
use hdrhistogram::serialization::{Serializer, V2Serializer};
use std::fs;
use std::io::{Cursor, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use whsize::ingest::{InputFormat, Options, read_stream, to_hdr_log};
use whsize::report;

/// How many inputs each parser gets in the tests.
const SHORT: u64 = 300;

/// The longest input, in bytes.
const LONGEST: usize = 8192;

/// Memory that no run of these small inputs needs, in kilobytes.
const MOST_KB: u64 = 400_000;

/// SplitMix64 (G. L. Steele, D. Lea, C. H. Flood, 2014).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn below(&mut self, limit: usize) -> usize {
        (self.next() % limit.max(1) as u64) as usize
    }
}

/// Pieces that parsers have trouble with.
const PIECES: &[&[u8]] = &[
    b"-1",
    b"0",
    b"1e308",
    b"-1e-308",
    b"NaN",
    b"+Inf",
    b"99999999999999999999",
    b"18446744073709551615",
    b"\"",
    b"{",
    b"}",
    b"[",
    b",",
    b"\n",
    b"\r\n",
    b"=",
    b"\xff\xff\xff\xff",
    b"\x00\x00\x00\x00",
    b"\x7f\xff\xff\xff",
    b"\xef\xbb\xbf",
    b"HISTFAAAA",
    b"Tag=",
    b"#[",
    b"le=\"",
    b"_bucket",
    b" ",
    b"null",
    b"9223372036854775807",
    b".",
    b"e",
    b"-",
    b";",
    b"\t",
    b"\x1f",
    b"\"\"",
    b"1.4s",
    b"\\",
    b"]",
    b"\xc2\xb5s",
    b"1700000000",
    b"0.1, 0.2",
];

fn mutate(bytes: &mut Vec<u8>, random: &mut Random) {
    for _ in 0..=random.below(6) {
        let at = random.below(bytes.len() + 1);
        let length = random.below(24).min(bytes.len() - at);
        match random.below(8) {
            0 if at < bytes.len() => bytes[at] ^= 1 << random.below(8),
            1 if at < bytes.len() => bytes[at] = random.next() as u8,
            2 => drop(bytes.drain(at..at + length)),
            3 => {
                let copied = bytes[at..at + length].to_vec();
                let target = random.below(bytes.len() + 1);
                bytes.splice(target..target, copied);
            }
            4 if random.below(4) == 0 => bytes.truncate(at),
            _ => {
                let piece = PIECES[random.below(PIECES.len())];
                let replaced = if random.below(2) == 0 { length } else { 0 };
                bytes.splice(at..at + replaced, piece.iter().copied());
            }
        }
    }
    bytes.truncate(LONGEST);
}

/// One parser: an input that it reads, and how mutated bytes are wrapped before they are read.
struct Parser {
    name: &'static str,
    format: InputFormat,
    seed: Vec<u8>,
    wrap: fn(&[u8]) -> Vec<u8>,
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

fn gzipped(bytes: &[u8]) -> Vec<u8> {
    crate::ingest::gzipped(bytes)
}

fn parsers() -> Vec<Parser> {
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
    let of = |name, format, seed: &[u8], wrap| Parser { name, format, seed: seed.to_vec(), wrap };
    let text = |name, format, seed: &str| of(name, format, seed.as_bytes(), as_it_is);
    vec![
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

/// Reads an input, and its report if it can be read: whether it could.
fn read(parser: &Parser, bytes: Vec<u8>) -> bool {
    let options = Options { format: parser.format, ..Options::default() };
    match read_stream("x", Cursor::new(bytes), &options) {
        Ok(ingested) => {
            report::ingest::report(&["x".to_owned()], &options, &ingested, None, &[]).unwrap();
            // More than 2⁶³ attempts are more than a saved profile holds, and that is an error in words.
            drop((ingested.profile.save(), to_hdr_log(&ingested.profile)));
            true
        }
        Err(error) => {
            assert!(!error.reason.is_empty());
            false
        }
    }
}

/// The most memory that this process ever held, in kilobytes, where the system tells.
fn peak_kb() -> Option<u64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    status
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:")?.trim().strip_suffix(" kB")?.trim().parse().ok())
}

#[test]
#[allow(clippy::print_stdout, reason = "a long run says how far it came")]
fn mutated_input_is_an_answer_or_an_error() {
    let inputs = std::env::var("WHSIZE_MUTATIONS").ok().map_or(SHORT, |number| number.parse().unwrap());
    let seed = std::env::var("WHSIZE_SEED").ok().map_or(20_260_302, |number| number.parse().unwrap());
    for parser in parsers() {
        assert!(read(&parser, (parser.wrap)(&parser.seed)), "the seed of {} is read", parser.name);
        let mut answered = 0u64;
        for number in 0..inputs {
            let mut random = Random(seed ^ number.wrapping_mul(0x2545_f491_4f6c_dd1d));
            let mut bytes = parser.seed.clone();
            mutate(&mut bytes, &mut random);
            let wrapped = (parser.wrap)(&bytes);
            let outcome = catch_unwind(AssertUnwindSafe(|| read(&parser, wrapped)));
            let Ok(read) = outcome else {
                panic!(
                    "{} fails on input {number} of seed {seed}: {:?}",
                    parser.name,
                    String::from_utf8_lossy(&bytes)
                )
            };
            answered += u64::from(read);
        }
        println!("{}: {inputs} inputs, {answered} of them could be read", parser.name);
    }
    if let Some(peak) = peak_kb().filter(|_| inputs > SHORT) {
        println!("peak memory {peak} kB");
        assert!(peak < MOST_KB, "{peak} kB");
    }
}
