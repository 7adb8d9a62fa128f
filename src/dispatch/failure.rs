//! How an attempt fails, in words that a metrics label can carry.

use super::phases::Phase;
use std::fmt;

/// Why an attempt, or a message for good, failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Failure {
    /// The endpoint answered with a status that is no success. Redirects are not followed, so 3xx is one.
    Status(u16),
    /// A phase of the attempt took longer than it may.
    Timeout(Phase),
    /// No place at the host within the pool's timeout.
    HostPoolSaturated,
    /// The host's name has no address.
    NoAddress,
    /// No connection could be opened.
    Connect,
    /// The TLS handshake failed.
    Tls,
    /// The connection broke before the request was written: the endpoint has not seen it.
    NotWritten,
    /// The connection broke, or the answer was no HTTP, after the request was written: the endpoint may have taken it.
    ResponseLost,
    /// The lease ran out before the attempt was finished.
    LeaseExpired,
    /// The attempt was dropped in the middle: its worker panicked, or the dispatcher was stopped at once.
    Abandoned,
    /// The endpoint is disabled: it answered 410, or failed too many times in a row.
    EndpointDisabled,
    /// The message names an endpoint that is not configured.
    UnknownEndpoint,
}

impl Failure {
    /// Whether the endpoint may have taken the delivery although the attempt failed: what makes a later attempt
    /// a possible duplicate.
    #[must_use]
    pub fn may_have_been_taken(self) -> bool {
        matches!(
            self,
            Failure::ResponseLost
                | Failure::Timeout(Phase::Write | Phase::Wait | Phase::Read)
                | Failure::LeaseExpired
                | Failure::Abandoned
        )
    }

    /// Whether it tells that the endpoint is overloaded or gone: 429, 502, 503, 504 (Standard Webhooks asks to slow
    /// down on these), or no answer.
    #[must_use]
    pub fn asks_to_slow_down(self) -> bool {
        match self {
            Failure::Status(code) => matches!(code, 429 | 502 | 503 | 504),
            Failure::Timeout(phase) => phase != Phase::PoolWait,
            Failure::NoAddress | Failure::Connect | Failure::Tls | Failure::ResponseLost => true,
            Failure::HostPoolSaturated
            | Failure::NotWritten
            | Failure::LeaseExpired
            | Failure::Abandoned
            | Failure::EndpointDisabled
            | Failure::UnknownEndpoint => false,
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Failure::Status(code) => write!(formatter, "status_{code}"),
            Failure::Timeout(phase) => write!(formatter, "{}_timeout", phase.name()),
            Failure::HostPoolSaturated => formatter.write_str("host_pool_saturated"),
            Failure::NoAddress => formatter.write_str("no_address"),
            Failure::Connect => formatter.write_str("connect_failed"),
            Failure::Tls => formatter.write_str("tls_failed"),
            Failure::NotWritten => formatter.write_str("not_written"),
            Failure::ResponseLost => formatter.write_str("response_lost"),
            Failure::LeaseExpired => formatter.write_str("lease_expired"),
            Failure::Abandoned => formatter.write_str("abandoned"),
            Failure::EndpointDisabled => formatter.write_str("endpoint_disabled"),
            Failure::UnknownEndpoint => formatter.write_str("unknown_endpoint"),
        }
    }
}
