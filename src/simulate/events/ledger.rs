//! What the event engine writes down.

use super::super::histogram::Recorder;
use super::super::stretch::Horizon;
use super::super::tally::{BlockRun, Replicate, Segment, Tally};
use super::jobs::Job;

/// The books of one replication. What happens to an event is booked to the stretch in which it arrived; the workers' time
/// and the queue's length to the stretch in which they are.
pub(super) struct Ledger {
    segments: Vec<Segment>,
    /// Waits by stretch and class; the histograms are taken at the end.
    waits: Vec<Vec<Recorder>>,
    classes: usize,
    stretches: usize,
    arrived: u64,
    waiting: u64,
    busy: u32,
    /// Time until which the workers' time is booked.
    booked_until: f64,
    stretch_began: f64,
    /// Whether the last stretch has ended: nothing arrives any more, and time is no longer booked.
    ended: bool,
    blocks: Vec<OpenBlock>,
}

/// A block that may have arrived.
#[derive(Clone, Copy, Debug, Default)]
struct OpenBlock {
    arrived_at: Option<f64>,
    left: u32,
    run: BlockRun,
}

impl Ledger {
    pub(super) fn new(classes: usize, stretches: usize, blocks: usize) -> Self {
        let mut ledger = Ledger {
            segments: Vec::with_capacity(stretches),
            waits: Vec::with_capacity(stretches),
            classes,
            stretches,
            arrived: 0,
            waiting: 0,
            busy: 0,
            booked_until: 0.0,
            stretch_began: 0.0,
            ended: false,
            blocks: vec![OpenBlock::default(); blocks],
        };
        ledger.open_stretch();
        ledger
    }

    fn open_stretch(&mut self) {
        let classes = vec![Tally::default(); self.classes];
        self.segments.push(Segment { classes, ..Segment::default() });
        self.waits.push((0..self.classes).map(|_| Recorder::new()).collect());
    }

    /// Position of the current stretch.
    pub(super) fn stretch(&self) -> usize {
        self.segments.len() - 1
    }

    pub(super) fn ended(&self) -> bool {
        self.ended
    }

    pub(super) fn waiting(&self) -> u64 {
        self.waiting
    }

    /// Whether the stretch that ends at `end` is full.
    pub(super) fn reached(&self, end: Horizon) -> bool {
        matches!(end, Horizon::Arrivals(count) if self.arrived >= count)
    }

    fn book_time(&mut self, now: f64) {
        if !self.ended {
            if let Some(segment) = self.segments.last_mut() {
                segment.busy += f64::from(self.busy) * (now - self.booked_until);
            }
            self.booked_until = now;
        }
    }

    pub(super) fn end_stretch(&mut self, now: f64) {
        self.book_time(now);
        if let Some(segment) = self.segments.last_mut() {
            segment.span = now - self.stretch_began;
        }
        self.stretch_began = now;
        if self.segments.len() < self.stretches {
            self.open_stretch();
        } else {
            self.ended = true;
        }
    }

    fn tally(&mut self, job: &Job) -> &mut Tally {
        &mut self.segments[job.stretch].classes[job.class]
    }

    pub(super) fn arrival(&mut self, job: &Job) {
        self.arrived += 1;
        self.tally(job).arrivals += 1;
    }

    pub(super) fn block_arrives(&mut self, block: usize, events: u32, now: f64) {
        self.blocks[block] = OpenBlock { arrived_at: Some(now), left: events, run: BlockRun::default() };
    }

    /// A job joins the queue.
    pub(super) fn queued(&mut self) {
        self.waiting += 1;
        if self.ended {
            return;
        }
        if let Some(segment) = self.segments.last_mut() {
            segment.queue_longest = segment.queue_longest.max(self.waiting);
        }
        for block in self.blocks.iter_mut().filter(|block| block.arrived_at.is_some()) {
            block.run.queue_longest = block.run.queue_longest.max(self.waiting);
        }
    }

    /// A job leaves the queue for a worker.
    pub(super) fn unqueued(&mut self) {
        self.waiting -= 1;
    }

    /// A job leaves the queue because its patience ends.
    pub(super) fn gives_up(&mut self, job: &Job, now: f64) {
        self.waiting -= 1;
        self.waited(job, now - job.queued_at);
    }

    fn waited(&mut self, job: &Job, wait: f64) {
        let tally = self.tally(job);
        tally.entries += 1;
        tally.waited += u64::from(wait > 0.0);
        tally.wait_sum += wait;
        tally.oldest = tally.oldest.max(wait);
        self.waits[job.stretch][job.class].record(wait);
    }

    /// To be called when a moment is over: notes for whom the queue is empty for the first time.
    pub(super) fn settle(&mut self, now: f64) {
        if self.waiting == 0 && !self.ended {
            for block in &mut self.blocks {
                if let (Some(arrived_at), None) = (block.arrived_at, block.run.queue_empty_after) {
                    block.run.queue_empty_after = Some(now - arrived_at);
                }
            }
        }
    }

    /// A worker begins an attempt.
    pub(super) fn begins(&mut self, job: &Job, now: f64) {
        self.book_time(now);
        self.busy += 1;
        self.waited(job, now - job.queued_at);
    }

    /// A worker is free again.
    pub(super) fn frees(&mut self, now: f64) {
        self.book_time(now);
        self.busy -= 1;
    }

    pub(super) fn refused(&mut self, job: &Job) {
        self.tally(job).fates.refused += 1;
    }

    pub(super) fn retried(&mut self, job: &Job) {
        self.tally(job).fates.retried += 1;
    }

    /// An event reaches its end.
    pub(super) fn leaves(&mut self, job: &Job, fate: Fate, now: f64) {
        let fates = &mut self.tally(job).fates;
        match fate {
            Fate::Delivered => {
                let took = now - job.arrived_at;
                fates.delivered += 1;
                fates.delivery_sum += took;
                fates.delivery_longest = fates.delivery_longest.max(took);
            }
            Fate::DeadLettered => fates.dead_lettered += 1,
            Fate::Abandoned => fates.abandoned += 1,
            Fate::Lost => fates.lost += 1,
        }
        if let Some(block) = job.block.map(|block| &mut self.blocks[block]) {
            block.left -= 1;
            if let (0, Some(arrived_at), false) = (block.left, block.arrived_at, self.ended) {
                block.run.done_after = Some(now - arrived_at);
            }
        }
    }

    pub(super) fn close(mut self) -> Replicate {
        for (segment, waits) in self.segments.iter_mut().zip(&mut self.waits) {
            for (tally, recorder) in segment.classes.iter_mut().zip(waits) {
                tally.waits = recorder.take();
            }
        }
        let blocks = self.blocks.iter().map(|block| block.run).collect();
        Replicate { segments: self.segments, blocks }
    }
}

/// How an event ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fate {
    Delivered,
    DeadLettered,
    Abandoned,
    Lost,
}
