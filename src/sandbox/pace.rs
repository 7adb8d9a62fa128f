//! Sleeping so that latencies are right on average, to the microsecond.
//!
//! The runtime's timer rounds every sleep up to its next millisecond. At a mean latency of 50 ms that alone adds 1 to
//! 2% to the offered load, and near saturation that doubles the wait. So what one sleep takes too long is carried over
//! and taken off the next one: each latency is right to about a millisecond, and their mean is exact.

use std::sync::atomic::{AtomicI64, Ordering::Relaxed};
use std::time::Duration;
use tokio::time::{Instant, sleep_until};

/// The most that is carried over, in nanoseconds: what a machine that is too busy adds must show.
const MOST_CARRIED_NS: i64 = 5_000_000;

/// Paces the answers of one endpoint.
#[derive(Debug, Default)]
pub(super) struct Pace {
    /// By how much the sleeps so far were too long, in nanoseconds.
    carried_ns: AtomicI64,
}

impl Pace {
    /// Sleeps until this long after `start`, a little less if earlier sleeps took too long.
    pub(super) async fn sleep(&self, start: Instant, latency: Duration) {
        if latency.is_zero() {
            return;
        }
        let wanted = i64::try_from(latency.as_nanos()).unwrap_or(i64::MAX);
        let carried = self.carried_ns.swap(0, Relaxed);
        let planned = wanted.saturating_sub(carried).max(0);
        sleep_until(start + Duration::from_nanos(planned.unsigned_abs())).await;
        let taken = i64::try_from(start.elapsed().as_nanos()).unwrap_or(i64::MAX);
        let error = carried.saturating_add(taken.saturating_sub(wanted));
        let carry = |sum: i64| Some(sum.saturating_add(error).clamp(-MOST_CARRIED_NS, MOST_CARRIED_NS));
        // The closure always gives a value, so this cannot fail.
        let _ = self.carried_ns.fetch_update(Relaxed, Relaxed, carry);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn many_sleeps_take_their_sum_although_each_is_rounded_up() {
        let (pace, start) = (Pace::default(), Instant::now());
        let latency = Duration::from_micros(2_300);
        for _ in 0..200 {
            pace.sleep(Instant::now(), latency).await;
        }
        // Rounded up to the timer's ticks, they would take 600 ms. A machine that is busy may take longer.
        assert!(start.elapsed() >= 200 * latency - Duration::from_millis(10), "{:?}", start.elapsed());
        assert!(pace.carried_ns.load(Relaxed).abs() <= MOST_CARRIED_NS);
    }

    #[tokio::test(start_paused = true)]
    async fn what_was_slept_too_long_is_taken_off_the_next_sleep() {
        let pace = Pace::default();
        // Paused time rounds to the same milliseconds.
        let mut lengths = Vec::new();
        for _ in 0..10 {
            let start = Instant::now();
            pace.sleep(start, Duration::from_micros(1_500)).await;
            lengths.push(start.elapsed());
        }
        let total: Duration = lengths.iter().sum();
        let error = total.abs_diff(Duration::from_millis(15));
        assert!(error <= Duration::from_millis(1), "{lengths:?}");
    }
}
