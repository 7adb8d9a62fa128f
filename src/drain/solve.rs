//! From a question about a backlog to its answer.

use super::flow::{Capacity, Disagreement, Flow, Trend, capacity};
use super::plan::{Bottleneck, DrainPlan, NetRateBasis, PoolOption, TimelinePoint};
use super::{DrainError, DrainNote, Question};
use crate::units::{Exact, Seconds};

/// Steps of a timeline that ends with the backlog, and of one that has no end.
const STEPS: u32 = 10;
const STEPS_WITHOUT_END: u32 = 4;

/// How far a timeline looks where the backlog never drains and there is no deadline, in seconds.
const OUTLOOK_S: f64 = 3600.0;

/// An answer with what its reader should know.
#[derive(Clone, Debug, PartialEq)]
pub struct Answered {
    /// The answer.
    pub plan: DrainPlan,
    /// Assumptions and warnings.
    pub notes: Vec<DrainNote>,
}

/// A question with everything that its answer is read from.
pub(super) struct Solved<'a> {
    pub(super) question: &'a Question,
    /// Attempts that a message takes on average.
    attempts: Exact,
    /// The pool that is described.
    pub(super) workers: Option<u64>,
    /// What the consumers could do.
    pub(super) capacity: Option<Capacity>,
    /// The most messages a second that the receiving side takes.
    ceiling: Option<Exact>,
    /// What goes in and out.
    pub(super) flow: Flow,
    /// Seconds of a worker that a message takes: as measured where it was, else all its attempts; `None` where the
    /// readings contradict that.
    pace: Option<Exact>,
}

impl Question {
    /// Answers it.
    ///
    /// # Errors
    /// If too little is known to say how the backlog moves, or if the pool that is asked for cannot be counted.
    pub fn answer(&self) -> Result<Answered, DrainError> {
        let solved = Solved::new(self)?;
        let plan = solved.plan();
        let notes = DrainNote::all(&solved, &plan);
        Ok(Answered { plan, notes })
    }
}

impl<'a> Solved<'a> {
    fn new(question: &'a Question) -> Result<Self, DrainError> {
        let attempts = question.attempts_per_message();
        let nominal_pace = question.service().map(|service| service.mean.exact() * &attempts);
        let workers = match (question.given_workers(), &nominal_pace, &question.earlier) {
            (None, Some(pace), None) => smallest_pool(question, pace, &attempts)?,
            (given, ..) => given,
        };
        let capacity = capacity(question, workers, &attempts);
        let ceiling = ceiling(question, &attempts);
        let flow = Flow::of(question, capacity.as_ref(), ceiling.as_ref())?;
        let limited_by_workers =
            capacity.as_ref().is_some_and(|capacity| capacity.bottleneck == Bottleneck::Workers);
        let pace = match (workers, &flow.served) {
            // The readings contradict what was said of the consumers, or of what arrives.
            (_, None) => None,
            (Some(workers), Some(served)) if question.earlier.is_some() && limited_by_workers => {
                Exact::whole(u128::from(workers)).over(served)
            }
            _ => nominal_pace,
        };
        let solved = Solved { question, attempts, workers, capacity, ceiling, flow, pace };
        solved.refuse_what_would_be_dropped()?;
        Ok(solved)
    }

    /// Refuses what was asked and would not be answered: nobody reads the absence of a number as a no.
    fn refuse_what_would_be_dropped(&self) -> Result<(), DrainError> {
        let question = self.question;
        if question.downstream_limit.is_some() && question.consumers.is_none() {
            return Err(DrainError::LimitWithoutConsumers);
        }
        if question.service().is_some() && self.workers.is_none() && question.rate.is_none() {
            return Err(DrainError::ServiceTimeAlone);
        }
        match (&self.flow, question.needs_departures()) {
            // That a backlog grows is an answer of no to all of it, whatever leaves.
            (Flow { disagreement: Some(Disagreement::GrowsFasterThanArrivals(_)), .. }, _) => Ok(()),
            (Flow { served: None, disagreement: None, .. }, Some(needs)) => {
                Err(DrainError::DeparturesUnknown(needs))
            }
            (Flow { served: None, .. }, Some(needs)) => Err(DrainError::DeparturesContradictory(needs)),
            _ => Ok(()),
        }
    }

