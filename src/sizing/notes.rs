//! What the reader of a sizing should know, as facts; the words are made in one place.

use super::bounds::NOTABLE_LOSS;
use super::{Basis, Demand, NEVER_SETTLES_S, Objective, PoolSize, Question, Sizing};
use crate::notice::Note;
use crate::units::{Exact, human};

/// A pool with less room than this for a higher rate is called fragile.
const LITTLE_HEADROOM: f64 = 0.05;

/// A queue that takes longer than this to settle, in seconds, is worth a word.
const LONG_RELAXATION_S: f64 = 300.0;

/// N − a below this part of a is within the rounding of floats.
const ROUNDING: f64 = 1e-12;

/// A bootstrap of fewer attempts than this gives intervals that are too narrow.
const FEW_ATTEMPTS: u64 = 30;

/// One remark on a sizing.
#[derive(Clone, Debug, PartialEq)]
pub enum SizingNote {
    /// Only a mean was given, so the service time is taken as exponential.
    ExponentialAssumed,
    /// A small rise of the rate fills the pool.
    Fragile {
        /// The pool.
        workers: u64,
        /// N/a − 1.
        headroom: f64,
        /// The rate at which it is full.
        full_at_per_s: f64,
        /// The workers that would leave ten per cent of headroom.
        workers_with_room: Option<u64>,
    },
    /// The measured or given variability changes the answer of Erlang C.
    VariabilityCounts {
        /// (ca² + cs²)/2.
        variability: f64,
        /// The answer of Erlang C.
        erlang_c_workers: u64,
        /// The mean wait that this pool would really have, in seconds.
        wait_mean_s: f64,
        /// The answer.
        required_workers: u64,
    },
    /// No error is known of the formula in this regime.
    NeedsSimulation,
    /// The answer lies outside the utilisation that sizing guides ask for.
    OutsideTheBand {
        /// The pool.
        workers: u64,
        /// ρ.
        utilisation: f64,
        /// The pools that are 95% and 85% busy.
        band: [u64; 2],
    },
    /// The steady state takes long to come about.
    SlowToSettle {
        /// The time in which a disturbance falls to 1/e, in seconds.
        relaxation_s: f64,
    },
    /// The peak is over before its steady state is there.
    ShortPeak {
        /// Its length, in seconds.
        peak_s: f64,
        /// The time in which a disturbance falls to 1/e, in seconds.
        relaxation_s: f64,
    },
    /// Simulation used up its arrivals before the answer was settled.
    NotSettled {
        /// The pools that it leaves open.
        interval: [u64; 2],
        /// Arrivals simulated.
        arrivals: u64,
    },
    /// The pool keeps its waits by losing a good part of the traffic.
    Loses {
        /// The traffic: that of a scenario, or the steady one.
        scenario: Option<String>,
        /// The share of arrivals that give up.
        abandoned: f64,
        /// The share of arrivals that are turned away.
        turned_away: f64,
        /// Arrivals a second that are lost.
        lost_per_s: f64,
        /// Whether a limit of the losses was asked for.
        limited: bool,
    },
    /// The formula of a bounded queue takes the service time as exponential, which it is not.
    TakenAsExponential {
        /// The squared coefficient of variation that it is taken instead of.
        scv: f64,
    },
    /// Only a mean was given, and the formula of a bounded queue would take no more.
    BoundedExponential,
    /// The given pool has no steady state.
    Overloaded {
        /// The given pool.
        workers: u64,
        /// The smallest stable one.
        smallest_stable: u64,
        /// How fast the queue grows, in messages a second; absent where the pool is exactly the load.
        growth_per_s: Option<f64>,
    },
    /// The pool is the load but for rounding.
    AtTheEdge {
        /// N − a, in erlangs.
        slack: f64,
    },
    /// The rate is that of first attempts, amplified by retries.
    Amplified {
        /// First attempts, and what failures make of them, in words.
        retries: String,
        /// First attempts a second.
        first_attempts_per_s: f64,
        /// All attempts a second.
        rate_per_s: f64,
    },
    /// A scenario's rate counts all attempts, while the steady one is given by first attempts.
    SurgeOfAllAttempts {
        /// The scenario.
        name: String,
        /// Its rate, in attempts a second.
        rate_per_s: f64,
        /// What that rate would be if it were of first attempts.
        amplified_per_s: f64,
    },
    /// The pool does not do for a scenario.
    SurgeMissed {
        /// The scenario.
        name: String,
        /// The pool: the one given, or the one for the steady traffic.
        workers: u64,
        /// Whether the pool was given, and so misses what was asked for.
        given: bool,
        /// How fast the queue grows meanwhile, in messages a second; absent where the pool keeps up.
        growth_per_s: Option<f64>,
        /// The smallest pool that meets the objectives in the scenario.
        required_workers: u64,
    },
    /// So few attempts were measured that the interval of the answer is too narrow.
    FewAttempts {
        /// Attempts measured.
        attempts: u64,
    },
    /// The given pool misses an objective.
    Missed {
        /// The objective in words.
        objective: String,
        /// The smallest pool that meets it.
        workers: u64,
    },
    /// The sample leaves the answer open within an interval.
    Interval {
        /// The fewest and the most workers.
        interval: [u64; 2],
        /// Attempts measured.
        attempts: u64,
        /// The confidence, between 0 and 1.
        confidence: f64,
    },
}

