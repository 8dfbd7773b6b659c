//! What is written to the files of a store, in order, for the tests of what a power loss leaves.

use std::collections::HashMap;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A file of a store.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Place {
    Store,
    Journal,
}

/// Something that happened.
#[derive(Debug, Clone)]
pub(crate) enum Event {
    Write {
        place: Place,
        at: u64,
        bytes: Vec<u8>,
    },
    Length {
        place: Place,
        length: u64,
    },
    /// What was written to the file by the first events, so many of them, is on the disk.
    Sync {
        place: Place,
        until: usize,
    },
    /// The journal got its name, whole and synced.
    Made {
        bytes: Vec<u8>,
    },
    /// The caller was told that something was done.
    Acknowledged,
}

/// Which file is recorded as what, and where.
#[derive(Debug, Default)]
struct Recorders {
    by_file: HashMap<(u64, u64), (Place, Record)>,
    by_folder: HashMap<PathBuf, Record>,
}

/// The events of one store.
pub(crate) type Record = Arc<Mutex<Vec<Event>>>;

static RECORDERS: Mutex<Option<Recorders>> = Mutex::new(None);

fn recorders() -> MutexGuard<'static, Option<Recorders>> {
    RECORDERS.lock().unwrap_or_else(PoisonError::into_inner)
}

fn identity(file: &File) -> (u64, u64) {
    use std::os::unix::fs::MetadataExt;
    let metadata = file.metadata().expect("an open file has facts");
    (metadata.dev(), metadata.ino())
}

/// Records what is written to a store from now on.
pub(crate) fn record(store: &Path) -> Record {
    let record = Record::default();
    let file = File::open(store).expect("the store is there");
    let mut all = recorders();
    let all = all.get_or_insert_default();
    all.by_file.insert(identity(&file), (Place::Store, Arc::clone(&record)));
    let folder = store.parent().expect("a file is in a folder").to_owned();
    all.by_folder.insert(folder, Arc::clone(&record));
    record
}

/// Ends it.
pub(crate) fn forget(record: &Record) {
    if let Some(all) = recorders().as_mut() {
        all.by_file.retain(|_, (_, known)| !Arc::ptr_eq(known, record));
        all.by_folder.retain(|_, known| !Arc::ptr_eq(known, record));
    }
}

/// Notes an event of a file, if it is recorded.
pub(super) fn note(file: &File, event: impl FnOnce(Place) -> Event) {
    let all = recorders();
    let Some(all) = all.as_ref().filter(|all| !all.by_file.is_empty()) else { return };
    if let Some((place, record)) = all.by_file.get(&identity(file)) {
        let event = event(*place);
        record.lock().unwrap_or_else(PoisonError::into_inner).push(event);
    }
}

/// How many events of a file's store there are.
pub(super) fn count(file: &File) -> usize {
    let all = recorders();
    let known = all.as_ref().and_then(|all| all.by_file.get(&identity(file)));
    known.map_or(0, |(_, record)| record.lock().unwrap_or_else(PoisonError::into_inner).len())
}

/// Notes that a journal was made.
pub(super) fn note_made(path: &Path, file: &File) {
    let mut all = recorders();
    let Some(all) = all.as_mut() else { return };
    let Some(record) = path.parent().and_then(|folder| all.by_folder.get(folder)) else { return };
    let record = Arc::clone(record);
    let bytes = std::fs::read(path).expect("it was just made");
    record.lock().unwrap_or_else(PoisonError::into_inner).push(Event::Made { bytes });
    all.by_file.insert(identity(file), (Place::Journal, record));
}
