//! The store's file as the engine reads, writes and locks it.
//!
//! Locks are on byte ranges of the file itself, far beyond its data, so that they apply under any name by which a
//! process has opened it: a link, a hard link, a new name after a move. The engine's own ranges begin at 2^62.

mod inherited;
mod locks;
mod own_locks;
mod waiting;

use std::fs::File;
use std::io;
use std::ops::Bound;
#[cfg(unix)]
use std::os::fd::{AsRawFd as _, RawFd};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use super::names::{may_be_named, names_and_length, names_of};
use super::pages::{HEADER, length, read_header, without_rest};
use super::recorder;
use crate::process::Process;
use crate::regular_file::read_unlocked;
use crate::rights::Rights;
use redb::backends::FileBackend;
use redb::{BackendError, DatabaseError, StorageBackend, StorageError};

pub(crate) use self::locks::{Held, Turn};
use self::own_locks::{OwnLocks, Range, Share};
use self::waiting::Watch;
pub(crate) use self::waiting::{NoProgress, PAUSE};

/// The magic number at the beginning of the engine's databases.
pub(crate) const MAGIC: [u8; 9] = *b"redb\x1A\x0A\xA9\x0D\x0A";

/// The byte that every open file of the store shares.
const OPEN: Bound<u64> = Bound::Included(locks::FIRST + 4);

/// The byte that the process of the open write transaction holds (redb's design document, "Lock bytes").
const WRITER: Bound<u64> = Bound::Included(1 << 62);

/// Where the header says that its commit is not confirmed, and the bit (redb's design document, "Database header").
const UNCONFIRMED: (u64, u8) = (9, 8);

/// The byte that a process holds while the file is open for writing and needs no recovery (redb's design document, "Lock
/// bytes").
const CONSISTENT: Bound<u64> = Bound::Included((1 << 62) + 4);

/// The bytes of which a process holds one for each of its read transactions (redb's design document, "Lock bytes").
const READERS: (Bound<u64>, Bound<u64>) =
    (Bound::Included((1 << 62) + 1024), Bound::Excluded(1 << 63));

/// How often the file's length is compared with its header while others change both.
const LOOKS: u32 = 100;

/// What a process is told that was forked from the one that opened the file.
const INHERITED: &str = "another process opened it, which this one was forked from";

/// The store's file is shorter than its last commit.
#[derive(Debug, thiserror::Error)]
#[error(
    "the store's file was cut off while it was open: it has {bytes} bytes of the {needed} that its last commit needs"
)]
struct Cut {
    bytes: u64,
    needed: u64,
}

/// How a file is opened for reading.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Recovery {
    /// A file that a killed writer left is first recovered by a writable open.
    Needed,
    /// The engine treats the file as consistent, since this process may not write it. A commit is on disk before the
    /// header names it, so the header always names a complete one.
    Skipped,
}

/// An open store file. Clones share it, and its locks.
#[derive(Debug, Clone)]
pub(crate) struct EngineFile(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    /// The process that opened it.
    process: Process,
    /// Whether another one, which had inherited it, has closed it.
    is_left: AtomicBool,
    /// The numbers of the two open files.
    #[cfg(unix)]
    descriptors: [RawFd; 2],
    backend: FileBackend,
    /// The same open file, to check whether it still has a name.
    file: File,
    /// Whether its file system counts the links of files.
    counts_names: bool,
    recovery: Recovery,
    /// Whether another file has taken its name, which has all that was in this one.
    is_replaced: Arc<AtomicBool>,
    /// Held by the thread of this open file that [lets appends pass](EngineFile::let_appends_pass).
    passable: Mutex<()>,
    /// Whether there is one: its own lock no query shows.
    is_passable: AtomicBool,
    /// Whether it is being closed while others have the file open to write.
    leaves_others: AtomicBool,
    /// Whether a write transaction is being committed.
    commits: AtomicBool,
    own_locks: OwnLocks,
    /// Of each lock for which threads of this process wait, since when its holder does not get on.
    watches: Mutex<Vec<Watch>>,
    /// Holders that did not get on, of locks without which one can go on.
    stuck: Mutex<Vec<(Held, u32)>>,
}

