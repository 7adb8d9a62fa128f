//! Annotations of GitHub Actions: what is not met appears beside the line of the plan that requires it.

use super::{Judged, Report};
use crate::check::Verdict;
use crate::notice::Severity;
use std::fmt::Write as _;

/// Renders the findings of a check as workflow commands, and the answer in words first.
#[must_use]
pub fn render(report: &Report, judged: &Judged) -> String {
    let mut out = format!("{}\n", one_line(&report.headline));
    for finding in &judged.checked.findings {
        let command = match finding.verdict {
            Verdict::Pass => continue,
            Verdict::Warn => "warning",
            Verdict::Fail => "error",
        };
        let at = finding.at.map(|at| format!(",line={},col={}", at.line, at.column)).unwrap_or_default();
        let hint = finding.hint.as_ref().map(|hint| format!(" ({hint})")).unwrap_or_default();
        let _ = writeln!(
            out,
            "::{command} file={}{at},title={}::{}",
            property(&judged.file),
            property(&format!("{}: {}", finding.pool, finding.requirement)),
            data(&format!("{}{hint}", finding.message))
        );
    }
    // The findings stand above; what else is worth a warning has no line.
    let others = report.notes.iter().filter(|note| !note.code.starts_with("requirement-"));
    for note in others.filter(|note| note.severity > Severity::Info) {
        let _ = writeln!(out, "::warning file={}::{}", property(&judged.file), data(&note.message));
    }
    out
}

/// A line of a log that no name can turn into a command.
fn one_line(text: &str) -> String {
    text.replace(['\r', '\n'], " ")
}

/// What stands behind `::`, as the runner unescapes it.
fn data(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

/// What stands in a property, where commas and colons separate.
fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}
