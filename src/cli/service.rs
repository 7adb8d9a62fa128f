//! The service time as several commands take it: a mean with its variability, or a measured profile.

use anyhow::{Result, bail};
use whsize::ingest::{self, IngestError, IngestErrorKind, Ingested};
use whsize::notice::Note;
use whsize::profile::ServiceProfile;
use whsize::sizing::ServiceTime;
use whsize::units::{ArrivalRate, Ratio, Seconds};

#[derive(clap::Args, Debug)]
pub(crate) struct MeanArgs {
    /// Mean service time: how long an attempt occupies a worker, lease to acknowledgement
    #[arg(long, value_name = "D", value_parser = Seconds::parse_positive, conflicts_with = "profile")]
    mean: Option<Seconds>,
    /// Measured service times: a profile saved by ingest, or any file that ingest reads
    #[arg(long, value_name = "FILE")]
    profile: Option<String>,
}

#[derive(clap::Args, Debug)]
pub(crate) struct ServiceArgs {
    #[command(flatten)]
    source: MeanArgs,
    /// Squared coefficient of variation of the service time (1 is exponential)
    #[arg(long, value_name = "X", requires = "mean", conflicts_with = "profile")]
    scv: Option<Ratio>,
}

/// A service time, with the measurement behind it where there is one.
pub(crate) struct Service {
    pub(crate) time: ServiceTime,
    pub(crate) measured: Option<Ingested>,
}

/// The remedies of `ingest` are its own options: says how they reach this command.
fn by_ingest(mut error: IngestError, file: &str) -> IngestError {
    if error.kind != IngestErrorKind::Profile {
        error.remedy = error.remedy.map(|remedy| {
            if remedy.contains("--") {
                format!("{remedy}: whsize ingest {file} ... --save profile.json, then --profile profile.json")
            } else {
                remedy
            }
        });
    }
    error
}

/// The same for what is only remarked; the rate is an option of the other commands.
fn within_ingest(hint: String) -> String {
    if hint.contains("--") && !hint.contains("--rate") { format!("{hint}, of whsize ingest") } else { hint }
}

impl MeanArgs {
    /// The service time, if one is given; exponential where only its mean is.
    pub(crate) fn read(&self) -> Result<Option<Service>> {
        match (&self.profile, &self.mean) {
            (Some(file), _) => Service::from_profile(file).map(Some),
            (None, mean) => Ok(mean.clone().map(|mean| Service::from_mean(mean, None))),
        }
    }
}

impl ServiceArgs {
    /// The file of the profile, if one is given.
    pub(crate) fn file(&self) -> Option<&str> {
        self.source.profile.as_deref()
    }

    /// The service time, if one is given.
    pub(crate) fn read(&self) -> Result<Option<Service>> {
        match (&self.source.mean, &self.scv) {
            (Some(mean), Some(scv)) => Ok(Some(Service::from_mean(mean.clone(), Some(scv)))),
            _ => self.source.read(),
        }
    }
}

impl Service {
    /// The service time that a file holds.
    pub(crate) fn from_profile(file: &str) -> Result<Self> {
        let measured = ingest::load(file).map_err(|error| by_ingest(error, file))?;
        if measured.profile.mean().is_zero() {
            bail!("{file}: every attempt lasts 0 s, so there is no service time to size from");
        }
        Ok(Service { time: ServiceTime::from_profile(&measured.profile), measured: Some(measured) })
    }

    /// A service time of this mean; exponential without a squared coefficient of variation.
    pub(crate) fn from_mean(mean: Seconds, scv: Option<&Ratio>) -> Self {
        let time = match scv {
            Some(scv) => ServiceTime::with_scv(mean, scv.get()),
            None => ServiceTime::exponential(mean),
        };
        Service { time, measured: None }
    }

    /// The measured profile, if there is one.
    pub(crate) fn profile(&self) -> Option<&ServiceProfile> {
        self.measured.as_ref().map(|measured| &measured.profile)
    }

    /// The rate of the profile's busiest minute, if it has time stamps.
    pub(crate) fn busiest_rate(&self) -> Option<ArrivalRate> {
        self.profile()?.arrivals()?.busiest_minute_rate()
    }

    /// What `ingest` remarked on the measurement.
    pub(crate) fn notes(&self) -> Vec<Note> {
        let notices = self.measured.iter().flat_map(|measured| &measured.notices);
        let note = |notice: &ingest::IngestNotice| {
            let note = notice.note();
            Note { hint: note.hint.map(within_ingest), ..note }
        };
        notices.map(note).collect()
    }
}
