//! What a result wants its reader to know: warnings and remarks, each with a stable code.
//!
//! A domain module keeps its warnings as an enum that carries the facts, so that tests match the variant and
//! not the prose; [`Note`] is the form in which every renderer shows them. The text is made in one place, the
//! enum's conversion into a `Note`.

use schemars::JsonSchema;
use serde::Serialize;

/// How much a note matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// Worth knowing: an assumption, a source, a correction that was applied.
    Info,
    /// The answer may mislead if this is ignored.
    Warning,
    /// What was asked for does not hold.
    Error,
}

/// One remark beside a result.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Note {
    /// A stable name in kebab case for scripts, such as `exponential-assumed`.
    pub code: &'static str,
    /// How much it matters.
    pub severity: Severity,
    /// What was noticed, in words, with its numbers.
    pub message: String,
    /// What to do about it, where there is something to do.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
}

impl Note {
    /// A remark that is worth knowing.
    #[must_use]
    pub fn info(code: &'static str, message: impl Into<String>) -> Self {
        Note { code, severity: Severity::Info, message: message.into(), hint: None }
    }

    /// A remark without which the answer may mislead.
    #[must_use]
    pub fn warning(code: &'static str, message: impl Into<String>) -> Self {
        Note { code, severity: Severity::Warning, message: message.into(), hint: None }
    }

    /// A remark that what was asked for does not hold.
    #[must_use]
    pub fn error(code: &'static str, message: impl Into<String>) -> Self {
        Note { code, severity: Severity::Error, message: message.into(), hint: None }
    }

    /// Adds what to do about it.
    #[must_use]
    pub fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }
}
