//! The general engine: events in order of time.
//!
//! It runs everything that the recursion cannot: failures with retries, patience, a bounded queue, priority classes, blocks
//! of arrivals, and endpoints with a capacity of their own. On the plain queue it gives the recursion's waits exactly.

mod calendar;
mod endpoint;
mod jobs;
mod lanes;
mod ledger;

use self::calendar::{Calendar, Event};
use self::endpoint::Endpoint;
use self::jobs::{Job, Jobs};
use self::lanes::Lanes;
use self::ledger::{Fate, Ledger};
use super::feed::Feed;
use super::scenario::Scenario;
use super::stream::{Purpose, Stream, Streams};
use super::stretch::{Horizon, Stretches};
use super::tally::Replicate;

/// Runs one replication. After the end of the last stretch nothing arrives, and what is there is still served, so that
/// every arrival's wait is known. Events of a class that is not the most urgent then see less of the others than they
/// would have; in a long run that does not matter.
pub(super) fn run(scenario: &Scenario, stretches: &Stretches, streams: Streams) -> Replicate {
    let mut engine = Engine::new(scenario, stretches.ends(), streams);
    while let Some((now, event)) = engine.calendar.next() {
        engine.now = now;
        engine.handle(event);
        engine.ledger.settle(now);
    }
    engine.ledger.close()
}

struct Engine<'a> {
    scenario: &'a Scenario,
    /// Ends of the stretches that have not ended, in order.
    ends: &'a [Horizon],
    now: f64,
    calendar: Calendar,
    lanes: Lanes,
    jobs: Jobs,
    idle: u32,
    endpoints: Vec<Endpoint>,
    classes: Vec<ClassState<'a>>,
    /// Classes and blocks that still have arrivals to come.
    sources: usize,
    ledger: Ledger,
}

/// A class's random numbers.
struct ClassState<'a> {
    feed: Option<ClassFeed<'a>>,
    /// Service times of the events that come in blocks.
    block: Stream,
    patience: Stream,
    failure: Stream,
    retry: Stream,
    endpoint: Stream,
}

/// A class's arrivals one by one.
struct ClassFeed<'a> {
    feed: Feed<'a>,
    next: usize,
}

impl ClassFeed<'_> {
    /// The next arrival and its service time.
    fn next(&mut self) -> Option<(f64, f64)> {
        if self.next == self.feed.times().len() {
            self.feed.refill();
            self.next = 0;
        }
        let arrival = (*self.feed.times().get(self.next)?, *self.feed.services().get(self.next)?);
        self.next += 1;
        Some(arrival)
    }

    /// The arrival that `next` would give, which must have been looked at.
    fn current(&self) -> Option<(f64, f64)> {
        let at = self.next.checked_sub(1)?;
        Some((*self.feed.times().get(at)?, *self.feed.services().get(at)?))
    }
}

impl<'a> Engine<'a> {
    fn new(scenario: &'a Scenario, ends: &'a [Horizon], streams: Streams) -> Self {
        let state = |(at, class): (usize, &'a super::scenario::Class)| {
            let feed = |arrivals| Feed::new(arrivals, &class.service, streams, at);
            ClassState {
                feed: class.arrivals.as_ref().map(|arrivals| ClassFeed { feed: feed(arrivals), next: 0 }),
                block: streams.stream(at, Purpose::Block),
                patience: streams.stream(at, Purpose::Patience),
                failure: streams.stream(at, Purpose::Failure),
                retry: streams.stream(at, Purpose::Retry),
                endpoint: streams.stream(at, Purpose::Endpoint),
            }
        };
        let endpoints = scenario.endpoints.as_ref();
        let told_apart = endpoints.filter(|all| all.cap.is_some()).map_or(1, |all| all.count as usize);
        let classes = scenario.classes.len();
        let mut engine = Engine {
            scenario,
            ends,
            now: 0.0,
            calendar: Calendar::default(),
            lanes: Lanes::new(if scenario.one_queue { 1 } else { classes }, told_apart),
            jobs: Jobs::default(),
            idle: scenario.workers,
            endpoints: endpoints.map_or_else(Vec::new, |all| {
                (0..all.count).map(|_| Endpoint::new(all.capacity, all.refuse_above)).collect()
            }),
            classes: scenario.classes.iter().enumerate().map(state).collect(),
            sources: scenario.blocks.len() + scenario.classes.iter().filter(|c| c.arrivals.is_some()).count(),
            ledger: Ledger::new(classes, ends.len(), scenario.blocks.len()),
        };
        // Ends come first: an arrival at the very end of a stretch belongs to the next.
        for end in ends {
            if let Horizon::Seconds(end) = end {
                engine.calendar.plan(*end, Event::StretchEnds);
            }
        }
        for (block, planned) in scenario.blocks.iter().enumerate() {
            engine.calendar.plan(planned.at_s, Event::Block { block });
        }
        for class in 0..classes {
            engine.plan_arrival(class);
        }
        engine
    }

