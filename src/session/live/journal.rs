//! The journal as sessions use it: live changes go into it, and are folded into the tables before a read.

use std::cell::Cell;

use super::super::reader::SessionReader;
use super::change::{Change, Tail, payload};
use super::folding::Folding;
use super::retiring::Retired;
use crate::error::{Corruption, Error, Result, StoreError};
use crate::store::Store;
use crate::store::commit::Batch;
use crate::store::journal::{Appended, JournalChange, JournalRow, MadeJournal, Room};
use crate::store::session_key::SessionKey;
use crate::store::snapshot::Snapshot;

/// Writes a change to the journal, and waits until it is on the disk. `make` makes it of the session in the tables and of
/// what the journal has beyond them. `None` if the change has to go into the tables at once.
pub(super) fn append<T>(
    store: &Store,
    session: (SessionKey, &str),
    tail: &mut Tail,
    mut make: impl FnMut(&SessionReader, &Tail) -> Result<Option<(Change, T)>>,
) -> Result<Option<T>> {
    if !store.has_journal() {
        return Ok(None);
    }
    // Without an epoch there is no need to wait for anyone.
    let row = store.committed()?.journal_row()?;
    if row.epoch == 0 || !store.use_journal()? {
        return Ok(None);
    }
    if let Some(known) = store.read_ahead() {
        // What cannot be read is found again with the lock.
        let _ = tail.catch_up(&known, session.0);
    }
    let mut epoch = row.epoch;
    loop {
        let mut lock = match store.lock_journal_to_append(epoch) {
            Ok(Some(lock)) => lock,
            Ok(None) => return Ok(None),
            Err(error) => match store.retire_after(error, epoch)? {
                Retired::Ended => return Ok(None),
                Retired::Freed => continue,
            },
        };
        let snapshot = store.committed()?;
        let row = snapshot.journal_row()?;
        if store.has_failed_sync() {
            drop((lock, snapshot));
            store.save_journal()?;
            return Ok(None);
        }
        if row.epoch == 0 {
            return Ok(None);
        }
        epoch = row.epoch;
        if let Err(error) = lock.catch_up(&row) {
            drop((lock, snapshot));
            return Err(store.saving_known(error));
        }
        if lock.is_gone(&row)? {
            // What is in it can still be read through the open file.
            drop((lock, snapshot));
            store.save_journal()?;
            return Ok(None);
        }
        let reader = SessionReader::open(snapshot, session)?;
        let view = reader.view();
        tail.catch_up(lock.known(), view.key())?;
        let Some((change, answer)) = make(&reader, tail)? else { return Ok(None) };
        let appended = match lock.append(&row, view.key(), payload(&change)) {
            Err(error) => {
                drop((lock, reader));
                return Err(store.saving_known(error));
            }
            Ok(appended) => appended,
        };
        match appended {
            Appended::Written(written) => {
                drop(lock);
                if let Err(error) = store.sync_journal(&written) {
                    if let Ok(Some(is_kept)) = store.is_kept_of_retired(&written) {
                        // What the tables do not have goes into them from the start.
                        return Ok(is_kept.then_some(answer));
                    }
                    // In the tables it is as good as in the journal.
                    let saved = store.save_journal();
                    if saved.and_then(|()| store.sync_journal(&written)).is_err() {
                        return Err(error);
                    }
                    return Ok(Some(answer));
                }
                store.fold_later(written.fills_part);
                return Ok(Some(answer));
            }
            Appended::Unfit => return Ok(None),
            Appended::Sealed => {
                drop(lock);
                store.retire(epoch)?;
                return Ok(None);
            }
            Appended::Full => {
                drop(lock);
                store.fold_pending(&row)?;
            }
        }
    }
}

