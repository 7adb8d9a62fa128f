//! How many attempts an endpoint gets at once, learned from its answers.

use std::time::Duration;
use tokio::time::Instant;

/// How an endpoint's limit moves.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum GovernorPolicy {
    /// Half a place more after every success and half the places less after every bad answer, as the published
    /// sizing guides have it. It grows by half a round trip's attempts each round trip, grows while idle, and a
    /// burst of refusals halves it once each.
    Additive,
    /// About one place more each round trip and only when the places were all taken; cut at most once each round
    /// trip, to 90% (Netflix's concurrency limits and Vector's adaptive concurrency do so).
    #[default]
    Paced,
    /// No limit.
    Off,
}

const START: f64 = 4.0;
const CEILING: f64 = 64.0;
const FLOOR: f64 = 1.0;
const ADDITIVE_STEP: f64 = 0.5;
const ADDITIVE_CUT: f64 = 0.5;
const PACED_CUT: f64 = 0.9;

/// What an answer says about the endpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Signal {
    /// It took the delivery.
    Good,
    /// It asks to slow down, or does not answer; if it said so, nothing may start for this long.
    Bad(Option<Duration>),
    /// Neither.
    Neutral,
}

/// The limit of one endpoint.
#[derive(Clone, Debug)]
pub struct Governor {
    policy: GovernorPolicy,
    limit: f64,
    in_flight: u32,
    blocked_until: Option<Instant>,
    /// When the last free place was last taken.
    last_full: Option<Instant>,
    last_cut: Option<Instant>,
}

impl Governor {
    /// Starts at 4 places, between 1 and 64.
    #[must_use]
    pub fn new(policy: GovernorPolicy) -> Self {
        Governor { policy, limit: START, in_flight: 0, blocked_until: None, last_full: None, last_cut: None }
    }

    /// Takes a place.
    ///
    /// # Errors
    /// There is none: until that instant, or until an attempt is finished.
    pub fn start(&mut self, now: Instant) -> Result<(), Option<Instant>> {
        if let Some(until) = self.blocked_until {
            if now < until {
                return Err(Some(until));
            }
            self.blocked_until = None;
        }
        if self.in_flight >= self.places() {
            return Err(None);
        }
        self.in_flight += 1;
        if self.in_flight == self.places() {
            self.last_full = Some(now);
        }
        Ok(())
    }

    /// Gives a place back that was taken at that instant.
    pub fn finish(&mut self, taken: Instant, signal: Signal, now: Instant) {
        self.in_flight = self.in_flight.saturating_sub(1);
        if self.policy == GovernorPolicy::Off {
            return;
        }
        match (signal, self.policy) {
            (Signal::Neutral, _) => {}
            (Signal::Good, GovernorPolicy::Additive) => self.limit += ADDITIVE_STEP,
            (Signal::Good, _) => {
                // One round trip gives about `limit` successes, so their shares add up to one place. What started
                // before the last cut tells nothing about the limit since.
                if self.last_full.is_some_and(|full| full >= taken) && self.knows_the_last_cut(taken) {
                    self.limit += 1.0 / self.limit;
                }
            }
            (Signal::Bad(retry_after), policy) => {
                if policy == GovernorPolicy::Additive {
                    self.limit *= ADDITIVE_CUT;
                } else if self.knows_the_last_cut(taken) {
                    self.limit *= PACED_CUT;
                    self.last_cut = Some(now);
                }
                if let Some(after) = retry_after {
                    self.blocked_until = self.blocked_until.max(now.checked_add(after));
                }
            }
        }
        self.limit = self.limit.clamp(FLOOR, CEILING);
    }

    fn knows_the_last_cut(&self, taken: Instant) -> bool {
        self.last_cut.is_none_or(|cut| taken >= cut)
    }

    /// Attempts that may be in flight at once; `u32::MAX` if there is no limit.
    #[must_use]
    pub fn places(&self) -> u32 {
        if self.policy == GovernorPolicy::Off { u32::MAX } else { self.limit as u32 }
    }

