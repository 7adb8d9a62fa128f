//! Bulk reading is reading row by row, whatever the text, the number of threads and the size of a piece.

use super::*;
use crate::ingest::columns::Columns;
use crate::ingest::dialect::Dialect;
use crate::ingest::logs;
use crate::ingest::open::Input;
use crate::ingest::options::{BadRows, Correction, Options};
use crate::ingest::{Ingested, finish};
use crate::units::Seconds;
use proptest::prelude::*;
use std::fs;
use std::path::Path;

/// How rows are read.
#[derive(Clone, Copy)]
enum How {
    OneByOne,
    Bulk { threads: usize, piece: usize },
}

/// Everything that is known of an outcome; a profile by all that it can say.
fn read(bytes: &[u8], options: &Options, how: How) -> Result<Ingested, IngestError> {
    let mut collector = Collector::new(options)?;
    let input = Input::from_reader("x.csv", Box::new(Cursor::new(bytes.to_vec())))?;
    input.check_text()?;
    let (input, mut dialect) = match logs::recognise(&input, options)? {
        Some(format) => {
            let name = format.name();
            let made = logs::to_table(input, format)?;
            let dialect = Dialect::of_lines(&made, name);
            (made, dialect)
        }
        None => {
            let dialect = Dialect::of(&input, options.delimiter, options.no_header, &[])?;
            (input, dialect)
        }
    };
    let headed = dialect.header.is_some();
    let columns = Columns::find("x.csv", &mut dialect, options)?;
    let table = Table { file: "x.csv", columns: &columns, delimiter: dialect.delimiter };
    let (skipped, line) =
        if headed { crate::ingest::table::header(&input.head, dialect.delimiter) } else { (0, 1) };
    let line = if dialect.lines.is_some() { 1 } else { line };
    let mut source = input.into_stream();
    std::io::copy(&mut source.by_ref().take(skipped), &mut std::io::sink()).unwrap();
    match how {
        How::OneByOne => {
            let mut records = Records::at_line("x.csv", source, table.delimiter, line);
            let mut rows = Rows::new(&table, &mut collector);
            while records.advance()? {
                rows.row(&records)?;
            }
        }
        How::Bulk { threads, piece } => {
            read_in(&table, source, line, &mut collector, threads, piece)?;
        }
    }
    finish(collector, "x.csv")
}

fn assert_same(bytes: &[u8], options: &Options) -> bool {
    let careful = read(bytes, options, How::OneByOne);
    for (threads, piece) in [(1, 7), (1, 64), (2, 100), (3, 33), (4, 1000), (2, PIECE)] {
        let bulk = read(bytes, options, How::Bulk { threads, piece });
        match (&careful, &bulk) {
            (Ok(careful), Ok(bulk)) => {
                assert_eq!(bulk.profile, careful.profile, "{threads} threads, {piece} bytes");
                assert_eq!(
                    (bulk.rows, bulk.filtered, &bulk.skipped, &bulk.notices),
                    (careful.rows, careful.filtered, &careful.skipped, &careful.notices)
                );
            }
            (careful, bulk) => {
                let error = |of: &Result<Ingested, IngestError>| of.as_ref().err().cloned();
                assert_eq!(error(bulk), error(careful), "{threads} threads, {piece} bytes");
            }
        }
    }
    careful.is_ok()
}

fn group_by(names: &[&str]) -> Options {
    let max_bad_rows = BadRows::Count(1_000_000);
    Options {
        group_by: names.iter().map(|name| (*name).to_owned()).collect(),
        max_bad_rows,
        ..Options::default()
    }
}

#[test]
fn every_fixture_is_read_alike() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    for (name, group) in [
        ("fixtures/attempts-week.csv.gz", Some("endpoint")),
        ("fixtures/hey.csv", Some("status-code")),
        ("fixtures/oha.csv", Some("status")),
        ("fixtures/jmeter.csv", Some("label")),
        ("fixtures/phases.csv", Some("endpoint")),
        ("fixtures/buckets.csv", None),
        ("fixtures/ab.tsv", None),
        ("fixtures/k6.csv", Some("url")),
        ("fixtures/vegeta.csv", None),
        ("fixtures/nginx.log", None),
        ("fixtures/envoy.log", None),
        ("fixtures/alb.log", None),
        ("fixtures/k6.json", None),
        ("fixtures/attempts.jsonl", None),
    ] {
        // Small pieces of a large file take long, and say no more than the beginning does.
        let mut bytes = Vec::new();
        let packed = fs::read(root.join(name)).unwrap();
        let input = Input::from_reader(name, Box::new(Cursor::new(packed))).unwrap();
        input.into_stream().take(200_000).read_to_end(&mut bytes).unwrap();
        assert!(assert_same(&bytes, &group_by(&[])), "{name}");
        if let Some(group) = group {
            assert!(assert_same(&bytes, &group_by(&[group])), "{name} by {group}");
        }
    }
}

