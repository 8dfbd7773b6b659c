//! Processes that append at the same time: they share a sync of the journal, and let each other change the tables.

use std::io;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use super::file::JournalFile;
use super::row::Place;
use super::{Store, lock};
use crate::error::{Error, Result};
use crate::store::engine_file::EngineFile;

/// How long a process waits for another's sync before it syncs for itself.
#[cfg(not(test))]
const PATIENCE: Duration = Duration::from_millis(20);

/// Longer than a test takes to write a record.
#[cfg(test)]
const PATIENCE: Duration = Duration::from_secs(5);

/// How long it waits before it looks again.
const PAUSE: Duration = Duration::from_micros(50);

/// How long a commit is given to be confirmed before its process is taken for killed, unless it has a write transaction.
const CONFIRMATION: Duration = Duration::from_millis(5);

/// Records of others that are looked for before a sync.
const MOST_SHARED: usize = 1024;

/// The right to change the tables while no one appends.
#[derive(Debug)]
pub(crate) struct Gate<'s> {
    store: &'s Store,
    engine: &'s EngineFile,
}

/// The right to sync the journal for all.
struct SyncTurn<'e>(&'e EngineFile);

impl Store {
    /// Puts the journal on the disk up to a place, or finds that another process has done so. Returns the number of the last
    /// record that is certainly on the disk.
    pub(super) fn sync_for_all(
        &self,
        written: &Place,
        epoch: u64,
        file: &JournalFile,
    ) -> io::Result<u64> {
        let engine = self.shared.file.as_ref();
        let Some(engine) = engine.filter(|engine| matches!(engine.is_journal_shared(), Ok(true)))
        else {
            file.sync()?;
            return Ok(written.sequence);
        };
        let begun = Instant::now();
        let turn = loop {
            if engine.is_told_synced(written.sequence).map_err(of_engine)? {
                file.check_name()?;
                return Ok(written.sequence);
            }
            if engine.try_lock_sync().map_err(of_engine)? {
                break SyncTurn(engine);
            }
            // Who has the turn may be a stopped process.
            if begun.elapsed() > PATIENCE {
                file.sync()?;
                return Ok(written.sequence);
            }
            std::thread::sleep(PAUSE);
        };
        // Another may have told it before he gave the turn back.
        if engine.is_told_synced(written.sequence).map_err(of_engine)? {
            file.check_name()?;
            return Ok(written.sequence);
        }
        let mut last = *written;
        {
            // What others have written before the sync is in it; what they are writing may be read already, and not be.
            let _lock = self.lock_journal().map_err(io::Error::other)?;
            for _ in 0..MOST_SHARED {
                let Some(next) = file.next(&last, epoch)? else { break };
                last = next.journaled.end;
            }
        }
        file.sync()?;
        let mut told = lock(&self.journal().told);
        // Who is not told of it syncs for himself.
        if engine.tell_synced(last.sequence, *told).is_ok() {
            *told = Some(last.sequence);
        }
        drop(turn);
        Ok(last.sequence)
    }

    /// Keeps all others from appending, in this process and in others, until the answer is dropped. `None` for a store
    /// whose file cannot be locked.
    pub(crate) fn close_gate(&self) -> Result<Option<Gate<'_>>> {
        let Some(engine) = self.shared.file.as_ref().filter(|_| self.has_journal()) else {
            return Ok(None);
        };
        let journal = self.journal();
        // From now on appenders of this process wait, too.
        journal.at_gate.fetch_add(1, Ordering::SeqCst);
        let mut closed = lock(&journal.closed);
        let result = if *closed == 0 { engine.close_gate() } else { Ok(()) };
        match result {
            Ok(()) => {
                *closed += 1;
                Ok(Some(Gate { store: self, engine }))
            }
            Err(error) => {
                journal.at_gate.fetch_sub(1, Ordering::SeqCst);
                match error {
                    redb::BackendError::Unsupported => Ok(None),
                    error => Err(redb::StorageError::from(error).into()),
                }
            }
        }
    }

    /// Waits until the last commit is confirmed, or confirms that of a killed process.
    pub(super) fn wait_for_confirmation(&self, engine: &EngineFile) -> Result<()> {
        let begun = Instant::now();
        let failed = |error| Error::from(redb::StorageError::from(error));
        while engine.has_unconfirmed_commit().map_err(redb::StorageError::from)? {
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
        engine.is_gate_closed().map_err(|error| Error::from(redb::StorageError::from(error)))
    }

    /// Waits until no one asks that.
    pub(super) fn pass_gate(&self, engine: &EngineFile) -> Result<()> {
        let journal = self.journal();
        let mut closed = lock(&journal.closed);
        while *closed > 0 {
            closed = journal.opened.wait(closed).unwrap_or_else(std::sync::PoisonError::into_inner);
        }
        // While `closed` is locked no thread of this process closes the gate: the two would have the same lock.
        engine.pass_gate().map_err(|error| Error::from(redb::StorageError::from(error)))
    }
}

