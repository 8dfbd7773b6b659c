//! An index that follows its store.

use std::fs::File;
use std::io::Write;

use leafline::error::SearchError;
use leafline::import::ImportOptions;
use leafline::live::Persistence;
use leafline::omp::OmpSession;
use leafline::search::{SearchIndex, SearchQuery};
use leafline::{Error, Store, StoreOptions};
use leafline_generate::{Family, Shape, generate, random_tree_session};

use super::model::{assert_finds_everything, hits, updated};
use super::place::Place;

fn generated(seed: u64, bytes: u64, family: Family) -> Vec<u8> {
    let shape = Shape { seed, bytes, family, ..Shape::default() };
    let mut out = Vec::new();
    generate(&shape, &mut out).unwrap();
    out
}

#[test]
fn what_is_appended_rewritten_and_deleted() {
    let place = Place::new();
    for seed in 0..3 {
        let bytes = random_tree_session(seed, 40, Family::Omp);
        place.import(&place.write(&format!("{seed}.jsonl"), bytes));
    }
    let index = updated(&place.store);
    let first = place.store.sessions().unwrap().remove(0).id;
    let mut session =
        place.store.session(&first).unwrap().with_persistence(Persistence::keep_everything());
    for round in 0..6 {
        let text = format!("unheard{round} of");
        session.append_message(&serde_json::json!({"role": "user", "content": text})).unwrap();
        assert_eq!(index.lag().unwrap().sessions, 1);
        let done = index.update(|_| true).unwrap();
        // The new line and the last one before it.
        assert!(done.sessions == 1 && done.entries <= 2, "{done:?}");
        assert_eq!(hits(&index, &SearchQuery::new(format!("unheard{round}"))).len(), 1);
    }
    assert_finds_everything(&place.store, &index, 1);

    let changed = session
        .rewrite_entries(|entry| {
            let line = String::from_utf8_lossy(entry.line()).into_owned();
            Ok(line.contains("unheard3").then(|| line.replace("unheard3", "rewritten")))
        })
        .unwrap();
    assert_eq!(changed, 1);
    index.update(|_| true).unwrap();
    assert_eq!(hits(&index, &SearchQuery::new("unheard3")).len(), 0);
    assert_eq!(hits(&index, &SearchQuery::new("rewritten")).len(), 1);
    assert_eq!(hits(&index, &SearchQuery::new("unheard4")).len(), 1);
    assert_finds_everything(&place.store, &index, 2);

    // What is gone is not found, whether the index has been updated or not.
    place.store.remove(&first).unwrap();
    assert_eq!(hits(&index, &SearchQuery::new("unheard4")).len(), 0);
    assert_eq!(index.update(|_| true).unwrap().removed, 1);
    assert_finds_everything(&place.store, &index, 3);
}

#[test]
fn files_that_grow_and_are_replaced() {
    let place = Place::new();
    let bytes = generated(5, 300_000, Family::Claude);
    let path = place.path("session.jsonl");
    // Cut anywhere, also within a line.
    for share in [3, 40, 41, 77, 100] {
        std::fs::write(&path, &bytes[..bytes.len() * share / 100]).unwrap();
        place.import(&path);
        let index = updated(&place.store);
        assert_finds_everything(&place.store, &index, share as u64);
    }
    let other = generated(6, 100_000, Family::Claude);
    std::fs::write(&path, other).unwrap();
    place.import_with(&path, &ImportOptions { replace: true, ..ImportOptions::default() });
    let index = updated(&place.store);
    assert_finds_everything(&place.store, &index, 9);
}

#[test]
fn an_update_that_was_stopped_is_gone_on_with() {
    let place = Place::new();
    let whole = generated(8, 6_000_000, Family::Pi);
    place.import(&place.write("large.jsonl", whole));
    place.import(&place.write("small.jsonl", random_tree_session(3, 60, Family::Pi)));
    let index = SearchIndex::open_or_create(&place.store).unwrap();
    assert!(index.is_empty().unwrap());
    let all = index.lag().unwrap();
    assert_eq!(all.sessions, 2);
    let mut left = all.bytes;
    let mut stops = 0;
    loop {
        let mut read = 0;
        let done = index
            .update(|bytes| {
                read += bytes;
                read < 2_000_000
            })
            .unwrap();
        if done.is_complete {
            break;
        }
        stops += 1;
        let lag = index.lag().unwrap();
        assert!(lag.bytes < left && lag.sessions > 0, "{lag:?}");
        left = lag.bytes;
    }
    assert!(stops >= 2, "{stops}");
    assert_finds_everything(&place.store, &index, 4);
}

