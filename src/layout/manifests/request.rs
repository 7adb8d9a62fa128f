//! What is asked to be written, and why it cannot be.

use crate::notice::Note;
use crate::units::{Seconds, human};

/// External metrics of an HPA: the age of the oldest message in seconds, and messages sent a second.
pub(super) const EXTERNAL_METRICS: [&str; 2] =
    ["queue_oldest_message_age_seconds", "queue_messages_sent_per_second"];

/// Series of Prometheus: the age of the oldest message in seconds, and messages sent, counted.
pub(super) const PROMETHEUS_SERIES: [&str; 2] =
    ["queue_oldest_message_age_seconds", "queue_messages_sent_total"];

/// A kind of manifest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A Deployment and its PodDisruptionBudget.
    Kubernetes,
    /// A KEDA ScaledObject, which makes its own HPA.
    Keda,
    /// A HorizontalPodAutoscaler.
    Hpa,
    /// A systemd template unit, one instance a process.
    Systemd,
    /// An environment file.
    Env,
}

/// Where the age of the oldest message and the rate are read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AgeSource {
    /// CloudWatch, for a queue of SQS.
    CloudWatch {
        /// The queue's name.
        queue: String,
        /// Its region.
        region: String,
    },
    /// Prometheus.
    Prometheus {
        /// The server's address.
        address: String,
        /// The queue's name, as the label `queue` has it.
        queue: String,
    },
}

/// What is asked to be written.
#[derive(Clone, Debug, PartialEq)]
pub struct Request {
    /// The manifests.
    pub kinds: Vec<Kind>,
    /// The workload's name.
    pub name: String,
    /// Its image.
    pub image: String,
    /// Where the scalers read.
    pub source: AgeSource,
    /// The fewest replicas, where they are stated.
    pub minimum: Option<u64>,
    /// Attempts at once that a surge needs.
    pub surge_concurrency: Option<u64>,
    /// The age of the oldest message that the scalers aim at.
    pub target_age: Seconds,
}

/// Manifests with what their reader should know.
#[derive(Clone, Debug, PartialEq)]
pub struct Emitted {
    /// The text.
    pub text: String,
    /// Remarks.
    pub notes: Vec<ManifestNote>,
}

/// Why nothing is written.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ManifestError {
    /// The limits leave no layout, or something that was stated refuses it.
    #[error("{0}")]
    Refused(String),
    /// Two scalers of one workload fight each other.
    #[error(
        "a ScaledObject makes its own HorizontalPodAutoscaler: emit keda or hpa, never both for one workload"
    )]
    BothScalers,
    /// YAML and plain text make no stream that a program reads.
    #[error(
        "kubernetes, keda and hpa are YAML, systemd and env are not: emit them by two commands, each into a file of its own"
    )]
    MixedFormats,
    /// Nothing is asked for.
    #[error("there is nothing to write; name kubernetes, keda, hpa, systemd or env")]
    Nothing,
    /// The trigger by load needs the service time.
    #[error("the trigger by load needs the service time; give --mean, such as --mean 1.4")]
    NoServiceTime,
    /// An HPA cannot scale to zero.
    #[error("a HorizontalPodAutoscaler cannot scale to zero; give --min-replicas 1 or more")]
    ZeroWithHpa,
    /// The fewest replicas exceed what the limits allow.
    #[error("--min-replicas {minimum} is above the {maximum} pods that {reason}")]
    MinimumAboveMaximum {
        /// The fewest.
        minimum: u64,
        /// The most.
        maximum: u64,
        /// What sets the most.
        reason: String,
    },
    /// A name that Kubernetes does not take.
    #[error(
        "\"{0}\" is no name for a workload; it takes lower-case letters, digits and hyphens, at most 52 of them"
    )]
    BadName(String),
    /// The YAML cannot be written: a defect.
    #[error("writing YAML: {0}")]
    Yaml(String),
}

/// One remark on manifests.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ManifestNote {
    /// Without a surge, the most replicas are a guess.
    NoSurge {
        /// The most replicas.
        maximum: u64,
    },
    /// A limit allows fewer pods than the surge needs.
    SurgeBeyondLimit {
        /// Pods that the surge needs.
        needed: u64,
        /// Pods that are allowed.
        allowed: u64,
        /// By what.
        limit: String,
    },
    /// The metrics by the names that the manifests use must exist.
    MetricNames {
        /// What has to provide them.
        provider: &'static str,
        /// Their names.
        names: [&'static str; 2],
        /// The queue that their label names.
        queue: String,
    },
    /// KEDA's own role must be allowed to read CloudWatch.
    CloudWatchRole,
    /// With no replicas, the first message waits for a pod to start.
    ScaleToZero,
    /// Kubernetes takes no period as long as the lease.
    PeriodTooShort {
        /// Seconds between two pods that go.
        wanted_s: u64,
    },
}

