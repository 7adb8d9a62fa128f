//! What is saved comes back, stays small, and is refused if it is damaged.

use super::*;
use crate::profile::{
    Attempt, HistogramOf, LONGEST_NS, MOST_GROUPS, Phase, ProfileRecorder, Range, Ranged, ServiceProfile, Sum,
};
use proptest::prelude::*;

fn recorded(attempts: impl IntoIterator<Item = (u64, u64, Option<i64>, Option<String>)>) -> ServiceProfile {
    let mut recorder = ProfileRecorder::new(&[5_000_000_000, 10_000_000_000]);
    for (place, (duration_ns, weight, started_ns, group)) in attempts.into_iter().enumerate() {
        let attempt =
            Attempt { duration_ns, weight, failed: place % 7 == 0, started_ns, group: group.as_deref() };
        recorder.add(&attempt).unwrap();
    }
    let source = Source { format: "csv".to_owned(), files: vec!["a.csv".to_owned()], ..Source::default() };
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
    let others = saved.profile.others.as_ref().unwrap().digits;
    let fewest = saved.profile.groups.iter().map(|group| group.times.digits).chain([others]).min().unwrap();
    assert!(fewest < 3 && saved.notices.contains(&SavedNotice::CoarserGroups { digits: fewest }));
    let restored = ServiceProfile::try_from(serde_json::from_str::<SavedProfile>(&written).unwrap()).unwrap();
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
        let mut recorder = ProfileRecorder::new(&(1..=16).map(|cap| cap * 1_000_000_000).collect::<Vec<_>>());
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
            kept > 0 && saved.notices.iter().any(|notice| matches!(notice, SavedNotice::GroupsJoined { .. }))
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
