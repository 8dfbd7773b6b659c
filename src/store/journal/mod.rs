//! The journal: a file beside the store into which live writes go first, at the cost of one write in place and one sync.
//! Later they are folded into the tables, many in one commit.
//!
//! An *epoch* begins with the commit that writes its number and the journal's path into the tables, and ends with one that
//! has taken all records over. In between the tables say how far they are, and whoever reads looks whether more follows.
//! Writers take turns by a lock of a byte of the store's own file, whatever the store is called. Records are a chain: each
//! repeats the checksum of the one before.

mod background;
mod file;
mod record;
mod row;
#[cfg(test)]
mod tests;
mod together;

use std::collections::{HashMap, VecDeque};
use std::path::PathBuf;
use std::sync::atomic::AtomicUsize;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use redb::{ReadableTable, TableError, WriteTransaction};

use self::background::Background;
#[cfg(test)]
pub(crate) use self::file::Areas;
pub(crate) use self::file::JournalFile;
pub(crate) use self::record::Journaled;
use self::record::Stamp;
pub(crate) use self::row::{JournalRow, KEY, Place};
use super::commit::Batch;
use super::engine_file::EngineFile;
use super::exposure::JOURNAL_ENDING;
use super::record::Record;
use super::session_key::SessionKey;
use super::snapshot::Snapshot;
use super::source_record::path_of_bytes;
use super::{Store, tables};
use crate::error::{Corruption, Error, FileContext, Result, StoreError};

/// Sequence numbers that are left out where a journal is given up: more than are written to one.
const GIVEN_UP: u64 = 1 << 40;

/// What an open store keeps of its journal.
#[derive(Debug, Default)]
pub(crate) struct Journal {
    file: Mutex<Option<OpenFile>>,
    appender: Mutex<Appender>,
    /// Whether this handle uses the journal, and others see that it does.
    is_used: Mutex<bool>,
    sync: Mutex<Syncing>,
    synced: Condvar,
    /// The record up to which other processes were told that the journal is on the disk.
    told: Mutex<Option<u64>>,
    /// Threads that have closed the gate, or wait to do so.
    at_gate: AtomicUsize,
    /// Threads that have closed it.
    closed: Mutex<usize>,
    opened: Condvar,
    background: Background,
    /// Of a store that is only read: the tables with the journal in them, in memory.
    overlay: Mutex<Option<Overlaid>>,
}

/// The journal of an epoch.
#[derive(Debug, Clone)]
struct OpenFile {
    epoch: u64,
    file: Arc<JournalFile>,
}

/// What an appender knows of the journal's end.
#[derive(Debug, Default)]
struct Appender {
    epoch: u64,
    last: Place,
    /// Records that are not in the tables, by session, in order.
    pending: HashMap<SessionKey, VecDeque<Journaled>>,
    /// The highest number in each area; of what was not read, a number that is certainly as high.
    highest: [u64; 2],
    /// The last record that was there when this process first looked at the epoch. If the system failed to write it before,
    /// only others were told.
    first_seen: u64,
    /// Changes of live sessions that went into the tables at once, since the store was opened.
    direct: u32,
}

#[derive(Debug, Default)]
struct Syncing {
    is_running: bool,
    /// The end of what was written here, and the number of the last record that is on the disk.
    written: Place,
    done: u64,
    /// A sync failed: this record and later ones may be lost, and no later sync of theirs is worth anything.
    failed: Option<u64>,
    /// The first and last of those of which nobody could tell later.
    lost: Option<(u64, u64)>,
}

/// Tables with the journal in them, and what of the store they were made from.
#[derive(Debug)]
struct Overlaid {
    /// What the tables on the disk said.
    row: JournalRow,
    store: Store,
}

/// The right to append: no one else does meanwhile, in any process.
#[derive(Debug)]
pub(crate) struct JournalLock<'s> {
    store: &'s Store,
    engine: &'s EngineFile,
    appender: MutexGuard<'s, Appender>,
}

/// Where an appended record stands.
#[derive(Debug)]
pub(crate) enum Appended {
    /// It is written, and has to be [synced](Store::sync_journal).
    Written(Written),
    /// The journal has to be folded first.
    Full,
    /// It is too long for the journal.
    TooLong,
}

/// A record that is written.
#[derive(Debug)]
pub(crate) struct Written {
    file: Arc<JournalFile>,
    epoch: u64,
    end: Place,
    /// It is the first in its area, so that the other one should be folded soon.
    pub(crate) is_full: bool,
}

