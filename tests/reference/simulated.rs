//! What simulation says of the formulas where nothing exact is known: the tables of `fixtures/simulated`, with the error of the
//! formula beside them, and the errors that `size` states.

use crate::long::{gaps, services};
use statrs::distribution::{ContinuousCDF, Normal};
use std::fmt::Write as _;
use std::path::Path;
use whsize::queueing::{Bounds, Pool, ServiceLaw, WaitModel};
use whsize::simulate::{Arrivals, Horizon, Run, Scenario, simulate};
use whsize::sizing::{ArrivalProcess, Basis, Demand, PoolSize, Question, ServiceTime};
use whsize::units::{ArrivalRate, Seconds};

/// Waits below this part of the mean service time are none that anybody sizes for.
const NOTHING: f64 = 1e-3;

fn records(file: &str) -> Vec<csv::StringRecord> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/simulated").join(file);
    csv::Reader::from_path(path).unwrap().into_records().map(Result::unwrap).collect()
}

/// Middles of equally likely intervals of a law with a mean of about 1, as a profile holds them.
fn measured(quantile: impl Fn(f64) -> f64, share: f64, tail: Option<(f64, f64)>, scv: f64) -> ServiceTime {
    const VALUES: u32 = 20_000;
    let each = share / f64::from(VALUES);
    let value = |index: u32| (quantile((f64::from(index) + 0.5) / f64::from(VALUES)), each);
    let atoms: Vec<(f64, f64)> = (0..VALUES).map(value).chain(tail).collect();
    ServiceTime {
        mean: "1".parse().unwrap(),
        scv,
        law: ServiceLaw::Measured { atoms },
        basis: Basis::Measured { attempts: VALUES.into() },
    }
}

/// The service time of a row, as `size` would have it from a profile.
fn profile(name: &str) -> ServiceTime {
    let normal = Normal::standard();
    let lognormal = |median: f64, sigma: f64| move |u: f64| median * (sigma * normal.inverse_cdf(u)).exp();
    match name.split_once(' ').unwrap() {
        ("lognormal", scv) => {
            let scv: f64 = scv.parse().unwrap();
            let sigma = scv.ln_1p().sqrt();
            measured(lognormal((-sigma * sigma / 2.0).exp(), sigma), 1.0, None, scv)
        }
        // 95% lognormal (median 0.12 s, σ 0.6), 5% at a timeout of 25.263 s, mean 1.4 s: in units of the mean.
        ("timeout", _) => {
            let body = 0.12 * 0.18_f64.exp() / 1.4;
            let square = 0.95 * body * body * 0.36_f64.exp() + 0.05 * (25.263_f64 / 1.4).powi(2);
            let mean = 0.95 * body + 0.05 * 25.263 / 1.4;
            measured(
                lognormal(0.12 / 1.4, 0.6),
                0.95,
                Some((25.263 / 1.4, 0.05)),
                square / (mean * mean) - 1.0,
            )
        }
        (other, _) => panic!("{other}"),
    }
}

fn answer(workers: u64, utilisation: f64, service: ServiceTime, arrivals: ArrivalProcess) -> PoolSize {
    let rate = ArrivalRate::from_f64(workers as f64 * utilisation).unwrap();
    let demand = Demand::new(rate, service, arrivals).unwrap();
    let question = Question {
        demand,
        objectives: Vec::new(),
        workers: Some(workers),
        scenarios: Vec::new(),
        sample: None,
    };
    question.answer().sizing.steady
}

/// One row: what it is about, the simulated wait, and the formula's answer.
struct Row {
    law: String,
    service: Option<String>,
    workers: u64,
    utilisation: f64,
    wait: f64,
    half_width: f64,
    answer: PoolSize,
}

impl Row {
    fn error(&self) -> f64 {
        self.answer.state.wait_mean_s.unwrap() / self.wait - 1.0
    }

    /// Whether the stated error holds, but for what the simulation leaves open.
    fn assert_stated(&self) {
        if self.wait < NOTHING || self.half_width > 0.1 {
            return;
        }
        let what = format!("{} {:?} {} {}", self.law, self.service, self.workers, self.utilisation);
        let [low, high] = self.answer.model_error.unwrap_or_else(|| panic!("{what}: no error is stated"));
        let error = self.error();
        assert!(
            low - self.half_width <= error && error <= high + self.half_width,
            "{what}: {error} not in [{low}, {high}]"
        );
    }
}

