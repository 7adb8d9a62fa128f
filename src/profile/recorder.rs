//! Takes attempts one by one.

use super::{
    Block, CapCounts, Grouped, Groups, MOST_BLOCKS, Phases, ProfileError, Ranged, ServiceProfile,
    ServiceTimes, Source, Stretch, Tally, TimeBlocks,
};
use crate::arrivals::{Additive, AlignedBins, ArrivalRecorder};

/// One attempt, or several of the same length.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Attempt<'a> {
    /// How long it held its worker, in nanoseconds.
    pub duration_ns: u64,
    /// How many attempts this stands for.
    pub weight: u64,
    /// Whether it failed.
    pub failed: bool,
    /// When it started, in nanoseconds since the epoch.
    pub started_ns: Option<i64>,
    /// The group to which it belongs.
    pub group: Option<&'a str>,
}

/// The attempts of a histogram that was recorded over an interval of time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HistogramOf<'a> {
    /// Their counts.
    pub ranged: &'a Ranged,
    /// Whether all of them failed.
    pub failed: bool,
    /// From when to when they were recorded, in nanoseconds since the epoch.
    pub interval_ns: Option<(i64, i64)>,
    /// The group to which they belong.
    pub group: Option<&'a str>,
}

/// Collects attempts in bounded memory: at most some 8 MiB for arrivals, and what the groups take (see
/// [`MOST_GROUPS`](super::MOST_GROUPS)).
#[derive(Clone, Debug)]
pub struct ProfileRecorder {
    times: ServiceTimes,
    groups: Groups,
    caps: CapCounts,
    arrivals: ArrivalRecorder,
    blocks: TimeBlocks,
}

impl ProfileRecorder {
    /// Nothing recorded yet; the effect of a timeout at each of `caps_ns` nanoseconds will be counted exactly.
    #[must_use]
    pub fn new(caps_ns: &[u64]) -> Self {
        ProfileRecorder {
            times: ServiceTimes::default(),
            groups: Groups::default(),
            caps: CapCounts::new(caps_ns),
            arrivals: ArrivalRecorder::default(),
            blocks: AlignedBins::new(MOST_BLOCKS),
        }
    }

    /// Adds an attempt.
    ///
    /// # Errors
    /// If it is longer than seven days or an exact sum is full; nothing is added then.
    pub fn add(&mut self, attempt: &Attempt<'_>) -> Result<(), ProfileError> {
        let Attempt { duration_ns, weight, failed, started_ns, group } = *attempt;
        self.times.add(duration_ns, weight, failed)?;
        if let Some(group) = group {
            // A group's sums are never larger than those of all attempts, which have just been checked.
            self.groups.add(group, duration_ns, weight, failed)?;
        }
        self.caps.add(duration_ns, weight);
        if let Some(at_ns) = started_ns {
            self.arrivals.add(at_ns, weight);
            let sum_ns = u128::from(duration_ns) * u128::from(weight);
            let sum_squares_ns2 = sum_ns.saturating_mul(duration_ns.into());
            self.blocks.at(at_ns.div_euclid(1_000_000_000)).add(&Block {
                count: weight,
                sum_ns,
                sum_squares_ns2,
            });
        }
        Ok(())
    }

    /// Adds the attempts of a histogram.
    ///
    /// # Errors
    /// As [`ServiceTimes::add_ranged`]; nothing is added then.
    pub fn add_histogram(&mut self, histogram: &HistogramOf<'_>) -> Result<(), ProfileError> {
        let HistogramOf { ranged, failed, interval_ns, group } = *histogram;
        let before = *self.times.moments();
        self.times.add_ranged(ranged, failed)?;
        if let Some(group) = group {
            self.groups.add_ranged(group, ranged, failed)?;
        }
        // Where a range is wider than one value, what is counted here is not used: `caps::effect`.
        ranged.ranges.iter().for_each(|range| self.caps.add(range.low_ns, range.count));
        if let Some((start_ns, end_ns)) = interval_ns {
            let after = self.times.moments();
            let count = after.count() - before.count();
            self.arrivals.add_interval(start_ns, end_ns, count);
            if count > 0 {
                self.blocks.at(start_ns.div_euclid(1_000_000_000)).add(&Block {
                    count,
                    sum_ns: after.sum_ns() - before.sum_ns(),
                    sum_squares_ns2: after.sum_squares_ns2() - before.sum_squares_ns2(),
                });
            }
        }
        Ok(())
    }

