//! `whsize pipeline`.

use super::input;
use super::values::seed;
use anyhow::Result;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use whsize::config::{Document, pipeline, prices};
use whsize::pipeline::Chance;
use whsize::report::{self, Report};

/// What do the stages around the pool need, what breaks at 2, 5 and 10 times the volume, and what does it cost?
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:
  whsize pipeline pipeline.toml
  whsize pipeline pipeline.toml --prices our-prices.toml
  whsize pipeline pipeline.toml --only first_to_break.stage")]
pub(crate) struct Args {
    /// The pipeline: events, partners and a table for each stage (docs/pipeline.md); - is standard input
    #[arg(value_name = "FILE.toml")]
    file: PathBuf,
    /// Prices and limits to use instead of the bundled ones, entry by entry
    #[arg(long, value_name = "FILE")]
    prices: Option<PathBuf>,
    /// Seed of the simulation of [isolation]; the same seed gives the same bytes
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = seed)]
    seed: u64,
}

impl Args {
    pub(crate) fn run(&self) -> Result<Report> {
        let prices = match &self.prices {
            Some(file) => prices::read(&document(file)?)?,
            None => prices::bundled()?,
        };
        let read = pipeline::read(&document(&self.file)?, &prices)?;
        let threads = std::thread::available_parallelism().unwrap_or(NonZeroUsize::MIN);
        let planned = read.pipeline.plan(Chance { seed: self.seed, threads })?;
        let mut report = report::pipeline::report(&read.pipeline, &planned)?;
        report.notes.extend(read.notes);
        Ok(report)
    }
}

fn document(file: &Path) -> Result<Document> {
    Ok(Document::new(input::name(file), input::text(file)?))
}
