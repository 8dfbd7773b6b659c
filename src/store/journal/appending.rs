//! Appending to the journal, in turns.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, MutexGuard, TryLockError};
use std::time::{Duration, Instant};

use super::file::JournalFile;
use super::reading::OpenFile;
use super::record::{self, Journaled, Stamp};
use super::row::{JournalRow, Place};
use super::{Store, lock};
use crate::error::{Corruption, Result};
use crate::store::engine_file::{EngineFile, Held, PAUSE};
use crate::store::session_key::SessionKey;

/// What an appender knows of the journal's end.
#[derive(Debug, Default)]
pub(super) struct Appender {
    epoch: u64,
    last: Place,
    /// Records that are not in the tables, by session, in order.
    pending: HashMap<SessionKey, VecDeque<Journaled>>,
    /// The highest number in each area; of what was not read, a number that is certainly as high.
    highest: [u64; 2],
    /// The last record that was there when this process first looked at the epoch. If the system failed to write it before,
    /// only others were told. Once it is [written again](JournalLock::write_again) that does not matter.
    first_seen: u64,
    /// Changes of live sessions that went into the tables at once, since the store was opened.
    pub(super) direct: u32,
    /// When this process last had the right to append.
    at: Option<Instant>,
}

/// For how long a process goes without looking what others have appended before it takes the lock for which they wait: they cannot
/// have appended much.
const RECENT: Duration = Duration::from_millis(20);

/// What this process knows of the journal. Its other threads wait.
#[derive(Debug)]
pub(crate) struct KnownJournal<'s>(MutexGuard<'s, Appender>);

/// The right to append: no one else does meanwhile, in any process.
#[derive(Debug)]
pub(crate) struct JournalLock<'s> {
    store: &'s Store,
    engine: &'s EngineFile,
    known: KnownJournal<'s>,
}

/// Where an appended record stands.
#[derive(Debug)]
pub(crate) enum Appended {
    /// It is written, and has to be [synced](Store::sync_journal).
    Written(Written),
    /// The journal has to be folded first.
    Full,
    /// The journal is sealed: its epoch has to be ended first.
    Sealed,
    /// It is too long for the journal, or this process may not write that.
    Unfit,
}

/// A record that is written.
#[derive(Debug)]
pub(crate) struct Written {
    pub(super) file: Arc<JournalFile>,
    pub(crate) epoch: u64,
    pub(crate) end: Place,
    /// It is the first in its area, or fills a part of it: the journal should be folded soon.
    pub(crate) fills_part: bool,
}

impl Written {
    /// Whether the journal is sealed: then it cannot be acknowledged there.
    pub(crate) fn is_sealed(&self) -> bool {
        self.file.is_sealed().unwrap_or(false)
    }
}

