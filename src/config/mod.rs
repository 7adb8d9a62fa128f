//! Files that people write: reading TOML so that a slip is found where it stands.
//!
//! A [`Document`] is a file with its text; a [`Table`] hands out its values one by one, each through the parser
//! of its own type, so that `rate = 900`, `rate = "54000/min"` and the option `--rate 54000/min` mean the same,
//! exactly. Every error names file, line and column. A key that nobody asked for is an error with the nearest key
//! that is known.

mod document;
mod error;
mod measured;
mod objectives;
mod overrides;
pub mod pipeline;
pub mod plan;
pub mod prices;
mod service;
mod table;
pub mod trace;

pub use document::Document;
pub use error::ConfigError;
pub use objectives::{headroom, utilisation};
pub use overrides::{Override, Reach};
pub use table::{Placed, Table};
