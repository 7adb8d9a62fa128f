//! A profile from the form in which it was saved; one whose parts contradict one another is refused.

use super::{SCHEMA, SaveError, SavedCap, SavedProfile, SavedTimes};
use crate::profile::bounds::Bounds;
use crate::profile::caps::{CapCount, CapCounts};
use crate::profile::groups::{Group, Groups};
use crate::profile::hdr::{self, Side};
use crate::profile::moments::{LONGEST_NS, Moments};
use crate::profile::phases::Phases;
use crate::profile::times::ServiceTimes;
use crate::profile::{MOST_BLOCKS, MOST_CAPS, ServiceProfile};

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
