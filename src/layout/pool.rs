//! The pool of HTTP connections in each process, by the two rules that are in use.

use crate::units::{Seconds, human};
use schemars::JsonSchema;
use serde::Serialize;

/// The bounds and the share of the rule by descriptors: min(400, max(32, (descriptors − 512)/4)).
const MOST: u64 = 400;
const LEAST: u64 = 32;
const SET_ASIDE: u64 = 512;
const SHARE: u64 = 4;

/// How long an idle connection is kept where the peer says nothing.
pub(super) const KEEPALIVE_S: f64 = 30.0;

/// A pool of connections in each process.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct HttpPool {
    /// Connections at most: one for each task, or no task could be sure to find one.
    pub max_connections: u64,
    /// Idle connections kept at most: all of them, so that a burst after a pause opens none.
    pub max_keepalive: u64,
    /// How long an idle connection is kept, in seconds; hosts may need less.
    pub keepalive_expiry_s: f64,
    /// What the rule by descriptors gives: min(400, max(32, (descriptors − 512)/4)).
    pub by_descriptors: u64,
    /// The descriptors that the rule was given.
    pub descriptors: u64,
    /// The descriptors at which the rule gives one connection for each task; absent where it never does.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub descriptors_for_tasks: Option<u64>,
    /// Idle connections by the rule that keeps half of the pool.
    pub half_keepalive: u64,
    /// Whether the two rules contradict each other here: the one by descriptors leaves tasks without a connection.
    pub rules_contradict: bool,
}

/// The rule by descriptors.
pub(super) fn by_descriptors(descriptors: u64) -> u64 {
    (descriptors.saturating_sub(SET_ASIDE) / SHARE).clamp(LEAST, MOST)
}

impl HttpPool {
    /// The pool of a process with `tasks` tasks that may open `descriptors` descriptors.
    #[must_use]
    pub(super) fn of(tasks: u64, descriptors: u64) -> Self {
        let by_descriptors = by_descriptors(descriptors);
        HttpPool {
            max_connections: tasks,
            max_keepalive: tasks,
            keepalive_expiry_s: KEEPALIVE_S,
            by_descriptors,
            descriptors,
            descriptors_for_tasks: (tasks <= MOST)
                .then(|| if tasks <= LEAST { 0 } else { tasks * SHARE + SET_ASIDE }),
            half_keepalive: tasks.div_ceil(2),
            rules_contradict: by_descriptors < tasks,
        }
    }
}

/// Seconds that an idle connection is kept: five less than the peer keeps it, at least one, at most five minutes.
pub(super) fn keepalive_expiry_s(advertised: Option<&Seconds>) -> f64 {
    advertised.map_or(KEEPALIVE_S, |advertised| (advertised.get() - 5.0).clamp(1.0, 300.0))
}

/// The contradiction in words.
pub(super) fn contradiction_in_words(pool: &HttpPool) -> String {
    let (tasks, by_rule) = (human::count(pool.max_connections), human::count(pool.by_descriptors));
    let enough = pool.descriptors_for_tasks.map_or_else(
        || format!("it never gives more than {MOST}"),
        |descriptors| format!("it would take {} descriptors", human::count(descriptors)),
    );
    format!(
        "the two rules for the pool of connections contradict each other: one connection a task is {tasks}, \
         min({MOST}, max({LEAST}, (descriptors \u{2212} {SET_ASIDE})/{SHARE})) at {} descriptors is {by_rule}, and \
         leaves tasks waiting for one another's connections; for {tasks} {enough}",
        human::count(pool.descriptors)
    )
}
