//! When events arrive.

use super::error::{Error, require, require_positive};
use super::law::Law;
use super::stream::Stream;
use super::ziggurat::Exponential;
use std::sync::Arc;

/// An arrival process.
#[derive(Clone, Debug)]
pub struct Arrivals(Kind);

#[derive(Clone, Debug)]
enum Kind {
    Poisson { mean_gap_s: f64 },
    Batches { mean_gap_s: f64, size: u32 },
    Renewal(Law),
    Trace(Arc<[f64]>),
    Schedule(Arc<[RateInterval]>),
}

/// A stretch of time at one arrival rate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RateInterval {
    /// Length, in seconds.
    pub duration_s: f64,
    /// Arrivals a second during it; may be 0.
    pub rate_per_s: f64,
}

impl Arrivals {
    /// Single arrivals at random (a Poisson process).
    ///
    /// # Errors
    /// Where the rate is not finite and positive.
    pub fn poisson(rate_per_s: f64) -> Result<Self, Error> {
        let mean_gap_s = mean_gap(rate_per_s)?;
        Ok(Arrivals(Kind::Poisson { mean_gap_s }))
    }

    /// Batches of `size` events at once, the batches a Poisson process; `rate_per_s` counts events, not batches.
    ///
    /// # Errors
    /// Where the rate is not finite and positive, or the size is 0.
    pub fn batches(rate_per_s: f64, size: u32) -> Result<Self, Error> {
        let events = require_positive("the batch size", f64::from(size))?;
        let mean_gap_s = require_positive("the time between batches", mean_gap(rate_per_s)? * events)?;
        Ok(Arrivals(Kind::Batches { mean_gap_s, size }))
    }

    /// Single arrivals whose gaps are independent draws from a law (a renewal process).
    #[must_use]
    pub fn renewal(gaps: Law) -> Self {
        Arrivals(Kind::Renewal(gaps))
    }

    /// Arrivals at the given times, in seconds from the start, and none after the last. Every replication sees the same
    /// times, so intervals speak of the service times' randomness alone.
    ///
    /// # Errors
    /// Where the list is empty, a time is negative or not finite, or a time lies before the one ahead of it.
    pub fn trace(times_s: Vec<f64>) -> Result<Self, Error> {
        if times_s.is_empty() {
            return Err(Error::Empty("the trace of arrivals"));
        }
        for &time in &times_s {
            require("an arrival time", time, "a finite number of at least 0", |time| time >= 0.0)?;
        }
        match times_s.windows(2).position(|pair| pair[1] < pair[0]) {
            Some(position) => Err(Error::ArrivalsNotInOrder { position: position + 1 }),
            None => Ok(Arrivals(Kind::Trace(times_s.into()))),
        }
    }

    /// Single arrivals at random with a rate that is constant within each interval; after the last interval the first
    /// follows again (a day repeats).
    ///
    /// # Errors
    /// Where there is no interval, a duration is not finite and positive, a rate is negative or not finite, or every
    /// rate is 0.
    pub fn schedule(intervals: Vec<RateInterval>) -> Result<Self, Error> {
        if intervals.is_empty() {
            return Err(Error::Empty("the rate schedule"));
        }
        for interval in &intervals {
            require_positive("the duration of a rate interval", interval.duration_s)?;
            let rate = interval.rate_per_s;
            require("a rate of the schedule", rate, "a finite number of at least 0", |rate| rate >= 0.0)?;
        }
        let arrivals = Arrivals(Kind::Schedule(intervals.into()));
        require_positive("the mean rate of the schedule", arrivals.mean_rate_per_s())?;
        Ok(arrivals)
    }

    /// Events a second in the long run; for a trace, over its length.
    #[must_use]
    pub fn mean_rate_per_s(&self) -> f64 {
        match &self.0 {
            Kind::Poisson { mean_gap_s } => 1.0 / mean_gap_s,
            Kind::Batches { mean_gap_s, size } => f64::from(*size) / mean_gap_s,
            Kind::Renewal(gaps) => 1.0 / gaps.mean_s(),
            Kind::Trace(times) => {
                let length = times.last().copied().unwrap_or(0.0);
                if length > 0.0 { times.len() as f64 / length } else { 0.0 }
            }
            Kind::Schedule(intervals) => {
                let events: f64 = intervals.iter().map(|i| i.duration_s * i.rate_per_s).sum();
                events / intervals.iter().map(|i| i.duration_s).sum::<f64>()
            }
        }
    }

