//! Torn records where a whole one follows.

use std::path::Path;

use leafline_import::Family;

use super::super::{Persistence, Session};
use super::disk::SECTOR;
use super::expected::found;
use super::worker::begin;
use crate::store::{Store, StoreOptions};

const ID: &str = "one";

/// A handle of the store, and its session.
struct Handle {
    store: Store,
    session: Session,
}

impl Handle {
    fn open(path: &Path) -> Self {
        let store = Store::open(path).unwrap();
        let session = store.session(ID).unwrap().with_persistence(Persistence::keep_everything());
        Self { store, session }
    }
}

/// A store that is only read.
fn reading(path: &Path) -> Store {
    let options = StoreOptions { read_only: true, ..StoreOptions::default() };
    Store::open_with(path, &options).unwrap()
}

fn entries(store: &Store) -> usize {
    found(store)[ID].entries.len()
}

/// Two handles and a session with so many appended messages, all of which are folded but those that follow `kept`. A copy
/// of the store is made before these, since the thread in the background may fold them.
fn filled(folder: &Path, count: usize, kept: usize) -> [Handle; 2] {
    let path = folder.join("store");
    begin(&Store::open(&path).unwrap(), ID, Family::Pi).unwrap();
    let mut handles = [0, 1].map(|_| Handle::open(&path));
    for number in 0..count {
        if number == kept {
            std::fs::copy(&path, folder.join("kept")).unwrap();
        }
        let text = format!("message{number:04}{}", "x".repeat(50_000));
        let message = serde_json::json!({"role": "user", "content": text, "timestamp": 1});
        handles[0].session.append_message(&message).unwrap();
        if number < kept {
            handles[1].store.sessions().unwrap();
        }
    }
    handles
}

/// Makes the record with which these bytes begin one whose writer does not know that those before it were synced.
fn forget_what_was_synced(record: &mut [u8]) {
    let length = u32::from_le_bytes(record[..4].try_into().unwrap());
    record[4..8].fill(0);
    let payload = &record[56..56 + usize::try_from(length).unwrap()];
    let check = xxhash_rust::xxh3::xxh3_64(&[&record[..48], payload].concat());
    record[48..56].copy_from_slice(&check.to_le_bytes());
}

#[test]
fn a_torn_record_before_a_whole_one_in_the_other_area() {
    let second_area = |folder: &Path| {
        let journal = std::fs::read(folder.join("store.journal")).unwrap_or_default();
        let middle = journal.len() / 2;
        journal.get(middle + 4096..).is_some_and(|area| area.iter().any(|byte| *byte != 0))
    };
    // The first message that is in the other area.
    let first = (3..100).find(|count| {
        let folder = tempfile::tempdir().unwrap();
        let handles = filled(folder.path(), *count, usize::MAX);
        let is_there = second_area(folder.path());
        drop(handles);
        is_there
    });
    let first = first.unwrap();
    let folder = tempfile::tempdir().unwrap();
    let handles = filled(folder.path(), first, first - 2);
    assert!(second_area(folder.path()));
    // Neither of the last two was synced, and of the one before the other area a part is lost.
    let left = tempfile::tempdir().unwrap();
    let mut journal = std::fs::read(folder.path().join("store.journal")).unwrap();
    let torn = format!("message{:04}", first - 2).into_bytes();
    let at = journal.windows(torn.len()).position(|bytes| bytes == torn).unwrap();
    journal[at..at + SECTOR].fill(0);
    let middle = journal.len() / 2;
    forget_what_was_synced(&mut journal[middle + 4096..]);
    std::fs::write(left.path().join("store.journal"), journal).unwrap();
    std::fs::copy(folder.path().join("kept"), left.path().join("store")).unwrap();
    drop(handles);
    assert_eq!(entries(&reading(&left.path().join("store"))), first - 2);
    // The whole one stays there, behind the end of the journal.
    for more in 0..3 {
        let mut handle = Handle::open(&left.path().join("store"));
        assert_eq!(entries(&handle.store), first - 2 + 2 * more);
        for _ in 0..2 {
            let message = serde_json::json!({"role": "user", "content": "more", "timestamp": 1});
            handle.session.append_message(&message).unwrap();
        }
    }
}
