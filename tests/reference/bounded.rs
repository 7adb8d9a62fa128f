//! Patience and bounded queues against exact fractions, published values, limits, and laws that hold at any load.

use num_bigint::BigInt;
use num_rational::BigRational;
use num_traits::{One, ToPrimitive, Zero};
use proptest::prelude::*;
use whsize::queueing::erlang::{erlang_b, erlang_c};
use whsize::queueing::{Bounds, Pool, WaitModel, Waiting};

/// Sums of positive terms in floats, beside exact fractions.
const EXACT: f64 = 1e-12;

/// An answer in seconds for service times of 1 s; the workers need not keep up.
fn waiting(workers: u64, load: f64, patience_s: Option<f64>, places: Option<u64>) -> Waiting {
    scaled(workers, load, 1.0, patience_s, places)
}

fn scaled(
    workers: u64,
    load: f64,
    service_mean_s: f64,
    patience_s: Option<f64>,
    places: Option<u64>,
) -> Waiting {
    let pool = Pool { workers, load, slack: workers as f64 - load, service_mean_s };
    WaitModel::textbook().bounded(Bounds::of(patience_s, places)).waiting(&pool).unwrap()
}

fn close(found: f64, expected: f64, tolerance: f64) -> bool {
    (found - expected).abs() <= tolerance * expected.abs() || expected.abs() < 1e-290 && found.abs() < 1e-290
}

fn fraction(numerator: u64, denominator: u64) -> BigRational {
    BigRational::new(BigInt::from(numerator), BigInt::from(denominator))
}

/// The chain in exact fractions, with the waits by the first step of each arrival: what a closed form has no part in.
struct Exact {
    probability: f64,
    mean: f64,
    abandoned: f64,
    turned_away: f64,
    served_mean: f64,
}

fn exact(workers: u64, load: &BigRational, leaving: &BigRational, places: u64) -> Exact {
    let whole = |n: u64| BigRational::from(BigInt::from(n));
    let mut states = vec![BigRational::one()];
    for n in 1..=workers + places {
        let rate = whole(n.min(workers)) + whole(n.saturating_sub(workers)) * leaving;
        states.push(states[n as usize - 1].clone() * load / rate);
    }
    let total: BigRational = states.iter().sum();
    let full = states[(workers + places) as usize].clone() / &total;
    let admitted = BigRational::one() - &full;
    let (mut waits, mut wait, mut served, mut served_wait) =
        (BigRational::zero(), BigRational::zero(), BigRational::zero(), BigRational::zero());
    // Of a tagged arrival with k ahead: the chance that it is served, its time until then where it is, and its time in all.
    let (mut chance, mut until_served, mut until_out) =
        (BigRational::one(), BigRational::zero(), BigRational::zero());
    for k in 0..places {
        let ahead = whole(workers) + whole(k) * leaving;
        let all = &ahead + leaving;
        let goes_on = &ahead / &all;
        until_served = &goes_on * (&until_served + &chance / &all);
        until_out = all.recip() + &goes_on * &until_out;
        chance = &goes_on * &chance;
        let state = &states[(workers + k) as usize] / &total;
        waits += &state;
        wait += &state * &until_out;
        served += &state * &chance;
        served_wait += &state * &until_served;
    }
    let at_once = states[..workers as usize].iter().sum::<BigRational>() / &total;
    let float = |value: BigRational| value.to_f64().unwrap();
    Exact {
        abandoned: float(&waits - &served),
        probability: float(&waits / &admitted),
        mean: float(&wait / &admitted),
        served_mean: float(&served_wait / (&served + &at_once)),
        turned_away: float(full),
    }
}

#[test]
fn small_pools_are_those_of_exact_fractions() {
    for (workers, load, leaving, places) in [
        (1, fraction(1, 2), fraction(0, 1), 3),
        (1, fraction(5, 1), fraction(1, 7), 9),
        (3, fraction(6, 1), fraction(0, 1), 4),
        (5, fraction(5, 1), fraction(0, 1), 12),
        (5, fraction(5, 1), fraction(3, 1), 12),
        (7, fraction(1, 9), fraction(1, 100), 2),
        (10, fraction(11, 1), fraction(1, 2), 60),
        (20, fraction(19, 1), fraction(1, 1000), 80),
    ] {
        let exact = exact(workers, &load, &leaving, places);
        let (load, leaving) = (load.to_f64().unwrap(), leaving.to_f64().unwrap());
        let found = waiting(workers, load, (leaving > 0.0).then(|| 1.0 / leaving), Some(places));
        let losses = found.losses().unwrap();
        for (what, found, exact) in [
            ("P(W>0)", found.probability, exact.probability),
            ("mean", found.mean_s(), exact.mean),
            ("abandoned", losses.abandoned, exact.abandoned),
            ("turned away", losses.turned_away, exact.turned_away),
            ("mean of the served", losses.served_wait_mean_s, exact.served_mean),
            ("served", losses.served, 1.0 - exact.abandoned - exact.turned_away),
        ] {
            assert!(
                close(found, exact, EXACT),
                "{workers} {load} {leaving} {places} {what}: {found} {exact}"
            );
        }
    }
}