impl Store {
    /// Reads what others have appended to an epoch before this process takes the lock for which they wait, unless it had that a
    /// moment ago. `None` if there is no need, or something is wrong: that is found again with the lock.
    pub(crate) fn read_ahead(&self) -> Option<KnownJournal<'_>> {
        if !self.has_journal() {
            return None;
        }
        let appender = lock(&self.journal().appender);
        if appender.at.is_some_and(|at| at.elapsed() < RECENT) {
            return None;
        }
        self.known_of(appender)
    }

    /// What others have appended to an epoch, and this process, without the right to append. `None` if it cannot be read.
    pub(crate) fn known_journal(&self) -> Option<KnownJournal<'_>> {
        self.known_of(lock(&self.journal().appender))
    }

    fn known_of<'s>(&'s self, mut appender: MutexGuard<'s, Appender>) -> Option<KnownJournal<'s>> {
        // As it is now: no thread of this process knows a later one, or gets to know one meanwhile.
        let row = self.committed().and_then(|snapshot| snapshot.journal_row()).ok()?;
        if row.epoch == 0 {
            return None;
        }
        let file = appender.read_on(self, &row).ok()?;
        let _ = self.check_end(&file, &row, &appender.last);
        Some(KnownJournal(appender))
    }

    /// The same as [`JournalLock::pending_beyond`].
    pub(crate) fn known_beyond(&self, row: &JournalRow, least: usize) -> Vec<Journaled> {
        lock(&self.journal().appender).pending_beyond(row, least)
    }

    /// Whether another process tells that a record behind this place is on the disk.
    pub(crate) fn lacks_records(&self, end: &Place) -> Result<bool> {
        let Some(engine) = &self.shared.file else { return Ok(false) };
        Ok(engine.is_told_synced(end.sequence + 1).map_err(redb::StorageError::from)?)
    }

    /// Fails if another process tells that a record behind the end of the journal is on the disk.
    pub(crate) fn check_records(&self, row: &JournalRow, end: &Place) -> Result<()> {
        if !self.lacks_records(end)? {
            return Ok(());
        }
        let (path, next) = (self.path_of_journal(row), end.sequence.saturating_add(1));
        Err(Corruption {
            table: "journal",
            place: format!("{}, byte {}", path.display(), end.at),
            problem: format!("record {next} was on the disk and is not there"),
        }
        .into())
    }

    /// Waits for the right to append. `None` for a store without a journal.
    pub(crate) fn lock_journal(&self) -> Result<Option<JournalLock<'_>>> {
        self.lock_journal_while(|| true)
    }

    /// The same; `None`, too, if it is not wanted any more before it is had.
    fn lock_journal_while(&self, is_wanted: impl Fn() -> bool) -> Result<Option<JournalLock<'_>>> {
        let Some(engine) = self.shared.file.as_ref().filter(|_| self.has_journal()) else {
            return Ok(None);
        };
        let mut appender = lock(&self.journal().appender);
        let open = lock(&self.journal().file).clone();
        let is_held = self.wait_for(
            engine,
            Held::Journal,
            || engine.try_hold(Held::Journal),
            || is_wanted().then(|| appender.last_in(open.as_ref())),
        )?;
        Ok(is_held.then_some(JournalLock { store: self, engine, known: KnownJournal(appender) }))
    }

    /// The same for some time. `None`, too, if it could not be had.
    pub(super) fn lock_journal_within(&self, patience: Duration) -> Option<JournalLock<'_>> {
        let engine = self.shared.file.as_ref().filter(|_| self.has_journal())?;
        let begun = Instant::now();
        loop {
            let appender = match self.journal().appender.try_lock() {
                Ok(appender) => Some(appender),
                Err(TryLockError::Poisoned(appender)) => Some(appender.into_inner()),
                Err(TryLockError::WouldBlock) => None,
            };
            if let Some(appender) = appender
                && engine.try_hold(Held::Journal).ok()?
            {
                return Some(JournalLock { store: self, engine, known: KnownJournal(appender) });
            }
            if begun.elapsed() > patience {
                return None;
            }
            std::thread::sleep(PAUSE);
        }
    }

    /// The same for one who appends in an epoch. It waits until no one asks not to, and until each commit is shown that may have
    /// changed a session or ended the epoch: what a killed process did not confirm comes before the record. `None`, too, once the
    /// epoch has ended.
    pub(crate) fn lock_journal_to_append(&self, epoch: u64) -> Result<Option<JournalLock<'_>>> {
        let row = || self.committed().and_then(|snapshot| snapshot.journal_row());
        let mut passes_gate = false;
        loop {
            let is_wanted = || row().is_ok_and(|row| row.epoch == epoch);
            let Some(lock) = self.lock_journal_while(is_wanted)? else { return Ok(None) };
            let engine = lock.engine;
            if !passes_gate && self.is_gate_closed(engine)? {
                drop(lock);
                passes_gate = !self.pass_gate(engine)?;
            } else if self.awaits_confirmation(engine)? {
                drop(lock);
                self.wait_for_confirmation(engine)?;
            } else {
                return Ok(Some(lock));
            }
        }
    }
}

impl KnownJournal<'_> {
    /// The records of a session that are not in the tables.
    pub(crate) fn pending(
        &self,
        session: SessionKey,
    ) -> impl DoubleEndedIterator<Item = &Journaled> {
        self.0.pending.get(&session).into_iter().flatten()
    }

    /// The epoch that they are of.
    pub(crate) fn epoch(&self) -> u64 {
        self.0.epoch
    }
}

