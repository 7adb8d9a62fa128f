//! The books of the embedded queue: who has which message. It neither waits nor reads a clock.
//!
//! Messages of one endpoint, priority and kind (first attempt or retry) stand in one lane, first in, first out. A
//! lane whose endpoint the gate refuses is parked as a whole, so a backlog of a million messages for a partner in
//! trouble costs no more than one question.

use super::{DeadLetter, Lease, QueueError, QueueSettings, QueueStats, Settlement};
use crate::dispatch::failure::Failure;
use crate::dispatch::gate::{Admission, Gate, Ticket};
use crate::dispatch::message::{EndpointId, Message, Priority};
use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};
use std::sync::Arc;
use tokio::time::Instant;

/// A message with its history.
#[derive(Debug)]
struct Entry {
    message: Arc<Message>,
    attempts: u32,
    ready_at: Instant,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
struct LaneKey {
    endpoint: EndpointId,
    priority: Priority,
    retry: bool,
}

impl LaneKey {
    fn of(entry: &Entry) -> Self {
        let Message { endpoint, priority, .. } = *entry.message;
        LaneKey { endpoint, priority, retry: entry.attempts > 0 }
    }

    fn all(endpoint: EndpointId) -> [Self; 4] {
        [(Priority::High, false), (Priority::High, true), (Priority::Normal, false), (Priority::Normal, true)]
            .map(|(priority, retry)| LaneKey { endpoint, priority, retry })
    }
}

/// A lane is in `heads` exactly if it is open and holds a message.
#[derive(Debug, Default)]
struct Lane {
    waiting: VecDeque<(u64, Entry)>,
    parked: Option<Parked>,
}

/// Until when a lane is not asked about; `None` is until an attempt at its endpoint is finished.
#[derive(Clone, Copy, Debug)]
struct Parked(Option<Instant>);

/// The first message of an open lane, in the order of leasing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Head {
    priority: Priority,
    ready_at: Instant,
    sequence: u64,
    lane: LaneKey,
}

impl Lane {
    fn head(&self, key: LaneKey) -> Option<Head> {
        let (sequence, entry) = self.waiting.front()?;
        Some(Head { priority: key.priority, ready_at: entry.ready_at, sequence: *sequence, lane: key })
    }
}

#[derive(Debug)]
struct Leased {
    entry: Entry,
    expires_at: Instant,
}

#[derive(Debug)]
pub(super) struct Ledger {
    settings: QueueSettings,
    lanes: HashMap<LaneKey, Lane>,
    heads: BTreeSet<Head>,
    delayed: BTreeMap<(Instant, u64), Entry>,
    parked_until: BTreeSet<(Instant, LaneKey)>,
    /// How many lanes are parked until an attempt at their endpoint is finished: most of the time none.
    parked_until_finished: usize,
    leased: HashMap<u64, Leased>,
    expiries: BTreeSet<(Instant, u64)>,
    dead: HashMap<EndpointId, Vec<DeadLetter>>,
    sequence: u64,
    stats: QueueStats,
}

impl Ledger {
    pub(super) fn new(settings: QueueSettings) -> Self {
        Ledger {
            settings,
            lanes: HashMap::new(),
            heads: BTreeSet::new(),
            delayed: BTreeMap::new(),
            parked_until: BTreeSet::new(),
            parked_until_finished: 0,
            leased: HashMap::new(),
            expiries: BTreeSet::new(),
            dead: HashMap::new(),
            sequence: 0,
            stats: QueueStats::default(),
        }
    }

    pub(super) fn enqueue(&mut self, message: Message, ready_at: Instant, now: Instant) {
        self.stats.enqueued += 1;
        self.put(Entry { message: Arc::new(message), attempts: 0, ready_at }, now);
    }

    /// Leases the next message that the gate lets through.
    pub(super) fn lease(&mut self, gate: &impl Gate, now: Instant) -> Option<Lease> {
        self.advance(now);
        while let Some(head) = self.heads.first().copied() {
            let attempts = self.lanes.get(&head.lane)?.waiting.front()?.1.attempts;
            match gate.admit(head.lane.endpoint, attempts + 1, now) {
                Admission::Go(ticket) => {
                    let entry = self.take(head)?;
                    return Some(self.lend(entry, ticket, now));
                }
                Admission::Wait(until) => self.park(head, until),
                Admission::DeadLetter(cause) => {
                    let entry = self.take(head)?;
                    self.bury(entry, cause);
                }
            }
        }
        None
    }

