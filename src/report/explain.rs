//! A formula, the numbers put in, and where it comes from.

use serde::Serialize;

/// One step of a calculation as a person would write it down.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Explanation {
    /// What is computed: `offered load`.
    pub quantity: &'static str,
    /// The formula in symbols: `a = λS`.
    pub formula: String,
    /// The same with the numbers put in and the outcome: `900/s × 1.4 s = 1260 erlangs`.
    pub numbers: String,
    /// The source of the method.
    pub source: &'static str,
}