impl JournalLock<'_> {
    /// Reads what others have appended, and forgets what is in the tables.
    pub(crate) fn catch_up(&mut self, row: &JournalRow) -> Result<()> {
        let Self { store, known: KnownJournal(appender), .. } = self;
        let file = appender.read_on(store, row)?;
        store.check_end(&file, row, &appender.last)?;
        appender.first_seen = appender.first_seen.min(appender.last.sequence);
        appender.at = Some(Instant::now());
        Ok(())
    }

    /// What this process knows.
    pub(crate) fn known(&self) -> &KnownJournal<'_> {
        &self.known
    }

    /// The last record that this process knows.
    pub(crate) fn last(&self) -> Place {
        self.known.0.last
    }

    /// Whether the last record that this process knows is of the epoch in the tables.
    pub(crate) fn knows(&self, row: &JournalRow) -> bool {
        row.epoch != 0 && row.epoch == self.known.0.epoch
    }

    /// The records that are not in the tables, in order, as this process wrote them or first read them.
    pub(crate) fn all_pending(&self) -> Vec<Journaled> {
        self.known.0.all_pending()
    }

    /// The records that follow those in the tables, by this row, if there are more than `least`; empty if this process does not
    /// know the first of them.
    pub(crate) fn pending_beyond(&self, row: &JournalRow, least: usize) -> Vec<Journaled> {
        self.known.0.pending_beyond(row, least)
    }

    /// Whether the journal was deleted, moved away or replaced. One that was moved with its store is where it should be.
    pub(crate) fn is_gone(&self, row: &JournalRow) -> Result<bool> {
        let file = self.store.journal_file(row)?;
        self.store.is_journal_gone(&file).map_err(|error| self.store.journal_failed(row, error))
    }

    /// Whether the last record that this process knows is still in the file, if the tables do not have it.
    fn has_last(&self, file: &JournalFile) -> std::io::Result<bool> {
        let known = &self.known.0;
        let mut ends = known.pending.values().filter_map(VecDeque::back);
        ends.find(|record| record.end == known.last).map_or(Ok(true), |last| file.has(last))
    }

    /// Whether any record is not in the tables.
    pub(crate) fn has_pending(&self) -> bool {
        !self.known.0.pending.is_empty()
    }

    /// Writes the records again that were there when this process first looked at the epoch, so that its next sync puts them on the
    /// disk, or fails: if the system failed to write them before, only those were told who had the file open then. What a living
    /// process has synced stays as it is. `false` if the file does not have them any more.
    fn write_again(&mut self, file: &JournalFile, row: &JournalRow) -> Result<bool> {
        let first_seen = self.known.0.first_seen;
        if first_seen <= row.folded.sequence {
            return Ok(true);
        }
        let seen = self.known.0.pending.values().flatten();
        let mut seen: Vec<&Journaled> =
            seen.filter(|record| record.sequence() <= first_seen).collect();
        seen.sort_unstable_by_key(|record| record.sequence());
        // Who has synced one has synced those before it.
        let mut told = Ok(());
        let from = seen.partition_point(|record| {
            let is_told = self.engine.is_told_synced(record.sequence());
            is_told.unwrap_or_else(|error| {
                told = Err(redb::StorageError::from(error));
                false
            })
        });
        told?;
        for record in seen.into_iter().skip(from) {
            let is_there = file.write_again(record);
            if !is_there.map_err(|error| self.store.journal_write_failed(error))? {
                return Ok(false);
            }
        }
        self.known.0.first_seen = 0;
        Ok(true)
    }

    /// Appends a record. [`Self::catch_up`] comes first.
    pub(crate) fn append(
        &mut self,
        row: &JournalRow,
        session: SessionKey,
        payload: Vec<u8>,
    ) -> Result<Appended> {
        let file = self.store.journal_file(row)?;
        if !file.areas.takes(payload.len()) || !file.is_writable {
            return Ok(Appended::Unfit);
        }
        if file.is_sealed().map_err(|error| self.store.journal_failed(row, error))? {
            return Ok(Appended::Sealed);
        }
        self.append_to(file, row, session, payload)
    }

    /// The same to a journal that was not sealed a moment ago.
    fn append_to(
        &mut self,
        file: Arc<JournalFile>,
        row: &JournalRow,
        session: SessionKey,
        payload: Vec<u8>,
    ) -> Result<Appended> {
        let areas = file.areas;
        self.store.check_records(row, &self.last())?;
        let has_last = self.has_last(&file);
        if !has_last.map_err(|error| self.store.journal_failed(row, error))?
            || !self.write_again(&file, row)?
        {
            return Ok(Appended::Full);
        }
        let last = self.known.0.last;
        let size = record::size(payload.len());
        let (at, is_first) = if let Some(at) = areas.byte_behind(&last, size) {
            (at, false)
        } else {
            let other = 1 - areas.area_of(&last);
            let highest = self.known.0.highest.get(other).copied().unwrap_or(u64::MAX);
            if highest > row.folded.sequence {
                return Ok(Appended::Full);
            }
            (areas.start_of(other), true)
        };
        // The engine shows a commit once it is on the disk, so that this record is never of a later state than the tables.
        let synced = Some(self.store.last_synced().max(row.folded.sequence));
        let stamp = Stamp { epoch: row.epoch, commits: row.commits, synced };
        let end = file
            .write(at, &last, stamp, session, &payload)
            .map_err(|error| self.store.journal_write_failed(error))?;
        self.known.0.note(Journaled { session, payload, end }, areas.area_of(&end));
        let fills_part = is_first || areas.fills_part(last.at, end.at);
        Ok(Appended::Written(Written { file, epoch: row.epoch, end, fills_part }))
    }
}

