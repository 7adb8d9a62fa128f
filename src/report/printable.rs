//! Text of a file on a terminal: names of groups, columns and pools may hold anything.

use super::{Report, Section};
use std::borrow::Cow;

/// A line of text in which nothing steers a terminal or breaks the line: control characters become `?`.
#[must_use]
pub fn printable(text: &str) -> Cow<'_, str> {
    if text.chars().any(char::is_control) {
        Cow::Owned(text.chars().map(|letter| if letter.is_control() { '?' } else { letter }).collect())
    } else {
        Cow::Borrowed(text)
    }
}

/// The report with every text in that form.
pub(super) fn report(report: &Report) -> Report {
    let mut report = report.clone();
    line(&mut report.headline);
    for section in &mut report.sections {
        match section {
            Section::Heading(heading) => line(heading),
            Section::Facts { rows, .. } => rows.iter_mut().for_each(|(name, value)| {
                line(name);
                line(value);
            }),
            Section::Table(table) => {
                line(&mut table.title);
                for column in &mut table.columns {
                    column.heading = Cow::Owned(printable(&column.heading).into_owned());
                }
                table.rows.iter_mut().flatten().for_each(line);
            }
            Section::Bars(bars) => bars.rows.iter_mut().for_each(|bar| line(&mut bar.name)),
            Section::Figure(figure) => line(&mut figure.title),
        }
    }
    for note in &mut report.notes {
        line(&mut note.message);
        note.hint.iter_mut().for_each(line);
    }
    for step in &mut report.explanations {
        line(&mut step.numbers);
    }
    report
}

fn line(text: &mut String) {
    if let Cow::Owned(shown) = printable(text) {
        *text = shown;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_steers_the_terminal() {
        assert_eq!(printable("a\u{1b}[2J\u{1b}]0;x\u{7}\nb\u{9b}"), "a?[2J?]0;x??b?");
        assert!(matches!(printable("größer → 5 µs"), Cow::Borrowed(_)));
    }
}
