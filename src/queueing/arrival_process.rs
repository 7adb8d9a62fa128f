//! How messages arrive, as far as a formula needs it.

/// The arrival process.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ArrivalProcess {
    /// One by one and independent of each other.
    Poisson,
    /// One by one, with this squared coefficient of variation of the times between them; 1 is as good as Poisson.
    Renewal {
        /// ca².
        scv: f64,
    },
    /// So many at one moment, the moments independent of each other.
    Batches {
        /// Messages in a batch.
        size: u64,
    },
}

impl ArrivalProcess {
    /// The variance of the number of arrivals in a long time over its mean: 1 for a Poisson stream.
    #[must_use]
    pub fn dispersion(&self) -> f64 {
        match self {
            ArrivalProcess::Poisson => 1.0,
            ArrivalProcess::Renewal { scv } => *scv,
            ArrivalProcess::Batches { size } => *size as f64,
        }
    }

    /// Whether the process is a Poisson stream.
    #[must_use]
    pub fn is_poisson(&self) -> bool {
        match self {
            ArrivalProcess::Poisson => true,
            ArrivalProcess::Renewal { scv } => *scv == 1.0,
            ArrivalProcess::Batches { size } => *size == 1,
        }
    }
}
