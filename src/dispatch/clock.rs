//! Where the dispatcher reads the time.

use std::fmt::Debug;
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use tokio::time::Instant;

/// A monotonic clock for waits and deadlines, and the calendar for signatures and HTTP dates.
///
/// The monotonic part is the runtime's own instant, so that sleeping and reading agree, under paused time too.
pub trait Clock: Debug + Send + Sync {
    /// Now, for measuring.
    fn now(&self) -> Instant;

    /// Now, as the time since 1970 in UTC.
    fn unix(&self) -> Duration;
}

/// The machine's clocks.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> Instant {
        Instant::now()
    }

    fn unix(&self) -> Duration {
        // A calendar before 1970 is a machine whose clock is not set.
        SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default()
    }
}
