//! Processes and threads that write to one store at once, and processes that are killed while they do.
//!
//! A writer reports each operation to its parent once the store has acknowledged it. Afterwards everything reported is
//! in the store, complete and in order, and of what was not reported at most the operation in progress.
//!
//! Guards against acknowledged entries that are lost, chains that fork, and rows that killed writers leave.

#![allow(clippy::unwrap_used, reason = "a test may fail anywhere")]
#![allow(unreachable_pub, reason = "a test is a crate of its own")]

mod kept;
mod killed;
#[path = "../place/mod.rs"]
mod place;
mod process;
mod together;
mod work;

use std::path::Path;

use leafline::export::ExportMode;
use leafline::live::Persistence;
use leafline::{Family, NewSession, Session, Store};
use serde_json::Value;

/// A session whose second entry names a parent that comes later.
const IRREGULAR: &str = concat!(
    r#"{"type":"session","version":3,"id":"irregular","timestamp":"2026-02-16T10:20:30.000Z","cwd":"/work"}"#,
    "\n",
    r#"{"type":"message","id":"a1","parentId":null,"timestamp":"2026-02-16T10:21:00.000Z","message":{"role":"user","content":"Hi"}}"#,
    "\n",
    r#"{"type":"message","id":"b2","parentId":"c3","timestamp":"2026-02-16T10:22:00.000Z","message":{"role":"user","content":"before its parent"}}"#,
    "\n",
    r#"{"type":"message","id":"c3","parentId":"a1","timestamp":"2026-02-16T10:23:00.000Z","message":{"role":"assistant","content":[]}}"#,
    "\n",
);

/// Numbers that look random and are the same in each run.
struct Chance(u64);

impl Chance {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % bound
    }
}

/// A session that is stored at once, with a header alone.
fn begin(store: &Store, id: &str) -> String {
    let mut new = NewSession::new(Family::Pi, "/work");
    new.id = Some(id.to_owned());
    new.persistence = Some(Persistence::keep_everything());
    store.create_session(&new).unwrap().id().to_owned()
}

/// The session's lines as its program would have them.
fn exported(session: &Session) -> Vec<u8> {
    let mut bytes = Vec::new();
    session.reader().unwrap().export(&ExportMode::Current, &mut bytes).unwrap();
    bytes
}

/// What a session has after its header.
fn body(exported: &[u8]) -> &[u8] {
    let header = exported.iter().position(|&byte| byte == b'\n').unwrap();
    &exported[header + 1..]
}

/// The entries of exported lines, in the order of the file.
fn entries(exported: &[u8]) -> Vec<Value> {
    let lines = exported.split_inclusive(|&byte| byte == b'\n').skip(1);
    lines.map(|line| serde_json::from_slice(line).expect("each line is whole")).collect()
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

/// Every table agrees with the lines, nothing is unfinished, and no lock is left.
fn assert_sound_and_swept(store: &Store, folder: &Path) {
    // An import, even of nothing, first sweeps.
    let nothing: [&Path; 0] = [];
    store.import(&nothing, &leafline::import::ImportOptions::default(), &mut ()).unwrap();
    let verification = store.verify().unwrap();
    assert!(verification.problems.is_empty(), "{:#?}", verification.problems);
    let unfinished = verification.remarks.iter().find(|remark| remark.kind == "unfinished");
    assert_eq!(unfinished, None);
    for entry in std::fs::read_dir(folder).unwrap() {
        let name = entry.unwrap().file_name();
        assert!(!name.to_string_lossy().starts_with(".leafline-tmp-"), "{name:?} is left");
    }
}
