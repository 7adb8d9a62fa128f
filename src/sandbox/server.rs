//! Accepting connections and driving them.

use super::answer::{Shared, answer};
use super::counters::{Counters, rise};
use super::socket::{Link, Socket};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;
use tokio::time::sleep_until;
use tokio_rustls::TlsAcceptor;

/// Pause after the system refused a connection, so that running out of descriptors does not become a busy loop.
const REFUSED_PAUSE: Duration = Duration::from_millis(20);

/// Accepts for one endpoint until dropped, and closes its connections then.
pub(super) async fn accept(
    listener: TcpListener,
    tls: Option<TlsAcceptor>,
    shared: Arc<Shared>,
    endpoint: usize,
) {
    let mut connections = JoinSet::new();
    loop {
        tokio::select! {
            accepted = listener.accept() => match accepted {
                Ok((stream, _)) => {
                    connections.spawn(connection(stream, tls.clone(), Arc::clone(&shared), endpoint));
                }
                Err(_) => tokio::time::sleep(REFUSED_PAUSE).await,
            },
            Some(_) = connections.join_next() => {}
        }
    }
}

async fn connection(stream: TcpStream, tls: Option<TlsAcceptor>, shared: Arc<Shared>, index: usize) {
    let Some(endpoint) = shared.endpoints.get(index) else { return };
    let counters = &endpoint.counters;
    counters.connections.fetch_add(1, Relaxed);
    let _open = Open::new(counters);
    // Answers are small and must not wait for an acknowledgement; a socket that refuses the option still works.
    let _ = stream.set_nodelay(true);
    let link = Arc::new(Link::new());
    let socket = match tls {
        None => Socket::plain(stream, Arc::clone(&link)),
        Some(acceptor) => match acceptor.accept(stream).await {
            Ok(stream) => Socket::tls(stream, Arc::clone(&link)),
            Err(_) => return,
        },
    };
    let service = service_fn(|request| answer(Arc::clone(&shared), index, Arc::clone(&link), request));
    // Answers are small: one write of a copied whole is cheaper than gathering its parts.
    let serving = http1::Builder::new().writev(false).serve_connection(TokioIo::new(socket), service);
    let mut serving = pin!(serving);
    let Some(limit) = endpoint.close_idle else {
        // The client's errors are the client's to count.
        let _ = serving.await;
        return;
    };
    loop {
        let deadline = link.idle_deadline(limit);
        tokio::select! {
            _ = serving.as_mut() => return,
            () = sleep_until(deadline) => {
                if link.idle_deadline(limit) <= deadline {
                    serving.as_mut().graceful_shutdown();
                    let _ = serving.await;
                    return;
                }
            }
        }
    }
}

/// A connection that is open.
struct Open<'a>(&'a Counters);

impl<'a> Open<'a> {
    fn new(counters: &'a Counters) -> Self {
        rise(&counters.connections_open, &counters.connections_open_max);
        Open(counters)
    }
}

impl Drop for Open<'_> {
    fn drop(&mut self) {
        self.0.connections_open.fetch_sub(1, Relaxed);
    }
}
