//! A socket that knows when it was last written to.
//!
//! The HTTP client says when an answer's head has come, but not when the request had gone out. That moment parts the
//! write phase from the wait, and whether any byte went out decides whether a request may be repeated.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::sync::OwnedSemaphorePermit;
use tokio::time::Instant;
use tokio_rustls::client::TlsStream;

/// What has been written to a socket.
#[derive(Debug)]
pub(super) struct Written {
    opened: Instant,
    bytes: AtomicU64,
    last_ns: AtomicU64,
}

impl Written {
    pub(super) fn new(opened: Instant) -> Arc<Self> {
        Arc::new(Written { opened, bytes: AtomicU64::new(0), last_ns: AtomicU64::new(0) })
    }

    /// Bytes taken by the socket, or by TLS above it, since it was opened.
    pub(super) fn bytes(&self) -> u64 {
        self.bytes.load(Relaxed)
    }

    /// When the last of them were taken.
    pub(super) fn last(&self) -> Instant {
        self.opened + Duration::from_nanos(self.last_ns.load(Relaxed))
    }

    fn add(&self, taken: &Poll<io::Result<usize>>) {
        if let Poll::Ready(Ok(bytes)) = taken {
            self.bytes.fetch_add(*bytes as u64, Relaxed);
            let since = self.opened.elapsed().as_nanos();
            self.last_ns.store(u64::try_from(since).unwrap_or(u64::MAX), Relaxed);
        }
    }
}

#[derive(Debug)]
pub(super) enum Stream {
    Plain(TcpStream),
    Tls(Box<TlsStream<TcpStream>>),
}

/// A socket with its slot of the pool: the slot is free when the socket is closed.
#[derive(Debug)]
pub(super) struct Wire {
    pub(super) stream: Stream,
    pub(super) written: Arc<Written>,
    pub(super) _slot: OwnedSemaphorePermit,
}

impl AsyncRead for Wire {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        match &mut self.stream {
            Stream::Plain(tcp) => Pin::new(tcp).poll_read(context, buffer),
            Stream::Tls(tls) => Pin::new(tls).poll_read(context, buffer),
        }
    }
}

impl AsyncWrite for Wire {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let taken = match &mut self.stream {
            Stream::Plain(tcp) => Pin::new(tcp).poll_write(context, bytes),
            Stream::Tls(tls) => Pin::new(tls).poll_write(context, bytes),
        };
        self.written.add(&taken);
        taken
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        match &mut self.stream {
            Stream::Plain(tcp) => Pin::new(tcp).poll_flush(context),
            Stream::Tls(tls) => Pin::new(tls).poll_flush(context),
        }
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        match &mut self.stream {
            Stream::Plain(tcp) => Pin::new(tcp).poll_shutdown(context),
            Stream::Tls(tls) => Pin::new(tls).poll_shutdown(context),
        }
    }
}