fn of_engine(error: redb::BackendError) -> io::Error {
    io::Error::other(redb::StorageError::from(error))
}

impl Drop for Gate<'_> {
    fn drop(&mut self) {
        let journal = self.store.journal();
        let mut closed = lock(&journal.closed);
        *closed -= 1;
        if *closed == 0 {
            // A lock that cannot be released ends with the open file.
            let _ = self.engine.open_gate();
        }
        journal.at_gate.fetch_sub(1, Ordering::SeqCst);
        journal.opened.notify_all();
    }
}

impl Drop for SyncTurn<'_> {
    fn drop(&mut self) {
        let _ = self.0.unlock_sync();
    }
}

#[cfg(all(test, unix))]
mod tests {
    use std::time::Duration;

    use leafline_import::Family;

    use super::*;
    use crate::pi::Draft;
    use crate::session::Persistence;
    use crate::store::recorder::{self, Event, STORE};
    use crate::{NewSession, Session};

    #[test]
    fn processes_that_wait_at_the_same_time_share_a_sync() {
        let append = |session: &mut Session, text: &str| {
            let message = serde_json::json!({"role": "user", "content": text});
            session.append(Draft::message(&message.to_string()).unwrap()).unwrap();
        };
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("store");
        let first = Store::open(&path).unwrap();
        let record = recorder::record(&path);
        let mut new = NewSession::new(Family::Pi, "/work");
        new.persistence = Some(Persistence::immediate());
        let mut session = first.create_session(&new).unwrap();
        // The second begins the epoch.
        append(&mut session, "one");
        append(&mut session, "two");
        let mut sessions = vec![session];
        for text in ["three", "four"] {
            let mut session = Store::open(&path).unwrap().session(sessions[0].id()).unwrap();
            append(&mut session, text);
            sessions.push(session);
        }
        let third = Store::open(&path).unwrap();
        let begun = record.count();
        let is_written =
            |event: &Event| matches!(event, Event::Write { file, .. } if *file != STORE);
        let written = || record.events()[begun..].iter().filter(|event| is_written(event)).count();
        let engine = third.shared.file.as_ref().unwrap();
        assert!(engine.try_lock_sync().unwrap());
        let count = sessions.len();
        let threads = sessions.into_iter().map(|mut session| {
            std::thread::spawn(move || {
                append(&mut session, "together");
                session
            })
        });
        let threads: Vec<_> = threads.collect();
        while written() < count {
            std::thread::sleep(Duration::from_millis(1));
        }
        engine.unlock_sync().unwrap();
        let sessions: Vec<Session> =
            threads.into_iter().map(|thread| thread.join().unwrap()).collect();
        let events = recorder::end(&record).split_off(begun);
        let is_sync =
            |event: &&Event| matches!(event, Event::Synced { file, .. } if *file != STORE);
        assert_eq!(events.iter().filter(is_sync).count(), 1);
        // Who is stopped while he has the turn stops no one else.
        assert!(engine.try_lock_sync().unwrap());
        let mut sessions = sessions;
        append(&mut sessions[0], "alone");
    }

    #[test]
    fn what_is_told_to_be_synced_is_seen_by_others_while_the_file_is_open() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("store");
        let [teller, other] = [(); 2].map(|()| Store::open(&path).unwrap());
        let seen = |record| other.shared.file.as_ref().unwrap().is_told_synced(record).unwrap();
        let engine = teller.shared.file.as_ref().unwrap();
        assert!(!seen(0));
        engine.tell_synced(7, None).unwrap();
        assert_eq!([0, 7, 8].map(seen), [true, true, false]);
        engine.tell_synced(1 << 41, Some(7)).unwrap();
        assert_eq!([8, 1 << 41, (1 << 41) + 1].map(seen), [true, true, false]);
        // Not by who tells it: he knows.
        assert!(!engine.is_told_synced(8).unwrap());
        drop(teller);
        assert!(!seen(8));
    }
}
