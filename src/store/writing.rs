//! Write transactions, behind which damage and panics of the engine are errors of the call that met them.

use std::ops::{Deref, DerefMut};
use std::sync::atomic::Ordering;

use redb::{Database, TransactionError, WriteTransaction};

use super::engine_file::NoProgress;
use super::pages::{Problem, contained, guarded};
use super::{Handle, Store, backup};
use crate::error::{Error, FileContext, Result, StoreError};

/// An open database. A panic of the engine while it is closed ends there: what is not on the disk is not acknowledged, and who
/// opens the file next recovers it.
pub(super) struct Engine<D>(Option<D>);

impl<D> Engine<D> {
    pub(super) fn new(database: D) -> Self {
        Self(Some(database))
    }
}

impl<D> Deref for Engine<D> {
    type Target = D;

    fn deref(&self) -> &D {
        self.0.as_ref().expect("it is there until it is dropped")
    }
}

impl<D> DerefMut for Engine<D> {
    fn deref_mut(&mut self) -> &mut D {
        self.0.as_mut().expect("it is there until it is dropped")
    }
}

impl<D> Drop for Engine<D> {
    fn drop(&mut self) {
        let database = self.0.take();
        match std::thread::panicking() {
            // As the engine does it for itself.
            true => drop(database),
            false => drop(contained(|| drop(database))),
        }
    }
}

/// A write transaction. It is aborted if it is dropped.
pub(crate) struct Writing<'s> {
    store: &'s Store,
    /// Until it is committed or aborted.
    transaction: Option<WriteTransaction>,
}

impl Store {
    /// Waits for the only write transaction, over all processes, and begins it.
    ///
    /// # Errors
    ///
    /// [`StoreError::HeldUp`] if the process that has it does not get on.
    pub(super) fn begin_write(&self) -> Result<Writing<'_>> {
        match self.begun(Database::begin_write)? {
            Err(TransactionError::Storage(error)) => Err(NoProgress::named(error, self.path())),
            begun => self.in_transaction(begun?),
        }
    }

    /// The same if nobody has it; `None` if somebody has.
    pub(super) fn try_begin_write(&self) -> Result<Option<Writing<'_>>> {
        if let Handle::Later(later) = &self.shared.handle
            && later.would_wait()
        {
            return Ok(None);
        }
        match self.begun(Database::try_begin_write)? {
            Err(TransactionError::WouldBlock) => Ok(None),
            begun => self.in_transaction(begun?).map(Some),
        }
    }

    fn begun(
        &self,
        begin: impl FnOnce(&Database) -> Result<WriteTransaction, TransactionError>,
    ) -> Result<Result<WriteTransaction, TransactionError>> {
        self.check_process()?;
        if self.shared.is_broken.load(Ordering::Acquire) {
            return Err(StoreError::Broken { path: self.path().to_owned() }.into());
        }
        let database = self.writable()?;
        if let Some(file) = &self.shared.file {
            file.check_is_whole().at("writing", self.path())?;
        }
        contained(|| begin(database)).map_err(|problem| self.broke(problem))
    }

    fn in_transaction(&self, begun: WriteTransaction) -> Result<Writing<'_>> {
        let writing = Writing { store: self, transaction: Some(begun) };
        if self.shared.is_backup.load(Ordering::Relaxed) {
            writing.act(backup::take_mark_away)?;
        }
        Ok(writing)
    }

    /// Notes that the engine gave up where it cannot go on, and makes an error of it.
    fn broke(&self, problem: Problem) -> Error {
        self.shared.is_broken.store(true, Ordering::Release);
        problem.at("engine", "a commit".to_owned()).into()
    }
}

