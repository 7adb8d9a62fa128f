//! Arguments, hints and output: what was typed becomes the domain's types here, and a report becomes text.

mod autoscale;
mod check;
mod diagnose;
mod drain;
mod ingest;
mod input;
mod layout;
mod load;
mod order;
mod output;
mod packaging;
mod pipeline;
mod plan;
mod plot;
mod progress;
mod queue_attributes;
mod queue_bounds;
mod rate_profile;
mod refine;
mod sandbox;
mod save;
mod service;
mod simulate;
mod size;
mod sweep;
mod validate;
mod values;

use anyhow::{Result, bail};
use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};
use output::Output;
use plot::Plot;
use std::ffi::OsString;
use std::process::ExitCode;
use sweep::Sweep;
use whsize::report::{Answer, NotFinite, OnlyError, Report};

/// How many workers a queue needs whose work is waiting for somebody else's server.
#[derive(Parser, Debug)]
#[command(name = "whsize", version, max_term_width = 100, propagate_version = true)]
#[command(
    after_help = "Exit codes: 0 answered and it holds, 1 answered and the answer is no, 2 bad usage or input, \
                  70 a defect in whsize.

Examples:
  whsize ingest attempts.csv --save profile.json
  whsize size --profile profile.json --rate 900 --wait 500ms
  whsize size --rate 900 --mean 1.4 --wait 500ms --explain
  whsize drain --backlog 1M --workers 1300 --mean 1.4 --rate 900 --within 15m
  whsize plan --init
  whsize check whsize.toml"
)]
struct Cli {
    #[command(subcommand)]
    command: Command,
    #[command(flatten)]
    output: Output,
}

#[derive(Subcommand, Debug)]
enum Command {
    Size(Box<size::Args>),
    Drain(Box<drain::Args>),
    Ingest(Box<ingest::Args>),
    Simulate(Box<simulate::Args>),
    Layout(Box<layout::Args>),
    Autoscale(Box<autoscale::Args>),
    Diagnose(Box<diagnose::Args>),
    Validate(Box<validate::Args>),
    Sandbox(Box<sandbox::Args>),
    Pipeline(pipeline::Args),
    Plan(plan::Args),
    Check(check::Args),
    #[command(hide = true)]
    Completions(packaging::Completions),
    #[command(hide = true)]
    Man(packaging::Man),
}

/// The exit code of a defect of the program (`EX_SOFTWARE` of sysexits.h): never the fault of the input.
const DEFECT: u8 = 70;

/// What a command leaves for standard output.
enum Outcome {
    /// An answer, in the format that was asked for.
    Report(Box<Report>),
    /// Text as it is, such as a manifest.
    Text(String),
    /// An answer of no, in words, where a text was asked for that others would act on.
    Refused(String),
}

impl Command {
    fn run(&self, output: &Output) -> Result<Outcome> {
        let report = match self {
            Command::Size(args) => args.run(),
            Command::Drain(args) => args.run(),
            Command::Ingest(args) => return args.run(output),
            Command::Simulate(args) => args.run(output),
            Command::Layout(args) => return args.run(output),
            Command::Autoscale(args) => args.run(),
            Command::Diagnose(args) => args.run(),
            Command::Validate(args) => args.run(output),
            Command::Sandbox(args) => args.run(output),
            Command::Pipeline(args) => args.run(),
            Command::Plan(args) => return args.run(output),
            Command::Check(args) => args.run(output),
            Command::Completions(args) => return args.text(command()).map(Outcome::Text),
            Command::Man(args) => return args.text(command()).map(Outcome::Text),
        };
        report.map(|report| Outcome::Report(Box::new(report)))
    }

    /// The report of one value of a sweep.
    fn for_sweep(&self, output: &Output) -> Result<Report> {
        if self.plot().is_some_and(Plot::is_asked) || output.explains() {
            bail!("--plot and --explain show one answer; leave out --sweep, or give one value");
        }
        match self.run(output)? {
            Outcome::Report(report) => Ok(*report),
            _ => bail!("a sweep is of reports; leave out --emit"),
        }
    }

    /// Where the figures of the command go.
    fn plot(&self) -> Option<&Plot> {
        match self {
            Command::Size(args) => Some(&args.plot),
            Command::Ingest(args) => Some(&args.plot),
            Command::Autoscale(args) => args.plot(),
            _ => None,
        }
    }
}

