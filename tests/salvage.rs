//! What is saved of a damaged store.
//!
//! Guards against a session that was whole and is lost, and against one that is not what it was and is said to be.

#![allow(clippy::unwrap_used, reason = "a test may fail anywhere")]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use leafline::error::StoreError;
use leafline::export::ExportMode;
use leafline::import::ImportOptions;
use leafline::salvage::Salvage;
use leafline::{Error, Store, StoreOptions, pi};
use tempfile::TempDir;

const PI: &str = "019c6605-4c90-7d2a-9b41-5f0e3c77a1d2";
const OPAL: &str = "sess-5f1c";

/// What a session says of itself: facts, leaf, and lines.
type Said = BTreeMap<String, String>;

struct Scene {
    folder: TempDir,
    before: Said,
    bytes: Vec<u8>,
}

impl Scene {
    /// A store of the samples, in which a leaf was moved, a session removed, and prompts given.
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("store");
        let store = Store::open(&path).unwrap();
        let samples = Path::new(env!("CARGO_MANIFEST_DIR")).join("import/samples");
        let blobs = Some(samples.join("blobs"));
        let options = ImportOptions { blobs, ..ImportOptions::default() };
        store.import(&[samples], &options, &mut ()).unwrap();
        let mut session = store.session(PI).unwrap();
        let message = r#"{"role":"user","content":"of today","timestamp":1}"#;
        let first = session.append(pi::Draft::message(message).unwrap()).unwrap();
        session.append(pi::Draft::message(message).unwrap()).unwrap();
        session.branch(&first).unwrap();
        drop(session);
        store.remove(OPAL).unwrap();
        for number in 0..30 {
            store.history().add(&format!("prompt {number}"), Some("/work")).unwrap();
        }
        let before = said(&store);
        drop(store);
        let bytes = std::fs::read(&path).unwrap();
        Self { folder, before, bytes }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Salvages these bytes. Answers what was saved, and the new store.
    fn salvage(&self, bytes: &[u8]) -> Result<(Salvage, Store), Error> {
        let (damaged, new) = (self.path("damaged"), self.path("new"));
        std::fs::write(&damaged, bytes).unwrap();
        let _ = std::fs::remove_file(&new);
        let _ = std::fs::remove_dir_all(self.path("new.lines"));
        let salvage = Store::salvage(&damaged, &new)?;
        let options = StoreOptions { read_only: true, ..StoreOptions::default() };
        Ok((salvage, Store::open_with(&new, &options)?))
    }
}

fn said(store: &Store) -> Said {
    let mut said = Said::new();
    for facts in store.sessions().unwrap() {
        let reader = store.reader(&facts.id).unwrap();
        let mut lines = Vec::new();
        reader.export(&ExportMode::Exact, &mut lines).unwrap();
        let leaf = reader.get_leaf_id().unwrap();
        let facts = serde_json::to_string(&facts).unwrap();
        if reader.facts().migrated {
            // Its lines as they are now, if the imported ones are lost.
            reader.export(&ExportMode::Current, &mut lines).unwrap();
        }
        let text = format!("{leaf:?}\n{facts}\n{}", String::from_utf8_lossy(&lines));
        said.insert(reader.id().to_owned(), text);
    }
    said
}

#[test]
fn all_is_taken_over_from_a_whole_store() {
    let scene = Scene::new();
    let (salvage, new) = scene.salvage(&scene.bytes).unwrap();
    assert!(salvage.is_complete(), "{salvage:?}");
    assert_eq!(salvage.whole, scene.before.len() as u64);
    assert!(salvage.damaged.is_empty(), "{salvage:?}");
    assert_eq!((salvage.pages, salvage.prompts), (0, 30));
    assert_eq!(said(&new), scene.before);
    // A removed session stays removed.
    let samples = Path::new(env!("CARGO_MANIFEST_DIR")).join("import/samples/opal");
    let new = Store::open(scene.path("new")).unwrap();
    let totals = new.import(&[samples], &ImportOptions::default(), &mut ()).unwrap();
    assert_eq!(totals.imported, 0, "{totals:?}");
}

/// Lines of a session that were not in it before.
fn made_up(before: &str, after: &str) -> usize {
    let before: std::collections::HashSet<&str> = before.lines().skip(2).collect();
    after.lines().skip(2).filter(|line| !before.contains(line)).count()
}

#[test]
fn with_any_page_lost_the_other_sessions_are_as_they_were() {
    let scene = Scene::new();
    let pages = scene.bytes.len() / 4096;
    let (mut complete, mut lost) = (0, 0);
    for page in 0..pages {
        let mut bytes = scene.bytes.clone();
        bytes[page * 4096..(page + 1) * 4096].fill(0);
        let (salvage, new) = match scene.salvage(&bytes) {
            Ok(salvaged) => salvaged,
            Err(error) => panic!("page {page}: {error}"),
        };
        assert!(salvage.problems.is_empty(), "page {page}: {:?}", salvage.problems);
        let after = said(&new);
        let damaged: Vec<&str> =
            salvage.damaged.iter().map(|session| session.id.as_str()).collect();
        for (id, before) in &scene.before {
            match after.get(id) {
                Some(after) if damaged.contains(&id.as_str()) => {
                    let of = salvage.damaged.iter().find(|session| session.id == *id).unwrap();
                    let header = usize::from(after.lines().nth(2) != before.lines().nth(2))
                        + of.without_blobs.len();
                    assert!(
                        made_up(before, after) <= header,
                        "page {page}, session {id}: {salvage:#?}"
                    );
                }
                Some(after) => assert_eq!(after, before, "page {page}, session {id}"),
                None => {
                    let is_told = damaged.contains(&id.as_str()) || salvage.lost.contains(id);
                    assert!(is_told, "page {page}: {id} is gone: {salvage:?}");
                    lost += 1;
                }
            }
        }
        assert!(
            after.keys().all(|id| scene.before.contains_key(id) || damaged.contains(&id.as_str())),
            "page {page}"
        );
        complete += usize::from(salvage.is_complete());
    }
    println!("{complete} of {pages} complete, {lost} sessions lost");
    assert!(complete > pages / 3, "{complete} of {pages}");
}

