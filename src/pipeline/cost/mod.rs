//! Serverless or fixed: what the delivery and the parts around it cost in a month, and where functions and a pool
//! cost the same.

mod cold_start;
mod compare;
mod prices;

pub use cold_start::{ColdStart, ColdStartEffect, share_of_cold_starts};
pub use compare::{Choice, CostComparison, PeakRow, PriceUsed};
pub use prices::{Item, NoPrice, Price, PriceList, Quotas};

use super::delivery::Delivery;
use super::need::{Need, Stage, StageName, Unit};
use super::queues::{MONTH_S, Queues, empty_receives_a_month};
use super::{Bus, Events, Partners};
use crate::queueing::{erlang::erlang_b, staffing};
use crate::sizing::smallest_workers;
use crate::units::{ArrivalRate, Count, Exact, Ratio};

/// Hours of the month that monthly figures are for.
const MONTH_HOURS: f64 = MONTH_S / 3600.0;

/// Megabytes in a gigabyte of function memory, and bytes in a gigabyte of storage, as providers count them.
const MB_PER_GB: f64 = 1024.0;
const BYTES_PER_GB: f64 = 1_073_741_824.0;

/// Bytes that one payload unit of the bus, one queue request and one store write carry.
const PAYLOAD_UNIT: f64 = 25_000.0;
const QUEUE_REQUEST: f64 = 65_536.0;
const STORE_WRITE: f64 = 1_024.0;

/// The share of invocations that may find all functions of a pool busy, where a number of functions is asked for.
const REFUSED: f64 = 0.01;

/// What the costs are computed for.
#[derive(Clone, Debug, PartialEq)]
pub struct Cost {
    /// The prices.
    pub prices: PriceList,
    /// Memory of a function, in megabytes of 1/1024 gigabyte.
    pub function_memory_mb: Count,
    /// Functions that the account runs at once.
    pub account_concurrency: Count,
    /// What is known of cold starts.
    pub cold_start: Option<ColdStart>,
    /// Virtual processors of a container.
    pub container_vcpu: Ratio,
    /// Memory of a container, in gigabytes.
    pub container_memory_gb: Ratio,
    /// Attempts that one container runs at the same time.
    pub container_tasks: Count,
    /// Attempts that one machine runs at the same time.
    pub machine_tasks: Count,
    /// Containers or machines that run at least, for availability.
    pub least_instances: Count,
    /// Whether queues keep the order, which costs more a request.
    pub fifo: bool,
}

/// The parts of the pipeline that cost something.
#[derive(Clone, Copy)]
pub(super) struct Billed<'a> {
    pub(super) events: &'a Events,
    pub(super) partners: &'a Partners,
    pub(super) delivery: &'a Delivery,
    pub(super) bus: Option<&'a Bus>,
    pub(super) queues: Option<&'a Queues>,
}

impl Cost {
    /// Hourly price of a container.
    ///
    /// # Errors
    /// If a price is missing.
    pub fn container_hour(&self) -> Result<f64, NoPrice> {
        let processors = self.container_vcpu.get() * self.prices.of_one(Item::ContainerVcpuHour)?;
        Ok(processors + self.container_memory_gb.get() * self.prices.of_one(Item::ContainerGbHour)?)
    }

    /// Price of an attempt of `mean_s` seconds by a function: a request, and memory for as long as it waits for the
    /// partner's answer.
    ///
    /// # Errors
    /// If a price is missing.
    pub fn function_attempt(&self, mean_s: f64) -> Result<f64, NoPrice> {
        let memory = self.function_memory_gb() * mean_s * self.prices.of_one(Item::FunctionGbSecond)?;
        Ok(self.prices.of_one(Item::FunctionRequest)? + memory)
    }

    /// The attempts a second at which functions cost as much as something with this hourly price: hourly ÷ (3600 ×
    /// price of an attempt). Below it functions are cheaper.
    ///
    /// # Errors
    /// If a price is missing.
    pub fn break_even_per_s(&self, hourly: f64, mean_s: f64) -> Result<f64, NoPrice> {
        Ok(hourly / (3600.0 * self.function_attempt(mean_s)?))
    }

    /// Functions that keep 99% of the invocations of the peak from finding none free: the smallest N with Erlang's
    /// loss B(N, a) ≤ 1%.
    #[must_use]
    pub fn functions_at(load: f64) -> u64 {
        let enough = |functions| erlang_b(functions, load) <= REFUSED;
        staffing::smallest(1, u64::MAX / 2, load.ceil().max(1.0) as u64, enough).unwrap_or(u64::MAX)
    }

