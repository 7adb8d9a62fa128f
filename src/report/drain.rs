//! The report of `drain`.

use super::{Answer, Column, Explanation, NotFinite, Report, Section, Table};
use crate::drain::{Answered, Bottleneck, Consumers, DrainPlan, NetRateBasis, Question, movement};
use crate::units::human::{self, RateUnit};
use serde::Serialize;

/// What `drain` was given, as the envelope shows it.
#[derive(Serialize)]
struct Inputs {
    backlog: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    rate_per_s: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    workers: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    service_mean_s: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    service_scv: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    served_rate_per_s: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    within_s: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    oldest_age_s: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    acceptable_latency_s: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    downstream_limit_per_s: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    earlier: Option<EarlierInput>,
    #[serde(skip_serializing_if = "Option::is_none")]
    failure_share: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_attempts: Option<u32>,
}

#[derive(Serialize)]
struct EarlierInput {
    backlog: u64,
    ago_s: f64,
}

/// Builds the report of a drain plan.
///
/// # Errors
/// If a number is not finite, which would be a defect.
pub fn report(question: &Question, answered: &Answered) -> Result<Report, NotFinite> {
    let plan = &answered.plan;
    let answer = if plan.holds() { Answer::Yes } else { Answer::No };
    let unit = rate_unit(plan);
    let mut report = Report::new("drain", answer, headline(question, plan, unit), &inputs(question), plan)?;
    report.sections.push(rates(question, plan, unit));
    report.sections.push(Section::Table(timeline(plan)));
    if plan.pools.len() > 1 {
        report.sections.push(Section::Table(pools(plan, unit)));
    }
    report.notes = answered.notes.iter().map(|note| note.note(unit)).collect();
    report.explanations = explanations(question, plan, unit);
    Ok(report)
}

/// The unit of every rate of the report.
fn rate_unit(plan: &DrainPlan) -> RateUnit {
    let rates = [plan.arrival_rate_per_s, plan.served_rate_per_s, Some(plan.net_rate_per_s)];
    RateUnit::of(rates.into_iter().flatten())
}

fn inputs(question: &Question) -> Inputs {
    let (workers, service, served_rate_per_s) = match &question.consumers {
        Some(Consumers::Pool { workers, service }) => (*workers, Some(service), None),
        Some(Consumers::Rate(rate)) => (None, None, Some(rate.get())),
        None => (None, None, None),
    };
    let seconds = |time: &crate::units::Seconds| time.get();
    Inputs {
        backlog: question.backlog,
        rate_per_s: question.rate.as_ref().map(|rate| rate.get()),
        workers,
        service_mean_s: service.map(|service| service.mean.get()),
        service_scv: service.map(|service| service.scv),
        served_rate_per_s,
        within_s: question.deadline.as_ref().map(seconds),
        oldest_age_s: question.oldest_age.as_ref().map(seconds),
        acceptable_latency_s: question.acceptable_latency.as_ref().map(seconds),
        downstream_limit_per_s: question.downstream_limit.as_ref().map(|limit| limit.get()),
        earlier: question
            .earlier
            .as_ref()
            .map(|earlier| EarlierInput { backlog: earlier.backlog, ago_s: earlier.ago.get() }),
        failure_share: question.retries.as_ref().map(|retries| retries.failure_share.get()),
        max_attempts: question.retries.as_ref().map(|retries| retries.max_attempts),
    }
}

fn messages(backlog: u64) -> String {
    human::counted(backlog, "message")
}

