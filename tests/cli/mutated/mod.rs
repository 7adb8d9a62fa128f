//! Damaged input of every format: an answer or an error, never a panic, a number that is none, memory without bound, or
//! a reading without end.
//!
//! A short run is part of the tests; `tests/mutate.sh` runs a million inputs for each parser. The seed and the number
//! of the input that failed are printed, and the same seed makes the same inputs.

mod damage;
mod parsers;

use damage::{Random, damage};
use parsers::{Parser, parsers};
use std::fs;
use std::io::Cursor;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};
use whsize::ingest::{read_stream, to_hdr_log};
use whsize::report;

/// How many inputs each parser gets in the tests.
const SHORT: u64 = 60;

/// Of how many inputs of a long run one is reported: a report takes longer than the reading, and is the same for all
/// parsers.
const REPORTED: u64 = 8;

/// Memory that no run of these small inputs needs, in kilobytes.
const MOST_KB: u64 = 200_000;

/// Time that no small input takes, even on a machine that is busy with something else.
const LONGEST: Duration = Duration::from_secs(20);

/// Reads an input, and if it can be read its report where that is asked for: whether it could.
fn read(parser: &Parser, bytes: Vec<u8>, reported: bool) -> bool {
    let options = &parser.options;
    match read_stream("x", Cursor::new(bytes), options) {
        Ok(_) if !reported => true,
        Ok(ingested) => {
            report::ingest::report(&["x".to_owned()], options, &ingested, None, &[]).unwrap();
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
    let only = std::env::var("WHSIZE_PARSER").ok();
    for parser in parsers().iter().filter(|parser| only.as_ref().is_none_or(|only| only == parser.name)) {
        assert!(read(parser, (parser.wrap)(&parser.seed), true), "the seed of {} is read", parser.name);
        let (mut answered, mut slowest) = (0u64, Duration::ZERO);
        for number in 0..inputs {
            let mut random = Random(seed ^ number.wrapping_mul(0x2545_f491_4f6c_dd1d));
            let mut bytes = parser.seed.clone();
            damage(&mut bytes, &mut random);
            let wrapped = (parser.wrap)(&bytes);
            let started = Instant::now();
            let outcome = catch_unwind(AssertUnwindSafe(|| {
                read(parser, wrapped, inputs <= SHORT || number % REPORTED == 0)
            }));
            slowest = slowest.max(started.elapsed());
            let Ok(read) = outcome else {
                panic!(
                    "{} fails on input {number} of seed {seed}: {:?}",
                    parser.name,
                    String::from_utf8_lossy(&bytes)
                )
            };
            assert!(slowest < LONGEST, "{} takes {slowest:?} for input {number} of seed {seed}", parser.name);
            answered += u64::from(read);
        }
        let peak = peak_kb().unwrap_or_default();
        println!("{}: {inputs} inputs, {answered} read; at most {slowest:.0?} and {peak} kB", parser.name);
        assert!(inputs <= SHORT || peak < MOST_KB, "{}: {peak} kB", parser.name);
    }
}
