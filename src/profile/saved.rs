//! The form in which a profile is saved: exact sums as decimal text, histograms as HdrHistogram V2, under 100 KB.

use super::bounds::{Bounds, MOST_EDGES};
use super::caps::{CapCount, CapCounts};
use super::groups::{Group, Groups};
use super::hdr::{self, DecodeError, Side};
use super::moments::{LONGEST_NS, Moments};
use super::phases::{Phases, SavedPhases};
use super::ranged::Reading;
use super::times::ServiceTimes;
use super::{MOST_BLOCKS, MOST_CAPS, ServiceProfile, Source, TimeBlocks};
use crate::arrivals::{ArrivalProfile, decimal};
use serde::{Deserialize, Serialize};

/// The name and version of the saved form.
pub const SCHEMA: &str = "whsize.profile/1";

/// The most bytes that a saved profile takes as JSON, whatever went into it.
pub const LARGEST_SAVED: usize = 100_000;

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

/// A profile as it is written and read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SavedProfile {
    schema: String,
    all: SavedTimes,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    groups: Vec<SavedGroup>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    others: Option<SavedTimes>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    caps: Vec<SavedCap>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    arrivals: Option<ArrivalProfile>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    blocks: Option<TimeBlocks>,
    source: Source,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct SavedTimes {
    count: u64,
    #[serde(with = "decimal")]
    sum_ns: u128,
    #[serde(with = "decimal")]
    sum_squares_ns2: u128,
    min_ns: u64,
    max_ns: u64,
    failures: u64,
    #[serde(with = "decimal")]
    failures_sum_ns: u128,
    digits: u8,
    histogram: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    bounds: Option<SavedBounds>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    phases: Option<SavedPhases>,
}

/// What is uncertain of attempts that came as the counts of a histogram.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct SavedBounds {
    #[serde(with = "decimal")]
    sum_low_ns: u128,
    #[serde(with = "decimal")]
    sum_high_ns: u128,
    #[serde(with = "decimal")]
    squares_low_ns2: u128,
    #[serde(with = "decimal")]
    squares_high_ns2: u128,
    reading: Reading,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    edges_ns: Vec<u64>,
    open: u64,
    highs: String,
}

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

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct SavedGroup {
    name: String,
    #[serde(flatten)]
    times: SavedTimes,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct SavedCap {
    cap_ns: u64,
    attempts: u64,
    #[serde(with = "decimal")]
    excess_ns: u128,
}

/// A profile ready to be written, and what had to be given up to keep it small.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Saved {
    /// What is written.
    pub profile: SavedProfile,
    /// What the reader of the file will not get.
    pub notices: Vec<SavedNotice>,
}

/// What had to be given up to keep a saved profile below [`LARGEST_SAVED`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SavedNotice {
    /// The quantiles of all attempts are held to fewer significant digits.
    CoarserHistogram {
        /// How many: with one they are within 10%, with two within 1%.
        digits: u8,
    },
    /// The quantiles of the groups, or of the others, are held to fewer significant digits.
    CoarserGroups {
        /// The fewest of any of them.
        digits: u8,
    },
    /// Groups that held workers for the least time were counted with the others.
    GroupsJoined {
        /// How many groups were joined.
        joined: usize,
        /// How many are still told apart.
        kept: usize,
    },
}

