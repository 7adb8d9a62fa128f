//! The saved JSON of `plan` or `check`, as something to compare with.

use crate::cli::input;
use anyhow::{Context, Result, bail, ensure};
use serde::Deserialize;
use serde_json::Value;
use std::path::Path;
use whsize::check::Baseline;
use whsize::plan::Figures;
use whsize::report::schema;
use whsize::units::words;

#[derive(Deserialize)]
struct Envelope {
    schema: String,
    result: Value,
}

#[derive(Deserialize)]
struct Answered {
    pools: Vec<Pool>,
}

#[derive(Deserialize)]
struct Pool {
    name: String,
    rate_per_s: f64,
    service_mean_s: f64,
    service_scv: f64,
    arrival_scv: f64,
    workers: u64,
}

/// The largest figure that is compared with: rates, times and variabilities of pools stay far below it, and what a
/// tolerance makes of it stays a number.
const LARGEST: f64 = 1e18;

/// Reads it from a file.
pub(super) fn read(path: &Path) -> Result<Baseline> {
    parse(&input::text(path)?).with_context(|| format!("reading a baseline from {}", input::name(path)))
}

fn parse(text: &str) -> Result<Baseline> {
    // A byte order mark is no part of a text, as in a plan.
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let envelope: Envelope = serde_json::from_str(text)
        .context("this is not the JSON of a command; save it with whsize plan … --format json")?;
    let known = ["plan", "check"].map(schema::name);
    if !known.contains(&envelope.schema) {
        bail!(
            "it has the schema {}, and {} or {} is needed: whsize plan … --format json",
            envelope.schema,
            known[0],
            known[1]
        );
    }
    let answered: Answered = serde_json::from_value(envelope.result).context("reading its result")?;
    let pools = answered.pools.into_iter().map(|pool| {
        for (name, figure, least) in [
            ("rate_per_s", pool.rate_per_s, f64::MIN_POSITIVE),
            ("service_mean_s", pool.service_mean_s, f64::MIN_POSITIVE),
            ("service_scv", pool.service_scv, 0.0),
            ("arrival_scv", pool.arrival_scv, 0.0),
        ] {
            ensure!(
                (least..=LARGEST).contains(&figure),
                "the pool {} has a {name} of {figure:e}, which no pool has",
                words::shortened(&pool.name)
            );
        }
        Ok(Figures {
            name: pool.name,
            rate_per_s: pool.rate_per_s,
            service_mean_s: pool.service_mean_s,
            service_scv: pool.service_scv,
            arrival_scv: pool.arrival_scv,
            attempts_measured: None,
            workers: pool.workers,
            workers_interval: None,
            workers_deployed: None,
        })
    });
    Ok(Baseline { pools: pools.collect::<Result<_>>()? })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_read_from_a_plan_or_a_check_and_nothing_else() {
        let pool = r#"{"name":"a","rate_per_s":900,"service_mean_s":1.4,"service_scv":1,"arrival_scv":1,"workers":1263}"#;
        let document =
            |schema: &str, pool: &str| format!(r#"{{"schema":"{schema}","result":{{"pools":[{pool}]}}}}"#);
        for schema in ["whsize.plan/1", "whsize.check/1"] {
            assert_eq!(parse(&document(schema, pool)).unwrap().pools[0].workers, 1263);
            let marked = format!("\u{feff}{}", document(schema, pool));
            assert_eq!(parse(&marked).unwrap().pools[0].workers, 1263);
        }
        for (text, named) in [
            (String::new(), "--format json"),
            (document("whsize.size/1", pool), "whsize.plan/1 or whsize.check/1"),
            (document("whsize.plan/1", "{}"), "reading its result"),
            (
                document("whsize.plan/1", &pool.replace("1.4", "-1.4")),
                "the pool a has a service_mean_s of -1.4e0, which no pool has",
            ),
            (document("whsize.plan/1", &pool.replace("1.4", "1.7e308")), "service_mean_s of 1.7e308"),
        ] {
            let error = format!("{:#}", parse(&text).unwrap_err());
            assert!(error.contains(named), "{text}: {error}");
        }
    }
}