fn headline(question: &Question, plan: &DrainPlan, unit: RateUnit) -> String {
    let backlog = messages(question.backlog);
    let flow = flow_in_words(plan, unit);
    let Some(drain_s) = plan.drain_s else {
        return format!("Never: the backlog of {backlog} {} ({flow}).", movement(plan.net_rate_per_s, unit));
    };
    if question.backlog == 0 {
        return format!("There is no backlog, and none builds up ({flow}).");
    }
    let verb = if question.backlog == 1 { "is" } else { "are" };
    let gone = format!("{backlog} {verb} gone in {} ({flow})", human::duration(drain_s));
    let found = |workers: u64| format!("{} will do: {gone}", human::counted(workers, "worker"));
    let was_found = matches!(question.consumers, Some(Consumers::Pool { workers: None, .. }));
    if plan.holds() {
        return match plan.workers {
            Some(workers) if was_found => found(workers) + ".",
            _ if question.deadline.is_some() || question.acceptable_latency.is_some() => {
                format!("Yes: {gone}.")
            }
            _ => gone + ".",
        };
    }
    let asked = [
        question
            .deadline
            .as_ref()
            .filter(|_| plan.meets_deadline == Some(false))
            .map(|deadline| format!("{deadline} was asked for{}", takes(plan.workers_for_deadline))),
        question.acceptable_latency.as_ref().filter(|_| plan.meets_acceptable_latency == Some(false)).map(
            |latency| {
                format!("a wait of {latency} is acceptable{}", takes(plan.workers_for_acceptable_latency))
            },
        ),
    ];
    let asked: Vec<String> = asked.into_iter().flatten().collect();
    format!("No: {gone}; {}.", asked.join("; "))
}

fn takes(workers: Option<u64>) -> String {
    workers.map_or_else(String::new, |workers| format!(", which takes {}", human::counted(workers, "worker")))
}

fn flow_in_words(plan: &DrainPlan, unit: RateUnit) -> String {
    match (plan.served_rate_per_s, plan.arrival_rate_per_s) {
        (Some(served), Some(rate)) => {
            format!("{} out, {} in", unit.show(served), unit.show(rate))
        }
        _ => "by two readings of its depth".to_owned(),
    }
}

fn rates(question: &Question, plan: &DrainPlan, unit: RateUnit) -> Section {
    let mut rows: Vec<(String, String)> = Vec::new();
    let mut fact = |name: &str, value: Option<String>| {
        rows.extend(value.map(|value| (name.to_owned(), value)));
    };
    fact(
        "messages in",
        plan.arrival_rate_per_s.map(|rate| format!("{}{}", unit.show(rate), arrivals_by(question, rate))),
    );
    fact(
        "messages out",
        plan.served_rate_per_s.map(|served| format!("{}{}", unit.show(served), set_by(plan))),
    );
    let basis = match plan.net_rate_basis {
        NetRateBasis::Measured => "measured",
        NetRateBasis::Assumed => "by these rates",
    };
    fact("backlog", Some(format!("{}, {basis}", movement(plan.net_rate_per_s, unit))));
    fact("attempts a message", plan.attempts_per_message.map(|attempts| human::significant(attempts, 4)));
    fact("gone in", plan.drain_s.map(|drain_s| format!("{}{}", human::duration(drain_s), interval(plan))));
    fact(
        "longest wait",
        plan.oldest_age_at_end_s.map(|age| format!("{}, if served in order", human::duration(age))),
    );
    fact(
        "backlog a worker",
        plan.backlog_per_worker.map(|each| {
            let acceptable = plan
                .acceptable_backlog_per_worker
                .map(|most| format!("; {} is acceptable", human::significant(most, 4)));
            format!("{}{}", human::quantity(each, "message"), acceptable.unwrap_or_default())
        }),
    );
    let pool = |workers: u64| human::counted(workers, "worker");
    fact("falls at all with", plan.workers_to_drain.map(pool));
    if let Some(deadline) = &question.deadline {
        fact(
            &format!("gone in {deadline} with"),
            match (plan.workers_for_deadline, plan.served_rate_for_deadline_per_s) {
                (Some(workers), _) => Some(pool(workers)),
                (None, Some(rate)) if plan.bottleneck == Some(Bottleneck::DownstreamLimit) => {
                    Some(format!("no number of workers: {} must leave", unit.show(rate)))
                }
                (None, rate) => rate.map(|rate| format!("{} out", unit.show(rate))),
            },
        );
    }
    if let Some(latency) = &question.acceptable_latency {
        fact(&format!("wait of {latency} with"), plan.workers_for_acceptable_latency.map(pool));
    }
    Section::Facts { title: "Flow", rows }
}

/// Says so where the rate was worked out from the readings and not given.
fn arrivals_by(question: &Question, rate_per_s: f64) -> &'static str {
    let given = question.rate.as_ref().is_some_and(|rate| rate.get() == rate_per_s);
    if given { "" } else { ", worked out from the readings" }
}

