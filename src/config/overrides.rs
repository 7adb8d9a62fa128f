//! Values that are typed over those of a file: `--set deliveries.rate=950`.

use super::{ConfigError, Document};
use crate::nearest::suggestion;
use std::borrow::Cow;
use std::ops::Range;
use std::str::FromStr;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// A value for the key at a dotted path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Override {
    path: Vec<String>,
    value: String,
    typed: String,
}

impl FromStr for Override {
    type Err = String;

    /// Reads `deliveries.rate=950`.
    fn from_str(typed: &str) -> Result<Self, String> {
        let refuse = |reason: &str| {
            Err(format!(
                "\"{typed}\": {reason}; a value is set with POOL.KEY=VALUE, such as deliveries.rate=950"
            ))
        };
        let Some((path, value)) = typed.split_once('=') else { return refuse("there is no \"=\"") };
        let path: Vec<String> = path.split('.').map(|step| step.trim().to_owned()).collect();
        if path.len() < 2 {
            return refuse("there is no \".\" before the key");
        }
        if path.iter().any(String::is_empty) {
            return refuse("a part of the key is empty");
        }
        Ok(Override { path, value: value.trim().to_owned(), typed: typed.to_owned() })
    }
}

impl Override {
    /// As an error shows it.
    pub(super) fn in_words(&self) -> String {
        format!("--set {}", self.typed)
    }

    /// Puts the value into the tables below `[below]`. The first step of the path must be there; what is missing further
    /// down is made.
    pub(super) fn apply<'d>(
        &'d self,
        root: &mut DeTable<'d>,
        below: &str,
        place: &Range<usize>,
        document: &Document,
    ) -> Result<(), ConfigError> {
        let refuse = |message: String| document.error_at(place, message);
        let Some((key, tables)) = self.path.split_last() else { return Ok(()) };
        let mut table = match root.get_mut(below).map(Spanned::get_mut) {
            Some(DeValue::Table(table)) => table,
            _ => return Err(refuse(format!("the file has no [{below}.NAME] whose values could be set"))),
        };
        for (depth, step) in tables.iter().enumerate() {
            if table.get(step.as_str()).is_none() {
                if depth == 0 {
                    let known: Vec<&str> = table.keys().map(|key| key.get_ref().as_ref()).collect();
                    return Err(refuse(format!(
                        "there is no {below} \"{step}\"; {}",
                        suggestion(step, &known)
                    )));
                }
                table.insert(
                    Spanned::new(place.clone(), Cow::Borrowed(step.as_str())),
                    Spanned::new(place.clone(), DeValue::Table(DeTable::new())),
                );
            }
            table = match table.get_mut(step.as_str()).map(Spanned::get_mut) {
                Some(DeValue::Table(inner)) => inner,
                _ => return Err(refuse(format!("\"{step}\" is no table, so nothing in it can be set"))),
            };
        }
        let value = match self.value.as_str() {
            "true" => DeValue::Boolean(true),
            "false" => DeValue::Boolean(false),
            text => DeValue::String(Cow::Borrowed(text)),
        };
        table.remove(key.as_str());
        table.insert(
            Spanned::new(place.clone(), Cow::Borrowed(key.as_str())),
            Spanned::new(place.clone(), value),
        );
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::ArrivalRate;

    fn rate(text: &str, set: &[&str]) -> Result<ArrivalRate, ConfigError> {
        let overrides = set.iter().map(|typed| typed.parse().unwrap()).collect();
        let document = Document::new("plan.toml", text).with_overrides("pool", overrides);
        let mut root = document.root()?;
        let mut pools = root.table("pool")?.unwrap();
        let mut pool = pools.table("a")?.unwrap();
        let rate = pool.required("rate", ArrivalRate::parse_positive)?;
        pool.finish()?;
        pools.finish()?;
        root.finish()?;
        Ok(rate)
    }

    #[test]
    fn what_is_set_stands_over_the_file_exactly() {
        let text = "[pool.a]\nrate = 900\n";
        assert_eq!(rate(text, &["a.rate=54000/min"]).unwrap(), "900".parse().unwrap());
        assert_eq!(rate(text, &["a.rate=1", "a.rate=2.5"]).unwrap(), "2.5".parse().unwrap());
        assert_eq!(rate("[pool.a]\n", &["a.rate=1"]).unwrap(), "1".parse().unwrap());
    }

    #[test]
    fn an_error_names_what_was_set_and_not_a_line_of_the_file() {
        let text = "[pool.a]\nrate = 900\n";
        for (set, shown) in [
            ("a.rate=fast", "--set a.rate=fast: rate: \"fast\""),
            ("a.raet=1", "--set a.raet=1: [pool.a] has no key \"raet\"; did you mean \"rate\"?"),
            ("aa.rate=1", "--set aa.rate=1: there is no pool \"aa\"; did you mean \"a\"?"),
            ("a.rate.deep=1", "--set a.rate.deep=1: \"rate\" is no table"),
        ] {
            let error = rate(text, &[set]).unwrap_err().to_string();
            assert!(error.starts_with(shown), "{error}");
        }
        assert!("rate=1".parse::<Override>().unwrap_err().contains("no \".\""));
        assert!("a.rate".parse::<Override>().unwrap_err().contains("no \"=\""));
        assert!("a..rate=1".parse::<Override>().unwrap_err().contains("is empty"));
    }
}
