//! Opening a connection.

use super::connection::Connection;
use super::wire::{Stream, Wire, Written};
use crate::dispatch::attempt::Attempt;
use crate::dispatch::failure::Failure;
use crate::dispatch::phases::Phase;
use crate::dispatch::queue::Queue;
use crate::dispatch::target::HostName;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use tokio::net::{TcpStream, lookup_host};
use tokio::sync::OwnedSemaphorePermit;
use tokio_rustls::TlsConnector;

/// Resolves, connects, and shakes hands where TLS is spoken.
pub(super) async fn open<Q: Queue>(
    host: &HostName,
    tls: Option<TlsConnector>,
    slot: OwnedSemaphorePermit,
    attempt: &mut Attempt<'_, Q>,
) -> Result<Connection, Failure> {
    let timeouts = attempt.timeouts;
    let until = attempt.watch.last() + timeouts.connect;
    let addresses = match host.name.parse::<IpAddr>() {
        Ok(address) => vec![SocketAddr::new(address, host.port)],
        Err(_) => {
            let resolving = lookup_host((host.name.as_str(), host.port));
            let resolved = attempt.until(until, || until, resolving).await;
            attempt.mark(Phase::Dns);
            let found = resolved.ok_or(Failure::Timeout(Phase::Dns))?;
            found.map_err(|_| Failure::NoAddress)?.collect()
        }
    };
    let connected = attempt.until(until, || until, connect_any(&addresses)).await;
    attempt.mark(Phase::Connect);
    let tcp = connected.ok_or(Failure::Timeout(Phase::Connect))??;
    let opened_at = attempt.watch.last();
    let stream = match &host.tls {
        None => Stream::Plain(tcp),
        Some(name) => {
            let connector = tls.ok_or(Failure::Tls)?;
            let shaken = attempt.within(timeouts.tls, connector.connect(name.clone(), tcp)).await;
            attempt.mark(Phase::Tls);
            let shaken = shaken.ok_or(Failure::Timeout(Phase::Tls))?;
            Stream::Tls(Box::new(shaken.map_err(|_| Failure::Tls)?))
        }
    };
    let written = Written::new(opened_at);
    Connection::new(Wire { stream, written: Arc::clone(&written), _slot: slot }, written, opened_at).await
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
