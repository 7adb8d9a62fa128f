//! The policies: by age, by age through an HPA, by depth, by backlog for each worker, by processor.

use super::controller::{Bounds, Controller};
use super::decision::{Decision, Observed, Proposal, Rule};
use crate::units::{Exact, Seconds, human};
use schemars::JsonSchema;
use serde::Serialize;

/// A metric within this share of its target changes nothing (the HPA's `tolerance`, by default a tenth).
const HPA_TOLERANCE: f64 = 0.1;

/// What floats lose in a ratio: 33/30 is a hair more than 1.1, and ten times that is no reason for a twelfth replica.
const ROUNDING: f64 = 1e-9;

/// What a policy goes by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum PolicyName {
    /// The controller of the guides, with its floor corrected.
    Age,
    /// An HPA on the age alone.
    HpaAge,
    /// An HPA on the age and on the load: the larger of both.
    HpaAgeAndLoad,
    /// An HPA on the depth for each replica, as KEDA's queue triggers do it.
    Depth,
    /// Backlog for each worker, as AWS describes it.
    Backlog,
    /// An HPA on processor use.
    Cpu,
}

impl PolicyName {
    /// Every policy.
    pub const ALL: [PolicyName; 6] = [
        PolicyName::Age,
        PolicyName::HpaAge,
        PolicyName::HpaAgeAndLoad,
        PolicyName::Depth,
        PolicyName::Backlog,
        PolicyName::Cpu,
    ];

    /// Its name on the command line and in JSON.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            PolicyName::Age => "age",
            PolicyName::HpaAge => "hpa-age",
            PolicyName::HpaAgeAndLoad => "hpa-age-and-load",
            PolicyName::Depth => "depth",
            PolicyName::Backlog => "backlog",
            PolicyName::Cpu => "cpu",
        }
    }

    /// Whether an HPA carries it out, with its sync period, its stabilisation and its rates of change.
    #[must_use]
    pub fn is_hpa(self) -> bool {
        !matches!(self, PolicyName::Age | PolicyName::Backlog)
    }
}

/// A policy with its settings.
#[derive(Clone, Debug, PartialEq)]
pub struct Policy {
    /// What it goes by.
    pub name: PolicyName,
    /// The age that it aims at, how far it moves at once, and its bounds.
    pub controller: Controller,
    /// Messages for each replica that a policy by depth aims at.
    pub target_depth: u64,
    /// The wait that a policy by backlog accepts.
    pub acceptable_latency: Seconds,
    /// The share of its processors that a policy by processor use aims at.
    pub target_cpu: f64,
}

/// A number that a policy needs was not given.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the policy {policy} goes by the {what}; give {flag}")]
pub struct MissingMetric {
    /// The policy.
    pub policy: &'static str,
    /// What it goes by.
    pub what: &'static str,
    /// How it is given.
    pub flag: &'static str,
}

impl Policy {
    fn bounds(&self) -> Bounds {
        self.controller.bounds
    }

    /// What this policy decides.
    ///
    /// # Errors
    /// If a metric that it goes by is not known.
    pub fn decide(&self, observed: &Observed) -> Result<Decision, MissingMetric> {
        let missing = |what, flag| MissingMetric { policy: self.name.as_str(), what, flag };
        let age = || {
            observed.oldest_age.as_ref().ok_or_else(|| missing("age of the oldest message", "--oldest-age"))
        };
        let backlog = || observed.backlog.ok_or_else(|| missing("messages that wait", "--backlog"));
        let load = || observed.floor().ok_or_else(|| missing("traffic", "--rate and --mean"));
        let mean = || observed.mean.as_ref().ok_or_else(|| missing("service time", "--mean"));
        let (proposal, floor) = match self.name {
            PolicyName::Age => (self.controller.propose(observed, age()?), Some(load()?)),
            PolicyName::HpaAge => (self.hpa_age(observed, age()?), None),
            PolicyName::HpaAgeAndLoad => (self.hpa_age(observed, age()?), Some(load()?)),
            PolicyName::Depth => (self.by_depth(observed, backlog()?), None),
            PolicyName::Backlog => return Ok(self.by_backlog(observed, backlog()?, mean()?)),
            PolicyName::Cpu => {
                let cpu = observed.cpu.ok_or_else(|| missing("processor use", "--cpu"))?;
                (self.by_cpu(observed, cpu), None)
            }
        };
        Ok(proposal.within(observed, self.bounds().minimum, floor, self.bounds().maximum))
    }