    fn function_memory_gb(&self) -> f64 {
        self.function_memory_mb.get() as f64 / MB_PER_GB
    }

    /// Containers that run so many workers with this load of the processor.
    fn containers(&self, workers: u64, cores: f64) -> f64 {
        let by_tasks = workers.div_ceil(self.container_tasks.get()) as f64;
        let by_processors = (cores / self.container_vcpu.get()).ceil();
        by_tasks.max(by_processors).max(self.least_instances.get() as f64)
    }

    fn machines(&self, workers: u64) -> f64 {
        workers.div_ceil(self.machine_tasks.get()).max(self.least_instances.get()) as f64
    }

    pub(super) fn stage(&self, billed: Billed<'_>) -> Result<Stage, NoPrice> {
        let Billed { events, partners, delivery, .. } = billed;
        let mut needs = self.compute(billed)?;
        needs.extend(self.around(billed)?);
        needs.push(Need::told("functions_at_the_peak", Unit::Count, |growth| {
            let demand = delivery.demand(events, partners, growth)?;
            Some(Cost::functions_at(demand.load().to_f64()) as f64)
        }));
        Ok(Stage::new(StageName::Cost, needs))
    }

    /// Functions, functions kept ready, containers and machines.
    fn compute(&self, billed: Billed<'_>) -> Result<Vec<Need>, NoPrice> {
        let Billed { events, partners, delivery, .. } = billed;
        let price = |item| self.prices.of_one(item);
        let request = price(Item::FunctionRequest)?;
        let (second, ready, ready_second) = (
            price(Item::FunctionGbSecond)?,
            price(Item::FunctionProvisionedGbSecond)?,
            price(Item::FunctionProvisionedExecutionGbSecond)?,
        );
        let (container, machine) = (self.container_hour()?, price(Item::MachineHour)?);
        let memory = self.function_memory_gb();
        let usual = |growth: &Exact| partners.demand(&events.deliveries(&events.mean_rate(growth))).ok();
        let attempts = |growth: &Exact, a_second: f64| {
            let demand = usual(growth)?;
            Some(demand.rate.get() * MONTH_S * (request + memory * demand.service.mean.get() * a_second))
        };
        let cores = |growth: &Exact| {
            Some(
                delivery
                    .demand(events, partners, growth)?
                    .rate
                    .offered_load(&delivery.cpu_per_attempt)
                    .to_f64(),
            )
        };
        let workers = |growth: &Exact| delivery.workers_needed(events, partners, growth);
        let money =
            |name, value: &dyn Fn(&Exact) -> Option<f64>| Need::told(name, Unit::MoneyPerMonth, value);
        let mut needs = vec![
            money("functions", &|growth| attempts(growth, second)),
            money("functions_kept_ready_for_the_peak", &|growth| {
                let load = delivery.demand(events, partners, growth)?.load().to_f64();
                let kept = Cost::functions_at(load) as f64 * memory * MONTH_S * ready;
                Some(kept + attempts(growth, ready_second)?)
            }),
            money("containers_for_the_peak", &|growth| {
                Some(self.containers(workers(growth)?, cores(growth)?) * container * MONTH_HOURS)
            }),
            money("machines_for_the_peak", &|growth| {
                Some(self.machines(workers(growth)?) * machine * MONTH_HOURS)
            }),
        ];
        if events.load.is_some() {
            needs.push(money("containers_that_follow_the_load", &|growth| {
                Some(self.containers_following(billed, growth)? * container * MONTH_HOURS)
            }));
        }
        Ok(needs)
    }

    /// Containers on average if their number follows the measured load at once, up and down: the least that an
    /// autoscaler can come to. `None` without a measured load.
    fn containers_following(&self, billed: Billed<'_>, growth: &Exact) -> Option<f64> {
        let Billed { events, partners, delivery, .. } = billed;
        let usual = partners.demand(&events.deliveries(&events.mean_rate(growth))).ok()?;
        events.load.as_ref()?.mean_of(|relative| {
            let rate = ArrivalRate::new(usual.rate.exact() * &Exact::from_f64(relative)?)?;
            if rate.is_zero() {
                return Some(self.least_instances.get() as f64);
            }
            let demand = usual.at_rate(rate).ok()?;
            let cores = demand.rate.offered_load(&delivery.cpu_per_attempt).to_f64();
            Some(self.containers(smallest_workers(&demand, &delivery.objectives), cores))
        })
    }

