//! Answers of the Prometheus HTTP API (`query`, `query_range`) with classic or native histograms.
//!
//! Numbers are texts, also `"NaN"` and `"+Inf"`. A native histogram is `{"count", "sum", "buckets": [[rule, low, high,
//! count], …]}`; the rule says which ends belong to the bucket.

use super::counts::Counts;
use super::malformed;
use super::series::{Classic, Covers, Found, SeriesKey, Snapshot, slot, whole};
use super::text::number;
use crate::ingest::error::{IngestError, IngestErrorKind};
use serde::Deserialize;
use std::collections::BTreeMap;

/// The name of what a query computed, which has none.
const EXPRESSION: &str = "(expression)";

#[derive(Deserialize)]
struct Answer {
    #[serde(default)]
    error: Option<String>,
    #[serde(default)]
    data: Option<Data>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Data {
    result: Vec<Series>,
}

#[derive(Deserialize)]
struct Series {
    #[serde(default)]
    metric: BTreeMap<String, String>,
    #[serde(default)]
    value: Option<(f64, String)>,
    #[serde(default)]
    values: Vec<(f64, String)>,
    #[serde(default)]
    histogram: Option<(f64, Native)>,
    #[serde(default)]
    histograms: Vec<(f64, Native)>,
}

#[derive(Deserialize)]
struct Native {
    count: String,
    sum: String,
    #[serde(default)]
    buckets: Vec<(u8, String, String, String)>,
}

/// Parses an answer.
pub(super) fn parse(name: &str, bytes: &[u8]) -> Result<Found, IngestError> {
    let answer: Answer = serde_json::from_slice(bytes).map_err(|error| malformed(name, &error))?;
    let new = |kind, reason: String| IngestError::new(kind, name, reason);
    if let Some(error) = answer.error {
        let short: String = error.chars().take(200).collect();
        return Err(new(
            IngestErrorKind::Unsupported,
            format!("it is the answer to a query that failed: {short}"),
        ));
    }
    let Some(data) = answer.data else {
        return Err(new(IngestErrorKind::Malformed, "it holds no data of a query".to_owned()));
    };
    let mut found = Found { round_edges: true, ..Found::default() };
    let mut classic: BTreeMap<SeriesKey, BTreeMap<i64, Classic>> = BTreeMap::new();
    for series in data.result {
        let (full, part, end, key) = named(series.metric);
        for (at, native) in series.histogram.into_iter().chain(series.histograms) {
            found.round_edges = false;
            let snapshot = native.counts().map(|counts| snapshot(at, counts));
            found.push(
                SeriesKey { metric: full.clone(), labels: key.labels.clone() },
                snapshot.map_err(|reason| {
                    new(IngestErrorKind::Malformed, format!("the histogram {full}: {reason}"))
                }),
            );
        }
        let samples = series.value.into_iter().chain(series.values);
        if part.is_none() && end.is_none() {
            found.others.metrics += usize::from(samples.count() > 0);
            continue;
        }
        let states = classic.entry(key).or_default();
        for (at, text) in samples {
            let value = number(&text).unwrap_or(f64::NAN);
            let state = states.entry(nanoseconds(at)).or_default();
            match part {
                Some("_sum") => state.sum = Some(value),
                Some("_count") => state.count = Some(value),
                _ => state.buckets.push((end.unwrap_or(f64::NAN), value, 0)),
            }
        }
    }
    for (key, states) in classic {
        for (at_ns, state) in states.into_iter().filter(|(_, state)| !state.buckets.is_empty()) {
            let snapshot = state.counts().map(|counts| Snapshot {
                at_ns: Some(at_ns),
                covers: Covers::Since(None),
                counts,
            });
            let snapshot = snapshot.map_err(|unfit| {
                new(IngestErrorKind::Malformed, format!("the histogram {}: {}", key.metric, unfit.reason))
            });
            found.push(key.clone(), snapshot);
        }
    }
    Ok(found)
}

/// Full name, part of a classic histogram, upper end, and the key of the series.
fn named(mut labels: BTreeMap<String, String>) -> (String, Option<&'static str>, Option<f64>, SeriesKey) {
    let full = labels.remove("__name__").unwrap_or_else(|| EXPRESSION.to_owned());
    let end = labels.remove("le").map(|end| number(&end).unwrap_or(f64::NAN));
    let part = ["_bucket", "_sum", "_count"].into_iter().find(|part| full.ends_with(part));
    let metric = part.map_or(full.as_str(), |part| &full[..full.len() - part.len()]).to_owned();
    (full, part, end, SeriesKey { metric, labels: labels.into_iter().collect() })
}

fn nanoseconds(at: f64) -> i64 {
    // Prometheus keeps milliseconds.
    ((at * 1e3).round() as i64).saturating_mul(1_000_000)
}

fn snapshot(at: f64, counts: Counts) -> Snapshot {
    Snapshot { at_ns: Some(nanoseconds(at)), covers: Covers::Since(None), counts }
}

impl Native {
    fn counts(&self) -> Result<Counts, String> {
        let mut slots = Vec::with_capacity(self.buckets.len());
        for (_, low, high, count) in &self.buckets {
            let end = |text: &str| {
                number(text).ok_or_else(|| format!("the end \"{text}\" of a bucket is no number"))
            };
            let count = whole(number(count).unwrap_or(f64::NAN))?;
            slots.push(slot(end(low)?, end(high)?, count)?);
        }
        slots.sort_by(|a, b| a.low.total_cmp(&b.low));
        let counts = Counts::summed(slots, Some(number(&self.sum).unwrap_or(f64::NAN)))?;
        let count = whole(number(&self.count).unwrap_or(f64::NAN))?;
        if count != counts.count() {
            return Err(format!("its buckets hold {} values and its count is {count}", counts.count()));
        }
        Ok(counts)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn native_and_classic_histograms_are_read_from_texts() {
        let text = r#"{"status":"success","data":{"resultType":"matrix","result":[
            {"metric":{"__name__":"a_seconds","job":"x"},"histograms":[[1700000000.5,{"count":"3","sum":"1.5","buckets":[[3,"-0.001","0.001","1"],[0,"0.25","0.5","2"]]}]]},
            {"metric":{"__name__":"b_seconds_bucket","le":"+Inf"},"values":[[1700000000,"5"]]},
            {"metric":{"__name__":"b_seconds_bucket","le":"0.1"},"values":[[1700000000,"4"]]},
            {"metric":{"__name__":"b_seconds_sum"},"values":[[1700000000,"NaN"]]},
            {"metric":{},"value":[1,"2"]}]}}"#;
        let found = parse("x", text.as_bytes()).unwrap();
        assert_eq!((found.series.len(), found.others.metrics), (2, 1));
        let states: Vec<_> = found.series.values().collect();
        let native = &states[0].snapshots[0];
        assert_eq!((native.at_ns, native.counts.count()), (Some(1_700_000_000_500_000_000), 3));
        assert_eq!(native.counts.slots[0].low, 0.0);
        assert!(states[1].error.as_ref().unwrap().reason.contains("NaN"), "{states:?}");
    }

    #[test]
    fn an_answer_that_holds_no_histogram_says_why() {
        for (text, part) in [
            (r#"{"status":"error","errorType":"bad_data","error":"parse error"}"#, "parse error"),
            (r#"{"status":"success"}"#, "no data"),
            (r#"{"status":"success","data":{"resultType":"scalar","result":[1,"2"]}}"#, "JSON"),
            ("{", "JSON"),
        ] {
            let error = parse("x", text.as_bytes()).unwrap_err();
            assert!(error.reason.contains(part), "{text}: {error}");
        }
    }
}