fn service_rows() -> Vec<Row> {
    let row = |record: csv::StringRecord| {
        let (workers, utilisation) = (record[1].parse().unwrap(), record[2].parse().unwrap());
        Row {
            law: record[0].to_owned(),
            service: None,
            workers,
            utilisation,
            wait: record[3].parse().unwrap(),
            half_width: record[4].parse().unwrap(),
            answer: answer(workers, utilisation, profile(&record[0]), ArrivalProcess::Poisson),
        }
    };
    records("service.csv").into_iter().map(row).collect()
}

fn arrival_scv(name: &str) -> f64 {
    let (kind, number) = name.split_once(' ').unwrap();
    let number: f64 = number.parse().unwrap();
    if kind == "Erlang" { 1.0 / number } else { number }
}

fn service_time(name: &str) -> ServiceTime {
    let mean: Seconds = "1".parse().unwrap();
    match name {
        "exponential" => ServiceTime::exponential(mean),
        "constant" => ServiceTime::with_scv(mean, 0.0),
        _ => {
            let p = 0.5 * (1.0 + 0.6_f64.sqrt());
            let part = |share: f64| (share, ServiceLaw::Exponential { mean_s: 0.5 / share });
            let law = ServiceLaw::Mixture { parts: vec![part(p), part(1.0 - p)] };
            ServiceTime { mean, scv: 4.0, law, basis: Basis::MomentsGiven }
        }
    }
}

fn arrival_rows() -> Vec<Row> {
    let row = |record: csv::StringRecord| {
        let (workers, utilisation) = (record[2].parse().unwrap(), record[3].parse().unwrap());
        let arrivals = ArrivalProcess::Renewal { scv: arrival_scv(&record[0]) };
        Row {
            law: record[0].to_owned(),
            service: Some(record[1].to_owned()),
            workers,
            utilisation,
            wait: record[4].parse().unwrap(),
            half_width: record[5].parse().unwrap(),
            answer: answer(workers, utilisation, service_time(&record[1]), arrivals),
        }
    };
    records("arrivals.csv").into_iter().map(row).collect()
}

#[test]
fn every_simulated_row_is_within_the_error_that_is_stated() {
    let rows: Vec<Row> = service_rows().into_iter().chain(arrival_rows()).collect();
    assert!(rows.len() > 60, "{}", rows.len());
    rows.iter().for_each(Row::assert_stated);
}

/// A few rows anew, as far as CI has the time: the tables are those of this engine and of these laws.
#[test]
fn a_few_rows_of_other_arrivals_are_simulated_anew() {
    for (gap, service, workers, utilisation) in
        [("Erlang 2", "exponential", 10_u64, 0.8), ("hyperexponential 4", "exponential", 10, 0.8)]
    {
        let arrivals = Arrivals::renewal(gaps(gap, 1.0 / (workers as f64 * utilisation)));
        let scenario = Scenario::plain(workers as u32, arrivals, services(service));
        let run = Run { quantiles: Vec::new(), ..Run::new(Horizon::Arrivals(60_000)) };
        let [low, high] = simulate(&scenario, &run).unwrap().wait_mean_interval_s.unwrap();
        let kept = arrival_rows();
        let kept = kept.iter().find(|row| {
            (row.law.as_str(), row.service.as_deref(), row.workers) == (gap, Some(service), workers)
                && row.utilisation == utilisation
        });
        let wait = kept.unwrap().wait;
        let slack = 0.5 * (high - low) + 0.03 * wait;
        assert!(low - slack <= wait && wait <= high + slack, "{gap}: {wait} not about [{low}, {high}]");
    }
}

