//! Values that are typed over those of a file: `--set deliveries.rate=950`.

use super::{ConfigError, Document};
use crate::nearest::suggestion;
use std::borrow::Cow;
use std::ops::Range;
use std::str::FromStr;
use toml::Spanned;
use toml::de::{DeArray, DeTable, DeValue};

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

    /// Puts the value where its path leads: below a table of `[below]`, or below one of the keys beside it. A table of
    /// `below` must be there; what is missing further down is made, but for the entries of a list.
    pub(super) fn apply<'d>(
        &'d self,
        root: &mut DeTable<'d>,
        reach: Reach,
        place: &Range<usize>,
        document: &Document,
    ) -> Result<(), ConfigError> {
        self.put(root, reach, place).map_err(|message| document.error_at(place, message))
    }

    fn put<'d>(&'d self, root: &mut DeTable<'d>, reach: Reach, place: &Range<usize>) -> Result<(), String> {
        let Some((first, rest)) = self.path.split_first() else { return Ok(()) };
        let beside = reach.beside.contains(&first.as_str());
        let below = match root.get(reach.below).map(Spanned::get_ref) {
            Some(DeValue::Table(tables)) if tables.get(first.as_str()).is_some() => true,
            Some(DeValue::Table(tables)) if !beside => {
                let known: Vec<&str> = tables.keys().map(|key| key.get_ref().as_ref()).collect();
                return Err(format!(
                    "there is no {} \"{first}\"; {}",
                    reach.below,
                    suggestion(first, &known)
                ));
            }
            None if !beside => {
                return Err(format!("the file has no [{}.NAME] whose values could be set", reach.below));
            }
            _ => false,
        };
        let Some((key, tables)) = rest.split_last() else {
            if below || reach.tables.contains(&first.as_str()) {
                return Err(format!("there is no key behind \"{first}\", such as {first}.KEY=VALUE"));
            }
            insert(root, first, self.value(), place);
            return Ok(());
        };
        let start = match root.get_mut(reach.below).map(Spanned::get_mut) {
            Some(DeValue::Table(tables)) if below => tables,
            _ => root,
        };
        let mut here = within(start, first, place);
        let mut name = first;
        for step in tables {
            here = match here {
                DeValue::Table(table) => within(table, step, place),
                DeValue::Array(items) => entry(items, name, step)?,
                _ => return Err(no_table(name)),
            };
            name = step;
        }
        match here {
            DeValue::Table(table) => insert(table, key, self.value(), place),
            DeValue::Array(items) => return Err(no_entry(items, name, key)),
            _ => return Err(no_table(name)),
        }
        Ok(())
    }

    fn value(&self) -> DeValue<'_> {
        match self.value.as_str() {
            "true" => DeValue::Boolean(true),
            "false" => DeValue::Boolean(false),
            text => DeValue::String(Cow::Borrowed(text)),
        }
    }
}

/// What values can be set in a file.
#[derive(Clone, Copy, Debug)]
pub struct Reach {
    /// The table whose tables have names of their own, with which a path begins.
    pub below: &'static str,
    /// Keys of the file itself with which a path can begin as well.
    pub beside: &'static [&'static str],
    /// Those of them that are tables.
    pub tables: &'static [&'static str],
}

/// The value of a key; an empty table where there is none yet.
fn within<'t, 'd>(table: &'t mut DeTable<'d>, key: &'d str, place: &Range<usize>) -> &'t mut DeValue<'d> {
    table
        .entry(Spanned::new(place.clone(), Cow::Borrowed(key)))
        .or_insert_with(|| Spanned::new(place.clone(), DeValue::Table(DeTable::new())))
        .get_mut()
}

fn entry<'t, 'd>(items: &'t mut DeArray<'d>, name: &str, step: &str) -> Result<&'t mut DeValue<'d>, String> {
    let missing = no_entry(items, name, step);
    let index = step.parse::<usize>().ok();
    index.and_then(|index| items.get_mut(index)).map(Spanned::get_mut).ok_or(missing)
}

fn insert<'d>(table: &mut DeTable<'d>, key: &'d str, value: DeValue<'d>, place: &Range<usize>) {
    table.remove(key);
    table.insert(Spanned::new(place.clone(), Cow::Borrowed(key)), Spanned::new(place.clone(), value));
}

fn no_table(name: &str) -> String {
    format!("\"{name}\" is no table, so nothing in it can be set")
}

fn no_entry(items: &DeArray<'_>, name: &str, step: &str) -> String {
    let last = items.len().saturating_sub(1);
    format!(
        "\"{name}\" is a list, and \"{step}\" is none of its entries; say which by a number from 0 to {last}"
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::ArrivalRate;

    const REACH: Reach = Reach { below: "pool", beside: &["require", "baseline"], tables: &["baseline"] };

    fn rate(text: &str, set: &[&str]) -> Result<ArrivalRate, ConfigError> {
        let overrides = set.iter().map(|typed| typed.parse().unwrap()).collect();
        let document = Document::new("plan.toml", text).with_overrides(REACH, overrides);
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
            ("rate=1", "--set rate=1: there is no pool \"rate\""),
            ("a=1", "--set a=1: there is no key behind \"a\""),
            ("baseline=1", "--set baseline=1: there is no key behind \"baseline\""),
        ] {
            let error = rate(text, &[set]).unwrap_err().to_string();
            assert!(error.starts_with(shown), "{error}");
        }
        assert!("a.rate".parse::<Override>().unwrap_err().contains("no \"=\""));
        assert!("a..rate=1".parse::<Override>().unwrap_err().contains("is empty"));
    }
}
