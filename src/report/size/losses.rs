//! What a pool loses, where arrivals can give up or be turned away.

use crate::report::{Column, Explanation};
use crate::sizing::{PoolSize, Question};
use crate::units::human;

/// Adds the column of lost arrivals.
pub(super) fn add_column(steady: &PoolSize, columns: &mut Vec<Column>) {
    if steady.state.lost_share().is_some() {
        columns.push(Column::number("lost"));
    }
}

/// The bounds, what is lost to them, and the wait of the rest.
pub(super) fn facts(question: &Question, steady: &PoolSize) -> Vec<(String, String)> {
    let (state, demand) = (&steady.state, &question.demand);
    let (Some(bounds), Some(lost)) = (demand.bounds.in_words(), state.lost_share()) else {
        return Vec::new();
    };
    let each = |share: Option<f64>, what: &str| Some(format!("{} {what}", human::percent(share?)));
    let parts: Vec<String> = each(state.abandonment_share, "give up")
        .into_iter()
        .chain(each(state.loss_share, "are turned away"))
        .collect();
    let lost = format!(
        "{} of arrivals, {}: {}",
        human::percent(lost),
        human::rate(lost * demand.rate.get()),
        parts.join(", ")
    );
    let mut rows = vec![("bounds".to_owned(), bounds), ("lost".to_owned(), lost)];
    if let Some(wait_s) = state.wait_mean_served_s {
        rows.push(("wait of the served".to_owned(), format!("mean {}", human::duration(wait_s))));
    }
    rows
}

/// How the shares come about.
pub(super) fn explanations(question: &Question, steady: &PoolSize, lost: f64) -> Vec<Explanation> {
    let (state, demand) = (&steady.state, &question.demand);
    let load = human::significant(steady.offered_load_erlangs, 8);
    let wait = human::duration(state.wait_mean_s.unwrap_or(0.0));
    let mut steps = Vec::new();
    if let (Some(patience), Some(abandoned)) = (&demand.bounds.patience, state.abandonment_share) {
        steps.push(Explanation {
            quantity: "wait on offer",
            formula: "density \u{221d} exp(\u{2212}Nv/S + \u{3bb}\u{3b8}(1 \u{2212} e^(\u{2212}v/\u{3b8}))), \u{3b8} the mean patience"
                .to_owned(),
            numbers: format!(
                "N = {}, a = {load}, \u{3b8} = {patience}: {} of those that are admitted wait",
                steady.workers,
                human::percent(state.wait_probability.unwrap_or(0.0))
            ),
            source: "C. Palm 1957; F. Baccelli, G. Hebuterne 1981; S. Zeltyn, A. Mandelbaum, Queueing Systems 51, 2005",
        });
        steps.push(Explanation {
            quantity: "share that gives up",
            formula: "mean wait of the admitted / \u{3b8}, of the admitted".to_owned(),
            numbers: format!("{wait} / {patience}: {} of all arrivals", human::percent(abandoned)),
            source: "what leaves the queue impatiently is its length over \u{3b8}, and its length is \u{3bb} times the wait",
        });
    }
    if let (Some(places), Some(turned_away)) = (demand.bounds.queue_limit, state.loss_share) {
        steps.push(Explanation {
            quantity: "share that is turned away",
            formula: "\u{3c0}(N + r) of the chain with the rates \u{3bb} up and min(n, N)/S + (n \u{2212} N)\u{207a}/\u{3b8} down"
                .to_owned(),
            numbers: format!(
                "N = {}, r = {places}, a = {load}: {}",
                steady.workers,
                human::percent(turned_away)
            ),
            source: "D. Gross, C. M. Harris, Fundamentals of Queueing Theory, 1998, ch. 2",
        });
    }
    steps.push(Explanation {
        quantity: "utilisation",
        formula: "a \u{b7} (1 \u{2212} lost) / N".to_owned(),
        numbers: format!(
            "{load} \u{d7} (1 \u{2212} {}) / {} = {}",
            human::significant(lost, 6),
            steady.workers,
            human::percent(state.utilisation)
        ),
        source: "Little's law over what is served",
    });
    steps
}
