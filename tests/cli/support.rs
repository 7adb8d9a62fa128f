//! Runs the program that cargo built for these tests.

use serde_json::Value;
use std::process::{Command, Stdio};

/// What a run left behind.
#[derive(Debug)]
pub(crate) struct Output {
    pub(crate) code: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Output {
    /// The JSON document on standard output.
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.stdout).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }

    /// A field below `result`, by its dotted path.
    pub(crate) fn field(&self, path: &str) -> Value {
        let pointer = format!("/result/{}", path.replace('.', "/"));
        self.json().pointer(&pointer).cloned().unwrap_or_else(|| panic!("no {path}: {}", self.stdout))
    }

    /// A number below `result`.
    pub(crate) fn number(&self, name: &str) -> f64 {
        self.field(name).as_f64().unwrap_or_else(|| panic!("{name} is no number: {}", self.stdout))
    }
}

/// The program, without the variables that would change its output.
pub(crate) fn command() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_whsize"));
    command
        .env_remove("NO_COLOR")
        .env_remove("CLICOLOR_FORCE")
        .env_remove("RUST_BACKTRACE")
        .stdin(Stdio::null());
    command
}

/// Runs with arguments given apart.
pub(crate) fn run_all<I: IntoIterator<Item = S>, S: AsRef<std::ffi::OsStr>>(arguments: I) -> Output {
    let output = command().args(arguments).output().unwrap();
    Output {
        code: output.status.code().unwrap_or_else(|| panic!("ended by a signal: {output:?}")),
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8(output.stderr).unwrap(),
    }
}

/// Runs with arguments separated by spaces.
pub(crate) fn run(arguments: &str) -> Output {
    run_all(arguments.split_whitespace())
}

/// The same with `--format json`.
pub(crate) fn run_json(arguments: &str) -> Output {
    run(&format!("{arguments} --format json"))
}
