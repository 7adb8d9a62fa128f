//! Patience, bounded queues, priorities and blocks: the formulas of `queueing` against the engine, which knows none of them.

use crate::oracle::{assert_covers, quantile_interval};
use whsize::queueing::{Bounds, Pool, ServiceLaw, WaitModel};
use whsize::simulate::{Arrivals, Block, Class, Horizon, Law, Run, Scenario, WarmUp, simulate};
use whsize::sizing::{self, ArrivalProcess, Basis, ClassWait, Demand, Question, ServiceTime};
use whsize::units::ArrivalRate;

fn markovian(workers: u32, rate: f64) -> Scenario {
    Scenario::plain(workers, Arrivals::poisson(rate).unwrap(), Law::exponential(1.0).unwrap())
}

#[test]
fn pools_that_lose_arrivals_wait_and_lose_as_the_formulas_say() {
    for (workers, rate, patience, places) in [
        (10, 11.0, Some(2.0), None),
        (10, 9.0, Some(0.3), None),
        (6, 6.0, None, Some(5_u64)),
        (10, 10.5, None, Some(30)),
        (10, 12.0, Some(3.0), Some(8)),
    ] {
        let scenario = Scenario {
            patience: patience.map(|mean_s| Law::exponential(mean_s).unwrap()),
            queue_limit: places,
            ..markovian(workers, rate)
        };
        let run = Run { quantiles: vec![0.95], ..Run::new(Horizon::Arrivals(30_000)) };
        let simulated = simulate(&scenario, &run).unwrap();
        let pool = Pool {
            workers: workers.into(),
            load: rate,
            slack: f64::from(workers) - rate,
            service_mean_s: 1.0,
        };
        let model = WaitModel::textbook().bounded(Bounds::of(patience, places));
        let formula = model.waiting(&pool).unwrap();
        let losses = formula.losses().unwrap();
        let what = |what: &str| format!("{workers} {rate} {patience:?} {places:?} {what}");
        assert_covers(&what("mean"), simulated.wait_mean_interval_s, formula.mean_s(), 0.2);
        assert_covers(&what("P(W>0)"), simulated.wait_probability_interval, formula.probability, 0.1);
        assert_covers(&what("p95"), quantile_interval(&simulated, 0.95), formula.quantile_s(0.95), 0.2);
        let busy = rate * losses.served / f64::from(workers);
        assert_covers(&what("utilisation"), simulated.utilisation_interval, busy, 0.05);
        if let Some(abandoned) = simulated.abandoned {
            assert_covers(&what("abandoned"), abandoned.share_interval, losses.abandoned, 0.2);
        }
        if let Some(lost) = simulated.lost {
            assert_covers(&what("lost"), lost.share_interval, losses.turned_away, 0.2);
        }
    }
}

/// A question about `workers` under exponential service, or the mixture of two exponential laws with balanced means and an
/// SCV of 4, of which three moments tell all.
fn question(workers: u64, rate: f64, scv: f64) -> Question {
    let mean = "1".parse().unwrap();
    let service = if scv == 1.0 {
        ServiceTime::exponential(mean)
    } else {
        let p = 0.5 * (1.0 + ((scv - 1.0) / (scv + 1.0)).sqrt());
        let part = |share: f64| (share, ServiceLaw::Exponential { mean_s: 0.5 / share });
        let law = ServiceLaw::Mixture { parts: vec![part(p), part(1.0 - p)] };
        ServiceTime { mean, scv, law, basis: Basis::MomentsGiven }
    };
    Question {
        demand: Demand::new(ArrivalRate::from_f64(rate).unwrap(), service, ArrivalProcess::Poisson).unwrap(),
        objectives: Vec::new(),
        workers: Some(workers),
        scenarios: Vec::new(),
        sample: None,
    }
}

