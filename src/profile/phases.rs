//! Of which phases an attempt consists: where its time goes, and how often it had to set up a connection.

use crate::arrivals::decimal;
use serde::{Deserialize, Serialize};

/// A part of an attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Phase {
    /// Waiting for a connection of a pool.
    PoolWait,
    /// Taking the message under a lease.
    Lease,
    /// Looking up the host's name.
    Dns,
    /// Opening a connection.
    Connect,
    /// The TLS handshake.
    Tls,
    /// Sending the request.
    Send,
    /// Waiting for the answer.
    Http,
    /// Receiving the answer.
    Receive,
    /// Acknowledging the message.
    Acknowledge,
    /// Any other.
    Other,
}

impl Phase {
    /// All, in the order in which an attempt goes through them.
    pub const ALL: [Phase; 10] = [
        Phase::PoolWait,
        Phase::Lease,
        Phase::Dns,
        Phase::Connect,
        Phase::Tls,
        Phase::Send,
        Phase::Http,
        Phase::Receive,
        Phase::Acknowledge,
        Phase::Other,
    ];

    /// Its name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Phase::PoolWait => "pool wait",
            Phase::Lease => "lease",
            Phase::Dns => "dns",
            Phase::Connect => "connect",
            Phase::Tls => "tls",
            Phase::Send => "send",
            Phase::Http => "http",
            Phase::Receive => "receive",
            Phase::Acknowledge => "ack",
            Phase::Other => "other",
        }
    }

    /// Whether it sets up a connection, which a reused one does without.
    #[must_use]
    pub fn is_set_up(self) -> bool {
        matches!(self, Phase::Connect | Phase::Tls)
    }
}

/// One phase over many attempts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PhaseSum {
    /// How often it was measured.
    pub rows: u64,
    /// How often it took any time.
    pub positive: u64,
    /// How long it took in all, in nanoseconds.
    #[serde(with = "decimal")]
    pub sum_ns: u128,
}

/// How the phases of attempts are known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PhaseForm {
    /// Each attempt came with its phases.
    Columns,
    /// Phases came by themselves, beside the attempts.
    BesideAttempts,
    /// Phases came by themselves, and there are no attempts: each phase was taken as one.
    InsteadOfAttempts,
}

/// The phases of many attempts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Phases {
    form: Option<PhaseForm>,
    sums: [PhaseSum; Phase::ALL.len()],
    /// Attempts of which is known whether they set up a connection, and those that did not.
    known: u64,
    reused: u64,
    /// Whether they came in forms that cannot be added; nothing is kept of them then.
    mixed: bool,
}

impl Phases {
    /// Whether phases that came in this form can be added to those before; if not, all are dropped.
    #[inline]
    fn takes(&mut self, form: PhaseForm) -> bool {
        if self.form != Some(form) {
            if self.form.is_some() || self.mixed {
                *self = Phases { mixed: true, ..Phases::default() };
                return false;
            }
            self.form = Some(form);
        }
        true
    }

    /// Whether they were dropped, since some came as columns of attempts and others by themselves.
    #[must_use]
    pub fn are_mixed(&self) -> bool {
        self.mixed
    }

    /// Adds `weight` attempts with the durations of their phases, in nanoseconds.
    #[inline]
    pub fn add_attempt(&mut self, phases: &[(Phase, u64)], weight: u64) {
        if !self.takes(PhaseForm::Columns) {
            return;
        }
        let (mut known, mut set_up) = (false, false);
        for (phase, ns) in phases {
            self.add(*phase, *ns, weight);
            if phase.is_set_up() {
                known = true;
                set_up |= *ns > 0;
            }
        }
        if known {
            self.known = self.known.saturating_add(weight);
            self.reused = self.reused.saturating_add(if set_up { 0 } else { weight });
        }
    }

    /// Adds a phase that came by itself.
    #[inline]
    pub fn add_phase(&mut self, form: PhaseForm, phase: Phase, ns: u64) {
        if self.takes(form) {
            self.add(phase, ns, 1);
        }
    }

    /// Adds phases that came by themselves.
    pub fn add_phases(&mut self, form: PhaseForm, phase: Phase, durations_ns: &[u64]) {
        if durations_ns.is_empty() || !self.takes(form) {
            return;
        }
        let sum = &mut self.sums[phase as usize];
        sum.rows = sum.rows.saturating_add(durations_ns.len() as u64);
        let positive = durations_ns.iter().filter(|ns| **ns > 0).count();
        sum.positive = sum.positive.saturating_add(positive as u64);
        let sum_ns = durations_ns.iter().fold(0u128, |sum_ns, ns| sum_ns + u128::from(*ns));
        sum.sum_ns = sum.sum_ns.saturating_add(sum_ns);
    }

    #[inline]
    fn add(&mut self, phase: Phase, ns: u64, weight: u64) {
        let sum = &mut self.sums[phase as usize];
        sum.rows = sum.rows.saturating_add(weight);
        sum.positive = sum.positive.saturating_add(if ns > 0 { weight } else { 0 });
        sum.sum_ns = sum.sum_ns.saturating_add(u128::from(ns) * u128::from(weight));
    }

    /// Adds all of `other`.
    pub fn merge(&mut self, other: &Phases) {
        let takes = match other.form {
            Some(form) => self.takes(form),
            None => !other.mixed,
        };
        if !takes {
            *self = Phases { mixed: true, ..Phases::default() };
            return;
        }
        for (mine, theirs) in self.sums.iter_mut().zip(&other.sums) {
            mine.rows = mine.rows.saturating_add(theirs.rows);
            mine.positive = mine.positive.saturating_add(theirs.positive);
            mine.sum_ns = mine.sum_ns.saturating_add(theirs.sum_ns);
        }
        self.known = self.known.saturating_add(other.known);
        self.reused = self.reused.saturating_add(other.reused);
    }

