//! From a concurrency target to something that can be deployed: a [`Question`] gives a [`Layout`].
//!
//! N attempts at once are spread over tasks, tasks over processes, processes over pods. Each of these has limits
//! (descriptors, the event loop, processors, memory), and so has what the fleet shares (the database, source ports,
//! hosts, the broker, the receiving side). The asked shape is judged against all of them, and a balanced layout that
//! keeps every limit is searched for; where none does, the two limits that contradict each other are named.

mod ceilings;
mod deployment;
mod findings;
mod hosts;
mod limits;
pub mod manifests;
mod plan;
mod pool;
mod ports;
mod question;
mod safety;
mod search;
mod solve;

pub use ceilings::{Broker, CeilingVerdict, Database, Downstream, FleetCeiling, PgBouncer};
pub use deployment::Deployment;
pub use findings::LayoutFinding;
pub use hosts::{Host, HostCap, HostVerdict};
pub use limits::{Limit, LimitName};
pub use plan::{Answered, Layout, Proposal};
pub use pool::HttpPool;
pub use ports::{Egress, Platform, PlatformError, PortScope, Ports, PortsVerdict};
pub use question::{DatabaseUse, Limits, Network, PgBouncerUse, Question, Shape, Traffic};
pub use safety::Safety;
pub use search::Contradiction;

#[cfg(test)]
mod tests;
