//! Where a value lies on an axis, and which values are worth a tick.

use super::{Axis, Scale, Unit};

/// A logarithmic axis reaches at most this many decades down from its largest value: what lies below is as good as
/// nothing, and would press everything else together.
const MOST_DECADES: f64 = 9.0;

/// Steps between ticks of a time axis, from a second on, in seconds: what a clock shows.
const CLOCK_STEPS: [f64; 19] = [
    1.0, 2.0, 5.0, 10.0, 15.0, 30.0, 60.0, 120.0, 300.0, 600.0, 900.0, 1800.0, 3600.0, 7200.0, 10_800.0,
    21_600.0, 43_200.0, 86_400.0, 172_800.0,
];

/// Up to here seconds are written as such on a logarithmic axis; beyond, by what a clock and a calendar show.
const LONGEST_DECIMAL_S: f64 = 10.0;
const CLOCK_DECADES: [f64; 6] = [60.0, 600.0, 3_600.0, 36_000.0, 864_000.0, 31_557_600.0];

/// A value that is written beside an axis, and its place from 0 to 1.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Tick {
    pub(super) place: f64,
    pub(super) label: String,
}

/// An axis with the range that it shows.
#[derive(Clone, Debug)]
pub(super) struct Range {
    low: f64,
    high: f64,
    scale: Scale,
    unit: Unit,
    step: f64,
}

impl Range {
    /// The range for these values, with room for about `ticks` ticks. `snug` keeps the ends at the values; else
    /// they move out to the next tick.
    pub(super) fn over(axis: &Axis, values: impl Iterator<Item = f64>, ticks: usize, snug: bool) -> Self {
        let usable = values.filter(|value| value.is_finite() && (axis.scale != Scale::Log || *value > 0.0));
        let (mut low, mut high) = usable
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| (low.min(value), high.max(value)));
        if low > high {
            (low, high) = (1.0, 1.0);
        }
        if axis.scale == Scale::Log {
            let (low, high) = log_ends(low, high);
            return Range { low, high, scale: Scale::Log, unit: axis.unit, step: 0.0 };
        }
        if axis.scale == Scale::FromZero {
            low = low.min(0.0);
        }
        if low == high {
            high += if high == 0.0 { 1.0 } else { high.abs() * 0.1 };
        }
        let step = step(axis.unit, high - low, ticks);
        if !snug {
            (low, high) = ((low / step).floor() * step, (high / step).ceil() * step);
        }
        Range { low, high, scale: axis.scale, unit: axis.unit, step }
    }

    /// The place of a value: 0 at the low end, 1 at the high one, outside beyond them; `None` where it has none.
    pub(super) fn place(&self, value: f64) -> Option<f64> {
        let place = match self.scale {
            Scale::Log => (value / self.low).log10() / (self.high / self.low).log10(),
            Scale::Linear | Scale::FromZero => (value - self.low) / (self.high - self.low),
        };
        place.is_finite().then_some(place)
    }

    /// The ticks, low to high, at most about `most` of them.
    pub(super) fn ticks(&self, most: usize) -> Vec<Tick> {
        let tick = |value: f64| {
            let place = self.place(value).filter(|place| (-1e-9..=1.0 + 1e-9).contains(place))?;
            Some(Tick { place: place.clamp(0.0, 1.0), label: self.unit.show(value) })
        };
        if self.scale == Scale::Log {
            let clock = self.unit == Unit::Seconds && self.high > LONGEST_DECIMAL_S;
            let decimal = log_ticks(self.low, self.high, most).into_iter();
            let decimal = decimal.filter(|value| !clock || *value <= LONGEST_DECIMAL_S);
            let by_clock = CLOCK_DECADES.into_iter().filter(|_| clock);
            return decimal.chain(by_clock).filter_map(tick).collect();
        }
        let first = (self.low / self.step - 1e-9).ceil();
        let last = (self.high / self.step + 1e-9).floor();
        let steps = (last - first).max(0.0) as usize;
        (0..=steps).filter_map(|index| tick((first + index as f64) * self.step)).collect()
    }
}

/// The distance between ticks for a span: 1, 2 or 5 times a power of ten, or what a clock shows.
fn step(unit: Unit, span: f64, ticks: usize) -> f64 {
    let wanted = span / ticks.max(1) as f64;
    if unit == Unit::Seconds && wanted > 1.0 {
        let day = 86_400.0;
        let found = CLOCK_STEPS.into_iter().find(|step| *step >= wanted);
        return found.unwrap_or_else(|| decimal_step(wanted / day) * day);
    }
    let step = decimal_step(wanted);
    if unit == Unit::Count { step.max(1.0) } else { step }
}

