//! Short runs of what `leafline-faults` does at length.

use leafline_faults::damage::KINDS;
use leafline_faults::pages::{self, Runs};

#[test]
fn damage_gives_no_wrong_answer_and_no_panic() {
    let runs = Runs { seed: 20, first: 0, count: 300, threads: 2 };
    let report = pages::run(runs, &|_| {});
    assert!(report.failures.is_empty(), "{:#?}", report.failures);
    assert_eq!(report.counts.len(), KINDS.len());
    let (mut errors, mut found, mut runs, mut repaired) = (0, 0, 0, 0);
    for count in report.counts.values() {
        errors += count.errors;
        found += count.found;
        runs += count.runs;
        repaired += count.repaired;
    }
    assert_eq!(runs, 300);
    // The damage was met.
    assert!(errors > 40 && found > 20 && repaired > 10, "{:#?}", report.counts);
}
