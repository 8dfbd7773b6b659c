//! Flips each bit of a session's nodes, one at a time, and makes every walk.

use std::path::Path;

use crate::omp::OmpReader;
use leafline_generate::{Family, random_tree_session};

use crate::Store;
use crate::catalog::import::{ImportObserver, ImportOptions};
use crate::context::HistoryScope;
use crate::error::{Error, Result};
use crate::import::FileReport;
use crate::session::{ContextLeaf, PageLimit, SessionReader};
use crate::store::chunk::reseal;
use crate::store::ordinal::Ordinal;
use crate::store::session_key::SessionKey;

/// Collects the ids of imported sessions.
#[derive(Default)]
struct Sessions(Vec<String>);

impl ImportObserver for Sessions {
    fn file(&mut self, report: &FileReport) {
        self.0.extend(report.session.clone());
    }
}

fn import(files: &Path) -> (Store, Vec<String>) {
    let store = Store::in_memory().unwrap();
    let mut sessions = Sessions::default();
    store.import(&[files], &ImportOptions::default(), &mut sessions).unwrap();
    (store, sessions.0)
}

/// The queries of a session, with their results: the ordinals of entries.
fn answers(reader: &SessionReader) -> Vec<(&'static str, Result<Vec<u64>>)> {
    let pages = |bytes| {
        let limit = PageLimit { entries: 3, bytes };
        let mut page = reader.path_backwards(None, &limit)?;
        let mut ordinals = Vec::new();
        loop {
            ordinals.extend(page.entries.iter().map(crate::Entry::ordinal));
            assert!(ordinals.len() as u64 <= reader.record().lines, "a path in pages has an end");
            let Some(next) = page.next else { return Ok(ordinals) };
            page = reader.path_backwards_from(next, &limit)?;
        }
    };
    let path = || {
        let mut ordinals = Vec::new();
        reader.get_path(None, |entry| {
            ordinals.push(entry.ordinal());
            Ok(())
        })?;
        Ok(ordinals)
    };
    let tree = |tree: crate::tree::Tree| {
        let parent = |at: usize| tree.nodes().get(at).map(|node| node.ordinal);
        let leaf = tree.leaf().and_then(parent);
        let of = |node: &crate::tree::TreeNode| {
            [node.ordinal, node.parent.and_then(parent).unwrap_or(u64::MAX)]
        };
        tree.nodes().iter().flat_map(of).chain(leaf).collect::<Vec<_>>()
    };
    let history = |scope| Ok(reader.get_history(ContextLeaf::Current, scope)?.ordinals().collect());
    let context = |context: crate::context::Context| {
        context.messages.iter().flat_map(|message| message.ordinals.clone()).collect::<Vec<_>>()
    };
    let children = || {
        let mut all = reader.get_children(None)?;
        let mut place = 0;
        while let Some(id) = all.get(place).map(crate::Entry::id) {
            place += 1;
            assert!(all.len() as u64 <= reader.record().lines * 2, "children are listed once");
            if let Some(id) = id
                && place as u64 <= reader.record().lines
            {
                all.extend(reader.get_children(Some(&id))?);
            }
        }
        Ok(all.iter().map(crate::Entry::ordinal).collect())
    };
    let around = || {
        let Some(id) = reader.get_leaf_id()? else { return Ok(Vec::new()) };
        let page = reader.entries_around(&id, 5, 5, &PageLimit::default())?;
        Ok(page.entries.iter().map(crate::Entry::ordinal).collect())
    };
    vec![
        ("path", path()),
        ("pages", pages(1 << 20)),
        ("small pages", pages(1)),
        ("tree", reader.get_tree().map(tree)),
        ("folded tree", reader.get_folded_tree().map(tree)),
        ("context", reader.build_context(ContextLeaf::Current, None).map(context)),
        ("full context", reader.build_full_history(ContextLeaf::Current, None).map(context)),
        ("history", history(HistoryScope::Context)),
        ("full history", history(HistoryScope::Full)),
        ("children", children()),
        ("around", around()),
        ("rules", reader.get_injected_rules().map(|rules| vec![rules.len() as u64])),
        ("role", reader.get_last_model_change_role().map(|role| vec![role.is_some().into()])),
        ("usage", reader.usage_statistics().map(|usage| vec![usage.messages])),
    ]
}

