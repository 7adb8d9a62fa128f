//! Takes time stamps one by one, in bounded memory.

use super::{
    AlignedBins, ArrivalProfile, Dispersion, Gaps, MOST_RATE_BINS, SECOND_NS, StampBatch, busiest_window,
};

/// The most bins while reading: at one a second, twelve days; 8 MiB.
const MOST_BINS: usize = 1 << 20;

/// Time stamps that are held back to be put in order before the gaps between them are measured; 1 MiB. Logs are
/// written when attempts end and stamped with their start, so at 900/s with a 30 s timeout some 27,000 overtake.
const REORDER: usize = 1 << 17;

/// Into how many parts the arrivals of an interval are spread at most; 4096 s are over an hour.
const MOST_PARTS: u64 = 4096;

/// The coarsest resolution of time stamps that is told apart, in nanoseconds: a minute.
pub(super) const COARSEST_NS: u64 = 60_000_000_000;

/// Collects the arrivals of one recording.
#[derive(Clone, Debug)]
pub struct ArrivalRecorder {
    count: u64,
    first_ns: i64,
    last_ns: i64,
    counts: AlignedBins<u64>,
    pending: Vec<i64>,
    measured_to: Option<i64>,
    gaps: Option<Gaps>,
    /// Greatest common divisor of all stamps, and of [`COARSEST_NS`].
    divisor_ns: u64,
    /// Whether some arrivals are only known to lie within intervals.
    spread: bool,
}

impl Default for ArrivalRecorder {
    fn default() -> Self {
        ArrivalRecorder {
            count: 0,
            first_ns: i64::MAX,
            last_ns: i64::MIN,
            counts: AlignedBins::new(MOST_BINS),
            pending: Vec::new(),
            measured_to: None,
            gaps: Some(Gaps::default()),
            divisor_ns: COARSEST_NS,
            spread: false,
        }
    }
}

impl ArrivalRecorder {
    /// Adds `weight` arrivals at a time in nanoseconds since the epoch. A weight other than one says nothing about
    /// the time between arrivals, so that is no longer measured.
    pub fn add(&mut self, at_ns: i64, weight: u64) {
        if weight == 0 {
            return;
        }
        self.count = self.count.saturating_add(weight);
        self.first_ns = self.first_ns.min(at_ns);
        self.last_ns = self.last_ns.max(at_ns);
        let bin = self.counts.at(at_ns.div_euclid(SECOND_NS));
        *bin = bin.saturating_add(weight);
        if !at_ns.unsigned_abs().is_multiple_of(self.divisor_ns) {
            self.divisor_ns = num_integer::gcd(self.divisor_ns, at_ns.unsigned_abs());
        }
        if weight > 1 {
            self.gaps = None;
            self.pending = Vec::new();
        } else if self.gaps.is_some() {
            self.pending.push(at_ns);
            if self.pending.len() >= REORDER {
                self.measure(REORDER / 2);
            }
        }
    }

    /// Adds arrivals that were collected apart, counted by the second; what follows from their order is added by
    /// [`ArrivalRecorder::add_in_order`].
    pub fn add_batch(&mut self, batch: &StampBatch, seconds: impl Iterator<Item = (i64, u64)>) {
        let Some((first_ns, last_ns)) = batch.ends() else { return };
        self.count = self.count.saturating_add(batch.stamps().len() as u64);
        self.first_ns = self.first_ns.min(first_ns);
        self.last_ns = self.last_ns.max(last_ns);
        for (second, count) in seconds {
            let bin = self.counts.at(second);
            *bin = bin.saturating_add(count);
        }
        self.divisor_ns = num_integer::gcd(self.divisor_ns, batch.divisor_ns());
    }

    /// Measures the time between arrivals that were added by [`ArrivalRecorder::add_batch`]: stamps in the order in
    /// which they were met.
    pub fn add_in_order(&mut self, mut stamps: &[i64]) {
        while !stamps.is_empty() && self.gaps.is_some() {
            let room = REORDER - self.pending.len();
            let (now, later) = stamps.split_at(room.min(stamps.len()));
            self.pending.extend_from_slice(now);
            stamps = later;
            if self.pending.len() >= REORDER {
                self.measure(REORDER / 2);
            }
        }
    }