#[test]
fn a_session_whose_record_has_a_damaged_id_keeps_its_own() {
    let scene = Scene::new();
    let ids = |said: &Said| said.keys().cloned().collect::<Vec<_>>();
    let is_id = |at: &usize| scene.bytes[*at..].starts_with(PI.as_bytes());
    let mut damaged = 0;
    for at in (0..scene.bytes.len()).filter(is_id) {
        let mut bytes = scene.bytes.clone();
        bytes[at + 3] ^= 4;
        let (salvage, new) = scene.salvage(&bytes).unwrap();
        assert!(salvage.problems.is_empty(), "byte {at}: {:?}", salvage.problems);
        assert_eq!(ids(&said(&new)), ids(&scene.before), "byte {at}: {salvage:?}");
        damaged += usize::from(salvage.damaged.iter().any(|session| session.id == PI));
    }
    assert!(damaged > 0);
}

#[test]
fn a_prompt_with_a_damaged_number_is_numbered_again() {
    let scene = Scene::new();
    // The keys of a page of prompts, one after the other.
    let keys: Vec<u8> = (0..30_u64).flat_map(u64::to_le_bytes).collect();
    for (number, byte, bits) in [(7, 5, 1), (29, 7, 0x80), (3, 3, 0x40)] {
        let mut bytes = scene.bytes.clone();
        let pages: Vec<usize> =
            (0..bytes.len() - keys.len()).filter(|at| bytes[*at..].starts_with(&keys)).collect();
        assert!(!pages.is_empty());
        for page in pages {
            bytes[page + 8 * number + byte] ^= bits;
        }
        let (salvage, new) = scene.salvage(&bytes).unwrap();
        assert!(salvage.problems.is_empty(), "{:?}", salvage.problems);
        assert!(salvage.history_is_damaged && !salvage.is_complete());
        let prompts = new.history().recent(100).unwrap();
        assert_eq!((salvage.prompts, prompts.len()), (30, 30));
        assert_eq!(said(&new), scene.before);
    }
}

#[test]
fn what_is_no_store_gives_nothing() {
    let scene = Scene::new();
    for bytes in [&b""[..], b"a text", &[0; 9000], &[7; 9000]] {
        let error = scene.salvage(bytes).unwrap_err();
        assert!(matches!(error, Error::Store(StoreError::NotAStore { .. })), "{error}");
        assert!(!scene.path("new").exists());
    }
    std::fs::write(scene.path("there"), "mine").unwrap();
    let error = Store::salvage(scene.path("store"), scene.path("there")).unwrap_err();
    assert!(matches!(error, Error::File { .. }), "{error}");
    assert_eq!(std::fs::read(scene.path("there")).unwrap(), b"mine");
}

/// Where the pages of a file begin that have a text.
fn pages_with(bytes: &[u8], text: &[u8]) -> Vec<usize> {
    let pages = bytes.chunks(4096).enumerate();
    let has = |page: &[u8]| page.windows(text.len()).any(|window| window == text);
    pages.filter(|(_, page)| has(page)).map(|(number, _)| number * 4096).collect()
}

#[test]
fn facts_of_a_damaged_record_are_never_taken() {
    let scene = Scene::new();
    let cwd = b"/work/flipped-facts";
    let path = scene.path("facts");
    let store = Store::open(&path).unwrap();
    let mut new = leafline::NewSession::new(leafline::Family::Opal, "/work/flipped-facts");
    new.persistence = None;
    let session = store.create_session(&new).unwrap();
    let id = session.id().to_owned();
    drop(session);
    drop(store);
    let whole = std::fs::read(&path).unwrap();
    let mut told = 0;
    for page in pages_with(&whole, cwd) {
        let is_cwd = |at: &usize| whole[*at..].starts_with(cwd);
        for at in (page..page + 4096 - cwd.len()).filter(is_cwd) {
            let mut bytes = whole.clone();
            bytes[at + cwd.len() - 1] ^= 1;
            let (salvage, new) = scene.salvage(&bytes).unwrap();
            for facts in new.sessions().unwrap() {
                assert_ne!(facts.cwd.as_deref(), Some("/work/flipped-factr"), "{salvage:?}");
            }
            let named = salvage.damaged.iter().map(|session| &session.id).chain(&salvage.lost);
            told += usize::from(named.into_iter().any(|named| *named == id));
        }
    }
    assert!(told > 0);
}
