//! When attempts arrive: mean rate, busiest minute, burstiness.
//!
//! An [`ArrivalRecorder`] takes time stamps one by one in bounded memory; [`ArrivalRecorder::finish`] makes the
//! [`ArrivalProfile`], which is small, can be saved and can be merged with that of another recording.

mod batch;
mod bins;
mod burstiness;
pub(crate) mod decimal;
mod recorder;

use crate::units::{ArrivalRate, Exact};
use serde::{Deserialize, Serialize};

pub use batch::StampBatch;
pub use bins::{Additive, AlignedBins};
pub use burstiness::{Dispersion, Gaps};
pub use recorder::ArrivalRecorder;

/// The most bins of the rate over time that a profile keeps.
pub const MOST_RATE_BINS: usize = 1024;

/// Nanoseconds in a second.
const SECOND_NS: i64 = 1_000_000_000;

/// The arrivals of one recording, or of several.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ArrivalProfile {
    count: u64,
    first_ns: i64,
    last_ns: i64,
    /// Time under observation: the sum of the spans of the recordings, without the holes between them.
    #[serde(with = "decimal")]
    observed_ns: u128,
    /// Intervals between successive arrivals within the recordings.
    intervals: u64,
    busiest: BusiestMinute,
    #[serde(skip_serializing_if = "Option::is_none")]
    gaps: Option<Gaps>,
    #[serde(skip_serializing_if = "Option::is_none")]
    dispersion: Option<Dispersion>,
    /// The coarsest power of ten of nanoseconds in which all time stamps are whole.
    resolution_ns: u64,
    /// Arrivals over time, in at most [`MOST_RATE_BINS`] bins.
    counts: AlignedBins<u64>,
}

/// The minute in which most attempts arrived.
///
/// It slides in steps of a second over the whole span, so a peak across the turn of a minute is not halved. In a
/// recording of more than twelve days the bins are wider than a second, and in merged recordings that overlap they
/// are wider still: the window is then the smallest whole number of bins that holds a minute, and
/// [`BusiestMinute::window_s`] says how long that is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BusiestMinute {
    /// Arrivals within it.
    pub count: u64,
    /// When it starts, in seconds since the epoch.
    pub start_s: i64,
    /// Its length in seconds: 60, or more where the bins are wide, or the whole span where that is shorter.
    pub window_s: u64,
}

impl BusiestMinute {
    fn busier(self, other: Self) -> Self {
        let volume = |this: &Self, that: &Self| u128::from(this.count) * u128::from(that.window_s);
        match volume(&self, &other).cmp(&volume(&other, &self)) {
            std::cmp::Ordering::Less => other,
            std::cmp::Ordering::Equal if other.start_s < self.start_s => other,
            _ => self,
        }
    }
}

