//! One HTTP/1.1 connection, driven by whoever uses it.
//!
//! There is no task beside it: a request costs no hop between tasks, and dropping the connection closes its socket
//! there and then, so the count of open sockets is never behind.

use super::wire::{Wire, Written};
use crate::dispatch::attempt::Attempt;
use crate::dispatch::failure::Failure;
use crate::dispatch::phases::Phase;
use crate::dispatch::queue::Queue;
use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::client::conn::http1::{self, SendRequest};
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll};
use tokio::time::Instant;

/// A connection that requests can be sent on, one at a time. Dropping it closes it, in the middle of an answer too.
#[derive(Debug)]
pub(in crate::dispatch) struct Connection {
    sender: SendRequest<Full<Bytes>>,
    driver: Driver,
    written: Arc<Written>,
    pub(super) opened_at: Instant,
}

/// Moves the bytes. It must be polled for anything to happen, and not any more once it has ended.
#[derive(Debug)]
struct Driver {
    connection: Box<http1::Connection<TokioIo<Wire>, Full<Bytes>>>,
    ended: bool,
}

impl Driver {
    fn poll(&mut self, context: &mut Context<'_>) {
        // How it ended, the sender hears as well.
        self.ended = self.ended || Pin::new(&mut *self.connection).poll(context).is_ready();
    }

    /// Waits for something while moving the bytes.
    async fn drive<T>(&mut self, waited_for: impl Future<Output = T>) -> T {
        let mut waited_for = pin!(waited_for);
        poll_fn(|context| {
            if let Poll::Ready(value) = waited_for.as_mut().poll(context) {
                return Poll::Ready(value);
            }
            self.poll(context);
            waited_for.as_mut().poll(context)
        })
        .await
    }
}

impl Connection {
    pub(super) async fn new(wire: Wire, written: Arc<Written>, opened_at: Instant) -> Result<Self, Failure> {
        let builder = http1::Builder::new();
        let (sender, connection) =
            builder.handshake(TokioIo::new(wire)).await.map_err(|_| Failure::Connect)?;
        let driver = Driver { connection: Box::new(connection), ended: false };
        Ok(Connection { sender, driver, written, opened_at })
    }

    /// Whether a request can be sent now: the last answer has been read, and the host has not closed the connection.
    pub(super) fn is_usable(&mut self, context: &mut Context<'_>) -> bool {
        self.driver.poll(context);
        !self.driver.ended && matches!(self.sender.poll_ready(context), Poll::Ready(Ok(())))
    }

    /// Sends a request and waits for the answer's head. The phases write and wait are marked.
    pub(in crate::dispatch) async fn send<Q: Queue>(
        &mut self,
        request: Request<Full<Bytes>>,
        attempt: &mut Attempt<'_, Q>,
    ) -> Result<Response<Incoming>, Failure> {
        let (timeouts, started) = (attempt.timeouts, attempt.watch.last());
        let (written, before) = (&*self.written, self.written.bytes());
        let body_bytes = attempt.lease.message.body.len() as u64;
        let bytes = || written.bytes().saturating_sub(before);
        // The head makes a whole request longer than its body.
        let is_whole = || bytes() > body_bytes;
        let deadline = || if is_whole() { written.last() + timeouts.read } else { started + timeouts.write };
        let answering = self.driver.drive(self.sender.try_send_request(request));
        let answered = attempt.until(started + timeouts.write.min(timeouts.read), deadline, answering).await;
        if bytes() > 0 {
            attempt.watch.mark(Phase::Write, written.last());
            attempt.mark(Phase::Wait);
        } else {
            attempt.mark(Phase::Write);
        }
        match answered {
            Some(Ok(response)) => Ok(response),
            Some(Err(_)) if bytes() > 0 => Err(Failure::ResponseLost),
            Some(Err(_)) => Err(Failure::NotWritten),
            None if is_whole() => Err(Failure::Timeout(Phase::Wait)),
            None => Err(Failure::Timeout(Phase::Write)),
        }
    }

    /// Reads an answer's body to its end; `false` if it is longer than `most` bytes. The phase read is marked.
    pub(in crate::dispatch) async fn read<Q: Queue>(
        &mut self,
        mut body: Incoming,
        most: usize,
        attempt: &mut Attempt<'_, Q>,
    ) -> Result<bool, Failure> {
        let reading = self.driver.drive(async {
            let mut length = 0;
            while let Some(frame) = body.frame().await {
                length += frame.map_err(|_| Failure::ResponseLost)?.data_ref().map_or(0, Bytes::len);
                if length > most {
                    return Ok(false);
                }
            }
            Ok(true)
        });
        let read = attempt.within(attempt.timeouts.read, reading).await;
        attempt.mark(Phase::Read);
        read.ok_or(Failure::Timeout(Phase::Read))?
    }
}
