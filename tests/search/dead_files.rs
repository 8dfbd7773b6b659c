//! Guards against files in an index's folder that no commit of the index names.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use leafline::live::Persistence;
use leafline::search::SearchIndex;
use leafline::{Family, NewSession, Session, Store};
use serde_json::{Value, json};

use super::model::updated;
use super::place::Place;

/// The folder of the store's only index.
fn index_folder(store: &Store) -> PathBuf {
    let mut folder = store.path().as_os_str().to_owned();
    folder.push(".search");
    let mut inner = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    inner.find(|path| path.is_dir()).unwrap()
}

fn names(folder: &Path) -> BTreeSet<String> {
    let entries = std::fs::read_dir(folder).unwrap();
    entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
}

/// The files in the folder that belong to no segment of the newest commit.
fn dead(folder: &Path) -> Vec<String> {
    let meta: Value =
        serde_json::from_slice(&std::fs::read(folder.join("meta.json")).unwrap()).unwrap();
    let segments: Vec<(String, u64)> = meta["segments"]
        .as_array()
        .unwrap()
        .iter()
        .map(|segment| {
            let id = segment["segment_id"].as_str().unwrap().replace('-', "");
            (id, segment["deletes"]["opstamp"].as_u64().unwrap_or_default())
        })
        .collect();
    let is_dead = |name: &String| {
        let Some((of, ending)) = name.split_once('.').filter(|(of, _)| of.len() == 32) else {
            return name.starts_with(".tmp");
        };
        let segment = segments.iter().find(|(id, _)| id == of);
        segment.is_none_or(|(_, deletes)| {
            ending.ends_with(".del") && ending != format!("{deletes}.del")
        })
    };
    names(folder).into_iter().filter(is_dead).collect()
}

fn begin(store: &Store) -> Session {
    let session = store.create_session(&NewSession::new(Family::Omp, "/work")).unwrap();
    session.with_persistence(Persistence::keep_everything())
}

fn say(session: &mut Session, text: &str) {
    session.append_message(&json!({"role": "user", "content": text})).unwrap();
}

#[test]
fn alternating_updates_leave_no_dead_files() {
    let place = Place::new();
    let mut session = begin(&place.store);
    say(&mut session, "first");
    let mine = updated(&place.store);
    // A second set of handles stands in for another process: it has its own list of files.
    let store = Store::open(place.store.path()).unwrap();
    let other = SearchIndex::open(&store).unwrap().unwrap();
    for round in 0..12 {
        say(&mut session, &format!("word{round}"));
        if round % 2 == 0 { &mine } else { &other }.update(|_| true).unwrap();
    }
    assert_eq!(dead(&index_folder(&store)), Vec::<String>::new());
}

#[test]
fn an_update_deletes_only_dead_files() {
    let place = Place::new();
    let mut session = begin(&place.store);
    say(&mut session, "first");
    let index = updated(&place.store);
    let folder = index_folder(&place.store);
    let id = "0123456789abcdef0123456789abcdef";
    let planted = [
        format!("{id}.idx"),
        format!("{id}.store"),
        format!("{id}.store.temp"),
        format!("{id}.17.del"),
        ".tmpaB3xY9".to_owned(),
    ];
    let others = ["notes.txt".to_owned(), format!("{id}.txt"), format!("{}.idx", &id[1..])];
    let folder_of_user = format!("{id}.fast");
    // One update has something to read, the other has nothing.
    for text in [Some("second"), None] {
        for name in planted.iter().chain(&others) {
            std::fs::write(folder.join(name), "left").unwrap();
        }
        text.into_iter().for_each(|text| say(&mut session, text));
        index.update(|_| true).unwrap();
        let left = names(&folder);
        assert!(planted.iter().all(|name| !left.contains(name)), "{left:?}");
        assert!(others.iter().all(|name| left.contains(name)), "{left:?}");
    }
    std::fs::create_dir(folder.join(&folder_of_user)).unwrap();
    index.update(|_| true).unwrap();
    assert!(folder.join(folder_of_user).is_dir());
}