impl Appender {
    fn all_pending(&self) -> Vec<Journaled> {
        let mut all: Vec<Journaled> = self.pending.values().flatten().cloned().collect();
        all.sort_by_key(Journaled::sequence);
        all
    }

    fn pending_beyond(&self, row: &JournalRow, least: usize) -> Vec<Journaled> {
        let count = self.pending.values().map(VecDeque::len).sum::<usize>();
        if self.epoch != row.epoch || count <= least {
            return Vec::new();
        }
        let mut pending = self.all_pending();
        pending.retain(|record| record.sequence() > row.folded.sequence);
        let is_next = |first: &Journaled| first.sequence() == row.folded.sequence + 1;
        let is_known = pending.len() > least && pending.first().is_some_and(is_next);
        if is_known { pending } else { Vec::new() }
    }

    /// Reads what follows what it knows, and forgets what is in the tables.
    fn read_on(&mut self, store: &Store, row: &JournalRow) -> Result<Arc<JournalFile>> {
        let folded = row.folded.sequence;
        if self.epoch != row.epoch || folded > self.last.sequence {
            // Whether others have folded what was in doubt, nobody can tell.
            store.end_doubt(self.last.sequence, false);
            let is_same = self.epoch == row.epoch;
            *self = Self {
                epoch: row.epoch,
                last: row.folded,
                highest: [folded; 2],
                first_seen: if is_same { self.first_seen } else { u64::MAX },
                direct: self.direct,
                at: self.at,
                pending: HashMap::new(),
            };
        }
        self.pending.retain(|_, pending| {
            while pending.front().is_some_and(|record| record.sequence() <= folded) {
                pending.pop_front();
            }
            !pending.is_empty()
        });
        let after = JournalRow { folded: self.last, ..row.clone() };
        let file = store.sound_journal(&after)?;
        self.note_later(&file).map_err(|error| store.journal_failed(row, error))?;
        Ok(file)
    }

    /// Reads on to the end of the journal.
    fn note_later(&mut self, file: &JournalFile) -> std::io::Result<()> {
        while let Some(next) = file.next(&self.last, self.epoch)? {
            let area = file.areas.area_of(&next.journaled.end);
            self.note(next.journaled, area);
        }
        Ok(())
    }

    /// The number of the last record, where the journal is open.
    fn last_in(&mut self, open: Option<&OpenFile>) -> u64 {
        if let Some(open) = open.filter(|open| open.epoch == self.epoch) {
            // What cannot be read is found again with the lock.
            let _ = self.note_later(&open.file);
        }
        self.last.sequence
    }

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
        let _ = self.engine.release(Held::Journal);
    }
}

#[cfg(test)]
mod tests {
    use leafline_import::Family;
    use serde_json::json;

    use super::Appended;
    use crate::error::{Error, StoreError};
    use crate::session::Persistence;
    use crate::store::Store;
    use crate::{NewSession, Session};

