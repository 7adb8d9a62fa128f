//! The reports of `autoscale`.

mod figure;

pub use figure::figure;

use super::{Answer, Column, Explanation, NotFinite, Report, Section, Table};
use crate::autoscale::{AutoscaleNote, Decision, Observed, Outcome, Policy, PolicyOutcome, Replay, Rule};
use crate::notice::Note;
use crate::units::human;
use serde::Serialize;

/// Rows of the table of steps.
const ROWS: usize = 12;

/// What `decide` was given, as the envelope shows it.
#[derive(Serialize)]
struct DecideInputs {
    policy: &'static str,
    current: u64,
    tasks_per_replica: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    oldest_age_s: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    backlog: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    rate_per_s: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    service_mean_s: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cpu: Option<f64>,
    #[serde(flatten)]
    settings: Settings,
}

/// The settings of a policy.
#[derive(Serialize)]
struct Settings {
    target_age_s: f64,
    scale_in_age_s: f64,
    minimum: u64,
    maximum: u64,
    step_up: u64,
    step_down: u64,
}

impl Settings {
    fn of(policy: &Policy) -> Self {
        let controller = &policy.controller;
        Settings {
            target_age_s: controller.target_age.get(),
            scale_in_age_s: controller.scale_in_age.get(),
            minimum: controller.bounds.minimum,
            maximum: controller.bounds.maximum,
            step_up: controller.step_up,
            step_down: controller.step_down,
        }
    }
}

/// Builds the report of a decision.
///
/// # Errors
/// If a number is not finite, which would be a defect.
pub fn decision(policy: &Policy, observed: &Observed, decision: &Decision) -> Result<Report, NotFinite> {
    let answer = if decision.floor_within_maximum { Answer::Yes } else { Answer::No };
    let inputs = DecideInputs {
        policy: policy.name.as_str(),
        current: observed.current,
        tasks_per_replica: observed.tasks_per_replica,
        oldest_age_s: observed.oldest_age.as_ref().map(|age| age.get()),
        backlog: observed.backlog,
        rate_per_s: observed.rate.as_ref().map(|rate| rate.get()),
        service_mean_s: observed.mean.as_ref().map(|mean| mean.get()),
        cpu: observed.cpu,
        settings: Settings::of(policy),
    };
    let mut report =
        Report::new("autoscale-decide", answer, decision_in_words(policy, decision), &inputs, decision)?;
    report.sections.push(decision_facts(policy, decision));
    let notes = AutoscaleNote::of_decision(policy, observed, decision);
    report.notes = notes.iter().map(Note::from).collect();
    report.explanations = explanations(policy, observed, decision);
    Ok(report)
}

fn decision_in_words(policy: &Policy, decision: &Decision) -> String {
    let replicas = human::counted(decision.desired, "replica");
    let change = match decision.change {
        0 => "as now".to_owned(),
        change => {
            let sign = if change > 0 { "+" } else { "\u{2212}" };
            format!("{sign}{}", human::count(change.unsigned_abs()))
        }
    };
    if decision.floor_within_maximum {
        format!("{replicas} ({change}): {}.", decision.reason)
    } else {
        format!(
            "No: the load alone needs {}, and the maximum is {}; {replicas} ({change}).",
            human::counted(decision.floor, "replica"),
            human::count(policy.controller.bounds.maximum)
        )
    }
}

fn decision_facts(policy: &Policy, decision: &Decision) -> Section {
    let bounds = policy.controller.bounds;
    let set_by = match decision.rule {
        Rule::ScaleOut => "the metric, above its target",
        Rule::ScaleIn => "the metric, below its lower threshold",
        Rule::Hold => "nothing: it holds",
        Rule::Floor => "the load",
        Rule::Minimum => "the minimum",
        Rule::Maximum => "the maximum",
    };
    let fact = |name: &str, value: String| (name.to_owned(), value);
    Section::Facts {
        title: "Decision",
        rows: vec![
            fact("policy", policy.name.as_str().to_owned()),
            fact("the metric proposes", human::counted(decision.proposal, "replica")),
            fact("floor", human::counted(decision.floor, "replica")),
            fact("bounds", format!("{} to {}", human::count(bounds.minimum), human::count(bounds.maximum))),
            fact("set by", set_by.to_owned()),
        ],
    }
}

fn explanations(policy: &Policy, observed: &Observed, decision: &Decision) -> Vec<Explanation> {
    let mut steps = Vec::new();
    if let (Some(rate), Some(mean)) = (&observed.rate, &observed.mean) {
        steps.push(Explanation {
            quantity: "floor",
            formula: "max(minimum, \u{2308}\u{3bb}S / tasks\u{2309})".to_owned(),
            numbers: format!(
                "max({}, \u{2308}{} \u{d7} {} s / {}\u{2309}) = {}",
                policy.controller.bounds.minimum,
                human::rate_to(rate.get(), 8),
                human::significant(mean.get(), 8),
                observed.tasks_per_replica,
                decision.floor
            ),
            source: "J. D. C. Little 1961; the published guides truncate \u{3bb}S before the division",
        });
    }
    if let Some(age) =
        observed.oldest_age.as_ref().filter(|_| policy.name == crate::autoscale::PolicyName::Age)
    {
        steps.push(Explanation {
            quantity: "proposal",
            formula:
                "min(current + step, \u{230a}current \u{d7} min(age/target, 2)\u{230b} + 1) above the target"
                    .to_owned(),
            numbers: format!(
                "current {}, step {}, age {} s, target {} s: {}",
                observed.current,
                policy.controller.step_up,
                human::significant(age.get(), 6),
                human::significant(policy.controller.target_age.get(), 6),
                decision.proposal
            ),
            source: "the published sizing guides",
        });
    }
    steps
}

