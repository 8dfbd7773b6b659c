//! Turns between those who append and those who change the tables.

use std::sync::PoisonError;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use super::syncing::PAUSE;
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
    /// whose file cannot be locked.
    pub(crate) fn close_gate(&self) -> Result<Option<Gate<'_>>> {
        let Some(engine) = self.shared.file.as_ref().filter(|_| self.has_journal()) else {
            return Ok(None);
        };
        self.check_process()?;
        let journal = self.journal();
        // From now on appenders of this process wait, too.
        journal.at_gate.fetch_add(1, Ordering::SeqCst);
        let mut closed = lock(&journal.closed);
        let try_close = || engine.try_hold(Held::Gate);
        let is_closed = match *closed {
            0 => self.wait_for(engine, Held::Gate, try_close, || 0),
            _ => Ok(true),
        };
        if matches!(is_closed, Ok(true)) {
            *closed += 1;
            return Ok(Some(Gate { store: self, engine }));
        }
        journal.at_gate.fetch_sub(1, Ordering::SeqCst);
        is_closed.map(|_| None)
    }

    /// Whether appends have to wait until the last commit is confirmed.
    pub(super) fn awaits_confirmation(&self, engine: &EngineFile) -> Result<bool> {
        // In this order: who lets appends pass has confirmed the commit that was found before his own.
        let is_unconfirmed = engine.has_unconfirmed_commit().map_err(redb::StorageError::from)?;
        Ok(is_unconfirmed && !engine.lets_appends_pass().map_err(redb::StorageError::from)?)
    }

    /// Waits until the last commit is confirmed, or one for which appends need not wait; or confirms that of a killed process.
    pub(super) fn wait_for_confirmation(&self, engine: &EngineFile) -> Result<()> {
        let begun = Instant::now();
        let failed = |error| Error::from(redb::StorageError::from(error));
        while self.awaits_confirmation(engine)? {
            let is_late = begun.elapsed() > CONFIRMATION;
            if is_late && !engine.is_written_elsewhere().map_err(failed)? {
                // To begin a write transaction confirms it.
                self.begin_write()?.abort()?;
                return Ok(());
            }
            std::thread::sleep(PAUSE);
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

    /// Waits until no one asks that.
    pub(super) fn pass_gate(&self, engine: &EngineFile) -> Result<()> {
        let journal = self.journal();
        let mut closed = lock(&journal.closed);
        while *closed > 0 {
            closed = journal.opened.wait(closed).unwrap_or_else(PoisonError::into_inner);
        }
        let is_open = || engine.is_held_elsewhere(Held::Gate).map(|is_closed| !is_closed);
        self.wait_for(engine, Held::Gate, is_open, || 0).map(drop)
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
