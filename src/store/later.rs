//! A store that others had open to be written when it was opened: its engine is opened to be written when something goes into the
//! tables.
//!
//! The engine opens a file to be written within a write transaction, for which it waits. Who reads, or appends to the journal,
//! needs none.

use std::path::PathBuf;
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use redb::{Database, ReadOnlyDatabase, ReadTransaction, ReadableDatabase, TransactionError};

use super::StoreOptions;
use super::engine_file::{EngineFile, Turn};
use super::opening;
use super::writing::Engine;
use crate::error::Result;

/// How long the turn is waited for: who has it may be a stopped process.
const PATIENCE: Duration = Duration::from_millis(250);

/// How long before it is tried again.
const PAUSE: Duration = Duration::from_micros(500);

/// An open file that is read, and written when it has to be.
pub(super) struct Later {
    reading: Engine<ReadOnlyDatabase>,
    writing: OnceLock<Writable>,
    /// Held by the thread that opens it to be written.
    opening: Mutex<()>,
    /// The open file, which has all locks of the store's own, and where it was found.
    file: EngineFile,
    path: PathBuf,
    options: StoreOptions,
}

/// The same file as the engine writes it.
pub(super) struct Writable {
    pub(super) database: Engine<Database>,
    pub(super) file: EngineFile,
}

impl Later {
    pub(super) fn new(
        reading: Engine<ReadOnlyDatabase>,
        file: EngineFile,
        path: PathBuf,
        options: StoreOptions,
    ) -> Self {
        Self { reading, writing: OnceLock::new(), opening: Mutex::default(), file, path, options }
    }

    /// The database to write, which waits for one transaction of another process if it is not open yet.
    pub(super) fn database(&self) -> Result<&Database> {
        let _turn = self.opening.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(writing) = self.writing.get() {
            return Ok(&writing.database);
        }
        let opened = opening::open_again(&self.file, &self.path, &self.options)?;
        Ok(&self.writing.get_or_init(|| opened).database)
    }

    /// Reads through the one that writes, if there is one: the caches of both need not grow.
    pub(super) fn begin_read(&self) -> Result<ReadTransaction, TransactionError> {
        match self.writing.get() {
            Some(writing) => writing.database.begin_read(),
            None => self.reading.begin_read(),
        }
    }

