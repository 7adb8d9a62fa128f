//! Traffic whose rate moves over the day: a pool for each interval.

use super::solve::Load;
use super::{Demand, Objective};
use crate::queueing::MeanUpTo;
use crate::units::{ArrivalRate, Exact};
use schemars::JsonSchema;
use serde::Serialize;

/// The most intervals that a day, or whatever the rates span, is cut into.
const MOST_INTERVALS: usize = 10_000;

/// The most rates of a profile.
const MOST_RATES: usize = 50_000;

/// A rate that holds from a time on until the next one.
#[derive(Clone, Debug, PartialEq)]
pub struct RateFrom {
    /// Seconds after the start.
    pub at_s: f64,
    /// Attempts a second.
    pub rate: ArrivalRate,
}

/// A rate that moves.
#[derive(Clone, Debug, PartialEq)]
pub struct RateProfile {
    rates: Vec<RateFrom>,
    end_s: f64,
}

/// Why a rate profile cannot be sized.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ScheduleError {
    /// No rate is above zero.
    #[error("no rate in the profile is above zero, so there is nothing to size for")]
    Nothing,
    /// Too many rates.
    #[error("the profile has more than {MOST_RATES} rates; give fewer and longer ones")]
    TooManyRates,
    /// Too many intervals.
    #[error("the profile is cut into more than {MOST_INTERVALS} intervals; give a longer one")]
    TooManyIntervals,
}

/// The pool of one interval.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct StaffedInterval {
    /// When it begins, in seconds after the start.
    pub at_s: f64,
    /// The highest rate within it, in attempts a second.
    pub rate_per_s: f64,
    /// The highest modified offered load within it, in erlangs: the attempts that would be under way with a worker for
    /// each.
    pub offered_load_erlangs: f64,
    /// The smallest pool that meets the objectives at that load; 0 where next to nothing is under way.
    pub workers: u64,
}

/// A pool for each interval.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Schedule {
    /// The length of an interval, in seconds.
    pub interval_s: f64,
    /// The intervals in order.
    pub intervals: Vec<StaffedInterval>,
    /// The pool of the busiest interval.
    pub peak_workers: u64,
    /// Workers times seconds over all intervals.
    pub worker_seconds: f64,
    /// The same for the pool of the busiest interval all the time.
    pub constant_worker_seconds: f64,
}

/// The share of an interval in which what began before it may end.
const SETTLING: f64 = 0.1;

/// A load below which there is nothing to do.
const NOTHING: f64 = 1e-6;

impl RateProfile {
    /// Rates in order of their times, of which the last holds until `end_s`.
    ///
    /// # Errors
    /// If there are too many, or none is above zero.
    pub fn new(rates: Vec<RateFrom>, end_s: f64) -> Result<Self, ScheduleError> {
        if rates.len() > MOST_RATES {
            return Err(ScheduleError::TooManyRates);
        }
        if rates.iter().all(|from| from.rate.is_zero()) {
            return Err(ScheduleError::Nothing);
        }
        Ok(RateProfile { rates, end_s })
    }

    /// How long it is, in seconds.
    #[must_use]
    pub fn length_s(&self) -> f64 {
        self.end_s - self.start_s()
    }

    fn start_s(&self) -> f64 {
        self.rates.first().map_or(0.0, |from| from.at_s)
    }

    /// The modified offered load m(t) = ∫₀^∞ λ(t−x)·P(S>x) dx (W. A. Massey, W. Whitt, "Networks of infinite-server
    /// queues with nonstationary Poisson input", Queueing Systems 13, 1993; O. B. Jennings and others, "Server
    /// staffing to meet time-varying demand", Management Science 42, 1996): what each interval is sized for. The first
    /// rate is taken to have held before.
    fn load_at(&self, service: &MeanUpTo, mean_s: f64, time_s: f64) -> f64 {
        let begun = self.rates.partition_point(|from| from.at_s <= time_s);
        // From the latest rate back, until services that began before have ended.
        let mut load = 0.0;
        let mut since_end = 0.0;
        for (index, from) in self.rates[..begun].iter().enumerate().rev() {
            let since_start = if index == 0 { f64::INFINITY } else { time_s - from.at_s };
            let up_to = |seconds: f64| if seconds.is_infinite() { mean_s } else { service.at(seconds) };
            let before = up_to(since_end);
            load += from.rate.get() * (up_to(since_start) - before);
            since_end = since_start;
            if before >= mean_s {
                break;
            }
        }
        load.max(0.0)
    }

