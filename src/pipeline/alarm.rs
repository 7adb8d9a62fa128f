//! The absence alarm: what was published against what was owed.

use super::Events;
use super::need::{Need, Stage, StageName, Unit};
use crate::units::{Count, Exact, Seconds};

/// An alarm for deliveries that never came about.
#[derive(Clone, Debug, PartialEq)]
pub struct AbsenceAlarm {
    /// The window over which published and owed are counted.
    pub window: Seconds,
    /// From event to published delivery at most, in a healthy system.
    pub lag: Seconds,
    /// Deliveries that were published in a day, where they were counted.
    pub published_per_day: Option<Count>,
}

impl AbsenceAlarm {
    /// Deliveries owed in a window at the day's mean.
    #[must_use]
    pub fn owed(&self, events: &Events, growth: &Exact) -> Exact {
        &events.deliveries(&events.mean_rate(growth)) * self.window.exact()
    }

    /// Published over owed of a window that has just ended, below which something is missing and not just under way:
    /// 1 − lag/window. Counted a lag later, everything that is below 1 is missing.
    #[must_use]
    pub fn threshold(&self) -> Option<Exact> {
        self.lag.exact().over(self.window.exact()).and_then(|lag| Exact::one().minus(&lag))
    }

    /// The share of the deliveries owed in a day that were not published; `None` where nobody counted.
    #[must_use]
    pub fn missing(&self, events: &Events) -> Option<Exact> {
        let owed = events.deliveries(&events.in_a_day(&Exact::one()));
        let published = Exact::whole(self.published_per_day?.get().into()).over(&owed)?;
        Some(Exact::one().minus(&published).unwrap_or_else(Exact::zero))
    }

    pub(super) fn stage(&self, events: &Events) -> Stage {
        let mut needs = vec![
            Need::told("owed_in_a_window", Unit::Count, |growth| Some(self.owed(events, growth).to_f64())),
            Need::told("alarm_below_published_over_owed", Unit::Fraction, |_| {
                self.threshold().map(|share| share.to_f64())
            }),
        ];
        if let Some(missing) = self.missing(events) {
            let breaks_at = (!missing.is_zero()).then_some(0.0);
            needs.push(Need::breaking_at("missing_of_owed", Unit::Fraction, 0.0, breaks_at, |_| {
                Some(missing.to_f64())
            }));
        }
        Stage::new(StageName::AbsenceAlarm, needs)
    }
}

#[cfg(test)]
mod tests {
    use super::super::events::tests::million;
    use super::*;

    fn alarm(published: &str) -> AbsenceAlarm {
        AbsenceAlarm {
            window: "5m".parse().unwrap(),
            lag: "30".parse().unwrap(),
            published_per_day: published.parse().ok(),
        }
    }

    #[test]
    fn owed_is_what_the_subscriptions_make_of_the_events() {
        let events = Events { subscriptions: "2.5".parse().unwrap(), ..million() };
        // 2.5 M a day, 300 s.
        let owed = alarm("").owed(&events, &Exact::one()).to_f64();
        assert!((owed - 2.5e6 / 86_400.0 * 300.0).abs() < 1e-6);
        assert_eq!(alarm("").threshold().unwrap().to_f64(), 0.9);
    }

    #[test]
    fn anything_below_what_is_owed_raises_the_alarm() {
        for (published, missing, holds) in [("1M", 0.0, true), ("999999", 1e-6, false), ("1.1M", 0.0, true)] {
            let stage = alarm(published).stage(&million());
            let need = stage.need("missing_of_owed").unwrap();
            assert!((need.today().unwrap() - missing).abs() < 1e-15, "{published}");
            assert_eq!(need.holds_today(), holds, "{published}");
        }
        assert!(alarm("").stage(&million()).need("missing_of_owed").is_none());
    }
}
