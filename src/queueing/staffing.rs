//! From an objective to the smallest pool that meets it.

/// The smallest number of workers, from `floor` on, for which `meets` holds, where `meets` fails up to some
/// number and holds from there on. The search gallops from `guess` to a bracket and bisects it: with a good guess
/// it asks about six times, whatever the size of the pool.
///
/// Returns `None` if nothing up to `ceiling` meets it.
pub fn smallest(floor: u64, ceiling: u64, guess: u64, mut meets: impl FnMut(u64) -> bool) -> Option<u64> {
    if floor > ceiling {
        return None;
    }
    let guess = guess.clamp(floor, ceiling);
    let (mut failing, mut holding);
    let mut step = 1;
    if meets(guess) {
        holding = guess;
        loop {
            if holding == floor {
                return Some(floor);
            }
            let next = holding.saturating_sub(step).max(floor);
            if !meets(next) {
                failing = next;
                break;
            }
            holding = next;
            step *= 2;
        }
    } else {
        failing = guess;
        loop {
            if failing == ceiling {
                return None;
            }
            let next = failing.saturating_add(step).min(ceiling);
            if meets(next) {
                holding = next;
                break;
            }
            failing = next;
            step *= 2;
        }
    }
    while holding - failing > 1 {
        let middle = failing.midpoint(holding);
        if meets(middle) {
            holding = middle;
        } else {
            failing = middle;
        }
    }
    Some(holding)
}

/// The largest `x` between 0 and `unbounded` for which `holds` is true, where it is true up to some point and
/// false from there on, to a relative precision of 1e-12. Returns 0 if it holds nowhere. The search gallops from `guess` to
/// a bracket and bisects it, so that with a good guess it asks only close to the answer.
pub fn largest(unbounded: f64, guess: f64, mut holds: impl FnMut(f64) -> bool) -> f64 {
    let (mut low, mut high) = (0.0, unbounded);
    // An eighth of the room above the guess: close to the end the answer depends most on it.
    let (mut next, mut step) = (guess, (unbounded - guess) / 8.0);
    while low < next && next < high {
        if holds(next) {
            low = next;
            next += step;
        } else {
            high = next;
            next -= step;
        }
        step *= 2.0;
    }
    while high - low > 1e-12 * high {
        let middle = f64::midpoint(low, high);
        if holds(middle) {
            low = middle;
        } else {
            high = middle;
        }
    }
    low
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_smallest_is_found_from_any_guess(floor in 0u64..50, threshold in 0u64..2000, guess in 0u64..3000) {
            let found = smallest(floor, 1500, guess, |n| n >= threshold);
            let expected = if threshold <= 1500 { Some(threshold.max(floor)) } else { None };
            prop_assert_eq!(found, expected);
        }
    }

    #[test]
    fn a_good_guess_needs_few_questions() {
        let mut asked = 0;
        let found = smallest(1, u64::MAX, 1_000_000_000, |n| {
            asked += 1;
            n >= 1_000_000_003
        });
        assert_eq!(found, Some(1_000_000_003));
        assert!(asked <= 7, "{asked}");
    }

    #[test]
    fn the_largest_is_found_to_full_precision() {
        for guess in [0.0, 1e-9, 1.2, 1.414, 1.5, 9.0, 10.0] {
            let root = largest(10.0, guess, |x| x * x <= 2.0);
            assert!((root - std::f64::consts::SQRT_2).abs() < 1e-11, "{guess}: {root}");
            assert!(largest(10.0, guess, |_| false) < 1e-10, "{guess}");
            assert!((largest(10.0, guess, |_| true) - 10.0).abs() < 1e-10, "{guess}");
        }
    }

    #[test]
    fn a_good_guess_of_the_largest_keeps_the_questions_close() {
        let mut asked = Vec::new();
        largest(100.0, 92.0, |x| {
            asked.push(x);
            x <= 92.3
        });
        assert!(asked.iter().all(|x| (90.0..=94.0).contains(x)), "{asked:?}");
    }
}
