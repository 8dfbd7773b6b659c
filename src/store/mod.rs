//! The lowest layer: redb tables, line chunks, blobs, transactions. It does not interpret messages.

mod any_table;
pub(crate) mod backup;
pub(crate) mod beside;
pub(crate) mod blobs;
pub(crate) mod cache;
pub(crate) mod chunk;
pub(crate) mod chunks;
pub(crate) mod clock;
mod columns;
pub(crate) mod commit;
pub(crate) mod compacting;
pub(crate) mod compression;
mod creation;
mod engine_error;
pub(crate) mod engine_file;
pub(crate) mod entry_record;
mod entry_rows;
pub(crate) mod exposure;
#[cfg(test)]
pub(crate) mod failing_disk;
pub(crate) mod file_record;
pub(crate) mod fingerprint;
mod format;
#[cfg(any(test, fuzzing))]
pub(crate) mod fuzzing;
pub(crate) mod home;
pub(crate) mod journal;
pub(crate) mod label_record;
mod later;
pub(crate) mod line_rows;
mod moving;
mod names;
pub(crate) mod node;
pub(crate) mod opener;
mod opening;
pub(crate) mod ordinal;
pub(crate) mod originals;
mod overlay;
pub(crate) mod owner;
mod pages;
pub(crate) mod parts;
pub(crate) mod pointer_record;
pub(crate) mod prompt_block;
pub(crate) mod prompt_record;
pub(crate) mod prompts;
mod recent_nodes;
pub(crate) mod record;
#[cfg(all(unix, any(test, feature = "faults")))]
pub(crate) mod recorder;
#[cfg(not(all(unix, any(test, feature = "faults"))))]
#[path = "unrecorded.rs"]
pub(crate) mod recorder;
pub(crate) mod removed_record;
pub(crate) mod salvage;
pub(crate) mod session_index;
pub(crate) mod session_key;
pub(crate) mod session_record;
pub(crate) mod session_rows;
pub(crate) mod sessions;
pub(crate) mod settings_record;
pub(crate) mod snapshot;
pub(crate) mod source_record;
mod stray;
pub(crate) mod summary_record;
mod table_statistics;
mod tables;
pub(crate) mod type_counts;
pub(crate) mod usage_record;
pub(crate) mod usage_rows;
pub(crate) mod whole_lock;
mod writing;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, PoisonError, RwLock};

use redb::backends::InMemoryBackend;
use redb::{Builder, Database, ReadOnlyDatabase, ReadableDatabase};

pub use self::engine_error::EngineError;
pub(crate) use self::opening::refine;
pub(crate) use self::pages::DamagedPage;
#[cfg(feature = "watch")]
pub(crate) use self::pages::contained;
pub use self::table_statistics::TableStatistics;

use self::cache::FrameCache;
use self::compression::{Decompressors, Dictionary, NO_DICTIONARY};
use self::engine_file::{EngineFile, Turn};
use self::format::Found;
use self::journal::Journal;
use self::later::Later;
use self::opener::Opener;
use self::opening::Opened;
use self::owner::{Owner, Owners};
use self::pages::{State, read_header, walk};
use crate::error::{Corruption, Error, FileContext, Result, StoreError};
use crate::in_place::is_mount;
use crate::store::pages::{ReadTransaction, ReadableTable};
use crate::store::writing::Engine;

/// How a store is opened.
#[derive(Debug, Clone)]
pub struct StoreOptions {
    /// Bytes of memory for the engine's pages. Default: 64 MiB.
    pub page_cache_bytes: usize,
    /// Bytes of memory for decompressed lines. Default: 8 MiB.
    pub line_cache_bytes: u64,
    /// Whether to create a store that does not exist. Default: yes.
    pub create: bool,
    /// Whether the store is only read: it opens and closes faster, its file is not written, and methods that write
    /// fail. Readers still see what others commit. Default: no.
    pub read_only: bool,
    /// Whether to go on without a journal that is lost, or that is of a later state than the store's file: what it alone had
    /// is given up. Only for a store that is written. Default: no.
    pub without_journal: bool,
}