impl Request {
    pub(super) fn check(&self) -> Result<(), ManifestError> {
        let asks = |kind| self.kinds.contains(&kind);
        if self.kinds.is_empty() {
            return Err(ManifestError::Nothing);
        }
        if asks(Kind::Keda) && asks(Kind::Hpa) {
            return Err(ManifestError::BothScalers);
        }
        let plain_text = |kind: &Kind| matches!(kind, Kind::Systemd | Kind::Env);
        if self.kinds.iter().any(plain_text) && !self.kinds.iter().all(plain_text) {
            return Err(ManifestError::MixedFormats);
        }
        if asks(Kind::Hpa) && self.minimum == Some(0) {
            return Err(ManifestError::ZeroWithHpa);
        }
        let plain = |letter: char| letter.is_ascii_lowercase() || letter.is_ascii_digit() || letter == '-';
        let edge = |letter: Option<char>| letter.is_some_and(|letter| letter != '-');
        let name = &self.name;
        // KEDA puts "keda-hpa-" in front, and 63 characters are the most.
        if name.len() > 52
            || !name.chars().all(plain)
            || !edge(name.chars().next())
            || !edge(name.chars().last())
        {
            return Err(ManifestError::BadName(name.clone()));
        }
        Ok(())
    }

    pub(super) fn is_scaled(&self) -> bool {
        self.kinds.iter().any(|kind| matches!(kind, Kind::Keda | Kind::Hpa))
    }

    pub(super) fn notes(&self) -> Vec<ManifestNote> {
        let asks = |kind| self.kinds.contains(&kind);
        let (AgeSource::CloudWatch { queue, .. } | AgeSource::Prometheus { queue, .. }) = &self.source;
        let named = |provider, names| ManifestNote::MetricNames { provider, names, queue: queue.clone() };
        let mut notes = Vec::new();
        if asks(Kind::Keda) && self.minimum == Some(0) {
            notes.push(ManifestNote::ScaleToZero);
        }
        match self.source {
            _ if asks(Kind::Hpa) => notes.push(named("an adapter of external metrics", EXTERNAL_METRICS)),
            AgeSource::Prometheus { .. } if asks(Kind::Keda) => {
                notes.push(named("the Prometheus server", PROMETHEUS_SERIES));
            }
            AgeSource::CloudWatch { .. } if asks(Kind::Keda) => notes.push(ManifestNote::CloudWatchRole),
            _ => {}
        }
        notes
    }
}

impl From<&ManifestNote> for Note {
    fn from(note: &ManifestNote) -> Note {
        match note {
            ManifestNote::NoSurge { maximum } => Note::warning(
                "no-surge",
                format!("no surge is known, so the most replicas are a guess: {}, twice the usual", human::count(*maximum)),
            )
            .with_hint("size a surge as well (--surge) and pass it with --from, or give --surge-concurrency"),
            ManifestNote::SurgeBeyondLimit { needed, allowed, limit } => Note::warning(
                "surge-beyond-limit",
                format!(
                    "the surge needs {} pods, and {limit} allow {}",
                    human::count(*needed),
                    human::count(*allowed)
                ),
            ),
            ManifestNote::MetricNames { provider, names: [age, load], queue } => Note::info(
                "metric-names",
                format!("{provider} must have {age} and {load} with queue=\"{queue}\""),
            )
            .with_hint("rename them in the manifest to those of your exporter"),
            ManifestNote::CloudWatchRole => Note::info(
                "cloudwatch-role",
                "KEDA reads CloudWatch with its own role, which needs cloudwatch:GetMetricData",
            )
            .with_hint("name another role in the TriggerAuthentication"),
            ManifestNote::ScaleToZero => Note::warning(
                "scale-to-zero",
                "with no replicas the first message waits for a pod to start, and the rate that it needs is not seen",
            )
            .with_hint("give --min-replicas 1 or more"),
            ManifestNote::PeriodTooShort { wanted_s } => Note::warning(
                "period-too-short",
                format!(
                    "pods should go no faster than one every {wanted_s} s, and Kubernetes takes periods of 1800 s at most"
                ),
            ),
        }
    }
}