impl Store {
    fn journal(&self) -> &Journal {
        &self.shared.journal
    }

    /// Whether a journal may have more than the tables: not of a store in memory, nor of an overlay.
    pub(crate) fn has_epochs(&self) -> bool {
        self.shared.file.is_some()
    }

    /// Whether live writes of this store can go through a journal.
    pub(crate) fn has_journal(&self) -> bool {
        self.shared.file.is_some() && !self.is_read_only()
    }

    /// Where a new epoch's journal is: beside the store itself, whatever link it was opened by.
    pub(crate) fn journal_path(&self) -> Result<PathBuf> {
        let store = self.path().canonicalize().at("finding", self.path())?;
        let mut path = store.into_os_string();
        path.push(JOURNAL_ENDING);
        Ok(path.into())
    }

    /// Fails if a journal beside the store has more than the tables: it is another store's, or the tables are older.
    pub(crate) fn check_journal(&self) -> Result<()> {
        if self.shared.file.is_none() {
            return Ok(());
        }
        let path = self.journal_path()?;
        match JournalFile::open_to_read(&path, self.number()?) {
            Ok(file) => {
                // In this order: what others append meanwhile is in the tables, or in an epoch.
                let newest = file.newest().at("reading the journal", &path)?;
                let row = self.committed()?.journal_row()?;
                // While an epoch is open its records are followed from those in the tables.
                let is_ahead = row.epoch == 0 && newest.is_ahead_of(&row);
                if is_ahead { Err(self.journal_ahead(path)) } else { Ok(()) }
            }
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(()),
            Err(_) if self.is_read_only() => Ok(()),
            Err(error) => Err(self.foreign_journal(path, &error)),
        }
    }

    fn foreign_journal(&self, journal: PathBuf, error: &std::io::Error) -> Error {
        let (path, problem) = (self.path().to_owned(), error.to_string());
        StoreError::ForeignJournal { path, journal, problem }.into()
    }

    /// The open journal of an epoch.
    fn journal_file(&self, row: &JournalRow) -> Result<Arc<JournalFile>> {
        let mut open = lock(&self.journal().file);
        if let Some(open) = open.as_ref().filter(|open| open.epoch == row.epoch) {
            return Ok(Arc::clone(&open.file));
        }
        let number = self.number()?;
        let beside = self.journal_path()?;
        let told = path_of_bytes(&row.path).unwrap_or_else(|| beside.clone());
        // The store may have been moved or copied with its journal, or have several names.
        let mut refused = None;
        for path in [&beside, &told] {
            let opened = match self.is_read_only() {
                true => JournalFile::open_to_read(path, number),
                false => JournalFile::open(path, number),
            };
            match opened {
                Ok(file) => {
                    let file = Arc::new(file);
                    *open = Some(OpenFile { epoch: row.epoch, file: Arc::clone(&file) });
                    return Ok(file);
                }
                Err(error) => refused = refused.or(Some(error)),
            }
        }
        let problem = refused.map_or_else(String::new, |error| error.to_string());
        let path = self.path().to_owned();
        Err(StoreError::NoJournal { path, journal: told, problem }.into())
    }

    /// The records that follow those in the tables, and the place behind them.
    ///
    /// # Errors
    ///
    /// [`StoreError::NoJournal`]; [`StoreError::JournalAhead`] if the tables are older than the journal.
    pub(crate) fn journaled(&self, row: &JournalRow) -> Result<(Vec<Journaled>, Place)> {
        let mut all = Vec::new();
        let place = self.each_journaled(row, |journaled| {
            all.push(journaled);
            true
        })?;
        Ok((all, place))
    }

    /// Whether the journal has records that are not in the tables.
    pub(crate) fn has_journaled(&self, row: &JournalRow) -> Result<bool> {
        let mut any = false;
        self.each_journaled(row, |_| {
            any = true;
            false
        })?;
        Ok(any)
    }

