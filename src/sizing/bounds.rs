//! What bounds a wait: the patience of those that wait, and the places to wait in.

use crate::queueing::Bounds;
use crate::units::Seconds;

/// The most places that are answered: a queue that long is none that anybody bounds.
pub const MOST_PLACES: u64 = 10_000_000;

/// Beyond this share of arrivals a loss is no accident.
pub(super) const NOTABLE_LOSS: f64 = 0.01;

/// How long an attempt waits before it gives up, and how many can wait; without either nothing is ever lost.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct QueueBounds {
    /// The mean patience, exponential; more than zero.
    pub patience: Option<Seconds>,
    /// Places to wait, at most [`MOST_PLACES`].
    pub queue_limit: Option<u64>,
}

impl QueueBounds {
    /// Whether arrivals can be lost at all.
    #[must_use]
    pub fn is_any(&self) -> bool {
        self.patience.is_some() || self.queue_limit.is_some()
    }

    /// The bounds as the formulas take them.
    #[must_use]
    pub(super) fn of_the_wait(&self) -> Option<Bounds> {
        Bounds::of(
            self.patience.as_ref().map(Seconds::get),
            self.queue_limit.map(|most| most.min(MOST_PLACES)),
        )
    }

    /// The bounds in words: `patience of 5 s, 100 places to wait`.
    #[must_use]
    pub fn in_words(&self) -> Option<String> {
        let patience = self.patience.as_ref().map(|patience| format!("patience of {patience} on average"));
        let places = self.queue_limit.map(|most| match most {
            0 => "no place to wait".to_owned(),
            most => format!("{} to wait", crate::units::human::counted(most, "place")),
        });
        let both: Vec<String> = patience.into_iter().chain(places).collect();
        (!both.is_empty()).then(|| both.join(", "))
    }
}
