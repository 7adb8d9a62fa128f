//! The queues of all partners: who breaches, what retries cost, how long a backlog takes, what polling costs.

use super::Events;
use super::need::{Need, Stage, StageName, Unit};
use super::partners::{Class, Limits, Partners};
use super::queue::QueueKind;
use crate::sizing::{Demand, DemandError};
use crate::units::{Count, Exact, Ratio, Seconds, Share};
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

/// Seconds of the month that monthly figures are for: 30 days.
pub(super) const MONTH_S: f64 = 2_592_000.0;

/// How many partners are shown of those that break first.
const SHOWN: usize = 5;

/// A queue for each partner.
#[derive(Clone, Debug, PartialEq)]
pub struct Queues {
    /// The mean wait that each partner's queue keeps.
    pub wait: Seconds,
    /// What a partner accepts that says nothing else.
    pub limits: Limits,
    /// Retries over first attempts at most.
    pub retry_budget: Ratio,
    /// The share of partners that may breach.
    pub tolerated: Share,
    /// An outage of a partner to recover from.
    pub outage: Option<Seconds>,
    /// By when its backlog must be gone.
    pub drain_within: Option<Seconds>,
    /// Pollers of each queue.
    pub pollers: Count,
    /// How long an empty poll waits.
    pub poll_wait: Seconds,
}

/// A partner with its queue.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct PartnerPlan {
    /// The partner.
    pub name: String,
    /// Its class.
    pub class: String,
    /// Its share of all deliveries.
    pub share: f64,
    /// Attempts a second at the peak.
    pub rate_per_s: f64,
    /// Attempts at the same time.
    pub concurrency: u64,
    /// The attempts a second that it can be sent at most; absent where nothing bounds them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub capacity_per_s: Option<f64>,
    /// Its mean wait in seconds; absent where it grows without end.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wait_mean_s: Option<f64>,
    /// The growth up to which it keeps its wait; absent where its concurrency can follow.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub breaks_at_growth: Option<f64>,
}

/// All partners with the kind of their queues: partners of one class and one set of limits share a kind.
pub(super) struct PartnerQueues<'a> {
    queues: &'a Queues,
    partners: &'a Partners,
    kinds: Vec<QueueKind>,
    /// Kind, and attempts a second at today's peak, of each partner.
    of_partner: Vec<(usize, f64)>,
}

/// A partner's queue as it is simulated.
#[derive(Clone, Copy, Debug)]
pub(super) struct OwnQueue {
    /// The kind, as an index.
    pub(super) kind: usize,
    /// Attempts a second at today's peak.
    pub(super) rate_per_s: f64,
    /// Keys with one attempt in flight each.
    pub(super) ordered_keys: Option<u64>,
}

impl<'a> PartnerQueues<'a> {
    pub(super) fn new(
        queues: &'a Queues,
        partners: &'a Partners,
        events: &Events,
    ) -> Result<Self, DemandError> {
        let deliveries = events.deliveries(&events.peak_rate(&Exact::one())).to_f64();
        let attempts: Vec<Demand> =
            partners.classes().iter().map(|class| partners.attempts(class)).collect::<Result<_, _>>()?;
        let mut known: BTreeMap<(usize, &Limits), usize> = BTreeMap::new();
        let mut kinds: Vec<QueueKind> = Vec::new();
        let mut of_partner = Vec::with_capacity(partners.all().len());
        for partner in partners.all() {
            let kind = match known.entry((partner.class, &partner.limits)) {
                Entry::Occupied(known) => *known.get(),
                Entry::Vacant(unknown) => {
                    let (class, attempts) = partners
                        .class_of(partner)
                        .zip(attempts.get(partner.class))
                        .ok_or(DemandError::Nothing { what: "class" })?;
                    let limits = partner.limits.or(&class.limits).or(&queues.limits);
                    kinds.push(QueueKind::new(attempts, class.ordered_keys, &limits, &queues.wait));
                    *unknown.insert(kinds.len() - 1)
                }
            };
            of_partner.push((kind, deliveries * partner.share * (1.0 + kinds[kind].retries().to_f64())));
        }
        Ok(PartnerQueues { queues, partners, kinds, of_partner })
    }

