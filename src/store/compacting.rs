//! Compaction: the store is written anew beside itself, and then takes its own place.
//!
//! Others read and write while the rows are copied. The new file gets the name in a moment in which nobody else has the old
//! one open: who opens the store then waits for a commit at most, and opens the new one. Where that cannot be done, pages are
//! moved within the file: by short transactions if others have it open, otherwise by the engine, which has the file for itself
//! from beginning to end.

use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use redb::CompactionError;

use super::backup::{self, Copy};
use super::creation::Unnamed;
use super::engine_file::{EngineFile, Recovery};
use super::opening::{open_file, refine};
use super::pages::{HEADER, PAGE, Root, guarded, read_header, tables_root, takes_more};
use super::snapshot::Snapshot;
use super::{Handle, Shared, Store, StoreOptions, recorder};
use crate::destination::{end_of_links, folder_of};
use crate::error::{Error, FileContext, Result, StoreError};

/// How often to look whether others still use the store.
const PAUSE: Duration = Duration::from_millis(50);

/// What it may take to copy what others have changed while they wait for it. Where it takes longer, it is done while they need
/// not wait, and then there is less to copy.
const STEP: Duration = Duration::from_millis(20);

/// How often at most.
const STEPS: u32 = 8;

/// The share of a compacted file that is left free while others have it open, and the least: a commit takes some 60 KB, one that
/// folds a quarter of an area of the journal some 3 MB.
const ROOM: u64 = 16;
const LEAST_ROOM: u64 = 1 << 20;

/// How a store is compacted.
#[derive(Debug, Clone, Default)]
pub struct CompactOptions {
    /// How long to wait until nobody else has the store open. Default: not at all.
    pub wait: Duration,
    /// Whether pages are moved within the file, even if there is room for another one. If others have it open after
    /// [`Self::wait`], that is done as by [`Store::give_back`]: they wait for one short transaction at most, and less may be
    /// given back. Otherwise who comes meanwhile waits until it is done. Default: no.
    pub in_place: bool,
}

/// What a compaction has done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Compaction {
    /// The size of the store's file before, in bytes.
    pub before: u64,
    /// Its size now. Closing the store may add a few pages.
    pub after: u64,
    /// Whether pages were moved within the file: it was asked for, or no other file could take its place.
    pub in_place: bool,
    /// True if others had the store open while pages were moved. The file shrinks when the last of them closes it.
    pub is_shared: bool,
}

impl Store {
    /// Returns the space that deleted or rewritten rows took to the system: [`Self::compact_with`] without waiting.
    ///
    /// # Errors
    ///
    /// Those of [`Self::compact_with`].
    pub fn compact(&mut self) -> Result<Compaction> {
        self.compact_with(&CompactOptions::default())
    }

    /// Returns the space that deleted or rewritten rows took to the system.
    ///
    /// The rows are copied into a new file beside the store, while others read and write. It takes the store's name in a moment
    /// in which nobody else has the store open; who opens it then waits some milliseconds. So it needs room for the new file. If
    /// there is none, or no right to make one, or the store has several names (hard links), pages are moved
    /// [within the file](CompactOptions::in_place).
    ///
    /// # Errors
    ///
    /// [`StoreError::InUse`] while another process has the store open, unless pages are moved within the file. Also while anything
    /// else in this process, in any thread, holds it: a clone, a [`Session`](crate::Session), a
    /// [`SessionReader`](crate::SessionReader), a [`PromptHistory`](crate::prompts::PromptHistory) or a search index. An agent
    /// compacts before it makes them, or after it has dropped them. [`StoreError::BeingRead`] if pages were to be moved within
    /// the file while others read all the time. [`Error::Corrupted`] if the store is damaged: its file is then as it was.
    pub fn compact_with(&mut self, options: &CompactOptions) -> Result<Compaction> {
        self.check_process()?;
        let before = self.file_bytes()?;
        self.close_journal();
        self.sweep()?;
        if Arc::get_mut(&mut self.shared).is_none() {
            return Err(self.in_use());
        }
        if self.is_written_later() {
            let options = StoreOptions { create: false, ..self.shared.options.clone() };
            *self = Self::open_waiting(self.path(), &options, true)?;
        }
        self.writable()?;
        let patience = Patience { begun: Instant::now(), limit: options.wait };
        let in_place = options.in_place || !self.compact_beside(&patience, before)?;
        if in_place {
            self.compact_within(&patience)?;
        }
        let is_shared = in_place && self.tells_who_has_it() && self.is_open_elsewhere();
        Ok(Compaction { before, after: self.file_bytes()?, in_place, is_shared })
    }

