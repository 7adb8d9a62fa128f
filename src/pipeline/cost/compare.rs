//! Functions or a pool, for this traffic: break-even, spiky or steady, cold starts, and the prices that went in.

use super::{Billed, ColdStartEffect, Cost, Item, MONTH_HOURS, NoPrice};
use crate::pipeline::queues::MONTH_S;
use crate::pipeline::{Bus, LoadShape};
use crate::sizing::{Demand, smallest_workers};
use crate::units::{Count, Exact};
use schemars::JsonSchema;
use serde::Serialize;

/// Peaks over the mean that the two are compared for, from steady to very spiky.
const PEAKS: [u32; 5] = [1, 3, 10, 30, 100];

/// Which costs less.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Choice {
    /// Functions, paid by use.
    Functions,
    /// Containers for the peak, paid by the hour.
    Containers,
}

/// The same traffic with another peak.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct PeakRow {
    /// The peak over the mean.
    pub peak_factor: f64,
    /// Containers that carry the peak.
    pub containers: f64,
    /// What they cost in a month.
    pub containers_per_month: f64,
    /// What functions cost in a month.
    pub functions_per_month: f64,
    /// Attempts a second, averaged over the day, below which functions cost less.
    pub break_even_rate_per_s: f64,
    /// Which costs less.
    pub cheaper: Choice,
}

/// A price that went into the costs.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct PriceUsed {
    /// What it is the price of.
    pub item: Item,
    /// The price, for `per` of them.
    pub amount: f64,
    /// How many it is for.
    pub per: u64,
    /// Where it was published.
    pub source: String,
    /// When it was published or last confirmed.
    pub date: String,
    /// What exactly is meant.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

/// Functions or a pool.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct CostComparison {
    /// The currency.
    pub currency: String,
    /// The region.
    pub region: String,
    /// Which costs less for this traffic.
    pub cheaper: Choice,
    /// Attempts a second, averaged over the day.
    pub mean_rate_per_s: f64,
    /// Attempts a second at which functions cost as much as one container.
    pub break_even_rate_of_one_container_per_s: f64,
    /// Attempts a second at which functions cost as much as the containers for the peak.
    pub break_even_rate_per_s: f64,
    /// Containers that carry the peak.
    pub containers: f64,
    /// The share of the containers' places that is busy on average.
    pub mean_utilisation_of_containers: f64,
    /// Functions that run at once at the peak, so that 99% of the attempts find one free.
    pub functions_at_the_peak: u64,
    /// Functions that the account runs at once.
    pub account_concurrency: u64,
    /// What a million attempts by functions cost.
    pub functions_per_million_attempts: f64,
    /// What a million attempts by the containers for the peak cost.
    pub containers_per_million_attempts: f64,
    /// The share of the time in which the load is below the break-even rate of one container; absent where the load
    /// was not measured.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub share_of_time_below_break_even: Option<f64>,
    /// What cold starts do; absent where nothing is known of them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cold_start: Option<ColdStartEffect>,
    /// The same traffic from steady to very spiky.
    pub peaks: Vec<PeakRow>,
    /// The prices that went in.
    pub prices: Vec<PriceUsed>,
}

impl Cost {
    /// Compares functions with a pool of containers for today's traffic. `None` where the load is out of range.
    ///
    /// # Errors
    /// If a price is missing.
    pub(in crate::pipeline) fn compare(&self, billed: Billed<'_>) -> Result<Option<CostComparison>, NoPrice> {
        let Billed { events, partners, .. } = billed;
        let one = Exact::one();
        let Ok(usual) = partners.demand(&events.deliveries(&events.mean_rate(&one))) else { return Ok(None) };
        let Some(now) = self.peak_row(billed, &usual, events.peak_factor.exact())? else { return Ok(None) };
        let mut peaks = Vec::with_capacity(PEAKS.len());
        for peak in PEAKS {
            peaks.extend(self.peak_row(billed, &usual, &Exact::whole(peak.into()))?);
        }
        let mean_s = usual.service.mean.get();
        let break_even_of_one = self.break_even_per_s(self.container_hour()?, mean_s)?;
        let below = |load: &LoadShape| load.share_of_time_below(break_even_of_one / usual.rate.get());
        let a_month = usual.rate.get() * MONTH_S;
        Ok(Some(CostComparison {
            currency: self.prices.currency.clone(),
            region: self.prices.region.clone(),
            cheaper: now.cheaper,
            mean_rate_per_s: usual.rate.get(),
            break_even_rate_of_one_container_per_s: break_even_of_one,
            break_even_rate_per_s: now.break_even_rate_per_s,
            containers: now.containers,
            mean_utilisation_of_containers: usual.load().to_f64()
                / (now.containers * self.container_tasks.get() as f64),
            functions_at_the_peak: Cost::functions_at(usual.load().to_f64() * events.peak_factor.get()),
            account_concurrency: self.account_concurrency.get(),
            functions_per_million_attempts: self.function_attempt(mean_s)? * 1e6,
            containers_per_million_attempts: now.containers_per_month / a_month * 1e6,
            share_of_time_below_break_even: events.load.as_ref().map(below),
            cold_start: self
                .cold_start
                .as_ref()
                .map(|cold| cold.effect(usual.rate.get(), &usual.service.law)),
            peaks,
            prices: self.prices_used(billed)?,
        }))
    }

    /// The usual traffic with another peak; `None` where its load is out of range.
    fn peak_row(&self, billed: Billed<'_>, usual: &Demand, peak: &Exact) -> Result<Option<PeakRow>, NoPrice> {
        let Some(peaked) = crate::units::ArrivalRate::new(usual.rate.exact() * peak)
            .and_then(|rate| usual.at_rate(rate).ok())
        else {
            return Ok(None);
        };
        let workers = smallest_workers(&peaked, &billed.delivery.objectives);
        let cores = peaked.rate.offered_load(&billed.delivery.cpu_per_attempt).to_f64();
        let containers = self.containers(workers, cores);
        let hourly = containers * self.container_hour()?;
        let mean_s = usual.service.mean.get();
        let functions_per_month = usual.rate.get() * MONTH_S * self.function_attempt(mean_s)?;
        let containers_per_month = hourly * MONTH_HOURS;
        Ok(Some(PeakRow {
            peak_factor: peak.to_f64(),
            containers,
            containers_per_month,
            functions_per_month,
            break_even_rate_per_s: self.break_even_per_s(hourly, mean_s)?,
            cheaper: if functions_per_month < containers_per_month {
                Choice::Functions
            } else {
                Choice::Containers
            },
        }))
    }

    fn prices_used(&self, billed: Billed<'_>) -> Result<Vec<PriceUsed>, NoPrice> {
        let sharded = billed.bus.is_some_and(Bus::is_sharded);
        let (queued, stored) = (billed.queues.is_some(), billed.delivery.idempotency.is_some());
        let is_used = |item: &Item| match item {
            Item::QueueRequest => queued && !self.fifo,
            Item::FifoQueueRequest => queued && self.fifo,
            Item::ShardHour | Item::BusPayloadUnit => sharded,
            Item::StoreWrite | Item::StoreGbMonth => stored,
            _ => true,
        };
        let used = Item::ALL.into_iter().filter(is_used).map(|item| {
            let price = self.prices.price(item)?;
            Ok(PriceUsed {
                item,
                amount: price.amount.to_f64(),
                per: Count::get(price.per),
                source: price.source.clone(),
                date: price.date.clone(),
                note: price.note.clone(),
            })
        });
        used.collect()
    }
}