#[test]
fn priority_classes_wait_as_the_formula_says_for_exponential_and_more_variable_service() {
    for (scv, share, arrivals, tolerance) in
        [(1.0, 0.3, 60_000, 0.05), (4.0, 0.3, 80_000, 0.1), (4.0, 0.7, 80_000, 0.1)]
    {
        let question = question(10, 9.0, scv);
        let answer = question.answer().sizing.steady;
        let classes: Vec<ClassWait> = question.classes(&answer, &share.to_string().parse().unwrap());
        let class = |name: &str, rate| Class {
            name: name.to_owned(),
            arrivals: Some(Arrivals::poisson(rate).unwrap()),
            service: Law::hyperexponential(1.0, scv).unwrap(),
        };
        let scenario = Scenario {
            classes: vec![class("urgent", 9.0 * share), class("others", 9.0 * (1.0 - share))],
            ..markovian(10, 9.0)
        };
        let simulated = simulate(&scenario, &Run::new(Horizon::Arrivals(arrivals))).unwrap();
        for (class, formula) in simulated.classes.iter().zip(classes) {
            let (found, wait) = (class.wait_mean_s.unwrap(), formula.wait_mean_s.unwrap());
            assert_eq!(class.name, formula.name);
            let what = format!("{scv} {share} {}: {found} {wait}", class.name);
            assert!((wait / found - 1.0).abs() < tolerance, "{what}");
        }
    }
}

#[test]
fn a_block_clears_as_the_formula_says() {
    let (workers, rate, events) = (20, 16.0, 2_000);
    let question = question(20, 16.0, 1.0);
    let answer = question.answer().sizing.steady;
    let block = sizing::Block { events, at: None };
    let formula = question.block(&answer, &block, None, 0.95);
    // The probe comes a moment after the block, in a class of its own that has no urgency.
    let class = |name: &str, arrivals| Class {
        name: name.to_owned(),
        arrivals,
        ..markovian(20, 1.0).classes[0].clone()
    };
    let scenario = Scenario {
        classes: vec![class("all", Some(Arrivals::poisson(rate).unwrap())), class("probe", None)],
        one_queue: true,
        blocks: vec![
            Block { at_s: 50.0, events: events as u32, class: 0 },
            Block { at_s: 50.000_001, events: 1, class: 1 },
        ],
        ..markovian(workers, rate)
    };
    let run = |replications, seed| {
        let run = Run { replications, seed, warm_up: WarmUp::Nothing, ..Run::new(Horizon::Seconds(900.0)) };
        simulate(&scenario, &run).unwrap()
    };
    let simulated = run(60, 1);
    let outcome = simulated.blocks[0];
    let (clear_s, [low, high]) = (formula.clear_s.unwrap(), formula.clear_interval_s.unwrap());
    assert_covers("cleared", outcome.queue_empty_interval_s, clear_s, 0.1);
    // Sixty replications: the half width is 2.00 standard deviations over the root of 60.
    let [mean_low, mean_high] = outcome.queue_empty_interval_s.unwrap();
    let deviation = (mean_high - mean_low) / 2.0 * 60f64.sqrt() / 2.0;
    let stated = (high - low) / 2.0 / 1.96;
    assert!((0.75..1.33).contains(&(stated / deviation)), "{stated} {deviation}");
    let probe = &simulated.classes[1];
    assert_covers("wait behind", probe.wait_mean_interval_s, formula.wait_behind_s.unwrap(), 0.05);
    let buffer = formula.buffer.unwrap();
    let within = (2..102).filter(|&seed| run(1, seed).blocks[0].queue_max <= buffer).count();
    // 99 are expected; fewer than 95 has a chance of one in three hundred.
    assert!((95..=100).contains(&within), "{within} of 100 within {buffer}");
    let usual = (2..102).filter(|&seed| run(1, seed).blocks[0].queue_max + 15 <= buffer).count();
    assert!(usual < 100, "the buffer is no larger than it must be: {buffer}");
}