/// 48 calls a minute of a minute each, 50 agents, patience of 2 minutes: 3.1% abandon, the mean wait is 3.7 s and its
/// 90th percentile 12.5 s, 3 wait, agents are 93% busy; without abandonment 20.8 s, 58.1 s, 17, 96% (O. Garnett, A.
/// Mandelbaum, M. Reiman, "Designing a call center with impatient customers", M&SOM 4, 2002, table 1).
#[test]
fn a_call_centre_with_impatient_callers_waits_as_published() {
    let found = scaled(50, 48.0, 60.0, Some(120.0), None);
    let losses = found.losses().unwrap();
    assert!((losses.abandoned - 0.031).abs() < 5e-4, "{losses:?}");
    assert!((found.mean_s() - 3.7).abs() < 0.05, "{}", found.mean_s());
    // 12.45 s.
    assert!((found.quantile_s(0.9) - 12.5).abs() < 0.06, "{}", found.quantile_s(0.9));
    assert!((48.0 / 60.0 * found.mean_s() - 3.0).abs() < 0.05);
    assert!((48.0 / 50.0 * losses.served - 0.93).abs() < 5e-3);
    let patient = scaled(50, 48.0, 60.0, Some(1e9), None);
    assert!((patient.mean_s() - 20.8).abs() < 0.05 && (patient.quantile_s(0.9) - 58.1).abs() < 0.05);
}

/// Three inspection stations of 6 minutes, one car a minute, room for four to wait: 3.09 wait, 6.06 are there, and 30.3
/// cars an hour go elsewhere (D. Gross, C. M. Harris, *Fundamentals of Queueing Theory*, 1998, §2.5, on paper:
/// weights 1, 6, 18, 36, 72, 144, 288, 576 of the states).
#[test]
fn an_inspection_station_turns_away_as_published() {
    let found = scaled(3, 6.0, 6.0, None, Some(4));
    let losses = found.losses().unwrap();
    assert!((losses.turned_away - 576.0 / 1141.0).abs() < 1e-14, "{losses:?}");
    let waiting = losses.served * found.mean_s();
    assert!(
        (waiting - 3.09).abs() < 5e-3 && (waiting + 6.0 * losses.served - 6.06).abs() < 5e-3,
        "{waiting}"
    );
    assert!((60.0 * losses.turned_away - 30.3).abs() < 0.05, "{losses:?}");
}

#[test]
fn without_a_place_to_wait_it_is_erlang_b() {
    for (workers, load) in [(1, 0.001), (5, 3.0), (100, 120.0), (1263, 1260.0), (1_000_000, 1e6), (10, 1e9)] {
        let found = waiting(workers, load, None, Some(0));
        let lost = found.losses().unwrap().turned_away;
        assert!(close(lost, erlang_b(workers, load), 1e-12), "{workers} {load}: {lost}");
        assert_eq!((found.probability, found.mean_s(), found.quantile_s(0.999)), (0.0, 0.0, 0.0));
        // Whoever would wait is turned away, so patience makes no difference.
        let both = waiting(workers, load, Some(1.0), Some(0));
        assert!(close(both.losses().unwrap().turned_away, lost, 1e-12), "{workers} {load}");
    }
}

#[test]
fn endless_patience_and_endless_room_are_erlang_c() {
    for (workers, load) in [(7u64, 5.0), (101, 100.0), (1263, 1260.0), (1_000_100, 1e6)] {
        let slack = workers as f64 - load;
        let (probability, rate) = (erlang_c(workers, load, slack), slack);
        let patient = waiting(workers, load, Some(1e13), None);
        let roomy = waiting(workers, load, None, Some(1_000_000_000));
        for found in [patient, roomy] {
            assert!(close(found.probability, probability, 1e-7), "{workers}: {found:?}");
            assert!(close(found.mean_s(), probability / rate, 1e-6), "{workers}: {found:?}");
            assert!(found.lost_share() < 1e-9, "{workers}: {found:?}");
        }
        let quantile = (probability / 0.01).ln() / rate;
        assert!(close(patient.quantile_s(0.99), quantile, 1e-6), "{workers}");
    }
}

