//! What goes into the queue and what comes out, exact.

use super::plan::Bottleneck;
use super::{Consumers, DrainError, EarlierDepth, Question};
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

    /// The trend between two readings; `None` where no time lies between them.
    fn measured(now: u64, earlier: &EarlierDepth) -> Option<Self> {
        let a_second = |messages: u64| Exact::whole(u128::from(messages)).over(earlier.ago.exact());
        Some(Trend::between(&a_second(earlier.backlog)?, &a_second(now)?))
    }

    /// Messages a second by which the backlog falls; negative where it rises.
    pub(super) fn net_per_s(&self) -> f64 {
        match self {
            Trend::Shrinking(net) => net.to_f64(),
            Trend::Level => 0.0,
            Trend::Growing(net) => -net.to_f64(),
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

/// What the readings contradict by more than chance. The readings then stand.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Disagreement {
    /// The rates that were given make this trend.
    OtherTrend(Trend),
    /// The backlog falls by more than this, which is all that the consumers serve.
    FallsFasterThanServed(Exact),
    /// The backlog grows by more than this, which is all that arrives.
    GrowsFasterThanArrivals(Exact),
    /// More leaves than this, which is all that the receiving side takes.
    LeavesFasterThanLimit(Exact),
}

/// What goes in, what comes out, and how the backlog moves. Where both rates are known, their difference is the trend.
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
    /// What the readings contradict.
    pub(super) disagreement: Option<Disagreement>,
}

impl Flow {
    /// Puts the rates and the readings together. `ceiling` is the most messages a second that the receiving side
    /// takes.
    ///
    /// # Errors
    /// If neither the rates nor the readings tell how the backlog moves.
    pub(super) fn of(
        question: &Question,
        capacity: Option<&Capacity>,
        ceiling: Option<&Exact>,
    ) -> Result<Self, DrainError> {
        let rate = question.rate.as_ref().map(|rate| rate.exact().clone());
        let served = capacity.map(|capacity| capacity.served.clone());
        let Some(earlier) = &question.earlier else {
            let rate = rate.ok_or(DrainError::NoArrivals)?;
            let served = served.ok_or(DrainError::NoConsumers)?;
            let trend = Trend::between(&served, &rate);
            return Ok(Flow {
                rate: Some(rate),
                served: Some(served),
                trend,
                assumed: None,
                disagreement: None,
            });
        };
        let trend = Trend::measured(question.backlog, earlier).ok_or(DrainError::NoTimeBetweenReadings)?;
        let assumed = rate.as_ref().zip(served.as_ref()).map(|(rate, served)| Trend::between(served, rate));
        let mut flow = match (rate, served) {
            (Some(rate), _) => Flow::with_arrivals(rate, trend, earlier),
            (None, Some(served)) => Flow::with_departures(served, trend, earlier),
            (None, None) => Flow::unexplained(trend, None),
        };
        flow.assumed = assumed;
        flow.disagreement = flow
            .disagreement
            .take()
            .or_else(|| flow.other_trend(earlier))
            .or_else(|| flow.leaves_faster_than(ceiling?, earlier));
        Ok(flow)
    }

    /// Only the trend is known.
    fn unexplained(trend: Trend, disagreement: Option<Disagreement>) -> Self {
        Flow { rate: None, served: None, trend, assumed: None, disagreement }
    }

    /// Both rates are known, and their difference is the trend.
    fn explained(rate: Exact, served: Exact, trend: Trend) -> Self {
        Flow { rate: Some(rate), served: Some(served), trend, assumed: None, disagreement: None }
    }

    /// What must leave for a measured trend where `rate` comes in. A growth beyond the arrivals is either chance, and
    /// nothing leaves, or the rate is wrong, and then nothing is known of what leaves.
    fn with_arrivals(rate: Exact, trend: Trend, earlier: &EarlierDepth) -> Self {
        match trend.clone() {
            Trend::Shrinking(net) => Flow::explained(rate.clone(), &rate + &net, trend),
            Trend::Level => Flow::explained(rate.clone(), rate, trend),
            Trend::Growing(net) => match rate.minus(&net) {
                Some(served) => Flow::explained(rate, served, trend),
                None if exceeds(&net, &rate, poisson_deviation(&rate, earlier)) => {
                    Flow::unexplained(trend, Some(Disagreement::GrowsFasterThanArrivals(rate)))
                }
                None => Flow::explained(net, Exact::zero(), trend),
            },
        }
    }