/// Writes a change into the tables which a journal would take, too; `make` is told whether it is to begin an epoch. `None`, and
/// nothing is written, if another process has begun one while this one waited for it: then the journal takes the change, and
/// nobody waits any more.
pub(super) fn write_tables<T>(
    store: &Store,
    make: impl FnOnce(Snapshot, bool) -> Result<(Batch, T)>,
) -> Result<Option<T>> {
    store.check_process()?;
    let begins = Cell::new(store.begins_epoch() && store.use_journal()?);
    let is_used = |snapshot: &Snapshot| Ok::<_, Error>(snapshot.journal_row()?.epoch != 0);
    if !store.has_journal() || is_used(&store.committed()?)? {
        return store.write(|snapshot| make(snapshot, begins.get())).map(Some);
    }
    let _turn = store.take_turn_to_write();
    if is_used(&store.committed()?)? {
        return Ok(None);
    }
    let waits = || {
        // Others write, too. Once there is a journal, they no longer wait for each other.
        begins.set(store.use_journal()?);
        Ok(())
    };
    store.write_tables_after(waits, |snapshot| {
        if is_used(&snapshot)? {
            return Ok((Batch::default(), None));
        }
        let (batch, answer) = make(snapshot, begins.get())?;
        Ok((batch, Some(answer)))
    })
}

/// Begins an epoch with a commit, if a journal can be made.
pub(super) fn begin_epoch(
    store: &Store,
    row: &JournalRow,
    room: Room,
    batch: &mut Batch,
) -> Result<()> {
    if row.epoch != 0 {
        return Ok(());
    }
    match store.begin_epoch(row, room) {
        Ok(Some(row)) => batch.change_journal(JournalChange::Begin(row)),
        // There is no room, or no right, or not yet: what follows goes into the tables, too.
        Ok(None) | Err(Error::File { .. }) => store.put_off_epoch(),
        Err(error) => return Err(error),
    }
    Ok(())
}

/// A journal that is kept in use, until this is dropped: others append to it while this process has one write transaction after
/// another, and the first append of a process does not wait for them.
#[derive(Debug)]
pub(crate) struct KeptJournal {
    store: Store,
    /// The journal, if there was none before: then none is left.
    made: Option<MadeJournal>,
}

impl KeptJournal {
    /// Puts what others have appended into the tables, if that is much: they may have ended, and whoever reads has to take it in.
    pub(crate) fn fold_if_long(&self) {
        let Self { store, .. } = self;
        let is_long = || store.has_long_journal(&store.committed()?.journal_row()?);
        if is_long().is_ok_and(|is_long| is_long) {
            // The journal keeps what cannot be folded now. Who reads or appends next is told why.
            let _ = store.fold(Folding::All);
        }
    }
}

impl Drop for KeptJournal {
    fn drop(&mut self) {
        let is_panicking = std::thread::panicking();
        let Self { store, made } = self;
        let mut is_ended = true;
        store.end_keeping(|| {
            if is_panicking {
                return;
            }
            is_ended = store.fold(Folding::AndEnd).is_ok();
            store.close_epoch();
            // Of a store that was deleted meanwhile no journal is left to which nobody has appended.
            let is_useless =
                |made: &&MadeJournal| is_ended || store.is_deleted() && made.is_unused();
            if let Some(made) = made.as_ref().filter(is_useless) {
                made.remove();
            } else if let Some(made) = made.as_ref().filter(|made| made.is_unused()) {
                made.give_room_back();
            }
        });
        if !is_ended {
            // After a full disk this open file cannot be written any more. Another one ends the epoch, or the next process does.
            let _ = store.open_beside();
        }
    }
}

impl Store {
    /// Begins an epoch, if there is none, and keeps its journal in use: before a change that takes many transactions. `None` where
    /// there can be no journal.
    pub(crate) fn keep_journal(&self) -> Result<Option<KeptJournal>> {
        if !self.keep_in_use()? {
            return Ok(None);
        }
        let mut kept = KeptJournal { store: self.clone(), made: None };
        // It takes some time to make one, for which others would wait.
        kept.made = self.make_journal()?;
        self.write_tables(|snapshot| {
            let mut batch = Batch::default();
            begin_epoch(self, &snapshot.journal_row()?, Room::Written, &mut batch)?;
            Ok((batch, ()))
        })?;
        Ok(Some(kept))
    }

    /// The store as it is now, with all that was acknowledged, by whatever process. All of it is in the tables: for a change that
    /// builds on it. If the journal has more, it is folded first, which may wait for one transaction of another writer.
    pub(crate) fn snapshot(&self) -> Result<Snapshot> {
        self.latest(|| self.fold(Folding::All).map(|()| true))
    }

    /// The same to be read alone, which waits for nobody: while another writes, what the journal has is folded in memory.
    pub(crate) fn snapshot_to_read(&self) -> Result<Snapshot> {
        // What cannot be written can be read.
        self.latest(|| Ok(self.try_fold().unwrap_or(false)))
    }

