//! What an endpoint does with one request.

use super::counters::{Counters, rise};
use super::fault::{Effect, Fault};
use super::law::LatencyLaw;
use super::pace::Pace;
use super::socket::Link;
use super::{SandboxConfig, metrics};
use bytes::Bytes;
use http_body_util::BodyExt;
use hyper::body::{Body, Frame, Incoming, SizeHint};
use hyper::header::{HeaderName, HeaderValue, RETRY_AFTER};
use hyper::{Method, Request, Response, StatusCode};
use std::convert::Infallible;
use std::future::{Future, pending};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::time::{Instant, Sleep, sleep};

/// What all connections of a sandbox share.
#[derive(Debug)]
pub(super) struct Shared {
    pub(super) endpoints: Vec<Endpoint>,
    pub(super) started: Instant,
}

/// One endpoint.
#[derive(Debug)]
pub(super) struct Endpoint {
    pub(super) url: String,
    pub(super) counters: Counters,
    pub(super) close_idle: Option<Duration>,
    law: LatencyLaw,
    pace: Pace,
    /// Seed of this endpoint's latencies.
    seed: u64,
    /// The faults that concern it, each with the seed of its own share.
    faults: Vec<(Fault, u64)>,
    keep_alive: Option<HeaderValue>,
}

impl Endpoint {
    pub(super) fn new(index: usize, url: String, law: LatencyLaw, config: &SandboxConfig) -> Self {
        let seed = config.seed ^ (index as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let (mut faults, mut close_idle, mut keep_alive) = (Vec::new(), None, None);
        for (number, fault) in config.faults.iter().enumerate() {
            if fault.endpoint.is_some_and(|named| named as usize != index + 1) {
                continue;
            }
            match fault.effect {
                Effect::CloseIdle(after) => close_idle = Some(after),
                Effect::KeepAlive(timeout) => {
                    keep_alive = HeaderValue::from_str(&format!("timeout={}", timeout.as_secs())).ok();
                }
                _ => faults.push((fault.clone(), seed.rotate_left(32) ^ (number as u64 + 1))),
            }
        }
        Endpoint {
            url,
            counters: Counters::new(),
            close_idle,
            law,
            pace: Pace::default(),
            seed,
            faults,
            keep_alive,
        }
    }

    /// What the faults make of one request.
    fn plan(&self, since_start: Duration, in_flight: u32, index: u64) -> Plan {
        let mut plan =
            Plan { latency: self.law.draw(self.seed, index), body_late: None, ending: Ending::Answer };
        for (fault, seed) in &self.faults {
            if !fault.strikes(since_start, in_flight, *seed, index) {
                continue;
            }
            let ending = match &fault.effect {
                Effect::Slower(factor) => {
                    plan.latency = Duration::try_from_secs_f64(plan.latency.as_secs_f64() * factor)
                        .unwrap_or(plan.latency);
                    continue;
                }
                Effect::SlowBody(late) => {
                    plan.body_late = Some(*late);
                    continue;
                }
                Effect::Status { code, retry_after } => Ending::Refuse(*code, *retry_after),
                Effect::Reset => Ending::Reset,
                Effect::LoseResponse => Ending::LoseResponse,
                Effect::Hang => Ending::Hang,
                // These concern connections, and were taken out when the endpoint was made.
                Effect::CloseIdle(_) | Effect::KeepAlive(_) => continue,
            };
            if matches!(plan.ending, Ending::Answer) {
                plan.ending = ending;
            }
        }
        plan
    }
}

struct Plan {
    latency: Duration,
    body_late: Option<Duration>,
    ending: Ending,
}

enum Ending {
    Answer,
    Refuse(u16, Option<Duration>),
    Reset,
    LoseResponse,
    Hang,
}

/// The connection is to be reset instead of answered.
#[derive(Debug, thiserror::Error)]
#[error("reset by a fault")]
pub(super) struct ResetByFault;

/// Answers one request, or asks for a reset.
pub(super) async fn answer(
    shared: Arc<Shared>,
    index: usize,
    link: Arc<Link>,
    request: Request<Incoming>,
) -> Result<Response<Answer>, ResetByFault> {
    if request.method() == Method::GET {
        match request.uri().path() {
            "/metrics" => return Ok(Response::new(Answer::text(metrics::page(&shared)))),
            "/endpoints" => {
                let urls: Vec<&str> = shared.endpoints.iter().map(|each| each.url.as_str()).collect();
                return Ok(Response::new(Answer::text(urls.join("\n") + "\n")));
            }
            _ => {}
        }
    }
    let arrived = Instant::now();
    let busy = Busy::new(Arc::clone(&shared), index, link);
    let Some(endpoint) = shared.endpoints.get(index) else { return Err(ResetByFault) };
    let counters = &endpoint.counters;
    let number = counters.requests.fetch_add(1, Relaxed);
    let plan = endpoint.plan(arrived - shared.started, busy.in_flight, number);

    let (head, body) = request.into_parts();
    if body.collect().await.is_err() {
        // The client went away in the middle of its request.
        return Err(ResetByFault);
    }
    match plan.ending {
        Ending::Refuse(code, retry_after) => {
            let refused = if code == 429 { &counters.too_many } else { &counters.other_statuses };
            refused.fetch_add(1, Relaxed);
            let mut response = Response::new(Answer::empty(busy));
            *response.status_mut() = StatusCode::from_u16(code).unwrap_or(StatusCode::SERVICE_UNAVAILABLE);
            if let Some(after) = retry_after {
                let seconds = after.as_secs() + u64::from(after.subsec_nanos() > 0);
                response.headers_mut().insert(RETRY_AFTER, HeaderValue::from(seconds));
            }
            return Ok(response);
        }
        Ending::Reset => {
            counters.resets.fetch_add(1, Relaxed);
            busy.link.reset_on_close();
            return Err(ResetByFault);
        }
        Ending::Hang => {
            counters.hangs.fetch_add(1, Relaxed);
            match pending::<Infallible>().await {}
        }
        Ending::Answer | Ending::LoseResponse => {}
    }
    endpoint.pace.sleep(arrived, plan.latency).await;
    counters.take(head.headers.get("webhook-id").map(HeaderValue::as_bytes), plan.latency);
    if matches!(plan.ending, Ending::LoseResponse) {
        counters.lost_responses.fetch_add(1, Relaxed);
        busy.link.reset_on_close();
        return Err(ResetByFault);
    }
    let late = plan.body_late.map(|late| Box::pin(sleep(late)));
    let mut response =
        Response::new(Answer { late, data: Some(Bytes::from_static(b"ok")), _busy: Some(busy) });
    if let Some(keep_alive) = &endpoint.keep_alive {
        response.headers_mut().insert(HeaderName::from_static("keep-alive"), keep_alive.clone());
    }
    Ok(response)
}

/// The body of an answer. It holds the request's place until the last byte is written.
pub(super) struct Answer {
    late: Option<Pin<Box<Sleep>>>,
    data: Option<Bytes>,
    _busy: Option<Busy>,
}

impl Answer {
    fn empty(busy: Busy) -> Self {
        Answer { late: None, data: None, _busy: Some(busy) }
    }