    #[test]
    fn what_others_have_appended_is_read_before_the_lock_is_taken() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("store");
        let [first, other] = [(); 2].map(|()| Store::open(&path).unwrap());
        let mut new = NewSession::new(Family::Pi, "/work");
        new.persistence = Some(Persistence::keep_everything());
        let mut session = first.create_session(&new).unwrap();
        let append = |session: &mut Session| {
            session.append_message(&json!({"role": "user", "content": "more"})).unwrap();
        };
        // Without an epoch there is nothing to read.
        assert!(other.read_ahead().is_none());
        for _ in 0..52 {
            append(&mut session);
        }
        let key = first.committed().unwrap().key_of(session.id().as_bytes()).unwrap().unwrap();
        let lock = first.lock_journal().unwrap().unwrap();
        // It waits for nobody, and takes nothing from the one who has the lock.
        let known = other.read_ahead().unwrap();
        assert_eq!((known.pending(key).count(), known.epoch()), (50, lock.known().epoch()));
        drop((lock, known));
        let mut same = other.session(session.id()).unwrap();
        append(&mut same);
        append(&mut session);
        append(&mut same);
        assert_eq!(first.reader(session.id()).unwrap().facts().entries, 55);
        assert!(first.verify().unwrap().problems.is_empty());
    }

    #[test]
    fn an_epoch_is_ended_while_another_one_has_the_right_to_append() {
        // What the other one has written by then is kept; what it writes later is not, nor does it keep the store from being opened.
        for is_late in [false, true] {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("store");
            let [stopped, other] = [(); 2].map(|()| Store::open(&path).unwrap());
            let mut new = NewSession::new(Family::Pi, "/work");
            new.persistence = Some(Persistence::keep_everything());
            let mut session = other.create_session(&new).unwrap();
            let append = |session: &mut Session| {
                session.append_message(&json!({"role": "user", "content": "more"})).unwrap();
            };
            for _ in 0..3 {
                append(&mut session);
            }
            append(&mut stopped.session(session.id()).unwrap());
            let row = other.committed().unwrap().journal_row().unwrap();
            let key = other.committed().unwrap().key_of(session.id().as_bytes()).unwrap().unwrap();
            let mut lock = stopped.lock_journal().unwrap().unwrap();
            lock.catch_up(&row).unwrap();
            let payload = lock.all_pending().last().unwrap().payload.clone();
            let file = stopped.journal_file(&row).unwrap();
            let retire = || {
                let path = path.clone();
                let held_up =
                    StoreError::HeldUp { path, process: None, is_stopped: true, seconds: 5 };
                other.retire_after(Error::Store(held_up), row.epoch).unwrap();
            };
            if is_late {
                retire();
                // It looks before it writes, unless it has just looked.
                let appended = lock.append(&row, key, payload.clone()).unwrap();
                assert!(matches!(appended, Appended::Sealed));
            }
            let appended = lock.append_to(file, &row, key, payload).unwrap();
            let Appended::Written(written) = appended else { panic!("{appended:?}") };
            if !is_late {
                retire();
            }
            let there = if is_late { 4 } else { 5 };
            assert_eq!(other.reader(session.id()).unwrap().facts().entries, there);
            // No epoch begins as long as it may write.
            let epoch = || other.committed().unwrap().journal_row().unwrap().epoch;
            for _ in 0..3 {
                append(&mut session);
                assert_eq!(epoch(), 0);
            }
            drop(lock);
            stopped.sync_journal(&written).unwrap_err();
            assert_eq!(stopped.is_kept_of_retired(&written).unwrap(), Some(!is_late));
            drop(Store::open(&path).unwrap());
            for _ in 0..3 {
                append(&mut session);
            }
            assert_ne!(epoch(), 0);
            // Its next one is as any other.
            append(&mut stopped.session(session.id()).unwrap());
            assert_eq!(stopped.reader(session.id()).unwrap().facts().entries, there + 7);
            assert!(stopped.verify().unwrap().problems.is_empty());
        }
    }

    #[test]
    fn a_sealed_journal_whose_epoch_was_not_ended_is_read_and_ended() {
        for is_opened_anew in [false, true] {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("store");
            let store = Store::open(&path).unwrap();
            let mut new = NewSession::new(Family::Pi, "/work");
            new.persistence = Some(Persistence::keep_everything());
            let mut session = store.create_session(&new).unwrap();
            let id = session.id().to_owned();
            let append = |session: &mut Session| {
                session.append_message(&json!({"role": "user", "content": "more"})).unwrap();
            };
            for _ in 0..5 {
                append(&mut session);
            }
            let row = store.committed().unwrap().journal_row().unwrap();
            let other = Store::open(&path).unwrap();
            let lock = other.lock_journal().unwrap();
            assert!(store.seal_journal(&row).unwrap());
            drop(lock);
            drop(other);
            if is_opened_anew {
                // As a loss of power leaves them.
                let copy = folder.path().join("copy");
                for ending in ["", ".journal"] {
                    let name = |path: &std::path::Path| format!("{}{ending}", path.display());
                    std::fs::copy(name(&path), name(&copy)).unwrap();
                }
                let copy = Store::open(&copy).unwrap();
                assert_eq!(copy.reader(&id).unwrap().facts().entries, 5);
                assert!(copy.verify().unwrap().problems.is_empty());
                continue;
            }
            append(&mut session);
            // With the lock free, the append may begin the next one.
            assert_ne!(store.committed().unwrap().journal_row().unwrap().epoch, row.epoch);
            assert_eq!(store.reader(&id).unwrap().facts().entries, 6);
            assert!(store.verify().unwrap().problems.is_empty());
        }
    }
}
