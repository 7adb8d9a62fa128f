//! Fan-out: from an event to the deliveries that it owes.

use super::need::{Need, Stage, StageName, Unit};
use super::{Bus, Events};
use crate::units::{Count, Exact, Seconds};

/// The functions that look up subscriptions and write deliveries.
#[derive(Clone, Debug, PartialEq)]
pub struct FanOut {
    /// How long a function is busy with an event.
    pub duration: Seconds,
    /// Batches of one shard that run at the same time.
    pub parallelisation: Count,
    /// The most functions that the account runs at once.
    pub account_concurrency: Count,
}

impl FanOut {
    /// Deliveries a second at the peak: λ_d = λ × mean subscriptions.
    #[must_use]
    pub fn deliveries_per_s(&self, events: &Events, growth: &Exact) -> Exact {
        events.deliveries(&events.peak_rate(growth))
    }

    /// Functions busy at the peak on average: λ × duration.
    #[must_use]
    pub fn concurrency(&self, events: &Events, growth: &Exact) -> Exact {
        &events.peak_rate(growth) * self.duration.exact()
    }

    /// The most functions that can run: shards × parallelisation, and no more than the account has.
    #[must_use]
    pub fn most_functions(&self, bus: Option<&Bus>) -> u64 {
        let shards = bus.and_then(|bus| bus.partitions);
        let by_shards = shards.map(|shards| shards.get().saturating_mul(self.parallelisation.get()));
        by_shards.unwrap_or(u64::MAX).min(self.account_concurrency.get())
    }

    pub(super) fn stage(&self, events: &Events, bus: Option<&Bus>) -> Stage {
        let most = self.most_functions(bus) as f64;
        let deliveries = Need::told("deliveries", Unit::PerSecond, |growth| {
            Some(self.deliveries_per_s(events, growth).to_f64())
        });
        let functions = Need::limited("functions_busy", Unit::Erlangs, Some(most), |growth| {
            Some(self.concurrency(events, growth).to_f64())
        });
        Stage::new(StageName::FanOut, vec![deliveries, functions])
    }
}

#[cfg(test)]
mod tests {
    use super::super::events::tests::million;
    use super::*;

    #[test]
    fn functions_are_bound_by_shards_times_parallelisation_or_by_the_account() {
        let fan_out = FanOut {
            duration: "100ms".parse().unwrap(),
            parallelisation: "2".parse().unwrap(),
            account_concurrency: "1000".parse().unwrap(),
        };
        let events = Events { subscriptions: "2.5".parse().unwrap(), ..million() };
        let one = Exact::one();
        // 115.74 events a second × 2.5, and × 100 ms.
        assert!((fan_out.deliveries_per_s(&events, &one).to_f64() - 289.351_851).abs() < 1e-5);
        assert!((fan_out.concurrency(&events, &one).to_f64() - 11.574_074).abs() < 1e-5);
        assert_eq!(fan_out.most_functions(None), 1000);
        let stage = fan_out.stage(&events, None);
        assert!((stage.breaks_at_growth.unwrap() - 86.4).abs() < 1e-3);
    }
}
