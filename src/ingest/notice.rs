//! What the reader of a profile should know about the input.

use super::skipped::Skipped;
use crate::notice::Note;
use crate::profile::{Phase, PhaseForm, SavedNotice, ServiceProfile};
use crate::units::human;

/// A remark on what was read. The text is made in [`IngestNotice::note`] alone.
#[derive(Clone, Debug, PartialEq)]
pub enum IngestNotice {
    /// The mean is far above the median, so a median says nothing about capacity.
    MeanFarAboveMedian {
        /// How many times the median the mean is.
        ratio: f64,
    },
    /// What was measured is the endpoint's latency, not the time for which a worker was held.
    EndpointLatency {
        /// The format that was recognised.
        format: &'static str,
    },
    /// Latency was turned into service time.
    Corrected {
        /// How.
        correction: String,
    },
    /// The export leaves attempts out.
    AbsentAttempts {
        /// Which.
        explanation: &'static str,
    },
    /// A report gives failures by their number alone.
    FailuresReported {
        /// The format that was recognised.
        format: &'static str,
        /// How many answers had the status of a failure; they are among the attempts.
        answered: u64,
        /// How many requests had no answer; they are not.
        unanswered: u64,
    },
    /// Words of a status are neither known as a success nor as a failure.
    UnknownOutcome {
        /// The column.
        column: String,
        /// How many attempts have one.
        attempts: u64,
        /// The commonest such words, and how many attempts have each.
        words: Vec<(String, u64)>,
    },
    /// Rows that sum up other rows are left out.
    SumsLeftOut {
        /// How many.
        rows: u64,
    },
    /// A file was named twice.
    NamedTwice {
        /// Which.
        file: String,
    },
    /// A file names another unit than was asked for.
    UnitOverridden {
        /// Which file.
        file: String,
        /// The unit that it names.
        named: String,
        /// The unit that its values are taken in.
        taken: String,
    },
    /// Phases took longer than the attempts that they belong to.
    PhasesExceed {
        /// How much of the attempts' time they took, as a share.
        share: f64,
    },
    /// The arrivals are those that a load tool made.
    LoadToolArrivals {
        /// The format that was recognised.
        format: &'static str,
    },
    /// The rows are phases of attempts, each taken as an attempt.
    RowsArePhases {
        /// How many attempts there were.
        attempts: u64,
        /// Their mean service time, in seconds.
        mean_s: f64,
    },
    /// Setting up connections takes a large share of the mean.
    SetUpShare {
        /// What share.
        share: f64,
    },
    /// Waiting for a connection of a pool takes a large share of the mean.
    PoolWaitShare {
        /// What share.
        share: f64,
    },
    /// Acknowledging takes a large share of the mean.
    AcknowledgeShare {
        /// What share.
        share: f64,
    },
    /// Some attempts failed; they count.
    Failures {
        /// How many.
        failures: u64,
        /// Of how many attempts.
        count: u64,
        /// The exact mean of the failed ones, in seconds.
        mean_s: f64,
    },
    /// Rows were skipped.
    SkippedRows(Skipped),
    /// Rows without a readable time stamp count in the service time and not in the arrivals.
    Unstamped {
        /// How many.
        rows: u64,
    },
    /// A column was found that says how many attempts a row stands for.
    CountColumnFound {
        /// Its name.
        column: String,
    },
    /// Dates carry no zone.
    ZoneAssumed {
        /// In which file.
        file: String,
    },
    /// The data are too few for a quantile.
    UnsupportedQuantile {
        /// The lowest quantile that is not supported.
        quantile: f64,
        /// How many attempts there are.
        count: u64,
    },
    /// More groups than are told apart.
    GroupsJoined {
        /// How many are.
        groups: usize,
        /// Attempts that were counted with the others.
        attempts: u64,
        /// Their share of the time for which workers were held.
        share: f64,
    },
    /// A group may be in part among the others of one of the profiles that were added.
    GroupsIncomplete,
    /// Phases came in forms that cannot be added.
    PhasesMixed,
    /// Phases are known of some attempts only.
    PhasesOfSome {
        /// Of how many, at most.
        attempts: u64,
        /// How many there are.
        count: u64,
    },
    /// A column's name says what it is, and its cells cannot be read as that.
    ColumnUnread {
        /// Its name.
        column: String,
        /// What it is by its name.
        meaning: &'static str,
        /// A cell.
        example: String,
    },
    /// The recording is too short to have seen a whole week.
    ShortSpan {
        /// Its length in seconds.
        span_s: f64,
    },
    /// The time stamps lie further apart than any log does.
    WildSpan {
        /// The span in seconds.
        span_s: f64,
    },
    /// The burstiness of arrivals cannot be told.
    NoInterarrivalTimes {
        /// Whether that is because time stamps are too coarse for the rate.
        coarse: bool,
    },
    /// An HDR file does not say the unit of its values.
    HdrUnitAssumed {
        /// Which file.
        file: String,
    },
    /// A percentile text does not say the unit of its values.
    PercentileUnitAssumed {
        /// Which file.
        file: String,
    },
    /// A percentile text has no footer with the mean.
    MeanFromRows {
        /// Which file.
        file: String,
    },
    /// Counts of a single scrape go back to the start of the process.
    SinceStart {
        /// The histogram.
        metric: String,
    },
    /// Counters started anew between two scrapes.
    CounterResets {
        /// How often.
        resets: u64,
    },
    /// The same series is in several files, which were taken as different targets.
    ScrapesAdded {
        /// How many series.
        series: usize,
    },
    /// Arrivals are known by intervals that are longer than a minute.
    CoarseIntervals {
        /// The longest one, in seconds.
        length_s: f64,
    },
    /// The mean is that of a histogram's buckets.
    MeanFromBuckets {
        /// By what share of it the true one may be higher or lower.
        within: f64,
    },
    /// The variation is estimated from a histogram's buckets.
    VariationFromBuckets {
        /// The least that it can be.
        low: f64,
        /// The most, where there is one.
        high: Option<f64>,
    },
    /// What a timeout would cut is estimated from a histogram's buckets.
    CutsFromBuckets,
    /// A log that other HDR tools read holds less than a saved profile.
    SavedAsHdrLog,
    /// What saving had to give up.
    Saved(SavedNotice),
}

