//! Fewer messages than workers: a level for each number of them, with the number of services in the first phase.

use super::super::linear::{Matrix, add, inverse, solve};
use super::TwoPhase;
use super::modes::Modes;

/// The levels below a full pool, eliminated from the empty one upwards.
pub(super) struct Below {
    law: TwoPhase,
    /// Level n as a function of the level above it: πₙ = πₙ₊₁·Tₙ₊₁.
    up_to: Vec<Matrix>,
}

impl Below {
    pub(super) fn new(law: &TwoPhase, workers: usize, load: f64) -> Self {
        let TwoPhase { first_share, onward, rates: [first, second] } = *law;
        let mut up_to: Vec<Matrix> = Vec::with_capacity(workers);
        for level in 0..workers {
            // What leaves each state of this level and is not back by way of the levels below: the rates of leaving
            // upwards add up to the arrival rate in every row, so that the diagonal dominates.
            let mut leaving = Matrix::zero(level + 1, level + 1);
            for in_first in 0..=level {
                let (i, rest) = (in_first as f64, (level - in_first) as f64);
                leaving.add(in_first, in_first, load + i * first + rest * second);
                if in_first > 0 {
                    leaving.add(in_first, in_first - 1, -i * first * onward);
                }
                if let Some(lower) = up_to.last() {
                    let back = lower.row(in_first);
                    add(&mut leaving.row_mut(in_first)[..level], back, -load * (1.0 - first_share));
                    add(&mut leaving.row_mut(in_first)[1..], back, -load * first_share);
                }
            }
            let visits = inverse(leaving);
            let mut up = Matrix::zero(level + 2, level + 1);
            for in_first in 0..=level {
                let (i, rest) = ((in_first + 1) as f64, (level + 1 - in_first) as f64);
                add(up.row_mut(in_first), visits.row(in_first), rest * second);
                add(up.row_mut(in_first + 1), visits.row(in_first), i * first * (1.0 - onward));
            }
            up_to.push(up);
        }
        Below { law: *law, up_to }
    }

    /// The weights of the modes with which the levels above continue those below, scaled so that the full level is 1.
    pub(super) fn matching(&self, modes: &Modes) -> Vec<f64> {
        let size = modes.each().count();
        let mut equations = Matrix::zero(size, size);
        for (column, mode) in modes.each().enumerate() {
            // Continued one level down, the modes must be what arrivals make of the level below.
            let arriving = self.after_arrival(&mode.phases);
            for (row, (phase, arriving)) in mode.phases.iter().zip(arriving).enumerate() {
                equations.add(row, column, phase / mode.factor - arriving);
            }
            // The equations sum to none of their own, so one of them makes room for the scale.
            let redundant = equations.at(0, column);
            equations.add(0, column, mode.total - redundant);
        }
        let mut scale = Matrix::zero(size, 1);
        scale.add(0, 0, 1.0);
        let weights = solve(&equations, &scale);
        (0..size).map(|row| weights.at(row, 0)).collect()
    }

    /// What arrivals at the level below make of it, where the full level is `full`, relative to the arrival rate.
    fn after_arrival(&self, full: &[f64]) -> Vec<f64> {
        let mut arriving = vec![0.0; full.len()];
        let below = self.up_to.last().map_or_else(Vec::new, |last| last.after(full));
        for (in_first, share) in below.iter().enumerate() {
            arriving[in_first] += share * (1.0 - self.law.first_share);
            arriving[in_first + 1] += share * self.law.first_share;
        }
        arriving
    }

    /// The probability of all levels below a full one.
    pub(super) fn total(&self, full: &[f64]) -> f64 {
        let mut level = full.to_vec();
        let below = self.up_to.iter().rev().map(|up| {
            level = up.after(&level);
            level.iter().sum::<f64>()
        });
        below.sum()
    }
}