    /// The store as it is now. `fold` puts what the journal has into the tables, and says whether it did.
    fn latest(&self, fold: impl Fn() -> Result<bool>) -> Result<Snapshot> {
        loop {
            let snapshot = self.committed()?;
            if !self.has_epochs() {
                return Ok(snapshot);
            }
            let row = snapshot.journal_row()?;
            match self.has_journaled(&row) {
                Ok(false) => {
                    self.forget_overlay();
                    return Ok(snapshot);
                }
                Ok(true) => {
                    // While it is open, others cannot use its pages anew.
                    drop(snapshot);
                    if !self.is_read_only() && fold()? {
                        self.forget_overlay();
                        return self.committed();
                    }
                    let fold = |store: &Self| store.fold_journal_of(self, Folding::All);
                    match self.overlaid(self.committed()?, fold) {
                        Ok(Some(snapshot)) => return Ok(snapshot),
                        Ok(None) => {}
                        Err(error) => self.unless_outdated(&row, error)?,
                    }
                }
                Err(error) => self.unless_outdated(&row, error)?,
            }
        }
    }

    /// Fails with the error, unless the tables have gone on since the row was read: then the journal has, too.
    fn unless_outdated(&self, row: &JournalRow, error: Error) -> Result<()> {
        match error {
            Error::Store(StoreError::JournalAhead { .. } | StoreError::NoJournal { .. })
            | Error::Corrupted(Corruption { table: "journal", .. })
                if self.committed()?.journal_row()? != *row =>
            {
                Ok(())
            }
            error => Err(error),
        }
    }

    /// Writes, in one durable transaction, the batch that `make` creates from the current store. No other process or
    /// thread writes between the state that `make` sees and the commit, nor to the journal. Nothing is written if it fails.
    pub(crate) fn write<T>(&self, make: impl FnOnce(Snapshot) -> Result<(Batch, T)>) -> Result<T> {
        self.check_process()?;
        drop(self.read_ahead());
        let mut make = Some(make);
        let mut _gate = None;
        let mut folds = 0;
        loop {
            let (mut pending, mut stuck) = (None, None);
            let written = self.write_tables(|snapshot| {
                let row = snapshot.journal_row()?;
                // Where there is no epoch, another process can only begin one with a commit.
                let mut lock = match row.epoch {
                    0 => None,
                    epoch => match self.lock_journal() {
                        Err(error) => {
                            stuck = Some((error, epoch));
                            return Ok((Batch::default(), None));
                        }
                        lock => lock?,
                    },
                };
                if let Some(lock) = &mut lock {
                    lock.catch_up(&row)?;
                    if lock.has_pending() {
                        pending = Some(row);
                        return Ok((Batch::default(), None));
                    }
                }
                let Some(make) = make.take() else { return Ok((Batch::default(), None)) };
                let (batch, answer) = make(snapshot)?;
                // The lock is held until the commit.
                Ok((batch, Some((answer, lock))))
            });
            let written = written.map_err(|error| self.saving_known(error))?;
            if let Some((answer, _)) = written {
                return Ok(answer);
            }
            if let Some((error, epoch)) = stuck {
                self.retire_after(error, epoch)?;
                continue;
            }
            // Those who append all the time would go on before this change each time.
            if folds == 1 {
                _gate = self.close_gate()?;
            }
            if let Some(row) = pending {
                self.fold_pending(&row)?;
            }
            folds += 1;
        }
    }

    /// Puts what this process knows of a damaged journal into the tables: it may be lost with this process. Returns the error.
    fn saving_known(&self, error: Error) -> Error {
        if is_damage(&error) {
            let _ = self.save_journal();
        }
        error
    }

    /// Folds records that this process knows and the tables, as this row says, do not have.
    fn fold_pending(&self, row: &JournalRow) -> Result<()> {
        self.fold(Folding::All)?;
        // A file that does not have them any more has lost what the system could not write.
        if self.committed()?.journal_row()? == *row { self.save_journal() } else { Ok(()) }
    }
}

/// Whether an error says that the journal is damaged.
pub(super) fn is_damage(error: &Error) -> bool {
    matches!(error, Error::Corrupted(Corruption { table: "journal", .. }))
}
