//! Keys that were seen lately, in bounded memory.

use std::collections::{HashSet, VecDeque};
use std::hash::Hash;

/// The last `capacity` different keys; the oldest is forgotten when one more arrives.
#[derive(Debug)]
pub(crate) struct RecentKeys<K> {
    seen: HashSet<K>,
    order: VecDeque<K>,
    capacity: usize,
}

impl<K: Copy + Eq + Hash> RecentKeys<K> {
    /// Remembers at most `capacity` keys, and at least one.
    #[must_use]
    pub(crate) fn new(capacity: usize) -> Self {
        RecentKeys { seen: HashSet::new(), order: VecDeque::new(), capacity: capacity.max(1) }
    }

    /// Whether the key is remembered.
    #[must_use]
    pub(crate) fn contains(&self, key: K) -> bool {
        self.seen.contains(&key)
    }

    /// Remembers a key; `true` if it was not remembered before.
    pub(crate) fn insert(&mut self, key: K) -> bool {
        if !self.seen.insert(key) {
            return false;
        }
        if self.order.len() == self.capacity
            && let Some(oldest) = self.order.pop_front()
        {
            self.seen.remove(&oldest);
        }
        self.order.push_back(key);
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_key_is_forgotten_first() {
        let mut keys = RecentKeys::new(2);
        assert!(keys.insert(1) && keys.insert(2) && !keys.insert(1));
        assert!(keys.insert(3));
        assert!(!keys.contains(1) && keys.contains(2) && keys.contains(3));
        assert!(keys.insert(1) && !keys.contains(2));
    }
}
