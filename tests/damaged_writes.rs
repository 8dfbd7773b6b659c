//! Writes to a store with a damaged page.
//!
//! Guards against a damaged page that costs sessions whose pages are whole: a write that meets it fails, and the open store goes
//! on with the others.

#![allow(clippy::unwrap_used, reason = "a test may fail anywhere")]

use leafline::opal::{Draft, OpalSession};
use leafline::{Error, Family, NewSession, Store};

const PAGE: usize = 4096;
const SESSIONS: usize = 24;

fn append(store: &Store, id: &str) -> leafline::Result<()> {
    store.session(id)?.append_many([Draft::user(&"more ".repeat(60))]).map(drop)
}

#[test]
fn a_write_that_meets_damage_fails_and_others_do_not() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store");
    let store = Store::open(&path).unwrap();
    let mut ids = Vec::new();
    for _ in 0..SESSIONS {
        let session = store.create_session(&NewSession::new(Family::Opal, "/work")).unwrap();
        ids.push(session.id().to_owned());
        drop(session);
        for _ in 0..3 {
            append(&store, ids.last().unwrap()).unwrap();
        }
    }
    drop(store);
    let whole = std::fs::read(&path).unwrap();
    let (mut partly, mut refused) = (0, 0);
    for page in 1..whole.len() / PAGE {
        let mut bytes = whole.clone();
        bytes[page * PAGE + PAGE / 2] ^= 16;
        std::fs::write(&path, &bytes).unwrap();
        let _ = std::fs::remove_file(folder.path().join("store.journal"));
        let Ok(store) = Store::open(&path) else {
            refused += 1;
            continue;
        };
        let mut failed = Vec::new();
        let mut done = Vec::new();
        for id in &ids {
            match append(&store, id) {
                Ok(()) if failed.is_empty() => {}
                Ok(()) => done.push(id),
                Err(Error::Corrupted(_)) => failed.push(id),
                Err(error) => panic!("page {page}: {error}"),
            }
        }
        if !failed.is_empty() && !done.is_empty() {
            partly += 1;
        }
        drop(store);
        // What was acknowledged after the first failure is there.
        let Ok(store) = Store::open(&path) else { continue };
        for id in done {
            let count = store.reader(id).and_then(|reader| {
                let mut count = 0;
                reader.get_entries(|_| {
                    count += 1;
                    Ok(true)
                })?;
                Ok(count)
            });
            match count {
                Ok(count) => assert_eq!(count, 4, "page {page}, {id}"),
                Err(Error::Corrupted(_)) => {}
                Err(error) => panic!("page {page}: {error}"),
            }
        }
    }
    assert!(partly > 0, "{refused} were not opened");
    println!("{partly} partly, {refused} not opened");
}
