//! Values that are typed as one argument but hold several: `p95=5s`, `1M@5m`, `name=outage,rate=2400,mean=3.1`.

use whsize::drain::EarlierDepth;
use whsize::units::{ArrivalRate, Count, Quantile, Seconds};

pub(crate) use whsize::config::{headroom, utilisation};

/// A quantile of the wait with its limit.
#[derive(Clone, Debug)]
pub(crate) struct QuantileLimit {
    pub(crate) quantile: Quantile,
    pub(crate) limit: Seconds,
}

/// Reads `p95=5s`.
pub(crate) fn quantile_limit(typed: &str) -> Result<QuantileLimit, String> {
    let (quantile, limit) = typed.split_once('=').ok_or_else(|| {
        format!("\"{typed}\": there is no \"=\"; a quantile and its limit are written p95=5s")
    })?;
    if limit.contains(',') {
        return Err(format!(
            "\"{typed}\": one quantile at a time; repeat the flag for another, as in --wait-quantile p95=5s \
             --wait-quantile p99=10s"
        ));
    }
    Ok(QuantileLimit {
        quantile: quantile.parse::<Quantile>().map_err(|error| error.to_string())?,
        limit: Seconds::parse_positive(limit).map_err(|error| error.to_string())?,
    })
}

/// Reads the start of a random sequence.
pub(crate) fn seed(typed: &str) -> Result<u64, String> {
    typed
        .trim()
        .parse()
        .map_err(|_| format!("\"{typed}\": a seed is a whole number from 0 to {}, such as 1 or 42", u64::MAX))
}

/// Reads how often a message is tried at most.
pub(crate) fn max_attempts(typed: &str) -> Result<u32, String> {
    typed.trim().parse().ok().filter(|attempts| (1..=1000).contains(attempts)).ok_or_else(|| {
        format!(
            "\"{typed}\": the attempts of one message are a whole number from 1 to 1000, the first included"
        )
    })
}

/// Reads `1000000@5m`: a depth, and how long ago it was read.
pub(crate) fn earlier_depth(typed: &str) -> Result<EarlierDepth, String> {
    let (depth, ago) = typed.split_once('@').ok_or_else(|| {
        format!("\"{typed}\": there is no \"@\"; a depth and how long ago it was read are written 1000000@5m")
    })?;
    Ok(EarlierDepth {
        backlog: depth.parse::<Count>().map_err(|error| error.to_string())?.get(),
        ago: Seconds::parse_positive(ago).map_err(|error| error.to_string())?,
    })
}

/// The largest pool that is judged: ten times the largest load that is answered.
const LARGEST_POOL: u64 = 100_000_000_000;

/// Reads the number of workers of a pool.
pub(crate) fn pool(typed: &str) -> Result<Count, String> {
    let workers = Count::parse_positive(typed).map_err(|error| error.to_string())?;
    if workers.get() > LARGEST_POOL {
        return Err(format!(
            "\"{typed}\": more than 100 billion workers are no pool; check the scale, such as 1300 or 280k"
        ));
    }
    Ok(workers)
}

/// Named traffic: a rate, a mean, or both; what is not given is that of the steady traffic.
#[derive(Clone, Debug)]
pub(crate) struct Surge {
    pub(crate) name: String,
    pub(crate) rate: Option<ArrivalRate>,
    pub(crate) mean: Option<Seconds>,
}

/// Reads `name=outage,rate=2400,mean=3.1`.
pub(crate) fn surge(typed: &str) -> Result<Surge, String> {
    const SHAPE: &str =
        "a scenario is written name=outage,rate=2400,mean=3.1, and needs a name and a rate or a mean";
    let mut fields = Fields::read(typed, SHAPE)?;
    let surge = Surge {
        name: fields.take("name").ok_or_else(|| format!("\"{typed}\": it has no name; {SHAPE}"))?,
        rate: fields.parsed("rate", ArrivalRate::parse_positive)?,
        mean: fields.parsed("mean", Seconds::parse_positive)?,
    };
    fields.finish(&["name", "rate", "mean"])?;
    if surge.rate.is_none() && surge.mean.is_none() {
        return Err(format!("\"{typed}\": it has neither a rate nor a mean; {SHAPE}"));
    }
    Ok(surge)
}

/// `key=value` pairs separated by commas, each key at most once.
pub(crate) struct Fields<'a> {
    typed: &'a str,
    pairs: Vec<(&'a str, &'a str)>,
    shape: &'static str,
}

