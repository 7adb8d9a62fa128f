//! Numbers for people: three or four significant digits, a unit beside each, never a 17-digit tail.

/// A percentage has at most as many decimals, however close to 100% it is.
const MOST_DECIMALS: usize = 9;

/// A longer time, in seconds, than anybody would wait: a thousand years.
const LONGEST_DURATION: f64 = 1_000.0 * 365.25 * 86_400.0;

/// Below this a percentage is as good as none.
pub(super) const SMALLEST_PERCENT: f64 = 0.0001;

/// A number with at most `digits` significant digits, trailing zeros removed, thousands grouped from 10,000 on.
#[must_use]
pub fn significant(value: f64, digits: usize) -> String {
    if value == 0.0 || !value.is_finite() {
        return if value == 0.0 { "0".to_owned() } else { "out of range".to_owned() };
    }
    let magnitude = value.abs().log10().floor() as i32;
    if !(-6..15).contains(&magnitude) {
        return format!("{value:.*e}", digits.saturating_sub(1));
    }
    let decimals = (digits as i32 - 1 - magnitude).max(0) as usize;
    let fixed = format!("{value:.decimals$}");
    let trimmed =
        if fixed.contains('.') { fixed.trim_end_matches('0').trim_end_matches('.') } else { &fixed };
    group_thousands(trimmed)
}

/// A whole number, thousands grouped from 10,000 on: `1263`, `10,050`.
#[must_use]
pub fn count(value: u64) -> String {
    group_thousands(&value.to_string())
}

/// A number of things to about four digits, millions and thousand millions by letter: `1263`, `259.2M`, `6.48G`.
#[must_use]
pub fn roughly(count: f64) -> String {
    if count >= 9.9995e9 {
        format!("{}G", significant(count / 1e9, 4))
    } else if count >= 9.9995e6 {
        format!("{}M", significant(count / 1e6, 4))
    } else {
        significant(count.ceil(), 15)
    }
}

/// A noun with its count: `1 worker`, `1263 workers`.
#[must_use]
pub fn counted(value: u64, singular: &str) -> String {
    format!("{} {singular}{}", count(value), if value == 1 { "" } else { "s" })
}

/// A noun with the counts between which it lies: `15 workers`, `15 to 18 workers`.
#[must_use]
pub fn counted_range([low, high]: [u64; 2], singular: &str) -> String {
    if low == high {
        counted(low, singular)
    } else {
        format!("{} to {}", count(low), counted(high, singular))
    }
}

/// The form of a verb that goes with so many of its subject.
#[must_use]
pub fn verb(count: u64, one: &'static str, many: &'static str) -> &'static str {
    if count == 1 { one } else { many }
}

/// A noun with a measured count of at most four significant digits: `1 message`, `1.5 messages`.
#[must_use]
pub fn quantity(value: f64, singular: &str) -> String {
    let shown = significant(value, 4);
    let plural = if shown == "1" { "" } else { "s" };
    format!("{shown} {singular}{plural}")
}

fn group_thousands(number: &str) -> String {
    let (sign, rest) = number.strip_prefix('-').map_or(("", number), |rest| ("-", rest));
    let (whole, fraction) = rest.split_once('.').map_or((rest, None), |(whole, tail)| (whole, Some(tail)));
    if whole.len() < 5 {
        return number.to_owned();
    }
    let mut grouped = String::from(sign);
    for (index, digit) in whole.chars().enumerate() {
        if index > 0 && (whole.len() - index).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    if let Some(tail) = fraction {
        grouped.push('.');
        grouped.push_str(tail);
    }
    grouped
}

/// A duration in the unit that a person would choose: `250 us`, `419 ms`, `1.4 s`, `16 m 40 s`, `2 h 47 m`, `7 d`.
#[must_use]
pub fn duration(seconds: f64) -> String {
    let magnitude = seconds.abs();
    if magnitude == 0.0 {
        return "0 s".to_owned();
    }
    if magnitude < 9.995e-7 {
        return if magnitude < 5e-10 {
            "under 1 ns".to_owned()
        } else {
            format!("{} ns", significant(seconds * 1e9, 3))
        };
    }
    if magnitude < 9.995e-4 {
        return format!("{} us", significant(seconds * 1e6, 3));
    }
    if magnitude < 0.9995 {
        return format!("{} ms", significant(seconds * 1e3, 3));
    }
    if magnitude < 119.95 {
        return format!("{} s", significant(seconds, 4));
    }
    if magnitude < 3600.0 * 48.0 {
        let (total, long, short, step) = if magnitude < 3599.5 {
            (seconds.round(), "m", "s", 60.0)
        } else {
            ((seconds / 60.0).round(), "h", "m", 60.0)
        };
        let (high, low) = ((total / step).trunc(), total.abs() % step);
        return if low == 0.0 {
            format!("{high:.0} {long}")
        } else {
            format!("{high:.0} {long} {low:.0} {short}")
        };
    }
    if magnitude > LONGEST_DURATION {
        return "over 1000 years".to_owned();
    }
    let days = seconds / 86_400.0;
    if days < 730.0 {
        format!("{} d", significant(days, 3))
    } else {
        format!("{} years", significant(days / 365.25, 3))
    }
}

/// A rate with four significant digits: `900/s`, `0.25/s`. Slow ones are shown a minute, an hour or a day.
#[must_use]
pub fn rate(per_second: f64) -> String {
    rate_to(per_second, 4)
}

/// A number rounded down to `digits` significant digits, for what must stay below it. One that lies within a billionth
/// below a round number is that number: searches and divisions end there.
#[must_use]
pub fn rounded_down(value: f64, digits: i32) -> f64 {
    if value <= 0.0 || !value.is_finite() {
        return value;
    }
    let unit = 10f64.powi(value.log10().floor() as i32 + 1 - digits);
    (value / unit * (1.0 + 1e-9)).floor() * unit
}

/// A rate with `digits` significant digits, where a small difference matters.
#[must_use]
pub fn rate_to(per_second: f64, digits: usize) -> String {
    RateUnit::with_at_least(0.1, per_second.abs()).show_to(per_second, digits)
}

/// The unit of all the rates of one report, so that they can be compared at sight.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RateUnit {
    seconds: f64,
    period: &'static str,
}

