//! How the load moves: what share of the time it is at which multiple of its mean.

/// So many levels are told apart below the highest.
const LEVELS: f64 = 64.0;

/// The load over time, as it was measured.
#[derive(Clone, Debug, PartialEq)]
pub struct LoadShape {
    /// Load over mean load, and the spans at it; rising, each rounded up to a 64th of the highest.
    levels: Vec<(f64, u64)>,
    /// All spans.
    spans: u64,
}

impl LoadShape {
    /// From counts over spans of one length; `None` where nothing was counted.
    #[must_use]
    pub fn from_counts(counts: &[u64]) -> Option<Self> {
        let most = counts.iter().copied().max().filter(|most| *most > 0)? as f64;
        let mean = counts.iter().map(|count| *count as f64).sum::<f64>() / counts.len() as f64;
        let mut levels = vec![0_u64; LEVELS as usize + 1];
        for count in counts {
            let level = (*count as f64 * LEVELS / most).ceil() as usize;
            if let Some(spans) = levels.get_mut(level) {
                *spans += 1;
            }
        }
        let levels = levels.into_iter().enumerate().filter(|(_, spans)| *spans > 0);
        let levels = levels.map(|(level, spans)| (level as f64 * most / LEVELS / mean, spans)).collect();
        Some(LoadShape { levels, spans: counts.len() as u64 })
    }

    /// The mean over time of something that follows the load, given as a function of load over mean load. `None` if
    /// the function is `None` anywhere.
    #[must_use]
    pub fn mean_of(&self, of: impl Fn(f64) -> Option<f64>) -> Option<f64> {
        let sum = self
            .levels
            .iter()
            .try_fold(0.0, |sum, (relative, spans)| Some(sum + *spans as f64 * of(*relative)?));
        sum.map(|sum| sum / self.spans as f64)
    }

    /// The share of the time in which the load is below a multiple of its mean.
    #[must_use]
    pub fn share_of_time_below(&self, relative: f64) -> f64 {
        let below =
            self.levels.iter().filter(|(level, _)| *level < relative).map(|(_, spans)| spans).sum::<u64>();
        below as f64 / self.spans as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_day_with_one_busy_hour_is_mostly_quiet() {
        let mut hours = [64_u64; 24];
        hours[9] = 640;
        let shape = LoadShape::from_counts(&hours).unwrap();
        let mean = (23.0 * 64.0 + 640.0) / 24.0;
        assert!((shape.share_of_time_below(1.0) - 23.0 / 24.0).abs() < 1e-12);
        // Levels are rounded up by at most a 64th of the highest, 10.
        let followed = shape.mean_of(Some).unwrap() * mean;
        assert!((mean..=mean + 10.0).contains(&followed), "{followed} {mean}");
        assert_eq!(shape.mean_of(|relative| (relative < 1.0).then_some(1.0)), None);
    }

    #[test]
    fn a_steady_load_has_one_level_and_no_load_has_no_shape() {
        let steady = LoadShape::from_counts(&[7; 100]).unwrap();
        assert_eq!((steady.share_of_time_below(1.0), steady.mean_of(Some)), (0.0, Some(1.0)));
        assert_eq!(LoadShape::from_counts(&[0, 0]), None);
        assert_eq!(LoadShape::from_counts(&[]), None);
    }
}
