//! From a requirement and a planned pool to a finding.

use super::baseline::{Baseline, Tolerances};
use super::finding::{Checked, Finding, Verdict};
use super::requirement::Requirement;
use super::shown;
use crate::layout::Layout;
use crate::notice::{Note, Severity};
use crate::plan::{Place, Planned, PlannedPool, Recovery};
use crate::sizing::{Basis, Objective, Question, smallest_workers};
use crate::units::{Exact, Quantile, Seconds, Share, human, words};

/// A sample is enough if the workers that it leaves open above the answer are at most this share of them …
const ENOUGH: f64 = 0.1;

/// … and if there are as many attempts as the normal law of their mean takes.
const FEWEST_ATTEMPTS: u64 = 30;

const NS_PER_S: f64 = 1e9;

/// How far the clock that wrote the time stamps may be ahead: a day, which a wrong time zone can make of it.
const MOST_AHEAD_S: f64 = 86_400.0;

/// A requirement as a plan states it.
#[derive(Clone, Debug, PartialEq)]
pub struct Expected {
    /// The requirement.
    pub requirement: Requirement,
    /// As it was written.
    pub written: String,
    /// What follows if it is not met: [`Verdict::Fail`], or [`Verdict::Warn`] where the plan only wants to be told.
    pub otherwise: Verdict,
    /// Where it stands.
    pub at: Place,
}

/// What is found before it is known what follows from it.
struct Found {
    met: bool,
    actual: Option<f64>,
    limit: f64,
    unit: &'static str,
    message: String,
    hint: Option<String>,
}

impl Found {
    fn new(met: bool, actual: f64, limit: f64, unit: &'static str, message: String) -> Self {
        Found { met, actual: Some(actual), limit, unit, message, hint: None }
    }

    /// What cannot be judged is not met.
    fn unknown(limit: f64, unit: &'static str, message: &str, hint: &str) -> Self {
        let (message, hint) = (message.to_owned(), Some(hint.to_owned()));
        Found { met: false, actual: None, limit, unit, message, hint }
    }

    fn hint(mut self, hint: impl FnOnce() -> String) -> Self {
        if !self.met {
            self.hint = Some(hint());
        }
        self
    }
}

/// Judges every pool by its requirements, `expected` having one list for each pool, and by the baseline where there is
/// one. `now_s` is the time, in seconds since the epoch, by which ages are judged. The notes say which pools cannot be
/// compared.
#[must_use]
pub fn check(
    planned: &Planned,
    expected: &[Vec<Expected>],
    now_s: f64,
    baseline: Option<(&Baseline, &Tolerances)>,
) -> (Checked, Vec<Note>) {
    let mut findings = Vec::new();
    for (index, pool) in planned.pools.iter().enumerate() {
        for each in expected.get(index).into_iter().flatten() {
            let found = judge(&each.requirement, pool, now_s);
            findings.push(Finding {
                pool: pool.pool.name.clone(),
                requirement: each.written.clone(),
                verdict: if found.met { Verdict::Pass } else { each.otherwise },
                actual: found.actual,
                limit: found.limit,
                unit: found.unit,
                message: found.message,
                hint: found.hint,
                at: Some(each.at),
            });
        }
        if let Some((baseline, tolerances)) = baseline {
            findings.extend(baseline.compare(pool, tolerances).into_iter().flatten());
        }
    }
    let notes = baseline.map_or_else(Vec::new, |(baseline, _)| baseline.notes(&planned.pools));
    (Checked::new(findings, planned.pools.iter().map(PlannedPool::figures).collect()), notes)
}