fn set_by(plan: &DrainPlan) -> String {
    match (plan.bottleneck, plan.workers) {
        (Some(Bottleneck::Workers), Some(workers)) => {
            format!(", bottleneck: {}", human::counted(workers, "worker"))
        }
        (Some(Bottleneck::DownstreamLimit), _) => ", bottleneck: the receiving side's limit".to_owned(),
        _ => String::new(),
    }
}

fn interval(plan: &DrainPlan) -> String {
    match (plan.drain_interval_s, plan.drain_interval_confidence) {
        (Some([low, high]), Some(confidence)) if high > low => format!(
            " ({} to {} with {} confidence)",
            human::duration(low),
            human::duration(high),
            human::percent(confidence)
        ),
        _ => String::new(),
    }
}

fn timeline(plan: &DrainPlan) -> Table {
    let columns = [Column::number("from now"), Column::number("backlog")];
    let mut table = Table::new("Backlog", &columns);
    for point in &plan.timeline {
        let backlog = if point.backlog < 1e15 {
            human::count(point.backlog.round() as u64)
        } else {
            human::significant(point.backlog, 6)
        };
        table.row([human::duration(point.at_s), backlog]);
    }
    table
}

fn pools(plan: &DrainPlan, unit: RateUnit) -> Table {
    let columns = [Column::number("workers"), Column::number("messages out"), Column::number("gone in")];
    let mut table = Table::new("Other numbers of workers", &columns);
    for option in &plan.pools {
        if plan.workers == Some(option.workers) {
            table.highlighted.push(table.rows.len());
        }
        table.row([
            human::count(option.workers),
            unit.show(option.served_rate_per_s),
            option.drain_s.map_or_else(|| "never".to_owned(), human::duration),
        ]);
    }
    table
}

fn explanations(question: &Question, plan: &DrainPlan, unit: RateUnit) -> Vec<Explanation> {
    let mut steps = Vec::new();
    let backlog = human::count(question.backlog);
    if let (Some(served), Some(rate)) = (plan.served_rate_per_s, plan.arrival_rate_per_s) {
        steps.push(Explanation {
            quantity: "net rate",
            formula: "\u{3bc} \u{2212} \u{3bb}, \u{3bc} = N/S for each attempt that a message takes"
                .to_owned(),
            numbers: format!(
                "{} \u{2212} {} = {}",
                unit.show_to(served, 8),
                unit.show_to(rate, 8),
                unit.show_to(plan.net_rate_per_s, 8)
            ),
            source: "balance of what comes in and what goes out",
        });
    }
    if let Some(drain_s) = plan.drain_s {
        steps.push(Explanation {
            quantity: "drain time",
            formula: "q / (\u{3bc} \u{2212} \u{3bb})".to_owned(),
            numbers: format!(
                "{backlog} / {} = {} s",
                unit.show_to(plan.net_rate_per_s, 8),
                human::significant(drain_s, 8)
            ),
            source: "fluid limit; G. F. Newell, Applications of Queueing Theory, 1982, ch. 2",
        });
    }
    if let (Some([low, high]), Some(_)) = (plan.drain_interval_s, plan.drain_interval_confidence) {
        steps.push(Explanation {
            quantity: "interval of the drain time",
            formula: "variance = q(\u{3bb} + c\u{b2}\u{3bc})/(\u{3bc} \u{2212} \u{3bb})\u{b3}, normal; \
                      c\u{b2} is that of all a message's attempts together"
                .to_owned(),
            numbers: format!("{} s to {} s", human::significant(low, 8), human::significant(high, 8)),
            source: "first passage of a random walk; D. R. Cox, H. D. Miller, The Theory of Stochastic Processes, 1965",
        });
    }
    if let (Some(rate), Some(deadline)) = (plan.served_rate_for_deadline_per_s, &question.deadline) {
        steps.push(Explanation {
            quantity: "workers for the deadline",
            formula: "smallest N with N/S \u{2265} \u{3bb} + q/T".to_owned(),
            numbers: format!(
                "q/T = {backlog} / {} s; {} must leave{}",
                human::significant(deadline.get(), 8),
                unit.show_to(rate, 8),
                plan.workers_for_deadline.map_or_else(String::new, |workers| format!(": N = {workers}"))
            ),
            source: "the drain time solved for N, on exact decimals",
        });
    }
    steps
}
