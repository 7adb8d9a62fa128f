//! How long a queue takes to settle.

/// The time, in seconds, in which a disturbance falls to 1/e: 1/(√(N/S) − √λ)² for M/M/N near saturation
/// (N. U. Prabhu 1965; W. Whitt, "Untold horrors of the waiting room", Management Science 29, 1983), stretched by
/// the `variability` (ca²+cs²)/2, and never shorter than one service time.
///
/// `slack` is N − a, from the exact load. `None` for an unstable pool, which never settles.
#[must_use]
pub fn relaxation_s(
    rate: f64,
    workers: u64,
    slack: f64,
    service_mean_s: f64,
    variability: f64,
) -> Option<f64> {
    if slack <= 0.0 {
        return None;
    }
    let (served, arriving) = ((workers as f64 / service_mean_s).sqrt(), rate.sqrt());
    // √x − √y = (x − y)/(√x + √y): the difference comes from the exact slack, without cancellation.
    let gap = slack / service_mean_s / (served + arriving);
    Some((variability / (gap * gap)).max(service_mean_s))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_nearly_full_pool_settles_in_a_quarter_of_an_hour() {
        let seconds = relaxation_s(900.0, 1263, 3.0, 1.4, 1.0).unwrap();
        assert!((seconds - 785.0).abs() < 0.5, "{seconds}");
    }

    #[test]
    fn an_idle_pool_settles_in_a_service_time_and_an_unstable_one_never() {
        assert_eq!(relaxation_s(0.001, 1000, 999.998_6, 1.4, 1.0), Some(1.4));
        assert_eq!(relaxation_s(900.0, 1260, 0.0, 1.4, 1.0), None);
    }
}
