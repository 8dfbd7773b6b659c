//! Leafline on the session file.

use std::path::{Path, PathBuf};

use leafline::export::ExportMode;
use leafline::import::ImportOptions;
use leafline::{Store, StoreOptions};
use tempfile::TempDir;

use super::session_file::{SessionFile, folder};

/// Whether an import ends with the compaction that the command runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ending {
    /// The import alone.
    AsItIs,
    /// The import, and a compaction if it is worth one.
    Compacted,
}

/// Imports the file into a new store, and closes it.
pub(crate) fn import(file: &SessionFile, store: &Path, ending: Ending) {
    let mut opened = Store::open(store).expect("a store can be made");
    let totals = opened
        .import(&[file.path()], &ImportOptions::default(), &mut ())
        .expect("the session can be imported");
    assert_eq!((totals.imported, totals.bytes), (1, file.bytes()), "the whole file was imported");
    let worth = opened.is_worth_compacting(&totals).expect("the store can be looked at");
    if ending == Ending::Compacted && worth {
        opened.give_back().expect("nobody else has the store open");
    }
}

/// Writes the session's imported bytes to `out`.
pub(crate) fn export(store: &Path, session: &str, out: &mut dyn std::io::Write) -> u64 {
    let store = Store::open(store).expect("the store can be opened");
    let session = store.session(session).expect("the session was imported");
    let reader = session.reader().expect("the session was imported");
    reader.export(&ExportMode::Exact, out).expect("the session can be exported")
}

/// A store with the session, as the command leaves it; deleted when dropped.
#[derive(Debug)]
pub(crate) struct ImportedStore {
    folder: TempDir,
}

impl ImportedStore {
    pub(crate) fn make(file: &SessionFile) -> Self {
        let folder = TempDir::new_in(folder()).expect("a folder can be made");
        import(file, &folder.path().join("sessions.leafline"), Ending::Compacted);
        Self { folder }
    }

    pub(crate) fn path(&self) -> PathBuf {
        self.folder.path().join("sessions.leafline")
    }

    /// Opened without a cache of decompressed lines, so that each read decompresses its chunk.
    pub(crate) fn open_without_line_cache(&self) -> Store {
        let options = StoreOptions { line_cache_bytes: 0, ..StoreOptions::default() };
        Store::open_with(self.path(), &options).expect("the store can be opened")
    }
}
