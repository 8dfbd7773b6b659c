//! Opal's sessions in a store: import and export, live sessions, and files that are imported again.
//!
//! Guards against trees and exports that Opal would read differently.

#![allow(clippy::unwrap_used, reason = "a test may fail anywhere")]

mod again;
mod corpus;
mod living;
mod model;
#[path = "../place/mod.rs"]
mod place;
mod segments;
mod sequences;

use leafline::import::ImportOptions;
use leafline::{Family, NewSession, Session, Store};
use serde_json::Value;

/// An empty Opal session.
fn begun(store: &Store) -> Session {
    store.create_session(&NewSession::new(Family::Opal, "/work")).unwrap()
}

/// The ids of the path to the leaf.
fn path(session: &Session) -> Vec<String> {
    let mut ids = Vec::new();
    session
        .reader()
        .unwrap()
        .get_path(None, |entry| {
            ids.extend(entry.id());
            Ok(())
        })
        .unwrap();
    ids
}

/// The session as a program finds it that reads its file.
fn exported(session: &Session) -> String {
    let mut bytes = Vec::new();
    let mode = leafline::export::ExportMode::default();
    session.reader().unwrap().export(&mode, &mut bytes).unwrap();
    String::from_utf8(bytes).unwrap()
}

/// The lines of an export as values: the header, then the messages.
fn values(session: &Session) -> Vec<Value> {
    exported(session).lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// A session out of a file with these bytes, in a store in memory.
fn imported(bytes: impl AsRef<[u8]>) -> Store {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("s.jsonl");
    std::fs::write(&file, bytes).unwrap();
    let store = Store::in_memory().unwrap();
    let totals = store.import(&[&file], &ImportOptions::default(), &mut ()).unwrap();
    assert_eq!(totals.imported, 1, "{totals:?}");
    store
}

fn assert_sound(store: &Store) {
    let verification = store.verify().unwrap();
    assert!(verification.problems.is_empty(), "{:#?}", verification.problems);
}