#[test]
fn an_index_is_of_one_store() {
    let place = Place::new();
    place.import(&place.write("one.jsonl", random_tree_session(1, 20, Family::Pi)));
    let folder = place.store.search_folder();
    assert!(SearchIndex::open(&place.store).unwrap().is_none());
    updated(&place.store);
    assert!(SearchIndex::open(&place.store).unwrap().is_some());

    // Another store in its place.
    let Place { folder: root, store } = place;
    let path = store.path().to_owned();
    drop(store);
    std::fs::remove_file(&path).unwrap();
    let store = Store::open(&path).unwrap();
    assert!(SearchIndex::open(&store).unwrap().is_none());
    assert_eq!(hits(&updated(&store), &SearchQuery::new("a*")).len(), 0);
    let folders =
        std::fs::read_dir(&folder).unwrap().filter(|entry| entry.as_ref().unwrap().path().is_dir());
    assert_eq!(folders.count(), 1);

    store.remove_search_index().unwrap();
    assert!(!folder.exists());
    store.remove_search_index().unwrap();
    drop(root);
}

#[test]
fn a_damaged_index_is_an_error_and_is_made_again() {
    let place = Place::new();
    let bytes = generated(2, 400_000, Family::Pi);
    place.import(&place.write("one.jsonl", bytes));
    drop(updated(&place.store));
    let mut folders = std::fs::read_dir(place.store.search_folder()).unwrap();
    let folder = folders.find_map(|entry| entry.ok().filter(|entry| entry.path().is_dir()));
    let files: Vec<_> = std::fs::read_dir(folder.unwrap().path())
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|ending| ending != "lock"))
        .collect();
    assert!(files.len() > 3, "{files:?}");
    for path in files {
        let whole = std::fs::read(&path).unwrap();
        for cut in [0, whole.len() / 2] {
            std::fs::write(&path, &whole[..cut]).unwrap();
            let outcome = SearchIndex::open(&place.store).and_then(|index| match index {
                Some(index) => index.search(&SearchQuery::new("the")).map(|_| ()),
                None => Ok(()),
            });
            if let Err(error) = outcome {
                assert!(matches!(error, Error::Search(SearchError::Index { .. })), "{error}");
            }
        }
        std::fs::write(&path, &whole).unwrap();
    }
    place.store.remove_search_index().unwrap();
    assert_finds_everything(&place.store, &updated(&place.store), 1);
}

#[test]
fn many_search_while_one_updates() {
    let place = Place::new();
    let path = place.write("one.jsonl", random_tree_session(1, 20, Family::Pi));
    place.import(&path);
    let index = updated(&place.store);
    let before = hits(&index, &SearchQuery::new("sentinel")).len();
    assert_eq!(before, 0);
    let read_only = StoreOptions { read_only: true, ..StoreOptions::default() };
    std::thread::scope(|scope| {
        let searching = scope.spawn(|| {
            let store = Store::open_with(place.store.path(), &read_only).unwrap();
            let index = SearchIndex::open(&store).unwrap().unwrap();
            let mut most = 0;
            while most < 30 {
                let found =
                    hits(&index, &SearchQuery { limit: 100, ..SearchQuery::new("sentinel") });
                assert!(found.len() >= most);
                most = found.len();
            }
        });
        for round in 0..30 {
            let line = format!(
                r#"{{"type":"message","id":"s{round:07}","parentId":null,"timestamp":"2026-03-01T10:00:00.000Z","message":{{"role":"user","content":"sentinel {round}"}}}}"#
            );
            let mut file = File::options().append(true).open(&path).unwrap();
            writeln!(file, "{line}").unwrap();
            place.import(&path);
            index.update(|_| true).unwrap();
        }
        searching.join().unwrap();
    });
    // One at a time writes.
    let other = Store::open(place.store.path()).unwrap();
    let second = SearchIndex::open(&other).unwrap().unwrap();
    assert!(second.update(|_| true).unwrap().is_complete);
}
