//! Delivery: the workers, what the broker holds in flight, what is remembered against duplicates.

use super::backlog::drain_s;
use super::need::{Need, Stage, StageName, Unit};
use super::{Events, Partners};
use crate::sizing::{Demand, Objective, smallest_workers};
use crate::units::{Bytes, Count, Exact, Seconds, Share};

/// The workers that deliver, all partners together.
#[derive(Clone, Debug, PartialEq)]
pub struct Delivery {
    /// What the pool must achieve.
    pub objectives: Vec<Objective>,
    /// Workers that there are.
    pub workers: Option<Count>,
    /// Attempts that one process runs at the same time.
    pub tasks_per_process: Count,
    /// Processor time of an attempt.
    pub cpu_per_attempt: Seconds,
    /// The broker that holds what is being delivered.
    pub broker: Option<Broker>,
    /// What is remembered of a delivery, so that it is not made twice.
    pub idempotency: Option<Idempotency>,
}

/// A broker that holds a message until it is acknowledged or its visibility timeout ends.
#[derive(Clone, Debug, PartialEq)]
pub struct Broker {
    /// How long a message is hidden that nobody acknowledges.
    pub visibility_timeout: Seconds,
    /// The share of attempts whose message is held for all that time: neither acknowledged nor given back.
    pub held_share: Share,
    /// The most messages in flight.
    pub in_flight_limit: Count,
}

/// The store of deliveries that were made.
#[derive(Clone, Debug, PartialEq)]
pub struct Idempotency {
    /// How long a delivery is remembered.
    pub ttl: Seconds,
    /// Bytes of a row.
    pub row: Option<Bytes>,
    /// The most rows.
    pub rows_limit: Option<Count>,
}

impl Broker {
    /// Messages in flight on average: λ((1 − f)S + fV), f being held for the visibility timeout V.
    #[must_use]
    pub fn in_flight(&self, attempts: &Demand) -> Exact {
        let held = self.held_share.exact();
        let acknowledged = Exact::one().minus(held).unwrap_or_else(Exact::zero);
        let mean = attempts.service.mean.exact();
        let occupied = &(&acknowledged * mean) + &(held * self.visibility_timeout.exact());
        attempts.rate.exact() * &occupied
    }

    /// The same if every message is held for the whole visibility timeout: λV.
    #[must_use]
    pub fn in_flight_if_held(&self, attempts: &Demand) -> Exact {
        attempts.rate.exact() * self.visibility_timeout.exact()
    }
}

impl Idempotency {
    /// Rows remembered: λ × TTL.
    #[must_use]
    pub fn rows(&self, events: &Events, growth: &Exact) -> Exact {
        events.deliveries(&events.most_within(&self.ttl, growth))
    }
}

impl Delivery {
    /// All attempts at the peak; `None` where the load is beyond what can be answered.
    #[must_use]
    pub fn demand(&self, events: &Events, partners: &Partners, growth: &Exact) -> Option<Demand> {
        partners.demand(&events.deliveries(&events.peak_rate(growth))).ok()
    }

    /// The workers that the peak needs.
    #[must_use]
    pub fn workers_needed(&self, events: &Events, partners: &Partners, growth: &Exact) -> Option<u64> {
        self.demand(events, partners, growth).map(|demand| smallest_workers(&demand, &self.objectives))
    }

    /// The workers that there are, or that today's peak needs where none were given.
    #[must_use]
    pub fn workers(&self, events: &Events, partners: &Partners) -> Option<u64> {
        self.workers.map(Count::get).or_else(|| self.workers_needed(events, partners, &Exact::one()))
    }

    /// Workers with priority events and the others apart: each with the pool that its own wait needs.
    fn apart(&self, events: &Events, partners: &Partners, growth: &Exact) -> Option<[u64; 2]> {
        let priority = events.priority.as_ref()?;
        let deliveries = events.deliveries(&events.peak_rate(growth));
        let first = priority.share.exact();
        let rest = Exact::one().minus(first)?;
        let urgent = partners.demand(&(&deliveries * first)).ok()?;
        let other = partners.demand(&(&deliveries * &rest)).ok()?;
        Some([
            smallest_workers(&urgent, &[Objective::MeanWait(priority.wait.clone())]),
            smallest_workers(&other, &self.objectives),
        ])
    }

