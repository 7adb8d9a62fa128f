//! Counts in ranges as metrics carry them, in the metric's own unit, and what was added between two of them.

use std::collections::BTreeMap;

/// One range: values above `low` (or from it on) and up to `high`, which may be infinite.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Slot {
    pub(super) low: f64,
    pub(super) high: f64,
    pub(super) count: u64,
}

/// The state of a histogram at one time, or what was added to it.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Counts {
    /// Ranges that do not overlap, rising; empty ones may be left out.
    pub(super) slots: Vec<Slot>,
    /// The sum of all values, where it was kept.
    pub(super) sum: Option<f64>,
    /// By how much floats may have blurred the sum.
    pub(super) sum_error: f64,
}

/// Ends that differ by less are one: they were printed by different programs.
const SAME: f64 = 1e-9;

fn at_most(a: f64, b: f64) -> bool {
    a <= b || (a - b).abs() <= SAME * a.abs().min(b.abs())
}

impl Counts {
    pub(super) fn count(&self) -> u64 {
        self.slots.iter().fold(0, |sum, slot| sum.saturating_add(slot.count))
    }

    /// What was added since `before`; `None` if counts fell or the ranges do not match, so that it started anew.
    ///
    /// The ranges of `before` may be finer: exponential histograms widen theirs when values spread.
    pub(super) fn since(&self, before: &Counts) -> Option<Counts> {
        let mut slots = self.slots.clone();
        let mut place = 0;
        for old in before.slots.iter().filter(|old| old.count > 0) {
            // Both rise, so what lies below an old range lies below all that follow.
            place += slots[place..].iter().position(|new| at_most(old.high, new.high))?;
            let slot = slots.get_mut(place).filter(|new| at_most(new.low, old.low))?;
            slot.count = slot.count.checked_sub(old.count)?;
        }
        let sum = match (self.sum, before.sum) {
            (Some(now), Some(then)) => Some(now - then),
            _ => None,
        };
        let blur =
            (self.sum.unwrap_or_default().abs() + before.sum.unwrap_or_default().abs()) * 4.0 * f64::EPSILON;
        Some(Counts { slots, sum, sum_error: self.sum_error + before.sum_error + blur })
    }
}

/// Adds up counts range by range. Those with a sum and those without are kept apart.
#[derive(Clone, Debug, Default)]
pub(super) struct Total {
    with_sum: Part,
    without: Part,
}

#[derive(Clone, Debug, Default)]
struct Part {
    /// By the bits of the ends, which order like the ends themselves as none is negative.
    slots: BTreeMap<(u64, u64), u64>,
    sum: f64,
    sum_error: f64,
}

impl Total {
    pub(super) fn add(&mut self, counts: &Counts) {
        let part = if counts.sum.is_some() { &mut self.with_sum } else { &mut self.without };
        for slot in counts.slots.iter().filter(|slot| slot.count > 0) {
            let ends = (slot.low.max(0.0).to_bits(), slot.high.max(0.0).to_bits());
            let count = part.slots.entry(ends).or_default();
            *count = count.saturating_add(slot.count);
        }
        part.sum += counts.sum.unwrap_or_default();
        part.sum_error += counts.sum_error;
    }

    /// What was added up, in at most two parts.
    pub(super) fn parts(&self) -> impl Iterator<Item = Counts> {
        [(&self.with_sum, true), (&self.without, false)]
            .into_iter()
            .filter(|(part, _)| !part.slots.is_empty())
            .map(|(part, summed)| Counts {
                slots: part
                    .slots
                    .iter()
                    .map(|((low, high), count)| Slot {
                        low: f64::from_bits(*low),
                        high: f64::from_bits(*high),
                        count: *count,
                    })
                    .collect(),
                sum: summed.then_some(part.sum),
                sum_error: part.sum_error,
            })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counts(slots: &[(f64, f64, u64)], sum: f64) -> Counts {
        let slots =
            slots.iter().map(|(low, high, count)| Slot { low: *low, high: *high, count: *count }).collect();
        Counts { slots, sum: Some(sum), sum_error: 0.0 }
    }

    #[test]
    fn what_was_added_is_the_difference_range_by_range() {
        let before = counts(&[(0.0, 0.1, 5), (0.1, f64::INFINITY, 1)], 2.0);
        let after = counts(&[(0.0, 0.1, 9), (0.1, f64::INFINITY, 1)], 2.5);
        let added = after.since(&before).unwrap();
        assert_eq!((added.count(), added.sum), (4, Some(0.5)));
        assert_eq!(before.since(&after), None, "counts that fell are a reset");
        assert_eq!(after.since(&after).unwrap().count(), 0);
    }

    #[test]
    fn ranges_may_have_widened_in_between_but_not_narrowed() {
        let fine = counts(&[(1.0, 2.0, 3), (2.0, 4.000_000_000_1, 4)], 9.0);
        let coarse = counts(&[(1.0, 4.0, 9)], 20.0);
        assert_eq!(coarse.since(&fine).unwrap().count(), 2);
        assert_eq!(fine.since(&coarse), None);
    }

    #[test]
    fn parts_with_and_without_a_sum_stay_apart() {
        let mut total = Total::default();
        total.add(&counts(&[(0.0, 1.0, 2)], 1.0));
        total.add(&counts(&[(0.0, 1.0, 3)], 2.0));
        total.add(&Counts { sum: None, ..counts(&[(0.0, 1.0, 4)], 0.0) });
        let parts: Vec<Counts> = total.parts().collect();
        assert_eq!((parts[0].count(), parts[0].sum), (5, Some(3.0)));
        assert_eq!((parts[1].count(), parts[1].sum), (4, None));
    }
}
