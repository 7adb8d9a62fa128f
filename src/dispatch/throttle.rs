//! A partner's own limits: rate, attempts in flight, and a budget of retries, so that a partner in trouble
//! degrades only itself.

use std::time::Duration;
use tokio::time::Instant;

/// A partner's limits.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ThrottleSettings {
    /// Attempts a second, on average; `None` for no limit.
    pub rate_per_s: Option<f64>,
    /// Attempts that may start at once after a quiet time, where there is a rate; at least one.
    pub burst: f64,
    /// Attempts in flight; `None` for no limit.
    pub max_in_flight: Option<u32>,
    /// Retries in flight, as a share of the first attempts in flight (Envoy's retry budget).
    pub retry_share: f64,
    /// Retries in flight that are always allowed; at least one.
    pub retry_floor: u32,
}

impl Default for ThrottleSettings {
    /// No rate, no cap; retries up to 20% of first attempts, and at least three.
    fn default() -> Self {
        ThrottleSettings {
            rate_per_s: None,
            burst: 1.0,
            max_in_flight: None,
            retry_share: 0.2,
            retry_floor: 3,
        }
    }
}

/// The state of one partner's limits.
#[derive(Clone, Debug)]
pub struct Throttle {
    settings: ThrottleSettings,
    firsts: u32,
    retries: u32,
    /// Attempts that may start now, and when that was.
    tokens: f64,
    refilled: Option<Instant>,
}

impl Throttle {
    /// Starts with a full burst.
    #[must_use]
    pub fn new(settings: ThrottleSettings) -> Self {
        Throttle { settings, firsts: 0, retries: 0, tokens: settings.burst.max(1.0), refilled: None }
    }

    /// Changes the limits; what is in flight stays counted.
    pub fn change(&mut self, settings: ThrottleSettings) {
        self.settings = settings;
    }

    /// Whether one more attempt may start.
    ///
    /// # Errors
    /// It may not: until that instant, or until an attempt is finished.
    pub fn check(&mut self, retry: bool, now: Instant) -> Result<(), Option<Instant>> {
        let full = self.settings.max_in_flight.is_some_and(|most| self.firsts + self.retries >= most.max(1));
        let spent = retry && self.retries >= self.retry_places();
        if full || spent {
            return Err(None);
        }
        self.refill(now);
        match self.settings.rate_per_s {
            Some(rate) if self.tokens < 1.0 => Err(Some(now + until_one(self.tokens, rate))),
            _ => Ok(()),
        }
    }

    /// Starts an attempt that [`Throttle::check`] allowed.
    pub fn start(&mut self, retry: bool) {
        self.tokens -= 1.0;
        if retry {
            self.retries += 1;
        } else {
            self.firsts += 1;
        }
    }

    /// An attempt is finished.
    pub fn finish(&mut self, retry: bool) {
        let count = if retry { &mut self.retries } else { &mut self.firsts };
        *count = count.saturating_sub(1);
    }

    fn retry_places(&self) -> u32 {
        let share = (f64::from(self.firsts) * self.settings.retry_share).max(0.0) as u32;
        share.max(self.settings.retry_floor).max(1)
    }

    fn refill(&mut self, now: Instant) {
        let full = self.settings.burst.max(1.0);
        self.tokens = match (self.settings.rate_per_s, self.refilled) {
            (Some(rate), Some(then)) => {
                (self.tokens + rate * now.saturating_duration_since(then).as_secs_f64()).min(full)
            }
            _ => full,
        };
        self.refilled = Some(now);
    }
}

/// Time until there is a whole token; a rate of zero is asked again in an hour.
fn until_one(tokens: f64, rate_per_s: f64) -> Duration {
    const LONGEST: Duration = Duration::from_secs(3600);
    // A nanosecond more, so that rounding cannot leave the token a hair short at that instant.
    Duration::try_from_secs_f64((1.0 - tokens) / rate_per_s)
        .map_or(LONGEST, |wait| wait.min(LONGEST) + Duration::from_nanos(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(start: Instant, milliseconds: u64) -> Instant {
        start + Duration::from_millis(milliseconds)
    }

    #[test]
    fn a_rate_spaces_attempts_out_after_the_burst() {
        let settings = ThrottleSettings { rate_per_s: Some(10.0), burst: 2.0, ..Default::default() };
        let (mut throttle, start) = (Throttle::new(settings), Instant::now());
        let mut begun = Vec::new();
        let mut now = start;
        while begun.len() < 5 {
            match throttle.check(false, now) {
                Ok(()) => {
                    throttle.start(false);
                    begun.push((now - start).as_millis());
                }
                Err(until) => now = until.unwrap(),
            }
        }
        assert_eq!(begun, [0, 0, 100, 200, 300]);
    }

    #[test]
    fn retries_have_a_budget_of_their_own() {
        let (mut throttle, now) = (Throttle::new(ThrottleSettings::default()), Instant::now());
        for _ in 0..3 {
            throttle.check(true, now).unwrap();
            throttle.start(true);
        }
        assert_eq!(throttle.check(true, now), Err(None), "three are always allowed");
        for _ in 0..20 {
            throttle.check(false, now).unwrap();
            throttle.start(false);
        }
        assert_eq!(throttle.check(true, now), Ok(()), "20% of twenty is four");
        throttle.start(true);
        assert_eq!(throttle.check(true, now), Err(None));
        throttle.finish(true);
        assert_eq!(throttle.check(true, now), Ok(()));
    }

    #[test]
    fn a_cap_counts_first_attempts_and_retries_together() {
        let settings = ThrottleSettings { max_in_flight: Some(2), ..Default::default() };
        let (mut throttle, now) = (Throttle::new(settings), Instant::now());
        throttle.start(false);
        throttle.start(true);
        assert_eq!(throttle.check(false, now), Err(None));
        throttle.finish(true);
        assert_eq!(throttle.check(false, at(now, 1)), Ok(()));
    }

    #[test]
    fn a_rate_of_zero_is_asked_again_later_and_does_not_panic() {
        let settings = ThrottleSettings { rate_per_s: Some(0.0), ..Default::default() };
        let (mut throttle, now) = (Throttle::new(settings), Instant::now());
        throttle.check(false, now).unwrap();
        throttle.start(false);
        assert!(matches!(throttle.check(false, now), Err(Some(until)) if until > at(now, 1000)));
    }
}
