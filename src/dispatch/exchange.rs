//! One exchange: a signed request on a pooled connection, and what the answer means.

use super::attempt::Attempt;
use super::endpoint::Route;
use super::failure::Failure;
use super::message::{Message, MessageId};
use super::phases::Phase;
use super::pool::{Checkout, Pool};
use super::queue::Queue;
use super::retry::parse_retry_after;
use bytes::Bytes;
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::header::{CONTENT_TYPE, HOST, HeaderName, HeaderValue, USER_AGENT};
use hyper::{Method, Request, Response};
use std::time::Duration;

/// An answer's body is read so that its connection can be used again, but not beyond this: then it is closed.
const LONGEST_BODY: usize = 64 * 1024;

const WEBHOOK_ID: HeaderName = HeaderName::from_static("webhook-id");
const WEBHOOK_TIMESTAMP: HeaderName = HeaderName::from_static("webhook-timestamp");
const WEBHOOK_SIGNATURE: HeaderName = HeaderName::from_static("webhook-signature");
const AGENT: HeaderValue = HeaderValue::from_static(concat!("whsize/", env!("CARGO_PKG_VERSION")));
const JSON: HeaderValue = HeaderValue::from_static("application/json");

/// What came of an exchange.
#[derive(Clone, Copy, Debug)]
pub(super) struct Exchanged {
    /// The status of a success.
    pub(super) result: Result<u16, Failure>,
    /// What is known of the way there.
    pub(super) facts: Facts,
}

/// What an exchange tells beside its result.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Facts {
    /// The endpoint's Retry-After, as it was sent.
    pub(super) retry_after: Option<Duration>,
    /// Whether the connection had been used before; `None` if there was none.
    pub(super) reused: Option<bool>,
    /// Whether the request was sent again because a reused connection had gone stale.
    pub(super) replayed: bool,
}

/// Sends the attempt's message to its endpoint. Time is marked up to the end of the answer.
pub(super) async fn exchange<Q: Queue>(
    pool: &Pool,
    route: &Route,
    attempt: &mut Attempt<'_, Q>,
) -> Exchanged {
    let mut facts = Facts::default();
    let result = send_and_read(pool, route, attempt, &mut facts).await;
    Exchanged { result, facts }
}

async fn send_and_read<Q: Queue>(
    pool: &Pool,
    route: &Route,
    attempt: &mut Attempt<'_, Q>,
    facts: &mut Facts,
) -> Result<u16, Failure> {
    let mut checkout = pool.checkout(&route.host, attempt).await?;
    let mut answered = send(&mut checkout, route, attempt).await;
    if matches!(answered, Err(Failure::NotWritten)) && checkout.reused {
        // The host had closed it: then it has closed the others as well. Once, and on a fresh connection.
        facts.replayed = true;
        drop(checkout);
        route.host.flush();
        checkout = pool.checkout(&route.host, attempt).await?;
        answered = send(&mut checkout, route, attempt).await;
    }
    facts.reused = Some(checkout.reused);
    let response = answered?;
    let status = response.status();
    let header = |name| response.headers().get(name).and_then(|value: &HeaderValue| value.to_str().ok());
    if !status.is_success() {
        facts.retry_after = header("retry-after").and_then(|value| parse_retry_after(value, attempt.unix()));
    }
    let keep_alive = header("keep-alive").and_then(keep_alive_timeout);
    if checkout.connection.read(response.into_body(), LONGEST_BODY, attempt).await? {
        pool.give_back(checkout, keep_alive);
    }
    if status.is_success() { Ok(status.as_u16()) } else { Err(Failure::Status(status.as_u16())) }
}

/// Builds, signs and sends.
async fn send<Q: Queue>(
    checkout: &mut Checkout,
    route: &Route,
    attempt: &mut Attempt<'_, Q>,
) -> Result<Response<Incoming>, Failure> {
    let request = request(route, &attempt.lease.message, attempt.unix().as_secs());
    attempt.mark(Phase::Sign);
    checkout.connection.send(request, attempt).await
}

fn request(route: &Route, message: &Message, unix_s: u64) -> Request<Full<Bytes>> {
    let mut request = Request::new(Full::new(message.body.clone()));
    *request.method_mut() = Method::POST;
    *request.uri_mut() = route.target.path.clone();
    let headers = request.headers_mut();
    headers.reserve(7);
    headers.insert(HOST, route.target.host_header.clone());
    headers.insert(USER_AGENT, AGENT);
    headers.insert(CONTENT_TYPE, JSON);
    // The same on every attempt: Standard Webhooks makes it the idempotency key.
    headers.insert(WEBHOOK_ID, id_header(message.id));
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
