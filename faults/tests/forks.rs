//! Processes that are forked while a store is open: a short run of what `leafline-faults forks` does at length.

#![cfg(unix)]

use std::path::Path;

use leafline_faults::forks;

#[test]
fn what_is_inherited_is_refused_and_nothing_acknowledged_is_lost() {
    let report = forks::run(3, 40, Path::new(env!("CARGO_BIN_EXE_leafline-faults")));
    assert!(report.failures.is_empty(), "{:#?}", report.failures);
    assert_eq!(report.counts.len(), forks::Case::ALL.len());
    let is_empty = |count: &forks::Count| count.runs < 8 || count.acknowledged == 0;
    assert!(!report.counts.values().any(is_empty), "{:#?}", report.counts);
    let refused: u64 = report.counts.values().map(|count| count.refused).sum();
    assert!(refused > 200, "{:#?}", report.counts);
}