impl Writing<'_> {
    /// Changes tables. If a damaged page is met, or the engine panics, the transaction is of no use any more; the store is.
    pub(crate) fn act<T>(&self, act: impl FnOnce(&WriteTransaction) -> Result<T>) -> Result<T> {
        guarded(|| act(self))
            .unwrap_or_else(|problem| Err(problem.at("engine", "a page".to_owned()).into()))
    }

    /// Puts all changes on the disk. If the engine panics, the store has to be opened again.
    pub(crate) fn commit(self) -> Result<()> {
        self.commit_letting(false)
    }

    /// The same of what no record of the journal builds on: sessions that were there, and the epoch, stay as they are. Others
    /// append meanwhile, even if this process is stopped before the commit is confirmed.
    pub(crate) fn commit_beside_appends(self) -> Result<()> {
        self.commit_letting(true)
    }

    /// Commits, and says whether appends pass meanwhile.
    pub(super) fn commit_letting(mut self, appends_pass: bool) -> Result<()> {
        let store = self.store;
        let _passable = match &store.shared.file {
            Some(file) if appends_pass => file.let_appends_pass(),
            Some(file) => {
                let passed = file.let_no_append_pass();
                passed.map_err(|error| NoProgress::named(error.into(), store.path()))?;
                None
            }
            None => None,
        };
        let Some(transaction) = self.transaction.take() else { return Ok(()) };
        let file = match &store.shared.handle {
            Handle::Later(later) => later.written(),
            _ => store.shared.file.as_ref(),
        };
        let note = |commits| {
            if let Some(file) = file {
                file.note_commit(commits);
            }
        };
        note(true);
        let committed = contained(|| transaction.commit());
        note(false);
        committed.map_err(|problem| store.broke(problem))??;
        Ok(())
    }

    /// Ends it without a change.
    pub(crate) fn abort(mut self) -> Result<()> {
        let store = self.store;
        let Some(transaction) = self.transaction.take() else { return Ok(()) };
        contained(|| transaction.abort()).map_err(|problem| store.broke(problem))??;
        Ok(())
    }
}

impl Deref for Writing<'_> {
    type Target = WriteTransaction;

    fn deref(&self) -> &WriteTransaction {
        self.transaction.as_ref().expect("a transaction that has ended is moved")
    }
}

impl Drop for Writing<'_> {
    fn drop(&mut self) {
        if let Some(transaction) = self.transaction.take() {
            if std::thread::panicking() {
                // As the engine does it for itself.
                return drop(transaction);
            }
            if let Err(problem) = contained(|| drop(transaction)) {
                self.store.broke(problem);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use leafline_import::Family;
    use leafline_import::opal::Draft;

    use crate::error::{Error, Result, StoreError};
    use crate::programs::opal::OpalSession;
    use crate::session::{NewSession, Session};
    use crate::store::Store;
    use crate::store::failing_disk::Disk;

    fn append(store: &Store, session: &str) -> Result<()> {
        let mut session: Session = store.session(session)?;
        session.append_many([Draft::user("next")]).map(drop)
    }

    fn entries(store: &Store, session: &str) -> usize {
        let mut count = 0;
        let reader = store.reader(session).unwrap();
        reader
            .get_entries(|_| {
                count += 1;
                Ok(true)
            })
            .unwrap();
        count
    }

    #[test]
    fn a_panic_of_the_engine_is_an_error_of_the_write_that_met_it() {
        let disk = Disk::default();
        let id = {
            let store = disk.open().unwrap();
            let mut session =
                store.create_session(&NewSession::new(Family::Opal, "/work")).unwrap();
            session.append_many([Draft::user("first")]).unwrap();
            session.id().to_owned()
        };
        let (mut broken, mut failed) = (0, 0);
        for writes in 0.. {
            let failing = disk.copy();
            let store = failing.open().unwrap();
            failing.panic_after(writes);
            let appended = append(&store, &id);
            let is_done = appended.is_ok();
            if let Err(error) = appended {
                assert!(matches!(error, Error::Corrupted(_)), "{error}");
                assert!(error.to_string().contains("the disk is gone"), "{error}");
                failed += 1;
                // What was there can be read. Another write is made, or refused: it does not wait for ever.
                assert_eq!(entries(&store, &id), 1);
                match append(&store, &id) {
                    Ok(()) => assert_eq!(entries(&store, &id), 2),
                    Err(Error::Store(StoreError::Broken { .. })) => broken += 1,
                    Err(error) => panic!("{error}"),
                }
            }
            drop(store);
            let again = failing.copy().open().unwrap();
            assert!(again.verify().unwrap().problems.is_empty());
            append(&again, &id).unwrap();
            if is_done {
                break;
            }
        }
        assert!(failed > 1 && broken > 0, "{failed} failed, {broken} broken");
    }
}
