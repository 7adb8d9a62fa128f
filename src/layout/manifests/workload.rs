//! The numbers of a workload, each with its reason.

use super::request::{AgeSource, ManifestError, ManifestNote, Request};
use crate::layout::deployment::Deployment;
use crate::layout::limits::{Caps, tightest};
use crate::layout::plan::Layout;
use crate::layout::question::Question;
use crate::notice::Severity;
use crate::units::{Exact, Seconds, human};

/// The fewest replicas of the sizing guides.
const USUAL_MINIMUM: u64 = 3;

/// Kubernetes takes no longer period in a scaling policy, in seconds.
const LONGEST_PERIOD_S: u64 = 1_800;

/// A number with its reason.
#[derive(Clone, Debug)]
pub(super) struct Because {
    pub(super) value: u64,
    pub(super) reason: String,
}

fn because(value: u64, reason: impl Into<String>) -> Because {
    Because { value, reason: reason.into() }
}

/// What every manifest is written from.
#[derive(Clone, Debug)]
pub(super) struct Workload {
    pub(super) name: String,
    pub(super) image: String,
    pub(super) deployment: Deployment,
    /// Whether a scaler sets the number of replicas.
    pub(super) scaled: bool,
    pub(super) source: AgeSource,
    pub(super) target_age: Seconds,
    pub(super) minimum: Because,
    pub(super) maximum: Because,
    pub(super) grace_s: Because,
    /// Seconds between two pods that are taken away.
    pub(super) scale_in_s: Because,
    pub(super) descriptors: Because,
    pub(super) pool: Because,
    pub(super) keepalive: Because,
    pub(super) keepalive_expiry_s: Because,
    /// Thousandths of a processor for each pod.
    pub(super) cpu_millis: Because,
    /// Whole mebibytes for each pod, rounded up.
    pub(super) memory_mib: Option<Because>,
    pub(super) lease_s: Because,
    pub(super) timeout_s: Because,
    pub(super) database_pool: Option<Because>,
    /// Whether one pod more than the replicas fits while a new version rolls out.
    pub(super) spare_pod: bool,
    /// Attempts a second that keep a pod's tasks busy, exact: tasks / S.
    pub(super) rate_per_pod: Option<Exact>,
    pub(super) mean: Option<Seconds>,
}

impl Workload {
    pub(super) fn of(
        question: &Question,
        layout: &Layout,
        request: &Request,
    ) -> Result<(Self, Vec<ManifestNote>), ManifestError> {
        let proposal = layout.balanced.as_ref().ok_or_else(|| refused(layout))?;
        // The asked shape may exceed a limit that the balanced layout keeps; nothing else may be wrong.
        if layout
            .findings
            .iter()
            .any(|found| found.severity == Severity::Error && found.code != "limit-exceeded")
        {
            return Err(refused(layout));
        }
        let deployment = proposal.deployment;
        let caps = Caps::of(question);
        let mut notes = Vec::new();
        let maximum = maximum(&caps, &deployment, request, &mut notes);
        let minimum = minimum(request, &maximum)?;
        let safety = &layout.safety;
        let (tasks, processes) = (deployment.tasks_per_process, deployment.processes_per_pod);
        if safety.scale_in_period_s > LONGEST_PERIOD_S && request.is_scaled() {
            notes.push(ManifestNote::PeriodTooShort { wanted_s: safety.scale_in_period_s });
        }
        let lease = human::duration(safety.lease_s);
        let mean = question.traffic.mean.clone();
        let rate_per_pod =
            mean.as_ref().and_then(|mean| Exact::whole(deployment.tasks_per_pod().into()).over(mean.exact()));
        let spare = pods_allowed(&caps, &deployment).is_none_or(|(pods, _)| pods > maximum.value);
        let workload = Workload {
            name: request.name.clone(),
            image: request.image.clone(),
            scaled: request.is_scaled(),
            source: request.source.clone(),
            target_age: request.target_age.clone(),
            minimum,
            maximum,
            grace_s: because(
                safety.grace_period_s,
                format!("the lease of {lease}, and 10 s to acknowledge and close"),
            ),
            scale_in_s: because(
                safety.scale_in_period_s.min(LONGEST_PERIOD_S),
                format!("no faster than the lease of {lease}"),
            ),
            descriptors: because(deployment.fd_limit_per_process, format!("2 \u{d7} {tasks} tasks + 256")),
            pool: because(tasks, "one connection a task"),
            keepalive: because(tasks, "all of them, so that a burst after a pause opens none"),
            keepalive_expiry_s: because(
                super::super::pool::KEEPALIVE_S as u64,
                "hosts that close sooner need less",
            ),
            cpu_millis: cpu(question, &deployment),
            memory_mib: memory(question, &deployment),
            lease_s: because(
                safety.lease_s.ceil() as u64,
                if question.lease.is_some() { "as stated" } else { "assumed: none was stated" },
            ),
            timeout_s: because(
                question.traffic.timeout.exact().ceil().unwrap_or(1),
                "the longest attempt, below the lease",
            ),
            database_pool: question.database.map(|database| {
                because(database.pool, format!("{processes} processes a pod, as the database allows"))
            }),
            spare_pod: spare,
            rate_per_pod,
            mean,
            deployment,
        };
        Ok((workload, notes))
    }