impl EngineFile {
    /// Takes an open file, and waits for a process that has it alone.
    ///
    /// # Errors
    ///
    /// [`NoProgress`] if that process does not get on.
    pub(crate) fn new(file: File, recovery: Recovery) -> Result<Self, DatabaseError> {
        let file = Self::of(file, recovery, Arc::default())?;
        file.share_open().map_err(StorageError::from)?;
        Ok(file)
    }

    /// The same file, opened once more. The first one says that it is open.
    pub(crate) fn again(&self, file: File) -> Result<Self, DatabaseError> {
        Self::of(file, self.0.recovery, Arc::clone(&self.0.is_replaced))
    }

    fn of(
        file: File,
        recovery: Recovery,
        is_replaced: Arc<AtomicBool>,
    ) -> Result<Self, DatabaseError> {
        let same = file.try_clone()?;
        let counts_names = names_of(&same)? > 0;
        recorder::opened(&same);
        #[cfg(unix)]
        let descriptors = [file.as_raw_fd(), same.as_raw_fd()];
        let backend = FileBackend::new(file)?;
        let [is_left, is_passable, leaves_others, commits] = [const { AtomicBool::new(false) }; 4];
        let file = Self(Arc::new(Shared {
            process: Process::current(),
            is_left,
            #[cfg(unix)]
            descriptors,
            backend,
            file: same,
            counts_names,
            recovery,
            is_replaced,
            passable: Mutex::new(()),
            is_passable,
            leaves_others,
            commits,
            own_locks: OwnLocks::default(),
            watches: Mutex::default(),
            stuck: Mutex::default(),
        }));
        inherited::note(&file);
        Ok(file)
    }

    /// The open file in the process that opened it. One that was forked from it shares the file's locks, and gets an error.
    fn own(&self) -> io::Result<&Shared> {
        if self.0.process.is_current() && !self.0.is_left.load(Ordering::Acquire) {
            return Ok(&self.0);
        }
        self.clone().let_go();
        Err(io::Error::other(INHERITED))
    }

    /// The same to be read, which asks for no process: what a child reads before it has closed the file is what the file has.
    fn readable(&self) -> io::Result<&FileBackend> {
        match self.0.is_left.load(Ordering::Acquire) {
            false => Ok(&self.0.backend),
            true => Err(io::Error::other(INHERITED)),
        }
    }

    /// Says that the file is open, for as long as it is.
    pub(crate) fn share_open(&self) -> Result<(), BackendError> {
        let try_share = || self.try_lock_shared_range(OPEN, OPEN);
        match self.wait_for(Held::Alone, try_share, || Some(0)) {
            Err(error) if NoProgress::of_backend(&error).is_some() => Err(error),
            // Where the system has no such locks, nobody asks.
            _ => Ok(()),
        }
    }

    /// No longer says so.
    pub(crate) fn leave_open(&self) -> Result<(), BackendError> {
        self.unlock_range(OPEN, OPEN)
    }

    /// Takes the file for itself: others who open it wait until it is closed. `false` if anyone has it open.
    pub(crate) fn take_alone(&self) -> Result<bool, BackendError> {
        self.leave_open()?;
        let is_taken = self.try_lock_range(OPEN, OPEN)?;
        if is_taken {
            // Without it others only wait longer.
            let _ = self.try_hold(Held::Alone);
        }
        Ok(is_taken)
    }

    /// Whether anyone else has the file open, another handle of this process too; also where that cannot be told.
    pub(crate) fn is_open_elsewhere(&self) -> bool {
        self.is_said_elsewhere(Share::Open).unwrap_or(true)
    }

    /// Whether the system has locks that tell who has the file open.
    pub(crate) fn tells_who_has_it(&self) -> bool {
        self.query((OPEN, OPEN)).is_ok()
    }

    /// Whether a path leads to the file; also where that cannot be told.
    pub(crate) fn is_at(&self, path: &Path) -> bool {
        self.own().and_then(|own| may_be_named(&own.file, path)).unwrap_or(true)
    }

    /// Whether the file has one name alone, as far as can be told.
    pub(crate) fn has_one_name(&self) -> io::Result<bool> {
        Ok(names_of(&self.own()?.file)? == 1)
    }

    /// The rights to the file.
    pub(crate) fn rights(&self) -> io::Result<Rights> {
        Rights::of(&self.own()?.file)
    }

