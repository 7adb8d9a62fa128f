//! Random number streams that depend on the seed and on what they are for, never on scheduling.

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

/// What a stream's numbers decide. Each purpose has a stream of its own, so that turning one feature on (say,
/// patience) leaves the arrivals and service times as they were: common random numbers across scenarios.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum Purpose {
    Arrival,
    Service,
    Patience,
    Failure,
    Retry,
    Endpoint,
    Block,
}

/// Purposes per priority class, with room for more.
const PURPOSES: u64 = 16;

/// One replication's source of streams.
#[derive(Clone, Copy, Debug)]
pub(super) struct Streams {
    seed: u64,
    replication: u32,
}

impl Streams {
    pub(super) fn new(seed: u64, replication: u32) -> Self {
        Streams { seed, replication }
    }

    /// The stream of one purpose in one priority class.
    ///
    /// The generator is xoshiro256++ (Blackman and Vigna, "Scrambled linear pseudorandom number generators",
    /// ACM TOMS 47(4), 2021). Replications lie 2¹⁹² steps apart and purposes 2¹²⁸, so no two streams can meet.
    pub(super) fn stream(self, class: usize, purpose: Purpose) -> Stream {
        let mut generator = Xoshiro256PlusPlus::seed_from_u64(self.seed);
        generator.jump_ce(u64::from(self.replication), 192);
        generator.jump_ce(class as u64 * PURPOSES + purpose as u64, 128);
        Stream(generator)
    }
}

/// A stream of uniform random bits.
#[derive(Clone, Debug)]
pub(super) struct Stream(Xoshiro256PlusPlus);

impl Stream {
    /// 64 random bits.
    #[inline(always)]
    pub(super) fn bits(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// Uniform on [0, 1), a multiple of 2⁻⁵³.
    #[inline(always)]
    pub(super) fn uniform(&mut self) -> f64 {
        unit(self.bits())
    }

    /// Uniform on 0..`count`. The bias is below `count`/2⁶⁴.
    #[inline(always)]
    pub(super) fn index(&mut self, count: usize) -> usize {
        ((u128::from(self.bits()) * count as u128) >> 64) as usize
    }
}

/// The top 53 bits as a fraction of 1.
#[inline(always)]
pub(super) fn unit(bits: u64) -> f64 {
    (bits >> 11) as f64 * (1.0 / (1_u64 << 53) as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn first(seed: u64, replication: u32, class: usize, purpose: Purpose) -> u64 {
        Streams::new(seed, replication).stream(class, purpose).bits()
    }

    #[test]
    fn every_replication_class_and_purpose_has_its_own_stream() {
        let mut seen = std::collections::HashSet::new();
        for replication in 0..20 {
            for class in 0..3 {
                for purpose in [Purpose::Arrival, Purpose::Service, Purpose::Endpoint] {
                    assert!(seen.insert(first(7, replication, class, purpose)));
                    assert_eq!(first(7, replication, class, purpose), first(7, replication, class, purpose));
                }
            }
        }
        assert_ne!(first(7, 0, 0, Purpose::Arrival), first(8, 0, 0, Purpose::Arrival));
    }

    #[test]
    fn uniform_numbers_stay_below_one() {
        assert_eq!(unit(0), 0.0);
        assert!(unit(u64::MAX) < 1.0);
    }
}
