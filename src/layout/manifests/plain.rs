//! A systemd template unit and an environment file: text whose comments stand on lines of their own.

use super::kubernetes::{PROCESSES, variables};
use super::workload::Workload;
use std::fmt::Write as _;

/// A template unit: one instance a process, so that systemd bounds each by itself.
pub(super) fn unit(workload: &Workload) -> String {
    let (name, deployment) = (&workload.name, &workload.deployment);
    format!(
        "# /etc/systemd/system/{name}@.service\n\
         # Start {processes} instances over all machines: systemctl enable --now {name}@{{1..N}}\n\
         [Unit]\n\
         Description={name}, process %i\n\
         After=network-online.target\n\
         Wants=network-online.target\n\
         \n\
         [Service]\n\
         EnvironmentFile=/etc/{name}.env\n\
         ExecStart=/usr/bin/{name}\n\
         Restart=always\n\
         # The process stops leasing at SIGTERM, and ends what it has begun.\n\
         KillSignal=SIGTERM\n\
         # {grace_reason}\n\
         TimeoutStopSec={grace}\n\
         # {nofile_reason}\n\
         LimitNOFILE={nofile}\n\
         \n\
         [Install]\n\
         WantedBy=multi-user.target\n\n",
        processes = deployment.deployed_processes,
        grace = workload.grace_s.value,
        grace_reason = workload.grace_s.reason,
        nofile = workload.descriptors.value,
        nofile_reason = workload.descriptors.reason,
    )
}

/// An environment file for systemd, a container runtime or a shell.
///
/// `one_process` is for the template unit, whose instances are one process each.
pub(super) fn environment(workload: &Workload, one_process: bool) -> String {
    let mut text = format!("# /etc/{}.env\n", workload.name);
    for variable in variables(workload) {
        let serde_saphyr::Commented(mut value, mut reason) = variable.value;
        if one_process && variable.name == PROCESSES {
            (value, reason) = ("1".to_owned(), "systemd starts an instance for each process".to_owned());
        }
        let _ = writeln!(text, "# {reason}\n{}={value}", variable.name);
    }
    text
}
