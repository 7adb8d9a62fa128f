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

    fn exact(value: f64, replications: usize) -> Self {
        Estimate { value, interval: (replications > 1).then_some([value, value]) }
    }
}

/// Student's t for a number of replications and a level; `None` below two replications.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Student(Option<f64>);

impl Student {
    /// For intervals of two sides.
    pub(super) fn two_sided(replications: usize, confidence: f64) -> Self {
        Student::one_sided(replications, 0.5 + 0.5 * confidence)
    }

    /// The quantile itself, for tests of one side.
    pub(super) fn one_sided(replications: usize, probability: f64) -> Self {
        let freedom = replications.checked_sub(1).filter(|&freedom| freedom > 0);
        let law = freedom.and_then(|freedom| StudentsT::new(0.0, 1.0, freedom as f64).ok());
        // Ten digits are far more than an interval means; the rest may differ between mathematics libraries.
        Student(law.map(|law| (law.inverse_cdf(probability) * 1e9).round() * 1e-9))
    }

    pub(super) fn quantile(self) -> Option<f64> {
        self.0
    }
}

/// Where the quantile `t` of a symmetric law lies for a mean whose skewness coefficient is 6`a`: Willink, "A confidence
/// interval and test for the mean of an asymmetric distribution", Communications in Statistics 34(4), 2005.
fn skewed(t: f64, a: f64) -> f64 {
    // Below this the series t − a(…) has ended within rounding, and the quotient has not.
    if a.abs() < 1e-6 { t } else { (libm::cbrt(1.0 + 6.0 * a * (t - a)) - 1.0) / (2.0 * a) }
}

/// The ratio of two means over replications, of (numerator, denominator) pairs such as (sum of waits, number of waits).
///
/// The variance is that of the ratio estimator (Cochran, "Sampling Techniques", 3rd edition, 1977, section 6.3; with
/// replications as the units: Law, "Simulation Modeling and Analysis", 5th edition, 2015, section 9.5). Where every
/// replication counts the same number this is the ordinary mean of the replications' means, whatever the
/// autocorrelation within them. Near saturation those means are skewed, and an interval of equal arms misses on its upper
/// side: from three replications on the arms follow the sample's skewness.
pub(super) fn ratio(pairs: &[(f64, f64)], student: Student) -> Option<Estimate> {
    let numerator: f64 = pairs.iter().map(|pair| pair.0).sum();
    let denominator: f64 = pairs.iter().map(|pair| pair.1).sum();
    if denominator <= 0.0 {
        return None;
    }
    let value = numerator / denominator;
    let count = pairs.len() as f64;
    let deviations = || pairs.iter().map(|(top, bottom)| (top - value * bottom) * count / denominator);
    let squares: f64 = deviations().map(|deviation| deviation * deviation).sum();
    let cubes: f64 = deviations().map(|deviation| deviation * deviation * deviation).sum();
    let Some(t) = student.quantile().filter(|_| squares > 0.0) else {
        return Some(Estimate::exact(value, pairs.len()));
    };
    let variance = squares / (count - 1.0);
    let error = (variance / count).sqrt();
    let a = if pairs.len() < 3 {
        0.0
    } else {
        let third_moment = cubes * count / ((count - 1.0) * (count - 2.0));
        third_moment / (6.0 * count.sqrt() * variance * variance.sqrt())
    };
    let ends = [value - error * skewed(t, a), value - error * skewed(-t, a)];
    Some(Estimate { value, interval: ends.iter().all(|end| end.is_finite()).then_some(ends) })
}

/// The mean of one value a replication.
pub(super) fn mean(values: &[f64], student: Student) -> Option<Estimate> {
    ratio(&values.iter().map(|&value| (value, 1.0)).collect::<Vec<_>>(), student)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at_95(replications: usize) -> Student {
        Student::two_sided(replications, 0.95)
    }

    #[test]
    fn t_quantiles_are_those_of_the_tables() {
        for (replications, confidence, t) in
            [(2, 0.95, 12.706), (6, 0.95, 2.571), (11, 0.99, 3.169), (31, 0.9, 1.697), (1001, 0.95, 1.962)]
        {
            let got = Student::two_sided(replications, confidence).quantile().unwrap();
            assert!((got - t).abs() < 5e-4, "{replications} {confidence}: {got}");
        }
        assert_eq!(Student::two_sided(1, 0.95).quantile(), None);
        assert_eq!(Student::two_sided(0, 0.95).quantile(), None);
    }

    #[test]
    fn equal_counts_give_the_ordinary_interval_of_a_mean() {
        // Mean 3, standard deviation √2.5 over five values: 3 ± 2.776445 · √(2.5/5).
        let pairs: Vec<(f64, f64)> = (1..=5).map(|value| (f64::from(value) * 10.0, 10.0)).collect();
        let [low, high] = ratio(&pairs, at_95(5)).unwrap().interval.unwrap();
        let half = 2.776_445_105 * 0.5_f64.sqrt();
        assert!((low - (3.0 - half)).abs() < 1e-8 && (high - (3.0 + half)).abs() < 1e-8);
        assert_eq!(mean(&[1.0, 2.0, 3.0, 4.0, 5.0], at_95(5)).unwrap().value, 3.0);
    }

    /// Values 0, 0, 0, 4: mean 1, s² = 4, μ₃ = 4·(−1·3 + 27)/(3·2) = 16, so a = 16/(6·2·8) = ⅙, t = 3.182446.
    #[test]
    fn the_longer_arm_points_to_the_longer_tail() {
        let [low, high] = mean(&[0.0, 0.0, 0.0, 4.0], at_95(4)).unwrap().interval.unwrap();
        let t = 3.182_446_305;
        let arm = |t: f64| 3.0 * (libm::cbrt(1.0 + t - 1.0 / 6.0) - 1.0);
        assert!((low - (1.0 - arm(t))).abs() < 1e-8, "{low}");
        assert!((high - (1.0 - arm(-t))).abs() < 1e-8, "{high}");
        assert!(high - 1.0 > 1.0 - low);
    }

    #[test]
    fn equal_values_give_an_interval_without_width() {
        assert_eq!(mean(&[2.5; 4], at_95(4)).unwrap().interval, Some([2.5, 2.5]));
    }

    #[test]
    fn one_replication_gives_no_interval() {
        assert_eq!(ratio(&[(6.0, 2.0)], at_95(1)), Some(Estimate { value: 3.0, interval: None }));
        assert_eq!(ratio(&[(0.0, 0.0)], at_95(1)), None);
        assert_eq!(ratio(&[], at_95(0)), None);
    }

    #[test]
    fn unequal_counts_weigh_by_their_size() {
        let estimate = ratio(&[(10.0, 10.0), (90.0, 30.0)], at_95(2)).unwrap();
        assert_eq!(estimate.value, 2.5);
    }
}
