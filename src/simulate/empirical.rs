//! Resampling of a measured distribution without bucketing bias.

use super::error::{Error, require};
use super::stream::{Stream, unit};
use std::sync::Arc;

/// Values that were counted together: `count` of them lay between `low_s` and `high_s` (seconds, inclusive).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bucket {
    /// Smallest value of the bucket, in seconds.
    pub low_s: f64,
    /// Largest value of the bucket, in seconds; the same as `low_s` for a bucket that is one value.
    pub high_s: f64,
    /// How many values lay in it.
    pub count: u64,
}

/// A uniform piece of the law: `low + width · u`, taken with a probability.
#[derive(Clone, Copy, Debug)]
struct Piece {
    probability: f64,
    low: f64,
    width: f64,
}

/// A mixture of uniform pieces, drawn with one random number and one table look-up (the alias method: Walker 1977, in
/// Vose's construction, "A linear algorithm for generating random numbers with a given distribution", 1991).
#[derive(Clone, Debug)]
pub(super) struct Empirical {
    columns: Arc<[Column]>,
    mean: f64,
    second_moment: f64,
}

/// A column of the alias table: its own piece lies from place 0 to the alias's start, the alias from there to 1. Each maps
/// its part of the column onto its piece, so that the number that chose is also the place within the piece.
#[derive(Clone, Copy, Debug)]
struct Column {
    start: [f64; 2],
    low: [f64; 2],
    slope: [f64; 2],
}

/// How far a mean may lie outside of what the buckets allow and still be called rounding.
const ROUNDING: f64 = 1e-9;

impl Empirical {
    /// `mean` defaults to that of uniform buckets, `second_moment` to what the uniform spread gives.
    pub(super) fn new(
        buckets: &[Bucket],
        mean: Option<f64>,
        second_moment: Option<f64>,
    ) -> Result<Self, Error> {
        let buckets = checked(buckets)?;
        let mean_if = |end: fn(&Piece) -> f64| buckets.iter().map(|b| b.probability * end(b)).sum::<f64>();
        let low_mean = mean_if(|bucket| bucket.low);
        let span = mean_if(|bucket| bucket.width);
        let mean = mean.unwrap_or(low_mean + 0.5 * span);
        let slack = ROUNDING * (low_mean + span);
        if !(mean >= low_mean - slack && mean <= low_mean + span + slack) {
            let (low_s, high_s) = (low_mean, low_mean + span);
            return Err(Error::MeanOutsideBuckets { mean_s: mean, low_s, high_s });
        }
        let place = if span > 0.0 { ((mean - low_mean) / span).clamp(0.0, 1.0) } else { 0.5 };
        let second_moment = second_moment
            .map(|value| {
                require("the second moment", value, "a finite number more than 0", |value| value > 0.0)
            })
            .transpose()?;
        let mut pieces = Spread::choose(&buckets, place, second_moment).pieces(&buckets, place);
        // What rounding left of the mean (one part in 10¹⁵) or of the slack goes into a common factor.
        let reached: f64 = pieces.iter().map(|piece| piece.probability * piece.mean()).sum();
        if reached > 0.0 {
            for piece in &mut pieces {
                piece.low *= mean / reached;
                piece.width *= mean / reached;
            }
        }
        let second_moment = pieces.iter().map(|piece| piece.probability * piece.second_moment()).sum();
        Ok(Empirical { columns: columns(&pieces), mean, second_moment })
    }

    pub(super) fn mean(&self) -> f64 {
        self.mean
    }

    pub(super) fn second_moment(&self) -> f64 {
        self.second_moment
    }

    #[inline(always)]
    pub(super) fn draw(&self, stream: &mut Stream) -> f64 {
        let scaled = u128::from(stream.bits()) * self.columns.len() as u128;
        let column = &self.columns[(scaled >> 64) as usize];
        // The low half is the place within the column, uniform on [0, 1).
        let place = unit(scaled as u64);
        let piece = usize::from(place >= column.start[1]);
        column.low[piece] + column.slope[piece] * (place - column.start[piece])
    }
}

