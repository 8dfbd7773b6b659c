//! What is written to the files of a store, in order, for the runs of what a power loss leaves; and the failures of the
//! system that they inject.
//!
//! All files count that are made in the folder of a store, and the names that they get there. Several processes can each note
//! what they do, and one puts that in order. An ordinary build has nothing of this: `unrecorded.rs` stands in its place.

mod order;

use std::collections::HashMap;
use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::ThreadId;
use std::time::{Duration, Instant, SystemTime};

use bincode::{Decode, Encode};

use self::order::Order;
pub(crate) use self::order::{Noted, in_order};

/// A file in the folder of a store: the store's own is the first, then its journal if it has one, then the others in the order in
/// which they were made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Encode, Decode)]
pub(crate) struct FileId(pub(crate) usize);

pub(crate) const STORE: FileId = FileId(0);

/// Something that happened.
#[derive(Debug, Clone, Encode, Decode)]
pub(crate) enum Event {
    /// An empty file was made, which has no name that counts.
    Created {
        file: FileId,
    },
    Write {
        file: FileId,
        at: u64,
        bytes: Vec<u8>,
    },
    Length {
        file: FileId,
        length: u64,
    },
    /// A sync begins, in one of several processes: it will have what they all have written by now.
    SyncBegins,
    /// What was written to the file by the first events, so many of them, is on the disk.
    Synced {
        file: FileId,
        until: usize,
    },
    /// The system failed to write them, and forgot it: no later sync puts them on the disk.
    Forgotten {
        file: FileId,
        until: usize,
    },
    /// A name in the folder is that of this file, or of none.
    Named {
        name: String,
        file: Option<FileId>,
    },
    /// The names are on the disk as they were after the first events.
    FolderSynced {
        until: usize,
    },
    /// A call of the test began, and returned.
    Began(usize),
    Returned(usize),
}

/// A failure of the system.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fault {
    /// What is written has room for so many bytes.
    Full(usize),
    /// What was written cannot be put on the disk. Who reads it still finds it in memory.
    Forgetful,
    /// The same, and memory does not have it any more either: a reader finds what the disk had before.
    Evicting,
}

/// The events of one store.
#[derive(Debug, Default)]
pub(crate) struct Recording {
    events: Mutex<Vec<Event>>,
    /// If other processes record their events, too.
    order: Option<Order>,
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    /// Which faults are still to come to a file, each after a number of writes or syncs, as the fault is of one.
    faults: Vec<(FileId, u32, Fault)>,
    files: Vec<Identity>,
    /// What the disk had of the files that were there at first.
    first: HashMap<FileId, Vec<u8>>,
    /// How long a sync waits for what other threads do meanwhile; not at all if there is none.
    patience: Option<Duration>,
    /// A file whose syncs stand still, but for so many that go on; and how many have come to stand.
    stopped: Option<(FileId, usize)>,
    stood: usize,
    /// Events by the thread that caused them.
    by_thread: HashMap<ThreadId, usize>,
    total: usize,
}

pub(crate) type Record = Arc<Recording>;

/// What tells a file from others: its device, its number there, and when it was made, as numbers are given again.
type Identity = (u64, u64, Option<u128>);

/// How often to look for what other processes have done.
const PAUSE: Duration = Duration::from_micros(50);

/// Which file is recorded as what, and where.
#[derive(Debug, Default)]
struct Recorders {
    by_file: HashMap<Identity, (FileId, Record)>,
    by_folder: HashMap<PathBuf, Record>,
    /// The recording of all files that other processes have made.
    of_others: Option<Record>,
    /// How often the system forgot what was written to a file, and how often each open file was told.
    forgotten: HashMap<Identity, u64>,
    told: HashMap<i32, (Identity, u64)>,
}

static RECORDERS: Mutex<Option<Recorders>> = Mutex::new(None);

/// Whether anything was ever recorded. A process that was forked cannot ask for the lock: a thread of its parent may have it.
static IS_USED: AtomicBool = AtomicBool::new(false);

