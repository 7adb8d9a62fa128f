//! What holds for every command: bad values, closed pipes, formats, colours.

use crate::support::{command, run, run_all};
use std::io::Read;
use std::process::Stdio;

const SIZE: &str = "size --rate 900 --mean 1.4 --wait 0.5";

#[test]
fn bad_values_exit_2_and_name_what_was_typed_and_what_is_accepted() {
    for (flag, bad, accepted) in [
        ("--rate", "NaN", "54000/min"),
        ("--rate", "inf", "54000/min"),
        ("--rate", "-5", "54000/min"),
        ("--rate", "0", "54000/min"),
        ("--rate", "1e400", "54000/min"),
        ("--rate", "1,4", "54000/min"),
        ("--mean", "5parsecs", "1400ms"),
        ("--mean", "0s", "1400ms"),
        ("--mean", "-1", "1400ms"),
        ("--wait", "nan", "1400ms"),
        ("--wait-quantile", "p101=5", "p99.9"),
        ("--wait-probability", "100%", "0.05"),
        ("--max-utilisation", "2", "0.05"),
        ("--headroom", "-3%", "10%"),
        ("--headroom", "10", "10%"),
        ("--headroom", "20000%", "hundred times"),
        ("--max-utilisation", "1e-12", "0.1%"),
        ("--wait-quantile", "p99.9999999999999999=1", "one in a billion"),
        ("--workers", "1.5", "280k"),
    ] {
        let rest = ["--rate", "900", "--mean", "1.4", "--wait", "0.5"];
        let rest = rest.chunks(2).filter(|pair| pair[0] != flag).flatten().copied();
        let output = run_all(["size", flag, bad].into_iter().chain(rest));
        assert_eq!(output.code, 2, "{flag} {bad}: {output:?}");
        assert!(output.stderr.contains(bad) && output.stderr.contains(accepted), "{flag} {bad}: {output:?}");
        assert_eq!(output.stdout, "", "{flag} {bad}");
    }
    let empty = run_all(["size", "--rate", "", "--mean", "1.4", "--wait", "1"]);
    assert!(empty.code == 2 && empty.stderr.contains("54000/min"), "{empty:?}");
}

#[test]
fn spellings_of_one_quantity_give_one_answer() {
    let plain = run(&format!("{SIZE} --format json"));
    assert_eq!(plain.stdout, run("size --rate 54000/min --mean 1400ms --wait 500ms --format json").stdout);
}

#[test]
fn a_reader_that_stops_reading_is_no_failure() {
    let mut child =
        command().args(SIZE.split(' ')).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    let status = child.wait().unwrap();
    let mut complaint = String::new();
    child.stderr.take().unwrap().read_to_string(&mut complaint).unwrap();
    assert!(status.success() && complaint.is_empty(), "{status} {complaint}");
}

#[test]
fn colour_is_for_terminals_and_for_those_who_ask() {
    assert!(!run(SIZE).stdout.contains('\u{1b}'), "no colour into a pipe");
    assert!(run(&format!("{SIZE} --color always")).stdout.contains('\u{1b}'));
    assert!(!run(&format!("{SIZE} --format json --color always")).stdout.contains('\u{1b}'));
}

#[test]
fn only_prints_one_bare_value() {
    for (field, value) in [
        ("workers", "1263"),
        ("offered_load_erlangs", "1260"),
        ("stable", "true"),
        ("model", "M/M/N (Erlang C)"),
        ("square_root_range.1", "1331"),
    ] {
        assert_eq!(run(&format!("{SIZE} --only {field}")).stdout, format!("{value}\n"));
    }
    let unknown = run(&format!("{SIZE} --only wrokers"));
    assert_eq!(unknown.code, 2);
    assert!(unknown.stderr.contains("did you mean \"workers\"?"), "{unknown:?}");
}

#[test]
fn a_value_that_an_answer_does_not_have_is_no_bad_usage() {
    let unstable = run("size --rate 900 --mean 1.4 --workers 100 --only wait_mean_s");
    assert!(unstable.code == 1 && unstable.stderr.contains("No: 100 workers"), "{unstable:?}");
    let never = run("drain --backlog 10 --served-rate 5 --rate 5 --only drain_s");
    assert!(never.code == 1 && never.stderr.contains("Never"), "{never:?}");
}

#[test]
fn tables_stay_within_100_columns_and_carry_no_long_tails() {
    for arguments in [
        SIZE,
        "size --rate 1G --mean 1 --wait 0.5 --explain",
        "size --rate 900 --mean 1.4 --workers 1200 --wait 0.5 --wait-quantile p95=5s",
        "size --rate 1/day --mean 250us --wait 0.5 --max-utilisation 1% --surge name=outage,rate=2400,mean=3.1",
    ] {
        for line in run(arguments).stdout.lines() {
            assert!(line.chars().count() <= 100, "{arguments}: {line}");
            let longest = line.split(|c: char| !c.is_ascii_digit()).map(str::len).max().unwrap_or(0);
            assert!(longest <= 10, "{arguments}: {line}");
        }
    }
}

#[test]
fn quiet_leaves_out_remarks_and_explain_adds_the_formula() {
    let plain = run(SIZE).stdout;
    assert!(plain.contains("note:") && !plain.contains("source:"));
    let quiet = run(&format!("{SIZE} --quiet")).stdout;
    assert!(!quiet.contains("note:") && quiet.contains("warning: 1263 workers are full"), "{quiet}");
    assert!(
        run(&format!("{SIZE} --quiet --explain")).stdout.contains("source:"),
        "what is asked for is shown"
    );
    assert!(run(&format!("{SIZE} --explain")).stdout.contains("source: A. K. Erlang 1917"));
}

#[test]
fn help_has_examples_and_check_lists_its_requirements() {
    for command in ["", "completions", "man", "autoscale replay", "autoscale decide", "check"] {
        let help = run(&format!("{command} --help")).stdout;
        assert!(help.contains("Examples:\n  whsize") || command == "completions", "{command}: {help}");
    }
    let help = run("check --help").stdout;
    for (written, _) in whsize::config::plan::REQUIREMENTS {
        assert!(help.contains(written), "{written}: {help}");
    }
}

#[test]
fn packagers_get_completions_and_manual_pages() {
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = run(&format!("completions {shell}"));
        assert!(script.code == 0 && script.stdout.contains("wait-quantile"), "{shell}");
    }
    assert!(run("man").stdout.starts_with(".ie"), "roff");
    assert!(run("man size").stdout.contains("max\\-utilisation"));
    let page = run("man autoscale replay").stdout;
    assert_eq!(run("man autoscale-replay").stdout, page);
    let title = format!(".TH whsize-autoscale-replay 1  \"whsize {}\"", env!("CARGO_PKG_VERSION"));
    assert!(page.contains(&title), "{page}");
    let check = run("man check").stdout;
    let lines: Vec<&str> = check.lines().collect();
    let examples = lines.iter().position(|line| *line == ".SH EXAMPLES").unwrap();
    assert_eq!(lines[examples + 1..examples + 3], [".nf", "  whsize check whsize.toml"], "{check}");
    assert!(check.contains("profile not older than 14 days") && !check.contains("EXTRA"), "{check}");
    let unknown = run("man sizes");
    assert!(unknown.code == 2 && unknown.stderr.contains("sizes"), "{unknown:?}");
}
