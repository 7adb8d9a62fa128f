//! Markdown for a pull request or a wiki: the headline, tables, notes as a list.

use super::{Report, Section, Table, figure};
use crate::notice::Severity;
use std::fmt::Write as _;

/// The columns of a figure, which fit a comment on a pull request.
const FIGURE_WIDTH: usize = 80;

/// Renders a report as GitHub-flavoured Markdown.
#[must_use]
pub fn render(report: &Report) -> String {
    let mut out = format!("**{}**\n", escape(&report.headline));
    for section in &report.sections {
        out.push('\n');
        match section {
            Section::Heading(heading) => {
                let _ = writeln!(out, "## {}", escape(heading));
            }
            Section::Facts { title, rows } => facts(&mut out, title, rows),
            Section::Table(table) => rows_and_columns(&mut out, table),
            Section::Bars(bars) => rows_and_columns(&mut out, &bars.table(false)),
            Section::Figure(plotted) => {
                let _ = write!(out, "```text\n{}```\n", figure::render_plain(plotted, FIGURE_WIDTH));
            }
        }
    }
    for explanation in &report.explanations {
        let _ = write!(
            out,
            "\n### {}\n\n`{}`\n\n{}\n\nSource: {}\n",
            escape(explanation.quantity),
            explanation.formula,
            escape(&explanation.numbers),
            escape(explanation.source)
        );
    }
    if !report.notes.is_empty() {
        out.push('\n');
    }
    for note in &report.notes {
        let label = match note.severity {
            Severity::Info => "Note",
            Severity::Warning => "Warning",
            Severity::Error => "Problem",
        };
        let hint = note.hint.as_ref().map(|hint| format!(" ({})", escape(hint))).unwrap_or_default();
        let _ = writeln!(out, "- **{label}:** {}{hint}", escape(&note.message));
    }
    out
}

fn facts(out: &mut String, title: &str, rows: &[(String, String)]) {
    let _ = write!(out, "### {}\n\n| | |\n| --- | --- |\n", escape(title));
    for (name, value) in rows {
        let _ = writeln!(out, "| {} | {} |", escape(name), escape(value));
    }
}

fn rows_and_columns(out: &mut String, table: &Table) {
    let _ = write!(out, "### {}\n\n", escape(&table.title));
    let line =
        |cells: &mut dyn Iterator<Item = String>| format!("| {} |\n", cells.collect::<Vec<_>>().join(" | "));
    out.push_str(&line(&mut table.columns.iter().map(|column| escape(&column.heading))));
    let rule = |numeric| if numeric { "---:" } else { "---" }.to_owned();
    out.push_str(&line(&mut table.columns.iter().map(|column| rule(column.numeric))));
    for (index, row) in table.rows.iter().enumerate() {
        let strong = table.highlighted.contains(&index);
        let cell = |text: &String| if strong { format!("**{}**", escape(text)) } else { escape(text) };
        out.push_str(&line(&mut row.iter().map(cell)));
    }
}

/// Text that Markdown and HTML would read as markup stands for itself; names come from files and arguments.
fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '\\' | '`' | '*' | '_' | '[' | ']' | '|' | '#' | '~' => {
                escaped.push('\\');
                escaped.push(letter);
            }
            // Nobody is called by name: the comment, which is not shown, parts the sign from what follows.
            '@' => escaped.push_str("@<!-- -->"),
            '\n' | '\r' => escaped.push(' '),
            other => escaped.push(other),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::notice::Note;
    use crate::report::{Answer, Column};

    #[test]
    fn a_table_carries_its_alignment_and_names_stay_text() {
        let mut report = Report::new("size", Answer::Yes, "7 workers do", &[1], &[1]).unwrap();
        let mut table = Table::new("Rules", &[Column::words("rule"), Column::number("workers")]);
        table.row(["a|b <script> ~~x~~ @y".to_owned(), "7".to_owned()]);
        table.highlighted = vec![0];
        report.sections.push(Section::Table(table));
        report
            .sections
            .push(Section::Facts { title: "Basis", rows: vec![("load".to_owned(), "5 erlangs".to_owned())] });
        report.notes.push(Note::warning("x", "mind *this*").with_hint("do that"));
        assert_eq!(
            render(&report),
            "**7 workers do**\n\n### Rules\n\n| rule | workers |\n| --- | ---: |\n| **a\\|b &lt;script&gt; \\~\\~x\\~\\~ @<!-- -->y** | **7** |\n\n\
             ### Basis\n\n| | |\n| --- | --- |\n| load | 5 erlangs |\n\n- **Warning:** mind \\*this\\* (do that)\n"
        );
    }
}
