//! What is counted while a queue runs.

use super::histogram::Histogram;

/// Counts and sums over the entries of one priority class that arrived in one stretch of a run.
#[derive(Clone, Debug, Default)]
pub(super) struct Tally {
    /// Events that arrived, without their retries.
    pub(super) arrivals: u64,
    /// Entries that the waits are counted over: attempts that a worker began, or that lost patience first.
    pub(super) entries: u64,
    /// Of those, how many had to wait.
    pub(super) waited: u64,
    pub(super) wait_sum: f64,
    /// The longest wait.
    pub(super) oldest: f64,
    /// Attempts that waited longer than each limit asked for.
    pub(super) beyond: Vec<u64>,
    pub(super) waits: Histogram,
    pub(super) fates: Fates,
}

/// What became of the events of a tally.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Fates {
    /// Delivered.
    pub(super) delivered: u64,
    /// From arrival to delivery, retries and their delays included: the sum and the longest.
    pub(super) delivery_sum: f64,
    pub(super) delivery_longest: f64,
    /// Left the queue because their patience ended.
    pub(super) abandoned: u64,
    /// Found the queue full.
    pub(super) lost: u64,
    /// Failed at every attempt that they were allowed.
    pub(super) dead_lettered: u64,
    /// Attempts that failed and were put back, not events.
    pub(super) retried: u64,
    /// Attempts that an endpoint answered with 429, not events.
    pub(super) refused: u64,
}

impl Tally {
    pub(super) fn merge(&mut self, other: &Tally) {
        self.arrivals += other.arrivals;
        self.entries += other.entries;
        self.waited += other.waited;
        self.wait_sum += other.wait_sum;
        self.oldest = self.oldest.max(other.oldest);
        self.beyond.resize(self.beyond.len().max(other.beyond.len()), 0);
        for (count, more) in self.beyond.iter_mut().zip(&other.beyond) {
            *count += more;
        }
        self.waits.merge(&other.waits);
        self.fates.merge(&other.fates);
    }
}

impl Fates {
    fn merge(&mut self, other: &Fates) {
        self.delivered += other.delivered;
        self.delivery_sum += other.delivery_sum;
        self.delivery_longest = self.delivery_longest.max(other.delivery_longest);
        self.abandoned += other.abandoned;
        self.lost += other.lost;
        self.dead_lettered += other.dead_lettered;
        self.retried += other.retried;
        self.refused += other.refused;
    }
}

/// One stretch of a run.
#[derive(Clone, Debug, Default)]
pub(super) struct Segment {
    /// One tally a priority class.
    pub(super) classes: Vec<Tally>,
    /// Length, in seconds.
    pub(super) span: f64,
    /// Server-seconds worked in it.
    pub(super) busy: f64,
    /// The most entries that waited at one moment.
    pub(super) queue_longest: u64,
}

impl Segment {
    pub(super) fn merge(&mut self, other: &Segment) {
        self.classes.resize(self.classes.len().max(other.classes.len()), Tally::default());
        for (tally, more) in self.classes.iter_mut().zip(&other.classes) {
            tally.merge(more);
        }
        self.span += other.span;
        self.busy += other.busy;
        self.queue_longest = self.queue_longest.max(other.queue_longest);
    }

    /// The classes together.
    pub(super) fn total(&self) -> Tally {
        let mut total = Tally::default();
        for tally in &self.classes {
            total.merge(tally);
        }
        total
    }
}

/// What one replication gave.
#[derive(Clone, Debug, Default)]
pub(super) struct Replicate {
    /// Stretch by stretch, in order of time.
    pub(super) segments: Vec<Segment>,
    /// What became of each block, in the scenario's order.
    pub(super) blocks: Vec<BlockRun>,
}

/// What became of a block in one replication.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct BlockRun {
    /// From the block's arrival to the end of its last event, if that came before the end of the run.
    pub(super) done_after: Option<f64>,
    /// From the block's arrival to the first moment at which nothing waited, if that came before the end.
    pub(super) queue_empty_after: Option<f64>,
    /// The most entries that waited at one moment from then on.
    pub(super) queue_longest: u64,
}