    /// Attempts a second that keep a pod's tasks busy, in thousandths, rounded down so that no replica is missing.
    pub(super) fn rate_per_pod_millis(&self) -> Result<u64, ManifestError> {
        let rate = self.rate_per_pod.as_ref().ok_or(ManifestError::NoServiceTime)?;
        (rate * &Exact::whole(1_000)).floor().filter(|millis| *millis > 0).ok_or(ManifestError::NoServiceTime)
    }

    /// Why that rate.
    pub(super) fn rate_reason(&self) -> String {
        let mean = self.mean.as_ref().map_or_else(String::new, ToString::to_string);
        format!(
            "{} tasks a pod / {mean} each: replicas = \u{2308}rate \u{d7} service time / tasks\u{2309}",
            self.deployment.tasks_per_pod()
        )
    }
}

fn refused(layout: &Layout) -> ManifestError {
    let worst = layout
        .findings
        .iter()
        .find(|found| found.severity == Severity::Error && found.code != "limit-exceeded");
    let words = worst.map_or_else(|| "no layout keeps all limits".to_owned(), |found| found.message.clone());
    ManifestError::Refused(words)
}

/// The pods that the limits of the fleet allow, and by which.
fn pods_allowed(caps: &Caps, deployment: &Deployment) -> Option<(u64, String)> {
    let each = [
        (&caps.pods, 1),
        (&caps.processes, deployment.processes_per_pod),
        (&caps.concurrency, deployment.tasks_per_pod()),
    ];
    let allowed = each.into_iter().filter_map(|(limits, in_a_pod)| {
        tightest(limits).map(|limit| (limit.allows / in_a_pod.max(1), limit.words.clone()))
    });
    allowed.min_by_key(|(pods, _)| *pods)
}

fn maximum(
    caps: &Caps,
    deployment: &Deployment,
    request: &Request,
    notes: &mut Vec<ManifestNote>,
) -> Because {
    let each = deployment.tasks_per_pod();
    let wanted = match request.surge_concurrency {
        Some(surge) if surge.div_ceil(each.max(1)) >= deployment.pods => because(
            surge.div_ceil(each.max(1)),
            format!("the surge needs {} at once, {each} a pod", human::count(surge)),
        ),
        Some(_) => because(deployment.pods, "the usual number; the surge needs no more"),
        None => because(deployment.pods.saturating_mul(2), "no surge is known: twice the usual"),
    };
    match pods_allowed(caps, deployment) {
        Some((allowed, limit)) if allowed < wanted.value => {
            if request.surge_concurrency.is_some() {
                notes.push(ManifestNote::SurgeBeyondLimit {
                    needed: wanted.value,
                    allowed,
                    limit: limit.clone(),
                });
            }
            because(allowed, format!("{limit} allow no more"))
        }
        _ => {
            if request.surge_concurrency.is_none() && request.is_scaled() {
                notes.push(ManifestNote::NoSurge { maximum: wanted.value });
            }
            wanted
        }
    }
}

fn minimum(request: &Request, maximum: &Because) -> Result<Because, ManifestError> {
    match request.minimum {
        Some(minimum) if minimum > maximum.value => Err(ManifestError::MinimumAboveMaximum {
            minimum,
            maximum: maximum.value,
            reason: format!("are the most ({})", maximum.reason),
        }),
        Some(0) => Ok(because(0, "as asked: the first message waits for a pod to start")),
        Some(minimum) => Ok(because(minimum, "as asked")),
        None if maximum.value < USUAL_MINIMUM => {
            Ok(because(maximum.value, "as many as there may be; never 0, for the first pod starts cold"))
        }
        None => {
            Ok(because(USUAL_MINIMUM, "the controller's minimum; never 0, for the first pod starts cold"))
        }
    }
}

/// What all tasks of a pod keep busy, rounded up to a hundredth of a processor; one for each loop where the service
/// time is not known.
fn cpu(question: &Question, deployment: &Deployment) -> Because {
    let traffic = &question.traffic;
    let busy = traffic.mean.as_ref().and_then(|mean| {
        let busy = Exact::whole(deployment.tasks_per_pod().into()).over(mean.exact())?;
        (&(&busy * traffic.cpu_per_attempt.exact()) * &Exact::whole(100)).ceil()
    });
    match (busy, &traffic.mean) {
        (Some(hundredths), Some(mean)) => because(
            hundredths.max(1).saturating_mul(10),
            format!(
                "{} tasks a pod, each busy for {} in {mean}",
                deployment.tasks_per_pod(),
                traffic.cpu_per_attempt
            ),
        ),
        _ => because(
            deployment.processes_per_pod.saturating_mul(1_000),
            "the service time is not known: one for each event loop",
        ),
    }
}

fn memory(question: &Question, deployment: &Deployment) -> Option<Because> {
    let processes = deployment.processes_per_pod;
    let each = question.limits.memory_per_process.as_ref()?;
    let mebibytes = (each.exact() * &Exact::whole(processes.into())).over(&Exact::whole(1 << 20))?.ceil()?;
    Some(because(mebibytes, format!("{processes} processes a pod, {each} each")))
}

impl Because {
    pub(super) fn number(&self) -> super::Reasoned<u64> {
        super::because(self.value, self.reason.clone())
    }

    pub(super) fn text(&self) -> super::Reasoned<String> {
        super::because(self.value.to_string(), self.reason.clone())
    }
}
