//! The balanced layout that keeps every limit, or the two limits that leave none.

use super::deployment::Deployment;
use super::limits::{Caps, Limit, LimitName, USUAL_PROCESSES, USUAL_TASKS, allowed, tightest};
use super::plan::Proposal;
use super::question::Question;
use crate::units::human;
use schemars::JsonSchema;
use serde::Serialize;

/// How many numbers of pods beyond the fewest are tried where rounding up must stay below a limit of the fleet.
const PODS_TRIED: u64 = 4_096;

/// Two limits that leave no layout.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Contradiction {
    /// The two.
    pub limits: [Limit; 2],
    /// Why nothing satisfies both.
    pub words: String,
}

/// The layout with the fewest pods, then the fewest processes, then the fewest tasks, within the usual shape if that
/// is possible; else with as few more tasks as it takes, and only then with more processes in a pod.
pub(super) fn balanced(question: &Question, caps: &Caps) -> Result<Proposal, Contradiction> {
    if let Some(contradiction) = impossible_alone(question, caps) {
        return Err(contradiction);
    }
    let (most_tasks, most_processes) = (allowed(&caps.tasks), allowed(&caps.processes_per_pod));
    let (tasks, processes) = (most_tasks.min(USUAL_TASKS), most_processes.min(USUAL_PROCESSES));
    let fits = |tasks, processes| best(question.concurrency, caps, tasks, processes);
    if let Some(deployment) = fits(tasks, processes) {
        return Ok(Proposal { deployment, binding_limit: binding_usually(caps, &deployment) });
    }
    let found = smallest(tasks, most_tasks, |tasks| fits(tasks, processes))
        .or_else(|| smallest(processes, most_processes, |processes| fits(tasks, processes)))
        .or_else(|| smallest(tasks, most_tasks, |tasks| fits(tasks, most_processes)));
    match found {
        Some(deployment) => {
            Ok(Proposal { deployment, binding_limit: fleet_limit(question, caps, tasks, processes) })
        }
        None => Err(contradiction(question, caps)),
    }
}

/// The result for the smallest number, above `low` and up to `high`, for which there is one: what more allows stays
/// allowed.
fn smallest(low: u64, high: u64, fits: impl Fn(u64) -> Option<Deployment>) -> Option<Deployment> {
    let mut found = fits(high)?;
    let (mut failing, mut holding) = (low, high);
    while holding.saturating_sub(failing) > 1 {
        let middle = failing.midpoint(holding);
        match fits(middle) {
            Some(deployment) => (found, holding) = (deployment, middle),
            None => failing = middle,
        }
    }
    Some(found)
}

/// The best layout with at most so many tasks a process and processes a pod.
fn best(concurrency: u64, caps: &Caps, tasks: u64, processes: u64) -> Option<Deployment> {
    let candidates = (1..=processes).filter_map(|processes| fewest_pods(concurrency, caps, tasks, processes));
    candidates.min_by_key(|found| (found.pods, found.deployed_processes, found.tasks_per_process))
}

/// With exactly so many processes a pod, the fewest pods that keep every limit; the tasks are evened out.
fn fewest_pods(concurrency: u64, caps: &Caps, tasks: u64, processes: u64) -> Option<Deployment> {
    let tasks = tasks.min(allowed(&caps.tasks_per_pod) / processes);
    if tasks == 0 {
        return None;
    }
    let fewest = concurrency.div_ceil(tasks.checked_mul(processes)?).max(1);
    let tried = if caps.concurrency.is_empty() { 0 } else { PODS_TRIED };
    (fewest..=fewest.saturating_add(tried)).find_map(|pods| {
        let slots = pods.checked_mul(processes)?;
        let even = Deployment::of(concurrency, concurrency.div_ceil(slots).max(1), processes)?;
        // Evening out may leave a pod without work; then fewer pods were tried before.
        (even.pods == pods && caps.exceeded_by(&even).is_empty()).then_some(even)
    })
}

/// What keeps the layout from having fewer pods where the usual shape fits.
fn binding_usually(caps: &Caps, deployment: &Deployment) -> Limit {
    if deployment.deployed_processes == 1 {
        let words = format!("{} asked for, which one process holds", human::count(deployment.concurrency));
        return Limit::new(LimitName::Concurrency, deployment.concurrency, words);
    }
    let usual = Limit::new(
        LimitName::TasksPerProcess,
        USUAL_TASKS,
        format!("{USUAL_TASKS} tasks a process, as is usual"),
    );
    let tasks = tightest(&caps.tasks).filter(|limit| limit.allows < USUAL_TASKS).unwrap_or(&usual);
    match tightest(&caps.tasks_per_pod) {
        Some(pod) if pod.allows < tasks.allows.saturating_mul(deployment.processes_per_pod) => pod.clone(),
        _ => tasks.clone(),
    }
}

