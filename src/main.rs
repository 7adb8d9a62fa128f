//! The `whsize` command: reads the arguments, runs one command, prints its report, and exits with its verdict.

mod cli;

fn main() -> std::process::ExitCode {
    cli::main()
}
