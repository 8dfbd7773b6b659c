//! The tree, its paths and its children, against a model that reads the whole file.
//!
//! Guards against a parent, a child or a path that is not what the file says.

#![allow(clippy::unwrap_used, reason = "a test may fail anywhere")]

mod place;

use std::collections::HashMap;

use leafline_generate::Family;
use place::{Place, assert_outlined};

/// What a program that parses everything would know.
struct Model {
    ids: Vec<String>,
    parents: Vec<Option<String>>,
    by_id: HashMap<String, usize>,
}

impl Model {
    fn new(bytes: &[u8], family: Family) -> Self {
        let mut model = Self { ids: Vec::new(), parents: Vec::new(), by_id: HashMap::new() };
        for line in String::from_utf8_lossy(bytes).split('\n') {
            let line = line.trim_start_matches('\u{feff}');
            // omp reads the first record of a line, whatever follows it (observed).
            let value = match (serde_json::from_str(line), family) {
                (Ok(value), _) => value,
                (Err(_), Family::Omp) => {
                    let values = serde_json::Deserializer::from_str(line);
                    match values.into_iter::<serde_json::Value>().next() {
                        Some(Ok(value)) => value,
                        _ => continue,
                    }
                }
                (Err(_), _) => continue,
            };
            let kind = value["type"].as_str().unwrap_or_default();
            if !value.is_object() || kind == "session" || (kind == "title" && value["id"].is_null())
            {
                continue;
            }
            let id = value["id"].as_str().unwrap_or_default().to_owned();
            model.by_id.insert(id.clone(), model.ids.len());
            model.ids.push(id);
            model
                .parents
                .push(value["parentId"].as_str().filter(|id| !id.is_empty()).map(str::to_owned));
        }
        model
    }

    fn parent(&self, entry: usize) -> Option<usize> {
        let parent = self.parents[entry].as_ref()?;
        if *parent == self.ids[entry] {
            return None;
        }
        self.by_id.get(parent).copied()
    }

    /// From the root to an entry; a loop ends it.
    fn path(&self, entry: usize) -> Vec<String> {
        let mut path = vec![entry];
        while let Some(parent) = self.parent(path[path.len() - 1]) {
            if path.contains(&parent) {
                break;
            }
            path.push(parent);
        }
        path.iter().rev().map(|&entry| self.ids[entry].clone()).collect()
    }

    fn children(&self, entry: usize) -> Vec<String> {
        (0..self.ids.len())
            .filter(|&child| self.parent(child) == Some(entry))
            .map(|child| self.ids[child].clone())
            .collect()
    }
}

#[test]
fn paths_and_children_are_those_of_the_whole_file() {
    for seed in 0..80 {
        let family = if seed % 2 == 0 { Family::Pi } else { Family::Omp };
        let bytes = leafline_generate::random_tree_session(seed, 90, family);
        let place = Place::new();
        let report = place.import(&place.write("s.jsonl", &bytes));
        let session = report.session.as_deref().unwrap();
        let model =
            Model::new(&place.export(session, &leafline::export::ExportMode::Current), family);
        assert_eq!(report.entries, model.ids.len() as u64, "seed {seed}");
        let reader = place.store.reader(&report.session.unwrap()).unwrap();
        let tree = reader.get_tree().unwrap();
        let ids: Vec<_> =
            tree.nodes().iter().map(|node| node.id.clone().unwrap_or_default()).collect();
        assert_eq!(ids, model.ids, "seed {seed}");
        for (id, &entry) in model.by_id.iter().filter(|(id, _)| !id.is_empty()) {
            let mut path = Vec::new();
            reader
                .get_path(Some(id), |entry| {
                    path.push(entry.id().unwrap_or_default());
                    Ok(())
                })
                .unwrap();
            assert_eq!(path, model.path(entry), "seed {seed}, path of {id}");
            let children: Vec<_> = reader
                .get_children(Some(id))
                .unwrap()
                .iter()
                .map(|entry| entry.id().unwrap_or_default())
                .collect();
            assert_eq!(children, model.children(entry), "seed {seed}, children of {id}");
            assert_eq!(
                tree.nodes()[entry].parent,
                model.parent(entry),
                "seed {seed}, parent of {id}"
            );
        }
        assert_outlined(&reader);
        let leaf = reader.get_leaf().unwrap().map(|leaf| leaf.id().unwrap_or_default());
        assert_eq!(leaf, model.ids.last().cloned(), "seed {seed}");
    }
}

/// Segments end where the conversation branches, and continue over lines that are not entries and over parents that
/// come later.
#[test]
fn memory_grows_with_the_branches() {
    let place = Place::new();
    let entry = |id: usize, parent: usize| {
        format!(r#"{{"type":"message","id":"e{id}","parentId":"e{parent}","message":{{}}}}"#)
    };
    let header = r#"{"type":"session","version":3,"id":"s","cwd":"/work"}"#;
    let mut lines = vec![header.to_owned(), entry(1, 0)];
    for id in 2..3000 {
        lines.push(entry(id, id - 1));
        lines.push("no entry".to_owned());
    }
    // Two branches from the middle, one of which has an unreachable loop beside it.
    lines.extend([entry(5000, 1000), entry(5001, 5000), entry(6001, 6002), entry(6002, 6001)]);
    lines.extend([entry(7000, 2000), entry(7001, 7000)]);
    place.import(&place.write("s.jsonl", lines.join("\n")));
    let reader = place.store.reader("s").unwrap();
    let outline = reader.get_outline().unwrap();
    let entries: Vec<_> = outline.segments().iter().map(leafline::tree::Segment::entries).collect();
    assert_eq!(entries, [1000, 1000, 999, 2, 2, 2]);
    let parents: Vec<_> = outline.segments().iter().map(leafline::tree::Segment::parent).collect();
    assert_eq!(parents, [None, Some(0), Some(1), Some(0), Some(4), Some(1)]);
    assert_eq!((outline.unreachable(), outline.branches()), (2, 3));
    assert_outlined(&reader);
}
