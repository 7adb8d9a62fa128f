//! Faults: what an endpoint does instead of answering well, and when.

use super::law::happens;
use crate::units::{Count, ParseError, Ratio, Seconds, Share};
use std::fmt;
use std::str::FromStr;
use std::time::Duration;

const ACCEPTED: &str = "a fault is an effect (status=CODE[,retry-after=D], slower=X, slow-body=D, reset, \
     lose-response, hang, close-idle=D, keep-alive=D) with conditions (endpoint=N, share=P, above-concurrency=N, \
     from=D, until=D), separated by commas";

/// One fault rule: an effect, and the conditions under which it strikes.
#[derive(Clone, Debug, PartialEq)]
pub struct Fault {
    /// The endpoint that it strikes, counted from one; all of them if absent.
    pub endpoint: Option<u32>,
    /// The share of requests that it strikes, from 0 to 1.
    pub share: f64,
    /// Strikes only requests that arrive when more than this many, with itself, are in flight there.
    pub above_concurrency: Option<u32>,
    /// Strikes only from this time after the start of the sandbox.
    pub from: Duration,
    /// Strikes only until this time after the start of the sandbox.
    pub until: Option<Duration>,
    /// What it does.
    pub effect: Effect,
}

/// What a fault does.
#[derive(Clone, Debug, PartialEq)]
pub enum Effect {
    /// Answers at once with this status.
    Status {
        /// The status code, 300 to 599.
        code: u16,
        /// The Retry-After header, in whole seconds rounded up as the header wants them.
        retry_after: Option<Duration>,
    },
    /// Multiplies the latency.
    Slower(f64),
    /// Sends the head in time, and the body this much later.
    SlowBody(Duration),
    /// Resets the connection when the request has arrived, without having taken it.
    Reset,
    /// Takes the delivery, then resets the connection instead of answering.
    LoseResponse,
    /// Takes the request and never answers.
    Hang,
    /// Closes connections that are idle for this long, without having said so.
    CloseIdle(Duration),
    /// Advertises this keep-alive timeout, in whole seconds.
    KeepAlive(Duration),
}

impl Fault {
    /// A fault that always strikes everywhere.
    #[must_use]
    pub fn always(effect: Effect) -> Self {
        let (endpoint, above_concurrency, until) = (None, None, None);
        Fault { endpoint, share: 1.0, above_concurrency, from: Duration::ZERO, until, effect }
    }

    /// The same fault at one endpoint, counted from one.
    #[must_use]
    pub fn at_endpoint(self, endpoint: u32) -> Self {
        Fault { endpoint: Some(endpoint), ..self }
    }

    /// The same fault for a share of the requests.
    #[must_use]
    pub fn with_share(self, share: f64) -> Self {
        Fault { share, ..self }
    }

    /// The same fault with every time in it multiplied by a factor.
    #[must_use]
    pub fn scaled(&self, factor: f64) -> Self {
        let scale = |time: Duration| Duration::try_from_secs_f64(time.as_secs_f64() * factor).unwrap_or(time);
        let effect = match &self.effect {
            Effect::Status { code, retry_after } => {
                Effect::Status { code: *code, retry_after: retry_after.map(scale) }
            }
            Effect::SlowBody(late) => Effect::SlowBody(scale(*late)),
            Effect::CloseIdle(after) => Effect::CloseIdle(scale(*after)),
            Effect::KeepAlive(timeout) => Effect::KeepAlive(scale(*timeout)),
            Effect::Slower(_) | Effect::Reset | Effect::LoseResponse | Effect::Hang => self.effect.clone(),
        };
        Fault { from: scale(self.from), until: self.until.map(scale), effect, ..self.clone() }
    }

    /// Whether it strikes one request: `since_start` after the start, with `in_flight` requests at its endpoint
    /// including itself; `index` is the request's number there.
    pub(super) fn strikes(&self, since_start: Duration, in_flight: u32, seed: u64, index: u64) -> bool {
        since_start >= self.from
            && self.until.is_none_or(|until| since_start < until)
            && self.above_concurrency.is_none_or(|limit| in_flight > limit)
            && happens(self.share, seed, index)
    }
}

impl FromStr for Fault {
    type Err = ParseError;

    fn from_str(typed: &str) -> Result<Self, ParseError> {
        parse(typed).map_err(|reason| ParseError { typed: typed.to_owned(), reason, accepted: ACCEPTED })
    }
}

fn parse(typed: &str) -> Result<Fault, String> {
    let mut fault = Fault::always(Effect::Hang);
    let mut effect: Option<Effect> = None;
    let mut retry_after = None;
    let mut seen: Vec<&str> = Vec::new();
    for part in typed.split(',') {
        let (key, value) =
            part.split_once('=').map_or((part.trim(), None), |(k, v)| (k.trim(), Some(v.trim())));
        if seen.contains(&key) {
            return Err(format!("\"{key}\" stands twice"));
        }
        seen.push(key);
        let needed = || value.ok_or_else(|| format!("\"{key}\" needs a value"));
        let found = match key {
            "endpoint" => {
                fault.endpoint = Some(positive(needed()?)?);
                continue;
            }
            "share" => {
                fault.share = needed()?.parse::<Share>().map_err(reason)?.get();
                continue;
            }
            "above-concurrency" => {
                fault.above_concurrency = Some(whole(needed()?)?);
                continue;
            }
            "from" => {
                fault.from = time(needed()?)?;
                continue;
            }
            "until" => {
                fault.until = Some(time(needed()?)?);
                continue;
            }
            "retry-after" => {
                retry_after = Some(time(needed()?)?);
                continue;
            }
            "status" => Effect::Status { code: status(needed()?)?, retry_after: None },
            "slower" => Effect::Slower(needed()?.parse::<Ratio>().map_err(reason)?.get()),
            "slow-body" => Effect::SlowBody(time(needed()?)?),
            "close-idle" => Effect::CloseIdle(time(needed()?)?),
            "keep-alive" => Effect::KeepAlive(time(needed()?)?),
            "reset" | "lose-response" | "hang" if value.is_some() => {
                return Err(format!("\"{key}\" takes no value"));
            }
            "reset" => Effect::Reset,
            "lose-response" => Effect::LoseResponse,
            "hang" => Effect::Hang,
            other => return Err(format!("\"{other}\" is not known")),
        };
        if effect.replace(found).is_some() {
            return Err("it has two effects; give each a fault of its own".to_owned());
        }
    }
    fault.effect = effect.ok_or("it has no effect")?;
    match (&mut fault.effect, retry_after) {
        (_, None) => {}
        (Effect::Status { retry_after, .. }, given) => *retry_after = given,
        _ => return Err("retry-after goes with status only".to_owned()),
    }
    if fault.until.is_some_and(|until| until <= fault.from) {
        return Err("it ends before it begins".to_owned());
    }
    Ok(fault)
}