/// A mean so many times the median makes sizing from the median wrong by as much.
const FAR_ABOVE: f64 = 5.0;

/// A week: traffic that is not seen for so long has not shown its peak.
const WEEK_S: f64 = 7.0 * 86_400.0;

/// Two years: beyond, some time stamps are wrong (a zero is 1970), and they blur the busiest minute.
const LONGEST_SPAN_S: f64 = 2.0 * 365.25 * 86_400.0;

/// The remarks that follow from a profile alone.
pub(super) fn of_profile(profile: &ServiceProfile) -> Vec<IngestNotice> {
    let mut notices = Vec::new();
    if let Some(ratio) = profile.mean_over_median().filter(|ratio| *ratio >= FAR_ABOVE) {
        notices.push(IngestNotice::MeanFarAboveMedian { ratio });
    }
    notices.extend(of_histogram(profile));
    notices.extend(of_phases(profile));
    if let Some(mean) = profile.times().failure_mean() {
        let (failures, count) = (profile.failures(), profile.count());
        notices.push(IngestNotice::Failures { failures, count, mean_s: mean.get() });
    }
    if let Some(correction) = &profile.source().correction {
        notices.push(IngestNotice::Corrected { correction: correction.clone() });
    }
    let unsupported = super::QUANTILES.iter().find(|quantile| !profile.times().supports(**quantile));
    if let Some(quantile) = unsupported {
        notices.push(IngestNotice::UnsupportedQuantile { quantile: *quantile, count: profile.count() });
    }
    let others = profile.groups().others();
    if others.count() > 0 {
        let share = others.moments().sum_ns() as f64 / profile.times().moments().sum_ns().max(1) as f64;
        let groups = profile.groups().in_order().len();
        notices.push(IngestNotice::GroupsJoined { groups, attempts: others.count(), share });
    }
    if let Some(arrivals) = profile.arrivals() {
        if arrivals.span_s() > LONGEST_SPAN_S {
            notices.push(IngestNotice::WildSpan { span_s: arrivals.span_s() });
        }
        // A day is left out at most: a week of logs is seldom a week to the second.
        if arrivals.span_s() < WEEK_S - 86_400.0 {
            notices.push(IngestNotice::ShortSpan { span_s: arrivals.span_s() });
        }
        if arrivals.interarrival_scv().is_none() {
            notices.push(IngestNotice::NoInterarrivalTimes { coarse: arrivals.has_coarse_stamps() });
        }
    }
    notices
}

