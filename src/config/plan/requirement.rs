//! A requirement as it is written: `utilisation <= 95%`.

use crate::check::Requirement;
use crate::config::{headroom, utilisation};
use crate::nearest::suggestion;
use crate::units::words::shortened;
use crate::units::{Count, Quantile, Seconds, Share};

/// How each requirement is written, as an example, and what it means.
pub const REQUIREMENTS: [(&str, &str); 15] = [
    ("workers_deployed >= workers", "as many workers are deployed as the objectives need"),
    ("workers <= 1400", "the objectives need no more workers than this, a budget"),
    ("utilisation <= 95%", "the share of time for which workers are busy"),
    ("rate_headroom >= 10%", "the rate can rise by this before the pool is full"),
    ("wait_mean <= 500ms", "the mean wait"),
    ("wait_p95 <= 5s", "any quantile of the wait"),
    ("wait_probability <= 5%", "the share of attempts that wait at all"),
    ("layout fits", "the layout keeps every limit of its table"),
    ("surge fits max_replicas", "max of the autoscale table is enough for every surge"),
    ("drain 1M within 15m", "this backlog is gone by then, beside the usual traffic"),
    ("oldest_age <= 60s", "no message gets older in the replayed traffic"),
    ("database connections <= 80%", "of the connections that the database has to give"),
    ("profile not older than 14 days", "by the last time stamp of the profile"),
    ("sample count >= 1000", "the profile holds at least so many attempts"),
    ("sample count enough", "the sample leaves at most a tenth of the workers open"),
];

/// What can stand before `<=` or `>=`, with the side that makes sense.
const COMPARED: [(&str, &str); 10] = [
    ("workers_deployed", ">="),
    ("workers", "<="),
    ("utilisation", "<="),
    ("rate_headroom", ">="),
    ("wait_mean", "<="),
    ("wait_p95", "<="),
    ("wait_probability", "<="),
    ("oldest_age", "<="),
    ("database_connections", "<="),
    ("sample_count", ">="),
];

/// Reads a requirement.
///
/// # Errors
/// If it is none, with what was probably meant.
pub fn requirement(typed: &str) -> Result<Requirement, String> {
    let words: Vec<&str> = typed.split_whitespace().collect();
    match words.as_slice() {
        ["layout", "fits"] => return Ok(Requirement::LayoutFits),
        ["surge", "fits", "max_replicas"] => return Ok(Requirement::SurgeFits),
        ["sample", "count", "enough"] | ["sample_count", "enough"] => return Ok(Requirement::SampleEnough),
        ["drain", backlog, "within", within @ ..] if !within.is_empty() => {
            return Ok(Requirement::Drain {
                backlog: parsed(Count::parse_positive(backlog))?.get(),
                within: parsed(Seconds::parse_positive(&within.join(" ")))?,
            });
        }
        ["profile", "not", "older", "than", age @ ..] if !age.is_empty() => {
            let age = age.join(" ");
            if !age.contains(char::is_alphabetic) {
                return Err(format!(
                    "\"{0}\": give the age with its unit, such as {0} days",
                    shortened(&age)
                ));
            }
            return parsed(Seconds::parse_positive(&age)).map(Requirement::ProfileAge);
        }
        _ => {}
    }
    let typed = words.join(" ");
    for comparison in ["<=", ">="] {
        if let Some((left, right)) = typed.split_once(comparison) {
            return compared(&typed, &left.trim().replace(' ', "_"), comparison, right.trim());
        }
    }
    let examples: Vec<&str> = REQUIREMENTS.iter().map(|(example, _)| *example).collect();
    Err(format!("\"{}\" is no requirement; {}", shortened(&typed), suggestion(&typed, &examples)))
}

fn parsed<T, E: std::fmt::Display>(read: Result<T, E>) -> Result<T, String> {
    read.map_err(|error| error.to_string())
}

fn compared(typed: &str, left: &str, comparison: &str, right: &str) -> Result<Requirement, String> {
    let typed = shortened(typed);
    let is_quantile =
        left.strip_prefix("wait_p").is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()));
    let known = if is_quantile { "wait_p95" } else { left };
    let Some((_, sensible)) = COMPARED.iter().find(|(name, _)| *name == known) else {
        let names: Vec<&str> = COMPARED.iter().map(|(name, _)| *name).collect();
        return Err(format!(
            "\"{typed}\": \"{}\" is not known; {}",
            shortened(left),
            suggestion(left, &names)
        ));
    };
    if *sensible != comparison {
        return Err(format!("\"{typed}\": {left} is required with {sensible}, not {comparison}"));
    }
    Ok(match left {
        "workers_deployed" if right == "workers" => Requirement::WorkersDeployed,
        "workers_deployed" => return Err(format!("\"{typed}\": it is written workers_deployed >= workers")),
        "workers" => Requirement::WorkersAtMost(parsed(Count::parse_positive(right))?.get()),
        "utilisation" => Requirement::Utilisation(utilisation(right)?),
        "rate_headroom" => Requirement::RateHeadroom(headroom(right)?),
        "wait_mean" => Requirement::WaitMean(parsed(Seconds::parse_positive(right))?),
        "wait_probability" => Requirement::WaitProbability(parsed(Share::parse_inside(right))?),
        "oldest_age" => Requirement::OldestAge(parsed(Seconds::parse_positive(right))?),
        "database_connections" => Requirement::DatabaseConnections(parsed(right.parse::<Share>())?),
        "sample_count" => Requirement::SampleCount(parsed(Count::parse_positive(right))?.get()),
        quantile => Requirement::WaitQuantile(
            parsed(quantile.trim_start_matches("wait_").parse::<Quantile>())?,
            parsed(Seconds::parse_positive(right))?,
        ),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_documented_requirement_is_read() {
        for (written, _) in REQUIREMENTS {
            assert!(requirement(written).is_ok(), "{written}: {:?}", requirement(written));
        }
        assert_eq!(requirement("  utilisation<=0.95 "), requirement("utilisation <= 95%"));
        assert_eq!(requirement("sample_count >= 1k"), requirement("sample count >= 1000"));
        assert_eq!(requirement("profile not older than 14 days"), requirement("profile not older than 14d"));
    }

    #[test]
    fn a_slip_is_answered_with_what_was_meant() {
        for (written, said) in [
            ("utilization <= 95%", "did you mean \"utilisation\"?"),
            ("utilisation >= 95%", "is required with <=, not >="),
            ("workers_deployed >= 1300", "workers_deployed >= workers"),
            ("layout fit", "did you mean \"layout fits\"?"),
            ("surge fits maximum", "did you mean \"surge fits max_replicas\"?"),
            ("drain 1M within", "did you mean \"drain 1M within 15m\"?"),
            ("drain many within 15m", "\"many\""),
            ("wait_p0 <= 1s", "\"p0\""),
            ("rate_headroom >= 10", "per cent sign"),
            ("utilisation = 95%", "is no requirement"),
            ("profile not older than 14", "such as 14 days"),
            ("", "is no requirement"),
        ] {
            let error = requirement(written).unwrap_err();
            assert!(error.contains(said), "{written}: {error}");
        }
    }
}
