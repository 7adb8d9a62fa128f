//! How sure the answer is, given how few attempts it was measured from.

use super::demand::values;
use super::solve::Load;
use super::{Demand, Objective};
use crate::profile::{Block, NS_PER_SECOND, ServiceProfile};
use crate::units::Share;
use rand::SeedableRng;
use rand_distr::{Distribution, Poisson};
use rand_xoshiro::Xoshiro256PlusPlus;

/// How often the sample is drawn anew.
const REPLICATES: usize = 1_000;

/// Values are merged into at most this many strata before drawing: what is lost is the spread inside a stratum,
/// far below the spread between attempts.
const MOST_STRATA: usize = 400;

/// With fewer blocks of time than this their spread says little, and single values are drawn instead.
const FEWEST_BLOCKS: usize = 20;

/// The measured attempts behind a service time.
#[derive(Clone, Debug, PartialEq)]
pub struct Sample {
    /// Values in seconds with their counts, rising.
    pub values: Vec<(f64, u64)>,
    /// The attempts of each block of time, where their order is known and there are enough blocks to resample.
    pub blocks: Vec<TimedBlock>,
    /// How sure the interval is.
    pub confidence: Share,
    /// The seed of the drawing.
    pub seed: u64,
}

impl Sample {
    /// The sample behind a profile.
    #[must_use]
    pub fn of(profile: &ServiceProfile, confidence: Share, seed: u64) -> Self {
        let blocks: Vec<TimedBlock> = profile.blocks().map_or_else(Vec::new, |blocks| {
            blocks.iter().map(|(_, block)| TimedBlock::of(block)).filter(|block| block.count > 0.0).collect()
        });
        let blocks = if blocks.len() < FEWEST_BLOCKS { Vec::new() } else { blocks };
        Sample { values: values(profile).collect(), blocks, confidence, seed }
    }
}

/// The attempts of one block of time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TimedBlock {
    /// How many there are.
    pub count: f64,
    /// The sum of their durations, in seconds.
    pub sum: f64,
    /// The sum of the squares of their durations.
    pub squares: f64,
}

impl TimedBlock {
    fn of(block: &Block) -> Self {
        let second = NS_PER_SECOND as f64;
        TimedBlock {
            count: block.count as f64,
            sum: block.sum_ns as f64 / second,
            squares: block.sum_squares_ns2 as f64 / (second * second),
        }
    }
}

/// The interval of the worker count at the sample's confidence: the Poisson bootstrap (B. Efron 1979; J. A. Hanley,
/// B. MacGibbon, "Creating non-parametric bootstrap samples using Poisson frequencies", 2006) over the measured
/// values, percentile method. Each replicate has its own mean and SCV and so its own answer. Where the order of the
/// attempts is known, whole blocks of time are drawn, since attempts next to each other are alike (H. R. Künsch, "The
/// jackknife and the bootstrap for general stationary observations", Annals of Statistics 17, 1989).
///
/// Of a replicate three moments are known and of the sample every value, so that the sample's own answer may be that
/// of a better model. The interval is what the replicates differ from the sample sized like them, around that answer,
/// `workers`, which always lies within it.
///
/// `None` if a replicate is beyond what is answered at all.
pub(super) fn workers_interval(
    demand: &Demand,
    objectives: &[Objective],
    sample: &Sample,
    workers: u64,
) -> Option<[u64; 2]> {
    let replicates = resampled(sample, demand.service.mean.get()).into_iter();
    let load = |(mean_s, scv)| Load::moved(demand, mean_s, scv);
    let mut loads = replicates.map(load).collect::<Option<Vec<Load>>>()?;
    let middle = Load::new(demand).smallest_for_all(objectives);
    // The load orders the answers but for their variability; the rough answer orders them with it.
    loads.sort_by_cached_key(|load| load.roughly_smallest_for_all(objectives));
    let tail = (1.0 - sample.confidence.get()) / 2.0;
    let last = loads.len().saturating_sub(1) as f64;
    let answer = |share: f64| {
        let load = loads.get((share * last).round() as usize)?;
        Some(load.smallest_for_all(objectives))
    };
    // The rough order may put two close answers the wrong way round.
    let (one, other) = (answer(tail)?, answer(1.0 - tail)?);
    let below = middle.saturating_sub(one.min(other));
    let above = one.max(other).saturating_sub(middle);
    Some([workers.saturating_sub(below).max(1), workers.saturating_add(above)])
}

