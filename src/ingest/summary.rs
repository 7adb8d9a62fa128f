//! The documented fields of `ingest`: what a profile says, in seconds.

use super::{Ingested, QUANTILES, show_second};
use crate::arrivals::ArrivalProfile;
use crate::profile::{PhaseForm, PhaseSummary, ServiceProfile, ServiceTimes, Source, seconds};
use crate::units::{ArrivalRate, Seconds};
use schemars::JsonSchema;
use serde::Serialize;

/// How the groups that are not told apart are named.
pub const OTHERS: &str = "(others)";

/// What was measured.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Summary {
    /// Attempts.
    pub count: u64,
    /// Mean service time, exact unless there are bounds.
    pub mean_s: f64,
    /// The least that the mean can be; absent if it is exact.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mean_low_s: Option<f64>,
    /// The most that the mean can be; absent if it is exact.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mean_high_s: Option<f64>,
    /// Standard deviation of service time (population), exact unless the SCV has bounds.
    pub stddev_s: f64,
    /// Squared coefficient of variation of service time, exact unless it has bounds.
    pub scv: f64,
    /// The least that the SCV can be; absent if it is exact.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scv_low: Option<f64>,
    /// The most that the SCV can be; absent if it is exact, or if nothing bounds it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scv_high: Option<f64>,
    /// Shortest service time, exact; of a histogram the least that it can be.
    pub min_s: f64,
    /// Longest service time, exact; of a histogram an end of its last bucket.
    pub max_s: f64,
    /// Whether the longest may be longer: it lies in a bucket without an end.
    #[serde(skip_serializing_if = "is_false")]
    #[schemars(default)]
    pub max_at_least: bool,
    /// Quantiles of service time, within `quantile_tolerance` above the true order statistic.
    pub quantiles: Vec<ServiceQuantile>,
    /// By how much a quantile may exceed the true one, as a fraction.
    pub quantile_tolerance: f64,
    /// Mean over median; absent if the median is zero.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mean_over_median: Option<f64>,
    /// Attempts that are known to have failed; they count in all figures.
    pub failures: u64,
    /// Whether the input tells failures at all: where it does not, `failures` is zero and means nothing.
    pub failures_recorded: bool,
    /// Mean service time of the failed attempts; absent if none failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failure_mean_s: Option<f64>,
    /// Rows that could not be read.
    pub skipped_rows: u64,
    /// Rows that a filter left out.
    pub filtered_rows: u64,
    /// Where the time of an attempt goes; empty where phases are not known.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(default)]
    pub phases: Vec<PhaseSummary>,
    /// The share of attempts that set up no connection; absent where that was not measured.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reuse_ratio: Option<f64>,
    /// Attempts to which the phases belong, and their mean, where the rows are phases and not attempts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub of_phases: Option<OfPhases>,
    /// By group, those that held workers longest first; empty if attempts were not grouped.
    pub groups: Vec<GroupSummary>,
    /// When the attempts arrived; absent without time stamps.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub arrivals: Option<ArrivalSummary>,
    /// What a request timeout would do.
    pub cap_effect: Vec<CapSummary>,
    /// Where the figures come from.
    pub source: SourceSummary,
}

/// One quantile of service time.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct ServiceQuantile {
    /// The share of attempts at or below it, between 0 and 1.
    pub quantile: f64,
    /// The value in seconds.
    pub value_s: f64,
    /// The least that the true value can be; absent where attempts were measured one by one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub low_s: Option<f64>,
    /// The most that it can be; absent where attempts were measured one by one, or nothing bounds it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub high_s: Option<f64>,
    /// Whether the true value may be anything from `value_s` on: it lies in a bucket without an end.
    #[serde(skip_serializing_if = "is_false")]
    #[schemars(default)]
    pub at_least: bool,
    /// Whether at least ten attempts lie beyond, so that the value means something.
    pub supported: bool,
}

/// What the attempts were if each row is a phase of one.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct OfPhases {
    /// How many attempts: as many as there are requests among the phases.
    pub attempts: u64,
    /// Their mean service time: all phases over the attempts.
    pub mean_s: f64,
}

