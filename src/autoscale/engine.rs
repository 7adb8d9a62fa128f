//! A trace through queue and controller, second by second.

use super::decision::Observed;
use super::fleet::Fleet;
use super::outcome::{Outcome, PolicyOutcome, Step};
use super::policy::{MissingMetric, Policy, PolicyName};
use super::trace::Trace;
use crate::units::{ArrivalRate, Exact, Seconds};

/// Messages are counted in billionths, so that what arrives in a second is a whole number of them.
const PARTS: u128 = 1_000_000_000;

/// How an HPA adds replicas by default: at most double, or four, within fifteen seconds; and how long it looks back
/// before it takes any away.
const HPA_UP: u64 = 4;
const HPA_UP_PERIOD_S: u64 = 15;
const HPA_STABILISATION_S: u64 = 300;

/// A receiving side with a limit of its own.
#[derive(Clone, Debug, PartialEq)]
pub struct Downstream {
    /// Attempts a second that it takes.
    pub limit: ArrivalRate,
    /// What a refused attempt costs it, as a share of one that it serves: the more are refused, the fewer it serves.
    pub refusal_cost: f64,
}

/// A replay of a trace.
#[derive(Clone, Debug, PartialEq)]
pub struct Replay {
    /// The traffic.
    pub trace: Trace,
    /// Mean service time where the trace does not say.
    pub mean: Seconds,
    /// Tasks in each replica.
    pub tasks_per_replica: u64,
    /// Replicas at the start; without them, those that the first row needs.
    pub initial: Option<u64>,
    /// The policy whose steps are shown.
    pub policy: Policy,
    /// Policies to compare it with.
    pub compared: Vec<Policy>,
    /// How often the controller decides, in whole seconds.
    pub interval_s: u64,
    /// How long a new replica takes to start, in whole seconds.
    pub start_delay_s: u64,
    /// The lease, in whole seconds: a replica that goes drains for that long, and replicas go no faster.
    pub lease_s: u64,
    /// The age that no message should exceed.
    pub objective: Seconds,
    /// Processor time of an attempt.
    pub cpu_per_attempt: Seconds,
    /// Processors of a replica.
    pub vcpu_per_replica: f64,
    /// A receiving side with a limit of its own.
    pub downstream: Option<Downstream>,
}

impl Replay {
    /// Replays the trace with the policy, and with those that it is compared with.
    ///
    /// # Errors
    /// If a policy goes by something that a replay does not know, which none does.
    pub fn run(&self) -> Result<Outcome, MissingMetric> {
        let (shown, steps) = Run::new(self, &self.policy).finish()?;
        let mut compared = Vec::new();
        for policy in &self.compared {
            compared.push(Run::new(self, policy).finish()?);
        }
        Ok(Outcome::new(shown, steps, compared))
    }

    fn initial(&self) -> u64 {
        let bounds = self.policy.controller.bounds;
        let row = self.trace.at(0);
        let needed = Observed {
            current: 0,
            tasks_per_replica: self.tasks_per_replica,
            oldest_age: None,
            backlog: None,
            rate: Some(row.rate.clone()),
            mean: Some(row.mean.clone().unwrap_or_else(|| self.mean.clone())),
            cpu: None,
        };
        self.initial.unwrap_or_else(|| {
            needed.floor().unwrap_or(0).max(bounds.minimum).min(bounds.maximum.max(bounds.minimum))
        })
    }
}

/// One policy over the trace.
struct Run<'a> {
    replay: &'a Replay,
    policy: &'a Policy,
    fleet: Fleet,
    /// Parts of messages that have arrived and that have been served, in all.
    arrived: u128,
    served: u128,
    /// What had arrived by the end of each second.
    arrivals: Vec<u128>,
    /// The first second whose arrivals are not all served.
    oldest: usize,
    /// When replicas were last taken away.
    last_scale_in: Option<u64>,
    /// What an HPA recommended, with the time, over its stabilisation window.
    recommended: Vec<(u64, u64)>,
    replica_seconds: u64,
    missed_s: u64,
    age_max_s: f64,
    replicas_max: u64,
    backlog_max: u128,
    /// What arrives in a second and what can be served in it, for the row and the replicas for which both hold:
    /// exact arithmetic for every second would be most of the work.
    flow: Option<Flow>,
}

