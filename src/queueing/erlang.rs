//! Erlang's loss and delay formulas (A. K. Erlang 1917; R. B. Cooper, *Introduction to Queueing Theory*, 1981,
//! ch. 3), computed so that no load makes them overflow.

/// Below this a probability is zero for every practical purpose, and is given as exactly zero.
const NEGLIGIBLE: f64 = 1e-300;

/// Erlang B: the probability that an arrival finds all `servers` busy and is lost, at `load` erlangs.
///
/// Computed from the reciprocal, 1/B = Σₖ N(N−1)…(N−k+1)/aᵏ: every term is positive, so nothing cancels, and
/// about 9√a terms reach full precision (D. L. Jagerman, "Some properties of the Erlang loss function", Bell
/// System Technical Journal 53, 1974). A pool so generous that B is below 1e-300 gives exactly 0.
///
/// `load` is positive and finite.
#[must_use]
pub fn erlang_b(servers: u64, load: f64) -> f64 {
    let blocking = 1.0 / inverse_blocking(servers, load);
    if blocking < NEGLIGIBLE { 0.0 } else { blocking }
}

/// Erlang C: the probability that an arrival finds all `servers` busy and waits, at `load` erlangs; 1 for an
/// unstable pool.
///
/// `slack` is N − a. It is passed in, not computed, because near saturation the rounding of a would dominate:
/// a caller who knows the load exactly knows the slack exactly.
#[must_use]
pub fn erlang_c(servers: u64, load: f64, slack: f64) -> f64 {
    if slack <= 0.0 {
        return 1.0;
    }
    let servers_f = servers as f64;
    let waiting = 1.0 / (load / servers_f + slack / servers_f * inverse_blocking(servers, load));
    if waiting < NEGLIGIBLE { 0.0 } else { waiting }
}

/// 1/B, or infinity where it is beyond the range of a float.
pub(super) fn inverse_blocking(servers: u64, load: f64) -> f64 {
    let (mut sum, mut term, mut left) = (1.0_f64, 1.0_f64, servers as f64);
    while left > 0.0 {
        term *= left / load;
        sum += term;
        left -= 1.0;
        // Once the factors are below one the rest is less than a geometric series with the next factor.
        if left < load && term * load < f64::EPSILON / 4.0 * sum * (load - left) {
            break;
        }
        if sum == f64::INFINITY {
            break;
        }
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The recursion 1/B(j) = 1 + (j/a)/B(j−1), an independent way to the same number.
    fn by_recursion(servers: u64, load: f64) -> f64 {
        (1..=servers).fold(1.0, |inverse, j| 1.0 + inverse * j as f64 / load)
    }

    proptest! {
        #[test]
        fn the_series_and_the_recursion_agree(servers in 1u64..3000, load in 0.01f64..3000.0) {
            let (series, recursion) = (inverse_blocking(servers, load), by_recursion(servers, load));
            if recursion.is_finite() {
                prop_assert!((series / recursion - 1.0).abs() < 1e-12, "{series} {recursion}");
            } else {
                prop_assert_eq!(erlang_b(servers, load), 0.0);
            }
        }

        #[test]
        fn every_result_is_a_probability(servers in 0u64..10_000_000, exponent in -2.0f64..10.0) {
            let load = 10f64.powf(exponent);
            let (b, c) = (erlang_b(servers, load), erlang_c(servers, load, servers as f64 - load));
            prop_assert!((0.0..=1.0).contains(&b) && (0.0..=1.0).contains(&c), "{b} {c}");
            prop_assert!(c >= b);
        }
    }

    #[test]
    fn a_pool_far_too_generous_gives_zero_not_nan() {
        assert_eq!(erlang_b(10_000, 0.01), 0.0);
        assert_eq!(erlang_c(10_000, 0.01, 9_999.99), 0.0);
        assert_eq!(erlang_c(2_000_000_000, 1e9, 1e9), 0.0);
    }
}