/// One group.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct GroupSummary {
    /// Its name: the value of the grouping column.
    pub name: String,
    /// Attempts.
    pub count: u64,
    /// Mean service time.
    pub mean_s: f64,
    /// Squared coefficient of variation of service time.
    pub scv: f64,
    /// Its share of the time for which workers were held.
    pub share_of_busy_time: f64,
    /// Attempts that failed.
    pub failures: u64,
    /// The share of its attempts that set up no connection; absent where that was not measured.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reuse_ratio: Option<f64>,
    /// Where the time of its attempts goes; empty where phases are not known.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(default)]
    pub phases: Vec<PhaseSummary>,
    /// Quantiles of service time.
    pub quantiles: Vec<ServiceQuantile>,
}

/// When attempts arrived.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct ArrivalSummary {
    /// From the first to the last time stamp.
    pub span_s: f64,
    /// Mean rate; absent if all attempts have one time stamp.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mean_rate_per_s: Option<f64>,
    /// Rate in the busiest minute, which slides over the whole span.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub busiest_minute_rate_per_s: Option<f64>,
    /// When it starts.
    pub busiest_minute_start: String,
    /// Its length: 60 s, or more where time had to be kept more coarsely, or the whole span where that is shorter.
    pub busiest_window_s: u64,
    /// Squared coefficient of variation of the time between arrivals (1 is a Poisson stream); absent if not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub interarrival_scv: Option<f64>,
    /// Variance over mean of the arrivals a second within minutes (1 is a Poisson stream); absent if not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dispersion: Option<f64>,
}

/// What a request timeout would do.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct CapSummary {
    /// The timeout.
    pub timeout_s: f64,
    /// Attempts that took longer.
    pub attempts_cut: u64,
    /// Mean service time with the timeout.
    pub mean_s: f64,
    /// By how much the smallest stable pool shrinks in the busiest minute; absent where no rate is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub workers_saved: Option<u64>,
}

/// Where the figures come from.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct SourceSummary {
    /// The format that was recognised.
    pub format: String,
    /// The column that was taken as the duration; absent where the format has none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub column: Option<String>,
    /// The unit in which it was read; absent where each value carries its own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unit: Option<String>,
    /// The column that says how many attempts a row stands for; absent where each row is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub count_column: Option<String>,
    /// The columns that tell which attempts failed; absent where nothing does.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failures_from: Option<String>,
    /// The files.
    pub files: Vec<String>,
    /// How endpoint latency was turned into service time, if it was.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub correction: Option<String>,
    /// Whether the figures are endpoint latency, not corrected.
    pub endpoint_latency: bool,
    /// Whether attempts came as the counts of a histogram, so that figures are no more exact than its buckets.
    pub from_histogram: bool,
}

/// A flag is shown where it is set.
#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde asks for this shape")]
fn is_false(flag: &bool) -> bool {
    !*flag
}

impl Summary {
    /// Summarises what was read.
    #[must_use]
    pub fn of(ingested: &Ingested) -> Self {
        let profile = &ingested.profile;
        let times = profile.times();
        Summary {
            count: profile.count(),
            mean_s: profile.mean().get(),
            mean_low_s: times.mean_bounds_s().map(|[low, _]| low),
            mean_high_s: times.mean_bounds_s().map(|[_, high]| high),
            stddev_s: profile.stddev_s(),
            scv: profile.scv(),
            scv_low: times.scv_bounds().map(|(low, _)| low),
            scv_high: times.scv_bounds().and_then(|(_, high)| high),
            min_s: times.min_s(),
            max_s: times.max_s(),
            max_at_least: times.quantile_bounds(1.0).is_some_and(|bounds| bounds.high_ns.is_none()),
            quantiles: quantiles(times),
            quantile_tolerance: profile.quantile_tolerance(),
            mean_over_median: profile.mean_over_median(),
            failures: profile.failures(),
            failures_recorded: profile.failures() > 0 || profile.source().failures_from.is_some(),
            failure_mean_s: times.failure_mean().map(|mean| mean.get()),
            skipped_rows: ingested.skipped.rows(),
            filtered_rows: ingested.filtered,
            phases: times.phase_summaries(),
            reuse_ratio: times.phases().reuse_ratio(times.count()),
            of_phases: OfPhases::of(times),
            groups: groups(profile),
            arrivals: profile.arrivals().map(ArrivalSummary::of),
            cap_effect: caps(profile, &ingested.timeouts_ns),
            source: SourceSummary::of(profile),
        }
    }
}

