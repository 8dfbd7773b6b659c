//! What a loss of power leaves: the files of a store as they may be then, at each moment of random work.
//!
//! The scripts and the recorder are part of the library, behind its feature `faults`, since they see what it writes.

use std::io::Write as _;
use std::sync::Mutex;
use std::time::{Duration, Instant};

pub use leafline::faults::{Options, Report, WORD, run, work};

/// How often it is said how far a run is.
const PAUSE: Duration = Duration::from_secs(10);

/// Runs, and prints how far it is and what came of it. Returns the failures.
#[must_use]
pub fn run_and_print(options: &Options) -> Vec<String> {
    let begun = Instant::now();
    let said = Mutex::new(begun);
    let report = run(options, &|report| {
        let mut said = said.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        if said.elapsed() >= PAUSE {
            *said = Instant::now();
            println!("{}", line(report, begun));
            let _ = std::io::stdout().flush();
        }
    });
    println!("{}", line(&report, begun));
    let Report { prefixes, synced, subsets, repeated, opened, .. } = report;
    println!(
        "images with all that was written: {prefixes}; with what was synced alone: {synced}; with a part: {subsets}"
    );
    println!("the same again at another event: {repeated}; stores opened: {opened}");
    println!(
        "moments with several records that were not synced: {}; second areas begun: {}",
        report.together, report.areas
    );
    for (kind, count) in &report.calls {
        println!("{kind}: {count}");
    }
    report.failures
}

fn line(report: &Report, begun: Instant) -> String {
    format!(
        "{} images of {} scripts ({} of them went on from an image) in {:.0} s, {} failures",
        report.images,
        report.scripts,
        report.continued,
        begun.elapsed().as_secs_f64(),
        report.failures.len()
    )
}