impl RateUnit {
    const ALL: [RateUnit; 4] = [
        RateUnit { seconds: 1.0, period: "s" },
        RateUnit { seconds: 60.0, period: "min" },
        RateUnit { seconds: 3600.0, period: "h" },
        RateUnit { seconds: 86_400.0, period: "day" },
    ];

    /// The shortest period in which the largest of some rates a second counts at least one; a second where all are
    /// zero, a day where none counts one.
    #[must_use]
    pub fn of(rates_per_s: impl IntoIterator<Item = f64>) -> Self {
        RateUnit::with_at_least(1.0, rates_per_s.into_iter().map(f64::abs).fold(0.0, f64::max))
    }

    fn with_at_least(least: f64, per_second: f64) -> Self {
        let [second, .., day] = RateUnit::ALL;
        if per_second == 0.0 {
            return second;
        }
        RateUnit::ALL.into_iter().find(|unit| per_second * unit.seconds >= least).unwrap_or(day)
    }

    /// A rate with four significant digits.
    #[must_use]
    pub fn show(self, per_second: f64) -> String {
        self.show_to(per_second, 4)
    }

    /// A rate with `digits` significant digits.
    #[must_use]
    pub fn show_to(self, per_second: f64, digits: usize) -> String {
        format!("{}/{}", significant(per_second * self.seconds, digits), self.period)
    }
}

/// A quantile by its percentage: `p95`, `p99.9`.
#[must_use]
pub fn quantile(fraction: f64) -> String {
    format!("p{}", significant(fraction * 100.0, 6))
}

/// A size in the decimal unit that a person would choose: `512 B`, `2.5 kB`, `1.44 GB`.
#[must_use]
pub fn bytes(bytes: f64) -> String {
    const UNITS: [(f64, &str); 4] = [(1e12, "TB"), (1e9, "GB"), (1e6, "MB"), (1e3, "kB")];
    // A number that rounds up to the next unit is shown in it.
    let (size, unit) = UNITS.into_iter().find(|(size, _)| bytes.abs() >= 0.9995 * size).unwrap_or((1.0, "B"));
    format!("{} {unit}", significant(bytes / size, 3))
}

/// An amount of money with its currency: `USD 25.07`, `USD 1204`, `USD 12,040`.
#[must_use]
pub fn money(amount: f64, currency: &str) -> String {
    let magnitude = amount.abs();
    let shown = if magnitude >= 999.5 {
        significant(amount.round(), 15)
    } else if magnitude >= 0.995 || magnitude == 0.0 {
        format!("{amount:.2}")
    } else {
        significant(amount, 3)
    };
    format!("{currency} {shown}")
}