/// Why a profile cannot be saved or restored.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SaveError {
    /// It is of another version, or no profile at all.
    #[error("its schema is \"{found}\", and \"{SCHEMA}\" is understood")]
    Schema {
        /// The schema that it names.
        found: String,
    },
    /// Its numbers contradict one another.
    #[error("its {part} {problem}")]
    Inconsistent {
        /// The part of the profile.
        part: &'static str,
        /// What is wrong with it.
        problem: &'static str,
    },
    /// A histogram cannot be read.
    #[error("its histogram cannot be read: {0}")]
    Histogram(#[from] DecodeError),
    /// A count is beyond what the HdrHistogram format holds.
    #[error("it has more attempts than an HdrHistogram holds")]
    TooMany,
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

impl TryFrom<SavedProfile> for ServiceProfile {
    type Error = SaveError;

    /// Restores a profile, and refuses one whose parts contradict one another.
    fn try_from(saved: SavedProfile) -> Result<Self, SaveError> {
        if saved.schema != SCHEMA {
            return Err(SaveError::Schema { found: saved.schema.chars().take(60).collect() });
        }
        let wrong = |part, problem| SaveError::Inconsistent { part, problem };
        let digits = saved.all.digits;
        let times = restore_times(&saved.all)?;
        if times.count() == 0 {
            return Err(wrong("count", "is zero"));
        }
        let group_digits = saved.groups.iter().map(|group| group.times.digits).min().unwrap_or(3);
        let groups = saved
            .groups
            .into_iter()
            .map(|group| Ok(Group { times: restore_times(&group.times)?, name: group.name }))
            .collect::<Result<Vec<_>, SaveError>>()?;
        let others = saved.others.as_ref().map(restore_times).transpose()?.unwrap_or_default();
        let grouped = groups
            .iter()
            .map(|group| group.times.count())
            .try_fold(others.count(), |sum, count| sum.checked_add(count))
            .filter(|sum| *sum <= times.count());
        if grouped.is_none() {
            return Err(wrong("groups", "hold more attempts than there are"));
        }
        if saved.arrivals.as_ref().is_some_and(|arrivals| !arrivals.is_sound()) {
            return Err(wrong("arrivals", "contradict themselves"));
        }
        if saved.blocks.as_ref().is_some_and(|blocks| !blocks.is_sound(MOST_BLOCKS)) {
            return Err(wrong("blocks", "are none that this program writes"));
        }
        if saved.caps.len() > MOST_CAPS || !saved.caps.is_sorted_by(|a, b| a.cap_ns < b.cap_ns) {
            return Err(wrong("caps", "are too many or out of order"));
        }
        if saved.caps.iter().any(|cap| cap.attempts > times.count() || cap.excess_ns > saved.all.sum_ns) {
            return Err(wrong("caps", "cut more than there is"));
        }
        let cap = |cap: &SavedCap| CapCount {
            cap_ns: cap.cap_ns,
            attempts: cap.attempts,
            excess_ns: cap.excess_ns,
        };
        Ok(ServiceProfile {
            times,
            groups: Groups::restore(groups, others),
            caps: CapCounts { counts: saved.caps.iter().map(cap).collect() },
            arrivals: saved.arrivals,
            blocks: saved.blocks,
            source: saved.source,
            digits,
            group_digits,
        })
    }
}

fn restore_times(saved: &SavedTimes) -> Result<ServiceTimes, SaveError> {
    let wrong = |part, problem| SaveError::Inconsistent { part, problem };
    let moments = Moments {
        count: saved.count,
        sum_ns: saved.sum_ns,
        sum_squares_ns2: saved.sum_squares_ns2,
        min_ns: saved.min_ns,
        max_ns: saved.max_ns,
    };
    if !moments.is_sound() {
        return Err(wrong("count, sums, minimum and maximum", "contradict one another"));
    }
    if saved.failures > saved.count || saved.failures_sum_ns > saved.sum_ns {
        return Err(wrong("failures", "are more than all attempts"));
    }
    if !(1..=3).contains(&saved.digits) || saved.max_ns > LONGEST_NS {
        return Err(wrong("histogram", "has digits or durations that this program does not write"));
    }
    let decode =
        |text: &str, side: Side| hdr::decode(text, side, saved.digits, moments.min_ns, moments.max_ns);
    let side = if saved.bounds.is_some() { Side::Low } else { Side::Middle };
    let histogram = decode(&saved.histogram, side)?;
    if histogram.count() != saved.count {
        return Err(wrong("histogram", "does not hold as many attempts as are counted"));
    }
    let bounds = match &saved.bounds {
        None => None,
        Some(bounds) => {
            let restored = Bounds {
                highs: decode(&bounds.highs, Side::High)?,
                open: bounds.open,
                sum_low_ns: bounds.sum_low_ns,
                sum_high_ns: bounds.sum_high_ns,
                squares_low_ns2: bounds.squares_low_ns2,
                squares_high_ns2: bounds.squares_high_ns2,
                reading: bounds.reading,
                edges: bounds.edges_ns.clone(),
            };
            if !restored.is_sound(&histogram, moments.sum_ns, moments.sum_squares_ns2) {
                return Err(wrong("bounds", "contradict what they bound"));
            }
            Some(Box::new(restored))
        }
    };
    let phases = match &saved.phases {
        None => Phases::default(),
        Some(phases) => phases.restore().ok_or(wrong("phases", "contradict themselves"))?,
    };
    Ok(ServiceTimes {
        moments,
        histogram,
        failures: saved.failures,
        failures_sum_ns: saved.failures_sum_ns,
        bounds,
        phases,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::{Attempt, HistogramOf, MOST_GROUPS, Phase, ProfileRecorder, Range, Ranged, Sum};
    use proptest::prelude::*;

    fn recorded(
        attempts: impl IntoIterator<Item = (u64, u64, Option<i64>, Option<String>)>,
    ) -> ServiceProfile {
        let mut recorder = ProfileRecorder::new(&[5_000_000_000, 10_000_000_000]);
        for (place, (duration_ns, weight, started_ns, group)) in attempts.into_iter().enumerate() {
            let attempt =
                Attempt { duration_ns, weight, failed: place % 7 == 0, started_ns, group: group.as_deref() };
            recorder.add(&attempt).unwrap();
        }
        let source =
            Source { format: "csv".to_owned(), files: vec!["a.csv".to_owned()], ..Source::default() };
        recorder.finish(source).unwrap()
    }

    fn json(profile: &SavedProfile) -> String {
        serde_json::to_string(profile).unwrap()
    }

    #[test]
    fn a_profile_comes_back_as_it_was_saved() {
        let profile = recorded((0..5000u64).map(|place| {
            let started = 1_700_000_000_000_000_000 + place as i64 * 50_000_000;
            (place * place * 7_919, 1, Some(started), Some(format!("endpoint {}", place % 5)))
        }));
        let saved = profile.save().unwrap();
        assert_eq!(saved.notices, []);
        let read: SavedProfile = serde_json::from_str(&json(&saved.profile)).unwrap();
        assert_eq!(ServiceProfile::try_from(read).unwrap(), profile);
    }

    /// Every bucket filled, with counts as large as they can be, in more groups than fit.
    #[test]
    fn the_largest_profile_stays_below_the_limit_and_says_what_it_gave_up() {
        let mut state = 88_172_645_463_325_252u64;
        let mut random = move || {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            state
        };
        let profile = recorded((0..150_000).map(|_| {
            let duration = (LONGEST_NS >> (random() % 50)) | (random() % 1024);
            let spread = (duration + random() % (duration / 2 + 1)).min(LONGEST_NS);
            // Long durations need small weights for the exact sums to hold.
            let weight = (random() >> (spread.max(1).ilog2() / 2 + 32)) | 1;
            let name = format!("\u{1}{:0>118}", random() % (MOST_GROUPS as u64 + 50));
            (spread, weight, Some((random() >> 1) as i64), Some(name))
        }));
        let saved = profile.save().unwrap();
        let written = json(&saved.profile);
        assert!(written.len() < LARGEST_SAVED, "{} bytes", written.len());
        assert!(saved.notices.contains(&SavedNotice::CoarserHistogram { digits: 2 }), "{:?}", saved.notices);
        assert!(saved.notices.iter().any(|notice| matches!(notice, SavedNotice::GroupsJoined { .. })));
        let restored =
            ServiceProfile::try_from(serde_json::from_str::<SavedProfile>(&written).unwrap()).unwrap();
        assert_eq!(restored.times().moments(), profile.times().moments());
        assert_eq!(restored.quantile_tolerance(), 0.01);
        for quantile in [0.01, 0.5, 0.9, 0.99] {
            let (exact, coarse) = (profile.quantile(quantile), restored.quantile(quantile));
            assert!((coarse / exact - 1.0).abs() < 0.01, "{quantile}: {coarse} for {exact}");
        }
        // Saving once more loses nothing more.
        let again = restored.save().unwrap().profile;
        assert_eq!(ServiceProfile::try_from(again).unwrap().times(), restored.times());
    }

    /// As many groups as are told apart, each with all phases, and sums and counts as long as they can be.
    #[test]
    fn phases_of_every_group_stay_below_the_limit_too() {
        for durations in [1, 40] {
            let mut recorder =
                ProfileRecorder::new(&(1..=16).map(|cap| cap * 1_000_000_000).collect::<Vec<_>>());
            for number in 0..MOST_GROUPS as u64 + 40 {
                let name = format!("{:\u{1}>119}{}", number, number % 10);
                for place in 0..durations {
                    let attempt = Attempt {
                        duration_ns: LONGEST_NS - place * 10_000_000_000_000 - number,
                        weight: 10_000,
                        failed: place == 0,
                        started_ns: Some(i64::MAX - (number * 97 + place) as i64 * 86_400_000_000_000),
                        group: Some(&name),
                    };
                    recorder.add(&attempt).unwrap();
                }
                let all = Phase::ALL.map(|phase| (phase, u64::MAX));
                recorder.add_phases(Some(&name), |phases| phases.add_attempt(&all, u64::MAX / 300));
            }
            let source = Source {
                format: "\u{1}".repeat(1000),
                column: Some("\u{1}".repeat(1000)),
                files: vec!["\u{1}".repeat(1000); 1000],
                ..Source::default()
            };
            let profile = recorder.finish(source).unwrap();
            let saved = profile.save().unwrap();
            let written = json(&saved.profile);
            assert!(written.len() < LARGEST_SAVED, "{} bytes", written.len());
            let kept = saved.profile.groups.len();
            assert!(
                kept > 0
                    && saved.notices.iter().any(|notice| matches!(notice, SavedNotice::GroupsJoined { .. }))
            );
            let restored =
                ServiceProfile::try_from(serde_json::from_str::<SavedProfile>(&written).unwrap()).unwrap();
            assert_eq!(restored.phases(), profile.phases());
            let others = restored.groups().others().phases();
            assert!(!others.is_empty(), "the phases of joined groups are kept with the others");
        }
    }

    #[test]
    fn a_profile_that_contradicts_itself_is_refused_in_words() {
        let profile = recorded([(1_000, 5, None, None), (9_000, 5, None, None)]);
        let good = json(&profile.save().unwrap().profile);
        for (from, to, reason) in [
            ("whsize.profile/1", "whsize.profile/9", "schema"),
            ("\"count\":10", "\"count\":11", "does not hold"),
            ("\"sum_ns\":\"50000\"", "\"sum_ns\":\"5\"", "contradict"),
            ("\"max_ns\":9000", "\"max_ns\":99999999999999999", "contradict"),
            ("\"failures\":5", "\"failures\":50", "failures"),
            ("\"digits\":3", "\"digits\":2", "layout"),
            ("HIST", "!!!!", "base64"),
            ("\"cap_ns\":5000000000", "\"cap_ns\":50000000000", "out of order"),
        ] {
            let bad = good.replacen(from, to, 1);
            assert_ne!(bad, good, "{from} is in {good}");
            let read: SavedProfile = serde_json::from_str(&bad).unwrap();
            let error = ServiceProfile::try_from(read).unwrap_err().to_string();
            assert!(error.contains(reason), "{to}: {error}");
        }
    }

    #[test]
    fn a_profile_of_a_histogram_keeps_its_bounds() {
        let ranges = vec![
            Range { low_ns: 0, high_ns: Some(100_000_000), count: 70 },
            Range { low_ns: 100_000_000, high_ns: Some(2_500_000_000), count: 25 },
            Range { low_ns: 2_500_000_000, high_ns: None, count: 5 },
        ];
        let ranged = Ranged {
            ranges,
            sum: Sum::exactly(65_000_000_000),
            sum_squares_ns2: None,
            reading: Reading::Highest,
            round_edges: true,
        };
        let mut recorder = ProfileRecorder::new(&[5_000_000_000]);
        let histogram =
            HistogramOf { ranged: &ranged, failed: false, interval_ns: Some((0, 60)), group: Some("a") };
        recorder.add_histogram(&histogram).unwrap();
        let profile = recorder.finish(Source::default()).unwrap();
        let read: SavedProfile = serde_json::from_str(&json(&profile.save().unwrap().profile)).unwrap();
        let restored = ServiceProfile::try_from(read).unwrap();
        assert_eq!(restored, profile);
        let bounds = restored.times().quantile_bounds(0.9).unwrap();
        assert_eq!((bounds.low_ns, bounds.high_ns), (100_000_000, Some(2_500_000_000)));
        let bounds = restored.times().quantile_bounds(0.99).unwrap();
        assert_eq!((bounds.low_ns, bounds.high_ns), (2_500_000_000, None));
    }

    /// Attempts as a part of a fleet records them, through the text that it sends.
    fn sent(attempts: &[(u64, u64, bool, usize)]) -> ServiceProfile {
        let mut recorder = ProfileRecorder::new(&[5_000_000_000]);
        for (duration_ns, weight, failed, group) in attempts {
            let group = ["a", "b", "c"][*group];
            let attempt = Attempt {
                duration_ns: *duration_ns,
                weight: *weight,
                failed: *failed,
                started_ns: None,
                group: Some(group),
            };
            recorder.add(&attempt).unwrap();
        }
        let source = Source { format: "csv".to_owned(), files: vec!["-".to_owned()], ..Source::default() };
        let text = json(&recorder.finish(source).unwrap().save().unwrap().profile);
        ServiceProfile::try_from(serde_json::from_str::<SavedProfile>(&text).unwrap()).unwrap()
    }

    fn joined(one: &ServiceProfile, other: &ServiceProfile) -> ServiceProfile {
        let mut sum = one.clone();
        sum.merge(other).unwrap();
        sum
    }

    proptest! {
        #[test]
        fn parts_of_a_fleet_merge_in_any_order_into_what_one_machine_records(
            parts in prop::collection::vec(
                prop::collection::vec((0..=LONGEST_NS, 1u64..1_000_000, any::<bool>(), 0usize..3), 1..20), 3),
        ) {
            let [a, b, c] = [&parts[0], &parts[1], &parts[2]].map(|part| sent(part));
            let single = sent(&parts.concat());
            prop_assert_eq!(joined(&joined(&a, &b), &c), single.clone());
            prop_assert_eq!(joined(&a, &joined(&b, &c)), single.clone());
            prop_assert_eq!(joined(&c, &joined(&b, &a)), single.clone());
            // Also as one stream of text, and exact in count, sum and sum of squares of whole nanoseconds.
            prop_assert_eq!(json(&joined(&b, &joined(&a, &c)).save().unwrap().profile), json(&single.save().unwrap().profile));
            let sums = parts.concat().iter().fold((0u64, 0u128, 0u128), |(count, sum, squares), (ns, weight, ..)| {
                let (ns, weight) = (u128::from(*ns), u128::from(*weight));
                (count + weight as u64, sum + ns * weight, squares + ns * ns * weight)
            });
            let moments = single.times().moments();
            prop_assert_eq!((moments.count(), moments.sum_ns(), moments.sum_squares_ns2()), sums);
        }

        #[test]
        fn any_profile_of_three_digits_round_trips(
            durations in prop::collection::vec((0..=LONGEST_NS, 1u64..1_000_000), 1..40),
            stamped in any::<bool>(), groups in 0usize..4,
        ) {
            let profile = recorded(durations.iter().enumerate().map(|(place, (ns, weight))| {
                let stamp = stamped.then_some(place as i64 * 777_777_777);
                (*ns, *weight, stamp, (groups > 0).then(|| (place % groups.max(1)).to_string()))
            }));
            let read: SavedProfile = serde_json::from_str(&json(&profile.save().unwrap().profile)).unwrap();
            prop_assert_eq!(ServiceProfile::try_from(read).unwrap(), profile);
        }

        #[test]
        fn a_damaged_histogram_never_panics(damage in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..4)) {
            let profile = recorded((1..300u64).map(|n| (n * n * 1_000_003, n, None, None)));
            let mut saved = profile.save().unwrap().profile;
            let mut bytes = saved.all.histogram.into_bytes();
            for (place, value) in damage {
                let length = bytes.len();
                bytes[place.index(length)] = value;
            }
            saved.all.histogram = String::from_utf8_lossy(&bytes).into_owned();
            let _ = ServiceProfile::try_from(saved);
        }
    }
}