fn decimal_step(wanted: f64) -> f64 {
    let power = 10f64.powf(wanted.log10().floor());
    let found = [1.0, 2.0, 5.0].into_iter().find(|digit| digit * power >= wanted * (1.0 - 1e-9));
    found.unwrap_or(10.0) * power
}

/// Ends at 1, 2 or 5 times a power of ten, not more decades apart than are worth showing.
fn log_ends(low: f64, high: f64) -> (f64, f64) {
    let low = low.max(high * 10f64.powf(-MOST_DECADES));
    let down = |value: f64| {
        let power = 10f64.powf(value.log10().floor());
        let found = [5.0, 2.0].into_iter().find(|digit| digit * power <= value * (1.0 + 1e-9));
        found.unwrap_or(1.0) * power
    };
    let (low, high) = (down(low), decimal_step(high));
    if high / low < 1.5 { (low, low * 10.0) } else { (low, high) }
}

fn log_ticks(low: f64, high: f64, most: usize) -> Vec<f64> {
    let (first, last) = (low.log10().floor() as i32, high.log10().ceil() as i32);
    let decades = (last - first).max(1) as usize;
    let digits: &[f64] = match most / decades {
        0 | 1 => &[1.0],
        2 => &[1.0, 3.0],
        _ => &[1.0, 2.0, 5.0],
    };
    let every = decades.div_ceil(most.max(1)).max(1);
    let powers = (first..=last).step_by(every).map(|exponent| 10f64.powi(exponent));
    powers.flat_map(|power| digits.iter().map(move |digit| digit * power)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn axis(unit: Unit, scale: Scale) -> Axis {
        Axis { label: "x", unit, scale }
    }

    fn labels(axis: &Axis, values: &[f64], most: usize) -> Vec<String> {
        let range = Range::over(axis, values.iter().copied(), most, false);
        range.ticks(most).into_iter().map(|tick| tick.label).collect()
    }

    #[test]
    fn ticks_are_what_a_person_would_write() {
        let workers = axis(Unit::Count, Scale::Linear);
        assert_eq!(labels(&workers, &[1261.0, 1331.0], 5), ["1260", "1280", "1300", "1320", "1340"]);
        assert_eq!(labels(&workers, &[1.0, 3.0], 8), ["1", "2", "3"], "there is no half worker");
        let time = axis(Unit::Seconds, Scale::FromZero);
        assert_eq!(labels(&time, &[0.0, 3500.0], 4), ["0 s", "15 m", "30 m", "45 m", "1 h"]);
        assert_eq!(labels(&time, &[0.2, 0.4], 5), ["0 s", "100 ms", "200 ms", "300 ms", "400 ms"]);
        let wait = axis(Unit::Seconds, Scale::Log);
        assert_eq!(labels(&wait, &[0.002, 1.352], 5), ["10 ms", "100 ms", "1 s"]);
        assert_eq!(labels(&wait, &[0.5, 5000.0], 5), ["1 s", "10 s", "60 s", "10 m", "1 h"]);
    }

    #[test]
    fn values_that_have_no_place_are_left_out() {
        let wait = axis(Unit::Seconds, Scale::Log);
        let range = Range::over(&wait, [0.0, f64::NAN, 0.1, 1.0].into_iter(), 5, false);
        assert_eq!(range.place(0.0), None);
        assert_eq!((range.place(0.1), range.place(1.0)), (Some(0.0), Some(1.0)));
        assert!(!Range::over(&wait, std::iter::empty(), 5, false).ticks(5).is_empty());
    }

    proptest! {
        #[test]
        fn every_value_lies_inside_and_ticks_are_few_and_rising(
            values in proptest::collection::vec(-1e12f64..1e12, 1..8), most in 2usize..12,
            scale in prop_oneof![Just(Scale::Linear), Just(Scale::FromZero), Just(Scale::Log)],
            unit in prop_oneof![Just(Unit::Count), Just(Unit::Seconds), Just(Unit::PerSecond), Just(Unit::Share)],
        ) {
            let range = Range::over(&axis(unit, scale), values.iter().copied(), most, false);
            let ticks = range.ticks(most);
            prop_assert!(ticks.len() <= 3 * most + 3, "{ticks:?}");
            prop_assert!(ticks.windows(2).all(|pair| pair[0].place < pair[1].place), "{ticks:?}");
            for value in values.into_iter().filter(|value| scale != Scale::Log || *value > 0.0) {
                let place = range.place(value).unwrap();
                prop_assert!(place <= 1.0 + 1e-9 && (scale == Scale::Log || place >= -1e-9), "{value} at {place}");
            }
        }
    }
}