    fn plan(&self) -> DrainPlan {
        let question = self.question;
        let drain = self.drain();
        let retried = question.retries.is_some();
        let float = |exact: &Exact| exact.to_f64();
        let interval = drain.as_ref().and_then(|drain| self.interval(drain.to_f64()));
        let deadline_rate = self.rate_for_deadline();
        DrainPlan {
            drains: drain.is_some(),
            drain_s: drain.as_ref().map(float),
            drain_interval_s: interval,
            drain_interval_confidence: interval.map(|_| question.confidence()),
            meets_deadline: question
                .deadline
                .as_ref()
                .map(|deadline| drain.as_ref().is_some_and(|drain| drain <= deadline.exact())),
            meets_acceptable_latency: self.is_latency_acceptable(),
            arrival_rate_per_s: self.flow.rate.as_ref().map(float),
            served_rate_per_s: self.flow.served.as_ref().map(float),
            net_rate_per_s: self.flow.trend.net_per_s(),
            net_rate_basis: if question.earlier.is_some() {
                NetRateBasis::Measured
            } else {
                NetRateBasis::Assumed
            },
            assumed_net_rate_per_s: self.flow.assumed.as_ref().map(Trend::net_per_s),
            attempts_per_message: retried.then(|| self.attempts.to_f64()),
            attempt_rate_per_s: self
                .flow
                .rate
                .as_ref()
                .filter(|_| retried)
                .map(|rate| (rate * &self.attempts).to_f64()),
            bottleneck: self
                .capacity
                .as_ref()
                .filter(|_| self.flow.served.is_some())
                .map(|capacity| capacity.bottleneck),
            workers: self.workers,
            workers_to_drain: self.workers_to_drain(),
            workers_for_deadline: deadline_rate.as_ref().and_then(|rate| self.workers_for(rate)),
            served_rate_for_deadline_per_s: deadline_rate.as_ref().map(float),
            oldest_age_at_end_s: drain.as_ref().and_then(|_| self.longest_wait_s()),
            backlog_per_worker: self
                .workers
                .filter(|&workers| workers > 0)
                .map(|workers| question.backlog as f64 / workers as f64),
            acceptable_backlog_per_worker: question
                .acceptable_latency
                .as_ref()
                .and_then(|latency| latency.exact().over(self.pace.as_ref()?))
                .as_ref()
                .map(float),
            workers_for_acceptable_latency: self
                .rate_for_latency()
                .as_ref()
                .and_then(|rate| self.workers_for(rate)),
            timeline: self.timeline(drain.as_ref().map(float)),
            pools: self.pools(),
        }
    }

    fn backlog(&self) -> Exact {
        Exact::whole(u128::from(self.question.backlog))
    }

    /// When the backlog is gone, in seconds; `None` if never. An empty queue that does not grow is gone already.
    fn drain(&self) -> Option<Exact> {
        match &self.flow.trend {
            Trend::Shrinking(net) => self.backlog().over(net),
            Trend::Level if self.question.backlog == 0 => Some(Exact::zero()),
            Trend::Level | Trend::Growing(_) => None,
        }
    }