    /// Passes on records until `take` says no. Returns the place behind the last.
    fn each_journaled(
        &self,
        row: &JournalRow,
        mut take: impl FnMut(Journaled) -> bool,
    ) -> Result<Place> {
        let mut place = row.folded;
        if row.epoch == 0 {
            return Ok(place);
        }
        let file = self.journal_file(row)?;
        let failed = |error| self.journal_failed(row, error);
        let ahead = || self.journal_ahead(self.path_of_journal(row));
        while let Some(next) = file.next(&place, row.epoch).map_err(failed)? {
            if next.commits > row.commits {
                return Err(ahead());
            }
            place = next.journaled.end;
            if !take(next.journaled) {
                return Ok(place);
            }
        }
        // The chain begins behind what the tables have. While the journal was read others may have gone on with it.
        let newest = file.newest().map_err(failed)?;
        if place == row.folded
            && newest.is_ahead_of(row)
            && file.next(&place, row.epoch).map_err(failed)?.is_none()
        {
            return Err(ahead());
        }
        Ok(place)
    }

    fn path_of_journal(&self, row: &JournalRow) -> PathBuf {
        path_of_bytes(&row.path).unwrap_or_else(|| self.path().to_owned())
    }

    fn journal_failed(&self, row: &JournalRow, source: std::io::Error) -> Error {
        Error::File { action: "reading the journal", path: self.path_of_journal(row), source }
    }

    fn journal_ahead(&self, journal: PathBuf) -> Error {
        StoreError::JournalAhead { path: self.path().to_owned(), journal }.into()
    }

    /// Says to other processes that this one uses the journal, so that none ends its epoch. Without the lock of an open
    /// transaction; `false` if there is no journal.
    pub(crate) fn use_journal(&self) -> Result<bool> {
        let Some(engine) = self.shared.file.as_ref().filter(|_| self.has_journal()) else {
            return Ok(false);
        };
        let mut is_used = lock(&self.journal().is_used);
        if !*is_used {
            match engine.share_journal() {
                Ok(()) => *is_used = true,
                Err(redb::BackendError::Unsupported) => return Ok(false),
                Err(error) => return Err(redb::StorageError::from(error).into()),
            }
        }
        Ok(true)
    }

    /// No longer uses the journal. Calls `end` if this handle used it and no other one does.
    pub(crate) fn leave_journal(&self, end: impl FnOnce()) {
        self.journal().background.stop();
        let mut is_used = lock(&self.journal().is_used);
        let Some(engine) = self.shared.file.as_ref().filter(|_| *is_used) else { return };
        *is_used = false;
        // A lock that cannot be released or taken ends with the open file, and the epoch goes on.
        if engine.leave_journal().is_ok() && matches!(engine.close_journal_to_others(), Ok(true)) {
            end();
            let _ = engine.leave_journal();
        }
    }

    /// Goes on without the journal, if it cannot be used and nobody uses it. What it alone had is not in the tables.
    pub(crate) fn give_up_journal(&self) -> Result<()> {
        let usable = self.committed()?.journal_row().and_then(|row| self.journaled(&row).map(drop));
        if usable.is_ok() && self.check_journal().is_ok() {
            return Ok(());
        }
        let mut given_up = Ok(());
        self.unless_used(|| {
            given_up = self.write_tables(|snapshot| {
                let row = snapshot.journal_row()?;
                let mut batch = Batch::default();
                // Beyond any number that the journal can have, so that it is not taken for a later one.
                let sequence = row.folded.sequence.saturating_add(GIVEN_UP);
                batch.change_journal(JournalChange::End(Place { sequence, ..Place::default() }));
                Ok((batch, ()))
            });
        })?;
        given_up
    }

    /// Calls `act` if no handle uses the journal, this one neither. None begins to meanwhile.
    pub(crate) fn unless_used(&self, act: impl FnOnce()) -> Result<()> {
        let is_used = lock(&self.journal().is_used);
        let Some(engine) = self.shared.file.as_ref().filter(|_| !*is_used) else { return Ok(()) };
        let failed = |error| Error::from(redb::StorageError::from(error));
        match engine.close_journal_to_others() {
            Ok(true) => {
                act();
                engine.leave_journal().map_err(failed)
            }
            Ok(false) | Err(redb::BackendError::Unsupported) => Ok(()),
            Err(error) => Err(failed(error)),
        }
    }

