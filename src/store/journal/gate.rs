//! Turns between those who append and those who change the tables.

use std::sync::PoisonError;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use super::{Store, lock};
use crate::error::{Error, Result};
use crate::store::engine_file::{EngineFile, Held};

/// How long a commit is given to be confirmed before its process is taken for killed, unless it has a write transaction.
const CONFIRMATION: Duration = Duration::from_millis(5);

/// The right to change the tables while no one appends.
#[derive(Debug)]
pub(crate) struct Gate<'s> {
    store: &'s Store,
    engine: &'s EngineFile,
}

impl Store {
    /// Keeps all others from appending, in this process and in others, until the answer is dropped. `None` for a store
    /// whose file cannot be locked, and if a process that does not get on has the right to.
    pub(crate) fn close_gate(&self) -> Result<Option<Gate<'_>>> {
        let Some(engine) = self.shared.file.as_ref().filter(|_| self.has_journal()) else {
            return Ok(None);
        };
        self.check_process()?;
        let journal = self.journal();
        // From now on appenders of this process wait, too.
        journal.at_gate.fetch_add(1, Ordering::SeqCst);
        let mut closed = lock(&journal.closed);
        let is_closed = match *closed {
            0 => engine.wait_unless_stuck(Held::Gate, || engine.try_hold(Held::Gate)),
            _ => Ok(true),
        };
        if matches!(is_closed, Ok(true)) {
            *closed += 1;
            return Ok(Some(Gate { store: self, engine }));
        }
        journal.at_gate.fetch_sub(1, Ordering::SeqCst);
        is_closed.map(|_| None).map_err(|error| redb::StorageError::from(error).into())
    }

    /// Whether appends have to wait until the last commit is confirmed.
    pub(super) fn awaits_confirmation(&self, engine: &EngineFile) -> Result<bool> {
        engine.awaits_confirmation().map_err(|error| redb::StorageError::from(error).into())
    }

    /// Waits until the last commit is confirmed, or one for which appends need not wait; or confirms that of a killed process.
    pub(super) fn wait_for_confirmation(&self, engine: &EngineFile) -> Result<()> {
        let begun = Instant::now();
        let is_over = || {
            let is_late = begun.elapsed() > CONFIRMATION;
            Ok(!engine.awaits_confirmation()? || is_late && !engine.is_written_elsewhere()?)
        };
        self.wait_for(engine, Held::Tables, is_over, || Some(0))?;
        if self.awaits_confirmation(engine)? {
            // To begin a write transaction confirms it.
            self.begin_write()?.abort()?;
        }
        Ok(())
    }

    /// Whether a commit waits for its confirmation.
    #[cfg(test)]
    pub(crate) fn has_unconfirmed_commit(&self) -> bool {
        self.shared.file.as_ref().unwrap().has_unconfirmed_commit().unwrap()
    }

    /// Whether someone asks not to append.
    pub(super) fn is_gate_closed(&self, engine: &EngineFile) -> Result<bool> {
        if self.journal().at_gate.load(Ordering::SeqCst) > 0 {
            return Ok(true);
        }
        engine
            .is_held_elsewhere(Held::Gate)
            .map_err(|error| Error::from(redb::StorageError::from(error)))
    }

    /// Waits until no one asks that. `false` if a process that does not get on does: it only starves others, and is passed.
    pub(super) fn pass_gate(&self, engine: &EngineFile) -> Result<bool> {
        let journal = self.journal();
        let mut closed = lock(&journal.closed);
        while *closed > 0 {
            closed = journal.opened.wait(closed).unwrap_or_else(PoisonError::into_inner);
        }
        let is_open = || engine.is_held_elsewhere(Held::Gate).map(|is_closed| !is_closed);
        let is_passed = engine.wait_unless_stuck(Held::Gate, is_open);
        is_passed.map_err(|error| redb::StorageError::from(error).into())
    }
}

impl Drop for Gate<'_> {
    fn drop(&mut self) {
        let journal = self.store.journal();
        let mut closed = lock(&journal.closed);
        *closed -= 1;
        if *closed == 0 {
            // A lock that cannot be released ends with the open file.
            let _ = self.engine.release(Held::Gate);
        }
        journal.at_gate.fetch_sub(1, Ordering::SeqCst);
        journal.opened.notify_all();
    }
}
