//! `docs/cli.md` is what `--help` says, command by command; `WHSIZE_UPDATE=1` rewrites it.

use crate::support::run_all;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

const HEAD: &str = "# The commands and their options\n\nWhat `whsize COMMAND --help` says. This page is generated, and a \
                    test compares it with the program.\n";

/// The commands that a help text lists below `Commands:`.
fn commands(help: &str) -> Vec<String> {
    let listed =
        help.lines().skip_while(|line| *line != "Commands:").skip(1).take_while(|line| !line.is_empty());
    let named = listed.filter(|line| line.starts_with("  ") && !line.starts_with("   "));
    let names = named.filter_map(|line| line.split_whitespace().next());
    names.filter(|name| *name != "help").map(str::to_owned).collect()
}

fn help(of: &[&str]) -> String {
    let output = run_all(of.iter().copied().chain(["--help"]));
    assert_eq!(output.code, 0, "{output:?}");
    let lines: Vec<&str> = output.stdout.lines().map(str::trim_end).collect();
    lines.join("\n")
}

fn section(out: &mut String, of: &[&str]) {
    let text = help(of);
    let _ = write!(out, "\n## whsize {}\n\n```text\n{}\n```\n", of.join(" "), text.trim_end());
    for command in commands(&text) {
        section(out, &[of, &[command.as_str()]].concat());
    }
}

#[test]
fn the_reference_is_what_the_program_says() {
    let top = help(&[]);
    let mut text = format!("{HEAD}\n```text\n{}\n```\n", top.trim_end());
    let all = commands(&top);
    assert!(all.iter().any(|command| command == "check"), "{all:?}");
    all.iter().for_each(|command| section(&mut text, &[command]));
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/cli.md");
    if std::env::var_os("WHSIZE_UPDATE").is_some() {
        fs::write(&path, &text).unwrap();
    }
    let written = fs::read_to_string(&path).unwrap_or_default();
    assert!(written == text, "docs/cli.md is stale; WHSIZE_UPDATE=1 rewrites it");
}
