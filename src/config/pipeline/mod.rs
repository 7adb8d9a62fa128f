//! The file of `pipeline`: events, partners, and a table for each stage.

mod cost;
mod events;
mod partners;
mod stages;

use super::prices::Prices;
use super::{ConfigError, Document, Table, measured, objectives, service};
use crate::notice::Note;
use crate::pipeline::Pipeline;
use crate::units::Ratio;

/// A pipeline file as it was read.
#[derive(Clone, Debug, PartialEq)]
pub struct Read {
    /// The pipeline.
    pub pipeline: Pipeline,
    /// What was remarked on the measurements that the file names.
    pub notes: Vec<Note>,
}

/// Reads a pipeline file. The prices say what a stage costs, and what the provider allows where the file does not.
///
/// # Errors
/// If something in it is not understood, is missing, or does not fit together.
pub fn read(document: &Document, prices: &Prices) -> Result<Read, ConfigError> {
    let mut root = document.root()?;
    let mut notes = Vec::new();
    let events = events::events(&mut root, &mut notes)?;
    let delivery = stages::delivery(&mut root, &prices.quotas)?;
    let partners = partners::partners(&mut root, delivery.max_attempts, &mut notes)?;
    let bus = stages::bus(&mut root, &events, &partners, &prices.quotas)?;
    let pipeline = Pipeline {
        outbox: stages::outbox(&mut root)?,
        fan_out: stages::fan_out(&mut root, &prices.quotas)?,
        queues: stages::queues(&mut root)?,
        replay: stages::replay(&mut root, &partners)?,
        alarm: stages::alarm(&mut root)?,
        cost: cost::cost(&mut root, &delivery.stage, prices)?,
        isolation: stages::isolation(&mut root, &partners)?,
        bus,
        events,
        partners,
        delivery: delivery.stage,
    };
    root.finish()?;
    // One measurement may be named twice.
    let mut once: Vec<Note> = Vec::with_capacity(notes.len());
    for note in notes {
        if !once.contains(&note) {
            once.push(note);
        }
    }
    Ok(Read { pipeline, notes: once })
}

/// A ratio above zero.
fn positive_ratio(typed: &str) -> Result<Ratio, String> {
    let ratio: Ratio = typed.parse().map_err(|error| format!("{error}"))?;
    if ratio.exact().is_zero() {
        return Err(format!("\"{typed}\": it must be more than zero"));
    }
    Ok(ratio)
}