/// The recordings, if there are any.
fn recorders() -> Option<MutexGuard<'static, Option<Recorders>>> {
    IS_USED.load(Ordering::Acquire).then(|| lock(&RECORDERS))
}

/// Bytes of an area of the journals that are made; 0 for the usual ones.
static AREA: AtomicU64 = AtomicU64::new(0);

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn identity(file: &File) -> Identity {
    let metadata = file.metadata().expect("an open file has facts");
    // Not every system says when a file was made.
    let made =
        metadata.created().ok().and_then(|at| at.duration_since(SystemTime::UNIX_EPOCH).ok());
    (metadata.dev(), metadata.ino(), made.map(|made| made.as_nanos()))
}

/// What a file is recorded as.
fn recorded(file: &File) -> Option<(FileId, Record)> {
    let mut all = recorders()?;
    let all = all.as_mut().filter(|all| !all.by_file.is_empty())?;
    let identity = identity(file);
    if let Some(known) = all.by_file.get(&identity) {
        return Some(known.clone());
    }
    let record = all.of_others.clone()?;
    let known = (record.next_file(identity), record);
    all.by_file.insert(identity, known.clone());
    Some(known)
}

/// The recording of a folder's store.
fn recorded_at(path: &Path) -> Option<Record> {
    recorders()?.as_ref()?.by_folder.get(path.parent()?).cloned()
}

/// Records what is written to a store from now on, and to its journal, if it has one.
pub(crate) fn record(store: &Path) -> Record {
    begin(store, Recording::default())
}

/// The same where other processes do so, too: with the file of their order, and the number of this one. The process that plays
/// the script is 0, and makes no files. In each of the others, this is its only recording.
pub(crate) fn record_with_others(store: &Path, order: &Path, process: u32) -> io::Result<Record> {
    let order = Some(Order::open(order, process)?);
    let record = begin(store, Recording { order, ..Recording::default() });
    if process > 0 {
        lock(&RECORDERS).get_or_insert_default().of_others = Some(Arc::clone(&record));
    }
    Ok(record)
}

fn begin(store: &Path, recording: Recording) -> Record {
    let record = Arc::new(recording);
    IS_USED.store(true, Ordering::Release);
    let mut all = lock(&RECORDERS);
    let all = all.get_or_insert_default();
    let mut path = store.as_os_str().to_owned();
    path.push(".journal");
    for path in [store, Path::new(&path)] {
        if let Ok(file) = File::open(path) {
            let identity = identity(&file);
            let id = record.next_file(identity);
            let bytes = std::fs::read(path).expect("it is open");
            lock(&record.state).first.insert(id, bytes);
            all.by_file.insert(identity, (id, Arc::clone(&record)));
        }
    }
    let folder = store.parent().expect("a file is in a folder").to_owned();
    all.by_folder.insert(folder, Arc::clone(&record));
    record
}

/// Ends it, and returns the events.
pub(crate) fn end(record: &Record) -> Vec<Event> {
    if let Some(all) = lock(&RECORDERS).as_mut() {
        all.by_file.retain(|_, (_, known)| !Arc::ptr_eq(known, record));
        all.by_folder.retain(|_, known| !Arc::ptr_eq(known, record));
    }
    std::mem::take(&mut *lock(&record.events))
}

/// Ends it, and returns what this process has noted, to be put in order.
pub(crate) fn end_of_several(record: &Record) -> Noted {
    let events = end(record);
    Noted { events, files: std::mem::take(&mut lock(&record.state).files) }
}

fn place(at: u64) -> usize {
    usize::try_from(at).expect("a recorded file fits in memory")
}

/// Writes bytes over those of a file.
fn put(file: &mut Vec<u8>, at: u64, bytes: &[u8]) {
    let at = place(at);
    file.resize(file.len().max(at + bytes.len()), 0);
    file[at..at + bytes.len()].copy_from_slice(bytes);
}

impl Recording {
    fn next_file(&self, identity: Identity) -> FileId {
        let mut state = lock(&self.state);
        state.files.push(identity);
        FileId(state.files.len() - 1)
    }