    fn handle(&mut self, event: Event) {
        match event {
            Event::Arrival { class } => self.class_arrival(class),
            Event::Block { block } => self.block_arrival(block),
            Event::AttemptEnds { job } => self.attempt_ends(job),
            Event::EndpointDone { endpoint, change } => self.endpoint_done(endpoint, change),
            Event::PatienceEnds { job, ticket } => self.patience_ends(job, ticket),
            Event::Retry { job } => self.submit(job),
            Event::StretchEnds => self.end_stretch(),
        }
    }

    fn plan_arrival(&mut self, class: usize) {
        let Some(feed) = &mut self.classes[class].feed else { return };
        match feed.next() {
            Some((at, _)) => self.calendar.plan(at, Event::Arrival { class }),
            None => self.source_ends(),
        }
    }

    /// Stretches that are counted in arrivals end with the last of them, if fewer come.
    fn source_ends(&mut self) {
        self.sources -= 1;
        while self.sources == 0 && matches!(self.ends.first(), Some(Horizon::Arrivals(_))) {
            self.end_stretch();
        }
    }

    fn class_arrival(&mut self, class: usize) {
        if self.ledger.ended() {
            return;
        }
        if let Some((_, service)) = self.classes[class].feed.as_ref().and_then(ClassFeed::current) {
            self.arrive(class, None, service);
        }
        self.plan_arrival(class);
    }

    fn block_arrival(&mut self, number: usize) {
        let block = self.scenario.blocks[number];
        if self.ledger.ended() {
            return;
        }
        self.ledger.block_arrives(number, block.events, self.now);
        for _ in 0..block.events {
            if self.ledger.ended() {
                return;
            }
            let law = &self.scenario.classes[block.class].service;
            let service = law.draw(&mut self.classes[block.class].block);
            self.arrive(block.class, Some(number), service);
        }
        self.source_ends();
    }

    fn arrive(&mut self, class: usize, block: Option<usize>, service: f64) {
        let endpoint = match self.endpoints.len() {
            0 => 0,
            count => self.classes[class].endpoint.index(count),
        };
        let job = self.jobs.add(Job {
            class,
            endpoint,
            block,
            stretch: self.ledger.stretch(),
            arrived_at: self.now,
            queued_at: self.now,
            attempt: 0,
            service,
            fails: false,
            ticket: 0,
        });
        self.ledger.arrival(&self.jobs[job]);
        self.submit(job);
        if self.ends.first().is_some_and(|end| self.ledger.reached(*end)) {
            self.end_stretch();
        }
    }

    fn end_stretch(&mut self) {
        self.ledger.end_stretch(self.now);
        self.ends = self.ends.get(1..).unwrap_or_default();
    }

    /// Draws an attempt and takes it to a worker or to the queue.
    fn submit(&mut self, number: usize) {
        let class = self.jobs[number].class;
        let state = &mut self.classes[class];
        let job = &mut self.jobs[number];
        job.attempt += 1;
        job.queued_at = self.now;
        if job.attempt > 1 {
            job.service = self.scenario.classes[class].service.draw(&mut state.retry);
        }
        job.fails = false;
        if let Some(retries) = &self.scenario.retries {
            job.fails = state.failure.uniform() < retries.failure_share;
            if let (true, Some(law)) = (job.fails, &retries.failed_service) {
                job.service = law.draw(&mut state.failure);
            }
        }
        // Patience is drawn whether it is needed or not, so that other pools see the same numbers.
        let patience = self.scenario.patience.as_ref().map(|law| law.draw(&mut state.patience));
        if self.idle > 0 && self.is_open(self.jobs[number].endpoint) {
            self.begin(number);
        } else if self.scenario.queue_limit.is_some_and(|limit| self.ledger.waiting() >= limit) {
            self.leave(number, Fate::Lost);
        } else {
            let lane = if self.has_cap() { self.jobs[number].endpoint } else { 0 };
            let urgency = if self.scenario.one_queue { 0 } else { class };
            let ticket = self.lanes.push(urgency, lane, number);
            self.jobs[number].ticket = ticket;
            self.ledger.queued();
            if let Some(patience) = patience {
                self.calendar.plan(self.now + patience, Event::PatienceEnds { job: number, ticket });
            }
        }
    }

    fn has_cap(&self) -> bool {
        self.scenario.endpoints.is_some_and(|endpoints| endpoints.cap.is_some())
    }

