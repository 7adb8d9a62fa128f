//! Who is delivered to: partners, large and small, and what their endpoints are like.

use super::share::apportion;
use crate::sizing::{ArrivalProcess, Demand, DemandError, Retries, ServiceTime, attempts_per_message};
use crate::units::{ArrivalRate, Count, Exact, Seconds, Share, human};

/// The most partners that are planned for.
pub const MOST_PARTNERS: u64 = 1_000_000;

/// How far the shares of a list may be from 100%, in per cent of it, so that thirds can be written down.
const SHARES_TOLERANCE_PERCENT: u128 = 1;

/// Partners whose endpoints behave alike.
#[derive(Clone, Debug, PartialEq)]
pub struct Class {
    /// Its name.
    pub name: String,
    /// How long an attempt occupies a worker; that of a successful one where failures have their own mean.
    pub service: ServiceTime,
    /// The share of attempts that fail.
    pub failure_share: Share,
    /// Mean time of a failed attempt, where it differs.
    pub failure_mean: Option<Seconds>,
    /// What a partner of this class accepts.
    pub limits: Limits,
    /// Deliveries of a partner are kept in order within each of so many keys: one in flight a key.
    pub ordered_keys: Option<Count>,
}

/// What a partner accepts.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Limits {
    /// Attempts at the same time.
    pub concurrency: Option<Count>,
    /// Attempts a second.
    pub rate: Option<ArrivalRate>,
}

impl Limits {
    /// These limits, and where one is absent that of `other`.
    #[must_use]
    pub fn or(&self, other: &Limits) -> Limits {
        Limits {
            concurrency: self.concurrency.or(other.concurrency),
            rate: self.rate.clone().or_else(|| other.rate.clone()),
        }
    }
}

/// A partner.
#[derive(Clone, Debug, PartialEq)]
pub struct Partner {
    /// Its name; a partner of a distribution is called by its rank.
    pub name: String,
    /// Its class, as an index.
    pub class: usize,
    /// Its share of all deliveries, between 0 and 1.
    pub share: f64,
    /// Its own limits, before those of its class.
    pub limits: Limits,
}

/// A partner that is listed by name.
#[derive(Clone, Debug, PartialEq)]
pub struct Named {
    /// Its name.
    pub name: String,
    /// Its class, as an index.
    pub class: usize,
    /// Its share of all deliveries.
    pub share: Share,
    /// Its own limits, before those of its class.
    pub limits: Limits,
}

/// Partners that are not listed: how many, and how the rest of the deliveries is spread over them.
#[derive(Clone, Debug, PartialEq)]
pub struct Spread {
    /// How many.
    pub count: Count,
    /// The exponent s of Zipf's law: the partner of rank r gets a share ∝ 1/rˢ (G. K. Zipf 1949). 0 is an equal
    /// share for each.
    pub exponent: f64,
    /// The share of these partners that is of each class, in the order of the classes; they add up to one.
    pub class_shares: Vec<Share>,
}

/// Why partners make no whole.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum PartnersError {
    /// No class.
    #[error("there is no partner class; one says how long an attempt takes")]
    NoClass,
    /// A list without a spread does not add up.
    #[error(
        "the listed partners have {listed} of the deliveries; list them all, or spread the rest with [partners]"
    )]
    DoNotAddUp {
        /// What the list adds up to, as a person reads it.
        listed: String,
    },
    /// A list exceeds the whole, or leaves nothing to spread.
    #[error("the listed partners have {listed} of the deliveries, which leaves nothing for {rest} more")]
    NothingLeft {
        /// What the list adds up to, as a person reads it.
        listed: String,
        /// How many others there should be.
        rest: u64,
    },
    /// Too many.
    #[error("{count} partners are more than the {MOST_PARTNERS} that are planned for")]
    TooMany {
        /// How many.
        count: u64,
    },
}

/// All partners, and how often a delivery is tried.
#[derive(Clone, Debug, PartialEq)]
pub struct Partners {
    classes: Vec<Class>,
    partners: Vec<Partner>,
    max_attempts: u32,
    /// The share of deliveries of each class, in the order of the classes.
    class_shares: Vec<Exact>,
}

