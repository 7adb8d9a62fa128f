//! Partner classes, listed partners, and partners spread by a law.

use super::service::{failure_mean, name, service};
use super::{ConfigError, Table};
use crate::notice::Note;
use crate::pipeline::{Class, Limits, Named, Partners, Spread};
use crate::units::{ArrivalRate, Count, Exact, Ratio, Share};
use std::collections::BTreeSet;

/// The largest exponent of Zipf's law that is taken; beyond it the first partner has everything.
const LARGEST_EXPONENT: f64 = 10.0;

/// Reads `[[class]]`, `[[partner]]` and `[partners]`.
pub(super) fn partners(
    root: &mut Table<'_>,
    max_attempts: Option<u32>,
    notes: &mut Vec<Note>,
) -> Result<Partners, ConfigError> {
    let mut classes: Vec<Class> = Vec::new();
    let mut shares: Vec<Option<Share>> = Vec::new();
    for mut table in root.tables("class")? {
        let class = class(&mut table, &classes, max_attempts, notes)?;
        shares.push(table.optional("share", str::parse::<Share>)?);
        table.finish()?;
        classes.push(class);
    }
    let mut named: Vec<Named> = Vec::new();
    let mut names: BTreeSet<String> = BTreeSet::new();
    for mut table in root.tables("partner")? {
        let partner = self::named(&mut table, &classes)?;
        if !names.insert(partner.name.clone()) {
            return Err(table.error_at("name", format!("there are two partners \"{}\"", partner.name)));
        }
        table.finish()?;
        named.push(partner);
    }
    let spread = match root.table("partners")? {
        Some(mut table) => {
            let spread = self::spread(&mut table, &classes, &shares)?;
            table.finish()?;
            Some(spread)
        }
        None => {
            if named.is_empty() && classes.len() > 1 {
                return Err(root.error(
                    "several classes need partners: list them as [[partner]], or spread them with [partners]",
                ));
            }
            None
        }
    };
    Partners::new(classes, named, spread, max_attempts.unwrap_or(1)).map_err(|error| root.error(error))
}

fn class(
    table: &mut Table<'_>,
    known: &[Class],
    max_attempts: Option<u32>,
    notes: &mut Vec<Note>,
) -> Result<Class, ConfigError> {
    let name = table.required("name", name)?;
    if known.iter().any(|class| class.name == name) {
        return Err(table.error_at("name", format!("there are two classes \"{name}\"")));
    }
    let service = service(table, notes)?.time;
    let failure_share = table.or("failure_share", str::parse::<Share>, "0")?;
    if !failure_share.exact().is_zero() && max_attempts.is_none() {
        return Err(table.error_at(
            "failure_share",
            "failed attempts are tried again: say how often with max_attempts in [delivery]",
        ));
    }
    Ok(Class {
        name,
        failure_share,
        failure_mean: failure_mean(table, &service)?,
        limits: limits(table)?,
        ordered_keys: table.optional("ordered_keys", Count::parse_positive)?,
        service,
    })
}

/// `concurrency` and `rate`: what a partner accepts.
pub(super) fn limits(table: &mut Table<'_>) -> Result<Limits, ConfigError> {
    Ok(Limits {
        concurrency: table.optional("concurrency", Count::parse_positive)?,
        rate: table.optional("rate", ArrivalRate::parse_positive)?,
    })
}

fn named(table: &mut Table<'_>, classes: &[Class]) -> Result<Named, ConfigError> {
    let name = table.required("name", name)?;
    let class = table.optional("class", |typed| {
        classes.iter().position(|class| class.name == typed).ok_or_else(|| {
            let names: Vec<&str> = classes.iter().map(|class| class.name.as_str()).collect();
            format!("there is no class \"{typed}\"; there are {}", names.join(", "))
        })
    })?;
    if class.is_none() && classes.len() > 1 {
        return Err(table.missing("class"));
    }
    Ok(Named {
        name,
        class: class.unwrap_or(0),
        share: table.required("share", positive_share)?,
        limits: limits(table)?,
    })
}

fn spread(table: &mut Table<'_>, classes: &[Class], shares: &[Option<Share>]) -> Result<Spread, ConfigError> {
    let distribution = table.choice("distribution", &[("zipf", 1.0), ("equal", 0.0)])?;
    let exponent = table.optional("exponent", exponent)?;
    let exponent = match (distribution, exponent) {
        (Some(0.0), Some(_)) => {
            return Err(
                table.error_at("exponent", "equal shares have no exponent; say distribution = \"zipf\"")
            );
        }
        (Some(usual), None) => usual,
        (_, Some(exponent)) => exponent,
        (None, None) => return Err(table.missing("distribution")),
    };
    let count = table.required("count", Count::parse_positive)?;
    Ok(Spread { count, exponent, class_shares: class_shares(table, classes, shares)? })
}

/// The share of partners of each class: all of them where there is one class, else they must make a whole.
fn class_shares(
    table: &Table<'_>,
    classes: &[Class],
    shares: &[Option<Share>],
) -> Result<Vec<Share>, ConfigError> {
    if let [None] = shares {
        return Share::new(Exact::one())
            .map(|whole| vec![whole])
            .ok_or_else(|| table.error("one is a share"));
    }
    let mut given = Vec::with_capacity(shares.len());
    for (class, share) in classes.iter().zip(shares) {
        given.push(share.clone().ok_or_else(|| {
            table.error(format!(
                "the class \"{}\" needs a share of these partners: share = \"5%\"",
                class.name
            ))
        })?);
    }
    let sum = given.iter().fold(Exact::zero(), |sum, share| &sum + share.exact());
    if sum != Exact::one() {
        let sum = crate::units::human::percent(sum.to_f64());
        return Err(table.error(format!("the shares of the classes make {sum}, not 100%")));
    }
    Ok(given)
}

fn positive_share(typed: &str) -> Result<Share, String> {
    let share: Share = typed.parse().map_err(|error| format!("{error}"))?;
    if share.exact().is_zero() {
        return Err(format!("\"{typed}\": a partner with no deliveries needs no plan"));
    }
    Ok(share)
}

fn exponent(typed: &str) -> Result<f64, String> {
    let exponent = typed.parse::<Ratio>().map_err(|error| format!("{error}"))?.get();
    if exponent > LARGEST_EXPONENT {
        return Err(format!("\"{typed}\": an exponent of Zipf's law is at most {LARGEST_EXPONENT}"));
    }
    Ok(exponent)
}
