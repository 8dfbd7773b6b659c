//! Calls that fail: a short run of what `leafline-faults calls` does at length.

#![cfg(target_os = "linux")]

mod common;

use std::path::Path;

use leafline_faults::calls;

fn all(program: &Path) -> calls::Runs<'_> {
    let numbers = 0..u64::MAX;
    calls::Runs { seed: 7, numbers, threads: 1, program: Some(program), only: "", call: "" }
}

fn run(runs: &calls::Runs<'_>) -> Option<calls::Report> {
    match calls::run(runs) {
        Err(problem) if problem.contains("strace") => {
            println!("skipped: {problem}");
            None
        }
        report => Some(report.expect("each command works without a fault")),
    }
}

/// The next export removes the file of a session that has moved, if this one could not.
#[test]
fn an_old_file_that_cannot_be_removed_is_removed_later() {
    let program = common::program();
    let runs = calls::Runs { only: "export, folder again", call: "unlinkat", ..all(&program) };
    let Some(report) = run(&runs) else { return };
    assert!(report.failures.is_empty(), "{:#?}", report.failures);
    assert!(report.counts["unlinkat"].runs > 0);
}

#[test]
fn a_call_that_fails_is_told_and_loses_nothing() {
    let program = common::program();
    let runs = calls::Runs { numbers: 0..150, ..all(&program) };
    let Some(report) = run(&runs) else { return };
    assert!(report.failures.is_empty(), "{:#?}", report.failures);
    let sum = |of: fn(&calls::Count) -> u64| report.counts.values().map(of).sum::<u64>();
    assert!(sum(|count| count.failed) > 50, "{:#?}", report.counts);
    assert!(sum(|count| count.done) > 10, "{:#?}", report.counts);
}
