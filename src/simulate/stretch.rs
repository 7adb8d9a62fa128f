//! How a run is cut into stretches, so that its warm-up can be left out afterwards.

use super::error::{Error, require_positive};

/// How long each replication runs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Horizon {
    /// Until this many arrivals have come.
    Arrivals(u64),
    /// For this time, in seconds.
    Seconds(f64),
}

impl Horizon {
    pub(super) fn check(self) -> Result<(), Error> {
        match self {
            Horizon::Arrivals(count) => require_positive("the number of arrivals", count as f64),
            Horizon::Seconds(length) => require_positive("the length of the run", length),
        }
        .map(|_| ())
    }

    /// This share of the way to the horizon.
    pub(super) fn part(self, numerator: u64, denominator: u64) -> Horizon {
        let (numerator_f, denominator_f) = (numerator as f64, denominator as f64);
        match self {
            Horizon::Arrivals(count) => {
                let part = u128::from(count) * u128::from(numerator) / u128::from(denominator.max(1));
                Horizon::Arrivals(u64::try_from(part).unwrap_or(count))
            }
            Horizon::Seconds(length) => Horizon::Seconds(length * (numerator_f / denominator_f)),
        }
    }

    /// How many of `times` (in order, after `before` earlier arrivals) come before this point.
    #[inline]
    pub(super) fn takes(self, times: &[f64], before: u64) -> usize {
        match self {
            Horizon::Arrivals(count) => usize::try_from(count.saturating_sub(before))
                .map_or(times.len(), |left| left.min(times.len())),
            Horizon::Seconds(end) => match times.last() {
                Some(last) if *last < end => times.len(),
                _ => times.partition_point(|&time| time < end),
            },
        }
    }
}

/// The points at which stretches end, in order; the last is the end of the run.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Stretches(Vec<Horizon>);

impl Stretches {
    #[cfg(test)]
    pub(super) fn ending_at(ends: Vec<Horizon>) -> Self {
        Stretches(ends)
    }

    /// `count` equal stretches.
    pub(super) fn equal(horizon: Horizon, count: u64) -> Self {
        Stretches((1..=count.max(1)).map(|part| horizon.part(part, count.max(1))).collect())
    }

    /// How many there are.
    pub(super) fn count(&self) -> usize {
        self.0.len()
    }

    /// Their ends, in order.
    pub(super) fn ends(&self) -> &[Horizon] {
        &self.0
    }

    /// A warm-up until `until` if there is one, and the rest.
    pub(super) fn after(until: Option<Horizon>, horizon: Horizon) -> Self {
        Stretches(until.into_iter().chain([horizon]).collect())
    }
}
