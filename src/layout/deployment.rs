//! Tasks in processes in pods.

use crate::units::human;
use schemars::JsonSchema;
use serde::Serialize;

/// Descriptors that a process needs besides two for each task: logs, the database, the loop itself.
const OTHER_DESCRIPTORS: u64 = 256;

/// Descriptors for each task: its connection, and one that is being opened or closed.
const DESCRIPTORS_PER_TASK: u64 = 2;

/// A deployment of identical pods.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Deployment {
    /// Attempts that must be able to run at once.
    pub concurrency: u64,
    /// Tasks in each process.
    pub tasks_per_process: u64,
    /// Processes that the concurrency needs.
    pub processes: u64,
    /// Processes in each pod.
    pub processes_per_pod: u64,
    /// Pods.
    pub pods: u64,
    /// Processes that run: pods are identical, so the last one is as full as the others.
    pub deployed_processes: u64,
    /// Attempts that can run at once with all tasks busy: what endpoints and the database see.
    pub deployed_concurrency: u64,
    /// Descriptors that each process needs: two for each task and 256.
    pub fd_limit_per_process: u64,
}

impl Deployment {
    /// The deployment of a shape; `None` for a shape without tasks or processes, or beyond any count.
    #[must_use]
    pub fn of(concurrency: u64, tasks_per_process: u64, processes_per_pod: u64) -> Option<Self> {
        if tasks_per_process == 0 || processes_per_pod == 0 {
            return None;
        }
        let processes = concurrency.div_ceil(tasks_per_process);
        let pods = processes.div_ceil(processes_per_pod);
        let deployed_processes = pods.checked_mul(processes_per_pod)?;
        Some(Deployment {
            concurrency,
            tasks_per_process,
            processes,
            processes_per_pod,
            pods,
            deployed_processes,
            deployed_concurrency: deployed_processes.checked_mul(tasks_per_process)?,
            fd_limit_per_process: descriptors_for(tasks_per_process)?,
        })
    }

    /// `3 pods × 4 processes × 160 tasks`.
    #[must_use]
    pub fn in_words(&self) -> String {
        let several = |count: u64, one: &str, more: &str| {
            format!("{} {}", human::count(count), if count == 1 { one } else { more })
        };
        format!(
            "{} \u{d7} {} \u{d7} {}",
            several(self.pods, "pod", "pods"),
            several(self.processes_per_pod, "process", "processes"),
            several(self.tasks_per_process, "task", "tasks")
        )
    }

    /// Attempts at once in each pod.
    #[must_use]
    pub fn tasks_per_pod(&self) -> u64 {
        self.tasks_per_process * self.processes_per_pod
    }
}

/// Descriptors that a process with this many tasks needs.
pub(super) fn descriptors_for(tasks: u64) -> Option<u64> {
    tasks.checked_mul(DESCRIPTORS_PER_TASK)?.checked_add(OTHER_DESCRIPTORS)
}

/// Tasks that a process with this many descriptors can have.
pub(super) fn tasks_within(descriptors: u64) -> u64 {
    descriptors.saturating_sub(OTHER_DESCRIPTORS) / DESCRIPTORS_PER_TASK
}
