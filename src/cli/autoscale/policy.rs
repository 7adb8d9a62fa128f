//! The settings of a policy, as `decide` and `replay` take them.

use anyhow::{Result, bail};
use clap::ValueEnum;
use whsize::autoscale::{Bounds, Controller, Policy, PolicyName};
use whsize::units::{Count, Seconds, Share};

/// What a policy goes by.
#[derive(ValueEnum, Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Name {
    /// The controller of the sizing guides, its floor corrected
    Age,
    /// An HPA on the age alone
    HpaAge,
    /// An HPA on the age and on the load, the larger of both
    HpaAgeAndLoad,
    /// An HPA on the depth for each replica
    Depth,
    /// Backlog for each worker, as AWS describes it
    Backlog,
    /// An HPA on processor use
    Cpu,
}

impl Name {
    pub(super) fn domain(self) -> PolicyName {
        match self {
            Name::Age => PolicyName::Age,
            Name::HpaAge => PolicyName::HpaAge,
            Name::HpaAgeAndLoad => PolicyName::HpaAgeAndLoad,
            Name::Depth => PolicyName::Depth,
            Name::Backlog => PolicyName::Backlog,
            Name::Cpu => PolicyName::Cpu,
        }
    }
}

#[derive(clap::Args, Debug)]
#[command(next_help_heading = "Policy")]
pub(super) struct PolicyArgs {
    /// What the controller goes by
    #[arg(long, value_enum, default_value_t = Name::Age)]
    policy: Name,
    /// The age of the oldest message that it aims at
    #[arg(long, value_name = "D", default_value = "30s", value_parser = Seconds::parse_positive)]
    target_age: Seconds,
    /// The age below which it takes replicas away
    #[arg(long, value_name = "D", default_value = "10s")]
    scale_in_age: Seconds,
    /// The fewest replicas
    #[arg(long, value_name = "N", default_value = "3")]
    min: Count,
    /// The most replicas
    #[arg(long, value_name = "N", default_value = "60", value_parser = Count::parse_positive)]
    max: Count,
    /// The most replicas that are added at once
    #[arg(long, value_name = "N", default_value = "8", value_parser = Count::parse_positive)]
    step_up: Count,
    /// The most replicas that are taken away at once
    #[arg(long, value_name = "N", default_value = "1", value_parser = Count::parse_positive)]
    step_down: Count,
    /// Messages for each replica that --policy depth aims at
    #[arg(long, value_name = "N", default_value = "1000", value_parser = Count::parse_positive)]
    target_depth: Count,
    /// The wait that --policy backlog accepts
    #[arg(long, value_name = "D", default_value = "30s", value_parser = Seconds::parse_positive)]
    acceptable_latency: Seconds,
    /// Processor use that --policy cpu aims at
    #[arg(long, value_name = "P", default_value = "70%", value_parser = Share::parse_inside)]
    target_cpu: Share,
}

impl PolicyArgs {
    pub(super) fn policy(&self) -> Result<Policy> {
        if self.min > self.max {
            bail!("--min {} is above --max {}", self.min, self.max);
        }
        if self.scale_in_age > self.target_age {
            bail!(
                "--scale-in-age {} is above --target-age {}: it would grow and shrink at once",
                self.scale_in_age,
                self.target_age
            );
        }
        Ok(Policy {
            name: self.policy.domain(),
            controller: Controller {
                target_age: self.target_age.clone(),
                scale_in_age: self.scale_in_age.clone(),
                step_up: self.step_up.get(),
                step_down: self.step_down.get(),
                bounds: Bounds { minimum: self.min.get(), maximum: self.max.get() },
            },
            target_depth: self.target_depth.get(),
            acceptable_latency: self.acceptable_latency.clone(),
            target_cpu: self.target_cpu.get(),
        })
    }
}
