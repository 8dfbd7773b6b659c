//! `leafline-faults`: damages stores, and says what came of it.

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use clap::{Args, Parser, Subcommand};
use leafline_faults::command::case::MOST_OF_A_CALL;
use leafline_faults::damage::Damage;
use leafline_faults::pages::{self, Count, Report};
#[cfg(target_os = "linux")]
use leafline_faults::soak;
use leafline_faults::{calls, crowd, kills};
#[cfg(unix)]
use leafline_faults::{forks, journal, power};

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
        #[command(flatten)]
        runs: Runs,
        /// The number of the first
        #[arg(long, default_value_t = 0)]
        first: u64,
        /// How many are made at once
        #[arg(long, default_value_t = 1)]
        threads: usize,
        /// Also print why each store that was not opened was not
        #[arg(short, long)]
        verbose: bool,
    },
    /// Commands that are killed at each call that writes, and at any moment
    Kills {
        #[command(flatten)]
        runs: Runs,
        #[command(flatten)]
        commands: Commands,
    },
    /// Commands of which one call of the system fails, or all from one on: each combination once, in an order of the seed's
    Calls {
        #[command(flatten)]
        runs: Runs,
        /// The number of the first
        #[arg(long, default_value_t = 0)]
        first: u64,
        /// How many are made at once
        #[arg(long, default_value_t = 1)]
        threads: usize,
        #[command(flatten)]
        commands: Commands,
        /// Only failures of this call of the system
        #[arg(long, default_value = "", value_name = "NAME")]
        call: String,
        /// How many calls of one name are tried of a command: a number, or `all`
        #[arg(long, default_value_t = MOST_OF_A_CALL, value_name = "N", value_parser = most)]
        most: usize,
        /// Only calls that ask for memory or a thread, which else are left out
        #[arg(long)]
        memory: bool,
        /// A call always fails, as on a file system that does not have it
        #[arg(long, conflicts_with = "memory")]
        always: bool,
        /// Also print what the commands complained of
        #[arg(short, long)]
        verbose: bool,
    },
    /// Losses of power at each moment of random work. A seed gives the same calls, but threads that run at once take turns as
    /// they come; so many different images of the files are checked at least
    #[cfg(unix)]
    Power {
        #[command(flatten)]
        runs: Runs,
        /// By how many threads
        #[arg(long, default_value_t = 1)]
        threads: usize,
        /// Each thread of a script is a process
        #[arg(long)]
        processes: bool,
    },
    /// What such a process does
    #[cfg(unix)]
    #[command(name = power::WORD, hide = true)]
    PowerProcess { job: PathBuf },
    /// Processes that are forked while a store is open: what they inherit is refused, and what they open anew works
    #[cfg(unix)]
    Forks {
        #[command(flatten)]
        runs: Runs,
    },
    /// What such a process does
    #[cfg(unix)]
    #[command(name = forks::WORD, hide = true)]
    ForkingProcess { case: String, seed: u64, folder: PathBuf },
    /// A journal that is damaged, replaced or held up while processes append to it, or after they were killed
    #[cfg(unix)]
    Journal {
        #[command(flatten)]
        runs: Runs,
        /// The number of the first
        #[arg(long, default_value_t = 0)]
        first: u64,
        /// The program `leafline` [default: the one beside this program]
        #[arg(long, value_name = "FILE")]
        program: Option<PathBuf>,
    },
    /// What such a process does
    #[cfg(unix)]
    #[command(name = journal::WORD, hide = true)]
    JournalProcess { number: usize, seed: u64, folder: PathBuf },
    /// Processes that append, also in short visits, read, import, sync and compact at the same time
    Crowd {
        /// For how long
        #[arg(long, default_value_t = 60)]
        seconds: u64,
        /// The program `leafline` [default: the one beside this program]
        #[arg(long, value_name = "FILE")]
        program: Option<PathBuf>,
        /// Where a folder for the store is made [default: the one for temporary files]
        #[arg(long, value_name = "FOLDER")]
        folder: Option<PathBuf>,
    },
    /// Hosts, a watch, an MCP client, `browse`, commands and kills, as in days: each figure has a limit
    #[cfg(target_os = "linux")]
    Soak {
        /// For how long
        #[arg(long, default_value_t = 10)]
        minutes: u64,
        /// The program `leafline` [default: the one beside this program]
        #[arg(long, value_name = "FILE")]
        program: Option<PathBuf>,
        /// Where a folder for the store is made [default: the one for temporary files]
        #[arg(long, value_name = "FOLDER")]
        folder: Option<PathBuf>,
    },
    /// Run as a host of the soak
    #[cfg(target_os = "linux")]
    #[command(name = soak::WORD, hide = true)]
    SoakHost { number: usize, folder: PathBuf },
}