fn judge(requirement: &Requirement, pool: &PlannedPool, now_s: f64) -> Found {
    match requirement {
        Requirement::WorkersDeployed => workers_deployed(pool),
        Requirement::WorkersAtMost(most) => {
            let needed = pool.required_workers();
            let message = format!("{} needed", human::counted(needed, "worker"));
            Found::new(needed <= *most, needed as f64, *most as f64, "workers", message)
                .hint(|| "raise the budget, or ask for less; whsize size shows what binds".to_owned())
        }
        Requirement::Utilisation(most) => objective(pool, &Objective::MaxUtilisation(most.clone()), "share"),
        Requirement::RateHeadroom(least) => objective(pool, &Objective::Headroom(least.clone()), "share"),
        Requirement::WaitMean(most) => objective(pool, &Objective::MeanWait(most.clone()), "s"),
        Requirement::WaitQuantile(quantile, most) => wait_quantile(pool, quantile, most),
        Requirement::WaitProbability(most) => {
            objective(pool, &Objective::WaitProbability(most.clone()), "share")
        }
        Requirement::LayoutFits => layout_fits(pool),
        Requirement::SurgeFits => surge_fits(pool),
        Requirement::Drain { backlog, within } => drain(pool, *backlog, within),
        Requirement::OldestAge(most) => oldest_age(pool, most),
        Requirement::DatabaseConnections(most) => database_connections(pool, most),
        Requirement::ProfileAge(most) => profile_age(pool, most, now_s),
        Requirement::SampleCount(least) => sample_count(pool, *least),
        Requirement::SampleEnough => sample_enough(pool),
    }
}

fn workers_deployed(pool: &PlannedPool) -> Found {
    let needed = pool.required_workers();
    let limit = needed as f64;
    let Some(deployed) = pool.pool.workers_deployed else {
        return Found::unknown(
            limit,
            "workers",
            &format!(
                "{} needed; the plan does not say how many are deployed",
                human::counted(needed, "worker")
            ),
            "say workers_deployed in the table of the pool",
        );
    };
    let message = format!("{} deployed, {} needed", human::count(deployed), human::count(needed));
    Found::new(deployed >= needed, deployed as f64, limit, "workers", message)
        .hint(|| format!("deploy {} more", human::count(needed - deployed)))
}

/// An objective that is judged as `size` judges it, by the smallest pool that meets it: exact where no wait is in it.
fn objective(pool: &PlannedPool, objective: &Objective, unit: &'static str) -> Found {
    let state = &pool.size.1.sizing.steady.state;
    let actual = match objective {
        Objective::MeanWait(_) => state.wait_mean_s,
        Objective::WaitProbability(_) => state.wait_probability,
        Objective::MaxUtilisation(_) => Some(state.utilisation),
        _ => Some(state.rate_headroom_ratio),
    };
    judged(pool, objective, actual, unit)
}

fn wait_quantile(pool: &PlannedPool, quantile: &Quantile, most: &Seconds) -> Found {
    let objective = Objective::WaitQuantile(quantile.clone(), most.clone());
    let alone = Question { objectives: vec![objective.clone()], ..pool.size.0.clone() };
    let given = Question { workers: Some(pool.workers()), scenarios: Vec::new(), ..alone };
    let actual = given.answer().sizing.steady.constraints.first().and_then(|constraint| constraint.achieved);
    judged(pool, &objective, actual, "s")
}

fn judged(pool: &PlannedPool, objective: &Objective, actual: Option<f64>, unit: &'static str) -> Found {
    let workers = pool.workers();
    let needed = smallest_workers(&pool.pool.demand, std::slice::from_ref(objective));
    let stable = pool.size.1.sizing.steady.state.stable;
    let with = human::counted(workers, "worker");
    let met = stable && workers >= needed;
    let limit = objective.limit();
    let message = match actual {
        Some(value) if met => format!("{} with {with}", shown::usual(value, unit)),
        Some(value) => format!("{} with {with}", shown::beyond(value, limit, unit)),
        None => format!("the queue grows without end with {with}"),
    };
    Found { met, actual, limit, unit, message, hint: None }
        .hint(|| format!("{} will do", human::counted(needed, "worker")))
}

fn layout_fits(pool: &PlannedPool) -> Found {
    let layout = &pool.layout.1.layout;
    let mut refusals = layout.findings.iter().filter(|note| note.severity == Severity::Error);
    // Each limit that is exceeded is a refusal as well, and so is what the shape has nothing to do with.
    let count = refusals.clone().count();
    let shape = layout.deployment.map(|asked| asked.in_words());
    let refusal = refusals.next().map(|note| note.message.clone());
    let message = match (shape, layout.exceeded.first(), refusal) {
        (Some(shape), Some(limit), _) => format!("{shape} exceed {}", limit.words),
        (Some(shape), None, Some(refusal)) => format!("{shape}: {refusal}"),
        (Some(shape), None, None) => shape,
        (None, _, refusal) => refusal.unwrap_or_else(|| "no shape fits".to_owned()),
    };
    let elsewhere = || refusals_hint(layout);
    Found::new(layout.holds(), count as f64, 0.0, "limits exceeded", message).hint(|| {
        match &layout.balanced {
            Some(balanced) if !layout.exceeded.is_empty() => {
                format!("{} keep every limit that a shape can keep", balanced.deployment.in_words())
            }
            Some(_) => elsewhere(),
            None => "no layout keeps every limit; whsize layout names the two that contradict each other"
                .to_owned(),
        }
    })
}

