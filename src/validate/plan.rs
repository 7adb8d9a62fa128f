//! What is to be validated.

use crate::dispatch::governor::GovernorPolicy;
use crate::notice::Note;
use crate::sandbox::{Effect, Fault, LatencyLaw, LawError, MOST_ENDPOINTS};
use crate::sizing::ServiceTime;
use crate::units::human;
use std::sync::Arc;

/// The most arrivals of one level: each leaves a record of its attempts in memory.
pub(super) const MOST_ARRIVALS: f64 = 5e6;
const MOST_WORKERS: f64 = 20_000.0;
/// Timers of a shorter second cannot be kept; nobody waits for a longer one.
const TIME_SCALES: std::ops::RangeInclusive<f64> = 0.001..=1_000.0;
const MOST_SHRINK: f64 = 1e6;
/// The longest that an attempt is waited for, in seconds of the plan.
const LONGEST_ATTEMPT_S: f64 = 86_400.0;

/// When messages arrive.
#[derive(Clone, Debug)]
pub enum Arrivals {
    /// At random, at the planned rate.
    Poisson,
    /// At these times, in seconds from the start, in order.
    Trace(Arc<[f64]>),
}

/// A plan to validate. Times and rates are the plan's own, whatever `time_scale` and `shrink` make of them on the clock.
#[derive(Clone, Debug)]
pub struct Plan {
    /// Messages a second at level 1; that of the trace where there is one.
    pub rate_per_s: f64,
    /// Latency of the endpoints.
    pub law: LatencyLaw,
    /// The service time as the formulas take it.
    pub service: ServiceTime,
    /// Workers at level 1.
    pub workers: u64,
    /// Multiples of the rate, in the order in which they are run.
    pub levels: Vec<f64>,
    /// Whether the workers grow with the rate.
    pub scale_pool: bool,
    /// The oldest age that a level with a pool that is large enough may reach, in seconds.
    pub max_age_s: Option<f64>,
    /// How long messages arrive at a level, in seconds.
    pub duration_s: f64,
    /// What is left out at the start of each level, in seconds.
    pub warm_up_s: f64,
    /// Seconds on the clock for a second of the plan.
    pub time_scale: f64,
    /// What rate and workers are divided by.
    pub shrink: f64,
    /// When messages arrive.
    pub arrivals: Arrivals,
    /// Endpoints, to which messages go in turn.
    pub endpoints: usize,
    /// What goes wrong at them.
    pub faults: Vec<Fault>,
    /// How endpoints' limits move.
    pub governor: GovernorPolicy,
    /// Whether a host has at most 8 attempts at a time.
    pub host_cap: bool,
    /// Whether to speak TLS.
    pub tls: bool,
    /// A sandbox elsewhere, instead of one of our own.
    pub target: Option<String>,
    /// Seed of arrivals, latencies, faults and simulations.
    pub seed: u64,
}

/// Why a plan has no meaning.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum PlanError {
    /// A number is out of its range.
    #[error("{what} is {}; it must be {accepted}", shown(*.value))]
    Number {
        /// The number's name.
        what: &'static str,
        /// Its value.
        value: f64,
        /// What is accepted.
        accepted: &'static str,
    },
    /// There is no level.
    #[error("there is no level; give multiples of the rate, such as 1,2,4")]
    NoLevel,
    /// A level has more arrivals than are kept.
    #[error(
        "level {multiplier} has about {} arrivals, and at most {} are kept; shorten --duration or give --shrink",
        shown(*.arrivals),
        shown(MOST_ARRIVALS)
    )]
    TooManyArrivals {
        /// The level.
        multiplier: f64,
        /// Its arrivals.
        arrivals: f64,
    },
    /// A trace without a gap has no rate.
    #[error("the trace has {arrivals} at one moment; a trace needs two at different times", arrivals = human::counted(*.arrivals, "arrival"))]
    TraceWithoutGap {
        /// Its arrivals.
        arrivals: u64,
    },
    /// Latencies do not fit once scaled.
    #[error(transparent)]
    Law(#[from] LawError),
    /// A sandbox elsewhere is not controlled from here.
    #[error(
        "--target has its own latencies, faults and TLS; start it with them and leave out --fault and --tls"
    )]
    TargetIsElsewhere,
}