    /// Notes an event.
    pub(crate) fn note(&self, event: Event) {
        self.note_all(|_| vec![event]);
    }

    /// Notes events in one go. `make` is given the number of events before them.
    fn note_all(&self, make: impl FnOnce(usize) -> Vec<Event>) {
        let mut state = lock(&self.state);
        let mut events = lock(&self.events);
        let new = make(events.len());
        let count = new.len();
        events.extend(new);
        drop(events);
        if let Some(order) = &self.order {
            (0..count).for_each(|_| order.note());
        }
        state.total += count;
        *state.by_thread.entry(std::thread::current().id()).or_default() += count;
        self.changed.notify_all();
    }

    /// Notes that the system forgot what was written to a file, and what the disk has in its place.
    fn forget(&self, file: FileId, evicted: Vec<Event>) {
        self.note_all(|before| {
            let until = before + 1 + evicted.len();
            let synced = (!evicted.is_empty()).then_some(Event::Synced { file, until });
            let forgotten = Event::Forgotten { file, until: before };
            std::iter::once(forgotten).chain(evicted).chain(synced).collect()
        });
    }

    /// The events until now.
    #[cfg(test)]
    pub(crate) fn events(&self) -> Vec<Event> {
        lock(&self.events).clone()
    }

    /// How many events there are.
    pub(crate) fn count(&self) -> usize {
        lock(&self.events).len()
    }

    /// How many events there are when a sync begins. Where there are other processes, their events count as well.
    fn before_sync(&self) -> usize {
        if self.order.is_some() {
            self.note(Event::SyncBegins);
        }
        self.count()
    }

    /// Has each sync wait until other threads have caused some events, or so long.
    pub(crate) fn interleave(&self, patience: Option<Duration>) {
        lock(&self.state).patience = patience;
    }

    /// Has each sync of a file stand still until [`Self::go_on`].
    #[cfg(test)]
    pub(crate) fn stop_syncs(&self, file: FileId) {
        lock(&self.state).stopped = Some((file, 0));
    }

    /// Lets one sync go on that stands still; or all, and those that come.
    #[cfg(test)]
    pub(crate) fn go_on(&self, all: bool) {
        let mut state = lock(&self.state);
        match &mut state.stopped {
            Some((_, going)) if !all => *going += 1,
            stopped => *stopped = None,
        }
        self.changed.notify_all();
    }

    /// How many syncs have come to stand still.
    #[cfg(test)]
    pub(crate) fn stood(&self) -> usize {
        lock(&self.state).stood
    }

