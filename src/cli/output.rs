//! How a report reaches the reader: format, colour, width, and one bare value for a shell.

use super::Outcome;
use super::sweep::Sweep;
use anyhow::{Context, Result};
use clap::{Args, ValueEnum};
use std::io::{self, Write};
use whsize::notice::{Note, Severity};
use whsize::report::{self, Answer, Judged, OnlyError, Report, Style};

/// The width of a table where there is no terminal, and the most that one takes.
const WIDTH: u16 = 100;

#[derive(Args, Debug, Default)]
#[command(next_help_heading = "Output")]
pub(crate) struct Output {
    /// How the report is printed
    #[arg(long, value_enum, default_value_t = Format::Table, global = true)]
    format: Format,
    /// Print one field of the result and nothing else, such as workers or scenarios.0.workers
    #[arg(long, value_name = "FIELD", global = true, conflicts_with = "format")]
    only: Option<String>,
    /// Show the formulas with the numbers put in, and their sources
    #[arg(long, global = true)]
    explain: bool,
    /// Leave out remarks, except for warnings and problems
    #[arg(long, short, global = true)]
    quiet: bool,
    /// When to use colour
    #[arg(long, value_name = "WHEN", value_enum, default_value_t = Colour::Auto, global = true)]
    color: Colour,
}

#[derive(ValueEnum, Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Format {
    /// Text for a terminal
    #[default]
    Table,
    /// One JSON document
    Json,
    /// For a pull request or a wiki
    Markdown,
    /// A page that needs nothing else
    Html,
    /// JUnit XML; of check
    Junit,
    /// Annotations of GitHub Actions; of check
    Github,
    /// A row for each value of --sweep
    Csv,
}

#[derive(ValueEnum, Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Colour {
    #[default]
    Auto,
    Always,
    Never,
}

impl Output {
    /// Refuses a format or a field that a command does not have, before it takes its time to run.
    pub(crate) fn check(&self, command: &'static str) -> Result<()> {
        match (&self.only, self.format) {
            (Some(field), _) => Ok(report::is_selectable(command, field)?),
            (None, Format::Junit) => Err(no_requirements(command, "junit")),
            (None, Format::Github) => Err(no_requirements(command, "github")),
            (None, Format::Csv) => Err(no_rows(command)),
            _ => Ok(()),
        }
    }

