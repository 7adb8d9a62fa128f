//! From a question to its answer.

use super::ceilings::{Broker, Database, Downstream, FleetCeiling};
use super::deployment::Deployment;
use super::findings::LayoutFinding;
use super::limits::{Caps, USUAL_PROCESSES, USUAL_TASKS, allowed};
use super::plan::{Answered, Layout};
use super::pool::HttpPool;
use super::ports::Ports;
use super::question::Question;
use super::safety::{Safety, USUAL_LEASE_S};
use super::search;
use crate::notice::{Note, Severity};
use crate::units::Exact;

impl Question {
    /// Judges the asked shape, and searches for a balanced layout within every limit.
    #[must_use]
    pub fn answer(&self) -> Answered {
        let caps = Caps::of(self);
        let (balanced, contradiction) = match search::balanced(self, &caps) {
            Ok(proposal) => (Some(proposal), None),
            Err(contradiction) => (None, Some(contradiction)),
        };
        let deployment = self.asked_shape(&caps);
        let exceeded = deployment.as_ref().map(|asked| caps.exceeded_by(asked)).unwrap_or_default();
        let mut layout = Layout {
            fits: deployment.is_some() && exceeded.is_empty() && contradiction.is_none(),
            exceeded,
            balanced,
            contradiction,
            safety: Safety::of(self.lease.as_ref()),
            cpu_cores: self
                .traffic
                .rate
                .as_ref()
                .map(|rate| rate.offered_load(&self.traffic.cpu_per_attempt).to_f64()),
            deployment: None,
            pool: None,
            hosts: Vec::new(),
            ports: None,
            database: None,
            broker: None,
            downstream: None,
            fleet_ceiling: None,
            cpu_cores_at_full_load: None,
            memory_per_pod_bytes: None,
            findings: Vec::new(),
        };
        if let Some(deployment) = deployment {
            self.describe(&mut layout, deployment, &caps);
        }
        let findings = LayoutFinding::all(self, &layout);
        layout.findings = findings.iter().map(Note::from).collect();
        layout.findings.sort_by_key(|finding| std::cmp::Reverse(finding.severity));
        layout.fits &= layout.findings.iter().all(|finding| finding.severity < Severity::Error);
        Answered { layout, findings }
    }

    /// The shape that was asked for. What was left out is as usual, or less where a process or a pod has no room for
    /// that.
    fn asked_shape(&self, caps: &Caps) -> Option<Deployment> {
        let processes = self
            .shape
            .processes_per_pod
            .unwrap_or_else(|| USUAL_PROCESSES.min(allowed(&caps.processes_per_pod)));
        let room = allowed(&caps.tasks).min(allowed(&caps.tasks_per_pod) / processes.max(1));
        let tasks = self.shape.tasks_per_process.unwrap_or_else(|| USUAL_TASKS.min(room));
        Deployment::of(self.concurrency, tasks, processes)
    }

    fn describe(&self, layout: &mut Layout, deployment: Deployment, caps: &Caps) {
        let traffic = &self.traffic;
        let (rate, mean) = (traffic.rate.as_ref(), traffic.mean.as_ref());
        let descriptors = self.limits.descriptors.unwrap_or(deployment.fd_limit_per_process);
        let lease = self.lease.as_ref().map(|lease| lease.exact().clone());
        let lease = lease.unwrap_or_else(|| Exact::whole(USUAL_LEASE_S as u128));
        layout.pool = Some(HttpPool::of(deployment.tasks_per_process, descriptors));
        layout.hosts = self.hosts.iter().map(|host| host.cap(&deployment, &traffic.timeout)).collect();
        layout.ports = rate.map(|rate| {
            let network = &self.network;
            Ports::of(rate, &network.reuse, &network.egress, network.destinations, &deployment)
        });
        layout.database = self.database.as_ref().map(|database| Database::of(database, &deployment));
        layout.broker =
            self.limits.broker_in_flight.map(|limit| Broker::of(limit, &deployment, rate, &lease));
        layout.downstream = self.limits.downstream.as_ref().map(|limit| Downstream::of(limit, rate, mean));
        layout.fleet_ceiling = FleetCeiling::of(self, caps, &deployment, layout.downstream.as_ref());
        layout.cpu_cores_at_full_load = mean.and_then(|mean| {
            let busy = Exact::whole(deployment.deployed_concurrency.into()).over(mean.exact())?;
            Some((&busy * traffic.cpu_per_attempt.exact()).to_f64())
        });
        layout.memory_per_pod_bytes = self
            .limits
            .memory_per_process
            .as_ref()
            .and_then(|each| (each.exact() * &Exact::whole(deployment.processes_per_pod.into())).ceil());
        layout.deployment = Some(deployment);
    }
}
