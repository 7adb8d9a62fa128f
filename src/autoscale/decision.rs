//! What is observed, and what is decided.

use crate::units::{ArrivalRate, Exact, Seconds, human};
use schemars::JsonSchema;
use serde::Serialize;

/// What a controller sees. What is not known is left out; each policy needs some of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Observed {
    /// Replicas that were asked for last.
    pub current: u64,
    /// Tasks in each replica, that is, attempts that it runs at once.
    pub tasks_per_replica: u64,
    /// Age of the oldest message.
    pub oldest_age: Option<Seconds>,
    /// Messages that wait.
    pub backlog: Option<u64>,
    /// Attempts a second that arrive.
    pub rate: Option<ArrivalRate>,
    /// Mean service time.
    pub mean: Option<Seconds>,
    /// Share of its processors that a replica uses.
    pub cpu: Option<f64>,
}

impl Observed {
    /// ⌈λS / tasks⌉: the replicas whose tasks the traffic keeps busy, on exact decimals. `None` where either is not
    /// known.
    #[must_use]
    pub fn floor(&self) -> Option<u64> {
        self.load()?.over(&Exact::whole(self.tasks_per_replica.into()))?.ceil()
    }

    /// The floor as the guides publish it, ⌈⌊λS⌋ / tasks⌉: the load is truncated first, and a whole replica can be
    /// missing.
    #[must_use]
    pub fn floor_as_published(&self) -> Option<u64> {
        Some(self.load()?.floor()?.div_ceil(self.tasks_per_replica.max(1)))
    }

    fn load(&self) -> Option<Exact> {
        Some(self.rate.as_ref()?.offered_load(self.mean.as_ref()?))
    }
}

/// What set the number of replicas.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Rule {
    /// The metric is above its target.
    ScaleOut,
    /// The metric is far enough below its target.
    ScaleIn,
    /// The metric is near its target, or between the two thresholds.
    Hold,
    /// The load itself needs this many.
    Floor,
    /// The fewest that are allowed.
    Minimum,
    /// The most that are allowed.
    Maximum,
}

/// A decision of a controller.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Decision {
    /// Replicas to run.
    pub desired: u64,
    /// Replicas below which it never goes: the larger of the minimum and ⌈λS / tasks⌉.
    pub floor: u64,
    /// The same with the floor that the guides publish, which truncates λS; absent where the traffic is not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub floor_as_published: Option<u64>,
    /// Replicas now.
    pub current: u64,
    /// Replicas more or fewer.
    pub change: i64,
    /// What the metric alone proposes, before floor and maximum.
    pub proposal: u64,
    /// What set the number.
    pub rule: Rule,
    /// Why, in words, with the numbers.
    pub reason: String,
    /// Whether the floor is within the maximum. Where it is not, the maximum is too low for the traffic.
    pub floor_within_maximum: bool,
    /// Messages for each task that are acceptable; with a policy by backlog.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub acceptable_backlog_per_task: Option<f64>,
    /// Messages for each task now; with a policy by backlog.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub backlog_per_task: Option<f64>,
}

/// A proposal of a metric, with its reason in words.
#[derive(Clone, Debug)]
pub(super) struct Proposal {
    pub(super) replicas: u64,
    pub(super) rule: Rule,
    pub(super) words: String,
}

impl Proposal {
    /// Raised to the floor, then bounded by the maximum.
    pub(super) fn within(
        self,
        observed: &Observed,
        minimum: u64,
        load_floor: Option<u64>,
        maximum: u64,
    ) -> Decision {
        let floor = load_floor.unwrap_or(0).max(minimum);
        let mut decision = Decision {
            desired: self.replicas,
            floor,
            floor_as_published: observed.floor_as_published().map(|published| published.max(minimum)),
            current: observed.current,
            change: 0,
            proposal: self.replicas,
            rule: self.rule,
            reason: self.words,
            floor_within_maximum: floor <= maximum,
            acceptable_backlog_per_task: None,
            backlog_per_task: None,
        };
        if decision.desired < floor {
            let (rule, because) = if floor > minimum {
                (Rule::Floor, format!("the load alone needs {}", human::counted(floor, "replica")))
            } else {
                (Rule::Minimum, format!("{} are the minimum", human::counted(minimum, "replica")))
            };
            (decision.desired, decision.rule) = (floor, rule);
            decision.reason = format!("{}; {because}", decision.reason);
        }
        if decision.desired > maximum {
            (decision.desired, decision.rule) = (maximum, Rule::Maximum);
            decision.reason =
                format!("{}; {} are the maximum", decision.reason, human::counted(maximum, "replica"));
        }
        decision.change = decision.desired as i64 - observed.current as i64;
        decision
    }
}
