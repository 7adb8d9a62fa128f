//! Phases by the names of columns and by labels.

use super::column_names::normalised;
use super::duration::Unit;
use crate::profile::Phase;

/// A column that holds the duration of a phase of each attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct PhaseColumn {
    pub(super) column: usize,
    pub(super) phase: Phase,
    /// The unit of bare numbers.
    pub(super) unit: Option<Unit>,
}

/// A column whose label says of which phase a row is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct PhaseLabels {
    pub(super) column: usize,
    pub(super) rows: LabelledRows,
}

/// What the rows of a table with labels are, which is told by the first of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LabelledRows {
    /// Whole attempts, and phases beside them.
    Beside,
    /// Phases, each taken as an attempt.
    Instead,
    /// Attempts whose labels say nothing.
    Unknown,
}

/// What a row with a label is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Labelled {
    Attempt,
    Phase(Phase),
    /// Neither, as k6 has it in its long table.
    Nothing,
    /// A whole attempt where rows before it, which are parts of some, were taken as attempts.
    Contradiction,
}

/// Names of a column of labels.
pub(super) const LABEL_NAMES: &[&str] = &["phase", "phase_name", "stage", "span", "span_name", "step"];

/// Names of one that says nothing else.
pub(super) const PHASE_NAMES: &[&str] = &["phase", "phase_name"];

/// Labels of whole attempts.
const WHOLE: &[&str] =
    &["total", "attempt", "service", "service_time", "all", "overall", "whole", "http_req_duration"];

/// The phase that a name stands for.
pub(super) fn phase_of(name: &str) -> Option<Phase> {
    let (name, _) = normalised(name);
    let name =
        ["_time", "_duration", "_latency"].iter().find_map(|end| name.strip_suffix(end)).unwrap_or(&name);
    let name = name.strip_prefix("http_req_").unwrap_or(name);
    Some(match name {
        "pool_wait" | "pool" | "pool_acquire" | "checkout" | "connection_wait" | "conn_wait" | "acquire" => {
            Phase::PoolWait
        }
        "lease" | "claim" | "dequeue" | "fetch" => Phase::Lease,
        "dns" | "dns_lookup" | "name_lookup" | "namelookup" | "resolve" => Phase::Dns,
        "connect" | "connecting" | "tcp" | "tcp_connect" | "dial" | "connection" => Phase::Connect,
        "tls" | "ssl" | "tls_handshake" | "tls_handshaking" | "handshake" | "appconnect" => Phase::Tls,
        "send" | "sending" | "write" | "request_write" => Phase::Send,
        "http" | "request" | "ttfb" | "waiting" | "endpoint" | "response_delay" | "server" => Phase::Http,
        "receive" | "receiving" | "read" | "download" | "response_read" => Phase::Receive,
        "ack" | "acknowledge" | "acknowledgement" | "commit" => Phase::Acknowledge,
        _ => return None,
    })
}

impl PhaseLabels {
    /// The labels of a column, told by the first of them.
    pub(super) fn of<'a>(column: usize, mut labels: impl Iterator<Item = &'a str> + Clone) -> Self {
        let rows = if labels.clone().any(is_whole) {
            LabelledRows::Beside
        } else if labels.any(|label| phase_of(label).is_some()) {
            LabelledRows::Instead
        } else {
            LabelledRows::Unknown
        };
        PhaseLabels { column, rows }
    }

    /// What a row with this label is.
    pub(super) fn read(&self, label: &[u8]) -> Labelled {
        let label = String::from_utf8_lossy(label.trim_ascii());
        match (self.rows, is_whole(&label)) {
            (LabelledRows::Beside, true) => Labelled::Attempt,
            (LabelledRows::Beside, false) => phase_of(&label).map_or(Labelled::Nothing, Labelled::Phase),
            (_, true) => Labelled::Contradiction,
            (LabelledRows::Instead, false) => Labelled::Phase(phase_of(&label).unwrap_or(Phase::Other)),
            (LabelledRows::Unknown, false) => Labelled::Attempt,
        }
    }
}

fn is_whole(label: &str) -> bool {
    WHOLE.contains(&normalised(label).0.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn phases_are_known_by_many_names() {
        for (name, phase) in [
            ("dns_ms", Phase::Dns),
            ("tlsHandshakeMs", Phase::Tls),
            ("connect_time", Phase::Connect),
            ("http", Phase::Http),
            ("ACK", Phase::Acknowledge),
            ("pool_wait_us", Phase::PoolWait),
            ("http_req_tls_handshaking", Phase::Tls),
            ("DNS+dialup", Phase::Other),
            ("endpoint_name", Phase::Other),
        ] {
            assert_eq!(phase_of(name).unwrap_or(Phase::Other), phase, "{name}");
        }
    }

    #[test]
    fn a_label_of_the_whole_attempt_makes_the_others_its_parts() {
        let beside = PhaseLabels::of(0, ["dns", "total"].into_iter());
        assert_eq!(beside.read(b"total"), Labelled::Attempt);
        assert_eq!(beside.read(b" http "), Labelled::Phase(Phase::Http));
        assert_eq!(beside.read(b"vus"), Labelled::Nothing);
        let instead = PhaseLabels::of(0, ["dns", "http"].into_iter());
        assert_eq!(instead.read(b"render"), Labelled::Phase(Phase::Other));
        let unknown = PhaseLabels::of(0, ["a", "b"].into_iter());
        assert_eq!(unknown.read(b"c"), Labelled::Attempt);
        for labels in [instead, unknown] {
            assert_eq!(labels.read(b"total"), Labelled::Contradiction);
        }
    }
}