    fn stand_still(&self, file: FileId) {
        let mut state = lock(&self.state);
        state.stood += usize::from(state.stopped.is_some_and(|(stopped, _)| stopped == file));
        while let Some((stopped, going)) = &mut state.stopped {
            if *stopped != file {
                return;
            }
            if let Some(less) = going.checked_sub(1) {
                *going = less;
                return;
            }
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    fn wait_for_others(&self) {
        let mut state = lock(&self.state);
        let Some(patience) = state.patience else { return };
        if let Some(order) = &self.order {
            drop(state);
            let (begun, until) = (Instant::now(), order.others() + 3);
            while order.others() < until && begun.elapsed() < patience {
                std::thread::sleep(PAUSE);
            }
            return;
        }
        let own = std::thread::current().id();
        let others = |state: &State| state.total - state.by_thread.get(&own).unwrap_or(&0);
        let until = others(&state) + 3;
        let waited =
            self.changed.wait_timeout_while(state, patience, |state| others(state) < until);
        state = waited.unwrap_or_else(PoisonError::into_inner).0;
        drop(state);
    }

    /// Has a file fail after so many more writes or syncs.
    pub(crate) fn fail(&self, file: FileId, after: u32, fault: Fault) {
        lock(&self.state).faults.push((file, after, fault));
    }

    /// Has no file fail any more.
    #[cfg(test)]
    pub(crate) fn fail_no_more(&self) {
        lock(&self.state).faults.clear();
    }

    /// What the disk has of a file where it was written and not synced, in the order of the writes.
    fn below_unsynced(&self, file: FileId) -> Vec<(u64, Vec<u8>)> {
        let mut disk = lock(&self.state).first.get(&file).cloned().unwrap_or_default();
        let mut unsynced = Vec::new();
        for (number, event) in lock(&self.events).iter().enumerate() {
            match event {
                Event::Write { file: of, at, bytes } if *of == file => {
                    unsynced.push((number, *at, bytes.clone()));
                }
                Event::Synced { file: of, until } if *of == file => {
                    for (_, at, bytes) in unsynced.extract_if(.., |(event, ..)| *event < *until) {
                        put(&mut disk, at, &bytes);
                    }
                }
                Event::Forgotten { file: of, until } if *of == file => {
                    unsynced.retain(|(event, ..)| *event >= *until);
                }
                _ => {}
            }
        }
        let below = |(_, at, bytes): (usize, u64, Vec<u8>)| {
            let start = place(at).min(disk.len());
            let mut below = disk[start..(start + bytes.len()).min(disk.len())].to_vec();
            below.resize(bytes.len(), 0);
            (at, below)
        };
        unsynced.into_iter().map(below).collect()
    }

    /// Takes the fault of a file that is due.
    fn fault(&self, file: FileId, is_write: bool) -> Option<Fault> {
        let mut state = lock(&self.state);
        let is_of = |fault: Fault| matches!(fault, Fault::Full(_)) == is_write;
        let mine = state.faults.iter_mut().filter(|(of, _, fault)| *of == file && is_of(*fault));
        let mut due = None;
        for (_, left, fault) in mine {
            match left.checked_sub(1) {
                Some(less) => *left = less,
                None => due = Some(*fault),
            }
        }
        if due.is_some() {
            state.faults.retain(|(of, left, fault)| (*of, *left, Some(*fault)) != (file, 0, due));
        }
        due
    }
}

/// Writes bytes to a file that is recorded, and notes it. `false` if it is not recorded: then nothing is written.
///
/// # Errors
///
/// If there is no room: then a part of them is written.
pub(super) fn write(file: &File, at: u64, bytes: &[u8]) -> io::Result<bool> {
    let Some((id, record)) = recorded(file) else { return Ok(false) };
    // The order of the events is that of the writes, also of those that the system loses.
    let _all = lock(&RECORDERS);
    let fault = record.fault(id, true);
    let room = match fault {
        Some(Fault::Full(room)) => room.min(bytes.len()),
        _ => bytes.len(),
    };
    record.note(Event::Write { file: id, at, bytes: bytes[..room].to_vec() });
    file.write_all_at(&bytes[..room], at)?;
    match fault {
        None => Ok(true),
        Some(_) => Err(io::ErrorKind::StorageFull.into()),
    }
}

/// Notes that a file gets another length.
pub(super) fn length(file: &File, length: u64) {
    if let Some((file, record)) = recorded(file) {
        record.note(Event::Length { file, length });
    }
}

/// A sync that began.
#[derive(Debug)]
pub(super) struct Sync(Option<(FileId, Record, usize)>);

/// Begins a sync of what was written to a file by now. Others write meanwhile.
///
/// # Errors
///
/// If the system forgets what was written, or forgot it and did not yet tell this open file.
pub(super) fn begin_sync(file: &File) -> io::Result<Sync> {
    let Some((id, record)) = recorded(file) else { return Ok(Sync(None)) };
    let until = record.before_sync();
    record.wait_for_others();
    record.stand_still(id);
    // What is forgotten and who is to be told are one: no other sync succeeds in between.
    let mut all = lock(&RECORDERS);
    let all = all.get_or_insert_default();
    if let Some(fault) = record.fault(id, false) {
        let mut evicted = Vec::new();
        if fault == Fault::Evicting {
            for (at, bytes) in record.below_unsynced(id) {
                file.write_all_at(&bytes, at)?;
                evicted.push(Event::Write { file: id, at, bytes });
            }
        }
        record.forget(id, evicted);
        *all.forgotten.entry(identity(file)).or_default() += 1;
    }
    all.tell(file)?;
    Ok(Sync(Some((id, record, until))))
}

impl Sync {
    /// It succeeded, unless the system forgot something meanwhile.
    ///
    /// # Errors
    ///
    /// Those of [`begin_sync`].
    pub(super) fn done(self, file: &File) -> io::Result<()> {
        if let Some((id, record, until)) = self.0 {
            let mut all = lock(&RECORDERS);
            all.get_or_insert_default().tell(file)?;
            record.note(Event::Synced { file: id, until });
        }
        Ok(())
    }
}

impl Recorders {
    /// Fails if an open file was not told yet that something was forgotten: each is once, as by Linux.
    fn tell(&mut self, file: &File) -> io::Result<()> {
        let identity = identity(file);
        let forgotten = self.forgotten.get(&identity).copied().unwrap_or(0);
        let told = self.told.entry(file.as_raw_fd()).or_insert((identity, 0));
        if told.0 != identity {
            *told = (identity, 0);
        }
        match std::mem::replace(&mut told.1, forgotten) < forgotten {
            true => Err(io::Error::other("an injected failure")),
            false => Ok(()),
        }
    }
}

/// Notes that a file was opened: of what was forgotten before, it is not told.
pub(super) fn opened(file: &File) {
    if recorded(file).is_some() {
        let _ = lock(&RECORDERS).get_or_insert_default().tell(file);
    }
}

/// Notes that an empty file was made in a folder, under a name that does not count.
pub(crate) fn created(folder: &Path, file: &File) {
    let Some(mut all) = recorders() else { return };
    let Some(all) = all.as_mut() else { return };
    let Some(record) = all.by_folder.get(folder).cloned() else { return };
    let identity = identity(file);
    let id = record.next_file(identity);
    if record.order.is_some() {
        record.note(Event::Created { file: id });
    }
    all.by_file.insert(identity, (id, record));
    all.forgotten.remove(&identity);
}

/// Notes that an empty file has become a journal, still without its name.
pub(super) fn made(file: &File, bytes: u64) {
    let Some((id, record)) = recorded(file) else { return };
    record.note(Event::Length { file: id, length: bytes });
    let mut first = vec![0; 4096];
    file.read_exact_at(&mut first, 0).expect("it was just written");
    record.note(Event::Write { file: id, at: 0, bytes: first });
    opened(file);
}

/// Notes that a file has got its name.
pub(super) fn named(path: &Path) {
    let Some(record) = recorded_at(path) else { return };
    let file = File::open(path).ok().and_then(|file| recorded(&file));
    if let (Some((id, _)), Some(name)) = (file, path.file_name()) {
        record.note(Event::Named { name: name.to_string_lossy().into_owned(), file: Some(id) });
    }
}

/// Has the journals that are made from now on areas of so many bytes, and those of any size taken for whole.
pub(crate) fn use_areas(bytes: u64) {
    AREA.store(bytes, Ordering::Relaxed);
}

/// The bytes of an area, if they are not the usual ones.
pub(crate) fn area() -> Option<u64> {
    Some(AREA.load(Ordering::Relaxed)).filter(|bytes| *bytes > 0)
}

/// The folder of a store that is synced.
#[derive(Debug)]
pub(crate) struct FolderSync(Option<(Record, usize)>);

/// Begins a sync of the names in a folder.
pub(crate) fn begin_folder_sync(folder: &Path) -> FolderSync {
    let record = recorders().and_then(|all| all.as_ref()?.by_folder.get(folder).cloned());
    FolderSync(record.map(|record| (Arc::clone(&record), record.before_sync())))
}

impl FolderSync {
    pub(crate) fn done(self) {
        if let Some((record, until)) = self.0 {
            record.note(Event::FolderSynced { until });
        }
    }
}
