//! Any bytes as a file of measurements: an answer or an error. The first byte chooses the format, and whether rows are
//! grouped by what their second column holds.
#![no_main]

use libfuzzer_sys::fuzz_target;
use std::io::Cursor;
use whsize::ingest::{BadRows, InputFormat, Options, read_stream, to_hdr_log};
use whsize::report;

const FORMATS: [InputFormat; 10] = [
    InputFormat::Auto,
    InputFormat::Csv,
    InputFormat::Tsv,
    InputFormat::Jsonl,
    InputFormat::Hdr,
    InputFormat::HdrLog,
    InputFormat::Percentiles,
    InputFormat::Prometheus,
    InputFormat::Otlp,
    InputFormat::Profile,
];

fuzz_target!(|data: &[u8]| {
    let Some((choice, bytes)) = data.split_first() else { return };
    let format = FORMATS[usize::from(*choice & 0x0f) % FORMATS.len()];
    let grouped = choice & 0x10 != 0;
    let options = Options {
        format,
        group_by: if grouped { vec!["2".to_owned()] } else { Vec::new() },
        max_bad_rows: BadRows::Count(1_000),
        ..Options::default()
    };
    if let Ok(ingested) = read_stream("x", Cursor::new(bytes.to_vec()), &options) {
        report::ingest::report(&["x".to_owned()], &options, &ingested, None, &[]).expect("no number is none");
        drop((ingested.profile.save(), to_hdr_log(&ingested.profile)));
    }
});
