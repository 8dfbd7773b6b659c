//! Calls that fail: a short run of what `leafline-faults calls` does at length.

#![cfg(target_os = "linux")]

mod common;

use std::path::Path;

use leafline_faults::calls;
use leafline_faults::command::case::MOST_OF_A_CALL;

fn all(program: &Path) -> calls::Runs<'_> {
    let numbers = 0..u64::MAX;
    let (program, most) = (Some(program), MOST_OF_A_CALL);
    calls::Runs {
        seed: 7,
        numbers,
        threads: 1,
        program,
        only: "",
        call: "",
        most,
        memory: false,
        always: false,
    }
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

/// Failures of calls by which something was once taken for gone: the old file of a session that has moved, the
/// source of a fork, the journal.
#[test]
fn what_the_system_does_not_tell_is_not_taken_as_gone() {
    let program = common::program();
    for (only, call, most) in [
        ("export, folder again", "unlinkat", u64::MAX),
        ("fork, images", "statx", 40),
        ("repair, journal left", "openat", 40),
    ] {
        let runs = calls::Runs { only, call, numbers: 0..most, ..all(&program) };
        let Some(report) = run(&runs) else { return };
        assert!(report.failures.is_empty(), "{:#?}", report.failures);
        assert!(report.counts.contains_key(call), "{report:?}");
    }
}

/// It waited for ever when it could not answer, or not wake its own thread.
#[test]
fn a_server_that_cannot_write_ends() {
    let program = common::program();
    let runs = calls::Runs { only: "mcp", call: "write", threads: 2, ..all(&program) };
    let Some(report) = run(&runs) else { return };
    assert!(report.failures.is_empty(), "{:#?}", report.failures);
    assert!(report.counts["write"].failed > 0, "{:#?}", report.counts);
}

#[test]
fn a_call_that_fails_is_told_and_loses_nothing() {
    let program = common::program();
    let runs = calls::Runs { numbers: 0..60, ..all(&program) };
    let Some(report) = run(&runs) else { return };
    assert!(report.failures.is_empty(), "{:#?}", report.failures);
    let sum = |of: fn(&calls::Count) -> u64| report.counts.values().map(of).sum::<u64>();
    assert!(sum(|count| count.failed) > 0, "{:#?}", report.counts);
    assert!(sum(|count| count.done) > 0, "{:#?}", report.counts);
}

#[test]
fn memory_or_a_thread_that_is_not_given_is_told_and_loses_nothing() {
    let program = common::program();
    let runs = calls::Runs { only: "import", numbers: 0..30, memory: true, ..all(&program) };
    let Some(report) = run(&runs) else { return };
    assert!(report.failures.is_empty(), "{:#?}", report.failures);
    assert!(report.counts.values().any(|count| count.failed > 0), "{:#?}", report.counts);
}

/// A file system without a call: locks that it refused were told as damage, and no store could be made without hard links.
#[test]
fn a_call_that_is_always_refused_is_done_without_or_told() {
    let program = common::program();
    let always = |only, call| calls::Runs { only, call, always: true, ..all(&program) };
    let runs = calls::Runs { numbers: 0..30, ..always("import, new store", "") };
    let Some(report) = run(&runs) else { return };
    assert!(report.failures.is_empty(), "{:#?}", report.failures);
    for (calls, is_done) in [("flock", true), ("renameat2,link,linkat", true), ("fcntl", false)] {
        let count = &report.counts[calls];
        assert_eq!((count.done > 0, count.failed > 0), (is_done, !is_done), "{report:#?}");
    }
    let runs = calls::Runs { numbers: 0..10, ..always("search", "mmap") };
    let Some(report) = run(&runs) else { return };
    assert!(report.failures.is_empty() && report.counts["mmap"].failed == 0, "{report:#?}");
}
