//! The only code that writes sessions' rows: a session is [created](Creation), possibly in place of another one,
//! [extended](Extension), [edited](Edit), and [removed](Batch::remove).
//!
//! Each of these adds rows to a [`Batch`], in memory, without holding the write transaction, so that other writers wait
//! only for the commit. Only this module defines which tables a session has, and the invariants between its rows: its
//! leaf, its revision, what is sealed, its address and sources, and the counts. A batch that would break an invariant
//! is refused, and nothing in it is written.

mod apply;
mod beside;
mod change;
mod check;
mod creation;
mod files;
mod guard;
pub(crate) mod proof;
mod rows;
mod slice;
mod sweep;
#[cfg(test)]
mod tests;

use std::collections::HashSet;

use redb::WriteTransaction;

pub(crate) use self::change::{Edit, Extended, Extension};
use self::check::Leaves;
pub(crate) use self::creation::{Creation, Finished, Place};
pub(crate) use self::files::FileChange;
pub(crate) use self::rows::{BlobReference, Rows};
use self::slice::{Retirement, Row, Slice};
use super::blobs::Hash;
use super::clock::now;
use super::journal::{self, JournalChange, JournalLock, Journaled};
use super::ordinal::Ordinal;
use super::owner::Owner;
use super::recorder;
use super::session_key::SessionKey;
use super::session_record::SessionRecord;
use super::snapshot::Snapshot;
use super::source_record::SourceRecord;
use super::writing::Writing;
use super::{Store, tables};
use crate::error::{Corruption, Result};
use crate::store::pages::ReadableTable;

/// Bytes of values collected in a batch before it is committed: they take a tenth of a second, which is the longest
/// that a live agent waits.
const BATCH_BYTES: usize = 16 << 20;

/// Lines that a batch gathers.
pub(crate) const BATCH_LINES: usize = 128 << 10;

/// Bytes, or lines, of which the commit takes some 10 ms.
const NOTICED_BYTES: usize = 1 << 20;
const NOTICED_LINES: u64 = 8 << 10;

/// Changes of sessions that are committed together.
#[derive(Debug, Default)]
pub(crate) struct Batch {
    slice: Slice,
    /// Whether others may append while its commit is not confirmed, although it changes sessions that were there.
    lets_appends_pass: bool,
}

/// Who changes a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Author {
    /// A file that is imported.
    File,
    /// The caller of this library.
    Here,
}

impl Author {
    /// Notes in the record of a new session who made it. An imported session has revision 0.
    fn note(self, record: &mut SessionRecord) {
        if self == Self::Here {
            record.revision += 1;
            record.note_change();
        }
    }
}

/// What a commit found.
#[derive(Debug, Default)]
pub(crate) struct Committed {
    /// Sessions that were left out, since another process has changed the state on which they are based.
    pub(crate) conflicts: Vec<SessionKey>,
    replaced_entries: Vec<(SessionKey, u64)>,
}

impl Committed {
    /// How many entries of a session replaced an earlier one with the same id.
    pub(crate) fn replaced_entries(&self, session: SessionKey) -> u64 {
        let own = self.replaced_entries.iter().filter(|(key, _)| *key == session);
        own.map(|(_, count)| count).sum()
    }
}

impl Batch {
    /// Whether it should be committed before more is added.
    pub(crate) fn is_full(&self) -> bool {
        self.slice.weight >= BATCH_BYTES || self.slice.line_count >= BATCH_LINES as u64
    }

    /// Whether others would notice that they wait for its commit.
    pub(crate) fn takes_time(&self) -> bool {
        // A run that tries small areas tries small imports, too.
        let is_any = recorder::area().is_some() && !self.slice.is_empty();
        is_any || self.slice.weight >= NOTICED_BYTES || self.slice.line_count >= NOTICED_LINES
    }

    /// What the commit does to the journal.
    pub(crate) fn change_journal(&mut self, change: JournalChange) {
        self.slice.journal = Some(change);
    }

    /// Says that others may append while the commit is not confirmed: the tables and the journal together are the same after it.
    pub(crate) fn let_appends_pass(&mut self) {
        self.lets_appends_pass = true;
    }

    /// Keeps a record of the journal that cannot become rows of its session.
    pub(crate) fn keep_unfolded(&mut self, journaled: Journaled) {
        let key = journaled.sequence();
        self.slice.unfolded.push(Row { session: journaled.session, key, value: journaled.payload });
    }

    /// Whether it holds blobs.
    pub(crate) fn has_blobs(&self) -> bool {
        !self.slice.blobs.is_empty()
    }

    /// Drops the rows of an abandoned session.
    pub(crate) fn forget(&mut self, session: SessionKey) {
        self.slice.forget(session);
    }