    /// Whether nothing is known of phases.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.form.is_none()
    }

    /// How they are known; `None` if they are not.
    #[must_use]
    pub fn form(&self) -> Option<PhaseForm> {
        self.form
    }

    /// How often the phase was measured that was measured most often.
    #[must_use]
    pub fn most_rows(&self) -> u64 {
        self.sums.iter().map(|sum| sum.rows).max().unwrap_or(0)
    }

    /// The phases that were measured.
    pub fn measured(&self) -> impl Iterator<Item = (Phase, &PhaseSum)> {
        Phase::ALL.into_iter().zip(&self.sums).filter(|(_, sum)| sum.rows > 0)
    }

    /// How many attempts the phases belong to, of `attempts` that were counted: where phases came instead of attempts,
    /// as many as there were requests, or the most of any phase.
    #[must_use]
    pub fn attempts(&self, attempts: u64) -> u64 {
        if self.form != Some(PhaseForm::InsteadOfAttempts) {
            return attempts;
        }
        match self.sums[Phase::Http as usize].rows {
            0 => self.most_rows(),
            requests => requests,
        }
    }

    /// The share of attempts that set up no connection; `None` where that was not measured.
    #[must_use]
    pub fn reuse_ratio(&self, attempts: u64) -> Option<f64> {
        if self.known > 0 {
            return Some(self.reused as f64 / self.known as f64);
        }
        let [connect, tls] = [Phase::Connect, Phase::Tls].map(|phase| self.sums[phase as usize]);
        let attempts = self.attempts(attempts);
        if self.form == Some(PhaseForm::Columns) || connect.rows + tls.rows == 0 || attempts == 0 {
            return None;
        }
        let new = connect.positive.max(tls.positive).min(attempts);
        Some((attempts - new) as f64 / attempts as f64)
    }

    /// As it is saved; `None` if nothing is known.
    pub(super) fn save(&self) -> Option<SavedPhases> {
        let sums = self.measured().map(|(phase, sum)| SavedPhase { phase, sum: *sum }).collect();
        Some(SavedPhases { form: self.form?, known: self.known, reused: self.reused, sums })
    }
}

/// Phases as they are saved.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct SavedPhases {
    form: PhaseForm,
    #[serde(default)]
    known: u64,
    #[serde(default)]
    reused: u64,
    sums: Vec<SavedPhase>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct SavedPhase {
    phase: Phase,
    #[serde(flatten)]
    sum: PhaseSum,
}

impl SavedPhases {
    /// The most bytes that they take: names, two counts of twenty digits and a sum of 39 for each.
    pub(super) fn size(&self) -> usize {
        130 + 150 * self.sums.len()
    }

    /// As they were; `None` if they contradict themselves.
    pub(super) fn restore(&self) -> Option<Phases> {
        let mut phases =
            Phases { form: Some(self.form), known: self.known, reused: self.reused, ..Phases::default() };
        for SavedPhase { phase, sum } in &self.sums {
            phases.sums[*phase as usize] = *sum;
        }
        let sound = self.reused <= self.known
            && self.sums.len() <= Phase::ALL.len()
            && self.sums.iter().all(|SavedPhase { sum, .. }| sum.positive <= sum.rows && sum.rows > 0);
        sound.then_some(phases)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn phases_that_came_in_two_forms_are_dropped_in_either_order() {
        let (mut columns, mut rows) = (Phases::default(), Phases::default());
        columns.add_attempt(&[(Phase::Connect, 5), (Phase::Http, 20)], 3);
        rows.add_phase(PhaseForm::BesideAttempts, Phase::Connect, 7);
        let joined = |first: &Phases, second: &Phases| {
            let mut sum = *first;
            sum.merge(second);
            sum
        };
        assert_eq!(joined(&columns, &rows), joined(&rows, &columns));
        let mixed = joined(&columns, &rows);
        assert!(mixed.are_mixed() && mixed.is_empty() && mixed.reuse_ratio(4).is_none());
        assert_eq!(joined(&mixed, &columns), mixed);
        assert_eq!(joined(&Phases::default(), &columns), columns);
    }

    #[test]
    fn a_connection_is_reused_where_nothing_was_set_up() {
        let mut phases = Phases::default();
        phases.add_attempt(&[(Phase::Connect, 0), (Phase::Tls, 0), (Phase::Http, 9)], 3);
        phases.add_attempt(&[(Phase::Connect, 5), (Phase::Tls, 7), (Phase::Http, 9)], 1);
        assert_eq!(phases.reuse_ratio(4), Some(0.75));
        let http = phases.measured().find(|(phase, _)| *phase == Phase::Http).unwrap().1;
        assert_eq!((http.rows, http.sum_ns), (4, 36));
        let mut only_http = Phases::default();
        only_http.add_attempt(&[(Phase::Http, 9)], 1);
        assert_eq!(only_http.reuse_ratio(1), None);
    }

    #[test]
    fn phases_by_themselves_belong_to_as_many_attempts_as_there_were_requests() {
        let mut phases = Phases::default();
        let form = PhaseForm::InsteadOfAttempts;
        (0..10).for_each(|_| phases.add_phase(form, Phase::Http, 100));
        (0..2).for_each(|_| phases.add_phase(form, Phase::Connect, 30));
        assert_eq!((phases.attempts(12), phases.reuse_ratio(12)), (10, Some(0.8)));
    }
}
