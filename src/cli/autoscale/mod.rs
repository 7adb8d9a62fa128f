//! `whsize autoscale`.

mod decide;
mod policy;
mod replay;
pub(super) mod trace;

use crate::cli::plot::Plot;
use anyhow::Result;
use whsize::report::Report;

/// What would the replica controller do now, and over a trace?
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:
  whsize autoscale decide --current 10 --oldest-age 45 --rate 900 --mean 1.4 --tasks-per-replica 640
  whsize autoscale replay --shape surge --rate 900 --mean 1.4 --tasks-per-replica 160 --plot")]
pub(crate) struct Args {
    #[command(subcommand)]
    question: Question,
}

#[derive(clap::Subcommand, Debug)]
enum Question {
    Decide(Box<decide::Args>),
    Replay(Box<replay::Args>),
}

impl Args {
    pub(crate) fn run(&self) -> Result<Report> {
        match &self.question {
            Question::Decide(args) => args.run(),
            Question::Replay(args) => args.run(),
        }
    }

    pub(crate) fn plot(&self) -> Option<&Plot> {
        match &self.question {
            Question::Decide(_) => None,
            Question::Replay(args) => Some(&args.plot),
        }
    }
}
