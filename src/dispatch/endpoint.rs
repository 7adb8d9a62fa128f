//! The endpoints: each with its route, governor, throttle and health. They are the gate that the queue asks.

use super::clock::Clock;
use super::failure::Failure;
use super::gate::{Admission, Gate, Ticket};
use super::governor::{Governor, GovernorPolicy, Signal};
use super::message::EndpointId;
use super::pool::{Host, Pool};
use super::signing::{SecretError, Signer};
use super::tally::Tally;
use super::target::{Target, UrlError};
use super::throttle::{Throttle, ThrottleSettings};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};
use std::time::Duration;
use tokio::time::Instant;

/// One endpoint, which is one partner's subscription: its limits and its troubles are its own.
#[derive(Clone, Debug)]
pub struct EndpointConfig {
    /// Where it is, `http://` or `https://`.
    pub url: String,
    /// Its signing secret, `whsec_` and base64; without one, messages are not signed.
    pub secret: Option<String>,
    /// Its limits.
    pub throttle: ThrottleSettings,
}

impl EndpointConfig {
    /// An endpoint without secret and with the usual limits.
    #[must_use]
    pub fn new(url: impl Into<String>) -> Self {
        EndpointConfig { url: url.into(), secret: None, throttle: ThrottleSettings::default() }
    }
}

