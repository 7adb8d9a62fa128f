//! One table of a file: hands out its values, and refuses what is left over.

use super::{ConfigError, Document};
use crate::nearest::{nearest, suggestion};
use crate::units::words::shortened;
use std::fmt::Display;
use std::ops::Range;
use toml::de::{DeTable, DeValue};

/// A value with its line and column, both from 1.
pub type Placed<T> = (T, (usize, usize));

struct Entry<'d> {
    key: String,
    key_place: Range<usize>,
    value: DeValue<'d>,
    place: Range<usize>,
}

/// A table of a [`Document`], read key by key.
///
/// Whoever reads it asks for each key once and ends with [`Table::finish`], which refuses the keys that nobody
/// asked for: what is known is what was asked for, so no list of keys can go stale.
pub struct Table<'d> {
    document: &'d Document,
    /// `events`, or `partner 3` in an array of tables; empty for the outermost.
    name: String,
    place: Range<usize>,
    unread: Vec<Entry<'d>>,
    read: Vec<(String, Range<usize>)>,
    asked: Vec<&'static str>,
}

impl<'d> Table<'d> {
    pub(super) fn new(document: &'d Document, name: String, place: Range<usize>, table: DeTable<'d>) -> Self {
        let unread = table.into_iter().map(|(key, value)| Entry {
            key_place: key.span(),
            key: key.into_inner().into_owned(),
            place: value.span(),
            value: value.into_inner(),
        });
        let unread = unread.collect();
        Table { document, name, place, unread, read: Vec::new(), asked: Vec::new() }
    }

