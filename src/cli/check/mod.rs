//! `whsize check`.

mod baseline;

use super::output::Output;
use super::plan::PlanFile;
use anyhow::{Context, Result, bail};
use std::path::PathBuf;
use std::time::{SystemTime, UNIX_EPOCH};
use whsize::check::{Expected, check};
use whsize::config::plan::REQUIREMENTS;
use whsize::ingest::{Timestamp, parse_timestamp};
use whsize::plan::Figures;
use whsize::report::plan::Inputs;
use whsize::report::{self, Report};
use whsize::units::words;

/// Does a plan meet its requirements, and is it still what it was? The gate for CI
#[derive(clap::Args, Debug)]
#[command(after_help = "The exit code is 1 if a requirement is not met, whatever the format.

Examples:
  whsize check whsize.toml
  whsize check whsize.toml --set deliveries.rate=950 --format junit > whsize.xml
  whsize check whsize.toml --format github
  whsize plan whsize.toml --format json > baseline.json
  whsize check whsize.toml --baseline baseline.json")]
pub(crate) struct Args {
    #[command(flatten)]
    file: PlanFile,
    /// An earlier answer to compare with: the saved JSON of plan or check
    #[arg(long, value_name = "FILE.json")]
    baseline: Option<PathBuf>,
    /// Judge the age of profiles as of this time instead of now
    #[arg(long, value_name = "TIME", value_parser = timestamp)]
    now: Option<Timestamp>,
}

/// Lists the requirements that a plan can have in the help of the command.
pub(crate) fn with_requirements(command: clap::Command) -> clap::Command {
    let width = REQUIREMENTS.iter().map(|(written, _)| written.len()).max().unwrap_or(0);
    let listed = REQUIREMENTS.iter().map(|(written, meaning)| format!("  {written:width$}  {meaning}\n"));
    let rest = command.get_after_help().map(ToString::to_string).unwrap_or_default();
    let help =
        format!("Requirements, each an entry of require or warn:\n{}\n{rest}", listed.collect::<String>());
    command.after_help(help)
}

fn timestamp(typed: &str) -> Result<Timestamp, String> {
    parse_timestamp(typed.as_bytes()).map_err(|error| format!("\"{typed}\": {error}"))
}

impl Args {
    pub(crate) fn run(&self, output: &Output) -> Result<Report> {
        let read = self.file.read()?;
        if self.baseline.is_none() && read.expected.iter().all(Vec::is_empty) {
            bail!(
                "the plan requires nothing, so there is nothing to check; add require = [\"workers_deployed >= workers\"] \
                 to it, or compare with an earlier answer: --baseline FILE.json"
            );
        }
        let baseline = self.baseline.as_deref().map(baseline::read).transpose()?;
        let planned = self.file.solve(&read)?;
        let expected: &[Vec<Expected>] = &read.expected;
        let compared = baseline.as_ref().map(|baseline| (baseline, &read.tolerances));
        let (checked, notes) = check(&planned, expected, self.now_s()?, compared);
        if checked.findings.is_empty() {
            let names = |figures: &[Figures]| {
                let all: Vec<&str> = figures.iter().map(|pool| pool.name.as_str()).collect();
                words::listed(&all)
            };
            bail!(
                "nothing was checked: the plan requires nothing, and the baseline knows none of its pools (it has {}, the \
                 plan has {}); take a baseline of this plan, or add require = [\"workers_deployed >= workers\"]",
                names(baseline.as_ref().map_or(&[], |baseline| &baseline.pools)),
                names(&checked.pools)
            );
        }
        let name = self.baseline.as_ref().map(|path| path.display().to_string());
        let inputs = Inputs { baseline: name, ..self.file.inputs() };
        let mut report = report::check::report(&inputs, &checked, notes)?;
        report.notes.extend(read.notes);
        if output.explains() {
            report.explanations = report::plan::explanations(&planned)?;
        }
        Ok(report)
    }

    /// The time by which ages are judged, in seconds since the epoch.
    fn now_s(&self) -> Result<f64> {
        match &self.now {
            Some(given) => Ok(given.ns as f64 / 1e9),
            None => {
                let since = SystemTime::now().duration_since(UNIX_EPOCH);
                Ok(since.context("the clock of this machine is before 1970")?.as_secs_f64())
            }
        }
    }
}
