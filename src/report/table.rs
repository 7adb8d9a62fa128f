//! Text for a terminal: the headline, then sections, then notes, never wider than asked.

use super::{Report, Section, Table, figure};
use crate::notice::{Note, Severity};
use anstyle::{AnsiColor, Style as Ansi};
use comfy_table::{CellAlignment, ContentArrangement, presets};
use std::fmt::Write as _;

/// How the text is laid out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Style {
    /// The most columns that a line may take.
    pub width: u16,
    /// Whether remarks are left out that are neither a warning nor a problem.
    pub quiet: bool,
}

const BOLD: Ansi = Ansi::new().bold();
const DIM: Ansi = Ansi::new().dimmed();

/// The mark of a row that the reader should see first.
const SHOWN_FIRST: &str = ">";

/// The mark of any other row while the table is laid out: of a private character, so that a row is told from the lines
/// of a wrapped heading.
const ROW: &str = "\u{e000}";

/// Renders a report for a person. The text carries ANSI styles; the stream that it is written to strips them
/// where they do not belong. No text of a file gets to steer the terminal.
#[must_use]
pub fn render(report: &Report, style: Style) -> String {
    let report = &super::printable::report(report);
    let width = usize::from(style.width.clamp(40, 100));
    let mut out = String::new();
    paragraph(&mut out, &report.headline, width, BOLD);
    let mut after_heading = false;
    for section in &report.sections {
        if !std::mem::take(&mut after_heading) {
            out.push('\n');
        }
        match section {
            Section::Heading(heading) => {
                paragraph(&mut out, heading, width, BOLD);
                paragraph(&mut out, &"\u{2500}".repeat(heading.chars().count().min(width)), width, DIM);
                after_heading = true;
                continue;
            }
            Section::Facts { title, rows } => facts(&mut out, title, rows, width),
            Section::Table(table) => rows_and_columns(&mut out, table, width),
            Section::Figure(plotted) => figure::render_terminal(&mut out, plotted, width),
            Section::Bars(bars) => rows_and_columns(&mut out, &bars.table(true), width),
        }
    }
    for explanation in &report.explanations {
        let _ = write!(out, "\n{BOLD}{}{BOLD:#}\n", explanation.quantity);
        let source = format!("source: {}", explanation.source);
        for step in [&explanation.formula, &explanation.numbers, &source] {
            let hanging = options(width).initial_indent("  ").subsequent_indent("    ");
            for line in textwrap::wrap(step, hanging) {
                let _ = writeln!(out, "{line}");
            }
        }
    }
    let shown = |note: &&Note| !style.quiet || note.severity > Severity::Info;
    for (index, note) in report.notes.iter().filter(shown).enumerate() {
        if index == 0 {
            out.push('\n');
        }
        remark(&mut out, note, width);
    }
    out
}

/// Lines break at spaces only: a flag such as `--max-utilisation` must stay whole to be copied.
fn options(width: usize) -> textwrap::Options<'static> {
    textwrap::Options::new(width).word_splitter(textwrap::WordSplitter::NoHyphenation)
}

fn paragraph(out: &mut String, text: &str, width: usize, style: Ansi) {
    for line in textwrap::wrap(text, options(width)) {
        let _ = writeln!(out, "{style}{line}{style:#}");
    }
}

fn facts(out: &mut String, title: &str, rows: &[(String, String)], width: usize) {
    let _ = writeln!(out, "{BOLD}{title}{BOLD:#}");
    let longest = rows.iter().map(|(name, _)| textwrap::core::display_width(name)).max().unwrap_or(0);
    for (name, value) in rows {
        let padding = " ".repeat(longest - textwrap::core::display_width(name));
        let first = format!("  {name}{padding}  ");
        let rest = " ".repeat(longest + 4);
        let options = options(width).initial_indent(&first).subsequent_indent(&rest);
        for line in textwrap::wrap(value, options) {
            let _ = writeln!(out, "{line}");
        }
    }
}