impl Plan {
    pub(super) fn check(&self) -> Result<(), PlanError> {
        if let Arrivals::Trace(times) = &self.arrivals
            && !times.first().zip(times.last()).is_some_and(|(first, last)| first < last)
        {
            return Err(PlanError::TraceWithoutGap { arrivals: times.len() as u64 });
        }
        let positive = |what, value: f64| number(what, value, "a finite number above 0", |v| v > 0.0);
        positive("the rate", self.rate_per_s)?;
        positive("the duration", self.duration_s)?;
        number("the time scale", self.time_scale, "from 0.001 to 1,000", |v| TIME_SCALES.contains(&v))?;
        number("the divisor of rate and workers", self.shrink, "at least 1 and at most 1,000,000", |v| {
            (1.0..=MOST_SHRINK).contains(&v)
        })?;
        let within = |warm_up: f64| warm_up >= 0.0 && warm_up < self.duration_s;
        number("the warm-up", self.warm_up_s, "shorter than the duration", within)?;
        let hosts = |count: f64| count >= 1.0 && count <= MOST_ENDPOINTS as f64;
        number("the number of endpoints", self.endpoints as f64, "a whole number from 1 to 4096", hosts)?;
        if self.levels.is_empty() {
            return Err(PlanError::NoLevel);
        }
        for &multiplier in &self.levels {
            positive("a level", multiplier)?;
            let workers = self.workers_at(multiplier) as f64;
            number("the number of workers", workers, "from 1 to 20000 after --shrink", |n| {
                (1.0..=MOST_WORKERS).contains(&n)
            })?;
            let arrivals = self.rate_at(multiplier) * self.duration_s;
            if arrivals > MOST_ARRIVALS {
                return Err(PlanError::TooManyArrivals { multiplier, arrivals });
            }
        }
        if self.target.is_some() && (self.tls || !self.faults.is_empty()) {
            return Err(PlanError::TargetIsElsewhere);
        }
        self.law.scaled(self.time_scale)?;
        Ok(())
    }

    /// A time to answer that at most this share of the attempts exceeds, with what faults add, in seconds.
    pub(super) fn seldom_exceeded_s(&self, share: f64) -> f64 {
        let (mut factor, mut late_s) = (1.0, 0.0);
        for fault in &self.faults {
            match fault.effect {
                Effect::Slower(slower) => factor *= slower.max(1.0),
                Effect::SlowBody(late) => late_s = late.as_secs_f64().max(late_s),
                _ => {}
            }
        }
        (self.law.seldom_exceeded_s(share) * factor + late_s).min(LONGEST_ATTEMPT_S)
    }

    /// What the plan's faults become on the clock, where that is not what was asked for.
    pub(super) fn notes(&self) -> Vec<Note> {
        let each = self.faults.iter().filter_map(|fault| match fault.effect {
            Effect::Status { retry_after: Some(asked), .. } => Some(asked.as_secs_f64()),
            _ => None,
        });
        let changed = each.filter_map(|asked_s| {
            let sent_s = (asked_s * self.time_scale).ceil() / self.time_scale;
            (sent_s > asked_s * (1.0 + 1e-9)).then(|| {
                let text = format!(
                    "a Retry-After of {} is sent as {} of the plan: the header has whole seconds on the clock",
                    human::duration(asked_s),
                    human::duration(sent_s)
                );
                Note::warning("retry-after-rounded-up", text)
            })
        });
        changed.collect()
    }

    /// Workers at a level, after shrinking; at least one.
    pub(super) fn workers_at(&self, multiplier: f64) -> usize {
        let factor = if self.scale_pool { multiplier } else { 1.0 } / self.shrink;
        ((self.workers as f64 * factor).round() as usize).max(1)
    }

    /// Messages a second of the plan's time at a level, after shrinking.
    pub(super) fn rate_at(&self, multiplier: f64) -> f64 {
        self.rate_per_s * multiplier / self.shrink
    }
}

/// A number that fits into a line, whatever it is.
fn shown(value: f64) -> String {
    if value.is_finite() { human::significant(value, 4) } else { value.to_string() }
}

