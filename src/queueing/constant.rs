//! Service times that are all alike: M/D/N, exactly.

use super::Steady;
use std::f64::consts::TAU;

/// Above this scaled slack, (N−a)/√a, a few dozen terms of the series are enough.
const SERIES_FROM: f64 = 0.5;

/// The queue in steady state with service times of 1. `slack` is N − a, positive; for a few dozen workers.
///
/// Whoever arrives waits for a whole number of services and the rest of one, so the queue at times 1 apart is a random
/// walk with Poisson steps (C. D. Crommelin, "Delay probability formulae", 1932). Its mean follows from the zeros of
/// zᴺ = e^{a(z−1)} (A. J. E. M. Janssen, J. S. H. van Leeuwaarden, "Back to the roots of the M/D/s queue", Statistica
/// Neerlandica 62, 2008), and, where these would cancel, from the series of F. Spitzer (1956). The second moment is
/// taken as that of an exponential conditional wait, which is within 5% here.
pub(super) fn steady(workers: usize, load: f64, slack: f64) -> Steady {
    let (probability, mean) = if slack > SERIES_FROM * load.sqrt() {
        by_series(workers as f64, load)
    } else {
        by_roots(workers, load, slack)
    };
    Steady { probability, mean, mean_square: 2.0 * mean * mean / probability }
}

fn by_roots(workers: usize, load: f64, slack: f64) -> (f64, f64) {
    let servers = workers as f64;
    let (mut product, mut sum) = (Complex { re: 1.0, im: 0.0 }, 0.0);
    for index in 1..workers {
        let distance = Complex { re: 1.0, im: 0.0 }.minus(root(index as f64 / servers, load / servers));
        product = product.times(distance);
        sum += distance.re / (distance.re * distance.re + distance.im * distance.im);
    }
    let queue = load / (2.0 * slack) - (servers - 1.0 + load) / 2.0 + sum;
    (1.0 - slack / product.re, queue / load)
}

/// The zero z = e^{2πi·turn}·e^{ρ(z−1)}, by Newton's method after a few steps of the contraction itself.
fn root(turn: f64, utilisation: f64) -> Complex {
    let unit = Complex { re: (TAU * turn).cos(), im: (TAU * turn).sin() };
    let image = |z: Complex| {
        let (size, angle) = ((utilisation * (z.re - 1.0)).exp(), utilisation * z.im);
        unit.times(Complex { re: size * angle.cos(), im: size * angle.sin() })
    };
    let mut z = Complex { re: 0.0, im: 0.0 };
    for _ in 0..30 {
        z = image(z);
    }
    for _ in 0..6 {
        let mapped = image(z);
        let slope = Complex { re: 1.0 - utilisation * mapped.re, im: -utilisation * mapped.im };
        z = z.minus(z.minus(mapped).over(slope));
    }
    z
}

/// P(W>0) = 1 − exp(−Σ P(Aₘ ≥ mN)/m) and E(W) = Σ E(Aₘ − mN)⁺/(m·a), Aₘ Poisson with mean m·a.
fn by_series(servers: f64, load: f64) -> (f64, f64) {
    let (mut waiting, mut queue) = (0.0_f64, 0.0_f64);
    for m in 1..10_000 {
        let m = f64::from(m);
        let (tail, excess) = beyond(m * servers, m * load);
        waiting += tail / m;
        queue += excess / m;
        if tail <= f64::EPSILON / 8.0 * waiting {
            break;
        }
    }
    (-(-waiting).exp_m1(), queue / load)
}

/// P(A ≥ n) and E(A − n)⁺ for A Poisson with a mean below n: every term is positive.
fn beyond(n: f64, mean: f64) -> (f64, f64) {
    let mut term = (n * mean.ln() - mean - libm::lgamma(n + 1.0)).exp();
    let (mut tail, mut excess, mut above) = (0.0, 0.0, 0.0);
    while term > f64::EPSILON / 8.0 * tail {
        tail += term;
        excess += above * term;
        above += 1.0;
        term *= mean / (n + above);
    }
    (tail, excess)
}

#[derive(Clone, Copy, Debug)]
struct Complex {
    re: f64,
    im: f64,
}

impl Complex {
    fn minus(self, other: Self) -> Self {
        Complex { re: self.re - other.re, im: self.im - other.im }
    }

    fn times(self, other: Self) -> Self {
        Complex { re: self.re * other.re - self.im * other.im, im: self.re * other.im + self.im * other.re }
    }

    fn over(self, other: Self) -> Self {
        let size = other.re * other.re + other.im * other.im;
        let product = self.times(Complex { re: other.re, im: -other.im });
        Complex { re: product.re / size, im: product.im / size }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_pools_wait_as_the_exact_table_says() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures/oracle/mdc_exact.csv");
        let mut compared = 0;
        let rows = csv::Reader::from_path(path).unwrap();
        for record in rows.into_deserialize::<(usize, f64, f64, f64, String)>() {
            let (workers, utilisation, mean, probability, precision) = record.unwrap();
            if workers > 25 {
                continue;
            }
            let load = workers as f64 * utilisation;
            let found = steady(workers, load, workers as f64 - load);
            // The rows in plain floats were cut off at 12 digits.
            let tolerance = if precision == "mp" { 1e-10 } else { 2e-11 };
            for (found, expected) in [(found.mean, mean), (found.probability, probability)] {
                assert!((found / expected - 1.0).abs() < tolerance, "{workers} {load}: {found} {expected}");
            }
            compared += 1;
        }
        assert_eq!(compared, 18);
    }

    #[test]
    fn the_two_ways_agree_where_they_meet() {
        for workers in [1, 5, 20] {
            let load = workers as f64 * 0.85;
            let (roots, series) =
                (by_roots(workers, load, workers as f64 - load), by_series(workers as f64, load));
            assert!((roots.0 / series.0 - 1.0).abs() < 1e-10 && (roots.1 / series.1 - 1.0).abs() < 1e-10);
        }
    }
}