    fn each(&self) -> impl Iterator<Item = (&QueueKind, f64)> + '_ {
        self.of_partner.iter().map(|(kind, rate)| (&self.kinds[*kind], *rate))
    }

    /// The growth up to which each partner holds, where `sustained` is the rate up to which it does; infinite where
    /// nothing bounds it.
    fn breaking_points(&self, sustained: impl Fn(&QueueKind) -> Option<f64>) -> Vec<f64> {
        let sustained: Vec<f64> =
            self.kinds.iter().map(|kind| sustained(kind).unwrap_or(f64::INFINITY)).collect();
        self.of_partner.iter().map(|(kind, rate)| sustained[*kind] / rate).collect()
    }

    /// The share of partners that are past their breaking point; at most the tolerated share may be.
    fn past(&self, name: &'static str, mut points: Vec<f64>) -> Need {
        points.sort_by(f64::total_cmp);
        let count = points.len();
        let tolerated = self.queues.tolerated.exact();
        let may_break = (tolerated * &Exact::whole(count as u128)).floor().unwrap_or(0);
        let one_too_many = usize::try_from(may_break).ok().and_then(|index| points.get(index)).copied();
        Need::breaking_at(name, Unit::Fraction, tolerated.to_f64(), one_too_many, |growth| {
            let growth = growth.to_f64();
            Some(points.partition_point(|point| *point < growth) as f64 / count as f64)
        })
    }

    /// The queue of each partner, the largest first.
    pub(super) fn own_queues(&self) -> impl Iterator<Item = OwnQueue> + '_ {
        self.of_partner.iter().map(|(kind, rate)| OwnQueue {
            kind: *kind,
            rate_per_s: *rate,
            ordered_keys: self.kinds[*kind].ordered_keys(),
        })
    }

    /// The attempts at once that a queue of this kind gets at a rate.
    pub(super) fn concurrency_at(&self, kind: usize, rate: f64) -> u64 {
        self.kinds.get(kind).map_or(1, |kind| kind.concurrency(rate))
    }

    /// The attempts at once of one partner at today's peak.
    pub(super) fn concurrency_of(&self, partner: usize) -> u64 {
        self.of_partner.get(partner).map_or(1, |(kind, rate)| self.concurrency_at(*kind, *rate))
    }

    /// The class of the partners with queues of this kind.
    pub(super) fn class_of_kind(&self, kind: usize) -> Option<&Class> {
        let partner = self.of_partner.iter().position(|(other, _)| *other == kind)?;
        self.partners.class_of(self.partners.all().get(partner)?)
    }

    /// The attempts at once that all partners' queues keep apart.
    pub(super) fn concurrency(&self, growth: f64) -> f64 {
        self.each().map(|(kind, rate)| kind.concurrency(rate * growth) as f64).sum()
    }

    /// What a partner, by its rank, can be sent at the peak on top of its own traffic, in attempts a second. `None`
    /// where nothing bounds it.
    pub(super) fn spare_per_s(&self, partner: usize, growth: f64) -> Option<f64> {
        let (kind, rate) = self.of_partner.get(partner)?;
        self.kinds[*kind].capacity_per_s().map(|capacity| (capacity - rate * growth).max(0.0))
    }

    /// Retries over first attempts, of the class that fails most: the same at any volume.
    fn retries(&self) -> Need {
        let most = self.kinds.iter().map(QueueKind::retries).max().cloned().unwrap_or_else(Exact::zero);
        let budget = self.queues.retry_budget.exact();
        let breaks_at = (most > *budget).then_some(0.0);
        Need::breaking_at("retries_over_first_attempts", Unit::Fraction, budget.to_f64(), breaks_at, |_| {
            Some(most.to_f64())
        })
    }

    fn drains(&self, outage: &Seconds) -> Vec<Need> {
        let outage_s = outage.get();
        let slowest = Need::told("slowest_drain_after_an_outage", Unit::Seconds, |growth| {
            let growth = growth.to_f64();
            self.each().try_fold(0.0, |slowest: f64, (kind, rate)| {
                kind.drain_s(rate * growth, outage_s).map(|seconds| slowest.max(seconds))
            })
        });
        let in_time = self.queues.drain_within.as_ref().map(|within| {
            let points = self.breaking_points(|kind| kind.drains_up_to_per_s(outage_s, within.get()));
            self.past("partners_that_drain_too_late", points)
        });
        std::iter::once(slowest).chain(in_time).collect()
    }

    /// The utilisation of the busiest ordered key; `None` where nothing is ordered.
    fn busiest_key(&self, growth: f64) -> Option<f64> {
        self.each().filter_map(|(kind, rate)| kind.key_utilisation(rate * growth)).reduce(f64::max)
    }

    /// Attempts a second that an ordered key carries, of the class with the slowest; `None` where nothing is ordered.
    fn slowest_key_per_s(&self) -> Option<f64> {
        self.kinds.iter().filter_map(QueueKind::key_capacity_per_s).reduce(f64::min)
    }

    /// Receives a month that find nothing, if the queues are idle: queues × pollers × month ÷ poll wait.
    fn empty_receives(&self) -> f64 {
        empty_receives_a_month(self.of_partner.len() as f64, &self.queues.pollers, &self.queues.poll_wait)
    }

    pub(super) fn stage(&self) -> Stage {
        let holds = self.breaking_points(QueueKind::sustained_per_s);
        let mut needs = vec![
            Need::told("concurrency_kept_apart", Unit::Count, |growth| {
                Some(self.concurrency(growth.to_f64()))
            }),
            Need::told("largest_partner_share", Unit::Fraction, |_| Some(self.partners.largest_share())),
            self.past("partners_that_breach", holds),
            self.retries(),
        ];
        if let Some(outage) = &self.queues.outage {
            needs.extend(self.drains(outage));
        }
        if let (Some(utilisation), Some(most)) = (self.busiest_key(1.0), self.slowest_key_per_s()) {
            needs.push(Need::told("attempts_that_one_key_carries", Unit::PerSecond, |_| Some(most)));
            let full_at = Some(1.0 / utilisation);
            needs.push(Need::breaking_at(
                "busiest_key_utilisation",
                Unit::Fraction,
                1.0,
                full_at,
                |growth| self.busiest_key(growth.to_f64()),
            ));
        }
        needs.push(Need::told("empty_receives_a_month", Unit::Count, |_| Some(self.empty_receives())));
        Stage::new(StageName::PartnerQueues, needs)
    }

    /// The partners that break first.
    pub(super) fn first_to_break(&self) -> Vec<PartnerPlan> {
        let points = self.breaking_points(QueueKind::sustained_per_s);
        let mut order: Vec<usize> = (0..points.len()).collect();
        order.sort_by(|left, right| points[*left].total_cmp(&points[*right]));
        order.into_iter().take(SHOWN).filter_map(|index| self.plan(index, points[index])).collect()
    }

    fn plan(&self, index: usize, breaks_at: f64) -> Option<PartnerPlan> {
        let partner = self.partners.all().get(index)?;
        let (kind, rate) = self.of_partner.get(index)?;
        let kind = &self.kinds[*kind];
        Some(PartnerPlan {
            name: partner.name.clone(),
            class: self.partners.class_of(partner)?.name.clone(),
            share: partner.share,
            rate_per_s: *rate,
            concurrency: kind.concurrency(*rate),
            capacity_per_s: kind.capacity_per_s(),
            wait_mean_s: kind.wait_s(*rate),
            breaks_at_growth: breaks_at.is_finite().then_some(breaks_at),
        })
    }
}

