//! Requirements on generated sessions, for every shape.

use std::collections::HashSet;

use leafline_generate::{Family, Shape, Summary, generate, random_tree_session, zoo};
use serde_json::Value;

fn session(shape: &Shape) -> (Summary, Vec<u8>) {
    let mut bytes = Vec::new();
    let summary = generate(shape, &mut bytes).expect("writing to memory succeeds");
    (summary, bytes)
}

fn records(bytes: &[u8]) -> Vec<Value> {
    let text = std::str::from_utf8(bytes).expect("a session is UTF-8");
    text.lines().map(|line| serde_json::from_str(line).expect("every line is JSON")).collect()
}

#[test]
fn the_same_shape_gives_the_same_bytes() {
    let shape = Shape { bytes: 600_000, images: 0.2, ..Shape::default() };
    assert_eq!(session(&shape), session(&shape));
    let other = Shape { seed: 2, ..shape };
    assert_ne!(session(&other).1, session(&Shape::default()).1);
}

#[test]
fn every_shape_is_a_session() {
    for family in [Family::Pi, Family::Omp] {
        for version in 1..=3 {
            let shape = Shape { bytes: 3_000_000, version, family, ..Shape::default() };
            let (summary, bytes) = session(&shape);
            let records = records(&bytes);
            assert_eq!(summary.bytes, bytes.len() as u64);
            assert_eq!(summary.lines, records.len() as u64);
            assert!(summary.bytes >= shape.bytes && summary.bytes < shape.bytes * 6 / 5);
            assert!(summary.compactions > 0);
            let header = records.iter().find(|record| record["type"] == "session");
            assert_eq!(header.expect("there is a header")["id"], summary.session_id.as_str());
            if version > 1 {
                check_tree(&summary, &records);
            }
        }
    }
}

/// Every id is new, every parent an earlier entry, every kept entry on the path, the leaf the last entry.
fn check_tree(summary: &Summary, records: &[Value]) {
    let mut seen = HashSet::new();
    let mut entries =
        records.iter().filter(|record| record.get("id").is_some() && record["type"] != "session");
    for entry in entries.clone() {
        if let Some(parent) = entry["parentId"].as_str() {
            assert!(seen.contains(parent), "{parent} is no earlier entry");
        } else {
            assert!(seen.is_empty(), "only the first entry is a root");
        }
        for reference in ["firstKeptEntryId", "targetId", "fromId"] {
            if let Some(id) = entry[reference].as_str() {
                assert!(seen.contains(id), "{id} is no earlier entry");
            }
        }
        assert!(seen.insert(entry["id"].as_str().expect("ids are text")));
    }
    assert_eq!(summary.entries, seen.len() as u64);
    assert!(summary.branches > 0);
    assert!(summary.sample_ids.iter().all(|id| seen.contains(id.as_str())));
    let last = entries.next_back().expect("there are entries");
    assert_eq!(last["id"].as_str(), summary.leaf_id.as_deref());
}

#[test]
fn images_take_their_share() {
    for images in [0.1, 0.6] {
        let (summary, bytes) = session(&Shape { bytes: 8_000_000, images, ..Shape::default() });
        let taken: usize = records(&bytes)
            .iter()
            .flat_map(|record| record["message"]["content"].as_array().cloned().unwrap_or_default())
            .filter_map(|block| block["data"].as_str().map(str::len))
            .sum();
        let share = taken as f64 / bytes.len() as f64;
        assert!((images - share).abs() < 0.1, "{share} is not about {images}");
        assert!(summary.images > 5);
    }
}

#[test]
fn unknown_versions_are_refused() {
    let shape = Shape { version: 4, ..Shape::default() };
    let error = generate(&shape, &mut Vec::new()).expect_err("there is no version 4");
    assert_eq!(error.kind(), std::io::ErrorKind::InvalidInput);
}

#[test]
fn the_zoo_names_each_file_once() {
    let zoo = zoo();
    let names: HashSet<&str> = zoo.iter().map(|(name, _)| *name).collect();
    assert_eq!(names.len(), zoo.len());
    assert!(zoo.len() > 100);
}

#[test]
fn random_trees_are_regular_and_irregular() {
    let (mut loops, mut orphans, mut regular) = (0, 0, 0);
    for seed in 0..200 {
        let bytes = random_tree_session(seed, 40, Family::Omp);
        let text = String::from_utf8_lossy(&bytes);
        loops += usize::from(text.contains("loop000a"));
        orphans += usize::from(text.contains("gone0000"));
        let whole = text.ends_with('\n')
            && text.lines().all(|line| serde_json::from_str::<Value>(line).is_ok());
        regular += usize::from(whole);
    }
    assert!(loops > 10 && orphans > 10 && regular > 30, "{loops} {orphans} {regular}");
}