/// The buckets that hold something, with their probabilities.
fn checked(buckets: &[Bucket]) -> Result<Vec<Piece>, Error> {
    let total: u128 = buckets.iter().map(|bucket| u128::from(bucket.count)).sum();
    if total == 0 {
        return Err(Error::Empty("the measured distribution"));
    }
    let time = "a finite time of at least 0, and a bucket's high end must not lie below its low end";
    buckets
        .iter()
        .filter(|bucket| bucket.count > 0)
        .map(|bucket| {
            let low = require("a bucket's low end", bucket.low_s, time, |low| low >= 0.0)?;
            let high = require("a bucket's high end", bucket.high_s, time, |high| high >= low)?;
            Ok(Piece { probability: bucket.count as f64 / total as f64, low, width: high - low })
        })
        .collect()
}

/// How values lie within their buckets, about a common relative place.
#[derive(Clone, Copy, Debug)]
struct Spread {
    /// Half-width of the uniform part, relative to the widest that stays inside the bucket.
    uniform: f64,
    /// Share of the values that lie at the bucket's ends instead.
    ends: f64,
}

impl Spread {
    /// The spread that gives the second moment, or comes as near as the buckets allow; the widest uniform without one.
    fn choose(buckets: &[Piece], place: f64, second_moment: Option<f64>) -> Spread {
        let Some(second_moment) = second_moment else { return Spread { uniform: 1.0, ends: 0.0 } };
        let half = place.min(1.0 - place);
        let sum = |term: &dyn Fn(&Piece) -> f64| {
            buckets.iter().map(|bucket| bucket.probability * term(bucket)).sum::<f64>()
        };
        let wanted = second_moment - sum(&|b| (b.low + place * b.width).powi(2));
        let widest_uniform = sum(&|b| (half * b.width).powi(2) / 3.0);
        let at_the_ends = sum(&|b| place * (1.0 - place) * b.width.powi(2));
        if wanted <= widest_uniform {
            let share = if widest_uniform > 0.0 { (wanted / widest_uniform).max(0.0) } else { 0.0 };
            Spread { uniform: share.sqrt(), ends: 0.0 }
        } else {
            let room = at_the_ends - widest_uniform;
            let share = if room > 0.0 { ((wanted - widest_uniform) / room).min(1.0) } else { 0.0 };
            Spread { uniform: 1.0, ends: share }
        }
    }

    fn pieces(self, buckets: &[Piece], place: f64) -> Vec<Piece> {
        let mut pieces = Vec::with_capacity(buckets.len());
        for bucket in buckets {
            let half = self.uniform * place.min(1.0 - place) * bucket.width;
            let centre = bucket.low + place * bucket.width;
            let ends = if bucket.width > 0.0 { self.ends } else { 0.0 };
            let parts = [
                (1.0 - ends, centre - half, 2.0 * half),
                (ends * (1.0 - place), bucket.low, 0.0),
                (ends * place, bucket.low + bucket.width, 0.0),
            ];
            for (share, low, width) in parts {
                if share > 0.0 {
                    pieces.push(Piece { probability: share * bucket.probability, low, width });
                }
            }
        }
        pieces
    }
}

impl Piece {
    fn mean(&self) -> f64 {
        self.low + 0.5 * self.width
    }

    fn second_moment(&self) -> f64 {
        self.mean().powi(2) + self.width.powi(2) / 12.0
    }
}

/// Vose's construction: columns below the average are filled up from those above it.
fn columns(pieces: &[Piece]) -> Arc<[Column]> {
    let count = pieces.len();
    let mut height: Vec<f64> = pieces.iter().map(|piece| piece.probability * count as f64).collect();
    let (mut small, mut large): (Vec<usize>, Vec<usize>) = (0..count).partition(|&piece| height[piece] < 1.0);
    let mut table: Vec<Column> = pieces.iter().map(|piece| Column::new(1.0, piece, piece)).collect();
    while let (Some(&giver), Some(taker)) = (large.last(), small.pop()) {
        table[taker] = Column::new(height[taker], &pieces[taker], &pieces[giver]);
        height[giver] -= 1.0 - height[taker];
        if height[giver] < 1.0 {
            large.pop();
            small.push(giver);
        }
    }
    table.into()
}

