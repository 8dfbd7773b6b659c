//! A process that stands still in the middle of a commit holds up no one who appends or reads.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::mpsc;
use std::time::Duration;

use leafline_generate::{Shape, generate};
use leafline_import::Family;
use tempfile::TempDir;

use super::worker::{begin, goes_on};
use crate::catalog::import::ImportOptions;
use crate::store::Store;
use crate::store::recorder::{self, STORE};

const ID: &str = "one";

/// A store with a session, and files to import.
struct Scene {
    folder: TempDir,
    files: Vec<PathBuf>,
}

/// At how many syncs an import stood, at how many of them its commit was not confirmed, and how often others did something then.
#[derive(Default)]
struct Stops {
    stops: usize,
    unconfirmed: usize,
    acts: usize,
}

fn append(store: &Store) {
    let mut session = store.session(ID).unwrap().with_persistence(goes_on());
    let message = serde_json::json!({"role": "user", "content": "more", "timestamp": 1});
    session.append_message(&message).unwrap();
}

fn entries(store: &Store) -> u64 {
    store.reader(ID).unwrap().facts().entries
}

impl Scene {
    /// The last of the files has so many bytes.
    fn new(bytes: u64) -> Self {
        let folder = tempfile::tempdir_in(super::memory()).unwrap();
        let files = [(1, 5_000), (2, 10_000), (3, bytes)].map(|(seed, bytes)| {
            let path = folder.path().join(format!("{seed}.jsonl"));
            let shape = Shape { seed, bytes, ..Shape::default() };
            generate(&shape, &mut File::create(&path).unwrap()).unwrap();
            path
        });
        let store = Store::open(folder.path().join("store")).unwrap();
        drop(begin(&store, ID, Family::Pi).unwrap());
        Self { folder, files: files.into() }
    }

    fn path(&self) -> PathBuf {
        self.folder.path().join("store")
    }

    /// Imports the files, and stops at each sync of the store until `act` has done something beside it; `None` of `act` where it
    /// was not tried.
    fn stop_import(&self, store: &Store, mut act: impl FnMut() -> Option<()> + Send) -> Stops {
        let record = recorder::record(&self.path());
        // While the engine opens a file to write it, which the first write does here, it holds its lock of the header, for which
        // all wait.
        let importer = Store::open(self.path()).unwrap();
        importer.reserve_sessions(1).unwrap();
        record.stop_syncs(STORE);
        let (ask, asked) = mpsc::channel();
        let (answer, answered) = mpsc::channel();
        let stops = std::thread::scope(|scope| {
            let import = scope.spawn(move || {
                // Closed here, too.
                let options = ImportOptions::default();
                let totals = importer.import(&self.files, &options, &mut ()).unwrap();
                assert_eq!(totals.imported, 3);
            });
            scope.spawn(move || {
                while let Ok(()) = asked.recv() {
                    answer.send(act()).unwrap();
                }
            });
            let mut seen = Stops::default();
            while !import.is_finished() {
                if record.stood() == seen.stops {
                    std::thread::sleep(Duration::from_micros(200));
                    continue;
                }
                seen.stops += 1;
                let is_unconfirmed = store.has_unconfirmed_commit();
                seen.unconfirmed += usize::from(is_unconfirmed);
                ask.send(()).unwrap();
                let Ok(acted) = answered.recv_timeout(Duration::from_secs(600)) else {
                    record.go_on(true);
                    panic!("it waits at stop {}, unconfirmed: {is_unconfirmed}", seen.stops);
                };
                seen.acts += usize::from(acted.is_some());
                record.go_on(false);
            }
            drop(ask);
            record.go_on(true);
            seen
        });
        recorder::end(&record);
        stops
    }
}

#[test]
fn appends_wait_at_no_moment_of_an_import() {
    let scene = Scene::new(50_000_000);
    let store = Store::open(scene.path()).unwrap();
    // The journal is in use from the second on.
    for _ in 0..3 {
        append(&store);
    }
    let Stops { stops, unconfirmed, acts } = scene.stop_import(&store, || {
        append(&store);
        Some(())
    });
    assert!(stops > 8 && unconfirmed > 3, "{stops} stops, {unconfirmed} unconfirmed");
    assert_eq!(acts, stops);
    assert_eq!(entries(&store), 3 + acts as u64);
    assert!(store.verify().unwrap().problems.is_empty());
}

/// Opens the store, appends to a session, reads it, and closes the store.
fn visit(path: &Path, expected: u64) {
    let store = Store::open(path).unwrap();
    append(&store);
    assert_eq!(entries(&store), expected);
}

#[test]
fn who_opens_the_store_beside_a_long_import_waits_for_none_of_its_commits() {
    // It takes several commits.
    let scene = Scene::new(150_000_000);
    let (path, store) = (scene.path(), Store::open(scene.path()).unwrap());
    let mut count = 0;
    let Stops { stops, unconfirmed, acts } = scene.stop_import(&store, || {
        // Nobody but the import begins the epoch, and ends it, for which others wait.
        let row = store.committed().unwrap().journal_row().unwrap();
        if row.epoch == 0 || store.is_epoch_ending() {
            return None;
        }
        count += 1;
        visit(&path, count);
        // A read through a store that has been open all the time finds it, too.
        assert_eq!(entries(&store), count);
        assert!(!store.sessions().unwrap().is_empty());
        Some(())
    });
    assert!(acts > 8 && unconfirmed > 3, "{stops} stops, {acts} visits, {unconfirmed} unconfirmed");
    assert!(stops - acts < 20, "{stops} stops, {acts} visits");
    assert_eq!(entries(&store), acts as u64);
    // The import has ended the epoch, and took its journal away.
    assert_eq!(store.committed().unwrap().journal_row().unwrap().epoch, 0);
    assert!(!store.journal_path().unwrap().exists());
    assert!(store.verify().unwrap().problems.is_empty());
}