    /// Adds `count` arrivals of which is known that they lie between two times in nanoseconds since the epoch. They
    /// are taken as spread evenly, so that an interval of some minutes does not look like a burst; their burstiness
    /// is not known.
    pub fn add_interval(&mut self, start_ns: i64, end_ns: i64, count: u64) {
        let end_ns = end_ns.max(start_ns);
        let length_ns = end_ns.abs_diff(start_ns);
        self.spread = true;
        self.gaps = None;
        self.pending = Vec::new();
        self.first_ns = self.first_ns.min(start_ns);
        self.last_ns = self.last_ns.max(end_ns);
        // At least a bin for the time itself: a quiet interval is part of what was observed.
        let parts = (length_ns / SECOND_NS as u64).clamp(1, MOST_PARTS);
        let part =
            |whole: u64, number: u64| (u128::from(whole) * u128::from(number) / u128::from(parts)) as u64;
        for number in 0..parts {
            let at_ns = start_ns.saturating_add_unsigned(part(length_ns, number));
            let bin = self.counts.at(at_ns.div_euclid(SECOND_NS));
            *bin = bin.saturating_add(part(count, number + 1) - part(count, number));
        }
        self.count = self.count.saturating_add(count);
    }

    /// Measures the gaps between the earliest `number` pending stamps.
    fn measure(&mut self, number: usize) {
        // Nearly all stamps come in order.
        if !self.pending.is_sorted() {
            self.pending.sort();
        }
        let now = &self.pending[..number];
        let (Some(gaps), Some((first, last))) = (&mut self.gaps, now.first().zip(now.last())) else { return };
        let measured = match self.measured_to {
            None => Some(()),
            // Later than all that was held back, yet earlier than what was measured: too far out of order.
            Some(before) if *first < before => None,
            Some(before) => gaps.add(first.abs_diff(before)),
        };
        let measured = measured.and_then(|()| gaps.add_between(now));
        self.measured_to = Some(*last);
        self.pending.drain(..number);
        if measured.is_none() {
            self.gaps = None;
            self.pending = Vec::new();
        }
    }

    /// The profile of what was recorded; `None` if there was nothing.
    #[must_use]
    pub fn finish(mut self) -> Option<ArrivalProfile> {
        self.measure(self.pending.len());
        if self.count == 0 {
            return None;
        }
        let busiest = busiest_window(&self.counts, self.first_ns, self.last_ns)?;
        let dispersion = (self.counts.width_s() == 1 && !self.spread).then(|| self.dispersion()).flatten();
        let mut counts = self.counts;
        counts.limit_to(MOST_RATE_BINS);
        let powers_of_ten = std::iter::successors(Some(SECOND_NS as u64), |step| Some(step / 10)).take(10);
        let resolution_ns = std::iter::once(COARSEST_NS)
            .chain(powers_of_ten)
            .find(|step| self.divisor_ns.is_multiple_of(*step))
            .unwrap_or(1);
        Some(ArrivalProfile {
            count: self.count,
            first_ns: self.first_ns,
            last_ns: self.last_ns,
            observed_ns: (i128::from(self.last_ns) - i128::from(self.first_ns)).unsigned_abs(),
            intervals: if self.spread { self.count } else { self.count - 1 },
            busiest,
            gaps: self.gaps.filter(|gaps| gaps.mean_ns().is_some()),
            dispersion,
            resolution_ns,
            counts,
        })
    }

