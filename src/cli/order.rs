//! `--priority-share` and `--block` of `size`.

use whsize::sizing::{Block, Question, Sizing};
use whsize::units::{Count, ParseError, Seconds, Share};

#[derive(clap::Args, Debug)]
pub(crate) struct OrderArgs {
    /// Share of the attempts that are urgent and go first: the waits of both
    #[arg(long, value_name = "P", value_parser = Share::parse_inside,
          conflicts_with_all = ["batch", "arrival_scv", "patience", "queue_limit"])]
    priority_share: Option<Share>,
    /// Events that arrive at once on top of the traffic, such as 20k, or 20k@60s to count from a clock: time until they
    /// are cleared, and the buffer that they need
    #[arg(long, value_name = "N[@D]", value_parser = block, conflicts_with_all = ["patience", "queue_limit"])]
    block: Option<Block>,
}

/// The most events of a block.
const MOST_EVENTS: u64 = 1_000_000_000_000;

/// Reads `20k` or `20k@60s`.
fn block(typed: &str) -> Result<Block, String> {
    let (events, at) = typed.split_once('@').map_or((typed, None), |(events, at)| (events, Some(at)));
    let events = Count::parse_positive(events).map_err(|error| error.to_string())?.get();
    if events > MOST_EVENTS {
        return Err(format!("\"{typed}\": more than a trillion events are no block; check the scale"));
    }
    let at = at.map(|at| at.parse::<Seconds>().map_err(|error: ParseError| error.to_string()));
    Ok(Block { events, at: at.transpose()? })
}

impl OrderArgs {
    /// Adds the classes and the block to an answer, where they are asked for.
    pub(crate) fn answer(&self, question: &Question, sizing: &mut Sizing, confidence: &Share) {
        let urgent = self.priority_share.as_ref();
        if let Some(urgent) = urgent {
            sizing.classes = question.classes(&sizing.steady, urgent);
        }
        if let Some(block) = &self.block {
            sizing.block = Some(question.block(&sizing.steady, block, urgent, confidence.get()));
        }
    }
}