fn reason(error: ParseError) -> String {
    error.to_string()
}

fn time(typed: &str) -> Result<Duration, String> {
    typed.parse::<Seconds>().map(|seconds| Duration::from_secs_f64(seconds.get())).map_err(reason)
}

fn whole(typed: &str) -> Result<u32, String> {
    let count = typed.parse::<Count>().map_err(reason)?.get();
    u32::try_from(count).map_err(|_| format!("{count} is too many"))
}

fn positive(typed: &str) -> Result<u32, String> {
    Some(whole(typed)?).filter(|count| *count > 0).ok_or_else(|| "endpoints are counted from 1".to_owned())
}

fn status(typed: &str) -> Result<u16, String> {
    typed
        .parse()
        .ok()
        .filter(|code| (300..600).contains(code))
        .ok_or_else(|| format!("\"{typed}\" is not a status code from 300 to 599"))
}

impl fmt::Display for Effect {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Effect::Status { code, .. } => write!(formatter, "status {code}"),
            Effect::Slower(factor) => write!(formatter, "{factor} times slower"),
            Effect::SlowBody(over) => write!(formatter, "body {over:?} late"),
            Effect::Reset => formatter.write_str("reset"),
            Effect::LoseResponse => formatter.write_str("response lost"),
            Effect::Hang => formatter.write_str("hang"),
            Effect::CloseIdle(after) => write!(formatter, "closes after {after:?} idle"),
            Effect::KeepAlive(timeout) => write!(formatter, "advertises {timeout:?} keep-alive"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_rule_of_the_command_line_is_understood() {
        let second = Duration::from_secs(1);
        let rule = |effect| Fault::always(effect);
        let too_many = |retry_after| Effect::Status { code: 429, retry_after };
        for (typed, expected) in [
            (
                "endpoint=3,status=429,share=0.05,retry-after=1s",
                rule(too_many(Some(second))).at_endpoint(3).with_share(0.05),
            ),
            ("status=503", rule(Effect::Status { code: 503, retry_after: None })),
            ("endpoint=3,hang", rule(Effect::Hang).at_endpoint(3)),
            ("above-concurrency=8,status=429", Fault { above_concurrency: Some(8), ..rule(too_many(None)) }),
            (
                "above-concurrency=8, slower=2.5",
                Fault { above_concurrency: Some(8), ..rule(Effect::Slower(2.5)) },
            ),
            ("reset,share=5%", rule(Effect::Reset).with_share(0.05)),
            ("lose-response", rule(Effect::LoseResponse)),
            ("slow-body=1", rule(Effect::SlowBody(second))),
            ("close-idle=1s", rule(Effect::CloseIdle(second))),
            ("keep-alive=1s", rule(Effect::KeepAlive(second))),
            (
                "from=1s,until=2s,reset",
                Fault { from: second, until: Some(2 * second), ..rule(Effect::Reset) },
            ),
        ] {
            assert_eq!(typed.parse::<Fault>().unwrap(), expected, "{typed}");
        }
    }

    #[test]
    fn what_is_no_fault_is_quoted_with_the_grammar() {
        for (typed, reason) in [
            ("", "\"\" is not known"),
            ("endpoint=3", "no effect"),
            ("endpoint=0,hang", "counted from 1"),
            ("hang,reset", "two effects"),
            ("hang,hang", "twice"),
            ("hang=3s", "takes no value"),
            ("status", "needs a value"),
            ("status=200", "300 to 599"),
            ("hang,retry-after=1s", "goes with status"),
            ("reset,share=7", "more than the whole"),
            ("reset,from=2s,until=1s", "before it begins"),
            ("explode", "\"explode\" is not known"),
        ] {
            let error = typed.parse::<Fault>().unwrap_err().to_string();
            assert!(error.contains(reason) && error.contains("status=CODE"), "{error}");
        }
    }

    #[test]
    fn a_fault_strikes_its_share_above_its_concurrency_and_in_its_time() {
        let fault: Fault = "reset,share=0.3,above-concurrency=8,from=1s,until=2s".parse().unwrap();
        let strikes =
            |seconds, in_flight, index| fault.strikes(Duration::from_secs_f64(seconds), in_flight, 1, index);
        let share = (0..10_000).filter(|index| strikes(1.5, 9, *index)).count();
        assert!((2_800..3_200).contains(&share), "{share}");
        assert!((0..1_000).all(|index| !strikes(1.5, 8, index)));
        assert!((0..1_000).all(|index| !strikes(0.5, 9, index) && !strikes(2.0, 9, index)));
    }
}
