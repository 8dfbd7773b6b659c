//! Opening files that are stores, and files that are not.
//!
//! Guards against changing other people's files by opening them, and against refusing stores without a reason.

#![allow(clippy::unwrap_used, reason = "a test may fail anywhere")]

mod place;

use leafline::error::StoreError;
use leafline::import::ImportOptions;
use leafline::{Error, Store, StoreOptions};
use place::Place;

const SESSION: &str = "{\"type\":\"session\",\"version\":3,\"id\":\"s\"}\n{\"type\":\"message\",\"id\":\"a\",\"parentId\":null,\"message\":{\"role\":\"user\",\"content\":\"hi\"}}\n";

fn read_only() -> StoreOptions {
    StoreOptions { read_only: true, ..StoreOptions::default() }
}

#[test]
fn a_reader_writes_nothing_and_follows_a_writer() {
    let place = Place::new();
    place.import(&place.write("a.jsonl", SESSION));
    let path = place.store.path().to_owned();
    let reader = Store::open_with(&path, &read_only()).unwrap();
    assert_eq!(reader.sessions().unwrap().len(), 1);
    place.import(&place.write("b.jsonl", SESSION.replace("\"s\"", "\"t\"")));
    assert_eq!(reader.sessions().unwrap().len(), 2);
    assert!(matches!(reader.remove("s"), Err(Error::Store(StoreError::ReadOnly { .. }))));
    drop(reader);
    drop(place.store);
    let before = std::fs::read(&path).unwrap();
    let reader = Store::open_with(&path, &read_only()).unwrap();
    assert_eq!(reader.session("t").unwrap().get_entry("a").unwrap().ordinal(), 1);
    assert!(reader.verify().unwrap().problems.is_empty());
    drop(reader);
    assert!(std::fs::read(&path).unwrap() == before, "reading has written");
}

#[test]
fn only_a_store_is_opened() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("missing");
    for options in [read_only(), StoreOptions { create: false, ..StoreOptions::default() }] {
        assert!(matches!(
            Store::open_with(&path, &options),
            Err(Error::Store(StoreError::NotFound { .. }))
        ));
    }
    assert!(!path.exists());
    let text = folder.path().join("text.jsonl");
    for bytes in [SESSION.as_bytes(), &[0; 10_000], &[0xff; 100]] {
        std::fs::write(&text, bytes).unwrap();
        for options in [read_only(), StoreOptions::default()] {
            let error = Store::open_with(&text, &options).unwrap_err();
            assert!(matches!(error, Error::Store(StoreError::NotAStore { .. })), "{error}");
            assert_eq!(
                std::fs::read(&text).unwrap(),
                bytes,
                "a file that is not a store is left alone"
            );
        }
    }
}

#[test]
fn another_redb_database_is_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("other.redb");
    let database = redb::Database::create(&path).unwrap();
    let write = database.begin_write().unwrap();
    write.open_table(redb::TableDefinition::<u64, u64>::new("theirs")).unwrap();
    write.commit().unwrap();
    drop(database);
    for options in [read_only(), StoreOptions::default()] {
        assert!(matches!(
            Store::open_with(&path, &options),
            Err(Error::Store(StoreError::NotAStore { .. }))
        ));
    }
    let database = redb::Database::open(&path).unwrap();
    let write = database.begin_write().unwrap();
    assert_eq!(write.list_tables().unwrap().count(), 1);
}

#[test]
fn a_store_of_another_format_is_refused() {
    let place = Place::new();
    let path = place.store.path().to_owned();
    drop(place.store);
    let database = redb::Database::open(&path).unwrap();
    let write = database.begin_write().unwrap();
    write
        .open_table(redb::TableDefinition::<&str, u64>::new("meta"))
        .unwrap()
        .insert("format", 99)
        .unwrap();
    write.commit().unwrap();
    drop(database);
    let error = Store::open(&path).unwrap_err();
    let told = error.to_string();
    assert!(told.contains("format 99") && told.contains("import its sessions again"), "{told}");
}

#[test]
fn two_handles_write_by_turns() {
    let place = Place::new();
    let other = Store::open(place.store.path()).unwrap();
    for index in 0..5 {
        let path = place
            .write(&format!("{index}.jsonl"), SESSION.replace("\"s\"", &format!("\"s{index}\"")));
        let store = if index % 2 == 0 { &place.store } else { &other };
        store.import(&[path], &ImportOptions::default(), &mut ()).unwrap();
    }
    assert_eq!(place.store.sessions().unwrap().len(), 5);
    assert_eq!(other.sessions().unwrap().len(), 5);
    place.assert_sound();
}
