//! Where the time of an attempt goes, as shares of the mean.

use super::{NS_PER_SECOND, PhaseForm, ServiceTimes};
use schemars::JsonSchema;
use serde::Serialize;

/// How the time is named that no phase accounts for.
pub const REST: &str = "(rest)";

/// One phase of the attempts.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct PhaseSummary {
    /// Its name.
    pub name: String,
    /// Its mean over all attempts, those without it included.
    pub mean_s: f64,
    /// Its share of the mean service time.
    pub share: f64,
}

impl ServiceTimes {
    /// Each phase, and what they leave of the mean where attempts came with their phases; empty where phases are not known.
    #[must_use]
    pub fn phase_summaries(&self) -> Vec<PhaseSummary> {
        let phases = self.phases();
        let in_seconds = |ns: u128| ns as f64 / NS_PER_SECOND as f64;
        let whole_s = in_seconds(self.moments().sum_ns());
        let attempts = phases.attempts(self.count()).max(1) as f64;
        let one = |name: &str, sum_s: f64| PhaseSummary {
            name: name.to_owned(),
            mean_s: sum_s / attempts,
            share: if whole_s > 0.0 { sum_s / whole_s } else { 0.0 },
        };
        let mut all: Vec<PhaseSummary> =
            phases.measured().map(|(phase, sum)| one(phase.name(), in_seconds(sum.sum_ns))).collect();
        let known_ns = phases.measured().fold(0u128, |sum, (_, phase)| sum.saturating_add(phase.sum_ns));
        let rest_ns = self.moments().sum_ns().saturating_sub(known_ns);
        if !all.is_empty() && rest_ns > 0 && phases.form() != Some(PhaseForm::InsteadOfAttempts) {
            all.push(one(REST, in_seconds(rest_ns)));
        }
        all
    }
}