    /// Opens the file that has the path now, and closes the one before.
    pub(super) fn open_again(&mut self) -> Result<()> {
        let options = StoreOptions { create: false, ..self.shared.options.clone() };
        *self = Self::open_with(self.path(), &options)?;
        Ok(())
    }

    pub(super) fn in_use(&self) -> Error {
        Error::Store(StoreError::InUse { path: self.path().to_owned() })
    }

    /// Moves pages to the front of the file, as far as that can be done beside those who have it open in the end.
    fn compact_within(&mut self, patience: &Patience) -> Result<()> {
        loop {
            let is_shared = self.tells_who_has_it() && self.is_open_elsewhere();
            if !is_shared && self.compact_in_place()? {
                return Ok(());
            }
            if self.tells_who_has_it() && patience.is_over() {
                return self.move_pages();
            }
            patience.wait_for(self)?;
        }
    }

    /// Has the engine move pages to the front of the file, and shortens it. `false` if somebody reads or writes.
    fn compact_in_place(&mut self) -> Result<bool> {
        let path = self.path().to_owned();
        let Some(Shared { handle: Handle::Writable(database), .. }) =
            Arc::get_mut(&mut self.shared)
        else {
            return Err(Error::Store(StoreError::InUse { path }));
        };
        let compacted = guarded(|| database.compact())
            .map_err(|problem| problem.at("engine", path.display().to_string()))?;
        match compacted {
            Ok(_) => Ok(true),
            Err(CompactionError::TransactionInProgress) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    /// Writes the store anew and puts it in its own place. `false` if it cannot be: there is no room, or no right, or it has
    /// other names, or nobody can tell who has it open.
    fn compact_beside(&mut self, patience: &Patience, before: u64) -> Result<bool> {
        let Some(file) = self.shared.file.clone() else { return Ok(false) };
        let Some(path) = end_of_links(self.path(), |_| false) else { return Ok(false) };
        let is_possible = file.tells_who_has_it()
            && file.has_one_name().at("looking at", &path)?
            && has_room(folder_of(&path), self.file_bytes()?);
        if !is_possible {
            return Ok(false);
        }
        while file.is_open_elsewhere() {
            patience.wait_for(self)?;
        }
        let mut beside = match Beside::make(self, &file, path) {
            Err(error) if is_refusal(&error) => return Ok(false),
            beside => beside?,
        };
        for step in 1.. {
            let begun = Instant::now();
            match beside.follow(self).and_then(|()| beside.shorten()) {
                Err(error) if is_refusal(&error) => return Ok(false),
                followed => followed?,
            }
            let is_short = begun.elapsed() <= STEP || step >= STEPS;
            let Some(alone) = Alone::take(&file, &beside.path)? else {
                patience.wait_for(self)?;
                continue;
            };
            self.settle(&file)?;
            if !is_short && !beside.is_in_step(self)? {
                continue;
            }
            beside.follow(self)?;
            // The copy has no journal: what the store's has must be in the tables.
            if self.committed()?.journal_row()?.epoch != 0 {
                drop(alone);
                patience.wait_for(self)?;
                continue;
            }
            beside.leave_room(before)?;
            match beside.replace(&file, alone) {
                Err(error) if is_refusal(&error) => return Ok(false),
                replaced => replaced?,
            }
            break;
        }
        self.open_again()?;
        Ok(true)
    }

    /// Completes what a killed process left, and what this one has in the journal, so that it is in the tables.
    fn settle(&self, file: &EngineFile) -> Result<()> {
        if file.has_unconfirmed_commit().at("reading", self.path())? {
            // To begin one is to confirm the one before.
            self.begin_write()?.abort()?;
        }
        self.take_left_journal()
    }

    /// The store as it is now, and what is the same as long as no row changes.
    fn state(&self, file: &EngineFile) -> Result<(Snapshot, Root)> {
        loop {
            let before = self.root(file)?;
            let snapshot = self.snapshot()?;
            if self.root(file)? == before {
                return Ok((snapshot, before));
            }
        }
    }

    /// The current root of the tables.
    pub(super) fn root(&self, file: &EngineFile) -> Result<Root> {
        read_header(file).map(|header| tables_root(&header)).at("reading", self.path())
    }
}

/// How long to wait for others.
struct Patience {
    begun: Instant,
    limit: Duration,
}

impl Patience {
    fn is_over(&self) -> bool {
        self.begun.elapsed() >= self.limit
    }

    /// Waits a moment; fails if there was enough of it.
    fn wait_for(&self, store: &Store) -> Result<()> {
        if self.is_over() {
            return Err(store.in_use());
        }
        std::thread::sleep(PAUSE);
        Ok(())
    }
}

/// Whether an error says that a file cannot be made, or not named, where the store is.
fn is_refusal(error: &Error) -> bool {
    use std::io::ErrorKind::{
        CrossesDevices, InvalidInput, PermissionDenied, ReadOnlyFilesystem, ResourceBusy,
        Unsupported,
    };
    // The last four: nothing can be named over a file that is a mount of its own, and some file systems have no such rename.
    let kinds = [
        PermissionDenied,
        ReadOnlyFilesystem,
        ResourceBusy,
        CrossesDevices,
        InvalidInput,
        Unsupported,
    ];
    error.is_for_want_of_room()
        || matches!(error, Error::File { source, .. } if kinds.contains(&source.kind()))
}

/// Whether a disk has room for so many bytes, and leaves some for others.
#[cfg(unix)]
fn has_room(folder: &Path, bytes: u64) -> bool {
    rustix::fs::statvfs(folder).map_or(true, |disk| {
        disk.f_bavail.saturating_mul(disk.f_frsize) > bytes.saturating_add(bytes / 8)
    })
}

/// On other systems it is tried.
#[cfg(not(unix))]
fn has_room(_: &Path, _: u64) -> bool {
    true
}

/// A new file with the store's rows.
struct Beside<'f> {
    /// The store's file, and where it is.
    file: &'f EngineFile,
    path: PathBuf,
    made: Unnamed,
    /// What the rows are a copy of.
    root: Root,
    /// Bytes of the file when it was shortened.
    bytes: u64,
}

impl<'f> Beside<'f> {
    fn make(store: &Store, file: &'f EngineFile, path: PathBuf) -> Result<Self> {
        let made = Unnamed::make_beside(&path)?;
        let (snapshot, root) = store.state(file)?;
        backup::fill_new(&snapshot, made.path(), Copy::Replacement, &mut |_| {})?;
        let mut beside = Self { file, path, made, root, bytes: 0 };
        beside.shorten()?;
        beside.take_rights()?;
        beside.made.sync()?;
        backup::check_pages(beside.made.path())?;
        Ok(beside)
    }

