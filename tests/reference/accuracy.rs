//! The corrected formulas against exact values and long simulations, and the page that shows how far they are off:
//! `WHSIZE_UPDATE=1` rewrites `docs/accuracy.md`.

use std::fmt::Write as _;
use std::path::Path;
use whsize::queueing::{ArrivalProcess, Pool, ServiceLaw, ServiceShape, WaitModel, Waiting};
use whsize::sizing::{Basis, Demand, Objective, Question, ServiceTime};
use whsize::units::{ArrivalRate, Seconds};

/// Half a unit in the twelfth digit of the tables: a row's own wait must count as met.
const ROUNDING: f64 = 1e-6;

fn records(file: &str) -> Vec<csv::StringRecord> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/oracle").join(file);
    csv::Reader::from_path(path).unwrap().into_records().map(Result::unwrap).collect()
}

/// A row with what is asked of it, in units of the mean service time.
struct Row {
    name: String,
    shape: ServiceShape,
    workers: u64,
    utilisation: f64,
    mean: f64,
    probability: f64,
    /// The 95th and the 99th percentile, where they are known.
    quantiles: [Option<f64>; 2],
}

impl Row {
    fn load(&self) -> f64 {
        self.workers as f64 * self.utilisation
    }

    fn waiting(&self, shape: ServiceShape) -> Waiting {
        let load = self.load();
        let pool =
            Pool { workers: self.workers, load, slack: self.workers as f64 - load, service_mean_s: 1.0 };
        WaitModel::new(shape, ArrivalProcess::Poisson).waiting(&pool).unwrap()
    }

    fn allen_cunneen(&self) -> f64 {
        (1.0 + self.shape.scv) / 2.0 * self.waiting(ServiceShape::EXPONENTIAL).mean_s()
    }

    /// The pool that the row's own mean wait as the target leads to.
    fn sized(&self, service: &ServiceTime) -> u64 {
        let rate = ArrivalRate::from_f64(self.load()).unwrap();
        let target = Seconds::from_f64(self.mean * (1.0 + ROUNDING)).unwrap();
        let question = Question {
            demand: Demand::new(rate, service.clone(), ArrivalProcess::Poisson).unwrap(),
            objectives: vec![Objective::MeanWait(target)],
            workers: None,
            scenarios: Vec::new(),
            sample: None,
        };
        question.answer().sizing.steady.workers
    }

    /// At most one worker below, and at most one worker or 1% above, whichever is more.
    fn assert_lands(&self, workers: u64) {
        let above = (self.workers as f64 * 0.01).max(1.0);
        let off = workers as f64 - self.workers as f64;
        let name = &self.name;
        assert!((-1.0..=above).contains(&off), "{name} {} {}: {workers}", self.workers, self.utilisation);
    }
}

/// A mixture of two exponential laws with a mean of 1, or Erlang of two phases.
#[derive(Clone, Copy)]
enum Law {
    Mixture([(f64, f64); 2]),
    Erlang2,
}

impl Law {
    fn of(name: &str, scv: f64) -> Self {
        match name.split_whitespace().next().unwrap() {
            "E2" => Law::Erlang2,
            "H2" => {
                let p = 0.5 * (1.0 + ((scv - 1.0) / (scv + 1.0)).sqrt());
                Law::Mixture([(p, 0.5 / p), (1.0 - p, 0.5 / (1.0 - p))])
            }
            "webhook" => Law::Mixture([(0.98, 0.2 / 0.796), (0.02, 30.0 / 0.796)]),
            other => panic!("unknown service {other}"),
        }
    }

    fn shape(self) -> ServiceShape {
        match self {
            Law::Erlang2 => ServiceShape::gamma(0.5),
            Law::Mixture(parts) => {
                let moment = |k: i32| -> f64 {
                    let factorial: f64 = (1..=k).map(f64::from).product();
                    factorial * parts.iter().map(|(share, mean)| share * mean.powi(k)).sum::<f64>()
                };
                ServiceShape { scv: moment(2) - 1.0, third: moment(3) / moment(2).powi(2) }
            }
        }
    }

    fn beyond(self, t: f64) -> f64 {
        match self {
            Law::Erlang2 => (1.0 + 2.0 * t) * (-2.0 * t).exp(),
            Law::Mixture(parts) => parts.iter().map(|(share, mean)| share * (-t / mean).exp()).sum(),
        }
    }

