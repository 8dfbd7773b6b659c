//! The page that names a test for each rule of the documents.
//!
//! Guards against a rule whose test was renamed, moved or removed.

#![allow(clippy::unwrap_used, reason = "a test may fail anywhere")]

use std::path::Path;

/// What the page has between back quotes and with `::`: a file and a test in it.
fn named() -> Vec<(String, String)> {
    let page = include_str!("../docs/conformance.md");
    let quoted = page.split('`').skip(1).step_by(2);
    let tests = quoted.filter_map(|quoted| quoted.split_once(".rs::"));
    tests.map(|(file, test)| (format!("{file}.rs"), test.to_owned())).collect()
}

#[test]
fn every_named_test_is_there() {
    let named = named();
    assert!(named.len() > 100, "{}", named.len());
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    for (file, test) in named {
        let text = std::fs::read_to_string(root.join(&file)).unwrap_or_default();
        let place = text.find(&format!("fn {test}("));
        let before = place.and_then(|place| text.get(..place)).unwrap_or_default();
        // The attribute stands right above the name, or other attributes do.
        let above = before.lines().rev().take_while(|line| !line.trim_end().ends_with('}'));
        let is_test = above.take(8).any(|line| line.trim() == "#[test]");
        assert!(is_test, "{file} has no test {test}");
    }
}

#[test]
fn every_document_has_its_table() {
    let page = include_str!("../docs/conformance.md");
    for document in [
        "omp session storage",
        "omp session file",
        "pi session file",
        "session JSONL format",
        "Opal session",
    ] {
        let (_, section) = page.split_once(&format!("\n## {document}\n")).unwrap();
        let rows = section.lines().skip(3).take_while(|line| !line.starts_with("## "));
        let rows = rows.filter(|line| line.starts_with("| ") && !line.starts_with("| ---"));
        let cells = rows.inspect(|row| assert!(row.matches(" | ").count() == 1, "{row}"));
        assert!(cells.count() > 10, "{document}");
    }
}