/// A phase with so much of the mean is worth a look before workers are added.
const LARGE_SHARE: f64 = 0.1;

/// What the phases of the attempts suggest.
fn of_phases(profile: &ServiceProfile) -> Vec<IngestNotice> {
    let mut notices = Vec::new();
    if let Some(of_phases) = super::summary::OfPhases::of(profile.times()) {
        let super::summary::OfPhases { attempts, mean_s } = of_phases;
        notices.push(IngestNotice::RowsArePhases { attempts, mean_s });
    }
    let (phases, count) = (profile.times().phases(), profile.count());
    if phases.are_mixed() {
        notices.push(IngestNotice::PhasesMixed);
    }
    let known_ns = phases.measured().fold(0u128, |sum, (_, phase)| sum.saturating_add(phase.sum_ns));
    let taken_ns = profile.times().moments().sum_ns();
    if phases.form() == Some(PhaseForm::Columns) || phases.form() == Some(PhaseForm::BesideAttempts) {
        // Phases are rounded like attempts: a thousandth is none.
        let share = known_ns as f64 / taken_ns.max(1) as f64;
        if profile.source().correction.is_none() && share > 1.001 {
            notices.push(IngestNotice::PhasesExceed { share });
        }
    }
    let attempts = phases.most_rows();
    let each = phases.form().is_some_and(|form| form != PhaseForm::InsteadOfAttempts);
    // A few attempts may have failed before their first phase.
    if each && (attempts as f64) < 0.9 * count as f64 {
        notices.push(IngestNotice::PhasesOfSome { attempts, count });
    }
    let shares = profile.times().phase_summaries();
    let share = |phases: &[Phase]| {
        let of =
            |phase: &Phase| shares.iter().find(|row| row.name == phase.name()).map_or(0.0, |row| row.share);
        Some(phases.iter().map(of).sum()).filter(|share| *share >= LARGE_SHARE)
    };
    notices.extend(
        share(&[Phase::Dns, Phase::Connect, Phase::Tls]).map(|share| IngestNotice::SetUpShare { share }),
    );
    notices.extend(share(&[Phase::PoolWait]).map(|share| IngestNotice::PoolWaitShare { share }));
    notices.extend(share(&[Phase::Acknowledge]).map(|share| IngestNotice::AcknowledgeShare { share }));
    notices
}

/// The remarks on what is not known exactly of attempts that came as the counts of a histogram.
fn of_histogram(profile: &ServiceProfile) -> Vec<IngestNotice> {
    let times = profile.times();
    let mut notices = Vec::new();
    if let Some([low, high]) = times.mean_bounds_s() {
        let mean = profile.mean().get();
        let within = if mean > 0.0 { (high - mean).max(mean - low) / mean } else { 0.0 };
        notices.push(IngestNotice::MeanFromBuckets { within });
    }
    if let Some((low, high)) = times.scv_bounds() {
        notices.push(IngestNotice::VariationFromBuckets { low, high });
        let estimated = profile.caps_ns().any(|cap_ns| profile.cap_effect(cap_ns).attempts_cut > 0);
        if estimated {
            notices.push(IngestNotice::CutsFromBuckets);
        }
    }
    notices
}