    /// A large sample: the middles of equally likely intervals, as a profile holds them.
    fn sampled(self) -> ServiceTime {
        const VALUES: u32 = 100_000;
        let share = f64::from(VALUES).recip();
        let value = |index: u32| {
            let beyond = 1.0 - (f64::from(index) + 0.5) * share;
            let (mut low, mut high) = (0.0, 2_000.0);
            for _ in 0..60 {
                let middle = f64::midpoint(low, high);
                if self.beyond(middle) > beyond { low = middle } else { high = middle }
            }
            high
        };
        let atoms: Vec<(f64, f64)> = (0..VALUES).map(|index| (value(index), share)).collect();
        let moment = |k: i32| atoms.iter().map(|(value, share)| share * value.powi(k)).sum::<f64>();
        let (mean, scv) = (moment(1), moment(2) / moment(1).powi(2) - 1.0);
        let basis = Basis::Measured { attempts: VALUES.into() };
        ServiceTime {
            mean: Seconds::from_f64(mean).unwrap(),
            scv,
            law: ServiceLaw::Measured { atoms },
            basis,
        }
    }
}

fn mixed_rows() -> Vec<(Row, Law)> {
    let row = |record: csv::StringRecord| {
        let number = |at: usize| record[at].parse::<f64>().ok();
        let law = Law::of(&record[0], number(1).unwrap());
        let row = Row {
            name: record[0].to_owned(),
            shape: law.shape(),
            workers: record[2].parse().unwrap(),
            utilisation: number(3).unwrap(),
            mean: number(4).unwrap(),
            probability: number(5).unwrap(),
            quantiles: [number(6), number(7)],
        };
        (row, law)
    };
    records("mgc_exact.csv").into_iter().map(row).collect()
}

fn constant_rows() -> Vec<Row> {
    let row = |record: csv::StringRecord| {
        let number = |at: usize| record[at].parse::<f64>().unwrap();
        Row {
            name: "constant".to_owned(),
            shape: ServiceShape::gamma(0.0),
            workers: record[0].parse().unwrap(),
            utilisation: number(1),
            mean: number(2),
            probability: number(3),
            quantiles: [None, None],
        }
    };
    records("mdc_exact.csv").into_iter().map(row).collect()
}

#[test]
fn every_exact_mixture_is_within_3_percent_and_lands_on_its_pool() {
    for (row, law) in mixed_rows() {
        let waiting = row.waiting(row.shape);
        let name = format!("{} {} {}", row.name, row.workers, row.utilisation);
        let tolerance = if row.probability < 0.01 { 0.03 } else { 0.005 };
        for (found, exact) in [(waiting.mean_s(), row.mean), (waiting.probability, row.probability)] {
            assert!((found / exact - 1.0).abs() < tolerance, "{name}: {found} {exact}");
        }
        // A percentile close to zero is decided by the few that wait.
        let tolerance = if row.probability < 0.2 { 0.12 } else { 0.06 };
        for (quantile, exact) in [0.95, 0.99].into_iter().zip(row.quantiles) {
            let Some(exact) = exact else { continue };
            let found = waiting.quantile_s(quantile);
            assert!((found - exact).abs() <= tolerance * exact, "{name} {quantile}: {found} {exact}");
        }
        row.assert_lands(row.sized(&law.sampled()));
    }
}

#[test]
fn every_pool_with_constant_service_is_close_and_lands_on_its_pool() {
    let service = ServiceTime::with_scv("1".parse().unwrap(), 0.0);
    for row in constant_rows() {
        let waiting = row.waiting(row.shape);
        let name = format!("{} {}", row.workers, row.utilisation);
        for (found, exact) in [(waiting.mean_s(), row.mean), (waiting.probability, row.probability)] {
            // Beyond a scaled slack of 8 the factors are taken as constant.
            let tolerance = if row.probability < 1e-15 { 0.05 } else { 0.01 };
            assert!((found / exact - 1.0).abs() < tolerance, "{name}: {found} {exact}");
        }
        row.assert_lands(row.sized(&service));
    }
}

/// 95% lognormal (median 0.12 s, σ 0.6) and 5% at a timeout of 25.263 s, as a profile holds it.
fn webhook_mix() -> ServiceTime {
    use statrs::distribution::{ContinuousCDF, Normal};
    const VALUES: u32 = 100_000;
    let share = 0.95 / f64::from(VALUES);
    let normal = Normal::standard();
    let value = |i: u32| 0.12 * (0.6 * normal.inverse_cdf((f64::from(i) + 0.5) / f64::from(VALUES))).exp();
    let mut atoms: Vec<(f64, f64)> = (0..VALUES).map(|i| (value(i), share)).collect();
    atoms.push((25.263, 0.05));
    let moment = |k: i32| atoms.iter().map(|(value, share)| share * value.powi(k)).sum::<f64>();
    let scv = moment(2) / moment(1).powi(2) - 1.0;
    let mean = "1.4".parse().unwrap();
    ServiceTime {
        mean,
        scv,
        law: ServiceLaw::Measured { atoms },
        basis: Basis::Measured { attempts: 105_263 },
    }
}

