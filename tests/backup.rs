//! Backups of a store that is in use.
//!
//! Guards against a copy that lacks rows, mixes two states, is brought up to date with the wrong store, or is lost when its
//! making fails.

#![allow(clippy::unwrap_used, reason = "a test may fail anywhere")]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use leafline::backup::{Backup, BackupOptions};
use leafline::error::{ExportError, StoreError, StoreFile};
use leafline::export::ExportMode;
use leafline::import::ImportOptions;
use leafline::live::Persistence;
use leafline::{Error, Family, NewSession, Session, Store, StoreOptions, pi};
use tempfile::TempDir;

const PI: &str = "019c6605-4c90-7d2a-9b41-5f0e3c77a1d2";
const OMP: &str = "019c7bd3-90ea-7b35-8c11-d4f2a86b0e59";

/// A folder with a store of the samples, and its backup to be.
struct Scene {
    folder: TempDir,
    store: Store,
}

impl Scene {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(folder.path().join("store")).unwrap();
        let scene = Self { folder, store };
        let samples = Path::new(env!("CARGO_MANIFEST_DIR")).join("import/samples");
        let blobs = Some(samples.join("blobs"));
        let options = ImportOptions { blobs, ..ImportOptions::default() };
        let totals = scene.store.import(&[samples], &options, &mut ()).unwrap();
        assert_eq!(totals.failed, 0);
        for number in 0..20 {
            scene.store.history().add(&format!("prompt {number}"), Some("/work")).unwrap();
        }
        scene
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn back_up(&self, options: &BackupOptions) -> Result<Backup, Error> {
        self.store.backup(self.path("backup"), options, |_| {})
    }

    /// Brings the backup up to date, and compares it with the store: by what both say, and row by row.
    fn compare(&self) -> Backup {
        let backup = self.back_up(&BackupOptions::default()).unwrap();
        let opened = opened(&self.path("backup"));
        assert_eq!(said(&opened), said(&self.store));
        let problems = opened.verify().unwrap().problems;
        assert!(problems.is_empty(), "{problems:?}");
        drop(opened);
        let all = BackupOptions { compare_all: true, ..BackupOptions::default() };
        assert_eq!(self.back_up(&all).unwrap().rows, 0);
        backup
    }
}

/// The store in a file, to be read.
fn opened(path: &Path) -> Store {
    let options = StoreOptions { read_only: true, ..StoreOptions::default() };
    Store::open_with(path, &options).unwrap()
}

/// All that a store says: its sessions' facts, leaves and lines, the rows of its tables, and the prompts.
fn said(store: &Store) -> BTreeMap<String, String> {
    let mut said = BTreeMap::new();
    for facts in store.sessions().unwrap() {
        let reader = store.reader(&facts.id).unwrap();
        let mut lines = Vec::new();
        reader.export(&ExportMode::Exact, &mut lines).unwrap();
        let leaf = reader.get_leaf_id().unwrap();
        let facts = serde_json::to_string(&facts).unwrap();
        let text = format!("{facts}\n{leaf:?}\n{}", String::from_utf8_lossy(&lines));
        said.insert(reader.id().to_owned(), text);
    }
    for table in store.statistics().unwrap().tables {
        // What differs: a backup is marked.
        if table.name != "meta" {
            said.insert(table.name, table.rows.to_string());
        }
    }
    let prompts = store.history().recent(100).unwrap();
    said.insert("prompts".to_owned(), serde_json::to_string(&prompts).unwrap());
    said
}

fn append(session: &mut Session, text: &str) -> String {
    let message = serde_json::json!({"role": "user", "content": text, "timestamp": 1});
    session.append(pi::Draft::message(&message.to_string()).unwrap()).unwrap()
}

fn begin(store: &Store, id: &str) -> Session {
    let mut new = NewSession::new(Family::Pi, "/work");
    new.id = Some(id.to_owned());
    new.persistence = Some(Persistence::keep_everything());
    store.create_session(&new).unwrap()
}

