//! What kind of trouble a queue is in: an [`Observation`] of it gives a [`Diagnosis`].
//!
//! Each kind of trouble leaves its own trace in a few numbers that every broker shows. The limits between the
//! traces are conventions, stated as constants beside the questions; the numbers that led to a verdict go with it.

mod diagnosis;
mod evidence;
mod next_steps;
mod observation;
mod signs;

pub use diagnosis::{Diagnosed, Diagnosis, Verdict};
pub use evidence::{DiagnosisNote, Evidence};
pub use next_steps::NextStep;
pub use observation::{Observation, UsualPoolWait};

#[cfg(test)]
mod tests;