impl IngestNotice {
    /// The remark in words.
    #[must_use]
    pub fn note(&self) -> Note {
        match self {
            IngestNotice::MeanFarAboveMedian { ratio } => Note::warning(
                "mean-far-above-median",
                format!("the mean is {} times the median", human::significant(*ratio, 2)),
            )
            .with_hint("size from the mean: a few slow attempts hold most of the workers"),
            IngestNotice::EndpointLatency { format } => Note::warning(
                "endpoint-latency",
                format!("{format} measures the endpoint's latency, typically 60 to 80% of the time that a worker is held"),
            )
            .with_hint("correct with --overhead DURATION or --endpoint-share PERCENT"),
            IngestNotice::Corrected { correction } => {
                Note::info("latency-corrected", format!("latency was made service time: {correction}"))
            }
            IngestNotice::AbsentAttempts { explanation } => {
                Note::warning("attempts-missing", (*explanation).to_owned())
                    .with_hint("they held workers too, so the true mean is higher")
            }
            IngestNotice::FailuresReported { format, answered, unanswered } => {
                let answered = (*answered > 0).then(|| {
                    format!("{} with the status of a failure, counted like all others", human::counted(*answered, "answer"))
                });
                let unanswered = (*unanswered > 0).then(|| {
                    format!("{} without an answer, whose time is not in it", human::counted(*unanswered, "request"))
                });
                let both: Vec<String> = answered.into_iter().chain(unanswered).collect();
                Note::warning("failures-reported", format!("{format}: {}", both.join(", and ")))
            }
            IngestNotice::UnknownOutcome { column, attempts, words } => {
                let words: Vec<String> =
                    words.iter().map(|(word, count)| format!("\"{word}\" {}", human::count(*count))).collect();
                Note::warning(
                    "outcome-unknown",
                    format!(
                        "{} counted as successes whose {column} is known neither as one nor as a failure: {}",
                        human::counted(*attempts, "attempt"),
                        words.join(", ")
                    ),
                )
                .with_hint("select with --where")
            }
            IngestNotice::SumsLeftOut { rows } => Note::info(
                "sums-left-out",
                format!(
                    "{} of transaction controllers left out: the requests that they sum up are counted by themselves",
                    human::counted(*rows, "row")
                ),
            ),
            IngestNotice::NamedTwice { file } => Note::warning(
                "file-named-twice",
                format!("{file} was named twice, and its attempts are counted twice"),
            ),
            IngestNotice::UnitOverridden { file, named, taken } => Note::warning(
                "unit-overridden",
                format!("{file} names {named} as the unit of its values, and they are taken in {taken}, as was asked for"),
            ),
            IngestNotice::PhasesExceed { share } => Note::warning(
                "phases-exceed-attempts",
                format!(
                    "the phases take {} of the time of the attempts: some lie outside of what is measured as one, or overlap",
                    human::percent(*share)
                ),
            )
            .with_hint("a worker is held for them as well: correct with --overhead, or measure the whole attempt"),
            IngestNotice::LoadToolArrivals { format } => Note::info(
                "load-tool-arrivals",
                format!("the arrivals are those that the load tool made ({format}), not those of production"),
            )
            .with_hint("give the rate with --rate when sizing"),
            IngestNotice::RowsArePhases { attempts, mean_s } => Note::warning(
                "rows-are-phases",
                format!(
                    "each row is a phase of an attempt and was taken as one by itself; the {} take {} on average",
                    human::counted(*attempts, "attempt"),
                    human::duration(*mean_s)
                ),
            )
            .with_hint("size with that --mean, or read one phase with --where"),
            IngestNotice::SetUpShare { share } => Note::warning(
                "set-up-share",
                format!("name look-up, connecting and TLS take {} of the mean", human::percent(*share)),
            )
            .with_hint("reuse connections before adding workers"),
            IngestNotice::PoolWaitShare { share } => Note::warning(
                "pool-wait-share",
                format!("waiting for a connection of the pool takes {} of the mean", human::percent(*share)),
            )
            .with_hint("the pool is smaller than the tasks that share it: enlarge it, or run fewer tasks a process"),
            IngestNotice::AcknowledgeShare { share } => Note::warning(
                "acknowledge-share",
                format!("acknowledging takes {} of the mean", human::percent(*share)),
            )
            .with_hint("acknowledge in batches, or release the worker before it is done"),
            IngestNotice::Failures { failures, count, mean_s } => Note::info(
                "failures-included",
                format!(
                    "{} of {} failed ({}), {} long on average; they held workers and are counted",
                    human::count(*failures),
                    human::counted(*count, "attempt"),
                    human::percent(*failures as f64 / (*count).max(1) as f64),
                    human::duration(*mean_s)
                ),
            ),
            IngestNotice::SkippedRows(skipped) => Note::warning(
                "rows-skipped",
                format!("{} skipped: {}", human::counted(skipped.rows(), "row"), skipped.describe()),
            ),
            IngestNotice::Unstamped { rows } => Note::warning(
                "rows-without-time-stamp",
                format!(
                    "{} without a readable time stamp: counted in the service time, not in the arrivals",
                    human::counted(*rows, "row")
                ),
            ),
            IngestNotice::CountColumnFound { column } => Note::info(
                "count-column-found",
                format!("a row stands for as many attempts as its \"{column}\" says"),
            )
            .with_hint("if each row is one attempt, say --count-column none"),
            IngestNotice::ZoneAssumed { file } => {
                Note::info("zone-assumed", format!("the dates in {file} carry no zone and are taken as UTC"))
            }
            IngestNotice::UnsupportedQuantile { quantile, count } => Note::info(
                "few-attempts",
                format!(
                    "{} {} not support quantiles from p{} on (fewer than ten lie beyond)",
                    human::counted(*count, "attempt"),
                    human::verb(*count, "does", "do"),
                    human::significant(quantile * 100.0, 4)
                ),
            ),
            IngestNotice::GroupsJoined { groups, attempts, share } => Note::warning(
                "groups-joined",
                format!(
                    "{groups} groups are told apart, those that were met first or that a saved profile had room for; the others hold {} of the busy time ({})",
                    human::percent(*share),
                    human::counted(*attempts, "attempt")
                ),
            )
            .with_hint("group by a column with fewer values, or select with --where"),
            IngestNotice::GroupsIncomplete => Note::warning(
                "groups-incomplete",
                "one input counts some groups together as others: a group of another input may be among them, and its counts too low",
            )
            .with_hint("read the attempts of both in one go, or group by a column with fewer values"),
            IngestNotice::PhasesMixed => Note::warning(
                "phases-mixed",
                "phases came beside attempts in one input and by themselves in another: they cannot be added, and are left out",
            )
            .with_hint("read these inputs apart"),
            IngestNotice::PhasesOfSome { attempts, count } => Note::warning(
                "phases-of-some",
                format!(
                    "phases are known of at most {} of {}; their shares are of the time of all",
                    human::count(*attempts),
                    human::counted(*count, "attempt")
                ),
            )
            .with_hint("read the input that has them by itself"),
            IngestNotice::ColumnUnread { column, meaning, example } => Note::warning(
                "column-not-read",
                format!("\"{column}\" is named as {meaning}, and is left out: its \"{example}\" is none"),
            ),
            IngestNotice::ShortSpan { span_s } => Note::info(
                "span-shorter-than-a-week",
                format!("the time stamps span {}: the busiest minute of a week may be busier", human::duration(*span_s)),
            ),
            IngestNotice::WildSpan { span_s } => Note::warning(
                "time-stamps-implausible",
                format!("the time stamps span {}: some are wrong, and the rates with them", human::duration(*span_s)),
            )
            .with_hint("leave them out with --since and --until"),
            IngestNotice::NoInterarrivalTimes { coarse: true } => Note::info(
                "time-stamps-coarse",
                "the time stamps are too coarse for the rate, so the time between arrivals is not known",
            ),
            IngestNotice::NoInterarrivalTimes { coarse: false } => Note::info(
                "arrivals-not-in-order",
                "the time between arrivals is not known: stamps far out of order, counts, or recordings that overlap",
            ),
            IngestNotice::HdrUnitAssumed { file } => Note::warning(
                "hdr-unit-assumed",
                format!("{file} does not say its unit; its values are taken as nanoseconds"),
            )
            .with_hint("say another with --unit s, ms or us"),
            IngestNotice::PercentileUnitAssumed { file } => Note::warning(
                "percentile-unit-assumed",
                format!("{file} does not say its unit; its values are taken as milliseconds, as HDR tools print them"),
            )
            .with_hint("say another with --unit s, us or ns"),
            IngestNotice::MeanFromRows { file } => Note::warning(
                "mean-from-rows",
                format!("{file} has no footer with the mean; it is estimated from the rows, each attempt in the middle between two of them"),
            )
            .with_hint("export the lines below the rows as well: they begin with #[Mean"),
            IngestNotice::SinceStart { metric } => Note::info(
                "counts-since-start",
                format!("the counts of {metric} are all since its process started"),
            )
            .with_hint("for a time of your choice give two scrapes and --difference, or a query_range answer"),
            IngestNotice::CounterResets { resets } => Note::info(
                "counter-resets",
                format!(
                    "counters started anew {}: what was counted between the last scrape before and the restart is not included",
                    human::counted(*resets, "time")
                ),
            ),
            IngestNotice::ScrapesAdded { series } => Note::warning(
                "scrapes-added",
                format!(
                    "{} in several files: they were taken as different targets and added up",
                    if *series == 1 { "one series is".to_owned() } else { format!("{series} series are") }
                ),
            )
            .with_hint("for scrapes of one target at different times use --difference"),
            IngestNotice::CoarseIntervals { length_s } => Note::info(
                "arrivals-by-interval",
                format!(
                    "arrivals are only known by intervals of up to {}, and taken as spread evenly over each: a busy minute may be busier",
                    human::duration(*length_s)
                ),
            ),
            IngestNotice::MeanFromBuckets { within } => Note::info(
                "mean-from-buckets",
                format!(
                    "the mean is that of the histogram's buckets; the true one is within {} of it",
                    human::percent(*within)
                ),
            ),
            IngestNotice::VariationFromBuckets { low, high } => {
                let low = human::significant(*low, 3);
                let between = match high {
                    Some(high) => format!("between {low} and {}", human::significant(*high, 3)),
                    None => format!("at least {low}"),
                };
                Note::info(
                    "variation-from-buckets",
                    format!("deviation and SCV are estimated from the histogram's buckets; the true SCV is {between}"),
                )
            }
            IngestNotice::CutsFromBuckets => Note::info(
                "cuts-from-buckets",
                "what a timeout would cut is estimated with attempts spread evenly over each bucket",
            ),
            IngestNotice::SavedAsHdrLog => Note::info(
                "saved-as-hdr-log",
                "the HDR log holds three digits of each attempt; exact sums, failures, arrivals, timeouts and blanks or commas in the names of groups are only in a saved profile",
            )
            .with_hint("save a profile, for --profile, under a name that does not end in .hlog"),
            IngestNotice::Saved(SavedNotice::CoarserHistogram { digits }) => Note::warning(
                "saved-coarser",
                format!("the saved profile holds quantiles to {}, to stay below 100 kB", within(*digits)),
            ),
            IngestNotice::Saved(SavedNotice::CoarserGroups { digits }) => Note::info(
                "saved-groups-coarser",
                format!(
                    "the saved profile holds the quantiles of groups to {}, to stay below 100 kB",
                    within(*digits)
                ),
            ),
            IngestNotice::Saved(SavedNotice::GroupsJoined { joined, kept }) => Note::warning(
                "saved-groups-joined",
                format!(
                    "the saved profile tells {} apart and holds {joined} more together as others, to stay below 100 kB",
                    human::counted(*kept as u64, "group")
                ),
            ),
        }
    }
}

/// Significant digits, and how far off the true value they leave a quantile.
fn within(digits: u8) -> String {
    let percent = 100.0 / 10f64.powi(digits.into());
    format!("{} (within {percent}%)", human::counted(digits.into(), "significant digit"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_coarser_profile_still_holds_is_said_in_digits() {
        for (digits, part) in
            [(1, "1 significant digit (within 10%)"), (2, "2 significant digits (within 1%)")]
        {
            for saved in [SavedNotice::CoarserHistogram { digits }, SavedNotice::CoarserGroups { digits }] {
                let text = IngestNotice::Saved(saved).note().message;
                assert!(text.contains(part), "{text}");
            }
        }
    }
}
