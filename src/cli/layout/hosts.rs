//! Hosts as they are typed, one in an argument or one a line of a file, and those of a profile's groups.

use crate::cli::input;
use crate::cli::values::Fields;
use anyhow::{Result, anyhow};
use std::collections::HashSet;
use std::path::Path;
use whsize::layout::Host;
use whsize::units::{ArrivalRate, Count, Seconds};

/// Reads `name=a,rate=20,p95=0.25,keepalive=60s,limit=5`.
pub(crate) fn host(typed: &str) -> Result<Host, String> {
    const SHAPE: &str = "a host is written name=a,rate=20,p95=0.25, and may have a keepalive and a limit";
    let mut fields = Fields::read(typed, SHAPE)?;
    let missing = |what: &str| format!("\"{typed}\": it has no {what}; {SHAPE}");
    let host = Host {
        name: fields.take("name").ok_or_else(|| missing("name"))?,
        rate: fields.parsed("rate", ArrivalRate::parse_positive)?.ok_or_else(|| missing("rate"))?,
        hold_p95: fields.parsed("p95", Seconds::parse_positive)?.ok_or_else(|| missing("p95"))?,
        keepalive: fields.parsed("keepalive", str::parse::<Seconds>)?,
        limit: fields.parsed("limit", Count::parse_positive)?.map(Count::get),
    };
    fields.finish(&["name", "rate", "p95", "keepalive", "limit"])?;
    Ok(host)
}

/// Reads one host a line; blank lines and those that start with # are skipped.
pub(super) fn read(path: &Path) -> Result<Vec<Host>> {
    let name = input::name(path);
    let text = input::text(path)?;
    let lines = text.lines().enumerate().filter(|(_, line)| {
        let line = line.trim();
        !line.is_empty() && !line.starts_with('#')
    });
    lines
        .map(|(index, line)| host(line.trim()).map_err(|error| anyhow!("{name}:{}: {error}", index + 1)))
        .collect()
}

pub(super) fn named_twice(hosts: &[Host]) -> Option<&str> {
    let mut seen = HashSet::new();
    hosts.iter().map(|host| host.name.as_str()).find(|name| !seen.insert(*name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_needs_a_name_a_rate_and_a_hold_time() {
        let read = host("name=a, rate=20, p95=250ms, keepalive=60s, limit=5").unwrap();
        assert_eq!((read.name.as_str(), read.limit), ("a", Some(5)));
        assert_eq!(read.hold_p95, "0.25".parse().unwrap());
        for (typed, reason) in [
            ("rate=20,p95=1", "no name"),
            ("name=a,p95=1", "no rate"),
            ("name=a,rate=20", "no p95"),
            ("name=a,rate=20,p95=0", "more than zero"),
            ("name=a,rate=20,p95=1,colour=red", "\"colour\" is not known"),
            ("a", "no \"=\""),
        ] {
            let error = host(typed).unwrap_err();
            assert!(error.contains(reason), "{typed}: {error}");
        }
    }
}
