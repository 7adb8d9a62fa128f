//! Dead letters: how many there are, and how fast they can go out again without hurting anybody.

use super::Events;
use super::backlog::drain_s;
use super::need::{Need, Stage, StageName, Unit};
use super::partners::Partners;
use super::queues::PartnerQueues;
use crate::units::{ArrivalRate, Count, Exact, Seconds};

/// The replay of dead letters.
#[derive(Clone, Debug, PartialEq)]
pub struct Replay {
    /// Dead letters to replay, all to one partner; today's.
    pub messages: Count,
    /// The partner, by its rank from 0, the largest.
    pub partner: usize,
    /// The rate to which the replay is bounded.
    pub rate: ArrivalRate,
    /// By when it must be through.
    pub within: Option<Seconds>,
}

impl Replay {
    /// Dead letters a day: each delivery whose attempts all fail, λ·fᴿ, failures being independent of one another.
    #[must_use]
    pub fn dead_letters_a_day(events: &Events, partners: &Partners, growth: &Exact) -> Exact {
        let share = partners
            .classes()
            .iter()
            .zip(partners.class_shares())
            .fold(Exact::zero(), |sum, (class, share)| &sum + &(share * &partners.dead_letter_share(class)));
        &events.deliveries(&events.in_a_day(growth)) * &share
    }

    /// Dead letters an hour at the day's mean while the partner is down for longer than its attempts last: all of its
    /// deliveries.
    #[must_use]
    pub fn dead_letters_an_hour_if_down(
        &self,
        events: &Events,
        partners: &Partners,
        growth: &Exact,
    ) -> Option<f64> {
        let share = partners.all().get(self.partner)?.share;
        Some(events.deliveries(&events.mean_rate(growth)).to_f64() * share * 3600.0)
    }

    /// Seconds that the replay takes where the partner has `spare` attempts a second left: N/(μ − λ), with the rate
    /// that it is bounded to. `None` where nothing is left.
    #[must_use]
    pub fn duration_s(&self, spare: Option<f64>, growth: &Exact) -> Option<f64> {
        let spare = spare.and_then(Exact::from_f64);
        let rate = self.rate.exact();
        let rate = spare.as_ref().map_or(rate, |spare| spare.min(rate));
        let messages = &Exact::whole(self.messages.get().into()) * growth;
        drain_s(&messages, rate, &Exact::zero())
    }

    pub(super) fn stage(
        &self,
        events: &Events,
        partners: &Partners,
        queues: Option<&PartnerQueues<'_>>,
    ) -> Stage {
        let spare =
            |growth: &Exact| queues.and_then(|queues| queues.spare_per_s(self.partner, growth.to_f64()));
        let mut needs = vec![
            Need::told("dead_letters_a_day", Unit::Count, |growth| {
                Some(Replay::dead_letters_a_day(events, partners, growth).to_f64())
            }),
            Need::told("dead_letters_an_hour_if_the_partner_is_down", Unit::Count, |growth| {
                self.dead_letters_an_hour_if_down(events, partners, growth)
            }),
        ];
        if spare(&Exact::one()).is_some() {
            needs.push(Need::told("spare_rate_of_the_partner", Unit::PerSecond, spare));
        }
        let limit = self.within.as_ref().map(Seconds::get);
        needs.push(Need::limited("replay", Unit::Seconds, limit, |growth| {
            self.duration_s(spare(growth), growth)
        }));
        Stage::new(StageName::Replay, needs)
    }
}

#[cfg(test)]
mod tests {
    use super::super::events::tests::million;
    use super::super::partners::Class;
    use super::super::partners::tests::class;
    use super::*;

    fn replay() -> Replay {
        Replay {
            messages: "50k".parse().unwrap(),
            partner: 0,
            rate: "25".parse().unwrap(),
            within: Some("1h".parse().unwrap()),
        }
    }

    #[test]
    fn a_replay_is_bounded_by_its_rate_and_by_what_the_partner_has_left() {
        let one = Exact::one();
        assert_eq!(replay().duration_s(None, &one), Some(2_000.0));
        assert_eq!(replay().duration_s(Some(100.0), &one), Some(2_000.0));
        // N/(μ − λ) with ten a second left.
        assert_eq!(replay().duration_s(Some(10.0), &one), Some(5_000.0));
        assert_eq!(replay().duration_s(Some(0.0), &one), None);
    }

    #[test]
    fn what_fails_every_time_is_a_dead_letter() {
        let flaky = Class { failure_share: "10%".parse().unwrap(), ..class("flaky", "300ms") };
        let partners = Partners::new(vec![flaky], vec![], None, 3).unwrap();
        assert_eq!(Replay::dead_letters_a_day(&million(), &partners, &Exact::one()), Exact::whole(1_000));
        let stage = replay().stage(&million(), &partners, None);
        assert_eq!(stage.need("dead_letters_a_day").unwrap().at[3].value, Some(10_000.0));
        let down = stage.need("dead_letters_an_hour_if_the_partner_is_down").unwrap().today().unwrap();
        assert!((down - 1e6 / 24.0).abs() < 1e-6, "{down}");
        // 50,000 at 25/s is 2000 s; an hour holds up to 1.8 times as many.
        assert!((stage.breaks_at_growth.unwrap() - 1.8).abs() < 1e-5);
    }
}
