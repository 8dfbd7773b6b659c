//! Syncs of the journal, which threads and processes share that append at the same time.

use std::io;
use std::sync::{Condvar, PoisonError};
use std::time::{Duration, Instant};

use super::appending::Written;
use super::file::JournalFile;
use super::row::Place;
use super::{Journal, Store, lock};
use crate::error::{FileContext, Result};
use crate::store::engine_file::{EngineFile, PAUSE};

/// How long a process waits for another's sync before it syncs for itself.
#[cfg(not(test))]
const PATIENCE: Duration = Duration::from_millis(20);

/// Longer than a test takes to write a record.
#[cfg(test)]
const PATIENCE: Duration = Duration::from_secs(5);

/// Records of others that are looked for before a sync.
const MOST_SHARED: usize = 1024;

/// What this process has written and synced.
#[derive(Debug, Default)]
pub(super) struct Syncing {
    is_running: bool,
    /// The number of the last sync that began, and of the last record that is in it.
    turn: usize,
    last: u64,
    /// The end of what was written here, and the number of the last record that is on the disk.
    written: Place,
    done: u64,
    /// A sync failed: this record and later ones may be lost, and no later sync of theirs is worth anything.
    failed: Option<u64>,
    /// The first and last of those of which nobody could tell later.
    lost: Option<(u64, u64)>,
}

/// The right to sync the journal for all.
struct SyncTurn<'e>(&'e EngineFile);

impl Journal {
    fn synced_in(&self, turn: usize) -> &Condvar {
        let [even, odd] = &self.synced;
        if turn.is_multiple_of(2) { even } else { odd }
    }
}

impl Store {
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
                let turn = if sequence <= state.last { state.turn } else { state.turn + 1 };
                let synced = journal.synced_in(turn);
                state = synced.wait(state).unwrap_or_else(PoisonError::into_inner);
                continue;
            }
            let (from, until) = (state.done, state.written);
            state.is_running = true;
            state.turn += 1;
            state.last = until.sequence;
            drop(state);
            let result = self.sync_for_all(&until, *epoch, file);
            let result = result.map_err(|source| self.journal_write_failed(source));
            let result = result.and_then(|done| {
                // A record builds on the tables: without them it is lost.
                let file = self.shared.file.as_ref();
                file.map_or(Ok(()), EngineFile::check_is_there).at("writing", self.path())?;
                Ok(done)
            });
            state = lock(&journal.sync);
            state.is_running = false;
            let turn = state.turn;
            // One of those whose records were not in it does the next one.
            let is_usual = result.as_ref().is_ok_and(|done| *done == until.sequence);
            let result = match result {
                Ok(done) => {
                    state.done = state.done.max(done);
                    Ok(())
                }
                Err(error) => {
                    state.failed = Some(state.failed.unwrap_or(u64::MAX).min(from + 1));
                    Err(error)
                }
            };
            drop(state);
            journal.synced_in(turn).notify_all();
            if is_usual {
                journal.synced_in(turn + 1).notify_one();
            } else {
                journal.synced_in(turn + 1).notify_all();
            }
            return result;
        }
    }

    /// The last record of which this process knows that it is on the disk.
    pub(super) fn last_synced(&self) -> u64 {
        lock(&self.journal().sync).done
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

    /// Puts the journal on the disk up to a place, or finds that another process has done so. Returns the number of the last
    /// record that is certainly on the disk.
    pub(super) fn sync_for_all(
        &self,
        written: &Place,
        epoch: u64,
        file: &JournalFile,
    ) -> io::Result<u64> {
        let Some(engine) = self.shared.file.as_ref().filter(|_| self.shares_journal()) else {
            self.sync_and_check(file, epoch)?;
            return Ok(written.sequence);
        };
        let begun = Instant::now();
        let turn = loop {
            if engine.is_told_synced(written.sequence).map_err(of_engine)? {
                self.check_stays(file, epoch)?;
                return Ok(written.sequence);
            }
            if engine.try_lock_sync().map_err(of_engine)? {
                break SyncTurn(engine);
            }
            // Who has the turn may be a stopped process.
            if begun.elapsed() > PATIENCE {
                self.sync_and_check(file, epoch)?;
                return Ok(written.sequence);
            }
            std::thread::sleep(PAUSE);
        };
        // Another may have told it before he gave the turn back.
        if engine.is_told_synced(written.sequence).map_err(of_engine)? {
            self.check_stays(file, epoch)?;
            return Ok(written.sequence);
        }
        let mut last = *written;
        // What others have written before the sync is in it; what they are writing may be read already, and not be. Who has the
        // lock for long may be a stopped process.
        if let Some(_lock) = self.lock_journal_within(PATIENCE) {
            for _ in 0..MOST_SHARED {
                let Some(next) = file.next(&last, epoch)? else { break };
                last = next.journaled.end;
            }
        }
        self.sync_and_check(file, epoch)?;
        let mut told = lock(&self.journal().told);
        // Who is not told of it syncs for himself.
        if engine.tell_synced(last.sequence, *told).is_ok() {
            *told = Some(last.sequence);
        }
        drop(turn);
        Ok(last.sequence)
    }
}

impl Store {
    fn sync_and_check(&self, file: &JournalFile, epoch: u64) -> io::Result<()> {
        file.sync()?;
        self.check_stays(file, epoch)
    }

    /// Fails if what was written to the journal would not be found again: the file was deleted, moved away or replaced, cut off,
    /// or written over by something else; or if it is sealed, so that nobody may read what was written later.
    fn check_stays(&self, file: &JournalFile, epoch: u64) -> io::Result<()> {
        if let Some(damage) = file.damage_in(epoch)? {
            return Err(io::Error::other(damage.at(&file.path)));
        }
        if file.is_sealed()? {
            return Err(io::Error::other("another process has ended its epoch"));
        }
        if self.is_journal_gone(file)? {
            let problem = "it was deleted, moved or replaced while it was in use; what was just written is lost";
            return Err(io::Error::new(io::ErrorKind::NotFound, problem));
        }
        Ok(())
    }

    /// Whether the journal was deleted, moved away or replaced. One that was moved with its store is where it should be.
    pub(super) fn is_journal_gone(&self, file: &JournalFile) -> io::Result<bool> {
        if !file.is_gone()? {
            return Ok(false);
        }
        let is_moved = self.shared.file.as_ref().is_some_and(|engine| !engine.is_at(self.path()));
        Ok(!is_moved || file.has_no_name()?)
    }
}

fn of_engine(error: redb::BackendError) -> io::Error {
    io::Error::other(redb::StorageError::from(error))
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
        new.persistence = Some(Persistence::keep_everything());
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
        // From now on nobody has to write again what the others wrote.
        append(&mut sessions[0], "five");
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
