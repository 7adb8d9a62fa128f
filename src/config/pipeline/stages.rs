//! A table for each stage.

use super::objectives::objectives;
use super::partners::limits;
use super::{ConfigError, Table};
use crate::pipeline::cost::Quotas;
use crate::pipeline::{
    AbsenceAlarm, Broker, Bus, Delivery, Events, FanOut, Idempotency, Isolation, Outbox, Partition, Partners,
    Queues, Replay,
};
use crate::units::{ArrivalRate, Bytes, Count, Ratio, Seconds, Share};

/// `[delivery]`, with the attempts that a delivery gets, which concern the partners as well.
pub(super) struct DeliveryTable {
    pub(super) stage: Delivery,
    pub(super) max_attempts: Option<u32>,
}

pub(super) fn delivery(root: &mut Table<'_>, quotas: &Quotas) -> Result<DeliveryTable, ConfigError> {
    let mut table = root.table("delivery")?.ok_or_else(|| root.missing("delivery"))?;
    let objectives = objectives(&mut table)?;
    if objectives.is_empty() {
        return Err(table.error(
            "it has no objective; say what the pool must achieve: wait, wait_quantile, wait_probability, \
             max_utilisation, headroom or beta",
        ));
    }
    let stage = Delivery {
        objectives,
        workers: table.optional("workers", Count::parse_positive)?,
        tasks_per_process: table.or("tasks_per_process", Count::parse_positive, "160")?,
        cpu_per_attempt: table.or("cpu_per_attempt", Seconds::parse_positive, "1ms")?,
        broker: broker(&mut table, quotas)?,
        idempotency: idempotency(&mut table)?,
    };
    let max_attempts = table.optional("max_attempts", attempts)?;
    table.finish()?;
    Ok(DeliveryTable { stage, max_attempts })
}

fn broker(table: &mut Table<'_>, quotas: &Quotas) -> Result<Option<Broker>, ConfigError> {
    let visibility_timeout = table.optional("visibility_timeout", Seconds::parse_positive)?;
    let held_share = table.optional("held_share", str::parse::<Share>)?;
    let in_flight_limit = table.optional("in_flight_limit", Count::parse_positive)?;
    let Some(visibility_timeout) = visibility_timeout else {
        if held_share.is_some() || in_flight_limit.is_some() {
            return Err(table.missing("visibility_timeout"));
        }
        return Ok(None);
    };
    let held_share = held_share.ok_or_else(|| table.missing("held_share"))?;
    let in_flight_limit = in_flight_limit.unwrap_or(quotas.queue_in_flight);
    Ok(Some(Broker { visibility_timeout, held_share, in_flight_limit }))
}

fn idempotency(table: &mut Table<'_>) -> Result<Option<Idempotency>, ConfigError> {
    let ttl = table.optional("idempotency_ttl", Seconds::parse_positive)?;
    let row = table.optional("idempotency_row", Bytes::parse_positive)?;
    let rows_limit = table.optional("idempotency_rows_limit", Count::parse_positive)?;
    match ttl {
        Some(ttl) => Ok(Some(Idempotency { ttl, row, rows_limit })),
        None if row.is_some() || rows_limit.is_some() => Err(table.missing("idempotency_ttl")),
        None => Ok(None),
    }
}

pub(super) fn outbox(root: &mut Table<'_>) -> Result<Option<Outbox>, ConfigError> {
    let Some(mut table) = root.table("outbox")? else { return Ok(None) };
    let outbox = Outbox {
        stall: table.required("stall", Seconds::parse_positive)?,
        log_per_event: table.optional("log_per_event", Bytes::parse_positive)?,
        other_log_per_s: table.optional("other_log_per_s", str::parse::<Bytes>)?,
        relay_rate: table.optional("relay_rate", ArrivalRate::parse_positive)?,
        catch_up_within: table.optional("catch_up_within", Seconds::parse_positive)?,
        rows_limit: table.optional("rows_limit", Count::parse_positive)?,
        log_limit: table.optional("log_limit", Bytes::parse_positive)?,
    };
    if outbox.catch_up_within.is_some() && outbox.relay_rate.is_none() {
        return Err(table.missing("relay_rate"));
    }
    if outbox.log_limit.is_some() && outbox.log_per_event.is_none() && outbox.other_log_per_s.is_none() {
        return Err(table.missing("log_per_event"));
    }
    table.finish()?;
    Ok(Some(outbox))
}

#[derive(Clone, Copy)]
enum BusKind {
    Kinesis,
    Kafka,
}

