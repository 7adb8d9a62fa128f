//! When a failed message is tried again.

use super::message::MessageId;
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};
use std::time::{Duration, UNIX_EPOCH};

/// Delays between attempts.
#[derive(Clone, Debug, PartialEq)]
pub struct RetryPolicy {
    /// Delay before the second attempt, the third, and so on; the last one repeats. None at all means at once.
    pub delays: Vec<Duration>,
    /// Each delay is spread evenly by this share to either side, from 0 to 1.
    pub jitter: f64,
    /// The longest Retry-After that is honoured; a longer one counts as this.
    pub longest_retry_after: Duration,
}

impl Default for RetryPolicy {
    /// Svix's schedule: 5 s, 5 min, 30 min, 2 h, 5 h, 10 h, 10 h, spread by 20%.
    fn default() -> Self {
        RetryPolicy {
            delays: [5, 300, 1_800, 7_200, 18_000, 36_000, 36_000].map(Duration::from_secs).to_vec(),
            jitter: 0.2,
            longest_retry_after: Duration::from_secs(3_600),
        }
    }
}

impl RetryPolicy {
    /// Delays that double from `first` until they reach `longest`, spread by 20%.
    #[must_use]
    pub fn doubling(first: Duration, longest: Duration) -> Self {
        let doubled = std::iter::successors(Some(first.min(longest)), |delay| {
            (!delay.is_zero() && *delay < longest).then(|| delay.saturating_mul(2).min(longest))
        });
        RetryPolicy { delays: doubled.collect(), ..RetryPolicy::default() }
    }

    /// Delay after the failure of this attempt (1 for the first). The spread depends on the seed, the message and
    /// the attempt alone, so a run repeats; the endpoint's Retry-After is a lower bound, clamped.
    #[must_use]
    pub fn delay(
        &self,
        attempt: u32,
        message: MessageId,
        seed: u64,
        retry_after: Option<Duration>,
    ) -> Duration {
        let index = (attempt.max(1) - 1) as usize;
        let base = self.delays.get(index).or(self.delays.last()).copied().unwrap_or_default();
        let entropy = seed ^ (message.0 as u64) ^ ((message.0 >> 64) as u64).rotate_left(29);
        let mut random = Xoshiro256PlusPlus::seed_from_u64(entropy.wrapping_add(u64::from(attempt)));
        let unit = (random.next_u64() >> 11) as f64 / (1_u64 << 53) as f64;
        let spread = 1.0 + self.jitter.clamp(0.0, 1.0) * (2.0 * unit - 1.0);
        let spread = Duration::try_from_secs_f64(base.as_secs_f64() * spread).unwrap_or(base);
        spread.max(self.clamped(retry_after))
    }

    /// A Retry-After as far as it is honoured; zero if there is none.
    #[must_use]
    pub fn clamped(&self, retry_after: Option<Duration>) -> Duration {
        retry_after.unwrap_or_default().min(self.longest_retry_after)
    }
}

/// Reads a Retry-After header: whole seconds, or an HTTP date seen from `now` (time since 1970); a date gone by is
/// zero, and nonsense is `None`.
#[must_use]
pub fn parse_retry_after(header: &str, now: Duration) -> Option<Duration> {
    let header = header.trim();
    if !header.is_empty() && header.bytes().all(|byte| byte.is_ascii_digit()) {
        // More digits than fit are a very long time.
        return Some(Duration::from_secs(header.parse().unwrap_or(u64::MAX)));
    }
    let date = httpdate::parse_http_date(header).ok()?;
    Some(date.duration_since(UNIX_EPOCH).ok()?.saturating_sub(now))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const SECOND: Duration = Duration::from_secs(1);

    #[test]
    fn delays_follow_the_schedule_and_the_last_one_repeats() {
        let policy = RetryPolicy { jitter: 0.0, ..RetryPolicy::default() };
        let delays: Vec<u64> =
            (1..10).map(|attempt| policy.delay(attempt, MessageId(1), 1, None).as_secs()).collect();
        assert_eq!(delays, [5, 300, 1_800, 7_200, 18_000, 36_000, 36_000, 36_000, 36_000]);
        let doubling = RetryPolicy { jitter: 0.0, ..RetryPolicy::doubling(SECOND, 5 * SECOND) };
        let delays: Vec<u64> =
            (1..6).map(|attempt| doubling.delay(attempt, MessageId(1), 1, None).as_secs()).collect();
        assert_eq!(delays, [1, 2, 4, 5, 5]);
    }

    #[test]
    fn retry_after_is_a_lower_bound_and_is_clamped() {
        let policy = RetryPolicy { jitter: 0.0, ..RetryPolicy::default() };
        let delay = |after| policy.delay(1, MessageId(1), 1, Some(Duration::from_secs(after)));
        assert_eq!(delay(2), 5 * SECOND);
        assert_eq!(delay(60), 60 * SECOND);
        assert_eq!(delay(u64::MAX), 3_600 * SECOND);
    }

    #[test]
    fn retry_after_is_read_in_both_its_forms() {
        let noon = Duration::from_secs(784_111_777);
        for (header, expected) in [
            ("120", Some(120)),
            (" 0 ", Some(0)),
            ("Sun, 06 Nov 1994 08:49:47 GMT", Some(10)),
            ("Sun, 06 Nov 1994 08:49:27 GMT", Some(0)),
            ("99999999999999999999999", Some(u64::MAX)),
            ("-1", None),
            ("1.5", None),
            ("soon", None),
            ("", None),
        ] {
            assert_eq!(parse_retry_after(header, noon), expected.map(Duration::from_secs), "{header}");
        }
    }

    proptest! {
        #[test]
        fn the_spread_stays_within_the_jitter_and_repeats(id: u128, seed: u64, attempt in 1..8_u32) {
            let policy = RetryPolicy::default();
            let exact = RetryPolicy { jitter: 0.0, ..policy.clone() };
            let (base, delay) =
                (exact.delay(attempt, MessageId(id), seed, None), policy.delay(attempt, MessageId(id), seed, None));
            prop_assert!(delay >= base.mul_f64(0.799) && delay <= base.mul_f64(1.201));
            prop_assert_eq!(delay, policy.delay(attempt, MessageId(id), seed, None));
        }

        #[test]
        fn no_header_makes_the_reader_panic(header in "\\PC{0,40}") {
            let _ = parse_retry_after(&header, Duration::ZERO);
        }
    }
}
