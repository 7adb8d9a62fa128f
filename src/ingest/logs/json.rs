//! JSON lines: an object a line, its fields by their dotted paths.

use super::Format;
use super::fields::Fields;
use crate::ingest::error::{IngestError, IngestErrorKind};
use crate::ingest::open::Input;
use crate::ingest::options::Options;
use serde::de::{Deserialize, Deserializer, Error as _, MapAccess, Visitor};
use serde_json::{Map, Value};
use std::fmt;

/// Lines whose fields are looked at.
const LOOKED_AT: usize = 100;

/// The most fields of which a record is made.
const MOST_FIELDS: usize = 256;

/// How deep objects are searched for fields.
const DEEPEST: usize = 6;

/// k6's points, by the names of the columns of its own CSV: theirs, and the paths in its JSON.
const K6: [(&str, &str); 12] = [
    ("metric_name", "metric"),
    ("timestamp", "data.time"),
    ("metric_value", "data.value"),
    ("status", "data.tags.status"),
    ("error", "data.tags.error"),
    ("error_code", "data.tags.error_code"),
    ("expected_response", "data.tags.expected_response"),
    ("method", "data.tags.method"),
    ("name", "data.tags.name"),
    ("group", "data.tags.group"),
    ("scenario", "data.tags.scenario"),
    ("url", "data.tags.url"),
];

/// Which lines these are.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Any,
    K6,
    Vegeta,
}

/// An object in which no key is there twice: it could not be told which value is meant.
struct Object(Map<String, Value>);

impl<'de> Deserialize<'de> for Object {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Entries;
        impl<'de> Visitor<'de> for Entries {
            type Value = Object;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Object, A::Error> {
                let mut object = Map::new();
                while let Some((key, value)) = entries.next_entry::<String, Value>()? {
                    if object.insert(key, value).is_some() {
                        return Err(A::Error::custom("a key is there twice"));
                    }
                }
                Ok(Object(object))
            }
        }
        deserializer.deserialize_map(Entries)
    }
}

struct Json {
    kind: Kind,
    /// The names of the fields, and their paths.
    columns: Vec<(String, String)>,
}

/// The format of an input that begins with an object.
pub(super) fn of(input: &Input, options: &Options) -> Result<Box<dyn Format>, IngestError> {
    let mut lines = input.head.split_inclusive(|byte| *byte == b'\n').map(<[u8]>::trim_ascii);
    let objects: Vec<Map<String, Value>> = lines
        .by_ref()
        .filter(|line| !line.is_empty())
        .take(LOOKED_AT)
        .filter_map(|line| serde_json::from_slice(line).ok())
        .map(|Object(object)| object)
        .collect();
    let Some(first) = objects.first() else {
        let reason = "its first lines are no JSON objects of one line each";
        return Err(IngestError::new(IngestErrorKind::Format, &input.name, reason)
            .at(1, None)
            .remedy("write one object a line: jq -c . FILE"));
    };
    if first.contains_key("metric")
        && matches!(first.get("type"), Some(Value::String(kind)) if kind == "Point" || kind == "Metric")
    {
        let columns = K6.map(|(name, path)| (name.to_owned(), path.to_owned())).into();
        return Ok(Box::new(Json { kind: Kind::K6, columns }));
    }
    let mut names = Vec::new();
    for object in &objects {
        leaves(object, "", 0, &mut names);
    }
    let named = [&options.column, &options.count_column, &options.timestamp_column].into_iter().flatten();
    let named = named.chain(&options.group_by).chain(options.filters.iter().map(|filter| &filter.column));
    for name in named {
        // A field may be missing from the first lines.
        if !names.contains(name) && name.parse::<usize>().is_err() && name != "none" {
            names.push(name.clone());
        }
    }
    let vegeta = ["attack", "seq", "code", "latency"].iter().all(|key| first.contains_key(*key));
    let kind = if vegeta { Kind::Vegeta } else { Kind::Any };
    Ok(Box::new(Json { kind, columns: names.into_iter().map(|name| (name.clone(), name)).collect() }))
}

/// The paths of all fields that hold a plain value, in the order in which they are met.
fn leaves(object: &Map<String, Value>, prefix: &str, depth: usize, names: &mut Vec<String>) {
    for (key, value) in object {
        let path = if prefix.is_empty() { key.clone() } else { format!("{prefix}.{key}") };
        match value {
            Value::Object(inner) if depth < DEEPEST => leaves(inner, &path, depth + 1, names),
            Value::Object(_) | Value::Array(_) => {}
            _ if names.len() < MOST_FIELDS && !names.contains(&path) => names.push(path),
            _ => {}
        }
    }
}

/// The value at a path; a key may hold dots itself.
fn at<'a>(object: &'a Map<String, Value>, path: &str) -> Option<&'a Value> {
    if let Some(value) = object.get(path) {
        return Some(value);
    }
    path.match_indices('.').find_map(|(dot, _)| match object.get(&path[..dot]) {
        Some(Value::Object(inner)) => at(inner, &path[dot + 1..]),
        _ => None,
    })
}

impl Format for Json {
    fn name(&self) -> &'static str {
        match self.kind {
            Kind::Any => "JSON lines",
            Kind::K6 => "k6 json",
            Kind::Vegeta => "vegeta json",
        }
    }

    fn header(&self) -> Vec<String> {
        self.columns.iter().map(|(name, _)| name.clone()).collect()
    }

    fn fields(&self, line: &[u8], fields: &mut Fields) -> Option<()> {
        let Object(object) = serde_json::from_slice(line).ok()?;
        // k6 declares its metrics in lines of their own.
        let declares = self.kind == Kind::K6 && object.get("type").is_some_and(|kind| kind == "Metric");
        for (place, (_, path)) in self.columns.iter().enumerate() {
            match at(&object, path) {
                _ if declares => fields.push(if place == 0 { b"(declaration)" } else { b"" }),
                Some(Value::String(text)) => fields.push(text.as_bytes()),
                Some(Value::Number(number)) => fields.push(number.to_string().as_bytes()),
                Some(Value::Bool(flag)) => fields.push(if *flag { b"true" } else { b"false" }),
                _ => fields.push(b""),
            }
        }
        Some(())
    }
}
