//! Queues in virtual time: what a pool of workers does with the service times that were measured.
//!
//! This module knows no queueing formula. It is what the formulas of `queueing` are checked against, so the two share no
//! code; and it answers what has no formula: measured service times near saturation, endpoints with a capacity of their
//! own, a day whose rate varies.
//!
//! | question | entry |
//! | --- | --- |
//! | what does this pool do? | [`simulate`] a [`Scenario`] as a [`Run`] says → [`Simulated`] |
//! | which is the smallest pool that keeps a goal? | [`refine()`] a [`Goal`] as a [`Search`] says → [`Refined`] |
//!
//! # Engines
//!
//! A plain queue (one class, first come first served, nothing fails) is run by the recursion over the servers' free times,
//! at tens of millions of arrivals a second; everything else by a list of events, at a few millions. On the plain queue both
//! give the same waits from the same seed.
//!
//! # Random numbers
//!
//! All numbers come from the seed, by streams that depend on the replication, the class and the purpose alone. So a result
//! is the same for any number of threads, and pools of different sizes see the same arrivals and service times. Logarithms
//! and exponentials are pure Rust, so platforms agree too.
//!
//! # Example
//!
//! Twelve workers, ten arrivals a second of 1 s: Erlang C says a mean wait of 0.2247 s, and P(W>0) = 0.4494.
//!
//! ```
//! use whsize::simulate::{Arrivals, Horizon, Law, Run, Scenario, simulate};
//!
//! let scenario = Scenario::plain(12, Arrivals::poisson(10.0)?, Law::exponential(1.0)?);
//! let result = simulate(&scenario, &Run::new(Horizon::Seconds(2_000.0)))?;
//! let [low, high] = result.wait_mean_interval_s.expect("there are twenty replications");
//! assert!(low < 0.2247 && 0.2247 < high);
//! assert!((result.wait_probability - 0.4494).abs() < 0.02);
//! # Ok::<(), whsize::simulate::Error>(())
//! ```

mod arrivals;
mod empirical;
mod error;
mod events;
mod feed;
mod histogram;
mod interval;
mod law;
mod outcome;
mod recursion;
mod refine;
mod run;
mod scenario;
mod servers;
mod stream;
mod stretch;
mod tally;
mod warm_up;
mod ziggurat;

pub use arrivals::{Arrivals, RateInterval};
pub use empirical::Bucket;
pub use error::Error;
pub use law::Law;
pub use outcome::{BlockOutcome, ClassOutcome, Method, Part, Simulated, WaitQuantile};
pub use refine::{Candidate, Goal, QuantileGoal, Refined, Search, Window, refine};
pub use run::{Run, simulate, simulate_by_events};
pub use scenario::{Block, Class, Endpoints, Retries, Scenario};
pub use servers::Servers;
pub use stretch::Horizon;
pub use warm_up::WarmUp;