    /// Waits for the right to append. `None` for a store without a journal.
    pub(crate) fn lock_journal(&self) -> Result<Option<JournalLock<'_>>> {
        let Some(engine) = self.shared.file.as_ref().filter(|_| self.has_journal()) else {
            return Ok(None);
        };
        let appender = lock(&self.journal().appender);
        match engine.lock_journal() {
            Ok(()) => Ok(Some(JournalLock { store: self, engine, appender })),
            Err(redb::BackendError::Unsupported) => Ok(None),
            Err(error) => Err(redb::StorageError::from(error).into()),
        }
    }

    /// The same for one who appends. It waits until no one asks not to, and until all commits are shown: what a killed process
    /// did not confirm comes before the record if it changed the session, and may have ended the epoch.
    pub(crate) fn lock_journal_to_append(&self) -> Result<Option<JournalLock<'_>>> {
        loop {
            let Some(lock) = self.lock_journal()? else { return Ok(None) };
            let engine = lock.engine;
            if self.is_gate_closed(engine)? {
                drop(lock);
                self.pass_gate(engine)?;
            } else if engine.has_unconfirmed_commit().map_err(redb::StorageError::from)? {
                drop(lock);
                self.wait_for_confirmation(engine)?;
            } else {
                return Ok(Some(lock));
            }
        }
    }

    /// What the thread in the background has to know.
    pub(crate) fn background_folding(&self) -> &Background {
        &self.journal().background
    }

    /// Waits until what was appended is on the disk. Threads and processes that wait at the same time share a sync.
    pub(crate) fn sync_journal(&self, written: &Written) -> Result<()> {
        let Written { file, epoch, end, .. } = written;
        let sequence = end.sequence;
        let journal = self.journal();
        let mut state = lock(&journal.sync);
        if state.written.sequence < sequence {
            state.written = *end;
        }
        loop {
            let is_lost = |(first, last)| (first..=last).contains(&sequence);
            if state.failed.is_some_and(|failed| failed <= sequence)
                || state.lost.is_some_and(is_lost)
            {
                let source = std::io::Error::other("an earlier write to it failed");
                return Err(self.journal_write_failed(source));
            }
            if state.done >= sequence {
                return Ok(());
            }
            if state.is_running {
                state = journal.synced.wait(state).unwrap_or_else(PoisonError::into_inner);
                continue;
            }
            state.is_running = true;
            let (from, until) = (state.done, state.written);
            drop(state);
            let result = self.sync_for_all(&until, *epoch, file).and_then(|done| {
                self.shared.file.as_ref().map_or(Ok(()), EngineFile::check_name)?;
                Ok(done)
            });
            state = lock(&journal.sync);
            state.is_running = false;
            journal.synced.notify_all();
            match result {
                Ok(done) => state.done = state.done.max(done),
                Err(source) => {
                    state.failed = Some(state.failed.unwrap_or(u64::MAX).min(from + 1));
                    return Err(self.journal_write_failed(source));
                }
            }
        }
    }

    /// Whether a sync of the journal has failed, and what was written to it is in doubt.
    pub(crate) fn has_failed_sync(&self) -> bool {
        lock(&self.journal().sync).failed.is_some()
    }

    /// Notes what became of the records that were in doubt: this process wrote none beyond `last`, and whether all of them
    /// are in the tables. Nobody has appended meanwhile.
    pub(crate) fn end_doubt(&self, last: u64, are_kept: bool) {
        let mut state = lock(&self.journal().sync);
        let failed = state.failed.take();
        if are_kept {
            state.done = state.done.max(last);
        } else if let Some(first) = failed {
            state.lost = Some((first, last));
        }
    }

    fn journal_write_failed(&self, source: std::io::Error) -> Error {
        let path = self.journal_path().unwrap_or_else(|_| self.path().to_owned());
        Error::File { action: "writing the journal", path, source }
    }

    /// Whether the next change of a live session should begin an epoch: it is not the first one through this handle.
    pub(crate) fn begins_epoch(&self) -> bool {
        if !self.has_journal() {
            return false;
        }
        let mut appender = lock(&self.journal().appender);
        appender.direct = appender.direct.saturating_add(1);
        appender.direct > 1
    }

    /// Notes that no epoch could be begun: there is no room for a journal, or no right to make one.
    pub(crate) fn put_off_epoch(&self) {
        lock(&self.journal().appender).direct = 0;
    }

    /// Makes the journal of a new epoch. The caller holds the write transaction.
    pub(crate) fn begin_epoch(&self, before: &JournalRow) -> Result<JournalRow> {
        let path = self.journal_path()?;
        let file = match JournalFile::make(&path, self.number()?, file::Areas::USUAL) {
            Err(error) if error.kind() == std::io::ErrorKind::InvalidData => {
                return Err(self.foreign_journal(path, &error));
            }
            made => made.at("making the journal", &path)?,
        };
        // Who may read the store may read its journal.
        file.take_rights_of(self.path()).at("setting the rights of", &path)?;
        if file.newest().at("reading the journal", &path)?.is_ahead_of(before) {
            return Err(self.journal_ahead(path));
        }
        let epoch = uuid::Uuid::new_v4().as_u64_pair().1 | 1;
        *lock(&self.journal().file) = Some(OpenFile { epoch, file: Arc::new(file) });
        let folded = file::beginning(before.folded.sequence);
        let path = path.as_os_str().as_encoded_bytes().to_vec();
        Ok(JournalRow { epoch, folded, commits: before.commits, path })
    }

    /// The tables with the journal in them, in memory. `None` if they have changed meanwhile.
    ///
    /// `fold` puts the records into them.
    pub(crate) fn overlaid(
        &self,
        pin: Snapshot,
        fold: impl FnOnce(&Self) -> Result<()>,
    ) -> Result<Option<Self>> {
        let row = pin.journal_row()?;
        let mut overlaid = lock(&self.journal().overlay);
        let store = match overlaid.take().filter(|overlaid| overlaid.row == row) {
            Some(Overlaid { store, .. }) => store,
            None => match self.overlay(pin)? {
                Some(store) => store,
                None => return Ok(None),
            },
        };
        store.unsealed(|| fold(&store))?;
        *overlaid = Some(Overlaid { row, store: store.clone() });
        Ok(Some(store))
    }
}