#[test]
fn a_backup_has_every_row_and_follows_every_change() {
    let scene = Scene::new();
    let sessions = scene.store.sessions().unwrap().len() as u64;
    let first = scene.compare();
    assert!(first.is_new);
    assert_eq!((first.sessions, first.changed, first.removed), (sessions, sessions, 0));
    let same = scene.compare();
    assert_eq!((same.is_new, same.changed, same.removed, same.rows), (false, 0, 0, 0));

    // Appended, in the journal alone.
    let mut session = scene.store.session(PI).unwrap();
    let first = append(&mut session, "one");
    append(&mut session, "two");
    append(&mut session, "three");
    assert!(scene.path("store.journal").exists());
    let appended = scene.compare();
    assert_eq!((appended.changed, appended.removed), (1, 0));

    session.branch(&first).unwrap();
    assert_eq!(scene.compare().changed, 1);
    scene.store.history().add("another", None).unwrap();
    let prompted = scene.compare();
    assert_eq!(prompted.changed, 0);
    assert!(prompted.rows > 0);

    // Its blob goes with it.
    scene.store.remove(OMP).unwrap();
    let removed = scene.compare();
    assert_eq!((removed.sessions, removed.changed, removed.removed), (sessions - 1, 0, 1));
    let mut made = begin(&scene.store, "new");
    append(&mut made, "a new one");
    assert_eq!(scene.compare().changed, 1);
}

#[test]
fn a_backup_is_one_moment_of_a_store_that_is_written() {
    let scene = Scene::new();
    let mut sessions: Vec<Session> =
        (0..2).map(|number| begin(&scene.store, &format!("live-{number}"))).collect();
    let is_over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let writer = scope.spawn(|| {
            // Always in the first before in the second.
            for number in 0.. {
                sessions.iter_mut().for_each(|session| drop(append(session, &number.to_string())));
                if is_over.load(Ordering::Relaxed) {
                    return number;
                }
            }
            0
        });
        let mut before = 0;
        for _ in 0..10 {
            scene.back_up(&BackupOptions::default()).unwrap();
            let backup = opened(&scene.path("backup"));
            let [first, second] = [0, 1]
                .map(|number| backup.reader(&format!("live-{number}")).unwrap().facts().entries);
            assert!(first == second || first == second + 1, "{first} and {second}");
            assert!(first >= before);
            before = first;
            let problems = backup.verify().unwrap().problems;
            assert!(problems.is_empty(), "{problems:?}");
        }
        is_over.store(true, Ordering::Relaxed);
        assert!(writer.join().unwrap() > 0);
    });
    drop(sessions);
    scene.compare();
}

#[test]
fn a_file_that_is_no_backup_of_the_store_is_left_alone() {
    let scene = Scene::new();
    let to = |name: &str| {
        scene.store.backup(scene.path(name), &BackupOptions::default(), |_| {}).unwrap_err()
    };
    let is_not_a_backup =
        |error: &Error| matches!(error, Error::Store(StoreError::NotABackup { .. }));

    drop(begin(&Store::open(scene.path("other")).unwrap(), "mine"));
    assert!(is_not_a_backup(&to("other")));
    assert_eq!(opened(&scene.path("other")).sessions().unwrap().len(), 1);

    std::fs::write(scene.path("text"), "a text that somebody wrote").unwrap();
    assert!(matches!(to("text"), Error::Store(StoreError::NotAStore { .. })));
    assert!(matches!(to("."), Error::Store(StoreError::NotAStore { .. })));

    std::fs::hard_link(scene.path("store"), scene.path("link")).unwrap();
    for name in ["store", "link"] {
        let error = to(name);
        let is_it = matches!(
            error,
            Error::Export(ExportError::WouldReplaceStore { file: StoreFile::InUse, .. })
        );
        assert!(is_it, "{error}");
    }

    // A copy that was put to use has sessions of its own.
    scene.compare();
    drop(begin(&Store::open(scene.path("backup")).unwrap(), "mine"));
    let error = scene.back_up(&BackupOptions::default()).unwrap_err();
    assert!(is_not_a_backup(&error), "{error}");
    assert!(opened(&scene.path("backup")).reader("mine").is_ok());
}

