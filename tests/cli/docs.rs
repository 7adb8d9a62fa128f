//! Every `console` block in README.md and docs/ is run by a shell in the project's root, and prints what it shows.
//!
//! A line that starts with `$ ` is a command (a final backslash continues it); what follows up to the next command
//! is its output, standard output and standard error as one. A line of three dots stands for any number of lines.
//! A command that does not succeed is followed by its exit code, as `$ echo $?` would show it, in a line
//! `[exit code 1]`. `WHSIZE_UPDATE=1` rewrites the outputs that hold no such dots.

use crate::support::command;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

const ANY_LINES: &str = "...";

struct Example {
    /// The lines of the block that make up the command, as they stand.
    typed: Vec<String>,
    expected: Vec<String>,
}

impl Example {
    fn script(&self) -> String {
        self.typed.join("\n").trim_start_matches("$ ").to_owned()
    }

    fn run(&self) -> Vec<String> {
        let program = PathBuf::from(command().get_program());
        let folder = program.parent().unwrap().to_owned();
        let path = std::env::join_paths(
            std::iter::once(folder).chain(std::env::split_paths(&std::env::var_os("PATH").unwrap())),
        );
        let output = Command::new("sh")
            .args(["-c", &format!("exec 2>&1\n{}", self.script())])
            .current_dir(env!("CARGO_MANIFEST_DIR"))
            .env("PATH", path.unwrap())
            .env_remove("RUST_BACKTRACE")
            .stdin(Stdio::null())
            .output()
            .unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        let mut lines: Vec<String> = text.lines().map(|line| line.trim_end().to_owned()).collect();
        if !output.status.success() {
            lines.push(format!("[exit code {}]", output.status.code().unwrap()));
        }
        while lines.last().is_some_and(String::is_empty) {
            lines.pop();
        }
        lines
    }
}

/// Whether lines match, where [`ANY_LINES`] stands for any number of them.
fn matches(expected: &[String], found: &[String]) -> bool {
    match expected.split_first() {
        None => found.is_empty(),
        Some((first, rest)) if first == ANY_LINES => {
            (0..=found.len()).any(|skipped| matches(rest, &found[skipped..]))
        }
        Some((first, rest)) => found.first() == Some(first) && matches(rest, &found[1..]),
    }
}

/// The text with every console block run: as it is written, and as it would be with the outputs found.
fn replay(text: &str, failures: &mut Vec<String>) -> String {
    let mut rewritten = String::new();
    let mut lines = text.lines().peekable();
    while let Some(line) = lines.next() {
        rewritten.push_str(line);
        rewritten.push('\n');
        if line.trim() != "```console" {
            continue;
        }
        while let Some(line) = lines.next_if(|line| line.trim() != "```") {
            assert!(line.starts_with("$ "), "a console block starts with a command: {line}");
            let mut example = Example { typed: vec![line.to_owned()], expected: Vec::new() };
            while example.typed.last().is_some_and(|last| last.ends_with('\\')) {
                example.typed.push(lines.next().unwrap().to_owned());
            }
            while let Some(output) = lines.next_if(|line| line.trim() != "```" && !line.starts_with("$ ")) {
                example.expected.push(output.to_owned());
            }
            while example.expected.last().is_some_and(String::is_empty) {
                example.expected.pop();
            }
            let found = example.run();
            if !matches(&example.expected, &found) {
                failures.push(format!(
                    "{}\n--- shown\n{}\n--- printed\n{}",
                    example.script(),
                    example.expected.join("\n"),
                    found.join("\n")
                ));
            }
            let shown = if example.expected.iter().any(|line| line == ANY_LINES) {
                &example.expected
            } else {
                &found
            };
            for line in example.typed.iter().chain(shown) {
                rewritten.push_str(line);
                rewritten.push('\n');
            }
            if lines.peek().is_some_and(|next| next.starts_with("$ ")) {
                rewritten.push('\n');
            }
        }
    }
    rewritten
}

fn markdown_files(folder: &Path, into: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            markdown_files(&path, into);
        } else if path.extension().is_some_and(|extension| extension == "md") {
            into.push(path);
        }
    }
}

#[test]
fn every_documented_command_prints_what_is_shown() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut files = vec![root.join("README.md")];
    markdown_files(&root.join("docs"), &mut files);
    let (mut failures, mut blocks) = (Vec::new(), 0);
    for file in files {
        let text = fs::read_to_string(&file).unwrap();
        blocks += text.matches("```console").count();
        let rewritten = replay(&text, &mut failures);
        if std::env::var_os("WHSIZE_UPDATE").is_some() {
            fs::write(&file, rewritten).unwrap();
            failures.clear();
        }
    }
    assert!(blocks > 0, "the documentation shows commands");
    assert!(failures.is_empty(), "{}", failures.join("\n\n"));
}

#[test]
fn a_stale_output_or_a_wrong_exit_code_is_found() {
    let mut failures = Vec::new();
    let block = |output: &str| {
        format!("```console\n$ whsize size --rate 5 --mean 1 --wait 0.5 --only workers\n{output}\n```\n")
    };
    assert_eq!(replay(&block("7"), &mut failures), block("7"));
    assert!(failures.is_empty());
    assert_eq!(replay(&block("8"), &mut failures), block("7"));
    replay("```console\n$ exit 3\n```\n", &mut failures);
    replay("```console\n$ echo a; echo b; echo c\n...\nc\n```\n", &mut failures);
    assert_eq!(failures.len(), 2, "{failures:?}");
}