pub(super) fn bus(
    root: &mut Table<'_>,
    events: &Events,
    partners: &Partners,
    quotas: &Quotas,
) -> Result<Option<Bus>, ConfigError> {
    let Some(mut table) = root.table("bus")? else { return Ok(None) };
    let size =
        events.size.clone().ok_or_else(|| table.error("it needs the size of an event: size in [events]"))?;
    let kind = table.choice("kind", &[("kinesis", BusKind::Kinesis), ("kafka", BusKind::Kafka)])?;
    let partition = match kind.ok_or_else(|| table.missing("kind"))? {
        BusKind::Kinesis => Partition::Shard {
            bytes_in: quotas.shard_bytes_in.clone(),
            records_in: quotas.shard_records_in.clone(),
            bytes_out: quotas.shard_bytes_out.clone(),
        },
        BusKind::Kafka => {
            let partition = Partition::Partition {
                produce: table.optional("produce_per_s", Bytes::parse_positive)?,
                consume: table.optional("consume_per_s", Bytes::parse_positive)?,
                one_at_a_time: table.optional("one_at_a_time", Seconds::parse_positive)?,
            };
            if partition == (Partition::Partition { produce: None, consume: None, one_at_a_time: None }) {
                return Err(table.error(
                    "it says nothing of a partition: measure produce_per_s or consume_per_s (\"10MB\"), or how \
                     long a consumer is busy with an event (one_at_a_time)",
                ));
            }
            partition
        }
    };
    let hottest_key_share = match table.optional("hottest_key_share", str::parse::<Share>)? {
        Some(share) => share,
        // Events are keyed by partner unless the file says otherwise.
        None => crate::units::Exact::from_f64(partners.largest_share())
            .and_then(Share::new)
            .ok_or_else(|| table.missing("hottest_key_share"))?,
    };
    let bus = Bus {
        partition,
        size,
        readers: table.or("readers", Count::parse_positive, "1")?,
        hottest_key_share,
        partitions: table.optional("partitions", Count::parse_positive)?,
    };
    table.finish()?;
    Ok(Some(bus))
}

pub(super) fn fan_out(root: &mut Table<'_>, quotas: &Quotas) -> Result<Option<FanOut>, ConfigError> {
    let Some(mut table) = root.table("fan_out")? else { return Ok(None) };
    let fan_out = FanOut {
        duration: table.required("duration", Seconds::parse_positive)?,
        parallelisation: table.or("parallelisation", Count::parse_positive, "1")?,
        account_concurrency: table
            .optional("account_concurrency", Count::parse_positive)?
            .unwrap_or(quotas.function_concurrency),
    };
    table.finish()?;
    Ok(Some(fan_out))
}

pub(super) fn queues(root: &mut Table<'_>) -> Result<Option<Queues>, ConfigError> {
    let Some(mut table) = root.table("queues")? else { return Ok(None) };
    let queues = Queues {
        wait: table.required("wait", Seconds::parse_positive)?,
        limits: limits(&mut table)?,
        retry_budget: table.or("retry_budget", Ratio::parse_percentage, "20%")?,
        tolerated: table.or("tolerated_breaches", str::parse::<Share>, "0")?,
        outage: table.optional("outage", Seconds::parse_positive)?,
        drain_within: table.optional("drain_within", Seconds::parse_positive)?,
        pollers: table.or("pollers", Count::parse_positive, "1")?,
        poll_wait: table.or("poll_wait", Seconds::parse_positive, "20s")?,
    };
    if queues.drain_within.is_some() && queues.outage.is_none() {
        return Err(table.missing("outage"));
    }
    table.finish()?;
    Ok(Some(queues))
}

pub(super) fn replay(root: &mut Table<'_>, partners: &Partners) -> Result<Option<Replay>, ConfigError> {
    let Some(mut table) = root.table("replay")? else { return Ok(None) };
    let partner = partner(&mut table, partners)?;
    let replay = Replay {
        messages: table.required("messages", Count::parse_positive)?,
        partner,
        rate: table.required("rate", ArrivalRate::parse_positive)?,
        within: table.optional("within", Seconds::parse_positive)?,
    };
    table.finish()?;
    Ok(Some(replay))
}

/// `partner` by its name, else the largest.
fn partner(table: &mut Table<'_>, partners: &Partners) -> Result<usize, ConfigError> {
    let named = table.optional("partner", |typed| {
        let rank = partners.all().iter().position(|partner| partner.name == typed);
        rank.ok_or_else(|| format!("there is no partner \"{typed}\""))
    })?;
    Ok(named.unwrap_or(0))
}

pub(super) fn isolation(root: &mut Table<'_>, partners: &Partners) -> Result<Option<Isolation>, ConfigError> {
    let Some(mut table) = root.table("isolation")? else { return Ok(None) };
    let isolation = Isolation {
        partner: partner(&mut table, partners)?,
        slow_mean: table.optional("slow_mean", Seconds::parse_positive)?,
        burst: table.optional("burst", Count::parse_positive)?,
        length: table.or("length", Seconds::parse_positive, "30m")?,
    };
    if isolation.slow_mean.is_none() && isolation.burst.is_none() {
        return Err(table.error("it says no trouble: give slow_mean, burst or both"));
    }
    table.finish()?;
    Ok(Some(isolation))
}

pub(super) fn alarm(root: &mut Table<'_>) -> Result<Option<AbsenceAlarm>, ConfigError> {
    let Some(mut table) = root.table("alarm")? else { return Ok(None) };
    let alarm = AbsenceAlarm {
        window: table.required("window", Seconds::parse_positive)?,
        lag: table.required("lag", str::parse::<Seconds>)?,
        published_per_day: table.optional("published_per_day", str::parse::<Count>)?,
    };
    if alarm.lag >= alarm.window {
        return Err(
            table.error_at("lag", "the window must be longer than the lag, or nothing in it is ever due")
        );
    }
    table.finish()?;
    Ok(Some(alarm))
}

fn attempts(typed: &str) -> Result<u32, String> {
    let count = Count::parse_positive(typed).map_err(|error| error.to_string())?.get();
    u32::try_from(count)
        .ok()
        .filter(|attempts| *attempts <= 1000)
        .ok_or_else(|| format!("\"{typed}\": at most 1000 attempts are planned for"))
}
