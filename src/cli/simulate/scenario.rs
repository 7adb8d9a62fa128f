//! From what was typed to the scenario that is simulated.

use super::{Args, ArrivalKind, LawKind, Service};
use anyhow::{Result, bail};
use std::fmt;
use whsize::ingest;
use whsize::profile::ServiceProfile;
use whsize::simulate::{Arrivals, Block, Bucket, Class, Law, Retries, Scenario};
use whsize::sizing::ServiceTime;
use whsize::units::{Count, Share};

impl fmt::Display for ArrivalKind {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ArrivalKind::Poisson => formatter.write_str("poisson"),
            ArrivalKind::Batch(size) => write!(formatter, "batches of {size}, poisson"),
            ArrivalKind::Trace(file) => write!(formatter, "as recorded in {file}"),
        }
    }
}

/// The law that is simulated where none is asked for: what was measured, else what the moments suggest.
fn kind(asked: Option<LawKind>, time: &ServiceTime, measured: bool) -> LawKind {
    match asked {
        Some(kind) => kind,
        None if measured => LawKind::Empirical,
        None if time.scv == 1.0 => LawKind::Exponential,
        None if time.scv == 0.0 => LawKind::Constant,
        None => LawKind::Lognormal,
    }
}

pub(super) fn law_name(asked: Option<LawKind>, time: &ServiceTime) -> &'static str {
    let measured = matches!(time.basis, whsize::sizing::Basis::Measured { .. });
    match kind(asked, time, measured) {
        LawKind::Exponential => "exponential",
        LawKind::Constant => "constant",
        LawKind::Lognormal => "lognormal",
        LawKind::Hyperexponential => "hyperexponential",
        LawKind::Empirical => "empirical",
    }
}

/// The law of the service time.
pub(super) fn law(
    asked: Option<LawKind>,
    time: &ServiceTime,
    profile: Option<&ServiceProfile>,
) -> Result<Law> {
    let mean_s = time.mean.get();
    Ok(match (kind(asked, time, profile.is_some()), profile) {
        (LawKind::Exponential, _) => Law::exponential(mean_s)?,
        (LawKind::Constant, _) => Law::constant(mean_s)?,
        (LawKind::Lognormal, _) => Law::lognormal(mean_s, time.scv)?,
        (LawKind::Hyperexponential, _) if time.scv < 1.0 => {
            bail!("a hyperexponential law has an SCV of at least 1; give --scv, or --service lognormal")
        }
        (LawKind::Hyperexponential, _) => Law::hyperexponential(mean_s, time.scv)?,
        (LawKind::Empirical, Some(profile)) => empirical(profile)?,
        (LawKind::Empirical, None) => bail!("--service empirical needs measured times; give --profile FILE"),
    })
}

/// Resamples a profile: its histogram, with its exact mean and second moment.
pub(crate) fn empirical(profile: &ServiceProfile) -> Result<Law> {
    let seconds = |ns: u64| ns as f64 / 1e9;
    let buckets: Vec<Bucket> = profile
        .buckets()
        .map(|bucket| Bucket {
            low_s: seconds(bucket.low_ns),
            high_s: seconds(bucket.high_ns),
            count: bucket.count,
        })
        .collect();
    let mean_s = profile.mean().get();
    Ok(Law::empirical(&buckets, mean_s, Some(mean_s * mean_s * (1.0 + profile.scv())))?)
}

/// The arrivals of the whole pool.
pub(super) fn arrivals(args: &Args, service: &Service) -> Result<Arrivals> {
    if let ArrivalKind::Trace(file) = &args.arrivals {
        if args.rate.is_some() {
            bail!("a trace has its own rate; leave out --rate");
        }
        return Ok(Arrivals::trace(ingest::read_trace(file)?)?);
    }
    let Some(rate) = args.rate.clone().or_else(|| service.busiest_rate()) else {
        bail!("there is no rate; give --rate, such as --rate 900, or --arrivals trace:FILE");
    };
    Ok(match args.arrivals {
        ArrivalKind::Batch(size) => Arrivals::batches(rate.get(), size)?,
        _ => Arrivals::poisson(rate.get())?,
    })
}

/// The pool with everything that was asked for.
pub(super) fn scenario(args: &Args, arrivals: &Arrivals, law: &Law) -> Result<Scenario> {
    let Ok(workers) = u32::try_from(args.workers.get()) else {
        bail!("{} workers are more than can be simulated (ten million)", args.workers);
    };
    let mut scenario = Scenario::plain(workers, arrivals.clone(), law.clone());
    if let Some(share) = &args.priority_share {
        scenario.classes = classes(args, share, arrivals, law)?;
    }
    let class = scenario.classes.len() - 1;
    scenario.blocks =
        args.block.iter().map(|(events, at)| Block { at_s: at.get(), events: *events, class }).collect();
    scenario.patience = args.patience.as_ref().map(|mean| Law::exponential(mean.get())).transpose()?;
    scenario.queue_limit = args.queue_limit.map(Count::get);
    scenario.retries =
        args.failure_share.as_ref().zip(args.max_attempts).map(|(share, max_attempts)| Retries {
            failure_share: share.get(),
            max_attempts,
            delays_s: args.retry_delay.iter().map(|delay| delay.get()).collect(),
            jitter: 0.2,
            failed_service: None,
        });
    Ok(scenario)
}

/// Urgent events and the others, each a stream of its own.
fn classes(args: &Args, share: &Share, arrivals: &Arrivals, law: &Law) -> Result<Vec<Class>> {
    if args.arrivals != ArrivalKind::Poisson {
        bail!("--priority-share splits a poisson stream; leave out --arrivals");
    }
    let rate = arrivals.mean_rate_per_s();
    let class = |name: &str, share: f64| -> Result<Class> {
        let arrivals = Some(Arrivals::poisson(rate * share)?);
        Ok(Class { name: name.to_owned(), arrivals, service: law.clone() })
    };
    Ok(vec![class("urgent", share.get())?, class("others", 1.0 - share.get())?])
}
