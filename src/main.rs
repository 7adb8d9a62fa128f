//! The `whsize` command.

fn main() {}
