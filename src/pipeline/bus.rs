//! The event bus: how many partitions or shards, and whether the hottest key fits one.

use super::Events;
use super::need::{Need, Stage, StageName, Unit};
use crate::units::{ArrivalRate, Bytes, Count, Exact, Seconds, Share};

/// The event bus.
#[derive(Clone, Debug, PartialEq)]
pub struct Bus {
    /// What one partition carries.
    pub partition: Partition,
    /// Mean size of an event.
    pub size: Bytes,
    /// How many applications read every event.
    pub readers: Count,
    /// The share of events with the most frequent key: one key is one partition.
    pub hottest_key_share: Share,
    /// Partitions that there are.
    pub partitions: Option<Count>,
}

/// What one partition or shard carries.
#[derive(Clone, Debug, PartialEq)]
pub enum Partition {
    /// A shard with fixed limits, as in Kinesis.
    Shard {
        /// Bytes in, a second.
        bytes_in: Bytes,
        /// Records in, a second.
        records_in: ArrivalRate,
        /// Bytes out, a second, shared by all readers.
        bytes_out: Bytes,
    },
    /// A partition with measured limits, as in Kafka.
    Partition {
        /// Bytes a second that a producer gets into one, P.
        produce: Option<Bytes>,
        /// Bytes a second that a consumer gets out of one, C.
        consume: Option<Bytes>,
        /// How long a consumer is busy with an event, one at a time.
        one_at_a_time: Option<Seconds>,
    },
}

/// How many partitions one limit asks for.
#[derive(Clone, Debug, PartialEq)]
pub struct Driver {
    /// Its name.
    pub name: &'static str,
    /// Partitions' worth, before rounding up.
    pub load: Exact,
    /// The part of it that the hottest key makes.
    pub hottest_key: Exact,
}

impl Bus {
    /// Whether its partitions are shards with fixed limits, which are paid by the hour.
    #[must_use]
    pub fn is_sharded(&self) -> bool {
        matches!(self.partition, Partition::Shard { .. })
    }

    /// What each limit asks for at the peak:
    /// shards = max(⌈MB/s ÷ 1⌉, ⌈records/s ÷ 1000⌉, ⌈egress ÷ 2 MB/s⌉) with the usual limits;
    /// partitions = max(T/P, T/C, λS), the last for consumers that take one event at a time.
    #[must_use]
    pub fn drivers(&self, events: &Events, growth: &Exact) -> Vec<Driver> {
        let rate = events.peak_rate(growth);
        let throughput = &rate * self.size.exact();
        let egress = &throughput * &Exact::whole(self.readers.get().into());
        let over = |name, need: &Exact, limit: Option<&Exact>| {
            let load = need.over(limit?)?;
            let hottest_key = &load * self.hottest_key_share.exact();
            Some(Driver { name, load, hottest_key })
        };
        let drivers = match &self.partition {
            Partition::Shard { bytes_in, records_in, bytes_out } => vec![
                over("shards_for_bytes_in", &throughput, Some(bytes_in.exact())),
                over("shards_for_records", &rate, Some(records_in.exact())),
                over("shards_for_bytes_out", &egress, Some(bytes_out.exact())),
            ],
            Partition::Partition { produce, consume, one_at_a_time } => vec![
                over("partitions_to_produce", &throughput, produce.as_ref().map(Bytes::exact)),
                over("partitions_to_consume", &throughput, consume.as_ref().map(Bytes::exact)),
                one_at_a_time.as_ref().and_then(|busy| {
                    over("partitions_one_at_a_time", &(&rate * busy.exact()), Some(&Exact::one()))
                }),
            ],
        };
        drivers.into_iter().flatten().collect()
    }

    /// The partitions that the bus needs at the peak; at least one.
    #[must_use]
    pub fn partitions_needed(&self, events: &Events, growth: &Exact) -> Option<u64> {
        let most = self.drivers(events, growth).into_iter().map(|driver| driver.load).max();
        most.unwrap_or_else(Exact::one).ceil().map(|partitions| partitions.max(1))
    }

    /// The partitions' worth that the hottest key takes of its one partition; at most 1 fits.
    #[must_use]
    pub fn hottest_key_load(&self, events: &Events, growth: &Exact) -> Option<f64> {
        let most = self.drivers(events, growth).into_iter().map(|driver| driver.hottest_key).max();
        most.map(|load| load.to_f64())
    }

