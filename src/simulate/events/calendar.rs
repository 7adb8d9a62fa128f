//! What happens next.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

/// Something that happens at a moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Event {
    /// The next arrival of a class.
    Arrival { class: usize },
    /// A block of arrivals.
    Block { block: usize },
    /// An attempt ends and frees its worker.
    AttemptEnds { job: usize },
    /// An endpoint has finished the request that is next to finish, if nothing changed there since.
    EndpointDone { endpoint: usize, change: u64 },
    /// An entry's patience ends, if it still has this ticket.
    PatienceEnds { job: usize, ticket: u64 },
    /// A failed event is due again.
    Retry { job: usize },
    /// A stretch of the run ends.
    StretchEnds,
}

#[derive(Clone, Copy, Debug)]
struct Entry {
    at: f64,
    order: u64,
    event: Event,
}

/// The events to come, earliest first; of those at one moment, the first planned.
#[derive(Debug, Default)]
pub(super) struct Calendar {
    entries: BinaryHeap<Entry>,
    planned: u64,
}

impl Calendar {
    pub(super) fn plan(&mut self, at: f64, event: Event) {
        self.planned += 1;
        self.entries.push(Entry { at, order: self.planned, event });
    }

    pub(super) fn next(&mut self) -> Option<(f64, Event)> {
        self.entries.pop().map(|entry| (entry.at, entry.event))
    }
}

/// The greatest entry is the earliest, because the heap gives the greatest.
impl Ord for Entry {
    fn cmp(&self, other: &Self) -> Ordering {
        other.at.total_cmp(&self.at).then(other.order.cmp(&self.order))
    }
}

impl PartialOrd for Entry {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Entry {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Entry {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_come_in_order_of_time_and_then_of_planning() {
        let mut calendar = Calendar::default();
        for (at, job) in [(2.0, 0), (1.0, 1), (2.0, 2), (0.5, 3)] {
            calendar.plan(at, Event::Retry { job });
        }
        let order: Vec<_> = std::iter::from_fn(|| calendar.next()).collect();
        let jobs = [(0.5, 3), (1.0, 1), (2.0, 0), (2.0, 2)];
        assert_eq!(order, jobs.map(|(at, job)| (at, Event::Retry { job })));
    }
}
