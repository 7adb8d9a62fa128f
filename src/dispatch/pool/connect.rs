//! Opening a connection, and sending one request on it.

use super::Timeouts;
use super::wire::{Stream, Wire, Written};
use crate::dispatch::clock::Clock;
use crate::dispatch::failure::Failure;
use crate::dispatch::phases::{Phase, Stopwatch};
use crate::dispatch::target::HostName;
use bytes::Bytes;
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::client::conn::http1::{self, SendRequest};
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use std::net::{IpAddr, SocketAddr};
use std::pin::pin;
use std::sync::Arc;
use tokio::net::{TcpStream, lookup_host};
use tokio::sync::OwnedSemaphorePermit;
use tokio::time::{Instant, timeout, timeout_at};
use tokio_rustls::TlsConnector;

/// A connection that requests can be sent on, one at a time. Dropping it closes it, in the middle of an answer too.
#[derive(Debug)]
pub(in crate::dispatch) struct Connection {
    sender: SendRequest<Full<Bytes>>,
    written: Arc<Written>,
    pub(super) opened_at: Instant,
}

/// Resolves, connects, and shakes hands where TLS is spoken.
pub(super) async fn open(
    host: &HostName,
    tls: Option<TlsConnector>,
    slot: OwnedSemaphorePermit,
    timeouts: Timeouts,
    clock: &dyn Clock,
    watch: &mut Stopwatch,
) -> Result<Connection, Failure> {
    let started = clock.now();
    let resolved = match host.name.parse::<IpAddr>() {
        Ok(address) => Ok(vec![SocketAddr::new(address, host.port)]),
        Err(_) => {
            let resolved = timeout(timeouts.connect, lookup_host((host.name.as_str(), host.port))).await;
            watch.mark(Phase::Dns, clock.now());
            let found = resolved.map_err(|_| Failure::Timeout(Phase::Dns))?;
            found.map(Iterator::collect).map_err(|_| Failure::NoAddress)
        }
    };
    let left = timeouts.connect.saturating_sub(clock.now().saturating_duration_since(started));
    let connected = timeout(left, connect_any(&resolved?)).await;
    watch.mark(Phase::Connect, clock.now());
    let tcp = connected.map_err(|_| Failure::Timeout(Phase::Connect))??;
    let opened_at = clock.now();
    let stream = match &host.tls {
        None => Stream::Plain(tcp),
        Some(name) => {
            let connector = tls.ok_or(Failure::Tls)?;
            let shaken = timeout(timeouts.tls, connector.connect(name.clone(), tcp)).await;
            watch.mark(Phase::Tls, clock.now());
            let shaken = shaken.map_err(|_| Failure::Timeout(Phase::Tls))?;
            Stream::Tls(Box::new(shaken.map_err(|_| Failure::Tls)?))
        }
    };
    let written = Written::new(opened_at);
    let wire = Wire { stream, written: Arc::clone(&written), _slot: slot };
    let (sender, driver) = http1::handshake(TokioIo::new(wire)).await.map_err(|_| Failure::Connect)?;
    // Ends by itself when the sender is dropped or the host closes; what it reports, the sender hears as well.
    tokio::spawn(driver);
    Ok(Connection { sender, written, opened_at })
}

/// The first address that answers.
async fn connect_any(addresses: &[SocketAddr]) -> Result<TcpStream, Failure> {
    for address in addresses {
        if let Ok(tcp) = TcpStream::connect(address).await {
            // Requests are small and must not wait for an acknowledgement; a socket that refuses still works.
            let _ = tcp.set_nodelay(true);
            return Ok(tcp);
        }
    }
    Err(if addresses.is_empty() { Failure::NoAddress } else { Failure::Connect })
}

impl Connection {
    /// Whether a request can be sent: the host has not closed it.
    pub(super) async fn is_usable(&mut self) -> bool {
        self.sender.ready().await.is_ok()
    }

    pub(super) fn is_closed(&self) -> bool {
        self.sender.is_closed()
    }

    /// Sends a request and waits for the answer's head. The phases write and wait are marked.
    pub(in crate::dispatch) async fn send(
        &mut self,
        request: Request<Full<Bytes>>,
        body_bytes: usize,
        timeouts: Timeouts,
        clock: &dyn Clock,
        watch: &mut Stopwatch,
    ) -> Result<Response<Incoming>, Failure> {
        let started = clock.now();
        let before = self.written.bytes();
        let written = Arc::clone(&self.written);
        let bytes = || written.bytes().saturating_sub(before);
        // The head makes a whole request longer than its body.
        let is_whole = || bytes() > body_bytes as u64;
        let mut answering = pin!(self.sender.try_send_request(request));
        let mut deadline = started + timeouts.write.min(timeouts.read);
        let answered = loop {
            if let Ok(answered) = timeout_at(deadline, answering.as_mut()).await {
                break Some(answered);
            }
            let due = if is_whole() { written.last() + timeouts.read } else { started + timeouts.write };
            if due <= deadline {
                break None;
            }
            deadline = due;
        };
        let now = clock.now();
        let any = bytes() > 0;
        if any {
            watch.mark(Phase::Write, written.last().min(now));
            watch.mark(Phase::Wait, now);
        } else {
            watch.mark(Phase::Write, now);
        }
        match answered {
            Some(Ok(response)) => Ok(response),
            Some(Err(_)) if any => Err(Failure::ResponseLost),
            Some(Err(_)) => Err(Failure::NotWritten),
            None if is_whole() => Err(Failure::Timeout(Phase::Wait)),
            None => Err(Failure::Timeout(Phase::Write)),
        }
    }
}