fn number(
    what: &'static str,
    value: f64,
    accepted: &'static str,
    holds: impl Fn(f64) -> bool,
) -> Result<(), PlanError> {
    if value.is_finite() && holds(value) { Ok(()) } else { Err(PlanError::Number { what, value, accepted }) }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    pub(in crate::validate) fn plan() -> Plan {
        Plan {
            rate_per_s: 100.0,
            law: LatencyLaw::exponential(0.05).unwrap(),
            service: ServiceTime::exponential("50ms".parse().unwrap()),
            workers: 10,
            levels: vec![1.0],
            scale_pool: false,
            max_age_s: None,
            duration_s: 3.0,
            warm_up_s: 0.3,
            time_scale: 1.0,
            shrink: 1.0,
            arrivals: Arrivals::Poisson,
            endpoints: 5,
            faults: Vec::new(),
            governor: GovernorPolicy::Off,
            host_cap: false,
            tls: false,
            target: None,
            seed: 1,
        }
    }

    #[test]
    fn a_plan_without_meaning_is_refused_with_what_is_accepted() {
        assert_eq!(plan().check(), Ok(()));
        let target = Some("http://127.0.0.1:1".to_owned());
        for (bad, reason) in [
            (Plan { rate_per_s: f64::NAN, ..plan() }, "the rate is NaN"),
            (Plan { duration_s: 0.0, ..plan() }, "duration"),
            (Plan { warm_up_s: 3.0, ..plan() }, "shorter than the duration"),
            (Plan { shrink: 0.5, ..plan() }, "at least 1"),
            (Plan { time_scale: -1.0, ..plan() }, "time scale"),
            (Plan { endpoints: 0, ..plan() }, "1 to 4096"),
            (Plan { levels: vec![], ..plan() }, "no level"),
            (Plan { levels: vec![1.0, -2.0], ..plan() }, "a level is -2"),
            (Plan { workers: 1_000_000, ..plan() }, "after --shrink"),
            (Plan { rate_per_s: 1e9, ..plan() }, "--shrink"),
            (Plan { rate_per_s: 1e300, ..plan() }, "3.000e300 arrivals"),
            (Plan { time_scale: 1e6, ..plan() }, "from 0.001 to 1,000"),
            (Plan { time_scale: 1e-12, ..plan() }, "the time scale is 1.000e-12"),
            (Plan { shrink: 1e7, ..plan() }, "at most 1,000,000"),
            (Plan { time_scale: 1e3, law: LatencyLaw::constant(10.0).unwrap(), ..plan() }, "3600 s"),
            (Plan { arrivals: Arrivals::Trace([0.0].into()), ..plan() }, "1 arrival at one moment"),
            (Plan { arrivals: Arrivals::Trace([0.0, 0.0].into()), ..plan() }, "2 arrivals at one moment"),
            (Plan { tls: true, target, ..plan() }, "--target"),
        ] {
            let error = bad.check().unwrap_err().to_string();
            assert!(error.contains(reason) && error.len() < 200, "{error}");
        }
    }

    #[test]
    fn a_retry_after_that_the_header_cannot_say_is_named_with_what_is_sent() {
        let fault = |text: &str| vec![text.parse().unwrap()];
        let notes = |faults, time_scale| Plan { faults, time_scale, ..plan() }.notes();
        assert!(notes(fault("status=429,retry-after=1s"), 1.0).is_empty());
        assert!(notes(fault("status=429"), 0.1).is_empty());
        let note = &notes(fault("status=429,retry-after=1s"), 0.1)[0];
        assert!(note.message.contains("of 1 s is sent as 10 s"), "{}", note.message);
        let note = &notes(fault("status=429,retry-after=100ms"), 1.0)[0];
        assert!(note.message.contains("of 100 ms is sent as 1 s"), "{}", note.message);
    }

    #[test]
    fn shrinking_divides_rate_and_workers_together() {
        let plan = Plan { workers: 1263, rate_per_s: 900.0, shrink: 10.0, ..plan() };
        assert_eq!((plan.workers_at(2.0), plan.rate_at(2.0)), (126, 180.0));
        assert_eq!(Plan { scale_pool: true, ..plan }.workers_at(2.0), 253);
    }
}
