//! What goes into the queue and what comes out, exact.

use super::plan::Bottleneck;
use super::{Consumers, EarlierDepth, Question};
use crate::units::Exact;

/// Where two readings and the rates differ by less than this share of what the rates say, the rates stand.
const TOLERATED_DIFFERENCE: f64 = 0.1;

/// How many standard deviations of chance a difference must exceed to count.
const BEYOND_CHANCE: f64 = 3.0;

/// How a backlog moves, in messages a second.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Trend {
    /// It falls by this.
    Shrinking(Exact),
    /// It stays.
    Level,
    /// It rises by this.
    Growing(Exact),
}

impl Trend {
    /// The trend where `departures` leave and `arrivals` come in over the same time.
    pub(super) fn between(departures: &Exact, arrivals: &Exact) -> Self {
        match (departures.minus(arrivals), arrivals.minus(departures)) {
            (Some(net), _) if !net.is_zero() => Trend::Shrinking(net),
            (_, Some(net)) if !net.is_zero() => Trend::Growing(net),
            _ => Trend::Level,
        }
    }

    /// The trend between two readings.
    fn measured(now: u64, earlier: &EarlierDepth) -> Self {
        let whole = |messages: u64| Exact::whole(u128::from(messages));
        let a_second = |messages: Exact| messages.over(earlier.ago.exact()).unwrap_or_else(Exact::zero);
        match Trend::between(&whole(earlier.backlog), &whole(now)) {
            Trend::Shrinking(messages) => Trend::Shrinking(a_second(messages)),
            Trend::Growing(messages) => Trend::Growing(a_second(messages)),
            Trend::Level => Trend::Level,
        }
    }

    /// Messages a second by which the backlog falls; negative where it rises.
    pub(super) fn net_per_s(&self) -> f64 {
        match self {
            Trend::Shrinking(net) => net.to_f64(),
            Trend::Level => 0.0,
            Trend::Growing(net) => -net.to_f64(),
        }
    }

    /// What must leave for this trend where `arrivals` come in; zero where even nothing leaving does not explain it.
    fn departures(&self, arrivals: &Exact) -> Exact {
        match self {
            Trend::Shrinking(net) => arrivals + net,
            Trend::Level => arrivals.clone(),
            Trend::Growing(net) => arrivals.minus(net).unwrap_or_else(Exact::zero),
        }
    }

    /// What must arrive for this trend where `departures` leave.
    fn arrivals(&self, departures: &Exact) -> Exact {
        match self {
            Trend::Shrinking(net) => departures.minus(net).unwrap_or_else(Exact::zero),
            Trend::Level => departures.clone(),
            Trend::Growing(net) => departures + net,
        }
    }
}

/// What the consumers could do, and what stops them.
#[derive(Clone, Debug)]
pub(super) struct Capacity {
    /// Messages a second that leave for good.
    pub(super) served: Exact,
    /// What sets that number.
    pub(super) bottleneck: Bottleneck,
}

/// What goes in, what comes out, and how the backlog moves.
#[derive(Clone, Debug)]
pub(super) struct Flow {
    /// Messages in, a second.
    pub(super) rate: Option<Exact>,
    /// Messages out, a second.
    pub(super) served: Option<Exact>,
    /// How the backlog moves: as measured if it was, else as the rates say.
    pub(super) trend: Trend,
    /// What the rates say, where the trend was measured.
    pub(super) assumed: Option<Trend>,
    /// Whether the rates and the readings disagree by more than chance.
    pub(super) disagrees: bool,
}

impl Flow {
    /// Puts the rates and the readings together; `None` where neither tells how the backlog moves.
    pub(super) fn of(question: &Question, capacity: Option<&Capacity>) -> Option<Self> {
        let rate = question.rate.as_ref().map(|rate| rate.exact().clone());
        let served = capacity.map(|capacity| capacity.served.clone());
        let assumed = rate.as_ref().zip(served.as_ref()).map(|(rate, served)| Trend::between(served, rate));
        let Some(earlier) = &question.earlier else {
            return assumed.map(|trend| Flow { rate, served, trend, assumed: None, disagrees: false });
        };
        let trend = Trend::measured(question.backlog, earlier);
        let (rate, served) = match (rate, served) {
            (Some(rate), _) => (Some(rate.clone()), Some(trend.departures(&rate))),
            (None, Some(served)) => (Some(trend.arrivals(&served)), Some(served)),
            (None, None) => (None, None),
        };
        let mut flow = Flow { rate, served, trend, assumed, disagrees: false };
        flow.disagrees = flow.differs_beyond_chance(earlier);
        Some(flow)
    }

    /// Arrivals and departures are counted as Poisson, so the change of the depth over a time t has a standard
    /// deviation of √((λ+μ)t).
    fn differs_beyond_chance(&self, earlier: &EarlierDepth) -> bool {
        let (Some(assumed), Some(deviation)) = (&self.assumed, self.net_deviation(earlier)) else {
            return false;
        };
        let difference = (assumed.net_per_s() - self.trend.net_per_s()).abs();
        difference > BEYOND_CHANCE * deviation
            && difference > TOLERATED_DIFFERENCE * assumed.net_per_s().abs()
    }

    /// The standard deviation of a net rate measured over the time between the readings, in messages a second.
    pub(super) fn net_deviation(&self, earlier: &EarlierDepth) -> Option<f64> {
        let (rate, served) = (self.rate.as_ref()?, self.served.as_ref()?);
        Some(((rate + served).to_f64() / earlier.ago.get()).sqrt())
    }
}

/// What the consumers could do with `workers` (where they are a pool): messages a second that leave for good.
pub(super) fn capacity(question: &Question, workers: Option<u64>, attempts: &Exact) -> Option<Capacity> {
    let (able, bottleneck) = match question.consumers.as_ref()? {
        Consumers::Rate(rate) => (Some(rate.exact().clone()), Bottleneck::ServedRate),
        Consumers::Pool { service, .. } => {
            let able = workers.and_then(|count| Exact::whole(u128::from(count)).over(service.mean.exact()));
            (able, Bottleneck::Workers)
        }
    };
    let limit = question.downstream_limit.as_ref().map(|limit| limit.exact().clone());
    let (attempts_a_second, bottleneck) = match (able, limit) {
        (Some(able), Some(limit)) if limit < able => (limit, Bottleneck::DownstreamLimit),
        (Some(able), _) => (able, bottleneck),
        (None, Some(limit)) => (limit, Bottleneck::DownstreamLimit),
        (None, None) => return None,
    };
    Some(Capacity { served: attempts_a_second.over(attempts)?, bottleneck })
}