    /// Dispersion over the seconds that were observed in full: the first and the last one were not.
    fn dispersion(&self) -> Option<Dispersion> {
        let seconds: Vec<u64> = self.counts.iter().map(|(_, count)| *count).collect();
        let inner = seconds.get(1..seconds.len().checked_sub(1)?)?;
        Dispersion::of(inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const MS: i64 = 1_000_000;

    fn of(stamps: impl IntoIterator<Item = i64>) -> ArrivalProfile {
        let mut recorder = ArrivalRecorder::default();
        stamps.into_iter().for_each(|at| recorder.add(at, 1));
        recorder.finish().unwrap()
    }

    #[test]
    fn a_clock_is_measured_exactly() {
        let start = 1_700_000_000_000 * MS;
        let profile = of((0..4000).map(|tick| start + tick * 50 * MS));
        assert_eq!(profile.span_s(), 199.95);
        assert_eq!(profile.mean_rate().unwrap().get(), 20.0);
        assert_eq!(profile.busiest_minute_rate().unwrap().get(), 20.0);
        assert_eq!(profile.interarrival_scv(), Some(0.0));
        assert_eq!(profile.dispersion(), Some(0.0));
        assert_eq!(profile.resolution_ns(), 10_000_000);
    }

    #[test]
    fn the_busiest_minute_slides_over_the_turn_of_a_minute() {
        // One a second for an hour, and 100 more a second from 00:29:30 to 00:30:30.
        let quiet = (0..3600).map(|second| second * SECOND_NS);
        let peak = (1770..1830).flat_map(|second| (0..100).map(move |tick| second * SECOND_NS + tick));
        let busiest = of(quiet.chain(peak)).busiest_minute();
        assert_eq!(busiest, super::super::BusiestMinute { count: 60 * 101, start_s: 1770, window_s: 60 });
    }

    #[test]
    fn stamps_too_coarse_for_the_rate_give_no_interarrival_scv() {
        let seconds = of((0..600).flat_map(|second| [second * SECOND_NS; 10]));
        assert_eq!(seconds.interarrival_scv(), None, "ten arrivals a second with stamps of a second");
        assert_eq!(seconds.dispersion(), Some(0.0));
        let minutes = of((0..600).map(|minute| minute * 60 * SECOND_NS));
        assert_eq!((minutes.dispersion(), minutes.resolution_ns()), (None, 60_000_000_000));
    }

    #[test]
    fn stamps_out_of_order_are_put_in_order_within_reach() {
        let mut stamps: Vec<i64> = (0..300_000).map(|tick| tick * 7 * MS).collect();
        let in_order = of(stamps.clone());
        stamps.chunks_mut(30_000).for_each(<[i64]>::reverse);
        assert_eq!(of(stamps.clone()), in_order);
        stamps.reverse();
        assert_eq!(of(stamps).interarrival_scv(), None, "wholly reversed is out of reach, and said to be");
    }

    #[test]
    fn less_than_a_minute_has_the_mean_rate_and_one_stamp_has_none() {
        let short = of([0, SECOND_NS, 2 * SECOND_NS]);
        assert_eq!(short.busiest_minute_rate().unwrap().get(), 1.0);
        let single = of([5]);
        assert!(single.mean_rate().is_none() && single.busiest_minute_rate().is_none());
    }

    #[test]
    fn counted_arrivals_have_a_rate_but_no_gaps() {
        let mut recorder = ArrivalRecorder::default();
        (0..120).for_each(|second| recorder.add(second * SECOND_NS, 900));
        let profile = recorder.finish().unwrap();
        assert_eq!(profile.busiest_minute_rate().unwrap().get(), 900.0);
        assert_eq!(profile.interarrival_scv(), None);
    }

    #[test]
    fn recordings_one_after_the_other_join_without_the_hole_between() {
        let monday = of((0..7200).map(|second| second * SECOND_NS));
        let friday = of((345_600..345_600 + 3600).map(|second| second * SECOND_NS));
        let both = monday.merge(&friday);
        assert_eq!(both.mean_rate().unwrap().get(), 1.0);
        assert_eq!(both, friday.merge(&monday));
        assert!(both.is_sound());
        let superposed = monday.merge(&monday);
        assert_eq!(superposed.count(), 14_400);
        assert!((superposed.busiest_minute_rate().unwrap().get() - 2.0).abs() < 0.01);
        assert_eq!(superposed.interarrival_scv(), None);
    }

    #[test]
    fn counts_of_intervals_are_spread_over_them_and_say_nothing_of_burstiness() {
        let mut recorder = ArrivalRecorder::default();
        recorder.add_interval(0, 300 * SECOND_NS, 3000);
        recorder.add_interval(300 * SECOND_NS, 600 * SECOND_NS, 0);
        let profile = recorder.finish().unwrap();
        assert_eq!(profile.mean_rate().unwrap().get(), 5.0);
        assert_eq!(profile.busiest_minute_rate().unwrap().get(), 10.0);
        assert_eq!((profile.dispersion(), profile.interarrival_scv()), (None, None));
        assert!(profile.is_sound());
        let mut nothing = ArrivalRecorder::default();
        nothing.add_interval(0, SECOND_NS, 0);
        assert!(nothing.finish().is_none());
    }

    proptest! {
        // A wild span fills a million bins, so that few cases are many.
        #![proptest_config(ProptestConfig::with_cases(16))]

        #[test]
        fn no_stamps_make_it_panic(stamps in prop::collection::vec(any::<i64>(), 1..20)) {
            let profile = of(stamps);
            prop_assert!(profile.is_sound());
            let _ = (profile.mean_rate(), profile.busiest_minute_rate(), profile.interarrival_scv(), profile.dispersion());
        }
    }
}