fn rows_and_columns(out: &mut String, table: &Table, width: usize) {
    let _ = writeln!(out, "{BOLD}{}{BOLD:#}", table.title);
    let mut drawn = comfy_table::Table::new();
    // A narrow first column marks each row that the reader should see first.
    let headings = std::iter::once("").chain(table.columns.iter().map(|column| &*column.heading));
    drawn
        .load_style(presets::NOTHING)
        .set_content_arrangement(ContentArrangement::Dynamic)
        .set_width(u16::try_from(width).unwrap_or(u16::MAX))
        .set_header(headings);
    for (index, cells) in table.rows.iter().enumerate() {
        let mark = if table.highlighted.contains(&index) { SHOWN_FIRST } else { ROW };
        drawn.add_row(std::iter::once(mark).chain(cells.iter().map(String::as_str)));
    }
    for (index, drawn_column) in drawn.column_iter_mut().enumerate() {
        let numeric = index.checked_sub(1).and_then(|at| table.columns.get(at)).is_some_and(|c| c.numeric);
        drawn_column.set_cell_alignment(if numeric { CellAlignment::Right } else { CellAlignment::Left });
        drawn_column.set_padding((0, if index == 0 { 1 } else { 2 }));
    }
    let mut in_header = true;
    for line in drawn.lines() {
        in_header &= !line.starts_with(SHOWN_FIRST) && !line.starts_with(ROW);
        let line = line.replace(ROW, " ");
        let line = line.trim_end();
        let _ = if in_header { writeln!(out, "{DIM}{line}{DIM:#}") } else { writeln!(out, "{line}") };
    }
}

fn remark(out: &mut String, note: &Note, width: usize) {
    let (label, colour) = match note.severity {
        Severity::Info => ("note", Ansi::new().fg_color(Some(AnsiColor::Cyan.into()))),
        Severity::Warning => ("warning", Ansi::new().fg_color(Some(AnsiColor::Yellow.into())).bold()),
        Severity::Error => ("problem", Ansi::new().fg_color(Some(AnsiColor::Red.into())).bold()),
    };
    let text = match &note.hint {
        Some(hint) => format!("{}: {} ({hint})", label, note.message),
        None => format!("{}: {}", label, note.message),
    };
    for (index, line) in textwrap::wrap(&text, options(width).subsequent_indent("  ")).iter().enumerate() {
        let _ = match (index, line.strip_prefix(label)) {
            (0, Some(rest)) => writeln!(out, "{colour}{label}{colour:#}{rest}"),
            _ => writeln!(out, "{line}"),
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::{Answer, Column, Explanation};

    #[test]
    fn every_line_of_a_wrapped_heading_is_dimmed_and_no_row_is() {
        let columns = [Column::words("what it is called"), Column::number("how many workers it would take")];
        let mut table = Table::new("Pools", &columns);
        for name in ["a pool with a rather long name", "another one", "and the one that is shown first"] {
            table.row([name.to_owned(), "1263".to_owned()]);
        }
        table.highlighted = vec![2];
        let mut out = String::new();
        rows_and_columns(&mut out, &table, 40);
        let lines: Vec<&str> = out.lines().skip(1).collect();
        let dimmed = lines.iter().take_while(|line| line.starts_with(&DIM.to_string())).count();
        assert!(dimmed > 1, "the heading wraps: {out}");
        assert!(lines[dimmed..].iter().all(|line| !line.contains('\u{1b}')), "{out}");
        assert!(lines.iter().any(|line| line.starts_with("> and")) && !out.contains(ROW), "{out}");
    }

    #[test]
    fn a_long_source_stays_below_its_quantity() {
        #[derive(serde::Serialize)]
        struct Nothing {}
        let mut report = Report::new("size", Answer::Yes, "1263 workers", &Nothing {}, &Nothing {}).unwrap();
        report.explanations.push(Explanation {
            quantity: "mean wait",
            formula: "W = C\u{b7}S/(N \u{2212} a)".to_owned(),
            numbers: "0.9 \u{d7} 1.4 s / 3 = 0.42 s".to_owned(),
            source: "a book with a title so long that it takes more than one line of a narrow terminal",
        });
        let shown = render(&report, Style { width: 40, quiet: true });
        let lines: Vec<&str> = shown.lines().skip(3).collect();
        assert!(lines.len() > 3 && lines.iter().all(|line| line.starts_with("  ")), "{shown}");
        assert!(lines[3].starts_with("    "), "what is continued hangs: {shown}");
    }
}