    /// Prints what a command found to standard output, and tells whether what was asked for holds.
    pub(crate) fn print(&self, outcome: &Outcome) -> Result<Answer> {
        let (text, answer) = match outcome {
            Outcome::Report(report) => (self.render(report)?, report.answer),
            Outcome::Text(text) => (text.clone(), Answer::Yes),
            Outcome::Refused(reason) => {
                self.note(&Note::error("refused", reason.clone()));
                return Ok(Answer::No);
            }
        };
        let mut out = anstream::AutoStream::new(io::stdout().lock(), self.choice());
        match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
            // Whoever reads us may stop reading: no failure of ours, and the answer is what it was.
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(answer),
            written => Ok(written.map(|()| answer).context("writing to standard output")?),
        }
    }

    /// Prints the answers of a sweep: one field of each on a line of its own, or all as a report.
    pub(crate) fn print_swept(&self, sweep: &Sweep, answers: &[(String, Report)]) -> Result<Answer> {
        let command = answers.first().map_or("", |(_, report)| report.command);
        let inputs =
            report::sweep::Inputs { command, option: sweep.option.clone(), arguments: sweep.arguments() };
        let swept = report::sweep::report(&inputs, answers)?;
        let Some(field) = &self.only else { return self.print(&Outcome::Report(Box::new(swept))) };
        let mut lines = String::new();
        for (_, report) in answers {
            match report::select(report, field) {
                Ok(value) => lines.push_str(&value),
                // A value that this answer does not have leaves its line empty, so that lines and values stay in step.
                Err(OnlyError::Absent { .. }) => {}
                Err(error) => return Err(error.into()),
            }
            lines.push('\n');
        }
        let answer = swept.answer;
        self.print(&Outcome::Text(lines)).map(|_| answer)
    }

    fn render(&self, report: &Report) -> Result<String> {
        let mut report = report.clone();
        if !self.explain {
            report.explanations.clear();
        }
        Ok(match (&self.only, self.format) {
            (Some(field), _) => report::select(&report, field)? + "\n",
            (None, Format::Json) => report::render_json(&report).context("writing JSON")?,
            (None, Format::Markdown) => report::render_markdown(&report),
            (None, Format::Html) => report::render_html(&report),
            (None, Format::Junit) => report::render_junit(judged(&report, "junit")?, &report.notes)?,
            (None, Format::Github) => report::render_github(&report, judged(&report, "github")?),
            (None, Format::Csv) => {
                report::sweep::render_csv(&report).ok_or_else(|| no_rows(report.command))?
            }
            (None, Format::Table) => {
                let width = terminal_size::terminal_size_of(io::stdout()).map_or(WIDTH, |(width, _)| width.0);
                report::render_table(&report, Style { width: width.min(WIDTH), quiet: self.quiet })
            }
        })
    }

    /// Says on standard error why there is no answer.
    pub(crate) fn complain(&self, error: &anyhow::Error) {
        let mut err = anstream::AutoStream::new(io::stderr().lock(), self.choice());
        let style = anstyle::AnsiColor::Red.on_default().bold();
        // Nobody is left to tell if standard error is closed as well.
        let message = format!("{error:#}");
        let lines: Vec<_> = message.split('\n').map(report::printable).collect();
        let _ = writeln!(err, "{style}error:{style:#} {}", lines.join("\n"));
    }

    /// Whether formulas are wanted as well.
    pub(crate) fn explains(&self) -> bool {
        self.explain
    }

    /// Whether only the answer is wanted.
    pub(crate) fn is_quiet(&self) -> bool {
        self.quiet
    }

    /// Whether the report is printed for a person.
    pub(crate) fn is_for_people(&self) -> bool {
        self.only.is_none() && matches!(self.format, Format::Table | Format::Markdown | Format::Html)
    }

    /// Whether the report is a page, which has room for everything.
    pub(crate) fn is_html(&self) -> bool {
        self.only.is_none() && self.format == Format::Html
    }

    /// Says something on standard error that is no part of the report.
    pub(crate) fn remark(&self, text: &str) {
        if !self.quiet {
            let mut err = anstream::AutoStream::new(io::stderr().lock(), self.choice());
            // A closed standard error is no reason to fail.
            let _ = writeln!(err, "{text}");
        }
    }

    /// Says a remark on standard error, beside a text that is no report.
    pub(crate) fn note(&self, note: &Note) {
        let label = match note.severity {
            Severity::Info if self.quiet => return,
            Severity::Info => "note",
            Severity::Warning => "warning",
            Severity::Error => "problem",
        };
        let hint = note.hint.as_ref().map(|hint| format!(" ({hint})")).unwrap_or_default();
        let mut err = anstream::AutoStream::new(io::stderr().lock(), self.choice());
        // A closed standard error is no reason to fail.
        let _ = writeln!(err, "{label}: {}", report::printable(&format!("{}{hint}", note.message)));
    }

    fn choice(&self) -> anstream::ColorChoice {
        match self.color {
            Colour::Auto => anstream::ColorChoice::Auto,
            Colour::Always => anstream::ColorChoice::Always,
            Colour::Never => anstream::ColorChoice::Never,
        }
    }
}

/// The findings that a format shows.
fn judged<'r>(report: &'r Report, format: &str) -> Result<&'r Judged> {
    report.judged.as_ref().ok_or_else(|| no_requirements(report.command, format))
}

fn no_requirements(command: &str, format: &str) -> anyhow::Error {
    anyhow::anyhow!("{command} has no requirements to show: --format {format} is of whsize check")
}

fn no_rows(command: &str) -> anyhow::Error {
    anyhow::anyhow!("{command} has one answer and no rows: --format csv is of --sweep")
}
