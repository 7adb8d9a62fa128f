//! What arrives, and how long each arrival occupies a worker.

use super::QueueBounds;
use crate::profile::ServiceProfile;
use crate::queueing::{ArrivalProcess, ServiceLaw, ServiceShape, WaitModel};
use crate::units::{ArrivalRate, Exact, Seconds, Share, human};

/// The largest offered load that is answered, in erlangs. Ten billion busy workers are a slip in a unit.
pub(super) const LARGEST_LOAD: u128 = 10_000_000_000;

/// Where the service time comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Basis {
    /// Only a mean was given: an exponential law is assumed.
    ExponentialAssumed,
    /// A mean and its variability were given.
    MomentsGiven,
    /// Measured attempts, as many as stated.
    Measured {
        /// How many attempts were measured.
        attempts: u64,
    },
}

/// How long an attempt occupies a worker, from lease to acknowledgement.
#[derive(Clone, Debug, PartialEq)]
pub struct ServiceTime {
    /// The mean, exact, more than zero.
    pub mean: Seconds,
    /// The squared coefficient of variation: variance over mean squared; 1 for an exponential law.
    pub scv: f64,
    /// What is known of the law.
    pub law: ServiceLaw,
    /// Where it comes from.
    pub basis: Basis,
}

impl ServiceTime {
    /// Only the mean is known: an exponential law is assumed.
    #[must_use]
    pub fn exponential(mean: Seconds) -> Self {
        let law = ServiceLaw::Exponential { mean_s: mean.get() };
        ServiceTime { mean, scv: 1.0, law, basis: Basis::ExponentialAssumed }
    }

    /// Mean and squared coefficient of variation are known.
    #[must_use]
    pub fn with_scv(mean: Seconds, scv: f64) -> Self {
        let mean_s = mean.get();
        let law = if scv == 1.0 {
            ServiceLaw::Exponential { mean_s }
        } else {
            ServiceLaw::TwoMoment { mean_s, scv }
        };
        ServiceTime { mean, scv, law, basis: Basis::MomentsGiven }
    }

    /// Measured: the exact mean and SCV, and the law as the histogram has it.
    #[must_use]
    pub fn from_profile(profile: &ServiceProfile) -> Self {
        let attempts = profile.count();
        let atoms = values(profile).map(|(value, count)| (value, count as f64 / attempts as f64)).collect();
        ServiceTime {
            mean: profile.mean(),
            scv: profile.scv(),
            law: ServiceLaw::Measured { atoms },
            basis: Basis::Measured { attempts },
        }
    }

    /// The same law stretched to another mean, as in an outage that slows every endpoint alike.
    #[must_use]
    pub fn stretched_to(&self, mean: Seconds) -> Self {
        let law = self.law.scaled(mean.get() / self.mean.get());
        ServiceTime { mean, scv: self.scv, law, basis: self.basis }
    }
}

/// The measured values in seconds with their counts, rising; each stands for a bucket of 0.1% width.
pub(super) fn values(profile: &ServiceProfile) -> impl Iterator<Item = (f64, u64)> + '_ {
    profile
        .buckets()
        .map(|bucket| (f64::midpoint(bucket.low_ns as f64, bucket.high_ns as f64) / 1e9, bucket.count))
}

/// The traffic that a pool must carry.
#[derive(Clone, Debug, PartialEq)]
pub struct Demand {
    /// All attempts a second, retries included.
    pub rate: ArrivalRate,
    /// How long each occupies a worker.
    pub service: ServiceTime,
    /// How the attempts arrive.
    pub arrivals: ArrivalProcess,
    /// The first attempts and their failures behind the rate, where it was not measured at the queue.
    pub retries: Option<Retries>,
    /// How long an attempt waits before it gives up, and how many can wait.
    pub bounds: QueueBounds,
    /// How a pool waits under this traffic, kept because it remembers what it solved.
    model: WaitModel,
}

/// Why a demand cannot be sized.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DemandError {
    /// λS is beyond ten billion erlangs.
    #[error(
        "{rate} at {mean} each is an offered load of more than 10 billion erlangs; check the units of the rate and \
         of the service time"
    )]
    LoadTooLarge {
        /// The rate, as a person reads it.
        rate: String,
        /// The mean service time, as a person reads it.
        mean: String,
    },
    /// The rate or the service time is zero.
    #[error("the {what} is zero: a pool that has nothing to do needs no size; give one above zero")]
    Nothing {
        /// Which of the two.
        what: &'static str,
    },
    /// Bursts together with patience or a queue limit.
    #[error(
        "the formulas for patience and for a queue limit hold for single arrivals at random, and bursts are what fills a \
         bounded queue; simulate them: whsize simulate --arrivals batch:N --patience D --queue-limit N"
    )]
    BurstyAndBounded,
    /// Retries lead to a rate beyond what is accepted.
    #[error("{attempts} attempts at most of {rate} first attempts is more than a trillion attempts a second")]
    RateTooLarge {
        /// First attempts a second, as a person reads it.
        rate: String,
        /// The most attempts of one message.
        attempts: u32,
    },
}