impl Partners {
    /// Partners from a list, from a distribution, or from both: the list first, the distribution over the rest.
    /// Without either there is one partner, of the first class.
    ///
    /// # Errors
    /// If there is no class, or the shares make no whole.
    pub fn new(
        classes: Vec<Class>,
        named: Vec<Named>,
        spread: Option<Spread>,
        max_attempts: u32,
    ) -> Result<Self, PartnersError> {
        let first = classes.first().ok_or(PartnersError::NoClass)?;
        let mut partners = match (named.is_empty(), spread) {
            (true, None) => {
                vec![Partner { name: first.name.clone(), class: 0, share: 1.0, limits: Limits::default() }]
            }
            (_, spread) => listed_and_spread(named, spread)?,
        };
        partners.sort_by(|left, right| right.share.total_cmp(&left.share));
        let class_shares = class_shares(classes.len(), &partners);
        Ok(Partners { classes, partners, max_attempts, class_shares })
    }

    /// The classes.
    #[must_use]
    pub fn classes(&self) -> &[Class] {
        &self.classes
    }

    /// The partners, the largest first; at least one.
    #[must_use]
    pub fn all(&self) -> &[Partner] {
        &self.partners
    }

    /// The class of a partner.
    #[must_use]
    pub fn class_of(&self, partner: &Partner) -> Option<&Class> {
        self.classes.get(partner.class)
    }

    /// The share of deliveries of each class, in the order of the classes.
    #[must_use]
    pub fn class_shares(&self) -> &[Exact] {
        &self.class_shares
    }

    /// The share of deliveries that goes to the largest partner.
    #[must_use]
    pub fn largest_share(&self) -> f64 {
        self.partners.first().map_or(1.0, |partner| partner.share)
    }

    /// What failures make of first attempts to a class.
    #[must_use]
    pub fn retries(&self, class: &Class, first_attempt_rate: ArrivalRate) -> Retries {
        Retries {
            first_attempt_rate,
            failure_share: class.failure_share.clone(),
            max_attempts: self.max_attempts,
            failure_mean: class.failure_mean.clone(),
        }
    }

    /// One delivery a second to a class: what an attempt takes, and how many a delivery needs.
    ///
    /// # Errors
    /// If the service time of an attempt is zero or out of range.
    pub fn attempts(&self, class: &Class) -> Result<Demand, DemandError> {
        let one = a_second(Exact::one(), self.max_attempts)?;
        self.retries(class, one).demand(class.service.clone(), ArrivalProcess::Poisson)
    }

    /// Attempts that a delivery to a class takes on average: 1 + retries.
    #[must_use]
    pub fn attempts_per_delivery(&self, class: &Class) -> f64 {
        attempts_per_message(&class.failure_share, self.max_attempts).to_f64()
    }

    /// The share of deliveries to a class that exhaust their attempts: fᴿ.
    #[must_use]
    pub fn dead_letter_share(&self, class: &Class) -> Exact {
        class.failure_share.exact().power(self.max_attempts)
    }

    /// All attempts together, for so many deliveries a second: Σ λ_p S_p (1 + retries), with the variability of the
    /// mix.
    ///
    /// # Errors
    /// If the load is out of range, or zero.
    pub fn demand(&self, deliveries_per_s: &Exact) -> Result<Demand, DemandError> {
        let mut demands = Vec::with_capacity(self.classes.len());
        for (class, share) in self.classes.iter().zip(&self.class_shares) {
            if share.is_zero() {
                continue;
            }
            let rate = a_second(deliveries_per_s * share, self.max_attempts)?;
            demands.push(self.retries(class, rate).demand(class.service.clone(), ArrivalProcess::Poisson)?);
        }
        superpose(demands)
    }
}

/// A rate, or that it is beyond what is accepted.
fn a_second(rate: Exact, attempts: u32) -> Result<ArrivalRate, DemandError> {
    let shown = human::rate(rate.to_f64());
    ArrivalRate::new(rate).ok_or(DemandError::RateTooLarge { rate: shown, attempts })
}

