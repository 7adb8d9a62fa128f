//! Manifests of the balanced layout: Kubernetes, KEDA, HPA, systemd, environment.
//!
//! Every number is derived from the layout and carries its reason as a comment. Targets: Kubernetes 1.29 and later,
//! KEDA 2.14 and later.

mod hpa;
mod keda;
mod kubernetes;
mod plain;
mod request;
mod scaling;
mod workload;

pub use request::{AgeSource, Emitted, Kind, ManifestError, ManifestNote, Request};

use super::plan::Layout;
use super::question::Question;
use serde::Serialize;
use workload::Workload;

/// A value with its reason, written as a comment behind it.
type Reasoned<T> = serde_saphyr::Commented<T>;

fn because<T>(value: T, reason: impl Into<String>) -> Reasoned<T> {
    serde_saphyr::Commented(value, reason.into())
}

/// Writes the manifests that are asked for, one document after another.
///
/// # Errors
/// If no layout keeps all limits, if something that was stated refuses it, or if what a manifest needs is not known.
pub fn emit(question: &Question, layout: &Layout, request: &Request) -> Result<Emitted, ManifestError> {
    request.check()?;
    let (workload, mut notes) = Workload::of(question, layout, request)?;
    let mut text = String::new();
    for kind in &request.kinds {
        match kind {
            Kind::Kubernetes => {
                document(&mut text, &kubernetes::deployment(&workload))?;
                document(&mut text, &kubernetes::disruption_budget(&workload))?;
            }
            Kind::Keda => {
                if let Some(authentication) = keda::trigger_authentication(&workload) {
                    document(&mut text, &authentication)?;
                }
                document(&mut text, &keda::scaled_object(&workload)?)?;
            }
            Kind::Hpa => document(&mut text, &hpa::autoscaler(&workload)?)?,
            Kind::Systemd => text.push_str(&plain::unit(&workload)),
            Kind::Env => {
                let one_process = request.kinds.contains(&Kind::Systemd);
                text.push_str(&plain::environment(&workload, one_process));
            }
        }
    }
    notes.extend(request.notes());
    Ok(Emitted { text, notes })
}

fn document(text: &mut String, value: &impl Serialize) -> Result<(), ManifestError> {
    let yaml = serde_saphyr::to_string(value).map_err(|error| ManifestError::Yaml(error.to_string()))?;
    text.push_str("---\n");
    text.push_str(&yaml);
    Ok(())
}
