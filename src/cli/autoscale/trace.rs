//! A trace as a command names it.

use crate::cli::input;
use anyhow::{Result, anyhow};
use std::path::Path;
use whsize::autoscale::Trace;
use whsize::config::trace;

/// Reads a trace.
pub(crate) fn read(path: &Path) -> Result<Trace> {
    let name = input::name(path);
    trace::parse(&input::text(path)?).map_err(|error| anyhow!("reading the trace {name}: {error}"))
}
