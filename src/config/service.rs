//! A service time, as a table says it.

use super::measured::measured;
use super::{ConfigError, Table};
use crate::notice::Note;
use crate::profile::ServiceProfile;
use crate::sizing::{Basis, ServiceTime};
use crate::units::{Ratio, Seconds};

/// A service time with the measurement behind it, where there is one.
pub(super) struct Service {
    pub(super) time: ServiceTime,
    pub(super) profile: Option<ServiceProfile>,
}

/// Takes `mean` with `scv`, or `profile`: measured attempts, the failed ones included.
pub(super) fn service(table: &mut Table<'_>, notes: &mut Vec<Note>) -> Result<Service, ConfigError> {
    let mean = table.optional("mean", Seconds::parse_positive)?;
    let scv = table.optional("scv", str::parse::<Ratio>)?;
    let measured = measured(table, "profile")?;
    let time = match (&measured, mean, scv) {
        (Some(measured), None, None) => {
            if measured.profile.mean().is_zero() {
                return Err(table.error_at("profile", "every attempt in it lasts 0 s"));
            }
            ServiceTime::from_profile(&measured.profile)
        }
        (Some(_), _, _) => {
            return Err(table.error_at("profile", "it says mean and scv itself; give one or the other"));
        }
        (None, Some(mean), Some(scv)) => ServiceTime::with_scv(mean, scv.get()),
        (None, Some(mean), None) => ServiceTime::exponential(mean),
        (None, None, _) => return Err(table.missing("mean")),
    };
    let profile = measured.map(|measured| {
        notes.extend(measured.notes);
        measured.profile
    });
    Ok(Service { time, profile })
}

/// Takes the mean of a failed attempt, which measured attempts have already.
pub(super) fn failure_mean(
    table: &mut Table<'_>,
    service: &ServiceTime,
) -> Result<Option<Seconds>, ConfigError> {
    let mean = table.optional("failure_mean", Seconds::parse_positive)?;
    if mean.is_some() && matches!(service.basis, Basis::Measured { .. }) {
        return Err(table.error_at("failure_mean", "the measured attempts have the failed ones among them"));
    }
    Ok(mean)
}

/// Reads a name that is shown in reports.
pub(super) fn name(typed: &str) -> Result<String, String> {
    match typed.trim() {
        "" => Err("a name is not empty".to_owned()),
        name if name.chars().any(char::is_control) || name.chars().count() > 100 => {
            Err("a name has at most 100 characters and no control characters".to_owned())
        }
        name => Ok(name.to_owned()),
    }
}