/// What to do where no other shape would help.
fn refusals_hint(layout: &Layout) -> String {
    let hints = layout.findings.iter().filter(|note| note.severity == Severity::Error);
    hints.filter_map(|note| note.hint.clone()).next().unwrap_or_else(|| "whsize layout says why".to_owned())
}

fn surge_fits(pool: &PlannedPool) -> Found {
    let Some(replayed) = &pool.autoscale else {
        let hint = "add an autoscale table with max and tasks_per_replica";
        return Found::unknown(0.0, "replicas", "the plan says nothing of replicas", hint);
    };
    let (Some(surge), Some((needed, maximum))) = (pool.largest_surge(), pool.surge_replicas()) else {
        let maximum = replayed.replay.policy.controller.bounds.maximum as f64;
        let hint = "add a surge with a name and a rate or a mean";
        return Found::unknown(maximum, "replicas", "the plan has no surge", hint);
    };
    let tasks = human::count(replayed.replay.tasks_per_replica);
    let replicas = human::counted(needed, "replica");
    let others: Vec<String> = pool
        .surges
        .iter()
        .filter(|other| other.name != surge.name)
        .filter_map(|other| Some(format!("{} {}", other.name, human::count(pool.replicas_in(other)?))))
        .collect();
    let others: Vec<&str> = others.iter().map(String::as_str).collect();
    let rest = if others.is_empty() { String::new() } else { format!("; {}", words::listed(&others)) };
    let message =
        format!("{} needs {replicas} of {tasks} tasks, {} may run{rest}", surge.name, human::count(maximum));
    Found::new(needed <= maximum, needed as f64, maximum as f64, "replicas", message)
        .hint(|| format!("raise max to {}", human::count(needed)))
}

fn drain(pool: &PlannedPool, backlog: u64, within: &Seconds) -> Found {
    let workers = pool.workers();
    let with = human::counted(workers, "worker");
    let recovery = Recovery { backlog, within: within.clone() };
    let answered = match pool.pool.drain_question(&recovery, workers).answer() {
        Ok(answered) => answered,
        Err(error) => {
            return Found::unknown(
                within.get(),
                "s",
                &error.to_string(),
                "check the units of the requirement",
            );
        }
    };
    let plan = &answered.plan;
    let message = match plan.drain_s {
        Some(drain_s) if plan.holds() => format!("gone in {} with {with}", human::duration(drain_s)),
        Some(drain_s) => format!("gone in {} with {with}", shown::beyond(drain_s, within.get(), "s")),
        None => format!("never gone with {with}"),
    };
    let met = plan.holds();
    Found { met, actual: plan.drain_s, limit: within.get(), unit: "s", message, hint: None }.hint(|| {
        match plan.workers_for_deadline {
            Some(workers) => format!("{} will do", human::counted(workers, "worker")),
            None => {
                "no number of workers does it: the receiving side's limit is below the traffic".to_owned()
            }
        }
    })
}

fn oldest_age(pool: &PlannedPool, most: &Seconds) -> Found {
    let Some(replayed) = &pool.autoscale else {
        let hint = "add an autoscale table; its traffic is replayed";
        return Found::unknown(most.get(), "s", "the plan replays no traffic", hint);
    };
    let oldest = replayed.outcome.shown.oldest_age_max_s;
    let message = format!(
        "{} at most in the replay, with up to {}",
        if oldest <= most.get() { human::duration(oldest) } else { shown::beyond(oldest, most.get(), "s") },
        human::counted(replayed.outcome.shown.replicas_max, "replica")
    );
    Found::new(oldest <= most.get(), oldest, most.get(), "s", message).hint(|| {
        "start replicas earlier: a higher min, a larger step_up or a shorter start_delay; whsize autoscale \
         replay shows where"
            .to_owned()
    })
}