impl Default for StoreOptions {
    fn default() -> Self {
        Self {
            page_cache_bytes: 64 << 20,
            line_cache_bytes: 8 << 20,
            create: true,
            read_only: false,
            without_journal: false,
        }
    }
}

/// A store: one file with many sessions, open for any number of processes at once.
///
/// Whatever a method has acknowledged is on disk. One write transaction runs at a time, over all processes. While sessions
/// are appended to, the newest entries are in a journal, the file `<store>.journal`; every read finds them there. Once the
/// last process that appends has closed the store, its file has all. Reads never wait for the transaction of a writer; nor do
/// appends, once a journal is in use.
///
/// A store belongs to the process that opened it. In a process that was forked from it, each method that reads or writes
/// fails with [`StoreError::Inherited`], also of its sessions, readers and indexes, and dropping it does nothing to the
/// file. The child opens the store again, by its path.
///
/// A clone is another handle of the same open store, with the same caches, and costs next to nothing. Sessions, readers
/// and indexes hold one. The store closes with the last of them.
///
/// ```
/// # fn main() -> leafline::Result<()> {
/// # let folder = tempfile::tempdir().unwrap();
/// let store = leafline::Store::open(folder.path().join("sessions.leafline"))?;
/// assert!(store.sessions()?.is_empty());
/// # Ok(())
/// # }
/// ```
pub struct Store {
    shared: Arc<Shared>,
    /// Whether this is the handle of work in the background, which does not keep the store open.
    is_background: bool,
}

impl std::fmt::Debug for Store {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_tuple("Store").field(&self.path()).finish()
    }
}

impl Clone for Store {
    fn clone(&self) -> Self {
        if !self.is_background {
            self.shared.handles.fetch_add(1, Ordering::Relaxed);
        }
        Self { shared: Arc::clone(&self.shared), is_background: self.is_background }
    }
}

impl Drop for Store {
    fn drop(&mut self) {
        if self.is_background || self.shared.handles.fetch_sub(1, Ordering::AcqRel) > 1 {
            return;
        }
        if self.shared.opener.is_here() {
            self.close_journal();
            if !std::thread::panicking() {
                // Failure is ignored: the store is complete either way.
                let _ = self.background().give_back_at_close();
            }
        } else {
            // To close it would write, wait for threads that are not there, and give the parent's locks back.
            EngineFile::let_go_of_inherited();
            std::mem::forget(Arc::clone(&self.shared));
        }
    }
}

/// What all clones of a store share.
#[derive(Debug)]
struct Shared {
    handle: Handle,
    /// Handles other than those of work in the background.
    handles: AtomicUsize,
    owners: Owners,
    /// The open file; a store in memory has none.
    file: Option<EngineFile>,
    journal: Journal,
    /// Whether the file is mounted by itself. What is next to it is not next to it for others, so it has no journal.
    is_mount: bool,
    /// Whether the file was opened as a backup that nobody had written to.
    is_backup: AtomicBool,
    /// Whether the engine gave up in a commit: nothing can be written through this open file any more.
    is_broken: AtomicBool,
    opener: Arc<Opener>,
    options: StoreOptions,
    /// Bytes of the file when it was opened.
    bytes_at_open: u64,
    dictionaries: RwLock<BTreeMap<u32, Arc<Dictionary>>>,
    decompressors: Decompressors,
    cache: FrameCache,
}

impl Drop for Shared {
    fn drop(&mut self) {
        let written = match &self.handle {
            Handle::Later(later) => later.written(),
            Handle::Writable(_) | Handle::ReadOnly(_) | Handle::Overlay { .. } => {
                self.file.as_ref()
            }
        };
        if let Some(file) = written {
            file.leave_to_others();
        }
    }
}

/// A store's file: writable, or read-only if its permissions say so.
enum Handle {
    Writable(Engine<Database>),
    /// The same of a store whose journal another process used when it was opened.
    Later(Box<Later>),
    ReadOnly(Engine<ReadOnlyDatabase>),
    /// A file that is only read, with changes in memory. They are made here alone, while it is not sealed.
    Overlay {
        database: Engine<Database>,
        is_sealed: AtomicBool,
    },
}

