//! Many processes at one store: a short run of what `leafline-faults crowd` does at length.

#![cfg(target_os = "linux")]

mod common;

use std::time::Duration;

use leafline_faults::crowd;

#[test]
fn a_crowd_at_one_store_waits_for_no_import_and_loses_nothing() {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let report = crowd::run(Duration::from_secs(10), Some(&common::program()), folder.path());
    let report = report.expect("there is a program");
    assert!(report.failures.is_empty(), "{:#?}", report.failures);
    assert_eq!(report.counts.len(), crowd::APPENDERS);
    assert!(report.imports.0 > 0 && report.synced > 0, "{report:?}");
    // A crowd in which no compaction succeeds would be a failure.
    assert!(report.compactions.succeeded > 0 && !report.visits.is_empty(), "{report:?}");
    // The import was stopped, and the others went on.
    assert!(report.stops > 0 && report.within_stops.0 > 0 && report.within_stops.1 > 0);
}
