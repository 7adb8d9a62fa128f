//! A block of events on top of the steady traffic: how long it takes, and how long what comes behind it waits.

use super::solve::Load;
use super::{PoolSize, Question};
use crate::queueing::block::{BeforeBlock, passage_interval};
use crate::queueing::priority;
use crate::units::{Seconds, Share};
use schemars::JsonSchema;
use serde::Serialize;

/// The buffer is exceeded by one block in a hundred.
const BEYOND_BUFFER: f64 = 0.01;

/// The share of the traffic of urgent events that are too few to wait for each other.
const NEXT_TO_NOTHING: f64 = 1e-9;

/// Events that arrive at one moment, such as a settlement run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Block {
    /// How many.
    pub events: u64,
    /// When, counted from wherever the reader counts; the steady traffic does not depend on it.
    pub at: Option<Seconds>,
}

/// What becomes of a block. The figures beside `events` are absent for a pool without a steady state, which never clears it.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct BlockClearing {
    /// Events of the block.
    pub events: u64,
    /// When it comes, in seconds, where that was said.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at_s: Option<f64>,
    /// Whether the backlog goes away.
    pub clears: bool,
    /// The mean number of events that wait right behind it: what idle workers do not take at once, and what waited before.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub backlog: Option<f64>,
    /// Mean time until nothing waits, in seconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub clear_s: Option<f64>,
    /// Its interval by chance, in seconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub clear_interval_s: Option<[f64; 2]>,
    /// How sure the interval is, between 0 and 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub clear_interval_confidence: Option<f64>,
    /// When nothing waits any more, in seconds on the clock of `at_s`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cleared_at_s: Option<f64>,
    /// Places in the queue that 99 of 100 such blocks do not exceed before they are cleared.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub buffer: Option<u64>,
    /// Mean wait of an event that comes right behind the block and is served in order, in seconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wait_behind_s: Option<f64>,
    /// Mean wait of an urgent event that goes first, while the block waits, in seconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wait_urgent_s: Option<f64>,
}

impl Question {
    /// What becomes of a block in the pool of the steady traffic's `answer`. `urgent` is the share of the traffic that goes
    /// first; without one the urgent are too few to wait for each other.
    #[must_use]
    pub fn block(
        &self,
        answer: &PoolSize,
        block: &Block,
        urgent: Option<&Share>,
        confidence: f64,
    ) -> BlockClearing {
        let at_s = block.at.as_ref().map(Seconds::get);
        let never = BlockClearing {
            events: block.events,
            at_s,
            clears: false,
            backlog: None,
            clear_s: None,
            clear_interval_s: None,
            clear_interval_confidence: None,
            cleared_at_s: None,
            buffer: None,
            wait_behind_s: None,
            wait_urgent_s: None,
        };
        let (Some(probability), Some(wait_mean_s)) =
            (answer.state.wait_probability, answer.state.wait_mean_s)
        else {
            return never;
        };
        let pool = Load::new(&self.demand).pool(answer.workers);
        let dispersion = self.demand.arrivals.dispersion();
        let before = BeforeBlock::new(&pool, probability, wait_mean_s, dispersion, self.demand.service.scv);
        let backlog = before.backlog(block.events);
        let (mean_s, variance) = before.clearing_s(&backlog);
        let [low, high] = passage_interval(mean_s, variance, confidence);
        // A block that the idle workers take is cleared at once.
        let at_once = 1.0 - backlog.probability > (1.0 - confidence) / 2.0;
        let by_urgent = pool.load * urgent.map_or(NEXT_TO_NOTHING, Share::get);
        let past_s = priority::wait_where_all_are_busy_s(self.demand.wait_model(), &pool, by_urgent);
        BlockClearing {
            clears: true,
            backlog: Some(backlog.mean),
            clear_s: Some(mean_s),
            clear_interval_s: Some([if at_once { 0.0 } else { low }, high]),
            clear_interval_confidence: Some(confidence),
            cleared_at_s: at_s.map(|at_s| at_s + mean_s),
            buffer: Some(before.buffer(block.events, BEYOND_BUFFER)),
            wait_behind_s: Some(backlog.wait_behind_s),
            wait_urgent_s: Some(backlog.full * past_s),
            ..never
        }
    }
}
