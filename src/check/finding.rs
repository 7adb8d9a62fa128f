//! What became of a requirement. Documented once; every output reads it.

use crate::plan::{Figures, Place};
use schemars::JsonSchema;
use serde::Serialize;

/// Whether a requirement is met.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// It is met.
    Pass,
    /// It is not met, and the plan only wants to be told.
    Warn,
    /// It is not met.
    Fail,
}

impl Verdict {
    /// The word for it.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Verdict::Pass => "pass",
            Verdict::Warn => "warn",
            Verdict::Fail => "fail",
        }
    }
}

/// What became of one requirement.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Finding {
    /// The pool.
    pub pool: String,
    /// The requirement, as it was written.
    pub requirement: String,
    /// Whether it is met.
    pub verdict: Verdict,
    /// What was found, in `unit`; absent where there is nothing to measure, as the wait of an unstable pool.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub actual: Option<f64>,
    /// What is required, in `unit`.
    pub limit: f64,
    /// The unit of both: `workers`, `replicas`, `s`, `share`, `attempts`, `limits exceeded`.
    pub unit: &'static str,
    /// The same in words.
    pub message: String,
    /// What to do about it, where it is not met.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
    /// Where the requirement stands in the plan.
    #[serde(skip)]
    pub at: Option<Place>,
}

/// The answer of `check`.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Checked {
    /// The worst of the verdicts.
    pub verdict: Verdict,
    /// Requirements that are met.
    pub passed: usize,
    /// Requirements that are not met and only warn.
    pub warned: usize,
    /// Requirements that are not met.
    pub failed: usize,
    /// What became of each requirement, pool by pool.
    pub findings: Vec<Finding>,
    /// The figures of each pool, for a later `--baseline`.
    pub pools: Vec<Figures>,
}

impl Checked {
    /// The findings of the pools, with their count and the worst verdict.
    #[must_use]
    pub fn new(findings: Vec<Finding>, pools: Vec<Figures>) -> Self {
        let count = |verdict| findings.iter().filter(|finding| finding.verdict == verdict).count();
        Checked {
            verdict: findings.iter().map(|finding| finding.verdict).max().unwrap_or(Verdict::Pass),
            passed: count(Verdict::Pass),
            warned: count(Verdict::Warn),
            failed: count(Verdict::Fail),
            findings,
            pools,
        }
    }
}
