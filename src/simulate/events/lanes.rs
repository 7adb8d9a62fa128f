//! The queue: first come first served within a class, urgent classes first, closed endpoints passed over.

use std::collections::{BTreeSet, VecDeque};

/// Entries wait in lanes: one a class, or one a class and endpoint where the pool caps its attempts to an endpoint. The next
/// entry is the oldest of the most urgent class among the lanes that are open.
#[derive(Debug)]
pub(super) struct Lanes {
    lanes: Vec<Lane>,
    /// Endpoints that are told apart: 1 without a cap.
    endpoints: usize,
    /// The head of every open lane that is not empty: (class, ticket, lane).
    ready: BTreeSet<(usize, u64, usize)>,
    tickets: u64,
}

#[derive(Debug)]
struct Lane {
    class: usize,
    open: bool,
    /// (ticket, job), oldest first; some may have left the queue since.
    entries: VecDeque<(u64, usize)>,
}

impl Lanes {
    pub(super) fn new(classes: usize, endpoints: usize) -> Self {
        let lane = |number| Lane { class: number / endpoints, open: true, entries: VecDeque::new() };
        Lanes {
            lanes: (0..classes * endpoints).map(lane).collect(),
            endpoints,
            ready: BTreeSet::new(),
            tickets: 0,
        }
    }

    /// Puts a job at the end of its lane and returns its ticket, which is never 0.
    pub(super) fn push(&mut self, class: usize, endpoint: usize, job: usize) -> u64 {
        self.tickets += 1;
        let number = class * self.endpoints + endpoint;
        let lane = &mut self.lanes[number];
        lane.entries.push_back((self.tickets, job));
        if lane.open && lane.entries.len() == 1 {
            self.ready.insert((class, self.tickets, number));
        }
        self.tickets
    }

    /// Takes the next entry, as (ticket, job).
    pub(super) fn pop(&mut self) -> Option<(u64, usize)> {
        let (class, _, number) = self.ready.pop_first()?;
        let lane = &mut self.lanes[number];
        let entry = lane.entries.pop_front();
        if let Some(&(ticket, _)) = lane.entries.front() {
            self.ready.insert((class, ticket, number));
        }
        entry
    }

    /// Opens or closes all classes' lanes to an endpoint.
    pub(super) fn set_open(&mut self, endpoint: usize, open: bool) {
        for number in (endpoint..self.lanes.len()).step_by(self.endpoints) {
            let lane = &mut self.lanes[number];
            lane.open = open;
            if let Some(&(ticket, _)) = lane.entries.front() {
                let head = (lane.class, ticket, number);
                if open {
                    self.ready.insert(head);
                } else {
                    self.ready.remove(&head);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn order(lanes: &mut Lanes) -> Vec<usize> {
        std::iter::from_fn(|| lanes.pop()).map(|(_, job)| job).collect()
    }

    #[test]
    fn urgent_classes_come_first_and_each_in_order_of_arrival() {
        let mut lanes = Lanes::new(2, 1);
        for (class, job) in [(1, 10), (0, 11), (1, 12), (0, 13)] {
            assert!(lanes.push(class, 0, job) > 0);
        }
        assert_eq!(order(&mut lanes), [11, 13, 10, 12]);
    }

    #[test]
    fn a_closed_endpoint_is_passed_over_until_it_opens() {
        let mut lanes = Lanes::new(2, 3);
        lanes.set_open(1, false);
        for (class, endpoint, job) in [(1, 1, 10), (1, 0, 11), (0, 1, 12), (1, 2, 13)] {
            lanes.push(class, endpoint, job);
        }
        assert_eq!(order(&mut lanes), [11, 13]);
        lanes.set_open(1, true);
        assert_eq!(order(&mut lanes), [12, 10]);
    }
}
