//! The `leafline` command: agents' sessions in one store, from a terminal or a script.

#![cfg_attr(test, allow(clippy::unwrap_used, reason = "a test that cannot go on should stop"))]

mod cli;

fn main() -> std::process::ExitCode {
    cli::run()
}
