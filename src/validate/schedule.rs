//! The planned arrival times of a level.

use super::plan::{Arrivals, Plan};
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

/// Arrival times of a level in seconds of the plan, in order, all before its duration is over.
pub(super) fn arrivals(plan: &Plan, multiplier: f64) -> Vec<f64> {
    // Each level has its own stream, so that leaving one out does not change the others.
    let mut random = Xoshiro256PlusPlus::seed_from_u64(plan.seed ^ multiplier.to_bits());
    match &plan.arrivals {
        Arrivals::Poisson => {
            let mean_gap_s = 1.0 / plan.rate_at(multiplier);
            let mut at = 0.0;
            let next = || {
                at -= mean_gap_s * libm::log(open_unit(&mut random));
                (at < plan.duration_s).then_some(at)
            };
            std::iter::from_fn(next).collect()
        }
        // The recorded pattern runs faster at a higher level; shrinking keeps each arrival with the same chance.
        Arrivals::Trace(times) => times
            .iter()
            .map(|at| at / multiplier)
            .take_while(|at| *at < plan.duration_s)
            .filter(|_| open_unit(&mut random) * plan.shrink <= 1.0)
            .collect(),
    }
}

/// Uniform on (0, 1].
fn open_unit(random: &mut Xoshiro256PlusPlus) -> f64 {
    ((random.next_u64() >> 11) + 1) as f64 * (1.0 / (1_u64 << 53) as f64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::validate::plan::tests::plan;

    #[test]
    fn poisson_arrivals_have_their_rate_and_their_variability() {
        let plan = Plan { rate_per_s: 1_000.0, duration_s: 100.0, shrink: 2.0, ..plan() };
        let times = arrivals(&plan, 2.0);
        // A Poisson count of 100,000 has a standard deviation of 316.
        assert!((times.len() as f64 - 100_000.0).abs() < 1_300.0, "{}", times.len());
        assert!(times.windows(2).all(|pair| pair[0] <= pair[1]) && *times.last().unwrap() < 100.0);
        let gaps: Vec<f64> = times.windows(2).map(|pair| pair[1] - pair[0]).collect();
        let mean = gaps.iter().sum::<f64>() / gaps.len() as f64;
        let variance = gaps.iter().map(|gap| (gap - mean).powi(2)).sum::<f64>() / gaps.len() as f64;
        assert!((variance / (mean * mean) - 1.0).abs() < 0.03);
        assert_eq!(times, arrivals(&plan, 2.0));
        assert_ne!(times[0], arrivals(&plan, 1.0)[0]);
    }

    #[test]
    fn a_trace_runs_faster_at_a_higher_level_and_is_thinned_by_shrinking() {
        let trace: Vec<f64> = (0..10_000).map(|index| f64::from(index) * 0.01).collect();
        let plan = Plan { arrivals: Arrivals::Trace(trace.into()), duration_s: 20.0, ..plan() };
        assert_eq!(arrivals(&plan, 1.0).len(), 2_000);
        let double = arrivals(&plan, 2.0);
        assert!(double.len() == 4_000 && (double[100] - 0.5).abs() < 1e-12);
        let thinned = arrivals(&Plan { shrink: 4.0, ..plan }, 1.0).len();
        assert!((400..600).contains(&thinned), "{thinned}");
    }
}