    fn text(text: String) -> Self {
        Answer { late: None, data: Some(Bytes::from(text)), _busy: None }
    }
}

impl Body for Answer {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        if let Some(late) = &mut self.late {
            if late.as_mut().poll(context).is_pending() {
                return Poll::Pending;
            }
            self.late = None;
        }
        Poll::Ready(self.data.take().map(|data| Ok(Frame::data(data))))
    }

    fn is_end_stream(&self) -> bool {
        self.data.is_none()
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.data.as_ref().map_or(0, |data| data.len() as u64))
    }
}

/// A request in flight at an endpoint.
struct Busy {
    shared: Arc<Shared>,
    index: usize,
    link: Arc<Link>,
    in_flight: u32,
}

impl Busy {
    fn new(shared: Arc<Shared>, index: usize, link: Arc<Link>) -> Self {
        link.set_busy(true);
        let in_flight = shared
            .endpoints
            .get(index)
            .map_or(0, |endpoint| rise(&endpoint.counters.in_flight, &endpoint.counters.in_flight_max));
        Busy { shared, index, link, in_flight }
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        if let Some(endpoint) = self.shared.endpoints.get(self.index) {
            endpoint.counters.in_flight.fetch_sub(1, Relaxed);
        }
        self.link.set_busy(false);
    }
}
