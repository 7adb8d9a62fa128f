//! Outbox and change capture: what piles up while the reader stands still.

use super::Events;
use super::backlog::drain_s;
use super::need::{Need, Stage, StageName, Unit};
use crate::units::{ArrivalRate, Bytes, Count, Exact, Seconds};

/// The outbox table and the reader that moves its rows to the bus.
#[derive(Clone, Debug, PartialEq)]
pub struct Outbox {
    /// The longest that the reader stands still and nothing may be lost.
    pub stall: Seconds,
    /// Bytes that the database's log holds for an event.
    pub log_per_event: Option<Bytes>,
    /// Bytes a second that everything else writes to the same log.
    pub other_log_per_s: Option<Bytes>,
    /// Events a second that the reader moves when it catches up.
    pub relay_rate: Option<ArrivalRate>,
    /// By when it must have caught up after a stall.
    pub catch_up_within: Option<Seconds>,
    /// The most rows that the table may hold.
    pub rows_limit: Option<Count>,
    /// The most log that the disk may hold.
    pub log_limit: Option<Bytes>,
}

impl Outbox {
    /// Rows held after a stall: λ × stall.
    #[must_use]
    pub fn rows_held(&self, events: &Events, growth: &Exact) -> Exact {
        events.most_within(&self.stall, growth)
    }

    /// Bytes of log retained after a stall: write rate × longest stall. The rest of the database grows along.
    #[must_use]
    pub fn log_retained(&self, events: &Events, growth: &Exact) -> Option<Exact> {
        let of_events =
            self.log_per_event.as_ref().map(|each| &self.rows_held(events, growth) * each.exact());
        let of_others =
            self.other_log_per_s.as_ref().map(|rate| &(rate.exact() * self.stall.exact()) * growth);
        match (of_events, of_others) {
            (Some(events), Some(others)) => Some(&events + &others),
            (events, others) => events.or(others),
        }
    }

    /// Seconds until the reader has caught up after a stall, at the peak: backlog/(μ − λ). `None` where it never
    /// does.
    #[must_use]
    pub fn catch_up_s(&self, relay_rate: &ArrivalRate, events: &Events, growth: &Exact) -> Option<f64> {
        drain_s(&self.rows_held(events, growth), relay_rate.exact(), &events.peak_rate(growth))
    }

    pub(super) fn stage(&self, events: &Events) -> Stage {
        let limit = |rows: Count| rows.get() as f64;
        let mut needs = vec![Need::limited("rows_held", Unit::Count, self.rows_limit.map(limit), |growth| {
            Some(self.rows_held(events, growth).to_f64())
        })];
        if self.log_per_event.is_some() || self.other_log_per_s.is_some() {
            let limit = self.log_limit.as_ref().map(Bytes::get);
            needs.push(Need::limited("log_retained", Unit::Bytes, limit, |growth| {
                self.log_retained(events, growth).map(|bytes| bytes.to_f64())
            }));
        }
        if let Some(relay_rate) = &self.relay_rate {
            let limit = self.catch_up_within.as_ref().map(Seconds::get);
            needs.push(Need::limited("catch_up", Unit::Seconds, limit, |growth| {
                self.catch_up_s(relay_rate, events, growth)
            }));
        }
        Stage::new(StageName::Outbox, needs)
    }
}

#[cfg(test)]
mod tests {
    use super::super::events::tests::million;
    use super::*;

    fn outbox() -> Outbox {
        Outbox {
            stall: "10m".parse().unwrap(),
            log_per_event: Some("3kB".parse().unwrap()),
            other_log_per_s: Some("1MB".parse().unwrap()),
            relay_rate: Some("500".parse().unwrap()),
            catch_up_within: Some("5m".parse().unwrap()),
            rows_limit: None,
            log_limit: Some("10GB".parse().unwrap()),
        }
    }

    #[test]
    fn a_stall_holds_rows_and_log_and_is_caught_up_at_what_the_peak_leaves() {
        let (outbox, events, one) = (outbox(), million(), Exact::one());
        // 115.74 events a second for 600 s; 3 kB each beside 1 MB a second; 69,444/(500 − 115.74).
        assert!((outbox.rows_held(&events, &one).to_f64() - 69_444.444).abs() < 1e-3);
        assert!((outbox.log_retained(&events, &one).unwrap().to_f64() - 808_333_333.3).abs() < 1.0);
        let relay = "500".parse().unwrap();
        assert!((outbox.catch_up_s(&relay, &events, &one).unwrap() - 180.722_891_6).abs() < 1e-6);
    }

    #[test]
    fn the_reader_binds_before_the_disk_does() {
        let stage = outbox().stage(&million());
        assert_eq!(stage.binding, Some("catch_up"));
        // 694.44·g·100/(500 − 115.74·g) = 300 s: g = 150,000/(69,444.4 + 34,722.2).
        assert!((stage.breaks_at_growth.unwrap() - 1.44).abs() < 1e-4);
        let catch_up = stage.need("catch_up").unwrap();
        assert_eq!(catch_up.at[2].value, None, "at five times the volume it never catches up");
    }
}