    /// Whether the pool may have one more attempt in flight to the endpoint.
    fn is_open(&self, endpoint: usize) -> bool {
        let cap = self.scenario.endpoints.and_then(|endpoints| endpoints.cap);
        cap.is_none_or(|cap| self.endpoints[endpoint].in_flight() < cap as usize)
    }

    /// A worker takes the job.
    fn begin(&mut self, number: usize) {
        self.idle -= 1;
        self.ledger.begins(&self.jobs[number], self.now);
        let Job { endpoint, service, .. } = self.jobs[number];
        let Some(endpoints) = self.scenario.endpoints else {
            self.calendar.plan(self.now + service, Event::AttemptEnds { job: number });
            return;
        };
        if self.endpoints[endpoint].begin(self.now, number, service, endpoints.refusal_s) {
            self.jobs[number].fails = true;
            self.ledger.refused(&self.jobs[number]);
        }
        self.endpoint_changed(endpoint);
    }

    fn endpoint_changed(&mut self, number: usize) {
        let endpoint = &self.endpoints[number];
        if let Some(at) = endpoint.next_end() {
            let event = Event::EndpointDone { endpoint: number, change: endpoint.change };
            self.calendar.plan(at, event);
        }
        if self.has_cap() {
            self.lanes.set_open(number, self.is_open(number));
        }
    }

    fn endpoint_done(&mut self, number: usize, change: u64) {
        if self.endpoints[number].change != change {
            return;
        }
        if let Some(job) = self.endpoints[number].end_next(self.now) {
            self.endpoint_changed(number);
            self.attempt_ends(job);
        }
    }

    fn attempt_ends(&mut self, number: usize) {
        self.idle += 1;
        self.ledger.frees(self.now);
        let job = self.jobs[number];
        if !job.fails {
            self.leave(number, Fate::Delivered);
        } else {
            match &self.scenario.retries {
                Some(retries) if job.attempt < retries.max_attempts => {
                    let last = retries.delays_s.len().saturating_sub(1);
                    let delay =
                        retries.delays_s.get((job.attempt as usize - 1).min(last)).copied().unwrap_or(0.0);
                    let spread = retries.jitter * (2.0 * self.classes[job.class].retry.uniform() - 1.0);
                    self.ledger.retried(&job);
                    self.calendar.plan(self.now + delay * (1.0 + spread), Event::Retry { job: number });
                }
                _ => self.leave(number, Fate::DeadLettered),
            }
        }
        self.dispatch();
    }

    fn patience_ends(&mut self, number: usize, ticket: u64) {
        if self.jobs[number].ticket == ticket {
            self.ledger.gives_up(&self.jobs[number], self.now);
            self.leave(number, Fate::Abandoned);
        }
    }

    fn leave(&mut self, number: usize, fate: Fate) {
        self.ledger.leaves(&self.jobs[number], fate, self.now);
        self.jobs.remove(number);
    }

    /// Gives waiting entries to idle workers.
    fn dispatch(&mut self) {
        while self.idle > 0 {
            let Some((ticket, number)) = self.lanes.pop() else { return };
            // Entries that left the queue are still in their lane.
            if self.jobs[number].ticket == ticket {
                self.jobs[number].ticket = 0;
                self.ledger.unqueued();
                self.begin(number);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Arrivals, Block, Class, Law, Run, WarmUp, simulate};
    use super::*;

    /// The second class's block comes first; one worker, a second each.
    fn waits(one_queue: bool) -> [Option<f64>; 2] {
        let service = Law::constant(1.0).unwrap();
        let class = |name: &str| Class { name: name.to_owned(), arrivals: None, service: service.clone() };
        let mut scenario = Scenario::plain(1, Arrivals::poisson(1.0).unwrap(), service.clone());
        scenario.classes = vec![class("first"), class("second")];
        scenario.one_queue = one_queue;
        scenario.blocks =
            vec![Block { at_s: 0.5, events: 3, class: 0 }, Block { at_s: 0.0, events: 3, class: 1 }];
        let run = Run { warm_up: WarmUp::Nothing, replications: 1, ..Run::new(Horizon::Seconds(10.0)) };
        let found = simulate(&scenario, &run).unwrap();
        [0, 1].map(|class| found.classes[class].wait_mean_s)
    }

    #[test]
    fn classes_in_one_queue_are_served_as_they_come() {
        // Six services back to back: the block of t = 0 waits 0, 1, 2 s, that of t = 0.5 waits 2.5, 3.5, 4.5 s.
        assert_eq!(waits(true), [Some(3.5), Some(1.0)]);
        // The urgent class goes first once the worker is free: 0.5, 1.5, 2.5 s; the others 0, 4, 5 s.
        assert_eq!(waits(false), [Some(1.5), Some(3.0)]);
    }
}