#[derive(Debug, Args)]
struct Runs {
    /// The runs: the same seed gives the same ones
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// How many
    #[arg(long, default_value_t = 1000)]
    runs: u64,
}

#[derive(Debug, Args)]
struct Commands {
    /// The program `leafline` [default: the one beside this program]
    #[arg(long, value_name = "FILE")]
    program: Option<PathBuf>,
    /// Only the cases whose names contain this
    #[arg(long, default_value = "", value_name = "TEXT")]
    only: String,
}

fn main() -> ExitCode {
    let failures = match Arguments::parse().fault {
        Fault::Pages { runs: Runs { seed, runs: count }, first, threads, verbose } => {
            Ok(damage_pages(pages::Runs { seed, first, count, threads }, verbose))
        }
        #[cfg(unix)]
        Fault::Power { runs: Runs { seed, runs: images }, threads, processes } => {
            own_program(processes).map(|program| {
                power::run_and_print(&power::Options { seed, images, threads, program })
            })
        }
        #[cfg(unix)]
        Fault::PowerProcess { job } => {
            power::work(&job);
            return ExitCode::SUCCESS;
        }
        #[cfg(unix)]
        Fault::Forks { runs } => own_program(true).map(|program| fork(&runs, program)),
        #[cfg(unix)]
        Fault::ForkingProcess { case, seed, folder } => {
            forks::work(&case, seed, &folder);
            return ExitCode::SUCCESS;
        }
        #[cfg(unix)]
        Fault::Journal { runs, first, program } => own_program(true)
            .map(|own| harm_journal(&runs, first, &own.unwrap_or_default(), program)),
        #[cfg(unix)]
        Fault::JournalProcess { number, seed, folder } => {
            journal::work(number, seed, &folder);
            return ExitCode::SUCCESS;
        }
        Fault::Kills { runs, commands } => kill(&runs, &commands),
        Fault::Calls { runs, first, threads, commands, call, most, memory, always, verbose } => {
            let Runs { seed, runs } = runs;
            let numbers = first..first.saturating_add(runs);
            let (program, only) = (commands.program.as_deref(), commands.only.as_str());
            let call = call.as_str();
            let runs =
                calls::Runs { seed, numbers, threads, program, only, call, most, memory, always };
            fail_calls(&runs, verbose)
        }
        Fault::Crowd { seconds, program, folder } => gather(seconds, program, folder),
        #[cfg(target_os = "linux")]
        Fault::Soak { minutes, program, folder } => own_program(true)
            .and_then(|own| live_for(minutes, program, &own.unwrap_or_default(), folder)),
        #[cfg(target_os = "linux")]
        Fault::SoakHost { number, folder } => {
            soak::host(number, &folder);
            return ExitCode::SUCCESS;
        }
    };
    let failures = failures.unwrap_or_else(|problem| vec![problem]);
    for failure in &failures {
        println!("{failure}");
    }
    println!("{} failures", failures.len());
    if failures.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// This program, if it is wanted.
#[cfg(unix)]
fn own_program(is_wanted: bool) -> Result<Option<PathBuf>, String> {
    let own = is_wanted.then(std::env::current_exe).transpose();
    own.map_err(|error| format!("which program this is: {error}"))
}

fn most(text: &str) -> Result<usize, std::num::ParseIntError> {
    if text == "all" { Ok(usize::MAX) } else { text.parse() }
}

fn damage_pages(runs: pages::Runs, verbose: bool) -> Vec<String> {
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
    let repaired: u64 = report.counts.values().map(|count| count.repaired).sum();
    println!("{repaired} stores were repaired in their place");
    for refusal in report.refusals.iter().filter(|_| verbose) {
        println!("{refusal}");
    }
    println!(
        "{} runs in {:.0} s, {} failures",
        report.counts.values().map(|count| count.runs).sum::<u64>(),
        begun.elapsed().as_secs_f64(),
        report.failures.len()
    );
    report.failures
}

#[cfg(unix)]
fn fork(runs: &Runs, program: Option<PathBuf>) -> Vec<String> {
    let program = program.unwrap_or_default();
    let report = forks::run(runs.seed, runs.runs, &program);
    println!("case: runs, calls of inherited handles that were refused, entries acknowledged");
    for (name, count) in &report.counts {
        println!("{name}: {}, {}, {}", count.runs, count.refused, count.acknowledged);
    }
    report.failures
}

#[cfg(unix)]
fn harm_journal(
    runs: &Runs,
    first: u64,
    own: &std::path::Path,
    program: Option<PathBuf>,
) -> Vec<String> {
    let program = program.unwrap_or_else(|| own.with_file_name("leafline"));
    let report = journal::run(runs.seed, first, runs.runs, own, &program);
    println!(
        "| incident | runs | after a kill | refused or failed | acknowledged | lost | lost without an error |"
    );
    println!("| --- | --- | --- | --- | --- | --- | --- |");
    for (name, count) in &report.counts {
        let journal::Count { runs, killed, acknowledged, refused, lost, untold } = count;
        println!("| {name} | {runs} | {killed} | {refused} | {acknowledged} | {lost} | {untold} |");
    }
    report.failures
}

fn kill(runs: &Runs, commands: &Commands) -> Result<Vec<String>, String> {
    let program = commands.program.as_deref();
    let report = kills::run(runs.seed, runs.runs, program, &commands.only)?;
    println!("command: runs, killed, killed twice, calls at which it was killed");
    for (name, count) in &report.counts {
        println!(
            "{name}: {}, {}, {}, {} of {}",
            count.runs, count.killed, count.twice, count.covered, count.places
        );
    }
    let sum = |of: fn(&kills::Count) -> u64| report.counts.values().map(of).sum::<u64>();
    println!(
        "all: {}, {}, {}, {} of {}",
        sum(|count| count.runs),
        sum(|count| count.killed),
        sum(|count| count.twice),
        sum(|count| count.covered),
        sum(|count| count.places)
    );
    Ok(report.failures)
}

fn fail_calls(runs: &calls::Runs<'_>, verbose: bool) -> Result<Vec<String>, String> {
    let report = calls::run(runs)?;
    println!("call: runs in which it failed, done all the same, failed");
    for (call, count) in &report.counts {
        println!("{call}: {}, {}, {}", count.runs, count.done, count.failed);
    }
    println!(
        "of {} combinations, each call once and for good in the first {}; {} beside the folder",
        report.places, report.calls, report.beside
    );
    if runs.memory {
        println!("{} ended by the runtime, for want of memory", report.aborted);
    }
    for (call, complaints) in report.complaints.iter().filter(|_| verbose) {
        for complaint in complaints {
            println!("{call}: {}", complaint.trim_end());
        }
    }
    Ok(report.failures)
}

fn gather(
    seconds: u64,
    program: Option<PathBuf>,
    folder: Option<PathBuf>,
) -> Result<Vec<String>, String> {
    let folder = folder.unwrap_or_else(std::env::temp_dir);
    let report = crowd::run(Duration::from_secs(seconds), program.as_deref(), &folder)?;
    let times = [
        ("append", &report.appends),
        ("append beside an import", &report.beside_imports),
        ("fdatasync", &report.syncs),
        ("read", &report.reads),
        ("visit", &report.visits),
    ];
    println!("what: how many, p50, p99, the longest");
    for (name, times) in times {
        let [half, most, all] = [500, 990, 1000].map(|share| crowd::quantile(times, share));
        println!("{name}: {}, {half:.1?}, {most:.1?}, {all:.1?}", times.len());
    }
    println!("appends of each who stays: {:?}; of visitors: {}", report.counts, report.visited);
    println!(
        "appends that took 50 ms longer than any fdatasync, by what kept them or ran beside: {:?}",
        report.late
    );
    println!(
        "{} imports in {:.1?}, stopped {} times: {} reads and {} appends meanwhile",
        report.imports.0,
        report.imports.1,
        report.stops,
        report.within_stops.0,
        report.within_stops.1
    );
    println!(
        "{} syncs, {} compactions, of which {} succeeded, and {} found the store in use",
        report.synced,
        report.compactions.all,
        report.compactions.succeeded,
        report.compactions.refused
    );
    Ok(report.failures)
}

#[cfg(target_os = "linux")]
fn live_for(
    minutes: u64,
    program: Option<PathBuf>,
    own: &std::path::Path,
    folder: Option<PathBuf>,
) -> Result<Vec<String>, String> {
    let folder = folder.unwrap_or_else(std::env::temp_dir);
    let time = Duration::from_secs(minutes * 60);
    let report = soak::run(time, program.as_deref(), own, &folder)?;
    println!("| figure | measured | at most |");
    println!("| --- | --- | --- |");
    for soak::Figure { name, unit, value, limit } in &report.figures {
        let limit = if limit.is_finite() { format!("{limit:.1} {unit}") } else { String::new() };
        println!("| {name} | {value:.1} {unit} | {limit} |");
    }
    Ok(report.failures)
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
        Damage::JournalOfCopy => "journal: of a copy of the store",
    }
}