    /// Deletes a session: it becomes invisible, and the owner sweeps its rows. What is kept of it keeps imports from
    /// bringing it back.
    pub(crate) fn remove(&mut self, session: SessionKey, owner: &Owner) {
        let value = Retirement { owner: owner.token, removed_at: Some(now()) };
        self.slice.retired.push(Row { session, key: session, value });
    }

    /// Forgets that another session was removed: this one was imported from its file.
    pub(crate) fn restore(&mut self, session: SessionKey, removed: SessionKey) {
        self.slice.restored.push(Row { session, key: removed, value: () });
    }

    /// Adds the bytes of blobs that lines refer to although they were not cut out of them. `fetch` is called once for
    /// each blob that the batch does not have.
    pub(crate) fn fill_blobs(
        &mut self,
        mut fetch: impl FnMut(&Hash) -> Result<Option<Vec<u8>>>,
    ) -> Result<()> {
        let there = self.slice.blobs.iter().filter(|row| row.value.bytes.is_some());
        let mut asked: HashSet<Hash> = there.map(|row| row.key).collect();
        for row in &mut self.slice.blobs {
            if row.value.bytes.is_none() && !row.value.was_cut && asked.insert(row.key) {
                row.value.bytes = fetch(&row.key)?;
            }
        }
        Ok(())
    }

    /// Puts a session's record and its leaf, if there is a new one. Returns the record.
    fn put(
        &mut self,
        session: SessionKey,
        record: SessionRecord,
        leaf: Option<Option<Ordinal>>,
    ) -> &SessionRecord {
        if let Some(leaf) = leaf {
            self.slice.leaves.push(Row { session, key: (), value: leaf });
        }
        let index = self.slice.sessions.len();
        self.slice.sessions.push(Row { session, key: (), value: record });
        &self.slice.sessions.get(index).expect("the record was put there").value
    }

    /// Puts a source file of a session, whose record names it.
    fn put_source(
        &mut self,
        session: SessionKey,
        record: &mut SessionRecord,
        path: Vec<u8>,
        source: SourceRecord,
    ) {
        if !record.sources.contains(&path) {
            record.sources.push(path.clone());
        }
        let source = SourceRecord { session, ..source };
        self.slice.sources.push(Row { session, key: path, value: source });
    }
}

