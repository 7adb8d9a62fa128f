//! The phases of an attempt, and a stopwatch that leaves no time between them.

use std::time::Duration;
use tokio::time::Instant;

/// One phase of the service time, from lease to acknowledgement, in this order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Phase {
    /// From the lease to the start of the attempt: the worker is handed the message.
    Lease,
    /// Waiting for a place at the host and for a connection.
    PoolWait,
    /// Resolving the host's name.
    Dns,
    /// Opening the connection.
    Connect,
    /// The TLS handshake.
    Tls,
    /// Building and signing the request.
    Sign,
    /// Writing the request.
    Write,
    /// From the last byte written to the answer's head.
    Wait,
    /// Reading the answer's body.
    Read,
    /// Settling with the queue.
    Acknowledge,
}

impl Phase {
    /// All of them, in order.
    pub const ALL: [Phase; 10] = [
        Phase::Lease,
        Phase::PoolWait,
        Phase::Dns,
        Phase::Connect,
        Phase::Tls,
        Phase::Sign,
        Phase::Write,
        Phase::Wait,
        Phase::Read,
        Phase::Acknowledge,
    ];

    /// Its name in reports and metrics.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Phase::Lease => "lease",
            Phase::PoolWait => "pool_wait",
            Phase::Dns => "dns",
            Phase::Connect => "connect",
            Phase::Tls => "tls",
            Phase::Sign => "sign",
            Phase::Write => "write",
            Phase::Wait => "wait",
            Phase::Read => "read",
            Phase::Acknowledge => "acknowledge",
        }
    }
}

/// Time spent in each phase of one attempt. The phases are contiguous: their sum is the service time.
#[derive(Clone, Copy, Debug)]
pub struct Stopwatch {
    started: Instant,
    last: Instant,
    spent: [Duration; Phase::ALL.len()],
}

impl Stopwatch {
    /// Starts at the moment of the lease.
    #[must_use]
    pub fn start(leased: Instant) -> Self {
        Stopwatch { started: leased, last: leased, spent: [Duration::ZERO; Phase::ALL.len()] }
    }

    /// Ends a phase now: the time since the last mark belongs to it.
    pub fn mark(&mut self, phase: Phase, now: Instant) {
        self.spent[phase as usize] += now.saturating_duration_since(self.last);
        self.last = self.last.max(now);
    }

    /// When the last phase ended.
    #[must_use]
    pub fn last(&self) -> Instant {
        self.last
    }

    /// Time spent in a phase.
    #[must_use]
    pub fn spent(&self, phase: Phase) -> Duration {
        self.spent[phase as usize]
    }

    /// Lease to the last mark: the service time once the message is acknowledged.
    #[must_use]
    pub fn total(&self) -> Duration {
        self.last - self.started
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn phases_add_up_to_the_service_time() {
        let start = Instant::now();
        let mut watch = Stopwatch::start(start);
        let at = |milliseconds| start + Duration::from_millis(milliseconds);
        watch.mark(Phase::Lease, at(1));
        watch.mark(Phase::Wait, at(40));
        watch.mark(Phase::Wait, at(35));
        watch.mark(Phase::Read, at(45));
        assert_eq!(watch.spent(Phase::Wait), Duration::from_millis(39));
        assert_eq!(watch.total(), Duration::from_millis(45));
        assert_eq!(Phase::ALL.iter().map(|phase| watch.spent(*phase)).sum::<Duration>(), watch.total());
    }

    #[test]
    fn phases_are_indexed_in_their_order() {
        assert!(Phase::ALL.iter().enumerate().all(|(index, phase)| *phase as usize == index));
    }
}
