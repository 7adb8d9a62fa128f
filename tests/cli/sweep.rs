//! `--sweep`: one answer for each value of an option.

use crate::schema::assert_matches;
use crate::support::{run, run_json};
use serde_json::Value;

#[test]
fn every_row_is_the_answer_of_the_single_command() {
    for (line, option, values) in [
        ("size --mean 1.4 --wait 0.5", "rate", "500:900:200"),
        ("size --rate 900 --mean 1.4", "wait", "100ms,0.5,2s"),
        ("size --rate 900 --mean 1.4 --workers 1300", "headroom", "1%:4%:1%"),
        ("drain --rate 500 --served-rate 600 --within 2h", "backlog", "100k:400k:100k"),
        ("layout --tasks-per-process 145 --processes-per-pod 3", "concurrency", "100,1263"),
        ("simulate --rate 4 --mean 1 --duration 100 --replications 3", "workers", "5:7:1"),
    ] {
        let swept = run_json(&format!("{line} --sweep {option}={values}"));
        let document = swept.json();
        assert_matches("sweep", &document);
        let rows = document["result"]["rows"].as_array().unwrap().clone();
        assert!(rows.len() > 1, "{line}");
        let mut all_hold = true;
        for row in rows {
            let value = row["value"].as_str().unwrap();
            let single = run_json(&format!("{line} --{option} {value}"));
            assert_eq!(row["result"], single.json()["result"], "{line} --{option} {value}");
            assert_eq!(row["holds"], Value::from(single.code == 0), "{line} --{option} {value}");
            all_hold &= single.code == 0;
        }
        assert_eq!(swept.code, i32::from(!all_hold), "{line}: no if one of them is no");
    }
}

#[test]
fn a_table_a_csv_and_a_column_of_values_say_the_same() {
    let line = "size --mean 1.4 --wait 0.5 --sweep rate=500:1500:500";
    let table = run(line).stdout;
    assert!(table.starts_with("--rate from 500 to 1500: workers from 703 to 2103.\n"), "{table}");
    assert_eq!(run(&format!("{line} --only workers")).stdout, "703\n1403\n2103\n");
    let csv = run(&format!("{line} --format csv")).stdout;
    let mut reader = csv::Reader::from_reader(csv.as_bytes());
    let names = reader.headers().unwrap().clone();
    assert_eq!((&names[0], &names[1]), ("rate", "holds"));
    let workers = names.iter().position(|name| name == "workers").unwrap();
    let found: Vec<String> = reader.records().map(|row| row.unwrap()[workers].to_owned()).collect();
    assert_eq!(found, ["703", "1403", "2103"]);
}

#[test]
fn a_value_without_the_field_leaves_its_line_empty() {
    let swept = run("size --rate 900 --mean 1.4 --wait 0.5 --sweep workers=1260:1263:3 --only wait_mean_s");
    let lines: Vec<&str> = swept.stdout.split('\n').collect();
    assert_eq!((lines[0], &lines[1][..6], lines.len(), swept.code), ("", "0.4194", 3, 1), "{swept:?}");
}

#[test]
fn warnings_of_a_kind_are_said_once() {
    let swept = run("size --mean 1.4 --wait 0.5 --sweep rate=900:1000:50");
    let fragile = swept.stdout.matches("--rate 900: ").count();
    assert!(fragile >= 1 && swept.stdout.contains("(and so for 2 more)"), "{}", swept.stdout);
}

#[test]
fn what_cannot_be_swept_is_refused() {
    for (line, reason) in [
        ("size --mean 1.4 --wait 0.5 --sweep rate=5:1:1", "ends below its beginning"),
        ("size --mean 1.4 --wait 0.5 --sweep rate=0:2:1", "--rate <R>"),
        ("size --rate 900 --mean 1.4 --wait 0.5 --sweep rate=1:2:1", "given and swept as well"),
        ("size --mean 1.4 --wait 0.5 --sweep rats=1:2:1", "--rate"),
        ("size --mean 1.4 --wait 0.5 --sweep rate=1:2:1 --plot", "leave out --sweep"),
        ("size --mean 1.4 --wait 0.5 --sweep rate=1:2:1 --explain", "leave out --sweep"),
        ("size --mean 1.4 --wait 0.5 --sweep rate=900,1e12", "--rate 1e12"),
        ("size --rate 9 --mean 1.4 --wait 0.5 --format csv", "is of --sweep"),
        ("plan --sweep set=1:2:1", "is of size, drain, layout, simulate, not of plan"),
        ("layout --emit env --sweep concurrency=1:2:1", "leave out --emit"),
        ("size --sweep", "a sweep is an option with its values"),
    ] {
        let refused = run(line);
        assert_eq!((refused.code, refused.stdout.as_str()), (2, ""), "{line}");
        assert!(refused.stderr.contains(reason), "{line}: {}", refused.stderr);
    }
}