/// A fraction as a percentage. One that is close to 100%, on either side, keeps as many digits as tell it from 100%.
#[must_use]
pub fn percent(fraction: f64) -> String {
    let percent = fraction * 100.0;
    if percent > 90.0 && percent < 100.5 && percent != 100.0 {
        let (side, distance) =
            if percent < 100.0 { ("under", 100.0 - percent) } else { ("over", percent - 100.0) };
        // Two significant digits of the distance to 100 make the text tell the truth.
        let decimals = (1.0 - distance.log10().floor()).max(1.0) as usize;
        if decimals > MOST_DECIMALS {
            return format!("just {side} 100%");
        }
        let shown = format!("{percent:.decimals$}");
        return format!("{}%", shown.trim_end_matches('0').trim_end_matches('.'));
    }
    if percent > 0.0 && percent < SMALLEST_PERCENT {
        return format!("under {SMALLEST_PERCENT}%");
    }
    format!("{}%", significant(percent, 3))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_below_one_is_never_shown_as_all() {
        for (fraction, shown) in [
            (0.997_625, "99.76%"),
            (0.999_999_9, "99.99999%"),
            (0.95, "95%"),
            (0.7, "70%"),
            (1.0, "100%"),
            (0.0, "0%"),
            (0.0524, "5.24%"),
            (1.5, "150%"),
            (1.55e-46, "under 0.0001%"),
            (0.999_999_999_999_9, "just under 100%"),
            (0.999_976, "99.9976%"),
            (1.000_024, "100.0024%"),
            (1.006, "101%"),
            (1.002, "100.2%"),
            (1.000_000_000_000_1, "just over 100%"),
        ] {
            assert_eq!(percent(fraction), shown);
        }
    }

    #[test]
    fn durations_use_the_unit_of_their_size() {
        for (seconds, shown) in [
            (0.0, "0 s"),
            (1e-12, "under 1 ns"),
            (5e-9, "5 ns"),
            (0.000_25, "250 us"),
            (0.419_46, "419 ms"),
            (0.9999, "0.9999 s"),
            (1.4, "1.4 s"),
            (785.0, "13 m 5 s"),
            (3599.4, "59 m 59 s"),
            (3600.0, "1 h"),
            (6000.0, "1 h 40 m"),
            (10_000.0, "2 h 47 m"),
            (86_400.0 * 7.0, "7 d"),
            (86_400.0 * 36_525.0, "100 years"),
            (9.9e18, "over 1000 years"),
        ] {
            assert_eq!(duration(seconds), shown);
        }
    }

    #[test]
    fn counts_are_grouped_and_rates_keep_their_size() {
        assert_eq!(counted_range([15, 15], "worker"), "15 workers");
        assert_eq!(counted_range([1, 2], "worker"), "1 to 2 workers");
        assert_eq!((verb(1, "is", "are"), verb(2, "is", "are")), ("is", "are"));
        assert_eq!(rate_to(rounded_down(898.168_9, 5), 5), "898.16/s");
        assert_eq!(rate_to(rounded_down(899.999_999_999_9, 5), 5), "900/s");
        assert_eq!(rounded_down(0.0, 5), 0.0);
        assert_eq!(count(1263), "1263");
        assert_eq!(count(1_000_000), "1,000,000");
        assert_eq!(counted(1, "worker"), "1 worker");
        assert_eq!(counted(12_345, "worker"), "12,345 workers");
        assert_eq!(rate(900.0), "900/s");
        assert_eq!(rate(5.0 / 60.0), "5/min");
        assert_eq!(rate(100.0 / 86_400.0), "4.167/h");
        assert_eq!(quantity(1.0, "message"), "1 message");
        assert_eq!(quantity(1.000_1, "message"), "1 message");
        assert_eq!(quantity(0.5, "message"), "0.5 messages");
        assert_eq!(roughly(416_666.7), "416,667");
        assert_eq!(roughly(259.2e6), "259.2M");
        assert_eq!(roughly(25.92e9), "25.92G");
        assert_eq!(bytes(512.0), "512 B");
        assert_eq!(bytes(999_999.0), "1 MB");
        assert_eq!(bytes(1.44e9), "1.44 GB");
        assert_eq!(money(25.0704, "USD"), "USD 25.07");
        assert_eq!(money(0.0123425, "USD"), "USD 0.0123");
        assert_eq!(money(12_041.7, "EUR"), "EUR 12,042");
        assert_eq!(significant(0.000_123_456, 3), "0.000123");
        assert_eq!(significant(1e-9, 3), "1.00e-9");
    }

    #[test]
    fn rates_of_one_report_share_the_unit_of_the_largest() {
        for (rates, shown) in [
            (vec![0.2, 0.08], "4.8/min"),
            (vec![500.0, 0.08], "0.08/s"),
            (vec![-2.0, 0.08], "0.08/s"),
            (vec![0.0], "0.08/s"),
            (vec![0.001], "288/h"),
            (vec![1e-9], "6912/day"),
        ] {
            assert_eq!(RateUnit::of(rates.iter().copied()).show(0.08), shown, "{rates:?}");
        }
    }
}
