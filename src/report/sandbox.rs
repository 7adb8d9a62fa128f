//! The report of `sandbox`.

use super::{Answer, Column, NotFinite, Report, Section, Table};
use crate::sandbox::EndpointCounts;
use crate::units::human;
use schemars::JsonSchema;
use serde::Serialize;

/// What the sandbox was given, as the envelope shows it.
#[derive(Clone, Debug, Serialize)]
pub struct Inputs {
    /// How many endpoints.
    pub endpoints: usize,
    /// Mean latency in seconds.
    pub latency_mean_s: f64,
    /// How many fault rules.
    pub faults: usize,
    /// Whether it spoke TLS.
    pub tls: bool,
    /// Seed of latencies and faults.
    pub seed: u64,
}

/// What the endpoints have seen.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Seen {
    /// Each endpoint, endpoint 1 first.
    pub endpoints: Vec<EndpointCounts>,
}

/// Builds the report of a sandbox that has ended.
///
/// # Errors
/// If a number is not finite, which would be a defect.
pub fn report(inputs: &Inputs, endpoints: Vec<EndpointCounts>) -> Result<Report, NotFinite> {
    let sum = |field: fn(&EndpointCounts) -> u64| endpoints.iter().map(field).sum::<u64>();
    let headline = format!(
        "{} on {}; {} taken.",
        human::counted(sum(|count| count.requests), "request"),
        human::counted(sum(|count| count.connections), "connection"),
        human::count(sum(|count| count.accepted)),
    );
    let seen = Seen { endpoints };
    let mut report = Report::new("sandbox", Answer::Yes, headline, inputs, &seen)?;
    report.sections.push(Section::Table(table(&seen.endpoints)));
    Ok(report)
}

fn table(endpoints: &[EndpointCounts]) -> Table {
    let columns = [
        Column::number("no."),
        Column::number("sockets"),
        Column::number("requests"),
        Column::number("most at once"),
        Column::number("taken"),
        Column::number("taken again"),
        Column::number("429"),
        Column::number("other status"),
        Column::number("reset, hung"),
        Column::number("mean latency"),
    ];
    let mut table = Table::new("Endpoints", &columns);
    for (index, count) in endpoints.iter().enumerate() {
        let mean = (count.accepted > 0).then(|| human::duration(count.latency_s / count.accepted as f64));
        table.row([
            (index + 1).to_string(),
            human::count(count.connections),
            human::count(count.requests),
            human::count(count.in_flight_max.into()),
            human::count(count.accepted),
            human::count(count.duplicates),
            human::count(count.too_many),
            human::count(count.other_statuses),
            human::count(count.resets + count.lost_responses + count.hangs),
            mean.unwrap_or_default(),
        ]);
    }
    table
}
