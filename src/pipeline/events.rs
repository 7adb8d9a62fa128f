//! What is published: the volume that drives every stage.

use super::LoadShape;
use crate::units::{Bytes, Count, Exact, Ratio, Seconds, Share};

/// Seconds in a day.
pub(super) const DAY_S: u128 = 86_400;

/// The events of the pipeline, today.
#[derive(Clone, Debug, PartialEq)]
pub struct Events {
    /// Events a day; more than zero.
    pub per_day: Count,
    /// The busiest rate over the day's mean; at least 1.
    pub peak_factor: Ratio,
    /// Mean size of an event on the bus.
    pub size: Option<Bytes>,
    /// Mean number of subscriptions that match an event: so many deliveries are owed for it.
    pub subscriptions: Ratio,
    /// Events that must not wait behind others.
    pub priority: Option<Priority>,
    /// A run of many events at once.
    pub bulk: Option<Bulk>,
    /// How the load moves, where it was measured.
    pub load: Option<LoadShape>,
}

/// Events with workers of their own.
#[derive(Clone, Debug, PartialEq)]
pub struct Priority {
    /// Their share of all events.
    pub share: Share,
    /// Their mean wait at most.
    pub wait: Seconds,
}

/// Many events at once, such as a migration or a monthly run.
#[derive(Clone, Debug, PartialEq)]
pub struct Bulk {
    /// How many events.
    pub events: Count,
    /// By when they must be delivered.
    pub within: Option<Seconds>,
}

impl Events {
    /// Events in a day, at a growth of today's volume.
    #[must_use]
    pub fn in_a_day(&self, growth: &Exact) -> Exact {
        &Exact::whole(self.per_day.get().into()) * growth
    }

    /// Events a second, averaged over the day.
    #[must_use]
    pub fn mean_rate(&self, growth: &Exact) -> Exact {
        &self.in_a_day(growth) / SECONDS_OF_DAY
    }

    /// Events a second at the peak.
    #[must_use]
    pub fn peak_rate(&self, growth: &Exact) -> Exact {
        &self.mean_rate(growth) * self.peak_factor.exact()
    }

    /// The most events within a span: the peak rate throughout, but in no day more than the day has.
    #[must_use]
    pub fn most_within(&self, span: &Seconds, growth: &Exact) -> Exact {
        let day = Exact::whole(DAY_S);
        let whole_days = span.exact().over(&day).and_then(|days| days.floor()).unwrap_or(0);
        let whole_days = Exact::whole(whole_days.into());
        let rest = span.exact().minus(&(&whole_days * &day)).unwrap_or_else(Exact::zero);
        let a_day = self.in_a_day(growth);
        let at_the_peak = &self.peak_rate(growth) * &rest;
        &(&whole_days * &a_day) + &at_the_peak.min(a_day.clone())
    }

    /// Deliveries owed for so many events.
    #[must_use]
    pub fn deliveries(&self, events: &Exact) -> Exact {
        events * self.subscriptions.exact()
    }
}

const SECONDS_OF_DAY: std::num::NonZeroU64 = std::num::NonZeroU64::new(86_400).unwrap();

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// A million events a day with a tenfold peak.
    pub(crate) fn million() -> Events {
        Events {
            per_day: "1M".parse().unwrap(),
            peak_factor: "10".parse().unwrap(),
            size: Some("2kB".parse().unwrap()),
            subscriptions: "1".parse().unwrap(),
            priority: None,
            bulk: None,
            load: None,
        }
    }

    #[test]
    fn a_day_is_spread_and_then_peaked() {
        let events = million();
        let one = Exact::one();
        assert!((events.mean_rate(&one).to_f64() - 11.574_074_074).abs() < 1e-9);
        assert!((events.peak_rate(&one).to_f64() - 115.740_740_74).abs() < 1e-8);
        assert_eq!(events.in_a_day(&Exact::whole(10)), Exact::whole(10_000_000));
    }

    #[test]
    fn no_span_holds_more_events_than_its_days_have() {
        let events = million();
        let one = Exact::one();
        // λ × stall: 115.74/s for ten minutes.
        let in_ten_minutes = events.most_within(&"10m".parse().unwrap(), &one).to_f64();
        assert!((in_ten_minutes - 69_444.444_4).abs() < 1e-3);
        for (span, most) in [("12h", 1_000_000), ("1d", 1_000_000), ("7d", 7_000_000), ("2d12h", 3_000_000)] {
            assert_eq!(events.most_within(&span.parse().unwrap(), &one), Exact::whole(most), "{span}");
        }
    }
}