    pub(super) fn renew(&mut self, lease: u64, now: Instant) -> Result<(), QueueError> {
        let leased = self.leased.get_mut(&lease).ok_or(QueueError::LeaseLost)?;
        self.expiries.remove(&(leased.expires_at, lease));
        leased.expires_at = now + self.settings.visibility;
        self.expiries.insert((leased.expires_at, lease));
        Ok(())
    }

    /// Ends a lease. One that has run out without anybody having noticed still counts.
    pub(super) fn settle(
        &mut self,
        lease: &Lease,
        settlement: Settlement,
        now: Instant,
    ) -> Result<(), QueueError> {
        self.reopen(lease.message.endpoint);
        let Leased { mut entry, expires_at } = self.leased.remove(&lease.id).ok_or(QueueError::LeaseLost)?;
        self.expiries.remove(&(expires_at, lease.id));
        self.stats.leased -= 1;
        match settlement {
            Settlement::Acknowledge => self.stats.delivered += 1,
            Settlement::Retry { cause, .. } if self.is_last(&entry) => self.bury(entry, cause),
            Settlement::Retry { after, .. } => {
                entry.ready_at = now + after;
                self.put(entry, now);
            }
            Settlement::Release { after } => {
                self.stats.released += 1;
                entry.attempts -= 1;
                entry.ready_at = now + after;
                self.put(entry, now);
            }
            Settlement::DeadLetter { cause } => self.bury(entry, cause),
        }
        Ok(())
    }

    pub(super) fn give_up_endpoint(&mut self, endpoint: EndpointId, cause: Failure) {
        self.reopen_all(endpoint);
        for key in LaneKey::all(endpoint) {
            let Some(lane) = self.lanes.get_mut(&key) else { continue };
            if let Some(head) = lane.head(key) {
                self.heads.remove(&head);
            }
            let waiting = std::mem::take(&mut lane.waiting);
            self.stats.ready -= waiting.len() as u64;
            waiting.into_iter().for_each(|(_, entry)| self.bury(entry, cause));
        }
        let theirs = self.delayed.extract_if(.., |_, entry| entry.message.endpoint == endpoint);
        for entry in theirs.map(|(_, entry)| entry).collect::<Vec<_>>() {
            self.stats.delayed -= 1;
            self.bury(entry, cause);
        }
    }

    /// Whether a message may be leased without any time passing.
    pub(super) fn has_ready(&self) -> bool {
        !self.heads.is_empty()
    }

    /// When time alone changes something next.
    pub(super) fn next_event(&self) -> Option<Instant> {
        let delayed = self.delayed.first_key_value().map(|((at, _), _)| *at);
        let parked = self.parked_until.first().map(|(at, _)| *at);
        let expiry = self.expiries.first().map(|(at, _)| *at);
        [delayed, parked, expiry].into_iter().flatten().min()
    }

    pub(super) fn stats(&self, now: Instant) -> QueueStats {
        let fronts = self.lanes.values().filter_map(|lane| lane.waiting.front());
        let oldest = fronts.map(|(_, entry)| entry.ready_at).min();
        let oldest_ready_age =
            oldest.map_or_else(Default::default, |then| now.saturating_duration_since(then));
        QueueStats { oldest_ready_age, ..self.stats }
    }

    pub(super) fn dead_letters(&self, endpoint: EndpointId) -> &[DeadLetter] {
        self.dead.get(&endpoint).map_or(&[], Vec::as_slice)
    }

