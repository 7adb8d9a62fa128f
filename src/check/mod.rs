//! The gate: does a plan meet its requirements, and is it still what it was?
//!
//! A [`Requirement`] is judged against a planned pool and gives a [`Finding`]; the findings together give the
//! [`Verdict`], on which alone the exit code rests. A requirement that cannot be judged, such as the age of a profile
//! without time stamps, is not met: what was not shown does not pass.

mod baseline;
mod cause;
mod finding;
mod judge;
mod requirement;
mod shown;

pub use baseline::{Baseline, Tolerances};
pub use cause::Cause;
pub use finding::{Checked, Finding, Verdict};
pub use judge::{Expected, check};
pub use requirement::Requirement;
