//! Tests with a session that lacks a chunk: nothing may treat the gap as the session's end.

use super::{ContextLeaf, ExportMode, PageLimit, SessionReader};
use crate::catalog::import::ImportOptions;
use crate::error::{Error, Result};
use crate::omp::OmpSession;
use crate::pi::PiSession;
use crate::store::Store;
use crate::store::node::Node;
use crate::store::ordinal::Ordinal;

/// Which part of the chunks is removed.
#[derive(Debug, Clone, Copy)]
enum Gap {
    First,
    Middle,
    Last,
}

/// A store with one session of several chunks, all of its entries on one path.
fn store() -> (tempfile::TempDir, Store) {
    let folder = tempfile::tempdir().unwrap();
    let mut file = String::from(
        "{\"type\":\"session\",\"version\":3,\"id\":\"long\",\"timestamp\":\"2026-03-01T08:00:00.000Z\",\"cwd\":\"/work\"}\n",
    );
    let mut random = 1u64;
    for entry in 0..400 {
        let parent = if entry == 0 { "null".to_owned() } else { format!("\"{:08x}\"", entry - 1) };
        let role = if entry % 2 == 0 { "user" } else { "assistant" };
        let words: Vec<String> = (0..20)
            .map(|_| {
                random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                format!("{:x}", random >> 24)
            })
            .collect();
        file.push_str(&format!(
            "{{\"type\":\"message\",\"id\":\"{entry:08x}\",\"parentId\":{parent},\"timestamp\":\"2026-03-01T08:00:01.000Z\",\"message\":{{\"role\":\"{role}\",\"content\":[{{\"type\":\"text\",\"text\":\"{}\"}}]}}}}\n",
            words.join(" ")
        ));
    }
    let path = folder.path().join("long.jsonl");
    std::fs::write(&path, file).unwrap();
    let store = Store::open(folder.path().join("store.leafline")).unwrap();
    store.import(&[path], &ImportOptions::default(), &mut ()).unwrap();
    (folder, store)
}

/// Removes a chunk of the only session.
fn tear(store: &Store, gap: Gap) {
    let snapshot = store.snapshot().unwrap();
    let key = snapshot.key_of(b"long").unwrap().unwrap();
    let mut firsts = Vec::new();
    let mut chunks = snapshot.rows(key).chunks_left();
    while let Some(chunk) = chunks.next().unwrap() {
        firsts.push(chunk.first());
    }
    assert!(firsts.len() > 4);
    let place = match gap {
        Gap::First => 0,
        Gap::Middle => firsts.len() / 2,
        Gap::Last => firsts.len() - 1,
    };
    store.lose_chunk(key, firsts[place]).unwrap();
}

#[track_caller]
fn is_damage<T>(result: Result<T>) {
    match result.map(drop) {
        Err(Error::Corrupted(_)) => {}
        other => panic!("{other:?} instead of damage"),
    }
}

fn export(reader: &SessionReader, mode: &ExportMode) -> Result<u64> {
    reader.export(mode, &mut std::io::sink())
}

#[test]
fn a_missing_chunk_is_damage_to_every_reader() {
    for gap in [Gap::First, Gap::Middle, Gap::Last] {
        let (folder, store) = store();
        tear(&store, gap);
        let session = store.session("long").unwrap();
        let reader = session.reader().unwrap();
        let blobs = folder.path().join("blobs");
        for mode in [
            ExportMode::Current,
            ExportMode::Exact,
            ExportMode::Portable,
            ExportMode::References { blobs },
        ] {
            is_damage(export(&reader, &mode));
        }
        is_damage(reader.lines(0, |_| Ok(true)));
        is_damage(reader.get_entries(|_| Ok(true)));
        is_damage(reader.entries(.., &PageLimit { entries: 1000, bytes: u64::MAX }));
        is_damage(reader.message_texts(|_, _| Ok(true)));
        is_damage(reader.usage_statistics());
        is_damage(reader.get_path(None, |_| Ok(())));
        let up = PageLimit { entries: 1000, bytes: u64::MAX };
        is_damage(reader.path_backwards(None, &up));
        is_damage(reader.build_context(ContextLeaf::Current, None));
        is_damage(reader.build_full_history(ContextLeaf::Current, None));
        is_damage(reader.get_history(ContextLeaf::Current, crate::context::HistoryScope::Full));
        is_damage(reader.get_tree());
        is_damage(session.statistics());
        is_damage(store.fork_from("long", "/elsewhere"));
        is_damage(session.create_branched_session("0000018f"));
        let last = reader.facts().lines - 1;
        let missing = (0..=last).find(|&ordinal| reader.line(ordinal).is_err());
        is_damage(reader.line(missing.expect("one line at least is missing")));
        assert!(reader.line(last + 1).unwrap().is_none(), "behind the end there is none");
        let id = format!("{:08x}", missing.unwrap().max(1) - 1);
        is_damage(reader.get_entry(&id));
        is_damage(session.get_entry(&id));
        is_damage(reader.entries_around("00000064", 500, 500, &up));
        let found = session.verify().unwrap();
        assert!(!found.problems.is_empty());
    }
}

#[cfg(feature = "search")]
#[test]
fn the_search_index_does_not_take_a_torn_session_for_a_whole_one() {
    let (_folder, store) = store();
    tear(&store, Gap::Middle);
    let index = crate::search::SearchIndex::open_or_create(&store).unwrap();
    for _ in 0..2 {
        let done = index.update(|_| true).unwrap();
        assert_eq!(done.damaged.len(), 1);
        assert_eq!((&*done.damaged[0].session, done.sessions), ("long", 0));
        assert_eq!(index.lag().unwrap().sessions, 1);
    }
}

#[test]
fn a_node_of_a_kind_or_role_that_nobody_knows_is_damage() {
    let wrong: [fn(&mut Node); 2] = [|node| node.kind = 0xee, |node| node.role = 0x6e];
    for make_wrong in wrong {
        let (_folder, store) = store();
        let snapshot = store.snapshot().unwrap();
        let key = snapshot.key_of(b"long").unwrap().unwrap();
        let mut chunks = snapshot.rows(key).chunks_left();
        let chunk = chunks.next().unwrap().unwrap();
        let mut nodes = chunk.nodes().unwrap();
        make_wrong(&mut nodes[1]);
        store.damage_chunk(key, Ordinal::FIRST, chunk.with_nodes(&nodes)).unwrap();
        let reader = store.reader("long").unwrap();
        is_damage(reader.message_texts(|_, _| Ok(true)));
        is_damage(reader.usage_statistics());
        is_damage(reader.get_path(None, |_| Ok(())));
        is_damage(reader.get_tree());
        is_damage(reader.build_context(ContextLeaf::Current, None));
        let found = store.session("long").unwrap().verify().unwrap();
        assert!(!found.problems.is_empty());
    }
}

#[test]
fn a_torn_session_is_not_written_to() {
    let (_folder, store) = store();
    tear(&store, Gap::Last);
    let mut session = store.session("long").unwrap();
    is_damage(session.rewrite_entries(|_| Ok(None)));
    let mut session = store.session("long").unwrap();
    is_damage(session.append(crate::pi::Draft::model_change("a", "b")));
}

#[test]
fn a_whole_session_is_read_whole() {
    let (_folder, store) = store();
    let reader = store.reader("long").unwrap();
    assert_eq!(export(&reader, &ExportMode::Exact).unwrap(), reader.facts().bytes);
    assert_eq!(reader.get_path(None, |_| Ok(())).unwrap(), 400);
}
