//! The report of `plan`: every pool with the answers of all solvers, in the words of their own reports.

mod figures;

pub use figures::{distribution, drain as drain_curve, phases};

use super::{Answer, Column, Explanation, NotFinite, Report, Section, Table, autoscale, drain, layout, size};
use crate::notice::{Note, Severity};
use crate::plan::{Planned, PlannedPool, Surge};
use crate::units::human;
use serde::Serialize;

/// What `plan` and `check` were given, as the envelope shows it.
#[derive(Clone, Debug, Serialize)]
pub struct Inputs {
    /// The file of the plan.
    pub file: String,
    /// Values that were set over those of the file, as they were typed.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub set: Vec<String>,
    /// The earlier answer that `check` compares with.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub baseline: Option<String>,
}

/// How much a report says of each pool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Detail {
    /// The answer of each solver in a sentence.
    Brief,
    /// Everything that each solver reports, with figures.
    Full,
}

/// Builds the report of a plan; `read` is what was remarked while it was read.
///
/// # Errors
/// If a number is not finite, which would be a defect.
pub fn report(
    inputs: &Inputs,
    planned: &Planned,
    detail: Detail,
    read: Vec<Note>,
) -> Result<Report, NotFinite> {
    let answer = if planned.holds() { Answer::Yes } else { Answer::No };
    let mut report = Report::new("plan", answer, String::new(), inputs, &planned.outcome())?;
    report.sections.push(Section::Table(pools(planned)));
    let several = planned.pools.len() > 1;
    for pool in &planned.pools {
        report.sections.push(Section::Heading(pool.pool.name.clone()));
        add_pool(&mut report, pool, detail, several)?;
    }
    report.notes.extend(read);
    let warnings = report.notes.iter().filter(|note| note.severity == Severity::Warning).count();
    report.headline = headline(planned, warnings);
    Ok(report)
}

fn headline(planned: &Planned, warnings: usize) -> String {
    let pools = human::counted(planned.pools.len() as u64, "pool");
    let workers = planned.pools.iter().map(PlannedPool::required_workers).fold(0, u64::saturating_add);
    let needed = format!("{pools}: {} needed", human::counted(workers, "worker"));
    let failing: Vec<String> = planned
        .pools
        .iter()
        .filter(|pool| !pool.holds())
        .map(|pool| format!("{} ({})", pool.pool.name, misses(pool)))
        .collect();
    match failing.as_slice() {
        // What was only assumed is no limit that is broken, and worth a look all the same.
        [] => match warnings {
            0 => format!("{needed}; every stated objective, limit and deadline holds."),
            1 => format!("{needed}; every stated objective, limit and deadline holds, with 1 warning."),
            more => format!(
                "{needed}; every stated objective, limit and deadline holds, with {} warnings.",
                human::count(more as u64)
            ),
        },
        [first] => format!("No: {needed}, and {first} does not hold."),
        [first, rest @ ..] => {
            format!("No: {needed}, and {} do not hold: {first} and {} more.", failing.len(), rest.len())
        }
    }
}

/// Which answers of a pool are no.
fn misses(pool: &PlannedPool) -> String {
    let answers = [
        ("objectives", pool.meets_objectives()),
        ("layout", pool.layout.1.layout.holds()),
        ("recovery", pool.drain.as_ref().is_none_or(|(_, answered)| answered.plan.holds())),
        (
            "age in the replay",
            pool.autoscale.as_ref().is_none_or(|replayed| replayed.outcome.shown.objective_missed_s == 0.0),
        ),
    ];
    let missed: Vec<&str> = answers.into_iter().filter(|(_, holds)| !holds).map(|(name, _)| name).collect();
    missed.join(", ")
}

fn pools(planned: &Planned) -> Table {
    let columns = [
        Column::words("pool"),
        Column::number("rate"),
        Column::number("service"),
        Column::number("needed"),
        Column::number("deployed"),
        Column::number("utilisation"),
        Column::number("mean wait"),
        Column::number("pods"),
        Column::words("holds"),
    ];
    let mut table = Table::new("Pools", &columns);
    for pool in &planned.pools {
        let (demand, steady) = (&pool.pool.demand, &pool.size.1.sizing.steady);
        let needed = match pool.workers_interval {
            Some([low, high]) if low < high => format!(
                "{} ({} to {})",
                human::count(steady.required_workers),
                human::count(low),
                human::count(high)
            ),
            _ => human::count(steady.required_workers),
        };
        table.row([
            pool.pool.name.clone(),
            demand.rate.to_string(),
            demand.service.mean.to_string(),
            needed,
            pool.pool.workers_deployed.map_or_else(|| "\u{2013}".to_owned(), human::count),
            human::percent(steady.state.utilisation),
            steady.state.wait_mean_s.map_or_else(|| "grows without end".to_owned(), human::duration),
            pool.layout
                .1
                .layout
                .deployment
                .map_or_else(|| "\u{2013}".to_owned(), |layout| human::count(layout.pods)),
            if pool.holds() { "yes" } else { "no" }.to_owned(),
        ]);
    }
    table
}

