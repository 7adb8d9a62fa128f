//! Before and after: what changed between two profiles, what moved the mean most, and what that costs in workers.

use super::QUANTILES;
use super::summary::OTHERS;
use crate::arrivals::ArrivalProfile;
use crate::profile::{ServiceProfile, ServiceTimes, seconds};
use schemars::JsonSchema;
use serde::Serialize;

/// Two profiles side by side.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Comparison {
    /// The file of the profile that was compared with.
    pub baseline: String,
    /// Mean, SCV, and quantiles.
    pub figures: Vec<Change>,
    /// Means of the groups, where both profiles have groups: those that moved the mean most first.
    pub groups: Vec<Change>,
    /// Means of the phases, where both profiles have phases.
    pub phases: Vec<Change>,
    /// By how much attempts of several lengths moved the mean: up to the median of the profile that was compared with,
    /// and between its quantiles.
    pub lengths: Vec<Change>,
    /// What moved the mean most: a group, a phase, or attempts of some length.
    pub moved_most: String,
    /// By how much that moved it, in seconds.
    pub moved_s: f64,
    /// What it costs; absent where no rate is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub workers: Option<Workers>,
}

/// A figure before and after.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Change {
    /// What it is.
    pub name: String,
    /// In the profile that was compared with; absent if it was not there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub before: Option<f64>,
    /// Now; absent if it is no longer there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub after: Option<f64>,
    /// By how much it moved the mean of all attempts, in seconds; absent for figures that are no parts of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub moved_mean_s: Option<f64>,
}

/// The smallest stable pool before and after, at one rate.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Workers {
    /// The rate: that of the busiest minute now, or before where there are no time stamps now.
    pub rate_per_s: f64,
    /// With the mean service time before.
    pub before: u64,
    /// With the mean service time now.
    pub after: u64,
}

