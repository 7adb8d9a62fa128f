//! The reference dispatcher.
pub mod clock;
pub mod failure;
pub mod gate;
pub mod governor;
pub mod message;
pub mod phases;
pub mod queue;
pub mod retry;
pub mod shutdown;
pub mod signing;
pub mod throttle;