impl SizingNote {
    /// Remarks on a peak of `peak_s` seconds, where it is shorter than three times the `relaxation_s` of its queue:
    /// until then a twentieth of the way is still to go.
    #[must_use]
    pub fn short_peak(peak_s: f64, relaxation_s: f64) -> Option<Self> {
        (peak_s < 3.0 * relaxation_s).then_some(SizingNote::ShortPeak { peak_s, relaxation_s })
    }

    /// Every remark that applies.
    #[must_use]
    pub(super) fn all(question: &Question, sizing: &Sizing) -> Vec<Self> {
        let steady = &sizing.steady;
        let mut notes = verdict(question, steady);
        notes.extend(losses(question, sizing));
        notes.extend(surges(question, sizing));
        notes.extend(edge(question, steady));
        notes.extend(fragility(question, steady));
        notes.extend(variability(question, steady));
        notes.extend(band(question, steady));
        if let Some(refined) = steady.refined.as_ref().filter(|refined| !refined.settled) {
            notes.push(SizingNote::NotSettled {
                interval: refined.workers_interval,
                arrivals: refined.arrivals,
            });
        }
        if let Some(relaxation_s) =
            steady.state.relaxation_time_s.filter(|&seconds| seconds > LONG_RELAXATION_S)
        {
            notes.push(SizingNote::SlowToSettle { relaxation_s });
        }
        if let (Some(interval), Some(sample), Basis::Measured { attempts }) =
            (steady.workers_interval, &question.sample, question.demand.service.basis)
        {
            notes.push(SizingNote::Interval { interval, attempts, confidence: sample.confidence.get() });
            if attempts < FEW_ATTEMPTS {
                notes.push(SizingNote::FewAttempts { attempts });
            }
        }
        if let Some(retries) = &question.demand.retries {
            notes.push(SizingNote::Amplified {
                retries: retries.in_words(),
                first_attempts_per_s: retries.first_attempt_rate.get(),
                rate_per_s: question.demand.rate.get(),
            });
        }
        notes.extend(surges_of_all_attempts(question));
        notes.extend(assumption(&question.demand, steady));
        notes
    }
}

fn verdict(question: &Question, steady: &PoolSize) -> Vec<SizingNote> {
    if !steady.state.stable {
        return vec![SizingNote::Overloaded {
            workers: steady.workers,
            smallest_stable: steady.smallest_stable_workers,
            growth_per_s: growth_per_s(&question.demand, steady.workers),
        }];
    }
    let missed = steady.constraints.iter().filter(|constraint| !constraint.met);
    missed
        .map(|constraint| SizingNote::Missed {
            objective: constraint.asked.in_words(),
            workers: constraint.workers,
        })
        .collect()
}

/// The traffic, steady or of a scenario, of which more than a per cent is lost.
fn losses(question: &Question, sizing: &Sizing) -> Vec<SizingNote> {
    let scenarios = question.scenarios.iter().zip(&sizing.scenarios);
    let scenarios = scenarios.map(|(scenario, size)| (Some(&scenario.name), &scenario.demand, &size.size));
    let all = std::iter::once((None, &question.demand, &sizing.steady)).chain(scenarios);
    let lossy = all.filter_map(|(name, demand, size)| {
        let lost = size.state.lost_share().filter(|&lost| lost > NOTABLE_LOSS)?;
        Some(SizingNote::Loses {
            scenario: name.cloned(),
            abandoned: size.state.abandonment_share.unwrap_or(0.0),
            turned_away: size.state.loss_share.unwrap_or(0.0),
            lost_per_s: lost * demand.rate.get(),
            limited: question.objectives.iter().any(|asked| matches!(asked, Objective::MaxLost(_))),
        })
    });
    lossy.collect()
}

