//! The controller of the sizing guides: proportional to the age of the oldest message, damped, clamped, with
//! hysteresis, and with its floor corrected.

use super::decision::{Observed, Proposal, Rule};
use crate::units::{Exact, Seconds};

/// The fewest and the most replicas.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    /// The fewest.
    pub minimum: u64,
    /// The most.
    pub maximum: u64,
}

impl Default for Bounds {
    fn default() -> Self {
        Bounds { minimum: 3, maximum: 60 }
    }
}

/// The controller's settings.
#[derive(Clone, Debug, PartialEq)]
pub struct Controller {
    /// The age of the oldest message that it aims at.
    pub target_age: Seconds,
    /// The age below which it takes replicas away; between the two it holds.
    pub scale_in_age: Seconds,
    /// The most replicas that it adds at once.
    pub step_up: u64,
    /// The most that it takes away at once.
    pub step_down: u64,
    /// The fewest and the most replicas.
    pub bounds: Bounds,
}

impl Controller {
    /// What the age alone proposes: min(current + step, ⌊current · min(age/target, 2)⌋ + 1) above the target, fewer
    /// by a step below the lower threshold, and the same between them.
    pub(super) fn propose(&self, observed: &Observed, age: &Seconds) -> Proposal {
        let current = observed.current;
        if age > &self.target_age {
            let ratio = age.exact().over(self.target_age.exact()).unwrap_or_else(|| Exact::whole(2));
            let grown = (&Exact::whole(current.into()) * &ratio.min(Exact::whole(2))).floor();
            let grown = grown.unwrap_or(u64::MAX).saturating_add(1);
            let replicas = current.saturating_add(self.step_up).min(grown);
            let words = format!("the oldest message is {age} old, above the target of {}", self.target_age);
            return Proposal { replicas, rule: Rule::ScaleOut, words };
        }
        if age < &self.scale_in_age {
            let replicas = current.saturating_sub(self.step_down);
            let words = format!("the oldest message is {age} old, below {}", self.scale_in_age);
            return Proposal { replicas, rule: Rule::ScaleIn, words };
        }
        let words =
            format!("the oldest message is {age} old, between {} and {}", self.scale_in_age, self.target_age);
        Proposal { replicas: current, rule: Rule::Hold, words }
    }
}
