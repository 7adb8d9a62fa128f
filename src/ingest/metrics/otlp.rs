//! OTLP/JSON, as an OpenTelemetry collector writes metrics to files: one document, or one a line.
//!
//! Whole numbers of 64 bits are texts. An explicit histogram has bounds between its counts; an exponential one has
//! the bounds base^i with base = 2^(2^−scale), from its offset on (the data model of OpenTelemetry metrics).

use super::counts::{Counts, Slot};
use super::malformed;
use super::series::{Covers, Found, SeriesKey, Snapshot, slot};
use crate::ingest::error::{IngestError, IngestErrorKind};
use serde::{Deserialize, Deserializer};

/// Scales beyond these are none that the data model has.
const SCALES: std::ops::RangeInclusive<i32> = -11..=30;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Document {
    #[serde(default)]
    resource_metrics: Vec<ResourceMetrics>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ResourceMetrics {
    #[serde(default)]
    resource: Resource,
    #[serde(default)]
    scope_metrics: Vec<ScopeMetrics>,
}

#[derive(Default, Deserialize)]
struct Resource {
    #[serde(default)]
    attributes: Vec<Attribute>,
}

#[derive(Deserialize)]
struct ScopeMetrics {
    #[serde(default)]
    metrics: Vec<Metric>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Metric {
    #[serde(default)]
    name: String,
    #[serde(default)]
    unit: String,
    histogram: Option<Points<Explicit>>,
    exponential_histogram: Option<Points<Exponential>>,
    summary: Option<serde::de::IgnoredAny>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Points<P> {
    #[serde(default = "Vec::new")]
    data_points: Vec<Point<P>>,
    #[serde(default)]
    aggregation_temporality: Temporality,
}

/// Whether points are increases or totals; the number or the name of the enumeration.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum Temporality {
    #[default]
    Unspecified,
    Delta,
    Cumulative,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Point<P> {
    #[serde(default)]
    attributes: Vec<Attribute>,
    #[serde(default)]
    start_time_unix_nano: Whole,
    #[serde(default)]
    time_unix_nano: Whole,
    #[serde(default)]
    count: Whole,
    sum: Option<f64>,
    min: Option<f64>,
    max: Option<f64>,
    #[serde(flatten)]
    buckets: P,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Explicit {
    #[serde(default)]
    bucket_counts: Vec<Whole>,
    #[serde(default)]
    explicit_bounds: Vec<f64>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Exponential {
    #[serde(default)]
    scale: i32,
    #[serde(default)]
    zero_count: Whole,
    #[serde(default)]
    zero_threshold: f64,
    #[serde(default)]
    positive: Side,
    #[serde(default)]
    negative: Side,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Side {
    #[serde(default)]
    offset: i32,
    #[serde(default)]
    bucket_counts: Vec<Whole>,
}

#[derive(Deserialize)]
struct Attribute {
    key: String,
    /// One of `stringValue`, `intValue` (a text or a number, with a sign), `boolValue`, `doubleValue`, `bytesValue`,
    /// `arrayValue` and `kvlistValue`.
    #[serde(default)]
    value: serde_json::Value,
}

/// A whole number of 64 bits, as a text or as a number.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Whole(u64);

impl<'de> Deserialize<'de> for Whole {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(untagged)]
        enum Written {
            Number(u64),
            Text(String),
        }
        match Written::deserialize(deserializer)? {
            Written::Number(number) => Ok(Whole(number)),
            Written::Text(text) => text.parse().map(Whole).map_err(serde::de::Error::custom),
        }
    }
}

impl<'de> Deserialize<'de> for Temporality {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(untagged)]
        enum Written {
            Number(u64),
            Text(String),
        }
        Ok(match Written::deserialize(deserializer)? {
            Written::Number(1) => Temporality::Delta,
            Written::Number(2) => Temporality::Cumulative,
            Written::Text(name) if name.ends_with("DELTA") => Temporality::Delta,
            Written::Text(name) if name.ends_with("CUMULATIVE") => Temporality::Cumulative,
            _ => Temporality::Unspecified,
        })
    }
}

/// Parses documents.
pub(super) fn parse(name: &str, bytes: &[u8]) -> Result<Found, IngestError> {
    let mut found = Found { round_edges: true, ..Found::default() };
    for document in serde_json::Deserializer::from_slice(bytes).into_iter::<Document>() {
        for resource in document.map_err(|error| malformed(name, &error))?.resource_metrics {
            let shared = labels(&resource.resource.attributes);
            for metric in resource.scope_metrics.into_iter().flat_map(|scope| scope.metrics) {
                add(name, metric, &shared, &mut found);
            }
        }
    }
    Ok(found)
}

type Labels = Vec<(String, String)>;

fn add(name: &str, metric: Metric, shared: &Labels, found: &mut Found) {
    if let Ok(unit) = metric.unit.parse() {
        found.units.insert(metric.name.clone(), unit);
    }
    if let Some(points) = &metric.histogram {
        add_points(name, &metric.name, points, shared, found, Explicit::slots);
    } else if let Some(points) = &metric.exponential_histogram {
        found.round_edges = false;
        add_points(name, &metric.name, points, shared, found, Exponential::slots);
    } else if metric.summary.is_some() {
        found.others.summaries += 1;
    } else {
        found.others.metrics += 1;
    }
}

fn add_points<P>(
    name: &str,
    metric: &str,
    points: &Points<P>,
    shared: &Labels,
    found: &mut Found,
    slots: fn(&P, u64) -> Result<Vec<Slot>, String>,
) {
    for point in &points.data_points {
        let mut labels = [shared.clone(), self::labels(&point.attributes)].concat();
        labels.sort();
        let snapshot = slots(&point.buckets, point.count.0)
            .and_then(|slots| point.snapshot(slots, points.aggregation_temporality))
            .map_err(|reason| {
                let reason = format!("the histogram {metric}: {reason}");
                IngestError::new(IngestErrorKind::Malformed, name, reason)
            });
        found.push(SeriesKey { metric: metric.to_owned(), labels }, snapshot);
    }
}

fn labels(attributes: &[Attribute]) -> Labels {
    attributes.iter().map(|attribute| (attribute.key.clone(), shown(&attribute.value))).collect()
}

/// The value of an attribute; of lists their JSON, which tells series apart as well.
fn shown(value: &serde_json::Value) -> String {
    let kinds = value.as_object().into_iter().flatten();
    let mut given = kinds.filter(|(kind, value)| kind.ends_with("Value") && !value.is_null());
    match given.next() {
        Some((_, serde_json::Value::String(text))) => text.clone(),
        Some((_, other)) => other.to_string(),
        None => String::new(),
    }
}

impl<P> Point<P> {
    fn snapshot(&self, mut slots: Vec<Slot>, temporality: Temporality) -> Result<Snapshot, String> {
        let at = |Whole(ns)| i64::try_from(ns).ok().filter(|ns| *ns > 0);
        let (start_ns, at_ns) = (at(self.start_time_unix_nano), at(self.time_unix_nano));
        let covers = match (temporality, start_ns) {
            (Temporality::Delta, start) => {
                Covers::Only(start.or(at_ns).ok_or("it is an increase without a time")?)
            }
            (Temporality::Cumulative, start) => Covers::Since(start),
            (Temporality::Unspecified, _) => {
                return Err(
                    "it does not say whether it is cumulative or an increase (aggregationTemporality)"
                        .to_owned(),
                );
            }
        };
        // The least and the greatest value are exact, where they are kept.
        let filled = |slot: &&mut Slot| slot.count > 0;
        if let (Some(min), Some(first)) = (self.min.filter(|min| *min >= 0.0), slots.iter_mut().find(filled))
        {
            first.low = first.low.max(min.min(first.high));
        }
        if let (Some(max), Some(last)) = (self.max.filter(|max| *max >= 0.0), slots.iter_mut().rfind(filled))
        {
            last.high = last.high.min(max.max(last.low));
        }
        let counts = Counts::summed(slots, self.sum)?;
        if counts.count() != self.count.0 {
            return Err(format!(
                "its buckets hold {} values and its count is {}",
                counts.count(),
                self.count.0
            ));
        }
        Ok(Snapshot { at_ns, covers, counts })
    }
}

impl Explicit {
    fn slots(&self, count: u64) -> Result<Vec<Slot>, String> {
        if self.bucket_counts.is_empty() {
            // Only count and sum were kept.
            return Ok(vec![slot(f64::NEG_INFINITY, f64::INFINITY, count)?]);
        }
        if self.bucket_counts.len() != self.explicit_bounds.len() + 1 {
            return Err(format!(
                "it has {} counts and {} bounds",
                self.bucket_counts.len(),
                self.explicit_bounds.len()
            ));
        }
        let lows = std::iter::once(f64::NEG_INFINITY).chain(self.explicit_bounds.iter().copied());
        let highs = self.explicit_bounds.iter().copied().chain([f64::INFINITY]);
        let slots = lows.zip(highs).zip(&self.bucket_counts);
        slots.map(|((low, high), Whole(count))| slot(low, high, *count)).collect()
    }
}

impl Exponential {
    fn slots(&self, _count: u64) -> Result<Vec<Slot>, String> {
        if !SCALES.contains(&self.scale) {
            return Err(format!("its scale is {}, which none has", self.scale));
        }
        if self.negative.bucket_counts.iter().any(|count| count.0 > 0) {
            return Err("it holds values below zero, so they are no durations".to_owned());
        }
        let power = 2f64.powi(-self.scale);
        let bound = |index: i64| ((self.positive.offset as f64 + index as f64) * power).exp2();
        let mut slots = Vec::with_capacity(self.positive.bucket_counts.len() + 1);
        slots.push(slot(0.0, self.zero_threshold.max(0.0), self.zero_count.0)?);
        for (index, Whole(count)) in self.positive.bucket_counts.iter().enumerate() {
            let index = index as i64;
            slots.push(slot(bound(index), bound(index + 1), *count)?);
        }
        Ok(slots)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn document(metric: &str) -> String {
        format!(
            r#"{{"resourceMetrics":[{{"resource":{{"attributes":[{{"key":"service.name","value":{{"stringValue":"hooks"}}}}]}},"scopeMetrics":[{{"metrics":[{metric}]}}]}}]}}"#
        )
    }

    fn only(text: &str) -> Snapshot {
        let found = parse("x", text.as_bytes()).unwrap();
        let states = found.series.values().next().unwrap();
        assert!(states.error.is_none(), "{states:?}");
        states.snapshots[0].clone()
    }

    #[test]
    fn explicit_bounds_lie_between_the_counts() {
        let text = document(
            r#"{"name":"d","unit":"ms","histogram":{"aggregationTemporality":1,"dataPoints":[{"attributes":[{"key":"code","value":{"intValue":"503"}}],
            "startTimeUnixNano":"1700000000000000000","timeUnixNano":1700000060000000000,"count":"6","sum":930.5,"min":4,"max":700,"bucketCounts":["1","3","2"],"explicitBounds":[5,100]}]}}"#,
        );
        let snapshot = only(&format!("{text}\n{text}"));
        let slots: Vec<_> =
            snapshot.counts.slots.iter().map(|slot| (slot.low, slot.high, slot.count)).collect();
        assert_eq!(slots, [(4.0, 5.0, 1), (5.0, 100.0, 3), (100.0, 700.0, 2)]);
        assert_eq!(snapshot.covers, Covers::Only(1_700_000_000_000_000_000));
        let found = parse("x", text.as_bytes()).unwrap();
        let key = found.series.keys().next().unwrap();
        assert_eq!((key.label("code"), key.label("service.name")), (Some("503"), Some("hooks")));
    }

    #[test]
    fn attributes_of_every_kind_tell_series_apart() {
        for (value, label) in [
            (r#"{"intValue":"-7"}"#, "-7"),
            (r#"{"intValue":-7}"#, "-7"),
            (r#"{"intValue":"9223372036854775807"}"#, "9223372036854775807"),
            (r#"{"boolValue":false}"#, "false"),
            (r#"{"doubleValue":0.5}"#, "0.5"),
            (r#"{"doubleValue":"NaN"}"#, "NaN"),
            (r#"{"bytesValue":"AQI="}"#, "AQI="),
            (r#"{"arrayValue":{"values":[{"intValue":"1"}]}}"#, r#"{"values":[{"intValue":"1"}]}"#),
            (r#"{"kvlistValue":{"values":[]}}"#, r#"{"values":[]}"#),
            (r#"{"stringValue":null}"#, ""),
            ("{}", ""),
            ("null", ""),
        ] {
            let text = document(&format!(
                r#"{{"name":"d","histogram":{{"aggregationTemporality":2,"dataPoints":[{{"attributes":[{{"key":"shard","value":{value}}}],
                "count":"1","sum":1,"bucketCounts":["1"],"explicitBounds":[]}}]}}}}"#
            ));
            let found = parse("x", text.as_bytes()).unwrap();
            let (key, states) = found.series.iter().next().unwrap();
            assert_eq!((key.label("shard"), states.snapshots.len()), (Some(label), 1), "{value}");
        }
    }

    #[test]
    fn exponential_bounds_are_powers_of_the_base() {
        // Scale 1: the base is the square root of two; bucket 2 is (2, 2.828…].
        let text = document(
            r#"{"name":"d","unit":"s","exponentialHistogram":{"aggregationTemporality":"AGGREGATION_TEMPORALITY_CUMULATIVE","dataPoints":[{
            "timeUnixNano":"5","count":"5","sum":11,"scale":1,"zeroCount":"1","zeroThreshold":0.001,"positive":{"offset":1,"bucketCounts":[0,"4"]}}]}}"#,
        );
        let snapshot = only(&text);
        let slots = &snapshot.counts.slots;
        assert_eq!((slots[0].high, slots[0].count), (0.001, 1));
        assert!((slots[2].low - 2.0).abs() < 1e-12 && (slots[2].high - 8f64.sqrt()).abs() < 1e-12);
        assert_eq!((slots[2].count, snapshot.covers), (4, Covers::Since(None)));
    }

    #[test]
    fn points_that_contradict_themselves_say_how() {
        for (metric, part) in [
            (
                r#"{"name":"d","histogram":{"aggregationTemporality":2,"dataPoints":[{"count":"5","sum":1,"bucketCounts":["1","2"],"explicitBounds":[1]}]}}"#,
                "count is 5",
            ),
            (
                r#"{"name":"d","histogram":{"aggregationTemporality":2,"dataPoints":[{"count":"1","bucketCounts":["1"],"explicitBounds":[1]}]}}"#,
                "1 counts and 1 bounds",
            ),
            (
                r#"{"name":"d","histogram":{"dataPoints":[{"count":"1","bucketCounts":["1"],"explicitBounds":[]}]}}"#,
                "aggregationTemporality",
            ),
            (
                r#"{"name":"d","exponentialHistogram":{"aggregationTemporality":2,"dataPoints":[{"count":"1","scale":99,"positive":{"bucketCounts":["1"]}}]}}"#,
                "scale",
            ),
            (
                r#"{"name":"d","exponentialHistogram":{"aggregationTemporality":2,"dataPoints":[{"count":"1","scale":0,"negative":{"bucketCounts":["1"]}}]}}"#,
                "below zero",
            ),
        ] {
            let found = parse("x", document(metric).as_bytes()).unwrap();
            let error = found.series.values().next().unwrap().error.clone().unwrap();
            assert!(error.reason.contains(part), "{error}");
        }
        assert!(parse("x", b"{\"resourceMetrics\":[{\"scopeMetrics\":5}]}").is_err());
    }
}
