//! The sandbox: endpoints with known latency laws and known faults, over real HTTP/1.1 on this machine.
//!
//! Each endpoint listens on a port of its own, so that a client sees as many hosts as there are endpoints: pools,
//! caps and keep-alive are per host. Any request is a delivery, except `GET /metrics` (counters of all endpoints,
//! Prometheus text) and `GET /endpoints` (their addresses, one a line), which every port answers.
//!
//! The latency of the n-th request of an endpoint depends on the seed and n alone.

mod answer;
mod counters;
mod fault;
mod law;
mod metrics;
mod pace;
mod server;
mod socket;
mod tls;

pub use counters::EndpointCounts;
pub use fault::{Effect, Fault};
pub use law::{Bucket, LatencyLaw, LawError};
pub use tls::Certificate;

use answer::{Endpoint, Shared};
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use tokio::net::{TcpListener, TcpSocket};
use tokio::task::JoinSet;
use tokio::time::Instant;

/// The most endpoints that one sandbox opens: each takes a port.
pub const MOST_ENDPOINTS: usize = 4096;

/// Pending connections that the system keeps for an endpoint until they are accepted.
const BACKLOG: u32 = 1024;

/// What a sandbox offers.
#[derive(Clone, Debug)]
pub struct SandboxConfig {
    /// One latency law for each endpoint; the first is endpoint 1.
    pub endpoints: Vec<LatencyLaw>,
    /// Faults, asked in this order: the first whole answer that strikes is given, while slowness adds up.
    pub faults: Vec<Fault>,
    /// Whether to speak TLS with a certificate made for the occasion.
    pub tls: bool,
    /// Seed of all latencies and faults.
    pub seed: u64,
}

/// Why a sandbox did not start.
#[derive(Debug, thiserror::Error)]
pub enum SandboxError {
    /// No endpoint, or more than [`MOST_ENDPOINTS`].
    #[error("a sandbox has 1 to {MOST_ENDPOINTS} endpoints, not {0}")]
    Endpoints(u64),
    /// A fault names an endpoint that does not exist.
    #[error("a fault names endpoint {named}, but there are only {endpoints}")]
    FaultEndpoint {
        /// The endpoint named.
        named: u32,
        /// How many there are.
        endpoints: usize,
    },
    /// As many listeners as endpoints are needed.
    #[error("{listeners} listeners were given for {endpoints} endpoints")]
    Listeners {
        /// Listeners given.
        listeners: usize,
        /// Endpoints configured.
        endpoints: usize,
    },
    /// The ports from the one given run past the last port.
    #[error("ports from {first} on do not suffice for {endpoints} endpoints")]
    Ports {
        /// The first port.
        first: u16,
        /// Endpoints configured.
        endpoints: usize,
    },
    /// An address could not be listened on.
    #[error("cannot listen on {address}")]
    Listen {
        /// The address.
        address: SocketAddr,
        /// The system's reason.
        source: io::Error,
    },
    /// A listener's address could not be had.
    #[error("the sandbox could not start")]
    System(#[from] io::Error),
    /// The certificate could not be made.
    #[error("no certificate for the sandbox")]
    Tls(#[from] tls::TlsError),
}

/// Running endpoints. Dropping it closes every connection.
#[derive(Debug)]
pub struct Sandbox {
    shared: Arc<Shared>,
    certificate: Option<Certificate>,
    accepting: JoinSet<()>,
}

impl Sandbox {
    /// Listens on consecutive ports from the one given, one an endpoint; port 0 takes free ones. Must be called
    /// inside a runtime, which then serves them.
    ///
    /// # Errors
    /// See [`SandboxError`].
    pub fn start(config: &SandboxConfig, listen: SocketAddr) -> Result<Self, SandboxError> {
        let endpoints = countable(config)?;
        let mut listeners = Vec::with_capacity(endpoints);
        for offset in 0..endpoints {
            let mut address = listen;
            if listen.port() != 0 {
                let port = u16::try_from(offset).ok().and_then(|offset| listen.port().checked_add(offset));
                address.set_port(port.ok_or(SandboxError::Ports { first: listen.port(), endpoints })?);
            }
            listeners.push(bind(address).map_err(|source| SandboxError::Listen { address, source })?);
        }
        Sandbox::serve(config, listeners)
    }

    /// Serves on listeners that the caller has bound, one an endpoint.
    ///
    /// # Errors
    /// See [`SandboxError`].
    pub fn serve(config: &SandboxConfig, listeners: Vec<TcpListener>) -> Result<Self, SandboxError> {
        let endpoints = countable(config)?;
        if listeners.len() != endpoints {
            return Err(SandboxError::Listeners { listeners: listeners.len(), endpoints });
        }
        let named = config.faults.iter().filter_map(|fault| fault.endpoint).max().unwrap_or(0);
        if named as usize > endpoints {
            return Err(SandboxError::FaultEndpoint { named, endpoints });
        }
        let identity = if config.tls { Some(tls::Identity::generate(&listeners)?) } else { None };
        let scheme = if config.tls { "https" } else { "http" };
        let mut served = Vec::with_capacity(endpoints);
        for (index, (law, listener)) in config.endpoints.iter().zip(&listeners).enumerate() {
            let url = format!("{scheme}://{}", listener.local_addr()?);
            served.push(Endpoint::new(index, url, law.clone(), config));
        }
        let shared = Arc::new(Shared { endpoints: served, started: Instant::now() });
        let mut accepting = JoinSet::new();
        for (index, listener) in listeners.into_iter().enumerate() {
            let acceptor = identity.as_ref().map(tls::Identity::acceptor);
            accepting.spawn(server::accept(listener, acceptor, Arc::clone(&shared), index));
        }
        Ok(Sandbox { shared, certificate: identity.map(|identity| identity.certificate()), accepting })
    }

    /// The endpoints' addresses, `http://127.0.0.1:40001` and so on, endpoint 1 first.
    #[must_use]
    pub fn urls(&self) -> Vec<String> {
        self.shared.endpoints.iter().map(|endpoint| endpoint.url.clone()).collect()
    }

    /// The certificate to trust, where the sandbox speaks TLS.
    #[must_use]
    pub fn certificate(&self) -> Option<&Certificate> {
        self.certificate.as_ref()
    }

    /// What each endpoint has seen so far, endpoint 1 first.
    #[must_use]
    pub fn counts(&self) -> Vec<EndpointCounts> {
        self.shared.endpoints.iter().map(|endpoint| endpoint.counters.snapshot()).collect()
    }

    /// The same in Prometheus text, as `GET /metrics` gives it.
    #[must_use]
    pub fn metrics(&self) -> String {
        metrics::page(&self.shared)
    }

    /// Stops listening and closes every connection.
    pub async fn stop(mut self) {
        self.accepting.shutdown().await;
    }
}

/// How many endpoints there are, if they are not too many or none.
fn countable(config: &SandboxConfig) -> Result<usize, SandboxError> {
    let endpoints = config.endpoints.len();
    if (1..=MOST_ENDPOINTS).contains(&endpoints) {
        Ok(endpoints)
    } else {
        Err(SandboxError::Endpoints(endpoints as u64))
    }
}

fn bind(address: SocketAddr) -> io::Result<TcpListener> {
    let socket = if address.is_ipv4() { TcpSocket::new_v4()? } else { TcpSocket::new_v6()? };
    // A restarted sandbox takes its ports back while old connections linger in TIME_WAIT.
    socket.set_reuseaddr(true)?;
    socket.bind(address)?;
    socket.listen(BACKLOG)
}