    /// Gives back what the engine's file has grown by, which is more than it needs, if that is much.
    fn shorten(&mut self) -> Result<()> {
        let path = self.made.path();
        let length = || std::fs::metadata(path).map(|file| file.len()).at("looking at", path);
        if length()? > self.bytes + self.bytes / 16 {
            let options = StoreOptions { create: false, ..StoreOptions::default() };
            Store::open_with(path, &options)?.compact_in_place()?;
            self.bytes = length()?;
        }
        Ok(())
    }

    /// Gives the file the owner and the rights of the store's.
    fn take_rights(&self) -> Result<()> {
        let made = open_file(self.made.path())?;
        let given = self.file.rights().and_then(|rights| rights.give(&made));
        given.at("setting the rights of", self.made.path())
    }

    fn is_in_step(&self, store: &Store) -> Result<bool> {
        Ok(self.root.is_some() && store.state(self.file)?.1 == self.root)
    }

    /// Copies what others have changed.
    fn follow(&mut self, store: &Store) -> Result<()> {
        let (snapshot, root) = store.state(self.file)?;
        if root.is_none() || root != self.root {
            backup::follow(&snapshot, self.made.path())?;
            self.made.sync()?;
            self.root = root;
        }
        Ok(())
    }

    /// Leaves room at the end for what others add next: the engine doubles a file that has none, and nobody gives that back as
    /// long as anyone has the store open. What is not used the engine gives back as other free pages at the end.
    fn leave_room(&self, before: u64) -> Result<()> {
        let path = self.made.path();
        let file = open_file(path)?;
        let bytes = file.metadata().at("looking at", path)?.len();
        let room = (bytes / ROOM).max(LEAST_ROOM).min(before.saturating_sub(bytes));
        let room = room - room % PAGE as u64;
        let mut header = [0; HEADER];
        (&file).read_exact(&mut header).at("reading", path)?;
        if room == 0 || !takes_more(&header, bytes, room) {
            return Ok(());
        }
        recorder::length(&file, bytes + room);
        file.set_len(bytes + room).at("writing", path)?;
        self.made.sync()
    }

    /// Puts the file in the store's place.
    fn replace(self, file: &EngineFile, mut alone: Alone<'_>) -> Result<()> {
        file.be_replaced(true);
        let replaced = self.made.replace(&self.path);
        match replaced {
            Ok(()) => alone.is_over = true,
            Err(_) => file.be_replaced(false),
        }
        replaced
    }
}

/// The store's file for this process alone: others who open it wait until this is dropped.
struct Alone<'f> {
    own: &'f EngineFile,
    /// Open only for the lock.
    lock: Option<EngineFile>,
    /// Whether the file is another's now.
    is_over: bool,
}

