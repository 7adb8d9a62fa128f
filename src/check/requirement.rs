//! What a pool is required to be.

use crate::units::{Quantile, Ratio, Seconds, Share};

/// One requirement.
#[derive(Clone, Debug, PartialEq)]
pub enum Requirement {
    /// `workers_deployed >= workers`: as many are deployed as the objectives need.
    WorkersDeployed,
    /// `workers <= 1400`: the objectives need no more than this many, a budget.
    WorkersAtMost(u64),
    /// `utilisation <= 95%`.
    Utilisation(Share),
    /// `rate_headroom >= 10%`: the rate can rise by this before the pool is full.
    RateHeadroom(Ratio),
    /// `wait_mean <= 500ms`.
    WaitMean(Seconds),
    /// `wait_p95 <= 5s`.
    WaitQuantile(Quantile, Seconds),
    /// `wait_probability <= 5%`: the share of attempts that wait at all.
    WaitProbability(Share),
    /// `layout fits`: the layout keeps every limit.
    LayoutFits,
    /// `surge fits max_replicas`: the autoscaler may start enough replicas for every surge.
    SurgeFits,
    /// `drain 1M within 15m`: this backlog is gone by then, beside the usual traffic.
    Drain {
        /// Messages that wait.
        backlog: u64,
        /// By when they are gone.
        within: Seconds,
    },
    /// `oldest_age <= 60s`: in the replayed traffic no message gets older.
    OldestAge(Seconds),
    /// `database connections <= 80%`: of those that the database has to give.
    DatabaseConnections(Share),
    /// `profile not older than 14 days`, by the last time stamp in it.
    ProfileAge(Seconds),
    /// `sample count >= 1000`: the profile holds at least this many attempts.
    SampleCount(u64),
    /// `sample count enough`: the sample leaves less than a tenth of the workers open.
    SampleEnough,
}