fn database_connections(pool: &PlannedPool, most: &Share) -> Found {
    let Some(database) = &pool.layout.1.layout.database else {
        let hint = "add a database table with pool and max";
        return Found::unknown(most.get(), "share", "the plan has no database", hint);
    };
    let used = if database.limit == 0 { 1.0 } else { database.connections as f64 / database.limit as f64 };
    let message = format!(
        "{} of {} connections, {}",
        human::count(database.connections),
        human::count(database.limit),
        human::percent(used)
    );
    // Whole connections against an exact share: no rounding decides.
    let allowed = (most.exact() * &Exact::whole(database.limit.into())).floor();
    let met = database.limit > 0 && allowed.is_some_and(|allowed| database.connections <= allowed);
    Found::new(met, used, most.get(), "share", message)
        .hint(|| "fewer processes with more tasks each, smaller pools, or a PgBouncer in between".to_owned())
}

fn profile_age(pool: &PlannedPool, most: &Seconds, now_s: f64) -> Found {
    let unknown = |message, hint| Found::unknown(most.get(), "s", message, hint);
    let Some(profile) = &pool.pool.profile else {
        return unknown("the pool has no profile", "measure: give a profile instead of a mean");
    };
    let Some(arrivals) = profile.arrivals() else {
        let hint = "ingest attempts with a time stamp column";
        return unknown("the profile has no time stamps, so nobody can tell its age", hint);
    };
    let age = now_s - arrivals.last_ns() as f64 / NS_PER_S;
    if age < -MOST_AHEAD_S {
        let message = format!("the last attempt lies {} ahead of now", human::duration(-age));
        let hint = "check the clock that wrote the time stamps, and their unit and time zone";
        return unknown(&message, hint);
    }
    // By a clock that is a little ahead a profile is as fresh as can be.
    let age = age.max(0.0);
    let message = format!("the last attempt is {} old", human::duration(age));
    Found::new(age <= most.get(), age, most.get(), "s", message)
        .hint(|| "measure again and save the new profile".to_owned())
}

fn attempts(pool: &PlannedPool) -> Option<u64> {
    match pool.pool.demand.service.basis {
        Basis::Measured { attempts } => Some(attempts),
        Basis::ExponentialAssumed | Basis::MomentsGiven => None,
    }
}

fn sample_count(pool: &PlannedPool, least: u64) -> Found {
    let Some(attempts) = attempts(pool) else {
        let hint = "measure: give a profile instead of a mean";
        return Found::unknown(least as f64, "attempts", "nothing was measured", hint);
    };
    let message = format!("{} measured", human::counted(attempts, "attempt"));
    Found::new(attempts >= least, attempts as f64, least as f64, "attempts", message)
        .hint(|| "measure for longer".to_owned())
}

fn sample_enough(pool: &PlannedPool) -> Found {
    let (Some(attempts), Some([_, high])) = (attempts(pool), pool.workers_interval) else {
        let hint = "measure: give a profile with two attempts at least";
        return Found::unknown(ENOUGH, "share", "nothing was measured", hint);
    };
    let needed = pool.required_workers();
    let open = (high.saturating_sub(needed)) as f64 / needed as f64;
    let few = attempts < FEWEST_ATTEMPTS;
    // One worker more is no tenth of a small pool, and still as close as a number of workers can be.
    let met = open <= ENOUGH || high <= needed + 1;
    let message = format!(
        "{} leave up to {} open, {} above the answer",
        human::counted(attempts, "attempt"),
        human::counted(high, "worker"),
        human::percent(open)
    );
    if few {
        let message = format!("{message}, and {FEWEST_ATTEMPTS} at least are needed to tell");
        return Found::new(false, attempts as f64, FEWEST_ATTEMPTS as f64, "attempts", message)
            .hint(|| "measure for longer".to_owned());
    }
    Found::new(met, open, ENOUGH, "share", message).hint(|| {
        // The width falls with the square root of the attempts.
        let factor = (open / ENOUGH).powi(2).max(1.0);
        let enough = (attempts as f64 * factor).ceil() as u64;
        format!("about {} would do", human::counted(enough, "attempt"))
    })
}