/// Mean and SCV of each redrawn sample, scaled so that the sample itself has the exact mean.
fn resampled(sample: &Sample, exact_mean_s: f64) -> Vec<(f64, f64)> {
    if !sample.blocks.is_empty() {
        return resampled_in_blocks(sample, exact_mean_s);
    }
    let strata = strata(&sample.values);
    let total: f64 = strata.iter().map(|stratum| stratum.count).sum();
    let mean = strata.iter().map(|stratum| stratum.count * stratum.mean).sum::<f64>() / total;
    let scale = exact_mean_s / mean;
    let mut random = Xoshiro256PlusPlus::seed_from_u64(sample.seed);
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

/// The same with every block of time drawn as a whole.
fn resampled_in_blocks(sample: &Sample, exact_mean_s: f64) -> Vec<(f64, f64)> {
    let total = |of: fn(&TimedBlock) -> f64| sample.blocks.iter().map(of).sum::<f64>();
    let scale = exact_mean_s * total(|block| block.count) / total(|block| block.sum);
    let mut random = Xoshiro256PlusPlus::seed_from_u64(sample.seed);
    let Ok(times) = Poisson::new(1.0) else { return Vec::new() };
    let mut replicates = Vec::with_capacity(REPLICATES);
    while replicates.len() < REPLICATES {
        let (mut count, mut sum, mut squares) = (0.0, 0.0, 0.0);
        for block in &sample.blocks {
            let drawn: f64 = times.sample(&mut random);
            count += drawn * block.count;
            sum += drawn * block.sum;
            squares += drawn * block.squares;
        }
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::queueing::{ArrivalProcess, ServiceLaw};
    use crate::sizing::ServiceTime;
    use crate::units::Seconds;
    use rand_distr::Exp1;

    /// A sample of an exponential law with mean 1 s, at 100/s: 100 erlangs.
    fn sampled(attempts: usize, seed: u64) -> (Demand, Sample) {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
        let mut values: Vec<(f64, u64)> = (0..attempts).map(|_| (Exp1.sample(&mut random), 1)).collect();
        values.sort_by(|a, b| a.0.total_cmp(&b.0));
        let mean = values.iter().map(|(value, _)| value).sum::<f64>() / attempts as f64;
        let scv =
            values.iter().map(|(value, _)| value * value).sum::<f64>() / attempts as f64 / (mean * mean)
                - 1.0;
        let service = ServiceTime::with_scv(Seconds::from_f64(mean).unwrap(), scv);
        let demand = Demand::new("100".parse().unwrap(), service, ArrivalProcess::Poisson).unwrap();
        (demand, Sample { values, blocks: Vec::new(), confidence: "95%".parse().unwrap(), seed: 1 })
    }

    fn objectives() -> Vec<Objective> {
        vec![Objective::MeanWait("0.5".parse().unwrap())]
    }

    fn interval(demand: &Demand, sample: &Sample) -> Option<[u64; 2]> {
        workers_interval(demand, &objectives(), sample, Load::new(demand).smallest_for_all(&objectives()))
    }

    #[test]
    fn the_answer_lies_in_its_interval_in_small_pools_too() {
        for seed in 0..40 {
            let (demand, sample) = sampled(50, seed);
            for rate in ["0.5", "2.75", "6.25", "8"] {
                let demand = demand.at_rate(rate.parse().unwrap()).unwrap();
                let answer = Load::new(&demand).smallest_for_all(&objectives());
                let [low, high] = interval(&demand, &sample).unwrap();
                assert!(low <= answer && answer <= high, "{rate}: {answer} is not from {low} to {high}");
            }
        }
    }

    #[test]
    fn nineteen_of_twenty_intervals_cover_the_answer_of_the_law_itself() {
        let exact = ServiceTime {
            law: ServiceLaw::Exponential { mean_s: 1.0 },
            ..ServiceTime::exponential("1".parse().unwrap())
        };
        let answer = Load::new(&Demand::new("100".parse().unwrap(), exact, ArrivalProcess::Poisson).unwrap())
            .smallest_for_all(&objectives());
        assert_eq!(answer, 102);
        let covered = (0..60)
            .filter(|&seed| {
                let (demand, sample) = sampled(200, seed);
                let [low, high] = interval(&demand, &sample).unwrap();
                (low..=high).contains(&answer)
            })
            .count();
        // 57 of 60 are expected; fewer than 51 has a probability below one in a hundred.
        assert!((51..=60).contains(&covered), "{covered}");
    }

    #[test]
    fn four_times_the_attempts_halve_the_interval() {
        let width = |attempts| {
            let (demand, sample) = sampled(attempts, 7);
            let [low, high] = interval(&demand, &sample).unwrap();
            (high - low) as f64
        };
        let ratio = width(400) / width(1600);
        assert!((1.5..2.7).contains(&ratio), "{ratio}");
    }

    #[test]
    fn a_sample_beyond_what_is_answered_has_no_interval_instead_of_a_made_up_one() {
        let (demand, sample) = sampled(30, 5);
        // Just below the largest load: half of the replicates lie above it.
        let rate = 9.999_999e9 / demand.service.mean.get();
        let edge = demand.at_rate(crate::units::ArrivalRate::from_f64(rate).unwrap()).unwrap();
        assert_eq!(interval(&edge, &sample), None);
    }

    #[test]
    fn attempts_that_are_alike_within_their_minute_leave_a_wider_interval() {
        // 60 blocks of 100 attempts, whose mean swings by half: single values would say that 6,000 attempts are many.
        let (demand, mut sample) = sampled(6_000, 11);
        let width = |sample: &Sample| {
            let [low, high] = interval(&demand, sample).unwrap();
            high - low
        };
        let alone = width(&sample);
        sample.blocks = (0..60)
            .map(|minute| {
                let mean = if minute % 2 == 0 { 0.5 } else { 1.5 };
                TimedBlock { count: 100.0, sum: 100.0 * mean, squares: 200.0 * mean * mean }
            })
            .collect();
        assert!(width(&sample) > 3 * alone, "{} {alone}", width(&sample));
    }

    #[test]
    fn a_seed_gives_the_same_interval_each_time() {
        let (demand, sample) = sampled(300, 3);
        assert_eq!(interval(&demand, &sample), interval(&demand, &sample));
    }
}
