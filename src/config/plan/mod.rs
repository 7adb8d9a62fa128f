//! The file of `plan` and `check`: `whsize.toml`, a table for each pool.

mod autoscaling;
mod deployment;
mod pool;
mod requirement;

use super::{ConfigError, Document, Reach, Table, objectives, service, trace};
use crate::check::{Expected, Tolerances, Verdict};
use crate::notice::Note;
use crate::plan::{Place, Plan};
use crate::units::Ratio;

pub use requirement::{REQUIREMENTS, requirement};

/// The table under which pools have their names.
const POOLS: &str = "pool";

/// What values can be set in a plan.
pub const REACH: Reach =
    Reach { below: POOLS, beside: &["require", "warn", "baseline"], tables: &["baseline"] };

/// A commented plan that runs as it is.
pub const STARTER: &str = include_str!("../../../data/whsize.toml");

/// The most pools of one plan.
const MOST_POOLS: usize = 10_000;

/// A plan file as it was read.
#[derive(Clone, Debug, PartialEq)]
pub struct Read {
    /// The pools.
    pub plan: Plan,
    /// What is required of each pool, in the same order.
    pub expected: Vec<Vec<Expected>>,
    /// By how much a pool may differ from a baseline.
    pub tolerances: Tolerances,
    /// What was remarked on the measurements that the file names.
    pub notes: Vec<Note>,
}

/// Reads a plan file.
///
/// # Errors
/// If something in it is not understood, is missing, or does not fit together.
pub fn read(document: &Document) -> Result<Read, ConfigError> {
    let mut root = document.root()?;
    let everywhere = expected(&mut root)?;
    let tolerances = tolerances(&mut root)?;
    let Some(mut named) = root.table(POOLS)? else {
        return Err(
            root.error("there is no pool; add [pool.NAME] with its rate, mean and wait (whsize plan --init)")
        );
    };
    let tables = named.named_tables()?;
    if tables.is_empty() {
        return Err(named.error("there is no pool in it; add [pool.NAME]"));
    }
    if tables.len() > MOST_POOLS {
        return Err(named.error(format!("{} pools are more than {MOST_POOLS}", tables.len())));
    }
    let mut read =
        Read { plan: Plan { pools: Vec::new() }, expected: Vec::new(), tolerances, notes: Vec::new() };
    for (name, mut table) in tables {
        let name = service::name(&name).map_err(|reason| table.error(reason))?;
        let mut required = everywhere.clone();
        add(&mut required, expected(&mut table)?);
        read.plan.pools.push(pool::pool(name, &mut table, &mut read.notes)?);
        read.expected.push(required);
        table.finish()?;
    }
    root.finish()?;
    Ok(read)
}

/// Takes `require`, whose requirements fail, and `warn`, whose requirements only warn.
fn expected(table: &mut Table<'_>) -> Result<Vec<Expected>, ConfigError> {
    let mut all = Vec::new();
    for (key, otherwise) in [("require", Verdict::Fail), ("warn", Verdict::Warn)] {
        let read = |typed: &str| requirement(typed).map(|requirement| (requirement, typed.trim().to_owned()));
        for ((requirement, written), at) in table.placed_list(key, read)? {
            add(&mut all, [Expected { requirement, written, otherwise, at: place(at) }]);
        }
    }
    Ok(all)
}

/// Adds requirements, each once: the stricter of two that are the same stays.
fn add(all: &mut Vec<Expected>, more: impl IntoIterator<Item = Expected>) {
    for each in more {
        match all.iter_mut().find(|known| known.requirement == each.requirement) {
            Some(known) if known.otherwise < each.otherwise => *known = each,
            Some(_) => {}
            None => all.push(each),
        }
    }
}

fn tolerances(root: &mut Table<'_>) -> Result<Tolerances, ConfigError> {
    let mut table = root.table("baseline")?;
    let mut given =
        |key| table.as_mut().map_or(Ok(None), |table| table.optional(key, Ratio::parse_percentage));
    let usual = |typed: &str| Ratio::parse_percentage(typed).map_err(|reason| root.error(reason));
    let tolerances = Tolerances {
        workers: given("workers")?.map_or_else(|| usual("10%"), Ok)?,
        service_mean: given("service_mean")?.map_or_else(|| usual("20%"), Ok)?,
        rate: given("rate")?,
        service_scv: given("service_scv")?,
    };
    table.map_or(Ok(()), Table::finish)?;
    Ok(tolerances)
}

fn place((line, column): (usize, usize)) -> Place {
    Place { line, column }
}
