//! Validation: a real dispatcher over real HTTP at several multiples of the planned rate, beside the prediction.
//!
//! A level offers a multiple of the rate, open loop: arrivals keep their planned times whatever the dispatcher does,
//! and a wait counts from the planned time. The prediction for a level takes what can be known without watching the
//! queue, the arrival times and the measured service times, and simulates runs of exactly this length many times: the
//! mean wait of the real run must lie where 99% of the simulated ones lie. Near saturation that interval is wide, since
//! such a run is.
//!
//! All durations and rates of a [`Plan`] and of its results are in the plan's own time. `time_scale` shortens all of
//! them on the clock, and `shrink` divides rate and workers together, so that a large plan fits a small machine.

mod ceiling;
mod checks;
mod excuse;
mod generator;
mod level;
mod measure;
mod outcome;
mod plan;
mod predict;
mod records;
mod schedule;
mod target;
mod verdict;
mod watch;

pub use outcome::{Check, EndpointLevel, Level, PhaseShare, Predicted, QuantileValue, Validation, Verdict};
pub use plan::{Arrivals, Plan, PlanError};

use crate::dispatch::Shutdown;
use crate::notice::Note;
use crate::profile::ServiceProfile;
use crate::sandbox::SandboxError;

/// Why a validation could not be run.
#[derive(Debug, thiserror::Error)]
pub enum ValidateError {
    /// The plan has no meaning.
    #[error(transparent)]
    Plan(#[from] PlanError),
    /// The sandbox did not start.
    #[error(transparent)]
    Sandbox(#[from] SandboxError),
    /// An endpoint was refused.
    #[error(transparent)]
    Endpoint(#[from] crate::dispatch::EndpointError),
    /// The certificate of the sandbox cannot be trusted.
    #[error("the sandbox's certificate cannot be used")]
    Tls(#[from] rustls::Error),
    /// The sandbox elsewhere could not be reached.
    #[error("{url}: {reason}")]
    Target {
        /// Its URL.
        url: String,
        /// What went wrong.
        reason: String,
    },
    /// The load generator's thread could not be started.
    #[error("the load generator did not start: {0}")]
    Generator(std::io::Error),
    /// It was interrupted before a level was finished.
    #[error("interrupted before the first level was finished")]
    Interrupted,
}

/// How far a run is, for whoever watches it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Progress {
    /// The level under way, as a multiple of the planned rate; `None` while the machine itself is measured.
    pub multiplier: Option<f64>,
    /// Share of the level's arrivals that have come.
    pub share: f64,
    /// Messages delivered so far.
    pub delivered: u64,
    /// Messages in the queue.
    pub queued: u64,
    /// Age of the oldest ready message, in seconds of the plan.
    pub oldest_age_s: f64,
}

/// What a validation found, with what does not go into its JSON.
#[derive(Clone, Debug)]
pub struct Validated {
    /// The documented result.
    pub validation: Validation,
    /// Service times of the first level that the machine kept up with, in the plan's time; `None` without such a level,
    /// or without an attempt: those of an overloaded machine are its own and not the endpoints'.
    pub profile: Option<ServiceProfile>,
    /// Remarks.
    pub notes: Vec<Note>,
}

/// Runs every level of a plan, one after the other. The shutdown ends the run: at its first request the level under
/// way is the last one.
///
/// # Errors
/// See [`ValidateError`].
pub async fn validate(
    plan: &Plan,
    shutdown: &Shutdown,
    progress: &(dyn Fn(Progress) + Sync),
) -> Result<Validated, ValidateError> {
    plan.check()?;
    progress(Progress { multiplier: None, share: 0.0, delivered: 0, queued: 0, oldest_age_s: 0.0 });
    let ceiling_per_s = ceiling::measure(plan).await?;
    let (mut levels, mut profile, mut notes) = (Vec::<Level>::new(), None, plan.notes());
    for multiplier in &plan.levels {
        if shutdown.is_draining() {
            break;
        }
        let run = level::run(plan, *multiplier, shutdown, progress).await?;
        let judged = verdict::judge(plan, &run, ceiling_per_s, levels.last());
        if profile.is_none() && !judged.overloaded {
            profile = run.records.profile(plan.time_scale);
        }
        notes.extend(judged.notes);
        levels.push(judged.level);
    }
    if levels.is_empty() {
        return Err(ValidateError::Interrupted);
    }
    let not_run = plan.levels.get(levels.len()..).unwrap_or_default().to_vec();
    let validation = Validation::new(levels, not_run, ceiling_per_s);
    Ok(Validated { validation, profile, notes })
}