    fn priority(&self, events: &Events, partners: &Partners) -> Vec<Need> {
        let Some(priority) = &events.priority else { return Vec::new() };
        let apart = |index: usize| {
            move |growth: &Exact| self.apart(events, partners, growth).map(|workers| workers[index] as f64)
        };
        let mut strictest = self.objectives.clone();
        strictest.push(Objective::MeanWait(priority.wait.clone()));
        vec![
            Need::told("workers_for_priority_apart", Unit::Count, apart(0)),
            Need::told("workers_for_others_apart", Unit::Count, apart(1)),
            Need::told("workers_if_all_wait_as_priority", Unit::Count, |growth| {
                let demand = self.demand(events, partners, growth)?;
                Some(smallest_workers(&demand, &strictest) as f64)
            }),
        ]
    }

    /// Seconds until a bulk run is delivered beside the day's mean traffic: backlog/(μ − λ) in attempts. `None` where
    /// it never is.
    #[must_use]
    pub fn bulk_s(&self, events: &Events, partners: &Partners, growth: &Exact) -> Option<f64> {
        let bulk = events.bulk.as_ref()?;
        let usual = partners.demand(&events.deliveries(&events.mean_rate(growth))).ok()?;
        let served = Exact::whole(self.workers(events, partners)?.into()).over(usual.service.mean.exact())?;
        let a_delivery = usual.rate.exact().over(&events.deliveries(&events.mean_rate(growth)))?;
        let backlog = &events.deliveries(&Exact::whole(bulk.events.get().into())) * &a_delivery;
        drain_s(&(&backlog * growth), &served, usual.rate.exact())
    }