#[test]
fn a_backup_is_put_back_by_copying_it() {
    let scene = Scene::new();
    let mut session = begin(&scene.store, "live");
    append(&mut session, "kept");
    scene.compare();
    let before = said(&scene.store);
    for number in 0..3 {
        append(&mut session, &format!("{number} after the backup"));
    }
    drop(session);
    let Scene { folder, store } = scene;
    drop(store);
    let store = folder.path().join("store");
    std::fs::copy(folder.path().join("backup"), &store).unwrap();
    let restored = Store::open(&store).unwrap();
    assert_eq!(said(&restored), before);
    let mut session = restored.session("live").unwrap();
    append(&mut session, "goes on");
    append(&mut session, "and on");
    assert_eq!(restored.reader("live").unwrap().facts().entries, 3);
}

#[test]
fn a_damaged_store_leaves_its_backup_as_it_is() {
    let scene = Scene::new();
    scene.compare();
    let before = said(&opened(&scene.path("backup")));
    let Scene { folder, store } = scene;
    drop(store);
    let path = folder.path().join("store");
    let whole = std::fs::read(&path).unwrap();
    let pages = whole.len() / 4096;
    let mut refused = 0;
    for page in 1..pages {
        let mut damaged = whole.clone();
        damaged[page * 4096..(page + 1) * 4096].fill(0);
        std::fs::write(&path, damaged).unwrap();
        let all = BackupOptions { compare_all: true, ..BackupOptions::default() };
        let Ok(store) = Store::open(&path) else { continue };
        match store.backup(folder.path().join("backup"), &all, |_| {}) {
            // The page is of no table.
            Ok(backup) => assert_eq!(backup.rows, 0),
            Err(error) => {
                assert!(matches!(error, Error::Corrupted(_)), "{error}");
                refused += 1;
            }
        }
        let new = folder.path().join("new");
        match store.backup(&new, &BackupOptions::default(), |_| {}) {
            Ok(_) => {
                assert_eq!(said(&opened(&new)), before);
                std::fs::remove_file(&new).unwrap();
            }
            Err(error) => {
                assert!(matches!(error, Error::Corrupted(_)), "{error}");
                assert!(!new.exists());
            }
        }
    }
    assert!(refused > 10, "{refused}");
    assert_eq!(said(&opened(&folder.path().join("backup"))), before);
    // Nothing is left of those that were begun.
    let names: Vec<_> =
        std::fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert!(names.iter().all(|name| !name.to_string_lossy().starts_with('.')), "{names:?}");
}

#[test]
fn damage_to_a_backup_is_noticed_when_it_is_brought_up_to_date() {
    let scene = Scene::new();
    scene.back_up(&BackupOptions::default()).unwrap();
    let path = scene.path("backup");
    let whole = std::fs::read(&path).unwrap();
    let quick = BackupOptions { quick: true, ..BackupOptions::default() };
    let (mut damaged, mut unnoticed) = (0, 0);
    for page in (1..whole.len() / 4096).step_by(7) {
        let mut bytes = whole.clone();
        bytes[page * 4096 + 100] ^= 4;
        std::fs::write(&path, &bytes).unwrap();
        // Pages that are not in use say nothing.
        let read_only = StoreOptions { read_only: true, ..StoreOptions::default() };
        let verified = Store::open_with(&path, &read_only).and_then(|store| store.verify());
        if verified.is_ok_and(|verified| verified.problems.is_empty()) {
            continue;
        }
        damaged += 1;
        assert!(scene.back_up(&BackupOptions::default()).is_err(), "page {page}");
        std::fs::write(&path, &bytes).unwrap();
        unnoticed += usize::from(scene.back_up(&quick).is_ok());
    }
    assert!(damaged > 5 && unnoticed > damaged / 4, "{damaged}, {unnoticed}");
}
