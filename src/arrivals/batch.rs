//! Time stamps collected apart from a recorder, to be taken over by it.

use super::recorder::COARSEST_NS;

/// Stamps in the order in which they were met.
#[derive(Clone, Debug)]
pub struct StampBatch {
    stamps: Vec<i64>,
    /// The earliest of those that were met after a later one.
    overtaken_ns: i64,
    last_ns: i64,
    /// Greatest common divisor of all stamps, and of the coarsest resolution that is told apart.
    divisor_ns: u64,
}

impl Default for StampBatch {
    fn default() -> Self {
        StampBatch { stamps: Vec::new(), overtaken_ns: i64::MAX, last_ns: i64::MIN, divisor_ns: COARSEST_NS }
    }
}

impl StampBatch {
    /// Adds stamps in nanoseconds since the epoch that are known to be multiples of `step_ns`.
    #[inline]
    pub fn add_all(&mut self, stamps: &[i64], step_ns: u64) {
        self.stamps.extend_from_slice(stamps);
        for at_ns in stamps {
            if *at_ns >= self.last_ns {
                self.last_ns = *at_ns;
            } else {
                self.overtaken_ns = self.overtaken_ns.min(*at_ns);
            }
        }
        // A multiple of the step cannot take the divisor below it, and a division is what costs most here.
        for at_ns in stamps.iter().map(|at_ns| at_ns.unsigned_abs()) {
            if self.divisor_ns == step_ns {
                break;
            }
            if !at_ns.is_multiple_of(self.divisor_ns) {
                self.divisor_ns = num_integer::gcd(self.divisor_ns, at_ns);
            }
        }
    }

    /// The stamps.
    #[must_use]
    pub fn stamps(&self) -> &[i64] {
        &self.stamps
    }

    /// The earliest and the latest stamp; `None` without stamps.
    #[must_use]
    pub fn ends(&self) -> Option<(i64, i64)> {
        self.stamps.first().map(|first| (self.overtaken_ns.min(*first), self.last_ns))
    }

    /// The greatest common divisor of all stamps, and of a minute, in nanoseconds.
    #[must_use]
    pub fn divisor_ns(&self) -> u64 {
        self.divisor_ns
    }

    /// Forgets all stamps and keeps the memory.
    pub fn clear(&mut self) {
        let mut stamps = std::mem::take(&mut self.stamps);
        stamps.clear();
        *self = StampBatch { stamps, ..StampBatch::default() };
    }
}