/// The limit of the fleet that the usual shape exceeds.
fn fleet_limit(question: &Question, caps: &Caps, tasks: u64, processes: u64) -> Limit {
    let needed = question.concurrency.div_ceil(tasks.max(1));
    let fleet = tightest(&caps.processes).filter(|limit| needed > limit.allows);
    let pods = tightest(&caps.pods).filter(|limit| needed.div_ceil(processes.max(1)) > limit.allows);
    let chosen =
        fleet.or(pods).or(tightest(&caps.processes)).or(tightest(&caps.pods)).or(tightest(&caps.concurrency));
    chosen.or(tightest(&caps.tasks)).cloned().unwrap_or_else(|| {
        Limit::new(LimitName::Concurrency, question.concurrency, "the concurrency that was asked for")
    })
}

/// Limits that leave nothing by themselves: not one task, not one process.
fn impossible_alone(question: &Question, caps: &Caps) -> Option<Contradiction> {
    let cpu = &question.traffic.cpu_per_attempt;
    let cpu = Limit::new(LimitName::CpuPerAttempt, 0, format!("{cpu} of a processor for each attempt"));
    let other = |limit: &Limit| match limit.limit {
        LimitName::Descriptors => Limit::new(
            LimitName::OtherDescriptors,
            0,
            "256 descriptors besides two a task that a process needs",
        ),
        LimitName::LoopCpu | LimitName::VcpuPerPod => cpu.clone(),
        LimitName::PodMemory => {
            let memory =
                question.limits.memory_per_process.as_ref().map_or_else(String::new, ToString::to_string);
            Limit::new(LimitName::MemoryPerProcess, 0, format!("{memory} of memory a process"))
        }
        LimitName::Database | LimitName::PgbouncerClients => {
            let pool = question.database.map_or(0, |database| database.pool);
            Limit::new(
                LimitName::DatabasePool,
                0,
                format!("{} database connections a process", human::count(pool)),
            )
        }
        _ => Limit::new(LimitName::Concurrency, 0, concurrency_in_words(question)),
    };
    let every = [&caps.tasks, &caps.tasks_per_pod, &caps.processes_per_pod, &caps.processes, &caps.pods];
    let none = every.into_iter().flatten().find(|limit| limit.allows == 0)?;
    let other = other(none);
    let words = format!("{}; and {}: together they leave no room for a single task", none.words, other.words);
    Some(Contradiction { limits: [none.clone(), other], words })
}

fn concurrency_in_words(question: &Question) -> String {
    format!("{} at once", human::counted(question.concurrency, "attempt"))
}

/// The two limits that are too tight together.
fn contradiction(question: &Question, caps: &Caps) -> Contradiction {
    let target = Limit::new(LimitName::Concurrency, question.concurrency, concurrency_in_words(question));
    if let Some(broker) = tightest(&caps.concurrency).filter(|limit| question.concurrency >= limit.allows) {
        let words = format!("{} do not fit into {}, in pods that are alike", target.words, broker.words);
        return Contradiction { limits: [target, broker.clone()], words };
    }
    let (tasks, processes) = (allowed(&caps.tasks), allowed(&caps.processes_per_pod));
    let pod_tasks = tasks.saturating_mul(processes).min(allowed(&caps.tasks_per_pod));
    let by_processes = allowed(&caps.processes).saturating_mul(tasks);
    let by_pods = allowed(&caps.pods).saturating_mul(pod_tasks);
    let by_pod_limit = || {
        let pod = tightest(&caps.tasks_per_pod).filter(|limit| limit.allows <= pod_tasks);
        let shape = tightest(&caps.processes_per_pod).filter(|limit| limit.allows < USUAL_PROCESSES);
        pod.or(shape).or(tightest(&caps.tasks))
    };
    let (fleet, each, most) = if by_processes <= by_pods {
        (tightest(&caps.processes), tightest(&caps.tasks), by_processes)
    } else {
        (tightest(&caps.pods), by_pod_limit(), by_pods)
    };
    let fleet = fleet.or(tightest(&caps.concurrency)).cloned().unwrap_or_else(|| target.clone());
    let each = each.cloned().unwrap_or_else(|| target.clone());
    let words = if most < question.concurrency {
        format!(
            "{}; and {}: together they allow {} at once, and {} are asked for",
            fleet.words,
            each.words,
            human::counted(most, "attempt"),
            human::count(question.concurrency)
        )
    } else {
        format!(
            "{}; and {}: together they leave no layout of pods that are alike for {}",
            fleet.words, each.words, target.words
        )
    };
    Contradiction { limits: [fleet, each], words }
}