    /// Attempts in flight.
    #[must_use]
    pub fn in_flight(&self) -> u32 {
        self.in_flight
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const ROUND_TRIP: Duration = Duration::from_millis(100);

    /// One round trip that takes all places; what is above `capacity` is refused, at once as endpoints do.
    /// Gives the attempts that were taken, and those that were refused.
    fn round(governor: &mut Governor, now: &mut Instant, capacity: u32) -> (u32, u32) {
        let mut tickets = Vec::new();
        while governor.start(*now).is_ok() {
            tickets.push(*now);
        }
        let attempts = tickets.len() as u32;
        *now += ROUND_TRIP;
        let refused = attempts.saturating_sub(capacity);
        for (index, taken) in tickets.into_iter().enumerate() {
            let signal = if (index as u32) < refused { Signal::Bad(None) } else { Signal::Good };
            governor.finish(taken, signal, *now);
        }
        (attempts - refused, refused)
    }

    #[test]
    fn additive_follows_the_guides_to_the_letter() {
        let mut governor = Governor::new(GovernorPolicy::Additive);
        let now = Instant::now();
        for _ in 0..4 {
            governor.start(now).unwrap();
        }
        assert_eq!(governor.start(now), Err(None), "it starts with four places");
        governor.finish(now, Signal::Good, now);
        governor.finish(now, Signal::Good, now);
        assert_eq!(governor.places(), 5, "each success is half a place");
        governor.finish(now, Signal::Bad(None), now);
        governor.finish(now, Signal::Bad(None), now);
        assert_eq!(governor.places(), 1, "each bad answer of one burst halves");
        for _ in 0..1_000 {
            governor.start(now).unwrap();
            governor.finish(now, Signal::Good, now);
        }
        assert_eq!(governor.places(), 64, "the ceiling");
    }

    #[test]
    fn paced_grows_one_place_a_round_trip_and_is_cut_once_a_burst() {
        let mut governor = Governor::new(GovernorPolicy::Paced);
        let mut now = Instant::now();
        for _ in 0..20 {
            let before = governor.limit;
            round(&mut governor, &mut now, 64);
            let grown = governor.limit - before;
            assert!((0.5..=1.0).contains(&grown), "{grown}");
        }
        governor.limit = 40.0;
        round(&mut governor, &mut now, 0);
        assert_eq!(governor.limit, 36.0, "forty refusals of one round trip are one cut");
        let idle = governor.limit;
        now += ROUND_TRIP;
        governor.start(now).unwrap();
        governor.finish(now, Signal::Good, now);
        assert_eq!(governor.limit, idle, "it does not grow while places are free");
    }

    #[test]
    fn paced_uses_the_capacity_of_an_endpoint_and_additive_swings_around_it() {
        let measure = |policy| {
            let mut governor = Governor::new(policy);
            let mut now = Instant::now();
            let rounds: Vec<(u32, u32)> = (0..500).map(|_| round(&mut governor, &mut now, 8)).collect();
            let (taken, refused) = rounds.iter().fold((0, 0), |sum, each| (sum.0 + each.0, sum.1 + each.1));
            (f64::from(taken) / (500.0 * 8.0), f64::from(refused) / f64::from(taken + refused))
        };
        let (used, refused) = measure(GovernorPolicy::Paced);
        assert!(used > 0.99 && refused < 0.07, "{used} {refused}");
        let (used, _) = measure(GovernorPolicy::Additive);
        assert!(used < 0.9, "{used}");
    }

    #[test]
    fn only_additive_grows_while_nobody_asks_for_more_and_then_bursts() {
        let burst = |policy| {
            let mut governor = Governor::new(policy);
            let mut now = Instant::now();
            for _ in 0..200 {
                governor.start(now).unwrap();
                now += ROUND_TRIP;
                governor.finish(now - ROUND_TRIP, Signal::Good, now);
            }
            round(&mut governor, &mut now, 8).1
        };
        assert_eq!((burst(GovernorPolicy::Additive), burst(GovernorPolicy::Paced)), (56, 0));
    }

    #[test]
    fn retry_after_closes_the_endpoint_for_that_long() {
        let mut governor = Governor::new(GovernorPolicy::Paced);
        let now = Instant::now();
        governor.start(now).unwrap();
        governor.finish(now, Signal::Bad(Some(ROUND_TRIP)), now);
        assert_eq!(governor.start(now), Err(Some(now + ROUND_TRIP)));
        assert!(governor.start(now + ROUND_TRIP).is_ok());
    }

    proptest! {
        #[test]
        fn in_flight_never_exceeds_the_limit_and_the_limit_stays_in_bounds(
            policy in prop_oneof![Just(GovernorPolicy::Additive), Just(GovernorPolicy::Paced)],
            steps in prop::collection::vec((0..4_u8, 0..200_u64), 1..400),
        ) {
            let mut governor = Governor::new(policy);
            let mut now = Instant::now();
            let mut tickets = Vec::new();
            for (action, milliseconds) in steps {
                now += Duration::from_millis(milliseconds);
                let signal = match action {
                    0 => {
                        let places = governor.places();
                        if governor.start(now).is_ok() {
                            prop_assert!(governor.in_flight() <= places);
                            tickets.push(now);
                        }
                        continue;
                    }
                    1 => Signal::Good,
                    2 => Signal::Bad(Some(Duration::from_millis(milliseconds))),
                    _ => Signal::Neutral,
                };
                if let Some(taken) = tickets.pop() {
                    governor.finish(taken, signal, now);
                }
                prop_assert!((1..=64).contains(&governor.places()));
                prop_assert_eq!(governor.in_flight() as usize, tickets.len());
            }
        }
    }
}
