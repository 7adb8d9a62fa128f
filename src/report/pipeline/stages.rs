//! One table a stage: what is needed as the volume grows, the limit, and where it breaks.

use super::rate_unit;
use crate::pipeline::{GROWTH, Need, PipelinePlan, Stage, Unit};
use crate::report::{Column, Table};
use crate::units::human::{self, RateUnit};

/// A stage as a table.
pub(super) fn table(stage: &Stage, plan: &PipelinePlan) -> Table {
    let columns = [
        Column::words("need"),
        Column::number("today"),
        Column::number("2x"),
        Column::number("5x"),
        Column::number("10x"),
        Column::number("limit"),
        Column::number("breaks at"),
    ];
    let name = capitalised(stage.stage.in_words());
    let title = match (stage.binding, stage.breaks_at_growth) {
        (Some(need), Some(growth)) if growth >= 1.0 => {
            format!("{name}: the first limit is {}, {}", in_words(need), when(growth))
        }
        (Some(need), _) => format!("{name}: {} is over its limit today", in_words(need)),
        (None, _) => name,
    };
    let mut table = Table::new(title, &columns);
    let shown = Shown {
        currency: plan.cost.as_ref().map_or("", |cost| cost.currency.as_str()),
        rates: rate_unit(plan),
    };
    for need in &stage.needs {
        if Some(need.name) == stage.binding {
            table.highlighted.push(table.rows.len());
        }
        let at = |index: usize| cell(need, index, shown);
        table.row([
            in_words(need.name),
            at(0),
            at(1),
            at(2),
            at(3),
            need.limit.map_or_else(String::new, |limit| shown.amount(limit, need.unit)),
            breaks_at(need),
        ]);
    }
    table
}

/// At what growth a limit breaks, in words.
pub(super) fn when(growth: f64) -> String {
    if growth == 1.0 {
        "with any rise of the volume".to_owned()
    } else {
        format!("at {} times the volume", human::significant(growth, 3))
    }
}

/// The partners that break first.
pub(super) fn partners(plan: &PipelinePlan) -> Table {
    let columns = [
        Column::words("partner"),
        Column::words("class"),
        Column::number("deliveries"),
        Column::number("attempts"),
        Column::number("at once"),
        Column::number("at most"),
        Column::number("mean wait"),
        Column::number("breaks at"),
    ];
    let unit = rate_unit(plan);
    let mut table = Table::new("Partners that break first", &columns);
    for partner in &plan.partners_first_to_break {
        table.row([
            partner.name.clone(),
            partner.class.clone(),
            human::percent(partner.share),
            unit.show(partner.rate_per_s),
            human::count(partner.concurrency),
            partner.capacity_per_s.map_or_else(String::new, |rate| unit.show(rate)),
            partner.wait_mean_s.map_or_else(|| "without end".to_owned(), human::duration),
            partner.breaks_at_growth.map_or_else(|| "never".to_owned(), times),
        ]);
    }
    table
}

fn in_words(name: &str) -> String {
    name.replace('_', " ")
}

fn capitalised(words: &str) -> String {
    let mut letters = words.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

/// A need at one growth, marked where it is over its limit.
fn cell(need: &Need, index: usize, amounts: Shown<'_>) -> String {
    debug_assert_eq!(need.at.len(), GROWTH.len(), "a need is computed at every growth");
    let Some(at) = need.at.get(index) else { return String::new() };
    let shown = match (at.value, need.unit) {
        (Some(value), unit) => amounts.amount(value, unit),
        (None, Unit::Seconds) => "never".to_owned(),
        (None, _) => "out of range".to_owned(),
    };
    if at.holds { shown } else { format!("{shown} !") }
}

fn breaks_at(need: &Need) -> String {
    match (need.breaks_at_growth, need.limit) {
        (Some(growth), _) => times(growth),
        (None, Some(_)) => "holds".to_owned(),
        (None, None) => String::new(),
    }
}

fn times(growth: f64) -> String {
    if growth < 1.0 { "today".to_owned() } else { format!("{}x", human::significant(growth, 3)) }
}

/// In what amounts are shown: the plan's currency, and one unit for all rates.
#[derive(Clone, Copy)]
struct Shown<'a> {
    currency: &'a str,
    rates: RateUnit,
}

impl Shown<'_> {
    fn amount(self, value: f64, unit: Unit) -> String {
        match unit {
            Unit::Count => human::roughly(value),
            Unit::Bytes => human::bytes(value),
            Unit::Seconds => human::duration(value),
            Unit::PerSecond => self.rates.show(value),
            Unit::Fraction => human::percent(value),
            Unit::Erlangs => human::significant(value, 4),
            Unit::MoneyPerMonth => human::money(value, self.currency),
        }
    }
}
