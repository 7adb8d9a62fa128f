//! What a provider charges and allows: inputs with a source and a date, never constants of the program.

use crate::units::{ArrivalRate, Bytes, Count, Exact};
use schemars::JsonSchema;
use serde::Serialize;

/// Something that has a price.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Item {
    /// One invocation of a function.
    FunctionRequest,
    /// A gigabyte of function memory for a second of execution.
    FunctionGbSecond,
    /// A gigabyte of function memory kept ready for a second.
    FunctionProvisionedGbSecond,
    /// A gigabyte of function memory for a second of execution on an instance that was kept ready.
    FunctionProvisionedExecutionGbSecond,
    /// A virtual processor of a container for an hour.
    ContainerVcpuHour,
    /// A gigabyte of container memory for an hour.
    ContainerGbHour,
    /// A machine for an hour.
    MachineHour,
    /// One request to a standard queue.
    QueueRequest,
    /// One request to a first-in, first-out queue.
    FifoQueueRequest,
    /// A shard of the bus for an hour.
    ShardHour,
    /// One payload unit of 25 kB put into the bus.
    BusPayloadUnit,
    /// One write of up to 1 kB to the key-value store.
    StoreWrite,
    /// A gigabyte in the key-value store for a month.
    StoreGbMonth,
}

impl Item {
    /// Every item.
    pub const ALL: [Item; 13] = [
        Item::FunctionRequest,
        Item::FunctionGbSecond,
        Item::FunctionProvisionedGbSecond,
        Item::FunctionProvisionedExecutionGbSecond,
        Item::ContainerVcpuHour,
        Item::ContainerGbHour,
        Item::MachineHour,
        Item::QueueRequest,
        Item::FifoQueueRequest,
        Item::ShardHour,
        Item::BusPayloadUnit,
        Item::StoreWrite,
        Item::StoreGbMonth,
    ];

    /// Its key in a price file.
    #[must_use]
    pub fn key(self) -> &'static str {
        match self {
            Item::FunctionRequest => "function_request",
            Item::FunctionGbSecond => "function_gb_second",
            Item::FunctionProvisionedGbSecond => "function_provisioned_gb_second",
            Item::FunctionProvisionedExecutionGbSecond => "function_provisioned_execution_gb_second",
            Item::ContainerVcpuHour => "container_vcpu_hour",
            Item::ContainerGbHour => "container_gb_hour",
            Item::MachineHour => "machine_hour",
            Item::QueueRequest => "queue_request",
            Item::FifoQueueRequest => "fifo_queue_request",
            Item::ShardHour => "shard_hour",
            Item::BusPayloadUnit => "bus_payload_unit",
            Item::StoreWrite => "store_write",
            Item::StoreGbMonth => "store_gb_month",
        }
    }
}

/// A price as it was published.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Price {
    /// What is charged for so many.
    pub amount: Exact,
    /// How many.
    pub per: Count,
    /// Where it was published.
    pub source: String,
    /// When it was published or last confirmed: year and month, or a day.
    pub date: String,
    /// What exactly is meant, such as the type of a machine.
    pub note: Option<String>,
}

impl Price {
    /// The price of one.
    #[must_use]
    pub fn of_one(&self) -> f64 {
        self.amount.to_f64() / self.per.get() as f64
    }
}

/// The prices of one provider in one region and currency.
#[derive(Clone, Debug, PartialEq)]
pub struct PriceList {
    /// The currency, such as `USD`.
    pub currency: String,
    /// The region, such as `us-east-1`.
    pub region: String,
    prices: Vec<(Item, Price)>,
}

/// A price that is needed and not in the list.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the price list has no price for {}; add [price.{}]", item.key().replace('_', " "), item.key())]
pub struct NoPrice {
    /// What has no price.
    pub item: Item,
}

impl PriceList {
    /// An empty list.
    #[must_use]
    pub fn new(currency: impl Into<String>, region: impl Into<String>) -> Self {
        PriceList { currency: currency.into(), region: region.into(), prices: Vec::new() }
    }

    /// Enters a price, in place of the one that was there.
    pub fn set(&mut self, item: Item, price: Price) {
        self.prices.retain(|(known, _)| *known != item);
        self.prices.push((item, price));
    }

    /// The price of an item.
    ///
    /// # Errors
    /// If the list has none.
    pub fn price(&self, item: Item) -> Result<&Price, NoPrice> {
        self.prices.iter().find(|(known, _)| *known == item).map(|(_, price)| price).ok_or(NoPrice { item })
    }

    /// The price of one, in the list's currency.
    ///
    /// # Errors
    /// If the list has none.
    pub fn of_one(&self, item: Item) -> Result<f64, NoPrice> {
        self.price(item).map(Price::of_one)
    }

    /// This list, and from `older` whatever it lacks, where both are of one region and currency: prices of two
    /// regions make no sum.
    #[must_use]
    pub fn over(mut self, older: &PriceList) -> PriceList {
        if self.currency == older.currency && self.region == older.region {
            for (item, price) in &older.prices {
                if self.price(*item).is_err() {
                    self.prices.push((*item, price.clone()));
                }
            }
        }
        self
    }
}

/// What a provider allows before anybody asks for more.
#[derive(Clone, Debug, PartialEq)]
pub struct Quotas {
    /// Functions that an account runs at once.
    pub function_concurrency: Count,
    /// Messages in flight in a queue.
    pub queue_in_flight: Count,
    /// Bytes a second into a shard of the bus.
    pub shard_bytes_in: Bytes,
    /// Records a second into a shard.
    pub shard_records_in: ArrivalRate,
    /// Bytes a second out of a shard.
    pub shard_bytes_out: Bytes,
}
