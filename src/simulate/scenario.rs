//! What is simulated: a pool, what arrives at it, and what can happen to an event.

use super::arrivals::Arrivals;
use super::error::{Error, require, require_positive};
use super::law::Law;
use super::stretch::Horizon;

/// A pool of workers and all that happens at it.
///
/// [`plain`](Scenario::plain) is the queue of the textbooks; the other fields add to it:
/// ```
/// use whsize::simulate::{Arrivals, Law, Scenario};
/// let mut scenario = Scenario::plain(12, Arrivals::poisson(10.0)?, Law::exponential(1.0)?);
/// scenario.patience = Some(Law::exponential(5.0)?);
/// assert!(!scenario.is_plain());
/// # Ok::<(), whsize::simulate::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Scenario {
    /// Workers of the pool; each does one attempt at a time.
    pub workers: u32,
    /// Priority classes, the most urgent first. A free worker takes the oldest entry of the first class that has one; work
    /// that has begun is not interrupted.
    pub classes: Vec<Class>,
    /// All classes wait in one queue, first come, first served: they tell events apart and give them no urgency.
    pub one_queue: bool,
    /// What happens to an attempt that fails. Without it nothing fails, except by an endpoint's refusal, which is then final.
    pub retries: Option<Retries>,
    /// How long an entry waits in the queue before it leaves (Erlang A if exponential), drawn anew for each attempt.
    pub patience: Option<Law>,
    /// How many entries can wait; an entry that finds the queue full is lost. Workers are not counted (M/M/c/K: K − c).
    pub queue_limit: Option<u64>,
    /// Events that arrive together at a given time, beside the classes' own arrivals.
    pub blocks: Vec<Block>,
    /// The endpoints' own capacity. Without it an attempt takes its drawn service time whatever else is in flight.
    pub endpoints: Option<Endpoints>,
}

/// A priority class.
#[derive(Clone, Debug)]
pub struct Class {
    /// Its name in the results.
    pub name: String,
    /// Its arrivals; `None` for a class whose events come in blocks only.
    pub arrivals: Option<Arrivals>,
    /// How long an attempt holds a worker (with endpoints: while they are not overloaded).
    pub service: Law,
}

/// Events of one class that arrive at one moment, such as a settlement run or a backlog.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Block {
    /// When, in seconds from the start.
    pub at_s: f64,
    /// How many.
    pub events: u32,
    /// Position of their class in [`Scenario::classes`].
    pub class: usize,
}

/// Failures and what follows them.
#[derive(Clone, Debug)]
pub struct Retries {
    /// Probability that an attempt fails, independent of everything else, from 0 to 1.
    pub failure_share: f64,
    /// Attempts that an event is allowed, the first included. After the last failure it is a dead letter.
    pub max_attempts: u32,
    /// Delay before the second, third, … attempt, in seconds; the last holds for all later ones. Empty: no delay.
    pub delays_s: Vec<f64>,
    /// Each delay is multiplied by a uniform number from 1 − `jitter` to 1 + `jitter`; from 0 to 1.
    pub jitter: f64,
    /// How long a failed attempt holds its worker; `None`: as long as any other.
    pub failed_service: Option<Law>,
}

/// Endpoints with a capacity of their own, each with an equal part of the traffic.
///
/// An endpoint serves up to `capacity` requests at full speed. Above that they share it (processor sharing), so latency
/// rises. While it has `refuse_above` requests in service it answers further ones with 429, which is a failed attempt, and
/// which costs it the work of `refusal_s`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Endpoints {
    /// How many endpoints there are.
    pub count: u32,
    /// Requests that one serves at once at full speed.
    pub capacity: u32,
    /// Requests in service from which on it refuses more; at least `capacity`.
    pub refuse_above: u32,
    /// Work of a refusal, in seconds at full speed.
    pub refusal_s: f64,
    /// The pool's own cap: attempts that it has in flight to one endpoint at most. Entries beyond it wait without a worker.
    pub cap: Option<u32>,
}

/// The most workers, waiting places for endpoints and attempts that a scenario may ask for.
const MOST: f64 = 10_000_000.0;

impl Scenario {
    /// One class, first come first served, no failures, endless patience and room: G/G/N.
    #[must_use]
    pub fn plain(workers: u32, arrivals: Arrivals, service: Law) -> Self {
        let class = Class { name: "all".to_owned(), arrivals: Some(arrivals), service };
        Scenario {
            workers,
            classes: vec![class],
            one_queue: false,
            retries: None,
            patience: None,
            queue_limit: None,
            blocks: Vec::new(),
            endpoints: None,
        }
    }

    /// Whether this is the plain queue, which the fast recursion can run.
    #[must_use]
    pub fn is_plain(&self) -> bool {
        self.as_plain().is_some()
    }

    /// Arrivals and service of the plain queue.
    pub(super) fn as_plain(&self) -> Option<(&Arrivals, &Law)> {
        let extras = self.retries.is_some()
            || self.patience.is_some()
            || self.queue_limit.is_some()
            || !self.blocks.is_empty()
            || self.endpoints.is_some();
        match &self.classes[..] {
            [Class { arrivals: Some(arrivals), service, .. }] if !extras => Some((arrivals, service)),
            _ => None,
        }
    }

