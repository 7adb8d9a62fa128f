//! Values beside a limit, with as many digits as tell the two apart: `96.9%` does not exceed `96.9%`.

use crate::units::human;

/// The digits of a double.
const MOST_DIGITS: usize = 17;

/// A value in the words of its unit: `s`, `per second`, `share`, or a bare number.
pub(super) fn usual(value: f64, unit: &str) -> String {
    match unit {
        "s" => human::duration(value),
        "per second" => human::rate(value),
        "share" => human::percent(value),
        _ => human::significant(value, 3),
    }
}

/// The same where it is on the wrong side of a limit, which it must not seem to keep.
pub(super) fn beyond(value: f64, limit: f64, unit: &str) -> String {
    if usual(value, unit) != usual(limit, unit) || value == limit {
        return usual(value, unit);
    }
    let (scale, suffix) = match unit {
        "s" => (1.0, " s"),
        "per second" => (1.0, "/s"),
        "share" => (100.0, "%"),
        _ => (1.0, ""),
    };
    let shown = |number: f64, digits| human::significant(number * scale, digits);
    let digits = (3..=MOST_DIGITS).find(|&digits| shown(value, digits) != shown(limit, digits));
    digits.map_or_else(|| usual(value, unit), |digits| format!("{}{suffix}", shown(value, digits)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_beyond_its_limit_never_looks_like_the_limit() {
        for (value, limit, unit, seen) in [
            (0.969_2, 0.969, "share", "96.92%"),
            (1.200_04, 1.2, "s", "1.20004 s"),
            (0.500_001, 0.5, "s", "0.500001 s"),
            (900.001, 900.0, "per second", "900.001/s"),
            (1.4, 1.2, "s", "1.4 s"),
            (1.2, 1.2, "s", "1.2 s"),
            (86_400.5, 86_400.0, "s", "86,400.5 s"),
        ] {
            assert_eq!(beyond(value, limit, unit), seen);
        }
    }
}
