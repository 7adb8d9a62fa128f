//! The formulas of the stages with today's numbers put in.

use super::rate_unit;
use crate::pipeline::{Pipeline, PipelinePlan, StageName};
use crate::report::Explanation;
use crate::units::human;

pub(super) fn steps(pipeline: &Pipeline, plan: &PipelinePlan) -> Vec<Explanation> {
    let today = |stage: StageName, need: &str| plan.stage(stage)?.need(need)?.today();
    let unit = rate_unit(plan);
    let peak = unit.show_to(plan.events_peak_rate_per_s, 6);
    let mut steps = vec![
        Explanation {
            quantity: "peak rate",
            formula: "\u{3bb} = events a day / 86,400 s \u{d7} peak factor".to_owned(),
            numbers: format!(
                "{} / 86,400 \u{d7} {} = {peak}",
                pipeline.events.per_day,
                human::significant(pipeline.events.peak_factor.get(), 6)
            ),
            source: "definition",
        },
        Explanation {
            quantity: "offered load",
            formula: "a = \u{3a3} \u{3bb}S(1 + retries) over the partner classes".to_owned(),
            numbers: format!(
                "{} deliveries at the peak: {} erlangs",
                unit.show_to(plan.deliveries_peak_rate_per_s, 6),
                human::significant(plan.offered_load_erlangs, 8)
            ),
            source: "J. D. C. Little, A proof for the queuing formula L = \u{3bb}W, Operations Research 9, 1961",
        },
    ];
    if let (Some(outbox), Some(rows)) = (&pipeline.outbox, today(StageName::Outbox, "rows_held")) {
        steps.push(Explanation {
            quantity: "rows held",
            formula: "\u{3bb} \u{d7} stall, in no day more than the day has".to_owned(),
            numbers: format!("{peak} \u{d7} {} = {} rows", outbox.stall, human::significant(rows.ceil(), 15)),
            source: "Little's law on the outbox",
        });
    }
    if let (Some(broker), Some(in_flight)) =
        (&pipeline.delivery.broker, today(StageName::Delivery, "in_flight_at_the_broker"))
    {
        steps.push(Explanation {
            quantity: "in flight at the broker",
            formula: "\u{3bb}((1 \u{2212} f)S + fV)".to_owned(),
            numbers: format!(
                "f = {}, V = {}: {} messages",
                broker.held_share,
                broker.visibility_timeout,
                human::significant(in_flight.ceil(), 15)
            ),
            source: "Little's law on the messages that a broker hides until they are acknowledged",
        });
    }
    if let Some(cost) = &plan.cost {
        steps.push(Explanation {
            quantity: "break-even rate",
            formula: "hourly cost / (3600 \u{d7} (price of a request + memory \u{d7} S \u{d7} price of a GB-second))".to_owned(),
            numbers: format!(
                "{} a million attempts by functions: {} for one container",
                human::money(cost.functions_per_million_attempts, &cost.currency),
                unit.show(cost.break_even_rate_of_one_container_per_s)
            ),
            source: "the price list",
        });
    }
    steps
}
