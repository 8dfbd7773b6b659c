//! Stores of earlier formats, as their versions of Leafline wrote them.
//!
//! Guards against an upgrade that loses or changes something, and against a change of a format that keeps its number:
//! every later version must read, upgrade and continue each store of tests/stores. They have the samples of
//! import/samples, a message that was appended to one of them, and a prompt. A new format adds a store here; none is
//! ever changed.

#![allow(clippy::unwrap_used, reason = "a test may fail anywhere")]

use std::path::{Path, PathBuf};

use leafline::export::ExportMode;
use leafline::import::ImportOptions;
use leafline::{Store, StoreOptions};

/// The session with the message that the samples lack, and its text.
const APPENDED_TO: &str = "019c7bd3-90ea-7b35-8c11-d4f2a86b0e59";
const APPENDED: &str = "And the legend?";

const FORMATS: [u64; 5] = [5, 6, 7, 8, 9];

/// A sample whose session the stores of format 8 and later had, and that was removed from them.
const REMOVED: &str = "import/samples/codex/sessions/2025";

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).to_owned()
}

/// A copy of the store of a format.
fn unpack(format: u64, folder: &Path) -> PathBuf {
    let packed = std::fs::File::open(root().join(format!("tests/stores/format-{format}.zst")));
    let path = folder.join("store.leafline");
    std::fs::write(&path, zstd::decode_all(packed.unwrap()).unwrap()).unwrap();
    path
}

/// The session files of the samples.
fn samples() -> Vec<PathBuf> {
    let mut files = Vec::new();
    let mut folders = vec![root().join("import/samples")];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|ending| ending == "jsonl") {
                files.push(path);
            }
        }
    }
    files
}

fn exact(store: &Store, session: &str) -> Vec<u8> {
    let mut bytes = Vec::new();
    store.reader(session).unwrap().export(&ExportMode::Exact, &mut bytes).unwrap();
    bytes
}

/// Checks that the store has what was put into all of them.
fn check(store: &Store) {
    let verification = store.verify().unwrap();
    assert!(verification.problems.is_empty(), "{:#?}", verification.problems);
    let mut exports: Vec<Vec<u8>> =
        store.sessions().unwrap().iter().map(|session| exact(store, &session.id)).collect();
    for sample in samples() {
        let bytes = std::fs::read(&sample).unwrap();
        let found = exports.iter().position(|export| {
            let is_longer = export.starts_with(&bytes)
                && String::from_utf8_lossy(&export[bytes.len()..]).contains(APPENDED);
            *export == bytes || is_longer
        });
        // Samples that are newer than the store are not in it.
        if let Some(place) = found {
            exports.remove(place);
        }
    }
    assert!(exports.is_empty(), "{} sessions are no sample's", exports.len());
    assert!(String::from_utf8_lossy(&exact(store, APPENDED_TO)).contains(APPENDED));
    assert_eq!(store.sessions().unwrap().len(), 13);
    let prompts = store.history().recent(5).unwrap();
    assert_eq!(
        prompts.iter().map(|entry| &*entry.prompt).collect::<Vec<_>>(),
        ["Why is the build slow?"]
    );
}

#[test]
fn stores_of_all_formats_are_read_as_they_are() {
    for format in FORMATS {
        let folder = tempfile::tempdir().unwrap();
        let path = unpack(format, folder.path());
        let before = std::fs::read(&path).unwrap();
        let options = StoreOptions { read_only: true, ..StoreOptions::default() };
        check(&Store::open_with(&path, &options).unwrap());
        assert!(std::fs::read(&path).unwrap() == before, "reading format {format} has written");
    }
}

#[test]
fn stores_of_all_formats_are_upgraded_and_gone_on_with() {
    for format in FORMATS {
        let folder = tempfile::tempdir().unwrap();
        let path = unpack(format, folder.path());
        // Twice: the second time it has the current format.
        for _ in 0..2 {
            check(&Store::open(&path).unwrap());
        }
        let store = Store::open(&path).unwrap();
        let before = exact(&store, APPENDED_TO);
        let mut session = store.session(APPENDED_TO).unwrap();
        session.append_message(&serde_json::json!({"role": "user", "content": "Go on."})).unwrap();
        assert!(exact(&store, APPENDED_TO).starts_with(&before));
        assert!(store.verify().unwrap().problems.is_empty());
    }
}

/// What was removed from a store stays so.
#[test]
fn removed_sessions_are_known_from_format_8_on() {
    for format in FORMATS {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(unpack(format, folder.path())).unwrap();
        let options = ImportOptions::default();
        let totals = store.import(&[root().join(REMOVED)], &options, &mut ()).unwrap();
        let expected = if format < 8 { (1, 0) } else { (0, 1) };
        assert_eq!((totals.imported, totals.removed), expected, "format {format}: {totals:?}");
    }
}

/// Processes that open a store of an earlier format at once upgrade it once.
#[test]
fn an_upgrade_side_by_side_is_one() {
    let folder = tempfile::tempdir().unwrap();
    let path = unpack(FORMATS[0], folder.path());
    std::thread::scope(|scope| {
        let openers: Vec<_> = (0..6).map(|_| scope.spawn(|| Store::open(&path).unwrap())).collect();
        for opener in openers {
            assert_eq!(opener.join().unwrap().sessions().unwrap().len(), 13);
        }
    });
    check(&Store::open(&path).unwrap());
}