impl Column {
    fn new(threshold: f64, own: &Piece, alias: &Piece) -> Self {
        // Neither part may be mapped over an empty stretch: a slope there would not be finite.
        let own_slope = if threshold > 0.0 { own.width / threshold } else { 0.0 };
        let alias_slope = if threshold < 1.0 { alias.width / (1.0 - threshold) } else { 0.0 };
        Column { start: [0.0, threshold], low: [own.low, alias.low], slope: [own_slope, alias_slope] }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The mean and second moment of the table itself, by integrating it.
    fn moments_of_table(empirical: &Empirical) -> (f64, f64) {
        let (mut mean, mut second) = (0.0, 0.0);
        for column in empirical.columns.iter() {
            for (piece, share) in [(0, column.start[1]), (1, 1.0 - column.start[1])] {
                let low = column.low[piece];
                let high = low + column.slope[piece] * share;
                mean += share * 0.5 * (low + high);
                second += share * (low * low + low * high + high * high) / 3.0;
            }
        }
        let count = empirical.columns.len() as f64;
        (mean / count, second / count)
    }

    fn relative(value: f64, reference: f64) -> f64 {
        (value / reference - 1.0).abs()
    }

    #[test]
    fn wide_buckets_keep_the_exact_mean_and_second_moment() {
        // 0.12 s for most, a timeout tail: the buckets' middles would give a mean of 1.65 s, 18% too high.
        let buckets = [
            Bucket { low_s: 0.0, high_s: 0.1, count: 400 },
            Bucket { low_s: 0.1, high_s: 0.5, count: 550 },
            Bucket { low_s: 10.0, high_s: 60.0, count: 50 },
        ];
        for (mean, second) in [(1.4, 32.1), (1.4, 36.0), (1.4, 45.0), (0.9, 14.0)] {
            let law = Empirical::new(&buckets, Some(mean), Some(second)).unwrap();
            let (table_mean, table_second) = moments_of_table(&law);
            assert!(relative(table_mean, mean) < 1e-13, "{table_mean}");
            assert!(relative(table_second, law.second_moment()) < 1e-12);
            assert!(relative(law.second_moment(), second) < 1e-12, "{} {second}", law.second_moment());
        }
    }

    #[test]
    fn a_second_moment_out_of_reach_is_approached_and_reported() {
        let buckets = [Bucket { low_s: 1.0, high_s: 2.0, count: 1 }];
        let most = Empirical::new(&buckets, Some(1.5), Some(100.0)).unwrap();
        assert!(relative(most.second_moment(), 2.5) < 1e-12, "all at the ends: (1 + 4)/2");
        let least = Empirical::new(&buckets, Some(1.5), Some(0.1)).unwrap();
        assert!(relative(least.second_moment(), 2.25) < 1e-12, "all in the middle");
    }

    #[test]
    fn a_mean_that_the_buckets_cannot_have_is_refused() {
        let buckets = [Bucket { low_s: 1.0, high_s: 2.0, count: 5 }];
        for mean in [0.9, 2.1] {
            assert!(matches!(
                Empirical::new(&buckets, Some(mean), None),
                Err(Error::MeanOutsideBuckets { .. })
            ));
        }
        assert!(matches!(Empirical::new(&[], None, None), Err(Error::Empty(_))));
        let upside_down = [Bucket { low_s: 2.0, high_s: 1.0, count: 1 }];
        assert!(Empirical::new(&upside_down, None, None).is_err());
    }

    proptest! {
        #[test]
        fn the_table_keeps_the_mean_and_stays_within_the_buckets(
            cells in prop::collection::vec((0.0..10.0_f64, 0.0..5.0_f64, 1..1000_u64), 1..40),
            place in 0.0..1.0_f64,
        ) {
            let buckets: Vec<Bucket> = cells
                .iter()
                .map(|&(low_s, width, count)| Bucket { low_s, high_s: low_s + width, count })
                .collect();
            let total: f64 = buckets.iter().map(|b| b.count as f64).sum();
            let mean: f64 = buckets
                .iter()
                .map(|b| b.count as f64 / total * (b.low_s + place * (b.high_s - b.low_s)))
                .sum();
            let law = Empirical::new(&buckets, Some(mean), None).unwrap();
            prop_assert!(relative(moments_of_table(&law).0, mean) < 1e-12);
            let lowest = buckets.iter().map(|b| b.low_s).fold(f64::INFINITY, f64::min);
            let highest = buckets.iter().map(|b| b.high_s).fold(0.0, f64::max);
            let mut stream =
                super::super::stream::Streams::new(1, 0).stream(0, super::super::stream::Purpose::Service);
            for _ in 0..100 {
                let value = law.draw(&mut stream);
                prop_assert!(value >= lowest - 1e-9 && value <= highest + 1e-9, "{}", value);
            }
        }
    }
}