    /// The variance of the number of arrivals over its mean, in the long run: 1 for single arrivals at random, the size
    /// for batches, the gaps' SCV for renewals. `None` where the process is not stationary.
    #[must_use]
    pub fn dispersion(&self) -> Option<f64> {
        match &self.0 {
            Kind::Poisson { .. } => Some(1.0),
            Kind::Batches { size, .. } => Some(f64::from(*size)),
            Kind::Renewal(gaps) => Some(gaps.scv()),
            Kind::Trace(_) | Kind::Schedule(_) => None,
        }
    }

    /// A source of arrival times from time 0.
    pub(super) fn source(&self, stream: Stream) -> Source {
        Source { arrivals: self.clone(), stream, now: 0.0, done: 0, interval: 0, interval_end: None }
    }
}

fn mean_gap(rate_per_s: f64) -> Result<f64, Error> {
    let rate = require_positive("the arrival rate", rate_per_s)?;
    require_positive("the time between arrivals", 1.0 / rate)
}

/// Produces the arrival times of one replication.
#[derive(Clone, Debug)]
pub(super) struct Source {
    arrivals: Arrivals,
    stream: Stream,
    /// Time of the last arrival.
    now: f64,
    /// Events of the current batch, or of the trace, that are behind us.
    done: usize,
    /// Current interval of the schedule, and when it ends.
    interval: usize,
    interval_end: Option<f64>,
}

impl Source {
    /// Fills `times` with the next arrival times; fewer than asked for only where the arrivals end. How a sequence is
    /// cut into calls does not change it.
    pub(super) fn fill(&mut self, times: &mut [f64]) -> usize {
        let Source { arrivals, stream, now, done, .. } = self;
        match &arrivals.0 {
            Kind::Poisson { mean_gap_s } => {
                let exponential = Exponential::new();
                for time in times.iter_mut() {
                    *now += mean_gap_s * exponential.draw(stream);
                    *time = *now;
                }
            }
            Kind::Batches { mean_gap_s, size } => {
                let exponential = Exponential::new();
                for time in times.iter_mut() {
                    if *done == 0 {
                        *now += mean_gap_s * exponential.draw(stream);
                    }
                    *done = (*done + 1) % *size as usize;
                    *time = *now;
                }
            }
            Kind::Renewal(gaps) => {
                gaps.fill(stream, times);
                for time in times.iter_mut() {
                    *now += *time;
                    *time = *now;
                }
            }
            Kind::Trace(trace) => {
                let rest = &trace[*done..];
                let count = rest.len().min(times.len());
                times[..count].copy_from_slice(&rest[..count]);
                *done += count;
                return count;
            }
            Kind::Schedule(intervals) => {
                let intervals = Arc::clone(intervals);
                times.fill_with(|| self.next_of_schedule(&intervals));
            }
        }
        times.len()
    }

