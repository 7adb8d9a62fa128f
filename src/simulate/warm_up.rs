//! Where the steady state begins.

use super::error::{Error, require};

/// How much of each replication is left out at its start, while the queue still remembers that it began empty.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum WarmUp {
    /// Nothing: for a backlog, a trace, a day's profile, where the start belongs to the question.
    Nothing,
    /// A given time, in seconds.
    Seconds(f64),
    /// As much as the MSER rule says, applied to the mean over replications of the waits along the run (White, Cobb and
    /// Spratt, "A comparison of five steady-state truncation heuristics for simulation", 2000; for
    /// replications: Sanchez and White, "Interval estimation using replication/deletion and MSER truncation", 2011).
    Automatic,
}

impl WarmUp {
    pub(super) fn check(self) -> Result<(), Error> {
        if let WarmUp::Seconds(time) = self {
            require("the warm-up", time, "a finite time of at least 0 s", |time| time >= 0.0)?;
        }
        Ok(())
    }
}

/// What the rule found.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Truncation {
    /// How many values are left out.
    pub(super) values: usize,
    /// Whether the rule found its place within the first half. If not, the run is too short for its own memory.
    pub(super) settled: bool,
}

/// How many values the rule must leave: the last few always agree with each other by chance.
const LEAST_LEFT: usize = 5;

/// The MSER rule: leave out so many values that the standard error of the mean of the others, as if they were independent,
/// is least.
pub(super) fn mser(series: &[f64]) -> Truncation {
    let mut best = (f64::INFINITY, 0);
    let (mut sum, mut squares) = (0.0, 0.0);
    // Deviations from a value of the series itself: no cancellation where the waits hardly vary.
    let anchor = series.last().copied().unwrap_or(0.0);
    for (first, value) in series.iter().enumerate().rev() {
        let deviation = value - anchor;
        sum += deviation;
        squares += deviation * deviation;
        let left = series.len() - first;
        if left >= LEAST_LEFT {
            let count = left as f64;
            let score = (squares - sum * sum / count).max(0.0) / (count * count);
            // Of equal scores the longer rest, which comes later here, is the better.
            if score <= best.0 {
                best = (score, first);
            }
        }
    }
    let half = series.len() / 2;
    Truncation { values: best.1.min(half), settled: best.1 <= half && series.len() >= 2 * LEAST_LEFT }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ramp_at_the_start_is_left_out() {
        let noise = |n: usize| if n.is_multiple_of(2) { 0.1 } else { -0.1 };
        let series: Vec<f64> =
            (0..64).map(|n| 5.0 + noise(n) - if n < 10 { 4.0 - 0.4 * n as f64 } else { 0.0 }).collect();
        let found = mser(&series);
        assert!(found.settled && (7..=11).contains(&found.values), "{found:?}");
    }

    #[test]
    fn a_steady_series_keeps_everything() {
        assert_eq!(mser(&[2.0; 64]), Truncation { values: 0, settled: true });
        let noise: Vec<f64> = (0..64).map(|n| f64::from(n * 7919 % 64)).collect();
        assert!(mser(&noise).values < 16, "{:?}", mser(&noise));
    }

    #[test]
    fn a_series_that_never_settles_says_so() {
        let climbing: Vec<f64> = (0..64).map(f64::from).collect();
        assert_eq!(mser(&climbing), Truncation { values: 32, settled: false });
        assert!(!mser(&[]).settled);
    }
}