/// Parts of messages in a second, while a row of the trace holds and so many replicas are ready.
#[derive(Clone, Copy)]
struct Flow {
    row: usize,
    ready: u64,
    arriving: u128,
    able: u128,
}

impl<'a> Run<'a> {
    fn new(replay: &'a Replay, policy: &'a Policy) -> Self {
        let initial = replay.initial();
        Run {
            replay,
            policy,
            fleet: Fleet::new(initial, replay.start_delay_s, replay.lease_s),
            arrived: 0,
            served: 0,
            arrivals: Vec::new(),
            oldest: 0,
            last_scale_in: None,
            // What runs at the start was recommended before it.
            recommended: vec![(0, initial)],
            replica_seconds: 0,
            missed_s: 0,
            age_max_s: 0.0,
            replicas_max: initial,
            backlog_max: 0,
            flow: None,
        }
    }

    fn finish(mut self) -> Result<(PolicyOutcome, Vec<Step>), MissingMetric> {
        let mut steps = Vec::new();
        let objective_s = self.replay.objective.get();
        for now in 0..self.replay.trace.seconds() {
            self.fleet.advance(now);
            let served_now = self.pass_a_second(now);
            let age_s = self.age_s(now + 1);
            self.replica_seconds += self.fleet.running();
            self.missed_s += u64::from(age_s > objective_s);
            self.age_max_s = self.age_max_s.max(age_s);
            self.replicas_max = self.replicas_max.max(self.fleet.asked());
            self.backlog_max = self.backlog_max.max(self.arrived - self.served);
            if (now + 1) % self.replay.interval_s == 0 || now + 1 == self.replay.trace.seconds() {
                self.control(now + 1, age_s, served_now)?;
                steps.push(self.step(now, age_s, served_now));
            }
        }
        Ok((self.outcome(), steps))
    }

    fn mean(&self, now: u64) -> &Seconds {
        self.replay.trace.at(now).mean.as_ref().unwrap_or(&self.replay.mean)
    }

    fn flow(&mut self, now: u64) -> Flow {
        let (row, ready) = (self.replay.trace.row(now), self.fleet.ready);
        if let Some(known) = self.flow.filter(|flow| flow.row == row && flow.ready == ready) {
            return known;
        }
        let slots = Exact::whole(u128::from(ready) * u128::from(self.replay.tasks_per_replica));
        let flow = Flow {
            row,
            ready,
            arriving: parts(self.replay.trace.at(now).rate.exact()),
            able: slots.over(self.mean(now).exact()).map_or(0, |able| parts(&able)),
        };
        self.flow = Some(flow);
        flow
    }

    /// Lets messages arrive and be served; returns the parts that were served.
    fn pass_a_second(&mut self, now: u64) -> u128 {
        let Flow { arriving, able, .. } = self.flow(now);
        self.arrived += arriving;
        self.arrivals.push(self.arrived);
        let waiting = self.arrived - self.served;
        let attempted = able.min(waiting);
        let served = match &self.replay.downstream {
            // Whoever finds work tries again at once: all tasks are busy as long as something waits.
            Some(downstream) if waiting > parts(downstream.limit.exact()) => {
                downstream.served(able).min(attempted)
            }
            _ => attempted,
        };
        self.served += served;
        served
    }

    /// Age of the oldest message that waits at the end of a second: it arrived when as much had arrived as is served
    /// by now, if messages leave in their order.
    fn age_s(&mut self, now: u64) -> f64 {
        if self.served == self.arrived {
            return 0.0;
        }
        while self.arrivals.get(self.oldest).is_some_and(|arrived| *arrived <= self.served) {
            self.oldest += 1;
        }
        let before = self.oldest.checked_sub(1).map_or(0, |second| self.arrivals[second]);
        let within = self.arrivals[self.oldest] - before;
        let part = (self.served - before) as f64 / within as f64;
        now as f64 - (self.oldest as f64 + part)
    }

