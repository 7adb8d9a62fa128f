//! An endpoint that slows down above its capacity and then refuses.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// An endpoint whose requests share its capacity equally (processor sharing).
///
/// Its clock runs in work done a request: each request ends when the clock has moved on by the request's work, whatever comes
/// and goes meanwhile. So a change costs one heap operation, not one for every request in flight.
#[derive(Debug)]
pub(super) struct Endpoint {
    capacity: f64,
    refuse_above: usize,
    /// Work done a request, in seconds at full speed, until `since`.
    clock: f64,
    since: f64,
    /// Requests in service that were not refused.
    accepted: usize,
    /// All requests by the clock at which they end, refusals too: (clock as bits, job, refused).
    ends: BinaryHeap<Reverse<(u64, usize, bool)>>,
    /// Counts changes, so that what was planned before one can be recognised.
    pub(super) change: u64,
}

impl Endpoint {
    pub(super) fn new(capacity: u32, refuse_above: u32) -> Self {
        Endpoint {
            capacity: f64::from(capacity),
            refuse_above: refuse_above as usize,
            clock: 0.0,
            since: 0.0,
            accepted: 0,
            ends: BinaryHeap::new(),
            change: 0,
        }
    }

    /// Requests in flight.
    pub(super) fn in_flight(&self) -> usize {
        self.ends.len()
    }

    /// Work done a second for each request.
    fn speed(&self) -> f64 {
        (self.capacity / self.ends.len().max(1) as f64).min(1.0)
    }

    fn advance(&mut self, now: f64) {
        self.clock += (now - self.since).max(0.0) * self.speed();
        self.since = now;
        self.change += 1;
    }

    /// Takes a request of so much work, or refuses it, which costs `refusal` instead. Returns whether it was refused.
    pub(super) fn begin(&mut self, now: f64, job: usize, work: f64, refusal: f64) -> bool {
        self.advance(now);
        let refused = self.accepted >= self.refuse_above;
        self.accepted += usize::from(!refused);
        let end = self.clock + if refused { refusal } else { work };
        self.ends.push(Reverse((end.to_bits(), job, refused)));
        refused
    }

    /// Ends the request that is next to end.
    pub(super) fn end_next(&mut self, now: f64) -> Option<usize> {
        self.advance(now);
        let Reverse((end, job, refused)) = self.ends.pop()?;
        self.accepted -= usize::from(!refused);
        // The clock's own rounding must not add up over the requests.
        self.clock = self.clock.max(f64::from_bits(end));
        if self.ends.is_empty() {
            self.clock = 0.0;
        }
        Some(job)
    }

    /// When the next request ends if nothing changes.
    pub(super) fn next_end(&self) -> Option<f64> {
        let Reverse((end, ..)) = self.ends.peek()?;
        Some(self.since + (f64::from_bits(*end) - self.clock).max(0.0) / self.speed())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Capacity 1: two requests of 2 s, the second 1 s later. They share from 1 s on: the first has 1 s left, which takes
    /// 2 s, and ends at 3 s; the second has then 1 s left and ends at 4 s.
    #[test]
    fn requests_above_the_capacity_share_it() {
        let mut endpoint = Endpoint::new(1, 10);
        endpoint.begin(0.0, 7, 2.0, 0.1);
        assert_eq!(endpoint.next_end(), Some(2.0));
        endpoint.begin(1.0, 8, 2.0, 0.1);
        assert_eq!(endpoint.next_end(), Some(3.0));
        assert_eq!(endpoint.end_next(3.0), Some(7));
        assert_eq!(endpoint.next_end(), Some(4.0));
        assert_eq!(endpoint.end_next(4.0), Some(8));
        assert_eq!((endpoint.next_end(), endpoint.in_flight()), (None, 0));
    }

    #[test]
    fn within_the_capacity_nobody_waits() {
        let mut endpoint = Endpoint::new(3, 3);
        for (job, work) in [(1, 3.0), (2, 1.0), (3, 2.0)] {
            assert!(!endpoint.begin(0.0, job, work, 0.1));
        }
        let order: Vec<_> =
            std::iter::from_fn(|| endpoint.next_end().map(|at| (at, endpoint.end_next(at)))).collect();
        assert_eq!(order, [(1.0, Some(2)), (2.0, Some(3)), (3.0, Some(1))]);
    }

    #[test]
    fn above_the_limit_it_refuses_and_that_costs_it_too() {
        let mut endpoint = Endpoint::new(1, 1);
        assert!(!endpoint.begin(0.0, 1, 2.0, 0.5));
        assert!(endpoint.begin(0.0, 2, 2.0, 0.5));
        // The refusal's half second takes a whole one; the request that was accepted loses that half second.
        assert_eq!(endpoint.next_end(), Some(1.0));
        assert_eq!(endpoint.end_next(1.0), Some(2));
        assert_eq!(endpoint.next_end(), Some(2.5));
        assert!(endpoint.begin(1.0, 3, 2.0, 0.5), "the first is still in service");
    }
}
