//! A profile in the form in which it is saved, within its budget of bytes.

use super::{
    LARGEST_SAVED, SCHEMA, SaveError, Saved, SavedBounds, SavedCap, SavedGroup, SavedNotice, SavedProfile,
    SavedTimes,
};
use crate::profile::ServiceProfile;
use crate::profile::bounds::{Bounds, MOST_EDGES};
use crate::profile::caps::CapCount;
use crate::profile::hdr::{self, Side};
use crate::profile::phases::SavedPhases;
use crate::profile::times::ServiceTimes;

/// Bytes of base64 that the histogram of all attempts may take. With two digits it always fits: 5,248 buckets of
/// counts that add up to at most 2⁶⁴ take 8 bytes each, and a third more in base64.
const MAIN_BUDGET: usize = 58_000;

/// Bytes for everything but histograms: sums, caps, source, 128 blocks and 1024 rate bins at their longest.
const FIXED_BUDGET: usize = 30_000;

/// Bytes for the groups and the others, of which the histogram of the others may take up to [`OTHERS_BUDGET`].
const GROUPS_BUDGET: usize = LARGEST_SAVED - FIXED_BUDGET - 1_000;
const OTHERS_BUDGET: usize = 11_000;

/// Bytes of a group beside its name and its histogram.
const GROUP_OVERHEAD: usize = 330;

/// The most bytes of bounds beside their histogram: four sums of 39 digits, edges of 15, and names.
const BOUNDS_OVERHEAD: usize = 400 + MOST_EDGES * 16;

impl SavedTimes {
    /// Bytes of what varies in length.
    fn size(&self) -> usize {
        let bounds = self.bounds.as_ref().map_or(0, |bounds| BOUNDS_OVERHEAD + bounds.highs.len());
        let phases = self.phases.as_ref().map_or(0, SavedPhases::size);
        self.histogram.len() + bounds + phases
    }
}

impl ServiceProfile {
    /// The profile as it is written: below [`LARGEST_SAVED`] bytes of JSON whatever went into it, exact in all counts
    /// and sums, and in the histograms too unless a notice says otherwise.
    ///
    /// # Errors
    /// If a count is beyond what an HdrHistogram holds (2⁶³).
    pub fn save(&self) -> Result<Saved, SaveError> {
        let mut notices = Vec::new();
        let all = save_times(&self.times, self.digits, MAIN_BUDGET)?;
        if all.digits < self.digits {
            notices.push(SavedNotice::CoarserHistogram { digits: all.digits });
        }
        let (groups, others) = self.save_groups(GROUPS_BUDGET - all.size(), &mut notices)?;
        let cap = |count: &CapCount| SavedCap {
            cap_ns: count.cap_ns,
            attempts: count.attempts,
            excess_ns: count.excess_ns,
        };
        let profile = SavedProfile {
            schema: SCHEMA.to_owned(),
            all,
            groups,
            others,
            caps: self.caps.counts.iter().map(cap).collect(),
            arrivals: self.arrivals.clone(),
            blocks: self.blocks.clone(),
            source: self.source.bounded(),
        };
        Ok(Saved { profile, notices })
    }

    /// As many groups as the budget holds, those that held workers longest first, and the others.
    fn save_groups(
        &self,
        budget: usize,
        notices: &mut Vec<SavedNotice>,
    ) -> Result<(Vec<SavedGroup>, Option<SavedTimes>), SaveError> {
        let sorted = self.groups.by_busy_time();
        let encode = |digits: u8| -> Result<Vec<SavedGroup>, SaveError> {
            sorted
                .iter()
                .map(|group| {
                    let times = save_times(&group.times, digits, usize::MAX)?;
                    Ok(SavedGroup { name: group.name.clone(), times })
                })
                .collect()
        };
        // JSON writes a control character with six characters.
        let size = |group: &SavedGroup| GROUP_OVERHEAD + 6 * group.name.len() + group.times.size();
        let room = budget.saturating_sub(OTHERS_BUDGET + GROUP_OVERHEAD);
        let mut groups = encode(self.group_digits)?;
        if self.group_digits > 2 && groups.iter().map(size).sum::<usize>() > room {
            groups = encode(2)?;
        }
        let mut used = 0;
        let kept = groups
            .iter()
            .take_while(|group| {
                used += size(group);
                used <= room
            })
            .count();
        let mut others = self.groups.others().clone();
        for group in sorted.iter().skip(kept) {
            // No sum can overflow: all attempts together fit.
            others.merge(&group.times).map_err(|_| SaveError::TooMany)?;
        }
        if kept < groups.len() {
            notices.push(SavedNotice::GroupsJoined { joined: groups.len() - kept, kept });
            groups.truncate(kept);
        }
        let others = (others.count() > 0).then(|| save_times(&others, self.group_digits, OTHERS_BUDGET));
        let others = others.transpose()?;
        let fewest = groups.iter().map(|group| &group.times).chain(&others).map(|times| times.digits).min();
        if let Some(digits) = fewest.filter(|digits| *digits < self.group_digits) {
            notices.push(SavedNotice::CoarserGroups { digits });
        }
        Ok((groups, others))
    }
}

/// Encodes with as many digits as the budget allows.
fn save_times(times: &ServiceTimes, most_digits: u8, budget: usize) -> Result<SavedTimes, SaveError> {
    let moments = times.moments;
    let encode = |digits: u8| -> Result<SavedTimes, SaveError> {
        let side = if times.is_exact() { Side::Middle } else { Side::Low };
        let histogram =
            hdr::encode(&times.histogram, side, moments.max_ns, digits).ok_or(SaveError::TooMany)?;
        let bounds = times.bounds.as_ref().map(|bounds| save_bounds(bounds, moments.max_ns, digits));
        Ok(SavedTimes {
            count: moments.count,
            sum_ns: moments.sum_ns,
            sum_squares_ns2: moments.sum_squares_ns2,
            min_ns: moments.min_ns,
            max_ns: moments.max_ns,
            failures: times.failures,
            failures_sum_ns: times.failures_sum_ns,
            digits,
            histogram,
            bounds: bounds.transpose()?,
            phases: times.phases.save(),
        })
    };
    let mut saved = encode(most_digits)?;
    while saved.size() > budget && saved.digits > 1 {
        saved = encode(saved.digits - 1)?;
    }
    Ok(saved)
}

fn save_bounds(bounds: &Bounds, highest_ns: u64, digits: u8) -> Result<SavedBounds, SaveError> {
    let highs = hdr::encode(&bounds.highs, Side::High, highest_ns, digits).ok_or(SaveError::TooMany)?;
    Ok(SavedBounds {
        sum_low_ns: bounds.sum_low_ns,
        sum_high_ns: bounds.sum_high_ns,
        squares_low_ns2: bounds.squares_low_ns2,
        squares_high_ns2: bounds.squares_high_ns2,
        reading: bounds.reading,
        edges_ns: bounds.edges.clone(),
        open: bounds.open,
        highs,
    })
}