    /// The highest rate and the highest load of an interval, which is reached where the rate changes or at an end. Its
    /// first tenth is left out: attempts of a busier interval before it end there, and do not set its pool.
    fn highest(&self, service: &MeanUpTo, mean_s: f64, from_s: f64, to_s: f64) -> (f64, f64) {
        let first = self.rates.partition_point(|from| from.at_s <= from_s);
        let last = self.rates.partition_point(|from| from.at_s < to_s);
        let changes = self.rates[first..last].iter().map(|from| from.at_s);
        let load = std::iter::once(from_s + SETTLING * (to_s - from_s))
            .chain(changes)
            .chain(std::iter::once(to_s))
            .map(|time| self.load_at(service, mean_s, time))
            .fold(0.0, f64::max);
        let rate =
            self.rates[first.saturating_sub(1)..last].iter().map(|from| from.rate.get()).fold(0.0, f64::max);
        (rate, load)
    }

    /// The highest modified offered load of all, as a constant rate that has it.
    ///
    /// # Errors
    /// If it is beyond what is accepted.
    pub fn peak(&self, service: &super::ServiceTime) -> Result<ArrivalRate, ScheduleError> {
        let (prepared, mean_s) = (MeanUpTo::new(&service.law), service.law.mean_s());
        let (_, load) = self.highest(&prepared, mean_s, self.start_s(), self.end_s);
        ArrivalRate::from_f64(without_noise(load / mean_s))
            .filter(|rate| !rate.is_zero())
            .ok_or(ScheduleError::Nothing)
    }

    /// Sizes each interval of `interval_s` seconds for the service and arrivals of `demand`, whose own rate is not
    /// looked at.
    ///
    /// # Errors
    /// If there are too many intervals.
    pub fn schedule(
        &self,
        demand: &Demand,
        objectives: &[Objective],
        interval_s: f64,
    ) -> Result<Schedule, ScheduleError> {
        let count = (self.length_s() / interval_s).ceil().max(1.0);
        if count > MOST_INTERVALS as f64 {
            return Err(ScheduleError::TooManyIntervals);
        }
        let mean_s = demand.service.law.mean_s();
        let service = MeanUpTo::new(&demand.service.law);
        let load = Load::new(demand);
        let interval = |index: usize| {
            let start = self.start_s() + index as f64 * interval_s;
            let end = (start + interval_s).min(self.end_s);
            let (rate_per_s, measured) = self.highest(&service, mean_s, start, end);
            // The law may be a histogram, whose mean is a little off the exact one.
            let erlangs = without_noise(measured * demand.service.mean.get() / mean_s);
            let workers = match Exact::from_f64(erlangs) {
                Some(exact) if erlangs > NOTHING => load.with_erlangs(exact).smallest_for_all(objectives),
                _ => 0,
            };
            let seconds = end - start;
            let at_s = index as f64 * interval_s;
            (StaffedInterval { at_s, rate_per_s, offered_load_erlangs: erlangs, workers }, seconds)
        };
        let (intervals, lengths): (Vec<StaffedInterval>, Vec<f64>) =
            (0..count as usize).map(interval).unzip();
        let peak_workers = intervals.iter().map(|interval| interval.workers).fold(0, u64::max);
        let staffed = intervals.iter().zip(&lengths);
        Ok(Schedule {
            interval_s,
            peak_workers,
            worker_seconds: staffed.map(|(interval, seconds)| interval.workers as f64 * seconds).sum(),
            constant_worker_seconds: peak_workers as f64 * lengths.iter().sum::<f64>(),
            intervals,
        })
    }
}

