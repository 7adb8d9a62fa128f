//! `--patience` and `--queue-limit` of `size`.

use anyhow::{Result, bail};
use whsize::sizing::{MOST_PLACES, QueueBounds};
use whsize::units::{Count, Seconds, human};

#[derive(clap::Args, Debug)]
pub(crate) struct QueueBoundArgs {
    /// Mean time after which an attempt that waits gives up (exponential)
    #[arg(long, value_name = "D", value_parser = Seconds::parse_positive)]
    patience: Option<Seconds>,
    /// Attempts that can wait; one that finds the queue full is turned away
    #[arg(long, value_name = "N", value_parser = places)]
    queue_limit: Option<Count>,
}

/// Reads the places of a queue.
fn places(typed: &str) -> Result<Count, String> {
    let places: Count = typed.parse().map_err(|error: whsize::units::ParseError| error.to_string())?;
    if places.get() > MOST_PLACES {
        return Err(format!(
            "\"{typed}\": a queue with more than {} places is as good as endless; leave out --queue-limit",
            human::count(MOST_PLACES)
        ));
    }
    Ok(places)
}

impl QueueBoundArgs {
    /// Refuses what makes no sense with the bounds, or without them.
    pub(crate) fn check(&self, limits_the_losses: bool, refine: bool) -> Result<()> {
        let any = self.read().is_any();
        if limits_the_losses && !any {
            bail!(
                "--max-lost limits what gives up or is turned away, and without --patience or --queue-limit nothing is \
                 ever lost; give one of them, or leave out --max-lost"
            );
        }
        if refine && any {
            bail!(
                "--refine settles a queue in which everybody waits to the end; leave it out, and judge the answer with \
                 whsize simulate --workers N, which takes --patience and --queue-limit"
            );
        }
        Ok(())
    }

    /// The bounds.
    pub(crate) fn read(&self) -> QueueBounds {
        QueueBounds { patience: self.patience.clone(), queue_limit: self.queue_limit.map(Count::get) }
    }
}
