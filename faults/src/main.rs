//! `leafline-faults`: damages stores, and says what came of it.

use std::process::ExitCode;

use clap::{Parser, Subcommand};
use leafline_faults::damage::Damage;
use leafline_faults::pages::{self, Count, Report, Runs};
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
    /// Flipped bits, pages that are zeroed, stale, swapped or cut off, and damage to the journal
    Pages {
        /// The runs: the same seed gives the same ones
        #[arg(long, default_value_t = 1)]
        seed: u64,
        /// The number of the first
        #[arg(long, default_value_t = 0)]
        first: u64,
        /// How many
        #[arg(long, default_value_t = 1000)]
        runs: u64,
        /// How many are made at once
        #[arg(long, default_value_t = 1)]
        threads: usize,
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
        Fault::Pages { seed, first, runs, threads, verbose } => {
            run_pages(Runs { seed, first, count: runs, threads }, verbose)
        }
        #[cfg(unix)]
        Fault::Power { seed, runs, threads } => {
            power::run_and_print(&power::Options { seed, images: runs, threads })
        }
    };
    if is_sound { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn run_pages(runs: Runs, verbose: bool) -> bool {
    let begun = std::time::Instant::now();
    let each = |report: &Report| {
        for failure in &report.failures {
            eprintln!("{failure}");
        }
    };
    let report = pages::run(runs, &each);
    println!(
        "| damage | runs | all answers right | store not opened | `verify` finds it | answers that were errors |"
    );
    println!("| --- | --- | --- | --- | --- | --- |");
    let of = |wanted: bool| {
        report.counts.iter().filter(move |(damage, _)| damage.is_of_journal() == wanted)
    };
    for (damage, count) in of(false) {
        let Count { runs, unchanged, refused, found, errors, answers, .. } = count;
        println!(
            "| {} | {runs} | {unchanged} | {refused} | {found} | {errors} of {answers} |",
            named(*damage)
        );
    }
    println!();
    println!(
        "| damage to the journal | runs | all answers right | as before the last appends | store not opened | `verify` finds it |"
    );
    println!("| --- | --- | --- | --- | --- | --- |");
    for (damage, count) in of(true) {
        let Count { runs, unchanged, earlier, refused, found, .. } = count;
        println!("| {} | {runs} | {unchanged} | {earlier} | {refused} | {found} |", named(*damage));
    }
    println!();
    println!("| damage | sessions saved as they were |");
    println!("| --- | --- |");
    for (damage, Count { saved, sessions, .. }) in &report.counts {
        println!("| {} | {saved} of {sessions} |", named(*damage));
    }
    println!();
    for refusal in report.refusals.iter().filter(|_| verbose) {
        println!("{refusal}");
    }
    println!(
        "{} runs in {:.0} s, {} failures",
        report.counts.values().map(|count| count.runs).sum::<u64>(),
        begun.elapsed().as_secs_f64(),
        report.failures.len()
    );
    report.failures.is_empty()
}

fn named(damage: Damage) -> &'static str {
    match damage {
        Damage::Bit => "one bit",
        Damage::Bits => "eight bits of a page",
        Damage::Header => "one bit of the header",
        Damage::Zeroed => "a page of zeros",
        Damage::Stale => "a page of an earlier commit",
        Damage::Swapped => "two pages in each other's place",
        Damage::CutOff => "a file that ends early",
        Damage::JournalBit => "journal: one bit",
        Damage::JournalBits => "journal: eight bits of a page",
        Damage::JournalZeroed => "journal: 4 KiB of zeros",
        Damage::JournalCutOff => "journal: it ends early",
        Damage::JournalStale => "journal: as it was earlier",
        Damage::JournalForeign => "journal: of another store",
    }
}