    /// The normal interval of the first time at which a random walk with these rates is down at zero: variance
    /// q(λ + c²μ)/(μ−λ)³ (a renewal argument; D. R. Cox, H. D. Miller, *The Theory of Stochastic Processes*, 1965,
    /// §5.7), where c² is that of all the time that a message takes, its retries included; and beside it the chance in
    /// a net rate that was measured.
    fn interval(&self, drain_s: f64) -> Option<[f64; 2]> {
        let (rate, served) = (self.flow.rate.as_ref()?.to_f64(), self.flow.served.as_ref()?.to_f64());
        if drain_s == 0.0 {
            return Some([0.0, 0.0]);
        }
        let net = self.flow.trend.net_per_s();
        let scv = self.question.service().map_or(1.0, |service| service.scv);
        let scv = self.question.retries.as_ref().map_or(scv, |retries| retries.message_scv(scv));
        let walk_s = (drain_s * (rate + scv * served)).sqrt() / net;
        let measured_s = match &self.question.earlier {
            Some(earlier) => drain_s * self.flow.net_deviation(earlier)? / net,
            None => 0.0,
        };
        let normal_quantile =
            std::f64::consts::SQRT_2 * statrs::function::erf::erf_inv(self.question.confidence());
        let reach = normal_quantile * walk_s.hypot(measured_s);
        reach.is_finite().then(|| [(drain_s - reach).max(0.0), drain_s + reach])
    }

    /// The most messages a second that can leave, however many workers there are: what was measured passed the limit,
    /// even where that was said to be lower.
    fn ceiling(&self) -> Option<&Exact> {
        self.ceiling.as_ref().max(self.flow.served.as_ref().filter(|_| self.ceiling.is_some()))
    }

    /// The smallest pool that serves at least `rate` messages a second and more than arrives; `None` if no pool does.
    fn workers_for(&self, rate: &Exact) -> Option<u64> {
        let arriving = self.flow.rate.as_ref()?;
        if let Some(ceiling) = self.ceiling()
            && (rate > ceiling || arriving >= ceiling)
        {
            return None;
        }
        pool_size(self.pace.as_ref()?, rate, arriving)
    }

    /// The smallest pool that serves more than arrives.
    fn workers_to_drain(&self) -> Option<u64> {
        self.workers_for(self.flow.rate.as_ref()?)
    }

    fn rate_for_deadline(&self) -> Option<Exact> {
        rate_for_deadline(self.question, self.flow.rate.as_ref()?)
    }

    fn rate_for_latency(&self) -> Option<Exact> {
        rate_for_latency(self.question, self.flow.rate.as_ref()?)
    }

    /// The wait of a message that arrives now, if messages leave in their order.
    pub(super) fn wait_now(&self) -> Option<Exact> {
        if self.question.backlog == 0 {
            return Some(Exact::zero());
        }
        self.backlog().over(self.flow.served.as_ref()?)
    }

    fn is_latency_acceptable(&self) -> Option<bool> {
        let latency = self.question.acceptable_latency.as_ref()?;
        self.flow.served.as_ref()?;
        Some(self.wait_now().is_some_and(|wait| wait <= *latency.exact()))
    }

    fn longest_wait_s(&self) -> Option<f64> {
        let age = self.question.oldest_age.as_ref().map_or(0.0, Seconds::get);
        self.wait_now().map(|wait| wait.to_f64().max(age))
    }

    fn timeline(&self, drain_s: Option<f64>) -> Vec<TimelinePoint> {
        let backlog = self.question.backlog as f64;
        let deadline_s = self.question.deadline.as_ref().map(Seconds::get);
        let Some(drain_s) = drain_s else {
            let outlook_s = deadline_s.unwrap_or(OUTLOOK_S);
            let growth = -self.flow.trend.net_per_s();
            return steps(STEPS_WITHOUT_END)
                .map(|part| TimelinePoint {
                    at_s: outlook_s * part,
                    backlog: backlog + growth * outlook_s * part,
                })
                .collect();
        };
        if drain_s == 0.0 {
            return vec![TimelinePoint { at_s: 0.0, backlog }];
        }
        let left_at = |part: f64| TimelinePoint { at_s: drain_s * part, backlog: backlog * (1.0 - part) };
        let mut points: Vec<TimelinePoint> = steps(STEPS).map(left_at).collect();
        if let Some(at_s) = deadline_s.filter(|&at_s| points.iter().all(|point| point.at_s != at_s))
            && at_s < drain_s
        {
            points.push(TimelinePoint { at_s, backlog: backlog * (1.0 - at_s / drain_s) });
            points.sort_by(|one, other| one.at_s.total_cmp(&other.at_s));
        }
        points
    }

