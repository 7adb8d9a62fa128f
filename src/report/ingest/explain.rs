//! The formulas of `ingest` with the numbers put in.

use crate::ingest::{ArrivalSummary, Ingested, Summary};
use crate::report::Explanation;
use crate::units::human;

/// How the rate came about that `size` takes.
fn busiest_minute(arrivals: &ArrivalSummary, rate: f64) -> Explanation {
    let quantity = "busiest minute";
    if arrivals.span_s < 60.0 {
        return Explanation {
            quantity,
            formula: "\u{3bb} = intervals between arrivals / span, where that is less than a minute"
                .to_owned(),
            numbers: format!(
                "{} / {} = {}",
                human::count((rate * arrivals.span_s).round() as u64),
                human::duration(arrivals.span_s),
                human::rate(rate)
            ),
            source: "the mean rate of the whole span; size takes it",
        };
    }
    Explanation {
        quantity,
        formula: "\u{3bb} = the most arrivals in any window / its length".to_owned(),
        numbers: format!(
            "{} in {} s from {} = {}",
            human::count((rate * arrivals.busiest_window_s as f64).round() as u64),
            arrivals.busiest_window_s,
            arrivals.busiest_minute_start,
            human::rate(rate)
        ),
        source: "a window that slides by the second over the whole span; size takes this rate",
    }
}

/// How each figure was computed.
pub(super) fn explanations(ingested: &Ingested, summary: &Summary) -> Vec<Explanation> {
    let profile = &ingested.profile;
    let moments = profile.times().moments();
    let count = human::count(summary.count);
    let exact = profile.is_exact();
    let sum = human::duration(moments.sum_ns() as f64 / 1e9);
    let mut all = vec![Explanation {
        quantity: "mean service time",
        formula: "S = \u{3a3}x / n".to_owned(),
        numbers: format!("{sum} / {count} = {}", human::duration(summary.mean_s)),
        source: if exact {
            "sum of whole nanoseconds in 128 bits, divided once"
        } else {
            "the sum that was kept beside the histogram, or its buckets' middles"
        },
    }];
    let squares = moments.sum_squares_ns2() as f64 / 1e18;
    let mean = human::significant(summary.mean_s, 6);
    all.push(Explanation {
        quantity: "squared coefficient of variation",
        formula: "SCV = (n\u{3a3}x\u{b2} \u{2212} (\u{3a3}x)\u{b2}) / (\u{3a3}x)\u{b2} = \u{3a3}x\u{b2}/n / S\u{b2} \u{2212} 1".to_owned(),
        numbers: format!(
            "{} s\u{b2} / {count} / ({mean} s)\u{b2} \u{2212} 1 = {}",
            human::significant(squares, 6),
            human::significant(summary.scv, 4)
        ),
        source: "variance of the attempts as a population over their squared mean, from exact integers",
    });
    all.extend(summary.quantiles.iter().filter(|row| row.quantile == 0.99).map(|row| Explanation {
        quantity: "p99",
        formula: "the \u{2308}qn\u{2309}-th shortest attempt".to_owned(),
        numbers: format!(
            "attempt {} of {count} takes {}",
            human::count((0.99 * summary.count as f64 - 1e-9).ceil().max(1.0) as u64),
            human::duration(row.value_s)
        ),
        source: "nearest rank, the upper end of a bucket at most 0.1% wide (HdrHistogram, three digits)",
    }));
    if let Some(arrivals) = &summary.arrivals
        && let Some(rate) = arrivals.busiest_minute_rate_per_s
    {
        all.push(busiest_minute(arrivals, rate));
    }
    if let Some(dispersion) = summary.arrivals.as_ref().and_then(|arrivals| arrivals.dispersion) {
        all.push(Explanation {
            quantity: "dispersion of counts",
            formula: "I = variance / mean of the arrivals a second".to_owned(),
            numbers: format!("{} (1 for a Poisson stream)", human::significant(dispersion, 3)),
            source: "D. R. Cox, P. A. W. Lewis, The Statistical Analysis of Series of Events, 1966; variance within minutes",
        });
    }
    let cut = summary.cap_effect.iter().find(|cap| cap.attempts_cut > 0);
    all.extend(cut.map(|cap| Explanation {
        quantity: "mean with a timeout",
        formula: "S(c) = S \u{2212} \u{3a3}(x \u{2212} c)\u{207a} / n".to_owned(),
        numbers: format!(
            "c = {}: {} \u{2212} {} / {count} = {}",
            human::duration(cap.timeout_s),
            human::duration(summary.mean_s),
            human::duration((summary.mean_s - cap.mean_s) * summary.count as f64),
            human::duration(cap.mean_s)
        ),
        source: "every attempt beyond the timeout is cut at it; nothing is assumed of what follows",
    }));
    if let Some(of_phases) = &summary.of_phases {
        all.push(Explanation {
            quantity: "mean of attempts that came as phases",
            formula: "S = \u{3a3} of all phases / attempts".to_owned(),
            numbers: format!(
                "{sum} / {} = {}",
                human::count(of_phases.attempts),
                human::duration(of_phases.mean_s)
            ),
            source: "each attempt has one request; without requests, as many attempts as the most frequent phase",
        });
    }
    all
}