#[test]
fn skipped_rows_keep_their_lines_behind_quoted_line_breaks() {
    let mut text = "\n\nendpoint,duration_ms\r\n".to_owned();
    for n in 0..300 {
        text.push_str(match n % 7 {
            0 => "a,oops\n",
            1 => "\"b\nb\",12\n",
            2 => "\n",
            3 => "c,1,2\r\n",
            4 => "\"d\",\"7\"\r",
            5 => "e,1e1\r\n",
            _ => "a,5.25\n",
        });
    }
    assert!(assert_same(text.as_bytes(), &group_by(&["endpoint"])));
}

#[test]
fn more_groups_than_are_told_apart_are_the_same_ones() {
    let rows: String = (0..4000u32)
        .map(|n| {
            format!("{},name{},{}\n", 1_700_000_000 + n / 7, n.wrapping_mul(2_654_435_761) % 400, n % 97)
        })
        .collect();
    assert!(assert_same(format!("ts,endpoint,duration_ms\n{rows}").as_bytes(), &group_by(&["endpoint"])));
}

#[test]
fn stamps_out_of_order_give_the_same_gaps() {
    let row = |n: u64| format!("{},{}\n", 1_700_000_000_000 + n * 10 - (n * n * 7919 % 5000), n % 13);
    let rows: String = (0..140_000).map(row).collect();
    let text = format!("ts,duration_ms\n{rows}");
    let options = group_by(&[]);
    let careful = read(text.as_bytes(), &options, How::OneByOne).unwrap();
    let bulk = read(text.as_bytes(), &options, How::Bulk { threads: 3, piece: 5000 }).unwrap();
    assert!(careful.profile.arrivals().unwrap().interarrival_scv().is_some());
    assert_eq!(bulk.profile, careful.profile);
}

#[test]
fn a_million_blank_lines_are_no_record() {
    let text = format!("duration_ms\n7\n8\n{}5\nx\n", "\n".repeat(1_200_000));
    let options = group_by(&[]);
    let bulk = read(text.as_bytes(), &options, How::Bulk { threads: 2, piece: 1000 }).unwrap();
    assert_eq!((bulk.rows, bulk.skipped.reasons[0].first[0].line), (4, 1_200_005));
}

#[test]
fn phases_of_columns_and_of_labels_are_the_same() {
    let mut columns = "ts,endpoint,connect_ms,tls_ms,http_ms,duration_ms\n".to_owned();
    let mut labels = "ts,endpoint,phase,duration_ms\n".to_owned();
    for n in 0..200u64 {
        // One phase of more than seven days is none.
        let set_up = if n == 50 { "604800001" } else { ["3.5", "0", "0", "0", "0"][n as usize % 5] };
        let endpoint = ["a", "b"][n as usize % 2];
        columns.push_str(&format!(
            "{},{endpoint},{set_up},{},{n},{}\n",
            1_700_000_000 + n,
            ["", "0"][n as usize % 2],
            n + 9
        ));
        let label = ["http", "connect", "TLS", "ack", "render"][n as usize % 5];
        labels.push_str(&format!("{},{endpoint},{label},{n}\n", 1_700_000_000 + n));
    }
    let beside = labels.replace("ack", "total");
    for text in [&columns, &labels, &beside] {
        for options in [group_by(&[]), group_by(&["endpoint"])] {
            assert!(assert_same(text.as_bytes(), &options), "{text}");
        }
        let read =
            read(text.as_bytes(), &group_by(&["endpoint"]), How::Bulk { threads: 2, piece: 500 }).unwrap();
        assert!(read.profile.phases().reuse_ratio(read.profile.count()).is_some(), "{text}");
    }
}