impl std::fmt::Debug for Handle {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(match self {
            Self::Writable(_) => "Writable",
            Self::Later(_) => "Later",
            Self::ReadOnly(_) => "ReadOnly",
            Self::Overlay { .. } => "Overlay",
        })
    }
}

impl Store {
    /// Opens the store at `path`, and creates it if there is none.
    ///
    /// # Errors
    ///
    /// [`StoreError::NotAStore`] for any other kind of file, [`Error::File`] if the system refuses.
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        Self::open_with(path, &StoreOptions::default())
    }

    /// Opens the store at `path` with these options.
    ///
    /// # Errors
    ///
    /// Those of [`Self::open`]; [`StoreError::NotFound`] if there is none and `create` is off.
    pub fn open_with(path: impl AsRef<Path>, options: &StoreOptions) -> Result<Self> {
        Self::open_waiting(path.as_ref(), options, false)
    }

    /// The same. `waits` says whether to wait for the transaction of another process, so that the file is open to be written.
    fn open_waiting(path: &Path, options: &StoreOptions, waits: bool) -> Result<Self> {
        let Opened { handle, file } = opening::open(path, options, waits)?;
        // The files next to the store are found after the process changes its directory, too.
        let path = std::path::absolute(path).at("finding", path)?;
        let store = Self::with_handle(handle, Some(file), path, options)?;
        if options.without_journal {
            store.give_up_behind_damage();
            store.give_up_journal()?;
        }
        store.check_journal()?;
        store.take_left_journal()?;
        Ok(store)
    }

    /// Opens the same store once more.
    pub(crate) fn open_beside(&self) -> Result<Self> {
        let options = StoreOptions { create: false, ..self.shared.options.clone() };
        Self::open_with(self.path(), &options)
    }

    /// A store that is only in memory and ends with the value: for tests, and for sessions that need not be kept.
    ///
    /// ```
    /// # fn main() -> leafline::Result<()> {
    /// let store = leafline::Store::in_memory()?;
    /// assert!(store.sessions()?.is_empty());
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// Those of the engine.
    pub fn in_memory() -> Result<Self> {
        // Small caches: the pages are already in memory.
        let options = StoreOptions {
            page_cache_bytes: 1 << 20,
            line_cache_bytes: 1 << 20,
            ..StoreOptions::default()
        };
        let mut builder = Builder::new();
        builder.set_cache_size(options.page_cache_bytes);
        let database = builder.create_with_backend(InMemoryBackend::new())?;
        Self::with_handle(Handle::Writable(Engine::new(database)), None, PathBuf::new(), &options)
    }

    /// A store on a test's own file, to test what happens when that fails.
    #[cfg(test)]
    fn on(backend: impl redb::StorageBackend) -> Result<Self> {
        let database = Builder::new().create_with_backend(backend)?;
        let options = StoreOptions::default();
        Self::with_handle(Handle::Writable(Engine::new(database)), None, PathBuf::new(), &options)
    }

    fn with_handle(
        handle: Handle,
        file: Option<EngineFile>,
        path: PathBuf,
        options: &StoreOptions,
    ) -> Result<Self> {
        let bytes_at_open = std::fs::metadata(&path).map_or(0, |file| file.len());
        let shared = Shared {
            handle,
            handles: AtomicUsize::new(1),
            owners: Owners::new(file.clone()),
            is_mount: file.is_some() && is_mount(&path),
            file,
            journal: Journal::default(),
            is_backup: AtomicBool::new(false),
            is_broken: AtomicBool::new(false),
            opener: Arc::new(Opener::new(path)),
            options: options.clone(),
            bytes_at_open,
            dictionaries: RwLock::default(),
            decompressors: Decompressors::default(),
            cache: FrameCache::new(options.line_cache_bytes),
        };
        let store = Self { shared: Arc::new(shared), is_background: false };
        store.check_format()?;
        let is_backup = backup::is_marked(&store.begin_read()?)?;
        store.shared.is_backup.store(is_backup, Ordering::Relaxed);
        Ok(store)
    }

    /// A handle for work in the background: the store closes without waiting for it to be dropped.
    pub(crate) fn background(&self) -> Self {
        Self { shared: Arc::clone(&self.shared), is_background: true }
    }

    /// Fails in a process that was forked from the one that opened the store, as all methods that read or write do: a host may ask
    /// before it waits for a lock of its own, which a thread of the parent may have had.
    ///
    /// # Errors
    ///
    /// [`StoreError::Inherited`].
    pub fn check_process(&self) -> Result<()> {
        self.shared.opener.check()
    }

    /// Closes the files of all stores that a forked process has inherited. To be called in the child, where the host can run code
    /// after a fork; opening a store, and any call of an inherited one, does the same. Until then the child keeps the locks of
    /// a parent that was killed, for which others wait.
    pub fn after_fork() {
        EngineFile::let_go_of_inherited();
    }

    /// Whether both are clones of one open store.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.shared, &other.shared)
    }

    /// Whether the store is only in memory.
    pub(crate) fn is_in_memory(&self) -> bool {
        self.shared.opener.path.as_os_str().is_empty()
    }

    /// Whether the store's file is never written.
    pub(crate) fn is_read_only(&self) -> bool {
        !matches!(self.shared.handle, Handle::Writable(_) | Handle::Later(_))
    }

    /// Returns true if the file is open for writing.
    fn is_written(&self) -> bool {
        match &self.shared.handle {
            Handle::Writable(_) => true,
            Handle::Later(later) => later.written().is_some(),
            Handle::ReadOnly(_) | Handle::Overlay { .. } => false,
        }
    }

    /// Whether the file is not open to be written yet, or was not when the store was opened.
    fn is_written_later(&self) -> bool {
        matches!(self.shared.handle, Handle::Later(_))
    }

    /// Waits a while for the turn to open the file to be written, if it is not: of those who would begin to append at the same time
    /// the others find a journal then.
    pub(crate) fn take_turn_to_write(&self) -> Option<Turn<'_>> {
        match &self.shared.handle {
            Handle::Later(later) => later.take_turn(),
            _ => None,
        }
    }

    /// The store's file; empty for a store in memory.
    pub fn path(&self) -> &Path {
        &self.shared.opener.path
    }

    /// Whether anyone else has the store's file open.
    pub(crate) fn is_open_elsewhere(&self) -> bool {
        self.shared.file.as_ref().is_some_and(EngineFile::is_open_elsewhere)
    }

    /// Whether the system has locks that tell who has the store's file open.
    fn tells_who_has_it(&self) -> bool {
        self.shared.file.as_ref().is_some_and(EngineFile::tells_who_has_it)
    }

    /// Whether the store's file was deleted, or another one put in its place.
    pub(crate) fn is_deleted(&self) -> bool {
        self.shared.file.as_ref().is_some_and(EngineFile::is_deleted)
    }

    /// The size of the store's file in bytes.
    pub(crate) fn file_bytes(&self) -> Result<u64> {
        if self.is_in_memory() {
            return Ok(0);
        }
        Ok(std::fs::metadata(&self.shared.opener.path)
            .at("reading", &self.shared.opener.path)?
            .len())
    }

    fn begin_read(&self) -> Result<ReadTransaction> {
        ReadTransaction::begin(&self.shared.opener, || match &self.shared.handle {
            Handle::Writable(database) => database.begin_read(),
            Handle::Later(later) => later.begin_read(),
            Handle::ReadOnly(database) => database.begin_read(),
            Handle::Overlay { database, .. } => database.begin_read(),
        })
    }

    /// The pages that are not what was written, of those that the last commit has.
    pub(crate) fn damaged_pages(&self) -> Result<Vec<DamagedPage>> {
        let Some(file) = &self.shared.file else { return Ok(Vec::new()) };
        let (state, _pin) = self.state_of(file)?;
        let mut damaged = Vec::new();
        walk(file, &state.header, |page| damaged.push(page)).at("reading", self.path())?;
        Ok(damaged)
    }

    /// The store's state, which the transaction keeps.
    fn state_of<'f>(
        &'f self,
        file: &'f EngineFile,
    ) -> Result<(State<'f, EngineFile>, ReadTransaction)> {
        self.check_process()?;
        let read = || read_header(file).at("reading", self.path());
        loop {
            let header = read()?;
            let pin = self.begin_read()?;
            if read()? == header {
                return Ok((State { file, path: self.path(), header }, pin));
            }
        }
    }

    /// The owners of rows that no session shows yet.
    pub(crate) fn owners(&self) -> &Owners {
        &self.shared.owners
    }

    /// A new owner of rows that no session shows yet.
    pub(crate) fn begin_owner(&self) -> Result<Owner> {
        self.check_process()?;
        if self.is_read_only() {
            return Err(Error::Store(StoreError::ReadOnly { path: self.path().to_owned() }));
        }
        self.shared.owners.begin()
    }

    pub(crate) fn cache(&self) -> &FrameCache {
        &self.shared.cache
    }

    pub(crate) fn decompressors(&self) -> &Decompressors {
        &self.shared.decompressors
    }

    /// A dictionary by id, from memory after the first read.
    pub(crate) fn dictionary(&self, id: u32) -> Result<Arc<Dictionary>> {
        let known = self
            .shared
            .dictionaries
            .read()
            .unwrap_or_else(PoisonError::into_inner)
            .get(&id)
            .cloned();
        if let Some(known) = known {
            return Ok(known);
        }
        let prepared = if id == NO_DICTIONARY {
            Dictionary::new(id, None)
        } else {
            let table = self.begin_read()?.open_table(tables::DICTIONARIES)?;
            let bytes = table.get(id)?.ok_or_else(|| Corruption {
                table: "dictionaries",
                place: id.to_string(),
                problem: "the dictionary that a chunk names is not there".into(),
            })?;
            Dictionary::new(id, Some(bytes.value()))
        };
        let prepared = Arc::new(prepared);
        let mut all = self.shared.dictionaries.write().unwrap_or_else(PoisonError::into_inner);
        all.insert(id, Arc::clone(&prepared));
        Ok(prepared)
    }

    /// Stores a new dictionary and returns it.
    pub(crate) fn add_dictionary(&self, bytes: &[u8]) -> Result<Arc<Dictionary>> {
        let transaction = self.begin_write()?;
        let id = transaction.act(|transaction| {
            let mut table = transaction.open_table(tables::DICTIONARIES)?;
            let id = table.last()?.map_or(NO_DICTIONARY, |(id, _)| id.value()) + 1;
            table.insert(id, bytes)?;
            Ok(id)
        })?;
        transaction.commit_beside_appends()?;
        self.dictionary(id)
    }

    /// All dictionaries' ids.
    pub(crate) fn dictionary_ids(&self) -> Result<Vec<u32>> {
        let table = self.begin_read()?.open_table(tables::DICTIONARIES)?;
        table.iter()?.map(|row| Ok(row?.0.value())).collect()
    }

    /// The number that distinguishes this store from any other.
    pub(crate) fn number(&self) -> Result<u64> {
        let meta = self.begin_read()?.open_table(tables::META)?;
        let number = meta.get("store")?.ok_or_else(|| Corruption {
            table: "meta",
            place: "store".into(),
            problem: "the store's number is not there".into(),
        })?;
        Ok(number.value())
    }

    /// Creates the tables of a new store, and refuses a store of an unknown format.
    fn check_format(&self) -> Result<()> {
        match format::find(&self.begin_read()?)? {
            Found::Present => Ok(()),
            Found::Unknown { format, reader } => Err(Error::Store(StoreError::UnknownFormat {
                path: self.shared.opener.path.clone(),
                format,
                reader,
            })),
            Found::None if self.is_read_only() => Err(Error::Store(StoreError::NotAStore {
                path: self.shared.opener.path.clone(),
                problem: "it is empty, or a redb database of something else".into(),
            })),
            Found::None => {
                creation::make_tables(self.writable()?, &self.shared.opener.path)?;
                self.check_format()
            }
        }
    }

    fn writable(&self) -> Result<&Database> {
        match &self.shared.handle {
            Handle::Writable(database) => Ok(database),
            Handle::Later(later) => later.database(),
            Handle::Overlay { database, is_sealed } if !is_sealed.load(Ordering::Acquire) => {
                Ok(database)
            }
            Handle::ReadOnly(_) | Handle::Overlay { .. } => {
                Err(Error::Store(StoreError::ReadOnly { path: self.shared.opener.path.clone() }))
            }
        }
    }
}