/// Workers and the mean wait that long simulations found (1.4·10¹⁰ arrivals; ±0.06 s for the first, ±5% for the others).
const WEBHOOK_WAITS: [(u64, f64); 5] =
    [(1263, 3.03), (1275, 0.414), (1280, 0.254), (1290, 0.113), (1314, 0.018)];

fn webhook_wait(workers: u64) -> f64 {
    let demand = Demand::new("900".parse().unwrap(), webhook_mix(), ArrivalProcess::Poisson).unwrap();
    let pool = Pool { workers, load: 1260.0, slack: workers as f64 - 1260.0, service_mean_s: 1.4 };
    demand.wait_model().waiting(&pool).unwrap().mean_s()
}

#[test]
fn the_webhook_mix_is_within_15_percent_of_long_simulations() {
    for (workers, simulated) in WEBHOOK_WAITS {
        let found = webhook_wait(workers);
        assert!((found / simulated - 1.0).abs() < 0.15, "{workers}: {found} {simulated}");
    }
}

fn percent(found: f64, exact: f64) -> String {
    format!("{:+.1}%", (found / exact - 1.0) * 100.0)
}

fn page() -> String {
    let mut page = String::from(include_str!("accuracy.md"));
    let mut line = |text: String| writeln!(page, "{text}").unwrap();
    line("## Mixtures and Erlang service".to_owned());
    line(String::new());
    line("| service | N | \u{3c1} | W exact | W | P(W>0) | p95 | p99 | pool found | W by (1+cs\u{b2})/2 \u{b7} Erlang C | W from two moments alone |".to_owned());
    line("| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |".to_owned());
    for (row, law) in mixed_rows() {
        let waiting = row.waiting(row.shape);
        let quantiles: Vec<String> = [0.95, 0.99]
            .into_iter()
            .zip(row.quantiles)
            .map(|(quantile, exact)| match exact {
                Some(exact) if exact > 0.0 => percent(waiting.quantile_s(quantile), exact),
                Some(_) => "0".to_owned(),
                None => "\u{2013}".to_owned(),
            })
            .collect();
        line(format!(
            "| {} | {} | {} | {:.4e} S | {} | {} | {} | {} | {} | {} |",
            row.name,
            row.workers,
            row.utilisation,
            row.mean,
            percent(waiting.mean_s(), row.mean),
            percent(waiting.probability, row.probability),
            quantiles.join(" | "),
            row.sized(&law.sampled()),
            percent(row.allen_cunneen(), row.mean),
            percent(row.waiting(ServiceShape::gamma(row.shape.scv)).mean_s(), row.mean),
        ));
    }
    line(String::new());
    line("## Constant service".to_owned());
    line(String::new());
    line("| N | \u{3c1} | W exact | W | P(W>0) | pool found | W by \u{bd} \u{b7} Erlang C |".to_owned());
    line("| --- | --- | --- | --- | --- | --- | --- |".to_owned());
    let service = ServiceTime::with_scv("1".parse().unwrap(), 0.0);
    for row in constant_rows() {
        let waiting = row.waiting(row.shape);
        line(format!(
            "| {} | {} | {:.4e} S | {} | {} | {} | {} |",
            row.workers,
            row.utilisation,
            row.mean,
            percent(waiting.mean_s(), row.mean),
            percent(waiting.probability, row.probability),
            row.sized(&service),
            percent(row.allen_cunneen(), row.mean),
        ));
    }
    line(String::new());
    line("## A body and a timeout".to_owned());
    line(String::new());
    line("900/s; 95% lognormal (median 0.12 s, \u{3c3} 0.6), 5% at a timeout of 25.263 s: mean 1.4 s, SCV 15.3.".to_owned());
    line(String::new());
    line("| N | W simulated | W | Erlang C |".to_owned());
    line("| --- | --- | --- | --- |".to_owned());
    for (workers, simulated) in WEBHOOK_WAITS {
        let pool = Pool { workers, load: 1260.0, slack: workers as f64 - 1260.0, service_mean_s: 1.4 };
        let textbook = WaitModel::textbook().waiting(&pool).unwrap().mean_s();
        let found = percent(webhook_wait(workers), simulated);
        line(format!("| {workers} | {simulated} s | {found} | {} |", percent(textbook, simulated)));
    }
    page + &crate::simulated::sections()
}

#[test]
fn the_page_on_accuracy_is_up_to_date() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/accuracy.md");
    let page = page();
    if std::env::var_os("WHSIZE_UPDATE").is_some() {
        std::fs::write(&path, &page).unwrap();
    }
    let shown = std::fs::read_to_string(&path).unwrap_or_default();
    assert_eq!(shown, page, "docs/accuracy.md is stale; WHSIZE_UPDATE=1 rewrites it");
}