impl OfPhases {
    pub(super) fn of(times: &ServiceTimes) -> Option<Self> {
        let phases = times.phases();
        let several = phases.measured().count() > 1;
        if phases.form() != Some(PhaseForm::InsteadOfAttempts) || !several {
            return None;
        }
        let attempts = phases.attempts(times.count());
        Some(OfPhases { attempts, mean_s: times.moments().sum_ns() as f64 / 1e9 / attempts.max(1) as f64 })
    }
}

fn quantiles(times: &ServiceTimes) -> Vec<ServiceQuantile> {
    let one = |quantile| {
        let bounds = times.quantile_bounds(quantile);
        ServiceQuantile {
            quantile,
            value_s: times.quantile(quantile),
            low_s: bounds.map(|bounds| seconds(bounds.low_ns)),
            high_s: bounds.and_then(|bounds| bounds.high_ns).map(seconds),
            at_least: bounds.is_some_and(|bounds| bounds.high_ns.is_none()),
            supported: times.supports(quantile),
        }
    };
    QUANTILES.into_iter().map(one).collect()
}

fn groups(profile: &ServiceProfile) -> Vec<GroupSummary> {
    let busy = profile.times().moments().sum_ns();
    let one = |name: &str, times: &ServiceTimes| GroupSummary {
        name: name.to_owned(),
        count: times.count(),
        mean_s: times.mean().get(),
        scv: times.scv(),
        share_of_busy_time: times.share_of(busy),
        failures: times.failures(),
        reuse_ratio: times.phases().reuse_ratio(times.count()),
        phases: times.phase_summaries(),
        quantiles: quantiles(times),
    };
    let named = profile.groups().by_busy_time().into_iter().map(|group| one(&group.name, &group.times));
    let others = profile.groups().others();
    named.chain((others.count() > 0).then(|| one(OTHERS, others))).collect()
}

fn caps(profile: &ServiceProfile, timeouts_ns: &[u64]) -> Vec<CapSummary> {
    let rate = profile.arrivals().and_then(ArrivalProfile::busiest_minute_rate);
    let smallest_stable =
        |rate: &ArrivalRate, mean: &Seconds| rate.offered_load(mean).floor().map(|load| load + 1);
    timeouts_ns
        .iter()
        .map(|cap_ns| {
            let effect = profile.cap_effect(*cap_ns);
            let saved = rate.as_ref().and_then(|rate| {
                let now = smallest_stable(rate, &profile.mean())?;
                Some(now - smallest_stable(rate, &effect.mean)?.min(now))
            });
            CapSummary {
                timeout_s: effect.timeout.get(),
                attempts_cut: effect.attempts_cut,
                mean_s: effect.mean.get(),
                workers_saved: saved,
            }
        })
        .collect()
}

impl ArrivalSummary {
    fn of(arrivals: &ArrivalProfile) -> Self {
        let busiest = arrivals.busiest_minute();
        ArrivalSummary {
            span_s: arrivals.span_s(),
            mean_rate_per_s: arrivals.mean_rate().map(|rate| rate.get()),
            busiest_minute_rate_per_s: arrivals.busiest_minute_rate().map(|rate| rate.get()),
            busiest_minute_start: show_second(busiest.start_s),
            busiest_window_s: busiest.window_s,
            interarrival_scv: arrivals.interarrival_scv(),
            dispersion: arrivals.dispersion(),
        }
    }
}

impl SourceSummary {
    fn of(profile: &ServiceProfile) -> Self {
        let source: &Source = profile.source();
        SourceSummary {
            format: source.format.clone(),
            column: source.column.clone(),
            unit: source.unit.clone(),
            count_column: source.count_column.clone(),
            failures_from: source.failures_from.clone(),
            files: source.files.clone(),
            correction: source.correction.clone(),
            endpoint_latency: source.endpoint_latency,
            from_histogram: !profile.is_exact(),
        }
    }
}