    /// The file that it stands in.
    #[must_use]
    pub fn document(&self) -> &'d Document {
        self.document
    }

    /// Its line and column.
    #[must_use]
    pub fn at(&self) -> (usize, usize) {
        self.document.line_and_column(self.place.start)
    }

    /// Its name as an error shows it: `[events]`, `partner 3`, or `the file`.
    #[must_use]
    pub fn title(&self) -> String {
        match self.name.as_str() {
            "" => "the file".to_owned(),
            name if name.contains(' ') => name.to_owned(),
            name => format!("[{name}]"),
        }
    }

    /// A number or a text, through the parser of its type; `None` where the key is absent.
    ///
    /// A number reaches the parser as it was typed, so decimals stay exact.
    ///
    /// # Errors
    /// If the value is neither, or the parser refuses it.
    pub fn optional<T, E: Display>(
        &mut self,
        key: &'static str,
        parse: impl FnOnce(&str) -> Result<T, E>,
    ) -> Result<Option<T>, ConfigError> {
        let Some(entry) = self.take(key) else { return Ok(None) };
        self.parsed(key, &entry.place, &entry.value, parse).map(Some)
    }

    /// The same, with a default for an absent key: typed as a person would type it, and stated in the documentation.
    ///
    /// # Errors
    /// As [`Table::optional`].
    pub fn or<T, E: Display>(
        &mut self,
        key: &'static str,
        parse: impl Fn(&str) -> Result<T, E>,
        default: &str,
    ) -> Result<T, ConfigError> {
        match self.optional(key, &parse)? {
            Some(value) => Ok(value),
            None => parse(default).map_err(|error| self.error_at(key, error)),
        }
    }

    /// The same where the key must be there.
    ///
    /// # Errors
    /// As [`Table::optional`], and where the key is absent.
    pub fn required<T, E: Display>(
        &mut self,
        key: &'static str,
        parse: impl FnOnce(&str) -> Result<T, E>,
    ) -> Result<T, ConfigError> {
        self.optional(key, parse)?.ok_or_else(|| self.missing(key))
    }

    /// A number or a text, or a list of them, each through the parser; empty where the key is absent.
    ///
    /// # Errors
    /// If a value is neither, or the parser refuses it.
    pub fn list<T, E: Display>(
        &mut self,
        key: &'static str,
        parse: impl Fn(&str) -> Result<T, E>,
    ) -> Result<Vec<T>, ConfigError> {
        Ok(self.placed_list(key, parse)?.into_iter().map(|(item, _)| item).collect())
    }

    /// The same, each with its line and column.
    ///
    /// # Errors
    /// As [`Table::list`].
    pub fn placed_list<T, E: Display>(
        &mut self,
        key: &'static str,
        parse: impl Fn(&str) -> Result<T, E>,
    ) -> Result<Vec<Placed<T>>, ConfigError> {
        let Some(entry) = self.take(key) else { return Ok(Vec::new()) };
        let items: Vec<(Range<usize>, DeValue<'_>)> = match entry.value {
            DeValue::Array(items) => items.into_iter().map(|item| (item.span(), item.into_inner())).collect(),
            one => vec![(entry.place, one)],
        };
        let item = |(place, value): &(Range<usize>, DeValue<'_>)| {
            let at = self.document.line_and_column(place.start);
            self.parsed_as("a text or a list of them", key, place, value, &parse).map(|item| (item, at))
        };
        items.iter().map(item).collect()
    }

    /// `true` or `false`; `None` where the key is absent.
    ///
    /// # Errors
    /// If the value is neither.
    pub fn flag(&mut self, key: &'static str) -> Result<Option<bool>, ConfigError> {
        let Some(entry) = self.take(key) else { return Ok(None) };
        entry.value.as_bool().map(Some).ok_or_else(|| {
            self.error_in(&entry.place, format!("\"{key}\" is true or false, not {}", kind(&entry.value)))
        })
    }

    /// One of several words; `None` where the key is absent.
    ///
    /// # Errors
    /// If the value is none of them; the nearest is named.
    pub fn choice<T: Copy>(
        &mut self,
        key: &'static str,
        words: &[(&'static str, T)],
    ) -> Result<Option<T>, ConfigError> {
        self.optional(key, |typed| {
            let known = words.iter().find(|(word, _)| *word == typed);
            known.map(|(_, meaning)| *meaning).ok_or_else(|| {
                let words: Vec<&str> = words.iter().map(|(word, _)| *word).collect();
                format!("\"{}\" is not known; {}", shortened(typed), suggestion(typed, &words))
            })
        })
    }

    /// The table `[key]`; `None` where it is absent.
    ///
    /// # Errors
    /// If the key holds something else.
    pub fn table(&mut self, key: &'static str) -> Result<Option<Table<'d>>, ConfigError> {
        let Some(entry) = self.take(key) else { return Ok(None) };
        let name = self.below(key);
        match entry.value {
            DeValue::Table(table) => Ok(Some(Table::new(self.document, name, entry.key_place, table))),
            other => {
                Err(self
                    .error_in(&entry.place, format!("\"{key}\" is a table, [{name}], not {}", kind(&other))))
            }
        }
    }

    /// A table `[key]` without any keys, at the place of this one: what an absent table means where all of its keys have
    /// defaults.
    #[must_use]
    pub fn empty(&self, key: &str) -> Table<'d> {
        Table::new(self.document, self.below(key), self.place.clone(), DeTable::new())
    }

    /// The tables `[[key]]`, in order; none where the key is absent.
    ///
    /// # Errors
    /// If the key holds something else.
    pub fn tables(&mut self, key: &'static str) -> Result<Vec<Table<'d>>, ConfigError> {
        let Some(entry) = self.take(key) else { return Ok(Vec::new()) };
        let name = self.below(key);
        let refuse = |table: &Self, place: &Range<usize>, value: &DeValue<'_>| {
            table.error_in(place, format!("\"{key}\" is a list of tables, [[{name}]], not {}", kind(value)))
        };
        let DeValue::Array(items) = entry.value else {
            return Err(refuse(self, &entry.place, &entry.value));
        };
        let mut tables = Vec::with_capacity(items.len());
        for (index, item) in items.into_iter().enumerate() {
            let place = item.span();
            match item.into_inner() {
                DeValue::Table(table) => {
                    tables.push(Table::new(self.document, format!("{name} {}", index + 1), place, table));
                }
                other => return Err(refuse(self, &place, &other)),
            }
        }
        Ok(tables)
    }

    /// Every table that is left, with its key: for files whose tables are named by their author.
    ///
    /// # Errors
    /// If something that is left is no table.
    pub fn named_tables(&mut self) -> Result<Vec<(String, Table<'d>)>, ConfigError> {
        let mut entries = std::mem::take(&mut self.unread);
        entries.sort_by_key(|entry| entry.key_place.start);
        let named = entries.into_iter().map(|entry| {
            let name = self.below(&entry.key);
            match entry.value {
                DeValue::Table(table) => {
                    Ok((entry.key, Table::new(self.document, name, entry.key_place, table)))
                }
                other => Err(self.error_in(
                    &entry.place,
                    format!("\"{}\" is a table, [{name}], not {}", entry.key, kind(&other)),
                )),
            }
        });
        named.collect()
    }

    /// Refuses whatever nobody asked for.
    ///
    /// # Errors
    /// If a key is left: the first one in the file, with the nearest that is known.
    pub fn finish(self) -> Result<(), ConfigError> {
        match self.unread.iter().min_by_key(|entry| entry.key_place.start) {
            None => Ok(()),
            Some(entry) => Err(self.error_in(
                &entry.key_place,
                format!(
                    "{} has no key \"{}\"; {}",
                    self.title(),
                    shortened(&entry.key),
                    suggestion(&entry.key, &self.asked)
                ),
            )),
        }
    }

    /// An error about the table as a whole.
    #[must_use]
    pub fn error(&self, message: impl Display) -> ConfigError {
        self.error_in(&self.place, format!("{}: {message}", self.title()))
    }

    /// An error about a value that was read; about the table where the key was absent.
    #[must_use]
    pub fn error_at(&self, key: &str, message: impl Display) -> ConfigError {
        let read = self.read.iter().find(|(known, _)| known == key);
        match read {
            Some((_, place)) => self.error_in(place, format!("{key}: {message}")),
            None => self.error(message),
        }
    }

    /// The error that a key is absent. A similar key that nobody has asked for yet is pointed at.
    #[must_use]
    pub fn missing(&self, key: &str) -> ConfigError {
        let keys: Vec<&str> = self.unread.iter().map(|entry| entry.key.as_str()).collect();
        let message = format!("{} needs \"{key}\"", self.title());
        let similar = nearest(key, &keys).and_then(|near| self.unread.iter().find(|entry| entry.key == near));
        match similar {
            Some(entry) => {
                self.error_in(&entry.key_place, format!("{message}; is \"{}\" meant to be it?", entry.key))
            }
            None => self.error_in(&self.place, message),
        }
    }

    /// A value through the parser of its type.
    fn parsed<T, E: Display>(
        &self,
        key: &str,
        place: &Range<usize>,
        value: &DeValue<'_>,
        parse: impl FnOnce(&str) -> Result<T, E>,
    ) -> Result<T, ConfigError> {
        self.parsed_as("a number or a text", key, place, value, parse)
    }

    /// The same, with what the key takes in words.
    fn parsed_as<T, E: Display>(
        &self,
        what: &str,
        key: &str,
        place: &Range<usize>,
        value: &DeValue<'_>,
        parse: impl FnOnce(&str) -> Result<T, E>,
    ) -> Result<T, ConfigError> {
        let typed = scalar(value)
            .ok_or_else(|| self.error_in(place, format!("\"{key}\" is {what}, not {}", kind(value))))?;
        parse(&typed).map_err(|error| self.error_in(place, format!("{key}: {error}")))
    }

    fn below(&self, key: &str) -> String {
        let key = shortened(key);
        if self.name.is_empty() { key } else { format!("{}.{key}", self.name) }
    }

    fn take(&mut self, key: &'static str) -> Option<Entry<'d>> {
        self.asked.push(key);
        let at = self.unread.iter().position(|entry| entry.key == key)?;
        let entry = self.unread.swap_remove(at);
        self.read.push((entry.key.clone(), entry.place.clone()));
        Some(entry)
    }

    fn error_in(&self, place: &Range<usize>, message: impl Into<String>) -> ConfigError {
        self.document.error_at(place, message)
    }
}

/// A number, a date or a text as it was typed.
fn scalar(value: &DeValue<'_>) -> Option<String> {
    match value {
        DeValue::String(text) => Some(text.clone().into_owned()),
        DeValue::Integer(number) => Some(number.to_string()),
        DeValue::Float(number) => Some(number.as_str().to_owned()),
        DeValue::Datetime(time) => Some(time.to_string()),
        DeValue::Boolean(_) | DeValue::Array(_) | DeValue::Table(_) => None,
    }
}

fn kind(value: &DeValue<'_>) -> &'static str {
    match value {
        DeValue::String(_) => "a text",
        DeValue::Integer(_) | DeValue::Float(_) => "a number",
        DeValue::Boolean(_) => "true or false",
        DeValue::Datetime(_) => "a date",
        DeValue::Array(_) => "a list",
        DeValue::Table(_) => "a table",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::{ArrivalRate, Seconds};

    fn read<T>(
        text: &str,
        take: impl FnOnce(&mut Table<'_>) -> Result<T, ConfigError>,
    ) -> Result<T, ConfigError> {
        let document = Document::new("plan.toml", text);
        let mut root = document.root()?;
        let taken = take(&mut root)?;
        root.finish()?;
        Ok(taken)
    }

    fn complaint<T>(text: &str, take: impl FnOnce(&mut Table<'_>) -> Result<T, ConfigError>) -> String {
        read(text, take).map(|_| ()).unwrap_err().to_string()
    }

    #[test]
    fn a_number_and_a_text_give_the_same_exact_quantity() {
        for typed in ["1.16", "\"1.16\"", "\"1160ms\"", "116e-2", "1.160_0"] {
            let read = read(&format!("mean = {typed}"), |root| root.required("mean", str::parse::<Seconds>));
            assert_eq!(read.unwrap(), "1.16".parse().unwrap(), "{typed}");
        }
        let whole = read("rate = 54_000", |root| root.required("rate", str::parse::<ArrivalRate>));
        assert_eq!(whole.unwrap(), "54000".parse().unwrap());
    }

    #[test]
    fn what_the_parser_refuses_is_quoted_at_its_place() {
        let mean = |root: &mut Table<'_>| root.required("mean", Seconds::parse_positive);
        for (text, start) in [
            ("# one\n\nmean = 0", "plan.toml:3:8: mean: \"0\": it must be more than zero"),
            ("mean = inf", "plan.toml:1:8: mean: \"inf\": it is not a finite number"),
            ("mean = 0x10", "plan.toml:1:8: mean: \"0x10\""),
            ("mean = true", "plan.toml:1:8: \"mean\" is a number or a text, not true or false"),
            ("meen = 1", "plan.toml:1:1: the file needs \"mean\"; is \"meen\" meant to be it?"),
            ("rate = 1", "plan.toml:1:1: the file needs \"mean\""),
            ("mean = ", "plan.toml:1:"),
        ] {
            let found = complaint(text, mean);
            assert!(found.starts_with(start), "{found}");
        }
    }

    #[test]
    fn columns_count_characters_not_bytes() {
        let found = complaint("x = { \"\u{3bc}\u{3bc}\" = 1, y = 2 }", |root| {
            let mut x = root.table("x")?.unwrap();
            x.optional("\u{3bc}\u{3bc}", str::parse::<Seconds>)?;
            x.finish()
        });
        assert!(found.starts_with("plan.toml:1:17: [x] has no key \"y\""), "{found}");
    }

    #[test]
    fn a_key_that_nobody_asked_for_is_refused_with_the_nearest_or_all() {
        let pool = |root: &mut Table<'_>| {
            let mut pool = root.table("pool")?.unwrap();
            for key in ["rate", "mean", "headroom"] {
                pool.optional(key, str::parse::<ArrivalRate>)?;
            }
            pool.finish()
        };
        let near = complaint("[pool]\nrate = 1\nheadrom = 2", pool);
        assert_eq!(near, "plan.toml:3:1: [pool] has no key \"headrom\"; did you mean \"headroom\"?");
        let far = complaint("[pool]\nzzz = 2", pool);
        assert_eq!(far, "plan.toml:2:1: [pool] has no key \"zzz\"; it takes headroom, mean, rate");
        let unknown = complaint("pools = 1", |_| Ok(()));
        assert_eq!(unknown, "plan.toml:1:1: the file has no key \"pools\"; it takes none");
    }

    #[test]
    fn words_flags_and_lists_are_checked() {
        let kinds = [("kafka", 1), ("kinesis", 2)];
        assert_eq!(read("kind = \"kafka\"", |root| root.choice("kind", &kinds)).unwrap(), Some(1));
        let near = complaint("kind = \"kafkaa\"", |root| root.choice("kind", &kinds));
        assert!(near.ends_with("\"kafkaa\" is not known; did you mean \"kafka\"?"), "{near}");
        assert_eq!(read("fifo = true", |root| root.flag("fifo")).unwrap(), Some(true));
        assert!(complaint("fifo = 1", |root| root.flag("fifo")).contains("true or false, not a number"));
        let waits = |root: &mut Table<'_>| root.list("wait", Seconds::parse_positive);
        assert_eq!(read("wait = [1, \"2m\"]", waits).unwrap().len(), 2);
        assert_eq!(read("wait = \"2m\"", waits).unwrap().len(), 1);
        assert_eq!(read("", waits).unwrap().len(), 0);
        assert!(complaint("wait = [1, 0]", waits).starts_with("plan.toml:1:12: wait: \"0\""));
    }

    #[test]
    fn tables_come_in_the_order_of_the_file_and_know_their_number() {
        let hosts = |root: &mut Table<'_>| {
            root.tables("host").map(|hosts| hosts.iter().map(Table::title).collect::<Vec<_>>())
        };
        assert_eq!(read("[[host]]\n[[host]]\n", hosts).unwrap(), ["host 1", "host 2"]);
        assert!(complaint("host = 3", hosts).contains("is a list of tables, [[host]], not a number"));
        assert!(complaint("host = [1]", hosts).contains("not a number"));
        let pools = |root: &mut Table<'_>| {
            root.named_tables().map(|pools| pools.into_iter().map(|(name, _)| name).collect::<Vec<_>>())
        };
        assert_eq!(read("[zebra]\n[ant]\n", pools).unwrap(), ["zebra", "ant"]);
        assert!(complaint("zebra = 1", pools).contains("\"zebra\" is a table"));
        assert!(complaint("pool = 1", |root| root.table("pool").map(|_| ())).contains("is a table, [pool]"));
    }
}