    /// What must arrive for a measured trend where `served` leaves. A fall beyond the departures is either chance, and
    /// nothing arrives, or the consumers are not what was given, and then nothing is known of what arrives.
    fn with_departures(served: Exact, trend: Trend, earlier: &EarlierDepth) -> Self {
        match trend.clone() {
            Trend::Growing(net) => Flow::explained(&served + &net, served, trend),
            Trend::Level => Flow::explained(served.clone(), served, trend),
            Trend::Shrinking(net) => match served.minus(&net) {
                Some(rate) => Flow::explained(rate, served, trend),
                None if exceeds(&net, &served, poisson_deviation(&served, earlier)) => {
                    Flow::unexplained(trend, Some(Disagreement::FallsFasterThanServed(served)))
                }
                None => Flow::explained(Exact::zero(), net, trend),
            },
        }
    }

    /// Whether the given rates make another trend than the readings.
    fn other_trend(&self, earlier: &EarlierDepth) -> Option<Disagreement> {
        let assumed = self.assumed.as_ref()?;
        let expected = assumed.net_per_s();
        let difference = (expected - self.trend.net_per_s()).abs();
        counts(difference, expected.abs(), self.net_deviation(earlier)?)
            .then(|| Disagreement::OtherTrend(assumed.clone()))
    }

    /// Whether more leaves than the receiving side takes.
    fn leaves_faster_than(&self, ceiling: &Exact, earlier: &EarlierDepth) -> Option<Disagreement> {
        exceeds(self.served.as_ref()?, ceiling, self.net_deviation(earlier)?)
            .then(|| Disagreement::LeavesFasterThanLimit(ceiling.clone()))
    }

    /// The standard deviation of a net rate measured over the time between the readings, in messages a second.
    /// Arrivals and departures are counted as Poisson, so the change of the depth over a time t has a standard
    /// deviation of √((λ+μ)t).
    pub(super) fn net_deviation(&self, earlier: &EarlierDepth) -> Option<f64> {
        let (rate, served) = (self.rate.as_ref()?, self.served.as_ref()?);
        Some(poisson_deviation(&(rate + served), earlier))
    }
}

/// The standard deviation of a Poisson rate that is counted over the time between the readings.
fn poisson_deviation(rate: &Exact, earlier: &EarlierDepth) -> f64 {
    (rate.to_f64() / earlier.ago.get()).sqrt()
}

/// Whether a difference from what is expected is more than chance and more than what is tolerated.
fn counts(difference: f64, expected: f64, deviation: f64) -> bool {
    difference > BEYOND_CHANCE * deviation && difference > TOLERATED_DIFFERENCE * expected
}

/// Whether `measured` is above `most` by more than chance.
fn exceeds(measured: &Exact, most: &Exact, deviation: f64) -> bool {
    measured.minus(most).is_some_and(|excess| counts(excess.to_f64(), most.to_f64(), deviation))
}

/// What the consumers could do with `workers` (where they are a pool): messages a second that leave for good.
/// `None` where there are no consumers, or where nobody knows how many workers there are.
pub(super) fn capacity(question: &Question, workers: Option<u64>, attempts: &Exact) -> Option<Capacity> {
    let limit = question.downstream_limit.as_ref().map(|limit| limit.exact().clone());
    let (able, bottleneck) = match (question.consumers.as_ref()?, workers) {
        (Consumers::Rate(rate), _) => (rate.exact().clone(), Bottleneck::ServedRate),
        (Consumers::Pool { service, .. }, Some(count)) => {
            (Exact::whole(u128::from(count)).over(service.mean.exact())?, Bottleneck::Workers)
        }
        // No pool was found because of the limit: every large one serves just that. Beside two readings none is
        // searched for, and the pool that there is remains unknown.
        (Consumers::Pool { workers: None, .. }, None) if question.earlier.is_none() => {
            (limit.clone()?, Bottleneck::DownstreamLimit)
        }
        (Consumers::Pool { .. }, None) => return None,
    };
    let (attempts_a_second, bottleneck) = match limit {
        Some(limit) if limit < able => (limit, Bottleneck::DownstreamLimit),
        _ => (able, bottleneck),
    };
    Some(Capacity { served: attempts_a_second.over(attempts)?, bottleneck })
}