/// How many of the flips had which result.
#[derive(Debug, Default)]
struct Tally {
    flips: u64,
    errors: u64,
    wrong_paths: u64,
}

/// Flips each bit of the nodes of a session's chunks, those of every `step`-th byte.
fn flip_all(store: &Store, id: &str, step: usize, tally: &mut Tally) {
    let reader = store.reader(id).unwrap();
    let (session, is_regular) = (reader.key(), reader.view().order().is_regular());
    let expected = answers(&reader);
    let mut chunks = reader.view().chunks();
    while let Some(chunk) = chunks.next().unwrap() {
        let (first, bytes) = (chunk.first(), chunk.bytes());
        for at in chunk.nodes_in(bytes).step_by(step) {
            for bit in 0..8 {
                let mut damaged = bytes.to_vec();
                damaged[at] ^= 1 << bit;
                reseal(&mut damaged);
                put(store, (session, first), damaged);
                let damaged = store.reader(id).unwrap();
                tally.flips += 1;
                for ((what, answer), (_, right)) in answers(&damaged).iter().zip(&expected) {
                    match answer {
                        Err(Error::Corrupted(_)) => tally.errors += 1,
                        Err(other) => panic!("{id}, byte {at}, bit {bit}, {what}: {other}"),
                        Ok(answer) => {
                            let is_way = ["path", "pages", "small pages"].contains(what);
                            let is_wrong =
                                is_regular && is_way && answer != right.as_ref().unwrap();
                            tally.wrong_paths += u64::from(is_wrong);
                        }
                    }
                }
                let verification = store.session(id).unwrap().verify().unwrap();
                if verification.problems.is_empty() && is_regular {
                    let mut found = damaged.view().chunks();
                    let nodes = found.holding(first).unwrap().nodes().unwrap();
                    let changed = nodes.iter().zip(chunk.nodes().unwrap()).enumerate();
                    let changed: Vec<_> =
                        changed.filter(|(_, (new, old))| *new != old).take(2).collect();
                    panic!("{id}, byte {at}, bit {bit} is not found: {changed:?}");
                }
            }
        }
        put(store, (session, first), bytes.to_vec());
    }
}

fn put(store: &Store, place: (SessionKey, Ordinal), bytes: Vec<u8>) {
    store.damage_chunk(place.0, place.1, bytes).unwrap();
}

#[test]
fn flipped_bits_in_sessions_of_all_families() {
    let samples = concat!(env!("CARGO_MANIFEST_DIR"), "/import/samples");
    let (store, sessions) = import(Path::new(samples));
    assert!(sessions.len() > 8);
    let mut tally = Tally::default();
    for id in &sessions {
        flip_all(&store, id, 5, &mut tally);
    }
    assert!(tally.flips > 2_000 && tally.errors > tally.flips, "{tally:?}");
    assert_eq!(tally.wrong_paths, 0, "{tally:?}");
}

#[test]
fn flipped_bits_in_branched_and_irregular_sessions() {
    let folder = tempfile::tempdir().unwrap();
    for seed in 0..6 {
        let family = [Family::Pi, Family::Omp][usize::from(seed % 2 == 1)];
        let bytes = random_tree_session(seed, 60, family);
        std::fs::write(folder.path().join(format!("{seed}.jsonl")), bytes).unwrap();
    }
    // Parents that come later, a loop, and entries below it.
    let mut lines = r#"{"type":"session","version":3,"id":"odd","cwd":"/work"}"#.to_owned() + "\n";
    for (id, parent) in [(1, 2), (2, 0), (3, 5), (4, 3), (5, 4), (6, 5), (7, 1), (8, 7)] {
        let line = format!(r#"{{"type":"message","id":"e{id}","parentId":"e{parent}"}}"#);
        lines.push_str(&(line + "\n"));
    }
    std::fs::write(folder.path().join("odd.jsonl"), lines).unwrap();
    let (store, sessions) = import(folder.path());
    let is_irregular = |id: &String| store.reader(id).unwrap().record().irregular;
    assert!(sessions.iter().any(is_irregular) && !sessions.iter().all(is_irregular));
    let mut tally = Tally::default();
    for id in &sessions {
        let step = if id == "odd" { 1 } else { 31 };
        flip_all(&store, id, step, &mut tally);
    }
    // A branch's first entry may be moved to another parent of the same depth, and its own node still agrees with that.
    assert!(tally.wrong_paths * 500 < tally.flips, "{tally:?}");
}
