//! JUnit XML, which CI systems show as tests: a suite for each pool, a case for each requirement.

use super::Judged;
use crate::check::{Finding, Verdict};
use crate::notice::{Note, Severity};
use quick_junit::{NonSuccessKind, Property, Report, SerializeError, TestCase, TestCaseStatus, TestSuite};

/// Why a report cannot be written as JUnit XML.
#[derive(Debug, thiserror::Error)]
#[error("writing JUnit XML: {0}")]
pub struct JunitError(#[from] SerializeError);

/// Renders the findings of a check. A requirement that only warns is a case that passes, with the warning as its output.
///
/// # Errors
/// If the XML cannot be written.
pub fn render(judged: &Judged, notes: &[Note]) -> Result<String, JunitError> {
    let mut others = remarks(notes);
    let mut report = Report::new(format!("whsize check {}", judged.file));
    for pool in &judged.checked.pools {
        let mut suite = TestSuite::new(pool.name.as_str());
        let own = judged.checked.findings.iter().filter(|finding| finding.pool == pool.name);
        suite.add_test_cases(own.map(case));
        // The remarks are about the run as a whole, and the format has no place for these: the first suite has them.
        if !others.is_empty() {
            suite.set_system_out(std::mem::take(&mut others));
        }
        report.add_test_suite(suite);
    }
    Ok(report.to_string()?)
}

/// What no finding says, such as a pool that the baseline does not know: a line each.
fn remarks(notes: &[Note]) -> String {
    let others = notes.iter().filter(|note| !note.code.starts_with("requirement-"));
    let line = |note: &Note| {
        let label = match note.severity {
            Severity::Info => "note",
            Severity::Warning => "warning",
            Severity::Error => "problem",
        };
        let hint = note.hint.as_ref().map(|hint| format!(" ({hint})")).unwrap_or_default();
        format!("{label}: {}{hint}\n", note.message)
    };
    others.map(line).collect()
}

fn case(finding: &Finding) -> TestCase {
    let hint = finding.hint.as_ref().map(|hint| format!(" ({hint})")).unwrap_or_default();
    let message = format!("{}{hint}", finding.message);
    let status = match finding.verdict {
        Verdict::Pass | Verdict::Warn => TestCaseStatus::success(),
        Verdict::Fail => {
            let mut status = TestCaseStatus::non_success(NonSuccessKind::Failure);
            status.set_message(message.as_str()).set_type("requirement");
            status
        }
    };
    let mut case = TestCase::new(finding.requirement.as_str(), status);
    case.set_classname(finding.pool.as_str());
    match finding.verdict {
        Verdict::Pass => drop(case.set_system_out(message)),
        Verdict::Warn => drop(case.set_system_out(format!("warning: {message}"))),
        // The failure carries it already.
        Verdict::Fail => {}
    }
    case.add_property(Property::new("limit", finding.limit.to_string()));
    if let Some(actual) = finding.actual {
        case.add_property(Property::new("actual", actual.to_string()));
    }
    case
}