    /// The pool described, the double of it, and those that are named as answers.
    fn pools(&self) -> Vec<PoolOption> {
        let (Some(rate), Some(pace)) = (&self.flow.rate, &self.pace) else {
            return Vec::new();
        };
        let limited =
            self.capacity.as_ref().is_some_and(|capacity| capacity.bottleneck != Bottleneck::Workers);
        if limited && self.question.earlier.is_some() {
            // What was measured is the limit, so nothing is known of the pace of a smaller pool.
            return Vec::new();
        }
        let asked = [self.rate_for_deadline(), self.rate_for_latency()];
        let mut counts: Vec<u64> =
            [self.workers, self.workers.and_then(|workers| workers.checked_mul(2)), self.workers_to_drain()]
                .into_iter()
                .chain(asked.iter().map(|rate| self.workers_for(rate.as_ref()?)))
                .flatten()
                .filter(|&workers| workers > 0)
                .collect();
        counts.sort_unstable();
        counts.dedup();
        let option = |workers: u64| {
            let able = Exact::whole(u128::from(workers)).over(pace)?;
            let served = self.ceiling().map_or(able.clone(), |ceiling| ceiling.clone().min(able));
            let drain = match Trend::between(&served, rate) {
                Trend::Shrinking(net) => self.backlog().over(&net),
                _ => None,
            };
            Some(PoolOption {
                workers,
                served_rate_per_s: served.to_f64(),
                drain_s: drain.map(|drain| drain.to_f64()),
            })
        };
        counts.into_iter().filter_map(option).collect()
    }
}

/// From 0 to exactly 1 in equal steps.
fn steps(count: u32) -> impl Iterator<Item = f64> {
    (0..=count).map(move |step| f64::from(step) / f64::from(count))
}

/// λ + q/T.
fn rate_for_deadline(question: &Question, rate: &Exact) -> Option<Exact> {
    let deadline = question.deadline.as_ref()?;
    Some(rate + &Exact::whole(u128::from(question.backlog)).over(deadline.exact())?)
}

/// q/L, and at least λ: the backlog is acceptable and stays so.
fn rate_for_latency(question: &Question, rate: &Exact) -> Option<Exact> {
    let latency = question.acceptable_latency.as_ref()?;
    Some(Exact::whole(u128::from(question.backlog)).over(latency.exact())?.max(rate.clone()))
}

/// The most messages a second that the receiving side takes.
fn ceiling(question: &Question, attempts: &Exact) -> Option<Exact> {
    question.downstream_limit.as_ref()?.exact().over(attempts)
}

/// The smallest pool that serves `rate` and more than `arriving`, where a message takes `pace` seconds of a worker: a
/// pool that serves just what arrives keeps its backlog for ever.
fn pool_size(pace: &Exact, rate: &Exact, arriving: &Exact) -> Option<u64> {
    let to_drain = (pace * arriving).floor()?.checked_add(1)?;
    Some((pace * rate).ceil()?.max(to_drain))
}

/// The smallest pool for everything that was asked; `None` where the receiving side's limit forbids it.
fn smallest_pool(question: &Question, pace: &Exact, attempts: &Exact) -> Result<Option<u64>, DrainError> {
    let rate = question.rate.as_ref().ok_or(DrainError::NoArrivals)?.exact();
    let needed = rate_for_deadline(question, rate).max(rate_for_latency(question, rate));
    let needed = needed.ok_or(DrainError::NothingToFindWorkersBy)?;
    if ceiling(question, attempts).is_some_and(|ceiling| needed > ceiling || *rate >= ceiling) {
        return Ok(None);
    }
    pool_size(pace, &needed, rate).map(Some).ok_or(DrainError::TooManyWorkers)
}
