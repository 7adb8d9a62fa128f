//! One attempt: a signed request on a pooled connection, and what the answer means.

use super::clock::Clock;
use super::endpoint::Route;
use super::failure::Failure;
use super::message::{Message, MessageId};
use super::phases::{Phase, Stopwatch};
use super::pool::{Checkout, Pool, Timeouts};
use super::retry::parse_retry_after;
use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::header::{CONTENT_TYPE, HOST, HeaderName, HeaderValue, USER_AGENT};
use hyper::{Method, Request, Response};
use std::time::Duration;
use tokio::time::timeout;

/// An answer's body is read so that its connection can be used again, but not beyond this: then it is closed.
const LONGEST_BODY: usize = 64 * 1024;

const WEBHOOK_ID: HeaderName = HeaderName::from_static("webhook-id");
const WEBHOOK_TIMESTAMP: HeaderName = HeaderName::from_static("webhook-timestamp");
const WEBHOOK_SIGNATURE: HeaderName = HeaderName::from_static("webhook-signature");
const IDEMPOTENCY_KEY: HeaderName = HeaderName::from_static("idempotency-key");
const AGENT: HeaderValue = HeaderValue::from_static(concat!("whsize/", env!("CARGO_PKG_VERSION")));
const JSON: HeaderValue = HeaderValue::from_static("application/json");

/// What came of an attempt.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Attempted {
    /// The status of a success.
    pub(super) result: Option<Result<u16, Failure>>,
    /// The endpoint's Retry-After, as it was sent.
    pub(super) retry_after: Option<Duration>,
    /// Whether the connection had been used before; `None` if there was none.
    pub(super) reused: Option<bool>,
    /// Whether the request was sent again because a reused connection had gone stale.
    pub(super) replayed: bool,
}

/// Makes one attempt. Time is marked up to the end of the answer.
pub(super) async fn attempt(
    pool: &Pool,
    route: &Route,
    message: &Message,
    timeouts: Timeouts,
    clock: &dyn Clock,
    watch: &mut Stopwatch,
) -> Attempted {
    let mut attempted = Attempted::default();
    let result = exchange(pool, route, message, timeouts, clock, watch, &mut attempted).await;
    Attempted { result: Some(result), ..attempted }
}

async fn exchange(
    pool: &Pool,
    route: &Route,
    message: &Message,
    timeouts: Timeouts,
    clock: &dyn Clock,
    watch: &mut Stopwatch,
    attempted: &mut Attempted,
) -> Result<u16, Failure> {
    let mut checkout = pool.checkout(&route.host, watch).await?;
    let mut answered = send(&mut checkout, route, message, timeouts, clock, watch).await;
    if matches!(answered, Err(Failure::NotWritten)) && checkout.reused {
        // The host had closed it: then it has closed the others as well. Once, and on a fresh connection.
        attempted.replayed = true;
        drop(checkout);
        route.host.flush();
        checkout = pool.checkout(&route.host, watch).await?;
        answered = send(&mut checkout, route, message, timeouts, clock, watch).await;
    }
    attempted.reused = Some(checkout.reused);
    let response = answered?;
    let status = response.status();
    let header = |name| response.headers().get(name).and_then(|value: &HeaderValue| value.to_str().ok());
    attempted.retry_after = header("retry-after")
        .filter(|_| !status.is_success())
        .and_then(|value| parse_retry_after(value, clock.unix()));
    let keep_alive = header("keep-alive").and_then(keep_alive_timeout);
    let read = timeout(timeouts.read, read_body(response)).await;
    watch.mark(Phase::Read, clock.now());
    if read.map_err(|_| Failure::Timeout(Phase::Read))?? {
        pool.give_back(checkout, keep_alive);
    }
    if status.is_success() { Ok(status.as_u16()) } else { Err(Failure::Status(status.as_u16())) }
}

/// Builds, signs and sends.
async fn send(
    checkout: &mut Checkout,
    route: &Route,
    message: &Message,
    timeouts: Timeouts,
    clock: &dyn Clock,
    watch: &mut Stopwatch,
) -> Result<Response<Incoming>, Failure> {
    let request = request(route, message, clock.unix().as_secs());
    watch.mark(Phase::Sign, clock.now());
    checkout.connection.send(request, message.body.len(), timeouts, clock, watch).await
}

fn request(route: &Route, message: &Message, unix_s: u64) -> Request<Full<Bytes>> {
    let mut request = Request::new(Full::new(message.body.clone()));
    *request.method_mut() = Method::POST;
    *request.uri_mut() = route.target.path.clone();
    let headers = request.headers_mut();
    headers.reserve(8);
    headers.insert(HOST, route.target.host_header.clone());
    headers.insert(USER_AGENT, AGENT);
    headers.insert(CONTENT_TYPE, JSON);
    let id = id_header(message.id);
    headers.insert(IDEMPOTENCY_KEY, id.clone());
    headers.insert(WEBHOOK_ID, id);
    headers.insert(WEBHOOK_TIMESTAMP, HeaderValue::from(unix_s));
    if let Some(signer) = &route.signer
        && let Ok(signature) = HeaderValue::try_from(signer.sign(message.id, unix_s, &message.body))
    {
        headers.insert(WEBHOOK_SIGNATURE, signature);
    }
    request
}

fn id_header(id: MessageId) -> HeaderValue {
    // Letters, digits and an underscore are a header value.
    HeaderValue::try_from(id.to_string()).unwrap_or_else(|_| unreachable!("an identifier is a header value"))
}

/// Reads a body to its end; `false` if it is too long for that to be worth it.
async fn read_body(response: Response<Incoming>) -> Result<bool, Failure> {
    let mut body = response.into_body();
    let mut length = 0;
    while let Some(frame) = body.frame().await {
        length += frame.map_err(|_| Failure::ResponseLost)?.data_ref().map_or(0, Bytes::len);
        if length > LONGEST_BODY {
            return Ok(false);
        }
    }
    Ok(true)
}

/// The `timeout` of a Keep-Alive header: `timeout=5, max=100`.
fn keep_alive_timeout(header: &str) -> Option<Duration> {
    let mut parameters = header.split(',').filter_map(|parameter| parameter.trim().split_once('='));
    let (_, seconds) = parameters.find(|(name, _)| name.trim().eq_ignore_ascii_case("timeout"))?;
    seconds.trim().parse().ok().map(Duration::from_secs)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_keep_alive_header_is_read() {
        for (header, expected) in [
            ("timeout=5", Some(5)),
            ("max=100, Timeout = 7", Some(7)),
            ("max=100", None),
            ("timeout=soon", None),
            ("", None),
        ] {
            assert_eq!(keep_alive_timeout(header), expected.map(Duration::from_secs), "{header}");
        }
    }
}
