//! Calls that fail: a short run of what `leafline-faults calls` does at length.

#![cfg(target_os = "linux")]

mod common;

use leafline_faults::calls;

#[test]
fn a_call_that_fails_is_told_and_loses_nothing() {
    let program = common::program();
    let runs =
        calls::Runs { seed: 7, numbers: 0..150, threads: 1, program: Some(&program), only: "" };
    let report = match calls::run(&runs) {
        Err(problem) if problem.contains("strace") => return println!("skipped: {problem}"),
        report => report.expect("each command works without a fault"),
    };
    assert!(report.failures.is_empty(), "{:#?}", report.failures);
    let sum = |of: fn(&calls::Count) -> u64| report.counts.values().map(of).sum::<u64>();
    assert!(sum(|count| count.failed) > 50, "{:#?}", report.counts);
    assert!(sum(|count| count.done) > 10, "{:#?}", report.counts);
}