    pub(super) fn stage(&self, events: &Events, partners: &Partners) -> Stage {
        let demand = |growth: &Exact| self.demand(events, partners, growth);
        let workers =
            |growth: &Exact| self.workers_needed(events, partners, growth).map(|workers| workers as f64);
        let limit = |count: Option<Count>| count.map(|count| count.get() as f64);
        let tasks = self.tasks_per_process.get() as f64;
        let mut needs = vec![
            Need::told("attempts", Unit::PerSecond, |growth| Some(demand(growth)?.rate.get())),
            Need::told("offered_load", Unit::Erlangs, |growth| Some(demand(growth)?.load().to_f64())),
            Need::limited("workers", Unit::Count, limit(self.workers), workers),
            Need::told("processes", Unit::Count, |growth| Some((workers(growth)? / tasks).ceil())),
            Need::told("processor_cores", Unit::Erlangs, |growth| {
                Some(demand(growth)?.rate.offered_load(&self.cpu_per_attempt).to_f64())
            }),
        ];
        needs.extend(self.priority(events, partners));
        if let Some(bulk) = &events.bulk {
            let limit = bulk.within.as_ref().map(Seconds::get);
            needs.push(Need::limited("bulk_run", Unit::Seconds, limit, |growth| {
                self.bulk_s(events, partners, growth)
            }));
        }
        if let Some(broker) = &self.broker {
            let most = limit(Some(broker.in_flight_limit));
            needs.push(Need::limited("in_flight_at_the_broker", Unit::Count, most, |growth| {
                Some(broker.in_flight(&demand(growth)?).to_f64())
            }));
            needs.push(Need::told("in_flight_if_all_were_held", Unit::Count, |growth| {
                Some(broker.in_flight_if_held(&demand(growth)?).to_f64())
            }));
        }
        if let Some(store) = &self.idempotency {
            let rows = |growth: &Exact| store.rows(events, growth);
            needs.push(Need::limited("idempotency_rows", Unit::Count, limit(store.rows_limit), |growth| {
                Some(rows(growth).to_f64())
            }));
            if let Some(row) = &store.row {
                needs.push(Need::told("idempotency_store", Unit::Bytes, |growth| {
                    Some((&rows(growth) * row.exact()).to_f64())
                }));
            }
        }
        Stage::new(StageName::Delivery, needs)
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::super::events::tests::million;
    use super::super::events::{Bulk, Priority};
    use super::super::partners::tests::class;
    use super::*;
    use crate::sizing::{ArrivalProcess, Retries, ServiceTime};

    pub(crate) fn delivery(objective: Objective, workers: &str) -> Delivery {
        Delivery {
            objectives: vec![objective],
            workers: workers.parse().ok(),
            tasks_per_process: "160".parse().unwrap(),
            cpu_per_attempt: "1ms".parse().unwrap(),
            broker: None,
            idempotency: None,
        }
    }

    pub(crate) fn one_class(mean: &str) -> Partners {
        Partners::new(vec![class("usual", mean)], vec![], None, 1).unwrap()
    }

    fn wait(limit: &str) -> Objective {
        Objective::MeanWait(limit.parse().unwrap())
    }

    #[test]
    fn a_million_a_day_is_35_erlangs_and_one_process() {
        let (events, partners, one) = (million(), one_class("300ms"), Exact::one());
        let lean = delivery(wait("500ms"), "").workers_needed(&events, &partners, &one);
        let roomy = delivery(Objective::SquareRoot("1.5".parse().unwrap()), "")
            .workers_needed(&events, &partners, &one);
        assert_eq!((lean, roomy), (Some(36), Some(44)));
        let stage = delivery(wait("500ms"), "").stage(&events, &partners);
        let today = |name: &str| stage.need(name).unwrap().today().unwrap();
        assert!((today("offered_load") - 34.722_222).abs() < 1e-6);
        assert_eq!(today("processes"), 1.0);
        assert!((today("processor_cores") - 0.115_74).abs() < 1e-5);
    }

    #[test]
    fn six_workers_carry_100_thousand_a_day_and_break_before_a_million() {
        let events = Events { per_day: "100k".parse().unwrap(), ..million() };
        let stage = delivery(wait("500ms"), "6").stage(&events, &one_class("300ms"));
        let workers = stage.need("workers").unwrap();
        assert!(workers.holds_today() && !workers.at[3].holds, "{workers:?}");
        assert_eq!(stage.binding, Some("workers"));
        let breaks_at = stage.breaks_at_growth.unwrap();
        assert!((1.0..2.0).contains(&breaks_at), "{breaks_at}");
    }

    #[test]
    fn a_broker_holds_4000_a_second_for_30_seconds_or_for_the_service_time() {
        let demand = Retries {
            first_attempt_rate: "4000".parse().unwrap(),
            failure_share: "0".parse().unwrap(),
            max_attempts: 1,
            failure_mean: None,
        }
        .demand(ServiceTime::exponential("1.4".parse().unwrap()), ArrivalProcess::Poisson)
        .unwrap();
        let broker = |held: &str| Broker {
            visibility_timeout: "30".parse().unwrap(),
            held_share: held.parse().unwrap(),
            in_flight_limit: "120k".parse().unwrap(),
        };
        assert_eq!(broker("100%").in_flight(&demand), Exact::whole(120_000));
        assert_eq!(broker("0").in_flight(&demand), Exact::whole(5_600));
        assert_eq!(broker("0").in_flight_if_held(&demand), Exact::whole(120_000));
        // 4000 × (0.95 × 1.4 + 0.05 × 30).
        assert_eq!(broker("5%").in_flight(&demand), Exact::whole(11_320));
    }

    #[test]
    fn deliveries_are_remembered_for_their_time_to_live() {
        let store = Idempotency { ttl: "7d".parse().unwrap(), row: None, rows_limit: None };
        let events = Events { subscriptions: "2".parse().unwrap(), ..million() };
        assert_eq!(store.rows(&events, &Exact::one()), Exact::whole(14_000_000));
    }

    #[test]
    fn a_bulk_run_drains_beside_the_usual_traffic() {
        let bulk = Bulk { events: "50k".parse().unwrap(), within: Some("10m".parse().unwrap()) };
        let events = Events { bulk: Some(bulk), ..million() };
        let delivery = delivery(wait("500ms"), "44");
        // 50,000/(44/0.3 − 11.574).
        let seconds = delivery.bulk_s(&events, &one_class("300ms"), &Exact::one()).unwrap();
        assert!((seconds - 50_000.0 / (146.666_667 - 11.574_074)).abs() < 1e-3);
        let stage = delivery.stage(&events, &one_class("300ms"));
        let bulk = stage.need("bulk_run").unwrap();
        assert!(bulk.holds_today() && !bulk.at[1].holds);
    }

    #[test]
    fn priority_events_apart_need_less_than_all_events_as_fast() {
        let priority = Priority { share: "5%".parse().unwrap(), wait: "10ms".parse().unwrap() };
        let events = Events { priority: Some(priority), ..million() };
        let stage = delivery(wait("30"), "").stage(&events, &one_class("300ms"));
        let today = |name: &str| stage.need(name).unwrap().today().unwrap();
        // 1.736 erlangs and 10 ms: 5 workers, as `size --rate 5.787037 --mean 0.3 --wait 10ms` says; 32.99 erlangs and 30 s: 33.
        assert_eq!((today("workers_for_priority_apart"), today("workers_for_others_apart")), (5.0, 33.0));
        assert_eq!(today("workers_if_all_wait_as_priority"), 42.0);
    }
}
