//! Live sessions as an agent uses them: created, appended to, branched, rewritten, forked.
//!
//! Guards against lines, ids and leaves that are not those the program would have made.

#![allow(clippy::unwrap_used, reason = "a test may fail anywhere")]

mod beginning;
mod changing;
mod copying;
mod growing;
#[path = "../place/mod.rs"]
mod place;
mod reading;
mod refusing;

use leafline::export::ExportMode;
use leafline::live::Persistence;
use leafline::{Family, NewSession, Session, Store};
use serde_json::{Value, json};

/// A message of the user.
fn user(text: &str) -> Value {
    json!({"role": "user", "content": text, "timestamp": 1_760_000_000_000u64})
}

/// A message of the assistant.
fn assistant(text: &str) -> Value {
    json!({
        "role": "assistant",
        "content": [{"type": "text", "text": text}],
        "provider": "anthropic",
        "model": "claude-sonnet-4-5",
        "stopReason": "stop",
    })
}

/// A session that stores entries unchanged, whichever family's it is.
fn keeping_everything(family: Family) -> NewSession {
    let mut new = NewSession::new(family, "/work/project");
    new.persistence = Some(Persistence::keep_everything());
    new
}

/// The session's lines as its program would have them.
fn exported(session: &Session) -> String {
    let mut bytes = Vec::new();
    session.reader().unwrap().export(&ExportMode::Current, &mut bytes).unwrap();
    String::from_utf8(bytes).unwrap()
}

/// The ids of the path from the root to the leaf.
fn path(session: &Session) -> Vec<String> {
    let mut ids = Vec::new();
    let reader = session.reader().unwrap();
    reader
        .get_path(None, |entry| {
            ids.push(entry.id().unwrap());
            Ok(())
        })
        .unwrap();
    ids
}

fn leaf(session: &Session) -> Option<String> {
    session.reader().unwrap().get_leaf().unwrap().and_then(|entry| entry.id())
}

/// Every table of the store agrees with its lines.
fn assert_sound(store: &Store) {
    let verification = store.verify().unwrap();
    assert!(verification.problems.is_empty(), "{:#?}", verification.problems);
}
