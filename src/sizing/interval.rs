//! How sure the answer is, given how few attempts it was measured from.

use super::solve::Load;
use super::{Demand, Objective, ServiceTime};
use crate::units::{Seconds, Share};
use rand::SeedableRng;
use rand_distr::{Distribution, Poisson};
use rand_pcg::Pcg64Mcg;

/// How often the sample is drawn anew.
const REPLICATES: usize = 1_000;

/// Values are merged into at most this many strata before drawing: what is lost is the spread inside a stratum,
/// far below the spread between attempts.
const MOST_STRATA: usize = 400;

/// The measured attempts behind a service time.
#[derive(Clone, Debug, PartialEq)]
pub struct Sample {
    /// Values in seconds with their counts, rising.
    pub values: Vec<(f64, u64)>,
    /// How sure the interval is.
    pub confidence: Share,
    /// The seed of the drawing.
    pub seed: u64,
}

/// The interval of the worker count at the sample's confidence: the Poisson bootstrap (B. Efron 1979; J. A. Hanley,
/// B. MacGibbon, "Creating non-parametric bootstrap samples using Poisson frequencies", 2006) over the measured
/// values, percentile method. Each replicate has its own mean and SCV and so its own answer.
pub(super) fn workers_interval(demand: &Demand, objectives: &[Objective], sample: &Sample) -> [u64; 2] {
    let mut replicates = resampled(sample, demand.service.mean.get());
    // The load orders the answers but for their variability; the rough answer orders them with it.
    let rough = |&(mean_s, scv): &(f64, f64)| {
        replicate(demand, mean_s, scv)
            .map_or(0, |demand| Load::new(&demand).roughly_smallest_for_all(objectives))
    };
    replicates.sort_by_cached_key(rough);
    let tail = (1.0 - sample.confidence.get()) / 2.0;
    let last = replicates.len().saturating_sub(1) as f64;
    [tail * last, (1.0 - tail) * last].map(|rank| {
        let chosen = replicates.get(rank.round() as usize);
        chosen
            .and_then(|&(mean_s, scv)| replicate(demand, mean_s, scv))
            .map_or(0, |demand| Load::new(&demand).smallest_for_all(objectives))
    })
}

/// The demand with another mean and SCV of its service time.
fn replicate(demand: &Demand, mean_s: f64, scv: f64) -> Option<Demand> {
    let service = ServiceTime::with_scv(Seconds::from_f64(mean_s)?, scv);
    Demand::new(demand.rate.clone(), service, demand.arrival_scv).ok()
}

/// Mean and SCV of each redrawn sample, scaled so that the sample itself has the exact mean.
fn resampled(sample: &Sample, exact_mean_s: f64) -> Vec<(f64, f64)> {
    let strata = strata(&sample.values);
    let total: f64 = strata.iter().map(|stratum| stratum.count).sum();
    let mean = strata.iter().map(|stratum| stratum.count * stratum.mean).sum::<f64>() / total;
    let scale = exact_mean_s / mean;
    let mut random = Pcg64Mcg::seed_from_u64(sample.seed);
    let draws: Vec<(Stratum, Poisson<f64>)> =
        strata.into_iter().filter_map(|stratum| Some((stratum, Poisson::new(stratum.count).ok()?))).collect();
    let mut replicates = Vec::with_capacity(REPLICATES);
    while replicates.len() < REPLICATES {
        let (mut count, mut sum, mut squares) = (0.0, 0.0, 0.0);
        for (stratum, law) in &draws {
            let drawn = law.sample(&mut random);
            count += drawn;
            sum += drawn * stratum.mean;
            squares += drawn * stratum.mean_square;
        }
        // An empty sample says nothing; a handful of attempts can come out empty.
        if sum > 0.0 {
            let mean = sum / count;
            replicates.push((mean * scale, (squares / count / (mean * mean) - 1.0).max(0.0)));
        }
    }
    replicates
}

#[derive(Clone, Copy)]
struct Stratum {
    count: f64,
    mean: f64,
    mean_square: f64,
}

fn strata(values: &[(f64, u64)]) -> Vec<Stratum> {
    let width = values.len().div_ceil(MOST_STRATA).max(1);
    let stratum = |chunk: &[(f64, u64)]| {
        let count: f64 = chunk.iter().map(|&(_, count)| count as f64).sum();
        let weighted =
            |of: fn(f64) -> f64| chunk.iter().map(|&(value, n)| n as f64 * of(value)).sum::<f64>() / count;
        Stratum { count, mean: weighted(|value| value), mean_square: weighted(|value| value * value) }
    };
    values.chunks(width).map(stratum).filter(|stratum| stratum.count > 0.0).collect()
}