/// The answers of every solver for one pool, each from its own report.
fn add_pool(report: &mut Report, pool: &PlannedPool, detail: Detail, several: bool) -> Result<(), NotFinite> {
    let full = detail == Detail::Full;
    let mut answers = Vec::new();
    let mut sections = Vec::new();
    let mut add = |name: &str, part: Report, figure: Option<super::Figure>| {
        answers.push((name.to_owned(), part.headline));
        sections.extend(part.sections);
        sections.extend(figure.map(Section::Figure));
        for note in part.notes {
            if full || !several || note.severity > Severity::Info {
                report.notes.push(about(pool, note, several));
            }
        }
        report.explanations.extend(part.explanations.into_iter().map(|step| of_pool(pool, step, several)));
    };
    let (question, sized) = &pool.size;
    let steady = &sized.sizing.steady;
    let curve = full.then(|| size::figure(question, steady, &question.wait_curve(steady)));
    add("workers", size::report(question, sized)?, curve);
    let (question, laid_out) = &pool.layout;
    add("layout", layout::report(question, laid_out)?, None);
    if let Some((question, answered)) = &pool.drain {
        add(
            "recovery",
            drain::report(question, answered)?,
            full.then(|| drain_curve(question, &answered.plan)),
        );
    }
    if let Some(replayed) = &pool.autoscale {
        let figure = full.then(|| autoscale::figure(&replayed.replay, &replayed.outcome));
        add("autoscaling", autoscale::replay(&replayed.replay, &replayed.outcome)?, figure);
    }
    answers.extend(surges(pool));
    report.sections.push(Section::Facts { title: "Answers", rows: answers });
    if full {
        let measured = pool.pool.profile.as_ref().and_then(distribution);
        report.sections.extend(measured.map(Section::Figure));
        let phases = pool.pool.profile.as_ref().and_then(phases);
        report.sections.extend(phases.map(Section::Bars));
        report.sections.extend(sections);
    }
    Ok(())
}

/// The formulas behind the answers of every pool, as `check` shows them on request.
///
/// # Errors
/// If a number is not finite, which would be a defect.
pub fn explanations(planned: &Planned) -> Result<Vec<Explanation>, NotFinite> {
    let several = planned.pools.len() > 1;
    let mut all = Vec::new();
    for pool in &planned.pools {
        let mut parts =
            vec![size::report(&pool.size.0, &pool.size.1)?, layout::report(&pool.layout.0, &pool.layout.1)?];
        if let Some((question, answered)) = &pool.drain {
            parts.push(drain::report(question, answered)?);
        }
        if let Some(replayed) = &pool.autoscale {
            parts.push(autoscale::replay(&replayed.replay, &replayed.outcome)?);
        }
        let steps = parts.into_iter().flat_map(|part| part.explanations);
        all.extend(steps.map(|step| of_pool(pool, step, several)));
    }
    Ok(all)
}

/// A formula with the pool whose numbers are put in.
fn of_pool(pool: &PlannedPool, step: Explanation, several: bool) -> Explanation {
    if several {
        Explanation { numbers: format!("{}: {}", pool.pool.name, step.numbers), ..step }
    } else {
        step
    }
}

/// What each surge needs, in words.
fn surges(pool: &PlannedPool) -> Vec<(String, String)> {
    let maximum = pool.surge_replicas().map(|(_, maximum)| maximum);
    let words = |surge: &Surge| {
        let workers = format!("{} takes {}", surge.name, human::counted(surge.workers, "worker"));
        match pool.replicas_in(surge).zip(maximum) {
            Some((needed, maximum)) => {
                let yes = if needed <= maximum { "Yes" } else { "No" };
                let replicas = human::counted(needed, "replica");
                format!("{yes}: {workers}, {replicas}; {} may run.", human::count(maximum))
            }
            None => format!("{workers}."),
        }
    };
    pool.surges.iter().map(|surge| ("surge".to_owned(), words(surge))).collect()
}

/// Options of the single commands that are keys of a plan.
const KEYS: [&str; 6] = ["--headroom", "--max-utilisation", "--profile", "--mean", "--rate", "--lease"];

/// A hint of a single command in the words of a plan: its keys in place of options.
fn in_keys(hint: &str) -> String {
    let word = |word: &str| {
        let key = KEYS.iter().find(|key| word.trim_end_matches([',', ':', ';', '.']) == **key);
        match key {
            Some(key) => word.replacen(key, &key.trim_start_matches('-').replace('-', "_"), 1),
            None => word.to_owned(),
        }
    };
    hint.split(' ').map(word).collect::<Vec<_>>().join(" ")
}

/// A remark with the pool that it is about.
fn about(pool: &PlannedPool, note: Note, several: bool) -> Note {
    let note = Note { hint: note.hint.as_deref().map(in_keys), ..note };
    if several { Note { message: format!("{}: {}", pool.pool.name, note.message), ..note } } else { note }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hint_names_the_keys_of_the_plan_and_keeps_what_is_none() {
        assert_eq!(in_keys("ask for --headroom 10%: 1386 workers"), "ask for headroom 10%: 1386 workers");
        assert_eq!(
            in_keys("ask for --max-utilisation 95% to have it bind"),
            "ask for max_utilisation 95% to have it bind"
        );
        assert_eq!(in_keys("measure them and pass --profile."), "measure them and pass profile.");
        assert_eq!(in_keys("size --refine settles it"), "size --refine settles it");
    }
}