    /// The bus, the queues and the store, which cost the same with functions and with a pool.
    fn around(&self, billed: Billed<'_>) -> Result<Vec<Need>, NoPrice> {
        let Billed { events, partners, delivery, bus, queues } = billed;
        let mut needs = Vec::new();
        let money =
            |name, value: &dyn Fn(&Exact) -> Option<f64>| Need::told(name, Unit::MoneyPerMonth, value);
        if let Some(bus) = bus.filter(|bus| bus.is_sharded()) {
            let (hour, unit) =
                (self.prices.of_one(Item::ShardHour)?, self.prices.of_one(Item::BusPayloadUnit)?);
            let units = (bus.size.get() / PAYLOAD_UNIT).ceil();
            needs.push(money("bus", &|growth| {
                let needed = bus.partitions_needed(events, growth)?;
                let shards = bus.partitions.map_or(needed, |deployed| deployed.get().max(needed)) as f64;
                let records = events.mean_rate(growth).to_f64() * MONTH_S;
                Some(shards * MONTH_HOURS * hour + records * units * unit)
            }));
        }
        if let Some(queues) = queues {
            let item = if self.fifo { Item::FifoQueueRequest } else { Item::QueueRequest };
            let request = self.prices.of_one(item)?;
            let size = events.size.as_ref().map_or(1.0, |size| (size.get() / QUEUE_REQUEST).ceil());
            needs.push(money("queue_requests", &|growth| {
                let deliveries = events.deliveries(&events.mean_rate(growth));
                let attempts = partners.demand(&deliveries).ok()?.rate.get();
                // A delivery is sent and deleted once; every attempt receives it.
                Some((2.0 * deliveries.to_f64() + attempts) * MONTH_S * size * request)
            }));
            let partners = partners.all().len() as f64;
            let empty = empty_receives_a_month(partners, &queues.pollers, &queues.poll_wait);
            needs.push(money("empty_receives", &|_| Some(empty * request)));
        }
        if let Some(store) = &delivery.idempotency {
            let (write, kept) =
                (self.prices.of_one(Item::StoreWrite)?, self.prices.of_one(Item::StoreGbMonth)?);
            let row = store.row.as_ref().map_or(STORE_WRITE, crate::units::Bytes::get);
            needs.push(money("idempotency_store", &|growth| {
                let writes = events.deliveries(&events.mean_rate(growth)).to_f64() * MONTH_S;
                let gigabytes = store.rows(events, growth).to_f64() * row / BYTES_PER_GB;
                Some(writes * (row / STORE_WRITE).ceil() * write + gigabytes * kept)
            }));
        }
        Ok(needs)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::prices::bundled;

    fn cost() -> Cost {
        Cost {
            prices: bundled().unwrap().list,
            function_memory_mb: "128".parse().unwrap(),
            account_concurrency: "1000".parse().unwrap(),
            cold_start: None,
            container_vcpu: "0.25".parse().unwrap(),
            container_memory_gb: "0.5".parse().unwrap(),
            container_tasks: "160".parse().unwrap(),
            machine_tasks: "640".parse().unwrap(),
            least_instances: "1".parse().unwrap(),
            fifo: false,
        }
    }

    #[test]
    fn break_even_is_where_both_cost_the_same() {
        let cost = cost();
        let hourly = cost.container_hour().unwrap();
        assert!((hourly - 0.012_342_5).abs() < 1e-12);
        let rate = cost.break_even_per_s(hourly, 0.3).unwrap();
        assert!((rate - 4.2).abs() < 0.05, "{rate}");
        assert!((rate * 3600.0 * cost.function_attempt(0.3).unwrap() - hourly).abs() < 1e-15);
    }

    #[test]
    fn functions_for_the_peak_are_what_erlangs_loss_formula_asks_for() {
        // B(N, 10) falls below 1% at 18: B(17) = 1.295%, B(18) = 0.714% (traffic tables).
        assert_eq!(Cost::functions_at(10.0), 18);
        // The default of an account is below what 1260 erlangs need.
        assert!(Cost::functions_at(1260.0) > 1000);
        assert_eq!(Cost::functions_at(0.005), 1);
    }

    #[test]
    fn containers_follow_the_workers_the_processor_or_availability() {
        let two = Cost { least_instances: "2".parse().unwrap(), ..cost() };
        assert_eq!((cost().containers(160, 0.1), cost().containers(161, 0.1)), (1.0, 2.0));
        assert_eq!(cost().containers(10, 0.8), 4.0);
        assert_eq!(two.containers(10, 0.1), 2.0);
        assert_eq!((cost().machines(641), two.machines(1)), (2.0, 2.0));
    }
}
