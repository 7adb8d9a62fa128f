//! `whsize layout --emit`: manifests instead of a report.

use super::saved::SavedSize;
use crate::cli::Outcome;
use crate::cli::output::Output;
use anyhow::{Result, bail};
use clap::ValueEnum;
use whsize::layout::manifests::{AgeSource, Kind, ManifestError, Request, emit};
use whsize::layout::{Layout, Question};
use whsize::notice::Note;
use whsize::units::{Count, Seconds};

/// A kind of manifest.
#[derive(ValueEnum, Clone, Copy, Debug, PartialEq, Eq)]
enum Name {
    /// A Deployment and its PodDisruptionBudget
    Kubernetes,
    /// A KEDA ScaledObject, which makes its own HPA
    Keda,
    /// A HorizontalPodAutoscaler on external metrics
    Hpa,
    /// A systemd template unit, one instance a process
    Systemd,
    /// An environment file
    Env,
}

#[derive(clap::Args, Debug)]
#[command(next_help_heading = "Manifests")]
pub(crate) struct EmitArgs {
    /// Print manifests of the balanced layout instead of the report
    #[arg(long, value_enum, value_name = "KIND", value_delimiter = ',', conflicts_with_all = ["format", "only", "explain"])]
    emit: Vec<Name>,
    /// The workload's name
    #[arg(long, value_name = "NAME", default_value = "dispatcher", requires = "emit")]
    name: String,
    /// Its image
    #[arg(
        long,
        value_name = "IMAGE",
        default_value = "registry.example/dispatcher:latest",
        requires = "emit"
    )]
    image: String,
    /// The queue by whose age and rate the scalers go; the workload's name otherwise
    #[arg(long, value_name = "NAME", requires = "emit")]
    queue: Option<String>,
    /// Read them from CloudWatch in this region
    #[arg(long, value_name = "REGION", requires = "emit", conflicts_with = "prometheus")]
    region: Option<String>,
    /// Read them from the Prometheus at this address
    #[arg(long, value_name = "URL", requires = "emit")]
    prometheus: Option<String>,
    /// The fewest replicas; usually 3
    #[arg(long, value_name = "N", requires = "emit")]
    min_replicas: Option<Count>,
    /// Attempts at once in a surge, from which the most replicas follow; with --from, those of its scenarios
    #[arg(long, value_name = "N", value_parser = Count::parse_positive, requires = "emit")]
    surge_concurrency: Option<Count>,
    /// The age of the oldest message that the scalers aim at
    #[arg(long, value_name = "D", default_value = "30s", value_parser = Seconds::parse_positive, requires = "emit")]
    target_age: Seconds,
}

impl EmitArgs {
    pub(super) fn is_wanted(&self) -> bool {
        !self.emit.is_empty()
    }

    /// Writes the manifests; an answer of no goes to standard error, so that nothing is applied by mistake.
    pub(super) fn run(
        &self,
        question: &Question,
        layout: &Layout,
        saved: Option<&SavedSize>,
        output: &Output,
    ) -> Result<Outcome> {
        let request = self.request(saved)?;
        match emit(question, layout, &request) {
            Ok(emitted) => {
                emitted.notes.iter().for_each(|note| output.note(&Note::from(note)));
                Ok(Outcome::Text(emitted.text))
            }
            Err(error @ (ManifestError::Refused(_) | ManifestError::MinimumAboveMaximum { .. })) => {
                Ok(Outcome::Refused(error.to_string()))
            }
            Err(error) => Err(error.into()),
        }
    }

    fn request(&self, saved: Option<&SavedSize>) -> Result<Request> {
        let mut kinds: Vec<Kind> = Vec::new();
        for kind in self.emit.iter().map(|name| name.domain()) {
            if !kinds.contains(&kind) {
                kinds.push(kind);
            }
        }
        let queue = self.queue.clone().unwrap_or_else(|| self.name.clone());
        let source = match (&self.region, &self.prometheus) {
            (Some(region), _) => AgeSource::CloudWatch { queue, region: region.clone() },
            (None, Some(address)) => AgeSource::Prometheus { queue, address: address.clone() },
            (None, None) if kinds.contains(&Kind::Keda) => bail!(
                "a ScaledObject reads the age of the oldest message somewhere; give --region, such as --region \
                 eu-west-1, for CloudWatch, or --prometheus URL"
            ),
            (None, None) => AgeSource::Prometheus { queue, address: String::new() },
        };
        Ok(Request {
            kinds,
            name: self.name.clone(),
            image: self.image.clone(),
            source,
            minimum: self.min_replicas.map(Count::get),
            surge_concurrency: self
                .surge_concurrency
                .map(Count::get)
                .or(saved.and_then(|saved| saved.surge_workers)),
            target_age: self.target_age.clone(),
        })
    }
}

impl Name {
    fn domain(self) -> Kind {
        match self {
            Name::Kubernetes => Kind::Kubernetes,
            Name::Keda => Kind::Keda,
            Name::Hpa => Kind::Hpa,
            Name::Systemd => Kind::Systemd,
            Name::Env => Kind::Env,
        }
    }
}