/// Why an endpoint was refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EndpointError {
    /// Its URL.
    #[error(transparent)]
    Url(#[from] UrlError),
    /// Its secret.
    #[error(transparent)]
    Secret(#[from] SecretError),
    /// There is no endpoint of that number.
    #[error("there is no endpoint {0}")]
    Unknown(u32),
}

/// What an endpoint has seen of the dispatcher.
#[derive(Clone, Debug)]
pub struct EndpointSnapshot {
    /// Its URL.
    pub url: String,
    /// Attempts finished.
    pub attempts: u64,
    /// Attempts that it took.
    pub delivered: u64,
    /// Attempts that it answered with 429.
    pub too_many: u64,
    /// Attempts in flight now.
    pub in_flight: u32,
    /// Attempts that its governor allows at once; `None` if there is no limit.
    pub governor_limit: Option<u32>,
    /// Why it is disabled, if it is.
    pub disabled: Option<Failure>,
    /// Waits of its messages in the queue, from ready to leased.
    pub wait: Tally,
}

/// How to reach an endpoint; replaced as a whole when it changes.
#[derive(Debug)]
pub(super) struct Route {
    pub(super) url: String,
    pub(super) target: Target,
    pub(super) signer: Option<Signer>,
    pub(super) host: Arc<Host>,
}

#[derive(Debug)]
struct Endpoint {
    route: RwLock<Arc<Route>>,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    governor: Governor,
    throttle: Throttle,
    failures_in_a_row: u32,
    disabled: Option<Failure>,
    attempts: u64,
    delivered: u64,
    too_many: u64,
    wait: Tally,
}

impl State {
    fn new(policy: GovernorPolicy, throttle: ThrottleSettings) -> Self {
        State {
            governor: Governor::new(policy),
            throttle: Throttle::new(throttle),
            failures_in_a_row: 0,
            disabled: None,
            attempts: 0,
            delivered: 0,
            too_many: 0,
            wait: Tally::coarse(),
        }
    }
}

/// How an attempt ended, for its endpoint.
#[derive(Clone, Copy, Debug)]
pub(super) struct Finished {
    /// `None` if no call was spent.
    pub(super) result: Option<Result<(), Failure>>,
    /// The endpoint's Retry-After, clamped.
    pub(super) retry_after: Option<Duration>,
    /// How long the message had waited in the queue.
    pub(super) wait: Duration,
}

/// All endpoints of a dispatcher.
#[derive(Debug)]
pub(super) struct Endpoints {
    list: Vec<Endpoint>,
    disable_after: Option<u32>,
    clock: Arc<dyn Clock>,
}

impl Endpoints {
    pub(super) fn new(
        configs: &[EndpointConfig],
        policy: GovernorPolicy,
        disable_after: Option<u32>,
        pool: &Pool,
        clock: Arc<dyn Clock>,
    ) -> Result<Self, EndpointError> {
        let make = |config: &EndpointConfig| {
            let state = State::new(policy, config.throttle);
            Ok(Endpoint { route: RwLock::new(Arc::new(route(config, pool)?)), state: Mutex::new(state) })
        };
        let list = configs.iter().map(make).collect::<Result<_, EndpointError>>()?;
        Ok(Endpoints { list, disable_after, clock })
    }

    pub(super) fn route(&self, id: EndpointId) -> Option<Arc<Route>> {
        let endpoint = self.list.get(id.0 as usize)?;
        Some(Arc::clone(&endpoint.route.read().unwrap_or_else(PoisonError::into_inner)))
    }

    /// Replaces an endpoint's URL and secret, closes the idle connections to where it was, and enables it again.
    pub(super) fn replace(
        &self,
        id: EndpointId,
        config: &EndpointConfig,
        pool: &Pool,
    ) -> Result<(), EndpointError> {
        let endpoint = self.list.get(id.0 as usize).ok_or(EndpointError::Unknown(id.0))?;
        let new = Arc::new(route(config, pool)?);
        let old =
            std::mem::replace(&mut *endpoint.route.write().unwrap_or_else(PoisonError::into_inner), new);
        old.host.flush();
        let mut state = endpoint.lock();
        state.throttle.change(config.throttle);
        state.disabled = None;
        state.failures_in_a_row = 0;
        Ok(())
    }

    /// Gives an attempt's place back. `true` if the endpoint is disabled by it.
    pub(super) fn finish(&self, id: EndpointId, ticket: Ticket, finished: &Finished) -> bool {
        let Some(endpoint) = self.list.get(id.0 as usize) else { return false };
        let now = self.clock.now();
        let mut state = endpoint.lock();
        state.wait.record(finished.wait);
        let signal = match finished.result {
            Some(Ok(())) => Signal::Good,
            Some(Err(failure)) if failure.asks_to_slow_down() => Signal::Bad(finished.retry_after),
            Some(Err(_)) | None => Signal::Neutral,
        };
        state.governor.finish(ticket.taken, signal, now);
        state.throttle.finish(ticket.retry);
        let Some(result) = finished.result else { return false };
        state.attempts += 1;
        match result {
            Ok(()) => {
                state.delivered += 1;
                state.failures_in_a_row = 0;
            }
            // Neither is the endpoint's doing.
            Err(Failure::HostPoolSaturated | Failure::Abandoned) => {}
            Err(failure) => {
                state.too_many += u64::from(failure == Failure::Status(429));
                state.failures_in_a_row = state.failures_in_a_row.saturating_add(1);
                let too_many = self.disable_after.is_some_and(|most| state.failures_in_a_row >= most);
                if state.disabled.is_none() && (too_many || failure == Failure::Status(410)) {
                    state.disabled = Some(failure);
                    return true;
                }
            }
        }
        false
    }

    pub(super) fn snapshot(&self) -> Vec<EndpointSnapshot> {
        let each = self.list.iter().enumerate();
        each.filter_map(|(index, endpoint)| {
            let url = self.route(EndpointId(index as u32))?.url.clone();
            let state = endpoint.lock();
            let places = state.governor.places();
            Some(EndpointSnapshot {
                url,
                attempts: state.attempts,
                delivered: state.delivered,
                too_many: state.too_many,
                in_flight: state.governor.in_flight(),
                governor_limit: (places < u32::MAX).then_some(places),
                disabled: state.disabled,
                wait: state.wait.clone(),
            })
        })
        .collect()
    }
}

impl Endpoint {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn route(config: &EndpointConfig, pool: &Pool) -> Result<Route, EndpointError> {
    let target = Target::parse(&config.url)?;
    let signer = config.secret.as_deref().map(Signer::new).transpose()?;
    let host = pool.host(&target.host);
    Ok(Route { url: config.url.clone(), target, signer, host })
}

impl Gate for Endpoints {
    fn admit(&self, id: EndpointId, attempt: u32, now: Instant) -> Admission {
        let Some(endpoint) = self.list.get(id.0 as usize) else {
            return Admission::DeadLetter(Failure::UnknownEndpoint);
        };
        let retry = attempt > 1;
        let mut state = endpoint.lock();
        if state.disabled.is_some() {
            return Admission::DeadLetter(Failure::EndpointDisabled);
        }
        let allowed = state.throttle.check(retry, now).and_then(|()| state.governor.start(now));
        match allowed {
            Ok(()) => {
                state.throttle.start(retry);
                Admission::Go(Ticket { taken: now, retry })
            }
            Err(until) => Admission::Wait(until),
        }
    }
}
