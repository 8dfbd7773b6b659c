//! Short runs of what `leafline-faults` does at length.

use leafline_faults::pages;

#[test]
fn damaged_pages_give_no_wrong_answer_and_no_panic() {
    let report = pages::run(20, 400);
    assert!(report.failures.is_empty(), "{:#?}", report.failures);
    assert_eq!(report.counts.len(), pages::KINDS.len());
    let (mut errors, mut found, mut runs) = (0, 0, 0);
    for count in report.counts.values() {
        errors += count.errors;
        found += count.found;
        runs += count.runs;
    }
    assert_eq!(runs, 400);
    // The damage was met.
    assert!(errors > 100 && found > 50, "{:#?}", report.counts);
}
