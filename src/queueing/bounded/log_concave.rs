//! Integrals of densities with a single peak, of whatever width.

/// What lies where the density has fallen to e^−45 of its peak is below the rounding of the rest.
const DEEP: f64 = 45.0;

/// A panel within which the exponent changes by less than this needs no further cut.
const FLAT: f64 = 0.25;

/// Halvings of a side at most: more than the range of a float needs.
const MOST_HALVINGS: u32 = 2_000;

/// Places and weights of the Gauss–Legendre rule with 16 points on [−1, 1], the positive half (M. Abramowitz, I. A.
/// Stegun, *Handbook of Mathematical Functions*, 1964, table 25.4). Exact for polynomials up to degree 31.
const RULE: [(f64, f64); 8] = [
    (0.095_012_509_837_637_44, 0.189_450_610_455_068_5),
    (0.281_603_550_779_258_9, 0.182_603_415_044_923_6),
    (0.458_016_777_657_227_4, 0.169_156_519_395_002_54),
    (0.617_876_244_402_643_7, 0.149_595_988_816_576_73),
    (0.755_404_408_355_003, 0.124_628_971_255_533_87),
    (0.865_631_202_387_831_7, 0.095_158_511_682_492_78),
    (0.944_575_023_073_232_6, 0.062_253_523_938_647_89),
    (0.989_400_934_991_649_9, 0.027_152_459_411_754_095),
];

/// ∫ weights(x)·e^(−exponent(x)) dx from −`before` on without end. The exponent is convex, at least 0, and 0 at 0, where
/// the density has its peak; `grain` is a length over which the weights and the slope of the exponent change by a factor
/// of a few at most.
///
/// Panels halve towards the peak until they are flat, so that a density that is a spike, a bell or a long exponential
/// tail costs the same few hundred evaluations.
pub(super) fn integrals<const K: usize>(
    exponent: impl Fn(f64) -> f64,
    before: f64,
    grain: f64,
    weights: impl Fn(f64) -> [f64; K],
) -> [f64; K] {
    let mut sums = [0.0; K];
    let mut panel = |from: f64, to: f64| {
        let (middle, half) = (f64::midpoint(from, to), (to - from).abs() / 2.0);
        for (place, weight) in RULE {
            for x in [middle - half * place, middle + half * place] {
                let density = half * weight * (-exponent(x)).exp();
                for (sum, weight) in sums.iter_mut().zip(weights(x)) {
                    *sum += density * weight;
                }
            }
        }
    };
    side(&exponent, 1.0, f64::INFINITY, grain, &mut |from, to| panel(from, to));
    if before > 0.0 {
        // Here the exponent may rise by a factor with each grain.
        side(&exponent, -1.0, before, grain, &mut |from, to| {
            let pieces = ((to - from).abs() / grain).ceil().max(1.0);
            let width = (to - from) / pieces;
            (0..pieces as u64)
                .for_each(|piece| panel(from + piece as f64 * width, from + (piece + 1) as f64 * width));
        });
    }
    sums
}

/// Cuts one side of the peak into panels that halve towards it.
fn side(exponent: &impl Fn(f64) -> f64, sign: f64, end: f64, grain: f64, panel: &mut impl FnMut(f64, f64)) {
    let rise = |distance: f64| exponent(sign * distance);
    let mut far = grain;
    while far < end && rise(far) <= DEEP {
        far *= 2.0;
    }
    while rise(far / 2.0) > DEEP {
        far /= 2.0;
    }
    far = far.min(end);
    for _ in 0..MOST_HALVINGS {
        if far <= grain / 2.0 && rise(far) < FLAT {
            break;
        }
        panel(sign * far / 2.0, sign * far);
        far /= 2.0;
    }
    panel(0.0, sign * far);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rule_is_exact_for_polynomials() {
        for power in 0..=31 {
            let sum: f64 = RULE
                .iter()
                .map(|(place, weight): &(f64, f64)| weight * (place.powi(power) + (-place).powi(power)))
                .sum();
            let exact = if power % 2 == 0 { 2.0 / f64::from(power + 1) } else { 0.0 };
            assert!((sum - exact).abs() < 1e-15, "{power}: {sum} {exact}");
        }
    }

    #[test]
    fn spikes_bells_and_long_tails_have_their_areas() {
        for scale in [1e-9, 1.0, 1e12] {
            let [area, mean] = integrals(|x| x / scale, 0.0, 1.0, |x| [1.0, x]);
            assert!(
                (area / scale - 1.0).abs() < 1e-13 && (mean / scale / scale - 1.0).abs() < 1e-13,
                "{scale}"
            );
            let [bell] = integrals(|x| x * x / (2.0 * scale * scale), 20.0 * scale, 30.0 * scale, |_| [1.0]);
            assert!((bell / scale / std::f64::consts::TAU.sqrt() - 1.0).abs() < 1e-13, "{scale}: {bell}");
            // A bell that is cut off at half a deviation before its peak.
            let [cut] = integrals(|x| x * x / (2.0 * scale * scale), 0.5 * scale, 30.0 * scale, |_| [1.0]);
            let below = 0.691_462_461_274_013_1;
            assert!((cut / scale / std::f64::consts::TAU.sqrt() - below).abs() < 1e-13, "{scale}: {cut}");
        }
    }

    #[test]
    fn a_wall_on_one_side_is_seen() {
        // ∫ e^(−k(eˣ − 1 − x)) over the line, x to the left: e^k·Γ(k)/kᵏ.
        let steep = |k: f64| move |x: f64| k * ((-x).exp_m1() + x);
        for (k, area) in [(1.0, std::f64::consts::E), (5.0, 5f64.exp() * 24.0 / 3_125.0)] {
            let [found] = integrals(steep(k), f64::INFINITY, 1.0, |_| [1.0]);
            assert!((found / area - 1.0).abs() < 1e-12, "{k}: {found} {area}");
        }
    }
}