/// Streams of attempts into one queue: rates add up, and the service time is the mix.
fn superpose(demands: Vec<Demand>) -> Result<Demand, DemandError> {
    if let [one] = demands.as_slice() {
        return Ok(one.clone());
    }
    let sum = |of: fn(&Demand) -> Exact| demands.iter().fold(Exact::zero(), |sum, demand| &sum + &of(demand));
    let rate = sum(|demand| demand.rate.exact().clone());
    let load = sum(Demand::load);
    let mean = load.over(&rate).and_then(Seconds::new).ok_or(DemandError::Nothing { what: "rate" })?;
    let second_moment = |demand: &Demand| {
        let mean = demand.service.mean.get();
        demand.rate.get() * mean * mean * (1.0 + demand.service.scv)
    };
    let second_moment = demands.iter().map(second_moment).sum::<f64>() / rate.to_f64();
    let scv = (second_moment / (mean.get() * mean.get()) - 1.0).max(0.0);
    Demand::new(a_second(rate, 1)?, ServiceTime::with_scv(mean, scv), ArrivalProcess::Poisson)
}

fn listed_and_spread(named: Vec<Named>, spread: Option<Spread>) -> Result<Vec<Partner>, PartnersError> {
    let listed = named.iter().fold(Exact::zero(), |sum, partner| &sum + partner.share.exact());
    let in_words = || human::percent(listed.to_f64());
    let rest = Exact::one().minus(&listed);
    let mut partners: Vec<Partner> = named
        .into_iter()
        .map(|partner| Partner {
            name: partner.name,
            class: partner.class,
            share: partner.share.get(),
            limits: partner.limits,
        })
        .collect();
    let Some(spread) = spread else {
        let (low, high) = (100 - SHARES_TOLERANCE_PERCENT, 100 + SHARES_TOLERANCE_PERCENT);
        let percent = &listed * &Exact::whole(100);
        if percent < Exact::whole(low) || percent > Exact::whole(high) {
            return Err(PartnersError::DoNotAddUp { listed: in_words() });
        }
        let whole = listed.to_f64();
        partners.iter_mut().for_each(|partner| partner.share /= whole);
        return Ok(partners);
    };
    let count = spread.count.get();
    if count > MOST_PARTNERS {
        return Err(PartnersError::TooMany { count });
    }
    let Some(rest) = rest.filter(|rest| !rest.is_zero()) else {
        return Err(PartnersError::NothingLeft { listed: in_words(), rest: count });
    };
    let weights: Vec<f64> = (1..=count).map(|rank| (rank as f64).powf(-spread.exponent)).collect();
    let total: f64 = weights.iter().sum();
    let classes = apportion(&spread.class_shares, weights.len());
    let rest = rest.to_f64();
    partners.extend(weights.into_iter().zip(classes).enumerate().map(|(index, (weight, class))| Partner {
        name: format!("rank {}", index + 1),
        class,
        share: rest * weight / total,
        limits: Limits::default(),
    }));
    Ok(partners)
}