/// Patience as long as the service on average: all leave at the same rate, so the number in the system is Poisson.
#[test]
fn patience_like_the_service_is_a_pool_without_end() {
    use statrs::distribution::{DiscreteCDF, Poisson};
    for (workers, load) in [(1, 0.2), (10, 11.0), (100, 80.0), (100, 150.0), (10_000, 10_050.0)] {
        let found = waiting(workers, load, Some(1.0), None);
        let poisson = Poisson::new(load).unwrap();
        let all_busy = poisson.sf(workers - 1);
        assert!(
            close(found.probability, all_busy, 1e-9),
            "{workers} {load}: {} {all_busy}",
            found.probability
        );
        // E(X − N)⁺ = a·P(X ≥ N) − N·P(X > N).
        let queue = load * all_busy - workers as f64 * poisson.sf(workers);
        assert!(
            close(found.mean_s(), queue / load, 1e-7),
            "{workers} {load}: {} {}",
            found.mean_s(),
            queue / load
        );
    }
}

#[test]
fn patience_with_more_room_than_is_used_is_erlang_a_and_with_endless_patience_the_finite_queue() {
    for (workers, load, patience) in [(10, 11.0, 2.0), (1, 3.0, 0.01), (100, 99.0, 30.0), (1000, 1200.0, 0.5)]
    {
        let (alone, roomy) = (
            waiting(workers, load, Some(patience), None),
            waiting(workers, load, Some(patience), Some(1_000_000)),
        );
        let (one, other) = (alone.losses().unwrap(), roomy.losses().unwrap());
        for (what, one, other) in [
            ("P(W>0)", alone.probability, roomy.probability),
            ("mean", alone.mean_s(), roomy.mean_s()),
            ("abandoned", one.abandoned, other.abandoned),
            ("served", one.served, other.served),
            ("mean of the served", one.served_wait_mean_s, other.served_wait_mean_s),
            ("median", alone.quantile_s(0.5), roomy.quantile_s(0.5)),
            ("p99", alone.quantile_s(0.99), roomy.quantile_s(0.99)),
        ] {
            assert!(close(one, other, 1e-10), "{workers} {load} {what}: {one} {other}");
        }
    }
    for (workers, load, places) in [(5, 5.5, 7), (100, 99.9, 400), (100, 130.0, 1_000), (3, 0.1, 5)] {
        let (alone, patient) =
            (waiting(workers, load, None, Some(places)), waiting(workers, load, Some(1e14), Some(places)));
        for (what, one, other) in [
            ("P(W>0)", alone.probability, patient.probability),
            ("mean", alone.mean_s(), patient.mean_s()),
            ("turned away", alone.lost_share(), patient.losses().unwrap().turned_away),
            ("p99", alone.quantile_s(0.99), patient.quantile_s(0.99)),
        ] {
            assert!(close(one, other, 1e-9), "{workers} {load} {what}: {one} {other}");
        }
    }
}

/// The tail by Runge and Kutta's steps: of one with k ahead, −S'ₖ = (N + (k+1)θ)Sₖ − (N + kθ)Sₖ₋₁.
#[test]
fn the_tail_is_that_of_its_differential_equation() {
    for (workers, load, leaving, places) in [(3.0, 4.0, 0.5, 12), (2.0, 1.8, 0.0, 9)] {
        let mut states = vec![1.0];
        for j in 0..places {
            states.push(states[j] * load / (workers + (j + 1) as f64 * leaving));
        }
        let free: f64 = (0..workers as i32)
            .map(|n| {
                // π(n)/π(N): N(N−1)…(n+1)/a^(N−n)
                (n + 1..=workers as i32).map(|k| f64::from(k) / load).product::<f64>()
            })
            .sum();
        let admitted = free + states[..places].iter().sum::<f64>();
        let slope = |tails: &[f64]| -> Vec<f64> {
            (0..places)
                .map(|k| {
                    let before = if k > 0 { tails[k - 1] } else { 0.0 };
                    (workers + k as f64 * leaving) * before - (workers + (k + 1) as f64 * leaving) * tails[k]
                })
                .collect()
        };
        let patience = (leaving > 0.0).then(|| 1.0 / leaving);
        let found = waiting(workers as u64, load, patience, Some(places as u64));
        let (mut tails, step) = (vec![1.0; places], 0.002);
        for steps in 1..=2_000 {
            let at = |tails: &[f64], slope: &[f64], by: f64| -> Vec<f64> {
                tails.iter().zip(slope).map(|(tail, slope)| tail + by * slope).collect()
            };
            let first = slope(&tails);
            let second = slope(&at(&tails, &first, step / 2.0));
            let third = slope(&at(&tails, &second, step / 2.0));
            let fourth = slope(&at(&tails, &third, step));
            for (k, tail) in tails.iter_mut().enumerate() {
                *tail += step / 6.0 * (first[k] + 2.0 * second[k] + 2.0 * third[k] + fourth[k]);
            }
            if steps % 250 == 0 {
                let time = f64::from(steps) * step;
                let expected =
                    states.iter().zip(&tails).map(|(state, tail)| state * tail).sum::<f64>() / admitted;
                let share = found.share_beyond(time);
                assert!(close(share, expected, 1e-7), "{places} {time}: {share} {expected}");
                assert!(close(found.quantile_s(1.0 - share), time, 1e-8), "{places} {time}");
            }
        }
    }
}