/// With a row's own mean wait as its limit the search lands on the row's pool, within one worker or 0.2%. This reads what the
/// long run kept, so it guards the table and not the search: `tests/simulate/refine.rs` runs the small rows anew, and
/// `long.rs` all of them.
#[test]
fn the_kept_table_of_refinement_has_every_row_on_its_pool() {
    let rows = records("refine.csv");
    assert!(rows.len() > 50);
    for row in rows {
        let [workers, found, low, high]: [f64; 4] = [1, 4, 5, 6].map(|at| row[at].parse().unwrap());
        let near = (0.002 * workers).max(1.0);
        match &row[7] {
            "true" => assert!((found - workers).abs() <= near && high - low <= near, "{row:?}"),
            // Not settled: the formula stands where the interval holds it.
            _ => assert!(low <= workers && workers <= high, "{row:?}"),
        }
    }
}

fn percent(error: f64) -> String {
    format!("{:+.1}%", error * 100.0)
}

/// The sections of the page on accuracy.
pub(crate) fn sections() -> String {
    let mut page = String::new();
    let mut line = |text: &str| writeln!(page, "{text}").unwrap();
    line("\n## Measured service, by simulation\n");
    line("| service | N | \u{3c1} | W simulated | W |");
    line("| --- | --- | --- | --- | --- |");
    for row in service_rows() {
        line(&format!(
            "| {} | {} | {} | {:.3e} S \u{b1}{:.1}% | {} |",
            row.law,
            row.workers,
            row.utilisation,
            row.wait,
            100.0 * row.half_width,
            percent(row.error())
        ));
    }
    line("\n## Arrivals other than Poisson, by simulation\n");
    line("| gaps between arrivals | service | N | \u{3c1} | W simulated | W |");
    line("| --- | --- | --- | --- | --- | --- |");
    for row in arrival_rows() {
        line(&format!(
            "| {} | {} | {} | {} | {:.3e} S \u{b1}{:.1}% | {} |",
            row.law,
            row.service.as_deref().unwrap_or(""),
            row.workers,
            row.utilisation,
            row.wait,
            100.0 * row.half_width,
            percent(row.error())
        ));
    }
    line("\n## Patience and bounded queues with other service times, by simulation\n");
    line(
        "The formulas take the service time as exponential; lognormal and constant service with a mean of 1 s is simulated here.",
    );
    line("Without a place to wait the law does not matter.\n");
    line("| bound | SCV | N | rate | W simulated | W | lost, simulated | lost |");
    line("| --- | --- | --- | --- | --- | --- | --- | --- |");
    for row in records("bounded.csv") {
        let number = |at: usize| row[at].parse::<f64>().ok();
        let (workers, rate) = (number(3).unwrap(), number(4).unwrap());
        let (wait, lost) = (number(5).unwrap(), number(6).unwrap());
        let pool = Pool { workers: workers as u64, load: rate, slack: workers - rate, service_mean_s: 1.0 };
        let bounds = Bounds::of(number(0), number(1).map(|places| places as u64));
        let found = WaitModel::textbook().bounded(bounds).waiting(&pool).unwrap();
        let bound = match number(0) {
            Some(patience) => format!("patience {patience} s"),
            None => format!("{} places", &row[1]),
        };
        line(&format!(
            "| {bound} | {} | {workers} | {rate} | {:.1} ms | {} | {:.2}% | {} |",
            &row[2],
            1e3 * wait,
            percent(found.mean_s() / wait - 1.0),
            100.0 * lost,
            percent(found.lost_share() / lost - 1.0)
        ));
    }
    line("\n## Refined by simulation\n");
    line(
        "The row's own mean wait as the target of `--refine`; rows in which fewer than one arrival in 100,000 waits are left to",
    );
    line("the formula, and so is a search that is not settled and does not exclude its answer.\n");
    line("| service | N | \u{3c1} | W exact | pool found | interval | settled | arrivals |");
    line("| --- | --- | --- | --- | --- | --- | --- | --- |");
    for row in records("refine.csv") {
        let wait: f64 = row[3].parse().unwrap();
        let settled = if &row[7] == "true" { "yes" } else { "no" };
        line(&format!(
            "| {} | {} | {} | {wait:.4e} S | {} | {} to {} | {settled} | {} |",
            &row[0], &row[1], &row[2], &row[4], &row[5], &row[6], &row[8]
        ));
    }
    page
}
