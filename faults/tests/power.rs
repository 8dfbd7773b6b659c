//! A short run of what a loss of power leaves, in the build that `leafline-faults` has. A program of its own: a run has journals
//! of other sizes than the usual ones, in the whole process.
#![cfg(unix)]

use std::path::PathBuf;

use leafline_faults::power::{Options, Report, run};

fn images_of(program: Option<PathBuf>) -> Report {
    let report = run(&Options { seed: 5, images: 200, threads: 2, program }, &|_| {});
    assert!(report.failures.is_empty(), "{:#?}", report.failures);
    assert!(report.images >= 200 && report.prefixes > 0 && report.subsets > 0, "{report:?}");
    assert!(report.opened > 0 && !report.calls.is_empty(), "{report:?}");
    report
}

#[test]
fn nothing_that_was_acknowledged_is_lost_with_the_power() {
    images_of(None);
}

#[test]
fn nothing_that_processes_acknowledged_is_lost_with_the_power() {
    let report = images_of(Some(env!("CARGO_BIN_EXE_leafline-faults").into()));
    // Of several processes.
    assert!(report.together > 0, "{report:?}");
}