impl Snapshot {
    /// What the tables know of the journal.
    pub(crate) fn journal_row(&self) -> Result<JournalRow> {
        let table = match self.transaction().open_table(tables::JOURNAL) {
            Ok(table) => table,
            // A store of an earlier format, which is only read here.
            Err(TableError::TableDoesNotExist(_)) if self.store().is_read_only() => {
                return Ok(JournalRow::default());
            }
            Err(error) => return Err(error.into()),
        };
        let row = table.get(KEY)?.ok_or_else(no_row)?;
        JournalRow::from_bytes(row.value(), || KEY.to_string())
    }

    /// Passes on the session of each record that could not become rows.
    pub(crate) fn each_unfolded(&self, mut take: impl FnMut(SessionKey)) -> Result<()> {
        let table = match self.transaction().open_table(tables::UNFOLDED) {
            Ok(table) => table,
            Err(TableError::TableDoesNotExist(_)) if self.store().is_read_only() => return Ok(()),
            Err(error) => return Err(error.into()),
        };
        for row in table.iter()? {
            take(SessionKey::new(row?.0.value().0));
        }
        Ok(())
    }
}

/// Writes the row of a store whose journal was never used.
pub(crate) fn make_row(transaction: &WriteTransaction) -> Result<()> {
    let mut table = transaction.open_table(tables::JOURNAL)?;
    table.insert(KEY, JournalRow::default().to_bytes().as_slice())?;
    Ok(())
}

/// What a commit does to the journal.
#[derive(Debug, Clone)]
pub(crate) enum JournalChange {
    /// Its records up to this place are in the tables now.
    Fold(Place),
    /// The same, and they were all: the epoch ends.
    End(Place),
    /// An epoch begins.
    Begin(JournalRow),
}

/// Notes a commit that changes sessions in the row, as long as a journal is in use.
pub(crate) fn note_commit(
    transaction: &WriteTransaction,
    change: Option<JournalChange>,
) -> Result<()> {
    let mut row = row_of(transaction)?;
    if row.epoch == 0 && change.is_none() {
        return Ok(());
    }
    match change {
        None => {}
        Some(JournalChange::Fold(place)) => row.folded = place,
        Some(JournalChange::End(folded)) => {
            row = JournalRow { epoch: 0, folded, path: Vec::new(), ..row }
        }
        Some(JournalChange::Begin(begun)) => row = begun,
    }
    row.commits += 1;
    let mut table = transaction.open_table(tables::JOURNAL)?;
    table.insert(KEY, row.to_bytes().as_slice())?;
    Ok(())
}

/// The row as a write transaction sees it.
pub(crate) fn row_of(transaction: &WriteTransaction) -> Result<JournalRow> {
    let table = transaction.open_table(tables::JOURNAL)?;
    let row = table.get(KEY)?.ok_or_else(no_row)?;
    JournalRow::from_bytes(row.value(), || KEY.to_string())
}

/// The damage of a store that does not say how far it is.
pub(crate) fn no_row() -> Corruption {
    Corruption {
        table: "journal",
        place: KEY.to_string(),
        problem: "the row that says how far the tables are is not there".into(),
    }
}