    /// Says that another file is to take this one's name, and has all that is in this one; or that it did not.
    pub(crate) fn be_replaced(&self, is_replaced: bool) {
        self.0.is_replaced.store(is_replaced, Ordering::Relaxed);
    }
}

impl EngineFile {
    /// Fails if the file has lost its name: what belongs to it is lost with the last process that has it open. Fails, too, if
    /// something else has cut it off: what its last commit has is lost.
    pub(crate) fn check_is_there(&self) -> io::Result<()> {
        if self.0.is_replaced.load(Ordering::Relaxed) {
            return Ok(());
        }
        let (names, bytes) = names_and_length(&self.own()?.file)?;
        if self.0.counts_names && names == 0 {
            return Err(io::Error::new(
                io::ErrorKind::NotFound,
                "the store's file was deleted or replaced while it was open; what was just written is lost",
            ));
        }
        self.check_length(bytes)
    }

    /// Whether the file has no name any more, and none has taken its place with all that was in it.
    pub(crate) fn is_deleted(&self) -> bool {
        let names = self.own().and_then(|own| names_of(&own.file));
        self.0.counts_names
            && names.is_ok_and(|names| names == 0)
            && !self.0.is_replaced.load(Ordering::Relaxed)
    }

    /// Fails if something else has cut the file off.
    pub(crate) fn check_is_whole(&self) -> io::Result<()> {
        let (_, bytes) = names_and_length(&self.own()?.file)?;
        self.check_length(bytes)
    }

    /// Fails if the file with so many bytes is shorter than its header says.
    fn check_length(&self, bytes: u64) -> io::Result<()> {
        let (mut bytes, mut seen) = (bytes, None);
        // Another process may have made it longer or shorter between the two looks, or be writing the header.
        for _ in 0..LOOKS {
            // A file that is being made has no header yet.
            let needed = match read_header(self) {
                Ok(header) => length(&header).unwrap_or(0),
                Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => HEADER as u64,
                Err(error) => return Err(error),
            };
            if bytes >= needed {
                return Ok(());
            }
            if seen == Some((bytes, needed)) {
                return Err(io::Error::other(Cut { bytes, needed }));
            }
            seen = Some((bytes, needed));
            (_, bytes) = names_and_length(&self.0.file)?;
        }
        Ok(())
    }

    /// Whether the file has a commit that nobody is shown yet: its writer syncs it, or was killed before it could confirm it.
    /// Then the next one to begin a write transaction does so.
    pub(crate) fn has_unconfirmed_commit(&self) -> io::Result<bool> {
        let (at, bit) = UNCONFIRMED;
        let mut byte = [0];
        self.read(at, &mut byte)?;
        Ok(byte[0] & bit != 0)
    }

    /// Notes that a write transaction is being committed, or no longer.
    pub(crate) fn note_commit(&self, commits: bool) {
        self.0.commits.store(commits, Ordering::SeqCst);
    }

    /// Returns true if a commit has begun, which waits for locks without end.
    fn has_to_end(&self) -> bool {
        self.0.commits.load(Ordering::SeqCst)
    }

    /// Takes a lock that nobody else may have.
    fn try_alone(&self, (start, end): Range) -> Result<bool, BackendError> {
        let backend = &self.own()?.backend;
        self.alone((start, end), || backend.try_lock_range(start, end))
    }

    /// Takes the engine's lock of the write transaction, and says whose it is.
    fn try_write(&self) -> Result<bool, BackendError> {
        let is_taken = self.try_alone((WRITER, WRITER))?;
        if is_taken {
            // Without it others only wait longer.
            let _ = self.try_hold(Held::Tables);
        }
        Ok(is_taken)
    }

    /// Whether another open file has a write transaction.
    pub(crate) fn is_written_elsewhere(&self) -> Result<bool, BackendError> {
        self.query((WRITER, WRITER))
    }

    /// Whether another open file has a read transaction.
    pub(crate) fn is_read_elsewhere(&self) -> bool {
        self.is_said_elsewhere(Share::Read).unwrap_or(true)
    }

    /// Whether another open file is open to be written, and needs no recovery.
    pub(crate) fn is_open_to_write_elsewhere(&self) -> bool {
        self.is_said_elsewhere(Share::Written).unwrap_or(false)
    }

