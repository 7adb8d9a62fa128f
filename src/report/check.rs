//! The report of `check`.

use super::plan::Inputs;
use super::{Answer, Column, Judged, NotFinite, Report, Section, Table};
use crate::check::{Checked, Finding, Verdict};
use crate::notice::Note;
use crate::units::human;

/// Up to so many findings are all shown; of more, only those that are not met.
const SHOWN: usize = 60;

/// Builds the report of a check. The exit code follows the verdict alone.
///
/// # Errors
/// If a number is not finite, which would be a defect.
pub fn report(inputs: &Inputs, checked: &Checked, notes: Vec<Note>) -> Result<Report, NotFinite> {
    let answer = if checked.verdict == Verdict::Fail { Answer::No } else { Answer::Yes };
    let mut report = Report::new("check", answer, headline(checked), inputs, checked)?;
    let all = checked.findings.len() <= SHOWN;
    let shown: Vec<&Finding> =
        checked.findings.iter().filter(|finding| all || finding.verdict > Verdict::Pass).collect();
    if !shown.is_empty() {
        report.sections.push(Section::Table(findings(checked, &shown)));
    }
    report.notes = checked.findings.iter().filter_map(note).chain(notes).collect();
    report.judged = Some(Judged { file: inputs.file.clone(), checked: checked.clone() });
    Ok(report)
}

fn headline(checked: &Checked) -> String {
    let total = checked.findings.len();
    let pools = human::counted(checked.pools.len() as u64, "pool");
    let warned = match checked.warned {
        0 => String::new(),
        1 => "; 1 warning".to_owned(),
        more => format!("; {} warnings", human::count(more as u64)),
    };
    let requirements = human::counted(total as u64, "requirement");
    match checked.failed {
        0 => {
            format!("Pass: {} of {requirements} of {pools} met{warned}.", human::count(checked.passed as u64))
        }
        failed => {
            format!("Fail: {} of {requirements} of {pools} not met{warned}.", human::count(failed as u64))
        }
    }
}

fn findings(checked: &Checked, shown: &[&Finding]) -> Table {
    let columns = [
        Column::words("verdict"),
        Column::words("pool"),
        Column::words("requirement"),
        Column::words("found"),
    ];
    let hidden = checked.findings.len() - shown.len();
    let title = match hidden {
        0 => "Requirements".to_owned(),
        _ => format!("Requirements that are not met ({} more are)", human::count(hidden as u64)),
    };
    let mut table = Table::new(title, &columns);
    for finding in shown {
        if finding.verdict == Verdict::Fail {
            table.highlighted.push(table.rows.len());
        }
        table.row([
            finding.verdict.as_str().to_owned(),
            finding.pool.clone(),
            finding.requirement.clone(),
            finding.message.clone(),
        ]);
    }
    table
}

/// What to do about a finding that is not met.
fn note(finding: &Finding) -> Option<Note> {
    let message = format!("{}: {}: {}", finding.pool, finding.requirement, finding.message);
    let note = match finding.verdict {
        Verdict::Pass => return None,
        Verdict::Warn => Note::warning("requirement-warns", message),
        Verdict::Fail => Note::error("requirement-failed", message),
    };
    Some(match &finding.hint {
        Some(hint) => note.with_hint(hint.clone()),
        None => note,
    })
}