impl<'a> Fields<'a> {
    pub(crate) fn read(typed: &'a str, shape: &'static str) -> Result<Self, String> {
        let mut pairs: Vec<(&str, &str)> = Vec::new();
        for part in typed.split(',') {
            let (key, value) = part
                .split_once('=')
                .map(|(key, value)| (key.trim(), value.trim()))
                .ok_or_else(|| format!("\"{typed}\": \"{part}\" has no \"=\"; {shape}"))?;
            if pairs.iter().any(|(known, _)| *known == key) {
                return Err(format!("\"{typed}\": \"{key}\" stands twice; {shape}"));
            }
            pairs.push((key, value));
        }
        Ok(Fields { typed, pairs, shape })
    }

    /// Takes a field as text; an empty one counts as absent.
    pub(crate) fn take(&mut self, key: &str) -> Option<String> {
        let at = self.pairs.iter().position(|(known, _)| *known == key)?;
        Some(self.pairs.remove(at).1.to_owned()).filter(|value| !value.is_empty())
    }

    /// Takes a field through a parser.
    pub(crate) fn parsed<T, E: std::fmt::Display>(
        &mut self,
        key: &str,
        parse: impl Fn(&str) -> Result<T, E>,
    ) -> Result<Option<T>, String> {
        match self.take(key) {
            None => Ok(None),
            Some(value) => parse(&value).map(Some).map_err(|error| format!("{key}: {error}")),
        }
    }

    /// Refuses whatever is left over.
    pub(crate) fn finish(self, known: &[&str]) -> Result<(), String> {
        match self.pairs.first() {
            None => Ok(()),
            Some((key, _)) => Err(format!(
                "\"{}\": \"{key}\" is not known, it takes {}; {}",
                self.typed,
                known.join(", "),
                self.shape
            )),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_scenario_needs_a_name_and_some_traffic() {
        let outage = surge("name=outage, rate=144k/min, mean=3100ms").unwrap();
        assert_eq!((outage.name.as_str(), outage.rate), ("outage", "2400".parse().ok()));
        for (typed, reason) in [
            ("rate=2400", "no name"),
            ("name=x", "neither"),
            ("name=x,rate=1,rate=2", "twice"),
            ("name=x,rate=0", "more than zero"),
            ("name=x,speed=3", "\"speed\" is not known"),
            ("outage", "no \"=\""),
            ("", "no \"=\""),
        ] {
            let error = surge(typed).unwrap_err();
            assert!(error.contains(reason), "{typed}: {error}");
        }
    }

    #[test]
    fn an_earlier_depth_was_read_some_time_ago() {
        let earlier = earlier_depth("1M@5m").unwrap();
        assert_eq!((earlier.backlog, earlier.ago.get()), (1_000_000, 300.0));
        for typed in ["1M", "1M@", "@5m", "1M@0", "1.5@5m", "-1@5m", ""] {
            assert!(earlier_depth(typed).is_err(), "{typed}");
        }
    }

    #[test]
    fn a_pool_has_a_size_that_can_be_judged() {
        assert_eq!(pool("280k").unwrap().get(), 280_000);
        assert!(pool("100G").is_ok());
        for typed in ["0", "1.5", "101G", "969e12", "-1"] {
            assert!(pool(typed).unwrap_err().contains(&format!("\"{typed}\"")), "{typed}");
        }
    }

    #[test]
    fn a_quantile_objective_has_a_limit() {
        let parsed = quantile_limit("p99.9=500ms").unwrap();
        assert_eq!((parsed.quantile.get(), parsed.limit.get()), (0.999, 0.5));
        let two = quantile_limit("p95=5s,p99=10s").unwrap_err();
        assert!(two.contains("p95=5s,p99=10s") && two.contains("repeat the flag"), "{two}");
        for typed in ["p95", "p95=", "=5", "p95=0", "p100=5"] {
            assert!(quantile_limit(typed).is_err(), "{typed}");
        }
    }

    #[test]
    fn a_seed_and_a_number_of_attempts_are_refused_by_what_was_typed() {
        assert_eq!((seed("0"), max_attempts("8")), (Ok(0), Ok(8)));
        for typed in ["-1", "1.5", "", "x", "18446744073709551616"] {
            let error = seed(typed).unwrap_err();
            assert!(error.contains(&format!("\"{typed}\"")) && error.contains("whole number"), "{error}");
        }
        for typed in ["-1", "0", "1001", "1.5", "many"] {
            let error = max_attempts(typed).unwrap_err();
            assert!(error.contains(&format!("\"{typed}\"")) && error.contains("1 to 1000"), "{error}");
        }
    }
}
