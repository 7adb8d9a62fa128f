//! The formulas of `size` with the numbers put in.

use super::losses;
use crate::report::Explanation;
use crate::sizing::{Model, PoolSize, Question};
use crate::units::human;

pub(super) fn explanations(question: &Question, steady: &PoolSize) -> Vec<Explanation> {
    let (rate, mean) = (question.demand.rate.get(), question.demand.service.mean.get());
    let load = human::significant(steady.offered_load_erlangs, 8);
    let mut steps = vec![Explanation {
        quantity: "offered load",
        formula: "a = \u{3bb}S".to_owned(),
        numbers: format!("{} \u{d7} {mean} s = {load} erlangs", human::rate_to(rate, 8)),
        source: "J. D. C. Little, A proof for the queuing formula L = \u{3bb}W, Operations Research 9, 1961",
    }];
    if let Some(lost) = steady.state.lost_share() {
        steps.extend(losses::explanations(question, steady, lost));
        return steps;
    }
    let (Some(textbook), Some(wait)) = (&steady.erlang_c, steady.state.wait_mean_s) else { return steps };
    let (workers, probability) = (steady.workers, textbook.wait_probability);
    let slack = steady.state.rate_headroom_ratio * steady.offered_load_erlangs;
    steps.push(Explanation {
        quantity: "probability of waiting by Erlang C",
        formula:
            "C = 1/(\u{3c1} + (1 \u{2212} \u{3c1})/B), 1/B = \u{3a3} N(N\u{2212}1)\u{2026}(N\u{2212}k+1)/a\u{1d4f}"
                .to_owned(),
        numbers: format!("N = {workers}, a = {load}: C = {probability:.9}"),
        source: "A. K. Erlang 1917; R. B. Cooper, Introduction to Queueing Theory, 1981, ch. 3",
    });
    steps.push(Explanation {
        quantity: "mean wait by Erlang C",
        formula: "C\u{b7}S/(N \u{2212} a)".to_owned(),
        numbers: format!(
            "{probability:.6} \u{d7} {mean} s / {} = {:.6} s",
            human::significant(slack, 6),
            textbook.wait_mean_s
        ),
        source: "A. K. Erlang 1917; exact for Poisson arrivals and exponential service",
    });
    if steady.model != Model::ErlangC || steady.refined.is_some() {
        steps.push(Explanation {
            quantity: "mean wait",
            formula: "W = k \u{b7} C\u{b7}S/(N \u{2212} a)".to_owned(),
            numbers: format!("k = {}: {wait:.6} s", human::significant(wait / textbook.wait_mean_s, 6)),
            source: correction(steady),
        });
    }
    steps
}

/// Where the factor on Erlang C comes from.
fn correction(steady: &PoolSize) -> &'static str {
    match steady.model {
        _ if steady.refined.is_some() => {
            "the simulated mean wait of the smallest pool that keeps the objectives"
        }
        Model::ErlangC | Model::ErlangA | Model::FiniteQueue | Model::FiniteImpatient => "exact",
        Model::ThreeMoments | Model::TwoMoments => {
            "pools of 5, 10 and 20 workers solved exactly at the same (N \u{2212} a)/\u{221a}a with the moments of the \
             service time (docs/accuracy.md)"
        }
        Model::GeneralArrivals | Model::Batches => {
            "the peakedness of the arrivals (A. E. Eckberg 1983; W. Whitt 2004), and small pools solved exactly for the \
             service time (docs/accuracy.md)"
        }
    }
}