/// Attempts of some length: a name, and from where to where in nanoseconds.
type Band = (&'static str, u64, u64);

impl Comparison {
    /// Compares a profile with an earlier one, read from `baseline`.
    #[must_use]
    pub fn of(baseline: &str, before: &ServiceProfile, after: &ServiceProfile) -> Self {
        let (groups, phases) = (groups(before, after), phase_changes(before, after));
        let lengths = lengths(before.times(), after.times());
        let parts: &[Change] = if !groups.is_empty() {
            &groups
        } else if !phases.is_empty() {
            &phases
        } else {
            &lengths
        };
        let moved = |change: &&Change| change.moved_mean_s.unwrap_or(0.0).abs();
        let most = parts.iter().max_by(|a, b| moved(a).total_cmp(&moved(b)));
        Comparison {
            baseline: baseline.to_owned(),
            figures: figures(before, after),
            moved_most: most.map_or_else(String::new, |change| change.name.clone()),
            moved_s: most.and_then(|change| change.moved_mean_s).unwrap_or(0.0),
            groups,
            phases,
            lengths,
            workers: workers(before, after),
        }
    }

    /// The means before and after, in seconds.
    #[must_use]
    pub fn means_s(&self) -> (f64, f64) {
        let mean = self.figures.first();
        let of = |value: Option<f64>| value.unwrap_or(0.0);
        (of(mean.and_then(|mean| mean.before)), of(mean.and_then(|mean| mean.after)))
    }
}

fn figures(before: &ServiceProfile, after: &ServiceProfile) -> Vec<Change> {
    let one = |name: &str, of: &dyn Fn(&ServiceProfile) -> f64| Change {
        name: name.to_owned(),
        before: Some(of(before)),
        after: Some(of(after)),
        moved_mean_s: None,
    };
    let mut all = vec![one("mean_s", &|profile| profile.mean().get()), one("scv", &ServiceProfile::scv)];
    for quantile in QUANTILES {
        let name = format!("p{}_s", crate::units::human::significant(quantile * 100.0, 4));
        all.push(one(&name, &|profile| profile.quantile(quantile)));
    }
    all
}

/// What a part adds to the mean of all attempts, in seconds.
fn contribution(part: &ServiceTimes, all: &ServiceProfile) -> f64 {
    part.moments().sum_ns() as f64 / 1e9 / all.count().max(1) as f64
}

fn groups(before: &ServiceProfile, after: &ServiceProfile) -> Vec<Change> {
    if before.groups().is_empty() || after.groups().is_empty() {
        return Vec::new();
    }
    let named = |profile: &ServiceProfile| -> Vec<(String, ServiceTimes)> {
        let groups = profile.groups().in_order().iter();
        let mut all: Vec<_> = groups.map(|group| (group.name.clone(), group.times.clone())).collect();
        if profile.groups().others().count() > 0 {
            all.push((OTHERS.to_owned(), profile.groups().others().clone()));
        }
        all
    };
    let (old, new) = (named(before), named(after));
    let find = |list: &[(String, ServiceTimes)], name: &str| {
        list.iter().find(|(known, _)| known == name).map(|(_, times)| times.clone())
    };
    let mut names: Vec<&String> = old.iter().chain(&new).map(|(name, _)| name).collect();
    names.sort_unstable();
    names.dedup();
    let change = |name: &String| {
        let (was, is) = (find(&old, name), find(&new, name));
        let adds =
            |times: &Option<ServiceTimes>, all| times.as_ref().map_or(0.0, |times| contribution(times, all));
        Change {
            name: name.clone(),
            before: was.as_ref().map(|times| times.mean().get()),
            after: is.as_ref().map(|times| times.mean().get()),
            moved_mean_s: Some(adds(&is, after) - adds(&was, before)),
        }
    };
    sorted(names.into_iter().map(change).collect())
}

fn sorted(mut changes: Vec<Change>) -> Vec<Change> {
    let moved = |change: &Change| change.moved_mean_s.unwrap_or(0.0).abs();
    changes.sort_by(|a, b| moved(b).total_cmp(&moved(a)));
    changes
}

fn phase_changes(before: &ServiceProfile, after: &ServiceProfile) -> Vec<Change> {
    let (old, new) = (before.times().phase_summaries(), after.times().phase_summaries());
    if old.is_empty() || new.is_empty() {
        return Vec::new();
    }
    let mut names: Vec<&String> = new.iter().chain(&old).map(|phase| &phase.name).collect();
    let mut seen = Vec::new();
    names.retain(|name| {
        !seen.contains(name) && {
            seen.push(*name);
            true
        }
    });
    let change = |name: &String| {
        let mean = |list: &[crate::profile::PhaseSummary]| {
            list.iter().find(|phase| phase.name == *name).map(|phase| phase.mean_s)
        };
        let (was, is) = (mean(&old), mean(&new));
        let moved_mean_s = Some(is.unwrap_or(0.0) - was.unwrap_or(0.0));
        Change { name: name.clone(), before: was, after: is, moved_mean_s }
    };
    names.into_iter().map(change).collect()
}

/// What attempts of each length add to the mean. The buckets of both are scaled to their exact means.
fn lengths(before: &ServiceTimes, after: &ServiceTimes) -> Vec<Change> {
    // A quantile may lie within its bucket, of which all belongs to what is up to it.
    let at = |quantile: f64| {
        let ns = before.quantile_ns(quantile);
        before.buckets().find(|bucket| bucket.high_ns >= ns).map_or(ns, |bucket| bucket.high_ns)
    };
    let bands: [Band; 4] = [
        ("attempts up to p50", 0, at(0.5)),
        ("attempts from p50 to p90", at(0.5), at(0.9)),
        ("attempts from p90 to p99", at(0.9), at(0.99)),
        ("attempts beyond p99", at(0.99), u64::MAX),
    ];
    let adds = |times: &ServiceTimes, (_, low, high): &Band| {
        let middle = |bucket: &crate::profile::Bucket| {
            (seconds(bucket.low_ns) + seconds(bucket.high_ns)) / 2.0 * bucket.count as f64
        };
        let whole: f64 = times.buckets().map(|bucket| middle(&bucket)).sum();
        let within = |bucket: &crate::profile::Bucket| {
            let first = *low == 0;
            (first || bucket.high_ns > *low) && bucket.high_ns <= *high
        };
        let part: f64 = times.buckets().filter(within).map(|bucket| middle(&bucket)).sum();
        if whole > 0.0 { part / whole * times.mean().get() } else { 0.0 }
    };
    let change = |band: &Band| {
        let (was, is) = (adds(before, band), adds(after, band));
        Change { name: band.0.to_owned(), before: Some(was), after: Some(is), moved_mean_s: Some(is - was) }
    };
    bands.iter().map(change).collect()
}

fn workers(before: &ServiceProfile, after: &ServiceProfile) -> Option<Workers> {
    let rate = |profile: &ServiceProfile| profile.arrivals().and_then(ArrivalProfile::busiest_minute_rate);
    let rate = rate(after).or_else(|| rate(before))?;
    let smallest = |profile: &ServiceProfile| rate.offered_load(&profile.mean()).floor().map(|load| load + 1);
    Some(Workers { rate_per_s: rate.get(), before: smallest(before)?, after: smallest(after)? })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::{Attempt, ProfileRecorder, Source};

    fn profile(attempts: &[(u64, &str)]) -> ServiceProfile {
        let mut recorder = ProfileRecorder::new(&[]);
        for (number, (ms, group)) in (0i64..).zip(attempts) {
            let attempt = Attempt {
                duration_ns: ms * 1_000_000,
                weight: 1,
                failed: false,
                started_ns: Some(number * 100_000_000),
                group: Some(group),
            };
            recorder.add(&attempt).unwrap();
        }
        recorder.finish(Source::default()).unwrap()
    }

    #[test]
    fn attempts_of_one_length_are_not_beyond_their_own_quantiles() {
        let before = profile(&[(100, "a"); 50]);
        let comparison = Comparison::of("old", &before, &before);
        let parts: Vec<f64> = comparison.lengths.iter().filter_map(|change| change.before).collect();
        assert!((parts[0] - 0.1).abs() < 1e-12 && parts[1..] == [0.0; 3], "{parts:?}");
    }

    #[test]
    fn what_moves_the_mean_adds_up_to_what_it_moved() {
        let before = profile(&[(100, "a"), (100, "a"), (200, "b"), (400, "gone")]);
        let after = profile(&[(100, "a"), (100, "a"), (1000, "b"), (2000, "b"), (300, "new")]);
        let comparison = Comparison::of("old", &before, &after);
        let (was, is) = comparison.means_s();
        assert_eq!((was, is), (0.2, 0.7));
        for parts in [&comparison.groups, &comparison.lengths] {
            let moved: f64 = parts.iter().filter_map(|change| change.moved_mean_s).sum();
            assert!((moved - (is - was)).abs() < 1e-9, "{parts:?}");
        }
        assert_eq!(comparison.moved_most, "b");
        assert!((comparison.moved_s - (3.0 / 5.0 - 0.2 / 4.0)).abs() < 1e-12);
        let gone = comparison.groups.iter().find(|change| change.name == "gone").unwrap();
        assert_eq!((gone.before, gone.after), (Some(0.4), None));
        // Ten a second: offered loads of 2 and of 7, and one worker more than that.
        let workers = comparison.workers.unwrap();
        assert_eq!((workers.rate_per_s, workers.before, workers.after), (10.0, 3, 8));
    }
}
