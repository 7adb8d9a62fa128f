//! One partner in trouble: everybody else's wait in three designs.

use crate::pipeline::{Design, IsolationPlan};
use crate::report::{Column, Section, Table};
use crate::units::human;

pub(super) fn sections(plan: &IsolationPlan) -> [Section; 2] {
    [facts(plan), Section::Table(table(plan))]
}

fn facts(plan: &IsolationPlan) -> Section {
    let fact = |name: &str, value: String| (name.to_owned(), value);
    let slow = plan.slow_mean_s.map(|mean| format!("{} an attempt", human::duration(mean)));
    let burst = plan.burst.map(|burst| format!("{} deliveries at once", human::count(burst)));
    let trouble: Vec<String> = slow.into_iter().chain(burst).collect();
    let length = human::duration(plan.length_s);
    Section::Facts {
        title: "One partner in trouble",
        rows: vec![
            fact(
                "partner",
                format!("{}, with {} of the deliveries", plan.partner, human::percent(plan.share)),
            ),
            fact("trouble", format!("{}, for {length} at the peak, simulated", trouble.join(" and "))),
        ],
    }
}

fn table(plan: &IsolationPlan) -> Table {
    let columns = [
        Column::words("design"),
        Column::number("workers"),
        Column::number("p99 in peace"),
        Column::number("p99 in trouble"),
        Column::number("the partner's p99"),
    ];
    let mut table = Table::new("What everyone else waits, and the partner itself", &columns);
    for outcome in &plan.designs {
        table.row([
            design(outcome.design).to_owned(),
            human::count(outcome.workers),
            human::duration(outcome.healthy_p99_s),
            human::duration(outcome.p99_s),
            human::duration(outcome.partner_p99_s),
        ]);
    }
    table
}

fn design(design: Design) -> &'static str {
    match design {
        Design::Pooled => "one pool for all",
        Design::PartnerApart => "as many, the partner apart",
        Design::QueuePerPartner => "a queue for every partner",
    }
}
