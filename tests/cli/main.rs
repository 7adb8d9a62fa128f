//! The commands as a user runs them: arguments in, text and exit code out.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test may fail by unwrapping")]

mod autoscale;
mod cases;
mod check;
mod diagnose;
mod docs;
mod drain;
mod fleet;
mod gate;
mod help;
mod ingest;
mod ingest_hdr;
mod ingest_honest;
mod ingest_metrics;
mod ingest_percentiles;
mod ingest_tools;
mod layout;
mod manifests;
mod mutated;
mod mutated_plan;
mod pipeline;
mod plan;
mod plot;
mod renderers;
mod schema;
mod simulate;
mod size;
mod size_losses;
mod support;
mod sweep;
mod usage;
mod validate;