/// Each class's share of the deliveries; exactly one where there is one class.
fn class_shares(classes: usize, partners: &[Partner]) -> Vec<Exact> {
    let mut sums = vec![0.0; classes];
    for partner in partners {
        if let Some(sum) = sums.get_mut(partner.class) {
            *sum += partner.share;
        }
    }
    let total: f64 = sums.iter().sum();
    sums.into_iter().map(|sum| Exact::from_f64(sum / total).unwrap_or_else(Exact::zero)).collect()
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    pub(crate) fn class(name: &str, mean: &str) -> Class {
        Class {
            name: name.to_owned(),
            service: ServiceTime::exponential(mean.parse().unwrap()),
            failure_share: "0".parse().unwrap(),
            failure_mean: None,
            limits: Limits::default(),
            ordered_keys: None,
        }
    }

    pub(crate) fn zipf(count: &str, exponent: f64, class_shares: &[&str]) -> Spread {
        let class_shares = class_shares.iter().map(|share| share.parse().unwrap()).collect();
        Spread { count: count.parse().unwrap(), exponent, class_shares }
    }

    fn named(name: &str, share: &str) -> Named {
        Named { name: name.to_owned(), class: 0, share: share.parse().unwrap(), limits: Limits::default() }
    }

    #[test]
    fn a_zipf_law_gives_the_largest_of_400_partners_15_per_cent() {
        let partners =
            Partners::new(vec![class("usual", "300ms")], vec![], Some(zipf("400", 1.0, &["1"])), 1).unwrap();
        // 1/H(400), H(400) = 6.56992969...
        assert!((partners.largest_share() - 1.0 / 6.569_929_69).abs() < 1e-8);
        let sum: f64 = partners.all().iter().map(|partner| partner.share).sum();
        assert!((sum - 1.0).abs() < 1e-12);
        assert_eq!(partners.class_shares(), [Exact::one()]);
    }

    #[test]
    fn listed_partners_come_first_and_the_rest_is_spread() {
        let partners = Partners::new(
            vec![class("usual", "300ms")],
            vec![named("acme", "40%")],
            Some(zipf("3", 0.0, &["1"])),
            1,
        )
        .unwrap();
        let shares: Vec<(&str, f64)> =
            partners.all().iter().map(|partner| (partner.name.as_str(), partner.share)).collect();
        assert_eq!(shares[0], ("acme", 0.4));
        assert!(shares[1..].iter().all(|(_, share)| (share - 0.2).abs() < 1e-15), "{shares:?}");
    }

    #[test]
    fn shares_that_make_no_whole_are_refused() {
        let classes = || vec![class("usual", "1")];
        let new = |named, spread| Partners::new(classes(), named, spread, 1);
        assert!(matches!(new(vec![named("a", "40%")], None), Err(PartnersError::DoNotAddUp { .. })));
        assert!(matches!(
            new(vec![named("a", "1")], Some(zipf("5", 1.0, &["1"]))),
            Err(PartnersError::NothingLeft { rest: 5, .. })
        ));
        assert!(matches!(
            new(vec![], Some(zipf("2M", 1.0, &["1"]))),
            Err(PartnersError::TooMany { count: 2_000_000 })
        ));
        assert_eq!(Partners::new(vec![], vec![], None, 1), Err(PartnersError::NoClass));
        assert!(new(vec![named("a", "33.3%"), named("b", "33.3%"), named("c", "33.3%")], None).is_ok());
    }

    #[test]
    fn one_class_keeps_the_exact_load_and_two_give_the_mix() {
        let rate = &Exact::whole(1_000) * &Exact::one();
        let one = Partners::new(vec![class("usual", "300ms")], vec![], Some(zipf("400", 1.0, &["1"])), 1);
        assert_eq!(one.unwrap().demand(&rate).unwrap().load(), Exact::whole(300));
        // 98 partners at 0.2 s and 2 at 30 s, all of one size: the webhook mix, mean 0.796 s, SCV 55.9405.
        let spread = zipf("100", 0.0, &["98%", "2%"]);
        let mix = Partners::new(vec![class("usual", "200ms"), class("dead", "30s")], vec![], Some(spread), 1);
        let demand = mix.unwrap().demand(&rate).unwrap();
        assert!((demand.service.mean.get() - 0.796).abs() < 1e-12);
        assert!((demand.service.scv - 55.940_481).abs() < 1e-5, "{}", demand.service.scv);
    }

    #[test]
    fn failures_are_tried_again_and_end_as_dead_letters() {
        let failing = Class { failure_share: "50%".parse().unwrap(), ..class("flaky", "1") };
        let partners = Partners::new(vec![failing.clone()], vec![], None, 3).unwrap();
        // 1 + 1/2 + 1/4 attempts a delivery; 1/8 of the deliveries fail three times.
        assert_eq!(partners.demand(&Exact::whole(8)).unwrap().rate, "14".parse().unwrap());
        assert_eq!(partners.dead_letter_share(&failing), Exact::fraction(1, 8).unwrap());
    }
}
