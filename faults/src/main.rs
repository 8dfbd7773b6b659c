//! `leafline-faults`: damages stores, and says what came of it.

use std::process::ExitCode;

use clap::{Parser, Subcommand};
use leafline_faults::pages;

/// Damage stores on purpose and compare what they answer with what is true.
#[derive(Debug, Parser)]
#[command(name = "leafline-faults", disable_version_flag = true)]
struct Arguments {
    #[command(subcommand)]
    fault: Fault,
}

#[derive(Debug, Subcommand)]
enum Fault {
    /// Flipped bits, and pages that are zeroed, stale, swapped or cut off
    Pages {
        /// The runs: the same seed gives the same ones
        #[arg(long, default_value_t = 1)]
        seed: u64,
        /// How many
        #[arg(long, default_value_t = 1000)]
        runs: u64,
        /// Also print why each store that was not opened was not
        #[arg(short, long)]
        verbose: bool,
    },
}

fn main() -> ExitCode {
    let Fault::Pages { seed, runs, verbose } = Arguments::parse().fault;
    let report = pages::run(seed, runs);
    println!(
        "damage: runs, unchanged, not opened, found by verify, errors of answers, sessions that salvage saved"
    );
    for (damage, count) in &report.counts {
        println!(
            "{damage:?}: {}, {}, {}, {}, {} of {}, {} of {}",
            count.runs,
            count.unchanged,
            count.refused,
            count.found,
            count.errors,
            count.answers,
            count.saved,
            count.sessions
        );
    }
    for refusal in report.refusals.iter().filter(|_| verbose) {
        println!("{refusal}");
    }
    for failure in &report.failures {
        println!("{failure}");
    }
    println!("{} failures", report.failures.len());
    if report.failures.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