    /// What keeps this scenario from having a steady state by its very form.
    pub(super) fn without_steady_state(&self) -> Option<&'static str> {
        let mut arrivals = self.classes.iter().filter_map(|class| class.arrivals.as_ref());
        if !self.blocks.is_empty() {
            Some("a block of arrivals")
        } else if arrivals.any(|arrivals| arrivals.dispersion().is_none()) {
            Some("a trace or a rate that varies over time")
        } else {
            None
        }
    }

    pub(super) fn check(&self, horizon: Horizon) -> Result<(), Error> {
        let count = "a whole number from 1 to ten million";
        let counted =
            |what, value: u32| require(what, f64::from(value), count, |n| (1.0..=MOST).contains(&n));
        let share = |what, value| require(what, value, "a share from 0 to 1", |p| (0.0..=1.0).contains(&p));
        counted("the number of workers", self.workers)?;
        if self.classes.is_empty() {
            return Err(Error::Empty("the list of priority classes"));
        }
        if self.blocks.is_empty() && self.classes.iter().all(|class| class.arrivals.is_none()) {
            return Err(Error::Empty("the list of classes that have arrivals"));
        }
        for block in &self.blocks {
            let within = "a time of at least 0 s and before the end of the run";
            require("the time of a block", block.at_s, within, |at| {
                at >= 0.0 && !matches!(horizon, Horizon::Seconds(end) if at >= end)
            })?;
            counted("the number of events of a block", block.events)?;
            let known = "the position of a priority class";
            require("the class of a block", block.class as f64, known, |_| block.class < self.classes.len())?;
        }
        if let Some(retries) = &self.retries {
            share("the failure share", retries.failure_share)?;
            share("the jitter of the retry delays", retries.jitter)?;
            counted("the number of attempts", retries.max_attempts)?;
            for &delay in &retries.delays_s {
                require("a retry delay", delay, "a finite time of at least 0 s", |delay| delay >= 0.0)?;
            }
        }
        if let Some(endpoints) = &self.endpoints {
            counted("the number of endpoints", endpoints.count)?;
            counted("the capacity of an endpoint", endpoints.capacity)?;
            require_positive("the work of a refusal", endpoints.refusal_s)?;
            let refuse_above = f64::from(endpoints.refuse_above);
            let enough = "at least the capacity of an endpoint";
            let capacity = f64::from(endpoints.capacity);
            require("the number of requests that are not refused", refuse_above, enough, |n| n >= capacity)?;
            endpoints.cap.map(|cap| counted("the cap of attempts to an endpoint", cap)).transpose()?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scenario() -> Scenario {
        Scenario::plain(3, Arrivals::poisson(1.0).unwrap(), Law::constant(1.0).unwrap())
    }

    #[test]
    fn each_extra_makes_a_scenario_other_than_plain() {
        assert!(scenario().is_plain());
        let block = Block { at_s: 1.0, events: 5, class: 0 };
        let extras: [fn(&mut Scenario); 4] = [
            |s| s.patience = Law::constant(1.0).ok(),
            |s| s.queue_limit = Some(5),
            |s| s.classes.push(s.classes[0].clone()),
            |s| s.classes[0].arrivals = None,
        ];
        for extra in extras {
            let mut scenario = scenario();
            extra(&mut scenario);
            assert!(!scenario.is_plain(), "{scenario:?}");
        }
        let with_block = Scenario { blocks: vec![block], ..scenario() };
        assert!(!with_block.is_plain());
        assert_eq!(with_block.without_steady_state(), Some("a block of arrivals"));
    }

    #[test]
    fn what_cannot_be_simulated_is_refused() {
        let retries = Retries {
            failure_share: 0.1,
            max_attempts: 3,
            delays_s: vec![1.0],
            jitter: 0.2,
            failed_service: None,
        };
        let endpoints = Endpoints { count: 2, capacity: 3, refuse_above: 6, refusal_s: 0.1, cap: None };
        let block = Block { at_s: 1.0, events: 5, class: 0 };
        let run = Horizon::Seconds(10.0);
        let base = Scenario {
            retries: Some(retries.clone()),
            endpoints: Some(endpoints),
            blocks: vec![block],
            ..scenario()
        };
        assert_eq!(base.check(run), Ok(()));
        for bad in [
            Scenario { workers: 0, ..base.clone() },
            Scenario { workers: 20_000_000, ..base.clone() },
            Scenario { classes: vec![], ..base.clone() },
            Scenario { blocks: vec![Block { at_s: 10.0, ..block }], ..base.clone() },
            Scenario { blocks: vec![Block { at_s: f64::NAN, ..block }], ..base.clone() },
            Scenario { blocks: vec![Block { events: 0, ..block }], ..base.clone() },
            Scenario { blocks: vec![Block { class: 1, ..block }], ..base.clone() },
            Scenario { retries: Some(Retries { failure_share: 1.1, ..retries.clone() }), ..base.clone() },
            Scenario { retries: Some(Retries { max_attempts: 0, ..retries.clone() }), ..base.clone() },
            Scenario { retries: Some(Retries { delays_s: vec![-1.0], ..retries.clone() }), ..base.clone() },
            Scenario { retries: Some(Retries { jitter: f64::NAN, ..retries }), ..base.clone() },
            Scenario { endpoints: Some(Endpoints { count: 0, ..endpoints }), ..base.clone() },
            Scenario { endpoints: Some(Endpoints { refuse_above: 2, ..endpoints }), ..base.clone() },
            Scenario { endpoints: Some(Endpoints { refusal_s: 0.0, ..endpoints }), ..base.clone() },
            Scenario { endpoints: Some(Endpoints { cap: Some(0), ..endpoints }), ..base.clone() },
        ] {
            assert!(bad.check(run).is_err(), "{bad:?}");
        }
    }
}