/// Receives a month that find nothing where so many queues are idle: queues × pollers × month ÷ poll wait.
#[must_use]
pub fn empty_receives_a_month(queues: f64, pollers: &Count, poll_wait: &Seconds) -> f64 {
    queues * pollers.get() as f64 * MONTH_S / poll_wait.get()
}

#[cfg(test)]
pub(super) mod tests {
    use super::super::events::tests::million;
    use super::super::partners::Class;
    use super::super::partners::tests::{class, zipf};
    use super::*;

    pub(crate) fn queues() -> Queues {
        Queues {
            wait: "5".parse().unwrap(),
            limits: Limits { concurrency: Some("8".parse().unwrap()), rate: None },
            retry_budget: "20%".parse().unwrap(),
            tolerated: "1%".parse().unwrap(),
            outage: Some("1h".parse().unwrap()),
            drain_within: Some("1h".parse().unwrap()),
            pollers: "5".parse().unwrap(),
            poll_wait: "20".parse().unwrap(),
        }
    }

    fn zipf_400(class: Class, max_attempts: u32) -> Partners {
        Partners::new(vec![class], vec![], Some(zipf("400", 1.0, &["1"])), max_attempts).unwrap()
    }

    #[test]
    fn four_hundred_queues_poll_259_million_times_a_month_for_nothing() {
        let receives = empty_receives_a_month(400.0, &"5".parse().unwrap(), &"20".parse().unwrap());
        assert_eq!(receives, 259_200_000.0);
    }