    fn control(&mut self, now: u64, age_s: f64, served_now: u128) -> Result<(), MissingMetric> {
        let row = self.replay.trace.at(now - 1);
        let current = self.fleet.asked();
        let mean = self.mean(now - 1).clone();
        let busy = messages(served_now) * self.replay.cpu_per_attempt.get();
        let processors = self.fleet.ready.max(1) as f64 * self.replay.vcpu_per_replica;
        let observed = Observed {
            current,
            tasks_per_replica: self.replay.tasks_per_replica,
            oldest_age: Seconds::from_f64(age_s),
            backlog: Some(((self.arrived - self.served) / PARTS) as u64),
            rate: Some(row.rate.clone()),
            mean: Some(mean),
            cpu: Some(busy / processors),
        };
        let desired = self.policy.decide(&observed)?.desired;
        let desired = if self.policy.name.is_hpa() { self.as_an_hpa(now, current, desired) } else { desired };
        self.scale(now, current, desired);
        Ok(())
    }

    /// Not more than double or four within a sync period, and never below what was recommended within the window.
    fn as_an_hpa(&mut self, now: u64, current: u64, desired: u64) -> u64 {
        self.recommended.retain(|(at, _)| at + HPA_STABILISATION_S > now);
        self.recommended.push((now, desired));
        let periods = (self.replay.interval_s / HPA_UP_PERIOD_S).clamp(1, 8) as u32;
        let most =
            (0..periods).fold(current, |most, _| most.saturating_mul(2).max(most.saturating_add(HPA_UP)));
        let held = self.recommended.iter().map(|(_, recommended)| *recommended).max().unwrap_or(desired);
        if desired > current { desired.min(most) } else { held.min(current) }
    }

    /// Replicas go one step at a time and not faster than the lease; an HPA's come and go as it says.
    fn scale(&mut self, now: u64, current: u64, desired: u64) {
        if desired >= current {
            self.fleet.ask(now, desired);
            return;
        }
        let rested = self.last_scale_in.is_none_or(|last| now - last >= self.replay.lease_s);
        if rested {
            let gentle = self.policy.name == PolicyName::Age;
            let down = if gentle { self.policy.controller.step_down } else { current };
            self.fleet.ask(now, desired.max(current.saturating_sub(down)));
            self.last_scale_in = Some(now);
        }
    }

    fn step(&self, now: u64, age_s: f64, served_now: u128) -> Step {
        let row = self.replay.trace.at(now);
        Step {
            at_s: (now + 1) as f64,
            rate_per_s: row.rate.get(),
            served_per_s: messages(served_now),
            arrived: messages(self.arrived),
            served: messages(self.served),
            backlog: messages(self.arrived - self.served),
            oldest_age_s: age_s,
            replicas: self.fleet.asked(),
            ready_replicas: self.fleet.ready,
        }
    }

    fn outcome(&self) -> PolicyOutcome {
        PolicyOutcome {
            policy: self.policy.name,
            oldest_age_max_s: self.age_max_s,
            objective_missed_s: self.missed_s as f64,
            replica_seconds: self.replica_seconds as f64,
            replicas_max: self.replicas_max,
            arrived: messages(self.arrived),
            served: messages(self.served),
            backlog_at_end: messages(self.arrived - self.served),
            backlog_max: messages(self.backlog_max),
        }
    }
}

impl Downstream {
    /// What it serves of the attempts that could be made: with a refused attempt at the cost c of a served one,
    /// g + c(A − g) = R, and nothing where the refusals alone fill it.
    fn served(&self, attempts: u128) -> u128 {
        let (limit, attempts) = (parts(self.limit.exact()), attempts);
        if attempts <= limit {
            return attempts;
        }
        let refusals = self.refusal_cost * attempts as f64;
        let served = (limit as f64 - refusals) / (1.0 - self.refusal_cost);
        served.clamp(0.0, limit as f64) as u128
    }
}

/// Whole billionths of a message in a second at a rate.
fn parts(rate: &Exact) -> u128 {
    (rate * &Exact::whole(PARTS)).floor().map_or(u128::MAX >> 32, u128::from)
}

fn messages(parts: u128) -> f64 {
    parts as f64 / PARTS as f64
}