/// Runs the command line of this process.
pub(crate) fn main() -> ExitCode {
    let arguments: Vec<OsString> = std::env::args_os().collect();
    let (output, answer) = match Sweep::of(&arguments) {
        Ok(None) => {
            let matches = command().get_matches_from(arguments);
            let cli = Cli::from_arg_matches(&matches).unwrap_or_else(|error| error.exit());
            let answer = cli.answer();
            (cli.output, answer)
        }
        Ok(Some(sweep)) => swept(&sweep),
        Err(error) => (Output::default(), Err(error)),
    };
    match answer {
        Ok(Answer::Yes) => ExitCode::SUCCESS,
        Ok(Answer::No) => ExitCode::from(1),
        Err(error) => {
            output.complain(&error);
            ExitCode::from(code(&error))
        }
    }
}

impl Cli {
    /// Runs the command and prints what it found.
    fn answer(&self) -> Result<Answer> {
        let mut outcome = self.command.run(&self.output)?;
        if let (Some(plot), Outcome::Report(report)) = (self.command.plot(), &mut outcome) {
            plot.write(report, &self.output)?;
        }
        self.output.print(&outcome)
    }
}

/// Answers each command line of a sweep, and prints them as one report, or one field of each.
fn swept(sweep: &Sweep) -> (Output, Result<Answer>) {
    let mut answers = Vec::new();
    let mut output = Output::default();
    for value in &sweep.values {
        let matches = command().get_matches_from(sweep.line(value));
        if let Err(error) = sweep::check(matches.subcommand_name().unwrap_or_default()) {
            return (output, Err(error));
        }
        let cli = Cli::from_arg_matches(&matches).unwrap_or_else(|error| error.exit());
        output = cli.output;
        match cli.command.for_sweep(&output) {
            Ok(report) => answers.push((value.clone(), report)),
            Err(error) => return (output, Err(error.context(format!("--{} {value}", sweep.option)))),
        }
    }
    let answer = output.print_swept(sweep, &answers);
    (output, answer)
}

/// The exit code of an error: bad input, unless it is known to be something else.
fn code(error: &anyhow::Error) -> u8 {
    if matches!(error.downcast_ref(), Some(OnlyError::Absent { .. })) {
        // A value that this answer does not have, such as the wait of an unstable pool, is an answer as well.
        1
    } else if error.downcast_ref::<NotFinite>().is_some() {
        DEFECT
    } else {
        2
    }
}

/// Every option that needs a value takes what stands behind it, also `-5s`: our parsers can say why that is no
/// duration, where clap would only find an unknown flag.
fn command() -> clap::Command {
    with_hyphen_values(sweep::with_option(Cli::command().mut_subcommand("check", check::with_requirements)))
}

fn with_hyphen_values(command: clap::Command) -> clap::Command {
    let command = command.mut_args(|argument| {
        let needs_value = argument.get_num_args().is_none_or(|count| count.min_values() > 0);
        let option = !argument.is_positional() && argument.get_action().takes_values();
        argument.allow_hyphen_values(option && needs_value)
    });
    command.mut_subcommands(with_hyphen_values)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_arguments_of_every_command_are_consistent() {
        command().debug_assert();
    }

    #[test]
    fn a_defect_is_no_bad_input() {
        let defect = NotFinite { path: "result.wait_mean_s".to_owned() };
        assert_eq!(code(&anyhow::Error::new(defect).context("sizing")), DEFECT);
        let absent = OnlyError::Absent { path: "wait_mean_s".to_owned(), answer: String::new() };
        assert_eq!(code(&absent.into()), 1);
        assert_eq!(code(&anyhow::anyhow!("no such file")), 2);
    }

    #[test]
    fn every_flag_says_what_it_is_for() {
        for command in command().get_subcommands() {
            for argument in command.get_arguments() {
                assert!(argument.get_help().is_some(), "{} {}", command.get_name(), argument.get_id());
            }
            assert!(command.get_about().is_some(), "{}", command.get_name());
            let examples = command.get_after_help().map(ToString::to_string).unwrap_or_default();
            let shown = command.is_hide_set() || examples.contains(&format!("whsize {}", command.get_name()));
            assert!(shown, "{} has no example", command.get_name());
        }
    }
}