    pub(super) fn stage(&self, events: &Events) -> Stage {
        let names = self.drivers(events, &Exact::one()).into_iter().map(|driver| driver.name);
        let mut needs: Vec<Need> = names
            .enumerate()
            .map(|(index, name)| {
                Need::told(name, Unit::Count, |growth| {
                    self.drivers(events, growth).get(index)?.load.ceil().map(|count| count as f64)
                })
            })
            .collect();
        let name = match self.partition {
            Partition::Shard { .. } => "shards",
            Partition::Partition { .. } => "partitions",
        };
        let deployed = self.partitions.map(|count| count.get() as f64);
        needs.push(Need::limited(name, Unit::Count, deployed, |growth| {
            self.partitions_needed(events, growth).map(|count| count as f64)
        }));
        needs.push(Need::limited(
            "hottest_key_share_of_its_partition",
            Unit::Fraction,
            Some(1.0),
            |growth| self.hottest_key_load(events, growth),
        ));
        Stage::new(StageName::Bus, needs)
    }
}

#[cfg(test)]
mod tests {
    use super::super::events::tests::million;
    use super::*;

    fn kinesis(size: &str, readers: &str) -> Bus {
        Bus {
            partition: Partition::Shard {
                bytes_in: "1MB".parse().unwrap(),
                records_in: "1000".parse().unwrap(),
                bytes_out: "2MB".parse().unwrap(),
            },
            size: size.parse().unwrap(),
            readers: readers.parse().unwrap(),
            hottest_key_share: "10%".parse().unwrap(),
            partitions: Some("2".parse().unwrap()),
        }
    }

    /// 100 M events a day at 1.728 times the mean: exactly 2000 a second.
    fn two_thousand_a_second() -> Events {
        Events { per_day: "100M".parse().unwrap(), peak_factor: "1.728".parse().unwrap(), ..million() }
    }

    #[test]
    fn each_limit_of_a_shard_can_bind() {
        let (events, one) = (two_thousand_a_second(), Exact::one());
        // 2000/s: 2 for the records; at 3 kB 6 MB/s in; 5 readers of 1 kB take 10 MB/s out, 2 MB/s a shard.
        for (size, readers, shards) in [("500", "1", 2), ("3kB", "1", 6), ("1kB", "5", 5), ("1kB", "2", 2)] {
            assert_eq!(
                kinesis(size, readers).partitions_needed(&events, &one),
                Some(shards),
                "{size} {readers}"
            );
        }
    }

    #[test]
    fn partitions_follow_the_slower_of_producer_and_consumer_or_the_one_at_a_time_load() {
        let (events, one) = (two_thousand_a_second(), Exact::one());
        let kafka = |produce: &str, consume: &str, busy: &str| Bus {
            partition: Partition::Partition {
                produce: produce.parse().ok(),
                consume: consume.parse().ok(),
                one_at_a_time: busy.parse().ok(),
            },
            ..kinesis("5kB", "1")
        };
        // T = 10 MB/s: T/P = 1, T/C = 2.5; λS = 2000 × 20 ms = 40.
        assert_eq!(kafka("10MB", "4MB", "").partitions_needed(&events, &one), Some(3));
        assert_eq!(kafka("10MB", "4MB", "20ms").partitions_needed(&events, &one), Some(40));
        assert_eq!(kafka("10MB", "", "").partitions_needed(&events, &one), Some(1));
    }

    #[test]
    fn a_hot_key_breaks_however_many_partitions_there_are() {
        let bus = Bus { partitions: None, ..kinesis("500", "1") };
        let stage = bus.stage(&two_thousand_a_second());
        assert_eq!(stage.binding, Some("hottest_key_share_of_its_partition"));
        // A tenth of 2000/s is a fifth of a shard's 1000 records a second.
        assert!((stage.breaks_at_growth.unwrap() - 5.0).abs() < 1e-4);
        let bound = kinesis("500", "1").stage(&two_thousand_a_second());
        assert_eq!(bound.binding, Some("shards"));
        assert!((bound.breaks_at_growth.unwrap() - 1.0).abs() < 1e-5);
    }
}