/// What is assumed of the service time.
fn assumption(demand: &Demand, steady: &PoolSize) -> Option<SizingNote> {
    let assumed = demand.service.basis == Basis::ExponentialAssumed;
    match (demand.bounds.is_any(), steady.model_error) {
        (false, _) => assumed.then_some(SizingNote::ExponentialAssumed),
        (true, None) => Some(SizingNote::TakenAsExponential { scv: demand.service.scv }),
        // Without a place to wait only the mean counts.
        (true, Some(_)) => {
            (assumed && demand.bounds.queue_limit != Some(0)).then_some(SizingNote::BoundedExponential)
        }
    }
}

/// λ − N/S, from the exact load; `None` unless it is more than zero.
fn growth_per_s(demand: &Demand, workers: u64) -> Option<f64> {
    let excess = demand.load().minus(&Exact::whole(workers.into()))?;
    let growth = excess.over(demand.service.mean.exact())?;
    (!growth.is_zero()).then(|| growth.to_f64())
}

/// The scenarios with a rate of their own, where the steady rate was given by first attempts.
fn surges_of_all_attempts(question: &Question) -> Vec<SizingNote> {
    let Some(retries) = &question.demand.retries else { return Vec::new() };
    let amplification = retries.amplification().to_f64();
    let own_rate = question.scenarios.iter().filter(|surge| surge.demand.rate != question.demand.rate);
    own_rate
        .map(|surge| SizingNote::SurgeOfAllAttempts {
            name: surge.name.clone(),
            rate_per_s: surge.demand.rate.get(),
            amplified_per_s: surge.demand.rate.get() * amplification,
        })
        .collect()
}

/// The scenarios for which the pool does not do. Where it was not given, it is the one for the steady traffic.
fn surges(question: &Question, sizing: &Sizing) -> Vec<SizingNote> {
    let workers = sizing.steady.workers;
    let missed = question.scenarios.iter().zip(&sizing.scenarios);
    let missed = missed.filter(|(_, size)| size.size.required_workers > workers);
    missed
        .map(|(scenario, size)| SizingNote::SurgeMissed {
            name: scenario.name.clone(),
            workers,
            given: question.workers.is_some(),
            // What cannot be served is lost, and no queue grows.
            growth_per_s: growth_per_s(&scenario.demand, workers)
                .filter(|_| !scenario.demand.bounds.is_any()),
            required_workers: size.size.required_workers,
        })
        .collect()
}

/// Floats no longer tell such a pool from its load, and no measurement does.
fn edge(question: &Question, steady: &PoolSize) -> Option<SizingNote> {
    if question.demand.bounds.is_any() {
        return None;
    }
    let load = question.demand.load();
    let slack = Exact::whole(steady.workers.into()).minus(&load)?.to_f64();
    (steady.state.stable && slack < ROUNDING * load.to_f64()).then_some(SizingNote::AtTheEdge { slack })
}

fn fragility(question: &Question, steady: &PoolSize) -> Option<SizingNote> {
    let headroom = steady.state.rate_headroom_ratio;
    let grows = steady.state.stable && !question.demand.bounds.is_any();
    (grows && headroom < LITTLE_HEADROOM).then(|| SizingNote::Fragile {
        workers: steady.workers,
        headroom,
        full_at_per_s: steady.workers as f64 / question.demand.service.mean.get(),
        workers_with_room: (&question.demand.load() * &Exact::thousandths(1_100)).ceil(),
    })
}

fn variability(question: &Question, steady: &PoolSize) -> Vec<SizingNote> {
    let mut notes = Vec::new();
    if question.demand.bounds.is_any() {
        return notes;
    }
    let textbook = steady.comparison.iter().find(|row| row.workers == steady.erlang_c_workers);
    if let Some(wait_mean_s) = textbook.and_then(|row| row.wait_mean_s)
        && steady.erlang_c_workers != steady.required_workers
    {
        notes.push(SizingNote::VariabilityCounts {
            variability: question.demand.variability(),
            erlang_c_workers: steady.erlang_c_workers,
            wait_mean_s,
            required_workers: steady.required_workers,
        });
    }
    if steady.model_error.is_none() && steady.refined.is_none() {
        notes.push(SizingNote::NeedsSimulation);
    }
    notes
}

