//! Ending a dispatcher: first finish what is leased, then stop at once.

use tokio::sync::watch;

/// How far the ending has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Stage {
    Running,
    Draining,
    Stopped,
}

/// Asked by whoever ends the dispatcher, seen by the dispatcher; clones are the same switch.
#[derive(Clone, Debug)]
pub struct Shutdown {
    stage: watch::Sender<Stage>,
}

impl Default for Shutdown {
    fn default() -> Self {
        Shutdown::new()
    }
}

impl Shutdown {
    /// Nothing is to end yet.
    #[must_use]
    pub fn new() -> Self {
        Shutdown { stage: watch::Sender::new(Stage::Running) }
    }

    /// Leases nothing more; what is leased is finished within its lease. A second request is [`Shutdown::stop`]:
    /// a signal handler calls this for every signal.
    pub fn drain(&self) {
        self.stage.send_modify(|stage| {
            *stage = if *stage == Stage::Running { Stage::Draining } else { Stage::Stopped };
        });
    }

    /// Drops every attempt in the middle; its message goes back to the queue.
    pub fn stop(&self) {
        self.stage.send_replace(Stage::Stopped);
    }

    /// Whether leasing has ended.
    #[must_use]
    pub fn is_draining(&self) -> bool {
        *self.stage.borrow() >= Stage::Draining
    }

    /// Waits until leasing is to end.
    pub async fn draining(&self) {
        self.reached(Stage::Draining).await;
    }

    /// Waits until everything is to end.
    pub async fn stopped(&self) {
        self.reached(Stage::Stopped).await;
    }

    async fn reached(&self, wanted: Stage) {
        // The sender is this struct's own, so the channel cannot close.
        let _ = self.stage.subscribe().wait_for(|stage| *stage >= wanted).await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn the_first_request_drains_and_the_second_stops() {
        let (shutdown, seen) = (Shutdown::new(), Shutdown::new());
        assert!(!seen.is_draining());
        let seen = shutdown.clone();
        shutdown.drain();
        seen.draining().await;
        assert!(seen.is_draining());
        shutdown.drain();
        seen.stopped().await;
    }
}
