//! Confidence intervals from independent replications.

use statrs::distribution::{ContinuousCDF, StudentsT};

/// An estimate with its interval, which needs two replications at least.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Estimate {
    pub(super) value: f64,
    pub(super) interval: Option<[f64; 2]>,
}

impl Estimate {
    /// Cuts the interval to where the quantity can lie.
    pub(super) fn within(self, low: f64, high: f64) -> Self {
        let interval = self.interval.map(|ends| ends.map(|end| end.clamp(low, high)));
        Estimate { value: self.value, interval }
    }

    fn about(value: f64, variance: f64, replications: usize, confidence: f64) -> Self {
        let half = student_t(replications, confidence).map(|t| t * variance.max(0.0).sqrt());
        Estimate { value, interval: half.map(|half| [value - half, value + half]) }
    }
}

/// The two-sided quantile of Student's t for this many replications; `None` below two.
fn student_t(replications: usize, confidence: f64) -> Option<f64> {
    let freedom = replications.checked_sub(1).filter(|&freedom| freedom > 0)?;
    let law = StudentsT::new(0.0, 1.0, freedom as f64).ok()?;
    let t = law.inverse_cdf(0.5 + 0.5 * confidence);
    // Ten digits are far more than an interval means; the rest may differ between mathematics libraries.
    Some((t * 1e9).round() * 1e-9)
}

/// The ratio of two means over replications, of (numerator, denominator) pairs such as (sum of waits, number of waits).
///
/// The variance is that of the ratio estimator (Cochran, "Sampling Techniques", 3rd edition, 1977, section 6.3; with
/// replications as the units: Law, "Simulation Modeling and Analysis", 5th edition, 2015, section 9.5). Where every
/// replication counts the same number this is the ordinary mean of the replications' means, whatever the
/// autocorrelation within them.
pub(super) fn ratio(pairs: &[(f64, f64)], confidence: f64) -> Option<Estimate> {
    let numerator: f64 = pairs.iter().map(|pair| pair.0).sum();
    let denominator: f64 = pairs.iter().map(|pair| pair.1).sum();
    if denominator <= 0.0 {
        return None;
    }
    let value = numerator / denominator;
    let count = pairs.len() as f64;
    let squares: f64 = pairs.iter().map(|(top, bottom)| (top - value * bottom).powi(2)).sum();
    let mean_denominator = denominator / count;
    let variance = squares / ((count - 1.0).max(1.0) * count * mean_denominator * mean_denominator);
    Some(Estimate::about(value, variance, pairs.len(), confidence))
}

/// The mean of one value a replication.
pub(super) fn mean(values: &[f64], confidence: f64) -> Option<Estimate> {
    ratio(&values.iter().map(|&value| (value, 1.0)).collect::<Vec<_>>(), confidence)
}

/// An estimate `pooled` from all replications together, with the spread of the replications' own estimates about it:
/// sectioning (Asmussen and Glynn, "Stochastic Simulation", 2007, section III.5), which for quantiles is less biased
/// than the mean of the replications' quantiles (Nakayama, "Confidence intervals for quantiles using sectioning when
/// applying variance-reduction techniques", ACM TOMACS 24(4), 2014).
pub(super) fn sectioned(pooled: f64, parts: &[f64], confidence: f64) -> Estimate {
    let count = parts.len() as f64;
    let squares: f64 = parts.iter().map(|part| (part - pooled).powi(2)).sum();
    Estimate::about(pooled, squares / ((count - 1.0).max(1.0) * count), parts.len(), confidence)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn t_quantiles_are_those_of_the_tables() {
        for (replications, confidence, t) in
            [(2, 0.95, 12.706), (6, 0.95, 2.571), (11, 0.99, 3.169), (31, 0.9, 1.697), (1001, 0.95, 1.962)]
        {
            let got = student_t(replications, confidence).unwrap();
            assert!((got - t).abs() < 5e-4, "{replications} {confidence}: {got}");
        }
        assert_eq!(student_t(1, 0.95), None);
        assert_eq!(student_t(0, 0.95), None);
    }

    #[test]
    fn equal_counts_give_the_ordinary_interval_of_a_mean() {
        // Mean 3, standard deviation √2.5 over five values: 3 ± 2.776445 · √(2.5/5).
        let pairs: Vec<(f64, f64)> = (1..=5).map(|value| (f64::from(value) * 10.0, 10.0)).collect();
        let [low, high] = ratio(&pairs, 0.95).unwrap().interval.unwrap();
        let half = 2.776_445_105 * 0.5_f64.sqrt();
        assert!((low - (3.0 - half)).abs() < 1e-8 && (high - (3.0 + half)).abs() < 1e-8);
        assert_eq!(mean(&[1.0, 2.0, 3.0, 4.0, 5.0], 0.95).unwrap().value, 3.0);
    }

    #[test]
    fn one_replication_gives_no_interval() {
        assert_eq!(ratio(&[(6.0, 2.0)], 0.95), Some(Estimate { value: 3.0, interval: None }));
        assert_eq!(ratio(&[(0.0, 0.0)], 0.95), None);
        assert_eq!(ratio(&[], 0.95), None);
    }

    #[test]
    fn unequal_counts_weigh_by_their_size() {
        let estimate = ratio(&[(10.0, 10.0), (90.0, 30.0)], 0.95).unwrap();
        assert_eq!(estimate.value, 2.5);
    }
}