/// The value to twelve digits: what a sum of floats leaves behind them would decide a ceiling.
fn without_noise(value: f64) -> f64 {
    format!("{value:.11e}").parse().unwrap_or(value)
}

#[cfg(test)]
mod tests {
    use super::super::{ArrivalProcess, ServiceTime};
    use super::*;

    fn profile(rates: &[(f64, &str)], end_s: f64) -> RateProfile {
        let rates = rates.iter().map(|&(at_s, rate)| RateFrom { at_s, rate: rate.parse().unwrap() });
        RateProfile::new(rates.collect(), end_s).unwrap()
    }

    fn objectives() -> Vec<Objective> {
        vec![Objective::MeanWait("0.5".parse().unwrap())]
    }

    fn demand(mean: &str) -> Demand {
        let service = ServiceTime::exponential(mean.parse().unwrap());
        Demand::new("1".parse().unwrap(), service, ArrivalProcess::Poisson).unwrap()
    }

    /// A step from λ₁ to λ₂ with exponential service: m(t) = λ₂S + (λ₁ − λ₂)S·e^(−t/S).
    #[test]
    fn a_step_is_followed_as_on_paper() {
        let profile = profile(&[(0.0, "100"), (3600.0, "400")], 7200.0);
        let service = MeanUpTo::new(&demand("100").service.law);
        for (time, expected) in [
            (0.0, 10_000.0),
            (3599.0, 10_000.0),
            (3700.0, 40_000.0 - 30_000.0 * f64::exp(-1.0)),
            (4600.0, 40_000.0 - 30_000.0 * f64::exp(-10.0)),
        ] {
            let found = profile.load_at(&service, 100.0, time);
            assert!((found / expected - 1.0).abs() < 1e-9, "{time}: {found} {expected}");
        }
    }

    #[test]
    fn a_constant_rate_has_the_pool_of_the_steady_answer_all_day() {
        let profile = profile(&[(0.0, "900"), (600.0, "900")], 1200.0);
        let found = profile.schedule(&demand("1.4"), &objectives(), 300.0).unwrap();
        assert_eq!(found.intervals.iter().map(|row| row.workers).collect::<Vec<_>>(), [1263; 4]);
        assert_eq!((found.peak_workers, found.worker_seconds), (1263, 1263.0 * 1200.0));
    }

    #[test]
    fn a_peak_shorter_than_the_service_needs_less_than_its_rate_says() {
        // A minute of 100/s in calm traffic of 1/s, each ten minutes long.
        let profile = profile(&[(0.0, "1"), (3600.0, "100"), (3660.0, "1")], 7200.0);
        let found = profile.schedule(&demand("600"), &objectives(), 600.0).unwrap();
        let at_peak = 600.0 + 99.0 * 600.0 * -f64::exp_m1(-0.1);
        let busiest = found.intervals.iter().map(|row| row.offered_load_erlangs).fold(0.0, f64::max);
        assert!((busiest / at_peak - 1.0).abs() < 1e-9, "{busiest} {at_peak}");
        assert!(found.peak_workers < 7_000, "{}", found.peak_workers);
        let loads: Vec<f64> = found.intervals[6..].iter().map(|row| row.offered_load_erlangs).collect();
        assert!(loads.is_sorted_by(|a, b| a >= b), "what began in the peak ends little by little: {loads:?}");
    }

    #[test]
    fn silence_needs_nobody_and_no_traffic_at_all_is_refused() {
        let profile = profile(&[(0.0, "0"), (3600.0, "5")], 7200.0);
        let found = profile.schedule(&demand("1"), &objectives(), 1800.0).unwrap();
        assert_eq!((found.intervals[0].workers, found.intervals[3].workers), (0, 7));
        let nothing = vec![RateFrom { at_s: 0.0, rate: "0".parse().unwrap() }];
        assert_eq!(RateProfile::new(nothing, 60.0), Err(ScheduleError::Nothing));
        assert_eq!(profile.schedule(&demand("1"), &objectives(), 0.1), Err(ScheduleError::TooManyIntervals));
    }
}
