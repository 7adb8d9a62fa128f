//! The server's end of a connection: plain or TLS, closed politely or reset.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::time::Instant;
use tokio_rustls::server::TlsStream;

/// What a connection's answers and its socket share.
#[derive(Debug)]
pub(super) struct Link {
    opened: Instant,
    /// Nanoseconds from `opened` to the moment when the connection last became idle.
    idle_since: AtomicU64,
    busy: AtomicBool,
    reset: AtomicBool,
}

impl Link {
    pub(super) fn new() -> Self {
        let idle_since = AtomicU64::new(0);
        Link {
            opened: Instant::now(),
            idle_since,
            busy: AtomicBool::new(false),
            reset: AtomicBool::new(false),
        }
    }

    pub(super) fn set_busy(&self, busy: bool) {
        if !busy {
            let nanos = u64::try_from(self.opened.elapsed().as_nanos()).unwrap_or(u64::MAX);
            self.idle_since.store(nanos, Relaxed);
        }
        self.busy.store(busy, Relaxed);
    }

    /// When it will have been idle for this long; from now on if it is busy.
    pub(super) fn idle_deadline(&self, limit: Duration) -> Instant {
        let idle_since = self.opened + Duration::from_nanos(self.idle_since.load(Relaxed));
        if self.busy.load(Relaxed) { Instant::now() + limit } else { idle_since + limit }
    }

    /// Makes the close a reset.
    pub(super) fn reset_on_close(&self) {
        self.reset.store(true, Relaxed);
    }
}

/// A connection that can end in a reset.
#[derive(Debug)]
pub(super) struct Socket {
    stream: Stream,
    link: Arc<Link>,
}

#[derive(Debug)]
enum Stream {
    Plain(TcpStream),
    Tls(Box<TlsStream<TcpStream>>),
}

impl Socket {
    pub(super) fn plain(stream: TcpStream, link: Arc<Link>) -> Self {
        Socket { stream: Stream::Plain(stream), link }
    }

    pub(super) fn tls(stream: TlsStream<TcpStream>, link: Arc<Link>) -> Self {
        Socket { stream: Stream::Tls(Box::new(stream)), link }
    }
}

impl Drop for Socket {
    fn drop(&mut self) {
        if self.link.reset.load(Relaxed) {
            let tcp = match &self.stream {
                Stream::Plain(tcp) => tcp,
                Stream::Tls(tls) => tls.get_ref().0,
            };
            // A socket that is already gone needs no reset.
            let _ = tcp.set_zero_linger();
        }
    }
}

impl AsyncRead for Socket {
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

impl AsyncWrite for Socket {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        match &mut self.stream {
            Stream::Plain(tcp) => Pin::new(tcp).poll_write(context, bytes),
            Stream::Tls(tls) => Pin::new(tls).poll_write(context, bytes),
        }
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        match &mut self.stream {
            Stream::Plain(tcp) => Pin::new(tcp).poll_flush(context),
            Stream::Tls(tls) => Pin::new(tls).poll_flush(context),
        }
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        if self.link.reset.load(Relaxed) {
            return Poll::Ready(Ok(()));
        }
        match &mut self.stream {
            Stream::Plain(tcp) => Pin::new(tcp).poll_shutdown(context),
            Stream::Tls(tls) => Pin::new(tls).poll_shutdown(context),
        }
    }
}
