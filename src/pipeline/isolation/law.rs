//! The law that an attempt is simulated with.

use crate::pipeline::{Class, Partners};
use crate::queueing::ServiceLaw;
use crate::simulate::{Error, Law};
use crate::sizing::ServiceTime;
use crate::units::Seconds;

/// Measured weights are shares; as counts out of so many they keep four digits.
const COUNTS: f64 = 1e9;

/// An attempt to a class: a success, or a failure of its own length. `mean` stretches successes, as of a partner that has
/// become slow.
pub(super) fn attempt(class: &Class, mean: Option<&Seconds>) -> Result<Law, Error> {
    let success = match mean {
        Some(mean) => law(&class.service.stretched_to(mean.clone())),
        None => law(&class.service),
    }?;
    match &class.failure_mean {
        Some(failed) if !class.failure_share.exact().is_zero() => {
            let failing = class.failure_share.get();
            let failed = Law::exponential(failed.get())?;
            if failing >= 1.0 {
                Ok(failed)
            } else {
                Law::mixture(vec![(1.0 - failing, success), (failing, failed)])
            }
        }
        _ => Ok(success),
    }
}

/// The attempts to everybody but one partner, each class with its part of them.
pub(super) fn everyone_else(partners: &Partners, without: usize) -> Result<Option<(f64, Law)>, Error> {
    let mut parts = Vec::with_capacity(partners.classes().len());
    for (index, class) in partners.classes().iter().enumerate() {
        let others = partners.all().iter().enumerate();
        let share: f64 = others
            .filter(|(rank, partner)| *rank != without && partner.class == index)
            .map(|(_, partner)| partner.share)
            .sum();
        if share > 0.0 {
            parts.push((share * partners.attempts_per_delivery(class), attempt(class, None)?));
        }
    }
    let attempts: f64 = parts.iter().map(|(share, _)| share).sum();
    if parts.is_empty() { Ok(None) } else { Law::mixture(parts).map(|law| Some((attempts, law))) }
}

fn law(service: &ServiceTime) -> Result<Law, Error> {
    simulated(&service.law)
}

fn simulated(law: &ServiceLaw) -> Result<Law, Error> {
    match law {
        ServiceLaw::Exponential { mean_s } => Law::exponential(*mean_s),
        ServiceLaw::TwoMoment { mean_s, scv } if *scv == 0.0 => Law::constant(*mean_s),
        ServiceLaw::TwoMoment { mean_s, scv } => Law::lognormal(*mean_s, *scv),
        ServiceLaw::Measured { atoms } => {
            let values: Vec<(f64, u64)> =
                atoms.iter().map(|(value, weight)| (*value, (weight * COUNTS).round() as u64)).collect();
            Law::from_values(&values)
        }
        ServiceLaw::Mixture { parts } => {
            let each = parts.iter().map(|(share, part)| Ok((*share, simulated(part)?)));
            Law::mixture(each.collect::<Result<_, Error>>()?)
        }
    }
}
