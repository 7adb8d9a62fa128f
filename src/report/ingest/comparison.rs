//! Before and after, side by side.

use crate::ingest::{Change, Comparison};
use crate::report::{Column, Section, Table};
use crate::units::human;

/// Groups that are shown.
const SHOWN: usize = 8;

/// The answer in a sentence.
pub(super) fn headline(comparison: &Comparison) -> String {
    let (before, after) = comparison.means_s();
    let change = after - before;
    let direction = if change < 0.0 { "shorter" } else { "longer" };
    let moved = if change == 0.0 {
        format!("as in {}", comparison.baseline)
    } else {
        let share = if before > 0.0 {
            format!(" ({})", human::percent(change.abs() / before))
        } else {
            String::new()
        };
        format!("{}{share} {direction} than in {}", human::duration(change.abs()), comparison.baseline)
    };
    let most = if comparison.moved_s == 0.0 {
        String::new()
    } else {
        format!("; most of it by {} ({})", comparison.moved_most, signed(comparison.moved_s))
    };
    let cost = comparison.workers.map_or_else(String::new, |workers| {
        let difference = workers.after.abs_diff(workers.before);
        let what = if workers.after >= workers.before { "costs" } else { "frees" };
        if difference == 0 {
            return format!("; that costs no worker at {}", human::rate(workers.rate_per_s));
        }
        format!(
            "; that {what} {} at {}",
            human::counted(difference, "worker"),
            human::rate(workers.rate_per_s)
        )
    });
    format!("Attempts last {} on average, {moved}{most}{cost}.", human::duration(after))
}

fn signed(seconds: f64) -> String {
    let sign = if seconds < 0.0 { "\u{2212}" } else { "+" };
    format!("{sign}{}", human::duration(seconds.abs()))
}

/// The tables.
pub(super) fn sections(comparison: &Comparison) -> Vec<Section> {
    let columns =
        [Column::words("figure"), Column::number("before"), Column::number("now"), Column::number("change")];
    let mut figures = Table::new(format!("Compared with {}", comparison.baseline), &columns);
    for figure in &comparison.figures {
        let (name, show): (&str, fn(f64) -> String) = match figure.name.strip_suffix("_s") {
            Some(name) => (name, human::duration),
            None => ("SCV", |value| human::significant(value, 3)),
        };
        let of = |value: Option<f64>| value.map_or_else(|| "-".to_owned(), show);
        figures.row([name.to_owned(), of(figure.before), of(figure.after), factor(figure)]);
    }
    if let Some(workers) = comparison.workers {
        figures.row([
            format!("smallest stable pool at {}", human::rate(workers.rate_per_s)),
            human::count(workers.before),
            human::count(workers.after),
            factor_of(workers.before as f64, workers.after as f64),
        ]);
    }
    let mut sections = vec![Section::Table(figures)];
    let parts = [
        ("What moved the mean, by group", "group", "mean before", "mean now", &comparison.groups),
        ("What moved the mean, by phase", "phase", "mean before", "mean now", &comparison.phases),
        ("What moved the mean, by length", "length before", "part before", "part now", &comparison.lengths),
    ];
    for (title, what, before, after, changes) in parts {
        if changes.is_empty() {
            continue;
        }
        let columns = [
            Column::words(what),
            Column::number(before),
            Column::number(after),
            Column::number("moved the mean by"),
        ];
        let title = if changes.len() > SHOWN {
            format!("{title} (the {SHOWN} that did most, of {})", changes.len())
        } else {
            title.to_owned()
        };
        let mut table = Table::new(title, &columns);
        for change in changes.iter().take(SHOWN) {
            let of = |value: Option<f64>| value.map_or_else(|| "-".to_owned(), human::duration);
            let moved = change.moved_mean_s.map_or_else(|| "-".to_owned(), signed);
            table.row([super::name(&change.name), of(change.before), of(change.after), moved]);
        }
        sections.push(Section::Table(table));
    }
    sections
}

fn factor(change: &Change) -> String {
    match (change.before, change.after) {
        (Some(before), Some(after)) => factor_of(before, after),
        _ => "-".to_owned(),
    }
}

fn factor_of(before: f64, after: f64) -> String {
    if before <= 0.0 {
        return "-".to_owned();
    }
    let change = after / before - 1.0;
    let sign = if change < 0.0 { "\u{2212}" } else { "+" };
    format!("{sign}{}", human::percent(change.abs()))
}
