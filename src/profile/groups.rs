//! Service times by group: endpoint, tenant, region.

use super::ProfileError;
use super::phases::Phases;
use super::ranged::Ranged;
use super::times::ServiceTimes;
use std::collections::HashMap;

/// The most groups that are told apart while attempts are read; later names are counted in [`Groups::others`].
/// Each takes 4 KiB an octave that its service times touch, of which there are 41: 10 MB where all groups lie between a
/// millisecond and a second, 43 MB if each had durations from nanoseconds to days.
pub const MOST_GROUPS: usize = 256;

/// The longest group name that is kept, in bytes.
const LONGEST_NAME: usize = 120;

/// One group's service times.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Group {
    /// The value of the grouping column; of several columns, their values joined by ` / `.
    pub name: String,
    /// The service times of its attempts.
    pub times: ServiceTimes,
}

/// Service times by group, in the order in which the names were met.
#[derive(Clone, Debug, Default)]
pub struct Groups {
    groups: Vec<Group>,
    index: HashMap<String, usize>,
    others: ServiceTimes,
}

impl Groups {
    /// Adds an attempt to the group `name`.
    ///
    /// # Errors
    /// As [`ServiceTimes::add`].
    pub fn add(&mut self, name: &str, ns: u64, weight: u64, failed: bool) -> Result<(), ProfileError> {
        self.of(name).add(ns, weight, failed)
    }

    /// Adds the attempts of a histogram to the group `name`.
    ///
    /// # Errors
    /// As [`ServiceTimes::add_ranged`].
    pub fn add_ranged(&mut self, name: &str, ranged: &Ranged, failed: bool) -> Result<(), ProfileError> {
        self.of(name).add_ranged(ranged, failed)
    }

    /// Adds service times to the group `name`.
    ///
    /// # Errors
    /// If a sum would overflow.
    pub(super) fn add_times(&mut self, name: &str, times: &ServiceTimes) -> Result<(), ProfileError> {
        self.of(name).merge(times)
    }

    /// The group at a place of [`Groups::in_order`]; those that are not told apart without one.
    pub(super) fn at(&mut self, place: Option<u16>) -> &mut ServiceTimes {
        match place.and_then(|place| self.groups.get_mut(usize::from(place))) {
            Some(group) => &mut group.times,
            None => &mut self.others,
        }
    }

    /// Whether a name is too long to be kept as it is.
    #[must_use]
    pub fn is_shortened(name: &str) -> bool {
        name.len() > LONGEST_NAME
    }

    /// Adds to the phases of the group `name`.
    pub(super) fn add_phases(&mut self, name: &str, add: impl Fn(&mut Phases)) {
        add(&mut self.of(name).phases);
    }

    fn of(&mut self, name: &str) -> &mut ServiceTimes {
        if let Some(place) = self.index.get(name) {
            return &mut self.groups[*place].times;
        }
        let kept = shortened(name);
        if let Some(place) = self.index.get(&kept) {
            return &mut self.groups[*place].times;
        }
        if self.groups.len() >= MOST_GROUPS {
            return &mut self.others;
        }
        let place = self.groups.len();
        self.index.insert(kept.clone(), place);
        self.groups.push(Group { name: kept, times: ServiceTimes::default() });
        &mut self.groups[place].times
    }

    /// Adds all groups of `other`; a name that no longer fits is counted in the others.
    ///
    /// # Errors
    /// If a sum would overflow.
    pub fn merge(&mut self, other: &Groups) -> Result<(), ProfileError> {
        for group in &other.groups {
            self.of(&group.name).merge(&group.times)?;
        }
        self.others.merge(&other.others)
    }

    pub(super) fn restore(groups: Vec<Group>, others: ServiceTimes) -> Self {
        let index = groups.iter().enumerate().map(|(place, group)| (group.name.clone(), place)).collect();
        Groups { groups, index, others }
    }

    /// Whether attempts were grouped at all.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.groups.is_empty() && self.others.count() == 0
    }

    /// The groups by the time for which they held workers, longest first.
    #[must_use]
    pub fn by_busy_time(&self) -> Vec<&Group> {
        let mut sorted: Vec<&Group> = self.groups.iter().collect();
        sorted.sort_by(|a, b| {
            let busy = |group: &Group| group.times.moments().sum_ns();
            busy(b).cmp(&busy(a)).then_with(|| a.name.cmp(&b.name))
        });
        sorted
    }

    /// The attempts of groups that are not told apart: those that were met after the most that are kept, and those
    /// that did not fit into a saved profile.
    #[must_use]
    pub fn others(&self) -> &ServiceTimes {
        &self.others
    }

    /// The groups in the order in which their names were met; never more than [`MOST_GROUPS`].
    #[must_use]
    pub fn in_order(&self) -> &[Group] {
        &self.groups
    }

    /// The group of that name.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Group> {
        self.index.get(name).map(|place| &self.groups[*place])
    }
}

impl PartialEq for Groups {
    fn eq(&self, other: &Self) -> bool {
        // The order in which names were met says nothing about the groups.
        self.by_busy_time() == other.by_busy_time() && self.others == other.others
    }
}

/// A name that is too long keeps its beginning and a hash of the whole, so that two long names stay apart.
fn shortened(name: &str) -> String {
    if name.len() <= LONGEST_NAME {
        return name.to_owned();
    }
    let end = (0..=LONGEST_NAME - 20).rev().find(|end| name.is_char_boundary(*end)).unwrap_or(0);
    // FNV-1a, 64 bits: the same on every platform and in every run.
    let hash = name.bytes().fold(0xcbf2_9ce4_8422_2325u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    });
    format!("{}…#{hash:016x}", &name[..end])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_are_sorted_by_the_time_for_which_they_held_workers() {
        let mut groups = Groups::default();
        groups.add("fast", 10, 5, false).unwrap();
        groups.add("slow", 1000, 1, true).unwrap();
        groups.add("fast", 20, 1, false).unwrap();
        let sorted = groups.by_busy_time();
        assert_eq!(sorted.iter().map(|group| group.name.as_str()).collect::<Vec<_>>(), ["slow", "fast"]);
        assert_eq!(sorted[1].times.count(), 6);
        assert_eq!(sorted[0].times.share_of(1070), 1000.0 / 1070.0);
    }

    #[test]
    fn names_beyond_the_most_are_counted_with_the_others() {
        let mut groups = Groups::default();
        for name in 0..MOST_GROUPS + 10 {
            groups.add(&name.to_string(), 1, 1, false).unwrap();
        }
        groups.add("3", 1, 1, false).unwrap();
        assert_eq!(groups.by_busy_time().len(), MOST_GROUPS);
        assert_eq!(groups.others().count(), 10);
        assert_eq!(groups.get("3").unwrap().times.count(), 2);
    }

    #[test]
    fn long_names_are_cut_and_stay_apart() {
        let long = "ü".repeat(500);
        let (a, b) = (shortened(&format!("{long}a")), shortened(&format!("{long}b")));
        assert!(a.len() <= LONGEST_NAME + 4 && a != b, "{a}");
        let mut groups = Groups::default();
        groups.add(&long, 1, 1, false).unwrap();
        groups.add(&long, 1, 1, false).unwrap();
        assert_eq!(groups.by_busy_time().len(), 1);
    }
}