    #[test]
    fn the_largest_partners_breach_first() {
        let (queues, partners, events) = (queues(), zipf_400(class("usual", "300ms"), 1), million());
        let planned = PartnerQueues::new(&queues, &partners, &events).unwrap();
        let first = &planned.first_to_break()[0];
        assert_eq!((first.name.as_str(), first.concurrency), ("rank 1", 6));
        // 115.74/s × 15.2% × 300 ms = 5.28 erlangs on at most 8.
        assert!((first.rate_per_s - 115.740_74 / 6.569_929_69).abs() < 1e-6);
        assert_eq!(first.capacity_per_s, Some(8.0 / 0.3));
        let stage = planned.stage();
        let breach = stage.need("partners_that_breach").unwrap();
        let shares: Vec<f64> = breach.at.iter().map(|at| at.value.unwrap() * 400.0).collect();
        // Eight workers keep a wait of 5 s up to 26.47/s, so rank r breaches at 1.503·r times its rate.
        assert_eq!(shares.iter().map(|share| share.round()).collect::<Vec<_>>(), [0.0, 1.0, 3.0, 6.0]);
        assert_eq!(breach.at.iter().map(|at| at.holds).collect::<Vec<_>>(), [true, true, true, false]);
        // 1% of 400 is 4: the fifth partner is one too many.
        assert!((breach.breaks_at_growth.unwrap() - 5.0 * first.breaks_at_growth.unwrap()).abs() < 1e-6);
    }

    #[test]
    fn retries_beyond_the_budget_break_it_at_any_volume() {
        let events = million();
        for (share, holds) in [("10%", true), ("1/6", false), ("20%", false), ("0", true)] {
            let Ok(share) = share.parse() else { continue };
            let flaky = Class { failure_share: share, ..class("flaky", "300ms") };
            let (queues, partners) = (queues(), zipf_400(flaky, 5));
            let stage = PartnerQueues::new(&queues, &partners, &events).unwrap().stage();
            let need = stage.need("retries_over_first_attempts").unwrap();
            assert_eq!(need.holds_today(), holds, "{need:?}");
            assert!(need.at.windows(2).all(|pair| pair[0].value == pair[1].value));
        }
    }

    #[test]
    fn ordering_by_partner_breaks_where_a_partner_fills_its_one_key() {
        let ordered = Class { ordered_keys: Some("1".parse().unwrap()), ..class("ordered", "30ms") };
        let (queues, partners, events) = (queues(), zipf_400(ordered, 1), million());
        let stage = PartnerQueues::new(&queues, &partners, &events).unwrap().stage();
        let key = stage.need("busiest_key_utilisation").unwrap();
        // 17.617 attempts a second of 30 ms.
        assert!((key.today().unwrap() - 0.528_499).abs() < 1e-5, "{key:?}");
        assert!((key.breaks_at_growth.unwrap() - 1.0 / 0.528_499).abs() < 1e-4);
    }

    #[test]
    fn partners_whose_backlog_outlasts_the_time_given_are_counted() {
        let (queues, partners, events) = (queues(), zipf_400(class("usual", "300ms"), 1), million());
        let planned = PartnerQueues::new(&queues, &partners, &events).unwrap();
        let stage = planned.stage();
        // The largest: 17.617/s for an hour against 26.67/s.
        let slowest = stage.need("slowest_drain_after_an_outage").unwrap().today().unwrap();
        assert!((slowest - 17.616_740 * 3600.0 / (26.666_667 - 17.616_740)).abs() < 0.1, "{slowest}");
        // In an hour only those below half of the 26.67/s are done: rank 1 is not.
        let late = stage.need("partners_that_drain_too_late").unwrap();
        assert_eq!(late.today().unwrap() * 400.0, 1.0);
    }
}