    /// Carries out what has become due.
    fn advance(&mut self, now: Instant) {
        while let Some(due) = self.delayed.first_entry().filter(|first| first.key().0 <= now) {
            let entry = due.remove();
            self.stats.delayed -= 1;
            self.push(entry);
        }
        while let Some((_, lane)) = self.parked_until.first().copied().filter(|(at, _)| *at <= now) {
            self.open(lane);
        }
        while let Some((expired_at, lease)) = self.expiries.pop_first() {
            if expired_at > now {
                self.expiries.insert((expired_at, lease));
                break;
            }
            let Some(Leased { mut entry, .. }) = self.leased.remove(&lease) else { continue };
            self.stats.leased -= 1;
            self.stats.leases_expired += 1;
            if self.is_last(&entry) {
                self.bury(entry, Failure::LeaseExpired);
            } else {
                entry.ready_at = expired_at;
                self.push(entry);
            }
        }
    }

    fn is_last(&self, entry: &Entry) -> bool {
        entry.attempts >= self.settings.max_attempts
    }

    /// Ready now or later.
    fn put(&mut self, entry: Entry, now: Instant) {
        if entry.ready_at <= now {
            self.push(entry);
        } else {
            self.sequence += 1;
            self.stats.delayed += 1;
            self.delayed.insert((entry.ready_at, self.sequence), entry);
        }
    }

    fn push(&mut self, entry: Entry) {
        self.sequence += 1;
        self.stats.ready += 1;
        let key = LaneKey::of(&entry);
        let lane = self.lanes.entry(key).or_default();
        lane.waiting.push_back((self.sequence, entry));
        if lane.parked.is_none()
            && lane.waiting.len() == 1
            && let Some(head) = lane.head(key)
        {
            self.heads.insert(head);
        }
    }

    /// Takes the first message of an open lane.
    fn take(&mut self, head: Head) -> Option<Entry> {
        self.heads.remove(&head);
        let lane = self.lanes.get_mut(&head.lane)?;
        let (_, entry) = lane.waiting.pop_front()?;
        self.stats.ready -= 1;
        if let Some(next) = lane.head(head.lane) {
            self.heads.insert(next);
        }
        Some(entry)
    }

    fn lend(&mut self, mut entry: Entry, ticket: Ticket, now: Instant) -> Lease {
        entry.attempts += 1;
        self.sequence += 1;
        let id = self.sequence;
        let expires_at = now + self.settings.visibility;
        let lease = Lease {
            id,
            message: Arc::clone(&entry.message),
            attempt: entry.attempts,
            ready_at: entry.ready_at,
            leased_at: now,
            ticket,
        };
        self.stats.leased += 1;
        self.expiries.insert((expires_at, id));
        self.leased.insert(id, Leased { entry, expires_at });
        lease
    }

    fn bury(&mut self, entry: Entry, cause: Failure) {
        self.stats.dead_lettered += 1;
        let letter = DeadLetter { message: entry.message, attempts: entry.attempts, cause };
        self.dead.entry(letter.message.endpoint).or_default().push(letter);
    }

    fn park(&mut self, head: Head, until: Option<Instant>) {
        self.heads.remove(&head);
        if let Some(lane) = self.lanes.get_mut(&head.lane) {
            lane.parked = Some(Parked(until));
        }
        match until {
            Some(at) => drop(self.parked_until.insert((at, head.lane))),
            None => self.parked_until_finished += 1,
        }
    }

    fn open(&mut self, key: LaneKey) {
        let Some(lane) = self.lanes.get_mut(&key) else { return };
        let Some(Parked(until)) = lane.parked.take() else { return };
        match until {
            Some(at) => drop(self.parked_until.remove(&(at, key))),
            None => self.parked_until_finished -= 1,
        }
        if let Some(head) = lane.head(key) {
            self.heads.insert(head);
        }
    }

    /// Opens the lanes that wait for an attempt at their endpoint to be finished.
    fn reopen(&mut self, endpoint: EndpointId) {
        if self.parked_until_finished == 0 {
            return;
        }
        for key in LaneKey::all(endpoint) {
            if self.lanes.get(&key).is_some_and(|lane| matches!(lane.parked, Some(Parked(None)))) {
                self.open(key);
            }
        }
    }

    fn reopen_all(&mut self, endpoint: EndpointId) {
        LaneKey::all(endpoint).into_iter().for_each(|key| self.open(key));
    }
}

#[cfg(test)]
#[path = "ledger_tests.rs"]
mod tests;
