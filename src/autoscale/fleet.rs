//! Replicas that start, run and drain.

use std::collections::VecDeque;

/// The replicas of a deployment over time.
#[derive(Clone, Debug)]
pub(super) struct Fleet {
    /// Replicas that take messages.
    pub(super) ready: u64,
    /// When each batch of new replicas is ready, and how many it has.
    starting: VecDeque<(u64, u64)>,
    /// When each batch of replicas that drain is gone, and how many it has.
    draining: VecDeque<(u64, u64)>,
    start_delay_s: u64,
    lease_s: u64,
}

impl Fleet {
    pub(super) fn new(ready: u64, start_delay_s: u64, lease_s: u64) -> Self {
        Fleet { ready, starting: VecDeque::new(), draining: VecDeque::new(), start_delay_s, lease_s }
    }

    /// Replicas that were asked for: ready or starting.
    pub(super) fn asked(&self) -> u64 {
        self.ready + self.starting.iter().map(|(_, count)| count).sum::<u64>()
    }

    /// Replicas that cost: also those that drain.
    pub(super) fn running(&self) -> u64 {
        self.asked() + self.draining.iter().map(|(_, count)| count).sum::<u64>()
    }

    /// Lets time pass up to `now`.
    pub(super) fn advance(&mut self, now: u64) {
        while let Some((_, count)) = self.starting.pop_front_if(|(at, _)| *at <= now) {
            self.ready += count;
        }
        while self.draining.pop_front_if(|(at, _)| *at <= now).is_some() {}
    }

    /// Asks for another number of replicas. New ones start; of those that go, the ones that have not started go first,
    /// and the others end what they have begun, for as long as a lease.
    pub(super) fn ask(&mut self, now: u64, replicas: u64) {
        let asked = self.asked();
        if replicas > asked {
            self.starting.push_back((now + self.start_delay_s, replicas - asked));
            self.advance(now);
            return;
        }
        let mut surplus = asked - replicas;
        while surplus > 0
            && let Some((_, count)) = self.starting.back_mut()
        {
            let cancelled = surplus.min(*count);
            *count -= cancelled;
            surplus -= cancelled;
            if *count == 0 {
                self.starting.pop_back();
            }
        }
        if surplus > 0 {
            self.ready -= surplus;
            self.draining.push_back((now + self.lease_s, surplus));
        }
    }
}