    /// Waits for the turn to open it to be written. `None` if it is, and if that takes too long, or there is no such lock: it is only
    /// there so that others need not open it, too.
    pub(super) fn take_turn(&self) -> Option<Turn<'_>> {
        let begun = Instant::now();
        while self.writing.get().is_none() && begun.elapsed() < PATIENCE {
            if let Some(turn) = self.file.try_take_turn().ok()? {
                return Some(turn);
            }
            std::thread::sleep(PAUSE);
        }
        None
    }

    /// Whether it is not open to be written, and another process writes.
    pub(super) fn would_wait(&self) -> bool {
        self.writing.get().is_none() && self.file.is_written_elsewhere().unwrap_or(true)
    }

    /// The open file that the engine writes, if it does.
    pub(super) fn written(&self) -> Option<&EngineFile> {
        self.writing.get().map(|writing| &writing.file)
    }
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;
    use std::time::{Duration, Instant};

    use leafline_import::Family;
    use serde_json::json;
    use tempfile::TempDir;

    use crate::error::{Error, StoreError};
    use crate::session::Persistence;
    use crate::store::{Handle, Store};
    use crate::{NewSession, Session};

    /// A store whose journal is in use, and another handle, opened meanwhile.
    struct Scene {
        folder: TempDir,
        first: Store,
        later: Store,
        id: String,
    }

    fn new_session(store: &Store) -> Session {
        let mut new = NewSession::new(Family::Pi, "/work");
        new.persistence = Some(Persistence::keep_everything());
        store.create_session(&new).unwrap()
    }

    fn append(store: &Store, id: &str, text: &str) {
        let message = json!({"role": "user", "content": text, "timestamp": 1});
        store.session(id).unwrap().append_message(&message).unwrap();
    }

    fn entries(store: &Store, id: &str) -> u64 {
        store.reader(id).unwrap().facts().entries
    }

    /// A new store with a session, and its path.
    fn begin() -> (TempDir, PathBuf, Store, String) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("store");
        let store = Store::open(&path).unwrap();
        let id = new_session(&store).id().to_owned();
        (folder, path, store, id)
    }

    impl Scene {
        fn new() -> Self {
            let (folder, path, first, id) = begin();
            for text in ["one", "two", "three"] {
                append(&first, &id, text);
            }
            let later = Store::open(&path).unwrap();
            Self { folder, first, later, id }
        }

        fn is_open_to_write(&self) -> bool {
            match &self.later.shared.handle {
                Handle::Later(later) => later.written().is_some(),
                handle => panic!("{handle:?}"),
            }
        }
    }

    #[test]
    fn it_is_opened_to_be_written_by_the_first_change_of_the_tables() {
        for is_first_left in [true, false] {
            let scene = Scene::new();
            append(&scene.later, &scene.id, "four");
            assert!(!scene.is_open_to_write());
            // What it appended is seen, and that of the other one, while both go on.
            append(&scene.first, &scene.id, "five");
            assert_eq!([&scene.first, &scene.later].map(|store| entries(store, &scene.id)), [5; 2]);
            let other = new_session(&scene.later).id().to_owned();
            assert!(scene.is_open_to_write());
            append(&scene.first, &other, "six");
            append(&scene.later, &other, "seven");
            let Scene { folder, first, later, id } = scene;
            if is_first_left {
                drop(first);
                append(&later, &id, "eight");
                assert!(later.verify().unwrap().problems.is_empty());
                drop(later);
            } else {
                drop(later);
                append(&first, &id, "eight");
                assert!(first.verify().unwrap().problems.is_empty());
                drop(first);
            }
            let path = folder.path().join("store");
            // The last one to close it left a file that needs no recovery, and that has all.
            assert_eq!(std::fs::read(&path).unwrap()[9] & 2, 0);
            assert!(!folder.path().join("store.journal").exists());
            let store = Store::open(&path).unwrap();
            assert_eq!([id, other].map(|id| entries(&store, &id)), [6, 2]);
        }
    }

    #[test]
    fn a_store_is_opened_and_read_while_another_process_writes_it() {
        let (_folder, path, first, id) = begin();
        assert_eq!(first.committed().unwrap().journal_row().unwrap().epoch, 0);
        let transaction = first.begin_write().unwrap();
        let (send, received) = std::sync::mpsc::channel();
        std::thread::scope(|scope| {
            scope.spawn(|| send.send(entries(&Store::open(&path).unwrap(), &id)).unwrap());
            let read = received.recv_timeout(Duration::from_secs(10));
            transaction.abort().unwrap();
            assert_eq!(read, Ok(0));
        });
    }

    #[test]
    fn who_is_stopped_at_its_turn_stops_no_one_else() {
        let (_folder, path, first, id) = begin();
        let [stopped, other] = [(); 2].map(|()| Store::open(&path).unwrap());
        let turn = stopped.take_turn_to_write();
        assert!(turn.is_some() && other.take_turn_to_write().is_none());
        append(&other, &id, "all the same");
        drop(turn);
        assert!(stopped.take_turn_to_write().is_some());
        assert!(other.take_turn_to_write().is_none(), "it is open");
        assert_eq!(entries(&first, &id), 1);
    }

    /// However many wait for a transaction, one of them commits, and the others append to its journal.
    #[test]
    fn of_those_who_wait_to_append_one_begins_a_journal_for_all() {
        for are_open in [false, true] {
            let (_folder, path, first, id) = begin();
            let stores = [(); 4].map(|()| Store::open(&path).unwrap());
            if are_open {
                stores.iter().for_each(|store| store.reserve_sessions(1).map(drop).unwrap());
            }
            let row = || first.committed().unwrap().journal_row().unwrap();
            let (before, transaction) = (row(), first.begin_write().unwrap());
            std::thread::scope(|scope| {
                for store in &stores {
                    scope.spawn(|| append(store, &id, "waits"));
                }
                let begun = Instant::now();
                // Who waits has said that it uses the journal.
                let is_waited = || first.shared.file.as_ref().unwrap().is_journal_shared().unwrap();
                while !is_waited() && begun.elapsed() < Duration::from_secs(10) {
                    std::thread::yield_now();
                }
                // The others wait, too, by now. One that did not would commit by itself.
                std::thread::sleep(Duration::from_millis(100));
                transaction.abort().unwrap();
            });
            let row = row();
            let (_, end) = first.journaled(&row).unwrap();
            let records = end.sequence - before.folded.sequence;
            assert!(row.epoch != 0 && records > 0, "{row:?}, {records}, {are_open}");
            assert_eq!(entries(&first, &id), 4);
            drop(stores);
            assert!(first.verify().unwrap().problems.is_empty());
        }
    }

    #[test]
    fn who_appends_and_nothing_else_leaves_the_epoch_to_the_others_or_ends_it() {
        let Scene { folder, first, later, id } = Scene::new();
        append(&later, &id, "four");
        drop(first);
        append(&later, &id, "five");
        drop(later);
        assert!(!folder.path().join("store.journal").exists());
        let store = Store::open(folder.path().join("store")).unwrap();
        assert_eq!(entries(&store, &id), 5);
        assert!(store.verify().unwrap().problems.is_empty());
    }

    #[test]
    fn it_can_be_compacted() {
        for is_written in [false, true] {
            let Scene { folder: _folder, first, mut later, id } = Scene::new();
            if is_written {
                drop(new_session(&later));
            }
            append(&later, &id, "four");
            assert!(matches!(later.compact(), Err(Error::Store(StoreError::InUse { .. }))));
            drop(first);
            assert!(!later.compact().unwrap().in_place);
            append(&later, &id, "five");
            assert_eq!(entries(&later, &id), 5);
            assert!(later.verify().unwrap().problems.is_empty());
        }
    }

    #[cfg(unix)]
    #[test]
    fn another_file_in_its_place_is_never_written() {
        let scene = Scene::new();
        let path = scene.folder.path().join("store");
        for (from, to) in [("store", "moved"), ("store.journal", "moved.journal")] {
            let folder = scene.folder.path();
            std::fs::rename(folder.join(from), folder.join(to)).unwrap();
        }
        let other = Store::open(&path).unwrap();
        let error = scene.later.reserve_sessions(1).unwrap_err().to_string();
        assert!(error.contains("moved, deleted or replaced"), "{error}");
        assert!(other.sessions().unwrap().is_empty());
        assert_eq!(entries(&scene.first, &scene.id), 3);
    }
}
