//! `whsize plan`.

use super::{Outcome, input, output::Output};
use anyhow::{Context, Result, anyhow, bail};
use std::fs::OpenOptions;
use std::io::{ErrorKind, Write};
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use whsize::config::{ConfigError, Document, Override, plan};
use whsize::plan::{PlanError, Planned};
use whsize::report;
use whsize::report::plan::{Detail, Inputs};

/// All answers for the pools of a plan file: workers, layout, recovery, autoscaling
#[derive(clap::Args, Debug)]
#[command(after_help = "The exit code is 1 if an objective, a limit or a deadline of any pool does not hold.

Examples:
  whsize plan --init
  whsize plan whsize.toml
  whsize plan whsize.toml --set deliveries.rate=950
  whsize plan whsize.toml --format html > plan.html
  whsize plan whsize.toml --format json > baseline.json")]
pub(crate) struct Args {
    #[command(flatten)]
    file: PlanFile,
    /// Write a commented plan to start from, which runs as it is; an existing file stays
    #[arg(long, conflicts_with_all = ["set", "detail"])]
    init: bool,
    /// Everything that each command reports of a pool, with figures; always so with --format html
    #[arg(long)]
    detail: bool,
}

/// The file of a plan, and what is set over it.
#[derive(clap::Args, Debug)]
pub(crate) struct PlanFile {
    /// The plan: a table for each pool (docs/plan.md); - is standard input
    #[arg(value_name = "FILE.toml", default_value = "whsize.toml")]
    file: PathBuf,
    /// A value to use instead of the one in the file: of a pool (deliveries.rate=950), of a table of it
    /// (deliveries.autoscale.max=20), of one of several by its number from 0 (deliveries.surge.0.rate=3000), of
    /// baseline (baseline.workers=5%), or require and warn of the whole file
    #[arg(long, value_name = "POOL.KEY=VALUE")]
    set: Vec<String>,
}

impl Args {
    pub(crate) fn run(&self, output: &Output) -> Result<Outcome> {
        if self.init {
            return self.file.write_starter(output);
        }
        let read = self.file.read()?;
        let planned = self.file.solve(&read)?;
        let detail = if self.detail || output.is_html() { Detail::Full } else { Detail::Brief };
        let report = report::plan::report(&self.file.inputs(), &planned, detail, read.notes)?;
        Ok(Outcome::Report(Box::new(report)))
    }
}

impl PlanFile {
    /// Reads the plan with what is set over it.
    pub(crate) fn read(&self) -> Result<plan::Read> {
        // Not even a link: what is there and cannot be read says so itself.
        if self.file.symlink_metadata().is_err_and(|error| error.kind() == ErrorKind::NotFound)
            && self.file.as_os_str() != "-"
        {
            bail!(
                "there is no {}; name the plan, or write one to start from with whsize plan --init",
                self.file.display()
            );
        }
        let overrides = self.set.iter().map(|typed| typed.parse::<Override>());
        let overrides = overrides.collect::<Result<Vec<_>, _>>().map_err(|error| anyhow!("--set {error}"))?;
        let document = Document::new(input::name(&self.file), input::text(&self.file)?);
        Ok(plan::read(&document.with_overrides(plan::REACH, overrides))?)
    }

    /// Answers everything that the plan asks.
    pub(crate) fn solve(&self, read: &plan::Read) -> Result<Planned> {
        let threads = std::thread::available_parallelism().unwrap_or(NonZeroUsize::MIN);
        read.plan.solve(threads).map_err(|error| self.placed(error).into())
    }

    /// What was given, for the report.
    pub(crate) fn inputs(&self) -> Inputs {
        Inputs { file: input::name(&self.file), set: self.set.clone(), baseline: None }
    }

    /// The error of a pool at the place of the pool.
    fn placed(&self, error: PlanError) -> ConfigError {
        ConfigError {
            file: input::name(&self.file).into(),
            at: Some((error.at.line, error.at.column)),
            message: error.to_string(),
        }
    }

    fn write_starter(&self, output: &Output) -> Result<Outcome> {
        if self.file.as_os_str() == "-" {
            return Ok(Outcome::Text(plan::STARTER.to_owned()));
        }
        create(&self.file)?;
        let name = self.file.display();
        output.remark(&format!("written to {name}; next: whsize plan {name} and whsize check {name}"));
        Ok(Outcome::Text(String::new()))
    }
}

/// Writes the starter to a new file; what is there already stays.
fn create(path: &Path) -> Result<()> {
    let file = OpenOptions::new().write(true).create_new(true).open(path);
    let mut file = match file {
        Err(error) if error.kind() == ErrorKind::AlreadyExists => {
            bail!("{} exists already and stays as it is; name another file", path.display())
        }
        other => other.with_context(|| format!("creating {}", path.display()))?,
    };
    file.write_all(plan::STARTER.as_bytes()).with_context(|| format!("writing {}", path.display()))
}