/// Said only where no utilisation was asked for: whoever asks for one has decided.
fn band(question: &Question, steady: &PoolSize) -> Option<SizingNote> {
    let asked = question.objectives.iter().any(|objective| matches!(objective, Objective::MaxUtilisation(_)));
    let band = steady.utilisation_band_workers?;
    (!asked && steady.state.stable && steady.workers < band[0]).then_some(SizingNote::OutsideTheBand {
        workers: steady.workers,
        utilisation: steady.state.utilisation,
        band,
    })
}

impl From<&SizingNote> for Note {
    fn from(note: &SizingNote) -> Note {
        match note {
            SizingNote::ExponentialAssumed => Note::info(
                "exponential-assumed",
                "only a mean was given, so exponential service times are assumed",
            )
            .with_hint("real attempts with a timeout tail wait several times longer: measure them and pass --profile"),
            SizingNote::Loses { scenario, abandoned, turned_away, lost_per_s, limited } => {
                let during = scenario.as_ref().map_or_else(String::new, |name| format!(" in \"{name}\""));
                let parts = match (*abandoned > 0.0, *turned_away > 0.0) {
                    (true, true) => format!(
                        " ({} give up, {} are turned away)",
                        human::percent(*abandoned),
                        human::percent(*turned_away)
                    ),
                    (false, _) => " to a full queue".to_owned(),
                    (true, false) => " to impatience".to_owned(),
                };
                let message = format!(
                    "{} of all arrivals are lost{during}, {}{parts}: the waits are those of a queue that sheds its load",
                    human::percent(abandoned + turned_away),
                    human::rate(*lost_per_s),
                );
                let note = Note::warning("arrivals-lost", message);
                if *limited { note } else { note.with_hint("ask for --max-lost 1%") }
            }
            SizingNote::TakenAsExponential { scv } => Note::warning(
                "taken-as-exponential",
                format!(
                    "the formula of a bounded queue knows exponential service times only: of these (SCV {}) just the mean \
                     counts, and {}",
                    human::significant(*scv, 3),
                    if *scv > 1.0 { "more is lost than it says" } else { "less may be lost than it says" }
                ),
            )
            .with_hint("whsize simulate takes their law, with the same --patience and --queue-limit"),
            SizingNote::BoundedExponential => Note::info(
                "exponential-assumed",
                "only a mean was given, so exponential service times are assumed",
            )
            .with_hint(
                "whsize simulate takes measured ones with --profile, and the same --patience and --queue-limit",
            ),
            SizingNote::Fragile { workers, headroom, full_at_per_s, workers_with_room } => {
                let note = Note::warning(
                    "fragile",
                    format!(
                        "{} {} full at {}, a rise of {}; beyond it the queue grows without end",
                        human::counted(*workers, "worker"),
                        human::verb(*workers, "is", "are"),
                        human::rate_to(*full_at_per_s, 5),
                        human::percent(*headroom)
                    ),
                );
                match workers_with_room {
                    Some(room) => note.with_hint(format!(
                        "ask for --headroom 10%: {}",
                        human::counted(*room, "worker")
                    )),
                    None => note,
                }
            }
            SizingNote::VariabilityCounts { variability, erlang_c_workers, wait_mean_s, required_workers } => {
                Note::info(
                    "variability-counts",
                    format!(
                        "Erlang C alone says {}; with a variability of {} times the exponential they would wait {} on \
                         average, so {} it is",
                        human::counted(*erlang_c_workers, "worker"),
                        human::significant(*variability, 3),
                        human::duration(*wait_mean_s),
                        human::count(*required_workers),
                    ),
                )
            }
            SizingNote::NeedsSimulation => Note::warning(
                "needs-simulation",
                "the error of the formula is not known for such arrivals and service times",
            )
            .with_hint("let --refine settle it by simulation"),
            SizingNote::OutsideTheBand { workers, utilisation, band } => Note::info(
                "busier-than-guides-advise",
                format!(
                    "{} {} {} busy; sizing guides advise 85% to 95% at the peak, which is {}",
                    human::counted(*workers, "worker"),
                    human::verb(*workers, "is", "are"),
                    human::percent(*utilisation),
                    human::counted_range(*band, "worker")
                ),
            )
            .with_hint("ask for --max-utilisation 95% to have it bind"),
            SizingNote::SlowToSettle { relaxation_s } if *relaxation_s > NEVER_SETTLES_S => Note::warning(
                "slow-to-settle",
                "the queue practically never settles: these waits are those of a steady state that no real peak sees",
            ),
            SizingNote::SlowToSettle { relaxation_s } => Note::info(
                "slow-to-settle",
                format!(
                    "the queue needs about {} to settle; a shorter peak never sees these waits",
                    human::duration(*relaxation_s)
                ),
            ),
            SizingNote::ShortPeak { peak_s, relaxation_s } => Note::info(
                "peak-shorter-than-relaxation",
                format!(
                    "a peak of {} is over before the queue settles, which takes about {}: its waits stay below these \
                     if it starts from an idle pool",
                    human::duration(*peak_s),
                    human::duration(3.0 * relaxation_s)
                ),
            ),
            SizingNote::NotSettled { interval: [low, high], arrivals } => Note::warning(
                "not-settled",
                format!(
                    "{} leave the pool open between {} and {} workers",
                    human::counted(*arrivals, "simulated arrival"),
                    human::count(*low),
                    human::count(*high)
                ),
            )
            .with_hint("a lower --confidence asks for less, and --headroom makes the pool less sensitive"),
            SizingNote::Overloaded { workers, smallest_stable, growth_per_s } => Note::error(
                "overloaded",
                match growth_per_s {
                    Some(growth) => format!(
                        "{} cannot keep up: the queue grows by {}, without end",
                        human::counted(*workers, "worker"),
                        human::rate(*growth)
                    ),
                    None => format!(
                        "{} {} busy all the time and never {} up: the queue has no steady state",
                        human::counted(*workers, "worker"),
                        human::verb(*workers, "is", "are"),
                        human::verb(*workers, "catches", "catch"),
                    ),
                },
            )
            .with_hint(format!("{} is the smallest pool that keeps up", human::count(*smallest_stable))),
            SizingNote::AtTheEdge { slack } => Note::warning(
                "at-the-edge",
                format!(
                    "the pool exceeds its load by {} erlangs, which is within the rounding of numbers, not a margin",
                    human::significant(*slack, 2)
                ),
            ),
            SizingNote::Amplified { retries, first_attempts_per_s, rate_per_s } => Note::info(
                "retries-amplified",
                format!(
                    "retries make {} of {} first attempts: {retries}",
                    human::rate(*rate_per_s),
                    human::rate(*first_attempts_per_s),
                ),
            ),
            SizingNote::SurgeOfAllAttempts { name, rate_per_s, amplified_per_s } => Note::warning(
                "surge-of-all-attempts",
                format!(
                    "the {} of \"{name}\" are all its attempts, as with --rate; so many first attempts would make {}",
                    human::rate(*rate_per_s),
                    human::rate(*amplified_per_s)
                ),
            )
            .with_hint("give the rate of all attempts"),
            SizingNote::SurgeMissed { name, workers, given, growth_per_s, required_workers } => {
                let pool = human::counted(*workers, "worker");
                let message = match growth_per_s {
                    Some(growth) => format!(
                        "{pool} cannot keep up with \"{name}\": the queue grows by {} while it lasts",
                        human::rate(*growth)
                    ),
                    None => format!(
                        "{pool} {} the objectives in \"{name}\"",
                        human::verb(*workers, "misses", "miss")
                    ),
                };
                let note = if *given {
                    Note::error("surge-missed", message)
                } else {
                    Note::warning("surge-missed", message)
                };
                note.with_hint(format!("it takes {}", human::counted(*required_workers, "worker")))
            }
            SizingNote::FewAttempts { attempts } => Note::warning(
                "few-attempts",
                format!(
                    "an interval from {} is narrower than what is really unknown",
                    human::counted(*attempts, "measured attempt")
                ),
            )
            .with_hint(format!("measure at least {FEW_ATTEMPTS}, and some that ran into the timeout")),
            SizingNote::Missed { objective, workers } => {
                Note::error("objective-missed", format!("the pool misses its objective: {objective}"))
                    .with_hint(format!("it takes {}", human::counted(*workers, "worker")))
            }
            SizingNote::Interval { interval, attempts, confidence } => Note::info(
                "sample-interval",
                format!(
                    "{} {} the answer at {} ({} confidence)",
                    human::counted(*attempts, "measured attempt"),
                    human::verb(*attempts, "leaves", "leave"),
                    human::counted_range(*interval, "worker"),
                    human::percent(*confidence)
                ),
            )
            // Its width falls with the square root of the number of attempts.
            .with_hint(format!(
                "{} more would halve the interval",
                human::counted(attempts.saturating_mul(3), "attempt")
            )),
        }
    }
}