/// What `replay` was given, as the envelope shows it.
#[derive(Serialize)]
struct ReplayInputs {
    policy: &'static str,
    trace_rows: usize,
    trace_s: f64,
    service_mean_s: f64,
    tasks_per_replica: u64,
    interval_s: f64,
    start_delay_s: f64,
    lease_s: f64,
    objective_s: f64,
    cpu_per_attempt_s: f64,
    vcpu_per_replica: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    downstream_limit_per_s: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    refusal_cost: Option<f64>,
    #[serde(flatten)]
    settings: Settings,
}

/// Builds the report of a replay.
///
/// # Errors
/// If a number is not finite, which would be a defect.
pub fn replay(replay: &Replay, outcome: &Outcome) -> Result<Report, NotFinite> {
    let shown = &outcome.shown;
    let answer = if shown.objective_missed_s > 0.0 { Answer::No } else { Answer::Yes };
    let inputs = ReplayInputs {
        policy: replay.policy.name.as_str(),
        trace_rows: replay.trace.rows().len(),
        trace_s: replay.trace.seconds() as f64,
        service_mean_s: replay.mean.get(),
        tasks_per_replica: replay.tasks_per_replica,
        interval_s: replay.interval_s as f64,
        start_delay_s: replay.start_delay_s as f64,
        lease_s: replay.lease_s as f64,
        objective_s: replay.objective.get(),
        cpu_per_attempt_s: replay.cpu_per_attempt.get(),
        vcpu_per_replica: replay.vcpu_per_replica,
        downstream_limit_per_s: replay.downstream.as_ref().map(|downstream| downstream.limit.get()),
        refusal_cost: replay.downstream.as_ref().map(|downstream| downstream.refusal_cost),
        settings: Settings::of(&replay.policy),
    };
    let mut report =
        Report::new("autoscale-replay", answer, replay_in_words(replay, shown), &inputs, outcome)?;
    if !outcome.comparison.is_empty() {
        report.sections.push(Section::Table(comparison(outcome)));
    }
    report.sections.push(Section::Table(steps(outcome)));
    let notes = AutoscaleNote::of_replay(replay, outcome);
    report.notes = notes.iter().map(Note::from).collect();
    report.notes.sort_by_key(|note| std::cmp::Reverse(note.severity));
    Ok(report)
}

fn replay_in_words(replay: &Replay, shown: &PolicyOutcome) -> String {
    let fleet = format!(
        "at most {}, {} replica-hours",
        human::counted(shown.replicas_max, "replica"),
        human::significant(shown.replica_seconds / 3600.0, 4)
    );
    let age = human::duration(shown.oldest_age_max_s);
    if shown.objective_missed_s > 0.0 {
        format!(
            "No: the oldest message reaches {age}, and is older than {} for {} ({fleet}).",
            replay.objective,
            human::duration(shown.objective_missed_s)
        )
    } else {
        format!("Yes: no message gets older than {age} ({fleet}).")
    }
}

fn comparison(outcome: &Outcome) -> Table {
    let columns = [
        Column::words("policy"),
        Column::number("oldest message"),
        Column::number("too old for"),
        Column::number("most waiting"),
        Column::number("most replicas"),
        Column::number("replica-hours"),
    ];
    let mut table = Table::new("What each policy makes of it", &columns);
    table.highlighted.push(0);
    for shown in std::iter::once(&outcome.shown).chain(&outcome.comparison) {
        table.row([
            shown.policy.as_str().to_owned(),
            human::duration(shown.oldest_age_max_s),
            human::duration(shown.objective_missed_s),
            human::significant(shown.backlog_max.round(), 6),
            human::count(shown.replicas_max),
            human::significant(shown.replica_seconds / 3600.0, 4),
        ]);
    }
    table
}

/// A few of the steps, evenly spread.
fn steps(outcome: &Outcome) -> Table {
    let columns = [
        Column::number("after"),
        Column::number("rate"),
        Column::number("served"),
        Column::number("waiting"),
        Column::number("oldest"),
        Column::number("replicas"),
        Column::number("started"),
    ];
    let mut table = Table::new(format!("Steps of {}", outcome.shown.policy.as_str()), &columns);
    let last = outcome.steps.len().saturating_sub(1);
    let mut shown: Vec<usize> = (0..ROWS).map(|row| row * last / (ROWS - 1)).collect();
    shown.dedup();
    for step in shown.into_iter().filter_map(|index| outcome.steps.get(index)) {
        table.row([
            human::duration(step.at_s),
            human::rate(step.rate_per_s),
            human::rate(step.served_per_s),
            human::significant(step.backlog.round(), 6),
            human::duration(step.oldest_age_s),
            human::count(step.replicas),
            human::count(step.ready_replicas),
        ]);
    }
    table
}
