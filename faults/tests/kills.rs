//! Commands that are killed: a short run of what `leafline-faults kills` does at length.

#![cfg(target_os = "linux")]

mod common;

use leafline_faults::kills;

#[test]
fn a_killed_command_loses_nothing_and_is_completed_by_the_next() {
    let report = match kills::run(7, 60, Some(&common::program()), "") {
        Err(problem) if problem.contains("strace") => return println!("skipped: {problem}"),
        report => report.expect("each command works without a kill"),
    };
    assert!(report.failures.is_empty(), "{:#?}", report.failures);
    let sum = |of: fn(&kills::Count) -> u64| report.counts.values().map(of).sum::<u64>();
    assert_eq!(sum(|count| count.runs), 60);
    // Some were killed, and some of them twice.
    assert!(sum(|count| count.killed) > 0, "{:#?}", report.counts);
    assert!(sum(|count| count.twice) > 0, "{:#?}", report.counts);
}