impl Store {
    /// Writes the batch in one durable transaction. Sessions whose guards do not hold are left out.
    ///
    /// # Errors
    ///
    /// [`ImportError::Lost`](crate::error::ImportError::Lost) if rows of earlier commits of a session are gone;
    /// [`Error::Corrupted`](crate::Error::Corrupted) if a session would contradict itself. Nothing is written then.
    pub(crate) fn commit(&self, batch: Batch) -> Result<Committed> {
        if batch.slice.is_empty() {
            return Ok(Committed::default());
        }
        if batch.slice.changes_sessions() {
            drop(self.read_ahead());
        }
        let (transaction, lock) = loop {
            let transaction = self.begin_write()?;
            let row = transaction.act(journal::row_of)?;
            if row.epoch == 0 || !batch.slice.changes_sessions() {
                break (transaction, None);
            }
            // What was appended to a session's journal since the batch was made changes it as a commit would.
            match self.lock_journal() {
                Ok(Some(mut lock)) => {
                    lock.catch_up(&row)?;
                    break (transaction, Some(lock));
                }
                Ok(None) => break (transaction, None),
                Err(error) => {
                    transaction.abort()?;
                    self.retire_after(error, row.epoch)?;
                }
            }
        };
        let has_journaled = |session| {
            lock.as_ref().is_some_and(|lock: &JournalLock<'_>| {
                lock.known().pending(session).next().is_some()
            })
        };
        let is_apart = batch.slice.is_apart();
        let committed =
            transaction.act(|transaction| write(transaction, batch.slice, has_journaled))?;
        transaction.commit_letting(is_apart)?;
        Ok(committed)
    }

    /// Writes, in one durable transaction, the batch that `make` creates from the current tables. No other process or
    /// thread writes to them between the state that `make` sees and the commit. Nothing is written if it fails.
    pub(crate) fn write_tables<T>(
        &self,
        make: impl FnOnce(Snapshot) -> Result<(Batch, T)>,
    ) -> Result<T> {
        // Begun first: while it is open no other process commits, so that a read transaction shows the state that will
        // change.
        self.write_in(self.begin_write()?, make)
    }

    /// The same if nobody has the write transaction; `None` if somebody has.
    pub(crate) fn try_write_tables<T>(
        &self,
        make: impl FnOnce(Snapshot) -> Result<(Batch, T)>,
    ) -> Result<Option<T>> {
        let transaction = self.try_begin_write()?;
        transaction.map(|transaction| self.write_in(transaction, make)).transpose()
    }

    /// The same as [`Self::write_tables`]. If it has to wait for who has the write transaction, it calls `waits` before.
    pub(crate) fn write_tables_after<T>(
        &self,
        waits: impl FnOnce() -> Result<()>,
        make: impl FnOnce(Snapshot) -> Result<(Batch, T)>,
    ) -> Result<T> {
        let transaction = match self.try_begin_write()? {
            Some(transaction) => transaction,
            None => {
                waits()?;
                self.begin_write()?
            }
        };
        self.write_in(transaction, make)
    }

    fn write_in<T>(
        &self,
        transaction: Writing<'_>,
        make: impl FnOnce(Snapshot) -> Result<(Batch, T)>,
    ) -> Result<T> {
        let (batch, answer) = make(self.committed()?)?;
        if batch.slice.is_empty() {
            transaction.abort()?;
            return Ok(answer);
        }
        let committed =
            transaction.act(|transaction| write(transaction, batch.slice, |_| false))?;
        if let Some(session) = committed.conflicts.first() {
            return Err(check::refused(*session, "it is not the session that was changed"));
        }
        transaction.commit_letting(batch.lets_appends_pass)?;
        Ok(answer)
    }

    /// Overwrites a chunk, whatever that does to its session.
    #[cfg(test)]
    pub(crate) fn lose_chunk(&self, session: SessionKey, first: Ordinal) -> Result<()> {
        let mut slice = Slice::default();
        slice.removed_chunks.push(Row { session, key: first, value: () });
        let transaction = self.begin_write()?;
        apply::write(&transaction, slice)?;
        transaction.commit()
    }

    #[cfg(test)]
    pub(crate) fn damage_chunk(
        &self,
        session: SessionKey,
        first: Ordinal,
        bytes: Vec<u8>,
    ) -> Result<()> {
        let mut slice = Slice::default();
        slice.rewritten_chunks.push(Row { session, key: first, value: bytes });
        let transaction = self.begin_write()?;
        apply::write(&transaction, slice)?;
        transaction.commit()
    }

    /// Overwrites a row of usage, or removes it.
    #[cfg(test)]
    pub(crate) fn damage_usage(
        &self,
        (session, number): (SessionKey, u64),
        bytes: Option<&[u8]>,
    ) -> Result<()> {
        let transaction = self.begin_write()?;
        transaction.act(|transaction| {
            let mut usage = transaction.open_table(tables::USAGE)?;
            match bytes {
                Some(bytes) => drop(usage.insert((session.raw(), number), bytes)?),
                None => drop(usage.remove((session.raw(), number))?),
            }
            Ok(())
        })?;
        transaction.commit()
    }

    /// Reserves `count` consecutive session keys that were never used, and returns the first.
    pub(crate) fn reserve_sessions(&self, count: u64) -> Result<SessionKey> {
        let transaction = self.begin_write()?;
        let first = transaction.act(|transaction| {
            let mut meta = transaction.open_table(tables::META)?;
            let first = meta.get("next_session")?.map(|value| value.value());
            // A key that is used twice would join two sessions.
            let first = first.ok_or_else(|| Corruption {
                table: "meta",
                place: "next_session".into(),
                problem: "the key of the next session is not there".into(),
            })?;
            meta.insert("next_session", first + count)?;
            Ok(first)
        })?;
        transaction.commit_beside_appends()?;
        Ok(SessionKey::new(first))
    }
}

/// Writes a slice, and proves its promises before the commit.
fn write(
    transaction: &WriteTransaction,
    mut slice: Slice,
    has_journaled: impl Fn(SessionKey) -> bool,
) -> Result<Committed> {
    let conflicts = guard::leave_out_conflicts(transaction, &mut slice, has_journaled)?;
    proof::marks(transaction, &slice.held)?;
    check::slice(&slice)?;
    let leaves = Leaves::of(&slice);
    let change = slice.journal.take();
    let finished: HashSet<SessionKey> = slice.finished.iter().map(|row| row.session).collect();
    let finished = slice.sessions.iter().filter(|row| finished.contains(&row.session));
    let finished: Vec<(SessionKey, SessionRecord)> =
        finished.map(|row| (row.session, row.value.clone())).collect();
    let replaced_entries = apply::write(transaction, slice)?;
    for (session, record) in &finished {
        proof::rows(transaction, *session, record)?;
    }
    leaves.prove(transaction)?;
    journal::note_commit(transaction, change)?;
    Ok(Committed { conflicts, replaced_entries })
}