/// A file that is sorted by phase has its whole attempts below their parts, which were counted as attempts by then.
#[test]
fn a_whole_attempt_below_its_parts_is_refused_alike() {
    for (first, extra) in [("connect", ""), ("warm-up", ""), ("connect", "x"), ("connect", "\"y\"")] {
        let mut text = "endpoint,phase,duration_ms\n".to_owned();
        let phases = [(first, 120), ("http", 120), ("total", 20), ("total", 5)];
        for (phase, rows) in phases {
            text.push_str(&format!("a{extra},{phase},5\n").repeat(rows));
        }
        for options in [
            group_by(&[]),
            group_by(&["endpoint"]),
            Options { column: Some("duration_ms".to_owned()), ..group_by(&[]) },
        ] {
            assert!(!assert_same(text.as_bytes(), &options), "{first} {extra}");
            let error = read(text.as_bytes(), &options, How::Bulk { threads: 2, piece: 500 }).unwrap_err();
            assert_eq!(error.line, Some(242), "{error}");
            let error = error.to_string();
            assert!(error.contains("\"total\" is a whole attempt"), "{error}");
            assert!(error.contains("--where \"phase=total\""), "{error}");
        }
        // Chosen by its label, each row is what was asked for.
        for options in [
            Options { filters: vec!["phase=total".parse().unwrap()], ..group_by(&[]) },
            Options { filters: vec!["phase!=total".parse().unwrap()], ..group_by(&[]) },
            group_by(&["phase"]),
        ] {
            assert!(assert_same(text.as_bytes(), &options), "{first} {extra}");
        }
    }
}

/// How the columns of a table are quoted and its lines end.
fn dressed(rows: &[[String; 5]], quoted: usize, end: &str) -> String {
    let mut text = String::new();
    for row in rows {
        for (column, cell) in row.iter().enumerate() {
            text.push_str(if column > 0 { "," } else { "" });
            match quoted >> column & 1 {
                1 => text.push_str(&format!("\"{cell}\"")),
                _ => text.push_str(cell),
            }
        }
        text.push_str(end);
    }
    text
}

const COLUMNS: [&str; 5] = ["ts", "endpoint", "status", "n", "duration_ms"];

const CELLS: &[&str] = &[
    "1",
    "0",
    "12.5",
    "123.456",
    "1e2",
    "1.0E-4",
    "\"7\"",
    "\"1,234.5\"",
    "",
    "NULL",
    "-",
    "-3",
    "oops",
    "1.4s",
    " 8 ",
    "99999999999",
    "0.0000001",
    "00012",
    "+5",
    "1,5",
    "\"a\"\"b\"",
    "\"x\ny\"",
    "5\"",
    "\u{fc}",
    "1700000000",
    "1700000000123",
    "1700000000.25",
    "2023-11-14T22:13:20Z",
    "2023-11-14 22:13:21",
    "2023-11-15T00:00:00.5Z",
    "200",
    "503",
    "timeout",
    "wibble",
    "orders",
    "billing",
    "18446744073709551616",
    "604800001",
    "123456789012345678901234567890",
];

/// What may be asked of a table with the columns ts, endpoint, status, n and duration_ms, each independent of the others.
fn any_options() -> impl Strategy<Value = Options> {
    const AT: i64 = 1_700_000_000_000_000_000;
    let groups = prop::sample::select(vec![&[][..], &["endpoint"], &["status"], &["status", "endpoint"]]);
    let filters =
        vec![&[][..], &[], &["endpoint=orders"], &["endpoint!=orders"], &["status!=503", "endpoint=orders"]];
    let seconds = |text: &str| Seconds::parse_positive(text).unwrap();
    let corrections = vec![
        None,
        None,
        Some(Correction::Overhead(seconds("40ms"))),
        Some(Correction::Overhead(seconds("604799s"))),
        Some(Correction::EndpointShare("70%".parse().unwrap())),
    ];
    let caps = vec![vec![], vec![seconds("3ms"), seconds("12.5ms"), seconds("20s")]];
    let counts = prop::sample::select(vec!["none", "none", "n"]);
    let times = (
        prop::option::weighted(0.3, prop::sample::select(vec![AT, AT + 500_000_000])),
        prop::option::weighted(0.3, prop::sample::select(vec![AT + 1_000_000_000, AT + 1_500_000_000])),
    );
    (
        groups,
        prop::sample::select(filters),
        prop::sample::select(corrections),
        prop::sample::select(caps),
        counts,
        times,
        any::<bool>(),
    )
        .prop_map(|(groups, filters, correction, caps, count, (since_ns, until_ns), stamped)| Options {
            filters: filters.iter().map(|filter| filter.parse().unwrap()).collect(),
            correction,
            caps,
            count_column: Some(count.to_owned()),
            since_ns,
            until_ns,
            timestamp_column: stamped.then(|| "ts".to_owned()),
            ..group_by(groups)
        })
}