/// Far above the load a queue is a fluid: what cannot be served gives up, and the wait on offer is such that it does.
#[test]
fn an_overload_gives_up_what_cannot_be_served() {
    for (workers, load, patience) in
        [(1_000, 2_000.0, 50.0), (1_000_000, 1.5e6, 3e7), (500_000_000, 1e9, 1e4)]
    {
        let found = waiting(workers, load, Some(patience), None);
        let excess = 1.0 - workers as f64 / load;
        assert!(close(found.losses().unwrap().abandoned, excess, 1e-6), "{workers}: {found:?}");
        let offered = patience * (load / workers as f64).ln();
        // Half of those that would wait longer than half of what is on offer are gone by e^(−θt).
        let beyond = (-0.5 * offered / patience).exp();
        assert!(close(found.share_beyond(0.5 * offered), beyond, 1e-6), "{workers}");
        assert!(found.share_beyond(1.5 * offered) < 1e-3, "{workers}");
    }
}

/// Loads from a thousandth to 10⁹ erlangs, and pools from a single worker to twice the load.
fn pools() -> impl Strategy<Value = (u64, f64)> {
    ((-3.0f64..9.0).prop_map(|exponent| 10f64.powf(exponent)), prop_oneof![0.0f64..2.0, 0.99f64..1.01])
        .prop_map(|(load, part)| (((load * part) as u64).max(1), load))
}

fn patience() -> impl Strategy<Value = f64> {
    (-6.0f64..9.0).prop_map(|exponent| 10f64.powf(exponent))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn every_bound_gives_shares_and_waits_that_fall_with_more_workers(
        (workers, load) in pools(), patience in proptest::option::of(patience()), places in proptest::option::of(0u64..5_000),
    ) {
        prop_assume!(patience.is_some() || places.is_some());
        let (fewer, more) = (waiting(workers, load, patience, places), waiting(workers + 1, load, patience, places));
        for found in [fewer, more] {
            let losses = found.losses().unwrap();
            for share in [found.probability, losses.abandoned, losses.turned_away, losses.served] {
                prop_assert!((0.0..=1.0).contains(&share), "{found:?}");
            }
            prop_assert!((losses.abandoned + losses.turned_away + losses.served - 1.0).abs() < 1e-9, "{found:?}");
            prop_assert!(found.mean_s() >= 0.0 && found.mean_s().is_finite(), "{found:?}");
            prop_assert!(losses.served_wait_mean_s >= 0.0 && losses.served_wait_mean_s.is_finite(), "{found:?}");
            // Whoever is admitted leaves at the rate of his patience while he waits.
            if let Some(patience) = patience {
                let admitted = losses.served + losses.abandoned;
                prop_assert!(close(losses.abandoned, admitted * found.mean_s() / patience, 1e-9), "{found:?}");
            }
            let quantiles = [0.1, 0.5, 0.95, 0.999].map(|quantile| found.quantile_s(quantile));
            prop_assert!(quantiles.is_sorted() && quantiles[3].is_finite(), "{found:?} {quantiles:?}");
            for (quantile, seconds) in [0.1, 0.5, 0.95, 0.999].into_iter().zip(quantiles) {
                if seconds > 0.0 {
                    let beyond = 1.0 - quantile;
                    prop_assert!(close(found.share_beyond(seconds), beyond, 1e-5), "{found:?} {quantile}");
                }
            }
        }
        prop_assert!(more.mean_s() <= fewer.mean_s() * (1.0 + 1e-9), "{fewer:?} {more:?}");
        prop_assert!(more.lost_share() <= fewer.lost_share() * (1.0 + 1e-9), "{fewer:?} {more:?}");
    }

    #[test]
    fn patience_alone_holds_at_any_length_and_load((workers, load) in pools(), patience in patience()) {
        let found = waiting(workers, load, Some(patience), None);
        // The same queue at another pace.
        let slower = scaled(workers, load, 1e3, Some(patience * 1e3), None);
        prop_assert!(close(found.mean_s() * 1e3, slower.mean_s(), 1e-9), "{found:?} {slower:?}");
        let losses = found.losses().unwrap();
        prop_assert!(close(losses.abandoned, found.mean_s() / patience, 1e-9), "{found:?}");
        prop_assert!(losses.abandoned >= 1.0 - workers as f64 / load - 1e-9, "{found:?}");
        prop_assert!(found.probability >= losses.abandoned * (1.0 - 1e-9), "{found:?}");
    }
}
