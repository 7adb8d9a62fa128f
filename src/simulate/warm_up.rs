//! Where the steady state begins.

use super::error::{Error, require};
use super::interval::Student;
use super::tally::Replicate;

/// How much of each replication is left out at its start, while the queue still remembers that it began empty.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum WarmUp {
    /// Nothing: for a backlog, a trace, a day's profile, where the start belongs to the question.
    Nothing,
    /// A given time, in seconds.
    Seconds(f64),
    /// A fifth of the run; two or three fifths where the waits still rise after that.
    ///
    /// Whether they rise is a test on the replications: the mean wait in the second half of what is left less that in the
    /// first, one difference a replication, against Student's t (after Schruben, Singh and Tierney, "Optimal tests for
    /// initialization bias in simulation output", Operations Research 31(6), 1983, with replications in place of their
    /// standardised series). The place is not chosen by the waits themselves, as the MSER rule does: near
    /// saturation that rule keeps the quiet stretches, and its 95% intervals then covered 88 to 90%.
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

/// Stretches that a run is cut into for an automatic warm-up, and how many of them can be left out.
pub(super) const STRETCHES: usize = 20;
const CANDIDATES: [usize; 3] = [4, 8, 12];
/// Probability that a run without a trend fails the test.
const FALSE_ALARMS: f64 = 0.01;

/// How much is left out.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Truncation {
    /// Stretches left out.
    pub(super) stretches: usize,
    /// Whether no rise is left after them; `None` with too few replications to tell.
    pub(super) settled: Option<bool>,
}

/// The least warm-up after which the waits no longer rise, or the greatest that is allowed.
pub(super) fn truncation(pilots: &[Replicate]) -> Truncation {
    let mut found = Truncation { stretches: CANDIDATES[0], settled: None };
    for stretches in CANDIDATES {
        let Some(rises) = still_rises(pilots, stretches) else { return found };
        found = Truncation { stretches, settled: Some(!rises) };
        if !rises {
            break;
        }
    }
    found
}

/// Whether waits rise from the first to the second half of what is left; `None` where that cannot be told.
fn still_rises(pilots: &[Replicate], left_out: usize) -> Option<bool> {
    let half = (STRETCHES - left_out) / 2;
    let differences: Option<Vec<f64>> = pilots
        .iter()
        .map(|pilot| {
            let first = mean_wait(pilot, left_out..left_out + half)?;
            let second = mean_wait(pilot, left_out + half..left_out + 2 * half)?;
            Some(second - first)
        })
        .collect();
    let differences = differences?;
    let count = differences.len() as f64;
    let limit = Student::one_sided(differences.len(), 1.0 - FALSE_ALARMS).quantile()?;
    let mean = differences.iter().sum::<f64>() / count;
    let squares: f64 = differences.iter().map(|difference| (difference - mean).powi(2)).sum();
    let error = (squares / ((count - 1.0) * count)).sqrt();
    Some(mean > limit * error)
}

fn mean_wait(pilot: &Replicate, stretches: std::ops::Range<usize>) -> Option<f64> {
    let tallies = || pilot.segments.get(stretches.clone()).into_iter().flatten().flat_map(|s| &s.classes);
    let entries: u64 = tallies().map(|tally| tally.entries).sum();
    let sum: f64 = tallies().map(|tally| tally.wait_sum).sum();
    (entries > 0).then(|| sum / entries as f64)
}

#[cfg(test)]
mod tests {
    use super::super::tally::{Segment, Tally};
    use super::*;

    fn pilots(count: u32, wait_in: impl Fn(u32, usize) -> f64) -> Vec<Replicate> {
        let segment = |wait: f64| {
            let tally = Tally { arrivals: 10, entries: 10, wait_sum: 10.0 * wait, ..Tally::default() };
            Segment { classes: vec![tally], ..Segment::default() }
        };
        let pilot = |number| {
            let segments = (0..STRETCHES).map(|stretch| segment(wait_in(number, stretch))).collect();
            Replicate { segments, blocks: Vec::new() }
        };
        (0..count).map(pilot).collect()
    }

    /// A number between −1 and 1 that looks random.
    fn noise(number: u32, stretch: usize) -> f64 {
        f64::from((number * 7919 + stretch as u32 * 104_729 + number * stretch as u32 * 31) % 2001) / 1000.0
            - 1.0
    }

    #[test]
    fn a_steady_run_leaves_out_a_fifth() {
        let steady = pilots(20, |number, stretch| 5.0 + noise(number, stretch));
        assert_eq!(truncation(&steady), Truncation { stretches: 4, settled: Some(true) });
        let constant = pilots(20, |_, _| 5.0);
        assert_eq!(truncation(&constant), Truncation { stretches: 4, settled: Some(true) });
    }

    #[test]
    fn a_longer_ramp_is_left_out_too() {
        let ramp = pilots(20, |number, stretch| 5.0 + noise(number, stretch) + (stretch.min(8) as f64) * 2.0);
        assert_eq!(truncation(&ramp), Truncation { stretches: 8, settled: Some(true) });
    }

    #[test]
    fn waits_that_never_settle_are_found_out() {
        let climbing = pilots(20, |number, stretch| stretch as f64 + noise(number, stretch));
        assert_eq!(truncation(&climbing), Truncation { stretches: 12, settled: Some(false) });
    }

    #[test]
    fn one_replication_cannot_tell() {
        let one = pilots(1, |_, stretch| stretch as f64);
        assert_eq!(truncation(&one), Truncation { stretches: 4, settled: None });
    }
}