impl Demand {
    /// A demand with a load that can be answered.
    ///
    /// # Errors
    /// If the rate or the mean is zero, or the load beyond ten billion erlangs.
    pub fn new(
        rate: ArrivalRate,
        service: ServiceTime,
        arrivals: ArrivalProcess,
    ) -> Result<Self, DemandError> {
        check(&rate, &service.mean)?;
        let model = WaitModel::new(ServiceShape::of(&service.law, service.scv), arrivals);
        Ok(Demand { rate, service, arrivals, retries: None, bounds: QueueBounds::default(), model })
    }

    /// The same traffic, of which some may give up or be turned away.
    ///
    /// # Errors
    /// If the arrivals are no Poisson stream: a bounded queue stands or falls with bursts, which its formulas do not know.
    pub fn bounded(self, bounds: QueueBounds) -> Result<Self, DemandError> {
        if bounds.is_any() && !self.arrivals.is_poisson() {
            return Err(DemandError::BurstyAndBounded);
        }
        let model = self.model.bounded(bounds.of_the_wait());
        Ok(Demand { bounds, model, ..self })
    }

    /// The offered load a = λS, in erlangs, exact (J. D. C. Little 1961: the mean number of busy workers).
    #[must_use]
    pub fn load(&self) -> Exact {
        self.rate.offered_load(&self.service.mean)
    }

    /// (ca² + cs²)/2, the factor of the mean wait over that of Erlang C as the pool saturates.
    #[must_use]
    pub fn variability(&self) -> f64 {
        f64::midpoint(self.arrivals.dispersion(), self.service.scv)
    }

    /// The shape of the service law.
    #[must_use]
    pub fn shape(&self) -> ServiceShape {
        self.model.shape()
    }

    /// How a pool waits under this traffic.
    #[must_use]
    pub fn wait_model(&self) -> &WaitModel {
        &self.model
    }

    /// The same traffic at another rate.
    ///
    /// # Errors
    /// As [`Demand::new`].
    pub fn at_rate(&self, rate: ArrivalRate) -> Result<Self, DemandError> {
        check(&rate, &self.service.mean)?;
        Ok(Demand { rate, retries: None, ..self.clone() })
    }
}

/// Refuses a load that has no answer.
fn check(rate: &ArrivalRate, mean: &Seconds) -> Result<(), DemandError> {
    if rate.is_zero() {
        return Err(DemandError::Nothing { what: "rate" });
    }
    if mean.is_zero() {
        return Err(DemandError::Nothing { what: "mean service time" });
    }
    if rate.offered_load(mean) > Exact::whole(LARGEST_LOAD) {
        return Err(DemandError::LoadTooLarge { rate: rate.to_string(), mean: mean.to_string() });
    }
    Ok(())
}

/// First attempts, and what failures make of them.
#[derive(Clone, Debug, PartialEq)]
pub struct Retries {
    /// First attempts a second.
    pub first_attempt_rate: ArrivalRate,
    /// The share of attempts that fail.
    pub failure_share: Share,
    /// The most attempts of one message, the first included.
    pub max_attempts: u32,
    /// Mean time that a failed attempt occupies a worker, if it differs from that of a successful one.
    pub failure_mean: Option<Seconds>,
}

/// How many attempts a message takes on average where a share f of attempts fails and a message gets at most R:
/// 1 + f + … + fᴿ⁻¹ = (1−fᴿ)/(1−f), and R at f = 1.
#[must_use]
pub fn attempts_per_message(failure_share: &Share, max_attempts: u32) -> Exact {
    let failing = failure_share.exact();
    // Horner's rule needs no case for f = 1.
    (1..max_attempts).fold(Exact::one(), |sum, _| &Exact::one() + &(failing * &sum))
}

impl Retries {
    /// How many attempts a message takes on average.
    #[must_use]
    pub fn amplification(&self) -> Exact {
        attempts_per_message(&self.failure_share, self.max_attempts)
    }

