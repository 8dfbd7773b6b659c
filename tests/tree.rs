//! The tree, its paths and its children, against a model that reads the whole file.
//!
//! Guards against a parent, a child or a path that is not what the file says.

#![allow(clippy::unwrap_used, reason = "a test may fail anywhere")]

mod place;

use std::collections::HashMap;

use leafline_generate::Family;
use place::Place;

/// What a program that parses everything would know.
struct Model {
    ids: Vec<String>,
    parents: Vec<Option<String>>,
    by_id: HashMap<String, usize>,
}

impl Model {
    fn new(bytes: &[u8]) -> Self {
        let mut model = Self { ids: Vec::new(), parents: Vec::new(), by_id: HashMap::new() };
        for line in String::from_utf8_lossy(bytes).split('\n') {
            let Ok(value) =
                serde_json::from_str::<serde_json::Value>(line.trim_start_matches('\u{feff}'))
            else {
                continue;
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

    /// Root to entry; a loop ends it.
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
        let model = Model::new(&place.export(session, &leafline::ExportMode::Current));
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
        let leaf = reader.get_leaf().unwrap().map(|leaf| leaf.id().unwrap_or_default());
        assert_eq!(leaf, model.ids.last().cloned(), "seed {seed}");
    }
}