    /// Inverts the cumulated rate: a unit exponential is used up at the current rate, interval by interval
    /// (Çinlar, "Introduction to Stochastic Processes", 1975, section 4.7).
    fn next_of_schedule(&mut self, intervals: &[RateInterval]) -> f64 {
        let mut left = Exponential::new().draw(&mut self.stream);
        loop {
            let RateInterval { duration_s, rate_per_s } = intervals[self.interval];
            let end = *self.interval_end.get_or_insert(duration_s);
            let until_end = (end - self.now).max(0.0) * rate_per_s;
            if left <= until_end && rate_per_s > 0.0 {
                self.now += left / rate_per_s;
                return self.now;
            }
            left -= until_end;
            self.now = end;
            self.interval = (self.interval + 1) % intervals.len();
            self.interval_end = Some(end + intervals[self.interval].duration_s);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::stream::{Purpose, Streams};
    use super::*;

    fn times(arrivals: &Arrivals, count: usize) -> Vec<f64> {
        let mut times = vec![0.0; count];
        let filled = arrivals.source(Streams::new(5, 0).stream(0, Purpose::Arrival)).fill(&mut times);
        times.truncate(filled);
        times
    }

    #[test]
    fn every_process_arrives_in_order_at_its_mean_rate() {
        let day = vec![
            RateInterval { duration_s: 10.0, rate_per_s: 30.0 },
            RateInterval { duration_s: 5.0, rate_per_s: 0.0 },
            RateInterval { duration_s: 20.0, rate_per_s: 100.0 },
        ];
        for arrivals in [
            Arrivals::poisson(50.0).unwrap(),
            Arrivals::batches(50.0, 10).unwrap(),
            Arrivals::renewal(Law::lognormal(0.02, 3.0).unwrap()),
            Arrivals::schedule(day).unwrap(),
        ] {
            let times = times(&arrivals, 200_000);
            assert!(times.windows(2).all(|pair| pair[0] <= pair[1]));
            let rate = times.len() as f64 / times[times.len() - 1];
            // The count's relative error is √(dispersion/count), at most 0.7% here.
            assert!((rate / arrivals.mean_rate_per_s() - 1.0).abs() < 0.03, "{arrivals:?}: {rate}");
        }
    }

    #[test]
    fn a_schedule_arrives_at_each_intervals_own_rate() {
        let day = vec![
            RateInterval { duration_s: 10.0, rate_per_s: 300.0 },
            RateInterval { duration_s: 5.0, rate_per_s: 0.0 },
            RateInterval { duration_s: 20.0, rate_per_s: 1000.0 },
        ];
        let mut counts = [0.0; 3];
        let times = times(&Arrivals::schedule(day).unwrap(), 23_000 * 10);
        let days = (times[times.len() - 1] / 35.0).floor();
        for time in times.iter().filter(|&&time| time < days * 35.0) {
            let place = time % 35.0;
            counts[usize::from(place >= 10.0) + usize::from(place >= 15.0)] += 1.0 / days;
        }
        assert_eq!(counts[1], 0.0);
        // Six standard deviations of a Poisson count averaged over nine days.
        for (count, expected) in [(counts[0], 3000.0_f64), (counts[2], 20_000.0)] {
            assert!((count - expected).abs() < 6.0 * (expected / days).sqrt(), "{count} {expected}");
        }
    }

    #[test]
    fn a_batch_arrives_at_one_moment() {
        let times = times(&Arrivals::batches(1.0, 4).unwrap(), 400);
        assert!(times.chunks(4).all(|batch| batch.iter().all(|&time| time == batch[0])));
        assert!(times.chunks(4).collect::<Vec<_>>().windows(2).all(|pair| pair[0][0] < pair[1][0]));
    }

    #[test]
    fn a_trace_is_replayed_and_ends() {
        let trace = Arrivals::trace(vec![0.0, 1.5, 1.5, 7.0]).unwrap();
        assert_eq!(times(&trace, 10), [0.0, 1.5, 1.5, 7.0]);
    }

    #[test]
    fn a_sequence_does_not_depend_on_how_it_is_cut() {
        let day = vec![
            RateInterval { duration_s: 1.0, rate_per_s: 3.0 },
            RateInterval { duration_s: 2.0, rate_per_s: 9.0 },
        ];
        for arrivals in [
            Arrivals::batches(2.0, 3).unwrap(),
            Arrivals::renewal(Law::lognormal(1.0, 2.0).unwrap()),
            Arrivals::schedule(day).unwrap(),
            Arrivals::trace((0..100).map(f64::from).collect()).unwrap(),
        ] {
            let whole = times(&arrivals, 100);
            let mut source = arrivals.source(Streams::new(5, 0).stream(0, Purpose::Arrival));
            let mut parts = vec![0.0; 100];
            for part in parts.chunks_mut(7) {
                assert_eq!(source.fill(part), part.len());
            }
            assert_eq!(whole, parts);
        }
    }

    #[test]
    fn what_has_no_meaning_is_refused() {
        for bad in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            assert!(Arrivals::poisson(bad).is_err());
            assert!(Arrivals::batches(bad, 5).is_err());
        }
        assert!(Arrivals::batches(1.0, 0).is_err());
        assert!(Arrivals::trace(vec![]).is_err());
        assert!(Arrivals::trace(vec![f64::NAN]).is_err());
        assert!(matches!(Arrivals::trace(vec![2.0, 1.0]), Err(Error::ArrivalsNotInOrder { position: 1 })));
        assert!(Arrivals::schedule(vec![]).is_err());
        let silence = RateInterval { duration_s: 1.0, rate_per_s: 0.0 };
        assert!(Arrivals::schedule(vec![silence]).is_err());
        let endless = RateInterval { duration_s: f64::INFINITY, rate_per_s: 1.0 };
        assert!(Arrivals::schedule(vec![endless]).is_err());
    }
}
