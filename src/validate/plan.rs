//! What is to be validated.

use crate::dispatch::governor::GovernorPolicy;
use crate::sandbox::{Fault, LatencyLaw, LawError, MOST_ENDPOINTS};
use crate::sizing::ServiceTime;
use std::sync::Arc;

/// The most arrivals of one level: each leaves a record of its attempts in memory.
pub(super) const MOST_ARRIVALS: f64 = 5e6;
const MOST_WORKERS: f64 = 20_000.0;

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
    #[error("{what} is {value}; it must be {accepted}")]
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
        "level {multiplier} has about {arrivals:.0} arrivals, and at most {MOST_ARRIVALS:.0} are kept; \
         shorten --duration or give --shrink"
    )]
    TooManyArrivals {
        /// The level.
        multiplier: f64,
        /// Its arrivals.
        arrivals: f64,
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
        let positive = |what, value: f64| number(what, value, "a finite number above 0", |v| v > 0.0);
        positive("the rate", self.rate_per_s)?;
        positive("the duration", self.duration_s)?;
        positive("the time scale", self.time_scale)?;
        number("the divisor of rate and workers", self.shrink, "a finite number of at least 1", |v| {
            v >= 1.0
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

    /// From the warm-up to the end of the arrivals, in seconds on the clock.
    pub(super) fn window_s(&self) -> [f64; 2] {
        [self.warm_up_s, self.duration_s].map(|time| time * self.time_scale)
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
            (Plan { time_scale: 1e6, ..plan() }, "3600 s"),
            (Plan { tls: true, target, ..plan() }, "--target"),
        ] {
            let error = bad.check().unwrap_err().to_string();
            assert!(error.contains(reason), "{error}");
        }
    }

    #[test]
    fn shrinking_divides_rate_and_workers_together() {
        let plan = Plan { workers: 1263, rate_per_s: 900.0, shrink: 10.0, ..plan() };
        assert_eq!((plan.workers_at(2.0), plan.rate_at(2.0)), (126, 180.0));
        assert_eq!(Plan { scale_pool: true, ..plan }.workers_at(2.0), 253);
    }
}
