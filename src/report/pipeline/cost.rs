//! Functions or a pool: break-even, spiky or steady, and the prices with their sources.

use crate::pipeline::cost::{Choice, CostComparison};
use crate::report::{Column, Section, Table};
use crate::units::human::{self, RateUnit};

pub(super) fn sections(comparison: &CostComparison, unit: RateUnit) -> [Section; 3] {
    [facts(comparison, unit), Section::Table(peaks(comparison, unit)), prices(comparison)]
}

fn facts(comparison: &CostComparison, unit: RateUnit) -> Section {
    let fact = |name: &str, value: String| (name.to_owned(), value);
    let money = |amount: f64| human::money(amount, &comparison.currency);
    let containers = human::counted(comparison.containers as u64, "container");
    let mut rows = vec![
        fact(
            "cheaper",
            format!(
                "{}: a million attempts cost {} by functions, {} by {containers} for the peak",
                choice(comparison.cheaper),
                money(comparison.functions_per_million_attempts),
                money(comparison.containers_per_million_attempts),
            ),
        ),
        fact(
            "break-even",
            format!(
                "{} for one container, {} for those of the peak; the mean is {}",
                unit.show(comparison.break_even_rate_of_one_container_per_s),
                unit.show(comparison.break_even_rate_per_s),
                unit.show(comparison.mean_rate_per_s)
            ),
        ),
        fact(
            "utilisation",
            format!(
                "{} of the containers' places on average",
                human::percent(comparison.mean_utilisation_of_containers)
            ),
        ),
    ];
    if let Some(share) = comparison.share_of_time_below_break_even {
        let steady = format!(
            "the load is below the break-even of one container for {} of the time",
            human::percent(share)
        );
        rows.push(fact("as measured", steady));
    }
    rows.push(fact(
        "functions at once",
        format!(
            "{} at the peak; an account runs {} unless it asks for more",
            human::count(comparison.functions_at_the_peak),
            human::count(comparison.account_concurrency)
        ),
    ));
    if let Some(cold) = &comparison.cold_start {
        let basis = if cold.measured { "as measured" } else { "of steady Poisson traffic; bursts have more" };
        rows.push(fact(
            "cold starts",
            format!(
                "{} of the invocations ({basis}); p99 of an attempt {} instead of {}",
                human::percent(cold.share),
                human::duration(cold.p99_s),
                human::duration(cold.p99_warm_s)
            ),
        ));
    }
    Section::Facts { title: "Functions or a pool", rows }
}

fn choice(choice: Choice) -> &'static str {
    match choice {
        Choice::Functions => "functions",
        Choice::Containers => "containers",
    }
}

fn peaks(comparison: &CostComparison, unit: RateUnit) -> Table {
    let columns = [
        Column::number("peak over mean"),
        Column::number("containers"),
        Column::number("containers a month"),
        Column::number("functions a month"),
        Column::number("break-even"),
        Column::words("cheaper"),
    ];
    let title =
        format!("Spiky or steady: the same deliveries a day with another peak ({})", comparison.region);
    let mut table = Table::new(title, &columns);
    for row in &comparison.peaks {
        table.row([
            human::significant(row.peak_factor, 4),
            human::significant(row.containers, 15),
            human::money(row.containers_per_month, &comparison.currency),
            human::money(row.functions_per_month, &comparison.currency),
            unit.show(row.break_even_rate_per_s),
            choice(row.cheaper).to_owned(),
        ]);
    }
    table
}

fn prices(comparison: &CostComparison) -> Section {
    let rows = comparison.prices.iter().map(|price| {
        let of = if price.per == 1 { String::new() } else { format!(" for {}", human::count(price.per)) };
        let note = price.note.as_ref().map_or_else(String::new, |note| format!(" ({note})"));
        let amount = human::significant(price.amount, 6);
        (
            price.item.key().replace('_', " "),
            // The date first: it must not be broken over two lines.
            format!("{}: {} {amount}{of}{note}, {}", price.date, comparison.currency, price.source),
        )
    });
    Section::Facts {
        title: "Prices, with the date and the page where they can be checked",
        rows: rows.collect(),
    }
}
