//! The tables of `size`.

use super::losses;
use super::wait;
use crate::report::{Column, Table};
use crate::sizing::{PoolSize, Question, Rule, Schedule, Sizing};
use crate::units::human;

pub(super) fn comparison(steady: &PoolSize) -> Table {
    let mut columns = vec![
        Column::words("rule"),
        Column::number("workers"),
        Column::number("utilisation"),
        Column::number("arrivals that wait"),
        Column::number("mean wait"),
    ];
    losses::add_column(steady, &mut columns);
    let mut table = Table::new("What each rule gives for this traffic", &columns);
    for row in &steady.comparison {
        if matches!(row.rule, Rule::Answer | Rule::Given) {
            table.highlighted.push(table.rows.len());
        }
        let mut cells = vec![
            rule_name(row.rule).to_owned(),
            human::count(row.workers),
            human::percent(row.utilisation),
            row.wait_probability.map_or_else(|| "all".to_owned(), human::percent),
            wait(row.wait_mean_s),
        ];
        cells.extend(row.lost_share.map(human::percent));
        table.row(cells);
    }
    table
}

pub(super) fn rule_name(rule: Rule) -> &'static str {
    match rule {
        Rule::SmallestStable => "smallest stable",
        Rule::ErlangC => "Erlang C",
        Rule::Answer => "the answer",
        Rule::Given => "the given pool",
        Rule::SquareRootLean => "square root, \u{3b2}=1",
        Rule::SquareRoot => "square root, \u{3b2}=1.5",
        Rule::SquareRootGenerous => "square root, \u{3b2}=2",
        Rule::FixedUtilisation => "70% utilisation",
    }
}

pub(super) fn scenarios(question: &Question, sizing: &Sizing) -> Table {
    let given = question.workers.is_some();
    let mut columns = vec![
        Column::words("traffic"),
        Column::number("rate"),
        Column::number("service"),
        Column::number("erlangs"),
        Column::number("workers needed"),
        Column::number(if given { "mean wait with the given pool" } else { "mean wait" }),
    ];
    losses::add_column(&sizing.steady, &mut columns);
    let mut table = Table::new("Scenarios", &columns);
    let demand = &question.demand;
    let mut row = |name: &str, rate: f64, mean: f64, size: &PoolSize| {
        let mut cells = vec![
            name.to_owned(),
            human::rate(rate),
            human::duration(mean),
            human::significant(size.offered_load_erlangs, 6),
            human::count(size.required_workers),
            wait(size.state.wait_mean_s),
        ];
        cells.extend(size.state.lost_share().map(human::percent));
        table.row(cells);
    };
    row("steady", demand.rate.get(), demand.service.mean.get(), &sizing.steady);
    for scenario in &sizing.scenarios {
        row(&scenario.name, scenario.rate_per_s, scenario.mean_s, &scenario.size);
    }
    table
}

/// Intervals that a table shows; the JSON has them all.
const MOST_SHOWN: usize = 48;

pub(super) fn staffing(schedule: &Schedule) -> Table {
    let columns = [
        Column::number("from"),
        Column::number("highest rate"),
        Column::number("erlangs under way"),
        Column::number("workers"),
    ];
    let saved = 1.0 - schedule.worker_seconds / schedule.constant_worker_seconds;
    let hidden = schedule.intervals.len().saturating_sub(MOST_SHOWN);
    let rest = if hidden > 0 {
        format!("; {} more in the JSON", human::count(hidden as u64))
    } else {
        String::new()
    };
    let title = format!(
        "Workers for each {}: {} at the peak, {} fewer worker hours than that all the time{rest}",
        human::duration(schedule.interval_s),
        human::count(schedule.peak_workers),
        human::percent(saved)
    );
    let mut table = Table::new(title, &columns);
    for interval in schedule.intervals.iter().take(MOST_SHOWN) {
        if interval.workers == schedule.peak_workers && table.highlighted.is_empty() {
            table.highlighted.push(table.rows.len());
        }
        table.row([
            human::duration(interval.at_s),
            human::rate(interval.rate_per_s),
            human::significant(interval.offered_load_erlangs, 5),
            human::count(interval.workers),
        ]);
    }
    table
}

pub(super) fn sensitivity(question: &Question, steady: &PoolSize) -> Table {
    let mut columns = vec![
        Column::number("rate"),
        Column::number("rise"),
        Column::number("utilisation"),
        Column::number("mean wait"),
        Column::number("workers it would take"),
    ];
    losses::add_column(steady, &mut columns);
    let title =
        format!("If the rate rises and the pool stays at {}", human::counted(steady.workers, "worker"));
    let mut table = Table::new(title, &columns);
    let anything_does = steady.constraints.is_empty() && steady.state.lost_share().is_some();
    for row in &steady.sensitivity {
        let mut cells = vec![
            human::rate_to(question.demand.rate.get() * row.rate_factor, 5),
            format!("+{}", human::percent(row.rate_factor - 1.0)),
            human::percent(row.utilisation),
            wait(row.wait_mean_s),
            if anything_does { "any".to_owned() } else { human::count(row.workers) },
        ];
        cells.extend(row.lost_share.map(human::percent));
        table.row(cells);
    }
    table
}