    /// ⌈replicas × metric / target⌉, unless the metric is within the tolerance of its target.
    fn hpa(observed: &Observed, ratio: f64, words: String) -> Proposal {
        if (ratio - 1.0).abs() <= HPA_TOLERANCE + ROUNDING {
            return Proposal { replicas: observed.current, rule: Rule::Hold, words };
        }
        let replicas = (observed.current as f64 * ratio * (1.0 - ROUNDING)).ceil() as u64;
        let rule = match replicas.cmp(&observed.current) {
            std::cmp::Ordering::Greater => Rule::ScaleOut,
            std::cmp::Ordering::Less => Rule::ScaleIn,
            std::cmp::Ordering::Equal => Rule::Hold,
        };
        Proposal { replicas, rule, words }
    }

    fn hpa_age(&self, observed: &Observed, age: &Seconds) -> Proposal {
        let target = &self.controller.target_age;
        let words = format!("the oldest message is {age} old, for a target of {target}");
        Self::hpa(observed, age.get() / target.get(), words)
    }

    fn by_depth(&self, observed: &Observed, backlog: u64) -> Proposal {
        let target = self.target_depth.max(1);
        let words =
            format!("{} wait, for a target of {} a replica", human::count(backlog), human::count(target));
        let each = backlog as f64 / observed.current.max(1) as f64;
        Self::hpa(
            &Observed { current: observed.current.max(1), ..observed.clone() },
            each / target as f64,
            words,
        )
    }

    fn by_cpu(&self, observed: &Observed, cpu: f64) -> Proposal {
        let words = format!(
            "processors are {} busy, for a target of {}",
            human::percent(cpu),
            human::percent(self.target_cpu)
        );
        Self::hpa(observed, cpu / self.target_cpu, words)
    }

    /// Backlog for each task: acceptable is the acceptable latency over the service time (Amazon EC2 Auto Scaling
    /// User Guide, scaling based on Amazon SQS).
    fn by_backlog(&self, observed: &Observed, backlog: u64, mean: &Seconds) -> Decision {
        let tasks = Exact::whole(observed.tasks_per_replica.max(1).into());
        let acceptable = self.acceptable_latency.exact().over(mean.exact()).unwrap_or_else(Exact::zero);
        let each_replica = &acceptable * &tasks;
        let replicas = Exact::whole(backlog.into()).over(&each_replica).and_then(|count| count.ceil());
        let replicas = replicas.unwrap_or(u64::MAX);
        let rule = match replicas.cmp(&observed.current) {
            std::cmp::Ordering::Greater => Rule::ScaleOut,
            std::cmp::Ordering::Less => Rule::ScaleIn,
            std::cmp::Ordering::Equal => Rule::Hold,
        };
        let now = observed.current.max(1) as f64 * observed.tasks_per_replica.max(1) as f64;
        let backlog_per_task = backlog as f64 / now;
        let words = format!(
            "{} wait for each task, and {} are acceptable ({} at {mean} each)",
            human::significant(backlog_per_task, 4),
            human::significant(acceptable.to_f64(), 4),
            self.acceptable_latency
        );
        let bounds = self.bounds();
        let decision =
            Proposal { replicas, rule, words }.within(observed, bounds.minimum, None, bounds.maximum);
        Decision {
            acceptable_backlog_per_task: Some(acceptable.to_f64()),
            backlog_per_task: Some(backlog_per_task),
            ..decision
        }
    }
}