    /// The demand of all attempts. `service` is the service time of an attempt; where failures have their own
    /// mean, it is that of a successful one, and the failures are mixed in as exponential.
    ///
    /// # Errors
    /// If the amplified rate or load is out of range.
    pub fn demand(&self, service: ServiceTime, arrivals: ArrivalProcess) -> Result<Demand, DemandError> {
        let rate =
            ArrivalRate::new(self.first_attempt_rate.exact() * &self.amplification()).ok_or_else(|| {
                DemandError::RateTooLarge {
                    rate: self.first_attempt_rate.to_string(),
                    attempts: self.max_attempts,
                }
            })?;
        let service = match &self.failure_mean {
            Some(failure_mean) if !self.failure_share.exact().is_zero() => {
                self.mixed(&service, failure_mean).unwrap_or(service)
            }
            _ => service,
        };
        Ok(Demand { retries: Some(self.clone()), ..Demand::new(rate, service, arrivals)? })
    }

    fn mixed(&self, success: &ServiceTime, failure_mean: &Seconds) -> Option<ServiceTime> {
        let failing = self.failure_share.exact();
        let succeeding = Exact::one().minus(failing)?;
        let mean = Seconds::new(&(&succeeding * success.mean.exact()) + &(failing * failure_mean.exact()))?;
        let parts = vec![
            (succeeding.to_f64(), success.law.clone()),
            (failing.to_f64(), ServiceLaw::Exponential { mean_s: failure_mean.get() }),
        ];
        let square = |mean: f64, scv: f64| mean * mean * (1.0 + scv);
        let second_moment = succeeding.to_f64() * square(success.mean.get(), success.scv)
            + failing.to_f64() * square(failure_mean.get(), 1.0);
        let scv = second_moment / (mean.get() * mean.get()) - 1.0;
        let law = ServiceLaw::Mixture { parts };
        Some(ServiceTime { mean, scv: scv.max(0.0), law, basis: Basis::MomentsGiven })
    }

    /// The amplification in words: what fails, how often it is tried, and what that makes of a message.
    #[must_use]
    pub fn in_words(&self) -> String {
        let failed = match &self.failure_mean {
            Some(mean) => format!(", a failed one after {mean} on average"),
            None => String::new(),
        };
        format!(
            "{} of attempts fail{failed}, and a message gets at most {}: {} on average",
            self.failure_share,
            human::counted(self.max_attempts.into(), "attempt"),
            human::quantity(self.amplification().to_f64(), "attempt")
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn retries(rate: &str, share: &str, max_attempts: u32) -> Retries {
        Retries {
            first_attempt_rate: rate.parse().unwrap(),
            failure_share: share.parse().unwrap(),
            max_attempts,
            failure_mean: None,
        }
    }

    #[test]
    fn retries_amplify_by_the_geometric_sum_and_by_r_when_all_fail() {
        assert_eq!(
            retries("100", "0.5", 3).amplification(),
            "1.75".parse::<crate::units::Ratio>().unwrap().exact().clone()
        );
        assert_eq!(retries("100", "0", 8).amplification(), Exact::one());
        assert_eq!(retries("100", "1", 8).amplification(), Exact::whole(8));
        let demand = retries("900", "20%", 2)
            .demand(ServiceTime::exponential("1.4".parse().unwrap()), ArrivalProcess::Poisson)
            .unwrap();
        assert_eq!(demand.rate, "1080".parse().unwrap());
    }

    #[test]
    fn slow_failures_raise_the_mean_and_the_variability() {
        let failing = Retries { failure_mean: Some("30".parse().unwrap()), ..retries("10", "2%", 1) };
        let demand = failing
            .demand(ServiceTime::exponential("0.2".parse().unwrap()), ArrivalProcess::Poisson)
            .unwrap();
        // The webhook mix of the oracle: 98% exponential at 0.2 s and 2% at 30 s.
        assert_eq!(demand.service.mean, "0.796".parse().unwrap());
        assert!((demand.service.scv - 55.940_481_301).abs() < 1e-8, "{}", demand.service.scv);
        let beyond = demand.service.law.share_beyond(10.0);
        let expected = 0.98 * f64::exp(-50.0) + 0.02 * f64::exp(-1.0 / 3.0);
        assert!((beyond - expected).abs() < 1e-12, "the two laws stay apart: {beyond}");
        assert_eq!(demand.retries, Some(failing), "what was amplified is kept");
    }

    #[test]
    fn a_load_that_is_a_slip_of_the_unit_is_refused() {
        let slow = ServiceTime::exponential("1d".parse().unwrap());
        assert!(matches!(
            Demand::new("1e9".parse().unwrap(), slow.clone(), ArrivalProcess::Poisson),
            Err(DemandError::LoadTooLarge { .. })
        ));
        assert_eq!(
            Demand::new("0".parse().unwrap(), slow, ArrivalProcess::Poisson),
            Err(DemandError::Nothing { what: "rate" })
        );
    }
}
