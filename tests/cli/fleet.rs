//! A fleet's measurements: parts read through pipes, merged into what one machine would have read.

use crate::support::command;
use flate2::read::GzDecoder;
use std::fs::{self, File};
use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Output, Stdio};
use std::thread;

/// The columns of the attempts, which have no header once they are split.
const COLUMNS: [&str; 8] = ["--no-header", "--column", "4", "--unit", "ms", "--group-by", "2", "--save"];

/// Runs a command with a text on its standard input.
fn piped(arguments: &[&str], input: &str) -> Output {
    let mut child = command()
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let input = input.to_owned();
    let writer = thread::spawn(move || {
        let _ = stdin.write_all(input.as_bytes());
    });
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap();
    output
}

/// A stage of a pipe: attempts or profiles in, a profile out, and not a word beside it.
fn stage(arguments: &[&str], input: &str) -> String {
    let output = piped(&[&["ingest", "-"], arguments].concat(), input);
    assert!(output.status.success() && output.stderr.is_empty(), "{output:?}");
    String::from_utf8(output.stdout).unwrap()
}

fn profile_of(attempts: &str) -> String {
    stage(&[&COLUMNS[..], &["-"]].concat(), attempts)
}

/// The week of attempts, without its header.
fn attempts() -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/attempts-week.csv.gz");
    let mut text = String::new();
    GzDecoder::new(File::open(path).unwrap()).read_to_string(&mut text).unwrap();
    text.split_once('\n').unwrap().1.to_owned()
}

fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    fs::create_dir_all(&folder).unwrap();
    folder
}

#[test]
fn parts_through_pipes_merge_into_the_profile_of_a_single_machine() {
    let attempts = attempts();
    let single = profile_of(&attempts);
    assert!(single.len() < 100_000, "{} bytes", single.len());
    let lines: Vec<&str> = attempts.lines().collect();
    // Dealt out like cards, as a scheduler does it, and in pieces.
    let dealt = (0..3).map(|hand| lines.iter().skip(hand).step_by(3).copied().collect::<Vec<_>>().join("\n"));
    let pieces = lines.chunks(17_001).map(|piece| piece.join("\n"));
    for parts in [dealt.collect::<Vec<_>>(), pieces.collect()] {
        let profiles: Vec<String> = parts.iter().map(|part| profile_of(part)).collect();
        assert!(profiles.len() > 2 && profiles.iter().all(|profile| profile.lines().count() == 1));
        assert_eq!(stage(&["--save", "-"], &profiles.concat()), single, "one stream of profiles");
        let backwards: String = profiles.iter().rev().map(String::as_str).collect();
        assert_eq!(stage(&["--save", "-"], &backwards), single, "in another order");
        let (first, rest) = profiles.split_first().unwrap();
        let tree = first.clone() + &stage(&["--save", "-"], &rest.concat());
        assert_eq!(stage(&["--save", "-"], &tree), single, "in two steps");
    }
}

#[test]
fn a_profile_on_standard_input_is_taken_by_every_command() {
    let profile = profile_of(&attempts());
    for arguments in [
        "size --rate 900 --wait 0.5 --only workers",
        "drain --backlog 1M --rate 500 --workers 900 --only drains",
        "layout --concurrency 1300 --rate 900 --only pods",
        "diagnose --depth 5000 --in-flight 100 --workers 100 --throughput 70 --only verdict",
        "autoscale replay --shape surge --rate 900 --tasks-per-replica 640 --only replicas_max",
        "autoscale decide --current 4 --oldest-age 5 --rate 900 --tasks-per-replica 640 --only desired",
        "simulate --workers 1400 --rate 900 --arrivals-count 1000 --only arrivals",
    ] {
        let arguments: Vec<&str> = arguments.split(' ').chain(["--profile", "-"]).collect();
        let output = piped(&arguments, &profile);
        assert!(output.status.code().is_some_and(|code| code < 2), "{arguments:?}: {output:?}");
        assert_eq!(
            output.stdout.iter().filter(|byte| **byte == b'\n').count(),
            1,
            "{arguments:?}: {output:?}"
        );
    }
}

#[test]
fn a_dash_is_never_the_name_of_a_file() {
    let folder = folder("dash");
    let run = |arguments: &[&str], input: &str| {
        let mut child = command()
            .args(arguments)
            .current_dir(&folder)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
        child.wait_with_output().unwrap()
    };
    let saved = run(&["ingest", "-", "--save", "-"], "duration_s\n1.5\n0.5\n");
    assert!(
        saved.status.success() && saved.stdout.starts_with(b"{\"schema\":\"whsize.profile/1\""),
        "{saved:?}"
    );
    let refused = run(
        &[
            "validate",
            "--rate",
            "20",
            "--mean",
            "10ms",
            "--workers",
            "2",
            "--duration",
            "1s",
            "--levels",
            "1",
            "--save",
            "-",
        ],
        "",
    );
    assert!(refused.status.code() == Some(2) && refused.stdout.is_empty(), "{refused:?}");
    assert!(String::from_utf8_lossy(&refused.stderr).contains("standard output"), "{refused:?}");
    assert_eq!(fs::read_dir(&folder).unwrap().count(), 0, "nothing is written");
}

#[test]
fn a_stage_says_beside_the_profile_what_it_skipped_and_fails_as_a_whole() {
    let output =
        piped(&["ingest", "-", "--save", "-"], &format!("duration_s\n{}broken\n", "1.5\n".repeat(200)));
    assert!(output.status.success(), "{output:?}");
    assert!(String::from_utf8_lossy(&output.stderr).contains("1 row"), "{output:?}");
    let profile = String::from_utf8(output.stdout).unwrap();
    for (input, named) in [
        (format!("{profile}{}", &profile[..profile.len() / 2]), "standard input:2:"),
        (format!("{profile}nonsense\n"), "it is no saved profile"),
        (String::new(), "standard input: there is nothing in it"),
    ] {
        let output = piped(&["ingest", "-", "--save", "-"], &input);
        let error = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.code() == Some(2) && output.stdout.is_empty(), "{output:?}");
        assert!(error.contains(named), "{error}");
    }
}

#[test]
fn a_part_without_attempts_adds_nothing_where_that_is_allowed() {
    for input in ["", "\n"] {
        let output = piped(&["ingest", "-", "--allow-empty", "--save", "-"], input);
        assert!(
            output.status.success() && output.stdout.is_empty() && output.stderr.is_empty(),
            "{output:?}"
        );
    }
    assert_eq!(piped(&["ingest", "-", "--allow-empty"], "").status.code(), Some(2), "it is about saving");
}