    /// Closes the file without a last commit of the engine's, if others have it open to write: it records nothing that the
    /// commit before did not, and the last of them makes it, too, and says that the file needs no recovery. Nobody makes it in a
    /// file that was cut off.
    pub(crate) fn leave_to_others(&self) {
        let is_left = self.is_open_to_write_elsewhere() || self.check_is_whole().is_err();
        self.0.leaves_others.store(is_left, Ordering::SeqCst);
    }
}

impl StorageBackend for EngineFile {
    fn len(&self) -> io::Result<u64> {
        let bytes = self.readable()?.len()?;
        match read_header(self) {
            Ok(header) => Ok(without_rest(&header, bytes)),
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(bytes),
            Err(error) => Err(error),
        }
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        read_unlocked(|| self.readable()?.read(offset, out))
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        let Shared { file, backend, .. } = self.own()?;
        recorder::length(file, len);
        backend.set_len(len)
    }

    /// Data synced to a file without a name is lost with the last process that has it open, and a file that was cut off lacks
    /// data, so that is not a success.
    fn sync_data(&self) -> io::Result<()> {
        let Shared { file, backend, .. } = self.own()?;
        let sync = recorder::begin_sync(file)?;
        backend.sync_data()?;
        sync.done(file)?;
        self.check_is_there()
    }

    fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        let Shared { file, backend, .. } = self.own()?;
        if recorder::write(file, offset, data)? {
            return Ok(());
        }
        backend.write(offset, data)
    }

    fn close(&self) -> io::Result<()> {
        match self.own() {
            Ok(own) => {
                own.own_locks.clear();
                own.backend.close()
            }
            // Its locks are those of the process that opened it.
            Err(_) => Ok(()),
        }
    }

    fn try_lock_range(&self, start: Bound<u64>, end: Bound<u64>) -> Result<bool, BackendError> {
        if (start, end) == (WRITER, WRITER) {
            // As if another one had it.
            return match self.0.leaves_others.load(Ordering::SeqCst) {
                true => Ok(false),
                false => self.try_write(),
            };
        }
        self.try_alone((start, end))
    }

    fn try_lock_shared_range(
        &self,
        start: Bound<u64>,
        end: Bound<u64>,
    ) -> Result<bool, BackendError> {
        let backend = &self.own()?.backend;
        self.sharing((start, end), || backend.try_lock_shared_range(start, end))
    }

    fn lock_range(&self, start: Bound<u64>, end: Bound<u64>) -> Result<(), BackendError> {
        if (start, end) == (WRITER, WRITER) {
            return self.wait_for(Held::Tables, || self.try_write(), || Some(0)).map(drop);
        }
        if self.has_to_end() {
            let backend = &self.own()?.backend;
            let take = || backend.lock_range(start, end).map(|()| true);
            return self.alone((start, end), take).map(drop);
        }
        // A reader has the header for a moment, which may be the one that has the journal.
        self.wait_for(Held::Journal, || self.try_alone((start, end)), || Some(0)).map(drop)
    }

    fn lock_shared_range(&self, start: Bound<u64>, end: Bound<u64>) -> Result<(), BackendError> {
        if self.has_to_end() {
            let backend = &self.own()?.backend;
            let take = || backend.lock_shared_range(start, end).map(|()| true);
            return self.sharing((start, end), take).map(drop);
        }
        // The one who commits has the header for a moment.
        let try_share = || self.try_lock_shared_range(start, end);
        self.wait_for(Held::Tables, try_share, || Some(0)).map(drop)
    }

    fn unlock_range(&self, start: Bound<u64>, end: Bound<u64>) -> Result<(), BackendError> {
        // A lock that stays where the engine takes it for released would be waited for without end.
        let Ok(Shared { backend, .. }) = self.own() else { return Ok(()) };
        if (start, end) == (WRITER, WRITER) {
            let _ = self.release(Held::Tables);
        }
        backend.unlock_range(start, end).or_else(|_| backend.unlock_range(start, end))?;
        self.note_given_back((start, end))
    }

    fn query_lock_range(&self, start: Bound<u64>, end: Bound<u64>) -> Result<bool, BackendError> {
        if self.0.recovery == Recovery::Skipped && (start, end) == (CONSISTENT, CONSISTENT) {
            return Ok(true);
        }
        self.query((start, end))
    }
}