impl<'f> Alone<'f> {
    /// `None` if anyone else has the file open.
    fn take(own: &'f EngineFile, path: &Path) -> Result<Option<Self>> {
        let lock = EngineFile::new(open_file(path)?, Recovery::Skipped)
            .map_err(|error| refine(error, path))?;
        let failed = |error| Error::from(redb::StorageError::from(error));
        own.leave_open().map_err(failed)?;
        let is_taken = lock.take_alone();
        let mut alone = Self { own, lock: Some(lock), is_over: false };
        // Another compaction may have been faster.
        if !own.is_at(path) {
            alone.is_over = true;
            return Err(StoreError::InUse { path: path.to_owned() }.into());
        }
        Ok(is_taken.map_err(failed)?.then_some(alone))
    }
}

impl Drop for Alone<'_> {
    fn drop(&mut self) {
        self.lock = None;
        if !self.is_over {
            // Nobody else keeps it alone for long; without it this handle counts as closed.
            let _ = self.own.share_open();
        }
    }
}

#[cfg(test)]
mod tests {
    use leafline_import::Family;
    use leafline_import::opal::Draft;

    use super::*;
    use crate::NewSession;
    use crate::programs::opal::OpalSession;

    #[test]
    fn what_others_append_next_does_not_double_the_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("store");
        let mut store = Store::open(&path).unwrap();
        let size = || std::fs::metadata(&path).unwrap().len();
        let begin = |text: &str| {
            let mut session =
                store.create_session(&NewSession::new(Family::Opal, "/work")).unwrap();
            session.append_many([Draft::user(text)]).unwrap();
            session.id().to_owned()
        };
        let mut noise = String::new();
        let mut state = 1_u64;
        while noise.len() < 8 << 20 {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            noise.push_str(&format!("{state:x}"));
        }
        let [kept, gone] = [begin(&noise), begin(&noise)];
        store.remove(&gone).unwrap();
        let before = size();
        let Compaction { after, in_place, .. } = store.compact().unwrap();
        assert!(after < before && !in_place, "{after} of {before}");
        // Both have it open, so that nothing is given back yet.
        let other = Store::open(&path).unwrap();
        for _ in 0..3 {
            let mut session = other.session(&kept).unwrap();
            session.append_many([Draft::user("next")]).unwrap();
            assert!(size() <= after, "{} of {after}", size());
        }
        drop(store);
        drop(other);
        assert!(size() < before);
        let store = Store::open(&path).unwrap();
        assert!(store.verify().unwrap().problems.is_empty());
        assert_eq!(store.reader(&kept).unwrap().facts().entries, 4);
    }

    #[test]
    fn a_copy_has_nothing_of_the_journal_that_is_in_use() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("store");
        let others = [(); 2].map(|()| Store::open(&path).unwrap());
        let mut session =
            others[0].create_session(&NewSession::new(Family::Opal, "/work")).unwrap();
        session.append_many([Draft::user("first")]).unwrap();
        let id = session.id().to_owned();
        drop(session);
        let mut sessions = others.each_ref().map(|store| store.session(&id).unwrap());
        let mut append = || {
            // Each takes over what the other has appended: the tables have that then.
            for session in &mut sessions {
                for text in ["one", "two"] {
                    session.append_many([Draft::user(text)]).unwrap();
                }
            }
        };
        append();
        let store = Store::open(&path).unwrap();
        let file = store.shared.file.clone().unwrap();
        let epoch = |store: &Store| store.committed().unwrap().journal_row().unwrap().epoch;
        assert!(epoch(&store) > 0, "a journal is in use");
        let mut beside = Beside::make(&store, &file, path).unwrap();
        for _ in 0..2 {
            append();
            beside.follow(&store).unwrap();
            let options = StoreOptions { create: false, ..StoreOptions::default() };
            let copy = Store::open_with(beside.made.path(), &options).unwrap();
            assert_eq!(epoch(&copy), 0);
        }
        assert!(epoch(&store) > 0, "it is still in use");
    }

    #[test]
    fn the_root_is_that_of_the_state_that_is_read() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(folder.path().join("store")).unwrap();
        let file = store.shared.file.clone().unwrap();
        let mut roots = Vec::new();
        for number in 0..2 {
            let transaction = store.writable().unwrap().begin_write().unwrap();
            let mut table = transaction.open_table(crate::store::tables::META).unwrap();
            table.insert("number", number).unwrap();
            drop(table);
            transaction.commit().unwrap();
            roots.push(tables_root(&read_header(&file).unwrap()));
        }
        let [before, after] = roots.try_into().unwrap();
        assert!(before.is_some() && after.is_some() && before != after);
        // While the last commit is not confirmed, readers have the one before.
        let mut header = read_header(&file).unwrap();
        header[9] |= 8;
        assert_eq!(tables_root(&header), before);
    }
}