impl ArrivalProfile {
    /// How many arrivals there are.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.count
    }

    /// The first time stamp, in nanoseconds since the epoch.
    #[must_use]
    pub fn first_ns(&self) -> i64 {
        self.first_ns
    }

    /// The last time stamp, in nanoseconds since the epoch.
    #[must_use]
    pub fn last_ns(&self) -> i64 {
        self.last_ns
    }

    /// From the first to the last time stamp, in seconds.
    #[must_use]
    pub fn span_s(&self) -> f64 {
        (i128::from(self.last_ns) - i128::from(self.first_ns)) as f64 / SECOND_NS as f64
    }

    /// The exact mean rate: intervals over the time observed. `None` if all arrivals have one time stamp.
    ///
    /// That holds for coarse stamps as well: a recording begins and ends anywhere within a second, so the difference
    /// of two stamps is on average that of the true times.
    #[must_use]
    pub fn mean_rate(&self) -> Option<ArrivalRate> {
        let intervals = u128::from(self.intervals).checked_mul(SECOND_NS as u128)?;
        Exact::fraction(intervals, self.observed_ns).and_then(ArrivalRate::new)
    }

    /// The busiest minute of the whole span.
    #[must_use]
    pub fn busiest_minute(&self) -> BusiestMinute {
        self.busiest
    }

    /// The rate in the busiest minute, exact; the mean rate if all arrivals fall within less than a minute, and
    /// `None` if they have one time stamp.
    #[must_use]
    pub fn busiest_minute_rate(&self) -> Option<ArrivalRate> {
        if self.observed_ns < 60 * SECOND_NS as u128 {
            return self.mean_rate();
        }
        Exact::fraction(self.busiest.count.into(), self.busiest.window_s.into()).and_then(ArrivalRate::new)
    }

    /// The squared coefficient of variation of the time between arrivals: 0 for a clock, 1 for a Poisson process.
    ///
    /// `None` where it cannot be told: time stamps too coarse for the rate (two arrivals closer than the stamps'
    /// resolution look simultaneous), stamps far out of order, counts instead of single attempts, or overlapping
    /// recordings merged.
    #[must_use]
    pub fn interarrival_scv(&self) -> Option<f64> {
        self.gaps.filter(|_| !self.has_coarse_stamps())?.scv()
    }

    /// Whether the time stamps are too coarse for the rate to tell the time between arrivals.
    #[must_use]
    pub fn has_coarse_stamps(&self) -> bool {
        let mean_gap = self.gaps.and_then(|gaps| gaps.mean_ns());
        mean_gap.is_some_and(|gap| gap < 2.0 * self.resolution_ns as f64)
    }

    /// The index of dispersion of counts a second: 1 for a Poisson process, n for batches of n.
    ///
    /// Variance over mean of the arrivals a second, the variance taken within each minute, so that the swing of
    /// the day does not look like burstiness. `None` without a full minute or where stamps are coarser than a second.
    #[must_use]
    pub fn dispersion(&self) -> Option<f64> {
        if self.resolution_ns > SECOND_NS as u64 { None } else { self.dispersion.and_then(|it| it.index()) }
    }

    /// The coarsest power of ten of nanoseconds in which all time stamps are whole, at most a minute.
    #[must_use]
    pub fn resolution_ns(&self) -> u64 {
        self.resolution_ns
    }

    /// Arrivals over time: start in seconds since the epoch, and count.
    pub fn counts(&self) -> impl Iterator<Item = (i64, u64)> {
        self.counts.iter().map(|(start, count)| (start, *count))
    }

    /// The width of the bins of [`ArrivalProfile::counts`], in seconds.
    #[must_use]
    pub fn bin_width_s(&self) -> i64 {
        self.counts.width_s()
    }

    /// Joins two recordings.
    ///
    /// Recordings one after the other join exactly, but for a minute that straddles both. Those that overlap in time
    /// (two hosts, say) are superposed: counts stay exact, the busiest minute is found in the coarse bins, the
    /// dispersion is the pooled one, and the inter-arrival SCV is no longer known.
    #[must_use]
    pub fn merge(&self, other: &Self) -> Self {
        let apart = self.last_ns <= other.first_ns || other.last_ns <= self.first_ns;
        let mut counts = self.counts.clone();
        counts.limit_to(MOST_RATE_BINS);
        counts.merge(&other.counts);
        let count = self.count.saturating_add(other.count);
        let first_ns = self.first_ns.min(other.first_ns);
        let last_ns = self.last_ns.max(other.last_ns);
        let busiest = self.busiest.busier(other.busiest);
        ArrivalProfile {
            count,
            first_ns,
            last_ns,
            observed_ns: if apart {
                self.observed_ns + other.observed_ns
            } else {
                (i128::from(last_ns) - i128::from(first_ns)).unsigned_abs()
            },
            intervals: if apart {
                self.intervals.saturating_add(other.intervals)
            } else {
                count.saturating_sub(1)
            },
            busiest: if apart {
                busiest
            } else {
                busiest_window(&counts, first_ns, last_ns).map_or(busiest, |found| busiest.busier(found))
            },
            gaps: self.gaps.zip(other.gaps).filter(|_| apart).map(|(a, b)| a.merge(&b)),
            dispersion: match (self.dispersion, other.dispersion) {
                (Some(a), Some(b)) => Some(a.merge(&b)),
                (a, b) => a.or(b),
            },
            resolution_ns: self.resolution_ns.min(other.resolution_ns),
            counts,
        }
    }

    /// Whether the parts agree with one another: what is read from a file may be anything.
    #[must_use]
    pub fn is_sound(&self) -> bool {
        let span = i128::from(self.last_ns) - i128::from(self.first_ns);
        // Only sound bins have a start that can be computed.
        let counted = || self.counts.iter().fold(0u64, |sum, (_, count)| sum.saturating_add(*count));
        self.count > 0
            && span >= 0
            && self.observed_ns <= span.unsigned_abs()
            && self.busiest.window_s > 0
            && self.busiest.count <= self.count
            && self.counts.is_sound(MOST_RATE_BINS)
            && counted() == self.count
            && self.gaps.is_none_or(|gaps| gaps.is_sound())
    }
}

/// The window of at least a minute with the most arrivals; `None` without arrivals.
fn busiest_window(counts: &AlignedBins<u64>, first_ns: i64, last_ns: i64) -> Option<BusiestMinute> {
    let (first_s, last_s) = (first_ns.div_euclid(SECOND_NS), last_ns.div_euclid(SECOND_NS));
    let width = counts.width_s();
    let per_window = ((59 + width) / width) as usize;
    let per_window = per_window.min(counts.len());
    let window_s = (width * per_window as i64).min(last_s - first_s + 1).max(1) as u64;
    let bins: Vec<(i64, u64)> = counts.iter().map(|(start, count)| (start, *count)).collect();
    let mut sum: u64 = bins.iter().take(per_window).fold(0, |sum, bin| sum.saturating_add(bin.1));
    let mut best = (sum, bins.first()?.0);
    for (leaving, entering) in bins.iter().zip(bins.iter().skip(per_window)) {
        sum = sum.saturating_sub(leaving.1).saturating_add(entering.1);
        if sum > best.0 {
            best = (sum, leaving.0 + width);
        }
    }
    Some(BusiestMinute { count: best.0, start_s: best.1.max(first_s), window_s })
}