impl JournalLock<'_> {
    /// Reads what others have appended, and forgets what is in the tables.
    pub(crate) fn catch_up(&mut self, row: &JournalRow) -> Result<()> {
        let Self { store, appender, .. } = self;
        if appender.epoch != row.epoch || row.folded.sequence > appender.last.sequence {
            // Whether others have folded what was in doubt, nobody can tell.
            store.end_doubt(appender.last.sequence, false);
            **appender = Appender {
                epoch: row.epoch,
                last: row.folded,
                highest: [row.folded.sequence; 2],
                first_seen: if appender.epoch == row.epoch {
                    appender.first_seen
                } else {
                    u64::MAX
                },
                direct: appender.direct,
                pending: HashMap::new(),
            };
        }
        let folded = row.folded.sequence;
        appender.pending.retain(|_, pending| {
            while pending.front().is_some_and(|record| record.sequence() <= folded) {
                pending.pop_front();
            }
            !pending.is_empty()
        });
        let after = JournalRow { folded: appender.last, ..row.clone() };
        let file = store.journal_file(&after)?;
        loop {
            let next = file.next(&appender.last, row.epoch);
            let Some(next) = next.map_err(|error| store.journal_failed(row, error))? else {
                appender.first_seen = appender.first_seen.min(appender.last.sequence);
                return Ok(());
            };
            let area = file.areas.area_of(&next.journaled.end);
            appender.note(next.journaled, area);
        }
    }

    /// The records of a session that are not in the tables.
    pub(crate) fn pending(
        &self,
        session: SessionKey,
    ) -> impl DoubleEndedIterator<Item = &Journaled> {
        self.appender.pending.get(&session).into_iter().flatten()
    }

    /// The last record that this process knows.
    pub(crate) fn last(&self) -> Place {
        self.appender.last
    }

    /// Whether the last record that this process knows is of the epoch in the tables.
    pub(crate) fn knows(&self, row: &JournalRow) -> bool {
        row.epoch != 0 && row.epoch == self.appender.epoch
    }

    /// The records that are not in the tables, in order, as this process wrote them or first read them.
    pub(crate) fn all_pending(&self) -> Vec<Journaled> {
        let mut all: Vec<Journaled> = self.appender.pending.values().flatten().cloned().collect();
        all.sort_by_key(Journaled::sequence);
        all
    }

    /// Whether any record is not in the tables.
    pub(crate) fn has_pending(&self) -> bool {
        !self.appender.pending.is_empty()
    }

    /// Appends a record. [`Self::catch_up`] comes first.
    pub(crate) fn append(
        &mut self,
        row: &JournalRow,
        session: SessionKey,
        payload: Vec<u8>,
    ) -> Result<Appended> {
        let file = self.store.journal_file(row)?;
        let areas = file.areas;
        if !areas.takes(payload.len()) {
            return Ok(Appended::TooLong);
        }
        if self.appender.first_seen > row.folded.sequence {
            return Ok(Appended::Full);
        }
        let last = self.appender.last;
        let size = record::size(payload.len());
        let (at, is_full) = if let Some(at) = areas.byte_behind(&last, size) {
            (at, false)
        } else {
            let other = 1 - areas.area_of(&last);
            let highest = self.appender.highest.get(other).copied().unwrap_or(u64::MAX);
            if highest > row.folded.sequence {
                return Ok(Appended::Full);
            }
            (areas.start_of(other), true)
        };
        // The engine shows a commit once it is on the disk, so that this record is never of a later state than the tables.
        let stamp = Stamp { epoch: row.epoch, commits: row.commits };
        let end = file
            .write(at, &last, stamp, session, &payload)
            .map_err(|error| self.store.journal_write_failed(error))?;
        self.appender.note(Journaled { session, payload, end }, areas.area_of(&end));
        Ok(Appended::Written(Written { file, epoch: row.epoch, end, is_full }))
    }
}

impl Appender {
    /// Notes the record that ends at a place in an area.
    fn note(&mut self, journaled: Journaled, area: usize) {
        if let Some(highest) = self.highest.get_mut(area) {
            *highest = journaled.sequence();
        }
        self.last = journaled.end;
        self.pending.entry(journaled.session).or_default().push_back(journaled);
    }
}

impl Drop for JournalLock<'_> {
    fn drop(&mut self) {
        // A lock that cannot be released ends with the open file.
        let _ = self.engine.unlock_journal();
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
