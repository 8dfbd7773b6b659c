//! `leafline-faults`: damages stores, and says what came of it.

use std::process::ExitCode;

use clap::{Parser, Subcommand};
use leafline_faults::pages;
#[cfg(unix)]
use leafline_faults::power;

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
    /// Losses of power at each moment of random work
    #[cfg(unix)]
    Power {
        /// The first script: the same seed gives the same calls, but threads that run at once take turns as they come
        #[arg(long, default_value_t = 1)]
        seed: u64,
        /// How many different images of the files are checked at least
        #[arg(long, default_value_t = 10_000)]
        runs: u64,
        /// By how many threads
        #[arg(long, default_value_t = 1)]
        threads: usize,
    },
}

fn main() -> ExitCode {
    let is_sound = match Arguments::parse().fault {
        Fault::Pages { seed, runs, verbose } => run_pages(seed, runs, verbose),
        #[cfg(unix)]
        Fault::Power { seed, runs, threads } => {
            power::run_and_print(&power::Options { seed, images: runs, threads })
        }
    };
    if is_sound { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn run_pages(seed: u64, runs: u64, verbose: bool) -> bool {
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
    report.failures.is_empty()
}