#[test]
fn rows_that_are_counted_by_themselves_are_counted_alike() {
    let mut text = "timeStamp,elapsed,label,responseMessage,success,status\n".to_owned();
    let mut words = "status,duration_ms\n".to_owned();
    for n in 0..400 {
        let message = if n % 5 == 0 { "Number of samples in transaction : 4" } else { "OK" };
        text.push_str(&format!("{},{n},a,{message},true,200\n", 1_700_000_000_000u64 + n * 10));
        words.push_str(&format!("{},{n}\n", ["200", "delivered", "wibble", "dlq", "503"][n as usize % 5]));
    }
    for (text, code) in [(text, "sums-left-out"), (words, "outcome-unknown")] {
        assert!(assert_same(text.as_bytes(), &group_by(&[])));
        let read = read(text.as_bytes(), &group_by(&[]), How::Bulk { threads: 2, piece: 500 }).unwrap();
        assert!(read.notices.iter().any(|notice| notice.note().code == code), "{:?}", read.notices);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn awkward_tables_are_read_alike(
        rows in prop::collection::vec((prop::collection::vec(prop::sample::select(CELLS), 2..7), 0u8..12), 1..60),
        options in any_options(), delimiter in prop::sample::select(vec![",", ";", "\t"]),
    ) {
        let mut text = COLUMNS.join(delimiter) + "\n";
        for (cells, end) in rows {
            // Most rows are plain, so that the two ways mix.
            let plain = ["1700000000", "orders", "200", "2", "12.5"].join(delimiter);
            let row = if end < 6 { plain } else if end < 9 {
                let mut five = ["1700000001", "billing", "503", "1", "3"];
                five[cells.len() % 5] = cells[0];
                five.join(delimiter)
            } else { cells.join(delimiter) };
            text.push_str(&row);
            text.push_str(["\n", "\r\n", "\r", "\n\n"][usize::from(if end < 9 { end % 2 } else { end % 4 })]);
        }
        let options = Options { delimiter: Some(delimiter.as_bytes()[0]), ..options };
        assert_same(text.as_bytes(), &options);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(16))]

    #[test]
    fn quotes_and_line_ends_of_any_kind_are_read_alike(
        rows in 1u64..700, quoted in 0usize..32, end in prop::sample::select(vec!["\n", "\r\n", "\r", "\n\n"]),
        odd in prop::collection::vec((0usize..700, 0usize..5, prop::sample::select(CELLS)), 0..4),
        dates in any::<bool>(), options in any_options(),
    ) {
        let number = |n: u64| n.wrapping_mul(2_654_435_761) % 1_000_003;
        let start = |n: u64| match dates {
            true => format!("2023-11-14T2{}:{:02}:{:02}.{:03}Z", n / 3000, n / 50 % 60, n % 50, number(n) % 1000),
            false => (1_700_000_000_000 + n * 7).to_string(),
        };
        let mut cells: Vec<[String; 5]> = (0..rows)
            .map(|n| {
                let name = ["orders", "billing", "a-rather-long-name"][(number(n) % 3) as usize];
                let status = if number(n) % 11 == 0 { "503" } else { "200" };
                [start(n), name.to_owned(), status.to_owned(), (n % 4).to_string(), format!("{}.{:03}", number(n) % 40_000, number(n) % 1000)]
            })
            .collect();
        cells.insert(0, COLUMNS.map(str::to_owned));
        for (row, column, cell) in odd {
            let row = 1 + row % rows as usize;
            cells[row][column] = cell.to_owned();
        }
        assert_same(dressed(&cells, quoted, end).as_bytes(), &options);
    }
}