    /// Adds to the phases of all attempts, and of those of a group if one is named.
    pub fn add_phases(&mut self, group: Option<&str>, add: impl Fn(&mut Phases)) {
        add(&mut self.times.phases);
        if let Some(group) = group {
            self.groups.add_phases(group, add);
        }
    }

    /// Takes over the attempts of a tally; in their groups they are counted by [`ProfileRecorder::take_over_grouped`].
    ///
    /// # Errors
    /// If a sum overflows.
    pub fn take_over(&mut self, tally: Tally) -> Result<(), ProfileError> {
        self.times.merge(&tally.into_times()?)
    }

    /// Counts attempts in their groups; they are part of a tally as well.
    ///
    /// # Errors
    /// If a sum overflows, or one is longer than seven days.
    pub fn take_over_grouped(&mut self, attempts: &[Grouped]) -> Result<(), ProfileError> {
        attempts
            .iter()
            .try_for_each(|attempt| self.groups.at(attempt.group).add(attempt.ns, 1, attempt.failed))
    }

    /// Takes over phases of attempts of the group that was the `group`-th to be met, from 0, or of those that are not
    /// told apart; they are part of a tally as well.
    pub fn take_over_phases(&mut self, group: Option<u16>, phases: &Phases) {
        self.groups.at(group).phases.merge(phases);
    }

    /// Counts attempts beyond the caps, as another recorder of the same caps did.
    pub fn take_over_caps(&mut self, caps: &CapCounts) {
        self.caps.merge(caps);
    }

    /// The groups so far: a row of a group that is known by its place there can be counted apart.
    #[must_use]
    pub fn groups(&self) -> &Groups {
        &self.groups
    }

    /// Takes over when the attempts of a stretch started, but for the order of their stamps.
    pub fn take_over_times(&mut self, stretch: &Stretch) {
        self.arrivals
            .add_batch(&stretch.stamps, stretch.runs.iter().map(|(second, block)| (*second, block.count)));
        for (second, block) in &stretch.runs {
            self.blocks.at(*second).add(block);
        }
    }

    /// Takes over the order of the stamps numbered `from` to `to`, exclusive, of a stretch.
    pub fn take_over_stamps(&mut self, stretch: &Stretch, from: usize, to: usize) {
        self.arrivals.add_in_order(stretch.stamps.stamps().get(from..to).unwrap_or_default());
    }

    /// Adds arrivals within an interval, in nanoseconds since the epoch, of attempts that are added without a time.
    pub fn add_arrivals(&mut self, start_ns: i64, end_ns: i64, count: u64) {
        self.arrivals.add_interval(start_ns, end_ns, count);
    }

    /// Gives a name to the attempts that were added without a group, if there are any and others have one.
    ///
    /// # Errors
    /// If a sum would overflow.
    pub fn name_ungrouped(&mut self, name: &str, ungrouped: &ServiceTimes) -> Result<(), ProfileError> {
        if self.groups.is_empty() { Ok(()) } else { self.groups.add_times(name, ungrouped) }
    }

    /// How many attempts were added, and how many of them failed.
    #[must_use]
    pub fn counts(&self) -> (u64, u64) {
        (self.times.count(), self.times.failures())
    }

    /// The profile; `None` if nothing was added.
    #[must_use]
    pub fn finish(self, source: Source) -> Option<ServiceProfile> {
        (self.times.count() > 0).then(|| ServiceProfile {
            times: self.times,
            groups: self.groups,
            caps: self.caps,
            arrivals: self.arrivals.finish(),
            blocks: (!self.blocks.is_empty()).then_some(self.blocks),
            source,
            digits: 3,
            group_digits: 3,
        })
    }
}
