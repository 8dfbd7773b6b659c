//! A journal that is harmed: a short run of what `leafline-faults journal` does at length.

#![cfg(target_os = "linux")]

mod common;

use std::path::Path;

use leafline_faults::journal;

#[test]
fn a_journal_that_is_harmed_loses_nothing_that_was_acknowledged() {
    let own = Path::new(env!("CARGO_BIN_EXE_leafline-faults"));
    let report = journal::run(1, 0, 30, own, &common::program());
    assert!(report.failures.is_empty(), "{:#?}", report.failures);
    let sum = |of: fn(&journal::Count) -> u64| report.counts.values().map(of).sum::<u64>();
    assert_eq!(sum(|count| count.runs), 30);
    assert!(sum(|count| count.killed) > 0 && sum(|count| count.refused) > 0, "{report:?}");
}
